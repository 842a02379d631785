"""Shortcuts for large NumPy arrays give the same results as the general code.

Order statistics are compared with a stable sort, bounds and selections with NumPy.
"""

from __future__ import annotations

import numpy as np
import pytest

from minigrad import Tensor, from_numpy
from minigrad.backend import kernels_bound, numpy_backend
from minigrad.backend.kernels_order import leading, median

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
