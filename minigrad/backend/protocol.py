"""What an array library must offer to carry tensors.

A backend is an object with the attributes below; every other name is looked up in the
array library itself, so `xp.multiply`, `xp.sum` and the rest of the array API are simply
there.  An op's forward gets it as its first argument, `xp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Array = Any


class Backend(Protocol):
    """One array library: its array type, its device and what the array API leaves out."""

    name: str
    device_type: str
    array_type: Any  # a type, of which mypy may not conclude anything
    #: `run_op(op, values, arrays, on_tensors, inplace)` where ops are not run by their `forward`
    run_op: Any
    #: what makes random numbers on the device; None where the host draws them
    generators: Any

    def __getattr__(self, name: str) -> Any:
        """Look any other name up in the array library."""

    def as_array(self, value: Any) -> Array:
        """Turn a result that is no array (a NumPy scalar) back into a 0-d array."""

    def from_host(self, array: Any) -> Array:
        """Copy or wrap a NumPy array as an array of this library."""

    def to_host(self, array: Array) -> Any:
        """Return the values as a NumPy array; shares memory where that is possible."""

    def synchronize(self, index: int | None = None) -> None:
        """Wait until all queued work is done."""

    def device_index(self, array: Array) -> int | None:
        """Return the number of the device that an array lies on; None where there is one only."""

    def number(self, array: Any) -> Any:
        """Return a 0-d NumPy array as what meets arrays of this library at the least cost."""

    def place_of(self, arrays: Sequence[Any]) -> Any:
        """Return a device and stream to enter for work on arrays; None where that is as it is."""

    def may_ask(self) -> bool:
        """Tell whether values may be looked at now: not while a graph is captured on a GPU."""

    def check_indices(self, shape: Sequence[int], indices: Sequence[Array],
                      dims: Sequence[int]) -> None:
        """Raise IndexError where an index is out of range and indexing would not say so."""
