"""The signatures that functions and methods show are those by which they can be called."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import minigrad
from minigrad.op.publish import FUNCTIONS
from minigrad.ops import load_all
from minigrad.tensor.tensor import Tensor
from minigrad.utils.stubs import published_methods
from tests.support.gathered import check_all

load_all()  # which the tables below are made of

KEYWORD_ONLY, VAR_POSITIONAL = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


def parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


@pytest.mark.parametrize(("function", "shown"), [
    (minigrad.mul, "(input, other, *, out=None)"),
    (minigrad.relu, "(input)"),
    (minigrad.sum, "(input, dim=None, keepdim=False, *, dtype=None, out=None)"),
    (minigrad.cumsum, "(input, dim, *, dtype=None, out=None)"),
    (minigrad.div, "(input, other, *, rounding_mode=None, out=None)"),
    (minigrad.permute, "(input, *dims)"),
    (Tensor.mul, "(self, other)"),
    (Tensor.add_, "(self, other, *, alpha=1)"),
    (Tensor.exp, "(self)"),
    (minigrad.zeros(1).sum, "(dim=None, keepdim=False, *, dtype=None)"),
], ids=lambda value: value if isinstance(value, str) else value.__qualname__)
def test_the_signature_is_that_of_the_declaration(function, shown):
    assert str(inspect.signature(function)) == shown


def test_no_function_hides_its_parameters():
    def check(name):
        assert not any(p.kind is VAR_KEYWORD for p in parameters(FUNCTIONS[name]))

    check_all(check, sorted(FUNCTIONS))


def test_no_method_hides_its_parameters():
    def check(name):
        method = inspect.getattr_static(Tensor, name)
        if inspect.isfunction(method):
            assert not any(p.kind is VAR_KEYWORD for p in parameters(method)), "**kwargs"

    check_all(check, sorted(published_methods() - {"to", "type", "sum_to_size"}))


# -------------------------------------------------------------------- beside PyTorch

#: Parameters that are named otherwise here, or that only one of the two has.
OTHERWISE = {
    "broadcast_to": "shape", "concatenate": "axis is another name of dim", "swapdims": "dim0, dim1",
    "linalg_cholesky": "A", "linalg_det": "A", "linalg_inv": "A", "linalg_matrix_power": "A",
    "linalg_norm": "input", "linalg_pinv": "atol",
    "linalg_solve_triangular": "A", "linalg_svdvals": "driver", "searchsorted": "values",
    "tril_indices": "layout", "triu_indices": "layout", "linalg_eigh": "A",
    "linalg_svd": "A, driver", "matrix_exp": "A",
    "qr": "the documents add types", "squeeze": "the documents add types",
    "triangular_solve": "the documents say b", "std_mean": "it has no out", "var_mean": "nor this",
    "histogramdd": "nor this", "narrow_copy": "PyTorch writes beyond the memory of its out",
    "true_divide": "the documents say dividend", "cholesky_inverse": "the documents say L",
    "cholesky_solve": "the documents say B", "lu_solve": "the documents say b",
    "linalg_lu_factor": "the documents add a type",
}


def documented(torch: Any, name: str) -> list[list[str]]:
    """Return the parameters of each signature in PyTorch's docstring; `*` marks keyword-only."""
    place = torch.linalg if name.startswith("linalg_") else torch
    name = name.removeprefix("linalg_")
    text = getattr(getattr(place, name, None), "__doc__", None) or ""
    found = re.findall(rf"^\s*(?:\.\. function:: )?(?:linalg\.)?{name}\((.*?)\) -> \(?Tensor", text,
                       re.MULTILINE)
    return [[re.split("[=:]", p)[0].strip(" \\") for p in re.split(r",(?![^(\[]*[)\]])", one)]
            for one in found]


def accepts(function: Any, wanted: list[str]) -> bool:
    """Tell whether a function has these parameters, the positional ones in this order."""
    own = parameters(function)
    names = [p.name for p in own if p.kind not in (KEYWORD_ONLY, VAR_POSITIONAL)]
    cut = wanted.index("*") if "*" in wanted else len(wanted)
    positional = [name.lstrip("*") for name in wanted[:cut] if name]
    keywords = (set(wanted[cut + 1:]) - {"*"}) | {n for n in positional if n not in names}
    positional = [n for n in positional if n in names]
    return names[: len(positional)] == positional and keywords <= {p.name for p in own}


def test_names_and_order_are_those_that_pytorch_documents():
    torch = pytest.importorskip("torch", reason="its docstrings are the other side")
    compared, told = 0, []
    for name in sorted(n for n in FUNCTIONS if not n.endswith("_")):
        signatures = documented(torch, name)
        compared += bool(signatures)
        fits = not signatures or any(accepts(FUNCTIONS[name], s) for s in signatures)
        if fits == (name in OTHERWISE):
            told.append(f"{name}{inspect.signature(FUNCTIONS[name])}: {signatures}")
    assert compared > 250 and not told, "\n".join(told)
