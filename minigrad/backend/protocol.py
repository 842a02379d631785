"""The protocol of a backend: an array library that holds the values of tensors.

A backend is an object with the attributes below; every other name is looked up in the array library
itself, so `xp.multiply`, `xp.sum` and the rest of the array API are available.  An op's forward
gets the backend as its first argument, `xp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Array = Any


class Backend(Protocol):
    """An array library: its array type, its device, and functions that the array API lacks."""

    name: str
    device_type: str
    array_type: Any  # Any, so that mypy infers nothing from it
    #: `run_op(op, call, inplace)` runs a prepared op; batches define it, and array libraries set
    #: it to `None`
    run_op: Any
    #: `run_values(op, values)` is like `run_op`, but takes the arguments before they are prepared
    run_values: Any
    #: random generators on the device; None if the host draws the numbers
    generators: Any

    def __getattr__(self, name: str) -> Any:
        """Look up any other name in the array library."""

    def as_array(self, value: Any) -> Array:
        """Convert a result that is not an array (a NumPy scalar) to a 0-d array."""

    def from_host(self, array: Any) -> Array:
        """Copy or wrap a NumPy array as an array of this library."""

    def to_host(self, array: Array) -> Any:
        """Return the values as a NumPy array, sharing memory if possible."""

    def synchronize(self, index: int | None = None) -> None:
        """Wait until all queued work has finished."""

    def device_index(self, array: Array) -> int | None:
        """Return the number of the device that holds an array, or `None` if there is only one."""

    def number(self, array: Any) -> Any:
        """Convert a 0-d NumPy array to the form that this library combines with arrays fastest."""

    def place_of(self, arrays: Sequence[Any]) -> Any:
        """Return a device and stream to enter for work on arrays, or `None` if not needed."""

    def may_ask(self) -> bool:
        """Return whether values may be read now: not while a graph is captured on a GPU."""

    def check_indices(self, shape: Sequence[int], indices: Sequence[Array],
                      dims: Sequence[int]) -> None:
        """Raise `IndexError` if an index is out of range and indexing would not raise."""
