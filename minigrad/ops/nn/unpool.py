"""Inverse of maximum pooling: put each value back where its window's maximum was."""

from math import prod

from ...dtypes import type_name
from ...op.declaration import F, Op
from ...op.publish import with_aliases
from ...tensor.tensor import Tensor
from .pool import MaxPoolGather
from .pool_windows import window_sizes


class MaxUnpool(Op):
    """Put each element at its index into a plane of zeros: a tensor of `sizes`.

    >>> from minigrad import tensor
    >>> MaxUnpool(tensor([[5.0, 7.0]]), tensor([[1, 2]]), (1, 4), 1)
    tensor([[0., 5., 7., 0.]])
    """

    no_batching = "each example puts its elements at indices of its own"
    kind = "linear"
    node = "MaxUnpool2DBackward"
    public = False
    tensors = ("self", "indices")

    def shape(self, indices, sizes, dims):
        return tuple(sizes)

    def forward(xp, self, indices, sizes, dims):
        planes, plane = prod(sizes[:len(sizes) - dims]), prod(sizes[len(sizes) - dims:])
        steps = prod(self.shape[self.ndim - dims:])
        places = indices.reshape(planes, steps)
        wrong = places[(places < 0) | (places >= plane)]
        if wrong.size:
            volume = "x".join(map(str, sizes[len(sizes) - dims:]))
            raise RuntimeError(f"Found an invalid max index: {wrong[0]} (output volumes are of "
                               f"size {volume})")
        result = xp.zeros((planes, plane), self.dtype)
        result[xp.arange(planes)[:, None], places] = self.reshape(planes, steps)
        return result.reshape(sizes)

    def grad_self(g, indices, dims):
        return MaxPoolGather(g, indices, dims)

    def samples(make):
        yield make(2, 2), made_places(make, (2, 2), 5), (2, 5), 1
        yield make(1, 2, 2, 2), made_places(make, (1, 2, 2, 2), 12), (1, 2, 3, 4), 2


class MaxUnpool3d(MaxUnpool):
    """Put each element at its index into a volume of zeros.

    >>> from minigrad import tensor
    >>> MaxUnpool3d(tensor([[[[5.0]]]]), tensor([[[[1]]]]), (1, 1, 1, 2), 3)
    tensor([[[[0., 5.]]]])
    """

    node = "MaxUnpool3DBackward"

    def samples(make):
        yield make(2, 1, 2, 2), made_places(make, (2, 1, 2, 2), 16), (2, 2, 2, 4), 3


def made_places(make, shape, plane):
    """Make indices that are distinct within each plane."""
    return F.remainder(F.reshape(F.arange(prod(shape)), shape) + make.ints(1, high=plane), plane)


def unpooled_sizes(input, kernel_size, stride, padding, output_size):
    """Return the sizes before pooling: `output_size`, or the smallest possible ones."""
    dims = len(kernel_size)
    smallest = [(n - 1) * s + k - 2 * p for n, s, k, p in
                zip(input[len(input) - dims:], stride, kernel_size, padding, strict=True)]
    if output_size is None:
        return tuple(smallest)
    wanted = tuple(output_size)
    if len(wanted) == dims + 2:
        wanted = wanted[2:]
    if len(wanted) != dims:
        raise ValueError("output_size should be a sequence containing "
                         f"{dims} or {dims + 2} elements, but it has a length of '{len(wanted)}'")
    for d, (size, least, s) in enumerate(zip(wanted, smallest, stride, strict=True)):
        if not least - s < size < least + s:
            raise ValueError(f'invalid output_size "{wanted}" (dim {d} must be between '
                             f'{least - s} and {least + s})')
    return wanted


def max_unpool(dims, input, indices, kernel_size, stride, padding, output_size):
    """Complete the arguments of an unpooling over `dims` dimensions and run it."""
    name = f"max_unpool{dims}d"
    kernel_size, stride, padding = window_sizes(name, dims, kernel_size, stride, padding)
    shape = tuple(input.shape)
    sizes = unpooled_sizes(shape, kernel_size, stride, padding, output_size)
    if dims == 3 and len(shape) not in (4, 5):
        raise RuntimeError("Input to max_unpooling3d should be a 4d or 5d Tensor, but got a tensor "
                           f"with {len(shape)} dimensions.")
    if str(indices.dtype).removeprefix("torch.") != "int64":
        came = "" if dims == 3 else f" but got: {type_name(indices.dtype)}"
        raise RuntimeError(f"elements in indices should be type int64{came}")
    if tuple(indices.shape) != shape:
        raise RuntimeError("Expected shape of indices to be same as that of the input tensor "
                           f"({list(shape)}) but got indices tensor with shape: "
                           f"{list(indices.shape)}")
    unpool = MaxUnpool3d if dims == 3 else MaxUnpool
    return unpool(input, indices, (*shape[:len(shape) - dims], *sizes), dims)


@with_aliases
def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Put the values of `max_pool1d` back where they were, with zeros elsewhere.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool1d.html

    >>> from minigrad import tensor
    >>> max_unpool1d(tensor([[3.0, 2.0]]), tensor([[1, 2]]), 2)
    tensor([[0., 3., 2., 0.]])
    """
    return max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


@with_aliases
def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Put the values of `max_pool2d` back where they were, with zeros elsewhere.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool2d.html

    >>> from minigrad import tensor
    >>> max_unpool2d(tensor([[[3.0]]]), tensor([[[1]]]), 2)
    tensor([[[0., 3.],
             [0., 0.]]])
    """
    return max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


@with_aliases
def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None) -> Tensor:
    """Put the values of `max_pool3d` back where they were, with zeros elsewhere.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool3d.html

    >>> from minigrad import tensor
    >>> max_unpool3d(tensor([[[[3.0]]]]), tensor([[[[1]]]]), (1, 1, 2))
    tensor([[[[0., 3.]]]])
    """
    return max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
