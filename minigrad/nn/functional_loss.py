"""Losses for distances, margins and distributions, composed of other operations.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import no_grad
from ..dtypes import dtype, int64, type_name
from ..op.declaration import F
from ..op.publish import in_autocast, with_aliases
from ..ops.checks import at_each_run
from ..ops.nn.classification_loss import cross_entropy
from ..ops.nn.linear import linear
from ..ops.nn.loss import reduction_of
from ..ops.overloads import refuse_gradient
from ..shapes import infer_size
from ..tensor.tensor import Tensor

__all__ = [
    "cosine_embedding_loss", "gaussian_nll_loss", "hinge_embedding_loss",
    "linear_cross_entropy", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "poisson_nll_loss",
    "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    """Return the losses, their mean or their sum."""
    if reduction == "none":
        return losses
    total: Tensor = F.mean(losses) if reduction == "mean" else F.sum(losses)
    return total


def _rows_and_classes(input: Tensor) -> tuple[int, int]:
    """Return the numbers of samples and classes of (N, C) or (C,); a 0-d tensor has one class."""
    shape = tuple(input.shape)
    if len(shape) > 2 or 0 in shape[-1:]:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, "
                           f"but got: {list(shape)}")
    samples, classes = (1, *(shape or (1,)))[-2:]
    return samples, classes


def _require_dtype(wanted: dtype, given: Tensor) -> None:
    """Raise PyTorch's error unless a tensor has the wanted dtype."""
    if given.dtype is not wanted:
        raise RuntimeError(f"expected scalar type {type_name(wanted)} but found "
                           f"{type_name(given.dtype)}")


# -------------------------------------------------------------------- margins


@with_aliases
@in_autocast
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """Return max(0, margin - target (input1 - input2)); target 1 asks for input1 > input2.

    >>> from minigrad import tensor
    >>> margin_ranking_loss(tensor([1.0]), tensor([3.0]), tensor([1.0]))
    tensor(2.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but "
                           f"got sizes: input1: {input1.size()}, input2: {input2.size()}, target: "
                           f"{target.size()} ")
    return _reduced(F.clamp_min(-target * (input1 - input2) + margin, 0), reduction)


@with_aliases
@in_autocast
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0,
                         size_average: bool | None = None, reduce: bool | None = None,
                         reduction: str = "mean") -> Tensor:
    """Return the distance for targets 1, and max(0, margin - distance) for targets -1.

    >>> from minigrad import tensor
    >>> hinge_embedding_loss(tensor([0.5, 0.25]), tensor([1, -1]), reduction="none")
    tensor([0.5000, 0.7500])
    """
    reduction = reduction_of(size_average, reduce, reduction)
    lacking = F.where(target != 1, F.clamp_min(margin - input, 0), 0.0)
    return _reduced(lacking + F.where(target != -1, input, 0.0), reduction)


@with_aliases
@in_autocast
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0,
                          size_average: bool | None = None, reduce: bool | None = None,
                          reduction: str = "mean") -> Tensor:
    """Return 1 - cos for targets 1, and max(0, cos - margin) for targets -1.

    The inputs are (N, D) with targets (N,), or (D,) with one target.

    >>> from minigrad import tensor
    >>> cosine_embedding_loss(tensor([[1.0, 0.0]]), tensor([[0.0, 1.0]]), tensor([1]))
    tensor(1.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    wanted = target.dim() + 1
    if input1.dim() != wanted or input2.dim() != wanted:
        raise RuntimeError(f"{wanted - 1}D target tensor expects {wanted}D input tensors, but found"
                           f" inputs with sizes {list(input1.shape)} and {list(input2.shape)}.")
    dim = target.dim()
    length1, length2 = (F.sum(x * x, dim) + 1e-12 for x in (input1, input2))
    cosine = F.sum(input1 * input2, dim) / F.sqrt(length1 * length2)
    alike = F.where(target == 1, 1 - cosine, 0.0)
    other = F.where(target == -1, F.clamp_min(cosine - margin, 0), 0.0)
    return _reduced(alike + other, reduction)


@with_aliases
@in_autocast
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,
                        p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average: bool | None = None, reduce: bool | None = None,
                        reduction: str = "mean") -> Tensor:
    """Return max(0, margin + |anchor - positive| - |anchor - negative|), with the p-norm.

    With `swap`, min(|anchor - negative|, |positive - negative|) replaces |anchor - negative|.

    >>> from minigrad import tensor
    >>> triplet_margin_loss(tensor([[0.0]]), tensor([[3.0]]), tensor([[1.0]]))
    tensor(3.)
    """
    reduction = reduction_of(size_average, reduce, reduction)

    def distance(one: Tensor, other: Tensor) -> Tensor:
        apart: Tensor = F.pairwise_distance(one, other, p, eps)
        return apart

    return triplet_margin_with_distance_loss(anchor, positive, negative, margin=margin, swap=swap,
                                             distance_function=distance, reduction=reduction)


@with_aliases
def triplet_margin_with_distance_loss(
        anchor: Tensor, positive: Tensor, negative: Tensor, *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: Any = 1.0,
        swap: bool = False, reduction: str = "mean") -> Tensor:
    """Compute `triplet_margin_loss` with a custom distance function.

    >>> from minigrad import tensor
    >>> a, b, c = tensor([0.0]), tensor([3.0]), tensor([1.0])
    >>> triplet_margin_with_distance_loss(a, b, c, distance_function=lambda x, y: (x - y).abs())
    tensor(3.)
    """
    reduction = reduction_of(None, None, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = anchor.ndim, positive.ndim, negative.ndim
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {dims[0]}D, positive {dims[1]}D, and negative "
            f"{dims[2]}D inputs")
    distance = distance_function or F.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = F.minimum(far, distance(positive, negative))
    return _reduced(F.clamp_min(margin + near - far, 0), reduction)


@with_aliases
@in_autocast
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Return log(1 + exp(-target input)), for targets 1 and -1.

    >>> from minigrad import tensor
    >>> soft_margin_loss(tensor([0.0]), tensor([1.0]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    shape = infer_size(tuple(input.shape), tuple(target.shape))
    if shape != input.shape:
        raise RuntimeError(f"output with shape {list(input.shape)} doesn't match the broadcast "
                           f"shape {list(shape)}")
    return _reduced(F.log1p(F.exp(-input * target)), reduction)


@with_aliases
@in_autocast
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,
                      weight: Tensor | None = None, size_average: bool | None = None,
                      reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Return the mean over classes j != target of max(0, margin - input[target] + input[j])^p.

    `input` is (N, C) with targets (N,), or (C,) with one target.

    >>> from minigrad import tensor
    >>> multi_margin_loss(tensor([[1.0, 0.5, -2.0]]), tensor([0]))
    tensor(0.1667)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    refuse_gradient("multi_margin_loss", weight=weight)
    samples, count = _rows_and_classes(input)
    if target.dim() > 1 or target.numel() != samples:
        raise RuntimeError("multi_margin_loss: target tensor should be 1-D with size equal to the "
                           f"number of input samples (batch size). Expected target size [{samples}]"
                           f", but got {list(target.shape)}. Input has shape {list(input.shape)}.")
    if weight is not None and weight.numel() != count:
        raise RuntimeError(f"inconsistent weight size, expected {count} but got "
                           f"{list(weight.shape)}")
    _require_dtype(int64, target)
    if weight is not None:
        _require_dtype(input.dtype, weight)
    check_range(target, 0, count, "target out of range")
    rows, classes = input.reshape(samples, count), target.reshape(-1, 1)
    lacking = F.relu(margin - F.gather(rows, 1, classes) + rows)
    others = F.arange(count, device=input.device).reshape(1, -1) != classes
    losses = F.where(others, lacking if p == 1 else lacking * lacking, 0.0)
    if weight is not None:
        losses = losses * weight[classes]
    means = F.sum(losses, 1) / count
    return _reduced(means if target.dim() else means.reshape(()), reduction)


@with_aliases
@in_autocast
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None,
                           reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Sum max(0, 1 - input[i] + input[j]) over targets i and other classes j, divided by C.

    `input` and `target` are (N, C) or (C,); a row's targets end before its first -1.

    >>> from minigrad import tensor
    >>> multilabel_margin_loss(tensor([1.0, 0.5, -2.0]), tensor([0, -1, 2]))
    tensor(0.1667)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    samples, count = _rows_and_classes(input)
    fits = (target.shape == input.shape if input.dim() == 2 else
            target.dim() < 2 and target.numel() == count)
    if not fits:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: "
                           f"{list(input.shape)}")
    check_range(target, -1, count, "argument #2 'target' is out of range")
    _require_dtype(int64, target)
    rows, classes = input.reshape(samples, count), target.reshape(samples, count)
    given = F.cumprod((classes >= 0).long(), 1)
    classes = classes * given
    is_target = F.scatter_add(F.zeros_like(classes), 1, classes, given) > 0
    lacking = F.relu(1 - F.gather(rows, 1, classes).unsqueeze(2) + rows.unsqueeze(1))
    counted = (given > 0).unsqueeze(2) & ~is_target.unsqueeze(1)
    losses = F.sum(F.where(counted, lacking, 0.0), (1, 2)) / count
    return _reduced(losses if input.dim() == 2 else losses.reshape(()), reduction)


@with_aliases
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None,
                                size_average: bool | None = None, reduce: bool | None = None,
                                reduction: str = "mean") -> Tensor:
    """Return the binary cross entropy of sigmoid(input), averaged over the classes of each row.

    >>> from minigrad import tensor
    >>> multilabel_soft_margin_loss(tensor([[0.0, 0.0]]), tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction, "{} is not valid")
    losses = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    if weight is not None:
        losses = losses * weight
    return _reduced(F.sum(losses, -1) / input.shape[-1], reduction)


# -------------------------------------------------------------------- distributions


@with_aliases
@in_autocast
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
                     size_average: bool | None = None, eps: float = 1e-8,
                     reduce: bool | None = None, reduction: str = "mean") -> Tensor:
    """Return the negative log likelihood of counts under Poisson distributions.

    The distributions have mean exp(input), or input without `log_input`; `full` adds Stirling's
    approximation of log(target!) for targets above 1.

    >>> from minigrad import tensor
    >>> poisson_nll_loss(tensor([0.0]), tensor([3.0]))
    tensor(1.)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if log_input:
        losses = F.exp(input) - target * input
    else:
        losses = input - target * F.log(input + eps)
    if full:
        stirling = target * F.log(target) - target + 0.5 * F.log(2 * math.pi * target)
        losses = losses + F.masked_fill(stirling, target <= 1, 0)
    return _reduced(losses, reduction)


@at_each_run
def check_range(target: Tensor, lowest: int, count: int, message: str) -> None:
    """Raise unless all elements are classes from `lowest` to `count` - 1."""
    if not bool(((target >= lowest) & (target < count)).all()):
        raise RuntimeError(message)


@with_aliases
@at_each_run
def check_variances(var: Tensor) -> None:
    """Raise `ValueError` if a variance is negative.

    >>> from minigrad import tensor
    >>> check_variances(tensor([-1.0]))
    Traceback (most recent call last):
        ...
    ValueError: var has negative entry/entries
    """
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")


def gaussian_nll_loss(input: Tensor, target: Tensor, var: Any, full: bool = False,
                      eps: float = 1e-6, reduction: str = "mean") -> Tensor:
    """Return (log(var) + (input - target)² / var) / 2, a normal negative log likelihood.

    `var` is a number or a tensor, and is clamped to at least `eps`. A tensor has the input's shape,
    which may lack the last dimension or have size 1 there. `full` adds the constant log(2 pi) / 2.

    >>> from minigrad import tensor
    >>> gaussian_nll_loss(tensor([1.0]), tensor([3.0]), tensor([1.0]))
    tensor(2.)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * F.ones_like(input)
    else:
        check_variances(var)
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = F.unsqueeze(var, -1)
        elif input.ndim != var.ndim or [v for i, v in zip(input.shape, var.shape, strict=True)
                                        if i != v] != [1]:
            raise ValueError("var is of incorrect size")
    reduction = reduction_of(None, None, reduction, "{} is not valid")
    var = F.clone(var)
    with no_grad():
        var.clamp_(min=eps)
    losses = 0.5 * (F.log(var) + (input - target) ** 2 / var)
    return _reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *,
                         linear_bias: Tensor | None = None, weight: Tensor | None = None,
                         reduction: str = "mean", ignore_index: int | None = None,
                         label_smoothing: float = 0.0, options: Any = None) -> Tensor:
    """Return the cross entropy of `input` (N, F) times `linear_weight` (C, *D, F), plus a bias.

    Targets are classes (N, *D) or probabilities (N, C, *D). `options` choose how PyTorch saves
    memory and do not change the result. Raises `RuntimeError` if the sizes do not fit.

    >>> from minigrad import ones, tensor, zeros
    >>> linear_cross_entropy(ones(1, 3), zeros(2, 3), tensor([1]))
    tensor(0.6931)
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError("expected linear_weight with dimensionality at least 2, got "
                           f"{linear_weight.ndim}")
    if input.size(-1) != linear_weight.size(-1):
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), "
                           f"got {input.size(-1)} and {linear_weight.size(-1)}, respectively")
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.ndim == 1:
        raise RuntimeError("K-dimensional loss defined by linear_weight shape "
                           f"{tuple(linear_weight.shape)} requires batched input, "
                           f"(N, {input.size(-1)}), got unbatched input with shape "
                           f"{tuple(input.shape)}")
    shape = (*input.shape[:-1], *outputs)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    flat = F.reshape(linear_weight, (-1, input.size(-1)))
    bias = None if linear_bias is None else F.reshape(linear_bias, (-1,))
    logits = F.reshape(linear(input, flat, bias), shape)
    result: Tensor = cross_entropy(logits, target, weight, None,
                                   -100 if ignore_index is None else ignore_index, None,
                                   reduction, label_smoothing)
    return result
