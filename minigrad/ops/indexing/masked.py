"""Reading and writing elements by flat indices and by masks."""

from __future__ import annotations

from ...backend import is_batch, kernels_index, kernels_mask
from ...backend.memory_layout import in_rows, laid_out_like
from ...op.declaration import F, Op, unary_samples
from ...op.publish import function
from ...shapes import broadcast, depends_on_values, numel
from ..checks import at_each_run
from ..shape.slicing import IntoZeros
from ..shape.view import array_of
from .gather import check_index, dtype_name

# -------------------------------------------------------------------- flat indices


FLAT = "out of range: tried to access index {index} on a tensor of {size} elements."


class Take(Op):
    """The elements at the flat indices `index`, in its shape; negative indices count from the end.

    Raises `IndexError` if an index is out of range.

    >>> from minigrad import arange, tensor
    >>> arange(6.0).view(2, 3).take(tensor([4, -6]))
    tensor([4., 0.])
    """

    out = "exact apart"
    tensors = ("self", "index")

    def shape(self, index):
        return index

    def forward(xp, self, index):
        check_index(index, self.size, FLAT, True, IndexError)
        return in_rows(self.reshape(-1)[index])

    def grad_self(g, self_sizes, index, self):
        return F.take_backward(g, self_sizes, index)

    def samples(make):
        yield make(2, 3), make.ints(4, high=6)
        yield make(2, 3), make.ints(2, 2, low=-6, high=6)
        yield make(3), make.ints(high=3)


class TakeBackward(IntoZeros):
    """Add `grad` at the flat indices `index` to zeros of shape `self_sizes`.

    >>> from minigrad import ones, take_backward, tensor
    >>> take_backward(ones(2), (3,), tensor([-1, 2]))
    tensor([0., 0., 2.])
    """

    tensors = ("grad", "index")

    def forward(xp, grad, self_sizes, index):
        result = xp.zeros(tuple(self_sizes), grad.dtype)
        kernels_index.put_accumulate(xp, result.reshape(-1), index, grad)
        return result

    def grad_grad(g, index):
        return F.take(g, index)

    def samples(make):
        yield make(4), (2, 3), make.ints(4, high=6)


class Put(Op):
    """Write `source`, or add it, at the flat indices `index` of `self`.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(2, 2).put(tensor([0, -1]), ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    kind = "linear"
    no_batching = "each example is written at positions of its own"
    no_overlap = "after shapes"
    tensors, inplace = ("self", "index", "source"), True

    def shape(self, index, source, accumulate=False):
        if numel(index) != numel(source):
            raise IndexError("put_(): Expected source and index to have the same number of "
                               f"elements, but got source.numel() = {numel(source)}, "
                               f"index.numel() = {numel(index)}")
        return self

    def forward(xp, self, index, source, accumulate=False):
        if source.dtype != self.dtype:
            raise RuntimeError("put_(): self and source expected to have the same dtype, but got "
                               f"self.dtype = {dtype_name(self)} and source.dtype = "
                               f"{dtype_name(source)}")
        Put.shape(self.shape, index.shape, source.shape)
        check_index(index, self.size, FLAT, True, IndexError)
        result = self.copy("C")
        flat, index = result.reshape(-1), index.reshape(-1)
        if accumulate:
            kernels_index.put_accumulate(xp, flat, index, source.reshape(-1))
        else:
            flat[index] = source.reshape(-1)
        return laid_out_like(result, self)

    def grad_self(g, index, index_sizes, accumulate):
        return g if accumulate else F.put(g, index, F.new_zeros(g, index_sizes))

    def grad_source(g, index, source_sizes, source):
        return F.reshape(F.take(g, index), source_sizes)

    def samples(make):
        yield make(2, 3), make.ints(3, high=6), make(3), True
        yield make(2, 3), make.ints(1, high=6), make(1)
        yield make(2, 3), make.ints(2, 2, low=-6, high=6), make(4), True


# -------------------------------------------------------------------- masks


class MaskedSelect(Op):
    """The elements where `mask` is true, as a vector; `mask` broadcasts.

    >>> from minigrad import arange, masked_select
    >>> masked_select(arange(4.0), arange(4.0) > 1)
    tensor([2., 3.])
    """

    out = "exact apart"
    no_batching = "the size of the result depends on the values"
    tensors = ("self", "mask")

    def shape(self, mask):
        broadcast(mask, self)
        # Return `None`: the shape depends on the values

    def forward(xp, self, mask):
        if mask.dtype.kind != "b":
            raise RuntimeError("masked_select: expected BoolTensor for mask")
        self, mask = xp.broadcast_arrays(self, mask)
        return self[mask]

    def grad_self(g, mask, self_sizes, mask_sizes, self):
        return F.masked_place(g, mask, broadcast(self_sizes, mask_sizes))

    def samples(make):
        yield make(3, 4), make.bools(3, 4)
        yield make(3, 4), make.bools(4)
        yield make(4), make.bools(3, 1)


class MaskedPlace(Op):
    """Masked-scatter `values` into zeros of shape `sizes`.

    >>> from minigrad import masked_place, ones, tensor
    >>> masked_place(ones(3), tensor([False, True]), (2,))
    tensor([0., 1.])
    """

    no_batching = "each example is written at positions of its own"
    method, tensors = False, ("values", "mask")

    def shape(values, mask, sizes):
        return tuple(sizes)

    def forward(xp, values, mask, sizes):
        result = xp.zeros(sizes, values.dtype)
        mask = xp.broadcast_to(mask, result.shape)
        result[mask] = values.reshape(-1)[: mask.sum().item()]
        return result

    def grad_values(g, mask, values_sizes):
        return F.masked_pick(g, mask, values_sizes)

    def samples(make):
        yield make(12), make.bools(3, 4), (3, 4)


class MaskedPick(Op):
    """The elements where `mask` is true, padded with zeros to the shape `sizes`.

    >>> from minigrad import masked_pick, ones, tensor
    >>> masked_pick(ones(2), tensor([False, True]), (3,))
    tensor([1., 0., 0.])
    """

    no_batching = "each example picks at positions of its own"
    method, tensors = False, ("self", "mask")

    def shape(self, mask, sizes):
        return tuple(sizes)

    def forward(xp, self, mask, sizes):
        picked = self[xp.broadcast_to(mask, self.shape)]
        result = xp.zeros(tuple(sizes), self.dtype)
        result.reshape(-1)[: picked.size] = picked
        return result

    def grad_self(g, mask, self_sizes):
        return F.masked_place(g, mask, self_sizes)

    def samples(make):
        yield make(3, 4), make.bools(3, 4), (4, 4)


class MaskedScatter(Op):
    """Replace the elements of `self` where `mask` is true by the elements of `source`, in order.

    >>> from minigrad import arange, tensor, zeros
    >>> zeros(3).masked_scatter(tensor([True, False, True]), arange(1.0, 4.0))
    tensor([1., 0., 2.])
    """

    no_batching = "each example is written at positions of its own"
    tensors, inplace = ("self", "mask", "source"), True

    def shape(self, mask, source):
        return broadcast(mask, self)

    def forward(xp, self, mask, source):
        if mask.dtype.kind != "b":
            raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with "
                               f"dtype {mask.dtype}")
        if source.dtype != self.dtype:
            raise RuntimeError("masked_scatter: expected self and source to have same dtypes but "
                               f"got {self.dtype} and {source.dtype}")
        self, mask = xp.broadcast_arrays(self, mask)
        count = mask.sum().item()
        if source.size < count:
            raise RuntimeError("Number of elements of source < number of ones in mask")
        result = self.copy()
        result[mask] = source.reshape(-1)[:count]
        return result

    def grad_self(g, mask):
        return F.where(mask, F.new_zeros(g, ()), g)

    def grad_source(g, mask, source_sizes):
        return F.masked_pick(g, mask, source_sizes)

    def samples(make):
        yield make(3, 4), make.bools(3, 4), make(12)
        yield make(3, 4), make.bools(4), make(4, 4)


#: Errors inside `vmap`.
DYNAMIC = ("vmap: We do not support batching operators that can output dynamic shape. Attempted to "
           "vmap over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues "
           "if you need this feature.")
WITHOUT_RULE = "Batching rule not implemented for aten::{}. We could not generate a fallback."


class NonzeroMatrix(Op):
    """The indices of the nonzero elements, one per row.

    >>> from minigrad import tensor
    >>> tensor([[0.0, 2.0], [3.0, 0.0]]).nonzero()
    tensor([[0, 1],
            [1, 0]])
    """

    no_batching = "the size of the result depends on the values"
    name, public, nondifferentiable = "nonzero", False, True
    shape, samples = depends_on_values, unary_samples

    def forward(xp, self):
        if not self.ndim:
            return xp.zeros((int(bool(self != 0)), 0), xp.int64)
        return xp.stack(kernels_mask.positions(self)).T.astype(xp.int64, copy=False)


@function(out="exact")
def nonzero(input, *, as_tuple=False):
    """Return the indices of the nonzero elements: as a matrix, or as a tuple of its columns.

    >>> from minigrad import tensor
    >>> tensor([0.0, 2.0]).nonzero(as_tuple=True)
    (tensor([1]),)
    """
    if is_batch(array_of(input)):
        raise RuntimeError(WITHOUT_RULE.format("nonzero_numpy") if as_tuple
                           else DYNAMIC.format("nonzero"))
    if not as_tuple:
        return NonzeroMatrix(input)
    return F.unbind(NonzeroMatrix(input if array_of(input).ndim else F.reshape(input, (1,))), 1)


@function()
def argwhere(input):
    """Return the indices of the nonzero elements, one per row.

    >>> from minigrad import argwhere, tensor
    >>> argwhere(tensor([0.0, 2.0]))
    tensor([[1]])
    """
    return NonzeroMatrix(input)


@function(out="exact")
def nonzero_static(input, *, size: int, fill_value: int = -1):
    """Return the indices of the first `size` nonzero elements, padded with rows of `fill_value`.

    The size of the result is therefore known in advance.  Source: `torch.nonzero_static`.

    >>> from minigrad import nonzero_static, tensor
    >>> nonzero_static(tensor([0.0, 2.0]), size=2).tolist()
    [[1], [-1]]
    """
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    return padded_positions(input, size, fill_value)


@at_each_run
def padded_positions(input, size, fill_value):
    """Return `size` rows: the indices of nonzero elements, and then rows of `fill_value`."""
    found = NonzeroMatrix(input)
    missing = max(size - found.shape[0], 0)
    rest = F.full((missing, found.shape[1]), fill_value, dtype=found.dtype, device=found.device)
    return F.cat([found[:size], rest])
