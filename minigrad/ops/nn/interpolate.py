"""Resizing: the nearest element, or a weighted sum of neighbours, along each dimension in turn.

Every mode is linear and resizes one dimension after another.  So a single op is enough, which takes
a table of positions and weights for one dimension: result[i] = sum over k of weights[i, k] *
self[at[i, k]].
"""

from typing import Any

from ... import dtypes
from ...backend.memory_layout import in_format_of, in_rows
from ...op.arguments import require
from ...op.declaration import F, Op
from ...tensor.tensor import Tensor
from .pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

#: The number of dimensions that each mode resizes.
MIXING = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


class Resample(Op):
    """Resize one dimension to `size`, weighting elements as `neighbours` returns for the mode.

    >>> from minigrad import tensor
    >>> Resample(tensor([1.0, 2.0]), 0, 4, "nearest", 0.5, False)
    tensor([1., 1., 2., 2.])
    """

    kind = "linear"
    public = False
    node = "UpsampleBackward"

    def shape(self, axis, size, mode, scale, align_corners):
        return (*self[:axis], size, *self[axis + 1:])

    def forward(xp, self, axis, size, mode, scale, align_corners):
        at, weights = neighbours(xp, self.shape[axis], size, mode, scale, align_corners)
        if weights is None:
            return in_format_of(xp.take(self, at[0], axis), self)
        require(self, "f", f"compute_indices_weights_{mode}")
        after = (1,) * (self.ndim - axis - 1)
        parts = [xp.take(self, places, axis) * w.astype(self.dtype).reshape(-1, *after)
                 for places, w in zip(at, weights, strict=True)]
        return in_format_of(sum(parts[1:], parts[0]), self)

    def grad_self(g, self_sizes, axis, mode, scale, align_corners):
        return ResampleInput(g, axis, self_sizes[axis], mode, scale, align_corners)

    def samples(make):
        yield make(2, 3), 1, 7, "nearest", 3 / 7, False
        yield make(2, 5, 2), 1, 3, "linear", 5 / 3, False
        yield make(4), 0, 6, "linear", 3 / 5, True
        yield make(4, 2), 0, 2, "nearest-exact", 2.0, False
        yield make(2, 5), 1, 3, "cubic", 5 / 3, False


class ResampleInput(Op):
    """The transpose of `Resample`: add each gradient to the elements that it was computed from.

    >>> from minigrad import ones
    >>> ResampleInput(ones(4), 0, 2, "nearest", 0.5, False)
    tensor([2., 2.])
    """

    kind = "linear"
    public = False
    node = "UpsampleBackwardBackward"

    def shape(grad, axis, size, mode, scale, align_corners):
        return (*grad[:axis], size, *grad[axis + 1:])

    def forward(xp, grad, axis, size, mode, scale, align_corners):
        at, weights = neighbours(xp, size, grad.shape[axis], mode, scale, align_corners)
        spread = xp.zeros((size, grad.shape[axis]), grad.dtype)
        for places, w in zip(at, [1.0] if weights is None else weights, strict=True):
            spread[places, xp.arange(grad.shape[axis])] += w
        return in_rows(xp.moveaxis(xp.matmul(xp.moveaxis(grad, axis, -1), spread.T), -1, axis))

    def grad_grad(g, grad_sizes, axis, mode, scale, align_corners):
        return Resample(g, axis, grad_sizes[axis], mode, scale, align_corners)

    def samples(make):
        yield make(2, 7), 1, 3, "nearest", 3 / 7, False
        yield make(2, 3, 2), 1, 5, "linear", 5 / 3, False
        yield make(2, 3), 1, 4, "cubic", 4 / 3, False


def neighbours(xp, before, after, mode, scale, align_corners):
    """Return, for each new element, the positions it is computed from, and weights if several.

    `scale` is the distance between two new elements, measured in old ones.
    """
    i = xp.arange(after)
    if mode == "cubic":
        place = i * scale if align_corners else (i + 0.5) * scale - 0.5
        low = xp.floor(place).astype(xp.int64)
        return ([(low + k).clip(0, before - 1) for k in (-1, 0, 1, 2)],
                [cubic(xp.abs(place - low - k)) for k in (-1, 0, 1, 2)])
    if mode != "linear":
        start = i + 0.5 if mode == "nearest-exact" else i
        return [xp.floor(start * scale).astype(xp.int64).clip(0, before - 1)], None
    place = i * scale if align_corners else ((i + 0.5) * scale - 0.5).clip(0, None)
    low = xp.floor(place).astype(xp.int64).clip(0, before - 1)
    part = place - low
    return [low, (low + 1).clip(0, before - 1)], [1 - part, part]


def cubic(x):
    """Return the weights of elements at distance `x`, from 0 to 2, by Keys's cubic convolution.

    Source: https://en.wikipedia.org/wiki/Bicubic_interpolation#Bicubic_convolution_algorithm
    """
    a = -0.75
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near * (x <= 1) + far * (x > 1)


def target_sizes(input, size, scale_factor):
    """Return the new sizes, and for each dimension the scale factor or `None`."""
    spatial = tuple(input.shape[2:])
    if (size is None) == (scale_factor is None):
        which = "either" if size is None else "only one of"
        raise ValueError(f"{which} size or scale_factor should be defined")
    target = size if scale_factor is None else scale_factor
    if isinstance(target, (tuple, list)):
        if len(target) != len(spatial):
            what, shape, letter = (("output", "output size", "o") if scale_factor is None else
                                   ("scale_factor", "scale_factor", "s"))
            named = "output size of" if scale_factor is None else "scale_factor of shape"
            raise ValueError(
                f"Input and {what} must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(spatial)} and {named} {target}. Please provide "
                f"input tensor in (N, C, d1, d2, ...,dK) format and {shape} in "
                f"({letter}1, {letter}2, ...,{letter}K) format.")
        target = tuple(target)
    else:
        target = (target,) * len(spatial)
    if scale_factor is None:
        return target, (None,) * len(spatial)
    return tuple(int(n * f) for n, f in zip(spatial, target, strict=True)), target


def interpolate(input, size: Any = None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None, antialias=False) -> Tensor:
    """Resize all spatial dimensions of (N, C, *S), to `size` or by `scale_factor`.

    `mode` is "nearest", "nearest-exact", "linear", "bilinear" or "trilinear" (for one, two and
    three dimensions), "bicubic" (for two) or "area". `antialias` is not supported.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html

    >>> from minigrad import tensor
    >>> interpolate(tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    if mode not in MIXING and align_corners is not None:
        raise ValueError("align_corners option can only be set with the interpolating modes: "
                         "linear | bilinear | bicubic | trilinear")
    sizes, factors = target_sizes(input, size, scale_factor)
    spatial = tuple(input.shape[2:])
    if antialias:
        if mode not in ("bilinear", "bicubic", "lanczos") or len(spatial) != 2:
            raise ValueError("Anti-alias option is restricted to bilinear, bicubic, and lanczos "
                             "modes and requires a 4-D tensor as input")
        raise NotImplementedError("interpolate with antialias=True is not supported")
    if mode in MIXING and MIXING[mode] != len(spatial) and len(spatial) in (1, 2, 3):
        raise NotImplementedError(f"Got {len(spatial) + 2}D input, but {mode} mode needs "
                                  f"{MIXING[mode] + 2}D input")
    if mode not in ("nearest", "nearest-exact", "area", *MIXING) or len(spatial) not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(spatial) + 2}D) "
            f"for the modes: {MODES} (got {mode})")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[len(sizes) - 1](
            input, sizes)
    if min(*spatial, *sizes) <= 0:
        names = "DHW"[3 - len(sizes):]
        before, after = (", ".join(f"{c}: {n}" for c, n in zip(names, s, strict=True))
                         for s in (spatial, sizes))
        raise RuntimeError("Input and output sizes should be greater than 0, but got input "
                           f"({before}) {'and ' if len(sizes) == 1 else ''}output ({after})")
    if 0 in input.shape[1:]:
        raise RuntimeError(f"Non-empty {len(sizes) + 2}D data tensor expected but got a tensor "
                           f"with sizes {list(input.shape)}")
    # Pixels are rounded after each dimension.
    pixels = mode in ("bilinear", "bicubic") and input.dtype is dtypes.uint8
    how = {"bicubic": "cubic"}.get(mode, "linear" if mode in MIXING else mode)
    axes = [*enumerate(zip(spatial, sizes, factors, strict=True), 2)]
    for axis, (old, new, factor) in reversed(axes) if pixels else axes:
        corners = bool(align_corners)
        if corners:
            scale = (old - 1) / (new - 1) if new > 1 else 0.0
        elif factor and not recompute_scale_factor and (how != "linear" or old != new):
            scale = 1.0 / factor
        else:
            scale = old / new
        if pixels:
            mixed = Resample(F.to(input, dtypes.float32), axis, new, how, scale, corners)
            input = F.to(F.clamp(F.floor(mixed + 0.5), 0, 255), dtypes.uint8)
        else:
            input = Resample(input, axis, new, how, scale, corners)
    return input
