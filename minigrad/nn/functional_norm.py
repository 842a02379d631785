"""Embedding lookup and normalisation functions of `nn.functional`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..op.declaration import F
from ..ops import function
from ..shapes import numel
from ..tensor.tensor import Tensor


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Look up rows of `weight`; rows longer than `max_norm` are first rescaled in place.

    >>> from minigrad import arange, tensor
    >>> embedding(tensor([2, 0]), arange(6.0).reshape(3, 2))
    tensor([[4., 5.],
            [0., 1.]])
    """
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx >= rows or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    return F.embedding(weight, input, -1 if padding_idx is None else padding_idx,
                       scale_grad_by_freq, sparse)


def shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    """Rescale the rows at `indices` to a norm of at most `max_norm`, in place."""
    table = weight.detach()
    rows = F.unique(indices.reshape(-1))
    chosen = table[rows]
    norms = F.norm(chosen, norm_type, 1, True)
    table[rows] = F.where(norms > max_norm, chosen * (max_norm / (norms + 1e-7)), chosen)


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Normalise each channel to mean 0 and variance 1, then scale and shift it.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.batch_norm(tensor([[1.0], [3.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training:
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        sizes = input.size()
        more_than_one("value per channel", sizes[0] * math.prod(sizes[2:]), sizes)
    if input.ndim < 2 and input.numel():
        given = {"running_mean": running_mean, "running_var": running_var, "weight": weight,
                 "bias": bias}
        for name, tensor in given.items():
            if tensor is not None:
                raise RuntimeError(f"{name} should contain 0 elements not {tensor.numel()}")
    return F.batch_norm(input, weight, bias, running_mean, running_var,
                        training, momentum, eps)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise each sample to mean 0 and variance 1 over its last dimensions.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.layer_norm(tensor([[1.0, 3.0], [2.0, 6.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:
    """Divide each sample by its root mean square over the last dimensions, and scale it.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.rms_norm(tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    return F.rms_norm(input, normalized_shape, weight, eps)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12,
              out: Tensor | None = None) -> Tensor:
    """Divide by the norm along a dimension; `out` receives the result if given.

    >>> from minigrad import tensor
    >>> normalize(tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = F.clamp_min(F.norm(input, p, dim, True), eps)
    expanded = F.expand(length, input.shape)
    return input / expanded if out is None else function("div")(input, expanded, out=out)


def more_than_one(what: str, count: int, size: Any) -> None:
    """Raise `ValueError` if moments would be computed from a single value."""
    if count == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {size}")


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise groups of channels to mean 0 and variance 1, then scale and shift each channel.

    >>> from minigrad import tensor
    >>> group_norm(tensor([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    if input.ndim < 2:
        raise RuntimeError("Expected at least 2 dimensions for input tensor but received "
                           f"{input.ndim}")
    rows = [input.size(0) * input.size(1) // num_groups, num_groups, *input.shape[2:]]
    more_than_one("value per channel", numel(rows) // max(num_groups, 1), list(rows))
    return F.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(input: Tensor, running_mean: Tensor | None = None,
                  running_var: Tensor | None = None, weight: Tensor | None = None,
                  bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1,
                  eps: float = 1e-5) -> Tensor:
    """Normalise each channel of each sample to mean 0 and variance 1, then scale and shift it.

    >>> from minigrad import tensor
    >>> instance_norm(tensor([[[1.0, 3.0]]]), eps=0.0)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats:
        more_than_one("spatial element", numel(input.shape[2:]), input.size())
    return F.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats,
                           momentum, eps)
