"""Array libraries behind one small protocol; the type of an array picks its backend.

>>> import numpy as np
>>> backend_of(np.zeros(2)).name
'numpy'
"""

from __future__ import annotations

from typing import Any

from .memory import keep_freed_memory
from .numpy import backend as numpy_backend
from .protocol import Array, Backend

BACKENDS: dict[type, Backend] = {numpy_backend.array_type: numpy_backend}
DEVICES: dict[str, Backend] = {numpy_backend.device_type: numpy_backend}

keep_freed_memory()


def register(backend: Backend) -> None:
    """Make `backend` carry the arrays of its type and the tensors of its device."""
    BACKENDS[backend.array_type] = backend
    DEVICES[backend.device_type] = backend


def backend_of(array: Any) -> Backend:
    """Return the backend that carries `array`; `TypeError` when none does."""
    found = BACKENDS.get(type(array))
    if found is None:
        raise TypeError(f"no backend carries arrays of type {type(array).__name__}")
    return found


__all__ = ["BACKENDS", "DEVICES", "Array", "Backend", "backend_of", "numpy_backend", "register"]
