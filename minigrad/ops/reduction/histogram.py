"""Histograms of one or several variables, and the edges of their bins.

Source: https://docs.pytorch.org/docs/stable/generated/torch.histogram.html
"""

import math

from ...op.declaration import F, Op
from ...op.publish import function
from ...op.results import named_result
from ..checks import at_each_run
from ..overloads import is_tensor

Histogramdd = named_result("histogramdd", ("hist", "bin_edges"))


@at_each_run
def even_edges(column, bins, bounds):
    """Return the edges of `bins` equal bins over the bounds, or over the range of the elements."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {bins} for dimension 0")
    if bounds is None:
        low, high = (F.min(column).item(), F.max(column).item()) if column.numel() else (0.0, 1.0)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd(): dimension 0's range [{low}, {high}] is not "
                               "finite")
    else:
        low, high = bounds
        if low > high:
            raise RuntimeError("torch.histogramdd(): min should not exceed max, but got min "
                               f"{low:g} max {high:g} for dimension 0")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return F.linspace(low, high, bins + 1, dtype=column.dtype, device=column.device)


@at_each_run
def counted(points, edges, weight, density):
    """Return how many rows of `points` fall into each box defined by the edges."""
    inside, place, sizes = None, 0, [len(e) - 1 for e in edges]
    for column, edge, size in zip(F.unbind(points, 1), edges, sizes, strict=True):
        at = F.searchsorted(edge, column.contiguous(), right=True) - 1
        at = at - F.eq(column, edge[-1]).long()  # the last bin includes its right edge
        valid = F.logical_and(F.ge(at, 0), F.lt(at, size))
        inside = valid if inside is None else F.logical_and(inside, valid)
        place = place * size + at
    weights = F.ones_like(points[:, 0]) if weight is None else F.flatten(weight)
    if weights.shape != place.shape:
        raise RuntimeError("torch.histogramdd(): if weight tensor is provided it should have the "
                           f"same shape as the input tensor excluding its innermost dimension, but "
                           f"got input with shape {list(points.shape)} and weight with shape "
                           f"{list(weights.shape)}")
    counts = F.bincount(place[inside], weights[inside], math.prod(sizes))
    hist = counts.to(points.dtype).view(sizes)
    if density:
        hist = hist / F.sum(hist)
        for axis, edge in enumerate(edges):
            hist = hist / F.diff(edge).view([-1 if i == axis else 1 for i in range(len(edges))])
    return hist


class Histogram(Op):
    """The counts in the bins and the edges, as results whose backward raises, as in PyTorch.

    `counts` says how many elements of `self` are in each bin between the edges `bins`.

    >>> from minigrad import tensor
    >>> edges, counts = tensor([0.0, 1.5, 3.0]), tensor([2.0, 1.0])
    >>> Histogram(tensor([1.0, 2.0, 1.0]), edges, None, counts).hist
    tensor([2., 1.])
    """

    no_batching = "the bins of each example may lie elsewhere"
    public, outputs, optional = False, ("hist", "bin_edges"), ("weight",)
    nondifferentiable = not_implemented_derivative = True
    tensors = ("self", "bins", "weight", "counts")

    def shape(self, bins, weight, counts): return [counts, bins]

    def forward(xp, self, bins, weight, counts): return counts.copy(), bins.copy()

    def samples(make):
        for x, weight in (make(5), None), (make(2, 3), make(2, 3, low=1.0)):
            edges = F.cumsum(make(4, low=0.5, high=1.0), 0).detach() - 2
            parts = x.detach().reshape(-1, 1), [edges], detached(weight), False
            yield x, edges, weight, counted(*parts)


class HistogramddFromBinTensors(Op):
    """The counts in the boxes of a grid, as a result whose backward raises, as in PyTorch.

    `edges` are the edges along all dimensions, one after another, and `counts` says how many rows
    of `self` are in each box.

    >>> from minigrad import tensor
    >>> edges, counts = tensor([0.0, 1.0, 0.0, 2.0]), tensor([[1.0]])
    >>> HistogramddFromBinTensors(tensor([[0.0, 1.0]]), edges, None, counts)
    tensor([[1.]])
    """

    name, no_batching = "_histogramdd_from_bin_tensors", Histogram.no_batching
    public, tensors, optional = False, ("self", "edges", "weight", "counts"), ("weight",)
    nondifferentiable = not_implemented_derivative = True

    def shape(self, edges, weight, counts): return counts

    def forward(xp, self, edges, weight, counts): return counts.copy()

    def samples(make):
        x, edges = make(5, 2), F.cumsum(make(5, low=0.5, high=1.0), 0).detach() - 2
        parts = [F.narrow(edges, 0, 0, 3), F.narrow(edges, 0, 3, 2)]
        yield x, edges, None, counted(x.detach(), parts, None, False)


class HistogramddFromBinCts(HistogramddFromBinTensors):
    """The same for edges that minigrad computed; PyTorch's error names another function.

    >>> from minigrad import tensor
    >>> edges, counts = tensor([0.0, 1.0, 0.0, 2.0]), tensor([[1.0]])
    >>> HistogramddFromBinCts(tensor([[0.0, 1.0]]), edges, None, counts)
    tensor([[1.]])
    """

    name = "_histogramdd_from_bin_cts"


class HistogramddBinEdges(Op):
    """The edges that were computed from the points or the weights.  As in PyTorch, backward raises.

    >>> from minigrad import tensor
    >>> HistogramddBinEdges(tensor([1.0, 2.0]), tensor([1.0, 1.5, 2.0]))
    tensor([1.0000, 1.5000, 2.0000])
    """

    name, no_batching = "_histogramdd_bin_edges", Histogram.no_batching
    public, tensors = False, ("self", "edges", "weight")
    nondifferentiable = not_implemented_derivative = True

    def shape(self, edges, *_): return edges

    def forward(xp, self, edges, weight=None): return edges.copy()

    def samples(make):
        points = make(5, 1)
        yield points, F.linspace(F.min(points), F.max(points), 3, dtype=points.dtype)


def detached(x):
    """Return a tensor without its history, or `None`."""
    return None if x is None else x.detach()


@function(out="exact")
def histogram(input, bins=100, *, range=None, weight=None, density=False):
    """Count the elements in each bin; return the counts and the edges of the bins.

    `bins` is the number of equal bins over `range` (by default the range of the elements), or a
    vector of edges.  `weight` is how much each element counts; `density` normalizes the area to 1.
    Backward raises `RuntimeError`, as PyTorch does; so do bins, a range or weights that do not fit.

    Source: `torch.histogram`.

    >>> from minigrad import histogram, tensor
    >>> histogram(tensor([1.0, 2.0, 1.0]), 4, range=(0.0, 3.0)).hist
    tensor([0., 2., 1., 0.])
    """
    points = input.detach().reshape(-1, 1)
    if is_tensor(bins) and range is not None:
        raise TypeError("histogram(): range is given only where bins is a number")
    edges = bins if is_tensor(bins) else even_edges(points[:, 0], bins, range)
    hist = counted(points, [edges.detach()], detached(weight), density)
    return Histogram(input, edges, weight, hist)


@function(method_too=False)
def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """Count the rows in each box of a grid; return the counts and the edges along each dimension.

    The last dimension of `input` holds the coordinates of a point.  `bins` is a number for all
    coordinates, a number for each, or the edges for each; `range` holds a lower and an upper bound
    for each coordinate.

    Source: `torch.histogramdd`.

    >>> from minigrad import histogramdd, tensor
    >>> histogramdd(tensor([[0.0, 1.0], [1.0, 0.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 0.]])
    """
    if input.ndim < 2:
        raise RuntimeError(f"torch.histogramdd(): input tensor should have at least 2 dimensions, "
                           f"but got {input.ndim}")
    points = input.detach().reshape(-1, input.shape[-1])
    count = points.shape[1]
    bins = [bins] * count if isinstance(bins, int) else list(bins)
    if len(bins) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension "
                           "of the input.")
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(f"torch.histogramdd(): for a {count}-dimensional histogram range should "
                           f"have {2 * count} elements, but got {len(range)}")
    given = all(map(is_tensor, bins))
    edges = [each if is_tensor(each) else HistogramddBinEdges(input, even_edges(
        points[:, i], each, None if range is None else tuple(range[2 * i:2 * i + 2])), weight)
        for i, each in enumerate(bins)]
    known = [each.detach() for each in edges]
    hist = counted(points, known, detached(weight), density)
    refusing = HistogramddFromBinTensors if given else HistogramddFromBinCts
    return Histogramdd(refusing(input, F.cat(edges), weight, hist), tuple(edges))
