"""Symptoms of stage 04a."""

import re

import numpy as np

import minigrad as torch
from minigrad import shapes
from minigrad.engine import validate
from minigrad.ops.math import maximum
from minigrad.ops.nn import softmax


def _size(a, b):
    """The shape, or None where there is an error."""
    try:
        return tuple(shapes.infer_size(a, b))
    except Exception:
        return None


def _misfit(a, b) -> str:
    try:
        shapes.infer_size(a, b)
    except RuntimeError as error:
        return str(error)
    return ""


# ------------------------------------------------------------------- 04a.1


def symptom_04a_1_result_is_a_list() -> bool:
    return isinstance(shapes.infer_size((3, 1), (4,)), list)


def symptom_04a_1_aligned_at_front() -> bool:
    return ((_size((3, 2), (3,)) == (3, 2) and _size((2, 3), (3,)) != (2, 3))
            or (_size((3,), (3, 2)) == (3, 2) and _size((3,), (2, 3)) != (2, 3)))


def symptom_04a_1_takes_larger() -> bool:
    return (_size((0, 3), (1, 3)) == (1, 3) and _size((3, 1), (4,)) == (3, 4)
            and _size((4,), (3, 1)) == (3, 4))


def symptom_04a_1_refuses_a_one() -> bool:
    found = _size((1, 4), (3, 4)), _size((3, 4), (1, 4))
    return None in found and _size((3, 4), (3, 4)) == (3, 4)


def symptom_04a_1_later_one_wins() -> bool:
    return _size((3, 4), (1, 4)) == (1, 4)


def symptom_04a_1_first_one_stays() -> bool:
    return _size((1, 4), (3, 4)) == (1, 4)


def symptom_04a_1_error_returned() -> bool:
    return isinstance(shapes.infer_size((3,), (4,)), RuntimeError)


def symptom_04a_1_no_error() -> bool:
    return isinstance(shapes.infer_size((3,), (4,)), tuple | list)


def symptom_04a_1_other_error() -> bool:
    try:
        shapes.infer_size((3,), (4,))
    except RuntimeError:
        return False
    except Exception:
        return _size((3,), (3,)) == (3,)
    return False


def symptom_04a_1_wrong_dimension_named() -> bool:
    told = _misfit((2, 3), (4,))
    return bool(told) and not told.endswith("dimension 1")


def symptom_04a_1_sizes_turned_round() -> bool:
    told = _misfit((2, 3), (4,))
    return "tensor a (4)" in told and "tensor b (3)" in told


def symptom_04a_1_first_misfit() -> bool:
    return (_misfit((2, 3), (4, 5)).endswith("dimension 0")
            and _misfit((2, 3), (4,)).endswith("dimension 1"))


# ------------------------------------------------------------------- 04a.2

GRAD = np.array([[1.0, 2.0], [3.0, 5.0]])


def _sum(shape, grad=GRAD):
    """The sum as a list, or None where there is an error."""
    try:
        return validate.sum_to(grad.copy(), shape).tolist()
    except Exception:
        return None


def symptom_04a_2_mean() -> bool:
    return _sum((2,)) == [2, 3.5] or _sum((2, 1)) == [[1.5], [4]]


def symptom_04a_2_one_copy() -> bool:
    grad = np.array([[1.0, 5.0], [3.0, 2.0]])  # neither copy is the greatest in each place
    return (_sum((2,), grad) in ([1, 5], [3, 2]) or _sum((2, 1), grad) in ([[1], [3]], [[5], [2]])
            or _sum((1, 2), grad) in ([[1, 5]], [[3, 2]]))


def symptom_04a_2_everything_summed() -> bool:
    return _sum((2,)) in (11, [11, 11], [11])


def symptom_04a_2_back_summed() -> bool:
    return _sum((2,)) == [3, 8]


def symptom_04a_2_ones_vanish() -> bool:
    return _sum((2, 1)) == [3, 8] and _sum((2,)) == [4, 7]


def symptom_04a_2_front_not_summed() -> bool:
    return (_sum((2, 1)) == [[3], [8]] and _sum((1, 2)) == [[4, 7]]
            and _sum((2,)) in (None, GRAD.tolist()))


def symptom_04a_2_front_stay_as_ones() -> bool:
    return _sum((2,)) == [[4, 7]]


def symptom_04a_2_one_in_front_only() -> bool:
    cube = np.ones((3, 4, 2))
    return (_sum((2,)) == [4, 7] and _sum((2, 1)) == [[3], [8]]
            and _sum((2,), cube) != [12, 12])


def symptom_04a_2_ones_not_summed() -> bool:
    return (_sum((2,)) == [4, 7] and _sum((2, 1)) in (None, GRAD.tolist())
            and _sum((1, 2)) in (None, GRAD.tolist()) and _sum((1, 1)) != [[11]])


def symptom_04a_2_not_shifted() -> bool:
    cube = np.arange(8.0).reshape(2, 2, 2)
    return (_sum((2,)) == [4, 7] and _sum((2, 1)) == [[3], [8]] and _sum((1, 2)) == [[4, 7]]
            and _sum((2,), cube) == [12, 16]
            and _sum((2, 1), cube) != cube.sum((0, 2)).reshape(2, 1).tolist())


def symptom_04a_2_nothing_to_sum() -> bool:
    try:
        found = validate.sum_to(torch.tensor(GRAD), (2, 2))
    except RuntimeError:
        found = None
    right = validate.sum_to(torch.tensor(GRAD), (2,))
    return right.tolist() == [4.0, 7.0] and (found is None or found.tolist() != GRAD.tolist())


def symptom_04a_2_graph_cut() -> bool:
    grad = torch.ones(3, 2, requires_grad=True)
    given = [validate.sum_to(grad, shape) for shape in ((2,), (3, 1))]
    return (all(isinstance(each, torch.Tensor) for each in given)
            and not all(each.requires_grad for each in given))


def symptom_04a_2_number() -> bool:
    return isinstance(validate.sum_to(GRAD.copy(), ()), np.generic)


def symptom_04a_2_tensor_becomes_array() -> bool:
    given = [validate.sum_to(torch.ones(3, 2), shape) for shape in ((2,), (3, 1))]
    return any(isinstance(each, np.ndarray) for each in given)


# ------------------------------------------------------------------- 04a.3


def symptom_04a_3_expandable_both_ways() -> bool:
    return shapes.is_expandable_to((3,), (1,)) is True


def symptom_04a_3_expandable_to_fewer() -> bool:
    return (shapes.is_expandable_to((2, 3), (3,)) is True
            and shapes.is_expandable_to((3,), (1,)) is False)


def symptom_04a_3_expandable_at_front() -> bool:
    return (shapes.is_expandable_to((2,), (2, 3)) is True
            and shapes.is_expandable_to((3,), (2, 3)) is False)


def symptom_04a_3_expandable_same_length() -> bool:
    return (shapes.is_expandable_to((3,), (2, 3)) is False
            and shapes.is_expandable_to((1, 3), (2, 3)) is True)


def symptom_04a_3_expandable_equal_only() -> bool:
    return (shapes.is_expandable_to((3, 4), (2, 3, 4)) is True
            and shapes.is_expandable_to((3, 1), (2, 3, 4)) is False)


def _node(*shape, dtype=torch.float32):
    return torch.exp(torch.zeros(shape, dtype=dtype, requires_grad=True)).grad_fn


def _fit(grad, *shape):
    """The fitted gradient, or the error."""
    try:
        return validate.match_metadata(grad, _node(*shape), 0, _node(1), 0)
    except Exception as error:
        return error


def _refused(result) -> bool:
    return isinstance(result, RuntimeError) and "invalid gradient" in str(result)


def _copies():
    return _fit(np.ones((2, 3), np.float32), 3), _fit(np.ones((2, 3), np.float32), 2, 1)


def symptom_04a_3_not_summed() -> bool:
    return any(getattr(each, "shape", None) == (2, 3) for each in _copies())


def symptom_04a_3_reshaped() -> bool:
    same = _fit(np.ones(3, np.float32), 3)
    return (getattr(same, "shape", None) == (3,)
            and all(isinstance(each, ValueError) for each in _copies()))


def symptom_04a_3_refuses_copies() -> bool:
    return (all(_refused(each) for each in _copies())
            and _refused(_fit(np.ones(1, np.float32), 3)))


def symptom_04a_3_check_reversed() -> bool:
    small = np.ones(1, np.float32)
    return any(_refused(each) for each in _copies()) and not _refused(_fit(small, 3))


def symptom_04a_3_accepts_any_shape() -> bool:
    fine = all(getattr(each, "shape", None) in ((3,), (2, 1)) for each in _copies())
    return fine and not _refused(_fit(np.ones(4, np.float32), 3))


def symptom_04a_3_dtype_kept() -> bool:
    given = _fit(np.ones(3), 3)
    return getattr(given, "dtype", None) == np.float64


def symptom_04a_3_integers_stay() -> bool:
    given = _fit(np.ones(3, np.int64), 3)
    return getattr(given, "dtype", None) == np.int64


def _output(index, position):
    """The shape of a fitted gradient of two ones for one of two outputs; None if it's refused."""
    node = torch.split(torch.ones(3, requires_grad=True), [1, 2])[0].grad_fn
    try:
        return validate.match_metadata(
            np.ones(2, np.float32), node, index, _node(1), position).shape
    except RuntimeError:
        return None


def symptom_04a_3_first_output() -> bool:
    return _output(0, 1) == _output(1, 1) == (1,)


def symptom_04a_3_position_for_index() -> bool:
    return _output(0, 0) == _output(1, 0) == (1,) and _output(0, 1) == (2,)


def _told(grad):
    try:
        source = torch.ones(1, requires_grad=True).sin().grad_fn
        validate.match_metadata(grad, _node(3), 0, source, 1)
    except RuntimeError as error:
        return str(error)
    return ""


def symptom_04a_3_names_target() -> bool:
    return "ExpBackward" in _told(np.ones(4, np.float32))


def symptom_04a_3_index_for_position() -> bool:
    return "at index 0" in _told(np.ones(4, np.float32))


def symptom_04a_3_dtype_forgotten_after_sum() -> bool:
    target = _node(3)
    plain = validate.match_metadata(np.ones(3), target, 0, _node(1), 0)
    summed = validate.match_metadata(np.ones((2, 3)), target, 0, _node(1), 0)
    return plain.dtype == np.float32 and summed.dtype == np.float64


def symptom_04a_3_numbers_stay() -> bool:
    given = validate.match_metadata(np.float32(2.0), _node(), 0, _node(1), 0)
    return not isinstance(given, np.ndarray)


def symptom_04a_3_error_returned() -> bool:
    return isinstance(_fit(np.ones(4, np.float32), 3), RuntimeError) and not _told(
        np.ones(4, np.float32))


def symptom_04a_3_shapes_swapped() -> bool:
    return "got [3] but expected shape compatible with [4]" in _told(np.ones(4, np.float32))


def symptom_04a_3_asks_source() -> bool:
    target, source = _node(3), _node(2)
    return validate.match_metadata(np.ones((3, 2), np.float32), target, 0, source, 0).shape == (2,)


def symptom_04a_3_numbers_fail() -> bool:
    right = _fit(np.ones(3, np.float32), 3)
    return isinstance(right, np.ndarray) and isinstance(_fit(2.0), AttributeError)


# ------------------------------------------------------------------- 04a.4


def _grads(fn, *values, g=7.0):
    """The gradients of `fn` at some numbers for the result's gradient `g`, as a list."""
    inputs = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    try:
        fn(*inputs).backward(torch.tensor(g, dtype=torch.float64))
    except Exception:
        return [None] * len(values)
    return [None if each.grad is None else each.grad.item() for each in inputs]


def _near(got, *wanted) -> bool:
    return got is not None and any(abs(got - each) <= 1e-6 * max(1, abs(each)) for each in wanted)


def _add(x, y):
    return torch.add(x, y, alpha=3)


def _sub(x, y):
    return torch.sub(x, y, alpha=3)


def _div():
    return _grads(lambda x, y: x / y, 6.0, 4.0, g=8.0)  # 2 and -3


def symptom_04a_4_own_factor() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    return _near(a, 14) or _near(b, 21)


def symptom_04a_4_g_forgotten() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    found = _near(a, 3) or _near(b, 2)
    for fn, second in ((_add, 3), (_sub, -3)):
        a, b = _grads(fn, 2.0, 3.0)
        found = found or _near(a, 1) or _near(b, second)
    a, b = _div()
    return (found or _near(_grads(lambda x: -x, 2.0)[0], -1) or _near(a, 0.25)
            or _near(b, -0.375))


def symptom_04a_4_g_added() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    return _near(a, 10) or _near(b, 9)


def symptom_04a_4_no_sign() -> bool:
    a, b = _grads(lambda x, y: x - y, 2.0, 3.0)
    return _near(a, 7) and _near(b, 7)


def symptom_04a_4_neg_no_sign() -> bool:
    return _near(_grads(lambda x: -x, 2.0)[0], 7)


def symptom_04a_4_alpha_on_self() -> bool:
    return any(_near(_grads(fn, 2.0, 3.0)[0], 21, -21) for fn in (_add, _sub))


def symptom_04a_4_alpha_forgotten() -> bool:
    pairs = (_grads(_add, 2.0, 3.0), _grads(_sub, 2.0, 3.0))
    return any(_near(a, 7) and _near(b, 7, -7) for a, b in pairs)


def symptom_04a_4_alpha_sign() -> bool:
    return _near(_grads(_sub, 2.0, 3.0)[1], 21)


def symptom_04a_4_times_divisor() -> bool:
    return _near(_div()[0], 32)


def symptom_04a_4_divisor_ignored() -> bool:
    return _near(_div()[0], 8)


def symptom_04a_4_quotient_no_sign() -> bool:
    return _near(_div()[1], 3)


def symptom_04a_4_not_squared() -> bool:
    return _near(_div()[1], -12, 12)


def symptom_04a_4_no_numerator() -> bool:
    return _near(_div()[1], -0.5, 0.5)


def symptom_04a_4_wrong_divisor() -> bool:
    a, b = _div()
    return _near(a, 8 / 6) or _near(b, -32 / 36)


def _quotient(x, y, g):
    """The gradients of a quotient in float32."""
    inputs = [torch.tensor(value, requires_grad=True) for value in (x, y)]
    (inputs[0] / inputs[1]).backward(torch.tensor(g))
    return [each.grad.item() for each in inputs]


def symptom_04a_4_self_overflows() -> bool:
    lost = _quotient(1e30, 1e25, 1.0)[0]
    return _near(_div()[0], 2) and not 0 < lost < 1


def symptom_04a_4_draft_names() -> bool:
    for compute in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b):
        a, b = (torch.tensor(value, requires_grad=True) for value in (6.0, 2.0))
        try:
            compute(a, b).backward()
        except NameError as error:
            if re.search("name '[xy]' is not defined", str(error)):
                return True
    return False


def symptom_04a_4_g_overflows() -> bool:
    return (_near(_div()[1], -3) and abs(_quotient(1e10, 1e10, 1e30)[1]) == float("inf")
            and _near(_quotient(1e30, 1e25, 1.0)[1], -1e-20))


def symptom_04a_4_overflows() -> bool:
    if not (_near(_div()[0], 2) and _near(_div()[1], -3)):
        return False
    x, y = torch.tensor(1e30, requires_grad=True), torch.tensor(1e25, requires_grad=True)
    (x / y).backward()
    return y.grad.item() == 0 or y.grad.item() != y.grad.item()


# ------------------------------------------------------------------- 04a.5

E2, S2, T2 = float(np.exp(2.0)), float(1 / (1 + np.exp(-2.0))), float(np.tanh(2.0))


def _slope(name, at=2.0):
    """The gradient for g = 7."""
    return _grads(getattr(torch, name), at)[0]


def symptom_04a_5_g_forgotten() -> bool:
    return (_near(_slope("exp"), E2) or _near(_slope("log"), 0.5)
            or _near(_slope("sigmoid"), S2 * (1 - S2)) or _near(_slope("tanh"), 1 - T2 * T2)
            or _near(_slope("sqrt", 9.0), 1 / 6))


def symptom_04a_5_exp_of_input() -> bool:
    return _near(_slope("exp"), 14)


def symptom_04a_5_exp_of_result() -> bool:
    return _near(_slope("exp"), 7 * float(np.exp(E2)))


def symptom_04a_5_no_namespace() -> bool:
    for name in ("exp", "log", "sigmoid", "tanh"):
        x = torch.tensor(2.0, requires_grad=True)
        try:
            getattr(torch, name)(x).backward()
        except NameError as error:
            return error.name == "F"
    return False


def symptom_04a_5_exp_power_rule() -> bool:
    return _near(_slope("exp"), 14 * float(np.exp(1.0)))


def symptom_04a_5_log_of_result() -> bool:
    return _near(_slope("log"), 7 / float(np.log(2.0)))


def symptom_04a_5_log_times() -> bool:
    return _near(_slope("log"), 14, 7 * float(np.log(2.0)))


def symptom_04a_5_sigmoid_of_input() -> bool:
    return _near(_slope("sigmoid"), -14)


def symptom_04a_5_sigmoid_half() -> bool:
    return _near(_slope("sigmoid"), 7 * S2, 7 * (1 - S2))


def symptom_04a_5_sigmoid_as_tanh() -> bool:
    return _near(_slope("sigmoid"), 7 * (1 - S2 * S2))


def _sigmoid_far_out() -> bool:
    far = _slope("sigmoid", -1000.0)
    return _near(_slope("sigmoid"), 7 * S2 * (1 - S2)) and far is not None and far != far


def _asks_the_result(name) -> bool:
    """Whether the formula names the result, so that its node saves it."""
    node = getattr(torch, name)(torch.tensor(1.0, requires_grad=True)).grad_fn
    return getattr(node, "_saved_result", None) is not None


def symptom_04a_5_sigmoid_far_out() -> bool:
    return _sigmoid_far_out() and not _asks_the_result("sigmoid")


def symptom_04a_5_sigmoid_of_e() -> bool:
    return _sigmoid_far_out() and _asks_the_result("sigmoid")


def symptom_04a_5_tanh_of_input() -> bool:
    return _near(_slope("tanh"), -21)


def symptom_04a_5_tanh_not_squared() -> bool:
    return _near(_slope("tanh"), 7 * (1 - T2))


def symptom_04a_5_tanh_as_sigmoid() -> bool:
    return _near(_slope("tanh"), 7 * T2 * (1 - T2))


def symptom_04a_5_sqrt_without_two() -> bool:
    return _near(_slope("sqrt", 9.0), 7 / 3)


def symptom_04a_5_sqrt_of_input() -> bool:
    return _near(_slope("sqrt", 9.0), 7 / 18)


def symptom_04a_5_sqrt_times() -> bool:
    return _near(_slope("sqrt", 9.0), 42, 10.5)


# ------------------------------------------------------------------- 04a.6


def _cube():
    return _grads(lambda x: x ** 3, 3.0)[0]  # 189


def _power():
    return _grads(torch.pow, 2.0, 3.0)  # 84 and 56 log 2


LOG2 = float(np.log(2.0))


def symptom_04a_6_g_forgotten() -> bool:
    return _near(_cube(), 27) or _near(_power()[0], 12) or _near(_power()[1], 8 * LOG2)


def symptom_04a_6_exponent_stays() -> bool:
    return _near(_cube(), 567) or _near(_power()[0], 168)


def symptom_04a_6_no_factor() -> bool:
    return _near(_cube(), 63) or _near(_power()[0], 28)


def symptom_04a_6_factor_lowered() -> bool:
    return _near(_cube(), 126, 378) or _near(_power()[0], 56, 112)


def symptom_04a_6_log_of_exponent() -> bool:
    return _near(_power()[1], 56 * float(np.log(3.0)))


def symptom_04a_6_no_log() -> bool:
    return _near(_power()[1], 56)


def symptom_04a_6_base_for_power() -> bool:
    return _near(_power()[1], 14 * LOG2)


def symptom_04a_6_all_or_none() -> bool:
    def by_base(bases, exponents):
        base = torch.tensor(bases, requires_grad=True)
        try:
            torch.pow(base, torch.tensor(exponents)).sum().backward()
        except Exception:
            return None
        return str(base.grad.tolist())

    return (by_base([0.0, 2.0], [0.0, 3.0]) == "[nan, 12.0]"
            and by_base([0.0, 0.0], [0.0, 0.0]) == "[0.0, 0.0]")


def symptom_04a_6_power_zero() -> bool:
    by_number = _grads(lambda x: x ** 0, 0.0)[0]
    by_tensor = _grads(torch.pow, 0.0, 0.0)[0]
    return _near(_cube(), 189) and _near(_power()[0], 84) and any(
        each is not None and each != each for each in (by_number, by_tensor))


def symptom_04a_6_zero_times_g() -> bool:
    return any(found is not None and found != found and usual == 0 for found, usual in (
        (_grads(lambda x: x ** 0, 2.0, g=float("inf"))[0], _grads(lambda x: x ** 0, 0.0)[0]),
        (_grads(torch.pow, 2.0, 0.0, g=float("inf"))[0], _grads(torch.pow, 0.0, 0.0)[0])))


def symptom_04a_6_nan_replaced() -> bool:
    return ((_near(_power()[0], 84) and _grads(torch.pow, -2.0, 0.5)[0] == 0)
            or (_near(_power()[1], 56 * LOG2) and _grads(torch.pow, -2.0, 2.0)[1] == 0))


def symptom_04a_6_zero_times_base() -> bool:
    found = _grads(lambda x: x ** 0, float("inf"))[0]
    return found is not None and found != found and _grads(lambda x: x ** 0, 0.0)[0] == 0


def symptom_04a_6_one_question() -> bool:
    inputs = [torch.tensor(values, requires_grad=True) for values in ([2.0, 3.0], [1.0, 2.0])]
    try:
        torch.pow(*inputs).sum().backward()
    except (ValueError, RuntimeError) as error:
        return "ambiguous" in str(error)
    return False


def symptom_04a_6_base_zero() -> bool:
    found = _grads(torch.pow, 0.0, 2.0)[1]
    return _near(_power()[1], 56 * LOG2) and found is not None and found != found


def symptom_04a_6_pole() -> bool:
    return (_near(_power()[1], 56 * LOG2) and _grads(torch.pow, 0.0, 2.0)[1] == 0
            and _grads(torch.pow, 0.0, -1.0)[1] == 0)


# ------------------------------------------------------------------- 04a.7


def _relu(*values, g=7.0):
    """The gradients of relu at some numbers, None where there is an error."""
    return [_grads(torch.relu, value, g=g)[0] for value in values]


def symptom_04a_7_relu_passes_all() -> bool:
    return _relu(-2.0, 3.0) == [7, 7] and _relu(-2.0, g=-7.0) == [-7]


def symptom_04a_7_relu_reversed() -> bool:
    return _relu(-2.0, 3.0) == [7, 0]


def symptom_04a_7_relu_one_at_zero() -> bool:
    return _relu(-2.0, 3.0) == [0, 7] and _near(_relu(0.0)[0], 7, 3.5)


def symptom_04a_7_relu_times_result() -> bool:
    return _relu(-2.0, 3.0) == [0, 21]


def symptom_04a_7_relu_g_forgotten() -> bool:
    return _relu(-2.0, 3.0) == [0, 1]


def symptom_04a_7_relu_mask() -> bool:
    far = _relu(-2.0, g=float("inf"))[0]
    return _relu(-2.0, 0.0, 3.0) == [0, 0, 7] and far is not None and far != far


def symptom_04a_7_relu_plain_zero() -> bool:
    if _relu(-2.0, 0.0, 3.0) != [0, 0, 7]:
        return False
    x = torch.tensor([-2.0, 3.0], requires_grad=True)
    (slope,) = torch.autograd.grad(torch.relu(x).sum(), x, create_graph=True)
    return not slope.requires_grad


def _share(g=(8.0, 6.0, 4.0), loses=(False, True, False), tie=(False, False, True)):
    """The shares as a list, or None where there is an error."""
    try:
        return maximum.share(*map(np.array, (g, loses, tie))).tolist()
    except Exception:
        return None


def symptom_04a_7_tie_twice() -> bool:
    return _share() == [8, 0, 4]


def symptom_04a_7_tie_lost() -> bool:
    return _share() == [8, 0, 0]


def symptom_04a_7_loser_gets_it() -> bool:
    return (_share() or ())[:2] == [0, 6]


def symptom_04a_7_half_of_all() -> bool:
    return _share() == [4, 0, 2]


def symptom_04a_7_nobody_loses() -> bool:
    return (_share() or ())[:2] == [8, 6]


def symptom_04a_7_share_g_forgotten() -> bool:
    return (_share() or ())[:2] == [1, 0]


def symptom_04a_7_share_mask() -> bool:
    far = _share(g=(8.0, float("inf"), 4.0))
    return _share() == [8, 0, 2] and far is not None and far[1] != far[1]


# ------------------------------------------------------------------- 04a.8

ROWS = [[1.0, 2.0, 4.0], [0.5, -3.0, 0.25]]
EXP = np.exp(ROWS)
SOFTMAX = EXP / EXP.sum(1, keepdims=True)


def _forward(function, rows=ROWS, axis=1):
    """The array, or one of NaN where there is an error."""
    try:
        with np.errstate(all="ignore"):
            return np.array(function(np, np.array(rows), axis))
    except Exception:
        return np.full(np.shape(rows), np.nan)


def _same(got, wanted) -> bool:
    return np.shape(got) == np.shape(wanted) and bool(np.allclose(got, wanted, 1e-6, 1e-9))


def _soft(**more):
    return _forward(softmax.stable_softmax, **more)


def _logs(**more):
    return _forward(softmax.stable_log_softmax, **more)


def symptom_04a_8_overflows() -> bool:
    return _same(_soft(), SOFTMAX) and bool(np.isnan(_soft(rows=[[1000.0, 1000.0]])).any())


def symptom_04a_8_largest_of_all() -> bool:
    apart = _soft(rows=[[0.0, 0.0], [2000.0, 2000.0]])
    return (_same(_soft(), SOFTMAX) and _same(_soft(rows=[[1000.0, 1000.0]]), [[0.5, 0.5]])
            and bool(np.isnan(apart).any()))


def symptom_04a_8_sums_over_all() -> bool:
    return abs(_soft().sum() - 1) < 1e-9 and len(ROWS) > 1


def symptom_04a_8_axis_lost() -> bool:
    try:
        softmax.stable_softmax(np, np.array(ROWS), 1)
    except ValueError as error:
        return "broadcast" in str(error)
    return False


def symptom_04a_8_last_axis() -> bool:
    return _same(_soft(axis=1), SOFTMAX) and _same(_soft(axis=0), SOFTMAX)


def symptom_04a_8_not_divided() -> bool:
    shifted = np.exp(np.array(ROWS) - np.max(ROWS, 1, keepdims=True))
    return _same(_soft(), shifted) or _same(_soft(), EXP)


def symptom_04a_8_log_of_softmax() -> bool:
    return (_same(_logs(), np.log(SOFTMAX))
            and _same(_logs(rows=[[1000.0, 1000.0]]), [[-LOG2, -LOG2]])
            and bool(np.isinf(_logs(rows=[[0.0, 1000.0]])).any()))


def symptom_04a_8_log_overflows() -> bool:
    far = _logs(rows=[[1000.0, 1000.0]])
    return _same(_logs(), np.log(SOFTMAX)) and not _same(far, [[-LOG2, -LOG2]])


def symptom_04a_8_log_without_sum() -> bool:
    return _same(_logs(), np.array(ROWS) - np.max(ROWS, 1, keepdims=True)) or _same(_logs(), ROWS)


def symptom_04a_8_log_without_x() -> bool:
    got = _logs()
    return not np.isnan(got).any() and bool(np.ptp(got, axis=1).max() == 0)


def symptom_04a_8_log_shifted_once() -> bool:
    most = np.max(ROWS, 1, keepdims=True)
    return _same(_logs(), np.log(SOFTMAX) + most) or _same(_logs(), np.log(SOFTMAX) - most)


def symptom_04a_8_writes() -> bool:
    for function in (softmax.stable_softmax, softmax.stable_log_softmax):
        x = np.array(ROWS)
        function(np, x, 1)
        if x.tolist() != ROWS:
            return True
    return False


G = [3.0, 5.0, 7.0]


def _back(name):
    """The gradient of one row for G, with the row's softmax; None where there is an error."""
    x = torch.tensor(ROWS[0], dtype=torch.float64, requires_grad=True)
    try:
        getattr(torch, name)(x, 0).backward(torch.tensor(G, dtype=torch.float64))
    except Exception:
        return None, SOFTMAX[0]
    return x.grad.numpy(), SOFTMAX[0]


def symptom_04a_8_diagonal_only() -> bool:
    got, s = _back("softmax")
    return _same(got, G * s * (1 - s))


def symptom_04a_8_gradient_without_sum() -> bool:
    got, s = _back("softmax")
    return _same(got, G * s)


def symptom_04a_8_sum_of_g() -> bool:
    got, s = _back("softmax")
    return _same(got, s * (np.array(G) - sum(G)))


def symptom_04a_8_gradient_sums_all() -> bool:
    x = torch.tensor(ROWS, dtype=torch.float64, requires_grad=True)
    g = np.array([G, [1.0, 2.0, -1.0]])
    torch.softmax(x, 1).backward(torch.tensor(g))
    weighted = g * SOFTMAX
    return _same(x.grad.numpy(), weighted - SOFTMAX * weighted.sum())


def symptom_04a_8_log_gradient_of_result() -> bool:
    got, s = _back("log_softmax")
    return _same(got, G - np.log(s) * sum(G))


def symptom_04a_8_log_gradient_as_softmax() -> bool:
    got, s = _back("log_softmax")
    return any(_same(got, G * r - r * (G * r).sum()) for r in (s, np.log(s)))


def symptom_04a_8_log_gradient_without_sum() -> bool:
    got, s = _back("log_softmax")
    return _same(got, G - s * G)


def symptom_04a_8_log_gradient_passes() -> bool:
    return _same(_back("log_softmax")[0], G)
