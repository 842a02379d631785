# Stage 13a, Modules: the exercise for minigrad/nn/batchnorm.py.
# Made by `minigrad dev build`. The lesson is lessons/13a_modules.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13a
# Names of the package's inside are explained in docs/en/glossary.md.

"""Normalisation layers.

Source: https://docs.pytorch.org/docs/stable/nn.html#normalization-layers
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..ops.creation.create import empty, ones, tensor, zeros
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


class ChannelNorm(Module):
    """Base of batch and instance norm: scale, shift and running moments of each channel.

    The subclasses say which numbers of dimensions the input may have.
    """

    _version = 2
    allowed: tuple[int, ...]

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
                 affine: bool = True, track_running_stats: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        kept = track_running_stats
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_buffer("running_mean", zeros(num_features, **options) if kept else None)
        self.register_buffer("running_var", ones(num_features, **options) if kept else None)
        count = tensor(0, dtype=dtypes.int64, device=device) if kept else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running moments: mean zero, variance one."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Start with the identity: weight one, bias zero."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        # 13a.6 Batch norm (about 14 lines)
        # `_check_input_dim(input)` raises a ValueError where the number of dimensions of the
        # input is not in `self.allowed`: "expected A or B input (got ND input)", with each
        # allowed number n written as nD and joined by " or ". `_BatchNorm.forward(input)`
        # checks that, and then returns `F.batch_norm(input, running_mean, running_var,
        # weight, bias, by_batch, momentum, eps)`, where `by_batch` (use the moments of this
        # batch) is whether the module is in training, or keeps no running moments at all
        # (both are None); the running moments are handed over in evaluation, and in training
        # only with `self.track_running_stats`; otherwise None stands in their places. In
        # training `F.batch_norm` moves those that it is given: running = (1 - momentum) *
        # running + momentum * batch; `momentum` is `self.momentum`. If that is None it is 1 /
        # n in training, with n the number of batches so far, this one included, which makes
        # running the plain average; in evaluation any number will do. In training,
        # `self.num_batches_tracked` is counted up in place first, unless it is None.
        raise NotImplementedError("13a.6 Batch norm is yours to write")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
                f"affine={self.affine}, bias={self.bias is not None}, "
                f"track_running_stats={self.track_running_stats}")


class _BatchNorm(ChannelNorm):
    """Batch normalisation."""

    def forward(self, input: Tensor) -> Tensor:
        # 13a.6 Batch norm: see the task at `ChannelNorm._check_input_dim`.
        raise NotImplementedError("13a.6 Batch norm is yours to write")


class BatchNorm1d(_BatchNorm):
    """Bring each channel of (N, C) or (N, C, L) to mean zero and variance one, scale and shift.

    In training by the batch's moments; in evaluation by those of the batches seen.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html

    >>> from minigrad import nn, tensor
    >>> nn.BatchNorm1d(1, eps=0.0)(tensor([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Bring each channel of (N, C, H, W) to mean zero and variance one, scale and shift.

    In training by the batch's moments; in evaluation by those of the batches seen.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html

    >>> from minigrad import nn, ones
    >>> nn.BatchNorm2d(3)(ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Bring each channel of (N, C, D, H, W) to mean zero and variance one, scale and shift.

    >>> from minigrad import nn, ones
    >>> nn.BatchNorm3d(3)(ones(2, 3, 1, 4, 4)).shape
    torch.Size([2, 3, 1, 4, 4])
    """

    allowed = (5,)
