"""What an array library must offer to carry tensors.

A backend is an object with the attributes below; every other name is looked up in the
array library itself, so `xp.multiply`, `xp.sum` and the rest of the array API are simply
there.  An op's forward gets it as its first argument, `xp`.
"""

from __future__ import annotations

from typing import Any, Protocol

Array = Any


class Backend(Protocol):
    """One array library: its array type, its device and what the array API leaves out."""

    name: str
    device_type: str
    array_type: type
    #: `run_op(op, values, arrays, on_tensors, inplace)` where ops are not run by their `forward`
    run_op: Any

    def __getattr__(self, name: str) -> Any:
        """Look any other name up in the array library."""

    def as_array(self, value: Any) -> Array:
        """Turn a result that is no array (a NumPy scalar) back into a 0-d array."""

    def from_host(self, array: Any) -> Array:
        """Copy or wrap a NumPy array as an array of this library."""

    def to_host(self, array: Array) -> Any:
        """Return the values as a NumPy array; shares memory where that is possible."""

    def synchronize(self) -> None:
        """Wait until all queued work is done."""
