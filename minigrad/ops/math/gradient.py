"""Numerical derivatives of a function that is sampled on a grid.

Source: https://docs.pytorch.org/docs/stable/generated/torch.gradient.html
"""

from ...op.declaration import F
from ...op.publish import function
from ...shapes import wrap_dim
from ..overloads import is_tensor


def differences(input, dim, step, edge_order):
    """Return the derivatives along `dim`, with samples `step` apart."""
    n = input.shape[dim]

    def at(start, length):
        return F.narrow(input, dim, start, length)

    if edge_order == 1:
        first, last = at(1, 1) - at(0, 1), at(n - 1, 1) - at(n - 2, 1)
    else:
        first = at(1, 1) * 2 - at(0, 1) * 1.5 - at(2, 1) * 0.5
        last = at(n - 1, 1) * 1.5 - at(n - 2, 1) * 2 + at(n - 3, 1) * 0.5
    middle = (at(2, n - 2) - at(0, n - 2)) / 2
    return F.cat([F.div(part, step) for part in (first, middle, last)], dim)


def uneven_differences(input, dim, places, edge_order):
    """Return the derivatives along `dim`, with samples at the coordinates `places`."""
    n = input.shape[dim]
    gaps = F.view(F.diff(places), [-1 if d == dim else 1 for d in range(input.ndim)])

    def at(start, length):
        return F.narrow(input, dim, start, length)

    def gap(start, length):
        return F.narrow(gaps, dim, start, length)

    before, after = gap(0, n - 2), gap(1, n - 2)
    middle = (at(2, n - 2) * (before / (after * (before + after)))
              + at(1, n - 2) * ((after - before) / (before * after))
              - at(0, n - 2) * (after / (before * (before + after))))
    if edge_order == 1:
        first = (at(1, 1) - at(0, 1)) / gap(0, 1)
        last = (at(n - 1, 1) - at(n - 2, 1)) / gap(n - 2, 1)
    else:
        a, b = gap(0, 1), gap(1, 1)
        first = (at(1, 1) * ((a + b) / (a * b)) - at(0, 1) * ((2 * a + b) / (a * (a + b)))
                 - at(2, 1) * (a / (b * (a + b))))
        a, b = gap(n - 2, 1), gap(n - 3, 1)
        last = (at(n - 1, 1) * ((2 * a + b) / (a * (a + b))) - at(n - 2, 1) * ((a + b) / (a * b))
                + at(n - 3, 1) * (a / (b * (a + b))))
    return F.cat([first, middle, last], dim)


def checked_dims(input, spacing, dim, edge_order):
    """Check the arguments and return the dimensions to differentiate along."""
    if str(input.dtype) == "torch.uint8":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    count = len(spacing) if isinstance(spacing, (list, tuple)) else None
    if dim is None:
        dims = range(input.ndim)
        if count not in (None, input.ndim):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length "
                f"equal to 'self.dim() = {input.ndim}', since dim argument was not given, but got "
                f"a list of length {count}")
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
        if count not in (None, len(dims)):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and "
                "dim arguments to have the same length, but got a spacing argument of length "
                f"{count} and a dim argument of length {len(dims)}.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = [wrap_dim(d, input.ndim) for d in dims]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least "
                               "edge_order+1")
    return dims


@function(method_too=False)
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Estimate the derivative along each dimension, or along `dim`, from differences of neighbours.

    `spacing` is the distance between samples: one number, a list of numbers, or a list of vectors
    of coordinates.  `edge_order`, 1 or 2, is the order of the estimate at the ends.  Raises
    `RuntimeError` if the arguments do not fit together.  Source: `torch.gradient`.

    >>> from minigrad import gradient, tensor
    >>> gradient(tensor([1.0, 4.0, 9.0]))
    (tensor([3., 4., 5.]),)
    """
    spacing = 1 if spacing is None else spacing
    dims = checked_dims(input, spacing, dim, edge_order)
    steps = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    slopes = []
    for d, step in zip(dims, steps, strict=True):
        if is_tensor(step) and step.ndim:
            if step.ndim != 1:
                raise RuntimeError(f"torch.gradient expected each spacing tensor to have one "
                                   f"dimension, but got {step.ndim}")
            if len(step) != input.shape[d]:
                raise RuntimeError("torch.gradient expected spacing and input to have the same "
                                   f"size along dimension {d}, but got {len(step)} and "
                                   f"{input.shape[d]}")
            slopes.append(uneven_differences(input, d, step, edge_order))
        else:
            slopes.append(differences(input, d, step, edge_order))
    return tuple(slopes)
