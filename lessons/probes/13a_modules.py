"""Probes of stage 13a: random trees of modules, set, walked, switched and moved."""

import numpy as np
from probing import numbers, tried

import minigrad as torch
from minigrad import _state, nn
from minigrad.nn import module as module_file
from minigrad.nn.global_hooks import register_module_module_registration_hook
from minigrad.nn.parameter import Buffer


def tensor(random, shape=(2,), kind=None):
    """Return random numbers as a tensor, a parameter or a buffer."""
    size = int(np.prod(shape, dtype=int))
    made = torch.Tensor._plain(
        np.array([random.uniform(-2, 2) for _ in range(size)]).reshape(shape).copy())
    return made if kind is None else kind(made)


TABLES = ("_parameters", "_buffers", "_modules")


def shown(value, pool):
    """Return what a value is, known by its place in the pool."""
    if value is None or isinstance(value, (int, float, str)):
        return value
    for i, each in enumerate(pool):
        if each is value:
            return ["pool", i]
    return [type(value).__name__, numbers(value) if isinstance(value, torch.Tensor) else 0]


class Special(nn.Parameter):
    """A parameter of another class."""


def probe_13a_1(random):
    seen = []
    for _ in range(4):
        made = nn.Module()
        pool = [tensor(random), tensor(random, (2,), nn.Parameter),
                tensor(random, (2,), nn.Parameter), nn.Module(), nn.Module(), None,
                random.random(), "text", Buffer(tensor(random)), tensor(random, (2,), Special),
                Buffer(tensor(random), persistent=False), tensor(random)]
        names = ["a", "b", "c"]
        made.register_buffer("d", tensor(random), persistent=random.random() < 0.5)
        made.register_parameter("e", None)
        made.add_module("f", None)

        def look(made=made, pool=pool):
            seen.append([[table, [[name, shown(value, pool)]
                                  for name, value in getattr(made, table).items()]]
                         for table in TABLES])
            seen.append([sorted(made._non_persistent_buffers_set),
                         [[name, shown(value, pool)] for name, value in made.__dict__.items()
                          if name in "abcdef"]])
            for name in "abcdefg":
                seen.append(tried(lambda name=name: shown(getattr(made, name), pool)))

        for _ in range(25):
            name, value = random.choice([*names, *names, "d", "e", "f"]), random.choice(pool)
            seen.append([name, tried(lambda made=made, name=name, value=value:
                                     setattr(made, name, value))])
            if random.random() < 0.1:
                seen.append(tried(lambda made=made, name=name: delattr(made, name)))
            look()
        other, asked = nn.Module(), []
        pool.append(other)
        takes = random.random() < 0.6

        def hook(owner, name, value, made=made, pool=pool, other=other, asked=asked, takes=takes):
            asked.append([owner is made, name, shown(value, pool)])
            return other if takes else None

        handle = register_module_module_registration_hook(hook)
        try:
            for name, value in (("a", pool[3]), ("f", pool[4]), ("f", None)):
                seen.append(tried(lambda made=made, name=name, value=value:
                                  setattr(made, name, value)))
                look()
        finally:
            handle.remove()
        seen.append(asked)

    class Early(nn.Module):
        def __init__(self, value):
            self.early = value
            super().__init__()

    for value in (1.5, nn.Module(), tensor(random, (2,), nn.Parameter), tensor(random),
                  Buffer(tensor(random))):
        seen.append(tried(lambda value=value: sorted(
            name for name in Early(value).__dict__ if name == "early")))
    return [*seen, random.random()]


def tree(random, depth, pool, kind=nn.Module):
    """Return a random tree of modules; parts and parameters are met several times."""
    made = kind()
    for i in range(random.randint(0, 3)):
        draw = random.random()
        if pool["parameters"] and draw < 0.3:
            value = random.choice(pool["parameters"])
        elif draw < 0.4:
            made.register_parameter(f"none{i}", None)
            continue
        else:
            value = tensor(random, (2,), nn.Parameter)
            pool["parameters"].append(value)
        setattr(made, f"p{i}", value)
    if random.random() < 0.5:
        value = tensor(random)
        pool["buffers"].append(value)
        made.register_buffer("buffer", random.choice([value, None, *pool["buffers"]]))
    for i in range(random.randint(1, 3) if depth else 0):
        draw = random.random()
        if draw < 0.15 and pool["modules"]:
            made.add_module(f"m{i}", random.choice(pool["modules"]))
        elif draw < 0.25:
            made.add_module(f"m{i}", None)
        else:
            made.add_module(f"m{i}", tree(random, depth - 1, pool, kind))
    pool["modules"].append(made)
    return made


def grown(random, depth=3, kind=nn.Module):
    """Return a tree and what is in it."""
    pool = {"parameters": [], "buffers": [], "modules": []}
    return tree(random, depth, pool, kind), pool


def probe_13a_2(random):
    seen = []
    for _ in range(6):
        made, pool = grown(random)
        known = {id(m): i for i, m in enumerate(pool["modules"])}
        values = {id(v): i for i, v in enumerate(pool["parameters"] + pool["buffers"])}
        for prefix in ("", "top"):
            for remove in (True, False):
                seen.append(tried(lambda: [
                    [name, known[id(m)]] for name, m in
                    made.named_modules(None, prefix, remove)]))
                for recurse in (True, False):
                    for table in ("_parameters", "_buffers"):
                        seen.append(tried(lambda: [
                            [name, values[id(v)]] for name, v in
                            made._named_members(table, prefix, recurse, remove)]))
        for count in (2, 0):
            memo = set(random.sample(pool["modules"], min(count, len(pool["modules"]))))
            seen.append(tried(lambda memo=memo: [[name, known[id(m)]]
                                                 for name, m in made.named_modules(memo)]))
            seen.append(sorted(known[id(m)] for m in memo))
            memo = {made} if count else set(made.children())
            seen.append([[name, known[id(m)]] for name, m in made.named_modules(memo, "", False)])
        seen.append([name for name, _ in made.named_modules()])  # the memo of one walk is its own
        shared = nn.Module()
        shared.left = shared.right = nn.Module()
        shared.left.weight = tensor(random, (2,), nn.Parameter)
        shared.weight = tensor(random, (2,), nn.Parameter)
        shared.other = shared.weight
        for remove in (True, False):
            seen.append([name for name, _ in shared.named_modules(remove_duplicate=remove)])
            seen.append([[name, numbers(v)] for name, v in
                         shared._named_members("_parameters", "x", True, remove)])
        twin = nn.Parameter(shared.weight.data)
        twin.data = shared.weight.data
        shared.twin = twin
        seen.append([name for name, _ in shared._named_members("_parameters", "", True, True)])
        memo = set()
        seen.append([len(list(made.named_modules(memo))), len(memo)])
        late = nn.Module()
        late.first, late.second = nn.Module(), nn.Module()
        late.first.deep = late.second
        seen.append([name for name, _ in late.named_modules()])
        walk = made.named_modules()
        seen.append([type(walk).__name__, next(walk)[1] is made])
    return seen


class Noting(nn.Module):
    """Writes down that it was asked."""

    calls = []

    def train(self, mode=True):
        self.calls.append(mode)
        return super().train(mode)


class Frozen(nn.Module):
    """Stays as it is, with everything below it."""

    def train(self, mode=True):
        return self


def probe_13a_3_frozen(random):
    seen = []
    for _ in range(4):
        outer, part = random.choice([nn.Module, nn.Sequential])(), nn.Module()
        outer.frozen, outer.missing = Frozen(), nn.Module()
        outer.missing, outer.frozen.part, outer.last = None, part, nn.Module()
        part.training = random.random() < 0.5
        for mode in random.sample([True, False], 2):
            seen.append(tried(lambda outer=outer, mode=mode: outer.train(mode) is outer))
            seen.append([m.training for m in (outer, outer.frozen, part, outer.last)])
    return seen


def probe_13a_3(random):
    seen, mode = [], _state.grad_enabled.get()
    for _ in range(6):
        made, pool = grown(random, kind=random.choice([nn.Module, Noting]))
        Noting.calls.clear()
        for act in random.sample(["train", "eval", "wrong", "off", "on", "part"], 6):
            part = random.choice(pool["modules"])
            value = random.random() < 0.5
            wrong = random.choice([1, None, "text", 0])
            seen.append(tried(lambda: {
                "train": lambda: made.train(value) is made, "eval": lambda: made.eval() is made,
                "wrong": lambda: made.train(wrong), "on": lambda: made.requires_grad_() is made,
                "off": lambda: made.requires_grad_(value) is made,
                "part": lambda: part.train(value) is part}[act]()))
            seen.append([[m.training for m in pool["modules"]],
                         [p.requires_grad for p in pool["parameters"]], list(Noting.calls),
                         [b.requires_grad for b in pool["buffers"]]])
        for none in random.sample([True, False], 2):
            for p in pool["parameters"]:
                kind = random.random()
                p._grad = None
                p.requires_grad_()
                if kind < 0.4:
                    p._grad = tensor(random)
                    p._grad.requires_grad_(random.random() < 0.3)
                elif kind < 0.8:
                    p._grad = tensor(random).requires_grad_() * random.random()
            before = [p._grad for p in pool["parameters"]]
            arrays = [None if g is None else g._array for g in before]
            part = random.choice([made, *pool["modules"]])
            seen.append(tried(lambda: part.zero_grad(none)))
            single = tensor(random, (2,), nn.Parameter)
            single._grad = random.choice([None, tensor(random),
                                          tensor(random).requires_grad_() * 2])
            seen.append(tried(lambda: module_file.zero_grad(single, none)))
            for g, p, array in zip([*before, None], [*pool["parameters"], single],
                                   [*arrays, None], strict=True):
                seen.append(None if p._grad is None else
                            [p._grad is g, p._grad._array is array, numbers(p._grad),
                             p._grad.requires_grad, p._grad.grad_fn is None])
        seen.append(_state.grad_enabled.get() == mode)
    return seen


def shares(module):
    """Return whether a module is in the tree twice."""
    met, stack = [], [module]
    while stack:
        met.append(id(stack[-1]))
        stack += [part for part in stack.pop()._modules.values() if part is not None]
    return len(met) != len(set(met))


def probe_13a_4(random):
    seen = []
    for _ in range(8):
        made, pool = grown(random, 2)
        while shares(made):  # whether such a module is moved once or twice is free
            made, pool = grown(random, 2)
        for p in pool["parameters"]:
            if random.random() < 0.6:
                p._grad = tensor(random)
        before = [[p, p._grad, p._version] for p in pool["parameters"]]
        scale, recurse = random.uniform(1, 2), random.random() < 0.6
        calls = []

        def fn(t, scale=scale, calls=calls, before=before):
            # a parameter's data is made with recording off; of a buffer's nothing is said
            owned = any(each is not None and np.shares_memory(t._array, each._array)
                        for p, grad, _ in before for each in (p, grad))
            calls.append([numbers(t), owned and _state.grad_enabled.get()])
            return t * scale

        seen.append(tried(lambda: made._apply(fn, recurse) is made))
        seen.append(sorted(map(repr, calls)))
        held = dict.fromkeys(id(p) for m in pool["modules"] for p in m._parameters.values())
        seen.append([[numbers(p), p._grad is grad, numbers(p._grad), p.requires_grad, p.is_leaf,
                      id(p) in held] for p, grad, _ in before])
        seen.append([[[name, numbers(b), None if b is None else b.requires_grad]
                      for name, b in m._buffers.items()] for m in pool["modules"]])
        seen.append([sorted(m._parameters) for m in pool["modules"]])
        single = nn.Module()
        single.weight = tensor(random, (2,), nn.Parameter)
        single.weight._grad = tensor(random)
        single.register_buffer("kept", tensor(random))
        part = nn.Module()
        part.weight, single.part = tensor(random, (2,), nn.Parameter), part
        weight, grad = single.weight, single.weight._grad
        cast = random.choice([torch.float32, torch.float64])
        single._apply(lambda t, cast=cast: (t + 1).to(cast), random.random() < 0.5)
        seen.append([str(t.dtype) for t in (weight, grad, single.kept)])
        seen.append([single.weight is weight, weight._grad is grad, numbers(weight),
                     numbers(grad), numbers(part.weight), numbers(single.kept),
                     _state.grad_enabled.get(), weight.grad_fn is None])
    return seen


def probe_13a_5(random):
    seen = []
    state = torch.random.get_rng_state()
    try:
        for _ in range(10):
            for kind in (nn.Dropout, nn.Dropout2d):
                torch.manual_seed(random.randrange(1000))
                p, inplace = random.choice([0.0, 1.0, *[random.uniform(0.1, 0.9)] * 5]), \
                    random.random() < 0.5
                layer = kind(p, inplace)
                layer.train(random.random() < 0.7)
                x = tensor(random, (random.randint(1, 3), 3, 2, 3))
                before = numbers(x)
                got = tried(lambda layer=layer, x=x: layer(x))
                seen.append(got if isinstance(got, list) else
                            [numbers(got), got is x, np.array_equal(before, x.numpy())])
    finally:
        torch.random.set_rng_state(state)
    return seen


def probe_13a_6_average(random):
    """Train on several batches without a momentum, and start again now and then."""
    layer, seen = nn.BatchNorm1d(2, momentum=None).double(), []
    for _ in range(8):
        layer(tensor(random, (random.randint(2, 4), 2)))
        seen.append([numbers(layer.running_mean), numbers(layer.running_var)])
        if random.random() < 0.3:
            layer.reset_running_stats()
    return seen


def probe_13a_6(random):
    seen = []
    for _ in range(12):
        kind, ndims = random.choice([(nn.BatchNorm1d, (2, 3)), (nn.BatchNorm2d, (4,)),
                                     (nn.BatchNorm3d, (5,))])
        layer = kind(3, eps=random.choice([1e-5, 0.1, random.uniform(0.01, 1)]),
                     momentum=random.choice([None, 0.0, 0.1, random.uniform(0.2, 0.9)]),
                     affine=random.random() < 0.8,
                     track_running_stats=random.random() < 0.75).double()
        if layer.weight is not None:
            with torch.no_grad():
                layer.weight.copy_(tensor(random, (3,)))
                layer.bias.copy_(tensor(random, (3,)))
        for _ in range(random.randint(3, 6)):
            act = random.random()
            layer.train(act < 0.6)
            if layer.running_mean is not None:
                layer.track_running_stats = random.random() < 0.7
                if random.random() < 0.2:
                    layer.reset_running_stats()
            buffers = list(layer.buffers())
            ndim = random.choice(ndims)
            x = tensor(random, (random.randint(2, 4), 3, *[2] * (ndim - 2))[:ndim])
            got = tried(lambda layer=layer, x=x: layer(x))
            seen.append(got if isinstance(got, list) else numbers(got))
            if random.random() < 0.3:  # a batch of other dimensions counts nowhere
                seen.append(tried(lambda layer=layer: layer(torch.ones(*[3] * 6))))
            seen.append([numbers(layer.running_mean), numbers(layer.running_var),
                         None if layer.num_batches_tracked is None
                         else int(layer.num_batches_tracked),
                         all(a is b for a, b in zip(buffers, layer.buffers(), strict=True))])
    return seen
