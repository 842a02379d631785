"""Symptoms of stage 01: what a mistake in `Function` does, seen from outside."""

import gc
import weakref

import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.functions.outputs import join_written

grad_mode = torch._state.grad_enabled


def make(forward, backward=None, setup_context=None):
    body = {"forward": staticmethod(forward)}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    if setup_context is not None:
        body["setup_context"] = staticmethod(setup_context)
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


# --- 01.1 ----------------------------------------------------------------------------------------


def symptom_01_1_no_context() -> bool:
    found = make(lambda ctx, x: x * 2)._record((leaf(1.0),), {})
    return not (isinstance(found, tuple) and len(found) == 2)


def symptom_01_1_records_inside() -> bool:
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


def symptom_01_1_never_on_again() -> bool:
    return _mode_after_a_call(True) is False


def symptom_01_1_mode_lost_by_exception() -> bool:
    return _mode_after_a_call(True) is True and _mode_after_an_exception(True) is False


def symptom_01_1_always_on_again() -> bool:
    return _mode_after_a_call(False) is True


def symptom_01_1_ignores_the_mode() -> bool:
    grad_mode.set(False)
    try:
        return make(lambda ctx, x: x * 2).apply(leaf(1.0)).requires_grad
    finally:
        grad_mode.set(True)


def symptom_01_1_not_numbered() -> bool:
    Custom = make(lambda ctx, x: x * 2)
    first, second = (Custom.apply(leaf(1.0)).grad_fn for _ in range(2))
    return first is not second and first._sequence_nr() == second._sequence_nr()


def symptom_01_1_takes_lists_apart() -> bool:
    result = make(lambda ctx, x: [x * 2, x * 3]).apply(leaf(1.0))
    return (isinstance(result, tuple) and len(result) == 2) or (isinstance(result, list)
                                         and any(y.requires_grad for y in result))


def symptom_01_1_records_constants() -> bool:
    return make(lambda ctx, x: x * 2).apply(torch.tensor(1.0)).requires_grad


def symptom_01_1_wants_all_inputs() -> bool:
    Sum = make(lambda ctx, a, b: a + b)
    return (Sum.apply(leaf(1.0), leaf(1.0)).requires_grad
            and not Sum.apply(leaf(1.0), torch.tensor(1.0)).requires_grad)


def symptom_01_1_looks_at_the_first_input() -> bool:
    Sum = make(lambda ctx, a, b: a + b)
    return (Sum.apply(leaf(1.0), torch.tensor(1.0)).requires_grad
            and not Sum.apply(torch.tensor(1.0), leaf(1.0)).requires_grad)


def _edges(*args):
    y = make(lambda ctx, *args: args[0] * 2).apply(*args)
    return y.grad_fn.next_functions


def symptom_01_1_no_edges() -> bool:
    return _edges(leaf(1.0)) == ()


def symptom_01_1_skips_edges() -> bool:
    return len(_edges(leaf(1.0), torch.tensor(1.0), leaf(2.0))) == 2


def symptom_01_1_edges_for_everything() -> bool:
    return len(_edges(leaf(1.0), 3, leaf(2.0), None)) == 4


def symptom_01_1_edges_reversed() -> bool:
    a, b = leaf(1.0), leaf(2.0)
    (first, _), (second, _) = _edges(a, b)
    return first.variable is b and second.variable is a


def symptom_01_1_edge_without_number() -> bool:
    first, second = leaf([1.0, 2.0]).unbind()
    return [index for _, index in _edges(second, first)] == [0, 0]


def _needs(*args):
    seen = []

    def forward(ctx, *args):
        seen.append(tuple(ctx.needs_input_grad))
        return args[0] * 2

    make(forward).apply(*args)
    return seen[0]


def symptom_01_1_needs_for_tensors_only() -> bool:
    return _needs(leaf(1.0), 3, torch.tensor(1.0), leaf(2.0)) == (True, False, True)


def symptom_01_1_needs_is_tensor() -> bool:
    return _needs(leaf(1.0), 3, torch.tensor(1.0)) == (True, False, True)


def symptom_01_1_needs_too_late() -> bool:
    def forward(ctx, x):
        ctx.needs_input_grad  # noqa: B018  # whether it is there
        return x * 2

    told = error_of(lambda: make(forward).apply(leaf(1.0)))
    return told.startswith("AttributeError") and "needs_input_grad" in told


def symptom_01_1_context_is_not_the_node() -> bool:
    seen = []

    def forward(ctx, x):
        seen.append(ctx)
        return x * 2

    node = make(forward).apply(leaf(1.0)).grad_fn
    return node is not None and seen[0] is not node


def symptom_01_1_context_is_shared() -> bool:
    Custom = make(lambda ctx, x: x * 2)
    nodes = [Custom.apply(leaf(1.0)).grad_fn for _ in range(2)]
    return nodes[0] is not None and nodes[0] is nodes[1]


def symptom_01_1_unwraps_a_tuple_of_one() -> bool:
    return isinstance(make(lambda ctx, x: (x * 2,)).apply(leaf(1.0)), torch.Tensor)


def symptom_01_1_always_a_tuple() -> bool:
    return isinstance(make(lambda ctx, x: x * 2).apply(leaf(1.0)), tuple)


def symptom_01_1_returns_a_list() -> bool:
    return isinstance(make(lambda ctx, x: (x * 2, x * 3)).apply(leaf(1.0)), list)


def _set_up(outputs):
    """Return what setup_context was given as (inputs, output), [] if it was not called."""
    seen = []
    make(lambda x: outputs(x), None,
         lambda ctx, inputs, output: seen.append((inputs, output))).apply(leaf(1.0))
    return seen


def symptom_01_1_no_setup() -> bool:
    return _set_up(lambda x: x * 2) == []


def symptom_01_1_setup_gets_a_tuple() -> bool:
    ((inputs, output),) = _set_up(lambda x: x * 2)
    return isinstance(inputs, tuple) and isinstance(output, tuple)


def symptom_01_1_context_in_the_way_of_setup() -> bool:
    def action():
        make(lambda x: x * 2, None, lambda ctx, inputs, output: None).apply(leaf(1.0))

    return "positional argument" in error_of(action)


# --- 01.2 ----------------------------------------------------------------------------------------


def returning(results, *others):
    """Return the error of a backward that gives `results(g)`, for one tensor and other inputs."""
    y = make(lambda ctx, x, *others: x * 1, lambda ctx, g: results(g)).apply(leaf(2.0), *others)
    return error_of(y.backward)


def given(outputs, seed):
    """Return what a backward is given."""
    seen = []

    def backward(ctx, *grads):
        seen.append(grads)

    x = leaf(1.0)
    error_of(lambda: seed(make(outputs, backward).apply(x)).backward())
    return seen[0]


def symptom_01_2_gradients_in_one_tuple() -> bool:
    (first, *others) = given(lambda ctx, x: (x * 2, x * 3), lambda y: y[0] + y[1])
    return isinstance(first, (tuple, list)) and not others


def symptom_01_2_wraps_a_tuple() -> bool:
    return "got tuple" in returning(lambda g: (g,)) and returning(lambda g: g) == ""


def symptom_01_2_wants_a_tuple() -> bool:
    return returning(lambda g: g) != "" and returning(lambda g: (g,)) == ""


def symptom_01_2_takes_a_list_apart() -> bool:
    return returning(lambda g: [g]) == "" and returning(lambda g: (g,)) == ""


def symptom_01_2_gradients_reversed() -> bool:
    first, second = given(lambda ctx, x: (x * 2, x * 3), lambda y: y[0] * 10 + y[1] * 100)
    return (first.item(), second.item()) == (100.0, 10.0)


def symptom_01_2_refuses_extra_nones() -> bool:
    return returning(lambda g: (g, None, None)) != "" and returning(lambda g: (g,)) == ""


def symptom_01_2_strips_needed_nones() -> bool:
    return "(expected 2, got 1)" in returning(lambda g: (g, None), 3.0)


def symptom_01_2_drops_what_is_too_many() -> bool:
    return returning(lambda g: (g, g)) == ""


def symptom_01_2_counts_tensors_only() -> bool:
    return returning(lambda g: (g,), 3.0) == "" and returning(lambda g: (g, None, g), 3.0) != "" \
        and returning(lambda g: (), 3.0) != ""


def symptom_01_2_accepts_too_few() -> bool:
    return returning(lambda g: (), 3.0) == "" and returning(lambda g: (g,), 3.0) == ""


def _two_around_a_number():
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, a, n, b: a * n * b, lambda ctx, g: (g * 10, None, g * 100)).apply(a, 2, b)
    told = error_of(y.backward)
    return told, *(None if t.grad is None else t.grad.item() for t in (a, b))


def symptom_01_2_shifts_gradients() -> bool:
    told, _, b = _two_around_a_number()
    return ((told == "" or "invalid number" in told) and b != 100.0
            and returning(lambda g: (g,)) == "")


def symptom_01_2_accepts_gradient_of_number() -> bool:
    return returning(lambda g: (g, g), 3.0) == ""


def symptom_01_2_counts_from_zero() -> bool:
    return "at position 1," in returning(lambda g: (g, g), 3.0)


def symptom_01_2_accepts_no_tensor() -> bool:
    told = returning(lambda g: 1.0)
    return "expected Variable or None" not in told and returning(lambda g: (g,)) == ""


def symptom_01_2_leaves_none_out() -> bool:
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, a, b: a * b, lambda ctx, g: (None, g)).apply(a, b)
    told = error_of(y.backward)
    return a.grad is not None or "invalid number" in told


def symptom_01_2_refuses_none() -> bool:
    a, b = leaf(2.0), leaf(3.0)
    y = make(lambda ctx, a, b: a * b, lambda ctx, g: (g, None)).apply(a, b)
    told = error_of(y.backward)
    return "NoneType" in told


def _replaced(materialize):
    """Return what backward is given for [0., None], where `_zeros` makes 11."""
    seen = []

    def backward(ctx, *grads):
        seen.extend(None if g is None else g.item() for g in grads)

    node = make(lambda ctx, x: x * 1, backward).apply(leaf(1.0)).grad_fn
    node.materialize_grads, node._zeros = materialize, lambda index: torch.tensor(10.0 + index)
    error_of(lambda: node.apply_tensors([torch.tensor(0.0), None]))
    return seen


def symptom_01_2_asks_for_truth() -> bool:
    two = torch.tensor([1.0, 2.0])
    node = make(lambda ctx, x: x * 1, lambda ctx, g: g).apply(leaf([1.0, 2.0])).grad_fn
    return ("Boolean value" in error_of(lambda: node.apply_tensors([two]))
            or _replaced(True) == [10.0, 11.0])


def symptom_01_2_writes_into_grads() -> bool:
    node = make(lambda ctx, x: x * 1, lambda ctx, *grads: grads[0]).apply(leaf(1.0)).grad_fn
    node._zeros = lambda index: torch.tensor(10.0 + index)
    given = [torch.tensor(0.0), None]
    node.apply_tensors(given)
    return given[1] is not None


def symptom_01_2_zeros_unwanted() -> bool:
    return _replaced(True) == _replaced(False) == [0.0, 11.0]


def symptom_01_2_zeros_turned_around() -> bool:
    return (_replaced(True), _replaced(False)) == ([0.0, None], [0.0, 11.0])


def symptom_01_2_no_zeros() -> bool:
    return _replaced(True) == _replaced(False) == [0.0, None]


# --- 01.3 ----------------------------------------------------------------------------------------


def missing(materialize=None, seed=0):
    """Return what backward is given where output `seed` alone was used."""
    seen = []

    def forward(ctx, x):
        if materialize is not None:
            ctx.set_materialize_grads(materialize)
        return x * 1, torch.ones(2, 3, dtype=torch.float64) * x[0].double(), "note"

    def backward(ctx, *grads):
        seen.extend(grads)
        return None

    outputs = make(forward, backward).apply(leaf([1.0, 2.0]))
    error_of(lambda: outputs[seed].sum().backward())
    return seen


def symptom_01_3_turns_the_choice_around() -> bool:
    return missing(False)[1] is not None and missing(True)[1] is None


def symptom_01_3_ignores_the_choice() -> bool:
    return missing(True)[1] is not None and missing(False)[1] is not None


def symptom_01_3_always_off() -> bool:
    return missing()[1] is not None and missing(True)[1] is None and missing(False)[1] is None


def symptom_01_3_an_array() -> bool:
    found = missing()[1]
    return type(found).__module__.partition(".")[0] == "numpy"


def symptom_01_3_always_none() -> bool:
    seen = given(lambda ctx, x: (x * 1, x * 2), lambda y: y[0])
    return missing()[1] is None and missing(True)[1] is None and seen[1] is None


def symptom_01_3_one_number() -> bool:
    return tuple(missing()[1].shape) == () and tuple(missing(None, 1)[0].shape) == ()


def symptom_01_3_shape_of_the_first() -> bool:
    return tuple(missing()[1].shape) == (2,)


def symptom_01_3_dtype_of_the_first() -> bool:
    found = missing()[1]
    return tuple(found.shape) == (2, 3) and found.dtype == torch.float32


def symptom_01_3_not_zeros() -> bool:
    return bool((missing()[1] != 0).any())


def symptom_01_3_zeros_for_no_tensor() -> bool:
    found = missing()
    return isinstance(found[2], torch.Tensor) and tuple(found[1].shape) == (2, 3)


def symptom_01_3_fails_for_no_tensor() -> bool:
    def backward(ctx, g, note):
        return g

    y, _ = make(lambda ctx, x: (x * 2, "note"), backward).apply(leaf(1.0))
    unused, _ = make(lambda ctx, x: (x * 2, x * 3), backward).apply(leaf(1.0))
    return error_of(y.backward) != "" and error_of(unused.backward) == ""


# --- 01.4 ----------------------------------------------------------------------------------------


def returned(x):
    return make(lambda ctx, x: x, lambda ctx, g: g).apply(x)


def symptom_01_4_input_itself() -> bool:
    x = leaf([1.0])
    return returned(x) is x


def symptom_01_4_copies() -> bool:
    x = leaf([1.0])
    y = returned(x)
    return y is not x and y.data_ptr() != x.data_ptr()


def symptom_01_4_no_view() -> bool:
    x = leaf([1.0]) * 1
    y = returned(x)
    return y is not x and y.data_ptr() == x.data_ptr() and not y._is_view()


def symptom_01_4_may_be_written_to() -> bool:
    y, fixed = returned(leaf([1.0]) * 1), returned(torch.tensor([1.0]))
    told = error_of(lambda: fixed.mul_(leaf([2.0])))
    return y._is_view() and (error_of(lambda: y.add_(1)) == ""
                             or (fixed._is_view() and "custom Function" not in told))


def symptom_01_4_constant_itself() -> bool:
    x, fixed = leaf([1.0]), torch.tensor([1.0])
    return returned(x) is not x and returned(fixed) is fixed


def symptom_01_4_constant_copies() -> bool:
    fixed, x = torch.tensor([1.0]), leaf([1.0])
    if returned(x).data_ptr() != x.data_ptr():
        return False
    given, marked = _marked()
    return returned(fixed).data_ptr() != fixed.data_ptr() or given.data_ptr() != marked.data_ptr()


def _marked():
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf([1.0])
    return x, make(forward).apply(x)


def _marks():
    def forward(ctx, x):
        a, b, c = x * 1, x * 2, x * 3
        ctx.mark_non_differentiable(a, c)
        return a, b, c

    return [y.requires_grad for y in make(forward).apply(leaf([1.0]))]


def symptom_01_4_marks_forgotten() -> bool:
    return _marks() == [True, True, True]


def symptom_01_4_one_mark_kept() -> bool:
    return _marks() in ([False, True, True], [True, True, False])


def symptom_01_4_switches_the_input_off() -> bool:
    x, _ = _marked()
    return not x.requires_grad


def symptom_01_4_constant_requires_grad() -> bool:
    x, y = _marked()
    return x.requires_grad and y.requires_grad and _marks() == [False, True, False]


# --- 01.5 ----------------------------------------------------------------------------------------


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


def symptom_01_5_adds_up() -> bool:
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x + 10)
        return x * 1

    return [t.item() for t in make(forward).apply(leaf(1.0)).grad_fn.saved_tensors] == [1.0, 11.0]


def symptom_01_5_keeps_the_first() -> bool:
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x + 10)
        return x * 1

    return [t.item() for t in make(forward).apply(leaf(1.0)).grad_fn.saved_tensors] == [1.0]


def symptom_01_5_one_comes_bare() -> bool:
    saved = saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors
    return isinstance(saved, torch.Tensor)


def symptom_01_5_comes_as_a_list() -> bool:
    return isinstance(saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors, list)


def symptom_01_5_comes_packed() -> bool:
    saved = saving(the_input).apply(leaf([1.0])).grad_fn.saved_tensors
    return type(saved[0]).__name__ == "SavedTensor"


def symptom_01_5_reversed() -> bool:
    saved = saving(the_input, the_output, result=lambda x: x + 5).apply(leaf(1.0)).grad_fn
    return [t.item() for t in saved.saved_tensors] == [6.0, 1.0]


def symptom_01_5_leaves_none_out() -> bool:
    y = saving(lambda x, y: None, the_input).apply(leaf(1.0))
    return len(y.grad_fn.saved_tensors) == 1


def symptom_01_5_none_is_not_none() -> bool:
    y = saving(lambda x, y: None, the_input).apply(leaf(1.0))
    saved = y.grad_fn.saved_tensors
    return len(saved) == 2 and saved[0] is not None


def symptom_01_5_fails_for_none() -> bool:
    def action():
        saving(lambda x, y: None, the_input).apply(leaf(1.0)).grad_fn.saved_tensors  # noqa: B018

    return error_of(action) != "" and error_of(saving(the_input).apply(leaf(1.0)).backward) == ""


def symptom_01_5_accepts_no_tensor() -> bool:
    return error_of(lambda: saving(lambda x, y: 3).apply(leaf(1.0))) == ""


def symptom_01_5_wrong_kind_of_error() -> bool:
    told = error_of(lambda: saving(lambda x, y: 3).apply(leaf(1.0)))
    return told != "" and not told.startswith("TypeError") \
        and error_of(lambda: saving(the_input).apply(leaf(1.0))) == ""


def symptom_01_5_nothing_comes_back() -> bool:
    return len(saving(the_input).apply(leaf(1.0)).grad_fn.saved_tensors) == 0


def symptom_01_5_counts_from_one() -> bool:
    return "argument 1 is" in error_of(lambda: saving(lambda x, y: 3).apply(leaf(1.0)))


def _fails_after_a_write(which):
    x = leaf(1.0)
    middle = x * 1
    y = saving(which).apply(middle)
    z = y * 1
    with_write = y if which is the_output else middle
    with_write.add_(1)
    return "modified by an inplace" in error_of(z.backward)


def symptom_01_5_saves_a_copy() -> bool:
    y = saving(the_input).apply(leaf([1.0, 2.0]))
    x = leaf([1.0, 2.0])
    y = saving(the_input).apply(x)
    return (not _fails_after_a_write(the_input)
            and y.grad_fn.saved_tensors[0].data_ptr() != x.data_ptr())


def symptom_01_5_skips_the_check() -> bool:
    x = leaf([1.0, 2.0])
    y = saving(the_input).apply(x)
    return (not _fails_after_a_write(the_input)
            and y.grad_fn.saved_tensors[0].data_ptr() == x.data_ptr())


def symptom_01_5_saves_detached() -> bool:
    y = saving(the_input).apply(leaf(1.0))
    return _fails_after_a_write(the_input) and not y.grad_fn.saved_tensors[0].requires_grad


def symptom_01_5_holds_its_own_output() -> bool:
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


def symptom_01_5_holds_a_written_input() -> bool:
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


def symptom_01_5_inputs_as_outputs() -> bool:
    middle = leaf(1.0) * 1
    saved = saving(the_input).apply(middle).grad_fn
    return saved.saved_tensors[0].grad_fn is saved


def symptom_01_5_saves_before_joining() -> bool:
    outside = leaf(2.0) * 3
    y = saving(the_output, result=lambda x: outside).apply(leaf(1.0))
    saved = y.grad_fn.saved_tensors[0]
    return saved.grad_fn is not y.grad_fn and saved.requires_grad


# --- 01.6 ----------------------------------------------------------------------------------------


def _doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


Doubled = make(_doubled, lambda ctx, g: g * 2)


def symptom_01_6_not_counted() -> bool:
    middle, fixed = leaf([1.0]) * 3, torch.tensor([1.0])
    before = middle._version
    Doubled.apply(middle)
    Doubled.apply(fixed)
    return middle._version == before + 1 and fixed._version == 1


def symptom_01_6_counted_twice() -> bool:
    middle, fixed = leaf([1.0]) * 3, torch.tensor([1.0])
    Doubled.apply(middle)
    Doubled.apply(fixed)
    return middle._version == 3 or fixed._version == 3


def symptom_01_6_counted_only_recorded() -> bool:
    middle, fixed = leaf([1.0]) * 3, torch.tensor([1.0])
    Doubled.apply(middle)
    Doubled.apply(fixed)
    return middle._version == 2 and fixed._version == 1


def symptom_01_6_counted_only_constant() -> bool:
    middle, fixed = leaf([1.0]) * 3, torch.tensor([1.0])
    Doubled.apply(middle)
    Doubled.apply(fixed)
    return middle._version == 1 and fixed._version == 2


def symptom_01_6_writes_to_leaves() -> bool:
    return ("a leaf Variable" not in error_of(lambda: Doubled.apply(leaf([1.0])))
            and error_of(lambda: Doubled.apply(leaf([1.0]) * 1)) == "")


def symptom_01_6_marks_forgotten() -> bool:
    middle = leaf([1.0]) * 3
    return Doubled.apply(middle) is not middle and middle._version == 1


def symptom_01_6_new_tensor() -> bool:
    middle = leaf([1.0]) * 3
    return Doubled.apply(middle) is not middle and middle._version == 2


def symptom_01_6_old_history() -> bool:
    middle = leaf([1.0]) * 3
    return Doubled.apply(middle) is middle and middle.grad_fn.name() == "MulBackward0"


def symptom_01_6_refuses_too_much() -> bool:
    x = leaf([1.0])
    grad_mode.set(False)
    return "a leaf Variable" in error_of(lambda: Doubled.apply(x))


def symptom_01_6_shape_of_before() -> bool:
    node = Doubled._backward_cls()
    join_written(node, leaf([1.0, 2.0]) * 3, 0, True, None, 1)
    return tuple(node.shape) != (2,) or node.dtype != "float32"


def symptom_01_6_only_inputs() -> bool:
    memory = torch.zeros(1)

    def forward(ctx, x):
        ctx.mark_dirty(memory)
        return memory.copy_(x)

    told = error_of(lambda: make(forward, lambda ctx, g: g).apply(leaf([2.0])))
    return Doubled.apply(leaf([1.0]) * 1).requires_grad and (told != "" or memory.grad_fn is None)


def _base_after(position):
    """Write to a view that is tensor number `position` of two; return the node of its base."""
    base, other = leaf([1.0, 2.0]) * 1, leaf([1.0])
    view = base[1:]

    def forward(ctx, *tensors):
        ctx.mark_dirty(view)
        return view.mul_(2)

    args = (view, other) if position == 0 else (other, view)
    make(forward, lambda ctx, g: (g, g)).apply(*args)
    return base.grad_fn.name()


def symptom_01_6_position_zero() -> bool:
    return _base_after(0) == "MulBackward0" and _base_after(1) != "MulBackward0"


def symptom_01_6_base_not_rebased() -> bool:
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    Doubled.apply(base[1:])
    middle = leaf([1.0]) * 3
    Doubled.apply(middle)
    return base.grad_fn.name() == "MulBackward0" and middle.grad_fn.name() == "CustomBackward"


def symptom_01_6_first_input() -> bool:
    x, memory = leaf([5.0]), torch.zeros(3)

    def forward(ctx, x, target):
        ctx.mark_dirty(target)
        return target.copy_(x)

    make(forward, lambda ctx, g: (g, None)).apply(x, memory[1:2])
    told = error_of((memory * 3).sum().backward)
    return told != "" or x.grad is None


def symptom_01_6_first_output() -> bool:
    def forward(ctx, a, b):
        ctx.mark_dirty(a, b)
        return a.mul_(2), b.mul_(3)

    first, second = make(forward, lambda ctx, g, h: (g, h)).apply(leaf(1.0) * 1, leaf(1.0) * 1)
    return (first.output_nr, second.output_nr) == (0, 0)


def symptom_01_6_one_mark_kept() -> bool:
    def forward(ctx, a, b):
        ctx.mark_dirty(a, b)
        return a.mul_(2), b.mul_(3)

    a, b = leaf(1.0) * 1, leaf(1.0) * 1
    first, second = make(forward, lambda ctx, g, h: (g, h)).apply(a, b)
    return (first is a) != (second is b)
