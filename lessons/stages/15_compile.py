"""Symptoms of stage 15: what a wrong answer does, shown by tiny programs."""

import gc
import itertools
import weakref
from collections import namedtuple
from math import inf

import numpy as np

import minigrad as torch
from minigrad import _state
from minigrad.aot import buffers, emit, flow, program
from minigrad.aot.flow import SINK, SOURCE
from minigrad.aot.guards.signature import signature
from minigrad.aot.program import Step, Value
from minigrad.aot.trace import joint
from minigrad.aot.trace.recording import Recording
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.aot.trace.steps import Steps
from minigrad.engine.graph_task import GraphTask
from minigrad.graph.node import Node
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


def numbers(*values):
    return np.array(values, np.float64)


def outcome(program, *args):
    """Return what a program returns, or the exception that it raises."""
    try:
        return program(*args)
    except Exception as error:
        return error


# ------------------------------------------------------------------ 15.1


def added(kinds, results=1, **facts):
    """Add a call; its operands are (c)onstants and (x) inputs, and a list begins with `[`.

    Return the steps and the Values.
    """
    steps = ReadySteps()
    operands = [steps.value("c", numbers(2.0), constant=True) if kind == "c"
                else steps.input(numbers(3.0), "x").value for kind in kinds.replace("[", "")]
    arguments = [operands] if kinds.startswith("[") else (
        [operands[0], operands[1:]] if "[" in kinds else operands)
    made = [numbers(float(i)) for i in range(results)]
    return steps.steps, steps.add("call", max, arguments, made, **facts)


def is_constant(kinds, **facts):
    """Return whether the result of such a call is a constant without a step."""
    steps, (value,) = added(kinds, **facts)
    return value.array is not None and not steps


def symptom_15_1_constants_become_steps():
    return not is_constant("cc") and not is_constant("[c") and not is_constant("xc")


def symptom_15_1_constant_is_shared():
    steps, result = ReadySteps(), numbers(6.0)
    (value,) = steps.add("call", max, [steps.value("c", numbers(2.0), constant=True)], [result])
    return value.array is result


def symptom_15_1_random_false_is_random():
    return is_constant("c") and not is_constant("c", random=False)


def symptom_15_1_random_is_a_constant():
    return is_constant("c", random=True) and is_constant("c")


def symptom_15_1_no_operands_is_a_constant():
    return is_constant("") and is_constant("c") and not is_constant("x")


def symptom_15_1_one_constant_is_enough():
    return is_constant("cx") and is_constant("xc") and not is_constant("xx")


def symptom_15_1_first_operand_only():
    return is_constant("cx") and not is_constant("xc")


def symptom_15_1_lists_are_skipped():
    return is_constant("c[x") and is_constant("cc") and not is_constant("cx")


def symptom_15_1_facts_are_lost():
    steps, _ = added("x", view=True, cost=0)
    return len(steps) == 1 and not steps[0].view


def symptom_15_1_step_has_other_outputs():
    steps, values = added("x")
    return len(steps) == 1 and [*steps[0].outputs] != [*values]


def symptom_15_1_first_result_only():
    return [len(added(kind, 2)[1]) for kind in "xc"] == [1, 1]


def known(before, after):
    """Return what `known` does with an array whose Value a write has changed."""
    steps = ReadySteps()
    array = steps.input(numbers(5.0), "x")
    kinds = {"x": array.value, "c": steps.value("c", numbers(4.0), constant=True)}
    array.value, steps.read = kinds[before], lambda array: kinds[after]
    return outcome(steps.known, array, "a value is read")


def symptom_15_1_known_before_the_writes():
    return isinstance(known("c", "x"), np.ndarray) and isinstance(known("x", "x"), Unrecordable)


def symptom_15_1_numbers_of_this_call():
    found = known("x", "x")
    return isinstance(found, np.ndarray) and found.tolist() == [5.0]


def symptom_15_1_error_is_returned():
    steps = ReadySteps()
    array = steps.input(numbers(5.0), "x")
    try:
        return isinstance(steps.known(array, "a value is read"), Unrecordable)
    except Unrecordable:
        return False


def symptom_15_1_line_is_missing():
    found = known("x", "x")
    return isinstance(found, Unrecordable) and ", at " not in str(found)


# ------------------------------------------------------------------ 15.2


class Written(OwnAdd, Steps):
    """Steps with an input `x` of four numbers, a view `v` of it, and an input `r` of two."""

    def __init__(self):
        super().__init__()
        self.x = self.input(numbers(1.0, 2.0, 3.0, 4.0), "x")
        self.r = self.input(numbers(7.0, 8.0), "r")
        inner = self.x.inner[1:3]
        (value,) = self.add("view", lambda xp, a: a[1:3], [self.x.value], [inner], view=True)
        self.v = self.traced(inner, value)

    def made(self, *values):
        """Return the traced array of a result."""
        (value,) = self.add("made", lambda xp: numbers(*values), [], [numbers(*values)])
        return self.traced(numbers(*values), value)

    def rewritten(self):
        """Give the memory of `x` a new Value, even if `write` and `replace` are still open."""
        self.x.memory.whole = self.value("new", self.x.inner)
        self.x.memory.version += 1
        return self.x.memory.whole

    def names(self):
        """Return the names of the steps."""
        return [step.name for step in self.steps]


def symptom_15_2_version_stays():
    s = Written()
    value = s.value("new", s.x.inner)
    s.replace(s.x.memory, value)
    return s.x.memory.whole is value and s.x.memory.version == 0


def symptom_15_2_value_is_not_replaced():
    s = Written()
    before = s.x.memory.whole
    s.replace(s.x.memory, s.value("new", s.x.inner))
    return s.x.memory.whole is before and s.x.memory.version > 0


def symptom_15_2_never_read_again():
    s = Written()
    before = s.x.value
    s.rewritten()
    return s.read(s.x) is before


def symptom_15_2_always_read_again():
    s = Written()
    count = len(s.steps)
    s.read(s.v)
    return len(s.steps) > count


def symptom_15_2_value_is_not_kept():
    s = Written()
    s.rewritten()
    first, count = s.read(s.v), len(s.steps)
    return s.read(s.v) is not first and len(s.steps) > count


def symptom_15_2_not_undone():
    s = Written()
    s.rewritten()
    before, mark = s.v.value, s.mark()
    found = s.read(s.v)
    s.go_back(mark)
    return s.v.value is found and found is not before


def symptom_15_2_view_is_the_whole():
    s = Written()
    return s.rewritten() is s.read(s.v)


def symptom_15_2_numbers_stay():
    s = Written()
    s.write(s.v, s.r)
    return s.x.inner.tolist() == [1.0, 2.0, 3.0, 4.0]


def symptom_15_2_rest_is_lost():
    s = Written()
    s.write(s.v, s.r)
    return s.x.memory.whole is s.r.value


def symptom_15_2_old_result():
    s = Written()
    before = s.v.value
    s.rewritten()
    s.write(s.r, s.v)
    return s.r.memory.whole is before


def symptom_15_2_only_the_target():
    s = Written()
    before = s.x.memory.whole
    s.write(s.v, s.r)
    return s.x.memory.whole is before and s.v.value is s.r.value


def replaced_inputs():
    """Return steps, and the memories that were noted when r, x and r got new Values."""
    s = Written()
    for each in (s.r, s.x, s.r):
        s.replace(each.memory, s.value("new", each.inner))
    return s, s.written


def symptom_15_2_noted_twice():
    s, noted = replaced_inputs()
    return noted == [s.r.memory, s.x.memory, s.r.memory]


def symptom_15_2_not_noted():
    return not replaced_inputs()[1]


def symptom_15_2_results_are_noted():
    s = Written()
    memory = s.made(1.0).memory
    s.replace(memory, s.value("new", memory.array))
    return s.written == [memory]


def symptom_15_2_noted_in_front():
    s, noted = replaced_inputs()
    return noted == [s.x.memory, s.r.memory]


def replaced_part():
    """Return what a new Value for a part of other memory leads to, and what is noted."""
    s = Written()
    part = s.input(np.arange(6.0)[::3], "part")
    return outcome(s.replace, part.memory, s.value("new", part.inner)), s.written


def symptom_15_2_part_is_written():
    return not isinstance(replaced_part()[0], Exception)


def symptom_15_2_noted_before_refused():
    error, noted = replaced_part()
    return isinstance(error, Unrecordable) and bool(noted)


def symptom_15_2_every_input_is_refused():
    s = Written()
    return isinstance(outcome(s.replace, s.x.memory, s.x.value), Unrecordable)


# ------------------------------------------------------------------ 15.3


def key(*arguments):
    return signature(arguments, [], [])


def same(one, other):
    """Return whether two arguments have the same key."""
    return key(one) == key(other)


def ones(*shape, **more):
    return torch.ones(shape, **more)


def symptom_15_3_numbers_count():
    x = ones(2)
    before = key(x)
    x._array[0] = 5.0
    return key(x) != before and same(ones(2), ones(2))


def symptom_15_3_tensors_by_identity():
    return not same(ones(2), ones(2))


def symptom_15_3_shape_is_missing():
    return same(ones(4, 3), ones(2, 3)) or same(ones(2, 2)[:1], ones(2, 2)[:, :1])


def symptom_15_3_dtype_is_missing():
    return same(ones(2), torch.ones(2, dtype=torch.int32))


def symptom_15_3_strides_are_missing():
    return same(ones(3, 3), ones(3, 3).t())


def symptom_15_3_requires_grad_is_missing():
    return same(ones(2), ones(2, requires_grad=True))


def symptom_15_3_leaf_is_missing():
    return same(ones(2, requires_grad=True), ones(2, requires_grad=True) * 1)


def symptom_15_3_type_is_missing():
    return same(ones(2), torch.nn.Parameter(ones(2), requires_grad=False))


def symptom_15_3_twice_is_two():
    x, y = ones(2), ones(2)
    return key(x, x) == key(x, y)


def symptom_15_3_which_is_repeated():
    x, y = ones(2), ones(2)
    return key(x, y, x) == key(x, y, y) and key(x, x) != key(x, y)


def symptom_15_3_tensors_are_not_listed():
    tensors = []
    signature([ones(2)], tensors, [])
    return not tensors


def symptom_15_3_type_of_values():
    return same(1, True) or same(1, 1.0) or same((1, 2), (1, 2.0))


def pair_type():
    """Return a type of pairs, one more with the same name each time."""
    return namedtuple("Pair", "x y")


class Label(str):
    """A str of another type."""

    __slots__ = ()


def symptom_15_3_types_by_name():
    return same(pair_type()(1, 2), pair_type()(1, 2)) and not same(pair_type()(1, 2), (1, 2))


def symptom_15_3_subclass_is_its_base():
    return same("a", Label("a")) and not same(1, 1.0) and not same(1, True)


def symptom_15_3_sign_of_zero():
    return same(0.0, -0.0)


def symptom_15_3_nan_differs():
    return not same(float("nan"), float("nan")) and same(1.5, 1.5)


def symptom_15_3_lists_are_tuples():
    return same([1, 2], (1, 2))


def symptom_15_3_nesting_is_lost():
    return same([[1], 2], [1, [2]]) or same([[], []], [[[]]]) or same([1, [2]], [1, 2])


def symptom_15_3_keys_are_missing():
    return same({"a": 1}, {"b": 1})


def symptom_15_3_keys_by_equality():
    return same({1: 2}, {True: 2}) and not same({1: 2}, {1: True})


def symptom_15_3_dicts_are_sorted():
    return same({"a": 1, "b": 2}, {"b": 2, "a": 1})


class Equal:
    """An object that equals all others of its class."""

    def __eq__(self, other):
        return type(other) is Equal

    def __hash__(self):
        return 0


def symptom_15_3_objects_by_equality():
    return same(Equal(), Equal()) and not same(object(), object())


def symptom_15_3_objects_by_type():
    return same(object(), object())


def symptom_15_3_objects_are_not_kept():
    others = []
    signature([Equal()], [], others)
    return not others


# ------------------------------------------------------------------ 15.4


class Noted(OwnAdd, OwnRead, Recording):
    """A recording that notes what becomes a single step."""

    asked = None

    def known(self, array, what):
        if array.value.array is None:
            raise self.refuse(what)
        return array.value.array

    def formulas(self, node, grads, needed):
        self.asked = needed
        return super().formulas(node, grads, needed) if isinstance(node, Node) else ["one"]


class Attempt:
    """A node that records a step and then raises an error."""

    def __init__(self, error=Unrecordable, is_op=True):
        self.error, self.is_op = error, is_op

    def apply_arrays(self, grads, needed):
        recording = _state.program.get()
        recording.add("attempt", max, [], [])
        if self.error is Unrecordable:
            raise recording.refuse("the formulas branch")
        if self.error is not None:
            raise self.error("a mistake")
        return ["many"]


def applied(*args):
    """Apply such a node; return the recording, and the gradients or the error."""
    recording, node = Noted(), Attempt(*args)
    task = joint.RecordingTask(False, False)
    task.nodes_to_execute = {node}
    with _state.having(_state.program, recording):
        return recording, outcome(task.apply, node, [None])


def symptom_15_4_formulas_are_refused():
    return isinstance(applied()[1], Unrecordable) and applied(None)[1] == ["many"]


def symptom_15_4_always_one_step():
    recording, found = applied(None)
    return found == ["one"] and not recording.steps


def symptom_15_4_attempt_stays():
    recording, found = applied()
    return found == ["one"] and len(recording.steps) == 1


def symptom_15_4_refusal_stays():
    recording, found = applied()
    return found == ["one"] and not recording.steps and recording.refused is not None


def symptom_15_4_other_nodes_go_back():
    return applied(Unrecordable, False)[1] == ["one"]


def symptom_15_4_errors_are_hidden():
    return ["one"] in [applied(error)[1] for error in (ZeroDivisionError, RuntimeError)]


def symptom_15_4_all_formulas_run():
    recording, found = applied()
    return found == ["one"] and recording.asked is None


def recorded(function, dtype=np.float64):
    """Record two leaves, a root and its backward pass; return the recording, the leaves, and
    the gradients of the root and the leaves.
    """
    recording = Noted()
    with recording.active():
        leaves = [Tensor._plain(recording.input(np.ones(2, dtype), "x")) for _ in range(2)]
        for each in leaves:
            each._requires_grad = True
        found = joint.backward_steps(recording, [function(*leaves)], leaves)
    return recording, leaves, *found


def symptom_15_4_tangent_is_a_constant():
    _, _, (tangent,), _ = recorded(lambda x, y: x * y)
    return type(tangent) is Value and tangent.array is not None


def symptom_15_4_tangent_of_another_dtype():
    _, _, (tangent,), _ = recorded(lambda x, y: x * y, np.float32)
    return type(tangent) is Value and tangent.dtype != np.float32


def symptom_15_4_tangent_of_another_shape():
    found = outcome(recorded, lambda x, y: x * y)
    return isinstance(found, RuntimeError) and str(found).startswith("Function GraphRoot returned")


def symptom_15_4_grad_is_filled():
    accumulate, filled = GraphTask.accumulate, []
    try:
        GraphTask.accumulate = lambda task, node, buffer: filled.append(node)
        outcome(recorded, lambda x, y: x * y)
    finally:
        GraphTask.accumulate = accumulate
    return bool(filled)


def symptom_15_4_none_is_a_constant():
    _, _, _, gradients = recorded(lambda x, y: x.exp())
    return len(gradients) == 2 and gradients[1] is not None


def symptom_15_4_none_is_left_out():
    _, _, _, gradients = recorded(lambda x, y: x.exp())
    return len(gradients) == 1


def symptom_15_4_another_task():
    return isinstance(outcome(recorded, lambda x, y: x.cumprod(0)), Unrecordable) and (
        applied()[1] == ["one"])


def symptom_15_4_arrays_are_returned():
    _, _, _, (gradient, _) = recorded(lambda x, y: x * y)
    return type(gradient) is not Value


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


def outcome_of(call, *args):
    """Return what a call returns, or the type of what it raises; an open hole is passed on."""
    try:
        return call(*args)
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error)


# ------------------------------------------------------------------ 15.5


def chain_of_steps():
    """Return three steps, each of which needs the one before, and the last result."""
    x, a, b, c = array_values("x a b c")
    return [call_step(double, [x], a), call_step(negate, [a], b), call_step(double, [b], c)], c


def symptom_15_5_list_changed():
    steps, last = chain_of_steps()
    before = list(steps)
    program.live_steps(steps, [last])
    return steps != before


def symptom_15_5_forwards():
    steps, last = chain_of_steps()
    return program.live_steps(steps, [last]) == steps[2:]


def symptom_15_5_only_unread():
    steps, _ = chain_of_steps()
    return program.live_steps(steps, []) == steps[:2]


def symptom_15_5_last_step_first():
    steps, last = chain_of_steps()
    return program.live_steps(steps, [last]) == steps[::-1]


def random_steps():
    """Return a step, and a random one that needs it and that nothing needs."""
    x, a, b = array_values("x a b")
    return [call_step(double, [x], a), call_step(draw, [a], b, random=True)]


def symptom_15_5_random_dropped():
    return list(program.live_steps(random_steps(), [])) == []


def symptom_15_5_random_without_operands():
    steps = random_steps()
    return program.live_steps(steps, []) == steps[1:]


def symptom_15_5_not_all_results():
    x, a, b = array_values("x a b")
    steps = [call_step(two_parts, [x], a, b, several=True)]
    return not (program.live_steps(steps, [a]) and program.live_steps(steps, [b]))


def symptom_15_5_lists_missed():
    x, a, b = array_values("x a b")
    steps = [call_step(double, [x], a), call_step(total, [[x, a]], b)]
    return program.live_steps(steps, [b]) == steps[1:]


def repeats(count=2):
    """Return steps that repeat each other."""
    x = array_value("x")
    return [call_step(double, [x], each) for each in array_values("a b c")[:count]]


def symptom_15_5_repeats_kept():
    kept, replaced = program.shared_steps(repeats())
    return len(kept) == 2 and len(replaced) == 1


def symptom_15_5_random_shared():
    steps = [call_step(draw, [2], each, random=True) for each in array_values("a b")]
    return len(program.shared_steps(steps)[0]) == 1


def symptom_15_5_old_arguments():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(double, [x], a), call_step(double, [x], b), call_step(negate, [b], c),
             call_step(total, [[b]], d)]
    kept, _ = program.shared_steps(steps)
    return len(kept) == 3 and any(value is b for step in kept for value in step.inputs())


def symptom_15_5_chain_missed():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(double, [x], a), call_step(double, [x], b), call_step(negate, [a], c),
             call_step(negate, [b], d)]
    return len(program.shared_steps(steps)[0]) == 3


def symptom_15_5_replaced_by_repeat():
    steps = repeats(3)
    kept, replaced = program.shared_steps(steps)
    return kept == steps[:1] and replaced.get(id(steps[2].outputs[0])) is steps[1].outputs[0]


def symptom_15_5_one_result_replaced():
    x, a, b, c, d = array_values("x a b c d")
    steps = [call_step(two_parts, [x], a, b, several=True),
             call_step(two_parts, [x], c, d, several=True)]
    return len(program.shared_steps(steps)[1]) == 1


def symptom_15_5_wrong_way():
    steps = repeats()
    return id(steps[0].outputs[0]) in program.shared_steps(steps)[1]


def symptom_15_5_no_hash():
    return outcome_of(hash, program.frozen([1])) is TypeError


def symptom_15_5_inside_of_lists():
    return (program.frozen([1]) == program.frozen([1.0])
            and program.frozen(1) != program.frozen(1.0))


def symptom_15_5_one_is_true():
    return program.frozen(1) in (program.frozen(1.0), program.frozen(True))


def symptom_15_5_signs_of_zero():
    return program.frozen(0.0) == program.frozen(-0.0)


def symptom_15_5_list_is_tuple():
    return program.frozen([1]) == program.frozen((1,))


def symptom_15_5_not_by_identity():
    one, other = (array_value("x", constant=True) for _ in range(2))
    first, second = np.ones(2), np.ones(2)
    return (program.frozen(one) == program.frozen(other)
            or program.frozen(first) == program.frozen(second))


def number_constant(dtype=np.float64):
    return array_value("one", (), dtype, constant=True)


def symptom_15_5_constants_by_identity():
    one, other = number_constant(), number_constant()
    return program.frozen(one) != program.frozen(other)


def symptom_15_5_constants_without_dtype():
    one, other = number_constant(), number_constant(np.float32)
    return program.frozen(one) == program.frozen(other)


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


def cut_of_chain(*prices):
    """Return the cut of values, each of which is computed from the one before."""
    numbers = range(1, len(prices) + 1)
    network = network_of(dict(zip(numbers, prices, strict=True)),
                         itertools.pairwise([SOURCE, *numbers, SINK]))
    return outcome_of(flow.cheapest_cut, network)


def symptom_15_6_along_the_edges():
    network = {SOURCE: {}, SINK: {"a": 0}, "a": {SINK: 1}}
    back = {SOURCE: {}, SINK: {"a": 1}, "a": {SINK: 0}}
    return flow.able_to_reach_sink(back) == {"a", SINK} != flow.able_to_reach_sink(network)


def symptom_15_6_full_edges_pass():
    network = {SOURCE: {}, SINK: {"a": 5}, "a": {SINK: 0}}
    free = {SOURCE: {}, SINK: {"a": 5}, "a": {SINK: 1}}
    return "a" in flow.able_to_reach_sink(network) and "a" in flow.able_to_reach_sink(free)


def symptom_15_6_one_edge_only():
    network = {SOURCE: {}, SINK: {"b": 0}, "b": {SINK: 1, "a": 0}, "a": {"b": 1}}
    return flow.able_to_reach_sink(network) == {"b", SINK}


def symptom_15_6_sink_missing():
    network = {SOURCE: {}, SINK: {"a": 0}, "a": {SINK: 1}}
    return flow.able_to_reach_sink(network) == {"a"}


def symptom_15_6_error_for_finite():
    return cut_of_chain(5, 3, 4) is ValueError


def symptom_15_6_another_error():
    found = cut_of_chain(inf, inf)
    return isinstance(found, type) and found is not ValueError


def symptom_15_6_no_error():
    return not isinstance(cut_of_chain(inf, inf), type)


def symptom_15_6_nodes():
    return any(isinstance(each, tuple) for each in cut_of_chain(5, 3, 4))


def symptom_15_6_wrong_end():
    return cut_of_chain(5, 3, 4) == set()


def symptom_15_6_all_values_behind():
    return cut_of_chain(5, 3, 4) == {2, 3}


def symptom_15_6_all_full_edges():
    return cut_of_chain(3, 3) == {1, 2}


def symptom_15_6_nearest_to_source():
    return cut_of_chain(3, 3) == {1}


def symptom_15_6_one_path_only():
    network = network_of({1: 2, 2: 3}, [(SOURCE, 1), (1, SINK), (SOURCE, 2), (2, SINK)])
    return outcome_of(flow.cheapest_cut, network) != {1, 2} and cut_of_chain(5, 3, 4) == {2}


def symptom_15_6_no_way_back():
    forks = [network_of({1: 2, 2: 2, 3: 1}, [(SOURCE, 1), (1, 2), (1, 3), (2, SINK), (3, SINK)]),
             network_of({1: 1, 2: 1, 3: 2, 4: 2}, [(SOURCE, 1), (SOURCE, 2), (1, 3), (1, 4), (2, 3),
                                                   (3, SINK), (4, SINK)])]
    return ([outcome_of(flow.cheapest_cut, each) for each in forks] != [{1}, {1, 2}]
            and cut_of_chain(3, 3) == {2})


# ------------------------------------------------------------------ 15.7


def deaths(steps, outputs):
    """Return the names of the Values that die in each step."""
    return [sorted(v.name for v in each) for each in buffers.last_uses(steps, outputs)]


def three_steps():
    """Return steps in which a is used twice, and the last result."""
    x, a, b, c = array_values("x a b c")
    return [call_step(double, [x], a), call_step(negate, [a], b),
            call_step(subtract, [b, a], c)], c


def symptom_15_7_first_use():
    steps, last = three_steps()
    return any("a" in names for names in deaths(steps, [last])[:2])


def symptom_15_7_last_step_first():
    steps, last = three_steps()
    return deaths(steps, [last]) == [["a", "b"], [], ["x"]]


def symptom_15_7_outputs_die():
    x, a = array_values("x a")
    return "a" in deaths([call_step(double, [x], a)], [a])[0]


def symptom_15_7_unused_live_on():
    x, a, b = array_values("x a b")
    steps = [call_step(double, [x], a), call_step(negate, [x], b)]
    return deaths(steps, [b]) == [[], ["x"]]


def symptom_15_7_inputs_live_on():
    steps, last = three_steps()
    return deaths(steps, [last]) == [[], [], ["a", "b"]]


def symptom_15_7_constants_die():
    x, a = array_values("x a")
    steps = [call_step(subtract, [x, array_value("held", constant=True)], a)]
    return "held" in deaths(steps, [a])[0]


def symptom_15_7_dies_twice():
    x, a = array_values("x a")
    return deaths([call_step(subtract, [x, x], a)], [a]) == [["x", "x"]]


def symptom_15_7_lists_missed():
    x, a = array_values("x a")
    return deaths([call_step(total, [[x]], a)], [a]) == [[]]


def taken(steps, outputs):
    """Return the operands whose buffers are taken over, by the number of the step."""
    found = buffers.taken_over(steps, outputs,
                               lambda step: step.call in (double, negate, subtract))
    return {place: found[id(step)].name for place, step in enumerate(steps) if id(step) in found}


def fresh(shape=(2,), name="made", **more):
    """Return a step that allocates, and its result."""
    value = array_value(name, shape, **more)
    return call_step(total, [[array_value("x", shape)]], value), value


def symptom_15_7_needed_later():
    first, made = fresh()
    b, c = array_values("b c")
    return 1 in taken([first, call_step(negate, [made], b), call_step(total, [[b, made]], c)], [c])


def symptom_15_7_views_forgotten():
    first, made = fresh()
    view, b = array_value("view", (1, 2)), array_value("b")
    return 2 in taken([first, call_step(total, [made], view, view=True),
                       call_step(negate, [made], b)], [b, view])


def symptom_15_7_foreign_memory():
    x, a = array_values("x a")
    return taken([call_step(negate, [x], a)], [a]) == {0: "x"}


def symptom_15_7_view_taken():
    x, view, b = array_values("x view b")
    return 1 in taken([call_step(total, [x], view, view=True), call_step(negate, [view], b)], [b])


def symptom_15_7_read_twice():
    first, made = fresh()
    b = array_value("b")
    return taken([first, call_step(subtract, [made, made], b)], [b]) == {1: "made"}


def symptom_15_7_view_in_step():
    first, made = fresh()
    view, b = array_values("view b")
    return taken([first, call_step(total, [made], view, view=True),
                  call_step(subtract, [made, view], b)], [b]) == {2: "made"}


def symptom_15_7_not_alike():
    first, made = fresh((2, 3), dtype=np.float32)
    b = array_value("b", (2, 3))
    return taken([first, call_step(negate, [made], b)], [b]) == {1: "made"}


def symptom_15_7_any_step():
    first, made = fresh()
    b = array_value("b")
    return taken([first, call_step(total, [[made]], b)], [b]) == {1: "made"}


def symptom_15_7_first_operand_only():
    first, made = fresh()
    x, b, c = array_values("x b c")
    alone = [first, call_step(negate, [made], c)]
    return (taken(alone, [c]) == {1: "made"}
            and taken([first, call_step(subtract, [x, made], b)], [b]) == {})


def symptom_15_7_last_operand():
    (first, one), (second, other) = fresh(name="one"), fresh(name="other")
    b = array_value("b")
    return taken([first, second, call_step(subtract, [one, other], b)], [b]) == {2: "other"}


def symptom_15_7_by_result():
    first, made = fresh()
    b = array_value("b")
    found = buffers.taken_over([first, call_step(negate, [made], b)], [b],
                               lambda step: step.call is negate)
    return id(b) in found


def symptom_15_7_results_not_allocated():
    first, made = fresh()
    b, c = array_values("b c")
    return taken([first, call_step(negate, [made], b), call_step(double, [b], c)],
                 [c]) == {1: "made"}


# ------------------------------------------------------------------ 15.8


def emitted(inputs, steps, outputs, name="forward"):
    """Return the function that a Writer's source defines."""
    writer = emit.Writer(inputs, steps, outputs)
    exec(compile(writer.source(name), "<emitted>", "exec"), writer.names)
    return writer.names[name]


def small_program():
    """Return a function of one step."""
    x, a = array_values("x a")
    return emitted([x], [call_step(double, [x], a)], [a])


def symptom_15_8_empty_del():
    x = array_value("x")
    a, b = array_values("a b")
    steps = [call_step(double, [x], a), call_step(subtract, [x, a], b)]
    return (outcome_of(emitted, [x], steps, [a, b, x]) is SyntaxError
            and callable(outcome_of(emitted, [x], [], [x])))


def symptom_15_8_fixed_name():
    x = array_value("x")
    return outcome_of(emitted, [x], [], [x], "backward") is KeyError


def symptom_15_8_a_list():
    return type(small_program()(np.ones(2))) is list


def symptom_15_8_no_tuple():
    return type(small_program()(np.ones(2))) is np.ndarray


def symptom_15_8_lone_comma():
    x = array_value("x")
    return outcome_of(emitted, [x], [], []) is SyntaxError


def symptom_15_8_none_left_out():
    x = array_value("x")
    return len(emitted([x], [], [None, x, None])(np.ones(2))) == 1


def symptom_15_8_constant_output():
    x, held = array_value("x"), array_value("held", constant=True)
    return outcome_of(lambda: emitted([x], [], [held])(np.ones(2))) is NameError


def symptom_15_8_one_statement():
    bias, one, other, a = (array_value(name, shape) for name, shape in
                           (("bias", (2,)), ("one", (2, 2)), ("other", (2, 2)), ("a", (2, 2))))
    step = Step("addmm", double, [bias, one, other, 1, 1], [a], op="Addmm")
    function = emitted([bias, one, other], [step], [a])
    (found,) = function(np.ones(2), np.ones((2, 2)), np.ones((2, 2)))
    return found.tolist() == [[2, 2], [2, 2]]


def alive_at_the_end(shared=False):
    """Return which arguments of the first two steps are alive in the last one."""
    seen, alive = [], []

    def note(xp, *arrays):
        seen.extend(map(weakref.ref, arrays))
        alive[:] = [each() is not None for each in seen]
        return arrays[0] + 1

    if shared:
        x, a, b, c, d = array_values("x a b c d")
        steps = [call_step(note, [x], a), call_step(note, [x], b), call_step(note, [a, b], c),
                 call_step(note, [c], d)]
        values = [x, d]
    else:
        values = array_values("x a b c")
        steps = [call_step(note, [one], other) for one, other in itertools.pairwise(values)]
    function = emitted(values[:1], steps, values[-1:])
    enabled = gc.isenabled()
    gc.disable()
    try:
        function(np.ones(2))
    finally:
        if enabled:
            gc.enable()
    return alive


def symptom_15_8_nothing_deleted():
    return alive_at_the_end() == [True, True, True]


def symptom_15_8_one_deleted():
    return alive_at_the_end(shared=True)[2:4] in ([True, False], [False, True])


def unused_names(*wanted):
    writer = emit.Writer([], [], [])
    return [writer.unused(each) for each in wanted]


def symptom_15_8_names_not_noted():
    return unused_names("mul", "mul") == ["mul", "mul"]


def symptom_15_8_numbers_from_0():
    return unused_names("mul", "mul") == ["mul", "mul_0"]


def symptom_15_8_numbers_pile_up():
    return unused_names("mul", "mul", "mul")[2] == "mul_1_2"


def symptom_15_8_number_taken():
    return len(set(unused_names("mul", "mul", "mul"))) == 2


def symptom_15_8_number_in_use():
    return unused_names("mul_1", "mul", "mul")[2] == "mul_1"


def global_names(things, wanted="wanted"):
    writer = emit.Writer([], [], [])
    return [writer.global_name(each, wanted) for each in things], writer


def symptom_15_8_no_underscore():
    return global_names([double])[0] == ["wanted"]


def symptom_15_8_global_meets_local():
    return len(set(global_names([negate, double])[0])) == 1 and global_names(
        [negate])[1].global_name(double, "other") == "_other"


def symptom_15_8_by_wanted_name():
    names, writer = global_names([double, negate])
    return names[0] == names[1] and writer.names[names[0]] is double


def symptom_15_8_by_equality():
    return (len(set(global_names([1.0, np.float64(1.0)])[0])) == 1
            and len(set(global_names([1.0, 2.0])[0])) == 2)


def symptom_15_8_new_name_each_time():
    return len(set(global_names([double, double])[0])) == 2


def symptom_15_8_not_entered():
    names, writer = global_names([double])
    return names[0] not in writer.names
