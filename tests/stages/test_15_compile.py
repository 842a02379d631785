"""Stage 15: one call, forward and backward, as a program, cut in two and emitted."""

import gc
import itertools
import traceback
import weakref
from collections import namedtuple
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import _state
from minigrad.aot import buffers, compiled, emit, flow, program
from minigrad.aot.direct import is_elementwise
from minigrad.aot.flow import SINK, SOURCE
from minigrad.aot.guards.signature import signature
from minigrad.aot.partition import at_level
from minigrad.aot.program import Step, Value, values_among
from minigrad.aot.trace import joint
from minigrad.aot.trace.record import record
from minigrad.aot.trace.recording import Recording
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.aot.trace.steps import Steps
from minigrad.backend import numpy_backend
from minigrad.tensor.tensor import Tensor

# ------------------------------------------------------------------ 15.1 to 15.4: helpers


class OwnAdd:
    """Records each call as a step, even if `add` is still open."""

    def add(self, name, call, arguments, results, **facts):
        outputs = [self.value(name, each) for each in results]
        self.steps.append(Step(name, call, arguments, outputs, **facts))
        return outputs


class OwnRead:
    """Reads the Value of an array without looking for writes."""

    def read(self, array):
        return array.value


class ReadySteps(OwnRead, Steps):
    """Steps for 15.1."""


class ReadyRecording(OwnRead, Recording):
    """A recording for 15.1."""


class AddedRecording(OwnAdd, Recording):
    """A recording for 15.2."""


class OwnRecording(OwnAdd, OwnRead, Recording):
    """A recording for 15.4."""

    def known(self, array, what):
        if array.value.array is None:
            raise self.refuse(what)
        return array.value.array


def numbers(*values):
    return np.array(values, np.float64)


def replayed(steps, wanted, given):
    """Run steps on other arrays than the recorded ones; return the array of a Value.

    `given` has the arrays of the inputs, each with its Value before it.
    """
    known = {id(value): array for value, array in given}

    def array_of(argument):
        if type(argument) is Value:
            return argument.array if argument.array is not None else known[id(argument)]
        return list(map(array_of, argument)) if type(argument) is list else argument

    for step in steps:
        found = step.call(numpy_backend, *map(array_of, step.arguments))
        found = found if isinstance(found, (list, tuple)) else [found]
        known.update(zip(map(id, step.outputs), found, strict=True))
    return array_of(wanted)


def multiplied(xp, one, other):
    """Multiply two arrays."""
    return one * other


# ------------------------------------------------------------------ 15.1


def operand_of(steps, *values):
    """Return the Value of an input."""
    return steps.input(numbers(*values), "x").value


def constant_of(steps, *values):
    """Return a constant."""
    return steps.value("c", numbers(*values), constant=True)


@pytest.mark.hole("15.1")
def test_a_call_becomes_a_step():
    steps = ReadySteps()
    x, result = operand_of(steps, 1.0, 2.0), numbers(3.0, 6.0)
    arguments = [x, 3.0]
    found = steps.add("mul", multiplied, arguments, [result])
    assert len(steps.steps) == 1, f"expected one step, got {steps.steps}"
    (step,) = steps.steps
    assert (step.name, step.call) == ("mul", multiplied)
    assert step.arguments == arguments, f"expected the arguments, got {step.arguments}"
    assert [*step.outputs] == [*found], "expected the Values of the results as outputs"


@pytest.mark.hole("15.1")
def test_the_value_of_a_result_looks_like_its_array():
    steps = ReadySteps()
    result = np.ones((3, 2), np.float32).T
    (value,) = steps.add("mul", multiplied, [operand_of(steps, 1.0)], [result])
    assert value.name == "mul" and value.shape == (2, 3), f"got {value} with {value.shape}"
    assert value.dtype == np.float32 and value.strides == result.strides
    assert value.array is None, "the result of a step that reads an input isn't a constant"


@pytest.mark.hole("15.1")
def test_steps_stay_in_the_order_of_the_calls():
    steps = ReadySteps()
    x = operand_of(steps, 1.0)
    for name in ("exp", "sin", "cos"):
        (x,) = steps.add(name, multiplied, [x, x], [numbers(1.0)])
    assert [step.name for step in steps.steps] == ["exp", "sin", "cos"]


@pytest.mark.hole("15.1")
def test_a_call_of_constants_is_a_constant():
    steps = ReadySteps()
    c, d, result = constant_of(steps, 2.0), constant_of(steps, 3.0), numbers(6.0)
    (value,) = steps.add("mul", multiplied, [c, d, 1.0], [result])
    assert value.array is not None, "expected a constant"
    assert_close(value.array, [6.0], what="the constant")
    assert not steps.steps, f"expected no step, got {steps.steps}"


@pytest.mark.hole("15.1")
def test_a_constant_keeps_its_numbers():
    steps = ReadySteps()
    result = numbers(6.0)
    (value,) = steps.add("mul", multiplied, [constant_of(steps, 2.0)], [result])
    result[...] = 7.0
    assert_close(value.array, [6.0], what="the constant after a write to the result")


@pytest.mark.hole("15.1")
def test_a_call_that_is_not_random_may_say_so():
    steps = ReadySteps()
    (value,) = steps.add("mul", multiplied, [constant_of(steps, 2.0)], [numbers(6.0)],
                         random=False, view=False)
    assert value.array is not None and not steps.steps, f"got {steps.steps}"


@pytest.mark.hole("15.1")
@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_single_operand_that_varies_makes_a_step(position):
    steps = ReadySteps()
    arguments = [constant_of(steps, 2.0) for _ in range(3)]
    arguments[position] = operand_of(steps, 1.0)
    (value,) = steps.add("lerp", multiplied, arguments, [numbers(2.0)])
    assert value.array is None and len(steps.steps) == 1, f"got {value.array}, {steps.steps}"


@pytest.mark.hole("15.1")
@pytest.mark.parametrize("varies", [True, False], ids=["an input in a list", "only constants"])
def test_operands_in_a_list_count(varies):
    steps = ReadySteps()
    inside = [constant_of(steps, 2.0), (operand_of if varies else constant_of)(steps, 1.0)]
    (value,) = steps.add("index", multiplied, [constant_of(steps, 3.0), inside], [numbers(2.0)])
    assert (value.array is None) is varies, f"got the constant {value.array}"
    assert len(steps.steps) == varies


@pytest.mark.hole("15.1")
def test_a_list_of_constants_is_enough():
    steps = ReadySteps()
    (value,) = steps.add("cat", multiplied, [[constant_of(steps, 2.0)], 0], [numbers(2.0)])
    assert value.array is not None and not steps.steps, f"got {steps.steps}"


@pytest.mark.hole("15.1")
def test_a_random_call_is_a_step():
    steps = ReadySteps()
    (value,) = steps.add("bernoulli", multiplied, [constant_of(steps, 0.5)], [numbers(1.0)],
                         random=True)
    assert value.array is None, f"each call draws other numbers, but got {value.array}"
    assert len(steps.steps) == 1 and steps.steps[0].random


@pytest.mark.hole("15.1")
@pytest.mark.parametrize("arguments", [[], [2.0, (3,)]], ids=["no arguments", "only numbers"])
def test_a_call_without_operands_is_a_step(arguments):
    steps = ReadySteps()
    (value,) = steps.add("read_sensor", multiplied, arguments, [numbers(1.0)])
    assert value.array is None and len(steps.steps) == 1, f"got {value.array}, {steps.steps}"


@pytest.mark.hole("15.1")
@pytest.mark.parametrize("varies", [True, False], ids=["an input", "a constant"])
def test_each_result_has_a_value(varies):
    steps = ReadySteps()
    operand = (operand_of if varies else constant_of)(steps, 1.0, 2.0)
    one, other = steps.add("max", multiplied, [operand], [numbers(2.0), numbers(1.0, 5.0)])
    assert (one.shape, other.shape) == ((1,), (2,)), f"got {one.shape} and {other.shape}"
    assert one.name != other.name, "expected two names"
    if not varies:
        assert one.array.tolist() == [2.0] and other.array.tolist() == [1.0, 5.0]


@pytest.mark.hole("15.1")
def test_facts_are_attributes_of_the_step():
    steps = ReadySteps()
    steps.add("view", multiplied, [operand_of(steps, 1.0)], [numbers(1.0)], view=True, cost=0,
              op="View")
    (step,) = steps.steps
    assert (step.view, step.cost, step.op) == (True, 0, "View")


@pytest.mark.hole("15.1")
def test_a_constant_is_known():
    steps = ReadySteps()
    array = steps.input(numbers(1.0), "x")
    array.value = constant_of(steps, 4.0)
    assert steps.known(array, "a branch depends on a value") is array.value.array


@pytest.mark.hole("15.1")
def test_other_values_are_not_known():
    steps = ReadySteps()
    with pytest.raises(Unrecordable, match="^torch.compile: a branch depends on a value, at "):
        steps.known(steps.input(numbers(1.0), "x"), "a branch depends on a value")


@pytest.mark.hole("15.1")
@pytest.mark.parametrize("becomes_constant", [True, False], ids=["a constant", "an input"])
def test_a_value_is_known_after_the_writes_so_far(becomes_constant):
    steps = ReadySteps()
    array, c = steps.input(numbers(1.0), "x"), constant_of(steps, 4.0)
    before, after = (array.value, c) if becomes_constant else (c, array.value)
    array.value = before
    steps.read = lambda given: after if given is array else given.value
    if becomes_constant:
        assert steps.known(array, "a value is read") is c.array
    else:
        with pytest.raises(Unrecordable, match="a value is read"):
            steps.known(array, "a value is read")


@pytest.mark.hole("15.1")
def test_a_branch_on_an_input_is_refused():
    recording = ReadyRecording()
    with pytest.raises(Unrecordable, match="a branch depends on a value"), recording.active():
        x = Tensor._plain(recording.input(numbers(1.0, 2.0), "x"))
        if x.sum() > 0:
            x = x * 2


@pytest.mark.hole("15.1")
def test_a_branch_on_a_constant_is_taken():
    recording = ReadyRecording()
    with recording.active():
        x = Tensor._plain(recording.input(numbers(1.0, 2.0), "x"))
        scale = torch.ones(2, dtype=torch.float64) * 3
        x = x * scale if scale.sum() > 5 else x
    assert [step.name for step in recording.steps] == ["mul"], f"got {recording.steps}"


# ------------------------------------------------------------------ 15.2


def view_of(steps, array, key):
    """Return a view of a traced array, as an op makes it."""
    inner = array.inner[key]
    (value,) = steps.add("view", lambda xp, whole: whole[key], [array.value], [inner], view=True)
    made = steps.traced(inner, value)
    made.version = array.version
    return made


class Written(OwnAdd, Steps):
    """Steps with an input `x` of four numbers, a view `v` of it, and an input `r` of two."""

    def __init__(self):
        super().__init__()
        self.x = self.input(numbers(1.0, 2.0, 3.0, 4.0), "x")
        self.v = view_of(self, self.x, slice(1, 3))
        self.r = self.input(numbers(7.0, 8.0), "r")
        self.before = self.x.value, self.r.value

    def made(self, *values):
        """Return the traced array of a result with these numbers."""
        (value,) = self.add("made", lambda xp: numbers(*values), [], [numbers(*values)])
        return self.traced(numbers(*values), value)

    def after(self, array):
        """Return the numbers of a traced array if the steps run on other inputs."""
        others = numbers(10.0, 20.0, 30.0, 40.0), numbers(50.0, 60.0)
        wanted = self.read(array)
        return replayed(self.steps, wanted, zip(self.before, others, strict=True)).tolist()


@pytest.mark.hole("15.2")
def test_reading_records_nothing_without_a_write():
    s = Written()
    count = len(s.steps)
    assert s.read(s.x) is s.x.value and s.read(s.v) is s.v.value
    assert len(s.steps) == count, f"expected no further step, got {s.steps[count:]}"


@pytest.mark.hole("15.2")
def test_a_write_to_a_view_changes_the_whole():
    s = Written()
    s.write(s.v, s.r)
    assert s.after(s.x) == [10.0, 50.0, 60.0, 40.0]


@pytest.mark.hole("15.2")
def test_a_write_to_the_whole_changes_a_view():
    s = Written()
    s.write(s.x, s.made(5.0, 6.0, 7.0, 8.0))
    assert s.after(s.v) == [6.0, 7.0]


@pytest.mark.hole("15.2")
def test_a_write_changes_views_that_overlap():
    s = Written()
    other = view_of(s, s.x, slice(2, None))
    s.write(s.v, s.r)
    assert s.after(other) == [60.0, 40.0]


@pytest.mark.hole("15.2")
def test_each_write_begins_with_the_one_before():
    s = Written()
    other = view_of(s, s.x, slice(2, None))
    s.write(s.v, s.r)
    s.write(other, s.r)
    assert s.after(s.x) == [10.0, 50.0, 50.0, 60.0]


@pytest.mark.hole("15.2")
def test_the_array_that_was_written_to_has_the_new_value():
    s = Written()
    s.write(s.v, s.r)
    assert s.after(s.v) == [50.0, 60.0]


@pytest.mark.hole("15.2")
def test_a_result_is_read_after_the_writes_to_it():
    s = Written()
    s.write(s.x, s.made(9.0, 9.0, 9.0, 9.0))
    s.write(s.r, s.v)
    assert s.after(s.r) == [9.0, 9.0], f"got {s.after(s.r)}"


@pytest.mark.hole("15.2")
def test_an_array_is_read_again_only_once():
    s = Written()
    s.write(s.x, s.made(5.0, 6.0, 7.0, 8.0))
    first, count = s.read(s.v), len(s.steps)
    assert s.read(s.v) is first, "expected the same Value from the second reading"
    assert len(s.steps) == count, "expected no step for the second reading"


@pytest.mark.hole("15.2")
def test_going_back_undoes_a_reading():
    s = Written()
    s.write(s.x, s.made(5.0, 6.0, 7.0, 8.0))
    before, mark = s.v.value, s.mark()
    s.read(s.v)
    s.go_back(mark)
    assert s.v.value is before, "expected the Value from before the mark"
    assert s.after(s.v) == [6.0, 7.0]


@pytest.mark.hole("15.2")
def test_a_write_stores_the_numbers():
    s = Written()
    s.write(s.v, s.r)
    assert s.x.inner.tolist() == [1.0, 7.0, 8.0, 4.0], f"got {s.x.inner.tolist()}"


@pytest.mark.hole("15.2")
@pytest.mark.parametrize("result", [np.array(9.0), np.array([9, 9, 9, 9])],
                         ids=["one number", "integers"])
def test_a_write_broadcasts_and_converts(result):
    s = Written()
    s.write(s.x, s.input(result, "n"))
    assert s.x.inner.tolist() == [9.0] * 4, f"got {s.x.inner.tolist()}"
    value = s.read(s.x)
    assert (value.shape, value.dtype) == ((4,), np.float64), f"got {value.shape}, {value.dtype}"


@pytest.mark.hole("15.2")
def test_a_new_value_of_a_memory():
    s = Written()
    version, value = s.x.memory.version, s.value("new", s.x.inner)
    s.replace(s.x.memory, value)
    assert s.x.memory.whole is value, f"got {s.x.memory.whole}"
    assert s.x.memory.version > version, "expected a higher version"
    assert s.read(s.x) is value


@pytest.mark.hole("15.2")
def test_written_inputs_are_noted_once_and_in_order():
    s = Written()
    for target in (s.r, s.v, s.x, s.r):
        s.write(target, s.made(0.0))
    found = [each.whole.shape for each in s.written]
    assert [*map(id, s.written)] == [id(s.r.memory), id(s.x.memory)], f"got shapes {found}"


@pytest.mark.hole("15.2")
def test_only_inputs_are_noted():
    s = Written()
    s.write(s.made(1.0, 2.0), s.r)
    assert not s.written, f"expected no input, got {s.written}"


@pytest.mark.hole("15.2")
def test_a_part_of_other_memory_is_not_written_to():
    s = Written()
    part = s.input(np.arange(6.0)[::3], "part")
    with pytest.raises(Unrecordable):
        s.write(part, s.r)
    assert not s.written, "expected no note of a refused write"


@pytest.mark.hole("15.2")
def test_replacing_alone_notes_and_refuses():
    s = Written()
    part = s.input(np.arange(6.0)[::3], "part")
    s.replace(s.r.memory, s.value("new", s.r.inner))
    with pytest.raises(Unrecordable):
        s.replace(part.memory, s.value("new", part.inner))
    assert s.written == [s.r.memory], f"expected a note of r, got {s.written}"


@pytest.mark.hole("15.2")
def test_a_part_of_a_result_may_be_written_to():
    s = Written()
    whole = s.made(0.0, 1.0, 2.0, 3.0)
    s.write(view_of(s, whole, slice(None, None, 2)), s.r)
    assert s.after(whole) == [50.0, 1.0, 60.0, 3.0]


@pytest.mark.hole("15.2")
def test_a_function_that_writes_to_views():
    recording = AddedRecording()
    with recording.active():
        traced = recording.input(numbers(1.0, 2.0, 3.0), "x")
        start = traced.value
        y = Tensor._plain(traced) * 1
        row, rest = y[:2], y[1:]
        row.mul_(10)
        rest.add_(1)
        y[:1].neg_()
        result = recording.read((row.sum() + y.sum())._array)
    found = replayed(recording.steps, result, [(start, numbers(2.0, 4.0, 6.0))])
    assert_close(found, (-20 + 41) + (-20 + 41 + 7), what="the result for other numbers")
    assert not recording.written, "the function writes to no input"


# ------------------------------------------------------------------ 15.3


def key_of_call(*arguments):
    return signature(arguments, [], [])


def some_tensor(shape=(2, 3), dtype=torch.float32, **more):
    return torch.ones(shape, dtype=dtype, **more)


def inner_tensor():
    """Return a tensor that requires grad and isn't a leaf."""
    return some_tensor(requires_grad=True) * 1


@pytest.mark.hole("15.3")
def test_the_same_call_has_the_same_key():
    x, y = some_tensor(), torch.zeros(2, 3)
    one, other = (key_of_call(each, 2, "a", [1.5, None], {"k": (each, True)}) for each in (x, y))
    assert one == other and hash(one) == hash(other), f"got {one} and {other}"


@pytest.mark.hole("15.3")
@pytest.mark.parametrize("other", [
    lambda: some_tensor((4, 3)), lambda: some_tensor((2, 4))[:, :3], lambda: some_tensor((6,)),
    lambda: some_tensor(dtype=torch.float64), lambda: some_tensor(dtype=torch.int32),
    lambda: some_tensor(requires_grad=True), inner_tensor,
    lambda: torch.nn.Parameter(some_tensor(), requires_grad=False),
    lambda: some_tensor().numpy().tolist(),
], ids=["shape", "strides", "number of dimensions", "itemsize", "dtype", "requires_grad",
        "grad_fn", "type, Parameter", "type, list"])
def test_a_tensor_that_looks_different_has_another_key(other):
    assert key_of_call(some_tensor()) != key_of_call(other())


@pytest.mark.hole("15.3")
def test_shapes_differ_even_if_sizes_and_strides_agree():
    rows, columns = some_tensor((2, 2))[:1], some_tensor((2, 2))[:, :1]
    assert key_of_call(rows) != key_of_call(columns), f"both have {key_of_call(rows)}"


@pytest.mark.hole("15.3")
def test_a_leaf_differs_from_an_inner_tensor():
    assert key_of_call(some_tensor(requires_grad=True)) != key_of_call(inner_tensor())


@pytest.mark.hole("15.3")
def test_a_tensor_given_twice_differs_from_two():
    x, y = some_tensor(), some_tensor()
    keys = {key_of_call(x, x), key_of_call(x, y)}
    assert len(keys) == 2, f"expected two keys, got {keys}"
    assert key_of_call(y, y) in keys, "expected the same key for another tensor given twice"


@pytest.mark.hole("15.3")
def test_it_matters_which_tensor_is_given_twice():
    x, y = some_tensor(), some_tensor()
    assert len({key_of_call(x, y, x), key_of_call(x, y, y), key_of_call(x, x, y)}) == 3


@pytest.mark.hole("15.3")
def test_tensors_are_listed_once_in_order():
    x, y, tensors = some_tensor(), some_tensor(), []
    signature(({"k": [x]}, y, (x, y)), tensors, [])
    assert [*map(id, tensors)] == [id(x), id(y)], f"got {len(tensors)} tensors"


@pytest.mark.hole("15.3")
def test_a_tensor_given_twice_is_no_number():
    x = some_tensor()
    assert len({key_of_call(x, x), key_of_call(x, 0), key_of_call(x, "0")}) == 3


class Name(str):
    """A str of another type."""

    __slots__ = ()


OtherName = type("Name", (str,), {"__slots__": ()})
Sides = namedtuple("Sides", "width height")


class Count(int):
    """An int of another type."""

    __slots__ = ()


def pairs(*given):
    """Return parameters whose case is such as "1 and True"."""
    return [pytest.param(*each, id=" and ".join(map(repr, each))) for each in given]


@pytest.mark.hole("15.3")
@pytest.mark.parametrize(("one", "other"), [*pairs(
    (1, True), (0, False), (1, 1.0), (True, 1.0), (0.0, -0.0), (1, 2), (1.5, 2.5), ("a", "b"),
    (1, "1"), (1.0, 1 + 0j), (0j, complex(0.0, -0.0)), (1.0, np.float64(1.0)),
    (np.float32(1.0), np.float64(1.0)), (np.float64(0.0), np.float64(-0.0)), (None, False),
    (0.5, "0x1.0000000000000p-1"), (torch.float32, torch.float64)),
    pytest.param("a", Name("a"), id="'a' and the same letters in a subclass of str"),
    pytest.param(1, Count(1), id="1 and the same number in a subclass of int"),
    pytest.param(Name("a"), OtherName("a"), id="equal strings of two classes with one name"),
])
def test_values_that_differ_have_different_keys(one, other):
    assert key_of_call(one) != key_of_call(other), f"both have the key {key_of_call(one)}"
    assert key_of_call([one]) != key_of_call([other]), "inside a list too"


@pytest.mark.hole("15.3")
@pytest.mark.parametrize("one", [float("nan"), np.float32("nan"), complex("nan"), 1.5, "ab", None,
                                 torch.int64], ids=repr)
def test_equal_values_have_equal_keys(one):
    other = type(one)(float("nan")) if one != one else one
    assert key_of_call(one) == key_of_call(other), "expected equal keys"


@pytest.mark.hole("15.3")
@pytest.mark.parametrize(("one", "other"), pairs(
    ([1, 2], (1, 2)), ([1, [2]], [[1], 2]), ([1, 2], [2, 1]), ((1,), (1, 1)), ((), []), ({}, []),
    ([[], []], [[[]]]), ((1, 2), torch.Size((1, 2))), ((1, 2), Sides(1, 2)),
    (Sides(1, 2), namedtuple("Sides", "x y")(1, 2)),
))
def test_nestings_that_differ_have_different_keys(one, other):
    assert key_of_call(one) != key_of_call(other)


@pytest.mark.hole("15.3")
@pytest.mark.parametrize(("one", "other"), pairs(
    ({"a": 1}, {"b": 1}), ({"a": 1}, {"a": 2}), ({"a": 1}, {"a": True}),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1: 5}, {True: 5}), ({0.0: 5}, {-0.0: 5}),
    ({"a": 1}, [("a", 1)]),
))
def test_dicts_that_differ_have_different_keys(one, other):
    assert key_of_call(one) != key_of_call(other)


class Plain:
    """An object that equals all others of its class."""

    def __eq__(self, other):
        return type(other) is Plain

    def __hash__(self):
        return 0


@pytest.mark.hole("15.3")
def test_objects_are_compared_by_identity():
    one, other = Plain(), Plain()
    assert key_of_call(one) == key_of_call(one)
    assert key_of_call(one) != key_of_call(other), "expected another key for another object"


@pytest.mark.hole("15.3")
def test_an_object_that_has_no_hash():
    one = np.ones(2)
    assert hash(key_of_call(one, {1})) is not None
    assert key_of_call(one) == key_of_call(one) != key_of_call(np.ones(2))


@pytest.mark.hole("15.3")
def test_objects_are_kept():
    one, other, others = Plain(), Plain(), []
    signature([one, (other, 1, some_tensor())], [], others)
    assert [*map(id, others)] == [id(one), id(other)], f"got {others}"


class FirstAnswer:
    """Stands in for a program: each run returns what the recorded call returned."""

    def __init__(self, answer, budget):
        self.answer, self.recorded = answer, SimpleNamespace(written=[])
        self.captured, self.arrays, self.requires_grad, self.found_used = [], [], [], None

    def run(self, tensors, call):
        return self.answer


@pytest.mark.hole("15.3")
@pytest.mark.parametrize(("one", "other"), pairs((1, True), (0.0, -0.0), ([1], (1,))))
def test_a_program_is_not_used_for_other_arguments(one, other, monkeypatch):
    monkeypatch.setattr(compiled, "record", lambda function, args, kwargs, known:
                        function(*args, **(kwargs or {})))
    monkeypatch.setattr(compiled, "Compiled", FirstAnswer)
    function = torch.compile(lambda value: repr(value))
    assert [function(one), function(other), function(one)] == [repr(one), repr(other), repr(one)]
    assert function.count == 2, f"expected two recordings, got {function.count}"


# ------------------------------------------------------------------ 15.4


class Noted(OwnRecording):
    """A recording whose single steps are noted instead of made."""

    def formulas(self, node, grads, needed):
        self.asked = node, [*grads], needed
        return ["a gradient"]


class Node:
    """A node that records some steps, and may then refuse."""

    def __init__(self, is_op=True, refuses=True):
        self.is_op, self.refuses, self.received = is_op, refuses, None

    def apply_arrays(self, grads, needed):
        self.received = [*grads], needed
        recording = _state.program.get()
        (grad,) = grads
        recording.add("attempt", multiplied, [grad.value], [grad.inner])
        if self.refuses:
            raise recording.refuse("the formulas branch")
        return ["another gradient"]


def applied(node):
    """Apply a node; return the recording, its gradient and what came back."""
    recording = Noted()
    task = joint.RecordingTask(False, False)
    task.nodes_to_execute = {node}
    with _state.having(_state.program, recording):
        grad = recording.input(numbers(1.0), "g")
        recording.add("before", multiplied, [grad.value], [grad.inner])
        return recording, grad, task.apply(node, [grad])


@pytest.mark.hole("15.4")
def test_a_node_that_can_be_recorded():
    node = Node(refuses=False)
    recording, grad, found = applied(node)
    assert found == ["another gradient"]
    assert node.received == ([grad], {node}), "expected the gradients and `nodes_to_execute`"
    assert [step.name for step in recording.steps] == ["before", "attempt"]
    assert not hasattr(recording, "asked"), "expected no single step"


@pytest.mark.hole("15.4")
def test_formulas_that_cannot_be_recorded_are_one_step():
    node = Node()
    recording, grad, found = applied(node)
    assert found == ["a gradient"], f"got {found}"
    assert recording.asked == (node, [grad], {node})


@pytest.mark.hole("15.4")
def test_the_steps_of_a_failed_attempt_are_forgotten():
    recording, *_ = applied(Node())
    assert [step.name for step in recording.steps] == ["before"], f"got {recording.steps}"


@pytest.mark.hole("15.4")
def test_the_refusal_of_a_failed_attempt_is_forgotten():
    recording, *_ = applied(Node())
    assert recording.refused is None, f"got {recording.refused!r}"


@pytest.mark.hole("15.4")
def test_other_nodes_are_refused():
    with pytest.raises(Unrecordable, match="the formulas branch"):
        applied(Node(is_op=False))


class Broken(Node):
    """A node with a mistake."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def apply_arrays(self, grads, needed):
        raise self.error("a mistake")


@pytest.mark.hole("15.4")
@pytest.mark.parametrize("error", [ZeroDivisionError, RuntimeError, AttributeError])
def test_other_errors_are_raised(error):
    with pytest.raises(error, match="a mistake"):
        applied(Broken(error))


def backward_of(function, *inputs, leaves=None):
    """Record a function and its backward pass.

    Return the recording, the tensors, and what `backward_steps` returned.
    """
    recording = OwnRecording()
    with recording.active():
        tensors = [Tensor._plain(recording.input(each, "x")) for each in inputs]
        for each in tensors:
            each._requires_grad = True
        roots = function(*tensors)
        roots = [*roots] if isinstance(roots, (list, tuple)) else [roots]
        found = joint.backward_steps(recording, roots, tensors)
        values = [each._array.value for each in tensors]
    return recording, values, *found


def slope_of(function, inputs, tangents, others=None):
    """Return gradients of recorded steps, run on other inputs and tangents."""
    recording, values, given, gradients = backward_of(function, *inputs)
    known = [*zip(values, others or inputs, strict=True), *zip(given, tangents, strict=True)]
    return [None if each is None else replayed(recording.steps, each, known)
            for each in gradients]


@pytest.mark.hole("15.4")
def test_the_gradient_of_a_product():
    (found,) = slope_of(lambda x: x * x * 3, [numbers(1.0, 2.0)], [numbers(1.0, 10.0)],
                        [numbers(4.0, 5.0)])
    assert_close(found, [24.0, 300.0], what="the gradient for other numbers than the recorded ones")


@pytest.mark.hole("15.4")
def test_each_op_of_a_formula_is_a_step():
    recording, *_ = backward_of(lambda x: x.exp(), numbers(1.0, 2.0))
    assert [step.name for step in recording.steps] == ["exp", "mul"], f"got {recording.steps}"


@pytest.mark.hole("15.4")
def test_a_tangent_looks_like_its_root():
    _, _, tangents, _ = backward_of(
        lambda x: (x.sum(), x.float()), np.ones((2, 3)))
    assert [t.shape for t in tangents] == [(), (2, 3)], f"got {[t.shape for t in tangents]}"
    assert [t.dtype for t in tangents] == [np.float64, np.float32]


@pytest.mark.hole("15.4")
def test_tangents_are_inputs():
    recording, _, (tangent,), _ = backward_of(lambda x: x.exp(), numbers(1.0, 2.0))
    assert tangent.array is None, "expected an input, not a constant"
    assert not any(each is tangent for step in recording.steps for each in step.outputs)
    assert any(each is tangent for step in recording.steps
               for each in values_among(step.arguments)), "expected a step that reads the tangent"


@pytest.mark.hole("15.4")
def test_several_roots():
    (found,) = slope_of(lambda x: (x * 2, x.exp()), [numbers(0.0)], [numbers(10.0), numbers(1.0)])
    assert_close(found, [21.0], what="the sum over both roots")


@pytest.mark.hole("15.4")
def test_several_roots_take_a_single_pass():
    def roots(x):
        h = x.exp()
        return h * 2, h * 3

    recording, *_ = backward_of(roots, numbers(0.0))
    names = [step.name for step in recording.steps]
    assert names.count("mul") == 5, f"expected one product with exp, got {names}"


@pytest.mark.hole("15.4")
def test_gradients_come_in_the_order_of_the_leaves():
    one, other = slope_of(lambda x, y: x * y, [numbers(2.0), numbers(3.0)], [numbers(1.0)])
    assert_close(one, [3.0], what="the gradient of x")
    assert_close(other, [2.0], what="the gradient of y")


@pytest.mark.hole("15.4")
def test_a_leaf_that_gets_no_gradient():
    one, other = slope_of(lambda x, y: y * 2, [numbers(2.0), numbers(3.0)], [numbers(1.0)])
    assert one is None, f"expected None, got {one}"
    assert_close(other, [2.0], what="the gradient of y")


@pytest.mark.hole("15.4")
def test_a_gradient_may_be_a_constant():
    _, _, _, (gradient,) = backward_of(lambda x: x.floor(), numbers(1.5, 2.5))
    assert gradient.array is not None, "expected a constant"
    assert_close(gradient.array, [0.0, 0.0], what="the gradient")


@pytest.mark.hole("15.4")
def test_no_grad_is_filled():
    recording = OwnRecording()
    with recording.active():
        x = Tensor._plain(recording.input(numbers(1.0), "x"))
        x._requires_grad = True
        joint.backward_steps(recording, [x * 2], [x])
    assert x._grad is None, f"expected no .grad, got {x._grad}"


@pytest.mark.hole("15.4")
def test_an_op_whose_formulas_branch():
    (found,) = slope_of(lambda x: x.cumprod(0), [numbers(1.0, 2.0, 3.0)],
                        [numbers(1.0, 1.0, 1.0)], [numbers(2.0, 0.0, 4.0)])
    assert_close(found, [1.0, 10.0, 0.0], what="the gradient of cumprod")


class StaleRecording(OwnRecording):
    """A recording in which each read of an array returns a new Value, as after a write."""

    def read(self, array):
        return self.value("current", array.inner)


@pytest.mark.hole("15.4")
def test_a_gradient_is_read_at_the_end():
    recording = StaleRecording()
    with recording.active():
        x = Tensor._plain(recording.input(numbers(1.0, 2.0), "x"))
        x._requires_grad = True
        _, (gradient,) = joint.backward_steps(recording, [x * 2], [x])
    assert gradient.name.startswith("current"), f"expected the current Value, got {gradient}"


class Peek(torch.autograd.Function):
    """A function whose backward pass branches on a value."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 if grad.sum() > 0 else grad


@pytest.mark.hole("15.4")
def test_a_function_that_branches_is_refused():
    with pytest.raises(Unrecordable, match="a branch depends on a value"):
        backward_of(Peek.apply, numbers(1.0, 2.0))


# ------------------------------------------------------------------ helpers for 15.5 to 15.8


def array_value(name, shape=(2,), dtype=np.float64, strides=None, constant=False):
    """Return a Value, as a recording makes one for an array."""
    array = np.ones(shape, dtype)
    return Value(name, shape, array.dtype, array.strides if strides is None else strides,
                 array if constant else None)


def array_values(names):
    return [array_value(name) for name in names.split()]


def call_step(call, arguments, *outputs, **facts):
    """Return a step that calls a function on arguments."""
    return Step(call.__name__, call, list(arguments), list(outputs), **facts)


def double(xp, a):
    return a + a


def negate(xp, a):
    return -a


def subtract(xp, a, b):
    return a - b


def total(xp, arrays):
    return sum(arrays[1:], arrays[0])


def two_parts(xp, a):
    return a + 1, a - 1


def draw(xp, size):
    return np.random.random(size)


def run_steps(steps, given, outputs, deaths=(), taken=None):
    """Run steps one by one on arrays, by the id of their Values; return the outputs.

    `deaths` lists the Values to forget after each step, and `taken` maps the id of a step to the
    Value whose array its result overwrites.
    """
    arrays = dict(given)

    def read(argument):
        if type(argument) is Value:
            return arrays[id(argument)] if argument.array is None else argument.array
        return list(map(read, argument)) if type(argument) is list else argument

    for step, dead in itertools.zip_longest(steps, deaths, fillvalue=()):
        found = step.call(numpy_backend, *map(read, step.arguments))
        if taken and id(step) in taken:
            buffer = arrays[id(taken[id(step)])]
            buffer[...] = found
            found = buffer
        results = found if step.several else [found]
        arrays.update(zip(map(id, step.outputs), map(np.asarray, results), strict=True))
        for value in dead:
            del arrays[id(value)]
    return [None if each is None else read(each) for each in outputs]


def numbered(steps, kept):
    """Return the places of steps in a list."""
    places = {id(step): place for place, step in enumerate(steps)}
    assert all(id(step) in places for step in kept), "a step is not one of the given steps"
    return [places[id(step)] for step in kept]


# ------------------------------------------------------------------ 15.5


@pytest.mark.hole("15.5")
def test_a_step_that_no_output_needs_is_dropped():
    x, a, b = array_values("x a b")
    steps = [call_step(double, [x], a), call_step(negate, [x], b)]
    assert numbered(steps, program.live_steps(steps, [b])) == [1]


@pytest.mark.hole("15.5")
def test_a_step_that_only_dropped_steps_need_is_dropped_too():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(double, [x], a), call_step(negate, [a], b), call_step(double, [b], c),
             call_step(negate, [x], d)]
    assert numbered(steps, program.live_steps(steps, [d])) == [3]


@pytest.mark.hole("15.5")
def test_what_an_output_depends_on_is_kept_in_order():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(double, [x], a), call_step(negate, [x], b),
             call_step(subtract, [a, x], c), call_step(subtract, [c, b], d)]
    found = numbered(steps, program.live_steps(steps, [d]))
    assert found == [0, 1, 2, 3], f"expected steps 0 to 3 in order, got {found}"


@pytest.mark.hole("15.5")
def test_an_operand_in_a_list_is_needed():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(negate, [x], b), call_step(total, [[a, b]], c)]
    assert numbered(steps, program.live_steps(steps, [None, c])) == [0, 1, 2]


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("result", ["first", "second"])
def test_one_needed_result_of_several_is_enough(result):
    x, a, b = array_values("x a b")
    steps = [call_step(two_parts, [x], a, b, several=True)]
    needed = a if result == "first" else b
    assert numbered(steps, program.live_steps(steps, [needed])) == [0]


@pytest.mark.hole("15.5")
def test_random_steps_are_kept_with_what_they_need():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(draw, [a], b, random=True),
             call_step(negate, [b], c)]
    assert numbered(steps, program.live_steps(steps, [x])) == [0, 1]


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("outputs", ["no outputs", "None", "an input"])
def test_without_outputs_of_steps_nothing_is_kept(outputs):
    x, a = array_values("x a")
    steps = [call_step(double, [x], a)]
    wanted = {"no outputs": [], "None": [None], "an input": [x]}[outputs]
    assert list(program.live_steps(steps, wanted)) == []


@pytest.mark.hole("15.5")
def test_the_list_of_steps_itself_is_not_changed():
    x, a, b = array_values("x a b")
    steps = [call_step(double, [x], a), call_step(negate, [x], b)]
    before = list(steps)
    program.live_steps(steps, [b])
    assert steps == before
    program.shared_steps(steps)
    assert steps == before


def expect_shared(steps, kept, replaced):
    """Check which steps are kept, by number, and which Value replaces which."""
    found, by_id = program.shared_steps(steps)
    places = numbered(steps, found)
    assert places == kept, f"expected steps {kept}, got {places}"
    expected = {id(old): new for old, new in replaced}
    names = {id(v): v.name for step in steps for v in step.outputs}
    told = {names.get(key, key): value for key, value in by_id.items()}
    assert by_id.keys() == expected.keys(), f"the replaced values are {told}"
    assert all(by_id[key] is expected[key] for key in expected), f"the replaced values are {told}"


@pytest.mark.hole("15.5")
def test_a_step_that_repeats_an_earlier_one_is_dropped():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(negate, [x], b), call_step(double, [x], c)]
    expect_shared(steps, [0, 1], [(c, a)])


@pytest.mark.hole("15.5")
def test_all_repeats_are_replaced_with_the_first():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], each) for each in (a, b, c)]
    expect_shared(steps, [0], [(b, a), (c, a)])


@pytest.mark.hole("15.5")
def test_a_repeat_of_a_repeat_is_found():
    x, a, b, c, d, e, f = array_values("x a b c d e f")
    steps = [call_step(double, [x], a), call_step(negate, [a], b), call_step(double, [b], c),
             call_step(double, [x], d), call_step(negate, [d], e), call_step(double, [e], f)]
    expect_shared(steps, [0, 1, 2], [(d, a), (e, b), (f, c)])


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("where", ["an argument", "a list"])
def test_later_steps_read_the_value_of_the_first(where):
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(double, [x], b),
             call_step(negate, [b], c) if where == "an argument" else
             call_step(total, [[x, b]], c)]
    found, _ = program.shared_steps(steps)
    assert numbered(steps, found) == [0, 2]
    read = list(found[1].inputs())
    assert read[-1] is a, f"the step reads {read[-1]}, not a"


@pytest.mark.hole("15.5")
def test_every_result_of_a_repeat_is_replaced():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(two_parts, [x], a, b, several=True),
             call_step(two_parts, [x], c, d, several=True)]
    expect_shared(steps, [0], [(c, a), (d, b)])


@pytest.mark.hole("15.5")
def test_random_steps_are_never_shared():
    a, b, c, d = array_values("a b c d")
    steps = [call_step(draw, [2], a, random=True), call_step(draw, [2], b, random=True),
             call_step(negate, [a], c), call_step(negate, [b], d)]
    expect_shared(steps, [0, 1, 2, 3], [])


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("other", ["the function", "the order", "a Value", "a number"])
def test_steps_that_differ_are_kept(other):
    x, y, a, b = array_values("x y a b")
    arguments = {"the function": ([x], [x]), "the order": ([x, y], [y, x]),
                 "a Value": ([x], [y]), "a number": ([x, 1], [x, 2])}[other]
    calls = (double, negate) if other == "the function" else (subtract, subtract)
    steps = [call_step(call, given, value) for call, given, value in
             zip(calls, arguments, (a, b), strict=True)]
    expect_shared(steps, [0, 1], [])


@pytest.mark.hole("15.5")
def test_steps_with_an_argument_without_a_hash_are_kept():
    x, a, b = array_values("x a b")
    steps = [call_step(subtract, [x, {1: 2}], a), call_step(subtract, [x, {1: 2}], b)]
    expect_shared(steps, [0, 1], [])


UNEQUAL = {"1 and 1.0": (1, 1.0), "1 and True": (1, True), "0.0 and False": (0.0, False),
           "0.0 and -0.0": (0.0, -0.0), "1.5 and 2.5": (1.5, 2.5), "[1] and (1,)": ([1], (1,)),
           "[1] and [1.0]": ([1], [1.0]), "((1,),) and ([1],)": (((1,),), ([1],)),
           "[0.0] and [-0.0]": ([0.0], [-0.0]), "1 and '1'": (1, "1"),
           "[1, 2] and [2, 1]": ([1, 2], [2, 1])}


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("case", UNEQUAL)
def test_different_arguments_stay_different(case):
    one, other = map(program.frozen, UNEQUAL[case])
    assert one != other, f"both are {one!r}"


EQUAL = {"2.5": (2.5, 2.5), "-0.0": (-0.0, -0.0), "nan": (float("nan"), -float("nan") * 0),
         "a list": ([1, [2.0, None]], [1, [2.0, None]]), "a tuple": ((1, "K"), (1, "K")),
         "a string": ("sum", "sum"), "None": (None, None), "an empty list": ([], [])}


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("case", EQUAL)
def test_equal_arguments_have_equal_hashes(case):
    one, other = map(program.frozen, EQUAL[case])
    assert one == other, f"{one!r} is not {other!r}"
    assert hash(one) == hash(other)


@pytest.mark.hole("15.5")
@pytest.mark.parametrize("kind", ["Values", "arrays"])
def test_values_and_arrays_are_compared_by_identity(kind):
    one, other = (array_values("x x") if kind == "Values" else [np.ones(2), np.ones(2)])
    assert program.frozen([one]) != program.frozen([other])
    assert program.frozen([one, 1]) == program.frozen([one, 1])
    assert hash(program.frozen([one])) == hash(program.frozen([one]))


@pytest.mark.hole("15.5")
def test_constants_without_dimensions_are_compared_by_number():
    def constant(number, dtype=np.float64):
        value = array_value("constant", (), dtype, constant=True)
        value.array[()] = number
        return value

    assert program.frozen([constant(2.0)]) == program.frozen([constant(2.0)])
    assert hash(program.frozen([constant(2.0)])) == hash(program.frozen([constant(2.0)]))
    assert program.frozen(constant(2.0)) != program.frozen(constant(3.0))
    assert program.frozen(constant(2)) != program.frozen(constant(2, np.float32))
    assert program.frozen(constant(0)) != program.frozen(constant(0, np.int64)), "0.0 is 0"
    assert program.frozen(constant(1 + 1e-9)) != program.frozen(constant(1 + 2e-9)), "rounded"
    assert program.frozen(constant(0.0)) != program.frozen(constant(-0.0)), "0.0 is -0.0"
    assert program.frozen(constant(np.nan)) == program.frozen(constant(np.nan)), "nan is not nan"
    row, other = (array_value("row", constant=True) for _ in range(2))
    assert program.frozen(row) != program.frozen(other), "these constants have a dimension"


@pytest.mark.hole("15.5")
def test_a_recorded_program_computes_a_repeat_once():
    recorded = record(lambda x: (x.exp() * 2.0).sin() + (x.exp() * 2.0).cos(), (torch.ones(2),))
    names = [step.name for step in recorded.program.steps]
    assert names == ["exp", "mul", "sin", "cos", "add"], f"the steps are {names}"


@pytest.mark.hole("15.5")
def test_a_recorded_program_draws_every_number():
    def function(x):
        torch.rand(2)  # no result needs it, but the next draw comes after it
        return torch.rand(2) - torch.rand(2) + x

    x = torch.zeros(2)
    recorded = record(function, (x,)).program
    torch.manual_seed(7)
    expected = function(x).tolist()
    torch.manual_seed(7)
    (found,) = run_steps(recorded.steps, {id(recorded.inputs[0]): x.numpy()}, recorded.outputs)
    assert found.tolist() == expected, f"expected {expected}, got {found.tolist()}"


# ------------------------------------------------------------------ 15.6


def network_of(prices, edges):
    """Return a network: values by id with their prices, and what depends on what."""
    network = {SOURCE: {}, SINK: {}}

    def edge(begin, end, capacity):
        network.setdefault(begin, {})[end] = capacity
        network.setdefault(end, {}).setdefault(begin, 0)

    for number, price in prices.items():
        edge((number, 0), (number, 1), price)
    for begin, end in edges:
        edge(SOURCE if begin == SOURCE else (begin, 1), SINK if end == SINK else (end, 0), inf)
    return network


def chain_of(*prices):
    """Return a network of values, each of which is computed from the one before."""
    numbers = range(1, len(prices) + 1)
    return network_of(dict(zip(numbers, prices, strict=True)),
                      itertools.pairwise([SOURCE, *numbers, SINK]))


@pytest.mark.hole("15.6")
@pytest.mark.parametrize(("prices", "cut"), [((5, 3, 4), {2}), ((2, 3, 4), {1}), ((7, 6, 2), {3}),
                                             ((9,), {1}), ((8, 2, 8, 1, 8), {4})])
def test_the_cheapest_value_of_a_chain_is_cut(prices, cut):
    assert flow.cheapest_cut(chain_of(*prices)) == cut


@pytest.mark.hole("15.6")
def test_every_path_is_cut():
    network = network_of({1: 5, 2: 3, 3: 4, 4: 6},
                         [(SOURCE, 1), (1, 2), (2, SINK), (SOURCE, 3), (3, 4), (4, SINK)])
    assert flow.cheapest_cut(network) == {2, 3}


@pytest.mark.hole("15.6")
@pytest.mark.parametrize(("price", "cut"), [(4, {1}), (6, {2, 3})])
def test_one_value_or_two_by_their_sum(price, cut):
    network = network_of({1: price, 2: 2, 3: 3},
                         [(SOURCE, 1), (1, 2), (1, 3), (2, SINK), (3, SINK)])
    assert flow.cheapest_cut(network) == cut


@pytest.mark.hole("15.6")
@pytest.mark.parametrize(("prices", "edges", "cut"), [
    ({1: 2, 2: 2, 3: 1}, [(SOURCE, 1), (1, 2), (1, 3), (2, SINK), (3, SINK)], {1}),
    ({1: 4, 2: 2, 3: 3, 4: 3}, [(SOURCE, 1), (1, 2), (1, 4), (2, SINK), (4, SINK)], {1}),
    ({1: 1, 2: 1, 3: 2, 4: 2},
     [(SOURCE, 1), (SOURCE, 2), (1, 3), (1, 4), (2, 3), (3, SINK), (4, SINK)], {1, 2}),
], ids=["a fork", "a fork of four", "a square"])
def test_flow_can_be_taken_back(prices, edges, cut):
    assert flow.cheapest_cut(network_of(prices, edges)) == cut


@pytest.mark.hole("15.6")
def test_a_path_carries_as_much_as_it_can_at_once(monkeypatch):
    searches, search = [], flow.shortest_path

    def counted(network):
        searches.append(network)
        assert len(searches) < 50, "50 searches for a network with a single path"
        return search(network)

    monkeypatch.setattr(flow, "shortest_path", counted)
    assert flow.cheapest_cut(chain_of(2000, 1000, 3000)) == {2}


@pytest.mark.hole("15.6")
def test_of_equal_cuts_the_last_is_taken():
    assert flow.cheapest_cut(chain_of(4, 7, 4, 5)) == {3}
    network = network_of({1: 5, 2: 2, 3: 3},
                         [(SOURCE, 1), (1, 2), (1, 3), (2, SINK), (3, SINK)])
    assert flow.cheapest_cut(network) == {2, 3}


@pytest.mark.hole("15.6")
def test_a_value_without_a_price_is_cut():
    assert flow.cheapest_cut(chain_of(0, 7)) == {1}
    network = network_of({1: 0, 2: 5, 3: 0},
                         [(SOURCE, 1), (1, 2), (2, SINK), (SOURCE, 3), (3, SINK)])
    assert flow.cheapest_cut(network) == {1, 3}


@pytest.mark.hole("15.6")
@pytest.mark.parametrize("case", ["an empty network", "an unneeded value",
                                  "a value that can be computed again"])
def test_without_a_path_nothing_is_cut(case):
    edges = {"an empty network": [], "an unneeded value": [(SOURCE, 1)],
             "a value that can be computed again": [(1, SINK)]}[case]
    assert flow.cheapest_cut(network_of({1: 3} if edges else {}, edges)) == set()


@pytest.mark.hole("15.6")
@pytest.mark.parametrize("case", ["a chain", "one of two paths"])
def test_a_path_without_a_price_has_no_cut(case):
    network = chain_of(inf, inf) if case == "a chain" else network_of(
        {1: 5, 2: inf, 3: 2, 4: inf},
        [(SOURCE, 1), (1, 3), (3, SINK), (SOURCE, 2), (2, 4), (4, SINK)])
    with pytest.raises(ValueError, match=f"^{flow.NO_CUT}$"):
        flow.cheapest_cut(network)


def best_cut(prices, edges):
    """Return, by trying all sets of values, the cheapest cut with the fewest nodes behind it."""

    def behind(cut):
        """Return the nodes from which the sink can be reached, or None if the source is one."""
        found, stack = {SINK}, [SINK]
        arrows = [(begin if begin == SOURCE else (begin, 1), end if end == SINK else (end, 0))
                  for begin, end in edges]
        arrows += [((number, 0), (number, 1)) for number in prices if number not in cut]
        while stack:
            end = stack.pop()
            for begin in (begin for begin, other in arrows if other == end):
                if begin not in found:
                    found.add(begin)
                    stack.append(begin)
        return None if SOURCE in found else len(found)

    cuts = [set(cut) for count in range(len(prices) + 1)
            for cut in itertools.combinations(prices, count)]
    known = [(sum(prices[each] for each in cut), size, cut) for cut in cuts
             if (size := behind(cut)) is not None]
    return min(known, key=lambda each: each[:2])[2]


@pytest.mark.hole("15.6")
def test_no_other_set_of_values_is_cheaper():
    random = np.random.default_rng(15)
    for _ in range(150):
        count = int(random.integers(2, 7))
        prices = {number: int(random.integers(1, 6)) for number in range(1, count + 1)}
        edges = [(one, other) for one, other in itertools.combinations(prices, 2)
                 if random.random() < 0.5]
        edges += [(SOURCE, each) for each in prices if random.random() < 0.5]
        edges += [(each, SINK) for each in prices if random.random() < 0.5]
        found = flow.cheapest_cut(network_of(prices, edges))
        expected = best_cut(prices, edges)
        assert found == expected, (
            f"values {prices} with edges {edges}: expected {expected}, got {found}")


def edges_of(*edges):
    """Return a network of single edges, each of which has one in the other direction."""
    network = {SOURCE: {}, SINK: {}}
    for begin, end, there, back in edges:
        network.setdefault(begin, {})[end] = there
        network.setdefault(end, {})[begin] = back
    return network


@pytest.mark.hole("15.6")
def test_nodes_that_reach_the_sink_by_several_edges():
    network = edges_of((SOURCE, "a", 1, 0), ("a", "b", 2, 0), ("b", SINK, 3, 0), ("c", "a", 1, 0))
    assert flow.able_to_reach_sink(network) == {SOURCE, "a", "b", "c", SINK}


@pytest.mark.hole("15.6")
def test_nothing_more_flows_along_a_full_edge():
    network = edges_of((SOURCE, "a", 1, 0), ("a", "b", 0, 2), ("b", SINK, 3, 0))
    assert flow.able_to_reach_sink(network) == {"b", SINK}
    assert flow.able_to_reach_sink(edges_of(("a", SINK, 0, 9))) == {SINK}


@pytest.mark.hole("15.6")
def test_flow_back_along_an_edge_reaches_the_sink_too():
    network = edges_of(("a", "b", inf, 2), ("a", SINK, 1, 1))
    assert flow.able_to_reach_sink(network) == {"a", "b", SINK}


@pytest.mark.hole("15.6")
def test_circles_of_edges_end():
    network = edges_of(("a", "b", 1, 1), ("b", "c", 1, 1), ("c", "a", 1, 1), ("c", SINK, 1, 1))
    before = {node: dict(edges) for node, edges in network.items()}
    assert flow.able_to_reach_sink(network) == {"a", "b", "c", SINK}
    assert network == before, "the network was changed"


@pytest.mark.hole("15.6")
def test_the_forward_pass_saves_the_smallest_value():
    def function(x):
        wide = (x.sum(1, keepdim=True) * torch.ones(6)).exp()
        return (wide * wide.sin()).sum()

    x = torch.arange(12.0).reshape(3, 4).div(20).requires_grad_()
    saved = [v.name for v in at_level(record(function, (x,)), 2).saved]
    assert saved == ["sum"], f"the saved values are {saved}"


# ------------------------------------------------------------------ 15.7


def expect_deaths(steps, outputs, names):
    """Check the names of the Values that die in each step."""
    found = [sorted(v.name for v in each) for each in buffers.last_uses(steps, outputs)]
    assert found == [sorted(each.split()) for each in names], f"the Values that die are {found}"


@pytest.mark.hole("15.7")
def test_a_value_dies_in_the_last_step_that_needs_it():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(negate, [a], b), call_step(subtract, [b, a], c)]
    expect_deaths(steps, [c], ["x", "", "a b"])


@pytest.mark.hole("15.7")
def test_an_output_never_dies():
    x, a, b = array_values("x a b")
    steps = [call_step(double, [x], a), call_step(negate, [a], b)]
    expect_deaths(steps, [b, None, a, x], ["", ""])


@pytest.mark.hole("15.7")
def test_a_result_that_nothing_needs_dies_at_once():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(two_parts, [x], a, b, several=True), call_step(negate, [b], c)]
    expect_deaths(steps, [], ["a x", "b c"])


@pytest.mark.hole("15.7")
def test_constants_are_not_listed():
    x, a = array_values("x a")
    steps = [call_step(subtract, [x, array_value("constant", constant=True)], a)]
    expect_deaths(steps, [a], ["x"])


@pytest.mark.hole("15.7")
def test_operands_in_lists_and_operands_used_twice():
    x, a, b, c = array_values("x a b c")
    steps = [call_step(double, [x], a), call_step(total, [[x, a, x]], b),
             call_step(subtract, [b, b], c)]
    expect_deaths(steps, [c], ["", "a x", "b"])


def may_overwrite(step):
    """Return whether a step is elementwise, for the purpose of these tests."""
    return step.call in (double, negate, subtract)


def expect_taken(steps, outputs, *taken):
    """Check which steps take over the buffer of which operand; all others take none."""
    found = buffers.taken_over(steps, outputs, may_overwrite)
    names = {place: found[id(step)].name for place, step in enumerate(steps) if id(step) in found}
    expected = {place: value.name for place, value in taken}
    assert names == expected and len(found) == len(names), f"steps take over {names}"
    assert all(found[id(steps[place])] is value for place, value in taken)


def make(shape=(2,), **more):
    """Return a step that allocates, and its result."""
    value = array_value("made", shape, **more)
    return call_step(total, [[array_value("x", shape)]], value), value


@pytest.mark.hole("15.7")
def test_a_result_takes_over_an_operand_that_dies():
    first, made = make()
    b, c = array_values("b c")
    steps = [first, call_step(negate, [made], b), call_step(double, [b], c)]
    expect_taken(steps, [c], (1, made), (2, b))


@pytest.mark.hole("15.7")
@pytest.mark.parametrize("use", ["a later step reads it", "it's an output"])
def test_an_operand_that_is_needed_later_is_not_taken(use):
    first, made = make()
    b, c = array_values("b c")
    steps = [first, call_step(negate, [made], b), call_step(total, [[b, made]], c)]
    if use == "it's an output":
        del steps[2]
    expect_taken(steps, [c] if use == "a later step reads it" else [b, made])


@pytest.mark.hole("15.7")
@pytest.mark.parametrize("operand", ["an input", "a constant"])
def test_only_memory_of_the_program_is_taken(operand):
    value, a = array_value("x", constant=operand == "a constant"), array_value("a")
    expect_taken([call_step(negate, [value], a)], [a])


@pytest.mark.hole("15.7")
@pytest.mark.parametrize("use", ["a later step reads the view", "the view is an output"])
def test_a_view_that_is_needed_keeps_the_memory(use):
    first, made = make()
    view, b, c = array_value("view", (1, 2)), array_value("b"), array_value("c", (1, 2))
    steps = [first, call_step(total, [made], view, view=True), call_step(negate, [made], b)]
    if use == "a later step reads the view":
        steps.append(call_step(total, [[view, b]], c))
    expect_taken(steps, [b, c if use == "a later step reads the view" else view])


@pytest.mark.hole("15.7")
def test_a_view_of_a_view_keeps_the_memory():
    first, made = make()
    view, again = array_value("view", (1, 2)), array_value("again", (2, 1))
    b = array_value("b")
    steps = [first, call_step(total, [made], view, view=True),
             call_step(total, [view], again, view=True), call_step(negate, [made], b)]
    expect_taken(steps, [b, again])


@pytest.mark.hole("15.7")
def test_a_view_that_is_dead_does_not_count():
    first, made = make()
    view, b, c = array_value("view", (1, 2)), array_value("b"), array_value("c", (1, 2))
    steps = [first, call_step(total, [made], view, view=True), call_step(total, [[view]], c),
             call_step(negate, [made], b)]
    expect_taken(steps, [b, c], (3, made))


@pytest.mark.hole("15.7")
def test_the_buffer_of_a_view_is_not_taken():
    x, view, b = array_values("x view b")
    steps = [call_step(total, [x], view, view=True), call_step(negate, [view], b)]
    expect_taken(steps, [b])


@pytest.mark.hole("15.7")
@pytest.mark.parametrize("other", ["itself", "a view of it"])
def test_an_operand_that_a_step_reads_twice_is_not_taken(other):
    first, made = make()
    view, b = array_values("view b")
    steps = [first, call_step(total, [made], view, view=True),
             call_step(subtract, [made, view if other == "a view of it" else made], b)]
    expect_taken(steps, [b])


@pytest.mark.hole("15.7")
@pytest.mark.parametrize("other", ["the shapes differ", "the dtypes differ", "the strides differ",
                                   "there are no dimensions"])
def test_only_a_buffer_that_is_alike_is_taken(other):
    facts = {"the shapes differ": {"shape": (1, 3)},
             "the dtypes differ": {"shape": (2, 3), "dtype": np.float32},
             "the strides differ": {"shape": (2, 3), "strides": (8, 16)},
             "there are no dimensions": {"shape": ()}}
    first, made = make(**facts[other])
    result = array_value("b", () if other == "there are no dimensions" else (2, 3))
    expect_taken([first, call_step(negate, [made], result)], [result])


@pytest.mark.hole("15.7")
def test_another_operand_is_taken_if_the_first_is_not_free():
    first, made = make()
    x, b = array_values("x b")
    expect_taken([first, call_step(subtract, [x, made], b)], [b], (1, made))


@pytest.mark.hole("15.7")
def test_of_two_free_operands_the_first_is_taken():
    (first, one), (second, other) = make(), make()
    b = array_value("b")
    expect_taken([first, second, call_step(subtract, [other, one], b)], [b], (2, other))


@pytest.mark.hole("15.7")
def test_only_elementwise_steps_take_a_buffer():
    first, made = make()
    b = array_value("b")
    expect_taken([first, call_step(total, [[made]], b)], [b])


@pytest.mark.hole("15.7")
def test_a_recorded_program_overwrites_nothing_that_is_needed():
    def function(x):
        a = x.exp()
        b = (-a).sin()
        return b * 2.0, a[1:], b.cos().sin() - b

    x = torch.tensor([0.5, 1.0, 2.0])
    recorded = record(function, (x,)).program
    steps, outputs = recorded.steps, recorded.outputs
    deaths = buffers.last_uses(steps, outputs)
    taken = buffers.taken_over(steps, outputs, is_elementwise)
    assert taken, "no step takes over a buffer"
    found = run_steps(steps, {id(recorded.inputs[0]): x.numpy()}, outputs, deaths, taken)
    for one, other in zip(found, function(x), strict=True):
        assert one.tolist() == other.tolist()


# ------------------------------------------------------------------ 15.8


def emitted(inputs, steps, outputs, name="forward"):
    """Return the function that a Writer's source defines."""
    writer = emit.Writer(inputs, steps, outputs)
    source = writer.source(name)
    try:
        exec(compile(source, "<emitted>", "exec"), writer.names)
    except SyntaxError as error:
        pytest.fail(f"the source is not valid Python: {error}\n{source}")
    return writer.names[name]


@pytest.mark.hole("15.8")
def test_the_function_runs_the_steps_on_its_arguments():
    x, y, a, b = array_values("x y a b")
    steps = [call_step(double, [x], a), call_step(subtract, [a, y], b)]
    found = emitted([x, y], steps, [b, a], "backward")(np.array([1.0, 2.0]), np.array([5.0, 5.0]))
    assert type(found) is tuple and [each.tolist() for each in found] == [[-3, -1], [2, 4]]


@pytest.mark.hole("15.8")
@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_function_returns_a_tuple_of_the_outputs(count):
    x = array_value("x")
    given = np.ones(2)
    found = emitted([x], [], [x] * count)(given)
    assert type(found) is tuple, f"it returns a {type(found).__name__}"
    assert len(found) == count and all(each is given for each in found)


@pytest.mark.hole("15.8")
def test_an_output_that_is_none_stays_none():
    x = array_value("x")
    given = np.ones(2)
    found = emitted([x], [], [None, x, None])(given)
    assert found[0] is None and found[1] is given and found[2] is None
    assert emitted([x], [], [None])(given) == (None,)


@pytest.mark.hole("15.8")
def test_an_output_that_is_a_constant():
    x, held = array_value("x"), array_value("held", constant=True)
    (found,) = emitted([x], [], [held])(np.zeros(2))
    assert found is held.array


@pytest.mark.hole("15.8")
def test_every_statement_of_a_step_is_in_the_function():
    bias, one, other, a = (array_value(name, shape) for name, shape in
                           (("bias", (2,)), ("one", (2, 3)), ("other", (3, 2)), ("a", (2, 2))))
    step = Step("addmm", double, [bias, one, other, 1, 1], [a], op="Addmm")
    (found,) = emitted([bias, one, other], [step], [a])(np.ones(2), np.ones((2, 3)),
                                                        np.ones((3, 2)))
    assert found.tolist() == [[4, 4], [4, 4]]


@pytest.mark.hole("15.8")
def test_what_dies_is_freed_before_the_next_step():
    seen, alive = [], []

    def note(xp, a):
        seen.append(weakref.ref(a))
        alive.append([each() is not None for each in seen])
        return a + 1

    values = array_values("x a b c")
    steps = [call_step(note, [one], other) for one, other in itertools.pairwise(values)]
    function = emitted(values[:1], steps, values[-1:])
    gc.disable()
    try:
        function(np.ones(2))
    finally:
        gc.enable()
    assert alive[-1][1:] == [False, True], "the result of the first step is still alive in step 3"


@pytest.mark.hole("15.8")
def test_all_values_that_die_in_a_step_are_freed():
    x, a, b, c, d = array_values("x a b c d")
    seen = []

    def note(xp, *arrays):
        seen.extend(map(weakref.ref, arrays))
        return arrays[0] + 1

    def alive(xp, array):
        return np.array([each() is not None for each in seen])

    steps = [call_step(double, [x], a), call_step(double, [x], b), call_step(note, [a, b], c),
             call_step(alive, [c], d)]
    (found,) = emitted([x], steps, [d])(np.ones(2))
    assert found.tolist() == [False, False], "a value that died is still alive in the next step"


@pytest.mark.hole("15.8")
def test_a_result_that_nothing_needs_is_freed():
    x, a, b = array_values("x a b")
    kept = []

    def tracked(xp, a):
        made = a + 1
        kept.append(weakref.ref(made))
        return made

    def alive(xp, a):
        return np.array([each() is not None for each in kept])

    steps = [call_step(tracked, [x], a), call_step(alive, [x], b)]
    (found,) = emitted([x], steps, [b])(np.ones(2))
    assert found.tolist() == [False], "the result of the first step is still alive"


@pytest.mark.hole("15.8")
@pytest.mark.parametrize("name", ["x", "xp", "map", "matmul", "as_array"])
def test_values_of_one_name_do_not_meet(name):
    one, other, a, b = array_values(f"{name} {name} {name} b")
    steps = [call_step(subtract, [one, other], a, scalar=True), call_step(double, [a], b)]
    found = emitted([one, other], steps, [b, a])(np.full(2, 5.0), np.ones(2))
    assert [each.tolist() for each in found] == [[8, 8], [4, 4]]


@pytest.mark.hole("15.8")
def test_a_name_that_is_free_is_not_changed():
    writer = emit.Writer([], [], [])
    assert [writer.unused(each) for each in ("mul", "exp", "sum_1")] == ["mul", "exp", "sum_1"]


@pytest.mark.hole("15.8")
def test_a_name_that_is_taken_gets_the_first_free_number():
    writer = emit.Writer([], [], [])
    names = [writer.unused(each) for each in ("mul", "mul", "mul", "mul_1", "mul")]
    assert names == ["mul", "mul_1", "mul_2", "mul_1_1", "mul_3"]
    assert writer.unused("xp") == "xp_1"


@pytest.mark.hole("15.8")
def test_a_global_has_one_name():
    writer = emit.Writer([], [], [])
    first = writer.global_name(double, "double")
    assert first == "_double"
    assert writer.global_name(double, "other") == "_double", "the same function got another name"
    assert writer.names["_double"] is double


@pytest.mark.hole("15.8")
@pytest.mark.parametrize("kind", ["equal numbers", "equal arrays", "functions of one name"])
def test_different_globals_have_different_names(kind):
    one, other = {"equal numbers": (1.0, np.float64(1.0)),
                  "equal arrays": (np.ones(2), np.ones(2)),
                  "functions of one name": (lambda xp: 1, lambda xp: 2)}[kind]
    writer = emit.Writer([], [], [])
    names = [writer.global_name(each, "wanted") for each in (one, other)]
    assert names == ["_wanted", "_wanted_1"]
    assert writer.names[names[0]] is one and writer.names[names[1]] is other


@pytest.mark.hole("15.8")
def test_a_global_without_a_hash():
    x, a = array_values("x a")
    given = {"step": 3}
    steps = [call_step(subtract, [x, given], a)]
    writer = emit.Writer([x], steps, [a])
    name = writer.global_name(given, "argument")
    assert writer.names[name] is given and writer.global_name(given, "argument") == name


@pytest.mark.hole("15.8")
def test_a_global_and_a_value_never_share_a_name():
    x, result, constant = array_value("x"), array_value("_double"), array_value("x", constant=True)
    last = array_value("last")
    steps = [call_step(double, [x], result), call_step(subtract, [result, constant], last)]
    (found,) = emitted([x], steps, [last])(np.full(2, 4.0))
    assert found.tolist() == [7, 7]


@pytest.mark.hole("15.8")
def test_a_compiled_function_has_source_and_missing_gradients():
    def function(x, y):
        return x.exp() + y.detach()

    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.compile(function, fullgraph=True)(x, y).sum().backward()
    assert y.grad is None and x.grad.tolist() == x.exp().tolist()
    a, b = array_values("a b")

    def fail(xp, a):
        raise ArithmeticError

    with pytest.raises(ArithmeticError) as raised:
        emit.emit("forward", [a], [call_step(fail, [a], b)], [b])(np.ones(2))
    lines = [frame.line for frame in traceback.extract_tb(raised.tb)]
    assert any(line and "fail" in line and "b = " in line for line in lines), lines
