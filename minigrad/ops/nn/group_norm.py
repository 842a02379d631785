"""Normalization within each sample: over groups of channels, or over each channel."""

from ...backend import backend_of, is_batch
from ...backend.kernels_norm import group_norm_grad_input, group_norm_sums
from ...op.arguments import require
from ...op.declaration import F
from ...op.publish import function
from ...shapes import numel
from ..checks import size_at
from .batch_norm import (
    Normalisation,
    batch_norm,
    channel_axes,
    channelwise,
    check_dtypes,
    normalized,
    normalized_gradient,
    scale_and_shift,
    summed_product,
)


def grouped(tensor, sizes, num_groups):
    """Reshape the elements of each group to a row: (N, groups, elements)."""
    return F.reshape(tensor, (sizes[0], num_groups, numel(sizes[1:]) // num_groups))


class NativeGroupNorm(Normalisation):
    """(input - mean) / sqrt(var + eps) * weight + bias, with the moments of each group of channels.

    Shapes (N, C, *S), (C,), (C,) -> (N, C, *S); mean and rstd are (N, groups).

    >>> from minigrad import group_norm, tensor
    >>> group_norm(tensor([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """

    no_batching = "the kernels take one set of weights"
    outputs = ("output", "mean", "rstd")
    tensors = ("input", "weight", "bias")

    def shape(input, weight, bias, num_groups, eps):
        return [input, (input[0], num_groups), (input[0], num_groups)]

    def forward(xp, input, weight, bias, num_groups, eps):
        require(input, "f", "GroupNormKernelImpl")
        sizes = input.shape
        mean, var, result = xp.moments(grouped(input, sizes, num_groups), (2,))
        rstd = 1 / xp.sqrt(var + eps)
        result *= rstd
        result = result.reshape(sizes)
        scale_and_shift(result, channelwise(weight, sizes), channelwise(bias, sizes))
        return result, mean[..., 0], rstd[..., 0]

    def shared(g_output, input, mean, rstd):
        arrays = (g_output, input, mean, rstd)
        return None if any(map(is_batch, arrays)) else group_norm_sums(
            backend_of(g_output), *arrays)

    def grad_input(g_output, input, weight, num_groups, eps, mean, rstd, input_sizes, shared=None):
        if shared:
            return group_norm_grad_input(
                backend_of(g_output), g_output, input, weight, mean, rstd, shared)
        sizes = input_sizes
        g = g_output if weight is None else g_output * channelwise(weight, sizes)
        result = normalized_gradient(
            grouped(g, sizes, num_groups), grouped(input, sizes, num_groups),
            F.unsqueeze(mean, -1), F.unsqueeze(rstd, -1), (2,), eps)
        return F.reshape(result, sizes)

    def grad_weight(g_output, input, weight, num_groups, eps, mean, rstd, input_sizes,
                    shared=None):
        if shared:
            return shared[1]
        unit = normalized(grouped(input, input_sizes, num_groups), F.unsqueeze(mean, -1),
                          F.unsqueeze(rstd, -1), (2,), eps)
        result = summed_product(g_output, F.reshape(unit, input_sizes), channel_axes(input_sizes))
        return F.depend_on(result, weight)

    def grad_bias(g_output, input_sizes, input, weight, mean, rstd, shared=None):
        if shared:
            return shared[0]
        return F.sum(g_output, channel_axes(input_sizes))

    def samples(make):
        yield make(2, 4, 3), make(4), make(4), 2, 1e-5
        yield make(3, 6, 2), make(6), make(6), 3, 1e-3
        yield make(2, 4, 2, 3), None, None, 1, 1e-5


@function(method_too=False)
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """Normalize groups of channels to mean 0 and variance 1, then scale and shift each channel.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html

    >>> from minigrad import group_norm, tensor
    >>> group_norm(tensor([[1.0, 3.0, 5.0, 9.0]]), 2, eps=0.0)
    tensor([[-1.,  1., -1.,  1.]])
    """
    shape = tuple(input.shape)
    size_at(shape, 0)
    channels = size_at(shape, 1)
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if channels % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, "
                           f"but got input of shape {list(shape)} and num_groups={num_groups}")
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tuple(tensor.shape) != (channels,):
            raise RuntimeError(f"Expected {name} to be a vector of size equal to the number of "
                               f"channels in input, but got {name} of shape {list(tensor.shape)} "
                               f"and input of shape {list(shape)}")
    check_dtypes(input, weight, bias)
    return NativeGroupNorm(input, weight, bias, num_groups, eps)[0]


@function(method_too=False)
def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps,
                  cudnn_enabled=True):
    """Normalize each channel of each sample to mean 0 and variance 1: batch norm of N·C channels.

    The running moments are updated with the mean of the samples' moments.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm2d.html

    >>> from minigrad import instance_norm, tensor
    >>> instance_norm(tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0)
    tensor([[[-1.,  1.]]])
    """
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when "
                           "use_input_stats is false")
    batch, channels, *rest = input.shape
    repeated = [None if v is None else F.repeat(v, batch)
                for v in (weight, bias, running_mean, running_var)]
    alone = F.reshape(input, (1, batch * channels, *rest))
    result = batch_norm(alone, *repeated, use_input_stats, momentum, eps)
    for running, moved in zip((running_mean, running_var), repeated[2:], strict=True):
        if running is not None and use_input_stats:
            running.detach().copy_(F.mean(F.reshape(moved, (batch, channels)), 0))
    return F.reshape(result, (batch, channels, *rest))
