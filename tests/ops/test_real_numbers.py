"""Real parts, conjugates and angles of real numbers: PyTorch's values and errors."""

from __future__ import annotations

import pytest

import minigrad
from tests.support.parity import outcome

VALUES = "torch.tensor([1.0, -2.0, 0.0, float('nan'), -0.0])"
LINES = [
    *(f"torch.{name}({VALUES}).tolist()" for name in
      ("real", "conj", "conj_physical", "resolve_conj", "resolve_neg", "angle", "isreal")),
    f"{VALUES}.real.tolist()", f"{VALUES}.imag", f"torch.imag({VALUES})",
    f"{VALUES}.conj_physical_().tolist()", f"torch.is_conj({VALUES})", f"{VALUES}.is_neg()",
    "torch.angle(torch.tensor([1, -1])).tolist()", "torch.angle(torch.tensor([True])).dtype",
    "torch.angle(torch.ones(2), out=torch.empty(2, dtype=torch.int))",
    "torch.conj_physical(torch.ones(2), out=torch.empty(2)).tolist()",
    "torch.ones(3, 4).adjoint().shape", "torch.adjoint(torch.ones(2, 3, 4)).shape",
    "torch.ones(3).adjoint()",
    *(f"torch.{name}(1)" for name in ("real", "conj", "resolve_conj", "is_conj")),
]


@pytest.mark.parametrize("line", LINES)
def test_values_and_errors_are_pytorchs(line: str) -> None:
    theirs = pytest.importorskip("torch", reason="compares with PyTorch")
    assert outcome(minigrad, line) == outcome(theirs, line)


def test_a_real_tensor_is_its_own_real_part_and_conjugate() -> None:
    x = minigrad.ones(2, requires_grad=True)
    assert all(each is x for each in (x.real, x.conj(), x.resolve_conj(), x.resolve_neg()))
    x.angle().sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0]
