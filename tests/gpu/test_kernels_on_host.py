"""The CUDA kernels' text, run on the CPU, against NumPy models of what they compute."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.backend import numpy_backend as xp
from tests.gpu import _cuda_on_host

pytestmark = pytest.mark.skipif(_cuda_on_host.COMPILER is None,
                                reason="the kernels' text needs a C++ compiler to run on a CPU")

FLOATS = [np.float32, np.float64]


def tolerance(dtype):
    return {"rtol": 2e-5, "atol": 2e-6} if dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-13}


def both(kernels, *arrays):
    """Return arrays on the device."""
    return [None if a is None else kernels.from_host(a) for a in arrays]


CONVOLUTIONS = {
    "line": ((2, 4, 9), (6, 2, 3), (2,), (1,), (1,), 2),
    "plane": ((3, 2, 7, 6), (4, 2, 3, 3), (1, 1), (1, 1), (1, 1), 1),
    "strided, dilated": ((1, 3, 9, 8), (2, 3, 3, 2), (2, 3), (2, 0), (2, 1), 1),
    "depthwise": ((2, 4, 5, 5), (4, 1, 3, 3), (1, 1), (0, 0), (1, 1), 4),
    "pointwise": ((2, 4, 5, 5), (3, 4, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    "pointwise, strided": ((2, 4, 5, 5), (3, 4, 1, 1), (2, 2), (0, 0), (1, 1), 1),
    "space": ((1, 2, 4, 5, 3), (2, 2, 2, 3, 1), (1, 2, 1), (1, 1, 0), (1, 1, 1), 1),
    "empty batch": ((0, 2, 5, 5), (3, 2, 3, 3), (1, 1), (0, 0), (1, 1), 1),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("case", CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolution_and_its_gradients(kernels, case, dtype):
    x_shape, w_shape, stride, padding, dilation, groups = case
    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=s).astype(dtype) for s in (x_shape, w_shape, w_shape[:1]))
    options = (stride, padding, dilation, groups)
    expected = xp.conv_forward(x, w, b, *options)
    g = rng.normal(size=expected.shape).astype(dtype)
    dx, dw, db, dg = both(kernels, x, w, b, g)
    near = tolerance(dtype)
    np.testing.assert_allclose(kernels.conv_forward(dx, dw, db, *options).host, expected, **near)
    np.testing.assert_allclose(kernels.conv_grad_input(dg, dw, x_shape, *options).host,
                               xp.conv_grad_input(g, w, x_shape, *options), **near)
    np.testing.assert_allclose(kernels.conv_grad_weight(dg, dx, w_shape, *options).host,
                               xp.conv_grad_weight(g, x, w_shape, *options), **near)


def test_a_large_batch_goes_in_parts(kernels, monkeypatch):
    from minigrad.backend.cupy import fused

    monkeypatch.setattr(fused, "COLUMN_BYTES", 2000)
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(5, 2, 6, 6)), rng.normal(size=(3, 2, 3, 3))
    options = ((1, 1), (1, 1), (1, 1), 1)
    g = rng.normal(size=(5, 3, 6, 6))
    dx, dw, dg = both(kernels, x, w, g)
    assert len(fused.parts(dx, (3, 3), (6, 6))) == 5
    np.testing.assert_allclose(kernels.conv_forward(dx, dw, None, *options).host,
                               xp.conv_forward(x, w, None, *options))
    np.testing.assert_allclose(kernels.conv_grad_weight(dg, dx, w.shape, *options).host,
                               xp.conv_grad_weight(g, x, w.shape, *options))
    np.testing.assert_allclose(kernels.conv_grad_input(dg, dw, x.shape, *options).host,
                               xp.conv_grad_input(g, w, x.shape, *options), atol=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("window", [
    ((3, 3), (2, 2), (1, 1), (1, 1), False), ((2, 3), (2, 1), (0, 1), (2, 1), True),
    ((2,), (2,), (1,), (1,), True), ((2, 2, 2), (1, 2, 1), (0, 0, 1), (1, 1, 1), False),
])
def test_max_pool(kernels, window, dtype):
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 3, (2, 3, 6, 7, 5)).astype(dtype)  # with equal maxima
    x[0, 0, 0] = -np.inf
    x[1, 1, 2, 3, 1:3] = np.nan
    found = kernels.max_pool_forward(kernels.from_host(x), *window)
    for ours, expected in zip(found, xp.max_pool_forward(x, *window), strict=True):
        np.testing.assert_array_equal(ours.host, expected)
        assert ours.dtype == expected.dtype


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize(("shape", "share"), [
    ((4, 3), 8192), ((2, 5, 3, 4), 8192), ((3, 2, 7), 8192), ((3, 2, 7), 5), ((5, 3, 8), 7)])
def test_batch_norm(kernels, shape, share, affine, dtype, monkeypatch):
    """Channels are summed in parts of so many elements, the last of which has what is left."""
    from minigrad.backend.cupy import fused

    monkeypatch.setattr(fused, "SHARE", share)
    rng = np.random.default_rng(2)
    x, g = rng.normal(2, 3, shape).astype(dtype), rng.normal(size=shape).astype(dtype)
    weight, bias = (rng.normal(size=shape[1]).astype(dtype) if affine else None for _ in range(2))
    expected = xp.batch_norm_forward(x, weight, bias, 1e-5)
    dx, dg, dw, db = both(kernels, x, g, weight, bias)
    found = kernels.batch_norm_forward(dx, dw, db, 1e-5)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.host, theirs, **tolerance(dtype))
    mean, invstd = expected[1], expected[3]
    dm, di = both(kernels, mean, invstd)
    np.testing.assert_allclose(kernels.batch_norm_by(dx, dw, db, dm, di).host, expected[0],
                               **tolerance(dtype))
    near = {"rtol": 1e-3, "atol": 1e-4} if dtype == np.float32 else tolerance(dtype)
    np.testing.assert_allclose(kernels.batch_norm_grad_input(dg, dx, dw, dm, di).host,
                               xp.batch_norm_grad_input(g, x, weight, mean, invstd), **near)
    sums = kernels.batch_norm_sums(dg, dx, dm, di)
    expected = xp.channel_sums(g), xp.batch_norm_grad_weight(g, x, mean, invstd)
    for ours, theirs in zip(sums, expected, strict=True):
        np.testing.assert_allclose(ours.host, theirs, **near)
    np.testing.assert_array_equal(kernels.batch_norm_grad_weight(dg, dx, dm, di).host, sums[1].host)
    np.testing.assert_array_equal(
        kernels.batch_norm_grad_input(dg, dx, dw, dm, di, sums).host,
        kernels.batch_norm_grad_input(dg, dx, dw, dm, di).host)


@pytest.mark.parametrize("dtype", FLOATS)
def test_running_moments_move(kernels, dtype):
    rng = np.random.default_rng(5)
    running, mean, var = rng.normal(size=(3, 7)).astype(dtype)
    for before in ((running, running + 1), (None, running), (running, None)):
        expected = [None if a is None else a.copy() for a in before]
        found = both(kernels, *before)
        xp.move_moments(*expected, mean, var, 0.1, 0.15)
        kernels.move_moments(*found, *both(kernels, mean, var), 0.1, 0.15)
        for ours, theirs in zip(found, expected, strict=True):
            if theirs is not None:
                np.testing.assert_allclose(ours.host, theirs, **tolerance(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("logarithm", [False, True])
@pytest.mark.parametrize(("shape", "dim"), [((5, 7), 1), ((4, 3, 2), 1), ((6,), 0), ((2, 9), 0)])
def test_softmax(kernels, shape, dim, logarithm, dtype):
    rng = np.random.default_rng(3)
    x = (40 * rng.normal(size=shape)).astype(dtype)
    shifted = x - x.max(dim, keepdims=True)
    expected = shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))
    y = expected if logarithm else np.exp(expected)
    softmax = kernels.log_softmax if logarithm else kernels.softmax
    found = softmax(kernels.from_host(x), dim)
    np.testing.assert_allclose(found.host, y, **tolerance(dtype))


def test_softmax_keeps_nan_in_its_row(kernels):
    x = np.array([[0.0, np.nan, 1.0], [0.0, 1.0, 2.0]])
    found = kernels.softmax(kernels.from_host(x), 1).host
    assert np.isnan(found[0]).all() and not np.isnan(found[1]).any()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(kernels, affine, dtype):
    rng = np.random.default_rng(4)
    x = rng.normal(3, 2, (5, 2, 6)).astype(dtype)
    weight, bias = (rng.normal(size=6).astype(dtype) if affine else None for _ in range(2))
    mean, spread = x.mean(-1), x.var(-1)
    expected = (x - mean[..., None]) / np.sqrt(spread[..., None] + 1e-5)
    if affine:
        expected = expected * weight + bias
    found = kernels.layer_norm(kernels.from_host(x), (6,), *both(kernels, weight, bias), 1e-5)
    np.testing.assert_allclose(found[0].host, expected, **tolerance(dtype))
    np.testing.assert_allclose(found[1].host, mean[..., None], **tolerance(dtype))
    np.testing.assert_allclose(found[2].host, 1 / np.sqrt(spread[..., None] + 1e-5),
                               **tolerance(dtype))


def test_each_launch_says_the_size_of_what_it_passes(kernels, fake):
    """Python's numbers have no size; a kernel would read past them."""
    from minigrad.backend.cupy import launch

    assert launch.argument(3).dtype == np.int64 and launch.argument(0.5).dtype == np.float64
    assert launch.argument(None) == 0 and launch.argument(None).itemsize == 8
    assert launch.window((5, 4), (3, 3), (3, 2), (1, 1), (0, 0), (1, 1)).itemsize == 18 * 8
