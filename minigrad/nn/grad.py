"""`torch.nn.grad`: the gradients of convolutions, computed without a graph.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.grad.conv2d_input.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.backward import grad
from ..autograd.grad_mode import enable_grad
from ..ops.creation.create import zeros
from ..ops.nn.conv import conv1d, conv2d, conv3d
from ..tensor.tensor import Tensor

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
           "conv3d_weight"]

Sizes = int | Sequence[int]


def _input(conv: Callable[..., Tensor], input_size: Sequence[int], weight: Tensor,
           grad_output: Tensor, *options: Any) -> Tensor:
    """Return the gradient of a convolution by its input."""
    with enable_grad():
        x = zeros(tuple(input_size), dtype=weight.dtype, device=weight.device, requires_grad=True)
        return grad(conv(x, weight.detach(), None, *options), x, grad_output)[0]


def _weight(conv: Callable[..., Tensor], input: Tensor, weight_size: Sequence[int],
            grad_output: Tensor, *options: Any) -> Tensor:
    """Return the gradient of a convolution by its weight."""
    with enable_grad():
        w = zeros(tuple(weight_size), dtype=input.dtype, device=input.device, requires_grad=True)
        return grad(conv(input.detach(), w, None, *options), w, grad_output)[0]


def conv1d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                 groups: int = 1) -> Tensor:
    """Return the gradient of `conv1d` by its input, of shape `input_size`.

    >>> from minigrad import ones
    >>> conv1d_input((1, 1, 3), ones(1, 1, 2), ones(1, 1, 2))
    tensor([[[1., 2., 1.]]])
    """
    return _input(conv1d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv1d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                  groups: int = 1) -> Tensor:
    """Return the gradient of `conv1d` by its weight, of shape `weight_size`.

    >>> from minigrad import ones
    >>> conv1d_weight(ones(1, 1, 3), (1, 1, 2), ones(1, 1, 2))
    tensor([[[2., 2.]]])
    """
    return _weight(conv1d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv2d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                 groups: int = 1) -> Tensor:
    """Return the gradient of `conv2d` by its input, of shape `input_size`.

    >>> from minigrad import ones
    >>> conv2d_input((1, 1, 2, 2), ones(1, 1, 2, 2), ones(1, 1, 1, 1)).shape
    torch.Size([1, 1, 2, 2])
    """
    return _input(conv2d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv2d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                  groups: int = 1) -> Tensor:
    """Return the gradient of `conv2d` by its weight, of shape `weight_size`.

    >>> from minigrad import ones
    >>> conv2d_weight(ones(1, 1, 2, 2), (1, 1, 2, 2), ones(1, 1, 1, 1)).shape
    torch.Size([1, 1, 2, 2])
    """
    return _weight(conv2d, input, weight_size, grad_output, stride, padding, dilation, groups)


def conv3d_input(input_size: Sequence[int], weight: Tensor, grad_output: Tensor,
                 stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                 groups: int = 1) -> Tensor:
    """Return the gradient of `conv3d` by its input, of shape `input_size`.

    >>> from minigrad import ones
    >>> conv3d_input((1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2), ones(1, 1, 1, 1, 1)).shape
    torch.Size([1, 1, 2, 2, 2])
    """
    return _input(conv3d, input_size, weight, grad_output, stride, padding, dilation, groups)


def conv3d_weight(input: Tensor, weight_size: Sequence[int], grad_output: Tensor,
                  stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1,
                  groups: int = 1) -> Tensor:
    """Return the gradient of `conv3d` by its weight, of shape `weight_size`.

    >>> from minigrad import ones
    >>> conv3d_weight(ones(1, 1, 2, 2, 2), (1, 1, 2, 2, 2), ones(1, 1, 1, 1, 1)).shape
    torch.Size([1, 1, 2, 2, 2])
    """
    return _weight(conv3d, input, weight_size, grad_output, stride, padding, dilation, groups)
