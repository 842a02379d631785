"""The functions of `torch.nn.functional`: layers without state.

Those that the ops declare are handed on as they are; what is written out here only adds the
arguments that PyTorch's functions have: `inplace`, `training`, the input first.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..op import F
from ..ops.conv import conv1d, conv2d, conv3d
from ..ops.linear import linear, one_hot
from ..ops.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from ..ops.loss_of_classes import cross_entropy, nll_loss
from ..ops.pad import pad
from ..ops.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from ..tensor import Tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "alpha_dropout", "avg_pool1d", "avg_pool2d", "batch_norm", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "conv1d", "conv2d", "conv3d", "cross_entropy",
    "dropout", "dropout1d", "dropout2d", "elu", "embedding", "gelu", "glu", "hardshrink",
    "hardsigmoid", "hardswish", "hardtanh", "huber_loss", "kl_div", "l1_loss", "layer_norm",
    "leaky_relu", "linear", "log_softmax", "logsigmoid", "max_pool1d", "max_pool2d", "mish",
    "mse_loss", "nll_loss", "normalize", "one_hot", "pad", "prelu", "relu", "relu6", "selu",
    "sigmoid", "silu", "smooth_l1_loss", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip

gelu, hardshrink, logsigmoid = F.gelu, F.hardshrink, F.logsigmoid
prelu, softplus, softshrink = F.prelu, F.softplus, F.softshrink
softsign, tanhshrink = F.softsign, F.tanhshrink
elu_, hardtanh_, leaky_relu_ = F.elu_, F.hardtanh_, F.leaky_relu_
relu_, selu_, celu_, threshold_ = F.relu_, F.selu_, F.celu_, F.threshold_


# -------------------------------------------------------------------- activations


def _activation(name: str, inplace: bool, input: Tensor, *args: Any) -> Tensor:
    """Apply the activation of that name, or its variant that writes to the input."""
    return getattr(F, name + "_" if inplace else name)(input, *args)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(x, 0).

    >>> from minigrad import tensor
    >>> relu(tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _activation("relu", inplace, input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x, 0), 6)."""
    return _activation("relu6", inplace, input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x, times `negative_slope` where it is negative."""
    return _activation("leaky_relu", inplace, input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x, or alpha (exp(x) - 1) where it is negative."""
    return _activation("elu", inplace, input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the elu whose scales keep mean 0 and variance 1."""
    return _activation("selu", inplace, input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x, or alpha (exp(x / alpha) - 1) where it is negative."""
    return _activation("celu", inplace, input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x sigmoid(x)."""
    return _activation("silu", inplace, input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x tanh(softplus(x))."""
    return _activation("mish", inplace, input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:
    """Return x brought within `min_val` and `max_val`."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _activation("hardtanh", inplace, input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x / 6 + 1/2, 0), 1)."""
    return _activation("hardsigmoid", inplace, input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x min(max(x / 6 + 1/2, 0), 1)."""
    return _activation("hardswish", inplace, input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x where it is above `threshold`, else `value`."""
    return _activation("threshold", inplace, input, threshold, value)


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x))."""
    return F.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent."""
    return F.tanh(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half along a dimension times the sigmoid of the second.

    >>> from minigrad import tensor
    >>> glu(tensor([3.0, 0.0]))
    tensor([1.5000])
    """
    if not input.ndim:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    if input.size(dim) % 2:
        raise RuntimeError("Halving dimension must be even, but dimension "
                           f"{dim % input.ndim} is size {input.size(dim)}")
    first, second = F.chunk(input, 2, dim)
    return first * F.sigmoid(second)


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to "
                  "include dim=X as an argument.", UserWarning, stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) along a dimension."""
    dim = _softmax_dim("softmax", input.ndim) if dim is None else dim
    return F.softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:
    """Return softmax(-x) along a dimension."""
    dim = _softmax_dim("softmin", input.ndim) if dim is None else dim
    return F.softmax(-input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: Any = None) -> Tensor:
    """Return log(softmax(x)) along a dimension, without overflow."""
    dim = _softmax_dim("log_softmax", input.ndim) if dim is None else dim
    return F.log_softmax(input, dim, dtype)


# -------------------------------------------------------------------- dropout


def _checked_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and divide the others by 1 - p, in training.

    >>> from minigrad import tensor
    >>> dropout(tensor([1.0, 2.0]), training=False)
    tensor([1., 2.])
    """
    _checked_probability(p)
    return _activation("dropout", inplace, input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False,
                  inplace: bool = False) -> Tensor:
    """Drop elements to SELU's lower bound, keeping mean and variance, in training."""
    _checked_probability(p)
    result = F.alpha_dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _drop_channels(dims: int, input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Zero whole channels; with the batch dimension missing, the first counts as the channels."""
    _checked_probability(p)
    single = input.ndim == dims + 1
    result = F.feature_dropout(F.unsqueeze(input, 0) if single else input, p, training)
    result = F.squeeze(result, 0) if single else result
    return input.copy_(result) if inplace else result


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, L) or (C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D "
                           "input. Note that dropout1d exists to provide channel-wise dropout on "
                           "inputs with 1 spatial dimension, a channel dimension, and an optional "
                           "batch dimension (i.e. 2D or 3D inputs).")
    return _drop_channels(1, input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True,
              inplace: bool = False) -> Tensor:
    """Zero whole channels of (N, C, H, W)."""
    if input.ndim not in (3, 4):
        warnings.warn(f"dropout2d: Received a {input.ndim}-D input to dropout2d, which is "
                      "deprecated and will result in an error in a future release. To retain the "
                      "behavior and silence this warning, please use dropout instead. Note that "
                      "dropout2d exists to provide channel-wise dropout on inputs with 2 spatial "
                      "dimensions, a channel dimension, and an optional batch dimension (i.e. 3D "
                      "or 4D inputs).", UserWarning, stacklevel=2)
    if input.ndim == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
                      "1D dropout behavior is desired - input is interpreted as shape (N, C, L), "
                      "where C is the channel dim. This behavior will change in a future release "
                      "to interpret the input as one without a batch dimension, i.e. shape (C, H, "
                      "W). To maintain the 1D channel-wise dropout behavior, please switch to "
                      "using dropout1d instead.", UserWarning, stacklevel=2)
    _checked_probability(p)
    result = F.feature_dropout(input, p, training)
    return input.copy_(result) if inplace else result


# -------------------------------------------------------------------- tables and norms


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """Look the rows of `weight` up; with `max_norm`, longer rows are first cut short in place.

    >>> from minigrad import arange, tensor
    >>> embedding(tensor([2, 0]), arange(6.0).reshape(3, 2))
    tensor([[4., 5.],
            [0., 1.]])
    """
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx >= rows or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    return F.embedding(weight, input, -1 if padding_idx is None else padding_idx,
                       scale_grad_by_freq, sparse)


def _shorten_rows(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> None:
    table = weight.detach()
    rows = F.unique(indices.reshape(-1))
    chosen = table[rows]
    norms = F.norm(chosen, norm_type, 1, True)
    table[rows] = F.where(norms > max_norm, chosen * (max_norm / (norms + 1e-7)), chosen)


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
               weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
               momentum: float = 0.1, eps: float = 1e-5) -> Tensor:
    """Bring each channel to mean zero and variance one, then scale and shift it."""
    if training:
        count = input.numel() // max(input.size(1), 1)
        if count == 1:
            raise ValueError("Expected more than 1 value per channel when training, got input size "
                             f"{input.size()}")
    return F.batch_norm(input, weight, bias, running_mean, running_var,
                        training, momentum, eps)


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
               bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Bring each sample to mean zero and variance one over its last dimensions."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Divide by the norm along a dimension.

    >>> from minigrad import tensor
    >>> normalize(tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = F.clamp_min(F.norm(input, p, dim, True), eps)
    return input / F.expand(length, input.shape)
