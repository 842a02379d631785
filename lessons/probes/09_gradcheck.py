"""Probes of stage 09: jacobians of random functions, comparisons that are nearly right.

Numbers and steps are sums of few powers of two, so that differences have no rounding in them.
Where one hole's function calls another's, a stand-in returns what the probe has planned.
"""

import re
import warnings

import numpy as np
from probing import replaced, tried

import minigrad as torch
from minigrad.autograd.gradcheck import checks as parts
from minigrad.autograd.gradcheck import compare
from minigrad.autograd.gradcheck import numerical as jacobians


def array(random, shape, dtype=np.float64):
    """Return random eighths."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.randint(-16, 16) / 8 for _ in range(size)], dtype
                    ).reshape(shape).copy()


def tensor(random, shape=(2,), grad=False, dtype=np.float64):
    """Return a random leaf."""
    made = torch.Tensor._plain(array(random, shape, dtype))
    made._requires_grad = grad
    return made


def plain(value):
    """Return lists and tuples of tensors and arrays as lists of arrays."""
    if isinstance(value, (list, tuple)):
        return ["sequence", *map(plain, value)]
    if isinstance(value, torch.Tensor):
        return ["tensor", value.detach().numpy().copy()]
    return value.copy() if isinstance(value, np.ndarray) else value


def limits(random, **fixed):
    """Return tolerances."""
    made = {"eps": 2.0**-3, "atol": 2.0**-6, "rtol": 2.0**-4, "nondet_tol": 0.0,
            "check_grad_dtypes": False} | fixed
    return jacobians.Tolerances(**made)


def probe_09_1(random):
    seen = []
    for _ in range(6):
        inputs = [tensor(random, random.choice([(), (2,), (2, 3), (3, 1)]), random.random() < 0.7)
                  for _ in range(random.randint(1, 3))]
        inputs[0]._requires_grad = True
        if random.random() < 0.4:
            inputs.append(random.choice([2.5, tensor(random, (2,)), None]))
        if random.random() < 0.4:
            inputs[0] = torch.Tensor._plain(array(random, (3, 2)).T)
            inputs[0]._requires_grad = True
        scale, kind, calls = random.randint(1, 5), random.randrange(4), []

        def func(*given, scale=scale, kind=kind, calls=calls):
            calls.append(len(given))
            tensors = [t for t in given if isinstance(t, torch.Tensor)]
            total = sum((t * t * t).sum() * (i + scale) for i, t in enumerate(tensors))
            first = tensors[0]
            return [total, (total, first * first), (first * scale, (first > 0), total),
                    (first.detach(), first.reshape(-1))][kind]

        results = jacobians.as_tuple(func(*inputs))
        versions = [t._version if isinstance(t, torch.Tensor) else None for t in inputs]
        kept = [t._array.copy() if isinstance(t, torch.Tensor) else None for t in inputs]
        eps = 2.0**-random.randint(1, 4)
        checked = []
        with replaced(jacobians, check_alike=lambda below, above, place, eps: checked.append(
                [below.copy(), above.copy(), list(place), eps])):
            found = tried(lambda: jacobians.numerical_jacobians(func, inputs, results, eps))
        seen.append([plain(found) if isinstance(found, list) and found[:1] != ["raised"]
                     else found, len(calls)])
        seen.append([[str(j.dtype) for each in found for j in each]
                     if found[:1] != ["raised"] else None, checked])
        seen.append([[t._version == v, np.array_equal(t._array, k)] for t, v, k in
                     zip(inputs, versions, kept, strict=True) if v is not None])
    changing = tensor(random, (3,), True)
    seen.append(tried(lambda: jacobians.numerical_jacobians(
        lambda x: x[: 1 + int(float(x.detach().numpy()[0]) > 0)], [changing],
        [changing[:1]], 4.0)))
    return seen


def probe_09_2(random):
    seen = []
    for _ in range(8):
        inputs = [tensor(random, random.choice([(), (2,), (2, 3), (3, 2)]), random.random() < 0.7)
                  for _ in range(random.randint(2, 4))]
        inputs[0]._requires_grad = inputs[1]._requires_grad = True
        inputs.insert(random.randint(0, 2), 1.5)
        leaves = [t for t in inputs if isinstance(t, torch.Tensor)]
        used = leaves[: random.randint(1, len(leaves))]
        total = sum((t * t).sum() * (i + 1) for i, t in enumerate(used))
        shape = random.choice([(), (2,), (2, 2)])
        output = random.choice([total * tensor(random, shape), leaves[0] * leaves[0],
                                leaves[0].reshape(-1), total * tensor(random, shape) + total])
        if not output.requires_grad:
            continue
        columns = tried(lambda: jacobians.jacobian_columns(inputs, output))
        seen.append(plain(columns))
        seen.append(plain(tried(lambda: jacobians.jacobian_columns(inputs, output))))
        goals = [t for t in leaves if t.requires_grad]
        made = [[None if random.random() < 0.25 else
                 tensor(random, tuple(t.shape) if random.random() < 0.8 else (random.randint(1, 3),
                                                                            2)) for t in goals]
                for _ in range(random.randint(0, 4))]
        seen.append(plain(tried(lambda: jacobians.assembled(inputs, made))))
        low = torch.Tensor._plain(array(random, (2,), np.float32)).requires_grad_()
        seen.append([str(j.dtype) for j in jacobians.assembled([low], [[None]])])
    x = tensor(random, (3,), True)

    class Passes(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    seen.append(plain(jacobians.jacobian_columns([x], Passes.apply(x))))
    came = []

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.given = torch.Tensor._plain(np.zeros(3))
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            came.append(grad)
            with torch.no_grad():
                ctx.given.copy_(grad * 2)
            return ctx.given

    seen.append(plain(jacobians.jacobian_columns([x], Keeps.apply(x))))
    seen.append(plain(came))
    return seen


def near(random, numerical, found):
    """Return numbers that differ from others by about the tolerance."""
    part = random.choice([0.5, 0.9, 1.5, 4.0])
    made = numerical.copy()
    bound = found.atol + found.rtol * np.abs(made)
    signs = np.array([random.choice([-1.0, 1.0]) for _ in range(made.size)]).reshape(made.shape)
    if random.random() < 0.5:
        place = random.randrange(made.size)
        made.reshape(-1)[place] += (signs * part * bound).reshape(-1)[place]
        return made
    return made + signs * part * bound


def probe_09_3(random):
    seen = []
    for _ in range(30):
        numerical = array(random, (random.randint(1, 3), random.randint(1, 3)))
        tolerances = limits(random, atol=random.choice([0.0, 0.01, 0.5]),
                            rtol=random.choice([0.0, 0.001, 0.3]))
        analytical = near(random, numerical, tolerances)
        kind = random.random()
        if kind < 0.15:
            analytical.reshape(-1)[random.randrange(analytical.size)] = np.nan
            if kind < 0.1:
                numerical = analytical.copy()
        elif kind < 0.3 and analytical.size > 1:
            analytical = numerical.copy()
            analytical.reshape(-1)[0] += 1
            analytical.reshape(-1)[-1] -= 1
        elif kind < 0.4:
            analytical = numerical.copy()
        elif kind < 0.5:
            numerical = numerical * 0
        elif kind < 0.65:  # equal infinities are near, and no other number is near one
            numerical = np.full(numerical.shape, random.choice([np.inf, -np.inf]))
            analytical = numerical.copy()
            if random.random() < 0.6:
                analytical.reshape(-1)[random.randrange(analytical.size)] = random.choice(
                    [-numerical[0, 0], random.uniform(-2, 2)])
        if random.random() < 0.2:  # an element that is large says nothing about the others
            analytical = np.concatenate([analytical, np.full((1, analytical.shape[1]), 1e6)])
            numerical = np.concatenate([numerical, np.full((1, numerical.shape[1]), 1e6)])
        forward, word = random.random() < 0.4, f"advice {random.randrange(99)}"
        seen.append(tried(lambda: jacobians.check_equal(
            analytical, numerical, random.randrange(9), random.randrange(9), tolerances, forward,
            lambda: word)))
    for _ in range(16):
        inputs = [tensor(random, (2,), True) for _ in range(random.randint(1, 3))]
        results = [random.choice([tensor(random), tensor(random, (2,), True), tensor(
            random, (2,), True) * 2]) for _ in range(random.randint(1, 4))]
        numerical = [[array(random, (2, 2)) for _ in results] for _ in inputs]
        engine, forward_mode = ([[j.copy() for j in each] for each in numerical] for _ in range(2))
        for made in (engine, forward_mode):
            if random.random() < 0.6:
                made[random.randrange(len(inputs))][random.randrange(len(results))][0, 1] += \
                    random.choice([0.001, 1.0])
        calls, tolerances = [], limits(random, atol=0.01, rtol=0.0)

        def func(*given):
            return tuple(results)

        def by_engine(given, result, how):
            place = next(i for i, r in enumerate(results) if r is result)
            calls.append(["engine", place, how is tolerances])
            return [each[place] for each in engine]

        def by_differences(f, given, found, eps):
            calls.append(["numerical", len(found), eps])
            return numerical

        def by_tangents(f, given, found, how):
            calls.append(["forward", len(found)])
            return forward_mode

        def constant(found, tolerance):
            calls.append(["constant", found is numerical, tolerance])

        with replaced(compare, analytical_jacobians=by_engine, check_is_constant=constant,
                      numerical_jacobians=by_differences, forward_jacobians=by_tangents):
            forward = random.random() < 0.4
            got = tried(lambda: compare.check_slow(func, inputs, tolerances, results, forward))
        seen.append([got, [call for call in calls if call[0] == "constant"],
                     any(call[0] == "engine" for call in calls),
                     forward or not any(call[0] == "forward" for call in calls),
                     sorted({call[2] for call in calls if call[0] == "numerical"})])
    return seen


def told(program, length):
    """Return what a program gives, and its warnings, as far as their text is fixed."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        got = tried(program)
    if isinstance(got, list):
        got = [*got[:2], got[2][:length]]
    return [got, [[each.category.__name__, str(each.message)[:78]] for each in found]]


def until_refused(result):
    """Drop the warnings about inputs after a rejected one, which may or may not be looked at."""
    numbers = [int(digits[0]) if (digits := re.findall(r"\d+", text)) else None
               for text in [str(result[0]), *(text for _, text in result[1])]]
    if numbers[0] is None:
        return result
    return [result[0], [told for told, number in zip(result[1], numbers[1:], strict=True)
                        if number is None or number <= numbers[0]]]


def probe_09_4(random):
    seen = []
    for _ in range(40):
        inputs = []
        for _ in range(random.randint(0, 4)):
            grad = random.random() < 0.6
            kind = random.randrange(9)
            made = [tensor(random), tensor(random, (2,), dtype=np.float32), 1.5,
                    tensor(random, (2,), dtype=np.float16),
                    torch.Tensor._plain(np.broadcast_to(array(random, (2,)), (3, 2))),
                    torch.Tensor._plain(np.lib.stride_tricks.as_strided(
                        array(random, (2,)), (1, 2), (0, 8))), tensor(random),
                    torch.Tensor._plain(array(random, (3, 2)).T),
                    torch.Tensor._plain(np.broadcast_to(array(random, (2,), np.float32),
                                                        (3, 2)))][kind]
            if isinstance(made, torch.Tensor):
                made._requires_grad = grad
            inputs.append(made)
        inputs += inputs[: random.randrange(3)]  # an input may come twice
        seen.append(until_refused(told(lambda inputs=inputs: compare.check_inputs(inputs), 44)))
    return [*seen, random.random()]


def made_function(random, kind, scale):
    """Return a Function whose backward treats missing gradients in one of several ways."""
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * scale, (x + y) * scale

        @staticmethod
        def backward(ctx, first, second):
            calls.append([first is None, second is None])
            missing = {"first": first is None, "second": second is None,
                       "both": first is None and second is None, "never": False,
                       "one": (first is None) != (second is None)}
            which, how = kind
            if missing[which] and how == "raises":
                raise RuntimeError("a gradient is missing")
            if missing[which] and how in ("ones", "opposite"):
                sign = 1.0 if how == "ones" else -1.0
                return torch.tensor([1.0, sign], dtype=torch.float64), None
            total = [g * scale for g in (first, second) if g is not None]
            return (sum(total) if total else None,
                    None if second is None else second * scale)

    calls = []
    return Odd, calls


class Constant(torch.autograd.Function):
    """Adds a number to its gradient."""

    @staticmethod
    def forward(ctx, x, amount):
        ctx.amount = amount
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + ctx.amount, None


def probe_09_5(random):
    seen = []
    for _ in range(16):
        x, y = tensor(random, (2,), True), tensor(random, (2,), True)
        unused = tensor(random, (3,), True)
        added = random.choice([0.0, 0.0, 2.0**-30, 2.0**-60, 1.0])
        place, dtype = random.randrange(2), random.choice([np.float64] * 4 + [np.float32])
        shape = random.choice([(2,)] * 5 + [(1,)])
        off = random.choice([[added, added], [added, 0.0], [0.0, added], [added, -added]])
        if dtype != np.float64 or shape != (2,):  # either error may be raised first
            off = [0.0, 0.0]

        class Adds(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a * 2, b * 2

            @staticmethod
            def backward(ctx, first, second):
                made = [first * 2, second * 2]
                made[place] = made[place] + torch.Tensor._plain(np.array(off))
                return tuple(made)

        inputs = random.sample([x, y, unused, tensor(random), 1.5], 5)
        outputs = Adds.apply(x, y)
        if random.random() < 0.4:
            outputs = outputs[: 1]
        masked = random.random() < 0.5

        def odd_grad(*args, real=parts.grad, **kwargs):
            found = list(real(*args, **kwargs))
            for i, each in enumerate(found):
                if each is not None and (dtype != np.float64 or shape != (2,)):
                    found[i] = torch.Tensor._plain(np.zeros(shape, dtype) + each._array[:1]
                                                   .astype(dtype))
            return tuple(found)

        with replaced(parts, grad=odd_grad):
            seen.append(tried(lambda: parts.check_multiplies_by_gradient(
                inputs, outputs, masked)))
        seen.append(tried(lambda: parts.check_multiplies_by_gradient(
            inputs, outputs, masked)))  # the graph is kept
        squares = (x * x,)
        for _ in range(2):
            seen.append(tried(lambda: parts.check_multiplies_by_gradient(
                inputs, squares, masked)))
        amount = random.uniform(1, 2)  # what one output adds another one may take away
        sums = tuple(Constant.apply(x, each) for each in (
            amount, -amount if random.random() < 0.6 else amount))
        seen.append(tried(lambda: parts.check_multiplies_by_gradient(inputs, sums, masked)))
        kind = (random.choice(["first", "second", "both", "never", "one"]),
                random.choice(["raises", "ones", "opposite"]))
        odd, calls = made_function(random, kind, random.randint(1, 4))
        warned, constant_first = [], random.random() < 0.6

        def told_of(text, warned=warned):
            warned.append(text)
            return jacobians.GradcheckError(text)

        def with_constant(a, b):
            made = list(odd.apply(a, b))
            made.insert(0 if constant_first else 2, a.detach())
            return tuple(made)

        with replaced(parts, undefined_error=told_of):
            seen.append(tried(lambda: parts.check_undefined(with_constant, (x, y), 2)))
            seen.append([list(warned), [] if warned else sorted(calls)])  # in any order
            calls.clear()
            seen.append(tried(lambda: parts.check_undefined(
                lambda a, b: odd.apply(a, b)[random.randrange(2)], (x, y), 1)))
            seen.append([list(warned), [] if warned else sorted(calls)])  # in any order
            seen.append(tried(lambda: parts.check_undefined(  # each case needs its own graph
                lambda a, b: (a * a, a * b * b), (x, y), 2)))
        seen.append(random.random())
    return seen


def probe_09_6(random):
    seen = []
    for _ in range(12):
        count = random.randint(1, 3)
        inputs = [tensor(random, (2,)) for _ in range(count)]
        live = [random.random() < 0.7 for _ in range(count)]
        live[random.randrange(count)] = True
        for t, lives in zip(inputs, live, strict=True):
            t._requires_grad = lives and random.random() < 0.5
        used = random.randint(1, count)
        if not any(live[:used]):
            live[0] = True
        scale, several = random.randint(1, 5), random.random() < 0.6
        numbers = []

        def func(*given, scale=scale, several=several, used=used, numbers=numbers):
            numbers.append(len(given))
            total = sum(t * t * t * (i + scale) for i, t in enumerate(given[:used]))
            return (total, total.detach(), total * scale) if several else total

        grads = [tensor(random, (2,)) for _ in range(2 if several else 1)]
        live += [random.random() < 0.6 for _ in grads]
        found = tried(lambda: compare.first_gradients(func, count, live, *inputs, *grads))
        seen.append([plain(found), numbers, [t.requires_grad for t in (*inputs, *grads)]])
        if isinstance(found, tuple):
            seen.append([f.requires_grad for f in found])
            leaves = [t for t, lives in zip((*inputs, *grads), live, strict=True) if lives]
            weights = tensor(random, (2,))
            seen.append(plain(tried(lambda: torch.autograd.grad(
                sum((f * f * weights).sum() for f in found), leaves, allow_unused=True))))
        x, grad, scale = tensor(random, (2,), True), tensor(random, (2,)), random.randint(2, 5)
        seen.append(plain(tried(lambda scale=scale, x=x, grad=grad: compare.first_gradients(
            lambda t: t * scale, 1, [True, False], x, grad))))
    return seen
