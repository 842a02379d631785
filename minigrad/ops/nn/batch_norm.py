"""Normalization: over the batch for each channel, or over the last dimensions of each sample.

NOTE [Two ways to one gradient]
    The gradient of a normalization depends on the mean and the deviation.  On arrays, these come
    from the forward, and a single kernel computes the rest in a few passes.  On tensors, they are
    recomputed from the input with elementary ops, so that there are derivatives of every order.
"""

from ...backend import backend_of, is_batch
from ...backend.kernels_norm import dot_over, moments, normalization_gradient
from ...backend.memory_layout import in_format_of, in_rows
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..checks import size_at
from ..kernels import own_kernel
from ..overloads import refuse_gradient
from ..shape.view import array_of

SHARED_MOMENTS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, "
    "please set `track_running_stats` to be False.If you are using a prebuilt module and do not "
    "need eval mode, please see the functorch website for resources on how to patch your module "
    "to work with vmap")


def channel_axes(sizes):
    """Return the dimensions that batch norm averages over: all except the second."""
    return (0, *range(2, len(sizes)))


def channelwise(vector, sizes):
    """Reshape a vector of channels to broadcast along the second dimension; `None` stays `None`."""
    return None if vector is None else F.reshape(vector, (1, sizes[1]) + (1,) * (len(sizes) - 2))


def normalized(input, mean, invstd, axes, eps):
    """Return (input - mean) * invstd; for tensors, recompute both: see the NOTE above."""
    if isinstance(input, Tensor):
        centered = input - F.mean(input, axes, True)
        return centered * F.rsqrt(F.mean(centered * centered, axes, True) + eps)
    return (input - mean) * invstd


def normalized_gradient(g, input, mean, invstd, axes, eps):
    """Return the gradient of `normalized` with respect to its input."""
    if not isinstance(g, Tensor):
        return normalization_gradient(backend_of(g), g, input, mean, invstd, axes)
    centered = input - F.mean(input, axes, True)
    invstd = F.rsqrt(F.mean(centered * centered, axes, True) + eps)
    unit = centered * invstd
    return invstd * (g - F.mean(g, axes, True) - unit * F.mean(g * unit, axes, True))


class Normalisation(Op, abstract=True):
    """A normalization, scaled by `weight` and shifted by `bias`, and its moments."""

    optional: tuple[str, ...] = ("weight", "bias")
    public = materialize = False


def scale_and_shift(result, weight, bias):
    """Multiply by a weight and add a bias, in place; either may be `None`."""
    if weight is not None:
        result *= weight
    if bias is not None:
        result += bias


class NativeBatchNorm(Normalisation):
    """(input - mean) / sqrt(var + eps) * weight + bias for each channel.

    In training, uses the batch's mean and variance, and updates the running ones in place by
    `momentum`; otherwise uses the running ones.  The input is (N, C, *S), everything else (C,).

    >>> from minigrad import batch_norm, tensor
    >>> batch_norm(tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0, False)
    tensor([[-1.],
            [ 1.]])
    """

    no_batching = "running statistics belong to one batch"
    optional = ("weight", "bias", "running_mean", "running_var")
    outputs = ("output", "save_mean", "save_invstd")
    constants = 2
    tensors = ("input", "weight", "bias", "running_mean", "running_var")

    def shape(input, weight, bias, running_mean, running_var, training, momentum, eps):
        return [input, (input[1],), (input[1],)]

    def forward(xp, input, weight, bias, running_mean, running_var, training, momentum, eps):
        sizes = input.shape
        require(input, "f", "batch_norm")
        if training:
            result, mean, var, invstd = xp.batch_norm_forward(input, weight, bias, eps)
            count = numel(sizes) // max(sizes[1], 1)  # the running variance is unbiased
            xp.move_moments(running_mean, running_var, mean, var, momentum,
                            momentum * count / (count - 1) if count > 1 else momentum)
            return in_format_of(result, input), mean, invstd
        invstd = 1 / xp.sqrt(running_var + eps)
        result = xp.batch_norm_by(input, weight, bias, running_mean, invstd)
        return result, running_mean.reshape(-1), invstd.reshape(-1)

    def shared(g_output, input, save_mean, save_invstd, training):
        return training and backend_of(g_output).batch_norm_sums(
            g_output, input, save_mean, save_invstd)

    def grad_input(g_output, input, weight, running_mean, running_var, training, eps, save_mean,
                   save_invstd, input_sizes, shared=None):
        g, sizes = g_output, input_sizes
        if training and not isinstance(g, Tensor):
            return backend_of(g).batch_norm_grad_input(
                g, input, weight, save_mean, save_invstd, shared)
        if weight is not None:
            g = g * channelwise(weight, sizes)
        if not training:
            return F.depend_on(g * F.rsqrt(channelwise(running_var, sizes) + eps), input, weight)
        return normalized_gradient(g, input, channelwise(save_mean, sizes),
                                   channelwise(save_invstd, sizes), channel_axes(sizes), eps)

    def grad_weight(g_output, input, running_mean, running_var, training, eps, save_mean,
                    save_invstd, input_sizes, weight, shared=None):
        if shared:
            return shared[1]
        g, sizes, axes = g_output, input_sizes, channel_axes(input_sizes)
        if training and not isinstance(g, Tensor):
            return backend_of(g).batch_norm_grad_weight(g, input, save_mean, save_invstd)
        if not training:
            mean = channelwise(running_mean, sizes)
            unit = (input - mean) * F.rsqrt(channelwise(running_var, sizes) + eps)
        else:
            unit = normalized(input, channelwise(save_mean, sizes),
                              channelwise(save_invstd, sizes), axes, eps)
        return F.depend_on(summed_product(g, unit, axes), input, weight)

    def grad_bias(g_output, input, weight, training, save_mean, save_invstd, input_sizes,
                  shared=None):
        if shared:
            return shared[0]
        if not isinstance(g_output, Tensor):
            return backend_of(g_output).channel_sums(g_output)
        return F.depend_on(F.sum(g_output, channel_axes(input_sizes)), input, weight)

    def samples(make):
        yield make(4, 3), make(3), make(3), None, None, True, 0.1, 1e-5
        yield make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 1e-5
        yield make(3, 2, 2, 3), None, None, None, None, True, 0.1, 1e-3
        yield (make(2, 3, 4), make(3), make(3), make(3).detach(),
               make(3, low=0.5, high=2.0).detach(), False, 0.1, 1e-5)


def summed_product(a, b, axes):
    """Return sum(a * b) along `axes`, for arrays without storing the product."""
    if isinstance(a, Tensor):
        return F.sum(a * b, axes) if axes else a * b
    return dot_over(backend_of(a), a, b, axes)


def check_dtypes(input, *parameters):
    """Raise unless parameters have the input's dtype; for float16, float32 works too."""
    own = input.dtype.itemsize
    for parameter in parameters:
        if parameter is not None and parameter.dtype != input.dtype and (
                own > 2 or parameter.dtype.itemsize != 4):
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype." if own > 4
                               else "mixed dtype (CPU): expect parameter to have scalar type of "
                               "Float")


@function(method_too=False)
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps,
               cudnn_enabled=True):
    """Normalize each channel to mean 0 and variance 1, then scale and shift it.

    In training, uses the moments of the batch and updates the running ones; otherwise uses the
    running ones.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html

    >>> from minigrad import batch_norm, tensor
    >>> batch_norm(tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 0.0, False)
    tensor([[-1.],
            [ 1.]])
    """
    shape = tuple(input.shape)
    if 0 in shape:  # like PyTorch, before any checks
        result = F.clone(input)
        result = result if weight is None else result * weight[0]
        return result if bias is None else result + bias[0]
    channels = size_at(shape, 1)
    parameters = {"running_mean": running_mean, "running_var": running_var, "weight": weight,
                  "bias": bias}
    for name, tensor in parameters.items():
        if tensor is not None and numel(tuple(tensor.shape)) != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not "
                               f"{numel(tuple(tensor.shape))}")
        if not name.startswith("running"):
            continue
        if tensor is None and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if tensor is not None and tensor.ndim != 1:
            raise RuntimeError(f"TensorAccessor expected 1 dims but tensor has {tensor.ndim}")
    if training and is_batch(array_of(input)) and not all(
            t is None or is_batch(array_of(t)) for t in (running_mean, running_var)):
        raise RuntimeError(SHARED_MOMENTS)
    refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
    require(array_of(input), "f", "batch_norm")
    check_dtypes(input, *parameters.values())
    weight, bias = (t if t is None or t.ndim == 1 else F.reshape(t, (-1,)) for t in (weight, bias))
    return NativeBatchNorm(input, weight, bias, running_mean, running_var, bool(training),
                           momentum, eps)[0]


class NativeLayerNorm(Normalisation):
    """(input - mean) / sqrt(var + eps) * weight + bias over `normalized_shape`.

    >>> from minigrad import layer_norm, tensor
    >>> layer_norm(tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """

    outputs = ("output", "mean", "rstd")
    constants = 2

    def shape(input, normalized_shape, weight, bias, eps):
        lead = len(input) - len(normalized_shape)
        moments_shape = tuple(input[:lead]) + (1,) * len(normalized_shape)
        return [input, moments_shape, moments_shape]

    @own_kernel("layer_norm")
    def forward(xp, input, normalized_shape, weight, bias, eps):
        require(input, "f", "LayerNormKernelImpl")
        input = in_rows(input)
        wide = input.astype("float32") if input.dtype.itemsize == 2 else input
        mean, var, result = moments(xp, wide, last_axes(input.shape, normalized_shape))
        rstd = 1 / xp.sqrt(var + eps)
        result *= rstd
        scale_and_shift(result, weight, bias)
        return result.astype(input.dtype, copy=False), mean, rstd

    @own_kernel("layer_norm_grad_input", "g_output", "input", "weight", "mean", "rstd")
    def grad_input(g_output, input, normalized_shape, weight, eps, mean, rstd, input_sizes, bias):
        g = g_output if weight is None else g_output * weight
        axes = last_axes(input_sizes, normalized_shape)
        return normalized_gradient(g, input, mean, rstd, axes, eps)

    @own_kernel("layer_norm_grad_weight", "g_output", "input", "mean", "rstd", "normalized_shape")
    def grad_weight(g_output, input, weight, normalized_shape, eps, mean, rstd, input_sizes, bias):
        unit = normalized(input, mean, rstd, last_axes(input_sizes, normalized_shape), eps)
        lead = tuple(range(len(input_sizes) - len(normalized_shape)))
        return F.depend_on(summed_product(g_output, unit, lead), weight)

    def grad_bias(g_output, input, weight, bias, normalized_shape, input_sizes):
        lead = tuple(range(len(input_sizes) - len(normalized_shape)))
        total = F.sum(g_output, lead) if lead else F.clone(g_output)
        return F.depend_on(total, input, weight, bias)

    def samples(make):
        yield make(4, 5), (5,), make(5), make(5), 1e-5
        yield make(2, 3, 4), (3, 4), make(3, 4), make(3, 4), 1e-3
        yield make(3, 4), (4,), None, None, 1e-5
        yield make(5), (5,), make(5), make(5), 1e-5


def last_axes(sizes, normalized_shape):
    """Return the dimensions that layer norm averages over."""
    return tuple(range(len(sizes) - len(normalized_shape), len(sizes)))


@function(method_too=False)
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """Normalize the last dimensions of each sample to mean 0 and variance 1, then scale and shift.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html

    >>> from minigrad import layer_norm, tensor
    >>> layer_norm(tensor([1.0, 3.0]), (2,), eps=0.0)
    tensor([-1.,  1.])
    """
    wanted = checked_sizes(input, normalized_shape, ", ", weight=weight, bias=bias)
    check_dtypes(input, weight, bias)
    return NativeLayerNorm(input, wanted, weight, bias, eps)[0]


def checked_sizes(input, normalized_shape, comma, **parameters):
    """Return `normalized_shape` as sizes; raise `RuntimeError` unless the input ends in them."""
    wanted, shape = tuple(normalized_shape), tuple(input.shape)
    if not wanted:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., "
                           "containing at least one element, but got normalized_shape = []")
    for name, tensor in parameters.items():
        if tensor is not None and tuple(tensor.shape) != wanted:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got "
                               f"{name} of shape {list(tensor.shape)} and normalized_shape = "
                               f"{list(wanted)}")
    if shape[len(shape) - len(wanted):] != wanted or len(shape) < len(wanted):
        sizes = ", ".join(map(str, wanted))
        raise RuntimeError(f"Given normalized_shape={list(wanted)}, expected input with shape "
                           f"[*{comma}{sizes}], but got input of size{list(shape)}")
    return wanted


@function(method_too=False)
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide each sample by the root mean square over its last dimensions, then scale it.

    `eps` defaults to the machine epsilon of the dtype; float16 is computed in float32.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html

    >>> from minigrad import rms_norm, tensor
    >>> rms_norm(tensor([1.0, 7.0]), (2,))
    tensor([0.2000, 1.4000])
    """
    axes = tuple(range(-len(checked_sizes(input, normalized_shape, "", weight=weight)), 0))
    require(array_of(input), "f", "rms_norm")
    half = array_of(input).itemsize == 2
    x = input.float() if half else input
    if eps is None:
        eps = 2.0 ** (-52 if array_of(x).itemsize == 8 else -23)
    result = x * F.rsqrt(F.mean(x * x, axes, True) + eps)
    result = result.to(input.dtype) if half else result
    return result if weight is None else result * weight
