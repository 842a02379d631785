"""Array libraries behind one small protocol; an array's type selects its backend.

>>> import numpy as np
>>> backend_of(np.zeros(2)).name
'numpy'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .memory import keep_freed_memory
from .numpy import backend as numpy_backend
from .protocol import Array, Backend

BACKENDS: dict[type, Backend] = {numpy_backend.array_type: numpy_backend}
DEVICES: dict[str, Backend] = {numpy_backend.device_type: numpy_backend}

#: Why no GPU is available; the first two are formatted with the underlying error.
NO_LIBRARY = ("device 'cuda' is not available: it needs CuPy, which comes with the extra "
              "gpu-cuda12 or gpu-cuda13 of minigrad-course, whichever your driver is for ({})")
NO_DRIVER = ("device 'cuda' is not available: CuPy is installed, but finds no NVIDIA driver that "
             "it can use; install one, or the extra gpu-cuda12 or gpu-cuda13 that suits yours ({})")
NO_GPU = ("device 'cuda' is not available: CuPy and a driver are installed, but the driver shows "
          "no GPU")

keep_freed_memory()


def register(backend: Backend) -> None:
    """Register `backend` for arrays of its type and tensors on its device."""
    BACKENDS[backend.array_type] = backend
    DEVICES[backend.device_type] = backend


def backend_of(array: Any) -> Backend:
    """Return the backend of `array`; raise `TypeError` if its type has no backend."""
    found = BACKENDS.get(type(array))
    if found is None:
        raise TypeError(f"no backend supports arrays of type {type(array).__name__}")
    return found


def is_batch(array: Any) -> bool:
    """Return whether an array is a batch, which `vmap` makes of the values that it maps over.

    >>> is_batch(1.5)
    False
    """
    found = BACKENDS.get(type(array))
    return found is not None and found.name == "batched"


def load_cuda() -> Backend:
    """Return the backend for NVIDIA GPUs, importing and registering it on first use.

    Raises a `RuntimeError` that names the missing package or device.
    """
    try:
        found: Backend = import_module("minigrad.backend.cupy").backend
        count = found.device_count()
    except ImportError as error:
        raise RuntimeError(NO_LIBRARY.format(error)) from error
    except RuntimeError as error:  # the driver's message
        raise RuntimeError(NO_DRIVER.format(error)) from error
    if not count:
        raise RuntimeError(NO_GPU)
    register(found)
    return found


__all__ = ["BACKENDS", "DEVICES", "Array", "Backend", "backend_of", "is_batch", "load_cuda",
           "numpy_backend", "register"]
