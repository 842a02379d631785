"""Every op on the strict backend: what works there needs no NumPy behind the backend's back."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad import backend
from minigrad.backend import strict
from minigrad.tensor.tensor import Tensor
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


@pytest.fixture(autouse=True)
def registered():
    """Let the strict backend carry arrays for the length of a test."""
    kept = dict(backend.BACKENDS), dict(backend.DEVICES)
    backend.register(strict.backend)
    yield
    for table, before in zip((backend.BACKENDS, backend.DEVICES), kept, strict=True):
        table.clear()
        table.update(before)


def on_host(result):
    """Return what an op gave as NumPy arrays."""
    if isinstance(result, Tensor):
        array = result._array
        return strict.backend.to_host(array) if isinstance(array, strict.StrictArray) else array
    if isinstance(result, (tuple, list)):
        return [on_host(r) for r in result]
    return result


def check_same(found, expected, label):
    """Compare nested results: as equal as results can be that are summed in another order."""
    if isinstance(expected, list):
        assert len(found) == len(expected), label
        for f, e in zip(found, expected, strict=True):
            check_same(f, e, label)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, label
        rtol = 1e-14 if expected.dtype.kind == "f" else 0
        np.testing.assert_allclose(found, expected, rtol=rtol, err_msg=label)
    else:
        assert found == expected, label


@pytest.mark.parametrize("op", slow_but_one_in(3, OPS), ids=IDS)
def test_op_runs_on_the_strict_backend(op):
    for sample in samples(op):
        moved = sample.with_arrays(strict.backend.from_host)
        check_same(on_host(moved.run()), on_host(sample.run()), sample.label)
        if sample.leaves() and differentiable(sample.run()):
            expected = on_host(sample.gradients())
            check_same(on_host(gradients_on_device(moved)), expected, sample.label)


def gradients_on_device(sample: Sample):
    """Return the gradients of a call on device arrays, for cotangents moved there."""
    outputs = with_formula(sample.op, sample.run())
    host = [Tensor._plain(on_host(o)) for o in outputs]
    moved = [Tensor._plain(strict.backend.from_host(c._array)) for c in cotangents_of(host)]
    return sample.gradients(moved)


def test_a_plain_array_is_refused():
    x = strict.backend.from_host(np.ones(3))
    with pytest.raises(TypeError, match="NumPy array met a device array"):
        strict.backend.add(x, np.ones(3))
    with pytest.raises(TypeError):
        np.add(x, np.ones(3))
    with pytest.raises(TypeError, match="Implicit conversion"):
        np.asarray(x)
    with pytest.raises(TypeError, match="hidden transfer"):
        float(x.sum())
    with pytest.raises(NotImplementedError, match=r"`maximum\.accumulate` is not"):
        strict.backend.maximum.accumulate(x)


def test_mixing_devices_is_refused():
    x = Tensor._plain(strict.backend.from_host(np.ones(3)))
    y = Tensor._plain(np.ones(3))
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x * y
