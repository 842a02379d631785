"""Stage 04b: sums, means, norms, matrix products, and indices that repeat."""

import math
import warnings

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.backend import kernels_index
from minigrad.ops.linalg import matmul as products
from minigrad.ops.reduction import dims as along
from minigrad.ops.reduction import sum_mean as reduce
from minigrad.ops.reduction import vector_norm


def doubles(*shape, start=0.0):
    """Return numbers that are all different, of either sign, none near zero."""
    count = np.arange(math.prod(shape)) + start
    return (np.where(count % 2 == 0, 1, -1) * (0.6 + 0.37 * count)).reshape(shape)


def gradients(fn, arrays, g):
    """Return the package's gradients of `fn`, a function of tensors, for the result's `g`."""
    inputs = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    result = fn(*inputs)
    result.backward(torch.tensor(g, dtype=torch.float64))
    return [each.grad.numpy() for each in inputs]


def check(fn, reference, *arrays):
    """Compare gradients of `fn` on tensors with differences of `reference` on arrays."""
    out = np.asarray(reference(*arrays))
    g = np.linspace(-1.0, 2.0, out.size).reshape(out.shape) + 0.25
    expected = central_difference_vjp(reference, arrays, g)
    for place, (got, want) in enumerate(zip(gradients(fn, arrays, g), expected, strict=True)):
        assert_close(got, want, 1e-5, 1e-7, f"gradient {place}")


def check_twice(fn, reference, *arrays):
    """Compare gradients of gradients with differences."""
    g = np.ones_like(reference(*arrays))
    directions = [np.cos(np.arange(a.size)).reshape(a.shape) for a in arrays]
    expected, _ = second_order_vjp(reference, arrays, g, directions)
    inputs = [torch.tensor(array, requires_grad=True) for array in arrays]
    first = torch.autograd.grad(fn(*inputs), inputs, torch.tensor(g), create_graph=True)
    total = sum((f * torch.tensor(d)).sum() for f, d in zip(first, directions, strict=True))
    second = torch.autograd.grad(total, inputs, allow_unused=True)
    for place, (got, want) in enumerate(zip(second, expected, strict=True)):
        got = np.zeros_like(want) if got is None else got.numpy()
        assert_close(got, want, 1e-4, 1e-5, f"second gradient {place}")


def assert_arguments_stay(fn, *arrays):
    """Check that the backward pass of `fn` writes to none of the inputs, the result and `g`."""
    inputs = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    result = fn(*inputs)
    g = torch.tensor(np.linspace(2.0, 3.0, result.numel()).reshape(tuple(result.shape)))
    held = {"the result": result, "g": g, **{f"input {i}": x for i, x in enumerate(inputs)}}
    before = {name: each.tolist() for name, each in held.items()}
    result.backward(g)
    for name, each in held.items():
        assert each.tolist() == before[name], f"{name} has changed from {before[name]} to {each}"


# ------------------------------------------------------------------- 04b.1

DIMS = [(0, False), (1, False), (-1, False), ((0, -1), False), ((2, 0), True), (1, True),
        (None, True), ((), False)]
NAMES = [f"dim={dim}, keepdim={keepdim}" for dim, keepdim in DIMS]


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("sizes, dim, expected", [
    pytest.param(sizes, dim, expected, id=f"extent({sizes}, {dim}) is {expected}")
    for sizes, dim, expected in [
        ((2, 3, 4), 0, 2), ((2, 3, 4), -1, 4), ((2, 3, 4), (0, -1), 8), ((2, 3, 4), None, 24),
        ((2, 3, 4), (), 24), ((), None, 1), ((), 0, 1), ((0, 3), 0, 0), ((0, 3), 1, 3)]])
def test_how_many_become_one(sizes, dim, expected):
    got = along.extent(sizes, dim)
    assert got == expected, f"extent({sizes}, {dim}): expected {expected}, got {got}"


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("shape, sizes, dim, keepdim, expected", [
    pytest.param(*case, id=f"unsqueeze_reduced(value, {case[1]}, {case[2]}, {case[3]}) of a value "
                           f"of shape {case[0]} has shape {case[4]}")
    for case in [
        ((3, 4), (2, 3, 4), 0, False, (1, 3, 4)),
        ((2, 3), (2, 3, 4), -1, False, (2, 3, 1)),
        ((3,), (2, 3, 4), (0, -1), False, (1, 3, 1)),
        ((3,), (2, 3, 4), (2, 0), False, (1, 3, 1)),
        ((2, 1, 4), (2, 3, 4), 1, True, (2, 1, 4)),
        ((), (2, 3), None, False, ()),
        ((), (), 0, False, ()),
    ]])
def test_lost_dimensions_are_put_back(shape, sizes, dim, keepdim, expected):
    value = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    for given in (value, torch.tensor(value)):
        got = along.unsqueeze_reduced(given, sizes, dim, keepdim)
        assert isinstance(got, type(given)), f"got a {type(got).__name__}"
        assert tuple(got.shape) == expected, f"expected {expected}, got {tuple(got.shape)}"
        assert_close(np.asarray(got), value.reshape(expected), what="unsqueeze_reduced")


@pytest.mark.hole("04b.1")
def test_the_sum_of_all():
    check(lambda x: x.sum(), lambda x: x.sum(), doubles(2, 3))
    check(lambda x: x.sum(), lambda x: x.sum(), doubles())


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim, keepdim", DIMS, ids=NAMES)
def test_sums(dim, keepdim):
    axis = dim if dim != () else None
    check(lambda x: torch.sum(x, dim, keepdim),
          lambda x: np.sum(x, axis, keepdims=keepdim), doubles(2, 3, 4))


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim", [0, 1])
def test_square_matrices_show_which_dimension_was_summed(dim):
    check(lambda x: torch.sum(x, dim), lambda x: np.sum(x, dim), doubles(3, 3))


@pytest.mark.hole("04b.1")
def test_the_mean_of_all():
    check(lambda x: x.mean(), lambda x: x.mean(), doubles(2, 3))
    check(lambda x: x.mean(), lambda x: x.mean(), doubles())


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim, keepdim", DIMS, ids=NAMES)
def test_means(dim, keepdim):
    axis = dim if dim != () else None
    check(lambda x: torch.mean(x, dim, keepdim),
          lambda x: np.mean(x, axis, keepdims=keepdim), doubles(2, 3, 4))


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim", [0, 1])
def test_square_matrices_show_along_which_dimension_the_mean_was(dim):
    check(lambda x: torch.mean(x, dim), lambda x: np.mean(x, dim), doubles(3, 3))


@pytest.mark.hole("04b.1")
def test_the_mean_of_a_number():
    check(lambda x: x.mean(-1), lambda x: x.copy(), doubles())


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("fn", [torch.sum, torch.mean], ids=["sum", "mean"])
def test_gradients_of_nothing(fn):
    x = torch.zeros(0, 3, requires_grad=True)
    fn(x).backward()
    assert x.grad.shape == (0, 3)


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim", [None, 0], ids=["over all elements", "along a dimension"])
def test_the_gradient_of_a_mean_may_be_written_to(dim):
    x = torch.zeros(2, 3, requires_grad=True)
    mean = torch.mean(x) if dim is None else torch.mean(x, dim)
    (grad,) = torch.autograd.grad(mean, x, torch.full(tuple(mean.shape), 12.0))
    grad += torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    share = 2.0 if dim is None else 6.0
    assert_close(grad.numpy(), share + np.arange(1.0, 7.0).reshape(2, 3), what="the sum")


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim", [None, 0, 1], ids=[
    "over all elements", "along the dimension of size 0", "along the dimension of size 3"])
def test_the_mean_of_nothing_divides_nothing(dim):
    x = torch.zeros(0, 3, requires_grad=True)
    mean = torch.mean(x) if dim is None else torch.mean(x, dim)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # the node by itself, because a backward pass ignores divisions by zero
        (grad,) = mean.grad_fn.apply_arrays((np.ones(tuple(mean.shape), np.float32),), None)
    assert grad.shape == (0, 3)


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("fn", [
    pytest.param(lambda x: x.sum(), id="a sum over all elements"),
    pytest.param(lambda x: x.sum(1), id="a sum along a dimension"),
    pytest.param(lambda x: x.mean(), id="a mean over all elements"),
    pytest.param(lambda x: x.mean(1), id="a mean along a dimension")])
def test_sums_write_to_no_argument(fn):
    assert_arguments_stay(fn, doubles(2, 3))


@pytest.mark.hole("04b.1")
def test_second_derivatives_of_sums():
    check_twice(lambda x: (x * x).sum(0), lambda x: (x * x).sum(0), doubles(2, 3))
    check_twice(lambda x: (x * x).mean(1), lambda x: (x * x).mean(1), doubles(2, 3))


# ------------------------------------------------------------------- 04b.2

CENTRED = np.array([[-1.0, -2.0, 3.0], [4.0, -1.0, -3.0], [-3.0, 3.0, 0.0]])  # rows and columns


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("correction", [0, 1, 2, 0.5])
def test_the_variance_of_a_vector(correction):
    check(lambda x: torch.var(x, None, correction=correction),
          lambda x: np.var(x, None, ddof=correction), doubles(5))


@pytest.mark.hole("04b.2")
def test_how_many_share_a_variance():
    (got,) = gradients(lambda x: x.var(1, correction=0), [CENTRED], np.ones(3))
    assert_close(got, 2 * CENTRED / 3, what="the gradient")


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("dim", [0, 1])
def test_the_gradient_of_each_variance_goes_where_it_came_from(dim):
    g = np.array([1.0, 2.0, -4.0])
    (got,) = gradients(lambda x: x.var(dim, correction=0), [CENTRED], g)
    assert_close(got, 2 * CENTRED / 3 * np.expand_dims(g, dim), what="the gradient")


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("dim", [0, 1])
def test_each_variance_has_its_own_mean(dim):
    x = CENTRED + np.expand_dims([10.0, 20.0, 40.0], dim)
    (got,) = gradients(lambda x: x.var(dim, correction=0), [x], np.ones(3))
    assert_close(got, 2 * CENTRED / 3, what="the gradient")


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("correction", [0, 1, 2])
def test_the_deviation_of_a_vector(correction):
    check(lambda x: torch.std(x, None, correction=correction),
          lambda x: np.std(x, None, ddof=correction), doubles(5))


def check_spread(name, dim, correction, keepdim):
    check(lambda x: getattr(torch, name)(x, dim, keepdim=keepdim, correction=correction),
          lambda x: getattr(np, name)(x, dim, ddof=correction, keepdims=keepdim), doubles(3, 3))


each_spread = pytest.mark.parametrize("dim, correction, keepdim", [
    pytest.param(dim, correction, keepdim,
                 id=f"dim={dim}, correction={correction}, keepdim={keepdim}")
    for dim in (None, 0, 1, (0, 1)) for correction in (0, 1) for keepdim in (False, True)])


@pytest.mark.hole("04b.2")
@each_spread
def test_variances(dim, correction, keepdim):
    check_spread("var", dim, correction, keepdim)


@pytest.mark.hole("04b.2")
@each_spread
def test_deviations(dim, correction, keepdim):
    check_spread("std", dim, correction, keepdim)


@pytest.mark.hole("04b.2")
def test_spread_along_several_dimensions():
    check(lambda x: torch.var(x, (0, -1)), lambda x: np.var(x, (0, 2), ddof=1), doubles(2, 3, 4))


@pytest.mark.hole("04b.2")
def test_a_small_deviation_has_its_slope():
    (got,) = gradients(lambda x: x.std(), [np.array([1e-8, 2e-8, 3e-8])], np.array(1.0))
    assert_close(got, np.array([-0.5, 0.0, 0.5]), what="the gradient")


@pytest.mark.hole("04b.2")
def test_no_slope_where_all_elements_are_equal():
    (got,) = gradients(lambda x: x.std(1), [np.array([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])],
                       [1.0, 1.0])
    assert_close(got, [[0, 0, 0], [-0.5, 0, 0.5]], what="the gradient of std")


@pytest.mark.hole("04b.2")
@pytest.mark.filterwarnings("ignore")  # a right answer may divide by zero
def test_a_deviation_that_is_nan_has_no_slope():
    rows = np.array([[math.nan, 2.0, 3.0], [2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])
    (got,) = gradients(lambda x: x.std(1), [rows], [1.0, 1.0, 1.0])
    assert_close(got, [[math.nan] * 3, [0, 0, 0], [-0.5, 0, 0.5]], what="the gradient of std")


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("name", ["var", "std"])
def test_spread_writes_to_no_argument(name):
    assert_arguments_stay(lambda x: getattr(x, name)(1), doubles(2, 3))


@pytest.mark.hole("04b.2")
@pytest.mark.filterwarnings("ignore")  # a right answer may divide by zero
@pytest.mark.parametrize("shape, dim", [((1,), None), ((3, 1), 1)],
                         ids=["of one element", "along a dimension of size one"])
def test_one_element_has_no_unbiased_variance(shape, dim):
    (got,) = gradients(lambda x: x.var(dim), [np.ones(shape)], np.ones(shape[:-1]))
    assert np.isnan(got).all() or np.isinf(got).all(), f"expected no finite number, got {got}"


@pytest.mark.hole("04b.2")
@pytest.mark.filterwarnings("ignore")  # a right answer may divide by zero
@pytest.mark.parametrize("correction", [3, 4])
def test_no_degree_of_freedom_is_left(correction):
    x = np.array([1.0, 2.0, 4.0])
    got = reduce.variance_backward(np.array(2.0), x, (3,), None, False, correction)
    assert np.asarray(got).tolist() == [math.inf] * 3, f"expected inf for all, got {got}"


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("name", ["var", "std"])
def test_second_derivatives_of_spread(name):
    check_twice(lambda x: getattr(x, name)(0), lambda x: getattr(np, name)(x, 0, ddof=1),
                doubles(3, 2))


# ------------------------------------------------------------------- 04b.3

def norm(x, p, dim, keepdim=False):
    size = np.abs(x)
    if p == math.inf:
        return size.max(dim, keepdims=keepdim)
    if p == -math.inf:
        return size.min(dim, keepdims=keepdim)
    return (size**p).sum(dim, keepdims=keepdim) ** (1 / p)


def check_vector(p):
    check(lambda x: torch.norm(x, p), lambda x: norm(x, p, None), doubles(4))


@pytest.mark.hole("04b.3")
def test_the_count_of_elements_has_no_slope():
    x, g = torch.tensor(doubles(2, 3)), torch.ones(2, dtype=torch.float64)
    got = vector_norm.norm_backward(g, x, torch.norm(x, 0, 1), (2, 3), 0, 1, False)
    assert_close(got.numpy(), np.zeros((2, 3)))


@pytest.mark.hole("04b.3")
def test_the_1_norm_of_a_vector():
    check_vector(1)


@pytest.mark.hole("04b.3")
def test_the_2_norm_of_a_vector():
    check_vector(2)


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [3, 1.5, 0.5, -1])
def test_the_p_norm_of_a_vector(p):
    check_vector(p)


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("vector", [[1.0, 5.0, -2.0], [1.0, -5.0, 2.0]],
                         ids=["[1, 5, -2]", "[1, -5, 2]"])
def test_the_largest_size(vector):
    x = np.array(vector)
    (got,) = gradients(lambda x: torch.norm(x, math.inf), [x], 3.0)
    assert_close(got, np.where(np.abs(x) == 5, 3 * np.sign(x), 0), what="the gradient")


@pytest.mark.hole("04b.3")
def test_the_smallest_size():
    x = np.array([3.0, -1.0, 2.0])
    got = vector_norm.norm_backward(np.array(2.0), x, np.array(1.0), (3,), -math.inf, None, False)
    assert_close(np.asarray(got), [0.0, -2.0, 0.0], what="the gradient")


@pytest.mark.hole("04b.3")
def test_equal_largest_elements_share():
    (got,) = gradients(lambda x: torch.norm(x, math.inf),
                       [np.array([-5.0, 1.0, 5.0])], 3.0)
    assert_close(got, [-1.5, 0, 1.5], what="the gradient of the largest size")


@pytest.mark.hole("04b.3")
def test_equal_smallest_elements_share():
    (got,) = gradients(lambda x: torch.norm(x, -math.inf), [np.array([-2.0, 2.0, 5.0])], 3.0)
    assert_close(got, [-1.5, 1.5, 0], what="the gradient of the smallest size")


@pytest.mark.hole("04b.3")
def test_the_smallest_size_of_each_row():
    (got,) = gradients(lambda x: torch.norm(x, -math.inf, 1),
                       [np.array([[-2.0, 2.0, 5.0], [1.0, -4.0, 3.0]])], [1.0, 3.0])
    assert_close(got, [[-0.5, 0.5, 0], [3, 0, 0]], what="the gradient of the smallest size")


@pytest.mark.hole("04b.3")
def test_equal_largest_elements_share_along_their_dimension():
    (got,) = gradients(lambda x: torch.norm(x, math.inf, 1),
                       [np.array([[-5.0, 1.0, 5.0], [1.0, -2.0, 0.0]])], [1.0, 3.0])
    assert_close(got, [[-0.5, 0, 0.5], [0, -3, 0]], what="the gradient of the largest size")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [2, 1, 3, 1.5])
def test_no_slope_where_all_elements_are_zero(p):
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    (got,) = gradients(lambda x: torch.norm(x, p, 1), [x], [1.0, 1.0])
    want = central_difference_vjp(lambda y: norm(y, p, 0), [x[1]], 1.0)[0]
    assert_close(got, [[0.0, 0.0], want], 1e-5, what=f"the gradient of the {p}-norm")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [-1, -2, -0.5])
def test_no_slope_where_a_zero_makes_the_norm_zero(p):
    rows = np.array([[0.0, 2.0, 3.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    (got,) = gradients(lambda x: torch.norm(x, p, 1), [rows], [1.0, 2.0, 3.0])
    assert_close(got, np.zeros((3, 3)), what=f"the gradient of the {p}-norm, which is 0")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [1, 2, 3, 1.5, 0.5])
def test_no_slope_at_single_zeros(p):
    (got,) = gradients(lambda x: torch.norm(x, p), [np.array([0.0, 2.0])], 1.0)
    assert_close(got, [0.0, 1.0], 1e-5, what=f"the gradient of the {p}-norm")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p, dim, keepdim", [
    pytest.param(p, dim, keepdim, id=f"p={p}, dim={dim}, keepdim={keepdim}")
    for p in (2, 1, 3, 1.5, 0.5, -1, math.inf, -math.inf)
    for dim in (0, 1, (0, 1), None) for keepdim in (False, True)])
def test_norms(p, dim, keepdim):
    check(lambda x: torch.norm(x, p, dim, keepdim), lambda x: norm(x, p, dim, keepdim),
          doubles(3, 3))


@pytest.mark.hole("04b.3")
def test_logsumexp_of_a_vector():
    check(lambda x: torch.logsumexp(x, 0), lambda x: np.log(np.exp(x).sum()), doubles(3))


@pytest.mark.hole("04b.3")
def test_logsumexp_of_large_numbers():
    (got,) = gradients(lambda x: torch.logsumexp(x, 0), [np.array([1000.0, 1000.0])], 1.0)
    assert_close(got, [0.5, 0.5], what="the gradient at 1000")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("dim, keepdim", [
    pytest.param(dim, keepdim, id=f"dim={dim}, keepdim={keepdim}")
    for dim, keepdim in [(0, False), (1, False), ((0, 1), False), (1, True)]])
def test_logsumexp(dim, keepdim):
    check(lambda x: torch.logsumexp(x, dim, keepdim),
          lambda x: np.log(np.exp(x).sum(dim, keepdims=keepdim)), doubles(3, 3))


@pytest.mark.hole("04b.3")
def test_the_second_slope_of_the_2_norm_at_a_single_zero():
    x = torch.tensor([0.0, 3.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.norm(x), x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, torch.tensor([1.0, 0.0]))
    assert_close(second.numpy(), [1 / 3, 0.0], what="the slope of the first element's gradient")


@pytest.mark.hole("04b.3")
def test_second_derivatives_of_norms():
    check_twice(lambda x: torch.norm(x, 2, 1), lambda x: norm(x, 2, 1), doubles(2, 3))
    check_twice(lambda x: torch.norm(x, 3), lambda x: norm(x, 3, None), doubles(3))
    check_twice(lambda x: torch.logsumexp(x, 1),
                lambda x: np.log(np.exp(x).sum(1)), doubles(2, 3))


# ------------------------------------------------------------------- 04b.4

def shapes(*pairs):
    return pytest.mark.parametrize("a, b", pairs, ids=[f"{a} @ {b}" for a, b in pairs])


def check_product(a, b):
    x, y = doubles(*a), doubles(*b, start=1)
    got = torch.matmul(torch.tensor(x), torch.tensor(y))
    assert_close(got.numpy(), x @ y, what=f"{a} @ {b}")


@pytest.mark.hole("04b.4")
@shapes(((3,), (5, 3, 4)), ((3,), (1, 3, 4)), ((3,), (6, 5, 3, 4)))
def test_a_vector_on_the_left(a, b):
    check_product(a, b)


@pytest.mark.hole("04b.4")
@shapes(((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((6, 5, 2, 3), (3,)), ((1, 2, 3), (3,)),
        ((5, 1, 3), (3,)), ((3,), (1, 3, 4)), ((3,), (5, 3, 1)))
def test_a_vector_beside_a_batch(a, b):
    x, y = doubles(*a), doubles(*b, start=1)
    got = products.batched_matmul(torch.tensor(x), torch.tensor(y))
    assert_close(got.numpy(), x @ y, what=f"{a} @ {b}")


@pytest.mark.hole("04b.4")
@shapes(((5, 2, 3), (3,)), ((6, 5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((6, 5, 2, 3), (3, 4)),
        ((0, 2, 3), (3, 4)), ((1, 2, 3), (3,)), ((5, 1, 3), (3, 1)), ((5, 2, 0), (0, 3)))
def test_a_batch_on_the_left_of_one(a, b):
    check_product(a, b)


@pytest.mark.hole("04b.4")
@shapes(((5, 2, 3), (5, 3, 4)), ((6, 5, 2, 3), (6, 5, 3, 4)), ((0, 2, 3), (0, 3, 4)),
        ((2, 1, 2, 3), (0, 3, 4)))
def test_two_batches(a, b):
    check_product(a, b)


@pytest.mark.hole("04b.4")
@shapes(((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)),
        ((6, 1, 2, 3), (5, 3, 4)))
def test_batches_that_broadcast(a, b):
    check_product(a, b)


def products_in(result):
    """Return the names of the products in a result's graph."""
    names, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None:
            names += [name for name in ("Bmm", "Mm", "Mv", "Dot") if name in node.name()]
            waiting += [after for after, _ in node.next_functions]
    return names


@pytest.mark.hole("04b.4")
@shapes(((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((6, 5, 2, 3), (3, 4)))
def test_all_rows_share_one_product(a, b):
    matrix = torch.tensor(doubles(*b), requires_grad=True)
    found = products_in(products.rows_by_matrix(torch.tensor(doubles(*a)), matrix))
    wanted = "Mv" if len(b) == 1 else "Mm"
    assert found == [wanted], f"expected one {wanted}, got {found}"


@pytest.mark.hole("04b.4")
@shapes(((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((3,), (5, 3, 4)))
def test_a_product_has_the_dtype_of_its_factors(a, b):
    x, y = (torch.tensor(doubles(*shape).astype("int32")) for shape in (a, b))
    got = torch.matmul(x, y).dtype
    assert got == torch.int32, f"expected torch.int32, got {got}"


@pytest.mark.hole("04b.4")
@shapes(((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (1, 3, 4)))
def test_products_are_recorded(a, b):
    x = torch.tensor(doubles(*a), requires_grad=True)
    assert torch.matmul(x, torch.tensor(doubles(*b))).requires_grad
    assert torch.matmul(x.detach(), torch.tensor(doubles(*b), requires_grad=True)).requires_grad


# ------------------------------------------------------------------- 04b.5

def check_one(name, a, b, place):
    """Compare the gradient of one factor of a product with differences."""
    arrays = [doubles(*a), doubles(*b, start=1)]
    out = np.matmul(*arrays)
    g = np.linspace(-1.0, 2.0, out.size).reshape(out.shape) + 0.25
    want = central_difference_vjp(np.matmul, arrays, g)[place]
    inputs = [torch.tensor(each, requires_grad=at == place) for at, each in enumerate(arrays)]
    getattr(torch, name)(*inputs).backward(torch.tensor(g))
    assert_close(inputs[place].grad.numpy(), want, 1e-5, 1e-7, "the gradient")


FACTORS = [pytest.param(0, id="left"), pytest.param(1, id="right")]


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("square", [True, False], ids=["square", "2x3 and 3x4"])
def test_the_left_factor_of_mm(square):
    check_one("mm", (3, 3) if square else (2, 3), (3, 3) if square else (3, 4), 0)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("square", [True, False], ids=["square", "2x3 and 3x4"])
def test_the_right_factor_of_mm(square):
    check_one("mm", (3, 3) if square else (2, 3), (3, 3) if square else (3, 4), 1)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("square", [True, False], ids=["square", "2x3 and 3x4"])
def test_the_left_factor_of_bmm(square):
    check_one("bmm", (3, 3, 3) if square else (2, 2, 3), (3, 3, 3) if square else (2, 3, 4), 0)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("square", [True, False], ids=["square", "2x3 and 3x4"])
def test_the_right_factor_of_bmm(square):
    check_one("bmm", (3, 3, 3) if square else (2, 2, 3), (3, 3, 3) if square else (2, 3, 4), 1)


@pytest.mark.hole("04b.5")
def test_a_batch_without_matrices():
    got = gradients(torch.bmm, [np.zeros((0, 2, 3)), np.zeros((0, 3, 4))], np.zeros((0, 2, 4)))
    assert [each.shape for each in got] == [(0, 2, 3), (0, 3, 4)]


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize(("name", "a", "b"), [
    ("mm", (2, 3), (3, 2)), ("bmm", (2, 2, 3), (2, 3, 2)), ("mv", (2, 3), (3,)),
    ("dot", (3,), (3,))], ids=["mm", "bmm", "mv", "dot"])
def test_products_write_to_no_argument(name, a, b):
    assert_arguments_stay(getattr(torch, name), doubles(*a), doubles(*b, start=1))


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("rows", [3, 2], ids=["3x3", "2x3"])
def test_the_matrix_of_mv(rows):
    check_one("mv", (rows, 3), (3,), 0)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("rows", [3, 2], ids=["3x3", "2x3"])
def test_the_vector_of_mv(rows):
    check_one("mv", (rows, 3), (3,), 1)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("place", FACTORS)
def test_the_vectors_of_dot(place):
    check_one("dot", (3,), (3,), place)


@pytest.mark.hole("04b.5")
def test_a_weight_that_is_transposed():
    check(lambda x, w: x @ w.t(), lambda x, w: x @ w.T, doubles(2, 3), doubles(4, 3, start=1))


@pytest.mark.hole("04b.5")
def test_an_input_that_is_transposed():
    check(lambda x, w: x.t() @ w, lambda x, w: x.T @ w, doubles(3, 2), doubles(3, 4, start=1))


@pytest.mark.hole("04b.5")
@shapes(((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (5, 3, 4)),
        ((2, 1, 2, 3), (5, 3, 4)))
def test_matmul(a, b):
    check(lambda x, y: x @ y, np.matmul, doubles(*a), doubles(*b, start=1))


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize(("name", "a", "b"), [
    ("mm", (2, 3), (3, 2)), ("bmm", (2, 2, 3), (2, 3, 2)), ("mv", (2, 3), (3,)),
    ("dot", (3,), (3,))], ids=["mm", "bmm", "mv", "dot"])
def test_second_derivatives_of_products(name, a, b):
    check_twice(getattr(torch, name), np.matmul, doubles(*a), doubles(*b, start=1))


# ------------------------------------------------------------------- 04b.6

@pytest.mark.hole("04b.6")
@pytest.mark.parametrize(("sizes", "dim", "index", "expected"), [
    pytest.param(sizes, dim, index, expected, id=f"index {index} along dimension {dim} of "
                                                 f"{sizes} is at {expected}")
    for sizes, dim, index, expected in [
        ((4,), 0, [2, 0, 2], [2, 0, 2]),
        ((2, 3), 0, [[1, 0, 1]], [[3, 1, 5]]),
        ((2, 3), 1, [[2, 2], [0, 1]], [[2, 2], [3, 4]]),
        ((2, 2, 3), 1, [[[1]], [[0]]], [[[3]], [[6]]])]])
def test_flat_positions(sizes, dim, index, expected):
    got = kernels_index._positions(np, sizes, dim, np.array(index))
    assert_close(got, expected, what="the positions")
    assert got.dtype.kind == "i", f"expected integers, got {got.dtype}"


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("values", [[10.0, 20.0, 40.0], 10.0], ids=["a vector", "a number"])
def test_adding_at_positions(values):
    target, positions = np.ones((2, 2)), np.array([3, 0, 2])
    got = kernels_index._add_at(np, target, positions, np.array(values))
    want = [[21, 1], [41, 11]] if isinstance(values, list) else [[11, 1], [11, 11]]
    assert_close(target, want, what="the target")
    assert got is target, "it returns the target"


@pytest.mark.hole("04b.6")
def test_values_that_broadcast():
    target = np.zeros(4)
    kernels_index._add_at(np, target, np.array([[0, 1], [1, 2]]), np.array([10.0, 20.0]))
    assert_close(target, [10, 30, 20, 0], what="the target")


@pytest.mark.hole("04b.6")
def test_positions_that_repeat():
    target = np.zeros(3)
    kernels_index._add_at(np, target, np.array([1, 1, 2, 1]), np.array([1.0, 2.0, 4.0, 8.0]))
    assert_close(target, [0, 11, 4], what="the target")


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("kind", ["transposed", "every second element"])
def test_targets_of_any_layout(kind):
    memory = np.zeros((2, 3)) if kind == "transposed" else np.zeros(6)
    target = memory.T if kind == "transposed" else memory[::2]
    kernels_index._add_at(np, target, np.array([1, 2]), np.array([1.0, 2.0]))
    want = [[0, 2, 0], [1, 0, 0]] if kind == "transposed" else [0, 0, 1, 0, 2, 0]
    assert_close(memory, want, what="the target's memory")


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_the_dtype_is_that_of_the_target(dtype):
    got = kernels_index._add_at(np, np.zeros(2, dtype), np.array([0, 0]), np.ones(2))
    assert got.dtype == dtype and got.tolist() == [2, 0]


@pytest.mark.hole("04b.6")
def test_values_become_integers_before_they_are_added():
    got = kernels_index._add_at(np, np.ones(2, "int64"), np.array([0]), np.array([-0.5]))
    assert got.tolist() == [1, 1], f"expected [1, 1], got {got.tolist()}"


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize(("dtype", "values", "expected"), [
    pytest.param("int64", [2**53, 1], 2**53 + 1, id="integers beyond 2**53"),
    pytest.param("complex128", [2j, 1], 1 + 2j, id="complex numbers")])
def test_sums_are_computed_in_the_target_s_dtype(dtype, values, expected):
    got = kernels_index._add_at(np, np.zeros(2, dtype), np.array([1, 1]), np.array(values, dtype))
    assert got.tolist() == [0, expected], f"expected {[0, expected]}, got {got.tolist()}"


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("large", [np.inf, 1e30])
def test_values_at_other_positions_are_not_involved(large):
    target, positions = np.zeros(3), np.array([2, 0, 1, 0])
    kernels_index._add_at(np, target, positions, np.array([1.0, large, 1.0, 2.0]))
    assert target[1:].tolist() == [1.0, 1.0], f"expected [1, 1], got {target[1:].tolist()}"


@pytest.mark.hole("04b.6")
def test_a_repeated_place_counts_each_time():
    got = kernels_index.scatter_add(np, np.zeros(3), 0, np.array([1, 1, 2, 1]),
                                    np.array([1.0, 2.0, 4.0, 8.0]))
    assert_close(got, [0, 11, 4], what="scatter_add")


@pytest.mark.hole("04b.6")
def test_what_was_there_stays():
    got = kernels_index.scatter_add(np, np.array([10.0, 20.0]), 0, np.array([0, 0]), np.ones(2))
    assert_close(got, [12, 20], what="scatter_add")


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_positions_and_sums_along_any_dimension(dim):
    target, source = np.zeros((2, 3, 4)), doubles(2, 3, 4)
    index = (np.arange(24).reshape(2, 3, 4) * 7) % target.shape[dim]
    expected = target.copy()
    for place in np.ndindex(2, 3, 4):
        to = list(place)
        to[dim] = index[place]
        expected[tuple(to)] += source[place]
    got = kernels_index.scatter_add(np, target, dim, index, source)
    assert_close(got, expected, what="scatter_add")
    assert got is target, "it returns the target"


@pytest.mark.hole("04b.6")
def test_a_smaller_index_takes_a_part_of_the_source():
    index = np.array([[1, 1]])
    got = kernels_index.scatter_add(np, np.zeros((2, 3)), 0, index, doubles(4, 5))
    expected = np.zeros((2, 3))
    expected[1, :2] = doubles(4, 5)[0, :2]
    assert_close(got, expected, what="scatter_add")


@pytest.mark.hole("04b.6")
def test_scatter_add_to_a_number():
    target = np.array(1.0)
    got = kernels_index.scatter_add(np, target, 0, np.array([0, 0]), np.array([2.0, 3.0]))
    assert got == 6, f"expected 6, got {got}"
    assert got is target, "it adds in place and returns the target"


@pytest.mark.hole("04b.6")
def test_gradients_of_elements_that_were_picked_twice():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[torch.tensor([0, 2, 0])] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [101.0, 0.0, 10.0]
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    torch.gather(x, 1, torch.tensor([[0, 0, 1], [1, 1, 1]])).sum().backward()
    assert x.grad.tolist() == [[2.0, 1.0], [0.0, 3.0]]
