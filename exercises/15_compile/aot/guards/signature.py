# Stage 15, Compiling: the backward pass as a program: the exercise for minigrad/aot/guards/signature.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 15
# docs/en/glossary.md explains the names used inside the package.

"""The signature of a call: what a program takes for granted about the arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _state
from ...device import device
from ...dtypes import dtype, get_default_dtype
from ...tensor.tensor import Tensor

#: Types of values that are compared, and that can be part of a key.
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), dtype, device,
         np.dtype, np.generic)


def is_plain(value: Any) -> bool:
    """Return whether a value is compared by equality, as an int or a str is.

    An instance with attributes, as a subclass of str may have, is compared by identity instead.
    """
    return isinstance(value, PLAIN) and not hasattr(value, "__dict__")


def modes() -> tuple[Any, ...]:
    """Return the modes of this thread that a recording depends on."""
    return (_state.grad_enabled.get(), _state.inference_enabled.get(), get_default_dtype(),
            _state.default_devices.get())


def signature(tree: Any, tensors: list[Tensor], others: list[Any]) -> Any:
    """Return a hashable key of nested arguments: two calls share a program if their keys are equal.

    Append each tensor to `tensors` once, and to `others` each object that is compared by identity.
    """
    # 15.3 The signature of a call (about 20 lines)
    # Return a hashable key of the arguments, so that calls with equal keys can share a
    # program.
    #   (x, x) and (x, y)                    -> different keys, however alike x and y are
    #   1, True, 1.0; 0.0, -0.0; [2], (2,)   -> different keys
    #   nan and nan; [2] and another [2]     -> equal keys
    #   {"a": x} and {"b": x}                -> different keys
    #   two objects, even if they are equal  -> different keys, both in `others`
    # Mind:
    # - Types count, and a tensor's shape, dtype, strides, `requires_grad` and being a
    #   leaf do too, but not its numbers.
    # - `tensors` lists each tensor once, in order.
    # - Objects in `others` stay alive, so their ids stay theirs.
    # Use: `is_plain(value)`.
    raise NotImplementedError("15.3 The signature of a call is yours to write")
