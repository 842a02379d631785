"""Probes of stage 04a: random shapes, gradients that do not fit, formulas at random numbers.

The formulas are asked through the node of a recorded operation, once with arrays and once with
tensors, on inputs of one shape, so that neither broadcasting nor fitting has a part in them.
"""

import numpy as np
from probing import tried

import minigrad as torch
from minigrad import shapes
from minigrad.engine import validate
from minigrad.ops.math import maximum
from minigrad.ops.nn import softmax


def array(random, shape, low=-2.0, high=2.0, dtype=np.float64):
    """Return a random array."""
    size = int(np.prod(shape, dtype=int))
    return np.array([random.uniform(low, high) for _ in range(size)], dtype).reshape(shape)


def tensor(values, grad=True):
    """Return a leaf."""
    made = torch.Tensor._plain(np.asarray(values))
    made._requires_grad = grad
    return made


def shrunk(random, shape):
    """Return a shape that broadcasts to `shape`."""
    sizes = [1 if random.random() < 0.35 else n for n in shape]
    return tuple(sizes[random.randint(0, len(sizes)) if random.random() < 0.5 else 0:])


def probe_04a_1(random):
    seen = []
    for _ in range(80):
        shape = tuple(random.choice([0, 1, 2, 3, 4]) for _ in range(random.randint(0, 4)))
        other = shrunk(random, shape)
        if random.random() < 0.3:
            other = tuple(random.randint(0, 3) for _ in range(random.randint(0, 5)))
        a, b = random.sample([shape, other], 2)
        seen.append(tried(lambda a=a, b=b: shapes.infer_size(a, b)))
        seen.append(tried(lambda a=a, b=b: shapes.infer_size(shrunk(random, a), b)))
    return seen


def probe_04a_2(random):
    seen = []
    for _ in range(25):
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(0, 4)))
        target = shrunk(random, shape)
        grad = array(random, shape)
        before = grad.copy()
        got = validate.sum_to(grad, target)
        seen.append([type(got).__name__, np.array(got), np.array_equal(before, grad)])
        x = tensor(grad)
        y = x * random.uniform(1, 2)
        made = validate.sum_to(y, target)
        seen.append([type(made).__name__, made.requires_grad, made.grad_fn is not None,
                     made.detach().numpy().copy()])
    for shape, target in (((2, 3, 2), (3, 2)), ((4, 2), (2,)), ((3, 1, 2), (1, 2)),
                          ((2, 2, 2), (2, 1, 2)), ((3, 3), (3,)), ((0, 2), (2,))):
        seen.append(np.array(validate.sum_to(array(random, shape), target)))
    return seen


class Known:
    """A node of which only the outputs' shapes, dtypes and the name are known."""

    def __init__(self, name, outputs=()):
        self.outputs, self.told = outputs, name

    def metadata_of(self, index):
        return self.outputs[index]

    def name(self):
        return self.told


def probe_04a_3_expandable(random):
    seen = []
    for _ in range(60):
        shape = tuple(random.choice([0, 1, 2, 3, 4]) for _ in range(random.randint(0, 4)))
        one, other = random.choice([(shrunk(random, shape), shape), (shape, shrunk(random, shape)),
                                    (shape, (random.randint(1, 3), *shape)),
                                    (shape, shape[1:]), (shape, shape[::-1])])
        seen.append(shapes.is_expandable_to(one, other))
    for _ in range(4):
        n, rest = random.randint(2, 4), array(random, shrunk(random, (2, 3))).shape
        seen += [shapes.is_expandable_to((n, *rest), (0, *rest)),
                 shapes.is_expandable_to((n,), (3, 0))]
    return seen


def probe_04a_3_match(random):
    seen = []
    dtypes = [np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.float16)]
    for _ in range(40):
        shape = tuple(random.randint(1, 3) for _ in range(random.randint(0, 3)))
        outputs = [(shrunk(random, shape), random.choice(dtypes)) for _ in range(3)]
        index = random.randrange(3)
        target, source = Known(f"Target{random.randrange(99)}", outputs), Known(
            f"Source{random.randrange(99)}")
        kind = random.random()
        if kind < 0.25:
            shape = tuple(random.randint(1, 4) for _ in range(random.randint(0, 4)))
        elif kind < 0.4:
            shape = outputs[index][0]
        grad = array(random, shape)
        if random.random() < 0.2:
            grad = (grad * 5).astype(random.choice([np.int64, np.int32, np.bool_]))
        form = random.random()
        if form < 0.35:
            grad = tensor(grad, grad=False)
        elif form < 0.5 and grad.ndim == 0:
            grad = grad[()] if random.random() < 0.5 else grad.item()

        def fitted(grad=grad, target=target, index=index, source=source):
            got = validate.match_metadata(grad, target, index, source, random.randrange(5))
            held = got._array if isinstance(got, torch.Tensor) else got
            exact = held.dtype == np.float64
            return [type(got).__name__, type(held).__name__, str(held.dtype), list(held.shape),
                    np.array(held) if exact else np.zeros(held.shape)]

        seen.append(tried(fitted))
    for _ in range(4):  # as many elements, but fewer dimensions than wanted
        shape = [random.randint(1, 3) for _ in range(random.randint(2, 3))]
        target = Known("t", [(tuple(shape), np.dtype(np.float64))])
        flat = array(random, [int(np.prod(shape))])
        seen.append(tried(lambda flat=flat, target=target: np.array(
            validate.match_metadata(flat, target, 0, Known("s"), random.randrange(5)))))
    # numbers of float32 that are exact, so that they can be compared
    for _ in range(5):
        wanted = (random.randint(1, 3),)
        grad = np.array([[random.randrange(64) / 8 for _ in range(wanted[0])]
                         for _ in range(random.randint(2, 3))])
        target = Known("t", [(wanted, np.dtype(np.float32))])
        got = validate.match_metadata(grad, target, 0, Known("s"), 0)
        seen.append(got.astype(np.float64))
        x = tensor(grad) * 2
        made = validate.match_metadata(x, Known("t", [(wanted, grad.dtype)]), 0, Known("s"), 0)
        seen.append([made.requires_grad, made.detach().numpy().copy()])
    for plain in (random.random(), np.float64(random.random())):
        target = Known("t", [((), np.dtype(np.float64))])
        got = validate.match_metadata(plain, target, 0, Known("s"), 0)
        seen.append([type(got).__name__, np.array(got)])
    return seen


def slopes(random, result, infinite=False):
    """Return what the node of a result makes of a random gradient, from arrays and tensors.

    The last element is whether the gradient and the result have stayed as they are.
    """
    node = result.grad_fn
    g = array(random, tuple(result.shape)).astype(result._array.dtype)
    if infinite:
        g.reshape(-1)[random.randrange(g.size)] = np.inf
    before = g.copy(), result._array.copy()
    with torch.no_grad(), np.errstate(all="ignore"):
        from_arrays = [None if each is None else np.array(each)
                       for each in node.apply_arrays((g,), None)]
        stayed = np.array_equal(before[0], g) and np.array_equal(
            before[1], result._array, equal_nan=True)
        return [*from_arrays, *[None if each is None else each.detach().numpy().copy()
                                for each in node.apply_tensors((tensor(before[0], False),))],
                stayed]


def reached(random, inputs, result):
    """Return, for each gradient of a result, whether its graph leads to each input.

    With a gradient that requires none, only the formula's own use of the inputs can lead there.
    """
    g = tensor(array(random, tuple(result.shape)).astype(result._array.dtype), grad=False)
    seen = []
    for grad in result.grad_fn.apply_tensors((g,)):
        found, waiting = set(), [None if grad is None else grad.grad_fn]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in found:
                found.add(node)
                waiting += [after for after, _ in node.next_functions]
        leaves = {id(getattr(node, "variable", None)) for node in found}
        seen.append([id(each) in leaves for each in inputs])
    return seen


def formulas(random, programs, make):
    """Try each program on inputs of one random shape."""
    seen = []
    for program in programs:
        for _ in range(2):
            shape = [random.randint(1, 3), random.randint(2, 3)]
            inputs = [tensor(make(random, shape)) for _ in range(3)]
            seen.append(tried(lambda program=program, inputs=inputs:
                              slopes(random, program(*inputs))))
    return seen


def away(random, shape):
    """Return numbers that are not near zero, of both signs."""
    return array(random, shape, 0.5, 2.0) * np.array(random.choice([-1, 1]))


def positive(random, shape):
    """Return positive numbers."""
    return array(random, shape, 0.5, 2.0)


def probe_04a_4(random):
    a, b = random.uniform(2, 3), random.uniform(-3, -2)
    seen = formulas(random, [
        lambda x, y, z: torch.add(x, y), lambda x, y, z: torch.add(x, y, alpha=a),
        lambda x, y, z: torch.sub(x, y), lambda x, y, z: torch.sub(x, y, alpha=b),
        lambda x, y, z: x * y, lambda x, y, z: x * b, lambda x, y, z: -x], array)
    seen += formulas(random, [lambda x, y, z: x / y, lambda x, y, z: x / a], away)
    x, y = (tensor(np.array([2.0**random.randint(60, 70)], np.float32)) for _ in range(2))
    g = np.array([2.0**random.randint(90, 100)], np.float32)
    with np.errstate(all="ignore"):
        seen += [np.array(each, np.float64) for each in (x / y).grad_fn.apply_arrays((g,), None)]
    # powers of two are exact in float32, however often they are divided
    top, bottom = random.randint(90, 100), random.randint(70, 85)
    x = tensor(np.array([2.0**top], np.float32))
    y = tensor(np.array([2.0**bottom], np.float32))
    for each in (x / y).grad_fn.apply_arrays((np.ones(1, np.float32),), None):
        seen.append(np.array(each, np.float64))
    return seen


def probe_04a_5(random):
    seen = formulas(random, [lambda x, y, z: torch.exp(x), lambda x, y, z: torch.tanh(x),
                             lambda x, y, z: torch.sigmoid(x)], array)
    seen += formulas(random, [lambda x, y, z: torch.log(x), lambda x, y, z: torch.sqrt(x)],
                     positive)
    for function in (torch.exp, torch.log, torch.sqrt, torch.sigmoid, torch.tanh):
        x = tensor(positive(random, [3]))
        seen.append(tried(lambda function=function, x=x: reached(random, [x], function(x))))
    far = tensor(np.array([-1000.0, 1000.0]))
    return [*seen, slopes(random, torch.sigmoid(far)), slopes(random, torch.tanh(far))]


def probe_04a_6(random):
    def with_zeros(random, shape):
        made = positive(random, shape)
        made.reshape(-1)[random.randrange(made.size)] = 0.0
        return made

    a, n = random.uniform(2.2, 3), random.choice([3, 4, 5])
    seen = formulas(random, [
        lambda x, y, z: x**a, lambda x, y, z: x**n, lambda x, y, z: x**2, lambda x, y, z: x**-a,
        lambda x, y, z: x**1, lambda x, y, z: torch.pow(x, y)], positive)
    seen += formulas(random, [
        lambda x, y, z: x**0, lambda x, y, z: x**0.0, lambda x, y, z: x**n, lambda x, y, z: x**1,
        lambda x, y, z: torch.pow(x, y)], with_zeros)
    for _ in range(3):
        size = random.randint(3, 6)
        base = tensor(np.array([random.choice([0.0, -1.5, 2.0, random.uniform(0.5, 2)])
                                for _ in range(size)] + [0.0, 0.0]))
        power = tensor(np.array([random.choice([0.0, 1.0, 2.0, -1.0, 0.5]) for _ in range(size)]
                                + [0.0, 2.0]))
        seen.append(slopes(random, torch.pow(base, power)))
        seen.append(slopes(random, base**0))
        seen.append(slopes(random, base**0, infinite=True))
        ends = tensor(np.array([random.choice([np.inf, -np.inf]), random.uniform(0.5, 2)]))
        seen.append(slopes(random, ends**0))
        base = tensor(np.array([0.0, random.uniform(0.5, 2)]))
        by_base, *_ = slopes(random, torch.pow(base, tensor(np.zeros(2))), infinite=True)
        seen.append(by_base)
    for _ in range(3):  # shapes that broadcast: the gradients have the shape of the result
        base = tensor(positive(random, [random.randint(2, 3), 1]))
        power = tensor(np.array([0.0, random.uniform(1, 2), 2.0]))
        seen.append(tried(lambda base=base, power=power: slopes(random, torch.pow(base, power))))
        x, y = tensor(positive(random, [2])), tensor(positive(random, [2]))
        seen.append(tried(lambda x=x, y=y: [reached(random, [x], x**n),
                                            reached(random, [x, y], torch.pow(x, y))]))
    return seen


def probe_04a_7(random):
    def with_zeros(random, shape):
        made = array(random, shape)
        made.reshape(-1)[random.randrange(made.size)] = 0.0
        return made

    seen = formulas(random, [lambda x, y, z: torch.relu(x)], with_zeros)
    for _ in range(4):
        x = tensor(with_zeros(random, [3]))
        seen.append(slopes(random, torch.relu(x), infinite=True))
        seen.append(tried(lambda x=x: reached(random, [x], torch.relu(x))))
    for _ in range(6):
        size = random.randint(3, 8)
        g = array(random, (size,))
        if random.random() < 0.5:
            g[random.randrange(size)] = np.inf
        kinds = [random.choice(["wins", "loses", "tie"]) for _ in range(size)]
        loses, tie = (np.array([each == kind for each in kinds]) for kind in ("loses", "tie"))
        before = g.copy()
        seen.append([np.array(maximum.share(g, loses, tie)), np.array_equal(before, g)])
        with torch.no_grad():
            made = maximum.share(tensor(g), torch.tensor(loses), torch.tensor(tie))
        seen.append(made.numpy().copy())
    return seen


def probe_04a_8_forward(random):
    seen = []
    for function in (softmax.stable_softmax, softmax.stable_log_softmax):
        for _ in range(6):
            shape = [random.randint(1, 4) for _ in range(random.randint(1, 3))]
            x = array(random, shape) * random.choice([1.0, 3.0, 400.0, 2000.0, 1e5])
            before = x.copy()
            with np.errstate(all="ignore"):
                seen.append(np.array(function(np, x, random.randrange(len(shape)))))
            seen.append(np.array_equal(before, x))
    return seen


def probe_04a_8_gradients(random):
    dim = random.randrange(2)
    seen = formulas(random, [
        lambda x, y, z: torch.softmax(x, 0), lambda x, y, z: torch.softmax(x, dim),
        lambda x, y, z: torch.log_softmax(x, 1), lambda x, y, z: torch.log_softmax(x, dim)], array)
    for function in (torch.softmax, torch.log_softmax):
        x = tensor(array(random, [2, 3]))
        seen.append(tried(lambda function=function, x=x: reached(random, [x], function(x, dim))))
    return seen
