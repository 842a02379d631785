"""Every op on the CuPy backend, with CuPy's stand-in underneath: value, dtype and gradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from minigrad.autograd import grad
from minigrad.backend import load_cuda, numpy_backend
from minigrad.tensor.tensor import Tensor
from tests.gpu import _fake_cublas, _fake_cupy
from tests.support.samples import (
    IDS,
    OPS,
    Sample,
    cotangents_of,
    differentiable,
    samples,
    with_formula,
)
from tests.support.slow import slow_but_one_in

#: Ops that draw by a generator of the device, whose numbers are others.
DRAWN = {"Bernoulli"}
#: Ops without a second derivative, as in PyTorch.
ONCE = {"CtcLoss", "SampleDirichlet", "StandardGamma"}


@pytest.fixture(scope="module")
def backend() -> Iterator[object]:
    with _fake_cupy.installed(devices=1), pytest.MonkeyPatch.context() as patch:
        found, library = load_cuda(), _fake_cublas.library()
        patch.setattr("minigrad.backend.cupy.products.library", lambda: library)
        yield found


def on_host(backend, result):
    """Return what an op gave as NumPy arrays."""
    if isinstance(result, Tensor):
        array = result._array
        return array if isinstance(array, np.ndarray) else backend.to_host(array)
    if isinstance(result, (tuple, list)):
        return [on_host(backend, r) for r in result]
    return result


def check_same(found, expected, label, rtol, atol):
    """Compare nested results: as equal as results can be that are summed in another order."""
    if isinstance(expected, list):
        assert len(found) == len(expected), label
        for f, e in zip(found, expected, strict=True):
            check_same(f, e, label, rtol, atol)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape, label
        near = {"rtol": rtol, "atol": atol} if expected.dtype.kind == "f" else {"rtol": 0}
        np.testing.assert_allclose(found, expected, err_msg=label, **near)
    else:
        assert found == expected, label


def compare(backend, op, rtol, atol):
    """Compare values, dtypes, gradients and second gradients of an op with NumPy's."""

    def same(found, expected):
        check_same(on_host(backend, found), on_host(backend, expected), sample.label, rtol, atol)

    for sample in samples(op):
        moved = sample.with_arrays(backend.from_host)
        result = moved.run()
        if op.__name__ in DRAWN:
            assert (result.shape, result.dtype) == (sample.run().shape, sample.run().dtype)
            continue
        same(result, sample.run())
        if sample.leaves() and differentiable(sample.run()):
            same(gradients(backend, moved), gradients(numpy_backend, sample))
            if op.__name__ not in ONCE:
                same(second_gradients(backend, moved), second_gradients(numpy_backend, sample))


@pytest.mark.parametrize("op", slow_but_one_in(3, OPS), ids=IDS)
def test_op(backend, op):
    compare(backend, op, rtol=1e-12, atol=1e-13)


def gradients(backend, sample: Sample, create_graph: bool = False):
    """Return the gradients of a call, for cotangents on its device."""
    outputs = with_formula(sample.op, sample.run())
    host = [Tensor._plain(on_host(backend, o)) for o in outputs]
    moved = [Tensor._plain(backend.from_host(c._array)) for c in cotangents_of(host)]
    return sample.gradients(moved, create_graph)


def second_gradients(backend, sample: Sample):
    """Return the gradients, by the leaves, of the sum of the gradients' squares."""
    first = [g for g in gradients(backend, sample, create_graph=True)
             if g is not None and g.requires_grad]
    if not first:
        return []
    total = sum((g * g).sum() for g in first)
    return list(grad(total, sample.leaves(), allow_unused=True))
