"""Pooling over the last three dimensions, with windows of a fixed size.

The formulas are the same as in two dimensions, but PyTorch has different nodes and errors here.
"""

from ...op.declaration import F
from ...op.out import call_with_out
from ...op.publish import function, with_aliases
from ...tensor.tensor import Tensor
from .pool import AvgPool, AvgPoolInput, MaxPool
from .pool_windows import check_volumes, check_window, sizes_of, window_sizes


class MaxPool3d(MaxPool):
    """The maximum of every three-dimensional window, and its position in the volume.

    >>> from minigrad import max_pool3d, tensor
    >>> max_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), (1, 2, 2))
    tensor([[[[3.]]]])
    """

    name = "max_pool3d_with_indices"
    node = "MaxPool3DWithIndicesBackward"

    def samples(make):
        yield (make(2, 3, 4, 5, distinct=True), (2, 2, 3), (1, 2, 2), (1, 0, 1), (1, 1, 1),
               False)
        yield (make(2, 2, 5, 4, 4, distinct=True), (2, 2, 1), (2, 1, 2), (0, 1, 0), (2, 1, 1),
               True)


class AvgPool3d(AvgPool):
    """The average of every three-dimensional window.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import avg_pool3d
    >>> avg_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), (1, 2, 2))
    tensor([[[[1.5000]]]])
    """

    name = "avg_pool3d"
    node = "AvgPool3DBackward"

    def grad_self(g, self, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
                  divisor_override):
        return F.depend_on(AvgPool3dInput(g, self_sizes, kernel_size, stride, padding, ceil_mode,
                                          count_include_pad, divisor_override), self)

    def samples(make):
        yield make(2, 3, 4, 5), (2, 2, 3), (1, 2, 2), (1, 0, 1), False, True, None
        yield make(2, 2, 4, 4, 4), (2, 2, 2), (2, 1, 3), (0, 1, 1), True, False, None
        yield make(1, 3, 3, 3), (2, 3, 2), (1, 1, 1), (0, 0, 0), False, True, 5


class AvgPool3dInput(AvgPoolInput):
    """Spread each gradient evenly over its three-dimensional window.

    >>> from minigrad import ones
    >>> AvgPool3dInput(ones(1, 1, 1, 1), (1, 1, 1, 2), (1, 1, 2), (1, 1, 2), (0, 0, 0), False,
    ...                True, None)
    tensor([[[[0.5000, 0.5000]]]])
    """

    node = "AvgPool3DBackwardBackward"

    def grad_grad(g, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        return AvgPool3d(g, kernel_size, stride, padding, ceil_mode, count_include_pad,
                         divisor_override)

    def samples(make):
        yield (make(2, 2, 2, 1), (2, 4, 4, 2), (2, 2, 2), (2, 2, 2), (0, 0, 0), False, True,
               None)


# -------------------------------------------------------------------- public functions


@function(method_too=False)
def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """Return the maximum of every window: (N, C, D, H, W) -> (N, C, *steps), and indices if wanted.

    Raises `RuntimeError` unless the input has four or five dimensions and the window fits.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d.html

    >>> from minigrad import max_pool3d, tensor
    >>> max_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), (1, 2, 2))
    tensor([[[[3.]]]])
    """
    kernel_size, stride, padding = window_sizes("max_pool3d", 3, kernel_size, stride, padding)
    dilation = sizes_of(dilation, 3, "max_pool3d", "dilation")
    shape = tuple(input.shape)
    check_volumes(shape)
    check_window(shape, kernel_size, stride, padding, dilation, ceil_mode, "max_pool3d")
    values, indices = MaxPool3d(input, kernel_size, stride, padding, dilation, bool(ceil_mode))
    return (values, indices) if return_indices else values


@with_aliases
def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True, divisor_override=None, *, out=None) -> Tensor:
    """Return the average of every window: (N, C, D, H, W) -> (N, C, *steps).

    Raises `RuntimeError` unless the input has four or five dimensions and the window fits.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool3d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import avg_pool3d
    >>> avg_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), (1, 2, 2))
    tensor([[[[1.5000]]]])
    """
    if out is not None:
        return call_with_out("avg_pool3d", "exact overlap", avg_pool3d, (
            input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
            {"out": out})
    kernel_size, stride, padding = window_sizes("avg_pool3d", 3, kernel_size, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    shape = tuple(input.shape)
    check_volumes(shape)
    check_window(shape, kernel_size, stride, padding, (1, 1, 1), ceil_mode, "avg_pool3d")
    return AvgPool3d(input, kernel_size, stride, padding, bool(ceil_mode),
                     bool(count_include_pad), divisor_override)
