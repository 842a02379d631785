"""Helpers for distributions: broadcasting, logits and probabilities, lazy properties.

Source: https://docs.pytorch.org/docs/stable/distributions.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Number
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..dtypes import get_default_dtype
from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor

__all__ = ["broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs",
           "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Return numbers and tensors as tensors of one shape.

    Numbers take the dtype and device of the first tensor.  Raises `ValueError` for any other type.

    >>> from minigrad import tensor
    >>> broadcast_all(tensor([1.0, 2.0]), 3)
    (tensor([1., 2.]), tensor([3., 3.]))
    """
    if not all(isinstance(value, (Tensor, Number)) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects "
                         "implementing __torch_function__.")
    tensors = [value for value in values if isinstance(value, Tensor)]
    options: dict[str, Any] = {"dtype": get_default_dtype()}
    if tensors:
        options = {"dtype": tensors[0].dtype, "device": tensors[0].device}
    return F.broadcast_tensors(*(value if isinstance(value, Tensor) else F.tensor(value, **options)
                                 for value in values))


def as_floating(value: Any) -> Any:
    """Return a tensor unchanged, and a number as a tensor of the default dtype."""
    return value if isinstance(value, Tensor) else F.tensor(float(value))


def standard_normal(shape: Any, like: Any) -> Any:
    """Draw standard normal numbers with the dtype and device of `like`."""
    options = {"dtype": like.dtype, "device": like.device}
    return F.normal(F.zeros(shape, **options), F.ones(shape, **options))


def sum_rightmost(value: Any, dims: int) -> Any:
    """Sum over the last `dims` dimensions of a tensor.

    >>> from minigrad import ones
    >>> sum_rightmost(ones(2, 3), 1)
    tensor([3., 3.])
    """
    return value.reshape((*value.shape[:value.dim() - dims], -1)).sum(-1) if dims else value


def clamp_probs(probs: Any) -> Any:
    """Clamp probabilities to [eps, 1 - eps], so that their logits are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Return the softmax over the last dimension, or the sigmoid if `is_binary`.

    >>> from minigrad import tensor
    >>> logits_to_probs(tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """
    return F.sigmoid(logits) if is_binary else F.softmax(logits, -1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Return the logarithms of probabilities, or the log-odds if `is_binary`.

    >>> from minigrad import tensor
    >>> probs_to_logits(tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    inside = clamp_probs(probs)
    return F.log(inside) - F.log1p(-inside) if is_binary else F.log(inside)


class lazy_property:
    """A property that is computed on first access and then stored on the object.

    Grad mode is enabled while it is computed, because the first access may be inside `sample`.
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.name, value)
        return value


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """Return the lower triangle of matrices (..., n, n), up to diagonal `diag`, row by row.

    Raises `ValueError` if the matrices have no such diagonal.

    >>> from minigrad import tensor
    >>> tril_matrix_to_vec(tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = F.tril_indices(n, n, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """Return the matrices (..., n, n) whose lower triangles are the given vectors, row by row.

    Raises `ValueError` if the length of the vectors fits no n.

    >>> from minigrad import tensor
    >>> vec_to_tril_matrix(tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    length = vec.shape[-1]
    n = (-(1 + 2 * diag) + math.sqrt((1 + 2 * diag) ** 2 + 8 * length
                                     + 4 * abs(diag) * (diag + 1))) / 2
    if round(n) - n > finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {length} which cannot be expressed as "
                         "the lower triangular part of a square D x D matrix.")
    n = round(n)
    rows, columns = F.tril_indices(n, n, diag, device=vec.device)
    matrix = F.zeros(*vec.shape[:-1], n, n, dtype=vec.dtype, device=vec.device)
    matrix[..., rows, columns] = vec
    return matrix
