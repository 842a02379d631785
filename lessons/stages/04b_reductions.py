"""Symptoms of stage 04b."""

import math
import warnings

import numpy as np

import minigrad as torch
from minigrad.backend import kernels_index
from minigrad.ops.linalg import matmul as products
from minigrad.ops.reduction import dims as along
from minigrad.ops.reduction import sum_mean as reduce
from minigrad.ops.reduction import vector_norm

X = np.array([[1.0, 2.0], [4.0, 9.0]])
G = np.array([3.0, 5.0])


def _error(fn, value=X, g=G) -> str:
    """What the backward of `fn` raises, as text; "" where it raises nothing."""
    x = torch.tensor(np.asarray(value, np.float64), requires_grad=True)
    try:
        fn(x).backward(torch.tensor(np.asarray(g, np.float64)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _grad(fn, value=X, g=G):
    """The gradient of `fn` at `value` for the result's gradient `g`; None where it fails."""
    x = torch.tensor(np.asarray(value, np.float64), requires_grad=True)
    try:
        fn(x).backward(torch.tensor(np.asarray(g, np.float64)))
    except Exception:
        return None
    return None if x.grad is None else x.grad.numpy()


def _same(got, *wanted) -> bool:
    return got is not None and any(
        np.shape(each) == got.shape and np.allclose(got, each, 1e-6, 1e-9) for each in wanted)


ROWS = [[3.0, 3.0], [5.0, 5.0]]  # the gradient of a sum along dimension 1
COLUMNS = [[3.0, 5.0], [3.0, 5.0]]


# ------------------------------------------------------------------- 04b.1


def symptom_04b_1_counts_what_is_kept() -> bool:
    return along.extent((2, 3, 4), 0) == 12


def symptom_04b_1_dimensions_in_front() -> bool:
    got = along.unsqueeze_reduced(np.zeros((2, 3)), (2, 3, 4), -1, False)
    return got.shape == (1, 2, 3)


def symptom_04b_1_none_counts_as_one() -> bool:
    return along.extent((2, 3), 0) == 2 and along.extent((2, 3), None) != 6


def symptom_04b_1_sum_divided() -> bool:
    return _same(_grad(lambda x: x.sum(), g=6.0), np.full((2, 2), 1.5)) or _same(
        _grad(lambda x: x.sum(1)), np.array(ROWS) / 2)


def symptom_04b_1_counts_dimensions() -> bool:
    return along.extent((5, 6, 7), 0) == 1 and along.extent((5, 6, 7), (0, 2)) == 2


def symptom_04b_1_adds_sizes() -> bool:
    return along.extent((5, 6, 7), (0, 2)) == 12


def symptom_04b_1_all_that_there_is() -> bool:
    return along.extent((2, 3, 4), 0) == along.extent((2, 3, 4), -1) == 24


def symptom_04b_1_one_number_only() -> bool:
    if along.extent((2, 3, 4), 0) != 2:
        return False
    try:
        return along.extent((2, 3, 4), (0, 2)) != 8
    except Exception:
        return True


def symptom_04b_1_dimensions_behind() -> bool:
    return along.unsqueeze_reduced(np.zeros((3, 4)), (2, 3, 4), 0, False).shape == (3, 4, 1)


def symptom_04b_1_none_is_put_back() -> bool:
    return along.unsqueeze_reduced(np.array(1.0), (2, 3), None, False).shape == (1, 1)


def symptom_04b_1_keepdim_turned_around() -> bool:
    kept = along.unsqueeze_reduced(np.zeros((2, 1)), (2, 3), 1, False).shape == (2, 1)
    return kept and along.unsqueeze_reduced(np.zeros(2), (2, 3), 1, False).shape == (2,)


def symptom_04b_1_not_expanded() -> bool:
    told = [_error(lambda x: x.sum(), g=6.0), _error(lambda x: x.sum(1)),
            _error(lambda x: x.mean(), g=6.0), _error(lambda x: x.mean(1))]
    return any("shape compatible with [2, 2]" in each for each in told)


def symptom_04b_1_not_put_back() -> bool:
    fine = along.unsqueeze_reduced(np.zeros((2, 3)), (2, 3, 4), -1, False).shape == (2, 3, 1)
    return fine and (_same(_grad(lambda x: x.sum(1)), COLUMNS)
                     or _same(_grad(lambda x: x.mean(1)), np.array(COLUMNS) / 2))


def symptom_04b_1_restored_does_nothing() -> bool:
    return along.unsqueeze_reduced(np.zeros((2, 3)), (2, 3, 4), -1, False).shape == (2, 3)


def symptom_04b_1_not_divided() -> bool:
    three = np.ones((2, 3)) * G[:, None]
    return (_same(_grad(lambda x: x.mean(), g=4.0), np.full((2, 2), 4.0))
            or _same(_grad(lambda x: x.mean(1), np.ones((2, 3))), three))


def symptom_04b_1_divided_by_one_less() -> bool:
    return _same(_grad(lambda x: x.mean(1), np.ones((2, 3))), np.ones((2, 3)) * G[:, None] / 2)


def symptom_04b_1_divided_by_all() -> bool:
    return _same(_grad(lambda x: x.mean(1)), np.array(ROWS) / 4)


def symptom_04b_1_times_count() -> bool:
    return (_same(_grad(lambda x: x.mean(), g=4.0), np.full((2, 2), 16.0))
            or _same(_grad(lambda x: x.mean(1)), np.array(ROWS) * 2))


def symptom_04b_1_mean_is_a_view() -> bool:
    x = torch.zeros(2, 3, requires_grad=True)
    grads = [torch.autograd.grad(mean, x, torch.ones(tuple(mean.shape)))[0]
             for mean in (x.mean(), x.mean(0))]
    return (any(0 in grad.stride() for grad in grads)
            and _same(grads[0].numpy(), np.full((2, 3), 1 / 6))
            and _same(grads[1].numpy(), np.full((2, 3), 1 / 2)))


def symptom_04b_1_ones_for_g() -> bool:
    return (_same(_grad(lambda x: x.sum(), g=6.0), np.ones((2, 2)))
            or _same(_grad(lambda x: x.sum(1)), np.ones((2, 2))))


# ------------------------------------------------------------------- 04b.2

THREE = np.array([[1.0, 2.0, 6.0], [4.0, 9.0, 5.0], [0.0, 1.0, 5.0]])
G3 = np.array([3.0, 5.0, 7.0])
CENTRED = THREE - THREE.mean(1, keepdims=True)
SLOPE = 2 / 2 * CENTRED  # of the variance with two degrees of freedom


def _var(**options):
    return _grad(lambda x: torch.var(x, 1, **options), THREE, G3)


def symptom_04b_2_no_two() -> bool:
    return (_same(_var(), G3[:, None] * SLOPE / 2)
            and _same(_var(correction=0), G3[:, None] * CENTRED / 3))


def symptom_04b_2_correction_added() -> bool:
    return (_same(_var(), G3[:, None] * SLOPE / 2)
            and _same(_var(correction=0), G3[:, None] * CENTRED * 2 / 3))


def symptom_04b_2_divides_by_n() -> bool:
    return (_same(_var(), G3[:, None] * SLOPE * 2 / 3)
            and _same(_var(correction=2), G3[:, None] * SLOPE * 2 / 3))


def symptom_04b_2_counts_all() -> bool:
    return _same(_var(), G3[:, None] * CENTRED * 2 / 8)


def symptom_04b_2_correction_is_one_or_none() -> bool:
    return (_same(_var(), G3[:, None] * SLOPE)
            and _same(_var(correction=2), G3[:, None] * SLOPE)
            and _same(_var(correction=0), G3[:, None] * SLOPE * 2 / 3))


def symptom_04b_2_nan_replaced() -> bool:
    got = _grad(lambda x: torch.std(x, 1), [[math.nan, 2.0, 3.0], [1.0, 2.0, 3.0]], [1.0, 1.0])
    return _same(got, [[0, 0, 0], [-0.5, 0, 0.5]])


def symptom_04b_2_no_freedom_left() -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = np.array([1.0, 2.0, 4.0])
        found = []
        for correction in (3, 4):
            try:
                found.append(np.asarray(reduce.variance_backward(
                    np.array(2.0), x, (3,), None, False, correction)))
            except ZeroDivisionError:
                return True
    right = (_same(_var(), G3[:, None] * SLOPE)
             and _same(_var(correction=2), G3[:, None] * SLOPE * 2))
    return right and any(each.tolist() != [math.inf] * 3 for each in found)


def symptom_04b_2_ignores_correction() -> bool:
    return (_same(_var(), G3[:, None] * SLOPE)
            and _same(_var(correction=0), G3[:, None] * SLOPE))


def symptom_04b_2_not_centred() -> bool:
    return _same(_var(), G3[:, None] * THREE)


def symptom_04b_2_mean_of_all() -> bool:
    return _same(_var(), G3[:, None] * (THREE - THREE.mean()))


def symptom_04b_2_mean_not_kept() -> bool:
    return _same(_var(), G3[:, None] * (THREE - THREE.mean(1)))


def symptom_04b_2_not_put_back() -> bool:
    return _same(_var(), G3 * SLOPE)


def symptom_04b_2_g_forgotten() -> bool:
    return _same(_var(), SLOPE)


def symptom_04b_2_sign() -> bool:
    return _same(_var(), -G3[:, None] * SLOPE)


def _std():
    return _grad(lambda x: torch.std(x, 1), THREE, G3)


ROOT = THREE.std(1, ddof=1, keepdims=True)


def symptom_04b_2_root_without_two() -> bool:
    return _same(_std(), G3[:, None] * SLOPE / ROOT)


def symptom_04b_2_root_forgotten() -> bool:
    return _same(_std(), G3[:, None] * SLOPE)


def symptom_04b_2_root_times() -> bool:
    return _same(_std(), G3[:, None] * SLOPE * ROOT * 2, G3[:, None] * SLOPE * ROOT / 2)


def symptom_04b_2_nan_where_equal() -> bool:
    got = _grad(lambda x: torch.std(x, 1), [[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]], [1.0, 1.0])
    return got is not None and bool(np.isnan(got[0]).all()) and _same(got[1], [-0.5, 0, 0.5])


# ------------------------------------------------------------------- 04b.3

SIGNED = np.array([[3.0, -4.0], [5.0, 12.0]])
NORMS = np.array([[5.0], [13.0]])


def _norm(p, value=SIGNED, g=G):
    return _grad(lambda x: torch.norm(x, p, 1), value, g)


def symptom_04b_3_not_put_back() -> bool:
    return _same(_norm(2), G * SIGNED / NORMS[:, 0])


def symptom_04b_3_not_divided() -> bool:
    return _same(_norm(2), G[:, None] * SIGNED)


def symptom_04b_3_twice() -> bool:
    return _same(_norm(2), 2 * G[:, None] * SIGNED / NORMS, 2 * G[:, None] * SIGNED)


def symptom_04b_3_nan_at_zero() -> bool:
    if not _same(_norm(2), G[:, None] * SIGNED / NORMS):
        return False
    got = _norm(2, [[0.0, 0.0], [3.0, 4.0]])
    return got is not None and bool(np.isnan(got[0]).all())


def symptom_04b_3_one_norm_not_sign() -> bool:
    return _same(_norm(1), G[:, None] * SIGNED, G[:, None] * np.abs(SIGNED))


def symptom_04b_3_one_norm_all_plus() -> bool:
    return _same(_norm(1), np.ones((2, 2)) * G[:, None])


def symptom_04b_3_all_like_two() -> bool:
    two = G[:, None] * SIGNED / NORMS
    sizes = (np.abs(SIGNED) ** 3).sum(1, keepdims=True) ** (1 / 3)
    low = (np.abs(SIGNED) ** 1.5).sum(1, keepdims=True) ** (1 / 1.5)
    return (_same(_norm(2), two) and _same(_norm(3), G[:, None] * SIGNED / sizes, two)
            and _same(_norm(1.5), G[:, None] * SIGNED / low, two))


def symptom_04b_3_shared_with_all() -> bool:
    rows = _norm(math.inf, [[-6.0, 1.0, 3.0], [2.0, 4.0, 1.0]])
    return _same(rows, [[-1.5, 0, 0], [0, 2.5, 0]])


def symptom_04b_3_sizes_not_compared() -> bool:
    return _same(_largest(), [[0.0, 0], [0, 5]])


def _smallest():
    return vector_norm.norm_backward(
        np.array([2.0, 7.0, 6.0]), np.array([[3.0, -1.0], [5.0, 2.0], [4.0, -4.0]]),
        np.array([1.0, 2.0, 4.0]), (3, 2), -math.inf, 1, False)


def symptom_04b_3_smallest_size() -> bool:
    if not _same(_largest(), [[-3.0, 0], [0, 5]]):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return not _same(np.asarray(_smallest()), [[0.0, -2], [0, 7], [3, -3]])


def symptom_04b_3_logsumexp_like_sum() -> bool:
    return _same(_logsumexp()[0], ROWS)


def symptom_04b_3_zero_norm_has_slope() -> bool:
    got = _norm(0)
    return got is not None and bool(np.any(got != 0))


def _largest():
    return _norm(math.inf, [[-6.0, 1.0], [2.0, 4.0]])  # [[-3, 0], [0, 5]]


def symptom_04b_3_sign_lost_at_largest() -> bool:
    return _same(_largest(), [[3.0, 0], [0, 5]])


def symptom_04b_3_value_of_largest() -> bool:
    return _same(_largest(), [[-18.0, 0], [0, 20]])


def symptom_04b_3_ties_not_shared() -> bool:
    got = _norm(math.inf, [[-6.0, 6.0], [2.0, 4.0]])
    return _same(got, [[-3.0, 3], [0, 5]])


def _cubic(power, signs=None):
    sizes = np.abs(SIGNED)
    norm = (sizes**3).sum(1, keepdims=True) ** (1 / 3)
    signs = np.sign(SIGNED) if signs is None else signs
    return G[:, None] * signs * (sizes / norm) ** power


def symptom_04b_3_sign_lost() -> bool:
    return _same(_norm(3), _cubic(2, 1))


def symptom_04b_3_power_not_lowered() -> bool:
    return _same(_norm(3), _cubic(3), _cubic(3, 1))


def symptom_04b_3_times_p() -> bool:
    return _same(_norm(3), 3 * _cubic(2))


def symptom_04b_3_infinite_at_one_zero() -> bool:
    got = _grad(lambda x: torch.norm(x, 0.5), [0.0, 2.0], 1.0)
    return _same(_norm(3), _cubic(2)) and got is not None and not np.isfinite(got[0])


def symptom_04b_3_infinite_at_norm_zero() -> bool:
    got = _grad(lambda x: torch.norm(x, -1), [0.0, 2.0, 3.0], 1.0)
    usual = _grad(lambda x: torch.norm(x, -1), [1.0, 1.0], 1.0)
    return (_same(_norm(3), _cubic(2)) and _same(usual, [0.25, 0.25]) and got is not None
            and not np.isfinite(got[1:]).all())


def _logsumexp():
    """The gradient of logsumexp along dimension 1, and its right value."""
    weights = np.exp(X) / np.exp(X).sum(1, keepdims=True)
    return _grad(lambda x: torch.logsumexp(x, 1)), weights


def symptom_04b_3_not_normalised() -> bool:
    got, _ = _logsumexp()
    return _same(got, G[:, None] * np.exp(X))


def symptom_04b_3_g_forgotten() -> bool:
    got, weights = _logsumexp()
    return _same(got, weights) or _same(_norm(2), SIGNED / NORMS) or _same(
        _norm(1), np.sign(SIGNED))


def symptom_04b_3_second_slope_at_zero() -> bool:
    x = torch.tensor([0.0, 3.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.norm(x), x, create_graph=True)
    try:
        (second,) = torch.autograd.grad(first, x, torch.tensor([1.0, 0.0]))
    except Exception:
        return False
    return first.tolist() == [0.0, 1.0] and second[0].item() == 0


def symptom_04b_3_logsumexp_not_put_back() -> bool:
    got, weights = _logsumexp()
    total = np.log(np.exp(X).sum(1))
    return _same(got, G * weights, G * np.exp(X - total), G[:, None] * np.exp(X - total))


def symptom_04b_3_logsumexp_overflows() -> bool:
    got, weights = _logsumexp()
    large = _grad(lambda x: torch.logsumexp(x, 0), [1000.0, 1000.0], 1.0)
    return (_same(got, G[:, None] * weights) and large is not None
            and not np.isfinite(large).all())


# ------------------------------------------------------------------- 04b.4


def _shape(a, b):
    """The shape of a product, or None where it fails."""
    try:
        return tuple(torch.matmul(torch.ones(a), torch.ones(b)).shape)
    except Exception:
        return None


def _said(a, b) -> str:
    try:
        torch.matmul(torch.ones(a), torch.ones(b))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def symptom_04b_4_squeezes_all() -> bool:
    def shape(a, b):
        try:
            return tuple(products.batched_matmul(torch.ones(a), torch.ones(b)).shape)
        except Exception:
            return None

    return ((shape((1, 1, 3), (3,)) == () and shape((5, 2, 3), (3,)) == (5, 2))
            or (shape((3,), (1, 3, 1)) == () and shape((3,), (5, 3, 4)) == (5, 4)))


def symptom_04b_4_minus_one_of_nothing() -> bool:
    return ("0 elements" in _said((5, 2, 0), (0, 3)) and _shape((5, 2, 3), (3, 4)) == (5, 2, 4))


def symptom_04b_4_vector_as_column() -> bool:
    return "[5, 1] but got: [5, 3]" in _said((3,), (5, 3, 4)) or _shape((3,), (5, 1, 4)) is not None


def symptom_04b_4_batch_and_vector() -> bool:
    return (_shape((5, 2, 3), (3,)) is None and _shape((5, 2, 3), (3, 4)) == (5, 2, 4)
            and _shape((5, 2, 3), (5, 3, 4)) == (5, 2, 4))


def symptom_04b_4_result_turned() -> bool:
    return _shape((6, 1, 2, 3), (5, 3, 4)) == (6, 5, 4, 2)


def symptom_04b_4_vector_keeps_dimension() -> bool:
    return _shape((3,), (5, 3, 4)) == (5, 1, 4) or _shape((5, 2, 3), (3,)) == (5, 2, 1)


def symptom_04b_4_wrong_dimension_dropped() -> bool:
    return (_shape((3,), (1, 3, 4)) in ((1, 1, 4), (1, 4, 1), (4,))
            and _shape((2, 3), (5, 3, 4)) == (5, 2, 4))


def symptom_04b_4_rows_stay_together() -> bool:
    return _shape((5, 2, 3), (3, 4)) == (10, 4) or _shape((5, 2, 3), (3,)) == (10,)


def symptom_04b_4_batch_stays_flat() -> bool:
    return _shape((6, 1, 2, 3), (5, 3, 4)) == (30, 2, 4)


def symptom_04b_4_batches_not_broadcast() -> bool:
    return (_shape((5, 2, 3), (5, 3, 4)) == (5, 2, 4)
            and _shape((1, 2, 3), (5, 3, 4)) != (5, 2, 4))


def symptom_04b_4_three_dimensions_only() -> bool:
    return (_shape((1, 2, 3), (5, 3, 4)) == (5, 2, 4)
            and _shape((6, 5, 2, 3), (6, 5, 3, 4)) is None)


def symptom_04b_4_graph_cut() -> bool:
    x = torch.ones(5, 2, 3, requires_grad=True)
    return not all(torch.matmul(x, y).requires_grad
                   for y in (torch.ones(3), torch.ones(3, 4), torch.ones(5, 3, 4)))


# ------------------------------------------------------------------- 04b.5

A = np.array([[1.0, 2.0], [3.0, 5.0]])
B = np.array([[7.0, 11.0], [13.0, 17.0]])
M = np.array([[2.0, 3.0], [10.0, 20.0]])


def _pair(fn, a=A, b=B, g=M):
    """The gradients of both inputs, None where it fails."""
    inputs = [torch.tensor(each, requires_grad=True) for each in (a, b)]
    found = []
    for each in inputs:
        try:
            (grad,) = torch.autograd.grad(fn(*inputs), each, torch.tensor(g))
            found.append(grad.numpy())
        except Exception:
            found.append(None)
    return found


def _batched():
    a, b = np.stack([A, A + 1]), np.stack([B, B * 2])
    return _pair(torch.bmm, a, b, np.stack([M, -M]))


def symptom_04b_5_not_transposed() -> bool:
    x, y = _pair(torch.mm)
    u, v = _batched()
    return (_same(x, M @ B) or _same(y, A @ M)
            or _same(u, np.stack([M @ B, -M @ (B * 2)]))
            or _same(v, np.stack([A @ M, (A + 1) @ -M])))


def symptom_04b_5_elementwise() -> bool:
    x, y = _pair(torch.mm)
    u, v = _batched()
    return (_same(x, M * B, M * B.T) or _same(y, M * A, M * A.T)
            or _same(u, np.stack([M * B, -M * (B * 2)]))
            or _same(v, np.stack([M * A, -M * (A + 1)])))


def symptom_04b_5_g_transposed() -> bool:
    x, y = _pair(torch.mm)
    return _same(x, M.T @ B, M.T @ B.T) or _same(y, A @ M.T, A.T @ M.T)


def symptom_04b_5_order() -> bool:
    x, y = _pair(torch.mm)
    u, v = _batched()
    return (_same(x, B.T @ M, B @ M) or _same(y, M @ A.T, M @ A)
            or _same(u, np.stack([B.T @ M, (B * 2).T @ -M]))
            or _same(v, np.stack([M @ A.T, -M @ (A + 1).T])))


def symptom_04b_5_result_transposed() -> bool:
    x, y = _pair(torch.mm)
    return _same(x, (M @ B.T).T) or _same(y, (A.T @ M).T)


def symptom_04b_5_own_factor() -> bool:
    x, y = _pair(torch.mm)
    return _same(x, M @ A.T, A.T @ M) or _same(y, B.T @ M, M @ B.T)


def symptom_04b_5_batch_transposed() -> bool:
    a, b = torch.ones(2, 3, 4, requires_grad=True), torch.ones(2, 4, 5, requires_grad=True)
    x, y = _pair(torch.mm)
    fine = _same(x, M @ B.T) and _same(y, A.T @ M)
    try:
        torch.bmm(a, b).sum().backward()
    except Exception:
        u, v = _batched()
        a, b, g = np.stack([A, A + 1]), np.stack([B, B * 2]), np.stack([M, -M])
        turned = [np.swapaxes(b, 0, i) for i in (1, 2)], [np.swapaxes(a, 0, i) for i in (1, 2)]
        return fine and (_same(u, *(g @ each for each in turned[0]), g @ b.T)
                         or _same(v, *(each @ g for each in turned[1]), a.T @ g))
    return False


V = np.array([7.0, 11.0])


def symptom_04b_5_outer_turned() -> bool:
    return _same(_pair(torch.mv, A, V, G)[0], np.outer(V, G))


def symptom_04b_5_vector_not_transposed() -> bool:
    return _same(_pair(torch.mv, A, V, G)[1], A @ G)


def symptom_04b_5_mv_not_outer() -> bool:
    x = _pair(torch.mv, A, V, G)[0]
    return _same(x, np.stack([G * V, G * V]), G * V)


def symptom_04b_5_dot_own_factor() -> bool:
    x, y = _pair(torch.dot, V, G, np.array(2.0))
    return _same(x, 2 * V) or _same(y, 2 * G)


def symptom_04b_5_dot_without_g() -> bool:
    x, y = _pair(torch.dot, V, G, np.array(2.0))
    return _same(x, G) or _same(y, V)


# ------------------------------------------------------------------- 04b.6


def _scatter(sizes, dim, index, source):
    """What `scatter_add` makes of zeros; None where it fails."""
    try:
        return kernels_index.scatter_add(np, np.zeros(sizes), dim, np.array(index),
                                         np.array(source, np.float64))
    except Exception:
        return None


def symptom_04b_6_counted_once() -> bool:
    return _same(_scatter((3,), 0, [1, 1, 2, 0], [1, 2, 4, 8]), [8, 2, 4]) and _same(
        kernels_index.scatter_add(np, np.array([10.0]), 0, np.array([0]), np.array([1.0])), [11.0])


def _added(sizes, dim, index, source):
    """What `index_add` makes of zeros; None where it fails."""
    try:
        return kernels_index.index_add(np, np.zeros(sizes), dim, np.array(index),
                                       np.array(source, np.float64))
    except Exception:
        return None


def symptom_04b_6_source_not_broadcast() -> bool:
    whole = _added((3, 2), 0, [1, 1], [[1, 2], [4, 8]])
    if not _same(whole, [[0, 0], [5, 10], [0, 0]]):
        return False
    target = np.zeros(4)
    try:
        kernels_index._add_at(np, target, np.array([[0, 1], [1, 2]]), np.array([10.0, 20.0]))
    except Exception:
        return True
    return not (_same(_added((3, 2), 0, [1, 1], [[1, 2]]), [[0, 0], [2, 4], [0, 0]])
                and target.tolist() == [10, 30, 20, 0])


def symptom_04b_6_strides_of_the_index() -> bool:
    return _same(_scatter((3, 3), 1, [[0, 1], [0, 1]], [[1, 2], [4, 8]]),
                 [[1, 2, 4], [8, 0, 0], [0, 0, 0]])


def symptom_04b_6_written() -> bool:
    got = kernels_index.scatter_add(np, np.array([10.0]), 0, np.array([0]), np.array([1.0]))
    return got.tolist() == [1.0]


def _grid():
    return _scatter((2, 2), 0, [[1, 0], [1, 1]], [[1, 2], [4, 8]])  # [[0, 2], [5, 8]]


def symptom_04b_6_own_position_forgotten() -> bool:
    return _same(_grid(), [[2, 0], [13, 0]])


def symptom_04b_6_not_multiplied() -> bool:
    return _same(_grid(), [[0, 7], [8, 0]])


def symptom_04b_6_target_unchanged() -> bool:
    return _same(_grid(), [[0, 0], [0, 0]])


def symptom_04b_6_along_the_other() -> bool:
    return _same(_grid(), [[2, 1], [0, 12]])


def symptom_04b_6_wrong_stride() -> bool:
    return (_same(_scatter((2,), 0, [0, 0], [1, 2]), [3, 0])
            and _scatter((2,), 0, [1, 1], [1, 2]) is None)


def symptom_04b_6_copy_lost() -> bool:
    memory = np.zeros((2, 3))
    kernels_index.scatter_add(np, memory.T, 0, np.array([[2, 0]]), np.array([[1.0, 2.0]]))
    return not memory.any() and _same(_grid(), [[0, 2], [5, 8]])


def symptom_04b_6_all_of_source() -> bool:
    part = _scatter((2, 3), 0, [[1, 1]], np.ones((4, 5)))
    return _same(_grid(), [[0, 2], [5, 8]]) and not _same(part, [[0, 0, 0], [1, 1, 0]])


def symptom_04b_6_negative_dimension() -> bool:
    right = [[0, 3], [4, 8]]
    return (_same(_scatter((2, 2), 1, [[1, 1], [0, 1]], [[1, 2], [4, 8]]), right)
            and not _same(_scatter((2, 2), -1, [[1, 1], [0, 1]], [[1, 2], [4, 8]]), right))


def symptom_04b_6_returns_nothing() -> bool:
    target = np.zeros(2)
    found = kernels_index.scatter_add(np, target, 0, np.array([1]), np.array([3.0]))
    return target.tolist() == [0, 3] and found is None


def symptom_04b_6_no_dimensions() -> bool:
    if not _same(_grid(), [[0, 2], [5, 8]]):
        return False
    try:
        found = kernels_index.scatter_add(np, np.array(1.0), 0, np.array([0, 0]),
                                          np.array([2.0, 4.0]))
        return bool(found != 7)
    except Exception:
        return True
