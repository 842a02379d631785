"""Stage 06b: operations in place, a Function's outputs that are not new, and checkpointing."""

import gc
import weakref

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad.autograd import Function, grad
from minigrad.autograd.function import once_differentiable
from minigrad.autograd.function.outputs import alias, join_to_node, join_written
from minigrad.examples.checkpoint import RandomSegment, Segment
from minigrad.op.inplace import values_to_save
from minigrad.ops.math.arithmetic import Mul
from minigrad.ops.math.exp_log import Exp
from minigrad.ops.math.powers import PowTensor

grad_mode = torch._state.grad_enabled


@pytest.fixture(autouse=True)
def modes_left_alone():
    yield
    grad_mode.set(True)
    gc.enable()


def make(forward, backward=None):
    """Return a Function of the given functions, called Custom."""
    body = {"forward": staticmethod(forward)}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Custom", (Function,), body)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


# --- 06b.1: an operation in place ----------------------------------------------------------------


@pytest.mark.hole("06b.1")
def test_a_formula_that_needs_the_old_value_gets_a_clone():
    y, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    old, other = values_to_save(Mul, [y, z], None)
    assert old is not y and old.tolist() == [1.0, 2.0], "expected a clone of the target"
    apart = old.data_ptr() != y.data_ptr()
    assert apart, "it has the memory that will be written to"
    assert other is z, "only the target will be gone"


@pytest.mark.hole("06b.1")
def test_a_clone_requires_grad_as_its_target_does():
    y, z = leaf([1.0, 2.0]) * 1, torch.tensor([3.0, 4.0])
    old, _ = values_to_save(Mul, [y, z], None)
    assert old.requires_grad, "the clone is detached: the node would give the target no gradient"


@pytest.mark.hole("06b.1")
@pytest.mark.parametrize("there", [[3.0], [0.0], [3.0, 0.0], 0.0, [[0.0, 0.0], [1.0, 2.0]], []],
                         ids=str)
def test_a_clone_that_is_there_is_used(there):
    before = torch.tensor(there)
    y, z = torch.ones(before.shape), torch.zeros(before.shape)
    old, other = values_to_save(Mul, [y, z], before)
    assert old is before, f"expected the clone that is there, got {old}"
    assert other is z


@pytest.mark.hole("06b.1")
def test_a_formula_that_needs_the_old_value_and_the_result_gets_a_clone_too():
    assert {"self", "result"} <= set(PowTensor.node_type.saves)
    y, z = torch.tensor([2.0, 3.0]), torch.tensor([3.0, 4.0])
    old, other = values_to_save(PowTensor, [y, z], None)
    assert old is not y and old.tolist() == [2.0, 3.0], "expected a clone of the target"
    assert other is z


@pytest.mark.hole("06b.1")
@pytest.mark.parametrize("there", [False, True], ids=["without a clone", "with a clone"])
def test_nothing_is_copied_without_need(there):
    y = torch.tensor([1.0])
    (got,) = values_to_save(Exp, [y], torch.tensor([5.0]) if there else None)
    assert got is y, f"expected the argument as it is, got {got}"


@pytest.mark.hole("06b.1")
def test_the_gradient_uses_the_value_from_before_the_write():
    x, z = leaf([1.0, 2.0]), leaf([10.0, 100.0])
    y = x * 1
    y.mul_(z)
    y.backward(torch.ones(2))
    assert z.grad.tolist() == [1.0, 2.0], f"expected the old y, [1, 2], got {z.grad.tolist()}"
    assert x.grad.tolist() == [10.0, 100.0]


@pytest.mark.hole("06b.1")
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
def test_a_write_is_counted_once(recorded):
    y = leaf([1.0, 2.0]) * 1 if recorded else torch.tensor([1.0, 2.0])
    y.add_(1)
    assert y._version == 1, f"expected version 1, got {y._version}"


@pytest.mark.hole("06b.1")
def test_who_saved_it_before_notices():
    y = leaf([1.0, 2.0]) * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.backward(torch.ones(2))


@pytest.mark.hole("06b.1")
def test_the_write_becomes_the_history():
    x = leaf([1.0, 2.0])
    y = x * 1
    before = y.grad_fn
    y.mul_(10)
    assert y.grad_fn is not before, "it still has the history from before the write"
    assert y.grad_fn.next_functions[0][0] is before
    y.backward(torch.ones(2))
    assert x.grad.tolist() == [10.0, 10.0]


@pytest.mark.hole("06b.1")
def test_a_write_through_a_view_becomes_the_history_of_the_base():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    y[1:].mul_(10)
    y.backward(torch.ones(3))
    assert x.grad.tolist() == [1.0, 10.0, 10.0]


@pytest.mark.hole("06b.1")
def test_a_result_is_saved_as_it_is_after_the_write():
    x = leaf([0.0, 1.0])
    y = x * 1
    y.exp_()
    y.backward(torch.ones(2))
    assert_close(x.grad.numpy(), np.exp([0.0, 1.0]), what="x.grad")


@pytest.mark.hole("06b.1")
def test_a_result_that_is_saved_is_no_circle():
    gc.disable()
    x, y = leaf([2.0, 3.0]), torch.tensor([2.0, 3.0])
    y.pow_(x)
    assert y.grad_fn is not None, "the write is not its history"
    gone = weakref.ref(y)
    del y
    assert gone() is None, "the node holds its own output: it was saved before it was an output"


@pytest.mark.hole("06b.1")
def test_a_write_that_is_not_recorded_leaves_the_history():
    x = leaf([1.0, 2.0])
    y = x * 3
    before = y.grad_fn
    with torch.no_grad():
        y.mul_(100)
    assert y.grad_fn is before and y._version == 1


# --- 06b.2: outputs that are not new -------------------------------------------------------------


@pytest.mark.hole("06b.2")
def test_an_input_returned_as_it_came_becomes_a_new_tensor():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert y is not x, "the result is the input itself"


@pytest.mark.hole("06b.2")
def test_the_input_stays_what_it_was():
    x = leaf([1.0, 2.0])
    make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert x.is_leaf and x.grad_fn is None and x.requires_grad, "the input has to stay a leaf"


@pytest.mark.hole("06b.2")
def test_both_have_their_gradients():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert y.grad_fn.name() == "CustomBackward"
    (y + x).sum().backward()
    assert_close(x.grad.numpy(), [11.0, 11.0], what="x.grad")


def alias_of_a_result():
    """Return a tensor and an alias of it."""
    middle = leaf([1.0, 2.0]) * 1
    return middle, alias(middle)


@pytest.mark.hole("06b.2")
def test_an_alias_has_no_place_in_the_graph():
    middle, y = alias_of_a_result()
    assert y is not middle and y._node is None, "an alias is a fresh tensor, without a node"
    assert middle._node is not None


@pytest.mark.hole("06b.2")
def test_a_leaf_that_requires_grad_and_is_no_input_comes_back_itself():
    node, outside = node_of_custom(), leaf([1.0])
    assert join_to_node(node, outside, 0, False) is outside, "it is a leaf, and no input"
    assert outside._node is node


@pytest.mark.hole("06b.2")
def test_a_view_that_forward_made_comes_back_itself():
    node = node_of_custom()
    with torch.no_grad():  # as in forward
        made = leaf([1.0, 2.0])[1:]
    assert join_to_node(node, made, 0, False) is made, "forward made it, and it has no other place"
    assert made._node is node and made.requires_grad


@pytest.mark.hole("06b.2")
def test_an_alias_looks_at_the_same_memory():
    middle, y = alias_of_a_result()
    shared = y.data_ptr() == middle.data_ptr()
    assert shared, "the values have not to be copied"
    assert y.tolist() == [1.0, 2.0]


@pytest.mark.hole("06b.2")
def test_an_alias_is_a_view():
    middle, y = alias_of_a_result()
    assert y._is_view(), "it is noted as no view"
    assert y._base is middle, "it is a view, but not of the tensor"


@pytest.mark.hole("06b.2")
def test_an_alias_shares_the_version():
    middle, y = alias_of_a_result()
    middle._bump()
    assert (y._version, middle._version) == (1, 1), f"got {y._version} and {middle._version}"


@pytest.mark.hole("06b.2")
@pytest.mark.parametrize("recorded", [True, False], ids=["with a history", "without"])
def test_an_alias_may_not_be_written_to(recorded):
    x = leaf([1.0]) * 1 if recorded else torch.tensor([1.0])
    y = make(lambda ctx, x: x, lambda ctx, g: g).apply(x)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(leaf([2.0]))


@pytest.mark.hole("06b.2")
def test_two_inputs_returned_the_other_way_round():
    a, b = leaf(2.0), leaf(3.0)
    first, second = make(lambda ctx, a, b: (b, a), lambda ctx, g, h: (h, g)).apply(a, b)
    (first * 10 + second * 100).backward()
    assert (first.item(), second.item()) == (3.0, 2.0)
    assert (a.grad.item(), b.grad.item()) == (100.0, 10.0)


def node_of_custom():
    return make(lambda ctx, x: x)._backward_cls()


@pytest.mark.hole("06b.2")
@pytest.mark.parametrize("index", [0, 1])
def test_a_new_tensor_gets_its_place_itself(index):
    node, made = node_of_custom(), torch.tensor([1.0, 2.0])
    assert join_to_node(node, made, index, False) is made, "a tensor made by forward needs no alias"
    assert (made._node, made._index, made._requires_grad) == (node, index, True)


@pytest.mark.hole("06b.2")
def test_an_input_without_a_history_gets_an_alias():
    node, given = node_of_custom(), torch.tensor([1.0, 2.0])
    placed = join_to_node(node, given, 0, True)
    assert placed is not given and given._node is None and not given._requires_grad
    assert placed._node is node and placed._requires_grad


@pytest.mark.hole("06b.2")
def test_a_tensor_of_another_graph_gets_an_alias():
    """`forward` may return a tensor that it did not make and was not given."""
    outside = leaf([1.0, 2.0]) * 3
    before = outside.grad_fn
    y = make(lambda ctx, x: outside, lambda ctx, g: g).apply(leaf([1.0, 2.0]))
    assert outside.grad_fn is before, "a tensor of another graph lost its history"
    assert y is not outside and y.grad_fn.name() == "CustomBackward"


@pytest.mark.hole("06b.2")
def test_a_tensor_that_is_returned_twice_needs_no_alias():
    node, made = node_of_custom(), torch.tensor([1.0])
    join_to_node(node, made, 0, False)
    assert join_to_node(node, made, 1, False) is made, "its node is this node already"
    assert made._index == 1


# --- 06b.3: inputs that forward wrote to ---------------------------------------------------------


def _doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


Doubled = make(_doubled, lambda ctx, g: g * 2)


@pytest.mark.hole("06b.3")
def test_the_written_tensor_itself_comes_back():
    middle = leaf([1.0, 2.0]) * 3
    result = Doubled.apply(middle)
    assert result is middle, "another tensor came back than the one that was written to"
    assert middle.tolist() == [6.0, 12.0]


@pytest.mark.hole("06b.3")
def test_the_written_tensor_has_the_new_history():
    x = leaf([1.0, 2.0])
    middle = x * 3
    Doubled.apply(middle)
    assert middle.grad_fn.name() == "CustomBackward", f"it is {middle.grad_fn.name()}"
    middle.sum().backward()
    assert_close(x.grad.numpy(), [6.0, 6.0], what="x.grad")


@pytest.mark.hole("06b.3")
@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "not recorded"])
def test_the_write_of_forward_is_counted(recorded):
    x = leaf([1.0, 2.0]) * 3 if recorded else torch.tensor([1.0, 2.0])
    Doubled.apply(x)
    assert x._version == 2, f"once for mul_, once for mark_dirty: expected 2, got {x._version}"


@pytest.mark.hole("06b.3")
def test_a_tensor_without_gradient_comes_back_itself():
    fixed = torch.tensor([1.0, 2.0])
    result = Doubled.apply(fixed)
    assert result is fixed and fixed.tolist() == [2.0, 4.0]
    assert not fixed.requires_grad and fixed.grad_fn is None


@pytest.mark.hole("06b.3")
def test_a_write_that_bypasses_the_counter_is_noticed():
    """A write through `.data` is not counted: only mark_dirty tells of it."""

    def forward(ctx, x):
        x.data.mul_(2)
        ctx.mark_dirty(x)
        return x

    middle = leaf(3.0) * 1
    square = middle * middle
    make(forward, lambda ctx, g: g * 2).apply(middle)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        square.backward()


@pytest.mark.hole("06b.3")
def test_a_leaf_may_not_be_written_to():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an "
                       "in-place operation."):
        Doubled.apply(leaf([1.0, 2.0]))


@pytest.mark.hole("06b.3")
def test_a_refused_write_changes_nothing():
    node, x = node_of_custom(), leaf([1.0, 2.0])
    x._grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        join_written(node, x, 0, True, 0, 1)
    assert x._version == 0, "a write that is refused is not counted"
    assert x._grad is not None and x._node is None, "a write that is refused changes nothing"


@pytest.mark.hole("06b.3")
def test_a_leaf_may_be_written_to_where_nothing_is_recorded():
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        Doubled.apply(x)
    assert x.tolist() == [2.0, 4.0] and x.is_leaf and x.requires_grad and x._version == 2
    view = x[:1]
    with torch.no_grad():
        Doubled.apply(view)
    assert x.tolist() == [4.0, 4.0], f"expected a write through the view, got {x.tolist()}"


@pytest.mark.hole("06b.3")
def test_such_a_leaf_comes_back_detached():
    x = leaf([1.0, 2.0])
    with torch.no_grad():
        y = Doubled.apply(x)
    shared = y.data_ptr() == x.data_ptr()
    assert shared, "it is to look at the memory that was written to"
    assert not y.requires_grad, "nothing was recorded: it may not require grad"


@pytest.mark.hole("06b.3")
def test_an_earlier_grad_is_dropped():
    node, written = node_of_custom(), leaf([1.0, 2.0]) * 3
    written._grad = torch.ones(2)
    join_written(node, written, 0, True, None, 1)
    assert written._grad is None, f"expected None, got {written._grad}"


@pytest.mark.hole("06b.3")
def test_writing_to_a_view_changes_the_history_of_its_base():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    assert Doubled.apply(view) is view
    assert base.tolist() == [1.0, 4.0, 6.0]
    base.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert_close(x.grad.numpy(), [1.0, 20.0, 200.0], what="x.grad")


@pytest.mark.hole("06b.3")
def test_the_written_one_may_be_any_of_the_inputs():
    x, memory = leaf([5.0]), torch.zeros(3)

    def forward(ctx, x, target):
        ctx.mark_dirty(target)
        return target.copy_(x)

    make(forward, lambda ctx, g: (g, None)).apply(x, memory[1:2])
    assert memory.requires_grad and memory.tolist() == [0.0, 5.0, 0.0]
    (memory * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0]


@pytest.mark.hole("06b.3")
def test_each_written_input_has_the_number_of_its_output():
    def forward(ctx, a, b):
        a.mul_(2)
        b.mul_(3)
        ctx.mark_dirty(a, b)
        return b, a

    x, y = leaf(1.0), leaf(1.0)
    a, b = x * 1, y * 1
    first, second = make(forward, lambda ctx, g, h: (h * 2, g * 3)).apply(a, b)
    assert first is b and second is a
    assert (b.output_nr, a.output_nr) == (0, 1), f"got {b.output_nr} and {a.output_nr}"
    (first * 10 + second * 100).backward()
    assert (x.grad.item(), y.grad.item()) == (200.0, 30.0)


# --- 06b.4: checkpointing ------------------------------------------------------------------------


def run(function, x, kind=Segment):
    """Run a function in a segment; return the segment and the result."""
    segment = kind(function, x)
    return segment, segment.run(x)


def wave(x):
    return x.tanh().sin().exp()


@pytest.mark.hole("06b.4")
def test_tensors_are_numbered_in_their_order():
    segment = Segment(wave, leaf([1.0]))
    numbers = [segment.pack(torch.tensor([1.0])) for _ in range(3)]
    assert numbers == [0, 1, 2], f"expected [0, 1, 2], got {numbers}"


@pytest.mark.hole("06b.4")
def test_segments_count_apart():
    first, second = Segment(wave, leaf([1.0])), Segment(wave, leaf([1.0]))
    assert (first.pack(torch.ones(1)), second.pack(torch.ones(1))) == (0, 0)


@pytest.mark.hole("06b.4")
def test_the_value_is_that_of_the_function():
    x = leaf([0.5, 1.0])
    _, y = run(wave, x)
    assert_close(y.tolist(), wave(x).tolist(), what="the result")


@pytest.mark.hole("06b.4")
def test_the_gradient_is_that_without_checkpoints():
    x, other = leaf([0.5, 1.0]), leaf([0.5, 1.0])
    run(wave, x)[1].sum().backward()
    wave(other).sum().backward()
    assert x.grad.tolist() == other.grad.tolist()


@pytest.mark.hole("06b.4")
def test_no_tensor_of_the_segment_is_kept():
    gc.disable()
    made = []

    def function(x):
        middle = x.tanh()
        made.append(weakref.ref(middle._array))
        return middle.exp() * 2

    segment, y = run(function, leaf([0.5, 1.0]))
    assert made[0]() is None, "the result of the first step is still in memory"
    y.sum().backward()
    assert len(made) == 2 and made[1]() is None, "it is kept after the backward pass"
    assert segment.again == {}, f"still there: {sorted(segment.again)}"


@pytest.mark.hole("06b.4")
def test_the_function_runs_once_more_for_a_backward_pass():
    calls = []
    _, y = run(lambda x: calls.append(1) or wave(x), leaf([0.5]))
    assert len(calls) == 1
    y.backward()
    assert len(calls) == 2, f"expected one run more, got {len(calls) - 1}"


@pytest.mark.hole("06b.4")
def test_a_second_backward_pass_computes_again():
    x, calls = leaf([0.5]), []
    _, y = run(lambda x: calls.append(1) or wave(x), x)
    y.backward(retain_graph=True)
    first = x.grad.item()
    y.backward()
    assert len(calls) == 3 and x.grad.item() == 2 * first


@pytest.mark.hole("06b.4")
def test_a_tensor_is_given_out_by_its_number_and_forgotten():
    x = leaf([0.5])
    segment, _ = run(lambda x: x.exp() * x.tanh(), x)
    segment.compute_again()
    numbers = sorted(segment.again)
    assert numbers == [0, 1, 2, 3], f"four tensors are saved; got numbers {numbers}"
    assert_close(segment.unpack(0).tolist(), np.exp([0.5]), what="tensor 0")
    assert_close(segment.unpack(1).tolist(), np.tanh([0.5]), what="tensor 1")
    assert 0 not in segment.again and 1 not in segment.again
    assert sorted(segment.again) == [2, 3], f"the others stay, got {sorted(segment.again)}"


@pytest.mark.hole("06b.4")
def test_a_tensor_that_is_asked_for_twice_is_computed_again():
    segment, _ = run(lambda x: x.exp() * x.tanh(), leaf([0.5]))
    segment.compute_again()
    for _ in range(2):
        assert_close(segment.unpack(1).tolist(), np.tanh([0.5]), what="tensor 1")
    left = sorted(segment.again)
    assert left == [0, 2, 3], f"all were computed again, and 1 is given out; left are {left}"


@pytest.mark.hole("06b.4")
def test_it_is_computed_again_where_nothing_is_recorded():
    x = leaf([0.5])
    segment, _ = run(wave, x)
    with torch.no_grad():
        segment.compute_again()
        assert not torch.is_grad_enabled(), "recording stays on"
    assert len(segment.again) == 3, f"expected 3 tensors, got {len(segment.again)}"


@pytest.mark.hole("06b.4")
def test_the_second_run_leaves_no_graph():
    x = leaf([0.5])
    segment, _ = run(wave, x)
    segment.compute_again()
    kept = [segment.again[number] for number in sorted(segment.again)]
    assert [t.grad_fn for t in kept] == [None] * 3, "keep tensors without their history"


@pytest.mark.hole("06b.4")
def test_the_gradient_of_the_input_goes_on():
    x = leaf([0.5, 1.0])
    y = x * 2
    run(wave, y)[1].sum().backward()
    other = leaf([0.5, 1.0])
    wave(other * 2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == other.grad.tolist()


@pytest.mark.hole("06b.4")
def test_an_input_that_was_written_to_is_refused():
    y = leaf([0.5]) * 1
    _, result = run(wave, y)
    y.data.add_(0)
    torch.autograd.graph.increment_version(y)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        result.backward()


@pytest.mark.hole("06b.4")
def test_sixty_four_steps_in_eight_segments():
    alive, peak, calls = set(), [0], [0]

    def step(x):
        calls[0] += 1
        y, number = x.tanh(), calls[0]
        alive.add(number)
        weakref.finalize(y._array, alive.discard, number)
        peak[0] = max(peak[0], len(alive))
        return y

    def eight(x):
        for _ in range(8):
            x = step(x)
        return x

    x = leaf([0.5])
    y = x
    for _ in range(8):
        y = Segment(eight, y).run(y)
    y.backward()
    assert (peak[0], calls[0]) == (16, 128), f"expected 16 and 128, got {peak[0]} and {calls[0]}"


# --- 06b.5: the same random numbers --------------------------------------------------------------


def dropout(x):
    """Keep half of the elements, doubled."""
    return x * (torch.rand(x.shape) < 0.5).to(x.dtype) * 2


def with_dropout(x):
    return dropout(x.tanh()).exp()


@pytest.mark.hole("06b.5")
def test_both_runs_draw_the_same_numbers():
    drawn = []

    def function(x):
        drawn.append(torch.rand(4).tolist())
        return x.exp()

    torch.manual_seed(5)
    run(function, leaf([0.5]), RandomSegment)[1].backward()
    assert len(drawn) == 2 and drawn[0] == drawn[1], f"two runs drew {drawn}"


@pytest.mark.hole("06b.5")
def test_the_gradient_with_dropout_is_that_without_checkpoints():
    found = []
    for kind in (None, RandomSegment):
        x = leaf([0.1 * i for i in range(16)])
        torch.manual_seed(3)
        y = with_dropout(x) if kind is None else run(with_dropout, x, kind)[1]
        torch.rand(5)
        y.sum().backward()
        found.append(x.grad.tolist())
    assert found[0] == found[1], "the second run drew another mask"


@pytest.mark.hole("06b.5")
def test_numbers_to_come_stay_what_they_were():
    torch.manual_seed(1)
    with_dropout(leaf([0.5] * 4))
    torch.rand(5)
    expected = torch.rand(3).tolist()
    torch.manual_seed(1)
    _, y = run(with_dropout, leaf([0.5] * 4), RandomSegment)
    torch.rand(5)
    y.sum().backward()
    assert torch.rand(3).tolist() == expected, "a backward pass changed the numbers to come"


@pytest.mark.hole("06b.5")
def test_the_state_comes_back_after_an_exception():
    calls = []

    def failing(x):
        calls.append(torch.rand(2))
        if len(calls) == 2:
            raise ValueError("no memory")
        return x.exp()

    torch.manual_seed(1)
    _, y = run(failing, leaf([0.5]), RandomSegment)
    torch.rand(3)
    before = torch.get_rng_state().tolist()
    with pytest.raises(ValueError, match="no memory"):
        y.backward()
    assert torch.get_rng_state().tolist() == before, "the state of the first run is still set"


@pytest.mark.hole("06b.5")
def test_a_second_pass_draws_the_same_numbers_again():
    x, drawn = leaf([0.5]), []

    def function(x):
        drawn.append(torch.rand(2).tolist())
        return x.exp()

    _, y = run(function, x, RandomSegment)
    y.backward(retain_graph=True)
    y.backward()
    assert drawn == [drawn[0]] * 3, f"three runs drew {drawn}"


# --- 06b.6: a backward that is differentiated once -----------------------------------------------


TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


def cube(backward=lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2):
    """Return a Function that cubes, with a marked backward."""
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    return make(forward, once_differentiable(backward))


@pytest.mark.hole("06b.6")
def test_the_first_derivative_is_that_of_the_backward():
    x = leaf([2.0, -1.0])
    cube().apply(x).sum().backward()
    assert_close(x.grad, [12.0, 3.0])
    (slope,) = grad((cube().apply(x) * x).sum(), x, create_graph=True)
    assert_close(slope.detach(), [32.0, -4.0])


@pytest.mark.hole("06b.6")
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_backward_is_never_recorded(create_graph):
    modes, x = [], leaf([2.0])

    def backward(ctx, g):
        modes.append(grad_mode.get())
        return g * 2

    grad((cube(backward).apply(x) * x).sum(), x, create_graph=create_graph)
    assert modes == [False], "the backward runs while a graph is recorded"


@pytest.mark.hole("06b.6")
def test_a_second_derivative_raises_when_its_gradient_arrives():
    x = leaf([2.0])
    (slope,) = grad((cube().apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError) as error:
        slope.sum().backward()
    assert str(error.value) == TWICE


@pytest.mark.hole("06b.6")
def test_other_paths_keep_their_second_derivative():
    """The error waits on one path of the graph; a gradient on another one may pass."""
    x, other = leaf([2.0]), leaf([3.0])
    (slope,) = grad((cube().apply(x) * x + other**3).sum(), x, create_graph=True)
    (side,) = grad((cube().apply(x) * x).sum() + (other**3).sum(), other, create_graph=True)
    side.sum().backward()
    assert_close(other.grad, [18.0])
    assert slope.requires_grad


@pytest.mark.hole("06b.6")
def test_without_a_graph_of_the_gradient_there_is_no_error_to_wait_for():
    x = leaf([2.0])
    (slope,) = grad(cube().apply(x).sum(), x, create_graph=True)
    assert not slope.requires_grad, "the gradient that came in requires no grad"
    (slope,) = grad((cube().apply(x) * x).sum(), x)
    assert not slope.requires_grad, "no graph was asked for"


@pytest.mark.hole("06b.6")
@pytest.mark.parametrize("weights", [(True, False), (False, True), (True, True)])
def test_one_gradient_that_requires_grad_is_enough(weights):
    x = leaf([1.0, 2.0])
    function = make(lambda ctx, x: (x * 2, x * 3),
                    once_differentiable(lambda ctx, g, h: g * 2 + h * 3))
    outputs = function.apply(x)
    total = sum((y * (x if mine else 1)).sum() for y, mine in zip(outputs, weights, strict=True))
    (slope,) = grad(total, x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope.sum().backward()


@pytest.mark.hole("06b.6")
def test_one_result_stays_a_tensor_and_several_a_tuple():
    g = leaf([1.0, 2.0])
    single = once_differentiable(lambda ctx, g: g * 2)(None, g)
    assert isinstance(single, torch.Tensor) and single.tolist() == [2.0, 4.0]
    first, absent, last = once_differentiable(lambda ctx, g: (g * 2, None, g * 3))(None, g)
    assert absent is None, "a missing gradient stays None"
    assert (first.tolist(), last.tolist()) == ([2.0, 4.0], [3.0, 6.0])


@pytest.mark.hole("06b.6")
def test_a_tensor_of_the_backward_is_not_changed():
    kept = torch.tensor([1.0, 2.0])
    result = once_differentiable(lambda ctx, g: kept)(None, leaf([1.0, 2.0]))
    assert result.requires_grad
    assert not kept.requires_grad, "a tensor that the backward only returned was marked"


@pytest.mark.hole("06b.6")
def test_the_wrapper_is_called_like_the_backward():
    def backward(ctx, g):
        """Twice the gradient."""
        return g * 2

    wrapped = once_differentiable(backward)
    assert (wrapped.__name__, wrapped.__doc__) == ("backward", "Twice the gradient.")
