"""Symptoms of stage 06b: each runs a tiny program and tells whether it shows one mistake."""

import gc
import weakref

import minigrad as torch
from minigrad.autograd import Function, grad
from minigrad.autograd.function import once_differentiable
from minigrad.autograd.function.outputs import alias, join_to_node, join_written
from minigrad.examples.checkpoint import RandomSegment, Segment
from minigrad.op.inplace import values_to_save
from minigrad.ops.math.arithmetic import Mul
from minigrad.ops.math.exp_log import Exp
from minigrad.ops.math.powers import PowTensor


def make(forward, backward=None):
    body = {"forward": staticmethod(forward)}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Custom", (Function,), body)


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def raised(program):
    """Return what a program raises, or None; an open hole is passed on."""
    try:
        program()
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


def without_collector(program):
    """Run a program while nothing but counting of references frees memory."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return program()
    finally:
        if enabled:
            gc.enable()


# --- 06b.1 ---------------------------------------------------------------------------------------


def saved(op, before=None, grad=False):
    """Return a target, and what is to be saved in its place."""
    y, z = torch.tensor([1.0, 2.0], requires_grad=grad), torch.tensor([3.0, 4.0])
    return y, values_to_save(op, [y, z] if op is Mul else [y], before)[0]


def symptom_06b_1_no_clone() -> bool:
    y, old = saved(Mul)
    return old is y


def symptom_06b_1_same_memory() -> bool:
    y, old = saved(Mul)
    return old is not y and old.data_ptr() == y.data_ptr()


def symptom_06b_1_clone_detached() -> bool:
    y, old = saved(Mul, grad=True)
    return old.data_ptr() != y.data_ptr() and not old.requires_grad


def symptom_06b_1_always_cloned() -> bool:
    y, old = saved(Exp)
    return old is not y


def symptom_06b_1_clone_ignored() -> bool:
    before = torch.tensor([5.0])
    _, old = saved(Mul, before=before)
    return old is not before


def symptom_06b_1_clone_asked_for_its_value() -> bool:
    one, zero, several = torch.tensor([5.0]), torch.tensor([0.0]), torch.tensor([5.0, 6.0])
    if saved(Mul, before=one)[1] is not one:
        return False
    return "ambiguous" in str(raised(lambda: saved(Mul, before=several))) or (
        saved(Mul, before=zero)[1] is not zero)


def pow_cloned():
    """Return whether the target is cloned for a formula that needs it and the result."""
    y, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    return values_to_save(PowTensor, [y, z], None)[0] is not y


def symptom_06b_1_no_clone_beside_result() -> bool:
    y, old = saved(Mul)
    return old is not y and not pow_cloned()


def versions():
    """Return the versions of a recorded and of an unrecorded target after one write."""
    y, fixed = leaf([1.0]) * 1, torch.tensor([1.0])
    y.add_(1)
    fixed.add_(1)
    return y._version, fixed._version


def symptom_06b_1_not_counted() -> bool:
    return versions() == (0, 0)


def symptom_06b_1_counted_only_recorded() -> bool:
    return versions() == (1, 0)


def symptom_06b_1_counted_only_unrecorded() -> bool:
    return versions() == (0, 1)


def symptom_06b_1_counted_twice() -> bool:
    return max(versions()) > 1


def symptom_06b_1_no_history() -> bool:
    y = leaf([1.0]) * 1
    before = y.grad_fn
    y.add_(1)
    return y.grad_fn is before


def symptom_06b_1_result_not_saved() -> bool:
    y = (leaf([1.0]) * 1).exp_()
    return isinstance(raised(lambda: y.backward()), (AttributeError, TypeError))


def symptom_06b_1_saved_before_counting() -> bool:
    y = (leaf([1.0]) * 1).exp_()
    return versions() == (1, 1) and "modified" in str(raised(lambda: y.backward()))


def symptom_06b_1_saved_before_history() -> bool:
    def circle():
        y = torch.tensor([2.0])
        y.pow_(leaf([3.0]))
        gone = weakref.ref(y)
        linked = y.grad_fn is not None
        del y
        return linked and gone() is not None

    return pow_cloned() and without_collector(circle)


def symptom_06b_1_node_none_fails() -> bool:
    return isinstance(raised(lambda: torch.tensor([1.0]).add_(1)), AttributeError)


# --- 06b.2 ---------------------------------------------------------------------------------------


def returned(x):
    return make(lambda ctx, x: x, lambda ctx, g: g).apply(x)


def symptom_06b_2_input_itself() -> bool:
    x = leaf([1.0])
    return returned(x) is x


def symptom_06b_2_alias_itself() -> bool:
    x = torch.tensor([1.0])
    return alias(x) is x


def symptom_06b_2_copies() -> bool:
    x = torch.tensor([1.0])
    return alias(x).data_ptr() != x.data_ptr()


def symptom_06b_2_no_view() -> bool:
    x = torch.tensor([1.0])
    return alias(x).data_ptr() == x.data_ptr() and not alias(x)._is_view()


def symptom_06b_2_may_be_written_to() -> bool:
    fixed = returned(torch.tensor([1.0]))
    told = str(raised(lambda: fixed.mul_(leaf([2.0]))))
    return fixed._is_view() and "custom Function" not in told


def symptom_06b_2_alias_in_the_graph() -> bool:
    return alias(leaf([1.0]) * 1)._node is not None


def node_of_custom():
    return make(lambda ctx, x: x)._backward_cls()


def symptom_06b_2_always_an_alias() -> bool:
    made = torch.tensor([1.0])
    return join_to_node(node_of_custom(), made, 0, False) is not made


def symptom_06b_2_outside_taken() -> bool:
    outside = leaf([1.0]) * 3
    return join_to_node(node_of_custom(), outside, 0, False) is outside


def symptom_06b_2_only_with_history() -> bool:
    x, made = torch.tensor([1.0]), leaf([1.0]) * 1
    return (join_to_node(node_of_custom(), x, 0, True) is x
            and join_to_node(node_of_custom(), made, 0, True) is not made)


def symptom_06b_2_grad_decides() -> bool:
    outside, plain = leaf([1.0]), torch.tensor([1.0])
    return (join_to_node(node_of_custom(), outside, 0, False) is not outside
            and join_to_node(node_of_custom(), plain, 0, False) is plain)


def symptom_06b_2_twice_is_another() -> bool:
    node, made = node_of_custom(), torch.tensor([1.0])
    first = join_to_node(node, made, 0, False)
    return first is made and join_to_node(node, made, 1, False) is not made


def symptom_06b_2_output_zero() -> bool:
    return join_to_node(node_of_custom(), torch.tensor([1.0]), 1, False)._index == 0


def symptom_06b_2_requires_no_grad() -> bool:
    return not join_to_node(node_of_custom(), torch.tensor([1.0]), 0, False)._requires_grad


def symptom_06b_2_place_for_the_input() -> bool:
    x = leaf([1.0])
    placed = join_to_node(node_of_custom(), x, 0, True)
    return x._node is not None and placed is not x


# --- 06b.3 ---------------------------------------------------------------------------------------


def _doubled(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


Doubled = make(_doubled, lambda ctx, g: g * 2)


def counted():
    """Return how often a recorded and an unrecorded write were counted, beside `mul_` itself."""
    middle, fixed = leaf([1.0]) * 3, torch.tensor([1.0])
    Doubled.apply(middle)
    Doubled.apply(fixed)
    return middle._version - 1, fixed._version - 1


def symptom_06b_3_not_counted() -> bool:
    return counted() == (0, 0)


def symptom_06b_3_counted_only_recorded() -> bool:
    return counted() == (1, 0)


def symptom_06b_3_counted_only_constant() -> bool:
    return counted() == (0, 1)


def symptom_06b_3_counted_twice() -> bool:
    return max(counted()) > 1


def refused():
    """Return a leaf after a write that has to be refused, and the error."""
    x = leaf([1.0])
    x._grad = torch.ones(1)
    return x, raised(lambda: join_written(node_of_custom(), x, 0, True, 0, 1))


def symptom_06b_3_writes_to_leaves() -> bool:
    return refused()[1] is None


def symptom_06b_3_refused_too_late() -> bool:
    x, error = refused()
    return error is not None and (x._version, x._grad is None) != (0, False)


def symptom_06b_3_refuses_too_much() -> bool:
    x = leaf([1.0])
    with torch.no_grad():
        return "a leaf Variable" in str(raised(lambda: Doubled.apply(x)))


def symptom_06b_3_new_tensor() -> bool:
    middle = leaf([1.0]) * 3
    return Doubled.apply(middle) is not middle


def symptom_06b_3_old_history() -> bool:
    middle = leaf([1.0]) * 3
    return Doubled.apply(middle) is middle and middle.grad_fn.name() == "MulBackward0"


def symptom_06b_3_base_not_rebased() -> bool:
    base, middle = leaf([1.0, 2.0, 3.0]) * 1, leaf([1.0]) * 3
    raised(lambda: Doubled.apply(base[1:]))
    Doubled.apply(middle)
    return base.grad_fn.name() == "MulBackward0" and middle.grad_fn.name() == "CustomBackward"


def symptom_06b_3_first_input() -> bool:
    x, memory = leaf([5.0]), torch.zeros(3)

    def forward(ctx, x, target):
        ctx.mark_dirty(target)
        return target.copy_(x)

    make(forward, lambda ctx, g: (g, None)).apply(x, memory[1:2])
    return raised(lambda: (memory * 3).sum().backward()) is not None or x.grad is None


def symptom_06b_3_first_output() -> bool:
    def forward(ctx, a, b):
        ctx.mark_dirty(a, b)
        return a.mul_(2), b.mul_(3)

    first, second = make(forward, lambda ctx, g, h: (g, h)).apply(leaf(1.0) * 1, leaf(1.0) * 1)
    return (first.output_nr, second.output_nr) == (0, 0)


def symptom_06b_3_old_grad_kept() -> bool:
    written = leaf([1.0]) * 3
    written._grad = torch.ones(1)
    join_written(node_of_custom(), written, 0, True, None, 1)
    return written._grad is not None


def symptom_06b_3_leaf_not_detached() -> bool:
    x = leaf([1.0])
    with torch.no_grad():
        return Doubled.apply(x).requires_grad


def symptom_06b_3_constant_detached() -> bool:
    fixed = torch.tensor([1.0])
    return Doubled.apply(fixed) is not fixed


# --- 06b.4 ---------------------------------------------------------------------------------------


def run(function, x, kind=Segment):
    segment = kind(function, x)
    return segment, segment.run(x)


def wave(x):
    return x.tanh().sin().exp()


def numbers(count=3):
    segment = Segment(wave, leaf([1.0]))
    return segment, [segment.pack(torch.ones(1)) for _ in range(count)]


def symptom_06b_4_tensor_packed() -> bool:
    return any(isinstance(each, torch.Tensor) for each in numbers()[1])


def symptom_06b_4_one_number() -> bool:
    found = numbers()[1]
    return found[0] == 0 and found[1] == 0


def symptom_06b_4_from_one() -> bool:
    return numbers()[1] == [1, 2, 3]


def again(grad=True):
    """Return a segment after its second run."""
    segment, _ = run(wave, leaf([0.5]))
    with torch.set_grad_enabled(grad):
        segment.compute_again()
    return segment


def symptom_06b_4_kept_in_first_run() -> bool:
    segment, _ = run(wave, leaf([0.5]))
    return bool(segment.again)


def symptom_06b_4_not_recorded() -> bool:
    return not again(grad=False).again and bool(again().again)


def symptom_06b_4_nothing_kept() -> bool:
    return not again().again


def symptom_06b_4_numbers_go_on() -> bool:
    return sorted(again().again) == [3, 4, 5]


def symptom_06b_4_one_kept() -> bool:
    return len(again().again) == 1


def symptom_06b_4_with_history() -> bool:
    return any(t.grad_fn is not None for t in again().again.values())


def symptom_06b_4_never_forgotten() -> bool:
    segment = again()
    segment.unpack(0)
    return 0 in segment.again


def symptom_06b_4_all_forgotten() -> bool:
    segment = again()
    segment.unpack(0)
    return not segment.again


def symptom_06b_4_again_each_time() -> bool:
    calls = []
    _, y = run(lambda x: calls.append(1) or wave(x), leaf([0.5]))
    raised(y.backward)
    return len(calls) > 2


def symptom_06b_4_once_only() -> bool:
    _, y = run(wave, leaf([0.5]))
    return raised(lambda: y.backward(retain_graph=True)) is None and isinstance(
        raised(y.backward), KeyError)


def symptom_06b_4_left_behind() -> bool:
    segment = again()
    segment.unpack(1)
    segment.compute_again()
    return sorted(again().again) == [0, 1, 2] and len(segment.again) < 3


def symptom_06b_4_while_some_are_left() -> bool:
    segment, calls = again(), []
    segment.unpack(0)
    segment.function = lambda x: calls.append(x) or wave(x)
    _, y = run(wave, leaf([0.5]))
    return (bool(segment.again) and isinstance(raised(lambda: segment.unpack(0)), KeyError)
            and not calls and raised(lambda: y.backward(retain_graph=True)) is None
            and raised(y.backward) is None)


def symptom_06b_4_never_computed() -> bool:
    _, y = run(wave, leaf([0.5]))
    return isinstance(raised(y.backward), KeyError)


def symptom_06b_4_write_unseen() -> bool:
    y = leaf([0.5]) * 1
    _, result = run(wave, y)
    torch.autograd.graph.increment_version(y)
    return raised(result.backward) is None


# --- 06b.5 ---------------------------------------------------------------------------------------


def drawn(passes=1, draws_between=0):
    """Return what the runs of a segment drew, and what was drawn after them."""
    found = []

    def function(x):
        found.append(torch.rand(2).tolist())
        return x.exp()

    torch.manual_seed(7)
    _, y = run(function, leaf([0.5]), RandomSegment)
    torch.rand(draws_between)
    for _ in range(passes):
        y.backward(retain_graph=True)
    return found, torch.rand(2).tolist()


def symptom_06b_5_no_second_run() -> bool:
    return raised(drawn) is not None


def symptom_06b_5_other_numbers() -> bool:
    found, _ = drawn()
    return found[0] != found[1]


def symptom_06b_5_numbers_drift() -> bool:
    found, _ = drawn(passes=2)
    return found[0] == found[1] != found[2]


def symptom_06b_5_numbers_to_come() -> bool:
    found, last = drawn(draws_between=3)
    torch.manual_seed(7)
    torch.rand(2), torch.rand(3)
    return found[0] == found[1] and last != torch.rand(2).tolist()


def symptom_06b_5_lost_by_exception() -> bool:
    calls = []

    def failing(x):
        calls.append(torch.rand(2))
        if len(calls) == 2:
            raise ValueError
        return x.exp()

    _, y = run(failing, leaf([0.5]), RandomSegment)
    torch.rand(3)
    before = torch.get_rng_state().tolist()
    raised(y.backward)
    return torch.get_rng_state().tolist() != before


def once(backward, forward=lambda ctx, *inputs: sum(inputs[1:], inputs[0] * 2)):
    """Return a Function whose backward is marked with once_differentiable."""
    return make(forward, once_differentiable(backward))


def slope_of(function, x, times=None):
    """Return the slope of `function(x) * times` at x, recorded."""
    y = function.apply(x)
    (slope,) = grad((y if times is None else y * times).sum(), x, create_graph=True)
    return slope


def symptom_06b_6_at_once() -> bool:
    x = leaf([1.0, 2.0])
    told = str(raised(lambda: slope_of(once(lambda ctx, g: g * 2), x, x)))
    return "twice" in told or "differentiated" in told


def symptom_06b_6_recorded() -> bool:
    x, factor = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    seen = []

    def backward(ctx, g):
        seen.append((g * factor).requires_grad)
        return g * 2

    slope_of(once(backward), x)
    return seen == [True]


def symptom_06b_6_silent() -> bool:
    x = leaf([1.0, 2.0])
    slope = slope_of(once(lambda ctx, g: g * 2), x, x)
    return str(raised(lambda: slope.sum().backward())).find("twice") < 0


def symptom_06b_6_always() -> bool:
    x = leaf([1.0, 2.0])
    return slope_of(once(lambda ctx, g: g * 2), x).requires_grad


def several(weights):
    """Return the slopes of a Function of two outputs; `weights` marks who requires grad."""
    x = leaf([1.0, 2.0])
    function = make(lambda ctx, x: (x * 2, x * 3), once_differentiable(
        lambda ctx, g, h: g * 2 + h * 3))
    outputs = function.apply(x)
    total = sum((y * (x if mine else 1)).sum() for y, mine in zip(outputs, weights))
    (slope,) = grad(total, x, create_graph=True)
    return slope


def symptom_06b_6_one_is_enough() -> bool:
    messages = [str(raised(lambda weights=weights: several(weights).sum().backward()))
                for weights in ((True, False), (False, True), (True, True))]
    return "twice" in messages[2] and not all("twice" in each for each in messages)


def symptom_06b_6_rows() -> bool:
    x = leaf([1.0, 2.0])
    try:
        return once(lambda ctx, g: g * 2)._backward_cls is None or not isinstance(
            once_differentiable(lambda ctx, g: g * 2)(None, x), torch.Tensor)
    except NotImplementedError:
        raise
    except Exception:
        return True


def symptom_06b_6_asked_for_its_value() -> bool:
    def both(ctx, g):
        return g * 2, None

    return any("ambiguous" in str(raised(lambda backward=backward: once_differentiable(
        backward)(None, leaf([1.0, 2.0])))) for backward in (both, lambda ctx, g: g * 2))


def symptom_06b_6_none() -> bool:
    found = None
    try:
        found = once_differentiable(lambda ctx, g: (g * 2, None))(None, leaf([1.0, 2.0]))
    except NotImplementedError:
        raise
    except Exception:
        return True
    return not isinstance(found, tuple) or len(found) != 2 or found[1] is not None


def symptom_06b_6_marked() -> bool:
    kept = torch.tensor([1.0, 2.0])
    once_differentiable(lambda ctx, g: kept)(None, leaf([1.0, 2.0]))
    return kept.requires_grad


def symptom_06b_6_name() -> bool:
    def backward(ctx, g):
        return g

    return once_differentiable(backward).__name__ != "backward"


def symptom_06b_6_message() -> bool:
    x = leaf([1.0, 2.0])
    slope = slope_of(once(lambda ctx, g: g * 2), x, x)
    told = str(raised(lambda: slope.sum().backward()))
    return "twice" in told and "marked with @once_differentiable" not in told
