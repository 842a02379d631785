# Stage 04c, Convolution: the exercise for minigrad/backend/kernels_conv.py.
# Made by `minigrad dev build`. The lesson is lessons/04c_convolution.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04c
# docs/en/glossary.md explains the names used inside the package.

"""Convolution and its two derivatives, for any number of spatial dimensions.

All three are one matrix product and one copy: every window of the input is laid out as a column,
and the weight, with one row per output channel, multiplies them all.  Each function is linear in
both of its arrays, and each is a derivative of the other two, so a double backward needs no further
kernel:

    sum(conv_forward(x, w) * g) == sum(x * conv_grad_input(g, w)) == sum(w * conv_grad_weight(g, x))

Arrays are `(batch, channels, *spatial)`, weights `(out channels, in channels / groups, *kernel)`.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

from .conv_columns import column_blocks, columns_by_block, has_short_lines, side_by_side
from .conv_flip import flip_pays, flipped
from .kernels_window import (
    add_windows,
    conv_output_sizes,
    crop,
    kernel_positions,  # noqa: F401  # for an answer without blocks
    pad,  # noqa: F401  # likewise
    windows,  # noqa: F401  # likewise
    zeros,
)

Array = Any
Ints = Sequence[int]

__all__ = ["conv_forward", "conv_grad_input", "conv_grad_weight"]


def conv_forward(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Cross-correlate `x` (N, C, *S) with `weight` (O, C / groups, *K): (N, O, *steps).

    `bias` may be `None`. The function does not modify `x`, `weight` and `bias`.

    Raises `RuntimeError` if the kernel is larger than the padded input.

    >>> from minigrad.backend import numpy_backend as xp
    >>> x, weight = numpy.ones((1, 1, 3)), numpy.ones((1, 1, 2))
    >>> conv_forward(xp, x, weight, None, (1,), (0,), (1,), 1)
    array([[[2., 2.]]])
    """
    # 04c.5 The convolution (about 16 lines)
    # Return an array of shape (N, O, *steps). At each step and for each output channel o,
    # it has the sum of the weights `weight[o]` times the elements under them, over input
    # channels and kernel positions, plus `bias[o]`.
    #   x [[[1, 2, 4, 8]]], weight [[[10, 1]]], stride (1,)     -> [[[12, 24, 48]]]
    #   the same with stride (2,), padding (1,), bias [100]     -> [[[101, 124, 180]]]
    #   x [[[1, 2], [4, 8]]], weight [[[10]], [[3]]], 2 groups  -> [[[10, 20], [12, 24]]]
    # Mind:
    # - The weight isn't mirrored.
    # - `groups` divides input and output channels into equal consecutive parts. Each part
    #   of the output sees only its part of the input.
    # - The dtype is `xp.result_type(x, weight)`.
    # - A batch may be empty.
    # Use: `conv_output_sizes`, `pad`, `windows`; you don't need blocks
    # (`columns_by_block`).
    raise NotImplementedError("04c.5 The convolution is yours to write")


def conv_grad_weight(
    xp: Any,
    g: Array,
    x: Array,
    weight_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Return the gradient of `conv_forward` with respect to its weight, for `g` (N, O, *steps).

    `g` may have fewer steps than would fit.

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, x = numpy.ones((1, 1, 2)), numpy.arange(3.0).reshape(1, 1, 3)
    >>> conv_grad_weight(xp, g, x, (1, 1, 2), (1,), (0,), (1,), 1)
    array([[[1., 3.]]])
    """
    # 04c.6 The weight's gradient (about 14 lines)
    # Return the gradient of the weight, of shape `weight_sizes` (O, C / groups, *K). Each
    # gradient is the sum, over samples and steps, of `g` times the element that the
    # weight met.
    #   g [[[1, 10]]], x [[[2, 3, 5]]], stride (1,), 2 weights         -> [[[32, 53]]]
    #   g [[[1, 10]]], x [[[2, 3, 5, 7, 11]]], stride (2,), 2 weights  -> [[[52, 73]]]
    # Mind:
    # - The steps are `g.shape[2:]`; `g` may have fewer steps than would fit.
    # - If the batch is empty, the gradient is zeros.
    # - The dtype is `xp.result_type(g, x)`.
    # Use: the functions that you used in `conv_forward`, with the same groups.
    raise NotImplementedError("04c.6 The weight's gradient is yours to write")


def conv_grad_input(
    xp: Any,
    g: Array,
    weight: Array,
    input_sizes: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Array:
    """Return the gradient of `conv_forward` with respect to its input, for `g` (N, O, *steps).

    Elements outside all windows get zero.  `g` may have fewer steps than would fit.

    >>> from minigrad.backend import numpy_backend as xp
    >>> g, w = numpy.ones((1, 1, 2)), numpy.ones((1, 1, 2))
    >>> conv_grad_input(xp, g, w, (1, 1, 3), (1,), (0,), (1,), 1)
    array([[[1., 2., 1.]]])
    """
    # 04c.7 The input's gradient (about 24 lines)
    # Return the gradient of the input, of shape `input_sizes` (N, C, *S). Each element of
    # `g`, times the weights, goes to the elements that its window looked at, where
    # everything adds up.
    #   g [[[1, 10]]], weight [[[2, 3]]], 3 elements, stride (1,) -> [[[2, 23, 30]]]
    #   the same, 5 elements, stride (3,)                         -> [[[2, 3, 0, 20, 30]]]
    #   the same, 1 element, stride (1,), padding (1,)            -> [[[23]]]
    # Mind:
    # - The steps are `g.shape[2:]`; `g` may have fewer steps than would fit.
    # - Elements outside every window get zero, and the padding is cut off.
    # - The dtype is `xp.result_type(g, weight)`.
    # Use: `add_windows`, `crop`, and groups as in `conv_forward`. `flip_pays` and blocks
    # only make the package's version faster.
    raise NotImplementedError("04c.7 The input's gradient is yours to write")
