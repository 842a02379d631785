"""Pooling windows: completing their sizes, and PyTorch's errors for invalid ones."""

from math import trunc
from operator import index

from ...backend.kernels_pool import pool_output_sizes
from ...op.arguments import INTS

#: How many numbers a size may have, as PyTorch's errors put it.
COUNTS = {1: "one int", 2: "two ints", 3: "three ints"}


def sizes_of(value, dims, name, argument):
    """Return a number or a sequence as a tuple with one number per pooled dimension."""
    if not isinstance(value, (tuple, list)):
        return (index(value),) * dims
    value = tuple(value)
    if len(value) not in (1, dims):
        if dims == 1:
            raise RuntimeError(f"{name}() argument '{argument}' should contain one int (got "
                               f"{len(value)})")
        choices = "be omitted, a single int," if argument == "stride" else "be a single int,"
        either = "" if name == "avg_pool3d" else "either "
        if argument == "dilation":
            either, choices = "be either ", "a single int,"
        raise RuntimeError(f"{name}: {argument} must {either}{choices} or a tuple of "
                           f"{COUNTS[dims]}")
    return value * dims if len(value) == 1 else value


def window_sizes(name, dims, kernel_size, stride, padding):
    """Return all three with one number per dimension; the stride defaults to the kernel size."""
    kernel_size = sizes_of(kernel_size, dims, name, "kernel_size")
    stride = kernel_size if stride in (None, ()) else sizes_of(stride, dims, name, "stride")
    return kernel_size, stride, sizes_of(padding, dims, name, "padding")


# -------------------------------------------------------------------- shapes of inputs


def check_rows(name, shape):
    """Raise PyTorch's error unless a shape is (N, C, L) or (C, L)."""
    if len(shape) not in (2, 3):
        raise RuntimeError(f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor "
                           f"for argument #1 'self' (while checking arguments for {name})")


def check_images(shape):
    """Raise PyTorch's error unless a shape is (N, C, H, W) or (C, H, W)."""
    if len(shape) not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")


def check_volumes(shape):
    """Raise PyTorch's error unless a shape is (N, C, D, H, W) or (C, D, H, W)."""
    if len(shape) not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")


def refuse_empty(name, shape, first):
    """Raise if a size from dimension `first` on is zero; an empty batch is allowed."""
    for dim in range(first, len(shape)):
        if shape[dim] == 0:
            raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch "
                               f"dimensions, but input has sizes {list(shape)} with dimension "
                               f"{dim} being empty")


# -------------------------------------------------------------------- windows of a fixed size


def check_window(shape, kernel_size, stride, padding, dilation, ceil_mode, volume=None):
    """Raise PyTorch's error for a window that cannot slide over images or volumes.

    `volume` is the name of the function for volumes, which has different wording in some errors.
    """
    dims = len(kernel_size)
    for k, s, p, d in zip(kernel_size, stride, padding, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > trunc(((k - 1) * d + 1) / 2):  # C++ rounds toward zero
            raise RuntimeError("pad should be at most half of effective kernel size, but got pad="
                               f"{p}, kernel_size={k} and dilation={d}")
    for what, letter, sizes in (("kernel size", "k{}", kernel_size), ("stride", "d{}", stride),
                                ("dilation", "dilation{}", dilation)):
        if min(sizes) <= 0:
            raise RuntimeError(f"{what} should be greater than zero, but got "
                               f"{spelled(sizes, letter)}")
    if 0 in shape[-dims - 1:] or not dims < len(shape) < dims + 3:
        refuse_planes(shape, volume)
    if volume == "avg_pool3d" and any(n + 2 * p < k for n, p, k in zip(
            shape[-3:], padding, kernel_size, strict=True)):
        raise RuntimeError(f"input image ({spelled(shape[-3:], '{}')}) smaller than kernel size "
                           f"({spelled(kernel_size, 'k{}')})")
    try:
        pool_output_sizes(shape[-dims:], kernel_size, stride, padding, dilation, ceil_mode)
    except RuntimeError as error:
        channels = f"({shape[-dims - 1]}x"
        raise RuntimeError(str(error).replace("(", channels)) from None


def refuse_planes(shape, volume):
    """Raise PyTorch's error for images or volumes without elements to pool."""
    if volume is None:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size "
                           f"for input, but got:{list(shape)}")
    kernel = {"max_pool3d": "max_pool3d_with_indices_out_cpu_template"}.get(volume, volume)
    raise RuntimeError(f"{kernel}(): Expected input's non-batch dimensions to have positive "
                       f"length, but input has a shape of {list(shape)} and non-batch dimension "
                       f"0 has length zero!")


def spelled(sizes, name):
    """Format sizes as in PyTorch's pooling errors."""
    return " ".join(f"{name.format(letter)}: {n}"
                    for letter, n in zip("THW"[3 - len(sizes):], sizes, strict=True))


def check_window_of_rows(name, shape, kernel_size, stride, padding, dilation, ceil_mode):
    """Raise the errors of one-dimensional maximum pooling, which has different wording."""
    (k,), (s,), (p,), (d,) = kernel_size, stride, padding, dilation
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


# -------------------------------------------------------------------- windows spread evenly


def adaptive_sizes(name, dims, shape, output_size):
    """Return the output's sizes; `None` keeps the input's."""
    given = INTS.check(name, "output_size", without_none(output_size), 1)
    many = (given,) * dims if isinstance(given, int) else output_size
    if dims > 1 and len(shape) <= len(many) and not isinstance(given, int):
        raise ValueError(f"Input dimension should be at least {len(many) + 1}")
    if len(many) != dims:
        if dims == 1:
            raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got "
                               f"{len(many)})")
        raise RuntimeError(f"{name}: output_size must be {dims}" if "avg" in name else
                           f"{name}(): internal error: output_size.size() must be {dims}")
    if len(shape) not in (dims + 1, dims + 2):
        if dims == 1:
            check_rows(name, shape)
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but "
                           f"got{colon} {list(shape)}")
    pairs = zip(many, shape[len(shape) - dims:], strict=True)
    sizes = tuple(size if n is None else index(n) for n, size in pairs)
    if min(sizes) < 0:
        refuse_negative(name, shape, sizes)
    return sizes


def without_none(output_size):
    """Return sizes without `None`, which all functions except the one-dimensional ones accept."""
    if isinstance(output_size, (tuple, list)):
        return [n for n in output_size if n is not None]
    return output_size


def refuse_negative(name, shape, sizes):
    """Raise PyTorch's error for a negative output size."""
    if "avg" in name:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0 "
                           f"but received {{{', '.join(map(str, sizes))}}}")
    wanted = [*shape[:len(shape) - len(sizes)], *sizes]
    raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {wanted}")
