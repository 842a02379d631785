"""Copies of a tensor with one part replaced: a row, a slice, a diagonal, a strided view.

Source: https://docs.pytorch.org/docs/stable/torch.html#indexing-slicing-joining-mutating-ops
"""

from ...op.declaration import F
from ...op.publish import function
from ...shapes import wrap_dim


def require_size(src, size):
    """Raise unless `src` has the shape of the part that it replaces."""
    if tuple(src.shape) != tuple(size):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = "
                           f"{list(src.shape)}, slice size = {list(size)}")


@function()
def select_scatter(input, src, dim: int, index: int):
    """Return a copy of `input` with `src` at `index` along `dim`.  Source: `torch.select_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(2, 2).select_scatter(ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    part = F.select(input, dim, index)
    require_size(src, part.shape)
    dim = wrap_dim(dim, input.ndim)
    place = F.arange(input.shape[dim], device=input.device)[index].reshape(1)
    return F.index_copy(input, dim, place, F.unsqueeze(src.to(input.dtype), dim))


@function(out="exact")
def slice_scatter(input, src, dim: int = 0, start=None, end=None, step: int = 1):
    """Return a copy of `input` with `src` in the slice `start:end:step` along `dim`.

    Source: `torch.slice_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(4).slice_scatter(ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
    """
    dim = wrap_dim(dim, input.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    places = F.arange(input.shape[dim], device=input.device)[start:end:step]
    require_size(src, (*input.shape[:dim], len(places), *input.shape[dim + 1:]))
    return F.index_copy(input, dim, places, src.to(input.dtype))


@function()
def diagonal_scatter(input, src, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """Return a copy of `input` with `src` on a diagonal of dimensions `dim1` and `dim2`.

    Raises `RuntimeError` unless `src` has the size of the diagonal.

    Source: `torch.diagonal_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(2, 2).diagonal_scatter(ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    part = F.diagonal(input, offset, dim1, dim2)
    require_size(src, part.shape)
    sizes = tuple(input.shape)
    placed = F.diagonal_backward(src.to(input.dtype), sizes, offset, dim1, dim2)
    there = F.diagonal_backward(F.ones(part.shape, device=input.device), sizes, offset, dim1, dim2)
    return F.where(F.ne(there, 0), placed, input)


@function()
def as_strided_scatter(input, src, size, stride, storage_offset: int | None = None):
    """Return a copy of `input` with `src` in `input.as_strided(size, stride, storage_offset)`.

    Raises `RuntimeError` unless `src` has that size.  Source: `torch.as_strided_scatter`.

    >>> from minigrad import ones, zeros
    >>> zeros(4).as_strided_scatter(ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    sizes, strides = tuple(size), tuple(stride)
    require_size(src, input.as_strided(sizes, strides, storage_offset).shape)
    start = input.storage_offset() if storage_offset is None else storage_offset
    if not src.numel() or not input.numel():
        return F.clone(input)
    ends = [begin + sum((n - 1) * s for n, s in zip(*view, strict=True)) for begin, view in (
        (start, (sizes, strides)), (input.storage_offset(), (input.shape, input.stride())))]
    memory = F.arange(max(ends) + 1, device=input.device)
    places = memory.as_strided(sizes, strides, start).reshape(-1)
    # for each memory location, the index of the `src` element written there, or -1
    numbers = F.index_put(F.full_like(memory, -1), (places,),
                          F.arange(src.numel(), device=input.device))
    numbers = numbers.as_strided(tuple(input.shape), input.stride(), input.storage_offset())
    placed = F.take(src.to(input.dtype), F.clamp(numbers, min=0))
    return F.where(F.ge(numbers, 0), placed, input)
