"""The stateless layers of `torch.nn.functional`.

Most functions come from op declarations. The ones in this file only add PyTorch's extra
arguments, such as `inplace` and `training`.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html
"""

from __future__ import annotations

from typing import Any

from ..frames import warn_user
from ..op.declaration import F
from ..op.publish import overridable, with_aliases
from ..ops import function
from ..ops.creation.tensor_options import contiguous_format
from ..ops.linalg.bilinear import bilinear
from ..ops.nn.attention import scaled_dot_product_attention
from ..ops.nn.classification_loss import cross_entropy, nll_loss
from ..ops.nn.conv import conv1d, conv2d, conv3d
from ..ops.nn.conv_transpose import conv_transpose1d, conv_transpose2d, conv_transpose3d
from ..ops.nn.ctc_loss import ctc_loss
from ..ops.nn.fractional_pool import fractional_max_pool2d, fractional_max_pool3d
from ..ops.nn.grid_sample import affine_grid, grid_sample
from ..ops.nn.interpolate import interpolate
from ..ops.nn.linear import linear, one_hot
from ..ops.nn.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from ..ops.nn.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from ..ops.nn.pool3d import avg_pool3d, max_pool3d
from ..ops.nn.unpool import max_unpool1d, max_unpool2d, max_unpool3d
from ..ops.reduction.distance import pdist
from ..ops.shape.pad import pad
from ..ops.shape.unfold import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from ..tensor.tensor import Tensor
from .functional_attention import multi_head_attention_forward
from .functional_dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from .functional_embedding_bag import embedding_bag
from .functional_loss import (
    cosine_embedding_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    linear_cross_entropy,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    poisson_nll_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .functional_norm import (
    batch_norm,
    embedding,
    group_norm,
    instance_norm,
    layer_norm,
    normalize,
    rms_norm,
)
from .functional_pool import local_response_norm, lp_pool1d, lp_pool2d, lp_pool3d
from .functional_upsample import upsample, upsample_bilinear, upsample_nearest

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid", "alpha_dropout", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "celu", "channel_shuffle", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss",
    "cosine_similarity", "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "elu", "embedding", "embedding_bag", "feature_alpha_dropout", "fold",
    "fractional_max_pool2d", "fractional_max_pool3d", "gaussian_nll_loss", "gelu", "glu",
    "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div",
    "l1_loss", "layer_norm", "leaky_relu", "linear", "linear_cross_entropy", "local_response_norm",
    "log_softmax", "logsigmoid", "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss",
    "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
    "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "normalize", "one_hot",
    "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss",
    "prelu", "relu", "relu6", "rms_norm", "rrelu", "scaled_dot_product_attention", "selu",
    "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear",
    "upsample_nearest",
]

gelu, hardshrink, logsigmoid, softplus, softshrink = [  # these take `out=`
    function(name) for name in ("gelu", "hardshrink", "logsigmoid", "softplus", "softshrink")]
prelu = F.prelu
softsign, tanhshrink = F.softsign, F.tanhshrink
cosine_similarity, pairwise_distance = F.cosine_similarity, F.pairwise_distance
elu_, hardtanh_, leaky_relu_ = F.elu_, F.hardtanh_, F.leaky_relu_
relu_, selu_, celu_, threshold_ = F.relu_, F.selu_, F.celu_, F.threshold_
rrelu_ = F.rrelu_


# -------------------------------------------------------------------- activations


def _activation(name: str, inplace: bool, input: Tensor, *args: Any) -> Tensor:
    """Apply an activation by name, or its in-place variant."""
    return getattr(F, name + "_" if inplace else name)(input, *args)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(x, 0).

    >>> from minigrad import tensor
    >>> relu(tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return _activation("relu", inplace, input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x, 0), 6).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.relu6(tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return _activation("relu6", inplace, input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return x where it is positive, else `negative_slope` times x.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.leaky_relu(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.0100,  0.0000,  2.0000])
    """
    return _activation("leaky_relu", inplace, input, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where it is positive, else alpha (exp(x) - 1).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.elu(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """
    return _activation("elu", inplace, input, alpha)


def rrelu(input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False,
          inplace: bool = False) -> Tensor:
    """Return leaky ReLU with slopes drawn from [lower, upper) in training, their mean otherwise.

    >>> from minigrad import tensor
    >>> rrelu(tensor([-2.0, 3.0]), 0.25, 0.75)
    tensor([-1.,  3.])
    """
    return _activation("rrelu", inplace, input, lower, upper, training)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the scaled ELU; its scales drive activations towards mean 0 and variance 1.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.selu(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """
    return _activation("selu", inplace, input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return x where it is positive, else alpha (exp(x / alpha) - 1).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.celu(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """
    return _activation("celu", inplace, input, alpha)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x sigmoid(x).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.silu(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2689,  0.0000,  1.7616])
    """
    return _activation("silu", inplace, input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x tanh(softplus(x)).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.mish(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3034,  0.0000,  1.9440])
    """
    return _activation("mish", inplace, input)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0,
             inplace: bool = False) -> Tensor:
    """Return x clamped to the range from `min_val` to `max_val`.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.hardtanh(tensor([-1.0, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _activation("hardtanh", inplace, input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(x / 6 + 1/2, 0), 1).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.hardsigmoid(tensor([-1.0, 0.0, 2.0]))
    tensor([0.3333, 0.5000, 0.8333])
    """
    return _activation("hardsigmoid", inplace, input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return x min(max(x / 6 + 1/2, 0), 1).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.hardswish(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3333,  0.0000,  1.6667])
    """
    return _activation("hardswish", inplace, input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return x where it exceeds `threshold`, else `value`.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.threshold(tensor([0.0, 1.0]), 0.5, 9.0)
    tensor([9., 1.])
    """
    return _activation("threshold", inplace, input, threshold, value)


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-x)).

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.sigmoid(tensor([-1.0, 0.0, 2.0]))
    tensor([0.2689, 0.5000, 0.8808])
    """
    return F.sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """Return the hyperbolic tangent.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.tanh(tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7616,  0.0000,  0.9640])
    """
    return F.tanh(input)


@with_aliases
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half along a dimension times the sigmoid of the second half.

    >>> from minigrad import tensor
    >>> glu(tensor([3.0, 0.0]))
    tensor([1.5000])
    """
    if not input.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if input.size(dim) % 2:
        raise RuntimeError("Halving dimension must be even, but dimension "
                           f"{dim % input.ndim} is size {input.size(dim)}")
    first, second = F.chunk(input, 2, dim)
    return first * F.sigmoid(second)


def _softmax_dim(name: str, ndim: int) -> int:
    warn_user(f"Implicit dimension choice for {name} has been deprecated. Change the call to "
              "include dim=X as an argument.", UserWarning)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:
    """Return exp(x) / sum(exp(x)) along a dimension.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.softmax(tensor([0.0, 1.0, 3.0]), dim=0)
    tensor([0.0420, 0.1142, 0.8438])
    """
    dim = _softmax_dim("softmax", input.ndim) if dim is None else dim
    return F.softmax(input, dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
            dtype: Any = None) -> Tensor:
    """Return softmax(-x) along a dimension.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.softmin(tensor([0.0, 1.0, 3.0]), dim=0)
    tensor([0.7054, 0.2595, 0.0351])
    """
    dim = _softmax_dim("softmin", input.ndim) if dim is None else dim
    return F.softmax(-input, dim, dtype)


def gumbel_softmax(logits: Tensor, tau: Any = 1, hard: bool = False, eps: float = 1e-10,
                   dim: int = -1) -> Tensor:
    """Return softmax((logits + Gumbel noise) / tau), a relaxed random choice of a class.

    With `hard` the result is one-hot, but its gradient is the soft result's.

    >>> from minigrad import zeros
    >>> gumbel_softmax(zeros(2, 3), hard=True).sum(1)
    tensor([1., 1.])
    """
    if eps != 1e-10:
        warn_user("`eps` parameter is deprecated and has no effect.")
    noise = -F.log(F.empty_like(logits, memory_format=contiguous_format).exponential_())
    soft = F.softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    chosen = F.argmax(soft, dim, True)
    sharp = F.zeros_like(logits).scatter_(dim, chosen, 1.0)
    return sharp - soft.detach() + soft


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3,
                dtype: Any = None) -> Tensor:
    """Return log(softmax(x)) along a dimension, computed without overflow.

    >>> from minigrad import tensor
    >>> from minigrad.nn import functional as F
    >>> F.log_softmax(tensor([0.0, 1.0, 3.0]), dim=0)
    tensor([-3.1698, -2.1698, -0.1698])
    """
    dim = _softmax_dim("log_softmax", input.ndim) if dim is None else dim
    return F.log_softmax(input, dim, dtype)


for _name, _function in [(name, globals()[name]) for name in __all__ if name in globals()]:
    if "published" not in vars(_function):  # the ones that no op published
        globals()[_name] = overridable(_function)
