"""Adaptive softmax: rare classes share clusters that are computed only when they occur.

Source: Grave et al., Efficient softmax approximation for GPUs, https://arxiv.org/abs/1609.04309
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..op.declaration import F
from ..tensor.tensor import Tensor
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """The targets' log-probabilities, and the loss: minus their mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Negative log-likelihood of classes that are sorted by frequency, the most frequent first.

    The head scores the classes below `cutoffs[0]`, plus one entry for each cluster; a cluster holds
    the classes up to the next cutoff, and cluster i has `in_features / div_value**i` features.
    Inputs are (N, in_features) with targets (N), or one unbatched input with its target. The result
    has two fields: `output`, the log-probabilities of the targets, and `loss`. Raises `ValueError`
    unless the cutoffs increase and stay below `n_classes`, and `RuntimeError` if a target is out of
    range.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.AdaptiveLogSoftmaxWithLoss.html

    >>> from minigrad import nn, ones, tensor
    >>> softmax = nn.AdaptiveLogSoftmaxWithLoss(16, n_classes=20, cutoffs=[4, 10])
    >>> output, loss = softmax(ones(3, 16), tensor([0, 7, 19]))
    >>> output.shape, softmax.log_prob(ones(3, 16)).exp().sum(1).round().detach()
    (torch.Size([3]), tensor([1., 1., 1.]))
    """

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int],
                 div_value: float = 4.0, head_bias: bool = False, device: Any = None,
                 dtype: Any = None) -> None:
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__()
        cutoffs = list(cutoffs)
        check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(pairwise(self.cutoffs)):
            features = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, features, bias=False, **options),
                                        Linear(features, high - low, bias=False, **options)))

    def reset_parameters(self) -> None:
        """Reinitialise all weights.

        >>> from minigrad import manual_seed, nn
        >>> layer = nn.AdaptiveLogSoftmaxWithLoss(4, 6, cutoffs=[1])
        >>> _ = manual_seed(0); layer.reset_parameters(); layer.head.weight.data
        tensor([[-0.0037,  0.2682, -0.4115, -0.3680],
                [-0.1926,  0.1341, -0.0099,  0.3964]])
        """
        clusters: Any = self.tail
        for layer in (self.head, *(part for cluster in clusters for part in cluster)):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return the log-probabilities of the targets, and minus their mean."""
        check_inputs(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else F.unsqueeze(input_, 0)
        target = target_ if batched else F.unsqueeze(target_, 0)
        within: Any = input.new_zeros(target.shape)  # 0 for the head's classes
        place = target.clone()  # index among the head's scores
        known = 0
        for i, (low, high) in enumerate(pairwise([0, *self.cutoffs])):
            rows = F.nonzero((target >= low) & (target < high)).view(-1)
            known += rows.numel()
            if i and rows.numel():
                scores = F.log_softmax(self.tail[i - 1](F.index_select(input, 0, rows)), 1)
                own = F.index_select(target, 0, rows) - low
                place.index_fill_(0, rows, self.shortlist_size + i - 1)
                within.index_copy_(0, rows, F.gather(scores, 1, own.unsqueeze(1)).squeeze(1))
        if known != len(target):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values "
                               f"in range [{target.min().item()}, {target.max().item()}] were "
                               "found. ")
        scores = F.log_softmax(self.head(input), 1)
        output = within + F.gather(scores, 1, place.unsqueeze(1)).squeeze(1)
        loss = F.mean(-output)
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Any:
        """Return the log-probabilities (N, n_classes) of all classes.

        >>> from minigrad import nn, ones
        >>> nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10]).log_prob(ones(3, 16)).shape
        torch.Size([3, 20])
        """
        return self._log_prob(input, self.head(input))

    def _log_prob(self, input: Tensor, scores: Tensor) -> Any:
        """Return the log-probabilities of all classes, given the inputs and the head's scores."""
        head = F.log_softmax(scores, 1)
        found = [head[:, :self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            place = self.shortlist_size + i
            found.append(F.log_softmax(cluster(input), 1) + head[:, place:place + 1])
        return F.cat(found, 1)

    def predict(self, input: Tensor) -> Any:
        """Return the most probable class of each input (N).

        Only inputs that the head assigns to a cluster pay for computing the clusters.

        >>> from minigrad import nn, ones
        >>> nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10]).predict(ones(3, 16)).shape
        torch.Size([3])
        """
        scores = self.head(input)
        found = F.argmax(scores, 1)
        rare = found >= self.shortlist_size
        if rare.any():
            found[rare] = F.argmax(self._log_prob(input[rare], scores[rare]), 1)
        return found


def check_cutoffs(cutoffs: list[int], classes: int) -> None:
    """Raise `ValueError` unless the cutoffs are integers that increase from 1 to below `classes`.

    >>> check_cutoffs([3, 2], 10)
    Traceback (most recent call last):
    ValueError: cutoffs should be a sequence of unique, positive integers sorted in an ...
    """
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    rising = all(low < high for low, high in pairwise([0, *cutoffs, classes]))
    if not rising or any(int(cutoff) != cutoff for cutoff in cutoffs):
        raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an "
                         "increasing order, where each value is between 1 and n_classes-1")


def check_inputs(input: Tensor, target: Tensor) -> None:
    """Raise unless inputs (N, features) have targets (N), or one input has one target.

    >>> from minigrad import ones, tensor
    >>> check_inputs(ones(2, 4), tensor(1))
    Traceback (most recent call last):
    RuntimeError: 0D target tensor expects 1D input tensors, but found inputs with size ...
    """
    dims = target.dim()
    if dims > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if dims == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != dims + 1:
        raise RuntimeError(f"{dims}D target tensor expects {dims + 1}D input tensors, but found "
                           f"inputs with size {input.size()}")
