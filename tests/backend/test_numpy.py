"""What NumPy's functions return where an address has 32 bits, on a machine where it has 64."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.backend.numpy import WIDENED, widened


def test_nothing_is_widened_where_an_address_has_64_bits():
    assert not WIDENED or np.dtype(np.intp).itemsize == 4


@pytest.fixture
def narrow(monkeypatch):
    """NumPy's functions as they are where an address has 32 bits."""
    monkeypatch.setattr(np, "intp", np.int32)

    def found(function):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            if isinstance(result, tuple):
                return tuple(each.astype(np.int32) for each in result)
            return np.int32(result) if np.isscalar(result) else result.astype(np.int32)
        return call

    return found


@pytest.mark.parametrize(("name", "given"), [
    ("argmax", [1.0, 3.0]), ("argsort", [2.0, 1.0]), ("bincount", [1, 1]), ("arange", 3),
    ("nonzero", [[0, 1], [1, 0]])])
def test_positions_are_widened_whether_alone_or_in_a_tuple(narrow, name, given):
    function = getattr(np, name)
    result, expected = widened(narrow(function))(given), function(given)
    if not isinstance(result, tuple):
        result, expected = (result,), (expected,)
    for found, right in zip(result, expected, strict=True):
        assert found.dtype == np.int64 and np.array_equal(found, right)


def test_what_has_a_dtype_of_its_own_keeps_it(monkeypatch, narrow):
    assert widened(np.arange)(3, dtype=np.int32).dtype == np.int32
    assert widened(np.argmax)([0.0]).dtype == np.int64
    monkeypatch.setattr(np, "unique", narrow(np.unique))
    given = np.array([3, 1, 3], np.int32)
    values, inverse = widened(np.unique)(given, return_inverse=True)
    assert (values.dtype, inverse.dtype) == (np.int32, np.int64)
    assert widened(np.unique)(given).dtype == np.int32
