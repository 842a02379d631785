"""The input gradient of convolutions in steps of two or more, against the general kernel."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.backend import conv_columns, kernels_conv, kernels_strided
from minigrad.backend import numpy_backend as xp

# g, weight, stride, padding, dilation, groups, elements beyond the last window
CASES = [
    ((2, 4, 9), (4, 3, 3), (2,), (1,), (1,), 1, (0,)),
    ((2, 4, 9, 10), (4, 3, 3, 3), (2, 2), (1, 1), (1, 1), 1, (1, 0)),
    ((3, 4, 9, 9), (4, 2, 2, 4), (2, 3), (0, 2), (1, 1), 2, (1, 2)),
    ((2, 2, 3, 9), (2, 3, 3, 2), (1, 2), (2, 0), (2, 3), 1, (0, 1)),
    ((1, 2, 9, 9), (2, 1, 1, 2), (3, 2), (0, 1), (1, 1), 1, (2, 0)),  # gaps between windows
    ((2, 2, 2, 9, 9), (2, 3, 2, 3, 3), (1, 2, 2), (0, 1, 1), (1, 1, 1), 1, (0, 0, 1)),
    ((0, 4, 9, 9), (4, 3, 3, 3), (2, 2), (1, 1), (1, 1), 1, (0, 0)),
]


@pytest.mark.parametrize("column_bytes", [1, 2000, 2 << 20])
@pytest.mark.parametrize("g, weight, stride, padding, dilation, groups, beyond", CASES)
def test_it_is_that_of_the_general_kernel(
        g, weight, stride, padding, dilation, groups, beyond, column_bytes, monkeypatch):
    monkeypatch.setattr(conv_columns, "COLUMN_BYTES", column_bytes)
    rng = np.random.default_rng(0)
    sizes = (g[0], weight[1] * groups, *(
        (n - 1) * s + d * (k - 1) + 1 - 2 * p + more for n, s, d, k, p, more
        in zip(g[2:], stride, dilation, weight[2:], padding, beyond)))
    g, weight = rng.standard_normal(g), rng.standard_normal(weight)
    rest = g, weight, sizes, stride, padding, dilation, groups
    expected = kernels_conv.conv_grad_input(xp, *rest)
    found = kernels_strided.conv_grad_input(xp, *rest)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found.flags.c_contiguous


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("where", ["gradient", "weight"])
def test_what_is_not_finite_goes_no_further(value, where):
    g, weight = np.ones((2, 1, 9, 9)), np.ones((1, 1, 3, 3))
    if where == "gradient":
        g[0, 0, 8, 8] = value
    else:
        weight[0, 0, 2, 2] = value
    rest = g, weight, (2, 1, 18, 18), (2, 2), (1, 1), (1, 1), 1
    assert kernels_strided.suits(weight, (9, 9), (2, 2), (1, 1))
    np.testing.assert_array_equal(xp.conv_grad_input(*rest),
                                  kernels_conv.conv_grad_input(xp, *rest))
