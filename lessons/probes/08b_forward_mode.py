"""Probes of stage 08b: random programs on Duals, random ops in every mode, maps and derivatives."""

import warnings

import numpy as np
from probing import numbers, replaced, tensor, tried

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.forward_ad import jacobian, pushforward
from minigrad.batching import batched, examples, next_level, rules
from minigrad.examples import dual_numbers
from minigrad.examples.dual_numbers import Dual
from minigrad.func import jacobians
from minigrad.func.levels import VmapLevels
from minigrad.func.transforms import Derivation
from minigrad.op.apply import apply
from minigrad.op.declaration import REGISTRY


def shown(value):
    """Return nested tensors as arrays, each with whether it requires grad."""
    if isinstance(value, dict):
        return ["dict", *([key, shown(each)] for key, each in value.items())]
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(shown, value)]
    if isinstance(value, torch.Tensor):
        return [str(value._array.dtype), value.requires_grad, numbers(value)]
    return value


# ------------------------------------------------------------------------------------ 08b.1


def probe_08b_1(random):
    seen = []
    for _ in range(20):
        a, b = (Dual(random.uniform(0.2, 2), random.uniform(-3, 3)) for _ in range(2))
        seen.append([(each.value, each.tangent) for each in (
            dual_numbers.add(a, b), dual_numbers.mul(a, b), dual_numbers.exp(a),
            dual_numbers.reciprocal(b))])
        seed, runs = random.randint(0, 10**9), []
        point = [random.uniform(0.2, 2) for _ in range(3)]
        direction = [random.choice([0.0, random.uniform(-3, 3)]) for _ in range(3)]
        found = tried(lambda s=seed, p=point, d=direction, r=runs:
                      dual_numbers.jacobian_vector_product(
                          lambda x, y, z: r.append(x.value) or chain(s, [x, y, z]), p, d))
        seen.append([type(found).__name__, found, runs])
    return seen


def chain(seed, values):
    """Run a random calculation of six steps on Duals."""
    choose = np.random.default_rng(seed)
    made = list(values)
    for _ in range(6):
        a, b = (made[int(choose.integers(len(made)))] for _ in range(2))
        made.append([a + b, a * b, a - b, a / (b * b + 1.0), 2.0 - a,
                     dual_numbers.exp(-(a * a))][int(choose.integers(6))])
    return made[-1] + made[-2]


# ------------------------------------------------------------------------------------ 08b.2


def nested(values):
    """Return which objects a list holds, also in the lists inside it."""
    return [[id(each) for each in value] if isinstance(value, list) else id(value)
            for value in values]


def pushed(rule, name, values, tangents):
    """Call a rule on an op, and tell the tangents and whether the values stayed."""
    op, before = REGISTRY[name], nested(values)
    outputs = pushforward.as_sequence(apply(op, list(values)))

    def program():
        found = getattr(pushforward, rule)(op, values, outputs, tangents)
        return [len(found), [shown(each) for each in found],
                before == nested(values)]

    return tried(program)


def probe_08b_2(random):
    seen = []
    for _ in range(8):
        n, k, m = (random.randint(1, 3) for _ in range(3))
        a, b = tensor(random, (n, k), random.random() < 0.5), tensor(random, (k, m))
        s, t = tensor(random, (n, k)), tensor(random, (k, m))
        for moving in ({0: s}, {1: t}, {0: s, 1: t}):
            seen.append(pushed("multilinear", "Mm", [a, b], moving))
        x, y = tensor(random, (n, k)), tensor(random, (n, k))
        u, v = tensor(random, (n, k)), tensor(random, (n, k))
        for name in ("Mul", "Maximum", "Atan2"):
            for moving in ({0: u}, {1: v}, {0: u, 1: v}):
                seen.append(pushed("elementwise", name, [x, y], moving))
        seen.append(pushed("elementwise", "Tanh", [x], {0: u}))
        dim, keep = random.randrange(2), random.random() < 0.5
        seen.append(pushed("linear", "Sum", [x, dim, keep, None], {0: u}))
        seen.append(pushed("linear", random.choice(["Stack", "Cat"]), [[x, y, x], dim],
                           {0: [random.choice([u, None]), v, None]}))
        seen.append(pushed("linear", "Unbind", [x, dim], {0: u}))
        rows = torch.tensor([random.randrange(n) for _ in range(3)])
        seen.append(pushed("linear", "Embedding", [x, rows, -1, False], {0: u}))
        seen.append(pushed("multilinear", "Mm", [a * 1e20, b], {0: s}))
    return seen


# ------------------------------------------------------------------------------------ 08b.3

TWICE = (
    lambda x: torch.cumsum(x, 1), lambda x: torch.softmax(x, 0), lambda x: torch.cumprod(x, 1),
    lambda x: torch.norm(x), lambda x: torch.flip(x, (0,)), lambda x: torch.logsumexp(x, 1),
    lambda x: torch.max(x, 1)[0], lambda x: torch.tril(x))


def probe_08b_3(random):
    seen = []
    for f in TWICE:
        x = tensor(random, (random.randint(1, 3), random.randint(2, 3)), random.random() < 0.7)
        t = tensor(random, tuple(x.shape))
        for on in (True, False):

            def program(f=f, x=x, t=t, on=on):
                with torch.set_grad_enabled(on), forward_ad.dual_level():
                    found = forward_ad.unpack_dual(f(forward_ad.make_dual(x, t))).tangent
                    result = [shown(found), torch.is_grad_enabled()]
                if found.requires_grad:
                    result.append(shown(torch.autograd.grad((found * found).sum(), x)))
                return result

            seen.append(tried(program))
        torch.set_grad_enabled(True)
    for _ in range(5):
        a, b = tensor(random, (2, 3)), tensor(random, (2, 3))
        s, t = tensor(random, (2, 3)), tensor(random, (2, 3))
        for moving in ({0: s}, {1: t}, {0: s, 1: t}):
            seen.append(pushed("transposed_twice", "MseLoss", [a, b, "mean"], moving))
        seen.append(pushed("transposed_twice", "MaxDim", [a, random.randrange(2), False], {0: s}))
        square = tensor(random, (2, 2))
        seen.append(pushed("transposed_twice", "Slogdet", [square], {0: tensor(random, (2, 2))}))

        def moving(x, t=t):
            return torch.func.jvp(lambda x: torch.cumprod(x, 1), (x,), (t,))[1]

        for on in (True, False):
            with torch.set_grad_enabled(on):
                seen.append(tried(lambda a=a, s=s, moving=moving: shown(
                    torch.func.jvp(moving, (a,), (s,)))))
    op = REGISTRY["MaxDim"]
    formulas, outputs = op.formulas, tuple(torch.max(a, 1))
    op.formulas = {"self": (lambda indices: 1 // 0, ("indices",))}
    try:
        with torch.no_grad():
            seen.append(tried(lambda: pushforward.transposed_twice(
                op, [a, 1, False], outputs, {0: s})))
            seen.append(torch.is_grad_enabled())
            op.formulas = {"self": (lambda indices: None, ("indices",))}
            seen.append(pushed("transposed_twice", "MaxDim", [a, random.randrange(2), False],
                               {0: s}))
    finally:
        op.formulas = formulas
    return seen


# ------------------------------------------------------------------------------------ 08b.4


def on_batches(f, *inputs):
    """Run `f` on batches (those in a tuple) and tensors; warnings are told."""
    level = next_level()

    def program():
        found = f(*[batched(x[0], level) if isinstance(x, tuple) else x for x in inputs])
        return shown(examples(found, level))

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        return [tried(program), len(told)]


def probe_08b_4(random):
    seen = []
    for _ in range(12):
        n = random.randint(1, 4)
        dims = [random.randint(-n, n - 1) for _ in range(random.randint(0, 2))]
        seen.append(tried(lambda d=dims, n=n: [rules.moved(tuple(d), n), rules.moved(-n, n)]))
        for outside in (n, -n - 1, (0, n)):
            seen.append(tried(lambda d=outside, n=n: rules.moved(d, n), text=False))
        shape = [random.randint(1, 3) for _ in range(random.randint(0, 3))]
        other = shape[random.randint(0, len(shape)):]
        size = random.randint(1, 4)
        x, y = tensor(random, (size, *shape)), tensor(random, (size, *other))
        w = tensor(random, other)
        op = random.choice([torch.mul, torch.sub, torch.maximum])
        seen += [on_batches(op, (x,), (y,)), on_batches(op, (y,), (x,)),
                 on_batches(op, (x,), w), on_batches(op, tensor(random, shape), (y,)),
                 on_batches(lambda x: torch.exp(x) * 2.0, (x,))]
        dim = random.choice([None, *range(-len(shape), len(shape))]) if shape else 0
        keep = random.random() < 0.5
        seen.append(on_batches(lambda x, d=dim, k=keep: torch.sum(x, d, keepdim=k), (x,)))
        seen.append(on_batches(lambda x, d=dim or 0: torch.amax(x, d), (x,)))
        if len(shape) > 1:
            seen.append(on_batches(lambda x, k=keep: torch.mean(x, (0, -1), keepdim=k), (x,)))
            seen.append(on_batches(lambda x: torch.prod(x, -1), (x,)))
            seen += [on_batches(reduced, (x,)) for reduced in (
                torch.var, lambda x: torch.sum(x, ()), lambda x: torch.sum(x, None, keepdim=True))]
            seen.append(tried(lambda x=x: slope_of_product(x)))
    return seen


def slope_of_product(x):
    """Return the gradient of products along one dimension of each example, with a zero."""
    x, level = x.detach().clone().requires_grad_(), next_level()
    with torch.no_grad():
        x.reshape(-1)[0] = 0.0
    found = examples(torch.prod(batched(x, level), -1), level)
    return numbers(torch.autograd.grad((found * found + found).sum(), x)[0])


# ------------------------------------------------------------------------------------ 08b.5


def probe_08b_5(random):
    seen = []
    for _ in range(10):
        size = random.randint(1, 4)
        x, w = tensor(random, (size, 2, 3)), tensor(random, (2, 3))
        place = random.choice([0, 1, 2, -1])
        constant = tensor(random, (2, 3))
        calls = []

        def f(given, *, times=1.0, constant=constant, calls=calls):
            calls.append([tuple(each.shape) for each in given])
            a, b = given
            return {"a": a * b * times, "c": constant, "n": 3}

        dims = random.choice([(0, 0), (0, None)])
        second = w if dims[1] is None else tensor(random, (size, 2, 3))
        where = {"a": place, "c": random.choice([0, 1, None]), "n": None}
        seen.append([tried(lambda f=f, d=dims, p=where, x=x, y=second: shown(torch.func.vmap(
            f, (d,), p)((x, y), times=2.0))), calls])
        seen.append(tried(lambda x=x, w=w: shown(torch.func.vmap(
            lambda a: torch.func.vmap(lambda b: a + b, out_dims=1)(w))(x))))
        seen.append(tried(lambda x=x: shown(torch.func.vmap(lambda a: a, out_dims=None)(x))))
        seen.append(tried(lambda x=x, w=w: shown(torch.func.vmap(
            lambda a, b: (a + b, b), (0, None), (0, None))(x, w))))
        level = random.randint(1, 3) if next_level() > 3 else next_level()
        seen.append(tried(lambda x=x, w=w, level=level: shown(examples(torch.func.vmap(
            lambda b: batched(x, level) * b)(w), level))))
        seen.append(tried(lambda x=x: shown(torch.func.vmap(lambda a: 3)(x))))
        seen.append(tried(lambda x=x, p=place: shown(torch.func.vmap(
            lambda a: a * 2, out_dims=p, chunk_size=2)(x))))
        torch.manual_seed(random.randint(0, 10**6))
        for kind in ("error", "different", "same"):
            seen.append(tried(lambda x=x, k=kind: shown(torch.func.vmap(
                lambda a: a + torch.rand(2, 3), randomness=k)(x)), text=False))
    return seen


# ------------------------------------------------------------------------------------ 08b.6


def probe_08b_6(random):
    seen = []
    for _ in range(10):
        sizes = [random.randint(1, 3) for _ in range(random.randint(0, 3))]
        pairs = tuple((next_level(), size) for size in sizes)
        levels = VmapLevels(pairs)
        x = tensor(random, (2,), grad=random.random() < 0.5)
        if pairs and random.random() < 0.6:  # batched at one of the levels, with a history
            level, size = random.choice(pairs)
            x = batched(tensor(random, (size, 2)) * x, level)
        value = tensor(random, (*sizes, 2), grad=random.random() < 0.5)

        def program(levels=levels, x=x, value=value):
            found = levels.example(value)
            return [shown(levels.of(x)), tuple(found.shape), shown(levels.of(found))]

        seen.append(tried(program))
        some = tensor(random, (*sizes[:1], 2))
        seen.append(tried(lambda ls=levels, p=pairs, s=some: shown(ls.of(
            batched(s, p[0][0]) if p else s))))
    w, rows = tensor(random, (2,)), tensor(random, (3, 2))
    for f in (lambda w, x: (x * w).sum() ** 2, lambda w, x: torch.tanh(x * w).sum()):
        seen.append(tried(lambda f=f: shown(torch.func.vmap(torch.func.grad(f), (None, 0))(
            w, rows))))
        seen.append(tried(lambda f=f: shown(torch.func.vmap(lambda x: torch.func.vmap(
            torch.func.grad(f), (0, None))(rows, x))(rows))))
    return seen


# ------------------------------------------------------------------------------------ 08b.7


def modes_of(program):
    """Return which of forward and reverse mode a program runs."""
    ran, along, pull = set(), jacobians.columns_along, Derivation.pull
    with replaced(jacobians, columns_along=lambda *given: ran.add("forward") or along(*given)), \
            replaced(Derivation, pull=lambda self, *given, **named: ran.add("reverse") or pull(
                self, *given, **named)):
        program()
    return sorted(ran)


def probe_08b_7(random):
    seen = []
    for _ in range(6):
        n, m, count = (random.randint(1, 3) for _ in range(3))
        x, y = tensor(random, (n,)), tensor(random, (m,))
        directions = [tensor(random, (count, n)), tensor(random, (count, m))]
        calls = []

        def f(x, y, calls=calls):
            calls.append(1)
            return x.exp() * y.sum(), torch.ones(2, dtype=torch.float64), (x * x).sum()

        seen.append([tried(lambda f=f, a=x, b=y, d=directions: shown(
            jacobian.columns_along(f, [a, b], d))), len(calls)])
        columns = tensor(random, (n * 2 + m, 3))
        seen.append(tried(lambda c=columns, n=n: shown(jacobians.column_block(
            VmapLevels(()), c, slice(0, n * 2), (n, 2)))))
        seen.append(tried(lambda c=columns, n=n, m=m: shown(jacobians.column_block(
            VmapLevels(()), c, slice(n * 2, n * 2 + m), (m,)))))

        def loss(x, y):
            return (x**3).sum() * y.exp().sum() + x.prod() * y[0]

        for argnums in (0, 1, (0, 1), (1, 0)):
            seen.append(tried(lambda a=argnums, x=x, y=y: shown(torch.func.hessian(
                loss, a)(x, y))))
        seen.append(tried(lambda x=x, y=y: modes_of(
            lambda: torch.func.hessian(loss)(x, y))))
        rows = tensor(random, (2, n))
        seen.append(tried(lambda r=rows, y=y: shown(torch.func.vmap(torch.func.jacfwd(
            lambda x: torch.tanh(x) * y.sum()))(r))))
        seen.append(tried(lambda r=rows, y=y: shown(torch.func.vmap(torch.func.hessian(
            lambda x: loss(x, y)))(r))))
    return seen
