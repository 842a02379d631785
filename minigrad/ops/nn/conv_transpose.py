"""Transposed convolution in one, two and three dimensions: it adds windows instead of reading them.

It computes the gradient of a convolution with respect to its input, with `output_padding` more
elements at the end.  So it uses the kernels of `conv.py`, and its derivatives are convolutions.
"""

from ...backend.memory_layout import in_format_of
from ...op.declaration import F
from ...op.publish import function
from ...tensor.tensor import Tensor
from ..checks import require_one_dtype
from .conv import (
    Convolution,
    ConvolutionOp,
    ConvWeight,
    batched,
    cropped,
    per_dimension,
    require_elements,
    require_groups,
    require_kernel,
    require_ndim,
    require_windows,
)

LETTERS = ("depth", "height", "width")


def transposed_shape(input, weight, bias, stride, padding, output_padding, dilation, groups):
    """(N, C, *S) and (C, O / groups, *K) give (N, O, *larger)."""
    larger = ((n - 1) * s - 2 * p + d * (k - 1) + extra + 1
              for n, k, s, p, extra, d in zip(input[2:], weight[2:], stride, padding,
                                              output_padding, dilation, strict=True))
    return (input[0], weight[1] * groups, *larger)


class TransposedConvolution(ConvolutionOp):
    """Add `weight` times each element of `input` to that element's window in the result.

    Shapes (N, C, *S), (C, O / groups, *K), (O,) -> (N, O, *larger).

    >>> from minigrad import conv_transpose1d, ones
    >>> conv_transpose1d(ones(1, 1, 2), ones(1, 1, 2))
    tensor([[[1., 2., 1.]]])
    """

    no_batching = "the kernels take one set of weights"
    shape = transposed_shape

    def forward(xp, input, weight, bias, stride, padding, output_padding, dilation, groups):
        check_dtypes(input, weight, bias)
        sizes = transposed_shape(input.shape, weight.shape, None, stride, padding, output_padding,
                                 dilation, groups)
        result = xp.conv_grad_input(input, weight, sizes, stride, padding, dilation, groups)
        if bias is not None:
            result += bias.reshape(-1, *(1,) * (input.ndim - 2))
        return in_format_of(result, input, weight)

    def grad_input(g, weight, input_sizes, stride, padding, dilation, groups, input):
        steps = Convolution(g, weight, None, stride, padding, dilation, groups)
        return F.depend_on(cropped(steps, input_sizes), input)

    def grad_weight(g, input, weight, weight_sizes, stride, padding, dilation, groups):
        result = ConvWeight(input, g, weight_sizes, stride, padding, dilation, groups)
        return F.depend_on(result, weight)

    def samples(make):
        yield make(2, 3, 4), make(3, 2, 3), make(2), (2,), (1,), (1,), (1,), 1
        yield make(2, 4, 3, 2), make(4, 1, 2, 3), make(2), (2, 1), (1, 0), (1, 0), (1, 2), 2
        yield make(1, 2, 3, 3), make(2, 2, 1, 1), None, (1, 1), (0, 0), (0, 0), (1, 1), 1
        yield make(1, 2, 3), make(2, 2, 3), None, (1,), (2,), (2,), (3,), 1
        yield make(0, 2, 3), make(2, 2, 3), make(2), (1,), (0,), (0,), (1,), 1


def check_dtypes(input, weight, bias):
    """Raise unless all arrays have one dtype, after autocast."""
    require_one_dtype("expected scalar type {} but found {}", input, weight)
    if bias is not None and bias.dtype != input.dtype:
        raise RuntimeError(f"Input type (torch.{input.dtype}) and bias type (torch.{bias.dtype}) "
                           "should be the same")


def spelled(name, values):
    """Format sizes as in PyTorch's convolution errors."""
    names = LETTERS[3 - max(len(values), 2):]
    values = (0 if name == "output_padding" else 1,) * (len(names) - len(values)) + tuple(values)
    return [f"{name}_{letter}: {n}" for letter, n in zip(names, values, strict=True)]


def check(input, weight, bias, stride, padding, output_padding, dilation, groups):
    """Raise PyTorch's error if the arguments do not fit together."""
    require_ndim(input, weight)
    require_windows(stride, padding, dilation, groups, ", ".join(spelled("dilation", dilation)),
                    output_padding)
    require_groups(weight, groups)
    if input[1] != weight[0]:
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight)}, expected "
                           f"input{list(input)} to have {weight[0]} channels, but got {input[1]} "
                           "channels instead")
    if bias is not None and bias != (weight[1] * groups,):
        raise RuntimeError(f"Given transposed=1, weight of size {list(weight)}, expected bias to "
                           f"be 1-dimensional with {weight[1] * groups} elements, but got bias of "
                           f"size {list(bias)} instead")
    rooms = zip(output_padding, stride, dilation, strict=True)
    if any(extra >= s and extra >= d for extra, s, d in rooms):
        arguments = (("output_padding", output_padding), ("stride", stride), ("dilation", dilation))
        raise RuntimeError("output padding must be smaller than either stride or dilation, but got "
                           + " ".join(" ".join(spelled(*pair)) for pair in arguments))
    sizes = transposed_shape(input, weight, bias, stride, padding, output_padding, dilation, groups)
    if min(sizes[2:]) <= 0:
        one = (1,) if len(sizes) == 3 else ()
        before, after = (" x ".join(map(str, one + tuple(s[2:]))) for s in (input, sizes))
        raise RuntimeError(f"Given input size per channel: ({before}). Calculated output size per "
                           f"channel: ({after}). Output size is too small")
    require_elements(input, weight)


def convolve_transposed(dims, input, weight, bias, stride, padding, output_padding, groups,
                        dilation):
    """Check and complete the arguments, then run a transposed convolution."""
    input, had_batch = batched(f"conv_transpose{dims}d", dims, input)
    stride = per_dimension(stride, dims)
    padding = per_dimension(padding, dims, "padding")
    output_padding = per_dimension(output_padding, dims, "output_padding")
    dilation = per_dimension(dilation, dims, "dilation")
    require_kernel(weight.shape)
    per_dimension(stride, weight.ndim - 2)
    shapes = [None if t is None else tuple(t.shape) for t in (input, weight, bias)]
    check(*shapes, stride, padding, output_padding, dilation, groups)
    result = TransposedConvolution(input, weight, bias, stride, padding, output_padding, dilation,
                                   groups)
    return result if had_batch else F.squeeze(result, 0)


@function(method_too=False)
def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                     dilation=1) -> Tensor:
    """Apply a transposed convolution over one dimension: (N, C, L), (C, O / groups, K).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html

    >>> from minigrad import conv_transpose1d, ones
    >>> conv_transpose1d(ones(1, 1, 2), ones(1, 1, 2), stride=2)
    tensor([[[1., 1., 1., 1.]]])
    """
    return convolve_transposed(1, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)


@function(method_too=False)
def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                     dilation=1) -> Tensor:
    """Apply a transposed convolution over two dimensions: (N, C, H, W), (C, O / groups, K, K).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html

    >>> from minigrad import conv_transpose2d, ones
    >>> conv_transpose2d(ones(1, 1, 1, 2), ones(1, 1, 2, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    return convolve_transposed(2, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)


@function(method_too=False)
def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                     dilation=1) -> Tensor:
    """Apply a transposed convolution: (N, C, D, H, W), (C, O / groups, K, K, K).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html

    >>> from minigrad import conv_transpose3d, ones
    >>> conv_transpose3d(ones(1, 1, 1, 1, 2), ones(1, 1, 1, 1, 2))
    tensor([[[[[1., 2., 1.]]]]])
    """
    return convolve_transposed(3, input, weight, bias, stride, padding, output_padding, groups,
                               dilation)
