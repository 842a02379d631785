"""Stage 01: own Functions, and what `Function` does around the forward and backward of a user."""

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.function.saved import keep
from minigrad.examples import functions

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


def make(forward, backward=None):
    """Return a Function of the given functions, called Custom."""
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    if backward is None:
        del body["backward"]
    return type("Custom", (Function,), body)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


# --- 01.1 to 01.4: own Functions -----------------------------------------------------------------


class Notes:
    """A context for the own Functions, which needs nothing of the exercises after them."""

    materialize_grads = True

    def __init__(self, args):
        self.needs_input_grad = tuple(isinstance(a, torch.Tensor) for a in args)
        self.saved = ()

    @property
    def saved_tensors(self):
        return self.saved

    def save_for_backward(self, *tensors):
        for each in tensors:
            if not (each is None or isinstance(each, torch.Tensor)):
                raise TypeError("save_for_backward can only save variables, but argument "
                                f"{tensors.index(each)} is of type {type(each).__name__}")
        self.saved = tensors

    save_for_forward = mark_non_differentiable = mark_dirty = lambda self, *tensors: None

    def set_materialize_grads(self, value):
        self.materialize_grads = value


def forward(name, *args):
    """Run `forward` of an own Function unrecorded; return the context and a tuple of outputs."""
    args = [torch.tensor(a) if isinstance(a, (list, np.ndarray)) else a for a in args]
    ctx = Notes(args)
    with nothing_recorded():
        outputs = getattr(functions, name).forward(ctx, *args)
    if name == "Polar":
        assert isinstance(outputs, tuple), f"expected a tuple, got a {type(outputs).__name__}"
    ctx.known = (*args, *(outputs if name == "Polar" else [outputs]))
    outputs = outputs if name == "Polar" else (outputs,)
    for each in outputs:
        assert isinstance(each, torch.Tensor), f"expected a Tensor, got a {type(each).__name__}"
    return ctx, outputs


def backward(name, ctx, *grads, recorded=False):
    """Run `backward`; return a tuple of what it returns, without Nones that are too many."""
    grads = [torch.tensor(g) if isinstance(g, (list, np.ndarray)) else g for g in grads]
    grad_mode.set(recorded)
    try:
        results = getattr(functions, name).backward(ctx, *grads)
    finally:
        grad_mode.set(True)
    results = results if isinstance(results, tuple) else (results,)
    count = len(ctx.needs_input_grad)
    return results[:count] if all(r is None for r in results[count:]) else results


def check_saved(ctx):
    """Only inputs and outputs are saved, which have a history."""
    for each in ctx.saved_tensors:
        assert each is None or any(each is known for known in ctx.known), (
            "a tensor is saved that is neither an input nor an output: it has no history")


def kept_on(ctx):
    """Return the names of attributes of a context that are tensors."""
    return [name for name, value in vars(ctx).items() if isinstance(value, torch.Tensor)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


PLAIN = {"Exp": np.exp, "Sigmoid": sigmoid, "Silu": lambda x: x * sigmoid(x)}
AT = np.array([[-1.5, 0.25, 2.0], [0.75, -0.4, 1.25]])
GRAD = np.array([[1.0, -2.0, 3.0], [0.5, 10.0, 4.0]])


def check_value(name):
    _, (value,) = forward(name, AT)
    assert_close(value.numpy(), PLAIN[name](AT), what="the value")


def check_slope(name):
    ctx, _ = forward(name, AT)
    (grad,) = backward(name, ctx, GRAD)
    (expected,) = central_difference_vjp(PLAIN[name], [AT], GRAD)
    assert_close(grad.numpy(), expected, what="the gradient")


def check_second_slope(name, slope_of_slope):
    """The saved tensors become leaves: what `backward` computes of them is differentiated."""
    ctx, _ = forward(name, AT)
    ctx.saved = tuple(leaf(t.detach().numpy().copy()) for t in ctx.saved_tensors)
    g = leaf(GRAD)
    (grad,) = backward(name, ctx, g, recorded=True)
    assert grad.requires_grad, "the gradient has no history: it cannot be differentiated again"
    by_grad, by_saved = torch.autograd.grad(grad.sum(), (g, *ctx.saved_tensors), allow_unused=True)
    assert by_grad is not None and by_saved is not None, "a part of the history is missing"
    assert_close(by_saved.numpy(), slope_of_slope(ctx.saved_tensors[0].detach().numpy()),
                 what="the second slope")


EXP_AND_SIGMOID = pytest.mark.parametrize("name", ["Exp", "Sigmoid"])


@pytest.mark.hole("01.1")
@EXP_AND_SIGMOID
def test_the_value_is_right(name):
    check_value(name)


@pytest.mark.hole("01.1")
@EXP_AND_SIGMOID
def test_the_gradient_is_the_slope_times_what_came(name):
    check_slope(name)


@pytest.mark.hole("01.1")
def test_the_sigmoid_of_large_numbers():
    _, (value,) = forward("Sigmoid", np.array([-800.0, 0.0, 800.0]))
    assert value.tolist() == [0.0, 0.5, 1.0], f"expected [0, 0.5, 1], got {value.tolist()}"


@pytest.mark.hole("01.1")
@EXP_AND_SIGMOID
def test_the_result_is_saved_and_nothing_else(name):
    ctx, (value,) = forward(name, AT)
    assert len(ctx.saved_tensors) == 1, f"expected 1 saved tensor, got {len(ctx.saved_tensors)}"
    (saved,) = ctx.saved_tensors
    told = ("a second tensor with the same numbers is saved" if saved.tolist() == value.tolist()
            else "another tensor than the result is saved")
    assert saved is value, told


@pytest.mark.hole("01.1")
@EXP_AND_SIGMOID
def test_no_tensor_is_an_attribute_of_the_context(name):
    assert not kept_on(forward(name, AT)[0])


@pytest.mark.hole("01.1")
@EXP_AND_SIGMOID
def test_the_gradient_can_be_differentiated_again(name):
    check_second_slope(name, {"Exp": lambda y: GRAD, "Sigmoid": lambda s: GRAD * (1 - 2 * s)}[name])


@pytest.mark.hole("01.2")
def test_grad_coeff_leaves_the_value_alone():
    assert_close(forward("GradCoeff", AT, -0.1)[1][0].numpy(), AT, what="the value")


@pytest.mark.hole("01.2")
@pytest.mark.parametrize("coeff", [-0.1, 3.0, 0.0])
def test_grad_coeff_multiplies_the_gradient(coeff):
    ctx, _ = forward("GradCoeff", AT, coeff)
    assert_close(backward("GradCoeff", ctx, GRAD)[0].numpy(), GRAD * coeff, what="the gradient")


@pytest.mark.hole("01.2")
@pytest.mark.parametrize("name", ["GradCoeff", "Round"])
def test_the_gradient_that_arrives_stays_as_it_is(name):
    ctx, _ = forward(name, AT, *([3.0] if name == "GradCoeff" else []))
    arriving = torch.tensor(GRAD)
    getattr(functions, name).backward(ctx, arriving)
    assert arriving.tolist() == GRAD.tolist(), f"the gradient became {arriving.tolist()}"


@pytest.mark.hole("01.2")
def test_the_coefficient_has_no_gradient():
    ctx, _ = forward("GradCoeff", AT, 2.0)
    results = backward("GradCoeff", ctx, GRAD)
    assert len(results) == 2, f"two arguments need two answers, got {len(results)}"
    assert results[1] is None, f"expected None for the number, got {results[1]!r}"


@pytest.mark.hole("01.2")
def test_two_calls_have_two_coefficients():
    first, second = (forward("GradCoeff", AT, coeff)[0] for coeff in (2.0, 5.0))
    assert_close(backward("GradCoeff", first, GRAD)[0].numpy(), GRAD * 2, what="the first gradient")
    assert_close(backward("GradCoeff", second, GRAD)[0].numpy(), GRAD * 5, what="the second one")


@pytest.mark.hole("01.2")
def test_round_rounds():
    _, (value,) = forward("Round", [0.4, 1.6, -2.7, 3.0, -0.6, 0.5, 2.5])
    assert value.tolist() == [0.0, 2.0, -3.0, 3.0, -1.0, 0.0, 2.0]


@pytest.mark.hole("01.2")
def test_round_leaves_x_alone():
    x = torch.tensor([0.4, 1.6])
    before = x.tolist()
    forward("Round", x)
    assert x.tolist() == before, f"x was {before} and is {x.tolist()}"


@pytest.mark.hole("01.2")
def test_the_gradient_of_round_passes_unchanged():
    ctx, _ = forward("Round", AT)
    results = backward("Round", ctx, GRAD * 0.37)
    assert len(results) == 1 and results[0] is not None, "one argument needs one gradient"
    assert_close(results[0].numpy(), GRAD * 0.37, what="the gradient")


@pytest.mark.hole("01.3")
def test_the_value_of_silu():
    check_value("Silu")


@pytest.mark.hole("01.3")
def test_the_gradient_of_silu():
    check_slope("Silu")


@pytest.mark.hole("01.3")
def test_one_tensor_is_saved():
    ctx, _ = forward("Silu", AT)
    saved = [t for t in ctx.saved_tensors if t is not None]
    assert len(saved) == 1, f"expected 1 saved tensor, got {len(saved)}"
    assert saved[0].numel() == AT.size, "it has more elements than x"
    assert not kept_on(ctx), f"a tensor is an attribute of ctx: {kept_on(ctx)}"


@pytest.mark.hole("01.3")
def test_silu_saves_what_has_a_history():
    check_saved(forward("Silu", AT)[0])


@pytest.mark.hole("01.3")
def test_silu_can_be_differentiated_again():
    def bent(x):
        s = sigmoid(x)
        return GRAD * s * (1 - s) * (2 + x * (1 - 2 * s))

    check_second_slope("Silu", bent)


X, Y = np.array([3.0, -3.0, 1.0, -0.5]), np.array([4.0, 4.0, -2.0, -1.5])


@pytest.mark.hole("01.4")
def test_distance_and_angle():
    _, outputs = forward("Polar", X, Y)
    assert len(outputs) == 2, f"expected 2 outputs, got {len(outputs)}"
    assert_close(outputs[0].numpy(), np.hypot(X, Y), what="the distance")
    assert_close(outputs[1].numpy(), np.arctan2(Y, X), what="the angle")


@pytest.mark.hole("01.4")
@pytest.mark.parametrize(("distance", "angle"), [
    pytest.param([1.0, 2.0, -3.0, 0.5], [0.0] * 4, id="the distance alone"),
    pytest.param([0.0] * 4, [1.0, 10.0, 5.0, -2.0], id="the angle alone"),
    pytest.param([1.0, 2.0, -3.0, 0.5], [7.0, 10.0, 5.0, -2.0], id="both")])
def test_the_gradients_of_a_point(distance, angle):
    ctx, _ = forward("Polar", X, Y)
    unused = None if not ctx.materialize_grads else torch.zeros(4, dtype=torch.float64)
    grads = [torch.tensor(np.array(g)) if any(g) else unused for g in (distance, angle)]
    results = backward("Polar", ctx, *grads)
    assert len(results) == 2, f"two arguments need two gradients, got {len(results)}"
    for place, name in enumerate("xy"):
        expected = (central_difference_vjp(np.hypot, [X, Y], distance)[place]
                    + central_difference_vjp(lambda x, y: np.arctan2(y, x), [X, Y], angle)[place])
        got = results[place]
        assert got is not None, f"the gradient with respect to {name} is missing"
        assert_close(got.numpy(), expected, what=f"the gradient with respect to {name}")


@pytest.mark.hole("01.4")
def test_no_tensor_of_polar_is_an_attribute_of_the_context():
    assert not kept_on(forward("Polar", X, Y)[0])


@pytest.mark.hole("01.4")
def test_polar_saves_what_has_a_history():
    check_saved(forward("Polar", X, Y)[0])


@pytest.mark.hole("01.4")
def test_polar_can_be_differentiated_again():
    """The gradients with respect to the two gradients that came are the slopes themselves."""
    ctx, _ = forward("Polar", X, Y)
    g, h = leaf(np.ones(4)), leaf(np.ones(4))
    results = backward("Polar", ctx, g, h, recorded=True)
    assert all(each.requires_grad for each in results), "the gradients have no history"
    by_distance, by_angle = torch.autograd.grad(results[0].sum(), (g, h))
    assert_close(by_distance.numpy(), X / np.hypot(X, Y), what="the slope of the distance")
    assert_close(by_angle.numpy(), -Y / (X**2 + Y**2), what="the slope of the angle")


# --- 01.5: forward -------------------------------------------------------------------------------


@pytest.mark.hole("01.5")
def test_the_value_is_what_forward_returned():
    y = make(lambda ctx, x: x * 3).apply(leaf([1.0, 2.0]))
    assert isinstance(y, torch.Tensor), f"expected a Tensor, got a {type(y).__name__}"
    assert_close(y.tolist(), [3.0, 6.0], what="the result")


@pytest.mark.hole("01.5")
def test_the_result_points_at_a_node_named_after_the_class():
    y = make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert y.requires_grad, "the result has to require grad"
    assert y.grad_fn.name() == "CustomBackward"
    assert not y.is_leaf


@pytest.mark.hole("01.5")
def test_the_operations_inside_forward_are_not_recorded():
    seen = []

    def forward(ctx, x):
        inside = x * x
        seen.append((grad_mode.get(), inside.requires_grad))
        return inside

    make(forward).apply(leaf(3.0))
    assert seen == [(False, False)], f"inside forward, mode and requires_grad were {seen[0]}"


@pytest.mark.hole("01.5")
def test_recording_is_on_again_after_forward():
    make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert grad_mode.get(), "recording has to be on again after forward"


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("before", [True, False], ids=["on", "off"])
def test_an_exception_in_forward_leaves_the_mode_as_it_was(before):
    def forward(ctx, x):
        raise KeyError("broken")

    grad_mode.set(before)
    with pytest.raises(KeyError, match="broken"):
        make(forward)._record((leaf(1.0),), {})  # `apply` puts the mode back itself
    assert grad_mode.get() is before, f"the mode was {before} before and is {grad_mode.get()}"


@pytest.mark.hole("01.5")
def test_an_interruption_of_forward_leaves_the_mode_as_it_was():
    def forward(ctx, x):
        raise KeyboardInterrupt  # as Ctrl-C does

    with pytest.raises(KeyboardInterrupt):
        make(forward)._record((leaf(1.0),), {})
    assert grad_mode.get(), "the mode was on before and is off"


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("where", ["a keyword argument", "a list"])
def test_only_tensors_among_the_arguments_are_inputs(where):
    fixed, x = torch.tensor(3.0), leaf(1.0)
    args, kwargs = ((fixed,), {"x": x}) if where == "a keyword argument" else ((fixed, [x]), {})
    node, y = make(lambda ctx, fixed, *rest, **named: fixed * 2)._record(args, kwargs)
    assert not y.requires_grad, f"the call was recorded because of {where}"
    assert node.sequence == -1 and node.next_functions == ()


@pytest.mark.hole("01.5")
def test_the_mode_that_was_off_stays_off():
    grad_mode.set(False)
    make(lambda ctx, x: x * 3).apply(leaf(1.0))
    assert not grad_mode.get()


def node_of_several():
    """Return the node of a call with a leaf, a note, a constant, a result; its ends."""
    x, fixed, middle = leaf(1.0), torch.tensor(3.0), leaf(2.0) * 2
    y = make(lambda ctx, *args: args[0] + args[2] + args[3]).apply(x, "note", fixed, middle)
    return y.grad_fn, x, middle


@pytest.mark.hole("01.5")
def test_there_is_an_edge_for_each_tensor_and_for_nothing_else():
    count = len(node_of_several()[0].next_functions)
    assert count == 3, f"three tensors came in, but there are {count} edges"


@pytest.mark.hole("01.5")
def test_the_edges_are_in_the_order_of_the_arguments():
    node, x, middle = node_of_several()
    (first, _), *_, (last, _) = node.next_functions
    assert getattr(first, "variable", None) is x, "the first edge leads to the first tensor, a leaf"
    assert last is middle.grad_fn, "the last edge leads to the node of the last tensor"


@pytest.mark.hole("01.5")
def test_a_tensor_without_gradient_has_an_edge_that_leads_nowhere():
    node, *_ = node_of_several()
    assert node.next_functions[1] == (None, 0), "a tensor that needs no gradient has (None, 0)"


@pytest.mark.hole("01.5")
def test_an_edge_keeps_which_output_its_tensor_was():
    first, second = leaf([1.0, 2.0]).unbind()
    y = make(lambda ctx, a, b: a + b).apply(second, first)
    assert [index for _, index in y.grad_fn.next_functions] == [1, 0]


@pytest.mark.hole("01.5")
def test_needs_input_grad_has_an_item_for_every_argument():
    seen = []

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return args[0] * 2

    make(forward).apply(leaf(1.0), 3, torch.tensor(1.0), None, leaf(2.0))
    assert seen[0] == (True, False, False, False, True), f"got {seen[0]}"


@pytest.mark.hole("01.5")
def test_are_tensors_has_an_item_for_every_argument():
    seen = []

    def forward(ctx, *args):
        seen.append(ctx._are_tensors)
        return args[0] * 2

    make(forward).apply(leaf(1.0), 3, torch.tensor(1.0), None, leaf(2.0))
    assert seen[0] == (True, False, True, False, True), f"got {seen[0]}"


@pytest.mark.hole("01.5")
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


@pytest.mark.hole("01.5")
def test_the_context_of_forward_is_the_node():
    seen = []

    def forward(ctx, x):
        ctx.note = "kept"
        seen.append(ctx)
        return x * 2

    y = make(forward).apply(leaf(1.0))
    assert y.grad_fn.note == "kept"
    assert y.grad_fn is seen[0]


@pytest.mark.hole("01.5")
def test_each_call_has_a_context_of_its_own():
    def forward(ctx, x, note):
        ctx.note = note
        return x * 2

    Custom = make(forward)
    first, second = Custom.apply(leaf(1.0), "first"), Custom.apply(leaf(1.0), "second")
    assert (first.grad_fn.note, second.grad_fn.note) == ("first", "second")


@pytest.mark.hole("01.5")
def test_forward_gets_the_arguments_themselves():
    x, fixed, seen = leaf(1.0) * 1, torch.tensor(2.0), []

    def forward(ctx, *args):
        seen.extend(args)
        return args[0] * 2

    make(forward).apply(x, 3, fixed)
    assert len(seen) == 3, f"expected 3 arguments, got {len(seen)}"
    assert seen[0] is x and seen[2] is fixed, "forward got other tensors than the arguments"


@pytest.mark.hole("01.5")
def test_keyword_arguments_reach_forward():
    _, y = make(lambda ctx, x, scale=2.0: x * scale)._record((leaf(3.0),), {"scale": 5.0})
    assert y.item() == 15.0, f"3 times the scale 5 is 15, got {y.item()}"


@pytest.mark.hole("01.5")
def test_a_class_with_setup_context():
    def setup_context(ctx, inputs, output):
        ctx.note = (inputs[1], output.item())

    Custom = make(lambda x, scale: x * scale)
    Custom.setup_context = staticmethod(setup_context)
    y = Custom.apply(leaf(3.0), 5.0)
    assert y.item() == 15.0 and y.grad_fn.note == (5.0, 15.0)


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("which", ["sequence", "next_functions"])
def test_number_and_edges_are_there_before_forward(which):
    seen = []

    def forward(ctx, x):
        seen.append(getattr(ctx, which))
        return x * 2

    node, _ = make(forward)._record((leaf(1.0),), {})
    assert seen[0] == getattr(node, which), f"in forward, {which} was {seen[0]}"


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("why", ["the mode is off", "no input requires grad"])
def test_a_node_that_is_not_recorded_has_no_number(why):
    grad_mode.set(why != "the mode is off")
    x = leaf(1.0) if why == "the mode is off" else torch.tensor(1.0)
    node, _ = make(lambda ctx, x: x * 2)._record((x,), {})
    assert node.sequence == -1, f"it has the sequence number {node.sequence}"


@pytest.mark.hole("01.5")
def test_the_node_keeps_no_inputs_alive():
    fixed = torch.tensor(2.0)
    y = make(lambda ctx, x, fixed: x * 2).apply(leaf(1.0), fixed)
    gc.disable()
    gone = weakref.ref(fixed)
    del fixed
    assert y.requires_grad and gone() is None, "the tensor that went in is still alive"


@pytest.mark.hole("01.5")
def test_nothing_is_recorded_where_no_input_requires_grad():
    y = make(lambda ctx, x, n: x * n).apply(torch.tensor(2.0), 3.0)
    assert not y.requires_grad and y.grad_fn is None
    assert y.item() == 6.0


@pytest.mark.hole("01.5")
def test_nothing_is_recorded_where_the_mode_is_off():
    with nothing_recorded():
        y = make(lambda ctx, x: x * 3).apply(leaf(2.0))
    assert not y.requires_grad and y.grad_fn is None


@pytest.mark.hole("01.5")
@pytest.mark.parametrize("why", ["the mode is off", "no input requires grad"])
def test_a_node_that_is_not_recorded_has_no_edges(why):
    seen = []

    def forward(ctx, x):
        seen.append(ctx.next_functions)
        return x * 2

    grad_mode.set(why != "the mode is off")
    node, _ = make(forward)._record(
        (leaf(1.0) if why == "the mode is off" else torch.tensor(1.0),), {})
    assert seen == [()] and node.next_functions == (), f"it has edges: {node.next_functions}"


@pytest.mark.hole("01.5")
def test_the_tensors_are_joined_in_their_order():
    """Whoever writes through a view has to be found among the tensors: the number is none."""

    def forward(ctx, times, x):
        ctx.mark_dirty(x)
        return x.mul_(times)

    base = leaf([1.0, 2.0, 3.0]) * 1
    before = base.grad_fn
    make(forward)._record((2.0, base[1:]), {})
    assert base.tolist() == [1.0, 4.0, 6.0]
    assert base.grad_fn.next_functions[0][0] is before, "the base of the view lost its history"


@pytest.mark.hole("01.5")
def test_the_nodes_are_numbered_in_the_order_of_the_calls():
    Custom = make(lambda ctx, x: x * 3)
    numbers = [Custom.apply(leaf(2.0)).grad_fn._sequence_nr() for _ in range(3)]
    assert numbers[0] < numbers[1] < numbers[2], f"expected growing numbers, got {numbers}"


@pytest.mark.hole("01.5")
def test_one_tensor_is_enough_wherever_it_stands():
    Custom = make(lambda ctx, n, a, b: n * a * b)
    assert Custom.apply(2.0, torch.tensor(3.0), leaf(4.0)).requires_grad
    assert Custom.apply(2.0, leaf(4.0), torch.tensor(3.0)).requires_grad


@pytest.mark.hole("01.5")
def test_several_outputs_come_as_a_tuple():
    outputs = make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0))
    assert isinstance(outputs, tuple), f"expected a tuple, got a {type(outputs).__name__}"
    assert [y.item() for y in outputs] == [2.0, 3.0]


@pytest.mark.hole("01.5")
def test_several_outputs_are_of_one_node():
    outputs = make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0))
    assert outputs[0].grad_fn is outputs[1].grad_fn
    assert [y.output_nr for y in outputs] == [0, 1]


@pytest.mark.hole("01.5")
def test_a_function_inside_a_function():
    inner = make(lambda ctx, x: x * 2)
    y = make(lambda ctx, x: inner.apply(x) * 3).apply(leaf(1.0))
    assert y.item() == 6.0
    assert grad_mode.get() and y.requires_grad
    assert len(y.grad_fn.next_functions) == 1


# --- 01.6: calling backward ----------------------------------------------------------------------


def applied(results, *grads, materialize=True):
    """Call `apply_tensors` of a node with a `backward` that returns `results`.

    Return what `backward` was given, what `_checked` was given (hole 01.7), and what came back;
    `_zeros(i)` is 10 + i.
    """
    given, checked = [], []

    def backward(ctx, *grads):
        given.append(grads)
        return results

    node = make(lambda ctx, x: x * 2, backward).apply(leaf(1.0)).grad_fn
    node._zeros = lambda index: torch.tensor(10.0 + index)
    node._checked = lambda results: checked.append(results) or ["what", "was", "kept"]
    node.materialize_grads = materialize
    back = node.apply_tensors(list(grads))
    assert len(given) == 1, f"backward was called {len(given)} times"
    return given[0], checked, back


G = torch.tensor(7.0)


@pytest.mark.hole("01.6")
def test_backward_is_given_the_gradient():
    (given, _, _) = applied((G,), G)
    assert len(given) == 1 and given[0] is G, f"expected one gradient, got {given}"


@pytest.mark.hole("01.6")
def test_backward_gets_one_argument_for_each_output():
    H = torch.tensor(8.0)
    given, _, _ = applied((G,), G, H)
    assert len(given) == 2 and given[0] is G and given[1] is H, f"got {given}"


@pytest.mark.hole("01.6")
def test_a_tuple_is_checked_as_it_is():
    _, checked, _ = applied((G, None), G)
    assert len(checked) == 1, "what backward returned is not checked"
    assert isinstance(checked[0], tuple) and checked[0] == (G, None), f"got {checked[0]}"


@pytest.mark.hole("01.6")
@pytest.mark.parametrize("result", [G, None, [G, G]], ids=["a tensor", "None", "a list"])
def test_a_bare_result_is_made_a_tuple(result):
    _, checked, _ = applied(result, G)
    assert len(checked) == 1, "what backward returned is not checked"
    assert isinstance(checked[0], tuple), f"expected a tuple, got a {type(checked[0]).__name__}"
    assert len(checked[0]) == 1 and checked[0][0] is result, f"got {checked[0]}"


@pytest.mark.hole("01.6")
def test_what_was_checked_comes_back():
    assert applied((G,), G)[2] == ["what", "was", "kept"]


@pytest.mark.hole("01.6")
def test_zeros_stand_for_gradients_that_are_missing():
    given, _, _ = applied((G,), torch.tensor(0.0), None, None)
    seen = [None if g is None else g.item() for g in given]
    assert seen == [0.0, 11.0, 12.0], f"expected [0, 11, 12], got {seen}"


@pytest.mark.hole("01.6")
def test_zeros_stand_for_all_gradients_where_all_are_missing():
    given, _, _ = applied((G,), None, None)
    seen = [None if g is None else g.item() for g in given]
    assert seen == [10.0, 11.0], f"expected [10, 11], got {seen}"


@pytest.mark.hole("01.6")
def test_a_gradient_with_several_elements_is_no_question():
    two = torch.tensor([0.0, 2.0])
    assert applied((G,), two)[0][0] is two


@pytest.mark.hole("01.6")
def test_none_stays_none_where_that_was_wished():
    given, _, _ = applied((G,), torch.tensor(0.0), None, materialize=False)
    assert given[1] is None and given[0].item() == 0.0, f"expected [0, None], got {given}"


@pytest.mark.hole("01.6")
@pytest.mark.parametrize("kind", [list, tuple])
def test_the_sequence_that_was_given_is_left_as_it_is(kind):
    node = make(lambda ctx, x: x * 1, lambda ctx, *grads: grads[0]).apply(leaf(1.0)).grad_fn
    node._zeros, node._checked = lambda index: torch.tensor(10.0 + index), list
    given = kind([torch.tensor(0.0), None])
    node.apply_tensors(given)
    assert given[1] is None, f"expected [0, None], got {given}"


@pytest.mark.hole("01.6")
def test_the_context_of_backward_is_that_of_forward():
    seen = []

    def forward(ctx, x, factor):
        ctx.factor = factor
        seen.append(ctx)
        return x * factor

    def backward(ctx, g):
        seen.append(ctx)
        return g * ctx.factor, None

    node = make(forward, backward).apply(leaf(2.0), 5.0).grad_fn
    node._checked = list
    assert node.apply_tensors([G])[0].item() == 35.0
    assert seen[0] is seen[1]


# --- 01.7: what backward returned ----------------------------------------------------------------


def node_for(*args):
    """Return the node of a Function that was called with these arguments."""
    return make(lambda ctx, *args: args[0] * 1).apply(*args).grad_fn


A, B = torch.tensor(10.0), torch.tensor(20.0)


@pytest.mark.hole("01.7")
def test_each_tensor_gets_its_own_gradient():
    got = node_for(leaf(1.0), leaf(2.0))._checked((A, B))
    assert len(got) == 2 and got[0] is A and got[1] is B, f"got {got}"


@pytest.mark.hole("01.7")
def test_a_tensor_that_needs_no_gradient_may_be_answered():
    got = node_for(torch.tensor(1.0), 3, leaf(2.0))._checked((A, None, B))
    assert len(got) == 2 and got[0] is A and got[1] is B, f"got {got}"


@pytest.mark.hole("01.7")
def test_arguments_that_are_no_tensors_do_not_shift_the_gradients():
    got = node_for(leaf(1.0), 2, leaf(3.0), "note", leaf(4.0))._checked((A, None, None, None, B))
    assert len(got) == 3 and got[0] is A and got[1] is None and got[2] is B, f"got {got}"


@pytest.mark.hole("01.7")
def test_what_comes_of_it_is_a_list():
    got = node_for(leaf(1.0), 3)._checked((A, None))
    assert isinstance(got, list), f"expected a list, got a {type(got).__name__}"


@pytest.mark.hole("01.7")
@pytest.mark.parametrize("results", [(None, B), (A, None), (None, None)],
                         ids=["(None, b)", "(a, None)", "(None, None)"])
def test_none_for_a_tensor_stays(results):
    got = node_for(leaf(1.0), leaf(2.0))._checked(results)
    assert len(got) == 2 and all(x is y for x, y in zip(got, results, strict=True)), f"got {got}"


@pytest.mark.hole("01.7")
@pytest.mark.parametrize("extra", [1, 2, 3])
def test_nones_at_the_end_may_be_too_many(extra):
    got = node_for(leaf(1.0))._checked((A, *(None,) * extra))
    assert len(got) == 1 and got[0] is A, f"got {got}"


@pytest.mark.hole("01.7")
@pytest.mark.parametrize("results", [(), (A,), (A, None, B), (A, None, B, None)],
                         ids=["()", "(a,)", "(a, None, b)", "(a, None, b, None)"])
def test_a_wrong_number_of_gradients_is_refused(results):
    with pytest.raises(RuntimeError, match="function CustomBackward returned an incorrect number "
                       rf"of gradients \(expected 2, got {len(results)}\)"):
        node_for(leaf(1.0), 2.0)._checked(results)


@pytest.mark.hole("01.7")
@pytest.mark.parametrize("position", [2, 3])
def test_a_gradient_for_what_is_no_tensor_is_refused(position):
    results = (A, *(B if i == position else None for i in (2, 3)), None)
    with pytest.raises(RuntimeError, match="function CustomBackward returned a gradient different "
                       f"than None at position {position}, but the corresponding forward input"):
        node_for(leaf(1.0), 2.0, "note", leaf(2.0))._checked(results)


@pytest.mark.hole("01.7")
@pytest.mark.parametrize("zero", [0.0, torch.tensor(0.0)], ids=["0.0", "tensor(0.)"])
def test_zero_is_no_none(zero):
    with pytest.raises(RuntimeError, match="different than None at position 2"):
        node_for(leaf(1.0), 2.0)._checked((A, zero))


@pytest.mark.hole("01.7")
@pytest.mark.parametrize(("wrong", "kind"), [
    pytest.param(1.5, "float", id="a float"), pytest.param([A], "list", id="a list"),
    pytest.param("g", "str", id="a str")])
def test_what_is_no_tensor_is_no_gradient(wrong, kind):
    with pytest.raises(RuntimeError, match=rf"expected Variable or None \(got {kind}\)"):
        node_for(leaf(1.0), leaf(2.0))._checked((A, wrong))


@pytest.mark.hole("01.7")
def test_gradients_arrive_at_the_leaves():
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, n, a, s, b: a * b * n,
             lambda ctx, g: (None, g * 10, None, g * 100)).apply(2, a, "note", b)
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (10.0, 100.0)


# --- 01.8: saved tensors -------------------------------------------------------------------------


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


@pytest.mark.hole("01.8")
def test_exp_keeps_its_result():
    x = leaf([0.0, 1.0])
    y = Exp.apply(x)
    y.backward(torch.tensor([1.0, 10.0]))
    assert_close(x.grad.numpy(), np.exp([0.0, 1.0]) * [1.0, 10.0], what="x.grad")


@pytest.mark.hole("01.8")
def test_what_was_saved_comes_back_as_a_tuple():
    for node, count in ((Product.apply(leaf(2.0), leaf(5.0)).grad_fn, 2),
                        (Exp.apply(leaf(1.0)).grad_fn, 1)):
        saved = node.saved_tensors
        assert isinstance(saved, tuple), f"expected a tuple, got a {type(saved).__name__}"
        assert len(saved) == count, f"{count} were saved, {len(saved)} came back"


@pytest.mark.hole("01.8")
def test_a_product_keeps_its_inputs_in_order():
    a, b = leaf(2.0), leaf(5.0)
    y = Product.apply(a, b)
    got = [t.item() for t in y.grad_fn.saved_tensors]
    assert got == [2.0, 5.0], f"expected [2, 5], got {got}"
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)


@pytest.mark.hole("01.8")
def test_a_saved_input_is_that_very_tensor():
    a, b = leaf(2.0), leaf(5.0)
    saved = Product.apply(a, b).grad_fn.saved_tensors
    assert saved[0] is a and saved[1] is b, "an input is saved as the tensor that it was"


@pytest.mark.hole("01.8")
def test_a_saved_input_with_a_history_is_that_tensor_too():
    middle = leaf(2.0) * 1
    y = Product.apply(middle, torch.tensor(5.0))
    (saved, _) = y.grad_fn.saved_tensors
    assert saved is middle
    assert saved.grad_fn.name() == "MulBackward0", f"its grad_fn is {saved.grad_fn.name()}"


@pytest.mark.hole("01.8")
def test_sigmoid_against_differences():
    at, g = np.array([-0.5, -0.4, 1.25, -0.6]), np.array([1.0, 2.0, 3.0, 4.0])
    x = torch.tensor(at, requires_grad=True)
    Sigmoid.apply(x).backward(torch.tensor(g))
    (expected,) = central_difference_vjp(lambda x: 1 / (1 + np.exp(-x)), [at], g)
    assert_close(x.grad.numpy(), expected, what="x.grad")


@pytest.mark.hole("01.8")
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


@pytest.mark.hole("01.8")
def test_saved_inputs_can_be_differentiated_again():
    a, b = leaf(2.0), leaf(5.0)
    (by_a,) = torch.autograd.grad(Product.apply(a, b), a, create_graph=True)
    assert by_a.item() == 5.0
    (by_b,) = torch.autograd.grad(by_a, b)
    assert by_b.item() == 1.0


@pytest.mark.hole("01.8")
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


@pytest.mark.hole("01.8")
def test_an_output_joined_as_an_alias_is_saved_as_that():
    outside = leaf(2.0) * 3

    def forward(ctx, x):
        ctx.save_for_backward(outside)
        return outside

    y = make(forward, lambda ctx, g: g).apply(leaf(1.0))
    (saved,) = y.grad_fn.saved_tensors
    assert saved.grad_fn is y.grad_fn


@pytest.mark.hole("01.8")
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


@pytest.mark.hole("01.8")
def test_a_tensor_may_be_saved_twice():
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y, x)
        return x * y

    def backward(ctx, g):
        saved = ctx.saved_tensors
        assert [each.item() for each in saved] == [2.0, 5.0, 2.0], f"got {len(saved)} tensors"
        return g * saved[1], g * saved[2]

    a, b = leaf(2.0), leaf(5.0)
    make(forward, backward).apply(a, b).backward()
    assert (a.grad.item(), b.grad.item()) == (5.0, 2.0)


@pytest.mark.hole("01.8")
def test_a_value_from_the_middle_of_forward_may_be_saved():
    def forward(ctx, x):
        middle = x + 1
        ctx.save_for_backward(middle)
        return middle * middle

    x = leaf(2.0)
    make(forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0]).apply(x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.hole("01.8")
def test_writing_to_a_saved_input_is_noticed():
    a, b = leaf(2.0), torch.tensor(5.0)
    y = Product.apply(a, b)
    b.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.backward()


@pytest.mark.hole("01.8")
def test_writing_to_a_saved_output_is_noticed():
    y = Exp.apply(leaf(1.0))
    z = y * 1
    y.mul_(2)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.backward()


@pytest.mark.hole("01.8")
def test_what_was_saved_is_dropped_after_the_backward_pass():
    x = leaf(1.0)
    y = Exp.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@pytest.mark.hole("01.8")
def test_retain_graph_keeps_what_was_saved():
    x = leaf(0.0)
    y = Exp.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 2.0


@pytest.mark.hole("01.8")
def test_a_saved_output_is_no_reference_cycle():
    gc.disable()
    y = Exp.apply(leaf([1.0, 2.0]))
    gone = weakref.ref(y.grad_fn)
    del y
    assert gone() is None, "the node is still alive: it holds its own output, which holds the node"


@pytest.mark.hole("01.8")
def test_a_written_and_saved_input_is_no_reference_cycle():
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    x = leaf([1.0, 2.0]) * 1
    y = make(forward).apply(x)
    gc.disable()
    gone = weakref.ref(y.grad_fn)
    del x, y
    assert gone() is None, "the node is still alive: it holds its own output, which holds the node"


@pytest.mark.hole("01.8")
def test_a_saved_input_that_became_an_output_is_no_reference_cycle():
    """An input that was written to and marked dirty is no new output, so it is not joined anew."""
    y = Exp.apply(leaf([1.0, 2.0]))
    y.grad_fn.to_save = (y,)
    (saved,) = keep(y.grad_fn, {})
    assert saved.tensor is not y, "the node holds a tensor of its own, which holds the node"
