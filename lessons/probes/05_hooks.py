"""Probes of stage 05: hooks at random places, with random answers, in random order.

Where one hole's function calls another's, a plain stand-in takes the other's place, so that a
mistake costs its own hole alone.
"""

import contextlib
from collections import OrderedDict
from threading import Lock

from probing import tried

import minigrad as torch
from minigrad.engine import hooks as run_hooks
from minigrad.graph import hooks
from minigrad.tensor import hooks as gradient_hooks


@contextlib.contextmanager
def stand_ins(running=False):
    """Let handles be plain, and every answer that is no tensor of the right shape be refused.

    With `running` the hooks of tensors are run plainly, too.
    """
    class Handle:
        def __init__(self, table):
            self.table, self.id = table, object()

        def remove(self):
            self.table.pop(self.id, None)

    def register(table, hook, *rest):
        handle = Handle(table)
        table[handle.id] = hook
        return handle

    def check(hook, replaced, given):
        if given is None or tuple(getattr(replaced, "shape", ("none",))) != tuple(given.shape):
            raise ValueError("refused")

    def run(tables, grads):
        for index, table in list(tables.items()):
            for hook in list(table.values()):
                answer = hook(grads[index])
                grads[index] = grads[index] if answer is None else answer

    before = gradient_hooks.register, run_hooks.check_hook_result, run_hooks.run_tensor_hooks
    gradient_hooks.register, run_hooks.check_hook_result = register, check
    if running:
        run_hooks.run_tensor_hooks = run
    try:
        yield
    finally:
        (gradient_hooks.register, run_hooks.check_hook_result,
         run_hooks.run_tensor_hooks) = before


def tensor(random, shape, dtype=torch.float64, **options):
    """Return a random tensor."""
    size = 1
    for each in shape:
        size *= each
    made = torch.tensor([random.uniform(-2, 2) for _ in range(size)], dtype=dtype).reshape(shape)
    return made.detach().requires_grad_() if options.get("requires_grad") else made


def values(grads):
    """Return gradients as arrays."""
    return [None if grad is None else grad.detach().numpy().copy() for grad in grads]


def probe_05_1(random):
    tables = [OrderedDict() for _ in range(3)]
    handles, seen = [], []

    def look():
        for table in tables:
            seen.append([[each, [h is not None and key == h.id for h in handles]]
                         for key, each in table.items()])

    def leave(handle, fails):
        with handle:
            look()
            if fails:
                raise KeyError("on purpose")
        return "left"

    names = [random.randrange(1000) for _ in range(3)]
    for _ in range(30):
        act = random.random()
        if act < 0.5 or not handles:
            count = random.randrange(3)
            others = random.sample(range(3), count + 1)
            handles.append(hooks.register(tables[others[0]], random.choice(names),
                                          random.random() < 0.4, *[tables[i] for i in others[1:]]))
        elif act < 0.8:
            seen.append(random.choice(handles).remove())
        else:
            handle, fails = random.choice(handles), random.random() < 0.5
            seen.append(tried(lambda handle=handle, fails=fails: leave(handle, fails)))
        look()
    bare = hooks.RemovableHandle(*tables[: random.randint(1, 3)])
    seen.append([len(bare.hooks), bare.hooks[0] is tables[0], type(bare.id) is int])
    seen.append(len({handle.id for handle in [*handles, bare]}) == len(handles) + 1)
    for handle in random.sample(handles, len(handles)):
        handle.remove()
        look()
    seen.append(hooks.register(tables[0], names[0]).id in {handle.id for handle in handles})
    return seen


def probe_05_2(random):
    seen = []
    dtypes = [torch.float32, torch.float64, torch.int64, torch.float16, torch.int32]
    for _ in range(25):
        shape = [random.randint(1, 3) for _ in range(random.randint(0, 3))]
        given = None if random.random() < 0.15 else tensor(random, shape, random.choice(dtypes))
        other = list(shape)
        change = random.randrange(5)
        if change == 0:
            other = [*other, 1]
        elif change == 1 and other:
            other = other[::-1]
        elif change == 2 and other:
            other = [max(other[0] - 1, 1), *other[1:]]
        elif change == 3:
            other = [1 for _ in other]
        dtype = (random.choice(dtypes) if given is None or random.random() < 0.3
                 else given.dtype)
        replaced = tensor(random, other, dtype)
        if change == 4 and shape:  # the same elements, with the strides of another layout
            replaced = tensor(random, shape[::-1], dtype).permute(*range(len(shape))[::-1])
        if dtype.is_floating_point and random.random() < 0.2:
            replaced = torch.nn.Parameter(replaced)
        if random.random() < 0.2:
            replaced = random.choice([1.5, "text", 2, [1.0], (replaced,), True, {1: replaced}])

        def hook(grad):
            return grad

        hook.__name__ = f"hook_{random.randrange(100)}"
        seen.append(tried(lambda hook=hook, replaced=replaced, given=given:
                          run_hooks.check_hook_result(hook, replaced, given)))
    given = tensor(random, [random.randint(1, 3), 2])
    seen.append(tried(lambda: run_hooks.check_hook_result(len, given.tolist(), given)))
    return seen


def probe_05_2_answers(random):
    with stand_ins():
        seen = []
        for _ in range(10):
            count = random.randint(1, 3)
            shape = [random.randint(1, 3), 2]
            grads = [None if random.random() < 0.2 else tensor(random, shape) for _ in range(count)]
            tables = {}

            def made(place, kind, c, tables=tables, count=count):
                def hook(grad):
                    seen.append([place, c, *values([grad])])
                    if kind == "bring" and (place + 1) % count not in tables:
                        tables[(place + 1) % count] = OrderedDict({0: made(
                            (place + 1) % count, "none", 0.5)})
                    if kind == "more":
                        tables[place][len(tables[place]) + 100] = made(place, "none", c + 1)
                    if kind == "away":
                        for key in [key for key, each in tables[place].items() if each is hook]:
                            del tables[place][key]
                    if grad is None:
                        return None if c < 0.9 else 7
                    return {"scale": grad * c, "zero": grad * 0, "wrong": grad.sum(),
                            "add": grad + c, "away": grad * c}.get(kind)

                return hook

            for place in sorted(random.sample(range(count), random.randint(1, count))):
                tables[place] = OrderedDict(
                    (i, made(place, random.choice(
                        ["scale", "scale", "add", "zero", "none", "more", "away", "bring",
                         random.choice(["wrong", "scale", "bring"])]), random.random()))
                    for i in random.sample(range(50), random.randint(0, 4)))
            got = tried(lambda tables=tables, grads=grads:
                        run_hooks.run_tensor_hooks(tables, grads), text=False)
            seen.append(got)
            if isinstance(got, list) and got[:1] == ["raised"]:
                continue  # the pass has failed, so its gradients don't count
            seen.append([values(grads), [[place, list(tables[place])] for place in sorted(tables)]])
        scalar = [torch.tensor(random.random(), dtype=torch.float64) for _ in range(3)]
        run_hooks.run_tensor_hooks({1: OrderedDict({0: lambda g: g * 0})}, scalar)
        return [*seen, values(scalar)]


def probe_05_3_tensors(random):
    with stand_ins(running=True):
        seen = []

        def hook(name, c):
            def called(grad):
                seen.append([name, *values([grad])])
                return grad * c if c else None

            return called

        for _ in range(3):
            size = random.randint(2, 4)
            x = tensor(random, [size], requires_grad=True)
            handles = []
            if random.random() < 0.5:  # before there is a graph
                handles.append(x.register_hook(hook("early", random.choice([0, 1.5, 0.0]))))
            y = x * random.uniform(1, 2)
            parts = y.reshape(size, 1).expand(size, 2).unbind(1)
            for i in range(random.randint(1, 4)):
                place, t = random.choice([("x", x), ("y", y), ("p0", parts[0]), ("p1", parts[1])])
                handles.append(t.register_hook(hook(f"{place} {i}", random.uniform(-2, 2))))
            handles.append(parts[1].register_hook(hook("p1 last", random.uniform(1, 2))))
            handles.append(parts[1].register_hook(hook("p1 again", random.uniform(1, 2))))
            handles.append(x.register_hook(hook("x last", random.uniform(1, 2))))
            loss = (parts[0] * random.random() + parts[1] * 2 * random.random()).sum()
            loss.backward(retain_graph=True)
            seen.append(values([x.grad]))
            random.choice(handles).remove()
            loss.backward()
            seen.append(values([x.grad]))
            del y, parts, loss  # the leaf's hooks outlive the graph
            (x * random.random()).sum().backward()
            seen.append(values([x.grad]))
            table = gradient_hooks.hook_table(x)
            seen.append([table is gradient_hooks.hook_table(x), len(table)])
        x = tensor(random, [2], requires_grad=True)
        empty = gradient_hooks.hook_table(x)
        x.register_hook(hook("gone", 2.0)).remove()
        seen.append([empty is gradient_hooks.hook_table(x), len(empty)])
        constant = tensor(random, [2])
        seen.append(tried(lambda: constant.register_hook(lambda grad: None)))
        return seen


class Guarded:
    """Stands in for a tensor; notes whether its gradient is used without its lock."""

    def __init__(self):
        self.lock, self.kept, self.always_locked = Lock(), None, True

    @property
    def _grad(self):
        self.always_locked &= self.lock.locked()
        return self.kept

    @_grad.setter
    def _grad(self, grad):
        self.always_locked &= self.lock.locked()
        self.kept = grad


def probe_05_4(random):
    seen = []
    for _ in range(4):
        size = random.randint(2, 4)
        x = tensor(random, [size], requires_grad=True)
        y = x * random.uniform(1, 2)
        parts = list(y.reshape(size, 1).expand(size, 3).unbind(1))
        tensors = [x, y, *parts]
        asked = random.sample(range(5), random.randint(2, 5))
        for i in asked:
            seen.append(tried(tensors[i].retain_grad))
            if random.random() < 0.3:
                seen.append(tried(tensors[i].retain_grad))
        seen.append([t.retains_grad for t in tensors])
        loss = (parts[0] * random.random()).sum() + (parts[1] ** 2 * random.random()).sum()
        if random.random() < 0.5:
            loss = loss + (parts[2] * random.random()).sum()
        if random.random() < 0.5:
            tensors[4] = parts[2] = None  # nobody holds it any more
        for _ in range(random.randint(1, 3)):
            loss.backward(retain_graph=True)
            seen.append([None if t is None else values([t._grad]) for t in tensors])
    constant = tensor(random, [2])
    seen.append([tried(constant.retain_grad), constant.retains_grad])

    class Gone:
        def __call__(self):
            return None

    held = tensor(random, [2])
    given, later = tensor(random, [2]), tensor(random, [2])
    if random.random() < 0.5:
        given = given * 0
    for grad in random.sample([given, later, None], 3):
        tried(lambda grad=grad: seen.append(
            run_hooks.keep_retained({0: Gone(), 2: lambda: held}, [later, None, grad])))
        seen.append([*values([held._grad, given, later]), held._grad is given,
                     held._grad is later])
    before = held._grad
    if before is not None:
        given += 1
        later += 1
        seen.append(values([held._grad]))
    source, kept = tensor(random, [2], requires_grad=True), tensor(random, [2])
    for _ in range(2):
        earlier = kept._grad
        tried(lambda: run_hooks.keep_retained({0: lambda: kept}, [source * random.random()]))
        seen.append([kept._grad is not None and kept._grad.requires_grad, kept._grad is earlier,
                     *values([earlier, kept._grad])])
    guarded, locked = Guarded(), run_hooks.lock_of
    run_hooks.lock_of = lambda each: each.lock
    try:
        for _ in range(2):
            tried(lambda: run_hooks.keep_retained({0: lambda: guarded}, [tensor(random, [2])]))
    finally:
        run_hooks.lock_of = locked
    seen.append([guarded.always_locked, *values([guarded.kept])])
    alone = tensor(random, [2])
    y = (alone.requires_grad_() * 2)
    y.retain_grad()
    node = y.grad_fn
    reference = node._extras().retained[0]
    seen.append(reference() is y)
    del y
    seen.append(reference() is None)
    return seen


def probe_05_5(random):
    with stand_ins():
        seen = []

        def answer(grads, kind, c):
            wrong = tuple(None if g is None else g.reshape(-1)[:1].sum() for g in grads)
            return {
                "none": None, "scale": tuple(None if g is None else g * c for g in grads),
                "list": [None if g is None else g * c for g in grads],
                "drop": (None, *grads[1:]), "short": grads[1:], "long": (*grads, None),
                "bare": grads[0], "wrong": wrong,
                "revive": tuple(torch.ones(2, 2) if g is None else g for g in grads),
            }[kind]

        def table(kinds, length):
            made = OrderedDict()

            def hook(kind, c):
                def called(*given):
                    seen.append([kind, *[values(each) for each in given]])
                    if kind == "away":
                        for key in [key for key, each in made.items() if each is called]:
                            del made[key]
                        return None
                    return answer(given[0], kind, c)

                called.__name__ = f"called_{kind}"
                return called

            for key in random.sample(range(90), length):
                made[key] = hook(random.choice(kinds), random.uniform(-2, 2))
            return made

        good = ["none", "scale", "scale", "drop", "away"]
        for bad in random.sample(["list", "short", "long", "bare", "wrong", "revive"], 6):
            for kinds in (good, [*good, bad], [bad]):
                grads, results = [tuple(
                    None if random.random() < 0.15 else tensor(random, [2, random.randint(2, 3)])
                    for _ in range(random.randint(1, 3))) for _ in range(2)]
                text = bad not in ("wrong", "revive")
                for run in (lambda: run_hooks.run_pre_hooks(table(kinds, 3), grads),
                            lambda: run_hooks.run_post_hooks(table(kinds, 3), results, grads)):
                    got = tried(run, text)
                    seen.append([type(got).__name__, values(got) if type(got) is tuple else got])
                hook = next(iter(table(["scale"], 1).values()))
                replaced = random.choice([None, answer(grads, bad, 2.0), grads])
                got = tried(lambda: run_hooks.checked_tuple(hook, replaced, grads), text)
                seen.append([type(got).__name__, values(got) if type(got) is tuple
                             else got if type(got) is list and got[:1] == ["raised"] else None])
        return seen


def leaving(name, table, x, seen):
    """Return a hook that is called once: it takes itself out of its table."""
    def called(tensor):
        seen.append([name, tensor is x])
        table.pop(name, None)
        table[name + 100] = lambda tensor: seen.append(["new", name])  # not in this pass

    return called


def probe_05_6(random):
    with stand_ins():
        seen = []
        for _ in range(3):
            x = tensor(random, [random.randint(1, 4)], requires_grad=True)
            y = x * random.uniform(1, 2)
            handles = []

            def hook(name, c, x=x, handles=handles):
                def called(tensor):
                    seen.append([name, tensor is x, *values([tensor.grad])])
                    if c < 0.3:
                        handles[0].remove()
                    if c > 0.6:
                        tensor.grad *= c

                return called

            for i in range(random.randint(2, 4)):
                handles.append(x.register_post_accumulate_grad_hook(hook(i, random.random())))
            for _ in range(2):
                y.sum().backward(retain_graph=True)
                seen.append(values([x.grad]))
                random.choice(handles).remove()
            later = tensor(random, [2], requires_grad=True)
            later.register_post_accumulate_grad_hook(lambda t: None).remove()
            table = later._ensure_extras().post_accumulate
            for name in random.sample(range(9), 2):
                later.register_post_accumulate_grad_hook(
                    lambda t, name=name: seen.append([name, *values([t.grad])])
                    or setattr(t, "grad", None))
            (later * random.random()).sum().backward()
            seen.append([later._ensure_extras().post_accumulate is table, *values([later.grad])])
            for wrong in random.sample([y, tensor(random, [2]), x.detach()], 3):
                seen.append(tried(lambda wrong=wrong: type(
                    wrong.register_post_accumulate_grad_hook(lambda t: None)).__name__))
            table = OrderedDict()
            for i in random.sample(range(9), 3):
                table[i] = leaving(i, table, x, seen)
            seen.append(tried(lambda table=table, x=x: run_hooks.run_after_accumulation(table, x)))
            seen.append(len(table))
            answer = random.choice([x.detach(), 0, False, 0.0])
            answers = {i: lambda t, i=i: seen.append(["asked", i]) if i else answer
                       for i in random.sample(range(3), 3)}
            seen.append(tried(lambda answers=answers, x=x:
                              run_hooks.run_after_accumulation(answers, x)))
        return seen
