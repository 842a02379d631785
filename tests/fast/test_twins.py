"""The quicker twin of each op gives the generic function's numbers, bit for bit.

Values, dtypes, strides, edges, saved values and gradients are compared for all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from minigrad import _state
from minigrad.fast.publish import with_fast_path
from minigrad.fast.unary_binary import specialised
from minigrad.op.apply import run_op
from minigrad.op.arguments import bind
from minigrad.op.declaration import Op
from minigrad.op.publish import caller
from tests.ops.test_registry import assert_identical, in_single
from tests.support.samples import IDS, OPS, Sample, cotangents_of, each, outputs_of, reseed, samples

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)
pytestmark = pytest.mark.skipif(not _state.fast, reason="fast/ is switched off")


def closure(op: type[Op]) -> Any:
    """Return the function by which the package calls an op where it is specialised, or None."""
    generic = caller(op)
    fast = specialised(op, generic) if op.public or op.dunder else None
    return None if fast is None else with_fast_path(generic, fast, op)


@every_op
def test_specialised_closure_agrees_with_the_generic_function(op):
    fast = closure(op)
    if fast is None:
        return

    def check(sample: Sample) -> None:
        reseed()
        ours = outputs_of(fast(*sample.args, **sample.kwargs))
        theirs = outputs_of(sample.run())
        for a, b in zip(ours, theirs, strict=True):
            assert_identical(a._array, b._array, "result")
            assert a.requires_grad == b.requires_grad
            assert type(a.grad_fn) is type(b.grad_fn)
            if a.grad_fn is None:
                continue
            assert a.grad_fn.next_functions == b.grad_fn.next_functions
            assert (a.grad_fn.shape, a.grad_fn.dtype) == (b.grad_fn.shape, b.grad_fn.dtype)
            for name in op.node_type.saves:
                one, other = (getattr(o.grad_fn, "_saved_" + name) for o in (a, b))
                assert (one is None) == (other is None), name
                if one is not None:
                    assert_identical(one._array, other._array, name)
            (g,) = cotangents_of([a])
            one, other = (o.grad_fn.apply_arrays([g._array], None) for o in (a, b))
            for i, (edge, x, y) in enumerate(zip(a.grad_fn.edges, one, other, strict=True)):
                if edge[0] is None:
                    continue
                assert_identical(np.asarray(x), np.asarray(y), "gradient")
                if op.node_type.vjp_fns:
                    by_twin = op.node_type.vjp_fns[i](a.grad_fn, g._array)
                    assert_identical(np.asarray(by_twin), np.asarray(y), "gradient by `vjp_fns`")

    each([*samples(op), *map(in_single, samples(op))], check)


def test_some_ops_are_specialised():
    names = {op.__name__ for op in OPS if closure(op) is not None}
    assert len(names) > 20
    assert names >= {"Add", "Sub", "Mul", "Exp", "Log", "Sin", "Tanh", "Sigmoid", "Neg"}


@every_op
def test_the_general_twin_agrees_with_run_op(op):
    if op.fast is None:
        return

    def check(sample: Sample) -> None:
        values = bind(op, sample.args, sample.kwargs)
        reseed()
        ours = outputs_of(op.fast(list(values)))
        reseed()
        theirs = outputs_of(run_op(op, list(values)))
        for a, b in zip(ours, theirs, strict=True):
            assert_identical(a._array, b._array, "result")
            assert type(a.grad_fn) is type(b.grad_fn)

    each(samples(op), check)
