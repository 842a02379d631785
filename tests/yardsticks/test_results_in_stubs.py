"""Functions and methods return what their type stubs say, on the samples of PyTorch's database."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import pytest

import minigrad
from minigrad.op.publish import FUNCTIONS
from minigrad.tensor.tensor import Tensor
from minigrad.utils import stubs
from tests.support.slow import ALL, today

pytest.importorskip("torch", reason="has the samples")

from .databases import dtype_for, load
from .ops import chosen, op_of, quiet
from .translate import Translator

pytestmark = pytest.mark.slow


def declared() -> dict[tuple[str, str], set[str]]:
    """Return the result types of each function and method, by its kind and name."""
    found, texts = defaultdict(set), stubs.stubs()
    for kind, path in (("method", stubs.METHODS), ("function", stubs.FUNCTIONS_STUB)):
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                found[kind, node.name].add(ast.unparse(node.returns))
    return dict(found)


def fits(value: Any, kind: str) -> bool:
    """Tell whether a result is of a type, as the stubs write it."""
    if kind == "builtins.tuple[Tensor, ...]":
        return isinstance(value, tuple) and all(isinstance(each, Tensor) for each in value)
    if kind.startswith("builtins.tuple["):
        return (isinstance(value, tuple) and len(value) == kind.count("Tensor")
                and all(isinstance(each, Tensor) for each in value))
    if kind.endswith("Result"):
        return isinstance(value, tuple) and type(value) is not tuple
    return isinstance(value, {"Tensor": Tensor, "Self": Tensor, "builtins.bool": bool,
                              "_Size": minigrad.Size}.get(kind, object))


@pytest.mark.parametrize(("value", "kind", "expected"), [
    (minigrad.ones(1), "Tensor", True), ((), "Tensor", False), (True, "builtins.bool", True),
    ((minigrad.ones(1),), "builtins.tuple[Tensor, ...]", True), ((1,), "_XResult", False),
    ((minigrad.ones(1),), "builtins.tuple[Tensor, Tensor]", False),
    (minigrad.ones(1).max(0), "_MaxDimResult", True),
])
def test_the_comparison_can_fail(value, kind, expected):
    assert fits(value, kind) is expected


def results(samples: list[Any], call: Any) -> list[Any]:
    """Return the results of a function for samples, those that it accepts."""
    found = []
    for sample in samples:
        ours = Translator().ours
        try:
            arguments = [ours(each) for each in (sample.input, *sample.args)]
            found.append(call(*arguments, **{k: ours(v) for k, v in sample.kwargs.items()}))
        except Exception:  # the other tests of the database tell
            continue
    return found


def test_results_are_of_the_type_in_the_stubs():
    types, wrong, compared = declared(), [], 0
    for info in today(3, load()[0]):
        name = info.name.replace(".", "_")
        if op_of(info) is None:
            continue
        samples = None
        for kind, call in (("function", FUNCTIONS.get(name)),
                           ("method", getattr(Tensor, info.name, None))):
            wanted = types.get((kind, name))
            if not (wanted and call):
                continue
            with quiet():
                if samples is None:
                    samples = chosen(list(info.sample_inputs("cpu", dtype_for(info))), 3)
                for value in results(samples, call):
                    compared += 1
                    if not any(fits(value, each) for each in wanted):
                        wrong.append(f"{kind} {name}: {type(value).__name__}, not {wanted}")
    assert compared > (1500 if ALL else 400)
    assert not wrong, sorted(set(wrong))
