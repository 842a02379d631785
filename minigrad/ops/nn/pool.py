"""Pooling: maximum and average of windows, of a fixed size or spread evenly.

Every pooling is linear once the positions of the maxima are known.  So each has a partner op that
carries gradients back, and the two are each other's derivative.
"""

from typing import Any

from ... import _state
from ...backend.kernels_pool import pool_output_sizes
from ...backend.memory_layout import in_format_of
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.out import call_with_out
from ...op.publish import function, with_aliases
from ...tensor.tensor import Tensor
from ..checks import size_at
from ..kernels import own_kernel
from .pool_windows import (
    adaptive_sizes,
    check_images,
    check_rows,
    check_window,
    check_window_of_rows,
    refuse_empty,
    sizes_of,
    window_sizes,
)


def max_pool_shape(self, kernel_size, stride, padding, dilation, ceil_mode):
    """The dimensions before the pooled ones stay unchanged."""
    return [pooled(self, kernel_size, stride, padding, dilation, ceil_mode)] * 2


def pooled(sizes, kernel_size, stride, padding, dilation, ceil_mode):
    """Return the shape after pooling the last dimensions."""
    first = len(sizes) - len(kernel_size)
    return tuple(sizes[:first]) + pool_output_sizes(
        sizes[first:], kernel_size, stride, padding, dilation, ceil_mode)


class Pooling(Op, abstract=True):
    """A pooling, or the op for its gradient; the public function completes the arguments."""

    public = False


class MaxPool(Pooling):
    """The maximum of every window, and its position in the plane.

    >>> from minigrad import max_pool1d, tensor
    >>> max_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """

    name = "max_pool2d_with_indices"
    node = "MaxPool2DWithIndicesBackward"
    outputs = ("values", "indices")
    shape = max_pool_shape

    def forward(xp, self, kernel_size, stride, padding, dilation, ceil_mode):
        require(self, "iuf", "max_pool2d")
        found = xp.max_pool_forward(self, kernel_size, stride, padding, dilation, ceil_mode)
        return [in_format_of(each, self) for each in found]

    @own_kernel("max_pool_grad_input", "g_values", "indices", "self_sizes", "kernel_size", "stride",
                "padding", "dilation")
    def grad_self(g_values, indices, self, self_sizes, kernel_size, stride, padding, dilation):
        return F.depend_on(MaxPoolInput(g_values, indices, self_sizes, len(kernel_size)), self)

    def samples(make):
        yield make(2, 3, 6, distinct=True), (2,), (2,), (0,), (1,), False
        yield make(2, 2, 5, 6, distinct=True), (3, 2), (2, 1), (1, 1), (1, 1), True
        yield make(2, 7, 7, distinct=True), (2, 2), (2, 3), (0, 1), (2, 1), False


class MaxPoolInput(Pooling):
    """Add each gradient at the position of its window's maximum: a tensor of `sizes`.

    >>> from minigrad import ones, tensor
    >>> MaxPoolInput(ones(1, 2), tensor([[1, 1]]), (1, 3), 1)
    tensor([[0., 2., 0.]])
    """

    node = "MaxPool2DWithIndicesBackwardBackward"
    tensors = ("grad", "indices")
    function = "max_pool_backward"

    def shape(grad, indices, sizes, dims):
        return tuple(sizes)

    def grad_grad(g, indices, dims):
        return MaxPoolGather(g, indices, dims)

    def samples(make):
        yield make(2, 3), make.ints(2, 3, high=6), (2, 6), 1
        yield make(2, 2, 3), make.ints(2, 2, 3, high=20), (2, 4, 5), 2


class MaxPoolGather(Pooling):
    """Take the elements of each plane at `indices`, which count within the plane.

    >>> from minigrad import tensor
    >>> MaxPoolGather(tensor([[5.0, 6.0, 7.0]]), tensor([[2, 0]]), 1)
    tensor([[7., 5.]])
    """

    node = "MaxPool2DWithIndicesBackwardBackward"
    tensors = ("self", "indices")
    function = "max_pool_gather"

    def shape(self, indices, dims):
        return indices

    def grad_self(g, indices, self_sizes, dims):
        return MaxPoolInput(g, indices, self_sizes, dims)

    def samples(make):
        yield make(2, 6), make.ints(2, 3, high=6), 1
        yield make(2, 4, 5), make.ints(2, 2, 3, high=20), 2


class AvgPool(Pooling):
    """The average of every window.

    >>> from minigrad import avg_pool1d, tensor
    >>> avg_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """

    name = "avg_pool2d"
    node = "AvgPool2DBackward"

    def shape(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return pooled(self, kernel_size, stride, padding, (1,) * len(kernel_size), ceil_mode)

    def forward(xp, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                divisor_override):
        require(self, "iuf", "avg_pool2d" if len(kernel_size) < 3 else "avg_pool3d_out_frame")
        if self.dtype.kind != "f":  # integers divide as in C++, toward zero
            given = self.astype("float64")
            return AvgPool.forward(xp, given, kernel_size, stride, padding, ceil_mode,
                                   count_include_pad, divisor_override).astype(self.dtype)
        return in_format_of(xp.avg_pool_forward(self, kernel_size, stride, padding, ceil_mode,
                                                count_include_pad, divisor_override), self)

    def grad_self(g, self, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override):
        return F.depend_on(AvgPoolInput(g, self_sizes, kernel_size, stride, padding, ceil_mode,
                                   count_include_pad, divisor_override), self)

    def samples(make):
        yield make(2, 3, 6), (2,), (2,), (0,), False, True, None
        yield make(2, 2, 5, 6), (3, 2), (2, 1), (1, 1), True, False, None
        yield make(2, 7, 7), (2, 2), (2, 3), (0, 1), False, True, 3


class AvgPoolInput(Pooling):
    """Spread each gradient evenly over its window: a tensor of `sizes`.

    >>> from minigrad import ones
    >>> AvgPoolInput(ones(1, 2), (1, 4), (2,), (2,), (0,), False, True, None)
    tensor([[0.5000, 0.5000, 0.5000, 0.5000]])
    """

    node = "AvgPool2DBackwardBackward"
    function = "avg_pool_backward"

    def shape(grad, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
              divisor_override):
        return tuple(sizes)

    def grad_grad(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return AvgPool(g, kernel_size, stride, padding, ceil_mode, count_include_pad,
                       divisor_override)

    def samples(make):
        yield make(2, 3, 3), (2, 3, 6), (2,), (2,), (0,), False, True, None
        yield make(2, 3, 6), (2, 5, 5), (3, 2), (2, 1), (1, 1), True, False, None


def spread_evenly(self, output_size):
    """Return the shape with `output_size` as its last dimensions."""
    return tuple(self[:len(self) - len(output_size)]) + tuple(output_size)


class AdaptiveAvgPool(Pooling):
    """Averages of `output_size` windows spread evenly over the last dimensions.

    >>> from minigrad import adaptive_avg_pool1d, tensor
    >>> adaptive_avg_pool1d(tensor([[1.0, 2.0, 6.0]]), 2)
    tensor([[1.5000, 4.0000]])
    """

    name = "adaptive_avg_pool2d"
    node = "AdaptiveAvgPool2DBackward"
    shape = spread_evenly

    def forward(xp, self, output_size):
        require(self, "f", "adaptive_avg_pool2d")
        return in_format_of(xp.adaptive_avg_pool_forward(self, output_size), self)

    def grad_self(g, self, self_sizes, output_size):
        return F.depend_on(AdaptiveAvgPoolInput(g, self_sizes, len(output_size)), self)

    def samples(make):
        yield make(2, 3, 5), (2,)
        yield make(2, 3, 4, 6), (2, 3)
        yield make(2, 5, 3), (1, 1)


class AdaptiveAvgPoolInput(Pooling):
    """Spread each gradient evenly over its window: a tensor of `sizes`.

    >>> from minigrad import ones
    >>> AdaptiveAvgPoolInput(ones(1, 2), (1, 3), 1)
    tensor([[0.5000, 1.0000, 0.5000]])
    """

    node = "AdaptiveAvgPool2DBackwardBackward"
    function = "adaptive_avg_pool_backward"

    def shape(grad, sizes, dims):
        return tuple(sizes)

    def grad_grad(g, grad_sizes, dims):
        return AdaptiveAvgPool(g, grad_sizes[len(grad_sizes) - dims:])

    def samples(make):
        yield make(2, 3, 2), (2, 3, 5), 1
        yield make(2, 2, 3), (2, 4, 5), 2


class AdaptiveAvgPool3d(Pooling):
    """Averages of windows spread evenly over the last three dimensions.

    >>> from minigrad import ones
    >>> AdaptiveAvgPool3d(ones(1, 2, 4, 4), (1, 2, 2)).shape
    torch.Size([1, 1, 2, 2])
    """

    name = "adaptive_avg_pool3d"
    node = "AdaptiveAvgPool3DBackward"
    function = "adaptive_avg_pool_forward"
    kernel = ("f", "adaptive_avg_pool3d_cpu")
    shape = spread_evenly

    def grad_self(g, self, self_sizes, output_size):
        return F.depend_on(AdaptiveAvgPool3dInput(g, self_sizes, 3), self)

    def samples(make):
        yield make(2, 3, 2, 4, 3), (2, 3, 1)


class AdaptiveAvgPool3dInput(AdaptiveAvgPoolInput):
    """Spread each gradient evenly over its window of three dimensions.

    >>> from minigrad import ones
    >>> AdaptiveAvgPool3dInput(ones(1, 1, 1, 1), (1, 1, 1, 2), 3)
    tensor([[[[0.5000, 0.5000]]]])
    """

    node = "AdaptiveAvgPool3DBackwardBackward"

    def grad_grad(g, grad_sizes, dims):
        return AdaptiveAvgPool3d(g, grad_sizes[len(grad_sizes) - dims:])

    def samples(make):
        yield make(2, 2, 1, 2), (2, 3, 2, 3), 3


class AdaptiveMaxPool(Pooling):
    """Maxima of `output_size` windows spread evenly over the last dimensions, with indices.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool2d
    >>> adaptive_max_pool2d(tensor([[[1.0, 2.0], [5.0, 3.0]]]), 1)
    tensor([[[5.]]])
    """

    name = "adaptive_max_pool2d"
    node = "AdaptiveMaxPool2DBackward"
    outputs = ("values", "indices")
    function = "adaptive_max_pool_forward"
    kernel = ("f", "adaptive_max_pool2d")

    def shape(self, output_size):
        return [spread_evenly(self, output_size)] * 2

    def grad_self(g_values, indices, self, self_sizes, output_size):
        return F.depend_on(MaxPoolInput(g_values, indices, self_sizes, len(output_size)), self)

    def samples(make):
        yield make(2, 3, 5, distinct=True), (2,)
        yield make(2, 3, 4, 6, distinct=True), (2, 3)


class AdaptiveMaxPool3d(Pooling):
    """Maxima of windows spread evenly over the last three dimensions, with indices.

    >>> from minigrad import ones
    >>> AdaptiveMaxPool3d(ones(1, 2, 4, 4), (1, 1, 1))[0].shape
    torch.Size([1, 1, 1, 1])
    """

    name = "adaptive_max_pool3d"
    node = "AdaptiveMaxPool3DBackward"
    outputs = ("values", "indices")
    function = "adaptive_max_pool_forward"
    kernel = ("f", "adaptive_max_pool3d_cpu")

    def shape(self, output_size):
        return [spread_evenly(self, output_size)] * 2

    def grad_self(g_values, indices, self, self_sizes, output_size):
        return F.depend_on(MaxPoolInput(g_values, indices, self_sizes, 3), self)

    def samples(make):
        yield make(2, 3, 2, 4, 3, distinct=True), (2, 3, 1)


# -------------------------------------------------------------------- public functions


def of_rows(pool, input, *arguments):
    """Pool one-dimensional inputs as images of height 1, as PyTorch does."""
    rows = pool(F.unsqueeze(input, -2), *arguments)
    return [F.squeeze(t, -2) for t in rows] if isinstance(rows, tuple) else F.squeeze(rows, -2)


def max_pool(dims, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Complete the arguments of a maximum pooling over one or two dimensions and run it."""
    name, shape, ceil_mode = f"max_pool{dims}d", tuple(input.shape), bool(ceil_mode)
    kernel_size, stride, padding = window_sizes(name, dims, kernel_size, stride, padding)
    dilation = sizes_of(dilation, dims, name, "dilation")
    window = kernel_size, stride, padding, dilation, ceil_mode
    if dims == 2:
        check_images(shape)
        check_window(shape, *window)
    elif not return_indices:
        check_window_of_rows(name, shape, *window)
    if dims == 1 and (return_indices or (input.requires_grad and _state.grad_enabled.get())):
        check_rows(name, shape)
        window = (1, *kernel_size), (1, *stride), (0, *padding), (1, *dilation), ceil_mode
        check_window((*shape[:-1], 1, shape[-1]), *window)
        values, indices = of_rows(MaxPool, input, *window)
    else:
        values, indices = MaxPool(input, *window)
    return (values, indices) if return_indices else values


@function(method_too=False)
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """Return the maximum of every window: (N, C, L) -> (N, C, steps), optionally with indices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html

    >>> from minigrad import max_pool1d, tensor
    >>> max_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    return max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@function(method_too=False)
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """Return the maximum of every window: (N, C, H, W) -> (N, C, *steps), optionally with indices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html

    >>> from minigrad import max_pool2d, tensor
    >>> max_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
    tensor([[[3.]]])
    """
    return max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool(dims, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
             divisor_override):
    """Complete the arguments of an average pooling over one or two dimensions and run it."""
    name, shape = f"avg_pool{dims}d", tuple(input.shape)
    kernel_size, stride, padding = window_sizes(name, dims, kernel_size, stride, padding)
    rest = bool(ceil_mode), bool(count_include_pad), divisor_override
    if dims == 1:
        check_rows(name, shape)
        window = (1, *kernel_size), (1, *stride), (0, *padding)
        check_window((*shape[:-1], 1, shape[-1]), *window, (1, 1), ceil_mode)
        return of_rows(AvgPool, input, *window, *rest)
    size_at(shape, -3)
    check_window(shape, kernel_size, stride, padding, (1, 1), ceil_mode)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return AvgPool(input, kernel_size, stride, padding, *rest)


@function(method_too=False)
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True) -> Tensor:
    """Return the average of every window: (N, C, L) -> (N, C, steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool1d.html

    >>> from minigrad import avg_pool1d, tensor
    >>> avg_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@with_aliases
def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True, divisor_override=None, *, out=None) -> Tensor:
    """Return the average of every window: (N, C, H, W) -> (N, C, *steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool2d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import avg_pool2d
    >>> avg_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
    tensor([[[1.5000]]])
    """
    arguments = kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    if out is not None:
        return call_with_out("avg_pool2d", "exact overlap", avg_pool2d, (input, *arguments),
                             {"out": out})
    return avg_pool(2, input, *arguments)


@function(method_too=False)
def adaptive_avg_pool1d(input, output_size) -> Tensor:
    """Average `output_size` windows, spread evenly: (N, C, L) -> (N, C, output_size).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool1d.html

    >>> from minigrad import adaptive_avg_pool1d, tensor
    >>> adaptive_avg_pool1d(tensor([[1.0, 2.0, 6.0]]), 2)
    tensor([[1.5000, 4.0000]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool1d", 1, tuple(input.shape), output_size)
    return of_rows(adaptive_avg_pool2d, input, (1, *sizes))


def adaptive_avg_pool2d(input, output_size: Any) -> Tensor:
    """Average windows spread evenly: (N, C, H, W) -> (N, C, *output_size); `None` keeps a size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_avg_pool2d
    >>> adaptive_avg_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
    tensor([[[1.5000]]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool2d", 2, tuple(input.shape), output_size)
    if sizes == (1, 1) and input.is_floating_point():
        return F.mean(input, (-1, -2), True)
    refuse_empty("adaptive_avg_pool2d", tuple(input.shape), input.ndim - 2)
    return AdaptiveAvgPool(input, sizes)


@with_aliases
def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Return the maxima of windows spread evenly: (N, C, L) -> (N, C, output_size).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool1d
    >>> adaptive_max_pool1d(tensor([[1.0, 2.0, 6.0]]), 2)
    tensor([[2., 6.]])
    """
    sizes = adaptive_sizes("adaptive_max_pool1d", 1, tuple(input.shape), output_size)
    refuse_empty("adaptive_max_pool1d", tuple(input.shape), 1)
    values, indices = of_rows(AdaptiveMaxPool, input, (1, *sizes))
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size: Any, return_indices=False):
    """Return the maxima of windows spread evenly: (N, C, H, W) -> (N, C, *output_size).

    A size of `None` keeps the input's.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool2d
    >>> adaptive_max_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
    tensor([[[3.]]])
    """
    sizes = adaptive_sizes("adaptive_max_pool2d", 2, tuple(input.shape), output_size)
    refuse_empty("adaptive_max_pool2d", tuple(input.shape), 1)
    values, indices = AdaptiveMaxPool(input, sizes)
    return (values, indices) if return_indices else values


def adaptive_avg_pool3d(input, output_size: Any) -> Tensor:
    """Average windows spread evenly: (N, C, D, H, W) -> (N, C, *output_size).

    A size of `None` keeps the input's.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_avg_pool3d
    >>> adaptive_avg_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 1)
    tensor([[[[1.5000]]]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool3d", 3, tuple(input.shape), output_size)
    if sizes == (1, 1, 1):
        return F.mean(input, (-1, -2, -3), True)
    refuse_empty("adaptive_avg_pool3d", tuple(input.shape), 1)
    return AdaptiveAvgPool3d(input, sizes)


def adaptive_max_pool3d(input, output_size: Any, return_indices=False):
    """Return the maxima of windows spread evenly: (N, C, D, H, W) -> (N, C, *output_size).

    A size of `None` keeps the input's.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool3d
    >>> adaptive_max_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 1)
    tensor([[[[3.]]]])
    """
    sizes = adaptive_sizes("adaptive_max_pool3d", 3, tuple(input.shape), output_size)
    refuse_empty("adaptive_max_pool3d", tuple(input.shape), 1)
    values, indices = AdaptiveMaxPool3d(input, sizes)
    return (values, indices) if return_indices else values
