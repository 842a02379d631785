"""Pooling: maximum and average of windows, of fixed size or spread evenly.

Every pooling is linear once the positions of the maxima are known, so each has one partner op
that carries gradients back, and the two are each other's derivative.
"""

from ... import _state
from ...backend.kernels_pool import pool_output_sizes
from ...backend.memory_layout import in_format_of
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.out import call_with_out
from ...op.publish import function, respelt
from ..checks import size_at
from ..kernels import own_kernel


def max_pool_shape(self, kernel_size, stride, padding, dilation, ceil_mode):
    """All dimensions before the pooled ones stay."""
    return [pooled(self, kernel_size, stride, padding, dilation, ceil_mode)] * 2


def pooled(sizes, kernel_size, stride, padding, dilation, ceil_mode):
    """Return the shape after pooling the last dimensions."""
    first = len(sizes) - len(kernel_size)
    return tuple(sizes[:first]) + pool_output_sizes(
        sizes[first:], kernel_size, stride, padding, dilation, ceil_mode)


class Pooling(Op, abstract=True):
    """A pooling, or an op that carries its gradients; its function completes the arguments."""

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
    """Add each gradient where its window's maximum was: a tensor of `sizes`.

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
    """Take from each plane the elements at `indices`, which count within the plane.

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
    """The last dimensions are those of the output."""
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
    """Maxima of `output_size` windows spread evenly over the last dimensions, and their places.

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
    """Maxima of windows spread evenly over the last three dimensions, and their places.

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


def sizes_of(value, dims, name, argument):
    """Return a number or a sequence as one number for each pooled dimension."""
    if isinstance(value, int):
        return (value,) * dims
    value = tuple(value)
    if len(value) not in (1, dims):
        choices = "be omitted, a single int," if argument == "stride" else "be a single int,"
        count = {1: "one int", 2: "two ints", 3: "three ints"}[dims]
        either = "" if name == "avg_pool3d" else "either "
        raise RuntimeError(f"{name}: {argument} must {either}{choices} or a tuple of {count}")
    return value * dims if len(value) == 1 else value


def window_sizes(name, dims, kernel_size, stride, padding):
    """Return the three, one number a dimension; windows without a stride stand side by side."""
    kernel_size = sizes_of(kernel_size, dims, name, "kernel_size")
    stride = kernel_size if stride in (None, ()) else sizes_of(stride, dims, name, "stride")
    return kernel_size, stride, sizes_of(padding, dims, name, "padding")


def check_window(name, input, dims, kernel_size, stride, padding, dilation, ceil_mode):
    """Raise PyTorch's error for an input or a window that cannot be pooled."""
    shape = tuple(input.shape)
    if dims == 2:
        check_padding(kernel_size, padding, dilation)
    check_pooled(name, shape, dims)
    if min(stride) == 0:
        raise RuntimeError("stride should not be zero")
    if min(kernel_size) <= 0:
        raise RuntimeError("kernel size should be greater than zero, but got "
                           f"{spelled(kernel_size, 'k{}')}")
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero, but got "
                           f"{spelled(dilation, 'dilation{}')}")
    check_padding(kernel_size, padding, dilation)
    try:
        pool_output_sizes(shape[-dims:], kernel_size, stride, padding, dilation, ceil_mode)
    except RuntimeError as error:
        channels = f"({shape[-dims - 1]}x" + "1x" * (2 - dims)
        raise RuntimeError(str(error).replace("(", channels)) from None


def check_padding(kernel_size, padding, dilation):
    """Raise PyTorch's error for padding that is negative, or more than half a window."""
    for k, p, d in zip(kernel_size, padding, dilation, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError("pad should be at most half of effective kernel size, but got pad="
                               f"{p}, kernel_size={k} and dilation={d}")


def check_pooled(name, shape, dims):
    """Raise PyTorch's error for an input with the wrong number of dimensions or without planes."""
    if len(shape) not in (dims + 1, dims + 2):
        if dims == 1:
            raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional "
                               "tensor for argument #1 'self' (while checking arguments for "
                               f"{name})")
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if 0 in shape[-dims - 1:]:
        raise RuntimeError(f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with "
                           f"optional 0 dim batch size for input, but got:{list(shape)}")


def spelled(sizes, name):
    """Return sizes as PyTorch's pooling errors name them."""
    return " ".join(f"{name.format(letter)}: {n}"
                    for letter, n in zip("THW"[3 - len(sizes):], sizes, strict=True))


def check_window_1d(name, input, kernel_size, stride, padding, dilation, ceil_mode):
    """Raise the errors of maximum pooling in one dimension, which has words of its own."""
    shape, (k,), (s,), (p,), (d,) = tuple(input.shape), kernel_size, stride, padding, dilation
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError(f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim "
                           f"batch size for input, but got:{list(shape)}")
    for what, n in (("kernel_size", k), ("stride", s), ("dilation", d)):
        if n <= 0:
            raise RuntimeError(f"{name}() {what} must be greater than zero, but got {n}")
    if p < 0:
        raise RuntimeError(f"{name}() padding must be non-negative, but got {p}")
    if p > k // 2:
        raise RuntimeError(f"{name}() padding should be at most half of kernel size, but got "
                           f"padding={p} and kernel_size={k}")
    try:
        pool_output_sizes(shape[-1:], kernel_size, stride, padding, dilation, ceil_mode)
    except RuntimeError:
        steps = (shape[-1] + 2 * p - d * (k - 1) - 1) // s + 1
        raise RuntimeError(f"{name}() Invalid computed output size: {steps}") from None


def of_rows(pool, input, *arguments):
    """Pool rows as PyTorch does, as images of height one; the results are rows again."""
    rows = pool(F.unsqueeze(input, -2), *arguments)
    return [F.squeeze(t, -2) for t in rows] if isinstance(rows, tuple) else F.squeeze(rows, -2)


def max_pool(dims, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    """Complete the arguments of a maximum pooling of `dims` dimensions and run it."""
    name = f"max_pool{dims}d"
    kernel_size, stride, padding = window_sizes(name, dims, kernel_size, stride, padding)
    dilation = sizes_of(dilation, dims, name, "dilation")
    if dims == 1:
        check_window_1d(name, input, kernel_size, stride, padding, dilation, ceil_mode)
    else:
        check_window(name, input, dims, kernel_size, stride, padding, dilation, ceil_mode)
    if dims == 1 and (return_indices or (input.requires_grad and _state.grad_enabled.get())):
        values, indices = of_rows(MaxPool, input, (1, *kernel_size), (1, *stride), (0, *padding),
                                  (1, *dilation), bool(ceil_mode))
    else:
        values, indices = MaxPool(input, kernel_size, stride, padding, dilation, bool(ceil_mode))
    return (values, indices) if return_indices else values


@function(method_too=False)
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The maximum of every window: (N, C, L) -> (N, C, steps), with indices on request.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html

    >>> from minigrad import max_pool1d, tensor
    >>> max_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    return max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@function(method_too=False)
def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    """The maximum of every window: (N, C, H, W) -> (N, C, *steps), with indices on request.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html

    >>> from minigrad import max_pool2d, tensor
    >>> max_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 2)
    tensor([[[3.]]])
    """
    return max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def avg_pool(dims, input, kernel_size, stride, padding, ceil_mode, count_include_pad,
             divisor_override):
    """Complete the arguments of an average pooling of `dims` dimensions and run it."""
    name = f"avg_pool{dims}d"
    kernel_size, stride, padding = window_sizes(name, dims, kernel_size, stride, padding)
    if dims == 2:
        size_at(input.shape, -3)
    check_window(name, input, dims, kernel_size, stride, padding, (1,) * dims, ceil_mode)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    rest = bool(ceil_mode), bool(count_include_pad), divisor_override
    if dims == 1:
        return of_rows(AvgPool, input, (1, *kernel_size), (1, *stride), (0, *padding), *rest)
    return AvgPool(input, kernel_size, stride, padding, *rest)


@function(method_too=False)
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True):
    """The average of every window: (N, C, L) -> (N, C, steps).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.avg_pool1d.html

    >>> from minigrad import avg_pool1d, tensor
    >>> avg_pool1d(tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """
    return avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@respelt
def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False,
               count_include_pad=True, divisor_override=None, *, out=None):
    """The average of every window: (N, C, H, W) -> (N, C, *steps).

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


def adaptive_sizes(name, dims, input, output_size):
    """Return the output's sizes; None keeps the input's."""
    shape = tuple(input.shape)
    if len(shape) not in (dims + 1, dims + 2):
        if dims == 1:
            check_pooled(name, shape, dims)
        if len(shape) <= dims and not isinstance(output_size, int):
            raise ValueError(f"Input dimension should be at least {dims + 1}")
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but "
                           f"got{colon} {list(shape)}")
    if output_size is None or isinstance(output_size, int):
        output_size = (output_size,) * dims
    if len(output_size) != dims:
        raise RuntimeError(f"{name}: output_size must be {dims}")
    pairs = zip(output_size, shape[len(shape) - dims:], strict=True)
    return tuple(size if n is None else n for n, size in pairs)


def refuse_empty(name, input, first):
    """Raise if a size from `first` on is zero; the dimensions before it are those of a batch."""
    shape = tuple(input.shape)
    for dim in range(first, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                               f"dimensions, but input has sizes {list(shape)} with dimension "
                               f"{dim} being empty")


@function(method_too=False)
def adaptive_avg_pool1d(input, output_size):
    """Averages of `output_size` windows spread evenly: (N, C, L) -> (N, C, output_size).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool1d.html

    >>> from minigrad import adaptive_avg_pool1d, tensor
    >>> adaptive_avg_pool1d(tensor([[1.0, 2.0, 6.0]]), 2)
    tensor([[1.5000, 4.0000]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool1d", 1, input, output_size)
    return of_rows(adaptive_avg_pool2d, input, (1, *sizes))


def adaptive_avg_pool2d(input, output_size):
    """Averages of windows spread evenly: (N, C, H, W) -> (N, C, *output_size); None keeps a size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_avg_pool2d
    >>> adaptive_avg_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
    tensor([[[1.5000]]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool2d", 2, input, output_size)
    if sizes == (1, 1) and input.is_floating_point():
        return F.mean(input, (-1, -2), True)
    refuse_empty("adaptive_avg_pool2d", input, len(input.shape) - 2)
    return AdaptiveAvgPool(input, sizes)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maxima of `output_size` windows spread evenly: (N, C, L) -> (N, C, output_size).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool1d
    >>> adaptive_max_pool1d(tensor([[1.0, 2.0, 6.0]]), 2)
    tensor([[2., 6.]])
    """
    sizes = adaptive_sizes("adaptive_max_pool1d", 1, input, output_size)
    refuse_empty("adaptive_max_pool1d", input, 1)
    values, indices = of_rows(AdaptiveMaxPool, input, (1, *sizes))
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maxima of windows spread evenly: (N, C, H, W) -> (N, C, *output_size); None keeps a size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool2d
    >>> adaptive_max_pool2d(tensor([[[1.0, 3.0], [2.0, 0.0]]]), 1)
    tensor([[[3.]]])
    """
    sizes = adaptive_sizes("adaptive_max_pool2d", 2, input, output_size)
    refuse_empty("adaptive_max_pool2d", input, 1)
    values, indices = AdaptiveMaxPool(input, sizes)
    return (values, indices) if return_indices else values


def adaptive_avg_pool3d(input, output_size):
    """Averages of windows spread evenly: (N, C, D, H, W) -> (N, C, *output_size).

    None keeps a size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_avg_pool3d
    >>> adaptive_avg_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 1)
    tensor([[[[1.5000]]]])
    """
    sizes = adaptive_sizes("adaptive_avg_pool3d", 3, input, output_size)
    if sizes == (1, 1, 1):
        return F.mean(input, (-1, -2, -3), True)
    refuse_empty("adaptive_avg_pool3d", input, 1)
    return AdaptiveAvgPool3d(input, sizes)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima of windows spread evenly: (N, C, D, H, W) -> (N, C, *output_size).

    None keeps a size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import adaptive_max_pool3d
    >>> adaptive_max_pool3d(tensor([[[[1.0, 3.0], [2.0, 0.0]]]]), 1)
    tensor([[[[3.]]]])
    """
    sizes = adaptive_sizes("adaptive_max_pool3d", 3, input, output_size)
    refuse_empty("adaptive_max_pool3d", input, 1)
    values, indices = AdaptiveMaxPool3d(input, sizes)
    return (values, indices) if return_indices else values
