"""Probes of stage 15: small programs, signatures, networks and writers made at random."""

import itertools
import weakref
from math import inf, nan

import numpy as np
from probing import array, tried

import minigrad as torch
from minigrad import _state
from minigrad.aot import buffers, emit, flow
from minigrad.aot import program as programs
from minigrad.aot.flow import SINK, SOURCE
from minigrad.aot.guards import signature as guards
from minigrad.aot.program import Step, Value, values_among
from minigrad.aot.trace import joint
from minigrad.aot.trace.recording import Recording
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.aot.trace.steps import Steps
from minigrad.backend import numpy_backend
from minigrad.tensor.tensor import Tensor

# ------------------------------------------------------------------ 15.1 to 15.4: helpers


class OwnAdd:
    """Records each call as a step."""

    def add(self, name, call, arguments, results, **facts):
        outputs = [self.value(name, each) for each in results]
        self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs


class OwnRead:
    """Reads arrays without looking for writes."""

    def read(self, array):
        return array.value


class ReadySteps(OwnRead, Steps):
    """Steps for 15.1."""


class AddedSteps(OwnAdd, Steps):
    """Steps for 15.2."""


class OwnRecording(OwnAdd, OwnRead, Recording):
    """A recording for 15.4."""

    def known(self, array, what):
        if array.value.array is None:
            raise self.refuse(what)
        return array.value.array


def refused(program):
    """Return what a program returns, or its error without the line that it names."""
    try:
        return program()
    except Unrecordable as error:
        what, at, _ = str(error).partition(", at ")
        return ["refused", what, bool(at)]
    except Exception as error:
        return ["raised", type(error).__name__]


def replayed(steps, wanted, given):
    """Run steps on other arrays than the recorded ones; return the array of each Value."""
    known = {id(value): each for value, each in given}

    def array_of(argument):
        if type(argument) is Value:
            return argument.array if argument.array is not None else known[id(argument)]
        return list(map(array_of, argument)) if type(argument) is list else argument

    for step in steps:
        found = step.call(numpy_backend, *map(array_of, step.arguments))
        found = found if isinstance(found, (list, tuple)) else [found]
        known.update(zip(map(id, step.outputs), found, strict=True))
    return [None if each is None else np.array(array_of(each)) for each in wanted]


# ------------------------------------------------------------------ 15.1


def look_of(value):
    """Return what a Value looks like."""
    return [list(value.shape), str(value.dtype), list(value.strides), value.array]


def call_of(random, pool):
    """Return random arguments, some of them in lists, and random facts."""
    arguments = []
    for _ in range(random.randrange(4)):
        kind = random.randrange(4)
        if kind == 0:
            arguments.append(random.choice([2.0, (3,), None, "K", True]))
        elif kind == 1:
            arguments.append([random.choice(pool) for _ in range(random.randrange(3))])
        else:
            arguments.append(random.choice(pool))
    facts = {name: value for name, value in (("random", True), ("view", True), ("cost", 3),
                                             ("op", "Some")) if random.random() < 0.3}
    if random.random() < 0.1:
        facts["random"] = False
    return arguments, facts


def probe_15_1_add(random):
    """Add random calls to random steps."""
    seen = []
    for _ in range(6):
        steps = ReadySteps()
        pool = [steps.value("c", array(random, (2,)), constant=True) for _ in range(3)]
        pool += [steps.input(array(random, (2,)), "x").value for _ in range(random.randrange(3))]
        for number in range(12):
            arguments, facts = call_of(random, pool)
            results = [array(random, (random.randint(1, 3), 2)).T
                       for _ in range(random.choice([1, 1, 1, 2]))]
            before = len(steps.steps)
            found = tried(lambda: steps.add(f"op{number}", call_of, arguments, results, **facts))
            if not isinstance(found, (list, tuple)) or "raised" in found:
                seen.append(found)
                continue
            for each in results:
                each += random.choice([0, 1])
            pool += found
            seen.append([look_of(each) for each in found])
            for step in steps.steps[before:]:
                seen.append([step.name, step.call is call_of, step.arguments == arguments,
                             [*map(id, step.outputs)] == [*map(id, found)], step.view,
                             bool(step.random), step.cost, step.op])
        seen.append([step.name for step in steps.steps])
        seen.append(len({value.name for step in steps.steps for value in step.outputs}))
    return seen


def probe_15_1_known(random):
    """Ask for the numbers of arrays whose Values writes have changed."""
    seen = []
    for _ in range(12):
        steps = ReadySteps()
        traced = [steps.input(array(random, (2,)), "x") for _ in range(3)]
        after = {}
        for each in traced:
            for _ in range(2):
                after[id(each)] = random.choice([
                    each.value, steps.value("c", array(random, (2,)), constant=True)])
            if random.random() < 0.5:
                each.value = steps.value("c", array(random, (2,)), constant=True)
        steps.read = lambda given, after=after: after[id(given)]
        what = f"reason {random.randrange(99)}"
        for each in traced:
            seen.append(refused(lambda each=each: np.array(steps.known(each, what))))
            seen.append(refused(lambda each=each: steps.known(each, what)
                                is after[id(each)].array))
        seen.append(str(steps.refused).partition(", at ")[0])
    return seen


# ------------------------------------------------------------------ 15.2


def key_of(random, shape):
    """Return a random basic index that keeps each dimension, sometimes with gaps."""
    parts = []
    for size in shape:
        first = random.randrange(size)
        parts.append(slice(first, random.randint(first + 1, size), random.choice([1, 1, 2])))
    return tuple(parts)


def viewed(steps, whole, key):
    """Return a view of a traced array, as an op makes it."""
    inner = whole.inner[key]
    (value,) = steps.add("view", lambda xp, a: a[key], [steps.read(whole)], [inner], view=True)
    return steps.traced(inner, value)


def doubled(steps, source):
    """Return the traced array of twice another one."""
    inner = source.inner * 2
    (value,) = steps.add("double", lambda xp, a: a * 2, [steps.read(source)], [inner])
    return steps.traced(inner, value)


def probe_15_2_writes(random):
    """Write to random views and wholes; run the steps again on other inputs."""
    seen = []
    for _ in range(5):
        steps = AddedSteps()
        inputs = [steps.input(array(random, random.choice([(4,), (2, 3)])), "x")
                  for _ in range(3)]
        given = [each.value for each in inputs]
        wholes = [*inputs, doubled(steps, inputs[0])]
        arrays = list(wholes)
        for _ in range(random.randint(2, 10)):
            kind, source = random.randrange(4), random.choice(arrays)
            if kind == 0:
                arrays.append(viewed(steps, source, key_of(random, source.inner.shape)))
            elif kind == 1:
                arrays.append(doubled(steps, source))
            else:
                fitting = [each for each in arrays if each.inner.shape == source.inner.shape
                           and not np.may_share_memory(each.inner, source.inner)]
                result = random.choice(fitting) if fitting else steps.input(array(random, ()), "n")
                if not fitting:
                    inputs.append(result)
                    given.append(result.value)
                steps.write(source, result)
        order = [[each.memory for each in inputs].index(memory) for memory in steps.written]
        others = [np.array(each.inner) * 0 + array(random, each.inner.shape) for each in inputs]
        values = [steps.read(each) for each in arrays]
        count = len(steps.steps)
        again = [steps.read(each) is value for each, value in zip(arrays, values, strict=True)]
        seen.append([order, [np.array(each.inner) for each in arrays], all(again),
                     len(steps.steps) == count,
                     [np.array(each.memory.array) for each in wholes],
                     replayed(steps.steps, values, zip(given, others, strict=True))])
    return seen


def probe_15_2_memory(random):
    """Replace the Values of memories, read arrays and go back."""
    seen = []
    for _ in range(6):
        steps = AddedSteps()
        whole = array(random, (3, 4))
        inputs = [steps.input(random.choice([whole, whole[:, ::2], whole[1:], whole.T]), "x")
                  for _ in range(4)]
        arrays = [*inputs, *(viewed(steps, each, key_of(random, each.inner.shape))
                             for each in inputs), doubled(steps, inputs[0])]
        for each in random.choices(arrays, k=6):
            memory, version = each.memory, each.memory.version
            value = steps.value("new", memory.array)
            seen.append(refused(lambda m=memory, v=value: steps.replace(m, v)))
            seen.append([memory.whole is value, memory.version - version])
            mark = steps.mark()
            looked = random.sample(arrays, 4)
            before = [(one.value, one.version) for one in looked]
            read = [steps.read(one) for one in looked]
            seen.append([[list(one.shape) for one in read],
                         [one is old for one, (old, _) in zip(read, before, strict=True)],
                         [one is each.memory.whole for one, each in zip(read, looked, strict=True)],
                         [one.version == one.memory.version for one in looked]])
            if random.random() < 0.6:
                steps.go_back(mark)
                seen.append([one.value is old and one.version == was
                             for one, (old, was) in zip(looked, before, strict=True)])
        places = [each.memory for each in arrays]
        seen.append([places.index(memory) for memory in steps.written])
    return seen


# ------------------------------------------------------------------ 15.3


class Thing:
    """An object that may equal others."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return type(other) is Thing and other.number == self.number

    def __hash__(self):
        return self.number


class Pair(tuple):
    """A tuple of another type."""

    __slots__ = ()


class Label(str):
    """A str of another type."""

    __slots__ = ()


#: Types that share a name.
PAIRS = [Pair, type("Pair", (tuple,), {"__slots__": ()})]


def tensors_of(random):
    """Return makers of tensors that look different."""
    rows, columns = random.randint(2, 3), random.randint(4, 5)

    def ones(*shape, **more):
        return torch.ones(shape, **more)

    return [
        lambda: ones(rows, columns), lambda: ones(columns, rows).t(), lambda: ones(columns, rows),
        lambda: ones(rows, columns) * 3, lambda: ones(rows + 2, columns), lambda: ones(rows),
        lambda: ones(rows, columns, dtype=torch.int32),
        lambda: ones(rows, columns, dtype=torch.float64),
        lambda: ones(rows, columns, requires_grad=True),
        lambda: ones(rows, columns, requires_grad=True) * 2,
        lambda: ones(rows, columns, requires_grad=True).detach(),
        lambda: torch.nn.Parameter(ones(rows, columns)),
        lambda: ones(rows, rows)[:1], lambda: ones(rows, rows)[:, :1], lambda: ones(),
        lambda: ones(rows, 2 * columns)[:, :columns],
    ]


def plain_values(random):
    """Return values, some of them equal in Python's eyes."""
    number = random.randint(1, 9)
    return [number, float(number), complex(number), str(number), Label(number), Label("x"),
            True, 1, 1.0, False, 0, 0.0, -0.0,
            0j, -0j, complex(0.0, -0.0), float("nan"), float("nan"), complex("nan"), None, "None",
            ..., np.float64(number), np.float32(number), np.int64(number), np.float64(-0.0),
            np.float64(0.0), np.float32("nan"), np.float32("nan"), np.bool_(True), torch.float32,
            torch.int64, torch.float64, np.dtype("float32"), b"x", "x", 0.1 + 0.2, 0.3,
            number.hex() if hasattr(number, "hex") else float(number).hex()]


def nested(random, leaves, depth=2):
    """Return a random nesting of some of the leaves."""
    if not depth or random.random() < 0.3:
        return random.choice(leaves)
    inside = [nested(random, leaves, depth - 1) for _ in range(random.randrange(4))]
    kind = random.randrange(5)
    if kind == 4:
        names = random.sample(["a", "b", 1, True, 0.0, -0.0, (1,), torch.float32], len(inside))
        return dict(zip(names, inside, strict=True))
    return [list, tuple, *PAIRS][kind](inside)


def classes(keys):
    """Return for each key the first that it equals; an error where it has no hash."""
    table = {}
    return [table.setdefault(key, number) for number, key in enumerate(keys)]


def signed(tree):
    """Return the key of a tree, and which objects were listed."""
    tensors, others = [], []
    key = guards.signature(tree, tensors, others)
    return key, [*map(id, tensors)], [*map(id, others)]


def compared(trees):
    """Return which trees have equal keys, and what each of them lists."""
    found = [signed(tree) for tree in trees]
    numbers = {}
    return [classes([key for key, _, _ in found]),
            [[[numbers.setdefault(one, len(numbers)) for one in listed] for listed in rest]
             for _, *rest in found]]


def probe_15_3_leaves(random):
    """Compare tensors, plain values and objects with each other."""
    makers = tensors_of(random)
    tensors = [make() for make in makers for _ in range(2)]
    random.shuffle(tensors)
    values = plain_values(random)
    random.shuffle(values)
    number = random.randrange(9)
    things = [Thing(number), Thing(number), Thing(number + 1), object(), object(), set(),
              np.ones(2), np.ones(2), len, int, float, lambda: 1, lambda: 1]
    random.shuffle(things)
    return tried(lambda: [compared(tensors), compared(values),
                          compared([[each] for each in values]), compared([*things, *things])])


def probe_15_3_nested(random):
    """Compare random nestings, with tensors that occur again."""
    makers = tensors_of(random)
    seen = []
    for _ in range(4):
        alike, thing = random.choice(makers), Thing(1)
        leaves = [alike(), alike(), random.choice(makers)(), thing, Thing(1), 0, 1, True, 1.0,
                  -0.0, 0.0, "0", None]
        trees = [nested(random, random.sample(leaves, 4)) for _ in range(40)]
        trees += [(leaves[a], leaves[b], leaves[c]) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        trees += [[], (), {}, [[]], ((),), [[], []], [[[]]], {"a": 1, "b": 2}, {"b": 2, "a": 1},
                  {1: 2}, {True: 2}, {0.0: 2}, {-0.0: 2}, {"a": [1, 2]}, {"a": (1, 2)},
                  {"a": 1, "b": [2]}, {"a": [1], "b": 2}, *(pair((1, 2)) for pair in PAIRS), (1, 2),
                  [1, 2]]
        random.shuffle(trees)
        seen.append(tried(lambda trees=trees: compared([*trees, *trees])))
    return seen


# ------------------------------------------------------------------ 15.4


class Planned(Exception):
    """Raised on purpose."""


class Noted(OwnRecording):
    """A recording that notes what becomes a single step."""

    def formulas(self, node, grads, needed):
        return ["formulas", node.number, [*map(type, grads)] and len(grads), needed]


class Attempt:
    """A node that records steps, and may then refuse or fail."""

    def __init__(self, number, count, end, is_op):
        self.number, self.count, self.end, self.is_op = number, count, end, is_op

    def apply_arrays(self, grads, needed):
        recording = _state.program.get()
        for _ in range(self.count):
            recording.add(f"attempt {self.number}", max, [], [])
        if self.end == "refuse":
            raise recording.refuse(f"reason {self.number}")
        if self.end == "fail":
            raise (Planned, RuntimeError, AttributeError)[self.number % 3](str(self.number))
        return ["apply", len(grads), needed]


def probe_15_4_apply(random):
    """Apply nodes that record steps, refuse or fail."""
    seen = []
    for _ in range(6):
        recording, task = Noted(), joint.RecordingTask(False, False)
        task.nodes_to_execute = [random.randrange(99) for _ in range(2)]
        with _state.having(_state.program, recording):
            for number in range(6):
                node = Attempt(number, random.randrange(4), random.choice(
                    ["return", "refuse", "refuse", "fail"]), random.random() < 0.7)
                grads = [None] * random.randint(1, 3)
                seen.append(refused(lambda node=node, grads=grads: task.apply(node, grads)))
                seen.append([[step.name for step in recording.steps],
                             str(recording.refused).partition(", at ")[0]])
    return seen


class Peek(torch.autograd.Function):
    """A function whose backward pass branches."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 if grad.sum() > 0 else grad


UNARY = [lambda x: x.exp(), lambda x: x * 2, lambda x: x.sin(), lambda x: -x, lambda x: x * x,
         lambda x: x.cumprod(0), lambda x: x.floor(), lambda x: x.detach(), lambda x: x.softmax(0),
         lambda x: x.flip(0), lambda x: x.prod(0) * x, lambda x: x.clone()]


def probe_15_4_backward(random):
    """Record random graphs and their backward passes; run the steps again on other numbers."""
    seen = []
    for round_ in range(6):
        recording = OwnRecording()
        dtype = random.choice([np.float64, np.float32])

        def program(recording=recording, dtype=dtype, last=round_ == 5):
            with recording.active():
                leaves = [Tensor._plain(recording.input(array(random, (3,), dtype), "x"))
                          for _ in range(3)]
                for each in leaves:
                    each._requires_grad = True
                pool = list(leaves[: random.randint(1, 3)])
                for _ in range(random.randint(1, 5)):
                    one = random.choice(UNARY)(random.choice(pool))
                    pool.append(one if random.random() < 0.4 else one * random.choice(pool))
                roots = [each for each in pool if each._node is not None][-2:] or [leaves[0] * 2]
                roots.append(roots[-1].double().sum())
                if last:
                    roots.append(Peek.apply(roots[0]))
                random.shuffle(roots)
                tangents, gradients = joint.backward_steps(recording, roots, leaves)
            inputs = [each._array.value for each in leaves]
            numbers = [array(random, (3,), dtype) for _ in leaves]
            directions = [array(random, each.shape, each.dtype) for each in tangents]
            made = {id(each) for step in recording.steps for each in step.outputs}
            read = {id(each) for step in recording.steps for each in values_among(step.arguments)}
            found = replayed(recording.steps, gradients, zip(
                [*inputs, *tangents], [*numbers, *directions], strict=True))
            return [[[list(each.shape), str(each.dtype), each.array is None, id(each) in made]
                     for each in tangents], len(read & {id(each) for each in tangents}),
                    [each and each.array is None for each in gradients], found,
                    [each._grad is None for each in leaves]]

        seen.append(refused(program))
    return seen


# ------------------------------------------------------------------ helpers for 15.5 to 15.8


def array_value(name, shape=(2,), dtype=np.float64, number=None):
    """Return a Value; with a number, a constant."""
    array = np.full(shape, 0 if number is None else number, dtype)
    return Value(name, shape, array.dtype, array.strides, None if number is None else array)


def plus(xp, a, b):
    return a + b


def minus(xp, a, b):
    return a - b


def times(xp, a, number):
    return a * number


def summed(xp, arrays):
    return sum(arrays[1:], arrays[0])


def parts(xp, a):
    return a + 1, a - 1


def drawn(xp, a):
    return a + 0.5


def whole(xp, a):
    return a[...]


def random_steps(random, count, calls="plus minus times summed parts drawn whole", numbers=None):
    """Return two inputs, and steps that read them, constants and results of earlier steps."""
    inputs = [array_value(f"x{place}") for place in range(2)]
    known = [*inputs, array_value("held", number=random.randint(1, 9))]
    steps = []

    def one():
        return random.choice(known if random.random() < 0.4 else known[-3:])

    for place in range(count):
        name = random.choice(calls.split())
        call = globals()[name]
        arguments = {"plus": lambda: [one(), one()], "minus": lambda: [one(), one()],
                     "times": lambda: [one(), random.choice(numbers or [2, 2.0, 3])],
                     "summed": lambda: [[one() for _ in range(random.randint(1, 3))]],
                     "parts": lambda: [one()], "drawn": lambda: [one()],
                     "whole": lambda: [one()]}[name]()
        results = [array_value(f"v{place}_{i}") for i in range(1 + (name == "parts"))]
        steps.append(Step(name, call, arguments, results, several=name == "parts",
                          random=name == "drawn", view=name == "whole"))
        known += results
    return inputs, known, steps


def some_outputs(random, known, most=3):
    """Return some Values and some None."""
    return [random.choice([*known, None, known[2]]) for _ in range(random.randint(0, most))]


def copied(random, steps):
    """Return a second run of steps, of which a few read something else; their results are new."""
    new = {}

    def renewed(argument):
        if isinstance(argument, list):
            return list(map(renewed, argument))
        if isinstance(argument, Value):
            return new.get(id(argument), argument)
        return argument if random.random() < 0.8 else float(argument)

    made = []
    for step in steps:
        results = [array_value(v.name + "_") for v in step.outputs]
        made.append(Step(step.name, step.call, renewed(step.arguments), results,
                         several=step.several, random=step.random, view=step.view))
        new.update(zip(map(id, step.outputs), results, strict=True))
    return made


def places(steps, kept):
    """Return the numbers of steps; None for one that is not among them."""
    number = {id(step): place for place, step in enumerate(steps)}
    return [number.get(id(step)) for step in kept]


# ------------------------------------------------------------------ 15.5


def probe_15_5_live(random):
    """Drop steps of random programs."""
    seen = []
    for _ in range(25):
        _, known, steps = random_steps(random, random.randint(1, 12),
                                       "plus times summed summed parts drawn")
        outputs = some_outputs(random, known)
        seen.append(tried(lambda steps=steps, outputs=outputs: places(
            steps, programs.live_steps(steps, outputs))))
    return seen


def probe_15_5_shared(random):
    """Share steps of random programs that run two or three times."""
    seen = []
    for _ in range(12):
        calls = " ".join(random.sample(["plus", "minus", "summed", "parts", "drawn"], 3))
        _, _, steps = random_steps(random, random.randint(3, 8), calls + " times",
                                   [1, 1.0, True, 2])
        once = list(steps)
        for _ in range(random.randint(1, 2)):
            steps += copied(random, once)
        names = {id(v): v.name for step in steps for v in step.outputs}

        def program(steps=steps, names=names):
            kept, replaced = programs.shared_steps(steps)
            return [places(steps, kept), sorted([names.get(key, "?"), value.name]
                                                for key, value in replaced.items()),
                    [[v.name for v in step.inputs()] for step in kept]]

        seen.append(tried(program))
    return seen


def random_argument(random, values, depth=0):
    """Return an argument of a step; lists and tuples of arguments too."""
    kind = random.randrange(6 if depth < 2 else 4)
    if kind < 3:
        return random.choice([0, 1, 2, 0.0, -0.0, 1.0, nan, True, False, None, "K", "1", 2.0, inf])
    if kind == 3:
        return random.choice(values)
    inside = [random_argument(random, values, depth + 1) for _ in range(random.randint(0, 2))]
    return inside if kind == 4 else tuple(inside)


def probe_15_5_frozen(random):
    """Compare random arguments with each other."""
    values = [array_value("x"), array_value("x"), array_value("held", number=1.0),
              array_value("held", number=1.0), np.ones(2), np.ones(2),
              *[array_value("number", (), dtype, number) for number in (0.0, -0.0, 1.0, 1.0)
                for dtype in (np.float64, np.float32)]]
    numbers = [0.0, -0.0, nan, 1, 1.0, True, random.randint(2, 9)]
    arguments = [random_argument(random, values) for _ in range(30)] + values + numbers
    arguments += [[random.choice(numbers)] for _ in range(8)]
    arguments += [tuple(each) for each in arguments[-8:]]

    def program():
        frozen = [programs.frozen(each) for each in arguments]
        pairs = list(itertools.combinations(frozen, 2))
        return [[one == other for one, other in pairs],
                all(hash(one) == hash(other) for one, other in pairs if one == other)]

    return tried(program)


# ------------------------------------------------------------------ 15.6


def random_network(random, count, prices):
    """Return a network of values in layers."""
    network = {SOURCE: {}, SINK: {}}

    def edge(begin, end, capacity):
        network.setdefault(begin, {})[end] = capacity
        network.setdefault(end, {}).setdefault(begin, 0)

    for number in range(count):
        edge((number, 0), (number, 1), random.choice(prices))
        if number < 2 or random.random() < 0.2:
            edge(SOURCE, (number, 0), inf)
        for before in random.sample(range(number), min(number, random.randint(0, 3))):
            edge((before, 1), (number, 0), inf)
        if number >= count - 2 or random.random() < 0.2:
            edge((number, 1), SINK, inf)
    return network


def probe_15_6_cut(random):
    """Cut random networks, of which some have prices of 0 and some infinite ones."""
    seen = []
    for prices in ([1, 2, 3], [3, 5, 8, 13, 21], [0, 1, 4], [2, 2, 2, inf], [inf, inf, 1]):
        for _ in range(6):
            network = random_network(random, random.randint(3, 14), prices)
            seen.append(tried(lambda network=network: sorted(flow.cheapest_cut(network))))
    return seen


def probe_15_6_reach(random):
    """Find the nodes that reach the sink in networks with random capacities."""
    seen = []
    for _ in range(10):
        nodes = [SOURCE, SINK, *"abcdefg"]
        network = {node: {} for node in nodes}
        for _ in range(random.randint(4, 14)):
            begin, end = random.sample(nodes, 2)
            network[begin][end] = random.choice([0, 0, 1, 5, inf])
            network[end][begin] = random.choice([0, 0, 0, 2])
        seen.append(tried(lambda network=network: sorted(flow.able_to_reach_sink(network))))
    return seen


# ------------------------------------------------------------------ 15.7


def probe_15_7_deaths(random):
    """Find when the values of random programs die."""
    seen = []
    for _ in range(12):
        _, known, steps = random_steps(random, random.randint(1, 12))
        outputs = some_outputs(random, known)
        seen.append(tried(lambda steps=steps, outputs=outputs: [
            sorted(v.name for v in dead) for dead in buffers.last_uses(steps, outputs)]))
    return seen


def probe_15_7_taken(random):
    """Find which buffers are taken over in random programs with views and other shapes."""
    seen = []
    for _ in range(40):
        known, steps = [array_value("x"), array_value("held", number=2)], []
        outputs = []

        def step(call, *operands, known=known, steps=steps):
            known.append(array_value(f"v{len(known)}"))
            arguments = [list(operands)] if call is summed else list(operands)
            steps.append(Step(call.__name__, call, arguments, known[-1:], view=call is whole))
            return known[-1]

        for _ in range(random.randint(1, 4)):  # each time: a buffer, views of it, and its last use
            made = step(summed, *random.choices(known, k=2))
            views = [made]
            for _ in range(random.randint(0, 2)):
                views.append(step(whole, random.choice(views)))
            if random.random() < 0.3:
                step(random.choice([plus, summed]), random.choice(known), random.choice(views))
            operands = [made, random.choice([*known[:2], views[-1], made, *known])]
            random.shuffle(operands)
            step(random.choice([plus, minus, minus, summed]), *operands)
            if random.random() < 0.3:
                step(summed, views[-1])
            if random.random() < 0.2:
                outputs.append(random.choice([*views, None]))
        for value in known:
            if random.random() < 0.1:
                value.shape = random.choice([(), (1, 2), (0,)])
            if random.random() < 0.1:
                value.dtype = np.dtype(np.float32)

        def program(steps=steps, outputs=outputs):
            taken = buffers.taken_over(steps, outputs, lambda step: step.name in ("plus", "minus"))
            return [[place, taken[id(step)].name] for place, step in enumerate(steps)
                    if id(step) in taken] + [len(taken)]

        seen.append(tried(program))
    return seen


# ------------------------------------------------------------------ 15.8


def probe_15_8_source(random):
    """Run functions that are emitted for random programs, whose values have few names."""
    seen = []
    for _ in range(15):
        inputs, known, steps = random_steps(random, random.randint(0, 9), numbers=[2, 0.5, -0.0])
        for value in known:
            value.name = random.choice(["x", "mul", "mul_1", "_plus", "xp", "map", "_argument"])
        outputs = some_outputs(random, known, random.choice([0, 1, 5]))
        if outputs and random.random() < 0.7:
            product = [random.choice(inputs), array_value("x", (2, 2), number=random.random()),
                       array_value("x", (2, 2), number=random.random()), 1, 1]
            outputs.append(array_value("mul", (2, 2)))
            steps.append(Step("addmm", plus, product, outputs[-1:], op="Addmm"))
        name = random.choice(["forward", "backward", "run"])

        def program(inputs=inputs, steps=steps, outputs=outputs, name=name):
            writer = emit.Writer(inputs, steps, outputs)
            exec(compile(writer.source(name), "<probe>", "exec"), writer.names)
            found = writer.names[name](np.array([1.0, 2.0]), np.array([-3.0, 0.5]))
            return [type(found).__name__, *found]

        seen.append(tried(program, text=False))
    return seen


def probe_15_8_alive(random):
    """Write down which earlier results are alive in each step of an emitted function."""
    seen = []
    for _ in range(8):
        refs, alive = [], []

        def note(xp, number, arrays, refs=refs, alive=alive):
            alive.append([each() is not None for each in refs])
            made = sum(arrays, np.full(2, float(number)))
            refs.append(weakref.ref(made))
            return made

        values = [array_value(f"x{place}") for place in range(2)]
        steps = []
        for number in range(random.randint(3, 9)):
            operands = [random.choice(values[-4:]) for _ in range(random.randint(1, 2))]
            values.append(array_value("made"))
            steps.append(Step("note", note, [number, operands], [values[-1]]))
        outputs = [random.choice(values)]

        def program(values=values, steps=steps, outputs=outputs, alive=alive):
            writer = emit.Writer(values[:2], steps, outputs)
            exec(compile(writer.source("forward"), "<probe>", "exec"), writer.names)
            return [*writer.names["forward"](np.ones(2), np.zeros(2)), alive]

        seen.append(tried(program, text=False))
    return seen


def probe_15_8_names(random):
    """Ask for names of values and of things, which are sometimes the same or equal."""
    writer = emit.Writer([], [], [])
    wanted = [random.choice(["mul", "exp", "mul_1", "xp", "_mul", "mul"]) for _ in range(16)]
    things = [random.choice([1.0, True, 2.5]), np.ones(2), np.ones(2), {}, {}, plus, minus, [1]]
    asked = [(random.choice(things), random.choice(["mul", "exp", "argument"])) for _ in range(12)]

    def program():
        names = [writer.unused(each) for each in wanted[:8]]
        names += [writer.global_name(thing, name) for thing, name in asked]
        names += [writer.unused(each) for each in wanted[8:]]
        return [names, [writer.names.get(writer.global_name(thing, name)) is thing
                        for thing, name in asked]]

    return tried(program)
