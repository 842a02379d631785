# Stage 12, Arrays on a GPU: the backend protocol: the exercise for minigrad/backend/__init__.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 12
# docs/en/glossary.md explains the names used inside the package.

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
    # 12.1 Finding the backend of an array (about 6 lines)
    # `register` enters a backend into the two tables above, under the type of its arrays
    # and under the name of its device. `backend_of` finds the backend of an array.
    #   register(b) with b.array_type GpuArray, b.device_type "gpu"
    #       -> BACKENDS[GpuArray] is b, DEVICES["gpu"] is b
    #   backend_of(np.zeros(2))  -> numpy_backend
    #   backend_of([1.0])        -> TypeError: no backend supports arrays of type list
    # Mind:
    # - A backend that is registered later replaces the earlier one.
    # - Only a registered type itself has a backend; a subclass of it doesn't.
    raise NotImplementedError("12.1 Finding the backend of an array is yours to write")


def backend_of(array: Any) -> Backend:
    """Return the backend of `array`; raise `TypeError` if its type has no backend."""
    # 12.1 Finding the backend of an array: see the task at `register`.
    raise NotImplementedError("12.1 Finding the backend of an array is yours to write")


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
    # 12.2 Loading on first use (about 11 lines)
    # Load the `backend` of the module "minigrad.backend.cupy", and register it if it can
    # be used.
    #   device_count() returns 2                       -> the backend, registered
    #   device_count() returns 0                       -> RuntimeError(NO_GPU)
    #   device_count() raises RuntimeError("too old")  -> NO_DRIVER.format("too old")
    #   import_module raises ImportError("no cupy")    -> NO_LIBRARY.format("no cupy")
    # Mind:
    # - The last two are also texts of a RuntimeError, and the original error is its
    #   cause.
    # - A backend that can't be used isn't registered.
    # Use: `import_module(name)`, and the backend's `device_count()`.
    raise NotImplementedError("12.2 Loading on first use is yours to write")


__all__ = ["BACKENDS", "DEVICES", "Array", "Backend", "backend_of", "is_batch", "load_cuda",
           "numpy_backend", "register"]
