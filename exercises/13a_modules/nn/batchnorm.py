# Stage 13a, Modules: the exercise for minigrad/nn/batchnorm.py.
# Made by `minigrad dev build`. The lesson is lessons/13a_modules.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 13a
# docs/en/glossary.md explains the names used inside the package.

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
    """Base of batch and instance norm, with a scale, a shift and running moments per channel.

    Subclasses set `allowed`, the numbers of dimensions that the input may have.
    """

    _version = 2
    allowed: tuple[int, ...]
    weight: Parameter
    bias: Parameter
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

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
        """Reset the running mean to zero and the running variance to one.

        >>> from minigrad import nn, tensor
        >>> layer = nn.BatchNorm1d(1); _ = layer(tensor([[1.0], [3.0]])); layer.running_mean
        tensor([0.2000])
        >>> layer.reset_running_stats(); layer.running_mean, layer.running_var
        (tensor([0.]), tensor([1.]))
        """
        if self.track_running_stats:
            assert self.running_mean is not None and self.running_var is not None
            assert self.num_batches_tracked is not None
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the layer to the identity: weight one, bias zero.

        >>> from minigrad import nn
        >>> layer = nn.BatchNorm1d(2); _ = nn.init.constant_(layer.weight, 5.0)
        >>> layer.reset_parameters(); layer.weight.data
        tensor([1., 1.])
        """
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        """Raise `ValueError` if the input has the wrong number of dimensions."""
        if input.dim() not in self.allowed:
            wanted = " or ".join(f"{n}D" for n in self.allowed)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
                f"affine={self.affine}, bias={self.bias is not None}, "
                f"track_running_stats={self.track_running_stats}")


class _BatchNorm(ChannelNorm):
    """Batch normalisation; its buffers are `None` with `track_running_stats=False`."""

    def forward(self, input: Tensor) -> Tensor:
        """Normalise, scale and shift each channel; in training, update the running moments too.

        `num_batches_tracked` counts the training batches.
        """
        # 13a.6 Batch norm (about 12 lines)
        # Normalise `input` with the moments of the batch during training, and with the
        # running moments during evaluation. Training also counts the batch and updates the
        # running moments.
        #   batches with means 4.0 and 3.0; running_mean is 0.0 at first
        #   momentum=0.25 -> running_mean 1.0, then 1.5: the weight of the new batch
        #   momentum=None -> running_mean 4.0, then 3.5: the plain average of all batches
        #   made with track_running_stats=False: no buffers  -> the batch in evaluation too
        #   norm.track_running_stats = False later  -> training changes no buffer;
        #                                           evaluation is as before
        # Mind:
        # - Evaluation doesn't change any buffer.
        # - Update `num_batches_tracked` in place.
        # Use: `self._check_input_dim(input)` first; `F.batch_norm(input, running_mean,
        # running_var, weight, bias, by_batch, momentum, eps)`. With `by_batch`, it uses the
        # batch and updates these moments.
        raise NotImplementedError("13a.6 Batch norm is yours to write")


class BatchNorm1d(_BatchNorm):
    """Normalise each channel of (N, C) or (N, C, L) to mean 0 and variance 1, then scale and shift.

    Training uses the moments of the batch, evaluation the running moments of earlier batches.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html

    >>> from minigrad import nn, tensor
    >>> nn.BatchNorm1d(1, eps=1e-12)(tensor([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    allowed = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each channel of (N, C, H, W) to mean 0 and variance 1, then scale and shift.

    Training uses the moments of the batch, evaluation the running moments of earlier batches.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html

    >>> from minigrad import nn, ones
    >>> nn.BatchNorm2d(3)(ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    allowed = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalise each channel of (N, C, D, H, W) to mean 0 and variance 1, then scale and shift.

    >>> from minigrad import nn, ones
    >>> nn.BatchNorm3d(3)(ones(2, 3, 1, 4, 4)).shape
    torch.Size([2, 3, 1, 4, 4])
    """

    allowed = (5,)
