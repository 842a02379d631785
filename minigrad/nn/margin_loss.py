"""Losses for distances, margins and distributions, as modules.

Source: https://docs.pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .loss import _Loss, _WeightedLoss
from .module import Module

__all__ = [
    "CosineEmbeddingLoss", "CosineSimilarity", "GaussianNLLLoss", "HingeEmbeddingLoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "PairwiseDistance", "PoissonNLLLoss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _MarginLoss(_Loss):
    def __init__(self, margin: float = 0.0, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """max(0, margin - target (input1 - input2)) for targets 1 and -1.

    >>> from minigrad import nn, tensor
    >>> nn.MarginRankingLoss()(tensor([1.0]), tensor([3.0]), tensor([1.0]))
    tensor(2.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin,
                                     reduction=self.reduction)


class HingeEmbeddingLoss(_MarginLoss):
    """The distance for targets 1, and max(0, margin - distance) for targets -1.

    >>> from minigrad import nn, tensor
    >>> nn.HingeEmbeddingLoss()(tensor([0.5, 0.25]), tensor([1, -1]))
    tensor(0.6250)
    """

    def __init__(self, margin: float = 1.0, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """1 - cos for targets 1, and max(0, cos - margin) for targets -1.

    >>> from minigrad import nn, tensor
    >>> nn.CosineEmbeddingLoss()(tensor([[1.0, 0.0]]), tensor([[0.0, 1.0]]), tensor([1]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin,
                                       reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target input)) for targets 1 and -1.

    >>> from minigrad import nn, tensor
    >>> nn.SoftMarginLoss()(tensor([0.0, 2.0]), tensor([1.0, -1.0]))
    tensor(1.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Sum over targets i and other classes j of max(0, 1 - input[i] + input[j]), divided by C.

    >>> from minigrad import nn, tensor
    >>> nn.MultiLabelMarginLoss()(tensor([0.1, 0.2, 0.4]), tensor([2, -1, 0]))
    tensor(0.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross entropy of sigmoid(input), averaged over the classes of each row.

    >>> from minigrad import nn, tensor
    >>> nn.MultiLabelSoftMarginLoss()(tensor([[0.0, 2.0]]), tensor([[1.0, 1.0]]))
    tensor(0.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight,
                                             reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Mean over classes j != target of max(0, margin - input[target] + input[j])^p.

    >>> from minigrad import nn, tensor
    >>> nn.MultiMarginLoss()(tensor([[0.1, 0.2, 0.4]]), tensor([2]))
    tensor(0.5000)
    """

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
                 size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError("MultiMarginLoss: expected weight to be None or 1D tensor, got "
                             f"{weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight,
                                   reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, margin + |anchor - positive| - |anchor - negative|), with the p-norm.

    >>> from minigrad import nn, tensor
    >>> nn.TripletMarginLoss()(tensor([[0.0]]), tensor([[2.0]]), tensor([[1.5]]))
    tensor(1.5000)
    """

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError("TripletMarginLoss: expected margin to be greater than 0, got "
                             f"{margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p,
                                     eps=self.eps, swap=self.swap, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a custom distance function.

    >>> from minigrad import nn, tensor
    >>> nn.TripletMarginWithDistanceLoss()(tensor([[0.0]]), tensor([[2.0]]), tensor([[1.5]]))
    tensor(1.5000)
    """

    def __init__(self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
                 margin: float = 1.0, swap: bool = False, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError("TripletMarginWithDistanceLoss: expected margin to be greater than "
                             f"0, got {margin} instead")
        self.distance_function: Any = distance_function or PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function,
            margin=self.margin, swap=self.swap, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of counts under Poisson distributions with mean exp(input).

    >>> from minigrad import nn, tensor
    >>> nn.PoissonNLLLoss()(tensor([0.0, 1.0]), tensor([1.0, 2.0]))
    tensor(0.8591)
    """

    def __init__(self, log_input: bool = True, full: bool = False,
                 size_average: bool | None = None, eps: float = 1e-8, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full,
                                  eps=self.eps, reduction=self.reduction)


class GaussianNLLLoss(_Loss):
    """Normal negative log likelihood: (log(var) + (input - target)² / var) / 2.

    >>> from minigrad import nn, tensor
    >>> nn.GaussianNLLLoss()(tensor([1.0]), tensor([3.0]), tensor([1.0]))
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps,
                                   reduction=self.reduction)


# -------------------------------------------------------------------- distances


class CosineSimilarity(Module):
    """Cosine of the angle between vectors along `dim`.

    >>> from minigrad import nn, tensor
    >>> nn.CosineSimilarity(dim=0)(tensor([3.0, 4.0]), tensor([4.0, 3.0]))
    tensor(0.9600)
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """p-norm of the difference of vectors, after adding `eps` to each element of the difference.

    >>> from minigrad import nn, tensor
    >>> nn.PairwiseDistance()(tensor([3.0, 0.0]), tensor([0.0, 4.0]))
    tensor(5.)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
