"""Symptoms of stage 04a."""

import numpy as np

import minigrad as torch
from minigrad import shapes
from minigrad.engine import validate


def _raises(call, kind=Exception):
    try:
        call()
    except kind:
        return True
    except Exception:
        return False
    return False


def _broadcast(*given):
    """The shape, or None where there is an error."""
    try:
        return tuple(shapes.broadcast(*given))
    except Exception:
        return None


# ------------------------------------------------------------------- 04a.1


def symptom_04a_1_result_is_a_list() -> bool:
    return isinstance(shapes.broadcast((3, 1), (4,)), list)


def symptom_04a_1_aligned_at_front() -> bool:
    return ((_broadcast((3, 2), (3,)) == (3, 2) and _broadcast((2, 3), (3,)) != (2, 3))
            or (_broadcast((3,), (3, 2)) == (3, 2) and _broadcast((3,), (2, 3)) != (2, 3)))


def symptom_04a_1_takes_larger() -> bool:
    return (_broadcast((0, 3), (1, 3)) == (1, 3) and _broadcast((3, 1), (4,)) == (3, 4)
            and _broadcast((4,), (3, 1)) == (3, 4))


def symptom_04a_1_refuses_a_zero() -> bool:
    return (_broadcast((3, 1), (4,)) == _broadcast((4,), (3, 1)) == (3, 4)
            and _broadcast((1, 4), (3, 4)) == _broadcast((3, 4), (1, 4)) == (3, 4)
            and None in (_broadcast((0, 3), (1, 3)), _broadcast((1, 3), (0, 3))))


def symptom_04a_1_refuses_a_one() -> bool:
    return (_broadcast((1, 4), (3, 4)) == (3, 4)) is not (_broadcast((3, 4), (1, 4)) == (3, 4)) \
        and None in (_broadcast((1, 4), (3, 4)), _broadcast((3, 4), (1, 4)))


def symptom_04a_1_later_one_wins() -> bool:
    return _broadcast((3, 4), (1, 4)) == (1, 4)


def symptom_04a_1_no_error() -> bool:
    return (_broadcast((3,), (1,)) == _broadcast((1,), (3,)) == (3,)
            and _broadcast((3,), (4,)) is not None)


def symptom_04a_1_other_error() -> bool:
    try:
        shapes.broadcast((2, 3), (2, 4))
    except Exception as error:
        return (type(error) is not RuntimeError
                or not str(error).startswith("The size of tensor a ("))
    return False


def symptom_04a_1_expandable_same_length() -> bool:
    return (shapes.is_expandable_to((2, 1), (2, 3)) is True
            and shapes.is_expandable_to((3,), (2, 3)) is False)


def symptom_04a_1_wrong_dimension_named() -> bool:
    try:
        shapes.broadcast((2, 3), (4,))
    except RuntimeError as error:
        return (str(error).startswith("The size of tensor a (3) must match the size of tensor b "
                                      "(4) at non-singleton dimension")
                and not str(error).endswith("dimension 1"))
    return False


def symptom_04a_1_sizes_turned_round() -> bool:
    try:
        shapes.broadcast((2, 3), (4,))
    except RuntimeError as error:
        return "tensor a (4)" in str(error) and "tensor b (3)" in str(error)
    return False


def symptom_04a_1_numbers_not_skipped() -> bool:
    return _broadcast((3, 1), (4,)) == (3, 4) and _broadcast((2, 3), 1.5) != (2, 3)


def symptom_04a_1_two_shapes_only() -> bool:
    return (_broadcast((3, 1), (4,)) == (3, 4)
            and _broadcast((2, 1, 1), (3, 1), (4,)) != (2, 3, 4))


def symptom_04a_1_expandable_both_ways() -> bool:
    return shapes.is_expandable_to((3,), (1,)) is True


def symptom_04a_1_expandable_to_fewer() -> bool:
    return (shapes.is_expandable_to((2, 3), (3,)) is True
            and shapes.is_expandable_to((3,), (1,)) is False)


def symptom_04a_1_expandable_at_front() -> bool:
    return (shapes.is_expandable_to((2,), (2, 3)) is True
            and shapes.is_expandable_to((3,), (2, 3)) is False)


def symptom_04a_1_expandable_equal_only() -> bool:
    return (shapes.is_expandable_to((3, 4), (2, 3, 4)) is True
            and shapes.is_expandable_to((3, 1), (2, 3, 4)) is False)


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


def symptom_04a_3_first_output() -> bool:
    node = torch.split(torch.ones(3, requires_grad=True), [1, 2])[0].grad_fn
    return (validate.match_metadata(np.ones(1, np.float32), node, 0, _node(1), 0).shape == (1,)
            and validate.match_metadata(np.ones(2, np.float32), node, 1, _node(1), 0).shape == (1,))


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


def _refusal(array) -> str:
    try:
        validate.match_metadata(array, _node(3), 0, _node(1), 0)
    except RuntimeError as error:
        return str(error)
    return ""


def symptom_04a_3_shapes_not_lists() -> bool:
    told = _refusal(np.ones(4, np.float32))
    return "got (4,) but" in told or "got torch.Size" in told


def symptom_04a_3_cast_cuts_graph() -> bool:
    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    found = validate.match_metadata(x * 2, _node(3), 0, _node(1), 0)
    return found.dtype == torch.float32 and not found.requires_grad


def symptom_04a_3_dtype_forgotten_after_sum() -> bool:
    target = _node(3)
    plain = validate.match_metadata(np.ones(3), target, 0, _node(1), 0)
    summed = validate.match_metadata(np.ones((2, 3)), target, 0, _node(1), 0)
    return plain.dtype == np.float32 and summed.dtype == np.float64


def symptom_04a_3_numbers_stay() -> bool:
    given = validate.match_metadata(np.float32(2.0), _node(), 0, _node(1), 0)
    return not isinstance(given, np.ndarray)


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


def _rsub(x, y):
    return torch.rsub(x, y, alpha=3)


def _addcmul(x, y, z):
    return torch.addcmul(x, y, z, value=5)


def symptom_04a_4_own_factor() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    _, c, d = _grads(_addcmul, 1.0, 2.0, 3.0)
    return _near(a, 14) or _near(b, 21) or _near(c, 70) or _near(d, 105)


def symptom_04a_4_g_forgotten() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    found = _near(a, 3) or _near(b, 2)
    for fn, first, second in ((_add, 1, 3), (_sub, 1, -3), (_rsub, -3, 1)):
        a, b = _grads(fn, 2.0, 3.0)
        found = found or _near(a, first) or _near(b, second)
    a, b, c = _grads(_addcmul, 1.0, 2.0, 3.0)
    return (found or _near(a, 1) or _near(b, 15) or _near(c, 10)
            or _near(_grads(lambda x: -x, 2.0)[0], -1))


def symptom_04a_4_g_added() -> bool:
    a, b = _grads(lambda x, y: x * y, 2.0, 3.0)
    return _near(a, 10) or _near(b, 9)


def symptom_04a_4_no_sign() -> bool:
    a, b = _grads(lambda x, y: x - y, 2.0, 3.0)
    return _near(a, 7) and _near(b, 7)


def symptom_04a_4_rsub_turned() -> bool:
    a, b = _grads(torch.rsub, 2.0, 3.0)
    return _near(a, 7) and _near(b, -7)


def symptom_04a_4_rsub_no_sign() -> bool:
    a, b = _grads(torch.rsub, 2.0, 3.0)
    return _near(a, 7) and _near(b, 7)


def symptom_04a_4_neg_no_sign() -> bool:
    return _near(_grads(lambda x: -x, 2.0)[0], 7)


def symptom_04a_4_alpha_on_self() -> bool:
    pairs = (_grads(_add, 2.0, 3.0), _grads(_sub, 2.0, 3.0), _grads(_rsub, 2.0, 3.0)[::-1])
    return any(_near(a, 21, -21) for a, _ in pairs)


def symptom_04a_4_alpha_forgotten() -> bool:
    pairs = (_grads(_add, 2.0, 3.0), _grads(_sub, 2.0, 3.0), _grads(_rsub, 2.0, 3.0)[::-1])
    return any(_near(a, 7) and _near(b, 7, -7) for a, b in pairs)


def symptom_04a_4_alpha_sign() -> bool:
    (_, b), (c, _) = _grads(_sub, 2.0, 3.0), _grads(_rsub, 2.0, 3.0)
    return _near(b, 21) or _near(c, 21)


def symptom_04a_4_value_forgotten() -> bool:
    _, b, c = _grads(_addcmul, 1.0, 2.0, 3.0)
    return _near(b, 21) or _near(c, 14)


# ------------------------------------------------------------------- 04a.5


def _addcdiv(x, y, z):
    return torch.addcdiv(x, y, z, value=5)


def _div():
    return _grads(lambda x, y: x / y, 6.0, 4.0, g=8.0)  # 2 and -3


def symptom_04a_5_times_divisor() -> bool:
    return _near(_div()[0], 32)


def symptom_04a_5_divisor_ignored() -> bool:
    return _near(_div()[0], 8)


def symptom_04a_5_g_forgotten() -> bool:
    a, b = _div()
    _, c, d = _grads(_addcdiv, 1.0, 6.0, 4.0, g=8.0)  # 10 and -15
    return (_near(a, 0.25) or _near(b, -0.375) or _near(c, 1.25) or _near(d, -1.875)
            or _near(_grads(torch.reciprocal, 4.0, g=8.0)[0], -0.0625))


def symptom_04a_5_no_sign() -> bool:
    return (_near(_div()[1], 3) or _near(_grads(torch.reciprocal, 4.0, g=8.0)[0], 0.5)
            or _near(_grads(_addcdiv, 1.0, 6.0, 4.0, g=8.0)[2], 15))


def symptom_04a_5_not_squared() -> bool:
    return (_near(_div()[1], -12, 12)
            or _near(_grads(_addcdiv, 1.0, 6.0, 4.0, g=8.0)[2], -60, 60))


def symptom_04a_5_no_numerator() -> bool:
    return (_near(_div()[1], -0.5, 0.5)
            or _near(_grads(_addcdiv, 1.0, 6.0, 4.0, g=8.0)[2], -2.5, 2.5))


def symptom_04a_5_reciprocal_not_squared() -> bool:
    return _near(_grads(torch.reciprocal, 4.0, g=8.0)[0], -2, 2, -0.125, 0.125)


def symptom_04a_5_reciprocal_of_input() -> bool:
    return _near(_grads(torch.reciprocal, 4.0, g=8.0)[0], -128, 128)


def symptom_04a_5_wrong_divisor() -> bool:
    a, b = _div()
    return _near(a, 8 / 6) or _near(b, -32 / 36)


def symptom_04a_5_value_forgotten() -> bool:
    _, c, d = _grads(_addcdiv, 1.0, 6.0, 4.0, g=8.0)
    return _near(c, 2) or _near(d, -3)


def symptom_04a_5_overflows() -> bool:
    if not (_near(_div()[0], 2) and _near(_div()[1], -3)):
        return False
    x, y = torch.tensor(1e30, requires_grad=True), torch.tensor(1e25, requires_grad=True)
    (x / y).backward()
    return y.grad.item() == 0 or y.grad.item() != y.grad.item()


# ------------------------------------------------------------------- 04a.6


def _cube():
    return _grads(lambda x: x ** 3, 3.0)[0]  # 189


def _power():
    return _grads(torch.pow, 2.0, 3.0)  # 84 and 56 log 2


def _logarithms():
    """The gradients by the exponent, of two tensors and of a number's power."""
    return _power()[1], _grads(lambda x: 2.0 ** x, 3.0)[0]


LOG2 = float(np.log(2.0))


def symptom_04a_6_g_forgotten() -> bool:
    return (_near(_cube(), 27) or _near(_power()[0], 12)
            or any(_near(each, 8 * LOG2) for each in _logarithms())
            or _near(_roots()[0], 1 / 6) or _near(_roots()[1], -1 / 128))


def symptom_04a_6_exponent_stays() -> bool:
    return _near(_cube(), 567) or _near(_power()[0], 168)


def symptom_04a_6_no_factor() -> bool:
    return _near(_cube(), 63) or _near(_power()[0], 28)


def symptom_04a_6_factor_lowered() -> bool:
    return _near(_cube(), 126, 378) or _near(_power()[0], 56, 112)


def symptom_04a_6_log_of_exponent() -> bool:
    return any(_near(each, 56 * float(np.log(3.0))) for each in _logarithms())


def symptom_04a_6_no_log() -> bool:
    return any(_near(each, 56) for each in _logarithms())


def symptom_04a_6_base_for_power() -> bool:
    return any(_near(each, 14 * LOG2) for each in _logarithms())


def symptom_04a_6_power_zero() -> bool:
    by_number = _grads(lambda x: x ** 0, 0.0)[0]
    by_tensor = _grads(torch.pow, 0.0, 0.0)[0]
    return _near(_cube(), 189) and _near(_power()[0], 84) and any(
        each is not None and each != each for each in (by_number, by_tensor))


def symptom_04a_6_base_zero() -> bool:
    found = (_grads(torch.pow, 0.0, 2.0)[1], _grads(lambda x: 0 ** x, 2.0)[0])
    return all(_near(each, 56 * LOG2) for each in _logarithms()) and any(
        each is not None and each != each for each in found)


def _roots():
    """The gradients of the square root at 9, 7 / 6, and of its reciprocal at 16, -7 / 128."""
    return _grads(torch.sqrt, 9.0)[0], _grads(torch.rsqrt, 16.0)[0]


def symptom_04a_6_sqrt_without_two() -> bool:
    return _near(_roots()[0], 7 / 3)


def symptom_04a_6_sqrt_of_input() -> bool:
    return _near(_roots()[0], 7 / 18)


def symptom_04a_6_sqrt_times() -> bool:
    return _near(_roots()[0], 42, 10.5)


def symptom_04a_6_rsqrt_squared() -> bool:
    return _near(_roots()[1], -7 / 32)


def symptom_04a_6_rsqrt_sign() -> bool:
    return _near(_roots()[1], 7 / 128)


def symptom_04a_6_rsqrt_without_half() -> bool:
    return _near(_roots()[1], -7 / 64)
