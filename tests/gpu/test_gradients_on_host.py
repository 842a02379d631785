"""The kernels of gradients and of losses, run on the CPU, against NumPy models of them."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.backend import numpy_backend as xp
from tests.gpu import _cuda_on_host
from tests.gpu.test_kernels_on_host import both
from tests.support.slow import slow_but

pytestmark = pytest.mark.skipif(_cuda_on_host.COMPILER is None,
                                reason="the kernels' text needs a C++ compiler to run on a CPU")

FLOATS = slow_but(lambda dtype: dtype is np.float32, [np.float16, np.float32, np.float64])


def near(dtype):
    """Return how near a kernel comes to a model that is computed in float64."""
    return {2: {"rtol": 2e-3, "atol": 2e-3}, 4: {"rtol": 3e-5, "atol": 3e-6},
            8: {"rtol": 1e-12, "atol": 1e-13}}[np.dtype(dtype).itemsize]


def drawn(dtype, *shapes, seed=0):
    """Return arrays, and the same in float64."""
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return arrays, [a.astype(np.float64) for a in arrays]


def check(kernels, found, model, dtype):
    """Compare a device array with its model, in dtype, shape and values."""
    assert found.dtype == dtype and found.shape == np.shape(model)
    np.testing.assert_allclose(kernels.to_host(found).astype(np.float64), model, **near(dtype))


def turned(kernels, array):
    """Return an array on the device that is not row-major."""
    there = kernels.from_host(np.ascontiguousarray(array.swapaxes(0, -1))).swapaxes(0, -1)
    assert there.ndim < 2 or 1 in there.shape or not there.size or not there.flags.c_contiguous
    return there


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize(("shape", "dim"), [((5, 7), 1), ((4, 3, 2), 1), ((6,), 0), ((2, 37), 0),
                                            ((3, 1), 1)])
def test_softmax_gradient(kernels, shape, dim, logarithm, dtype):
    (g, _), (wide_g, wide) = drawn(dtype, shape, shape)
    y = np.exp(wide - wide.max(dim, keepdims=True))
    y /= y.sum(dim, keepdims=True)
    model = (wide_g - y * wide_g.sum(dim, keepdims=True) if logarithm
             else y * (wide_g - (wide_g * y).sum(dim, keepdims=True)))
    y = kernels.from_host((np.log(y) if logarithm else y).astype(dtype))
    gradient = kernels.log_softmax_gradient if logarithm else kernels.softmax_gradient
    check(kernels, gradient(turned(kernels, g), y, dim), model, dtype)


def test_softmax_gradient_keeps_nan_in_its_row(kernels):
    g, y = np.ones((2, 3)), np.full((2, 3), 1 / 3)
    g[0, 1] = np.nan
    for gradient in (kernels.softmax_gradient, kernels.log_softmax_gradient):
        slope = kernels.to_host(gradient(*both(kernels, g, y), 1))
        assert np.isnan(slope[0]).all() and not np.isnan(slope[1]).any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(4, 6), (3, 5), (0, 2)])
def test_relu(kernels, shape, dtype):
    """By fours where the size allows it, and one by one."""
    x, g = np.random.default_rng(0).normal(size=(2, *shape)).astype(dtype)
    x.reshape(-1)[:2] = [np.nan, 0.0][: x.size]
    model = np.maximum(0, x)
    found = kernels.maximum(0, kernels.from_host(x))
    np.testing.assert_array_equal(kernels.to_host(found), model)
    there = kernels.from_host(x)
    assert kernels.maximum(0, there, out=there) is there
    np.testing.assert_array_equal(kernels.to_host(there), model)
    np.testing.assert_array_equal(kernels.to_host(kernels.maximum(0, turned(kernels, x))), model)
    slope = kernels.relu_gradient(turned(kernels, g), found)
    np.testing.assert_array_equal(kernels.to_host(slope), np.where(model <= 0, 0, g))
    assert slope.dtype == dtype and slope.shape == shape


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(4, 3, 40, 60), (5, 2, 49, 47)])
def test_batch_norm_of_several_parts(kernels, shape, dtype):
    """By fours where the size allows it, and one by one; the parts are those of real images."""
    (x, g), (wide, wide_g) = drawn(dtype, shape, shape)
    wide_type = np.float64 if dtype == np.float64 else np.float32
    weight, bias = np.random.default_rng(1).normal(size=(2, shape[1])).astype(wide_type)
    found = kernels.batch_norm_forward(*both(kernels, x, weight, bias), 1e-5)
    result, mean, var, invstd = xp.batch_norm_forward(wide, weight, bias, 1e-5)
    check(kernels, found[0], result, dtype)
    for ours, theirs in zip(found[1:], (mean, var, invstd), strict=True):
        check(kernels, ours, theirs, wide_type)
    dg, dx = turned(kernels, g), kernels.from_host(x)
    sums = kernels.batch_norm_sums(dg, dx, found[1], found[3])
    model = xp.channel_sums(wide_g), xp.batch_norm_grad_weight(wide_g, wide, mean, invstd)
    for ours, theirs in zip(sums, model, strict=True):  # of thousands of numbers around zero
        np.testing.assert_allclose(kernels.to_host(ours), theirs, rtol=1e-3, atol=3e-2)
    slope = kernels.batch_norm_grad_input(dg, dx, kernels.from_host(weight), found[1], found[3],
                                          sums)
    check(kernels, slope, xp.batch_norm_grad_input(wide_g, wide, weight, mean, invstd), dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("rows", "length"), [(5, 7), (1, 33), (70, 3), (4, 1)])
def test_layer_norm_gradients(kernels, rows, length, affine, dtype):
    (g, x, w), (wide_g, wide, wide_w) = drawn(dtype, (rows, length), (rows, length), (length,))
    mean, rstd = wide.mean(1), 1 / np.sqrt(wide.var(1) + 1e-3)
    unit = (wide - mean[:, None]) * rstd[:, None]
    slope = wide_g * wide_w if affine else wide_g
    model = rstd[:, None] * (slope - slope.mean(1, keepdims=True)
                             - unit * (slope * unit).mean(1, keepdims=True))
    wide_type = np.float64 if dtype == np.float64 else np.float32
    dg, dx = turned(kernels, g), turned(kernels, x)
    dw, dm, dr = both(kernels, w if affine else None, mean.astype(wide_type),
                      rstd.astype(wide_type))
    check(kernels, kernels.layer_norm_grad_input(dg, dx, dw, dm, dr), model, dtype)
    found = kernels.layer_norm_grad_weight(dg, dx, dm, dr, (length,))
    np.testing.assert_allclose(kernels.to_host(found), (wide_g * unit).sum(0), rtol=1e-3,
                               atol=1e-3)
    assert found.dtype == wide_type


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("shape", [(5, 7), (), (0, 3), (41,)])
def test_gelu(kernels, shape, approximate, dtype):
    (g, x), (wide_g, wide) = drawn(dtype, shape, shape)
    if approximate == "tanh":
        t = np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))
        inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * wide**2)
        value, slope = 0.5 * wide * (1 + t), 0.5 * (1 + t) + 0.5 * wide * (1 - t * t) * inner
    else:
        below = 0.5 * (1 + xp.erf(wide * np.sqrt(0.5)))
        value = wide * below
        slope = below + wide * np.exp(-0.5 * wide**2) / np.sqrt(2 * np.pi)
    dx = turned(kernels, x) if x.ndim else kernels.from_host(x)
    check(kernels, kernels.gelu(dx, approximate), value, dtype)
    found = kernels.gelu_gradient(kernels.from_host(g), dx, approximate)
    check(kernels, found, wide_g * slope, dtype)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_of_what_is_not_finite(kernels, approximate):
    x = np.array([np.nan, np.inf, -100.0])
    found = kernels.to_host(kernels.gelu(kernels.from_host(x), approximate))
    np.testing.assert_array_equal(found, [np.nan, np.inf, 0.0])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("window", [
    ((3, 3), (2, 2), (1, 1), (1, 1), False), ((2, 3), (2, 1), (0, 1), (2, 1), True),
    ((2,), (3,), (1,), (1,), True), ((2, 2, 2), (1, 2, 1), (0, 0, 1), (1, 1, 1), False),
])
def test_max_pool_gradient(kernels, window, dtype):
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 3, (2, 3, 6, 7, 5)).astype(dtype)  # with equal maxima
    x[0, 0, 0] = -np.inf
    x[1, 1, 2, 3, 1:3] = np.nan
    values, indices = xp.max_pool_forward(x, *window)
    g = rng.integers(-4, 4, values.shape).astype(dtype)
    found = kernels.max_pool_grad_input(turned(kernels, g), kernels.from_host(indices), x.shape,
                                        *window[:4])
    np.testing.assert_array_equal(kernels.to_host(found),
                                  xp.max_pool_backward(g, indices, x.shape, len(window[0])))


# -------------------------------------------------------------------- losses


def nll_model(x, target, weight, reduction, ignored):
    """Return the loss and its derivative for a gradient of ones, by loops."""
    dim = min(x.ndim - 1, 1)
    classes = x.shape[dim]
    flat = np.moveaxis(x, dim, -1).reshape(-1, classes)
    losses, counts, slopes = np.zeros(len(flat)), np.zeros(len(flat)), np.zeros(flat.shape)
    for row, t in enumerate(target.reshape(-1)):
        if t != ignored:
            counts[row] = 1 if weight is None else weight[t]
            losses[row] = -flat[row, t] * counts[row] if counts[row] else 0
            slopes[row, t] = -counts[row]
    moved = np.moveaxis(slopes.reshape(np.moveaxis(x, dim, -1).shape), -1, dim)
    if reduction == "none":
        return losses.reshape(target.shape), moved
    with np.errstate(invalid="ignore"):  # the mean of no target is 0 / 0
        total = np.sum(losses) / (np.sum(counts) if reduction == "mean" else 1)
    return total, moved / (np.sum(counts) or 1) if reduction == "mean" else moved


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5, 7), (3, 4, 5, 2), (4,), (0, 3), (1400, 3)])
@pytest.mark.parametrize("rows", [1024, 1])
def test_nll_loss(kernels, shape, weighted, reduction, dtype, rows, monkeypatch):
    """So many rows are one block's, whose sum is the loss; of more blocks there is a second."""
    from minigrad.backend.cupy import losses

    monkeypatch.setattr(losses, "ROWS", rows)
    rng = np.random.default_rng(5)
    (x, w), (wide, wide_w) = drawn(dtype, shape, (shape[min(len(shape) - 1, 1)],))
    target = np.asarray(rng.integers(0, w.size, shape[:1] + shape[2:] if shape[1:] else ()))
    w, wide_w = np.abs(w), np.abs(wide_w)
    w[0] = wide_w[0] = 0
    if weighted:  # what counts nothing may be anything
        x[(slice(None), 0) if len(shape) > 1 else 0] = -np.inf
        wide = x.astype(np.float64)
    ignored = 2 if len(shape) != 1 else -100
    loss, slope = nll_model(wide, target, wide_w if weighted else None, reduction, ignored)
    dx, dt, dw = turned(kernels, x), kernels.from_host(target), kernels.from_host(w)
    options = (dw if weighted else None, reduction, ignored)
    check(kernels, kernels.nll_loss(dx, dt, *options), loss, dtype)
    g = np.ones(target.shape if reduction == "none" else (), dtype)
    found = kernels.nll_gradient(kernels.from_host(g), dt, options[0], shape, *options[1:])
    check(kernels, found, slope, dtype)


@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_target_that_is_no_class_raises_and_is_not_read(kernels, wrong, reduction):
    from minigrad.backend.cupy.losses import nll_launched

    x, target = np.zeros((2, 3)), np.array([1, wrong])
    dx, dt, flag = both(kernels, x, target, np.array(False))
    loss = nll_launched(dx, dt, None, reduction, -100, flag)
    assert kernels.to_host(flag) and not kernels.to_host(loss).any()
    with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
        kernels.nll_loss(dx, dt, None, reduction, -100)


def test_halves_are_rounded_as_numpy_rounds_them(kernels):
    """The stand-in for CUDA's halves, through a kernel that multiplies by a number."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for divisor in (1.0, 3.0, 2.0**10, 0.2):
        there, scale = kernels.from_host(every), np.array(divisor, np.float32)
        found = kernels.from_host(np.zeros((), np.float32))
        kernels.unscale([there], kernels.from_host(scale), found)
        assert kernels.to_host(found) == 1
        with np.errstate(all="ignore"):  # infinities and nan are among all halves
            factor = np.float32(1 / scale.astype(np.float64))
            expected = (every.astype(np.float32) * factor).astype(np.float16)
        np.testing.assert_array_equal(kernels.to_host(there), expected)


@pytest.mark.parametrize("scale", [8.0, 2.0**127, 3.3])
@pytest.mark.parametrize("found", [0.0, 1.0, 2.0])
def test_a_scale_grows_and_shrinks_as_on_the_cpu(kernels, scale, found):
    ours, theirs = [], []
    for place, out in ((kernels, ours), (xp, theirs)):
        value, tracker = (place.from_host(np.array(v)) for v in (np.float32(scale), np.int32(0)))
        for bad in (0.0, 0.0, found, 0.0, 0.0):
            place.update_scale(value, tracker, place.from_host(np.array(bad, np.float32)), 4 / 3,
                               0.3, 2)
            out.append((place.to_host(value).item(), place.to_host(tracker).item()))
    assert ours == theirs
