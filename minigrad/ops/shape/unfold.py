"""Windows as columns and their inverse; rearrangement of channels and pixels."""

from math import prod

from ...backend.kernels_window import add_windows, crop, pad, windows
from ...op.declaration import F, Op
from ...op.publish import function, with_aliases
from ...tensor.tensor import Tensor

PAIRS = ("height", "width")


def steps_of(sizes, kernel_size, dilation, padding, stride):
    """Return the number of windows along each of two dimensions, 0 if no window fits."""
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1
                 for n, k, d, p, s in zip(sizes, kernel_size, dilation, padding, stride,
                                          strict=True))


class Im2Col(Op):
    """Every window of an image as a column: (N, C, H, W) -> (N, C * window, number of windows).

    >>> from minigrad import arange
    >>> from minigrad.nn.functional import unfold
    >>> unfold(arange(4.0).reshape(1, 1, 1, 4), (1, 2), stride=2)
    tensor([[[0., 2.],
             [1., 3.]]])
    """

    public = False

    def shape(self, kernel_size, dilation, padding, stride):
        counts = steps_of(self[2:], kernel_size, dilation, padding, stride)
        return (self[0], self[1] * prod(kernel_size), prod(counts))

    def forward(xp, self, kernel_size, dilation, padding, stride):
        counts = steps_of(self.shape[2:], kernel_size, dilation, padding, stride)
        padded = pad(xp, self, padding, padding)
        view = windows(xp, padded, kernel_size, stride, dilation, counts)
        batch, channels = self.shape[:2]
        columns = xp.empty((batch, channels * prod(kernel_size), prod(counts)), self.dtype)
        columns.reshape(view.shape)[...] = view
        return columns

    def grad_self(g, self_sizes, kernel_size, dilation, padding, stride):
        return Col2Im(g, self_sizes[2:], kernel_size, dilation, padding, stride)

    def samples(make):
        yield make(2, 2, 3, 4), (2, 2), (1, 1), (0, 0), (1, 1)
        yield make(1, 2, 5, 4), (2, 3), (2, 1), (1, 1), (1, 2)


class Col2Im(Op):
    """Columns added up at their windows: (N, C * window, windows) -> (N, C, H, W).

    >>> from minigrad import ones
    >>> from minigrad.nn.functional import fold
    >>> fold(ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """

    public = False

    def shape(self, output_size, kernel_size, dilation, padding, stride):
        return (self[0], self[1] // prod(kernel_size), *output_size)

    def forward(xp, self, output_size, kernel_size, dilation, padding, stride):
        counts = steps_of(output_size, kernel_size, dilation, padding, stride)
        batch, channels = self.shape[0], self.shape[1] // prod(kernel_size)
        room = [n + 2 * p for n, p in zip(output_size, padding, strict=True)]
        target = xp.zeros((batch, channels, *room), self.dtype)
        columns = self.reshape(batch, channels, *kernel_size, *counts)
        return crop(xp, add_windows(target, columns, stride, dilation), padding, output_size)

    def grad_self(g, kernel_size, dilation, padding, stride):
        return Im2Col(g, kernel_size, dilation, padding, stride)

    def samples(make):
        yield make(2, 8, 6), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1)
        yield make(1, 12, 10), (5, 4), (2, 3), (2, 1), (1, 1), (1, 2)


def pair(value, name):
    """Return a number or a sequence as two numbers; raise `RuntimeError` for another length."""
    values = (value, value) if isinstance(value, int) else tuple(value)
    if len(values) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return values


def pairs(kernel_size, dilation, padding, stride):
    """Return the sizes of a window, each as two numbers."""
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return [pair(value, name) for name, value in given.items()]


def check_windows(kernel_size, dilation, padding, stride):
    """Raise PyTorch's error for invalid window sizes."""
    arguments = (("kernel size", "kernel", kernel_size), ("stride", "stride", stride),
                 ("dilation", "dilation", dilation))
    for name_in_full, short, values in arguments:
        if min(values) <= 0:
            raise RuntimeError(f"{name_in_full} should be greater than zero, but got "
                               + " ".join(f"{short}_{name}: {n}"
                                          for name, n in zip(PAIRS, values, strict=True)))
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} "
                           f"pad_width: {padding[1]}")


@with_aliases
def unfold(input, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Return every window of an image as a column: (N, C, H, W) -> (N, C * window, windows).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Unfold.html

    >>> from minigrad import arange
    >>> unfold(arange(4.0).reshape(1, 1, 1, 4), (1, 2), stride=2)
    tensor([[[0., 2.],
             [1., 3.]]])
    """
    window = pairs(kernel_size, dilation, padding, stride)
    check_windows(*window)
    shape = tuple(input.shape)
    if len(shape) < 3:
        raise IndexError("Dimension out of range (expected to be in range of "
                         f"[{-len(shape)}, {len(shape) - 1}], but got {len(shape)})")
    if len(shape) > 4 or 0 in shape[-3:]:
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and "
                           f"other non-zero dimensions for input, but got: {list(shape)}")
    counts = steps_of(shape[-2:], *window)
    if min(counts) < 1:
        kernel, spread, edge, _ = window
        raise RuntimeError(f"Given input with spatial size {shape[-2:]}, kernel_size={kernel}, "
                           f"dilation={spread}, padding={edge}, calculated shape of the array of "
                           f"sliding blocks as {counts}, but its components must be at least one.")
    if len(shape) == 4:
        return Im2Col(input, *window)
    return F.squeeze(Im2Col(F.unsqueeze(input, 0), *window), 0)


@with_aliases
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) -> Tensor:
    """Add columns up at their windows: (N, C * window, windows) -> (N, C, H, W).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Fold.html

    >>> from minigrad import ones
    >>> fold(ones(1, 2, 2), (1, 3), (1, 2))
    tensor([[[[1., 2., 1.]]]])
    """
    output_size = pair(output_size, "output_size")
    window = kernel, spread, edge, step = pairs(kernel_size, dilation, padding, stride)
    check_windows(*window)
    shape = tuple(input.shape)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise RuntimeError("Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch "
                           f"size and non-zero dimensions for input, but got: {list(shape)}")
    if shape[-2] % prod(kernel):
        raise RuntimeError("Expected size of input's dimension 1 to be divisible by the product of "
                           f"kernel_size, but got input.size(1)={shape[-2]} and "
                           f"kernel_size={kernel}.")
    counts = steps_of(output_size, *window)
    if shape[-1] != prod(counts) or min(counts) < 1:
        raise RuntimeError(f"Given output_size={output_size}, kernel_size={kernel}, "
                           f"dilation={spread}, padding={edge}, stride={step}, expected size of "
                           "input's dimension 2 to match the calculated number of sliding blocks "
                           f"{counts[0]} * {counts[1]} = {prod(counts)}, but got "
                           f"input.size(2)={shape[-1]}.")
    if len(shape) == 3:
        return Col2Im(input, output_size, *window)
    return F.squeeze(Col2Im(F.unsqueeze(input, 0), output_size, *window), 0)


@function(method_too=False)
def pixel_shuffle(input, upscale_factor) -> Tensor:
    """Turn groups of r² channels into a larger image: (*, C r², H, W) -> (*, C, H r, W r).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html

    >>> from minigrad import arange, pixel_shuffle
    >>> pixel_shuffle(arange(4.0).reshape(4, 1, 1), 2)
    tensor([[[0., 1.],
             [2., 3.]]])
    """
    lead, r = check_pixels("pixel_shuffle", input, upscale_factor, "upscale_factor"), upscale_factor
    channels, height, width = input.shape[-3:]
    if channels % r**2:
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible "
                           f"by the square of upscale_factor, but input.size(-3)={channels} is not "
                           f"divisible by {r**2}")
    fewer, n = channels // r**2, len(lead)
    blocks = F.reshape(input, (*lead, fewer, r, r, height, width))
    order = (*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return regrouped(blocks, order, (*lead, fewer, height * r, width * r))


@function(method_too=False)
def pixel_unshuffle(input, downscale_factor) -> Tensor:
    """Undo `pixel_shuffle`: (*, C, H r, W r) -> (*, C r², H, W).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html

    >>> from minigrad import arange, pixel_unshuffle
    >>> pixel_unshuffle(arange(4.0).reshape(1, 2, 2), 2).reshape(-1)
    tensor([0., 1., 2., 3.])
    """
    r = downscale_factor
    lead = check_pixels("pixel_unshuffle", input, r, "downscale_factor")
    channels, *sizes = input.shape[-3:]
    for name, size, place in zip(PAIRS, sizes, (-2, -1), strict=True):
        if size % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by "
                               f"downscale_factor, but input.size({place})={size} is not divisible "
                               f"by {r}")
    n, height, width = len(lead), sizes[0] // r, sizes[1] // r
    blocks = F.reshape(input, (*lead, channels, height, r, width, r))
    order = (*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return regrouped(blocks, order, (*lead, channels * r * r, height, width))


@function(method_too=False)
def channel_shuffle(input, groups) -> Tensor:
    """Interleave `groups` groups of channels: (N, C, *S), starting with the first of each group.

    Raises `RuntimeError` unless `groups` divides the number of channels.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.channel_shuffle.html

    >>> from minigrad import arange, channel_shuffle
    >>> channel_shuffle(arange(4).reshape(1, 4, 1), 2).reshape(-1)
    tensor([0, 2, 1, 3])
    """
    shape = tuple(input.shape)
    if len(shape) < 3:
        raise RuntimeError("channel_shuffle expects input with > 2 dims, but got input with sizes "
                           f"{list(shape)}")
    if groups <= 0:
        raise RuntimeError("Number of groups to divide channels in must be positive. Value of "
                           f"groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {shape[1]} "
                           f"channels and {groups} groups.")
    parts = F.reshape(input, (shape[0], groups, shape[1] // groups, *shape[2:]))
    return F.clone(F.reshape(F.transpose(parts, 1, 2), shape))


def regrouped(blocks, order, sizes):
    """Return the permuted blocks as a new tensor, even if a view would do."""
    result = F.reshape(F.permute(blocks, order), sizes)
    moved = [axis for axis in order if blocks.shape[axis] != 1]
    return F.clone(result) if moved == sorted(moved) else result


def check_pixels(name, input, factor, what):
    """Return the dimensions before the channels; raise PyTorch's error if there are too few."""
    if len(input.shape) < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input "
                           f"with {len(input.shape)} dimension(s)")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")
    return tuple(input.shape[:-3])
