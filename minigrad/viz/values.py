"""Short text for gradients, so that a record of a backward pass keeps no array alive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dtypes import FROM_NUMPY
from ..tensor.tensor import Tensor

#: Arrays with up to this many elements are shown completely.
WHOLE = 8
#: The number of elements to show of larger arrays.
FIRST = 3


@dataclass(frozen=True)
class Value:
    """A gradient for display: its shape, its dtype and its numbers, or the first few of them."""

    shape: tuple[int, ...]
    dtype: str
    text: str

    def __str__(self) -> str:
        return self.text if self.shape == () else f"{self.text}, shape {self.shape}"


def value_of(gradient: Any) -> Value | None:
    """Describe an array or a tensor; `None` stays `None`.

    >>> import numpy as np
    >>> str(value_of(np.array([1.0, 0.5])))
    '[1, 0.5], shape (2,)'
    >>> str(value_of(np.arange(12.0).reshape(3, 4)))
    '[0, 1, 2, …] from 0 to 11, shape (3, 4)'
    """
    if gradient is None:
        return None
    array = gradient._array if isinstance(gradient, Tensor) else gradient
    dtype = FROM_NUMPY.get(array.dtype, array.dtype)
    return Value(tuple(array.shape), str(dtype).removeprefix("torch."), numbers(array))


def numbers(array: Any) -> str:
    """Return the elements of a small array, or the first elements and the range of a large one."""
    if array.size <= WHOLE:
        return nested(array.tolist())
    least, most = nested(array.min().item()), nested(array.max().item())
    if least == most:
        return f"{array.size} times {most}"
    first = ", ".join(nested(x) for x in array.reshape(-1)[:FIRST].tolist())
    return f"[{first}, …] from {least} to {most}"


def nested(value: Any) -> str:
    """Return numbers, or lists of them, with four significant digits.

    >>> nested([[1.0, 2 / 3], [float("nan"), -1e9]])
    '[[1, 0.6667], [nan, -1e+09]]'
    """
    if isinstance(value, list):
        return f"[{', '.join(map(nested, value))}]"
    return f"{value:.4g}"
