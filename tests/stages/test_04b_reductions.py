"""Stage 04b: sums, means, norms, matrix products, and indices that repeat."""

import math

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp, second_order_vjp

import minigrad as torch
from minigrad.backend import kernels_index
from minigrad.ops import along, reduce, vector_norm


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


# ------------------------------------------------------------------- 04b.1

DIMS = [(0, False), (1, False), (-1, False), ((0, -1), False), ((2, 0), True), (1, True),
        (None, False), (None, True), ((), False)]


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("sizes, dim, expected", [
    ((2, 3, 4), 0, 2), ((2, 3, 4), -1, 4), ((2, 3, 4), (0, -1), 8), ((2, 3, 4), None, 24),
    ((2, 3, 4), (), 24), ((), None, 1), ((), 0, 1), ((0, 3), 0, 0), ((0, 3), 1, 3)])
def test_how_many_become_one(sizes, dim, expected):
    got = along.extent(sizes, dim)
    assert got == expected, f"extent({sizes}, {dim}): expected {expected}, got {got}"


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("shape, sizes, dim, keepdim, expected", [
    ((3, 4), (2, 3, 4), 0, False, (1, 3, 4)),
    ((2, 3), (2, 3, 4), -1, False, (2, 3, 1)),
    ((3,), (2, 3, 4), (0, -1), False, (1, 3, 1)),
    ((3,), (2, 3, 4), (2, 0), False, (1, 3, 1)),
    ((2, 1, 4), (2, 3, 4), 1, True, (2, 1, 4)),
    ((), (2, 3), None, False, ()),
    ((), (), 0, False, ()),
])
def test_lost_dimensions_are_put_back(shape, sizes, dim, keepdim, expected):
    value = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    for given in (value, torch.tensor(value)):
        got = along.restored(given, sizes, dim, keepdim)
        assert isinstance(got, type(given)), f"got a {type(got).__name__}"
        assert tuple(got.shape) == expected, f"expected {expected}, got {tuple(got.shape)}"


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim, keepdim", DIMS)
def test_sums(dim, keepdim):
    axis = dim if dim != () else None
    check(lambda x: torch.sum(x, dim, keepdim),
          lambda x: np.sum(x, axis, keepdims=keepdim), doubles(2, 3, 4))


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim, keepdim", DIMS)
def test_means(dim, keepdim):
    axis = dim if dim != () else None
    check(lambda x: torch.mean(x, dim, keepdim),
          lambda x: np.mean(x, axis, keepdims=keepdim), doubles(2, 3, 4))


@pytest.mark.hole("04b.1")
@pytest.mark.parametrize("dim", [0, 1])
def test_square_matrices_show_which_dimension_was_summed(dim):
    check(lambda x: torch.sum(x, dim), lambda x: np.sum(x, dim), doubles(3, 3))
    check(lambda x: torch.mean(x, dim), lambda x: np.mean(x, dim), doubles(3, 3))


@pytest.mark.hole("04b.1")
def test_reductions_of_a_number_and_of_nothing():
    check(lambda x: x.sum(), lambda x: x.sum(), doubles())
    check(lambda x: x.mean(-1), lambda x: x.copy(), doubles())
    for fn in (torch.sum, torch.mean):
        x = torch.zeros(0, 3, requires_grad=True)
        fn(x).backward()
        assert x.grad.shape == (0, 3)


@pytest.mark.hole("04b.1")
@pytest.mark.filterwarnings("error")  # a division by zero would warn
@pytest.mark.parametrize("dim", [None, 0])
def test_the_mean_of_nothing_divides_by_nothing(dim):
    (got,) = gradients(lambda x: _mean_backward(x, dim), [np.zeros((0, 2))],
                       np.ones(2) if dim == 0 else 1.0)
    assert got.shape == (0, 2)


def _mean_backward(x, dim):
    """A mean whose own value is no matter: of nothing it is nan, with a warning."""
    with np.errstate(all="ignore"):
        return x.mean() if dim is None else x.mean(dim)


@pytest.mark.hole("04b.1")
def test_second_derivatives_of_sums():
    check_twice(lambda x: (x * x).sum(0), lambda x: (x * x).sum(0), doubles(2, 3))
    check_twice(lambda x: (x * x).mean(1), lambda x: (x * x).mean(1), doubles(2, 3))


# ------------------------------------------------------------------- 04b.2


@pytest.mark.hole("04b.2")
@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_spread(name, dim, correction, keepdim):
    check(lambda x: getattr(torch, name)(x, dim, keepdim=keepdim, correction=correction),
          lambda x: getattr(np, name)(x, dim, ddof=correction, keepdims=keepdim), doubles(3, 3))


@pytest.mark.hole("04b.2")
def test_spread_along_several_dimensions():
    check(lambda x: torch.var(x, (0, -1)), lambda x: np.var(x, (0, 2), ddof=1), doubles(2, 3, 4))


@pytest.mark.hole("04b.2")
def test_no_slope_where_all_elements_are_equal():
    (got,) = gradients(lambda x: x.std(1), [np.array([[2.0, 2.0, 2.0], [1.0, 2.0, 3.0]])],
                       [1.0, 1.0])
    assert_close(got, [[0, 0, 0], [-0.5, 0, 0.5]], what="the gradient of std")


@pytest.mark.hole("04b.2")
@pytest.mark.filterwarnings("ignore")  # a right answer may divide by zero
@pytest.mark.parametrize("shape, dim", [((1,), None), ((3, 1), 1)])
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
def test_second_derivatives_of_spread():
    check_twice(lambda x: x.var(0), lambda x: np.var(x, 0, ddof=1), doubles(3, 2))
    check_twice(lambda x: x.std(1), lambda x: np.std(x, 1, ddof=1), doubles(2, 3))


# ------------------------------------------------------------------- 04b.3


def norm(x, p, dim, keepdim=False):
    size = np.abs(x)
    if p == math.inf:
        return size.max(dim, keepdims=keepdim)
    if p == -math.inf:
        return size.min(dim, keepdims=keepdim)
    return (size**p).sum(dim, keepdims=keepdim) ** (1 / p)


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [2, 1, 3, 1.5, 0.5, -1, math.inf, -math.inf])
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdim", [False, True])
def test_norms(p, dim, keepdim):
    check(lambda x: torch.norm(x, p, dim, keepdim), lambda x: norm(x, p, dim, keepdim),
          doubles(3, 3))


@pytest.mark.hole("04b.3")
def test_the_count_of_elements_has_no_slope():
    (got,) = gradients(lambda x: torch.norm(x, 0, 1), [doubles(2, 3)], [1.0, 1.0])
    assert_close(got, np.zeros((2, 3)))


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [2, 1, 3, 1.5])
def test_no_slope_where_all_elements_are_zero(p):
    x = np.array([[0.0, 0.0], [3.0, 4.0]])
    (got,) = gradients(lambda x: torch.norm(x, p, 1), [x], [1.0, 1.0])
    want = central_difference_vjp(lambda y: norm(y, p, 0), [x[1]], 1.0)[0]
    assert_close(got, [[0.0, 0.0], want], 1e-5, what=f"the gradient of the {p}-norm")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("p", [1, 2, 3, 1.5, 0.5])
def test_no_slope_at_single_zeros(p):
    (got,) = gradients(lambda x: torch.norm(x, p), [np.array([0.0, 2.0])], 1.0)
    assert_close(got, [0.0, 1.0], 1e-5, what=f"the gradient of the {p}-norm")


@pytest.mark.hole("04b.3")
def test_equal_largest_elements_share():
    (got,) = gradients(lambda x: torch.norm(x, math.inf, 1),
                       [np.array([[-5.0, 1.0, 5.0], [1.0, -2.0, 0.0]])], [1.0, 3.0])
    assert_close(got, [[-0.5, 0, 0.5], [0, -3, 0]], what="the gradient of the largest size")


@pytest.mark.hole("04b.3")
@pytest.mark.parametrize("dim, keepdim", [(0, False), (1, False), ((0, 1), False), (1, True)])
def test_logsumexp(dim, keepdim):
    check(lambda x: torch.logsumexp(x, dim, keepdim),
          lambda x: np.log(np.exp(x).sum(dim, keepdims=keepdim)), doubles(3, 3))


@pytest.mark.hole("04b.3")
def test_logsumexp_of_large_numbers():
    (got,) = gradients(lambda x: torch.logsumexp(x, 0), [np.array([1000.0, 1000.0])], 1.0)
    assert_close(got, [0.5, 0.5], what="the gradient at 1000")


@pytest.mark.hole("04b.3")
def test_the_smallest_size():
    x = np.array([[3.0, -1.0], [5.0, 2.0]])
    got = vector_norm.norm_backward(np.array([2.0, 7.0]), x, np.array([1.0, 2.0]), (2, 2),
                                    -math.inf, 1, False)
    assert np.asarray(got).tolist() == [[0.0, -2.0], [0.0, 7.0]], f"got {got}"


@pytest.mark.hole("04b.3")
def test_equal_smallest_elements_share():
    (got,) = gradients(lambda x: torch.norm(x, -math.inf, 1),
                       [np.array([[-2.0, 2.0, 5.0], [1.0, -4.0, 3.0]])], [1.0, 3.0])
    assert_close(got, [[-0.5, 0.5, 0], [3, 0, 0]], what="the gradient of the smallest size")


@pytest.mark.hole("04b.3")
def test_second_derivatives_of_norms():
    check_twice(lambda x: torch.norm(x, 2, 1), lambda x: norm(x, 2, 1), doubles(2, 3))
    check_twice(lambda x: torch.norm(x, 3), lambda x: norm(x, 3, None), doubles(3))
    check_twice(lambda x: torch.logsumexp(x, 1),
                lambda x: np.log(np.exp(x).sum(1)), doubles(2, 3))


# ------------------------------------------------------------------- 04b.4


@pytest.mark.hole("04b.4")
@pytest.mark.parametrize("a, b", [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (5, 3, 4)), ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((5, 2, 3), (1, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)), ((6, 5, 2, 3), (3,)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 4)),
])
def test_products_of_all_shapes(a, b):
    x, y = doubles(*a), doubles(*b, start=1)
    got = torch.matmul(torch.tensor(x), torch.tensor(y))
    assert_close(got.numpy(), x @ y, what=f"{a} @ {b}")


@pytest.mark.hole("04b.4")
@pytest.mark.parametrize("a, b", [((3,), (3,)), ((5, 2, 3), (3,)), ((5, 2, 3), (1, 3, 4))])
def test_products_are_recorded(a, b):
    x = torch.tensor(doubles(*a), requires_grad=True)
    assert torch.matmul(x, torch.tensor(doubles(*b))).requires_grad
    assert torch.matmul(x.detach(), torch.tensor(doubles(*b), requires_grad=True)).requires_grad


@pytest.mark.hole("04b.4")
@pytest.mark.parametrize("a, b", [((), (3,)), ((2, 3), ()), ((), ())])
def test_numbers_are_refused(a, b):
    with pytest.raises(RuntimeError) as caught:
        torch.matmul(torch.tensor(doubles(*a)), torch.tensor(doubles(*b)))
    assert str(caught.value) == ("both arguments to matmul need to be at least 1D, but they are "
                                 f"{len(a)}D and {len(b)}D")


@pytest.mark.hole("04b.4")
@pytest.mark.parametrize("a, b", [((2, 3), (4, 2)), ((5, 2, 3), (4, 3, 2)), ((2, 3), (2,))])
def test_sizes_that_do_not_meet_are_refused(a, b):
    with pytest.raises(RuntimeError):
        torch.matmul(torch.tensor(doubles(*a)), torch.tensor(doubles(*b)))
    assert torch.matmul(torch.ones(2, 3), torch.ones(3, 2)).shape == (2, 2)


# ------------------------------------------------------------------- 04b.5


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("name, a, b", [
    ("mm", (2, 3), (3, 4)), ("mm", (3, 3), (3, 3)), ("bmm", (2, 3, 4), (2, 4, 5)),
    ("bmm", (3, 3, 3), (3, 3, 3)), ("mv", (2, 3), (3,)), ("mv", (3, 3), (3,)), ("dot", (3,), (3,)),
])
def test_products(name, a, b):
    x, y = doubles(*a), doubles(*b, start=1)
    check(getattr(torch, name), np.matmul, x, y)


@pytest.mark.hole("04b.5")
@pytest.mark.parametrize("a, b", [
    ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4))])
def test_matmul(a, b):
    check(lambda x, y: x @ y, np.matmul, doubles(*a), doubles(*b, start=1))


@pytest.mark.hole("04b.5")
def test_a_weight_that_is_transposed():
    check(lambda x, w: x @ w.t(), lambda x, w: x @ w.T, doubles(2, 3), doubles(4, 3, start=1))


@pytest.mark.hole("04b.5")
def test_second_derivatives_of_products():
    check_twice(torch.mm, np.matmul, doubles(2, 3), doubles(3, 2, start=1))
    check_twice(torch.bmm, np.matmul, doubles(2, 2, 3), doubles(2, 3, 2, start=1))
    check_twice(torch.mv, np.matmul, doubles(2, 3), doubles(3, start=1))
    check_twice(torch.dot, np.matmul, doubles(3), doubles(3, start=1))


# ------------------------------------------------------------------- 04b.6


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_positions_and_sums_along_any_dimension(dim):
    target, source = np.zeros((2, 3, 4)), doubles(2, 3, 4)
    index = (np.arange(24).reshape(2, 3, 4) * 7) % target.shape[dim]
    expected = target.copy()
    for place in np.ndindex(2, 3, 4):
        to = list(place)
        to[dim] = index[place]
        expected[tuple(to)] += source[place]
    got = kernels_index.scatter_add(np, target, dim, index, source)
    assert got is target, "it returns the target"
    assert_close(got, expected, what="scatter_add")


@pytest.mark.hole("04b.6")
def test_a_repeated_place_counts_each_time():
    got = kernels_index.scatter_add(np, np.zeros(3), 0, np.array([1, 1, 2, 1]),
                                    np.array([1.0, 2.0, 4.0, 8.0]))
    assert_close(got, [0, 11, 4], what="scatter_add")
    got = kernels_index.index_add(np, np.zeros((2, 2)), 0, np.array([1, 1]),
                                  np.array([[1.0, 2.0], [4.0, 8.0]]))
    assert_close(got, [[0, 0], [5, 10]], what="index_add")


@pytest.mark.hole("04b.6")
def test_what_was_there_stays():
    got = kernels_index.scatter_add(np, np.array([10.0, 20.0]), 0, np.array([0, 0]), np.ones(2))
    assert_close(got, [12, 20], what="scatter_add")


@pytest.mark.hole("04b.6")
def test_a_smaller_index_takes_a_part_of_the_source():
    index = np.array([[1, 1]])
    got = kernels_index.scatter_add(np, np.zeros((2, 3)), 0, index, doubles(4, 5))
    expected = np.zeros((2, 3))
    expected[1, :2] = doubles(4, 5)[0, :2]
    assert_close(got, expected, what="scatter_add")


@pytest.mark.hole("04b.6")
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slices_are_added(dim):
    target, index = np.zeros((3, 4)), np.array([2, 0, 2])
    source = doubles(3, 4) if dim == 0 else doubles(3, 3)
    expected = np.zeros((3, 4))
    for place, to in enumerate(index):
        if dim == 0:
            expected[to] += source[place]
        else:
            expected[:, to] += source[:, place]
    got = kernels_index.index_add(np, target, dim, index, source)
    assert got is target, "it returns the target"
    assert_close(got, expected, what="index_add")


@pytest.mark.hole("04b.6")
def test_a_source_that_broadcasts():
    got = kernels_index.index_add(np, np.zeros((3, 2)), 0, np.array([1, 1]), np.array([1.0, 2.0]))
    assert_close(got, [[0, 0], [2, 4], [0, 0]], what="index_add")


@pytest.mark.hole("04b.6")
def test_targets_of_any_layout():
    memory = np.zeros((2, 3))
    kernels_index.scatter_add(np, memory.T, 0, np.array([[2, 0]]), np.array([[1.0, 2.0]]))
    assert_close(memory, [[0, 0, 1], [2, 0, 0]], what="the memory of a transposed target")
    memory = np.zeros(6)
    kernels_index.index_add(np, memory[::2], 0, np.array([1, 1]), np.ones(2))
    assert_close(memory, [0, 0, 2, 0, 0, 0], what="the memory of every second element")


@pytest.mark.hole("04b.6")
def test_the_dtype_is_that_of_the_target():
    got = kernels_index.scatter_add(np, np.zeros(2, np.float32), 0, np.array([0, 0]), np.ones(2))
    assert got.dtype == np.float32 and got.tolist() == [2, 0]


@pytest.mark.hole("04b.6")
def test_a_target_without_dimensions():
    assert kernels_index.scatter_add(np, np.array(1.0), 0, np.array([0]), np.array([2.0])) == 3
    got = kernels_index.index_add(np, np.array(1.0), 0, np.array([0, 0]), np.array([2.0, 3.0]))
    assert got == 6


@pytest.mark.hole("04b.6")
def test_gradients_of_elements_that_were_picked_twice():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[torch.tensor([0, 2, 0])] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [101.0, 0.0, 10.0]
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    torch.gather(x, 1, torch.tensor([[0, 0, 1], [1, 1, 1]])).sum().backward()
    assert x.grad.tolist() == [[2.0, 1.0], [0.0, 3.0]]
