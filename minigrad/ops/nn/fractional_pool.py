"""Fractional pooling: evenly spaced windows, up to rounding, that start at random positions.

Source: Graham, Fractional max-pooling, https://arxiv.org/abs/1412.6071
"""

from math import prod

from ...dtypes import float64
from ...op.arguments import require
from ...op.declaration import F, Op
from ..overloads import refuse_gradient
from .pool import MaxPoolInput

NAMES = ("time", "height", "width")


class FractionalMaxPool(Op):
    """The maxima of windows placed by `random_samples`: (N, C, dims) numbers in [0, 1).

    >>> from minigrad import tensor
    >>> values, indices = FractionalMaxPool(tensor([[[1.0, 2.0, 3.0]]]), tensor([[[0.0, 0.5]]]),
    ...                                     (1, 1), (1, 2))
    >>> values
    tensor([[[1., 3.]]])
    """

    name = "fractional_max_pool2d"
    node = "FractionalMaxPool2DBackward"
    public = False
    no_batching = "each example has windows of its own"
    tensors = ("self", "random_samples")
    outputs = ("values", "indices")

    def shape(self, random_samples, kernel_size, output_size):
        return [(*self[:len(self) - len(output_size)], *output_size)] * 2

    def forward(xp, self, random_samples, kernel_size, output_size):
        dims = len(kernel_size)
        require(self, "f", f"fractional_max_pool{dims}d_out_frame")
        lead, sizes = self.shape[:self.ndim - dims], self.shape[self.ndim - dims:]
        planes = prod(lead)
        samples = random_samples.reshape(planes, dims)
        places = xp.zeros((planes, *(1,) * 2 * dims), "int64")
        for axis, (size, k, steps) in enumerate(zip(sizes, kernel_size, output_size, strict=True)):
            sample = samples[:, 1 - axis if dims == 2 else axis, None]  # PyTorch's order
            spots = starts(xp, sample, size, k, steps)[:, :, None] + xp.arange(k)
            room = [planes, *(1,) * 2 * dims]
            room[1 + axis], room[1 + dims + axis] = steps, k
            places = places * size + spots.reshape(room)
        places = places.reshape(planes, prod(output_size), prod(kernel_size))
        rows = self.reshape(planes, prod(sizes))
        windows = xp.take_along_axis(rows, places.reshape(planes, -1), 1).reshape(places.shape)
        at = xp.argmax(windows, -1)
        nan = xp.isnan(windows)
        at = xp.where(nan.any(-1), windows.shape[-1] - 1 - xp.argmax(nan[..., ::-1], -1), at)
        return [xp.take_along_axis(each, at[..., None], -1).reshape(*lead, *output_size)
                for each in (windows, places)]

    def grad_self(g_values, indices, self, self_sizes, output_size):
        return F.depend_on(MaxPoolInput(g_values, indices, self_sizes, len(output_size)), self)

    def samples(make):
        yield make(2, 3, 6, 5, distinct=True), F.rand(2, 3, 2, dtype=float64), (2, 2), (3, 2)
        yield make(2, 4, 4, distinct=True), F.rand(1, 2, 2, dtype=float64), (2, 1), (1, 3)


class FractionalMaxPool3d(FractionalMaxPool):
    """The maxima of three-dimensional windows placed by `random_samples`.

    >>> from minigrad import ones
    >>> FractionalMaxPool3d(ones(1, 2, 2, 2), ones(1, 1, 3) / 2, (1, 1, 1), (1, 1, 2))[0].shape
    torch.Size([1, 1, 1, 2])
    """

    name = "fractional_max_pool3d"
    node = "FractionalMaxPool3DBackward"

    def samples(make):
        yield make(2, 4, 5, 3, distinct=True), F.rand(1, 2, 3, dtype=float64), (2, 2, 1), (2, 2, 2)


def starts(xp, sample, size, kernel, steps):
    """Return where the windows of each plane start, (planes, steps); the last one ends the row."""
    last = xp.full((sample.shape[0], 1), size - kernel, "int64")
    if steps == 1:
        return last
    gap = sample.dtype.type(size - kernel) / sample.dtype.type(steps - 1)
    at = ((xp.arange(steps - 1) + sample).astype(sample.dtype) * gap).astype("int64")
    return xp.concatenate([at - (sample * gap).astype("int64"), last], 1)


def fractional_pool(name, input, kernel_size, output_size, output_ratio, return_indices,
                    _random_samples):
    """Complete the arguments of a fractional pooling and run it."""
    dims = int(name[-2])
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    shape = tuple(input.shape)
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * dims
        output_size = [int(n * r) for n, r in zip(shape[-dims:], ratios, strict=True)]
    kernel_size = sizes_of_all(name, "kernel_size", kernel_size, dims)
    output_size = sizes_of_all(name, "output_size", output_size, dims)
    if len(shape) < dims + 1:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-len(shape)}, "
                         f"{len(shape) - 1}], but got {-dims - 1})")
    batch = 1 if len(shape) == dims + 1 else shape[0]
    samples = _random_samples
    if samples is None:
        samples = F.rand((batch, shape[-dims - 1], dims), dtype=input.dtype, device=input.device)
    refuse_gradient(name, random_samples=samples)
    for what, size, k, n in zip(NAMES[-dims:], shape[-dims:], kernel_size, output_size,
                                strict=True):
        if n + k - 1 > size - (dims == 3):  # for volumes, PyTorch requires one more element
            call = "fractional_max_pool3d_out" if dims == 3 else name
            raise RuntimeError(f"{call}(): pool {what} {k} too large relative to input {what} "
                               f"{size}")
    if samples.size(0) < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    for dim, wanted, what in ((1, shape[-dims - 1], "input channel size"), (2, dims, dims)):
        if samples.size(dim) != wanted:
            raise RuntimeError(f"Expect _random_samples.size({dim}) equals to {what}; got "
                               f"{samples.size(dim)}.")
    pool = FractionalMaxPool3d if dims == 3 else FractionalMaxPool
    values, indices = pool(input, samples[:batch], kernel_size, output_size)
    return (values, indices) if return_indices else values


def sizes_of_all(name, argument, value, dims):
    """Return a size for each dimension; raise unless one or `dims` sizes were passed."""
    value = (value,) if isinstance(value, int) else tuple(value)
    if len(value) not in (1, dims):
        raise RuntimeError(f"{name}: {argument} must either be a single Int or tuple of Ints")
    return value * dims if len(value) == 1 else value


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices=False, _random_samples=None):
    """Return the maxima of `output_size` random windows: (N, C, H, W) -> (N, C, *output_size).

    Instead of the sizes, you can pass `output_ratio`, the output size as a fraction of the input's.
    Raises `ValueError` without either, and `RuntimeError` for windows that do not fit.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html

    >>> from minigrad import arange
    >>> fractional_max_pool2d(arange(9.0).reshape(1, 3, 3), 2, output_size=2)
    tensor([[[4., 5.],
             [7., 8.]]])
    """
    return fractional_pool("fractional_max_pool2d", input, kernel_size, output_size, output_ratio,
                           return_indices, _random_samples)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None,
                          return_indices=False, _random_samples=None):
    """Return the maxima of `output_size` random windows: (N, C, T, H, W) -> (N, C, *output_size).

    Otherwise like `fractional_max_pool2d`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d.html

    >>> from minigrad import arange
    >>> fractional_max_pool3d(arange(8.0).reshape(1, 2, 2, 2), 1, output_size=1)
    tensor([[[[7.]]]])
    """
    return fractional_pool("fractional_max_pool3d", input, kernel_size, output_size, output_ratio,
                           return_indices, _random_samples)
