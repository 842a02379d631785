"""Every op of the registry, compiled: the same numbers and gradients as in eager mode, or refused.

A program is recorded with one sample and then runs on other values of the same shapes, so that a
value that a recording took for granted would show.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.aot.compiled import CompiledFunction
from minigrad.aot.trace.refusal import Unrecordable
from minigrad.autograd import grad
from minigrad.op.apply import apply
from minigrad.op.arguments import bind
from minigrad.op.inplace import apply_inplace
from minigrad.tensor.tensor import Tensor, from_array
from tests.support.samples import OPS, Sample, reseed, samples

#: Ops that a program cannot contain, with the reason in the error.
REFUSED = {
    "Bincount": "depends on values", "MaskedSelect": "depends on values",
    "NonzeroMatrix": "depends on values", "Unique2": "depends on values",
    "UniqueConsecutive": "depends on values",
}


def function_of(sample: Sample, inplace: bool) -> Any:
    """Return the sample as a function of its tensors."""
    order = {id(t): i for i, t in enumerate(sample.tensors())}

    def function(*tensors: Tensor) -> Any:
        call = sample.replaced(lambda t: tensors[order[id(t)]])
        values = bind(sample.op, call.args, call.kwargs)
        if not inplace:
            return apply(sample.op, values)
        values[0] = values[0].clone()
        return apply_inplace(sample.op, values)

    return function


def others(sample: Sample) -> Sample:
    """Return the sample with the elements of its floating tensors in reverse order."""
    return sample.with_arrays(lambda a: np.ascontiguousarray(
        a[::-1] if a.ndim == 1 and a.dtype.kind == "f" else a))


def outcome(function: Any, sample: Sample) -> tuple[list[Any], list[Any]]:
    """Return the results and the gradients of the leaves."""
    reseed()
    result = function(*sample.tensors())
    results = [result] if isinstance(result, Tensor) else list(result)
    roots = [t for t in results if t.requires_grad]
    given = [from_array(np.cos(np.arange(t.numel())).reshape(t.shape).astype(t._array.dtype))
             for t in roots]
    found = grad(roots, sample.leaves(), given, allow_unused=True) if roots else ()
    return ([t._array for t in results], [g if g is None else g._array for g in found])


def assert_equal(one: Any, other: Any, what: str) -> None:
    """Assert that two arrays have the same bits; for gradients, `None` may be zeros."""
    if one is None or other is None:
        assert one is other or not np.any(one if other is None else other), what
        return
    assert one.dtype == other.dtype and one.shape == other.shape, what
    np.testing.assert_array_equal(one, other, err_msg=what)


@pytest.mark.parametrize(("op", "inplace"), [
    pytest.param(op, inplace, id=f"{op.__name__} in place" if inplace else op.__name__)
    for op in OPS for inplace in (False, True) if op.inplace or not inplace])
def test_compiled_ops_agree_with_eager_ones(op: Any, inplace: bool) -> None:
    for sample in samples(op):
        function = function_of(sample, inplace)
        compiled = CompiledFunction(function, fullgraph=True)
        for each in (sample, others(sample)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the ops' own
                try:
                    wanted = outcome(function, each)
                except (RuntimeError, TypeError, NotImplementedError, IndexError, ValueError):
                    break  # the sample has no in-place variant
                try:
                    got = outcome(compiled, each)
                except Unrecordable as error:
                    assert REFUSED.get(op.__name__, "?") in str(error)
                    break
            for pairs in zip(wanted, got, strict=True):
                for one, other in zip(*pairs, strict=True):
                    assert_equal(one, other, each.label)


def test_refused_ops_exist() -> None:
    assert {op.__name__ for op in OPS} >= REFUSED.keys()
    assert minigrad.compiler.list_backends()
