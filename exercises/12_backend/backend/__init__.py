# Stage 12, Arrays on a GPU: the backend protocol: the exercise for minigrad/backend/__init__.py.
# Made by `minigrad dev build`. The lesson is lessons/12_backend.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 12
# Names of the package's inside are explained in docs/en/glossary.md.

"""Array libraries behind one small protocol; the type of an array picks its backend.

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

keep_freed_memory()


def register(backend: Backend) -> None:
    """Register `backend` for the arrays of its type and the tensors of its device."""
    # 12.1 The type picks the backend (about 6 lines)
    # `register(backend)` makes it the one that carries the arrays of its `array_type`
    # (the table BACKENDS, by type) and the tensors of its `device_type` (the table
    # DEVICES, by name); a later one takes an earlier one's place. `backend_of(array)`
    # returns the backend whose arrays have exactly the type of `array`; where there is
    # none, it raises TypeError "no backend carries arrays of type {name}", the name being
    # that of the type without its module.
    raise NotImplementedError("12.1 The type picks the backend is yours to write")


def backend_of(array: Any) -> Backend:
    """Return the backend of `array`; `TypeError` if there is none."""
    # 12.1 The type picks the backend: see the task at `register`.
    raise NotImplementedError("12.1 The type picks the backend is yours to write")


def load_cuda() -> Backend:
    """Return the backend of NVIDIA GPUs, imported and registered the first time.

    A `RuntimeError` says what is missing.
    """
    # 12.2 Loading late, and building in the right place (about 26 lines)
    # `load_cuda()`: import the module "minigrad.backend.cupy" with `import_module`, take
    # its `backend`, ask it `device_count()`, `register` it and return it. What goes wrong
    # becomes a RuntimeError whose text begins "device 'cuda' is not available: ", says
    # what is missing and, for the first two, ends with the first error's words and has it
    # as its cause: ImportError (the library is missing), RuntimeError (the driver
    # complains), a count of 0 (there is no GPU). Nothing is registered then.
    # `device_of(array)`: the constant CPU for arrays of a backend whose `device_type` is
    # "cpu", otherwise `device(type, backend.device_index(array))`. `build_on(where,
    # build)`: return `build(xp)` with `xp = backend_for(where)`. If `where` names a
    # device other than the CPU and has an index (`as_device(where).index`), call build
    # inside `with xp.on(index)`; in all other cases `on` is not called.
    raise NotImplementedError("12.2 Loading late, and building in the right place is yours to write")


__all__ = ["BACKENDS", "DEVICES", "Array", "Backend", "backend_of", "load_cuda", "numpy_backend",
           "register"]
