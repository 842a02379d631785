"""Sampling an image at the points of a grid, and the grid of an affine map.

Each sample mixes the pixels around a point.  It is written with `gather` and arithmetic, so
autograd provides derivatives of every order.

Source: Jaderberg et al., Spatial transformer networks, https://arxiv.org/abs/1506.02025
"""

from itertools import product
from math import prod

from ... import dtypes
from ...dtypes import type_name
from ...frames import warn_user
from ...op.declaration import F
from ...tensor.tensor import Tensor

A = -0.75  # the constant of Keys's cubic convolution, as in `interpolate`
CHANGED = ("Default grid_sample and affine_grid behavior has changed to align_corners=False since "
           "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
           "documentation of grid_sample for details.")


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None) -> Tensor:
    """Sample an image (N, C, *S) at points (N, *O, dims) with coordinates from -1 to 1: (N, C, *O).

    A point's first coordinate is along the last dimension.  `mode` is "bilinear", "nearest" or, for
    two dimensions, "bicubic". `padding_mode` determines the values outside of the image: "zeros",
    "border" or "reflection". With `align_corners`, -1 and 1 are the centres of the outermost
    pixels, otherwise their outer edges.  Raises `ValueError` for an unknown mode, and
    `RuntimeError` for sizes that do not fit.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html

    >>> from minigrad import tensor
    >>> image = tensor([[[[1.0, 3.0]]]])
    >>> grid_sample(image, tensor([[[[0.0, 0.0]]]]), align_corners=True)
    tensor([[[[2.]]]])
    """
    check_sampling(input, grid, mode, padding_mode)
    if align_corners is None:
        warn_user(CHANGED)
    sizes, corners = tuple(input.shape[2:]), bool(align_corners)
    points = []
    for axis, size in enumerate(sizes):
        at = F.select(grid, -1, len(sizes) - 1 - axis)
        points.append((at + 1) / 2 * (size - 1) if corners else ((at + 1) * size - 1) / 2)
    if mode != "bicubic":
        points = [kept_inside(at, size, padding_mode, corners)
                  for at, size in zip(points, sizes, strict=True)]
    taps = []
    for at in points:
        low = F.floor(F.detach(at))
        if mode == "nearest":
            taps.append([(F.round(F.detach(at)), None)])
        elif mode == "bilinear":
            taps.append([(low, 1 - (at - low)), (low + 1, at - low)])
        else:
            taps.append([(low + k, cubic(at - low - k)) for k in (-1, 0, 1, 2)])
    if mode == "bicubic":
        taps = [[(kept_inside(place, size, padding_mode, corners), weight)
                 for place, weight in axis] for axis, size in zip(taps, sizes, strict=True)]
    result = mixed(input, taps, sizes)
    if mode == "nearest":  # the gradient of the grid is zeros
        result = result + F.sum(F.masked_fill(grid, F.ge(F.zeros_like(grid), 0), 0))
    return result


def mixed(input, taps, sizes):
    """Return the weighted sum of the pixels at the taps, which must be inside the image."""
    batch, channels = input.shape[:2]
    pixels = F.reshape(input, (batch, channels, prod(sizes)))
    result = None
    for chosen in product(*taps):
        flat, inside, weight = 0, None, None
        for (place, w), size in zip(chosen, sizes, strict=True):
            here = F.logical_and(F.ge(place, 0), F.le(place, size - 1))
            inside = here if inside is None else F.logical_and(inside, here)
            flat = flat * size + F.to(F.where(here, place, F.zeros_like(place)), dtypes.int64)
            if w is not None:
                weight = w if weight is None else weight * w
        places = F.expand(F.reshape(flat, (batch, 1, -1)), (batch, channels, flat[0].numel()))
        found = F.reshape(F.gather(pixels, 2, places), (batch, channels, *flat.shape[1:]))
        found = F.masked_fill(found, F.logical_not(F.unsqueeze(inside, 1)), 0)
        if weight is not None:
            found = found * F.unsqueeze(weight, 1)
        result = found if result is None else result + found
    return result


def kept_inside(at, size, padding_mode, corners):
    """Return coordinates moved into the image: "border" clamps them, "reflection" reflects them.

    As in PyTorch, a clamped coordinate has gradient zero.
    """
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        begin, span = (0.0, size - 1) if corners else (-0.5, size)
        if not span:
            at = at * 0
        else:
            distance = (at - begin) * F.where(F.lt(at, begin), -1.0, 1.0)
            folds = F.floor(F.detach(distance) / span)
            rest = distance - folds * span
            at = F.where(F.eq(F.remainder(folds, 2), 0), rest, span - rest) + begin
    inside = F.logical_and(F.gt(at, 0), F.lt(at, size - 1))
    return F.where(inside, at, F.clamp(F.detach(at), 0, size - 1))


def cubic(x):
    """Return the weights of pixels at distance `x`, between -2 and 2."""
    x = F.abs(x)
    near = ((A + 2) * x - (A + 3)) * x * x + 1
    far = ((A * x - 5 * A) * x + 8 * A) * x - 4 * A
    return F.where(F.le(x, 1), near, far)


def check_sampling(input, grid, mode, padding_mode):
    """Raise PyTorch's error for an invalid mode or dtype, or sizes that do not fit."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' "
                         f"or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', "
                         f"'border', or 'reflection', but got: '{padding_mode}'")
    shape, points = list(input.shape), list(grid.shape)
    if not shape or not points or shape[0] != points[0]:
        raise RuntimeError("grid_sampler(): expected grid and input to have same batch size, but "
                           f"got input with sizes {shape} and grid with sizes {points}")
    if points[-1] != len(shape) - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {len(shape) - 2} in last "
                           f"dimension, but got grid with sizes {points}")
    for dim, size in enumerate(shape[2:], 2):
        if size == 0:
            raise RuntimeError("grid_sampler(): expected input to have non-empty spatial "
                               f"dimensions, but input has sizes {shape} with dimension {dim} "
                               "being empty")
    if len(shape) not in (4, 5) or len(shape) != len(points):
        raise RuntimeError("grid_sampler(): expected 4D or 5D input and grid with same number of "
                           f"dimensions, but got input with sizes {shape} and grid with sizes "
                           f"{points}")
    if len(shape) == 5 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input.dtype)} but found "
                           f"{type_name(grid.dtype)}")


def affine_grid(theta, size, align_corners=None) -> Tensor:
    """Return the points (N, *S, dims) where an affine map samples images of `size` (N, C, *S).

    `theta` is a batch of matrices (N, dims, dims + 1).  Each point is the matrix times a pixel's
    coordinates with a 1 appended.  Raises `ValueError` if the matrices or the size do not fit.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html

    >>> from minigrad import eye
    >>> affine_grid(eye(2, 3).unsqueeze(0), (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(size)
    dims = len(size) - 2
    if dims not in (2, 3):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine "
                                  f"transforms, respectively. Got size {size}.")
    if tuple(theta.shape[1:]) != (dims, dims + 1) or theta.ndim != 3:
        raise ValueError(f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1}"
                         f" for size {size}. Got {theta.shape}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if align_corners is None:
        warn_user(CHANGED)
    spatial, options = size[2:], {"dtype": theta.dtype, "device": theta.device}
    axes = []
    for axis, n in reversed([*enumerate(spatial)]):
        steps = F.linspace(-1, 1, n, **options) if n > 1 else F.zeros(1, **options)
        steps = steps if align_corners else steps * ((n - 1) / n)
        room = [1] * dims
        room[axis] = n
        axes.append(F.expand(F.reshape(steps, room), spatial))
    axes.append(F.ones(spatial, **options))
    pixels = F.reshape(F.stack(axes, -1), (1, prod(spatial), dims + 1))
    points = F.matmul(pixels, F.transpose(theta, 1, 2))
    return F.reshape(points, (theta.size(0), *spatial, dims))
