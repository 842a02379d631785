"""Embedding bags: look up rows of a table and reduce each bag to its sum, mean or maximum.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
"""

from __future__ import annotations

import math
from typing import Any

from ..frames import warn_user
from ..op.declaration import F
from ..op.publish import with_aliases
from ..ops.checks import at_each_run
from ..tensor.tensor import Tensor
from .functional_norm import shorten_rows

INDICES, TABLES = ("Long", "Int"), ("Half", "BFloat16", "Float", "Double")


@with_aliases
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None,
                  max_norm: float | None = None, norm_type: float = 2.0,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """Look up rows of `weight` and reduce each bag by `mode`: "sum", "mean" or "max".

    Each row of a 2-D `input` is a bag. In a 1-D `input`, bags begin at the `offsets`; with
    `include_last_offset` the last offset only marks the end. Indices equal to `padding_idx` do not
    count, and an empty bag gives zeros. `per_sample_weights` scales the rows before they are
    summed. PyTorch on the CPU differs in two ways: here `scale_grad_by_freq` divides by how often
    the index itself occurs, and NaN is the maximum wherever it occurs in its bag.

    >>> from minigrad import arange, tensor
    >>> embedding_bag(tensor([0, 2, 1]), arange(6.0).reshape(3, 2), tensor([0, 2]))
    tensor([[2., 3.],
            [2., 3.]])
    """
    if str(weight.dtype) == "torch.int64" and input.is_floating_point():
        warn_user("Argument order of nn.functional.embedding_bag was changed. Usage "
                  "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
                  "`embedding_bag(input, weight, ...)`.")
        input, weight = weight, input
    check_bags(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq)
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    if mode != "sum" and per_sample_weights is not None:
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub.")
    if offsets is None:
        offsets = F.arange(0, input.numel(), input.shape[1], device=input.device)
        input = F.reshape(input, (-1,))
    elif include_last_offset:
        if not offsets.numel():
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        offsets = F.narrow(offsets, 0, 0, offsets.numel() - 1)
    check_kinds(input, weight, offsets, per_sample_weights)
    padding = checked_padding(padding_idx, weight.shape[0])
    rows = lookup_rows(input, weight, padding, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * F.reshape(per_sample_weights, (-1, 1))
    place = F.arange(input.shape[0], device=input.device)
    bags = F.searchsorted(offsets, place, right=True) - 1
    counted = F.unsqueeze(F.ne(input, padding), 1)
    return reduce_bags(rows, bags, counted, offsets.shape[0], mode)


def reduce_bags(rows: Tensor, bags: Tensor, counted: Tensor, count: int, mode: str) -> Tensor:
    """Reduce each bag to the sum, mean or maximum of its `counted` rows."""
    nothing = F.new_zeros(rows, (count, rows.shape[1]))
    if mode != "max":
        total = F.index_add(nothing, 0, bags, F.where(counted, rows, 0))
        if mode == "sum":
            return total
        members = F.index_add(F.narrow(nothing, 1, 0, 1), 0, bags, counted.to(rows.dtype))
        return total / F.clamp(members, min=1)
    # Only the first of equal maxima gets the gradient; an empty bag gets a row of zeros.
    index = F.expand(F.unsqueeze(bags, 1), rows.shape)
    seen = F.where(counted, F.detach(rows), -math.inf)
    largest = F.scatter_reduce(nothing, 0, index, seen, "amax", include_self=False)
    found = F.logical_or(F.eq(seen, F.gather(largest, 0, index)), F.isnan(seen))
    last = rows.shape[0]
    place = F.arange(last, device=rows.device).unsqueeze(1)
    first = F.scatter_reduce(F.full_like(nothing, last, dtype=place.dtype), 0, index,
                             F.where(F.logical_and(found, counted), place, last), "amin")
    return F.gather(F.cat([rows, F.new_zeros(rows, (1, rows.shape[1]))]), 0, first)


def lookup_rows(input: Tensor, weight: Tensor, *options: Any) -> Tensor:
    """Return rows of a table; `RuntimeError` names the first index that is out of range."""
    try:
        found: Tensor = F.embedding(weight, input, *options)
        return found
    except IndexError:
        rows = weight.shape[0]
        place, index = next((i, n) for i, n in enumerate(input.tolist()) if not 0 <= n < rows)
        raise RuntimeError(f"Index {place} of input takes value {index} which is not in the valid "
                           f"range [0, {rows})") from None


def checked_padding(padding_idx: int | None, rows: int) -> int:
    """Return the padding index counted from the front, or -1 if it is `None`."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, {-rows} through "
                           f"{rows - 1}, but got {padding_idx}")
    return padding_idx % rows


def check_bags(input: Tensor, weight: Tensor, offsets: Tensor | None,
               per_sample_weights: Tensor | None, mode: str, scale_grad_by_freq: bool) -> None:
    """Raise unless the shapes and options of an `embedding_bag` are consistent."""
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is "
                         f"not None, then it must have the same shape as the input ({input.shape})")
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim not in (1, 2):
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension "
                         f"{input.ndim}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a "
                         "mini-batch of fixed length sequences. However, found offsets of type "
                         f"<class 'torch.{type(offsets).__name__}'>")
    if input.ndim == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets is not None and offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")


def check_kinds(input: Tensor, weight: Tensor, offsets: Tensor,
                per_sample_weights: Tensor | None) -> None:
    """Raise unless indices and table have valid dtypes and the offsets are within the input."""
    for name, tensor, kinds in (("indices", input, INDICES), ("indices", offsets, INDICES),
                                ("weight", weight, TABLES)):
        if tensor.type().removeprefix("torch.cuda.").removeprefix("torch.").removesuffix(
                "Tensor") not in kinds:
            raise RuntimeError(f"Expected tensor for argument #1 '{name}' to have one of the "
                               f"following scalar types: {', '.join(kinds)}; but got "
                               f"{tensor.type()} instead (while checking arguments for "
                               "embedding_bag)")
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as "
                           "tensor for argument #1 'per_sample_weights'; but type "
                           f"{weight.type()} does not equal {per_sample_weights.type()} (while "
                           "checking arguments for embedding_bag)")
    if offsets.is_cuda or not offsets.numel():  # do not read a GPU's values back, as in PyTorch
        return
    check_offsets(offsets, input.numel())


@at_each_run
def check_offsets(offsets: Tensor, length: int) -> None:
    """Raise unless the offsets begin at 0 and end within the input."""
    if offsets[0] != 0:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has "
                           f"to start from position 0. However, got {offsets[0].item()}")
    if offsets[-1] > length:
        raise RuntimeError("offsets[-1] can not be greater than input's length "
                           f"{length} but got offsets[-1] of {offsets[-1].item()}")
