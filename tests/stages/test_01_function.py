"""Stage 01: what `Function` does around the forward and the backward that a user writes."""

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function_outputs import join_written

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
    assert y.tolist() == [3.0, 6.0], f"expected [3, 6], got {y.tolist()}"
    assert y.shape == (2,)


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
    assert grad_mode.get(), "recording has to be on again after forward"


@pytest.mark.hole("01.1")
@pytest.mark.parametrize("before", [True, False])
def test_an_exception_in_forward_leaves_the_mode_as_it_was(before):
    def forward(ctx, x):
        raise KeyError("broken")

    grad_mode.set(before)
    with pytest.raises(KeyError, match="broken"):
        make(forward).apply(leaf(1.0))
    assert grad_mode.get() is before, f"the mode was {before} before and is {grad_mode.get()}"


@pytest.mark.hole("01.1")
def test_the_mode_that_was_off_stays_off():
    grad_mode.set(False)
    make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert not grad_mode.get()


@pytest.mark.hole("01.1")
def test_each_tensor_among_the_arguments_has_an_edge_in_order():
    x, w, fixed = leaf(1.0), leaf(2.0), torch.tensor(3.0)
    middle = w * 2
    y = make(lambda ctx, *args: args[0] + args[2] + args[3]).apply(x, "note", fixed, middle)
    nodes = [node for node, _ in y.grad_fn.next_functions]
    assert len(nodes) == 3, f"three tensors came in, but there are {len(nodes)} edges"
    assert nodes[0].variable is x
    assert nodes[1] is None, "a tensor that needs no gradient has the edge (None, 0)"
    assert nodes[2] is middle.grad_fn


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
    y = make(lambda ctx, n, a, b: n * a * b).apply(2.0, torch.tensor(3.0), leaf(4.0))
    assert y.requires_grad and y.item() == 24.0


@pytest.mark.hole("01.1")
def test_keyword_arguments_reach_forward():
    y = make(lambda ctx, x, times=1: x * times).apply(leaf(2.0), times=5)
    assert y.item() == 10.0, f"expected 2 * 5, got {y.item()}"


@pytest.mark.hole("01.1")
def test_several_outputs_come_as_a_tuple_of_one_node():
    outputs = make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0))
    assert isinstance(outputs, tuple) and len(outputs) == 2
    assert [y.item() for y in outputs] == [2.0, 3.0]
    assert outputs[0].grad_fn is outputs[1].grad_fn
    assert [y.output_nr for y in outputs] == [0, 1]


@pytest.mark.hole("01.1")
def test_a_tuple_of_one_stays_a_tuple():
    outputs = make(lambda ctx, x: (x * 2,)).apply(leaf(1.0))
    assert isinstance(outputs, tuple) and len(outputs) == 1


@pytest.mark.hole("01.1")
def test_what_is_no_tensor_passes_through():
    y, note, nothing = make(lambda ctx, x: (x * 2, "note", None)).apply(leaf(1.0))
    assert (note, nothing) == ("note", None)
    assert y.requires_grad


@pytest.mark.hole("01.1")
def test_forward_without_a_context_and_setup_context():
    seen = []

    def forward(x, factor):
        return x * factor

    def setup_context(ctx, inputs, output):
        seen.append((inputs, output, grad_mode.get()))
        ctx.factor = inputs[1]

    x = leaf(2.0)
    y = make(forward, None, setup_context).apply(x, 5)
    ((inputs, output, mode),) = seen
    assert isinstance(inputs, tuple) and inputs[0] is x and inputs[1] == 5
    assert isinstance(output, torch.Tensor) and output.item() == 10.0
    assert not mode, "setup_context runs unrecorded, as forward does"
    assert y.grad_fn.factor == 5 and y.item() == 10.0


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
def test_backward_is_given_the_gradient_and_its_result_is_the_gradient():
    seen = []

    def backward(ctx, g):
        seen.append(g.tolist())
        return g * 7

    x = leaf([1.0, 2.0])
    make(lambda ctx, x: x * 2, backward).apply(x).backward(torch.tensor([1.0, 10.0]))
    assert seen == [[1.0, 10.0]]
    assert x.grad.tolist() == [7.0, 70.0], f"expected [7, 70], got {x.grad.tolist()}"


@pytest.mark.hole("01.2")
def test_backward_gets_one_argument_for_each_output():
    seen = []

    def backward(ctx, *grads):
        seen.append([g.item() for g in grads])
        return grads[0] + grads[1]

    x = leaf(1.0)
    a, b = make(lambda ctx, x: (x * 2, x * 3), backward).apply(x)
    (a * 10 + b * 100).backward()
    assert seen == [[10.0, 100.0]]
    assert x.grad.item() == 110.0


@pytest.mark.hole("01.2")
@pytest.mark.parametrize(("materialize", "expected"), [(True, [0.0, 11.0, 12.0]),
                                                       (False, [0.0, None, None])])
def test_zeros_stand_for_gradients_that_are_missing(materialize, expected):
    """What `_zeros` makes is hole 01.3: here it is 10 and the output's number."""
    seen = []

    def backward(ctx, *grads):
        seen.extend(None if g is None else g.item() for g in grads)
        return grads[0]

    node = make(lambda ctx, x: x * 1, backward).apply(leaf(1.0)).grad_fn
    node.materialize_grads, node._zeros = materialize, lambda index: torch.tensor(10.0 + index)
    node.apply_tensors([torch.tensor(0.0), None, None])
    assert seen == expected, f"materialize_grads is {materialize}: expected {expected}, got {seen}"


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
def test_arguments_that_are_no_tensors_do_not_shift_the_gradients():
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, n, a, s, b: a * b * n,
             lambda ctx, g: (None, g * 10, None, g * 100)).apply(2, a, "note", b)
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (10.0, 100.0)


@pytest.mark.hole("01.2")
def test_none_is_no_gradient():
    a, b = leaf(2.0), leaf(3.0)
    make(lambda ctx, a, b: a * b, lambda ctx, g: (g, None)).apply(a, b).backward()
    assert a.grad.item() == 1.0 and b.grad is None


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
    (lambda ctx, g: (g,), 1),
    (lambda ctx, g: g, 1),
    (lambda ctx, g: (), 0),
    (lambda ctx, g: (g, None, g), 3),
    (lambda ctx, g: (g, None, g, None), 4),
])
def test_a_wrong_number_of_gradients_is_refused(backward, got):
    _raises(backward, "function CustomBackward returned an incorrect number of gradients "
            rf"\(expected 2, got {got}\)", 2.0)


@pytest.mark.hole("01.2")
def test_a_gradient_for_what_is_no_tensor_is_refused():
    _raises(lambda ctx, g: (g, None, g),
            "function CustomBackward returned a gradient different than None at position 3, but "
            "the corresponding forward input was not a Variable", 2.0, 3.0)


@pytest.mark.hole("01.2")
@pytest.mark.parametrize(("wrong", "kind"), [
    (1.0, "float"), ([1.0], "list"), ("g", "str")])
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
@pytest.mark.parametrize("materialize", [None, True])
def test_outputs_that_were_not_used_have_zeros(materialize):
    x, (first, _, _), seen = _three_outputs(materialize)
    first.backward(torch.tensor([1.0, 1.0]))
    assert seen[0].tolist() == [1.0, 1.0]
    assert isinstance(seen[1], torch.Tensor), f"expected zeros, got {seen[1]}"
    assert seen[1].tolist() == [[0.0] * 3] * 2, f"expected zeros of (2, 3), got {seen[1]}"
    assert seen[1].dtype == torch.float64, f"expected float64, got {seen[1].dtype}"
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.hole("01.3")
def test_the_first_output_may_be_the_missing_one():
    _, (_, second, _), seen = _three_outputs()
    second.backward(torch.ones(2, 3, dtype=torch.float64))
    assert seen[0].tolist() == [0.0, 0.0] and seen[0].dtype == torch.float32
    assert seen[1].tolist() == [[1.0] * 3] * 2


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
    assert y is not x
    assert x.is_leaf and x.grad_fn is None, "the input has to stay a leaf"
    assert y.grad_fn.name() == "CustomBackward"
    (y + x).sum().backward()
    assert x.grad.tolist() == [11.0, 11.0], f"expected [11, 11], got {x.grad.tolist()}"


@pytest.mark.hole("01.4")
def test_it_looks_at_the_same_memory():
    x = leaf([1.0, 2.0])
    middle = x * 1
    y = make(lambda ctx, x: x, lambda ctx, g: g).apply(middle)
    assert y.data_ptr() == middle.data_ptr(), "the values have not to be copied"
    assert y._is_view() and y._base is middle
    middle.detach().add_(1)
    assert y.tolist() == [2.0, 3.0]
    assert y._version == middle._version == 1, "a view shares its base's version"


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
    assert y.data_ptr() == fixed.data_ptr(), "the values have not to be copied"
    assert not y.requires_grad


@pytest.mark.hole("01.4")
def test_an_input_returned_while_nothing_is_recorded():
    x = leaf([1.0, 2.0])
    with nothing_recorded():
        y = make(lambda ctx, x: x).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert not y.requires_grad and y.grad_fn is None
    assert x.requires_grad and x.is_leaf


@pytest.mark.hole("01.4")
def test_outputs_marked_as_not_differentiable():
    def forward(ctx, x):
        low, high, rest = (x < 2).float(), (x > 2).float(), x * 2
        ctx.mark_non_differentiable(low, high)
        return low, rest, high

    x = leaf([1.0, 3.0])
    low, rest, high = make(forward, lambda ctx, g, h, i: h * 2).apply(x)
    marked = [t.requires_grad for t in (low, rest, high)]
    assert marked == [False, True, False], f"requires_grad is {marked}"
    assert low.grad_fn is None and low.is_leaf
    rest.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0]


@pytest.mark.hole("01.4")
def test_an_input_marked_as_not_differentiable():
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf([3.0])
    y = make(forward).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert not y.requires_grad, "marked as not differentiable, but it requires grad"
    assert x.requires_grad
    assert y.is_leaf


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
def test_a_product_keeps_its_inputs_in_order():
    a, b = leaf(2.0), leaf(5.0)
    y = Product.apply(a, b)
    saved = y.grad_fn.saved_tensors
    assert isinstance(saved, tuple) and len(saved) == 2
    assert saved[0] is a and saved[1] is b, "an input is saved as the tensor that it was"
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)


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
@pytest.mark.parametrize("function", [Exp, Sigmoid])
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


@pytest.mark.hole("01.5")
@pytest.mark.parametrize(("saved", "text"), [
    ((3,), "save_for_backward can only save variables, but argument 0 is of type int"),
    ((None, "x"), "save_for_backward can only save variables, but argument 1 is of type str"),
])
def test_only_tensors_can_be_saved(saved, text):
    def forward(ctx, x):
        ctx.save_for_backward(*saved)
        return x * 1

    with pytest.raises(TypeError, match=text):
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
    x = leaf([1.0, 2.0])
    middle = x * 3
    result = Doubled.apply(middle)
    assert result is middle
    assert middle.tolist() == [6.0, 12.0]
    assert middle.grad_fn.name() == "CustomBackward"
    middle.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0], f"expected 2 * 3, got {x.grad.tolist()}"


@pytest.mark.hole("01.6")
def test_the_write_is_counted():
    middle = leaf([1.0, 2.0]) * 3
    before = middle._version
    Doubled.apply(middle)
    assert middle._version == before + 2, "once for mul_, once for mark_dirty"


@pytest.mark.hole("01.6")
def test_the_write_is_counted_where_nothing_is_recorded():
    fixed = torch.tensor([1.0, 2.0])
    result = Doubled.apply(fixed)
    assert result is fixed and fixed.tolist() == [2.0, 4.0]
    assert fixed._version == 2, f"expected version 2, got {fixed._version}"
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
        y = Doubled.apply(x)
    assert x.tolist() == [2.0, 4.0] and x.is_leaf and x._version == 2
    assert y.data_ptr() == x.data_ptr() and not y.requires_grad, "nothing was recorded"


@pytest.mark.hole("01.6")
def test_the_node_knows_shape_and_dtype_of_what_was_written():
    node, written = make(lambda ctx, x: x)._backward_cls(), leaf([1.0, 2.0]) * 3
    assert join_written(node, written, 0, True, None, 1) is written
    assert (node.shape, node.dtype) == ((2,), np.float32), f"got {node.shape} and {node.dtype}"


@pytest.mark.hole("01.6")
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
def test_writing_to_a_view_changes_the_history_of_its_base():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    view = base[1:]
    assert Doubled.apply(view) is view
    assert base.tolist() == [1.0, 4.0, 6.0]
    base.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [1.0, 20.0, 200.0], f"expected [1, 20, 200], got {x.grad.tolist()}"


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


@pytest.mark.hole("01.6")
def test_two_inputs_may_be_written_to():
    def forward(ctx, a, b):
        a.mul_(2)
        b.mul_(3)
        ctx.mark_dirty(a, b)
        return b, a

    x, y = leaf(1.0), leaf(1.0)
    a, b = x * 1, y * 1
    first, second = make(forward, lambda ctx, g, h: (h * 2, g * 3)).apply(a, b)
    assert first is b and second is a
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
