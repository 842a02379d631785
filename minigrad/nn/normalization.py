"""Normalisation within each sample: layer, RMS, group and instance norm.

Source: https://docs.pytorch.org/docs/stable/nn.html#normalization-layers
"""

from __future__ import annotations

from typing import Any

from ..frames import warn_user
from ..ops.creation.create import empty
from ..tensor.tensor import Parameter, Tensor
from . import functional as F
from . import init
from .batchnorm import ChannelNorm
from .module import Module

__all__ = [
    "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm",
    "LocalResponseNorm", "RMSNorm",
]


class LayerNorm(Module):
    """Normalise each sample to mean 0 and variance 1 over its last dimensions, scale and shift.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html

    >>> from minigrad import nn, tensor
    >>> nn.LayerNorm(2, eps=0.0)(tensor([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        whole = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if whole else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = empty(self.normalized_shape, device=device, dtype=dtype)
            given = Parameter(made) if elementwise_affine and wanted else None
            self.register_parameter(name, given)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the layer to weight one and bias zero.

        >>> from minigrad import nn
        >>> layer = nn.LayerNorm(2); _ = nn.init.constant_(layer.weight, 5.0)
        >>> layer.reset_parameters(); layer.weight.data
        tensor([1., 1.])
        """
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, "
                f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}")


class RMSNorm(Module):
    """Divide each sample by its root mean square over the last dimensions, and scale it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html

    >>> from minigrad import nn, tensor
    >>> nn.RMSNorm(2, eps=0.0)(tensor([[1.0, 7.0]]))
    tensor([[0.2000, 1.4000]], grad_fn=<MulBackward0>)
    """

    def __init__(self, normalized_shape: Any, eps: float | None = None,
                 elementwise_affine: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        whole = isinstance(normalized_shape, int)
        self.normalized_shape = (normalized_shape,) if whole else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = empty(self.normalized_shape, device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(made) if elementwise_affine else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the weight to one.

        >>> from minigrad import nn
        >>> layer = nn.RMSNorm(2); _ = nn.init.constant_(layer.weight, 5.0)
        >>> layer.reset_parameters(); layer.weight.data
        tensor([1., 1.])
        """
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, "
                f"elementwise_affine={self.elementwise_affine}")


class GroupNorm(Module):
    """Normalise each group of channels of (N, C, *S) to mean 0 and variance 1, scale and shift.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html

    >>> from minigrad import nn, tensor
    >>> nn.GroupNorm(2, 4, eps=0.0)(tensor([[1.0, 3.0, 5.0, 9.0]])).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 device: Any = None, dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups "
                             f"({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Reset the layer to weight one and bias zero.

        >>> from minigrad import nn
        >>> layer = nn.GroupNorm(1, 2); _ = nn.init.constant_(layer.weight, 5.0)
        >>> layer.reset_parameters(); layer.weight.data
        tensor([1., 1.])
        """
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class _InstanceNorm(ChannelNorm):
    """Base of instance norms; `allowed` lists the dimensions without and with a batch."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = False, track_running_stats: bool = False, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype,
                         bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        alone = self.allowed[0]
        place = input.dim() - alone
        if input.size(place) != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={place} to match num_features "
                                 f"({self.num_features}), but got: {input.size(place)}.")
            warn_user(f"input's size at dim={place} does not match num_features. You can "
                      "silence this warning by not passing in num_features, which is not used "
                      "because affine=False")
        if input.dim() == alone:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias,
                               self.training or not self.track_running_stats, momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """Normalise each channel of each sample of (N, C, L) or (C, L) to mean 0 and variance 1.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm1d.html

    >>> from minigrad import nn, tensor
    >>> nn.InstanceNorm1d(1, eps=0.0)(tensor([[[1.0, 3.0]]])).tolist()
    [[[-1.0, 1.0]]]
    """

    allowed = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalise each channel of each sample of (N, C, H, W) or (C, H, W) to mean 0, variance 1.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm2d.html

    >>> from minigrad import nn, ones
    >>> nn.InstanceNorm2d(3)(ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    allowed = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalise each channel of each sample of (N, C, D, H, W) to mean 0 and variance 1.

    >>> from minigrad import nn, ones
    >>> nn.InstanceNorm3d(3)(ones(2, 3, 1, 4, 4)).shape
    torch.Size([2, 3, 1, 4, 4])
    """

    allowed = (4, 5)


class LocalResponseNorm(Module):
    """Divide each element by a function of the nearby channels; see `local_response_norm`.

    >>> from minigrad import nn, tensor
    >>> nn.LocalResponseNorm(1, alpha=1.0, beta=0.5, k=0.0)(tensor([[[2.0]]]))
    tensor([[[1.]]])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75,
                 k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
