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
    given = type(tree)
    if isinstance(tree, Tensor):
        for position, each in enumerate(tensors):
            if each is tree:
                return position
        tensors.append(tree)
        array = tree._array
        return (given, array.shape, array.dtype, array.strides, tree.requires_grad,
                tree._node is None)
    if isinstance(tree, (tuple, list)):
        return (given, *[signature(each, tensors, others) for each in tree])
    if isinstance(tree, dict):
        return (given, *[(signature(key, tensors, others), signature(each, tensors, others))
                         for key, each in tree.items()])
    if is_plain(tree):
        if isinstance(tree, (float, complex, np.inexact)):
            return given, repr(tree)  # 0.0 and -0.0 differ, and nan equals nan
        return given, tree
    others.append(tree)
    return given, id(tree)
