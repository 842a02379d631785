"""Masked reductions and normalizations beside PyTorch's, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import masked
from minigrad.autograd import gradcheck, gradgradcheck
from tests._oracle import assert_close
from tests.support.arrays import normal
from tests.support.parity import outcome

MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, True, True]])
REDUCTIONS = ["sum", "prod", "amax", "amin", "mean", "logsumexp", "norm", "var", "std"]
NORMALIZATIONS = ["softmax", "log_softmax", "softmin", "cumsum", "cumprod", "normalize"]


def call(torch: Any, name: str, array: Any, mask: Any, **options: Any) -> Any:
    """Return what a masked function of a library gives along dimension 1."""
    order = (2.0,) if name in ("norm", "normalize") else ()
    return getattr(torch.masked, name)(torch.tensor(array), *order, 1, mask=mask, **options)


@pytest.mark.parametrize("masked_out", ["some", "a row", "all", None])
@pytest.mark.parametrize("name", [*REDUCTIONS, *NORMALIZATIONS, "median", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_results_are_pytorchs(name, masked_out, dtype):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    array, mask = (3 * normal(3, 4)).astype(dtype), MASK.copy()
    mask[1] &= masked_out != "a row"
    mask &= masked_out != "all"
    found = []
    for engine in (minigrad, torch):
        given = None if masked_out is None else engine.tensor(mask)
        try:
            result = call(engine, name, array, given)
            found.append((str(result.dtype), result.numpy()))
        except Exception as error:
            found.append((type(error), str(error)))
    (mine, values), (other, wanted) = found
    assert mine == other
    if isinstance(values, str):
        assert values == wanted or name in ("logsumexp", "softmax", "log_softmax", "softmin")
    else:
        assert_close(values, wanted, atol=1e-5 if dtype == "float32" else 1e-12, rtol=1e-5)


def weighed(name: str, mask: Any) -> Any:
    """Return the function of a tensor whose derivatives are checked: where it has values."""

    def function(x: Any) -> Any:
        order = (2.0,) if name in ("norm", "normalize") else ()
        result = getattr(masked, name)(x, *order, 1, mask=mask)
        kept = masked._output_mask(getattr(masked, name), x, *order, 1, mask=mask)
        return minigrad.where(kept, result, 0.0)

    return function


@pytest.mark.parametrize("name", [*REDUCTIONS, *NORMALIZATIONS, "median"])
def test_derivatives(name):
    x = minigrad.tensor(normal(3, 4), requires_grad=True)
    function = weighed(name, minigrad.tensor(MASK))
    assert gradcheck(function, x, check_forward_ad=True)
    assert gradgradcheck(function, x)


def test_what_is_left_out_has_no_gradient():
    x = minigrad.tensor(normal(3, 4), requires_grad=True)
    for name in REDUCTIONS:
        x.grad = None
        weighed(name, minigrad.tensor(MASK))(x).sum().backward()
        assert bool((x.grad[~minigrad.tensor(MASK)] == 0).all()), name


M, B = "torch.arange(6.).view(2, 3)", "torch.tensor([True, False, True])"
EXPRESSIONS = [f"torch.masked.{given}" for given in (
    f"sum({M}, mask={B})", f"sum({M}, (), mask={B})", f"sum({M}, (1, 0), keepdim=True, mask={B})",
    f"sum({M}, (1, 1), mask={B})", f"sum({M}, 2, mask={B})", f"sum({M}, mask={B}[None, None])",
    f"sum({M} > 1, 0, mask={B})", f"amax({M} > 1, 0, mask={B})", f"mean({M}.int(), mask={B})",
    f"mean({M}, dtype=torch.int64, mask={B})", f"argmax({M}, mask={B})",
    f"argmax({M}, 1, keepdim=True, mask={B})", f"var({M}, 1, True, correction=1, mask={B})",
    f"var({M}, 1, False, mask={B})", f"std({M}, 1, correction=0, mask={B})",
    f"median({M}.int(), 0, mask={B})", f"median({M}, 1, mask={B})",
    f"norm({M}, -float('inf'), 1, mask={B})", f"logaddexp({M}, {M} + 1, input_mask={B})",
    f"logaddexp({M}, {M} + 1, other_mask={B}, input_mask=~{B}, dtype=torch.float64)",
    f"cumsum({M}.int(), 1, mask={B})", f"normalize({M}, 1.0, 1, mask={B})",
    f"_output_mask(torch.masked.sum, {M}, 1, keepdim=True, mask={B})",
    f"_output_mask(torch.masked.softmax, {M}, 1, mask={B})",
    f"_output_mask(torch.masked.norm, {M}, 2.0, 1, mask={B})")]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_and_errors_are_printed_as_pytorchs(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, expression) == outcome(torch, expression)
