"""Functions whose arguments have different dtypes: the result is PyTorch's, in PyTorch's dtype."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad

torch = pytest.importorskip("torch", reason="compares with PyTorch")

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")


@pytest.mark.parametrize("left", DTYPES)
def test_equal_compares_values_across_dtypes(left):
    for right in DTYPES:
        for values in ([1, 1], [1, 0], [1]):
            found = [t.equal(t.tensor([1, 1], dtype=getattr(t, left)),
                             t.tensor(values, dtype=getattr(t, right))) for t in (minigrad, torch)]
            assert found[0] is found[1], (left, right, values)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("loss", ["binary_cross_entropy", "binary_cross_entropy_with_logits"])
def test_a_weight_does_not_change_the_dtype_of_a_loss(loss, dtype):
    weights = ["weight"] + ["pos_weight"] * loss.endswith("logits")
    for given in ("uint8", "int64", "float16", "float32", "float64"):
        for name in weights:
            for reduction in ("none", "mean"):
                found = []
                for t in (minigrad, torch):
                    x, y = (t.tensor([0.25, 0.5], dtype=getattr(t, dtype)) for _ in range(2))
                    weight = t.tensor([2, 3], dtype=getattr(t, given))
                    x.requires_grad_()
                    result = getattr(t.nn.functional, loss)(
                        x, y, reduction=reduction, **{name: weight})
                    result.sum().backward()
                    found.append((str(result.dtype), result.tolist(), x.grad.tolist()))
                (ours, *values), (theirs, *wanted) = found
                assert ours == theirs
                for a, b in zip(values, wanted, strict=True):
                    assert a == pytest.approx(b, rel=2e-3 if dtype == "float16" else 1e-5)


CALLS = (
    "t.Tensor([1], dtype=t.int64)", "t.Tensor(2, dtype=t.float32)", "t.Tensor([1.], copy=True)",
    "t.Tensor([1.], device='cpu')", "t.Tensor(data=[1.])", "t.Tensor(size=(2,)).shape",
)


@pytest.mark.parametrize("call", CALLS)
def test_keywords_of_the_class_are_pytorchs(call):
    found = []
    for t in (minigrad, torch):
        try:
            found.append(str(eval(call, {"t": t})))
        except TypeError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_the_median_of_the_normal_distribution_is_zero():
    given: list[Any] = [t.special.ndtri(t.tensor([0.5, 0.25, 0.75])) for t in (minigrad, torch)]
    assert given[0].tolist() == pytest.approx(given[1].tolist(), rel=1e-6)
    assert given[0][0].item() == 0
