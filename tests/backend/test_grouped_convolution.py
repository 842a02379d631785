"""Convolutions in groups, against the general kernels."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.backend import kernels_conv, kernels_grouped
from minigrad.backend import numpy_backend as xp

# x, weight, padding, dilation; the groups follow from the channels
CASES = [
    ((2, 3, 7), (3, 1, 3), (1,), (1,)),
    ((3, 4, 6, 5), (4, 1, 3, 3), (1, 1), (1, 1)),
    ((2, 4, 5, 6), (8, 1, 3, 2), (0, 1), (1, 2)),  # two kernels for each channel
    ((2, 3, 5, 6), (3, 1, 1, 1), (0, 0), (1, 1)),
    ((1, 2, 3, 2), (2, 1, 2, 2), (3, 2), (2, 1)),  # steps that see padding alone
    ((2, 2, 4, 3, 5), (4, 1, 2, 3, 2), (1, 2, 0), (2, 1, 1)),
    ((0, 3, 4, 4), (3, 1, 3, 3), (1, 1), (1, 1)),
    ((2, 6, 5, 4), (9, 2, 3, 2), (1, 0), (1, 2)),
    ((3, 4, 6), (6, 2, 3), (2,), (1,)),
]


@pytest.mark.parametrize("window_bytes", [1, 700, 1 << 19])
@pytest.mark.parametrize("sizes, weight_sizes, padding, dilation", CASES)
def test_convolutions_are_those_of_the_general_kernels(
        sizes, weight_sizes, padding, dilation, window_bytes, monkeypatch):
    monkeypatch.setattr(kernels_grouped, "_WINDOW_BYTES", window_bytes)
    rng = np.random.default_rng(0)
    x, w, bias = (rng.standard_normal(n) for n in (sizes, weight_sizes, weight_sizes[:1]))
    window = (1,) * len(padding), padding, dilation, sizes[1] // weight_sizes[1]
    expected = kernels_conv.conv_forward(xp, x, w, bias, *window)
    g = rng.standard_normal(expected.shape)
    last_first = np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)  # channels last in memory
    for each in (x, last_first):
        out = xp.conv_forward(each, w, bias, *window)
        np.testing.assert_allclose(out, expected, atol=1e-12)
        assert out.flags.c_contiguous
        np.testing.assert_allclose(xp.conv_grad_weight(g, each, w.shape, *window),
                                   kernels_conv.conv_grad_weight(xp, g, x, w.shape, *window),
                                   atol=1e-12)
    general = kernels_conv.conv_grad_input(NoShortcut(), g, w, x.shape, *window)
    np.testing.assert_allclose(xp.conv_grad_input(g, w, x.shape, *window), general, atol=1e-12)


class NoShortcut:
    """NumPy with the general kernels alone."""

    conv_forward = kernels_conv.conv_forward

    def __getattr__(self, name):
        return getattr(xp, name)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_not_finite_stays_where_it_is(value):
    """A window that does not reach the last column has a finite gradient."""
    x, g = np.ones((1, 2, 4, 4)), np.ones((1, 2, 4, 4))
    x[0, 0, 1, 3] = value
    window = (1, 1), (1, 1), (1, 1), 2
    with np.errstate(invalid="ignore"):  # as an op does
        grad = xp.conv_grad_weight(g, x, (2, 1, 3, 3), *window)
        np.testing.assert_array_equal(
            grad, kernels_conv.conv_grad_weight(xp, g, x, (2, 1, 3, 3), *window))
    assert np.isfinite(grad[0, 0, :, 0]).all() and not np.isfinite(grad[0, 0, :, 1:]).any()


def test_a_kernel_may_not_be_larger_than_its_input():
    with pytest.raises(RuntimeError, match="Kernel size can't be greater than actual input size"):
        xp.conv_forward(np.ones((1, 2, 3)), np.ones((2, 1, 5)), None, (1,), (0,), (1,), 2)
