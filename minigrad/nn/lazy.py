"""Lazy modules infer their number of features or channels from the first input.

The module then changes its class to the ordinary one and keeps its parameters, so an optimizer that
was made earlier still holds the right ones.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
"""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..autograd.grad_mode import no_grad
from ..ops.creation.create import tensor
from ..tensor.tensor import Tensor
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, Sizes
from .conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .module import Module
from .normalization import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
    "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]


class LazyModuleMixin:
    """Shared part of lazy modules; subclasses override `initialize_parameters`.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyLinear(2); layer, layer.has_uninitialized_params()
    (LazyLinear(in_features=0, out_features=2, bias=True), True)
    >>> layer.reset_parameters()  # nothing yet that could be drawn
    >>> layer(ones(1, 3)).shape, layer
    (torch.Size([1, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become: type[Module] | None = None
    #: The attribute that the first input decides, 0 until then; "" in your own lazy modules.
    inferred = ""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters,
                                                               with_kwargs=True)

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *_: Any) -> None:
        """Give uninitialized parameters and buffers the shapes they have in the state."""
        for name, own in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if is_lazy(own) and given is not None and not is_lazy(given):
                with no_grad():
                    own.materialize(given.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give all parameters their shapes; takes the arguments of `forward`.

        >>> from minigrad import nn, ones
        >>> layer = nn.LazyLinear(2)
        >>> layer.initialize_parameters(ones(5, 3)); layer.weight.shape, layer.in_features
        (torch.Size([2, 3]), 3)
        """
        raise NotImplementedError("initialize_parameters is not implemented for "
                                  f"{type(self).__name__}")

    def reset_parameters(self: Any) -> None:
        """Reinitialise the parameters if they have shapes."""
        if not self.has_uninitialized_params() and getattr(self, self.inferred):
            super().reset_parameters()  # type: ignore[misc]  # that of the ordinary class

    def _forget(self: Any, bias: bool, device: Any, dtype: Any) -> None:
        """Replace the empty weight and bias by uninitialized parameters."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def has_uninitialized_params(self: Any) -> bool:
        """Return whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        """Infer the shapes before the first `forward`, and become the ordinary module."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError("Modules with uninitialized parameters can't be used with "
                           "`DataParallel`. Run a dummy forward pass to correctly initialize the "
                           "modules")


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` that takes `in_features` from the first input.

    >>> from minigrad import nn, ones
    >>> nn.LazyLinear(2)(ones(5, 3)).shape
    torch.Size([5, 2])
    """

    cls_to_become, inferred = Linear, "in_features"
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self._forget(bias, device, dtype)
        self.out_features = out_features

    def initialize_parameters(self, input: Any) -> None:
        """Take `in_features` from the last dimension of the input."""
        if not self.has_uninitialized_params():
            if self.in_features == 0:
                self.in_features = input.shape[-1]
            return
        with no_grad():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    """Shared part of lazy convolutions, including the transposed ones."""

    inferred = "in_channels"

    def initialize_parameters(self: Any, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take `in_channels` from the input."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = ((self.in_channels, self.out_channels) if self.transposed
                         else (self.out_channels, self.in_channels))
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self: Any, input: Any) -> int:
        alone = self.dims + 1
        if input.dim() not in (alone, alone + 1):
            raise RuntimeError(f"Expected {alone}D (unbatched) or {alone + 1}D (batched) input to "
                               f"{type(self).__name__}, but got input of size: {input.shape}")
        channels: int = input.shape[input.dim() - alone]
        return channels


class _LazyForwardConv(_LazyConv):
    def __init__(self: Any, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 padding_mode: str = "zeros", device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False,
                         padding_mode)
        self._forget(bias, device, dtype)
        self.out_channels = out_channels


class LazyConv1d(_LazyForwardConv, Conv1d):
    """`Conv1d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> nn.LazyConv1d(4, 3)(ones(1, 2, 9)).shape
    torch.Size([1, 4, 7])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyForwardConv, Conv2d):
    """`Conv2d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyConv2d(5, 3)
    >>> layer(ones(2, 3, 8, 8)).shape, layer.in_channels
    (torch.Size([2, 5, 6, 6]), 3)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyForwardConv, Conv3d):
    """`Conv3d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyConv3d(5, 3)
    >>> layer(ones(2, 3, 4, 4, 4)).shape, layer.in_channels
    (torch.Size([2, 5, 2, 2, 2]), 3)
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConv):
    def __init__(self: Any, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1, padding_mode: str = "zeros", device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False,
                         dilation, padding_mode)
        self._forget(bias, device, dtype)
        self.out_channels = out_channels


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`ConvTranspose1d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyConvTranspose1d(5, 3)
    >>> layer(ones(2, 3, 8)).shape, layer.in_channels
    (torch.Size([2, 5, 10]), 3)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`ConvTranspose2d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyConvTranspose2d(5, 3)
    >>> layer(ones(2, 3, 8, 8)).shape, layer.in_channels
    (torch.Size([2, 5, 10, 10]), 3)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`ConvTranspose3d` that takes `in_channels` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyConvTranspose3d(5, 3)
    >>> layer(ones(2, 3, 4, 4, 4)).shape, layer.in_channels
    (torch.Size([2, 5, 6, 6, 6]), 3)
    """

    cls_to_become = ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
    """Shared part of lazy batch and instance norms."""

    inferred = "num_features"

    def __init__(self: Any, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: Any = None, dtype: Any = None, *,
                 bias: bool = True) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self._forget(bias, device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked: Tensor | None = tensor(
                0, dtype=dtypes.int64, device=device)

    def initialize_parameters(self: Any, input: Any) -> None:
        """Take `num_features` from the input's channels."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for own in [*self._parameters.values(), *self._buffers.values()]:
            if is_lazy(own):
                own.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """`BatchNorm1d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyBatchNorm1d()
    >>> layer(ones(2, 3)).shape, layer.num_features
    (torch.Size([2, 3]), 3)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """`BatchNorm2d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyBatchNorm2d()
    >>> layer(ones(2, 3, 4, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """`BatchNorm3d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyBatchNorm3d()
    >>> layer(ones(2, 3, 4, 4, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """`InstanceNorm1d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyInstanceNorm1d()
    >>> layer(ones(2, 3, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4]), 3)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """`InstanceNorm2d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyInstanceNorm2d()
    >>> layer(ones(2, 3, 4, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """`InstanceNorm3d` that takes `num_features` from the first input.

    >>> from minigrad import nn, ones
    >>> layer = nn.LazyInstanceNorm3d()
    >>> layer(ones(2, 3, 4, 4, 4)).shape, layer.num_features
    (torch.Size([2, 3, 4, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm3d
