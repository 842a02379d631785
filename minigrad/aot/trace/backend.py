"""The backend of traced arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _state
from ...backend import numpy_backend
from ...op.apply import run_op
from .arrays import TracedArray, reason
from .refusal import refuse


class TracingBackend:
    """Backend of traced arrays: it records each op, and new constants are plain arrays."""

    name = "traced"
    device_type = "cpu"
    array_type: type = TracedArray
    generators: Any = None

    def run_op(self, op: Any, call: Any, inplace: bool = False) -> Any:
        """Record a prepared op."""
        recording = _state.program.get()
        if recording is None:
            raise refuse(f"{op.name} ran")
        return recording.run_inplace(op, call) if inplace else recording.run_op(op, call)

    def run_values(self, op: Any, values: list[Any]) -> Any:
        """Prepare and record an op."""
        return run_op(op, values)

    def as_array(self, value: Any) -> Any:
        """Return the result of an operator, since it is already an array."""
        return value

    def detached(self, array: TracedArray) -> TracedArray:
        """Return the same array, since tensors hold the history."""
        return array

    def in_batch(self, example: Any, array: TracedArray) -> Any:
        """Return a new constant."""
        return example

    def from_host(self, array: Any) -> Any:
        """Return a constant."""
        return array

    def may_ask(self) -> bool:
        """Return True: values may be read, and reads that a program cannot do raise anyway."""
        return True

    def place_of(self, arrays: Any) -> Any:
        """Return `None`, since work on these arrays needs no context."""
        return None

    def may_share_memory(self, one: Any, other: Any) -> bool:
        """Return whether two traced arrays may overlap."""
        return bool(np.may_share_memory(getattr(one, "inner", one), getattr(other, "inner", other)))

    def synchronize(self, index: int | None = None) -> None:
        """Do nothing: recording has finished when it returns."""

    def to_host(self, array: Any) -> Any:
        """Return the values of a constant; raise for any other array."""
        return array.known("values are read as a NumPy array")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(numpy_backend, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if not any(type(each) is TracedArray for each in (*args, *kwargs.values())):
                return function(*args, **kwargs)
            if name.endswith("_like"):
                return function(getattr(args[0], "inner", args[0]), *args[1:], **kwargs)
            why = reason(name, f"`{name}` is called")
            return function(*[known(each, why) for each in args],
                            **{key: known(each, why) for key, each in kwargs.items()})

        return call


def known(value: Any, why: str) -> Any:
    """Return a copy of the array of a constant for a traced array."""
    return value.known(why).copy("K") if type(value) is TracedArray else value
