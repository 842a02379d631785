"""Stage 01: what `Function` does around the forward and the backward that a user writes."""

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.functions.outputs import join_written, keep

grad_mode = torch._state.grad_enabled


@pytest.fixture(autouse=True)
def modes_left_alone():
    yield
    grad_mode.set(True)
    gc.enable()


@contextmanager
def nothing_recorded():
    """Switch recording off without the module of a later stage."""
    grad_mode.set(False)
    try:
        yield
    finally:
        grad_mode.set(True)


def make(forward, backward=None, setup_context=None):
    """Return a Function of the given functions, called Custom."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if backward is None:
        del body["backward"]
    if setup_context is not None:
        body["setup_context"] = staticmethod(setup_context)
    return type("Custom", (Function,), body)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


# --- 01.1: forward -------------------------------------------------------------------------------


@pytest.mark.hole("01.1")
def test_the_value_is_what_forward_returned():
    y = make(lambda ctx, x: x * 3).apply(leaf([1.0, 2.0]))
    assert isinstance(y, torch.Tensor), f"expected a Tensor, got a {type(y).__name__}"
    assert_close(y.tolist(), [3.0, 6.0], what="the result")


@pytest.mark.hole("01.1")
def test_the_result_points_at_a_node_named_after_the_class():
    y = make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert y.requires_grad, "the result has to require grad"
    assert y.grad_fn.name() == "CustomBackward"
    assert not y.is_leaf


@pytest.mark.hole("01.1")
def test_the_operations_inside_forward_are_not_recorded():
    seen = []

    def forward(ctx, x):
        inside = x * x
        seen.append((grad_mode.get(), inside.requires_grad))
        return inside

    make(forward).apply(leaf(3.0))
    assert seen == [(False, False)], f"inside forward, mode and requires_grad were {seen[0]}"


@pytest.mark.hole("01.1")
def test_recording_is_on_again_after_forward():
    make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert grad_mode.get(), "recording has to be on again after forward"


@pytest.mark.hole("01.1")
@pytest.mark.parametrize("before", [True, False], ids=["on", "off"])
def test_an_exception_in_forward_leaves_the_mode_as_it_was(before):
    def forward(ctx, x):
        raise KeyError("broken")

    grad_mode.set(before)
    with pytest.raises(KeyError, match="broken"):
        make(forward)._record((leaf(1.0),), {})  # `apply` puts the mode back itself
    assert grad_mode.get() is before, f"the mode was {before} before and is {grad_mode.get()}"


@pytest.mark.hole("01.1")
def test_the_mode_that_was_off_stays_off():
    grad_mode.set(False)
    make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert not grad_mode.get()


def node_of_several():
    """Return the node of a call with a leaf, a note, a constant, a result; its ends."""
    x, fixed, middle = leaf(1.0), torch.tensor(3.0), leaf(2.0) * 2
    y = make(lambda ctx, *args: args[0] + args[2] + args[3]).apply(x, "note", fixed, middle)
    return y.grad_fn, x, middle


@pytest.mark.hole("01.1")
def test_there_is_an_edge_for_each_tensor_and_for_nothing_else():
    count = len(node_of_several()[0].next_functions)
    assert count == 3, f"three tensors came in, but there are {count} edges"


@pytest.mark.hole("01.1")
def test_the_edges_are_in_the_order_of_the_arguments():
    node, x, middle = node_of_several()
    (first, _), *_, (last, _) = node.next_functions
    assert getattr(first, "variable", None) is x, "the first edge leads to the first tensor, a leaf"
    assert last is middle.grad_fn, "the last edge leads to the node of the last tensor"


@pytest.mark.hole("01.1")
def test_a_tensor_without_gradient_has_an_edge_that_leads_nowhere():
    node, *_ = node_of_several()
    assert node.next_functions[1] == (None, 0), "a tensor that needs no gradient has (None, 0)"


@pytest.mark.hole("01.1")
def test_an_edge_keeps_which_output_its_tensor_was():
    first, second = leaf([1.0, 2.0]).unbind()
    y = make(lambda ctx, a, b: a + b).apply(second, first)
    assert [index for _, index in y.grad_fn.next_functions] == [1, 0]


@pytest.mark.hole("01.1")
def test_needs_input_grad_has_an_item_for_every_argument():
    seen = []

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return args[0] * 2

    make(forward).apply(leaf(1.0), 3, torch.tensor(1.0), None, leaf(2.0))
    assert tuple(seen[0]) == (True, False, False, False, True), f"got {seen[0]}"


@pytest.mark.hole("01.1")
def test_are_tensors_has_an_item_for_every_argument():
    seen = []

    def forward(ctx, *args):
        seen.append(ctx._are_tensors)
        return args[0] * 2

    make(forward).apply(leaf(1.0), 3, torch.tensor(1.0), None, leaf(2.0))
    assert tuple(seen[0]) == (True, False, True, False, True), f"got {seen[0]}"


@pytest.mark.hole("01.1")
def test_what_is_set_where_nothing_is_recorded():
    seen = []

    def forward(ctx, *args):
        seen.append((ctx._are_tensors, ctx.needs_input_grad))
        return args[0] * 2

    Custom = make(forward)
    Custom.apply(torch.tensor(1.0), 3)
    with nothing_recorded():
        Custom.apply(leaf(1.0), 3)
    assert [tuple(map(tuple, each)) for each in seen] == [
        ((True, False), (False, False)), ((True, False), (True, False))], f"got {seen}"


@pytest.mark.hole("01.1")
def test_the_context_of_forward_is_the_node():
    seen = []

    def forward(ctx, x):
        ctx.note = "kept"
        seen.append(ctx)
        return x * 2

    y = make(forward).apply(leaf(1.0))
    assert y.grad_fn.note == "kept"
    assert y.grad_fn is seen[0]


@pytest.mark.hole("01.1")
def test_each_call_has_a_context_of_its_own():
    def forward(ctx, x, note):
        ctx.note = note
        return x * 2

    Custom = make(forward)
    first, second = Custom.apply(leaf(1.0), "first"), Custom.apply(leaf(1.0), "second")
    assert (first.grad_fn.note, second.grad_fn.note) == ("first", "second")


@pytest.mark.hole("01.1")
def test_nothing_is_recorded_where_no_input_requires_grad():
    y = make(lambda ctx, x, n: x * n).apply(torch.tensor(2.0), 3.0)
    assert not y.requires_grad and y.grad_fn is None
    assert y.item() == 6.0


@pytest.mark.hole("01.1")
def test_nothing_is_recorded_where_the_mode_is_off():
    with nothing_recorded():
        y = make(lambda ctx, x: x * 3).apply(leaf(2.0))
    assert not y.requires_grad and y.grad_fn is None


@pytest.mark.hole("01.1")
def test_the_nodes_are_numbered_in_the_order_of_the_calls():
    Custom = make(lambda ctx, x: x * 3)
    numbers = [Custom.apply(leaf(2.0)).grad_fn._sequence_nr() for _ in range(3)]
    assert numbers[0] < numbers[1] < numbers[2], f"expected growing numbers, got {numbers}"


@pytest.mark.hole("01.1")
def test_a_list_is_one_result_that_is_no_tensor():
    results = make(lambda ctx, x: [x * 2, x * 3]).apply(leaf(1.0))
    assert isinstance(results, list), f"forward returned a list, got a {type(results).__name__}"
    assert [y.requires_grad for y in results] == [False, False], "only a tuple is taken apart"


@pytest.mark.hole("01.1")
def test_one_tensor_is_enough_wherever_it_stands():
    Custom = make(lambda ctx, n, a, b: n * a * b)
    assert Custom.apply(2.0, torch.tensor(3.0), leaf(4.0)).requires_grad
    assert Custom.apply(2.0, leaf(4.0), torch.tensor(3.0)).requires_grad


@pytest.mark.hole("01.1")
def test_keyword_arguments_reach_forward():
    y = make(lambda ctx, x, times=1: x * times).apply(leaf(2.0), times=5)
    assert y.item() == 10.0, f"expected 2 * 5, got {y.item()}"


@pytest.mark.hole("01.1")
def test_several_outputs_come_as_a_tuple():
    outputs = make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0))
    assert isinstance(outputs, tuple), f"expected a tuple, got a {type(outputs).__name__}"
    assert [y.item() for y in outputs] == [2.0, 3.0]


@pytest.mark.hole("01.1")
def test_several_outputs_are_of_one_node():
    outputs = make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0))
    assert outputs[0].grad_fn is outputs[1].grad_fn
    assert [y.output_nr for y in outputs] == [0, 1]


@pytest.mark.hole("01.1")
def test_a_tuple_of_one_stays_a_tuple():
    outputs = make(lambda ctx, x: (x * 2,)).apply(leaf(1.0))
    assert isinstance(outputs, tuple) and len(outputs) == 1, f"got {outputs!r}"
    assert outputs[0].requires_grad, "the one result in the tuple was not joined to the graph"


@pytest.mark.hole("01.1")
def test_what_is_no_tensor_passes_through():
    y, note, nothing = make(lambda ctx, x: (x * 2, "note", None)).apply(leaf(1.0))
    assert (note, nothing) == ("note", None)
    assert y.requires_grad


def with_setup_context():
    """Return x, the result of a call with x and 5, and what `setup_context` was given."""
    seen = []

    def forward(x, factor):
        return x * factor

    def setup_context(ctx, inputs, output):
        seen.append((inputs, output, grad_mode.get()))
        ctx.factor = 7

    x = leaf(2.0)
    y = make(forward, None, setup_context).apply(x, 5)
    assert len(seen) == 1, f"setup_context ran {len(seen)} times"
    return x, y, seen[0]


@pytest.mark.hole("01.1")
def test_forward_has_no_context_beside_setup_context():
    y = with_setup_context()[1]
    assert y.item() == 10.0, f"expected 2 * 5, got {y.item()}"


@pytest.mark.hole("01.1")
def test_setup_context_gets_the_arguments_as_a_tuple():
    x, _, (inputs, _, _) = with_setup_context()
    assert isinstance(inputs, tuple), f"expected a tuple, got a {type(inputs).__name__}"
    assert len(inputs) == 2 and inputs[0] is x and inputs[1] == 5


@pytest.mark.hole("01.1")
def test_setup_context_gets_a_single_output_bare():
    _, _, (_, output, _) = with_setup_context()
    assert isinstance(output, torch.Tensor), f"expected a Tensor, got a {type(output).__name__}"
    assert output.item() == 10.0


@pytest.mark.hole("01.1")
def test_setup_context_runs_unrecorded():
    _, _, (_, _, mode) = with_setup_context()
    assert not mode, "setup_context runs unrecorded, as forward does"


@pytest.mark.hole("01.1")
def test_setup_context_fills_the_node():
    y = with_setup_context()[1]
    assert y.grad_fn.factor == 7, "what setup_context set is not on the node"


@pytest.mark.hole("01.1")
def test_setup_context_gets_all_outputs_as_forward_returned_them():
    seen = []
    make(lambda x: (x * 2, x * 3), None,
         lambda ctx, inputs, output: seen.append(output)).apply(leaf(1.0))
    assert isinstance(seen[0], tuple) and [y.item() for y in seen[0]] == [2.0, 3.0]


@pytest.mark.hole("01.1")
def test_a_function_inside_a_function():
    inner = make(lambda ctx, x: x * 2)
    y = make(lambda ctx, x: inner.apply(x) * 3).apply(leaf(1.0))
    assert y.item() == 6.0
    assert grad_mode.get() and y.requires_grad
    assert len(y.grad_fn.next_functions) == 1


# --- 01.2: backward ------------------------------------------------------------------------------


@pytest.mark.hole("01.2")
def test_backward_is_given_the_gradient():
    seen = []

    def backward(ctx, g):
        seen.append(g.tolist())
        return (g * 7,)

    make(lambda ctx, x: x * 2, backward).apply(leaf([1.0, 2.0])).backward(torch.tensor([1.0, 10.0]))
    assert seen == [[1.0, 10.0]], f"expected [[1, 10]], got {seen}"


@pytest.mark.hole("01.2")
def test_what_backward_returns_in_a_tuple_is_the_gradient():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x * 2, lambda ctx, g: (g * 7,)).apply(x)
    y.backward(torch.tensor([1.0, 10.0]))
    assert_close(x.grad.numpy(), [7.0, 70.0], what="x.grad")


@pytest.mark.hole("01.2")
def test_a_bare_result_is_the_gradient():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x * 2, lambda ctx, g: g * 7).apply(x)
    y.backward(torch.tensor([1.0, 10.0]))
    assert_close(x.grad.numpy(), [7.0, 70.0], what="x.grad")


@pytest.mark.hole("01.2")
def test_arguments_that_are_no_tensors_do_not_shift_the_gradients():
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, n, a, s, b: a * b * n,
             lambda ctx, g: (None, g * 10, None, g * 100)).apply(2, a, "note", b)
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (10.0, 100.0)


@pytest.mark.hole("01.2")
def test_backward_gets_one_argument_for_each_output():
    seen = []

    def backward(ctx, *grads):
        seen.append([g.item() for g in grads])
        return (grads[0] + grads[1],)

    x = leaf(1.0)
    a, b = make(lambda ctx, x: (x * 2, x * 3), backward).apply(x)
    (a * 10 + b * 100).backward()
    assert seen == [[10.0, 100.0]], f"expected [[10, 100]], got {seen}"
    assert x.grad.item() == 110.0


def given_to_backward(materialize):
    """What `backward` is given for 0, None, None; `_zeros` (hole 01.3) makes 10 and the number."""
    seen = []

    def backward(ctx, *grads):
        seen.extend(None if g is None else g.item() for g in grads)
        return grads[0]

    node = make(lambda ctx, x: x * 1, backward).apply(leaf(1.0)).grad_fn
    node.materialize_grads, node._zeros = materialize, lambda index: torch.tensor(10.0 + index)
    node.apply_tensors([torch.tensor(0.0), None, None])
    return seen


@pytest.mark.hole("01.2")
def test_zeros_stand_for_gradients_that_are_missing():
    seen = given_to_backward(True)
    assert seen == [0.0, 11.0, 12.0], f"expected [0, 11, 12], got {seen}"


@pytest.mark.hole("01.2")
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_sequence_that_was_given_is_left_as_it_is(kind):
    node = make(lambda ctx, x: x * 1, lambda ctx, *grads: grads[0]).apply(leaf(1.0)).grad_fn
    node._zeros = lambda index: torch.tensor(10.0 + index)
    given = kind([torch.tensor(0.0), None])
    node.apply_tensors(given)
    assert given[1] is None, f"expected [0, None], got {given}"


@pytest.mark.hole("01.2")
def test_none_stays_none_where_that_was_wished():
    seen = given_to_backward(False)
    assert seen == [0.0, None, None], f"expected [0, None, None], got {seen}"


@pytest.mark.hole("01.2")
def test_the_context_of_backward_is_that_of_forward():
    seen = []

    def forward(ctx, x, factor):
        ctx.factor = factor
        seen.append(ctx)
        return x * factor

    def backward(ctx, g):
        seen.append(ctx)
        return g * ctx.factor, None

    x = leaf(2.0)
    make(forward, backward).apply(x, 5.0).backward()
    assert x.grad.item() == 5.0
    assert seen[0] is seen[1]


@pytest.mark.hole("01.2")
def test_each_tensor_gets_its_own_gradient():
    a, b = leaf(2.0), leaf(3.0)
    make(lambda ctx, a, b: a * b, lambda ctx, g: (g * 10, g * 100)).apply(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (10.0, 100.0)


@pytest.mark.hole("01.2")
def test_none_is_no_gradient():
    a, b = leaf(2.0), leaf(3.0)
    make(lambda ctx, a, b: a * b, lambda ctx, g: (g, None)).apply(a, b).backward()
    assert a.grad.item() == 1.0 and b.grad is None


@pytest.mark.hole("01.2")
def test_none_for_the_first_of_two_tensors():
    a, b = leaf(2.0), leaf(3.0)
    make(lambda ctx, a, b: a * b, lambda ctx, g: (None, g)).apply(a, b).backward()
    assert a.grad is None and b.grad.item() == 1.0, f"got {a.grad} and {b.grad}"


@pytest.mark.hole("01.2")
@pytest.mark.parametrize("results", [1, 2, 3])
def test_nones_at_the_end_may_be_too_many(results):
    x = leaf(2.0)
    make(lambda ctx, x: x * 1,
         lambda ctx, g: (g, None, None, None)[:results]).apply(x).backward()
    assert x.grad.item() == 1.0


def _raises(backward, text, *others):
    x = leaf(2.0)
    y = make(lambda ctx, x, *others: x * 1, backward).apply(x, *others)
    with pytest.raises(RuntimeError, match=text):
        y.backward()
    assert x.grad is None


@pytest.mark.hole("01.2")
@pytest.mark.parametrize(("backward", "got"), [
    pytest.param(lambda ctx, g: (g,), 1, id="(g,)"),
    pytest.param(lambda ctx, g: g, 1, id="g"),
    pytest.param(lambda ctx, g: (), 0, id="()"),
    pytest.param(lambda ctx, g: (g, None, g), 3, id="(g, None, g)"),
    pytest.param(lambda ctx, g: (g, None, g, None), 4, id="(g, None, g, None)"),
])
def test_a_wrong_number_of_gradients_is_refused(backward, got):
    _raises(backward, "function CustomBackward returned an incorrect number of gradients "
            rf"\(expected 2, got {got}\)", 2.0)


@pytest.mark.hole("01.2")
def test_a_gradient_for_what_is_no_tensor_is_refused():
    _raises(lambda ctx, g: (g, None, g), "returned a gradient different than None at position",
            2.0, 3.0)


@pytest.mark.hole("01.2")
@pytest.mark.parametrize("position", [2, 3])
def test_its_position_is_counted_from_one(position):
    _raises(lambda ctx, g: (g, *(g if i == position else None for i in (2, 3))),
            f"function CustomBackward returned a gradient different than None at position "
            f"{position}, but the corresponding forward input was not a Variable", 2.0, 3.0)


@pytest.mark.hole("01.2")
@pytest.mark.parametrize(("wrong", "kind"), [
    pytest.param(1.0, "float", id="a float"), pytest.param([1.0], "list", id="a list"),
    pytest.param("g", "str", id="a str")])
def test_what_is_no_tensor_is_no_gradient(wrong, kind):
    _raises(lambda ctx, g: wrong, rf"expected Variable or None \(got {kind}\)")


@pytest.mark.hole("01.2")
def test_backward_can_be_recorded_itself():
    def forward(ctx, x):
        ctx.x = x
        return x * x * x

    x = leaf(2.0)
    y = make(forward, lambda ctx, g: g * 3 * ctx.x * ctx.x).apply(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (bend,) = torch.autograd.grad(slope, x)
    assert (slope.item(), bend.item()) == (12.0, 12.0)


@pytest.mark.hole("01.2")
def test_grad_coeff_scales_what_comes_back():
    def forward(ctx, x, coeff):
        ctx.coeff = coeff
        return x.view_as(x)

    x = leaf([2.0])
    y = make(forward, lambda ctx, g: (g * ctx.coeff, None)).apply(x, -0.1)
    (y ** 2).sum().backward()
    assert_close(x.grad.numpy(), [-0.4], what="x.grad")


@pytest.mark.hole("01.2")
def test_what_comes_of_it_is_a_list_of_the_gradients():
    node = make(lambda ctx, a, n, b: a * b, lambda ctx, g: (g * 10, None, None)).apply(
        leaf(1.0), 3, leaf(2.0)).grad_fn
    results = node.apply_tensors([torch.tensor(1.0)])
    assert isinstance(results, list), f"expected a list, got a {type(results).__name__}"
    assert len(results) == 2 and results[1] is None, f"two tensors came in, got {results}"


# --- 01.3: missing gradients ---------------------------------------------------------------------


def _three_outputs(materialize=None):
    """Return x, the outputs of a Function with three kinds of them, what its backward was given."""
    seen = []

    def forward(ctx, x):
        if materialize is not None:
            ctx.set_materialize_grads(materialize)
        return x * 1, torch.ones(2, 3, dtype=torch.float64) * x[0].double(), "note"

    def backward(ctx, *grads):
        seen.extend(grads)
        found = [g for g in grads[:2] if g is not None]
        return sum(g.sum().float() for g in found).expand(2) * 1

    x = leaf([1.0, 2.0])
    return x, make(forward, backward).apply(x), seen


@pytest.mark.hole("01.3")
def test_outputs_that_are_no_tensors_have_none():
    _, (first, _, _), seen = _three_outputs()
    first.sum().backward()
    assert seen[2] is None, f"a note has no gradient, expected None, got {seen[2]}"


@pytest.mark.hole("01.3")
def test_without_materializing_there_is_none():
    x, (first, _, _), seen = _three_outputs(False)
    first.backward(torch.tensor([1.0, 1.0]))
    assert seen[1] is None, f"set_materialize_grads(False): expected None, got {seen[1]}"
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.hole("01.3")
@pytest.mark.parametrize("materialize", [None, True],
                         ids=["nothing was said", "set_materialize_grads(True)"])
def test_outputs_that_were_not_used_have_zeros(materialize):
    x, (first, _, _), seen = _three_outputs(materialize)
    first.backward(torch.tensor([1.0, 1.0]))
    assert isinstance(seen[1], torch.Tensor), f"expected zeros, got {seen[1]!r}"
    assert not seen[1].numpy().any(), f"expected zeros, got {seen[1]}"
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.hole("01.3")
def test_the_zeros_have_the_shape_of_their_output():
    _, (first, _, _), seen = _three_outputs()
    first.backward(torch.tensor([1.0, 1.0]))
    assert seen[1].shape == (2, 3), f"expected shape (2, 3), got {tuple(seen[1].shape)}"


@pytest.mark.hole("01.3")
def test_the_zeros_have_the_dtype_of_their_output():
    _, (first, _, _), seen = _three_outputs()
    first.backward(torch.tensor([1.0, 1.0]))
    assert seen[1].dtype == torch.float64, f"expected float64, got {seen[1].dtype}"


@pytest.mark.hole("01.3")
def test_the_first_output_may_be_the_missing_one():
    _, (_, second, _), seen = _three_outputs()
    second.backward(torch.ones(2, 3, dtype=torch.float64))
    assert isinstance(seen[0], torch.Tensor), f"expected zeros, got {seen[0]!r}"
    assert seen[0].tolist() == [0.0, 0.0] and seen[0].dtype == torch.float32, f"got {seen[0]}"


@pytest.mark.hole("01.3")
def test_a_node_behind_one_that_gave_nothing_runs_on_zeros():
    seen = []

    def backward(ctx, g):
        seen.append(g.tolist())
        return g

    x = leaf([1.0, 2.0])
    inner = make(lambda ctx, x: x * 1, backward).apply(x)
    make(lambda ctx, x: x * 1, lambda ctx, g: None).apply(inner).sum().backward()
    assert seen == [[0.0, 0.0]]
    assert x.grad.tolist() == [0.0, 0.0]


@pytest.mark.hole("01.3")
def test_the_choice_belongs_to_one_call():
    _three_outputs(False)
    _, (first, _, _), seen = _three_outputs(None)
    first.sum().backward()
    assert seen[1] is not None, "set_materialize_grads(False) of another call is no concern here"


# --- 01.4: outputs that are not new --------------------------------------------------------------


@pytest.mark.hole("01.4")
def test_an_input_returned_as_it_came_becomes_a_new_tensor():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert y is not x, "the result is the input itself"


@pytest.mark.hole("01.4")
def test_the_input_stays_what_it_was():
    x = leaf([1.0, 2.0])
    make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert x.is_leaf and x.grad_fn is None and x.requires_grad, "the input has to stay a leaf"


@pytest.mark.hole("01.4")
def test_both_have_their_gradients():
    x = leaf([1.0, 2.0])
    y = make(lambda ctx, x: x, lambda ctx, g: g * 10).apply(x)
    assert y.grad_fn.name() == "CustomBackward"
    (y + x).sum().backward()
    assert_close(x.grad.numpy(), [11.0, 11.0], what="x.grad")


def alias_of_a_result():
    """Return a tensor and what a Function that returned it gave."""
    middle = leaf([1.0, 2.0]) * 1
    return middle, make(lambda ctx, x: x, lambda ctx, g: g).apply(middle)


@pytest.mark.hole("01.4")
def test_it_looks_at_the_same_memory():
    middle, y = alias_of_a_result()
    assert y.data_ptr() == middle.data_ptr(), "the values have not to be copied"
    middle.detach().add_(1)
    assert y.tolist() == [2.0, 3.0]


@pytest.mark.hole("01.4")
def test_it_is_a_view_of_the_input():
    middle, y = alias_of_a_result()
    assert y._is_view(), "it is noted as no view"
    assert y._base is middle, "it is a view, but not of the input"


@pytest.mark.hole("01.4")
def test_it_shares_the_version_of_the_input():
    middle, y = alias_of_a_result()
    middle.detach().add_(1)
    assert y._version == middle._version == 1, f"got {y._version} and {middle._version}"


@pytest.mark.hole("01.4")
def test_it_may_not_be_written_to():
    y = make(lambda ctx, x: x, lambda ctx, g: g).apply(leaf([1.0]) * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.add_(1)


@pytest.mark.hole("01.4")
def test_one_without_gradient_may_not_take_on_a_history_by_a_write():
    y = make(lambda ctx, x: x, lambda ctx, g: g).apply(torch.tensor([1.0]))
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.mul_(leaf([2.0]))


@pytest.mark.hole("01.4")
def test_two_inputs_returned_the_other_way_round():
    a, b = leaf(2.0), leaf(3.0)
    first, second = make(lambda ctx, a, b: (b, a), lambda ctx, g, h: (h, g)).apply(a, b)
    (first * 10 + second * 100).backward()
    assert (first.item(), second.item()) == (3.0, 2.0)
    assert (a.grad.item(), b.grad.item()) == (100.0, 10.0)


@pytest.mark.hole("01.4")
def test_an_input_without_gradient_returned_as_it_came():
    fixed = torch.tensor([1.0, 2.0])
    y = make(lambda ctx, x: x).apply(fixed)
    assert y is not fixed, "the result is a tensor of its own"
    assert not y.requires_grad


@pytest.mark.hole("01.4")
def test_what_has_no_gradient_is_not_copied():
    fixed = torch.tensor([1.0, 2.0])
    y = make(lambda ctx, x: x).apply(fixed)
    assert y.data_ptr() == fixed.data_ptr(), "the values have not to be copied"


@pytest.mark.hole("01.4")
def test_an_input_returned_while_nothing_is_recorded():
    x = leaf([1.0, 2.0])
    with nothing_recorded():
        y = make(lambda ctx, x: x).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert not y.requires_grad and y.grad_fn is None


@pytest.mark.hole("01.4")
def test_the_input_goes_on_requiring_grad():
    x = leaf([1.0, 2.0])
    with nothing_recorded():
        make(lambda ctx, x: x).apply(x)
    assert x.requires_grad and x.is_leaf


def _parts(*marked):
    """Return x and three outputs of it, some of which are marked by their numbers."""

    def forward(ctx, x):
        outputs = (x < 2).float(), x * 2, (x > 2).float()
        ctx.mark_non_differentiable(*(outputs[i] for i in marked))
        return outputs

    x = leaf([1.0, 3.0])
    return x, make(forward, lambda ctx, g, h, i: h * 2).apply(x)


@pytest.mark.hole("01.4")
@pytest.mark.parametrize("marked", [(0,), (2,), (0, 2)], ids=["output 0", "output 2", "0 and 2"])
def test_outputs_marked_as_not_differentiable(marked):
    _, outputs = _parts(*marked)
    got = [t.requires_grad for t in outputs]
    assert got == [i not in marked for i in range(3)], f"marked {marked}, requires_grad is {got}"
    assert outputs[marked[0]].grad_fn is None and outputs[marked[0]].is_leaf


@pytest.mark.hole("01.4")
def test_gradients_pass_beside_marked_outputs():
    x, (_, rest, _) = _parts(0, 2)
    rest.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0]


def _input_marked():
    """Return x and what a Function gave that marked it as not differentiable and returned it."""

    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf([3.0])
    return x, make(forward).apply(x)


@pytest.mark.hole("01.4")
def test_an_input_marked_as_not_differentiable():
    _, y = _input_marked()
    assert not y.requires_grad, "marked as not differentiable, but it requires grad"
    assert y.is_leaf


@pytest.mark.hole("01.4")
def test_a_marked_input_stays_what_it_was():
    x, y = _input_marked()
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert x.requires_grad, "the input itself was switched off"


# --- 01.5: saved tensors -------------------------------------------------------------------------


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        (result,) = ctx.saved_tensors
        return g * result


class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class Sigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        s = 1 / (1 + (-x).exp())
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s * (1 - s)


@pytest.mark.hole("01.5")
def test_exp_keeps_its_result():
    x = leaf([0.0, 1.0])
    y = Exp.apply(x)
    y.backward(torch.tensor([1.0, 10.0]))
    assert_close(x.grad.numpy(), np.exp([0.0, 1.0]) * [1.0, 10.0], what="x.grad")


@pytest.mark.hole("01.5")
def test_what_was_saved_comes_back_as_a_tuple():
    for node, count in ((Product.apply(leaf(2.0), leaf(5.0)).grad_fn, 2),
                        (Exp.apply(leaf(1.0)).grad_fn, 1)):
        saved = node.saved_tensors
        assert isinstance(saved, tuple), f"expected a tuple, got a {type(saved).__name__}"
        assert len(saved) == count, f"{count} were saved, {len(saved)} came back"


@pytest.mark.hole("01.5")
def test_a_product_keeps_its_inputs_in_order():
    a, b = leaf(2.0), leaf(5.0)
    y = Product.apply(a, b)
    got = [t.item() for t in y.grad_fn.saved_tensors]
    assert got == [2.0, 5.0], f"expected [2, 5], got {got}"
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)


@pytest.mark.hole("01.5")
def test_a_saved_input_is_that_very_tensor():
    a, b = leaf(2.0), leaf(5.0)
    saved = Product.apply(a, b).grad_fn.saved_tensors
    assert saved[0] is a and saved[1] is b, "an input is saved as the tensor that it was"


@pytest.mark.hole("01.5")
def test_a_saved_input_with_a_history_is_that_tensor_too():
    middle = leaf(2.0) * 1
    y = Product.apply(middle, torch.tensor(5.0))
    (saved, _) = y.grad_fn.saved_tensors
    assert saved is middle
    assert saved.grad_fn.name() == "MulBackward0", f"its grad_fn is {saved.grad_fn.name()}"


@pytest.mark.hole("01.5")
def test_sigmoid_against_differences():
    at, g = np.array([-0.5, -0.4, 1.25, -0.6]), np.array([1.0, 2.0, 3.0, 4.0])
    x = torch.tensor(at, requires_grad=True)
    Sigmoid.apply(x).backward(torch.tensor(g))
    (expected,) = central_difference_vjp(lambda x: 1 / (1 + np.exp(-x)), [at], g)
    assert_close(x.grad.numpy(), expected, what="x.grad")


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("function", [Exp, Sigmoid], ids=["Exp", "Sigmoid"])
def test_what_was_saved_can_be_differentiated_again(function):
    at, g, v = np.array([0.3, -0.7]), np.array([1.0, 2.0]), np.array([5.0, 7.0])
    x = torch.tensor(at, requires_grad=True)
    (slope,) = torch.autograd.grad(function.apply(x), x, torch.tensor(g), create_graph=True)
    (bend,) = torch.autograd.grad(slope, x, torch.tensor(v))

    def plain(x):
        return np.exp(x) if function is Exp else 1 / (1 + np.exp(-x))

    (expected,), _ = second_order_vjp(plain, [at], g, [v])
    assert_close(bend.numpy(), expected, 1e-4, what="the second derivative")


@pytest.mark.hole("01.5")
def test_saved_inputs_can_be_differentiated_again():
    a, b = leaf(2.0), leaf(5.0)
    (by_a,) = torch.autograd.grad(Product.apply(a, b), a, create_graph=True)
    assert by_a.item() == 5.0
    (by_b,) = torch.autograd.grad(by_a, b)
    assert by_b.item() == 1.0


@pytest.mark.hole("01.5")
def test_a_saved_output_comes_back_with_its_place_in_the_graph():
    seen = []

    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    def backward(ctx, g):
        (result,) = ctx.saved_tensors
        seen.append((result.grad_fn is ctx, result.requires_grad))
        return g * result

    make(forward, backward).apply(leaf(1.0)).backward()
    assert seen == [(True, True)]


@pytest.mark.hole("01.5")
def test_an_output_joined_as_an_alias_is_saved_as_that():
    outside = leaf(2.0) * 3

    def forward(ctx, x):
        ctx.save_for_backward(outside)
        return outside

    y = make(forward, lambda ctx, g: g).apply(leaf(1.0))
    (saved,) = y.grad_fn.saved_tensors
    assert saved.grad_fn is y.grad_fn


@pytest.mark.hole("01.5")
def test_none_may_be_saved_and_keeps_its_place():
    def forward(ctx, x, y):
        ctx.save_for_backward(None, x, None, y)
        return x * y

    def backward(ctx, g):
        first, x, second, y = ctx.saved_tensors
        assert first is None and second is None
        return g * y, g * x

    a, b = leaf(2.0), leaf(5.0)
    make(forward, backward).apply(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)


@pytest.mark.hole("01.5")
def test_a_value_from_the_middle_of_forward_may_be_saved():
    def forward(ctx, x):
        middle = x + 1
        ctx.save_for_backward(middle)
        return middle * middle

    x = leaf(2.0)
    make(forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0]).apply(x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.hole("01.5")
def test_saving_again_replaces_what_was_saved():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x + 10)
        return x * 1

    node = make(forward).apply(leaf(1.0)).grad_fn
    assert [t.item() for t in node.saved_tensors] == [11.0]


KINDS = pytest.mark.parametrize(("saved", "position", "kind"), [
    pytest.param((3,), 0, "int", id="an int"),
    pytest.param((None, "x"), 1, "str", id="None and a str")])


@pytest.mark.hole("01.5")
@KINDS
def test_only_tensors_can_be_saved(saved, position, kind):
    def forward(ctx, x):
        ctx.save_for_backward(*saved)
        return x * 1

    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument"):
        make(forward).apply(leaf(1.0))


@pytest.mark.hole("01.5")
@KINDS
def test_the_error_names_position_and_kind(saved, position, kind):
    def forward(ctx, x):
        ctx.save_for_backward(*saved)
        return x * 1

    with pytest.raises(TypeError, match=f"argument {position} is of type {kind}$"):
        make(forward).apply(leaf(1.0))


@pytest.mark.hole("01.5")
def test_writing_to_a_saved_input_is_noticed():
    a, b = leaf(2.0), torch.tensor(5.0)
    y = Product.apply(a, b)
    b.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.backward()


@pytest.mark.hole("01.5")
def test_writing_to_a_saved_output_is_noticed():
    y = Exp.apply(leaf(1.0))
    z = y * 1
    y.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.backward()


@pytest.mark.hole("01.5")
def test_what_was_saved_is_dropped_after_the_backward_pass():
    x = leaf(1.0)
    y = Exp.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@pytest.mark.hole("01.5")
def test_in_forward_mode_the_other_ones_come_back():
    x, other = leaf(1.0), torch.tensor(7.0)
    node = make(lambda ctx, x: ctx.save_for_backward(x) or x * 1).apply(x).grad_fn
    node.saved_for_forward = (other, None)
    got = node.saved_tensors
    node.saved_for_forward = None
    assert got == (other, None), f"expected what `saved_for_forward` holds, got {got}"
    assert node.saved_tensors[0] is x


@pytest.mark.hole("01.5")
def test_retain_graph_keeps_what_was_saved():
    x = leaf(0.0)
    y = Exp.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 2.0


@pytest.mark.hole("01.5")
def test_a_saved_output_is_no_reference_cycle():
    gc.disable()
    y = Exp.apply(leaf([1.0, 2.0]))
    gone = weakref.ref(y.grad_fn)
    del y
    assert gone() is None, "the node is still alive: it holds its own output, which holds the node"


@pytest.mark.hole("01.5")
def test_a_saved_input_that_became_an_output_is_no_reference_cycle():
    """An input that was written to and marked dirty is no new output, so it is not joined anew."""
    y = Exp.apply(leaf([1.0, 2.0]))
    y.grad_fn.to_save = (y,)
    (saved,) = keep(y.grad_fn, {})
    assert saved.tensor is not y, "the node holds a tensor of its own, which holds the node"


@pytest.mark.hole("01.5")
def test_saving_where_nothing_is_recorded_does_no_harm():
    assert Exp.apply(torch.tensor(0.0)).item() == 1.0
    with nothing_recorded():
        y = Exp.apply(leaf(0.0))
    assert y.item() == 1.0 and y.grad_fn is None


# --- 01.6: writing to inputs ---------------------------------------------------------------------


def _doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


Doubled = make(_doubled, lambda ctx, g: g * 2)


@pytest.mark.hole("01.6")
def test_the_written_tensor_itself_comes_back():
    middle = leaf([1.0, 2.0]) * 3
    result = Doubled.apply(middle)
    assert result is middle, "another tensor came back than the one that was written to"
    assert middle.tolist() == [6.0, 12.0]


@pytest.mark.hole("01.6")
def test_the_written_tensor_has_the_new_history():
    x = leaf([1.0, 2.0])
    middle = x * 3
    Doubled.apply(middle)
    assert middle.grad_fn.name() == "CustomBackward", f"it is {middle.grad_fn.name()}"
    middle.sum().backward()
    assert_close(x.grad.numpy(), [6.0, 6.0], what="x.grad")


@pytest.mark.hole("01.6")
def test_the_write_is_counted():
    middle = leaf([1.0, 2.0]) * 3
    before = middle._version
    Doubled.apply(middle)
    assert middle._version == before + 2, "once for mul_, once for mark_dirty"


@pytest.mark.hole("01.6")
def test_the_write_is_counted_where_nothing_is_recorded():
    fixed = torch.tensor([1.0, 2.0])
    Doubled.apply(fixed)
    assert fixed._version == 2, f"expected version 2, got {fixed._version}"


@pytest.mark.hole("01.6")
def test_a_tensor_without_gradient_comes_back_itself():
    fixed = torch.tensor([1.0, 2.0])
    result = Doubled.apply(fixed)
    assert result is fixed and fixed.tolist() == [2.0, 4.0]
    assert not fixed.requires_grad and fixed.grad_fn is None


@pytest.mark.hole("01.6")
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


@pytest.mark.hole("01.6")
def test_a_leaf_may_not_be_written_to():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an "
                       "in-place operation."):
        Doubled.apply(leaf([1.0, 2.0]))


@pytest.mark.hole("01.6")
def test_a_leaf_may_be_written_to_where_nothing_is_recorded():
    x = leaf([1.0, 2.0])
    with nothing_recorded():
        Doubled.apply(x)
    assert x.tolist() == [2.0, 4.0] and x.is_leaf and x.requires_grad and x._version == 2


@pytest.mark.hole("01.6")
def test_such_a_leaf_comes_back_detached():
    x = leaf([1.0, 2.0])
    with nothing_recorded():
        y = Doubled.apply(x)
    assert y.data_ptr() == x.data_ptr() and not y.requires_grad, "nothing was recorded"


@pytest.mark.hole("01.6")
def test_an_earlier_grad_is_dropped():
    node, written = make(lambda ctx, x: x)._backward_cls(), leaf([1.0, 2.0]) * 3
    written._grad = torch.ones(2)
    join_written(node, written, 0, True, None, 1)
    assert written._grad is None, f"expected None, got {written._grad}"


@pytest.mark.hole("01.6")
def test_the_node_knows_shape_and_dtype_of_what_was_written():
    node, written = make(lambda ctx, x: x)._backward_cls(), leaf([1.0, 2.0]) * 3
    join_written(node, written, 0, True, None, 1)
    assert (node.shape, node.dtype) == ((2,), np.float32), f"got {node.shape} and {node.dtype}"


@pytest.mark.hole("01.6")
# older workspaces do not warn
@pytest.mark.filterwarnings("ignore:.*received a tensor that was not an input")
def test_what_was_written_to_may_be_no_input():
    memory, x = torch.zeros(1), leaf([2.0])

    def forward(ctx, x):
        ctx.mark_dirty(memory)
        return memory.copy_(x)

    y = make(forward, lambda ctx, g: g * 3).apply(x)
    assert y is memory and y.requires_grad, "the tensor that was written to requires grad now"
    assert y.grad_fn.name() == "CustomBackward"
    y.backward()
    assert x.grad.tolist() == [3.0]


@pytest.mark.hole("01.6")
def test_what_is_no_input_has_the_number_of_its_output():
    node, written = make(lambda ctx, x: x)._backward_cls(), torch.zeros(2)
    join_written(node, written, 1, True, None, 2)
    assert written._node is node and written._index == 1, f"it is output {written._index}"


@pytest.mark.hole("01.6")
def test_writing_to_a_view_changes_the_history_of_its_base():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    assert Doubled.apply(view) is view
    assert base.tolist() == [1.0, 4.0, 6.0]
    base.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert_close(x.grad.numpy(), [1.0, 20.0, 200.0], what="x.grad")


@pytest.mark.hole("01.6")
def test_the_written_one_may_be_any_of_the_inputs():
    x, memory = leaf([5.0]), torch.zeros(3)

    def forward(ctx, x, target):
        ctx.mark_dirty(target)
        return target.copy_(x)

    make(forward, lambda ctx, g: (g, None)).apply(x, memory[1:2])
    assert memory.requires_grad and memory.tolist() == [0.0, 5.0, 0.0]
    (memory * 3).sum().backward()
    assert x.grad.tolist() == [3.0]


def _both_written():
    """Return two leaves, results of theirs that a Function wrote to, and what it returned."""

    def forward(ctx, a, b):
        a.mul_(2)
        b.mul_(3)
        ctx.mark_dirty(a, b)
        return b, a

    x, y = leaf(1.0), leaf(1.0)
    a, b = x * 1, y * 1
    return x, y, a, b, make(forward, lambda ctx, g, h: (h * 2, g * 3)).apply(a, b)


@pytest.mark.hole("01.6")
def test_two_inputs_may_be_written_to():
    _, _, a, b, (first, second) = _both_written()
    assert first is b and second is a
    assert a.grad_fn.name() == b.grad_fn.name() == "CustomBackward"


@pytest.mark.hole("01.6")
def test_each_written_input_has_the_number_of_its_output():
    x, y, a, b, (first, second) = _both_written()
    assert (b.output_nr, a.output_nr) == (0, 1), f"got {b.output_nr} and {a.output_nr}"
    (first * 10 + second * 100).backward()
    assert (x.grad.item(), y.grad.item()) == (200.0, 30.0)


@pytest.mark.hole("01.6")
def test_what_was_marked_has_to_be_returned():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match="marked as dirty during the forward method were not "
                       "returned as output"):
        make(forward).apply(leaf(1.0) * 1)
