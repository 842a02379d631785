"""Losses as modules.

Source: https://docs.pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

from typing import Any

from ..ops.nn.loss import reduction_of
from ..tensor.tensor import Tensor
from . import functional as F
from .module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "MSELoss", "NLLLoss", "SmoothL1Loss",
]


class _Loss(Module):
    """Base of losses; `reduction` is `"mean"`, `"sum"` or `"none"` (one loss per element)."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__()
        older = size_average is not None or reduce is not None
        self.reduction = reduction_of(size_average, reduce, reduction) if older else reduction


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Squared difference.

    >>> from minigrad import nn, tensor
    >>> nn.MSELoss()(tensor([1.0, 2.0]), tensor([0.0, 0.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Absolute difference.

    >>> from minigrad import nn, tensor
    >>> nn.L1Loss()(tensor([0.0, 3.0]), tensor([0.5, 1.0]))
    tensor(1.2500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared difference where it is below `beta`, absolute difference above.

    >>> from minigrad import nn, tensor
    >>> nn.SmoothL1Loss()(tensor([0.0, 3.0]), tensor([0.5, 1.0]))
    tensor(0.8125)
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the squared difference where it is below `delta`, linear above.

    >>> from minigrad import nn, tensor
    >>> nn.HuberLoss()(tensor([0.0, 3.0]), tensor([0.5, 1.0]))
    tensor(0.8125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_WeightedLoss):
    """Binary cross entropy of probabilities: -(target log(input) + (1 - target) log(1 - input)).

    >>> from minigrad import nn, tensor
    >>> nn.BCELoss()(tensor([0.5, 0.8]), tensor([1.0, 1.0]))
    tensor(0.4581)
    """

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """Binary cross entropy of sigmoid(input), finite even for large logits.

    >>> from minigrad import nn, tensor
    >>> nn.BCEWithLogitsLoss()(tensor([0.0, 2.0]), tensor([1.0, 1.0]))
    tensor(0.4100)
    """

    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean",
                 pos_weight: Tensor | None = None) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.binary_cross_entropy_with_logits(input, target, self.weight,
                                                  pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """Negative log likelihood of the target classes, computed from log-probabilities.

    >>> from minigrad import nn, tensor
    >>> nn.NLLLoss()(tensor([[0.5, 0.5], [0.1, 0.9]]).log(), tensor([0, 1]))
    tensor(0.3993)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 ignore_index: int = -100, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index,
                          reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Negative log likelihood under softmax(input); targets are classes or probabilities.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html

    >>> from minigrad import nn, tensor
    >>> nn.CrossEntropyLoss()(tensor([[0.0, 0.0]]), tensor([1]))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None,
                 ignore_index: int = -100, reduce: bool | None = None, reduction: str = "mean",
                 label_smoothing: float = 0.0) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               reduction=self.reduction, label_smoothing=self.label_smoothing)


class KLDivLoss(_Loss):
    """Divergence of log-probabilities from a target: target (log(target) - input).

    >>> from minigrad import nn, tensor
    >>> nn.KLDivLoss(reduction="sum")(tensor([0.5, 0.5]).log(), tensor([0.25, 0.75]))
    tensor(0.1308)
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Any:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
