"""Losses for sequences and for very many classes.

Source: https://docs.pytorch.org/docs/stable/nn.html#loss-functions
"""

from __future__ import annotations

import math
from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .linear import Linear
from .loss import _Loss, _WeightedLoss

__all__ = ["CTCLoss", "LinearCrossEntropyLoss"]


class CTCLoss(_Loss):
    """Loss of a target sequence whose alignment with the input is unknown; see `ctc_loss`.

    Call it with log-probabilities (T, N, C), targets (N, S) and the lengths of both.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html

    >>> from minigrad import nn, tensor
    >>> log_probs = tensor([[[0.5, 0.5]]]).log()
    >>> nn.CTCLoss()(log_probs, tensor([[1]]), (1,), (1,))
    tensor(0.6931)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean",
                 zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any,
                target_lengths: Any) -> Any:
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank,
                          self.reduction, self.zero_infinity)


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of a linear layer that belongs to the loss.

    Call it with features (N, in_features) and classes (N, *out_features). Raises `RuntimeError`
    unless `weight` has `num_classes` elements and the label smoothing is in [0, 1].

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LinearCrossEntropyLoss.html

    >>> from minigrad import nn, ones, tensor
    >>> nn.LinearCrossEntropyLoss(3, 2)(ones(1, 3), tensor([1])).shape
    torch.Size([])
    """

    def __init__(self, in_features: int, num_classes: int, *,
                 out_features: tuple[int, ...] = (), bias: bool = False, device: Any = None,
                 dtype: Any = None, reduction: str = "mean", weight: Tensor | None = None,
                 ignore_index: int | None = None, label_smoothing: float = 0.0,
                 options: Any = None) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got "
                               f"{tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError("expected label_smoothing to be in range [0, 1], got "
                               f"{label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias,
                             device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Any:
        outputs = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape((*outputs, self.linear.in_features)), target,
            linear_bias=None if bias is None else bias.reshape(outputs), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options)

    def extra_repr(self) -> str:
        return (f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
                f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
                f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
                f"label_smoothing={self.label_smoothing}, options={self.options}")
