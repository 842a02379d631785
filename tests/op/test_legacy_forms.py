"""Numbers before tensors, as older programs have them: PyTorch's results and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import minigrad
from minigrad.op import legacy_forms

X, Y, A, B = ("torch.ones(2)", "torch.tensor([3.0, 4.0])", "torch.eye(2)", "torch.ones(1, 2, 2)")
RIGHT = [
    f"torch.add({X}, 2, {Y})", f"{X}.add(2, {Y})", f"{X}.add_(-0.5, {Y})",
    f"torch.sub({X}, 2, {Y})", f"{X}.sub_(2, {Y})", f"torch.add({X}, 2, 3)",
    f"{X}.add_(np.float64(2), {Y})",
    f"torch.addcmul({X}, 2, {Y}, {Y})", f"{X}.addcmul_(2, {Y}, {Y})",
    f"torch.addcdiv({X}, 2, {Y}, {Y})", f"{X}.addcdiv_(-0.5, {Y}, {Y})",
    f"torch.addmm(2, {A}, 3, {A}, {A})", f"torch.addmm(2, {A}, {A}, {A})",
    f"{A}.addmm(2, {A}, {A})", f"{A}.addmm_(2, 3, {A}, {A})", f"torch.addmv(2, {X}, 3, {A}, {Y})",
    f"{X}.addmv(2, {A}, {Y})", f"torch.addr(2, {A}, 3, {Y}, {Y})",
    f"torch.baddbmm(2, {B}, 3, {B}, {B})", f"torch.addbmm(2, {A}, 3, {B}, {B})",
]
WRONG = [
    f"torch.add({X}, 2, {Y}, alpha=3)", f"torch.add({X}, {Y}, 2)", f"torch.add(2, {X}, {Y})",
    f"torch.addcmul({X}, {Y}, {Y}, 2)", f"torch.mul({X}, 2, {Y})", f"torch.add({X}, 2, 3, 4)",
]


def outcome(torch: Any, line: str) -> Any:
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the form is old is looked at below
        try:
            return eval(line, {"torch": torch, "np": np}).tolist()
        except (TypeError, RuntimeError) as error:
            return type(error).__name__, str(error)


@pytest.mark.parametrize("line", RIGHT + WRONG)
def test_results_and_errors_are_pytorchs(line: str) -> None:
    theirs = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, line) == outcome(theirs, line)


def test_gradients_flow_as_with_names() -> None:
    x, a = minigrad.ones(2, requires_grad=True), minigrad.eye(2).requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the form is old is looked at below
        (minigrad.add(x, 3, x).sum() + minigrad.addmm(2, a, 5, a, a).sum()).backward()
    assert x.grad is not None and x.grad.tolist() == [4.0, 4.0]
    assert a.grad is not None and a.grad.tolist() == [[12.0, 12.0], [12.0, 12.0]]


@pytest.mark.parametrize("add", [
    minigrad.add, minigrad.Tensor.add, minigrad.Tensor.add_,
    lambda x, two, y: minigrad.add(x, two, y, out=minigrad.empty(2))],
    ids=["function", "method", "in place", "out"])
def test_it_is_told_once_how_to_write_it_today(monkeypatch: pytest.MonkeyPatch, add: Any) -> None:
    monkeypatch.setattr(legacy_forms, "_told", set())
    x = minigrad.ones(2)
    with pytest.warns(UserWarning, match=r"overload of add is deprecated[^$]*alpha=2") as told:
        add(x, 2, x)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.addcmul(2, x, x)
