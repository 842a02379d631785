"""Shortcuts for large NumPy arrays give the same results as the general code.

Order statistics are compared with a stable sort, bounds and selections with NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest

from minigrad import Tensor, from_numpy
from minigrad.backend import kernels_bound, numpy_backend
from minigrad.backend.kernels_order import leading, median
from minigrad.backend.kernels_sum import reduce_sum
from minigrad.nn import functional as F

DTYPES = ["float32", "float64", "int32", "uint8"]


def arrays(dtype):
    """Yield large arrays with distinct elements, with ties, extremes, and NaN."""
    draw = np.random.default_rng(0)
    distinct = draw.permuted(np.tile(np.arange(250), (40, 1)), axis=1)
    yield distinct.astype(dtype)
    yield (distinct // 3).astype(dtype)
    yield np.zeros((40, 250), dtype)
    yield np.asfortranarray(distinct.astype(dtype))
    if np.dtype(dtype).kind == "f":
        for value in (np.nan, np.inf, -np.inf):
            special = distinct.astype(dtype)
            special[draw.random(special.shape) < 0.05] = value
            yield special
            special[3] = value
            yield special
    else:
        yield np.full((40, 250), np.iinfo(dtype).min, dtype)


def stable(array, largest):
    """Return the order of a stable sort, NaN as the largest."""
    if not largest:
        return np.argsort(array, axis=-1, kind="stable")
    return array.shape[-1] - 1 - np.argsort(array[:, ::-1], axis=-1, kind="stable")[:, ::-1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("count", [1, 5, 16, 17, 60])
def test_topk_orders_as_a_stable_sort(dtype, largest, count):
    for array in arrays(dtype):
        for given, dim in ((array, 1), (array.T, 0)):
            values, indices = from_numpy(given.copy()).topk(count, dim, largest)
            order = stable(array, largest)[:, :count]
            np.testing.assert_array_equal(indices.numpy(), order.T if dim == 0 else order)
            np.testing.assert_array_equal(
                values.numpy(), np.take_along_axis(given, indices.numpy(), dim))


@pytest.mark.parametrize("dtype", DTYPES)
def test_median_is_that_of_a_stable_sort(dtype):
    for array in arrays(dtype):
        values, indices = Tensor.median(from_numpy(array.copy()), 1)
        order = np.argsort(array, axis=1, kind="stable")
        lost = np.isnan(array).any(1)
        want = np.where(lost, np.isnan(array).argmax(1), order[:, 124])
        np.testing.assert_array_equal(indices.numpy(), want)
        np.testing.assert_array_equal(values.numpy(), array[np.arange(40), want])


def test_the_short_ways_are_taken():
    distinct = next(arrays("float32"))
    assert leading(distinct, 5, True) is not None and leading(distinct, 60, False) is not None
    assert median(distinct) is not None


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("number", [0, 0.5, -1.0, np.float32(2), np.inf, np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_bounds_are_numpys_bit_for_bit(name, number, dtype):
    x = np.random.default_rng(0).normal(size=(250, 300)) * 2
    x[::7], x[1::7] = 0.0, -0.0
    x = x.astype(dtype)
    if dtype != "int64":
        x[2::9] = np.nan
    ours, theirs = getattr(kernels_bound, name), getattr(np, name)
    for given in (x, x.T, x[:, ::2], x[:3]):
        for pair in ((number, given), (given, number)):
            got, want = ours(*pair), theirs(*pair)
            assert got.dtype == want.dtype and got.strides == want.strides
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("branches", [
    (lambda x: x, lambda x: x * 2), (lambda x: x, lambda x: 0), (lambda x: 1.5, lambda x: x),
    (lambda x: x, lambda x: np.float64(2)), (lambda x: x[0], lambda x: x),
    (lambda x: 1, lambda x: 2), (lambda x: x.astype("float64"), lambda x: x),
    (lambda x: x, lambda x: 2**40)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_where_is_numpys_bit_for_bit(branches, dtype):
    x = (np.random.default_rng(0).normal(size=(60, 70)) * 3).astype(dtype)
    chosen = [branch(x) for branch in branches]
    want = np.where(x > 0, *chosen)
    got = numpy_backend.where(x > 0, *chosen)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    for one in (numpy_backend.where(x > 0), numpy_backend.where(x, *chosen)):
        assert len(one)


SUMMED = [((20000, 50), 1), ((1000, 1000), 1), ((64, 4096), (1,)), ((3, 5000), -1),
          ((40, 30, 77), (1, 2)), ((7, 11, 13, 17), (-1, -2)), ((123457,), None),
          ((4, 2500), (0, 1)), ((5000, 4), 1), ((4, 5000), 0), ((30, 40, 50), 1), ((2, 0), 1),
          ((), None)]


@pytest.mark.parametrize(("shape", "axis"), SUMMED, ids=str)
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_sums_are_numpys_within_their_rounding(shape, axis, keepdims, dtype):
    x = (np.random.default_rng(0).normal(size=shape) * 9).astype(dtype)
    for given in (x, np.asfortranarray(x), x[..., ::-1] if shape else x):
        got, want = reduce_sum(given, axis, keepdims=keepdims), np.add.reduce(
            given, axis, keepdims=keepdims)
        assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
        size = np.add.reduce(np.abs(given.astype("float64")), axis, keepdims=keepdims)
        eps = np.finfo(dtype).eps if got.dtype.kind == "f" else 0
        assert np.all(np.abs(got.astype("float64") - want) <= 4 * eps * size)


@pytest.mark.parametrize(("shape", "axis"), SUMMED[:8], ids=str)
@pytest.mark.parametrize("positive", [True, False])
def test_sums_err_as_little_as_pytorchs(shape, axis, positive):
    torch = pytest.importorskip("torch", reason="the error is compared with PyTorch's")
    worst = [0.0, 0.0]
    for seed in range(5):
        x = np.random.default_rng(seed).normal(size=shape).astype("float32")
        x = np.abs(x) if positive else x
        exact = np.add.reduce(x.astype("float64"), axis)
        size = np.add.reduce(np.abs(x.astype("float64")), axis)
        theirs = torch.sum(torch.from_numpy(x), axis).numpy()
        for i, found in enumerate((reduce_sum(x, axis), theirs)):
            worst[i] = max(worst[i], float(np.max(np.abs(found - exact) / size)))
    assert worst[0] <= worst[1] + np.finfo("float32").eps / 2


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_sums_of_infinities_and_nan(bad):
    x = np.ones((9, 1000), "float32")
    x[2, 999] = x[3, 0] = x[4, 500] = x[5, 3] = bad
    x[5, 700] = -bad
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(reduce_sum(x, 1), np.add.reduce(x, 1))


@pytest.mark.parametrize("bound", [0.01, 0.5, 1.0, 3.7])
@pytest.mark.parametrize(("loss", "name"), [(F.smooth_l1_loss, "beta"), (F.huber_loss, "delta")])
def test_losses_with_a_knee_are_their_definition(loss, name, bound):
    x = np.concatenate([np.random.default_rng(0).normal(size=90) * 2,
                        [0.0, bound, -bound, np.inf, -np.inf, np.nan, 1e-30, 1e30]])
    y = from_numpy(x).requires_grad_()
    found = loss(y, from_numpy(np.zeros_like(x)), reduction="none", **{name: bound})
    found.sum().backward()
    scale = 1 / bound if name == "beta" else 1
    with np.errstate(all="ignore"):
        small = np.abs(x) < bound
        want = np.where(small, x * x / 2, bound * (np.abs(x) - bound / 2)) * scale
        slope = np.where(np.isnan(x), x, np.clip(x, -bound, bound)) * scale
    np.testing.assert_allclose(found.detach().numpy(), want, 1e-13)
    np.testing.assert_allclose(y.grad.numpy(), slope, 1e-13)
