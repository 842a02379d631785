"""Convolution in one, two and three dimensions.

NOTE [Three ops, each the derivative of the other two]
    A convolution is linear in its input and in its weight.  Its derivatives with respect to the
    input (`ConvInput`, a transposed convolution) and to the weight (`ConvWeight`) are each linear
    in both of their arguments.  So each op's derivative can be written with the other two, and
    there are derivatives of every order.
"""

from math import prod
from typing import Any

from ...backend.kernels_window import conv_output_sizes
from ...backend.memory_layout import in_format_of
from ...dtypes import c_name
from ...frames import warn_user_once
from ...op.arguments import INTS
from ...op.declaration import F, Op
from ...op.publish import function
from ...tensor.tensor import Tensor
from ..checks import require_one_dtype
from ..shape.pad import pad


def conv_shape(input, weight, bias, stride, padding, dilation, groups):
    """(N, C, *S) and (O, C / groups, *K) give (N, O, *steps)."""
    dims = len(weight) - 2
    require_kernel(weight)
    as_image = [1, *dilation] if dims == 1 else list(dilation)
    require_windows(stride, padding, dilation, groups, str(as_image))
    require_ndim(input, weight)
    require_groups(weight, groups)
    if input[1] != weight[1] * groups:
        raise RuntimeError(f"Given groups={groups}, weight of size {list(weight)}, expected "
                           f"input{list(input)} to have {weight[1] * groups} channels, but got "
                           f"{input[1]} channels instead")
    if bias is not None and bias != (weight[0],):
        raise RuntimeError(f"Given weight of size {list(weight)}, expected bias to be "
                           f"1-dimensional with {weight[0]} elements, but got bias of size "
                           f"{list(bias)} instead")
    return (input[0], weight[0],
            *conv_output_sizes(input[2:], weight[2:], stride, padding, dilation))


def require_kernel(weight):
    """Raise PyTorch's error unless a weight has spatial dimensions."""
    if len(weight) < 3:
        raise RuntimeError("weight should have at least three dimensions")


def require_ndim(input, weight):
    """Raise PyTorch's error unless an input has as many dimensions as the weight."""
    if len(input) != len(weight):
        raise RuntimeError(f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional"
                           f" weight {list(weight)}, but got {len(input)}-dimensional input of "
                           f"size {list(input)} instead")


def require_windows(stride, padding, dilation, groups, dilation_text, output_padding=()):
    """Raise PyTorch's error for stride, padding or dilation that no convolution can have."""
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    for name, sizes in (("padding", padding), ("output_padding", output_padding)):
        if any(n < 0 for n in sizes):
            raise RuntimeError(f"negative {name} is not supported")
    if any(n <= 0 for n in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(n <= 0 for n in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {dilation_text}")


def require_groups(weight, groups):
    """Raise unless a weight of this shape splits into equal, nonempty groups."""
    if weight[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at "
                           f"dimension 0, but got weight of size {list(weight)} instead")
    if weight[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at "
                           f"dimension 0, but got weight of size [{list(weight)}] instead")


def require_elements(input, weight):
    """Raise PyTorch's errors for an empty shape, except for no batch or no channels."""
    if not input[1]:
        return
    if input[0] and 0 in input:
        raise RuntimeError("Only zero batch or zero channel inputs are supported, but got input "
                           f"shape: {list(input)}")
    if 0 in weight:
        if not input[0]:
            raise IndexError("select(): index 0 out of range for tensor of size [0] at dimension 0")
        raise RuntimeError("non-empty 2D or 4D weight tensor expected, but got: "
                           f"{list(weight)}")


def check_dtypes(input, weight, bias):
    """Raise unless all arrays have one dtype, after autocast."""
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type ({c_name(input.dtype)}) and bias type "
                           f"({c_name(bias.dtype)}) should be the same")
    require_one_dtype("expected scalar type {} but found {}", input, weight)


def spatial(sizes):
    """Return the batch and spatial dimensions, over which the gradient of a bias is summed."""
    return (0, *range(2, len(sizes)))


class ConvolutionOp(Op, abstract=True):
    """A convolution, transposed or not, or a derivative; all their nodes have the same name."""

    node = "ConvolutionBackward0"
    public = False
    optional = ("bias",)

    def grad_bias(g, input, weight, input_sizes):
        return F.depend_on(F.sum(g, spatial(input_sizes)), input, weight)


class Convolution(ConvolutionOp):
    """Slide `weight` over `input` and sum the products: out[o, i] = sum(w[o, k] * x[i + k]) + b[o].

    Shapes (N, C, *S), (O, C / groups, *K), (O,) -> (N, O, *steps).

    >>> from minigrad import conv1d, ones
    >>> conv1d(ones(1, 1, 3), ones(1, 1, 2))
    tensor([[[2., 2.]]])
    """

    shape = conv_shape

    def forward(xp, input, weight, bias, stride, padding, dilation, groups):
        check_dtypes(input, weight, bias)
        result = xp.conv_forward(input, weight, bias, stride, padding, dilation, groups)
        return in_format_of(result, input, weight)

    def grad_input(g, weight, input_sizes, stride, padding, dilation, groups, input):
        result = ConvInput(g, weight, input_sizes, stride, padding, dilation, groups)
        return F.depend_on(result, input)

    def grad_weight(g, input, weight, weight_sizes, stride, padding, dilation, groups):
        result = ConvWeight(g, input, weight_sizes, stride, padding, dilation, groups)
        return F.depend_on(result, weight)

    def jvp(op, values, outputs, tangents):
        input, weight, _, *windows = values
        of_input, of_weight, of_bias = map(tangents.get, range(3))
        parts = []
        if of_input is not None:
            parts.append(Convolution(of_input, weight, of_bias, *windows))
        elif of_bias is not None:
            parts.append(F.reshape(of_bias, (-1, *(1,) * (input.ndim - 2))))
        if of_weight is not None:
            parts.append(Convolution(input, of_weight, None, *windows))
        return (F.add(*parts) if len(parts) == 2 else parts[0],)

    def samples(make):
        yield make(2, 3, 7), make(4, 3, 3), make(4), (2,), (1,), (1,), 1
        yield make(2, 4, 5, 6), make(6, 2, 2, 3), make(6), (2, 1), (1, 0), (1, 2), 2
        yield make(2, 3, 5, 5), make(2, 3, 1, 1), None, (1, 1), (0, 0), (1, 1), 1
        yield make(1, 2, 3, 4, 3), make(2, 1, 2, 2, 2), make(2), (1, 1, 2), (0, 1, 1), (1, 1, 1), 2
        yield make(0, 3, 5), make(2, 3, 2), make(2), (1,), (0,), (1,), 1


def cropped(steps, sizes):
    """Cut off the steps that exist only because of a large `output_padding`."""
    for axis in range(2, len(sizes)):
        if steps.shape[axis] != sizes[axis]:
            steps = F.narrow(steps, axis, 0, sizes[axis])
    return steps


class ConvInput(ConvolutionOp):
    """The gradient of a convolution with respect to its input: spread `grad` back through `weight`.

    Shapes (N, O, *steps), (O, C / groups, *K) -> `sizes` (N, C, *S).

    >>> from minigrad import ones
    >>> ConvInput(ones(1, 1, 2), ones(1, 1, 2), (1, 1, 3), (1,), (0,), (1,), 1)
    tensor([[[1., 2., 1.]]])
    """

    function = "conv_grad_input"
    kind = "multilinear"

    def shape(grad, weight, sizes, stride, padding, dilation, groups):
        return tuple(sizes)

    def grad_grad(g, weight, grad_sizes, stride, padding, dilation, groups):
        steps = Convolution(g, weight, None, stride, padding, dilation, groups)
        return cropped(steps, grad_sizes)

    def grad_weight(g, grad, weight_sizes, stride, padding, dilation, groups):
        return ConvWeight(grad, g, weight_sizes, stride, padding, dilation, groups)

    def samples(make):
        yield make(2, 4, 4), make(4, 3, 3), (2, 3, 7), (2,), (1,), (1,), 1
        yield make(2, 6, 3, 2), make(6, 2, 2, 3), (2, 4, 5, 6), (2, 1), (1, 0), (1, 2), 2
        yield make(2, 3, 5, 5), make(3, 3, 1, 1), (2, 3, 5, 5), (1, 1), (0, 0), (1, 1), 1
        yield make(0, 2, 4), make(2, 3, 2), (0, 3, 5), (1,), (0,), (1,), 1


class ConvWeight(ConvolutionOp):
    """The gradient of a convolution with respect to its weight: correlate `grad` with `input`.

    Shapes (N, O, *steps), (N, C, *S) -> `sizes` (O, C / groups, *K).

    >>> from minigrad import arange, ones
    >>> ConvWeight(ones(1, 1, 2), arange(3.0).reshape(1, 1, 3), (1, 1, 2), (1,), (0,), (1,), 1)
    tensor([[[1., 3.]]])
    """

    function = "conv_grad_weight"
    kind = "multilinear"

    def shape(grad, input, sizes, stride, padding, dilation, groups):
        return tuple(sizes)

    def grad_grad(g, input, grad_sizes, stride, padding, dilation, groups):
        steps = Convolution(input, g, None, stride, padding, dilation, groups)
        return cropped(steps, grad_sizes)

    def grad_input(g, grad, input_sizes, stride, padding, dilation, groups):
        return ConvInput(grad, g, input_sizes, stride, padding, dilation, groups)

    def samples(make):
        yield make(2, 4, 4), make(2, 3, 7), (4, 3, 3), (2,), (1,), (1,), 1
        yield make(2, 6, 3, 2), make(2, 4, 5, 6), (6, 2, 2, 3), (2, 1), (1, 0), (1, 2), 2
        yield make(2, 3, 5, 5), make(2, 3, 5, 5), (3, 3, 1, 1), (1, 1), (0, 0), (1, 1), 1
        yield make(0, 2, 4), make(0, 3, 5), (2, 3, 2), (1,), (0,), (1,), 1


def per_dimension(value, dims, what="stride"):
    """Return a number or a sequence as a tuple with one number for each of `dims` dimensions."""
    if isinstance(value, int):
        return (value,) * dims
    value = tuple(value)
    if len(value) == 1:
        return value * dims
    if len(value) != dims:
        raise RuntimeError(f"expected {what} to be a single integer value or a list of {dims} "
                           f"values to match the convolution dimensions, but got "
                           f"{what}={list(value)}")
    return value


def batched(name, dims, input):
    """Return the input with a batch dimension, and whether it already had one."""
    if len(input.shape) not in (dims + 1, dims + 2):
        raise RuntimeError(f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                           f"{name}, but got input of size: {list(input.shape)}")
    had_batch = len(input.shape) == dims + 2
    return input if had_batch else F.unsqueeze(input, 0), had_batch


def convolve(dims, input, weight, bias, stride, padding, dilation, groups):
    """Check and complete the arguments, then run a convolution of `dims` dimensions."""
    stride = per_dimension(stride, dims)
    dilation = per_dimension(dilation, dims, "dilation")
    input, had_batch = batched(f"conv{dims}d", dims, input)
    require_kernel(weight.shape)
    if isinstance(padding, str):
        input, padding = named_padding(input, padding, tuple(weight.shape), stride, dilation)
    padding = INTS.check(f"conv{dims}d", "padding", padding, 4)
    padding = per_dimension(padding, dims, "padding")
    if weight.ndim > 2:
        per_dimension(stride, weight.ndim - 2)
    shapes = [None if t is None else tuple(t.shape) for t in (input, weight, bias)]
    conv_shape(*shapes, stride, padding, dilation, groups)
    require_elements(*shapes[:2])
    if not shapes[0][1]:  # PyTorch's result has no channels either
        weight, bias = (None if t is None else F.narrow(t, 0, 0, 0) for t in (weight, bias))
    result = Convolution(input, weight, bias, stride, padding, dilation, groups)
    return result if had_batch else F.squeeze(result, 0)


def named_padding(input, padding, weight, stride, dilation):
    """Return the input and the padding that "valid" or "same" means; pads uneven sides itself."""
    require_ndim(tuple(input.shape), weight)
    kernel = weight[2:]
    if padding == "valid":
        return input, (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if prod(stride) != 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    if any(total % 2 for total in totals):
        warn_user_once("Using padding='same' with even kernel lengths and odd dilation may require "
                       "a zero-padded copy of the input be created")
        input = pad(input, [n for total in reversed(totals) for n in (0, total % 2)])
    return input, tuple(total // 2 for total in totals)


@function(method_too=False)
def conv1d(input, weight, bias=None, stride=1, padding: Any = 0, dilation=1,
           groups=1) -> Tensor:
    """Convolve over one dimension: (N, C, L), (O, C / groups, K) -> (N, O, steps).

    `padding` may be "valid" or "same"; the batch dimension may be missing.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html

    >>> from minigrad import conv1d, ones
    >>> conv1d(ones(1, 1, 3), ones(1, 1, 2))
    tensor([[[2., 2.]]])
    """
    return convolve(1, input, weight, bias, stride, padding, dilation, groups)


@function(method_too=False)
def conv2d(input, weight, bias=None, stride=1, padding: Any = 0, dilation=1,
           groups=1) -> Tensor:
    """Convolve over two dimensions: (N, C, H, W), (O, C / groups, K, K) -> (N, O, *steps).

    `padding` may be "valid" or "same"; the batch dimension may be missing.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html

    >>> from minigrad import conv2d, ones
    >>> conv2d(ones(1, 1, 3, 3), ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return convolve(2, input, weight, bias, stride, padding, dilation, groups)


@function(method_too=False)
def conv3d(input, weight, bias=None, stride=1, padding: Any = 0, dilation=1,
           groups=1) -> Tensor:
    """Convolve over three dimensions: (N, C, D, H, W), (O, C / groups, K, K, K).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html

    >>> from minigrad import conv3d, ones
    >>> conv3d(ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2))
    tensor([[[[[8.]]]]])
    """
    return convolve(3, input, weight, bias, stride, padding, dilation, groups)
