"""Square brackets: reading and writing the elements that an index selects.

NOTE [How an index is taken apart]
    As in PyTorch, integers, slices, `None` and `...` become a chain of views.  The index tensors
    remain, each with the dimension that it indexes; they all go to one `Index` (for reading) or
    `IndexPut` (for writing).  A mask is replaced by the positions of its true elements, one tensor
    per dimension of the mask.
"""

from __future__ import annotations

import re

import numpy as np

from ... import _state
from ...backend import is_batch, kernels_index, kernels_mask
from ...backend.memory_layout import laid_out, order_of_result
from ...device import beside, place_on
from ...dtypes import type_name
from ...frames import type_in_error, warn_user
from ...op.declaration import F, Op
from ...op.inplace import apply_inplace
from ...op.publish import function
from ...op.type_promotion import cast_quietly, fitting
from ...shapes import broadcast, is_expandable_to, numel
from ...tensor.tensor import Tensor, method
from ...tensor.views import check_inplace
from ..shape.as_strided import Alias
from ..shape.slicing import IntoZeros, Select, Slice
from ..shape.view import Expand, Unsqueeze, View
from .elements import INDEX_TYPES, chosen_rows, element_view, write_element
from .gather import dtype_name

FULL = slice(None)


def key_of(ndim, indices, dims):
    """Return the NumPy key with `indices` at `dims` and full slices elsewhere."""
    key = [FULL] * ndim
    for dim, index in zip(dims, indices):
        key[dim] = index
    return tuple(key)


def picked_shape(self, indices, dims):
    """Return the shape of the result of indexing the dimensions `dims` with `indices`."""
    try:
        common = broadcast(*indices)
    except RuntimeError:
        shapes = ", ".join(str(list(i)) for i in indices)
        raise IndexError("shape mismatch: indexing tensors could not be broadcast together with "
                         f"shapes {shapes}") from None
    rest = [n for d, n in enumerate(self) if d not in dims]
    at = dims[0] if list(dims) == list(range(dims[0], dims[-1] + 1)) else 0
    return (*rest[:at], *common, *rest[at:])


def names_nothing(self, indices, dims):
    """Return whether the result is empty, in which case PyTorch does not check the indices."""
    return not numel(picked_shape(self, indices, dims)) and all(self[d] for d in dims)


def out_of_bounds(error, dims):
    """Reword NumPy's error for an index that is out of range as PyTorch does."""
    axis = re.search(r"axis (\d+)", str(error))
    if axis is None:
        return error
    return IndexError(str(error).replace(axis[0], f"dimension {dims.index(int(axis[1]))}"))


class Index(Op):
    """The elements that `indices` select: integer tensors that broadcast, one for each of `dims`.

    Raises `IndexError` if an index is out of range.

    >>> from minigrad import arange, tensor
    >>> arange(4.0)[tensor([3, -4, 3])]
    tensor([3., 0., 3.])
    """

    method, tensors, list_of_tensors = False, ("self",), "indices"
    shape = picked_shape

    def forward(xp, self, indices, dims):
        try:
            xp.check_indices(self.shape, indices, dims)
            picked = xp.asarray(self[key_of(self.ndim, indices, dims)], order="C")
        except IndexError as error:
            if names_nothing(self.shape, [i.shape for i in indices], dims):
                return xp.empty(Index.shape(self.shape, [i.shape for i in indices], dims),
                                self.dtype)
            raise out_of_bounds(error, dims) from None
        if self.flags.c_contiguous or self.ndim - len(dims) < 2:
            return picked
        count = picked.ndim - self.ndim + len(dims)  # dimensions of the broadcast indices
        return laid_out(picked, order_of_result(
            picked.shape,
            picked_shape(self.strides, [(0,) * count], dims),
            picked_shape((0,) * self.ndim, [tuple(range(count, 0, -1))], dims)))

    def grad_self(g, self_sizes, indices, dims):
        return F.index_backward(g, self_sizes, indices, dims)

    def samples(make):
        yield make(3, 4), [make.ints(2, high=3)], (0,)
        yield make(3, 4), [make.ints(2, 1, high=3), make.ints(2, high=4)], (0, 1)
        yield make(3, 2, 4), [make.ints(2, high=3), make.ints(2, high=4)], (0, 2)
        yield make(3, 4), [make.ints(0, high=3)], (1,)


class IndexBackward(IntoZeros):
    """Accumulate `grad` into zeros of shape `input_sizes`, where `indices` select.

    >>> from minigrad import index_backward, ones, tensor
    >>> index_backward(ones(3), (2,), [tensor([1, 1, 0])], (0,))
    tensor([1., 2.])
    """

    tensors = ("grad",)
    list_of_tensors = "indices"

    def forward(xp, grad, input_sizes, indices, dims):
        result = xp.zeros(input_sizes, grad.dtype)
        if not grad.size:
            return result
        return kernels_index.put_accumulate(xp, result, key_of(result.ndim, indices, dims), grad)

    def grad_grad(g, indices, dims):
        return F.index(g, indices, dims)

    def samples(make):
        yield make(2, 4), (3, 4), [make.ints(2, high=3)], (0,)


class IndexPut(Op):
    """Write `values`, or add them, to the elements of `self` that `indices` select.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).index_put((tensor([0, 0]),), ones(2), accumulate=True)
    tensor([2., 0., 0.])
    """

    kind = "linear"
    no_overlap = allow_self_overlap = True
    inplace, public = True, False
    tensors, list_of_tensors = ("self", "values"), "indices"

    def shape(self, indices, values, dims, accumulate=False):
        if any(not self[d] and numel(index) for d, index in zip(dims, indices)):
            raise IndexError("index is out of bounds for dimension with size 0")
        target = picked_shape(self, indices, dims)
        if not is_expandable_to(values, target):
            raise RuntimeError(f"shape mismatch: value tensor of shape {list(values)} cannot be "
                               f"broadcast to indexing result of shape {list(target)}")
        return self

    def forward_inplace(xp, self, indices, values, dims, accumulate=False):
        IndexPut.shape(self.shape, [i.shape for i in indices], values.shape, dims)
        if values.dtype != self.dtype:
            raise RuntimeError("Index put requires the source and destination dtypes match, got "
                               f"{dtype_name(self)} for the destination and {dtype_name(values)} "
                               "for the source.")
        key = key_of(self.ndim, indices, dims)
        try:
            xp.check_indices(self.shape, indices, dims)
            if accumulate:
                return kernels_index.put_accumulate(xp, self, key, values)
            self[key] = values
        except IndexError as error:
            if not names_nothing(self.shape, [i.shape for i in indices], dims):
                raise out_of_bounds(error, dims) from None
        return self

    def grad_self(g, indices, dims, accumulate):
        return g if accumulate else IndexPut(g, indices, F.new_zeros(g, ()), dims)

    def grad_values(g, indices, dims):
        return F.index(g, indices, dims)

    def samples(make):
        yield make(3, 4), [make.ints(2, high=3)], make(2, 4), (0,), True
        yield make(3, 4), [make.ints(1, high=3)], make(4), (0,)
        yield make(3, 4), [make.ints(2, high=3), make.ints(2, high=4)], make(), (0, 1), True


# -------------------------------------------------------------------- taking an index apart


def as_tuple(key):
    """Return the index as a tuple; as in PyTorch, a list that holds sequences counts as one."""
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and len(key) < 32 and any(
        isinstance(k, (Tensor, list, tuple, slice, range)) or k is None or k is Ellipsis
        for k in key
    ):
        warn_user(
            "Using a non-tuple sequence for multidimensional indexing is deprecated and will be "
            "changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will "
            "be interpreted as tensor index, x[torch.tensor(seq)], which will result either in an "
            "error or a different result", UserWarning)
        return tuple(key)
    return (key,)


def normalised(self, key):
    """Return the parts of an index, with lists and arrays converted to tensors."""
    parts = []
    for part in as_tuple(key):
        if isinstance(part, (list, tuple, range, np.ndarray)):
            array = np.asarray(part)
            if not array.size and not isinstance(part, np.ndarray):
                array = array.astype(np.int64)
            part = Tensor._plain(beside(self._array, array))
        if isinstance(part, Tensor) and part._array.dtype == np.uint8 and part._array.ndim:
            warn_user("indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                      "torch.bool instead.", UserWarning)
            part = part != 0
        parts.append(part)
    return parts


def take_apart(self, parts, drop_full=True):
    """Apply the integers, slices, `None` and `...` of an index; return the view and index tensors.

    Each tensor is paired with the dimension of the view that it indexes; masks stay as they are.
    """
    taken = sum(part._array.ndim if isinstance(part, Tensor) and part._array.dtype.kind == "b"
                else not (part is None or part is Ellipsis or isinstance(part, bool))
                for part in parts)
    ndim, dim, view, tensors = self.ndim, 0, self, []
    if taken > ndim and (ndim or len(parts) > 1 or type(parts[0]) not in (int, slice)):
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    for position, part in enumerate(parts):
        if isinstance(part, Tensor):
            kind, integral = part._array.dtype.kind, part._array.dtype in INDEX_TYPES
            if is_batch(part._array) and not part._array.ndim and kind in "iu":
                part = part.long()  # each example selects another element
            elif not part._array.ndim and kind in "iu":
                part = part.item()
            elif not part._array.ndim and kind == "b":
                part = bool(part.item())
            elif kind != "b" and not integral:
                raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if part is None:
            view = Unsqueeze(view, dim)
            dim += 1
        elif part is Ellipsis:
            dim += ndim - taken
            taken = ndim  # so a second ellipsis is empty
        elif isinstance(part, bool):
            view = Unsqueeze(view, dim)
            tensors.append((dim, Tensor._plain(np.zeros(int(part), np.int64))))
            dim += 1
        elif isinstance(part, Tensor):
            tensors.append((dim, part))
            dim += part._array.ndim if part._array.dtype.kind == "b" else 1
        elif isinstance(part, slice):
            view = sliced(view, dim, part, drop_full)
            dim += 1
        elif hasattr(part, "__index__") and not isinstance(part, np.bool_):
            view = selected(view, dim, part.__index__(), position)
        elif isinstance(part, str):
            raise TypeError("new(): invalid data type 'str'")
        else:
            raise IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte "
                             f"Variables are valid indices (got {type_of(part)})")
    return view, tensors


def type_of(value):
    """Return the qualified name of a value's type."""
    value_type = type(value)
    module = "" if value_type.__module__ == "builtins" else value_type.__module__ + "."
    return module + value_type.__name__


def sliced(view, dim, part, drop_full):
    """Apply a slice; if `drop_full`, a full slice returns the tensor itself."""
    if not all(p is None or hasattr(p, "__index__") for p in (part.start, part.stop, part.step)):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    start, stop, step = (p if p is None else p.__index__()
                         for p in (part.start, part.stop, part.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    if not view.ndim:
        refuse_stale(view)
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    takes_all = not start and (stop is None or stop >= view._array.shape[dim])
    if drop_full and takes_all and (step or 1) == 1:
        return view
    return Slice(view, dim, start, stop, step or 1)


def refuse_stale(view):
    """Raise for a view that may no longer be used, which PyTorch checks before it indexes."""
    if _state.grad_enabled.get() and not _state.inference_enabled.get():
        view._edge()


def selected(view, dim, index, position):
    """Apply an integer index."""
    if not view.ndim:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                         "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number")
    size = view._array.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {position} with size "
                         f"{size}")
    return Select(view, dim, index)


def expand_masks(view, tensors):
    """Replace each mask by the positions of its true elements, all on the view's device."""
    expanded = []
    for dim, tensor in tensors:
        array = arriving(tensor, view)
        if array.dtype.kind != "b":
            expanded.append((dim, tensor if array is tensor._array else Tensor._plain(array)))
            continue
        check_mask(view, dim, array.shape)
        if is_batch(array):
            raise RuntimeError("vmap: We do not support batching operators that can support "
                               "dynamic shape. Attempting to batch over indexing with a boolean "
                               "mask.")
        with place_on(array):
            positions = kernels_mask.positions(array)
        expanded += [(dim + at, Tensor._plain(p)) for at, p in enumerate(positions)]
    return expanded


def check_mask(view, dim, mask):
    """Raise unless a view has the shape of a mask from dimension `dim` on."""
    shape = view._array.shape
    for at, n in enumerate(mask):
        if n != shape[dim + at]:
            refuse_stale(view)
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {at} does not match the "
                f"shape of the indexed tensor {list(shape)} at index {dim + at}")


def filled_by_mask(view, tensors, value):
    """Return the mask and the number of `masked_fill` that an indexed write equals, or `None`.

    A program cannot contain the positions in a mask, because their number depends on its values.
    The caller has checked that the mask is the whole index and that `value` has one element.
    """
    if _state.program.get() is None or value.requires_grad or len(tensors) > 1:
        return None
    (dim, mask), = tensors
    check_mask(view, dim, mask._array.shape)
    rest = (1,) * (view.ndim - dim - mask.ndim)
    return F.view(mask, (*mask.shape, *rest)) if rest else mask, F.reshape(value, ())


def arriving(index, view):
    """Return the array of an index, moved from the CPU to the device of a view if needed."""
    array, own = index._array, view._array
    if type(array) is np.ndarray and type(own) is not np.ndarray:
        return beside(own, array)
    if type(own) is np.ndarray and index.is_cuda:
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed "
                           "tensor (cpu)")
    return array


# -------------------------------------------------------------------- reading and writing


@method("__getitem__")
def getitem(self, key):
    """Return the elements that `key` selects: a view, unless the key contains tensors or lists.

    >>> from minigrad import arange
    >>> x = arange(6.0).view(2, 3)
    >>> x[1, ::2], x[:, [2, 0]]
    (tensor([3., 5.]), tensor([[2., 0.],
            [5., 3.]]))
    """
    if (element := element_view(self, key)) is not None:
        return element
    if (rows := chosen_rows(self, key)) is not None:
        return rows
    if type(key) is int:
        return selected(self, 0, key, 0)
    if type(key) is slice:
        return sliced(self, 0, key, drop_full=False)
    view, tensors = take_apart(self, normalised(self, key))
    if tensors:
        tensors = expand_masks(view, tensors)
        return Index(view, [t for _, t in tensors], tuple(d for d, _ in tensors))
    return Alias(view) if view is self else view


@method("__setitem__")
def setitem(self, key, value):
    """Write `value`, broadcast, to the elements that `key` selects.

    >>> from minigrad import zeros
    >>> x = zeros(2, 2); x[:, 1] = 5; x
    tensor([[0., 5.],
            [0., 5.]])
    """
    if write_element(self, key, value):
        return
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"can't assign a {type_of(value)} to a "
                            f"torch.{type_name(self.dtype)}Tensor")
        if isinstance(value, int) and not -2**63 <= value < 2**63:
            raise ValueError("Overflow when unpacking long long")
        value = Tensor._plain(assignable(value, self._array.dtype))
    if key is False:
        return
    if key is True:
        key = None
    parts = normalised(self, key)
    filled = None
    try:
        view, tensors = take_apart(self, parts)
        if value._array.size == 1 and lone_mask(parts):
            filled = filled_by_mask(view, tensors, value.to(self.dtype, copy=True))
        if filled is None:
            tensors = expand_masks(view, tensors)
    except IndexError as error:
        if str(error).startswith("The shape of the mask") and self.ndim:
            refuse_leaf(self)
        raise
    if filled is not None:
        view.masked_fill_(*filled)
        return
    if value._array.size == 1 and lone_mask(parts):
        # As in `masked_fill_`: cast the value, and copy it because it may be part of `self`.
        value = value.to(self.dtype, copy=True)
    if tensors and tensors[-1][0] >= view._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}")
    if tensors:
        write_at(view, [t for _, t in tensors], without_leading_ones(value),
                 tuple(d for d, _ in tensors))
    elif view._array.shape == value._array.shape:
        view.copy_(value)
    elif not value._array.ndim:
        view.fill_(value)
    else:
        view.copy_(Expand(without_leading_ones(value), view._array.shape))


def assignable(value, numpy_dtype):
    """Return a number as an array; raise if it is too large, except that float16 has infinity."""
    if numpy_dtype == np.float16:
        return cast_quietly(np.asarray(float(value)), numpy_dtype)
    return fitting(value, numpy_dtype)


def refuse_leaf(tensor, *written):
    """Raise if an in-place write is not allowed, which PyTorch checks before the index."""
    if (_state.grad_enabled.get() and not _state.inference_enabled.get()
            and isinstance(tensor, Tensor)
            and any(isinstance(t, Tensor) and t.requires_grad for t in (tensor, *written))):
        check_inplace(tensor, True, alike=True)


def lone_mask(parts):
    """Return whether a single boolean tensor, not zero-dimensional, is the whole index."""
    masks = [part for part in parts if isinstance(part, Tensor) and part.ndim > 0]
    return len(masks) == 1 and masks[0]._array.dtype.kind == "b"


def without_leading_ones(value):
    """Return `value` without leading dimensions of size 1."""
    shape = value._array.shape
    first = next((i for i, n in enumerate(shape) if n != 1), len(shape))
    return View(value, shape[first:]) if first else value


def write_at(self, indices, values, dims, accumulate=False):
    """Write in place to the elements of a tensor that `indices` select."""
    return apply_inplace(IndexPut, [self, indices, values, dims, accumulate])


def put_arguments(input, indices, values):
    """Return the arguments of `IndexPut` for the arguments of `index_put`."""
    if not isinstance(values, Tensor):
        raise TypeError("index_put(): argument 'values' (position 2) must be Tensor, not "
                        f"{type_in_error(values)}")
    tensors, dim = [], 0
    for index in indices:
        if index is not None:
            tensors.append((dim, index))
        mask = index is not None and index._array.dtype.kind == "b"
        dim += index._array.ndim if mask else 1
    if dim > input._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input._array.ndim} (got "
                         f"{dim})")
    tensors = expand_masks(input, tensors)
    if values._array.size == 1 and lone_mask(indices):
        values = values.to(input.dtype, copy=True)
    return [input, [t for _, t in tensors], values, tuple(d for d, _ in tensors)]


@function()
def index_put(input, indices, values, accumulate=False):
    """Return `input` with `values` written, or added, to `input[indices]`.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).index_put((tensor([0, 0]),), ones(2), accumulate=True)
    tensor([2., 0., 0.])
    """
    return IndexPut(*put_arguments(input, indices, values), accumulate)


@method("index_put_")
def index_put_(self, indices, values, accumulate=False):
    """Write `values`, or add them, to `self[indices]`.

    >>> from minigrad import tensor, zeros
    >>> zeros(2, 3).index_put_((tensor([0, 1]), tensor([2, 0])), tensor([5.0, 6.0]))
    tensor([[0., 0., 5.],
            [6., 0., 0.]])
    """
    refuse_leaf(self, values)
    return apply_inplace(IndexPut, [*put_arguments(self, indices, values), accumulate])
