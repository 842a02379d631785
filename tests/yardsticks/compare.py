"""Comparing results: structure, dtype, shape and values."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad

#: Tolerances, relative and absolute, by dtype.
CLOSE = {"float64": (1e-6, 1e-7), "float32": (2e-4, 2e-5), "float16": (1e-2, 1e-2)}


def flat(value: Any) -> list[Any]:
    """Return the leaves of nested lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def agree(theirs: Any, ours: Any, values: bool = True) -> bool:
    """Tell whether two results are equal, up to rounding."""
    import torch

    left, right = flat(theirs), flat(ours)
    if len(left) != len(right):
        return False
    for a, b in zip(left, right, strict=True):
        if isinstance(a, torch.Tensor):
            if not isinstance(b, minigrad.Tensor) or not alike(a, b, values):
                return False
        elif isinstance(a, (bool, int, float)):
            if type(a) is not type(b) or not np.allclose(a, b, equal_nan=True):
                return False
        elif str(a) != str(b):
            return False
    return True


def alike(theirs: Any, ours: Any, values: bool = True) -> bool:
    """Tell whether two tensors are equal, up to rounding."""
    if str(theirs.dtype) != str(ours.dtype) or tuple(theirs.shape) != tuple(ours.shape):
        return False
    if not values:
        return True
    # some zeros of PyTorch's have no memory
    a = np.zeros(tuple(theirs.shape)) if theirs._is_zerotensor() else theirs.detach().numpy()
    b = ours.detach().numpy()
    relative, absolute = CLOSE.get(a.dtype.name, (0, 0))
    return bool(np.allclose(b, a, relative, absolute, equal_nan=True))


def same_gradients(theirs: Any, ours: Any) -> bool:
    """Tell whether two lists of gradients are equal; a missing one may be zeros."""
    for a, b in zip(theirs, ours, strict=True):
        if a is None or b is None:
            present = b if a is None else a
            if present is not None and bool((present.detach() != 0).any()):
                return False
        elif not alike(a, b):
            return False
    return True
