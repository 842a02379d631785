"""Sums and means that skip nan."""

from ... import dtypes
from ...dtypes import type_name
from ...op.declaration import F
from ...op.publish import function
from .dims import unsqueeze_reduced
from .reduction import Reduction, accumulation_dtype, axes


class Nansum(Reduction):
    """The sum of the elements, with nan as zero; integers are summed as int64.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, nan]).nansum()
    tensor(1.)
    """

    out = "cast overlap expanded"

    def forward(xp, self, dim=None, keepdim=False, *, dtype=None):
        numbers = xp.where(xp.isnan(self), 0, self) if self.dtype.kind == "f" else self
        return xp.add.reduce(numbers, axis=axes(self, dim), keepdims=keepdim,
                             dtype=accumulation_dtype(self, dtype))

    def grad_self(g, self, self_sizes, dim, keepdim):
        return F.where(F.eq(self, self), unsqueeze_reduced(g, self_sizes, dim, keepdim), 0)

    def samples(make):
        yield make(3, 4)
        yield from Reduction.samples(make)


@function(out="cast overlap")
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """Return the mean of the elements that are not nan; raise `RuntimeError` for integers.

    >>> from minigrad import nan, tensor
    >>> tensor([1.0, 3.0, nan]).nanmean()
    tensor(2.)
    """
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype "
                           f"but got {type_name(input.dtype)}")
    dtype = dtypes.as_dtype(dtype)
    if isinstance(dtype, dtypes.dtype) and not dtype.is_floating_point:
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either "
                           f"a floating point or complex dtype. Got: {type_name(dtype)}")
    count = F.sum(F.eq(input, input), dim, keepdim)
    return F.nansum(input, dim, keepdim, dtype=dtype) / count
