"""The backend of batched arrays, which sends each op to its batching rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import BACKENDS, numpy_backend
from ..device import place_on
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .array import NO_STORAGE, BatchedArray, NotBatchable, refuse
from .dispatch import run_op
from .plain_calls import run_values


class BatchedBackend:
    """Backend of batched arrays: it runs batching rules, and new constants are not batched."""

    name = "batched"
    device_type = "cpu"
    array_type: type = BatchedArray
    run_op, run_values = staticmethod(run_op), staticmethod(run_values)

    zeros, ones = staticmethod(np.zeros), staticmethod(np.ones)
    empty, full = staticmethod(np.empty), staticmethod(np.full)

    def as_array(self, value: Any) -> Any:
        """Return the result of an operator, which is already an array."""
        return value

    def detached(self, array: BatchedArray) -> BatchedArray:
        """Return the same batch, detached if its value is a tensor."""
        value = array.value
        return BatchedArray(F.detach(value), array.level) if isinstance(value, Tensor) else array

    def zeros_like(self, array: Any, dtype: Any = None, order: str = "K") -> Any:
        """Return a batch of zeros with the shape of an array."""
        return like("zeros_like", array, dtype=dtype, order=order)

    def ones_like(self, array: Any, dtype: Any = None, order: str = "K") -> Any:
        """Return a batch of ones."""
        return like("ones_like", array, dtype=dtype, order=order)

    def empty_like(self, array: Any, dtype: Any = None, order: str = "K") -> Any:
        """Return an uninitialized batch."""
        return like("empty_like", array, dtype=dtype, order=order)

    def full_like(self, array: Any, value: Any, dtype: Any = None, order: str = "K") -> Any:
        """Return a batch filled with a number."""
        return like("full_like", array, value, dtype=dtype, order=order)

    def in_batch(self, example: Any, array: BatchedArray) -> BatchedArray:
        """Return a batch with the size and levels of `array`, with `example` repeated in it."""
        with place_on(example):
            batch: Any = BACKENDS[type(example)].repeat(example[None], array.batch_size, axis=0)
        inner = array.inner
        if isinstance(inner, BatchedArray):
            batch = self.in_batch(batch, inner)
        return BatchedArray(Tensor._plain(batch) if isinstance(array.value, Tensor) else batch,
                            array.level)

    def from_host(self, array: Any) -> Any:
        """Return an unbatched array."""
        return array

    def may_ask(self) -> bool:
        """Return True: values may be read, and reads that a batch cannot do raise anyway."""
        return True

    def place_of(self, arrays: Any) -> Any:
        """Return `None`, because rules select the device of the value themselves."""
        return None

    def __getattr__(self, name: str) -> Any:
        return numpy_backend.synchronize if name == "synchronize" else refused(name)

    def to_host(self, array: Any) -> Any:
        """Raise, because a batch is not a single array."""
        raise NotBatchable(NO_STORAGE)


def like(name: str, array: BatchedArray, *args: Any, **kwargs: Any) -> BatchedArray:
    """Return a new batch with the size of `array`, made by the function `name` of its backend."""
    with place_on(array.inner):
        result = getattr(BACKENDS[type(array.inner)], name)(array.inner, *args, **kwargs)
    return BatchedArray(Tensor._plain(result) if isinstance(array.value, Tensor) else result,
                        array.level)


def refused(name: str) -> Any:
    """Raise for a function that needs a single array."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise refuse(f"calling `{name}` on")


BACKENDS[BatchedArray] = BatchedBackend()
