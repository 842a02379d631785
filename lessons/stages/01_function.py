"""Symptoms of stage 01: what a mistake in an own Function, or in `Function`, does from outside."""

import gc
import math
import weakref

import numpy as np

import minigrad as torch
from minigrad.autograd import Function
from minigrad.examples import functions

grad_mode = torch._state.grad_enabled


def make(forward, backward=None):
    body = {"forward": staticmethod(forward)}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Custom", (Function,), body)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def error_of(action):
    """Return what an action raises, as "Kind: text", or the empty text."""
    try:
        action()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        grad_mode.set(True)
    return ""


# --- 01.1 to 01.4: own Functions -----------------------------------------------------------------


class Notes:
    """A context that notes what is saved; it needs nothing of the exercises after these."""

    materialize_grads = True

    def __init__(self, args):
        self.needs_input_grad = (True,) * len(args)
        self.saved = ()

    @property
    def saved_tensors(self):
        return self.saved

    def save_for_backward(self, *tensors):
        if not all(t is None or isinstance(t, torch.Tensor) for t in tensors):
            raise TypeError("save_for_backward can only save variables")
        self.saved = tensors

    save_for_forward = mark_non_differentiable = mark_dirty = lambda self, *tensors: None

    def set_materialize_grads(self, value):
        self.materialize_grads = value


def forward(name, *args):
    """Return the context of a call, and its output or outputs."""
    args = [torch.tensor(a, dtype=torch.float64) if isinstance(a, list) else a for a in args]
    ctx = Notes(args)
    outputs = getattr(functions, name).forward(ctx, *args)
    ctx.known = (*args, *(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
    return ctx, outputs


def saves_without_history(name, *args):
    """Tell whether a tensor is saved that is neither an input nor an output."""
    ctx, _ = forward(name, *args)
    return any(each is not None and not any(each is known for known in ctx.known)
               for each in ctx.saved_tensors)


def back(name, ctx, *grads):
    """Return a tuple of the gradients, as lists where they are tensors."""
    grads = [torch.tensor(g, dtype=torch.float64) if isinstance(g, list) else g for g in grads]
    results = getattr(functions, name).backward(ctx, *grads)
    results = results if isinstance(results, tuple) else (results,)
    return tuple(r.tolist() if isinstance(r, torch.Tensor) else r for r in results)


def gradient(name, *args):
    """Return the first gradient of a call where 1 and 10 come back, rounded to four digits."""
    (found, *_) = back(name, forward(name, *args)[0], [1.0, 10.0])
    return [round(each, 4) for each in found]


def value(name, *args):
    return [round(each, 4) for each in forward(name, *args)[1].tolist()]


def keeps_on_ctx(name, *args):
    return any(isinstance(each, torch.Tensor) for each in vars(forward(name, *args)[0]).values())


def has_no_second_slope(name):
    ctx, _ = forward(name, [0.0, 1.0])
    ctx.saved = tuple(leaf(t.tolist()) for t in ctx.saved_tensors)
    g = leaf([1.0, 10.0])
    result = getattr(functions, name).backward(ctx, g)
    if not result.requires_grad:
        return True
    found = torch.autograd.grad(result.sum(), (g, *ctx.saved_tensors), allow_unused=True)
    return any(each is None for each in found)


AT = [0.0, 1.0]
EITHER = ("Exp", "Sigmoid")
S = [0.5, 0.7311]  # the values of sigmoid there


def symptom_01_1_saves_nothing() -> bool:
    return any(forward(name, AT)[0].saved_tensors == () and not keeps_on_ctx(name, AT)
               for name in EITHER)


def symptom_01_1_keeps_on_ctx() -> bool:
    return any(keeps_on_ctx(name, AT) for name in EITHER)


def symptom_01_1_does_not_unpack() -> bool:
    def used(name):
        ctx, _ = forward(name, AT)
        return error_of(lambda: back(name, ctx, [1.0, 10.0])) if ctx.saved_tensors else ""

    return any(used(name).startswith("TypeError") and (
        "tuple" in used(name) or "converted to an index" in used(name)) for name in EITHER)


def symptom_01_1_saves_the_input() -> bool:
    return gradient("Exp", AT) == [0.0, 10.0]


def symptom_01_1_saves_a_twin() -> bool:
    def twin(name):
        ctx, result = forward(name, AT)
        saved = ctx.saved_tensors
        return (len(saved) == 1 and isinstance(result, torch.Tensor) and saved[0] is not result
                and saved[0].tolist() == result.tolist())

    return any(twin(name) for name in EITHER)


def symptom_01_1_saves_more() -> bool:
    def right_but_more(name, wanted):
        ctx, result = forward(name, AT)
        saved = ctx.saved_tensors
        return (isinstance(result, torch.Tensor) and gradient(name, AT) == wanted
                and not (len(saved) == 1 and saved[0] is result))

    return (right_but_more("Exp", [1.0, 27.1828])
            or right_but_more("Sigmoid", [0.25, 1.9661]))


def symptom_01_1_returns_a_tuple() -> bool:
    return any(isinstance(forward(name, AT)[1], tuple) for name in EITHER)


def symptom_01_1_forgets_the_gradient() -> bool:
    def ignores(name):
        ctx, _ = forward(name, AT)
        return back(name, ctx, [1.0, 10.0]) == back(name, ctx, [5.0, -3.0])

    return any(ignores(name) for name in EITHER)


def symptom_01_1_mirrored() -> bool:
    return value("Sigmoid", AT) == [0.5, 0.2689]


def symptom_01_1_sign_of_the_slope() -> bool:
    return gradient("Sigmoid", AT) in ([0.75, 12.6551], [-0.25, -1.9661])


def symptom_01_1_half_the_slope() -> bool:
    return gradient("Sigmoid", AT) in ([0.5, 2.6894], [0.5, 7.3106])


def symptom_01_1_no_second_slope() -> bool:
    return any(has_no_second_slope(name) for name in EITHER)


def coefficient(coeff=-2.0):
    return back("GradCoeff", forward("GradCoeff", AT, coeff)[0], [1.0, 10.0])


def symptom_01_2_saves_a_number() -> bool:
    return "save_for_backward can only" in error_of(lambda: forward("GradCoeff", AT, 3.0))


def symptom_01_2_one_gradient() -> bool:
    return coefficient() == ([-2.0, -20.0],)


def symptom_01_2_gradient_of_the_number() -> bool:
    found = coefficient()
    return len(found) == 2 and found[0] == [-2.0, -20.0] and found[1] is not None


def symptom_01_2_none_first() -> bool:
    return coefficient() == (None, [-2.0, -20.0])


def symptom_01_2_scales_the_value() -> bool:
    return value("GradCoeff", AT, -2.0) == [0.0, -2.0]


def symptom_01_2_ignores_the_number() -> bool:
    return coefficient()[0] == [1.0, 10.0]


def symptom_01_2_one_number_for_all() -> bool:
    first, second = (forward("GradCoeff", AT, each)[0] for each in (2.0, 5.0))
    return (back("GradCoeff", first, [1.0, 10.0])[0] == [5.0, 50.0]
            and back("GradCoeff", second, [1.0, 10.0])[0] == [5.0, 50.0])


def rounded():
    return back("Round", forward("Round", AT)[0], [1.4, 10.3])


def symptom_01_2_honest() -> bool:
    return rounded() in (([0.0, 0.0],), (None,))


def symptom_01_2_rounds_the_gradient() -> bool:
    return rounded() == ([1.0, 10.0],)


def symptom_01_2_cuts_off() -> bool:
    return value("Round", [1.6, -2.7]) in ([1.0, -3.0], [1.0, -2.0])


def symptom_01_2_halves_up() -> bool:
    return value("Round", [0.5, 1.5, 2.5, -0.7]) == [1.0, 2.0, 3.0, -1.0]


def symptom_01_2_writes_into_x() -> bool:
    x = torch.tensor([0.4, 1.6])
    functions.Round.forward(Notes((x,)), x)
    return x.tolist() == [0.0, 2.0]


def symptom_01_3_saves_two() -> bool:
    return len(forward("Silu", AT)[0].saved_tensors) > 1


def symptom_01_3_keeps_on_ctx() -> bool:
    return keeps_on_ctx("Silu", AT)


def symptom_01_3_only_sigmoid() -> bool:
    return value("Silu", AT) == S


POINTS = [1.0, -2.0]


def silu_with(slope):
    """Tell whether the gradient is that of another slope, a function of x and s."""
    found = gradient("Silu", POINTS)
    made = [g * slope(x, 1 / (1 + math.exp(-x))) for g, x in zip((1.0, 10.0), POINTS, strict=True)]
    return all(abs(a - b) < 1e-3 for a, b in zip(found, made, strict=True))


def symptom_01_3_first_part() -> bool:
    return silu_with(lambda x, s: s)


def symptom_01_3_without_x() -> bool:
    return silu_with(lambda x, s: s + s * (1 - s))


def symptom_01_3_without_s() -> bool:
    return silu_with(lambda x, s: s + x * (1 - s))


def symptom_01_3_minus() -> bool:
    return silu_with(lambda x, s: s - x * s * (1 - s))


def silu_saves(values) -> bool:
    """Whether Silu saves one tensor, with these values, and its value is right."""
    ctx, result = forward("Silu", AT)
    saved = [t for t in ctx.saved_tensors if t is not None]
    x = np.asarray(AT)
    s = 1 / (1 + np.exp(-x))
    return bool(np.allclose(result.numpy(), x * s) and len(saved) == 1
                and np.allclose(saved[0].numpy(), values(x, s)))


def symptom_01_3_saves_the_sigmoid() -> bool:
    return silu_saves(lambda x, s: s)


def symptom_01_3_saves_the_result() -> bool:
    return silu_saves(lambda x, s: x * s)


def symptom_01_3_saves_the_wrong_one() -> bool:
    def of(x):
        s = 1 / (1 + math.exp(-x))
        return s + x * s * (1 - s)

    return (silu_with(lambda x, s: of(x * s)) or silu_with(lambda x, s: of(s)))


def symptom_01_3_forgets_the_gradient() -> bool:
    ctx, _ = forward("Silu", AT)
    return back("Silu", ctx, [1.0, 10.0]) == back("Silu", ctx, [5.0, -3.0])


def symptom_01_3_gradient_on_one_part() -> bool:
    found = gradient("Silu", POINTS)
    parts = [(g, s, x * s * (1 - s)) for g, x in zip((1.0, 10.0), POINTS, strict=True)
             for s in (1 / (1 + math.exp(-x)),)]
    return any(all(abs(a - b) < 1e-3 for a, b in zip(found, wrong, strict=True)) for wrong in (
        [g * first + second for g, first, second in parts],
        [first + g * second for g, first, second in parts]))


def symptom_01_3_no_history() -> bool:
    return silu_with(lambda x, s: s + x * s * (1 - s)) and saves_without_history("Silu", AT)


def symptom_01_3_no_second_slope() -> bool:
    return has_no_second_slope("Silu")


def polar(x=3.0, y=4.0):
    """Return distance and angle of a point, rounded."""
    return [round(each.item(), 4) for each in forward("Polar", [x], [y])[1]]


def moved(distance, angle):
    """Return the gradients of the point (3, 4), rounded."""
    ctx, _ = forward("Polar", [3.0], [4.0])
    return [round(each[0], 4) for each in back("Polar", ctx, [distance], [angle])]


def symptom_01_4_list() -> bool:
    return isinstance(forward("Polar", [3.0], [4.0])[1], list)


def symptom_01_4_four_gradients() -> bool:
    return len(moved(1.0, 10.0)) > 2


def symptom_01_4_degrees() -> bool:
    return polar() == [5.0, 53.1301]


def symptom_01_4_outputs_swapped() -> bool:
    return polar() == [0.9273, 5.0]


def symptom_01_4_no_root() -> bool:
    return polar()[0] == 25.0


def symptom_01_4_half_the_plane() -> bool:
    return polar()[1] == 0.9273 and polar(-3.0, 4.0)[1] == -0.9273


def symptom_01_4_angle_swapped() -> bool:
    return polar()[1] == 0.6435


def symptom_01_4_keeps_on_ctx() -> bool:
    return keeps_on_ctx("Polar", [3.0], [4.0])


def symptom_01_4_no_history() -> bool:
    right = moved(1.0, 0.0) == [0.6, 0.8] and moved(0.0, 1.0) == [-0.16, 0.12]
    return right and saves_without_history("Polar", [3.0], [4.0])


def symptom_01_4_gradients_swapped() -> bool:
    return moved(1.0, 0.0) in ([-0.16, 0.12], [-0.8, 0.6]) and (
        moved(0.0, 1.0) == [0.6, 0.8] or moved(0.0, 1.0)[0] > 0)


def symptom_01_4_by_output() -> bool:
    first, second = moved(1.0, 0.0), moved(0.0, 1.0)
    return (len(first) == len(second) == 2 and first[0] != 0.0 and second[1] != 0.0
            and first[1] == second[0] == 0.0)


def symptom_01_4_outputs_for_inputs() -> bool:
    x, y = 5.0, math.atan2(4.0, 3.0)
    return moved(1.0, 0.0) in [[round(x / d, 4), round(y / d, 4)] for d in (math.hypot(x, y), 5.0)]


def symptom_01_4_results_swapped() -> bool:
    return moved(1.0, 0.0) == [0.8, 0.6] and moved(0.0, 1.0) == [0.12, -0.16]


def symptom_01_4_no_minus() -> bool:
    return moved(1.0, 0.0) == [0.6, 0.8] and moved(0.0, 1.0) == [0.16, 0.12]


def symptom_01_4_turns_the_other_way() -> bool:
    return moved(1.0, 0.0) == [0.6, 0.8] and moved(0.0, 1.0) == [0.16, -0.12]


def symptom_01_4_distance_alone() -> bool:
    return moved(1.0, 0.0) == [0.6, 0.8] and moved(0.0, 1.0) == [0.0, 0.0]


def symptom_01_4_angle_alone() -> bool:
    return moved(0.0, 1.0) == [-0.16, 0.12] and moved(1.0, 0.0) == [0.0, 0.0]


def symptom_01_4_not_squared() -> bool:
    return moved(0.0, 1.0) == [-0.8, 0.6] and moved(1.0, 0.0) == [0.6, 0.8]


def symptom_01_4_not_divided() -> bool:
    return moved(1.0, 0.0) == [3.0, 4.0]


# --- 01.5 ----------------------------------------------------------------------------------------


def symptom_01_5_no_context() -> bool:
    found = make(lambda ctx, x: x * 2)._record((leaf(1.0),), {})
    return not (isinstance(found, tuple) and len(found) == 2)


def symptom_01_5_records_inside() -> bool:
    seen = []

    def forward(ctx, x):
        inside = x * x
        seen.append((grad_mode.get(), inside.requires_grad))
        return inside

    make(forward).apply(leaf(3.0))
    return seen == [(True, True)]


def _mode_after_an_exception(before):
    def forward(ctx, x):
        raise KeyError

    grad_mode.set(before)
    try:
        make(forward)._record((leaf(1.0),), {})  # `apply` puts the mode back itself
    except KeyError:
        return grad_mode.get()
    finally:
        grad_mode.set(True)
    return None


def _mode_after_a_call(before):
    grad_mode.set(before)
    try:
        make(lambda ctx, x: x * 2).apply(leaf(1.0))
        return grad_mode.get()
    finally:
        grad_mode.set(True)


def symptom_01_5_never_on_again() -> bool:
    return _mode_after_a_call(True) is False


def symptom_01_5_reads_the_mode_inside() -> bool:
    grad_mode.set(True)
    node, result = make(lambda ctx, x: x * 2)._record((leaf(1.0),), {})
    return node.next_functions == () and not result.requires_grad


def symptom_01_5_mode_lost_by_exception() -> bool:
    return _mode_after_a_call(True) is True and _mode_after_an_exception(True) is False


def symptom_01_5_always_on_again() -> bool:
    return _mode_after_a_call(False) is True


def symptom_01_5_ignores_the_mode() -> bool:
    grad_mode.set(False)
    try:
        return make(lambda ctx, x: x * 2).apply(leaf(1.0)).requires_grad
    finally:
        grad_mode.set(True)


def symptom_01_5_not_numbered() -> bool:
    Custom = make(lambda ctx, x: x * 2)
    first, second = (Custom.apply(leaf(1.0)).grad_fn for _ in range(2))
    return first is not second and first._sequence_nr() == second._sequence_nr()


def symptom_01_5_records_constants() -> bool:
    return make(lambda ctx, x: x * 2).apply(torch.tensor(1.0)).requires_grad


def symptom_01_5_wants_all_inputs() -> bool:
    Sum = make(lambda ctx, a, b: a + b)
    return (Sum.apply(leaf(1.0), leaf(1.0)).requires_grad
            and not Sum.apply(leaf(1.0), torch.tensor(1.0)).requires_grad)


def symptom_01_5_looks_at_the_first_input() -> bool:
    Sum = make(lambda ctx, a, b: a + b)
    return (Sum.apply(leaf(1.0), torch.tensor(1.0)).requires_grad
            and not Sum.apply(torch.tensor(1.0), leaf(1.0)).requires_grad)


def _edges(*args):
    y = make(lambda ctx, *args: args[0] * 2).apply(*args)
    return y.grad_fn.next_functions


def symptom_01_5_no_edges() -> bool:
    return _edges(leaf(1.0)) == ()


def symptom_01_5_skips_edges() -> bool:
    return len(_edges(leaf(1.0), torch.tensor(1.0), leaf(2.0))) == 2


def symptom_01_5_edges_for_everything() -> bool:
    return len(_edges(leaf(1.0), 3, leaf(2.0), None)) == 4


def symptom_01_5_edges_reversed() -> bool:
    a, b = leaf(1.0), leaf(2.0)
    (first, _), (second, _) = _edges(a, b)
    return first.variable is b and second.variable is a


def symptom_01_5_edge_without_number() -> bool:
    first, second = leaf([1.0, 2.0]).unbind()
    return [index for _, index in _edges(second, first)] == [0, 0]


def _needs(*args):
    seen = []

    def forward(ctx, *args):
        seen.append(tuple(ctx.needs_input_grad))
        return args[0] * 2

    make(forward).apply(*args)
    return seen[0]


def symptom_01_5_needs_for_tensors_only() -> bool:
    return _needs(leaf(1.0), 3, torch.tensor(1.0), leaf(2.0)) == (True, False, True)


def symptom_01_5_needs_is_tensor() -> bool:
    return _needs(leaf(1.0), 3, torch.tensor(1.0)) == (True, False, True)


def symptom_01_5_needs_too_late() -> bool:
    def forward(ctx, x):
        ctx.needs_input_grad  # noqa: B018  # whether it is there
        return x * 2

    told = error_of(lambda: make(forward).apply(leaf(1.0)))
    return told.startswith("AttributeError") and "needs_input_grad" in told


def symptom_01_5_context_is_not_the_node() -> bool:
    seen = []

    def forward(ctx, x):
        seen.append(ctx)
        return x * 2

    node = make(forward).apply(leaf(1.0)).grad_fn
    return node is not None and seen[0] is not node


def symptom_01_5_other_arguments() -> bool:
    x, seen = leaf(1.0), []
    make(lambda ctx, x: seen.append(x) or x * 2)._record((x,), {})
    return seen[0] is not x and seen[0].tolist() == x.tolist()


def symptom_01_5_no_setup_context() -> bool:
    ways = []
    Custom = make(lambda x: x * 2)
    Custom.setup_context = staticmethod(lambda ctx, inputs, output: ways.append(inputs))
    told = error_of(lambda: Custom._record((leaf(1.0),), {}))
    return ((told.startswith("TypeError") or not ways)
            and error_of(lambda: make(lambda ctx, x: x * 2)._record((leaf(1.0),), {})) == "")


def symptom_01_5_no_keywords() -> bool:
    seen = []
    make(lambda ctx, x, scale=0: seen.append(scale) or x * 2)._record((leaf(1.0),), {"scale": 5})
    return seen == [0]


def _inside_and_after(which):
    seen = []

    def forward(ctx, x):
        seen.append(getattr(ctx, which))
        return x * 2

    node, _ = make(forward)._record((leaf(1.0),), {})
    return seen[0], getattr(node, which)


def symptom_01_5_numbered_too_late() -> bool:
    inside, after = _inside_and_after("sequence")
    return inside == -1 < after


def symptom_01_5_edges_too_late() -> bool:
    inside, after = _inside_and_after("next_functions")
    return inside == () and len(after) == 1


def symptom_01_5_context_is_shared() -> bool:
    Custom = make(lambda ctx, x: x * 2)
    nodes = [Custom.apply(leaf(1.0)).grad_fn for _ in range(2)]
    return nodes[0] is not None and nodes[0] is nodes[1]


def symptom_01_5_edges_always() -> bool:
    node, result = make(lambda ctx, x: x * 2)._record((torch.tensor(1.0),), {})
    return node.next_functions != () and not result.requires_grad


def symptom_01_5_numbered_always() -> bool:
    node, _ = make(lambda ctx, x: x * 2)._record((torch.tensor(1.0),), {})
    return node.next_functions == () and node.sequence != -1


def symptom_01_5_holds_its_inputs() -> bool:
    gc.disable()
    try:
        x, fixed = leaf(1.0), torch.tensor(2.0)
        y = make(lambda ctx, x, fixed: x * 2).apply(x, fixed)
        gone = weakref.ref(fixed)
        del fixed
        return gone() is not None and y.grad_fn is not None
    finally:
        gc.enable()


def symptom_01_5_not_joined() -> bool:
    y = make(lambda ctx, x: x * 2).apply(leaf(1.0))
    node, _ = make(lambda ctx, x: x * 2)._record((leaf(1.0),), {})
    return y.grad_fn is None and len(node.next_functions) == 1


def symptom_01_5_named_after_function() -> bool:
    y = make(lambda ctx, x: x * 2).apply(leaf(1.0))
    return y.grad_fn is not None and y.grad_fn.name() != "CustomBackward"


# --- 01.6 ----------------------------------------------------------------------------------------


def applied(results, *grads, materialize=True):
    """Return what `backward` was given, what `_checked` was given, and what came back."""
    given, checked = [], []

    def backward(ctx, *grads):
        given.extend(grads)
        return results

    node = make(lambda ctx, x: x * 2, backward).apply(leaf(1.0)).grad_fn
    node._zeros = lambda index: torch.tensor(10.0 + index)
    node._checked = lambda results: checked.append(results) or ["checked"]
    node.materialize_grads = materialize
    return given, checked, node.apply_tensors(list(grads))


G = torch.tensor(7.0)


def seen(*grads, materialize=True):
    """Return the numbers that `backward` was given."""
    given, _, _ = applied((G,), *grads, materialize=materialize)
    return [g.item() if isinstance(g, torch.Tensor) else g for g in given]


def symptom_01_6_gradients_in_one_tuple() -> bool:
    return isinstance(applied((G,), G, G)[0][0], (tuple, list))


def symptom_01_6_wraps_a_tuple() -> bool:
    checked = applied((G, G), G)[1]
    return bool(checked) and len(checked[0]) == 1 and isinstance(checked[0][0], tuple)


def symptom_01_6_wants_a_tuple() -> bool:
    checked = applied(G, G)[1]
    return bool(checked) and checked[0] is G


def symptom_01_6_takes_a_list_apart() -> bool:
    checked = applied([G, G], G)[1]
    return bool(checked) and isinstance(checked[0], tuple) and len(checked[0]) == 2


def symptom_01_6_makes_a_list() -> bool:
    checked = applied(G, G)[1]
    return bool(checked) and isinstance(checked[0], list) and checked[0] == [G]


def symptom_01_6_asks_for_truth() -> bool:
    two = torch.tensor([1.0, 2.0])
    return ("Boolean value" in error_of(lambda: applied((G,), two))
            or seen(torch.tensor(0.0)) == [10.0])


def symptom_01_6_zeros_turned_around() -> bool:
    return seen(G, None) == [7.0, None] and seen(G, None, materialize=False) == [7.0, 11.0]


def symptom_01_6_zeros_unwanted() -> bool:
    return seen(G, None) == seen(G, None, materialize=False) == [7.0, 11.0]


def symptom_01_6_writes_into_grads() -> bool:
    node = make(lambda ctx, x: x * 1, lambda ctx, *grads: grads[0]).apply(leaf(1.0)).grad_fn
    node._zeros, node._checked = lambda index: torch.tensor(10.0 + index), list
    given = [torch.tensor(0.0), None]
    node.apply_tensors(given)
    return given[1] is not None


def symptom_01_6_no_zeros() -> bool:
    return seen(G, None) == seen(G, None, materialize=False) == [7.0, None]


def symptom_01_6_all_missing() -> bool:
    return seen(None, None) == [None, None] and seen(G, None) == [7.0, 11.0]


def symptom_01_6_zeros_of_the_first() -> bool:
    return seen(G, None, None) == [7.0, 10.0, 10.0]


def symptom_01_6_gradients_reversed() -> bool:
    return seen(G, torch.tensor(8.0)) == [8.0, 7.0]


def symptom_01_6_not_checked() -> bool:
    return applied((G,), G)[1] == []


# --- 01.7 ----------------------------------------------------------------------------------------


def node_for(*args):
    return make(lambda ctx, *args: args[0] * 1).apply(*args).grad_fn


A, B = torch.tensor(10.0), torch.tensor(20.0)


def told(results, *args):
    """Return the error of `_checked` for these results and arguments."""
    return error_of(lambda: node_for(*args)._checked(results))


def checked(results, *args):
    return list(node_for(*args)._checked(results))


def symptom_01_7_refuses_extra_nones() -> bool:
    return told((A, None), leaf(1.0)) != "" and told((A,), leaf(1.0)) == ""


def symptom_01_7_strips_needed_nones() -> bool:
    return "(expected 2, got 1)" in told((A, None), leaf(1.0), 3.0)


def symptom_01_7_drops_what_is_too_many() -> bool:
    return told((A, B), leaf(1.0)) == ""


def symptom_01_7_counts_tensors_only() -> bool:
    return told((A,), leaf(1.0), 3.0) == "" and told((), leaf(1.0), 3.0) != ""


def symptom_01_7_accepts_too_few() -> bool:
    return told((), leaf(1.0), 3.0) == ""


def symptom_01_7_shifts_gradients() -> bool:
    return (told((A, None, B), leaf(1.0), 3.0, leaf(2.0)) == ""
            and len(checked((A, None, B), leaf(1.0), 3.0, leaf(2.0))) == 3)


def symptom_01_7_accepts_gradient_of_number() -> bool:
    return told((A, B), leaf(1.0), 3.0) == ""


def symptom_01_7_asks_needs_input_grad() -> bool:
    if told((A, B), leaf(1.0), leaf(2.0)) != "":
        return False
    if told((A, B), leaf(1.0), torch.tensor(2.0)) != "":
        return True
    return len(checked((A, B), leaf(1.0), torch.tensor(2.0))) == 1


def symptom_01_7_asks_for_truth() -> bool:
    return told((A, 0.0), leaf(1.0), 3.0) == "" and told((A, B), leaf(1.0), 3.0) != ""


def symptom_01_7_counts_numbers_only() -> bool:
    return ("at position 2," in told((A, None, A, B), leaf(1.0), 3.0, leaf(1.0), 4.0)
            and "at position 1," in told((A, B), leaf(1.0), 3.0))


def symptom_01_7_counts_from_zero() -> bool:
    return "at position 1," in told((A, B), leaf(1.0), 3.0)


def symptom_01_7_accepts_no_tensor() -> bool:
    return told((1.5,), leaf(1.0)) == ""


def symptom_01_7_other_errors() -> bool:
    return any(text in error and not error.startswith("RuntimeError") for text, error in (
        ("incorrect number of gradients", told((A,), leaf(1.0), 3.0)),
        ("at position 2,", told((A, B), leaf(1.0), 3.0)),
        ("expected Variable or None", told((1.5,), leaf(1.0)))))


def symptom_01_7_leaves_none_out() -> bool:
    return (told((None, B), leaf(1.0), leaf(2.0)) == ""
            and len(checked((None, B), leaf(1.0), leaf(2.0))) == 1)


def symptom_01_7_refuses_none() -> bool:
    return "NoneType" in told((A, None), leaf(1.0), leaf(2.0))


def symptom_01_7_numbers_exchanged() -> bool:
    return "(expected 1, got 2)" in told((A,), leaf(1.0), 3.0)


# --- 01.8 ----------------------------------------------------------------------------------------


def saving(*chosen, result=lambda x: x * 1):
    """Return the result of a Function that saves `chosen(x, output)`."""
    def forward(ctx, x):
        output = result(x)
        ctx.save_for_backward(*[each(x, output) for each in chosen])
        return output

    def backward(ctx, g):
        ctx.saved_tensors  # noqa: B018  # unpacks them
        return g

    return make(forward, backward)


def the_input(x, output):
    return x


def the_output(x, output):
    return output


def symptom_01_8_one_comes_bare() -> bool:
    saved = saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors
    return isinstance(saved, torch.Tensor)


def symptom_01_8_comes_as_a_list() -> bool:
    return isinstance(saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors, list)


def symptom_01_8_comes_packed() -> bool:
    saved = saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors
    return type(saved[0]).__name__ == "SavedTensor"


def symptom_01_8_reversed() -> bool:
    saved = saving(the_input, the_output, result=lambda x: x + 5).apply(leaf(1.0)).grad_fn
    return [t.item() for t in saved.saved_tensors] == [6.0, 1.0]


def symptom_01_8_leaves_none_out() -> bool:
    y = saving(lambda x, y: None, the_input).apply(leaf(1.0))
    return len(y.grad_fn.saved_tensors) == 1


def symptom_01_8_none_is_not_none() -> bool:
    y = saving(lambda x, y: None, the_input).apply(leaf(1.0))
    saved = y.grad_fn.saved_tensors
    return len(saved) == 2 and saved[0] is not None


def symptom_01_8_fails_for_none() -> bool:
    def action():
        saving(lambda x, y: None, the_input).apply(leaf(1.0)).grad_fn.saved_tensors  # noqa: B018

    return error_of(action) != "" and error_of(saving(the_input).apply(leaf(1.0)).backward) == ""


def symptom_01_8_nothing_comes_back() -> bool:
    return len(saving(the_input).apply(leaf(1.0)).grad_fn.saved_tensors) == 0


def _fails_after_a_write(which):
    x = leaf(1.0)
    middle = x * 1
    y = saving(which).apply(middle)
    z = y * 1
    with_write = y if which is the_output else middle
    with_write.add_(1)
    return "modified by an inplace" in error_of(z.backward)


def symptom_01_8_saves_a_copy() -> bool:
    y = saving(the_input).apply(leaf([1.0, 2.0]))
    x = leaf([1.0, 2.0])
    y = saving(the_input).apply(x)
    return (not _fails_after_a_write(the_input)
            and y.grad_fn.saved_tensors[0].data_ptr() != x.data_ptr())


def symptom_01_8_skips_the_check() -> bool:
    x = leaf([1.0, 2.0])
    y = saving(the_input).apply(x)
    return (not _fails_after_a_write(the_input)
            and y.grad_fn.saved_tensors[0].data_ptr() == x.data_ptr())


def symptom_01_8_saves_detached() -> bool:
    y = saving(the_input).apply(leaf(1.0))
    return _fails_after_a_write(the_input) and not y.grad_fn.saved_tensors[0].requires_grad


def symptom_01_8_holds_its_own_output() -> bool:
    gc.disable()
    try:
        y = saving(the_output).apply(leaf([1.0]))
        gone = weakref.ref(y.grad_fn)
        control = saving(the_input).apply(leaf([1.0]))
        control_gone = weakref.ref(control.grad_fn)
        del y, control
        return gone() is not None and control_gone() is None
    finally:
        gc.enable()


def symptom_01_8_holds_a_written_input() -> bool:
    def written(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    gc.disable()
    try:
        y = make(written).apply(leaf([1.0]) * 1)
        other = saving(the_output).apply(leaf([1.0]))
        gone, other_gone = weakref.ref(y.grad_fn), weakref.ref(other.grad_fn)
        del y, other
        return gone() is not None and other_gone() is None
    finally:
        gc.enable()


def symptom_01_8_inputs_as_outputs() -> bool:
    middle = leaf(1.0) * 1
    saved = saving(the_input).apply(middle).grad_fn
    return saved.saved_tensors[0].grad_fn is saved


def symptom_01_8_saves_before_joining() -> bool:
    outside = leaf(2.0) * 3
    y = saving(the_output, result=lambda x: outside).apply(leaf(1.0))
    saved = y.grad_fn.saved_tensors[0]
    return saved.grad_fn is not y.grad_fn and saved.requires_grad


def symptom_01_8_unpacked_without_node() -> bool:
    x = leaf(1.0)
    return (saving(the_output).apply(x).grad_fn.saved_tensors[0].grad_fn is None
            and saving(the_input).apply(x).grad_fn.saved_tensors[0] is x)
