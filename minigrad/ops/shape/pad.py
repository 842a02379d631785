"""Padding: with a constant, or with a tensor's elements repeated beyond its edges."""

import numpy as np

from ...backend.memory_layout import in_format_of
from ...device import beside
from ...op.declaration import F, Op
from ...op.publish import function, with_aliases
from ...tensor.tensor import Tensor
from .view import array_of


def padded_shape(self, pad, value=0):
    """Return the padded shape; each pair of `pad`, last dimension first, changes a dimension."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * len(self):
        raise RuntimeError("Padding length should be less than or equal to two times the input "
                           f"dimension but got padding length {len(pad)} and input of dimension "
                           f"{len(self)}")
    sizes = list(self)
    for axis, before, after in pairs(pad, len(self)):
        sizes[axis] += before + after
        if sizes[axis] < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return tuple(sizes)


def pairs(pad, ndim):
    """Return `(axis, before, after)` for each pair of `pad`, which starts at the last dimension."""
    return [(ndim - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]


class ConstantPadNd(Op):
    """Surround a tensor with `value`; negative widths crop.

    >>> from minigrad import ones
    >>> from minigrad.nn.functional import pad
    >>> pad(ones(2), (1, 2))
    tensor([0., 1., 1., 0., 0.])
    """

    public = False
    shape = padded_shape

    def forward(xp, self, pad, value=0):
        result = xp.full(padded_shape(self.shape, pad), value, self.dtype)
        inside, uncut = [slice(None)] * self.ndim, [slice(None)] * self.ndim
        for axis, before, after in pairs(pad, self.ndim):
            size = self.shape[axis]
            inside[axis] = slice(max(before, 0), result.shape[axis] - max(after, 0))
            uncut[axis] = slice(max(-before, 0), size - max(-after, 0))
        result[tuple(inside)] = self[tuple(uncut)]
        return in_format_of(result, self)

    def grad_self(g, pad):
        return ConstantPadNd(g, tuple(-n for n in pad))

    def samples(make):
        yield make(3), (1, 2)
        yield make(2, 3), (1, 0, 0, 2), 1.5
        yield make(2, 4), (-1, -1, 1, 1)
        yield make(0, 2), (0, 1)


@function(method_too=False)
def constant_pad_nd(input, pad, value=0):
    """Surround a tensor with `value`; `pad` has two widths per dimension, starting at the last.

    Negative widths crop.  Source: `torch.constant_pad_nd`.

    >>> from minigrad import constant_pad_nd, ones
    >>> constant_pad_nd(ones(2), (1, 0))
    tensor([0., 1., 1.])
    """
    return ConstantPadNd(input, tuple(pad), value)


#: The padding modes as functions: (n, before, after) -> indices of the elements.
BEYOND = {
    "reflect": lambda n, before, after: np.pad(np.arange(n), (before, after), "reflect"),
    "replicate": lambda n, before, after: np.arange(-before, n + after).clip(0, n - 1),
    "circular": lambda n, before, after: np.arange(-before, n + after) % n,
}


def positions(mode, size, before, after):
    """Return the index of the element at each position of a padded dimension.

    Negative widths crop.
    """
    if mode == "circular":  # a cropped element does not reappear on the other side
        first, last = max(-before, 0), size - max(-after, 0)
        return first + BEYOND[mode](last - first, max(before, 0), max(after, 0))
    index = BEYOND[mode](size, max(before, 0), max(after, 0))
    return index[max(-before, 0): len(index) - max(-after, 0)]


def check_beyond(mode, shape, pad):
    """Raise PyTorch's error for widths that the mode does not have enough elements for."""
    dims = len(pad) // 2
    if mode != "circular" and 0 in shape[-dims - 1:]:
        raise RuntimeError(f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly "
                           "0 batch size and other non-zero dimensions for input, but got: "
                           f"{list(shape)}")
    for number, (axis, before, after) in enumerate(pairs(pad, len(shape))):
        size = shape[axis]
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(f"Argument #{4 + 2 * number}: Padding size should be less than the "
                               f"corresponding input dimension, but got: padding ({before}, "
                               f"{after}) at dimension {axis} of input {list(shape)}")
        if mode == "circular" and size + before + after < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        if mode == "circular" and max(before, after) > size + min(before, 0) + min(after, 0):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if mode != "circular" and dims == 1 and size + before + after < 1:
            raise RuntimeError(f"input (W: {size}) is too small. Calculated output W: "
                               f"{size + before + after}")


@with_aliases
def pad(input, pad, mode="constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions of a tensor, with `pad` = (left, right, top, bottom, ...).

    `mode` is "constant" (with `value`, by default zero), or "reflect", "replicate" or "circular",
    which do not pad batch and channels.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html

    >>> from minigrad import tensor
    >>> pad(tensor([[[1.0, 2.0, 3.0]]]), (2, 1), "reflect")
    tensor([[[3., 2., 1., 2., 3., 2.]]])
    """
    pad = tuple(pad)
    if mode == "constant":
        return ConstantPadNd(input, pad, 0 if value is None else value)
    if value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in BEYOND:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    ndim = len(input.shape)
    if len(pad) not in (2 * (ndim - 2), 2 * (ndim - 1)) or not pad:
        raise NotImplementedError(f"Padding size {len(pad)} is not supported for {ndim}D input "
                                  "tensor.")
    check_beyond(mode, tuple(input.shape), pad)
    for axis, before, after in pairs(pad, ndim):
        if before or after:
            index = positions(mode, input.shape[axis], before, after)
            index = Tensor._plain(beside(array_of(input), index))
            input = F.index_select(input, axis, index)
    return input
