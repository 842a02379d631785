"""Views with arbitrary strides, views of whole tensors, and changes of a tensor's geometry."""

from __future__ import annotations

from operator import index
from typing import Any

from ... import _state
from ...backend import BACKENDS, kernels_index
from ...frames import type_in_error, warn_user
from ...graph.special_versions import DetachedVersion, InferenceVersion, detached
from ...op.apply import Prepared, record
from ...op.arguments import INT_LIST, given_ints
from ...op.declaration import F, Op, unary_samples
from ...op.inplace import apply_inplace
from ...op.publish import function
from ...shapes import contiguous_strides, numel
from ...tensor.attributes import bytes_of_memory, data_pointer, start_of_memory, storage_of
from ...tensor.tensor import Tensor, method, without_history
from ...tensor.views import check_inplace
from .view import Transpose, array_of, element_strides, strided

# -------------------------------------------------------------------- arbitrary strides


class AsStrided(Op):
    """A view of the memory of `self` with any size, strides and offset.

    `geometry` is the current size, strides and offset of `self` in its memory.

    >>> from minigrad import arange
    >>> arange(4.0).as_strided((3, 2), (1, 1))
    tensor([[0., 1.],
            [1., 2.],
            [2., 3.]])
    """

    kind = "view"
    inplace, public = True, False

    def shape(self, size, stride, storage_offset, geometry):
        return tuple(size)

    def forward(xp, self, size, stride, storage_offset, geometry):
        return strided(xp, self, size, stride, storage_offset - geometry[2])

    def grad_self(g, size, stride, storage_offset, geometry):
        spread = F.restride(g, (size, stride, storage_offset), geometry, geometry)
        return F.zeros_like(spread) if 0 in size or 0 in geometry[0] else spread

    def jvp(op, values, outputs, tangents):
        (tangent,), (_, size, stride, offset, geometry) = tangents.values(), values
        first = offset - geometry[2]
        if first >= 0 and reach(size, stride, first) <= reach(*geometry[:2], 0):
            return (AsStrided(tangent, size, stride, offset, geometry),)  # may be a batch
        offset += tangent.storage_offset() - geometry[2]
        return (as_strided(tangent, size, stride, offset),)

    def samples(make):
        yield make(2, 3), (2, 2), (1, 2), 1, ((2, 3), (3, 1), 0)
        yield make(5), (3, 3), (1, 1), 0, ((5,), (1,), 0)


def reach(sizes, strides, offset):
    """Return the number of elements that a memory needs for a geometry."""
    return offset + 1 + sum((n - 1) * step for n, step in zip(sizes, strides))


class Restride(Op):
    """Add elements to zeros with one geometry, and read the result with another.

    A geometry is a size, strides and an offset.  Before the result is read, each location is
    divided by the number of times that `counted` covers it.  So if an input of `as_strided`
    overlaps itself, the elements in one location share the gradient.

    >>> from minigrad import ones, restride
    >>> restride(ones(2, 2), ((2, 2), (1, 1), 0), ((3,), (1,), 0), ((3,), (1,), 0))
    tensor([1., 2., 1.])
    """

    no_batching = "strides and offsets count in the memory of one example"
    method = False

    def shape(self, source, target, counted):
        return tuple(target[0])

    def forward(xp, self, source, target, counted):
        if 0 in source[0] or 0 in target[0]:
            return xp.zeros(target[0], self.dtype)
        start = min(source[2], target[2])
        memory = xp.zeros(max(reach(*source), reach(*target)) - start, self.dtype)
        sizes, strides, offset = source
        kernels_index.as_strided_add(xp, memory, self, sizes, strides, offset - start)
        sizes, strides, offset = counted
        if contiguous_strides(sizes) != tuple(strides):
            ones = xp.ones(sizes, self.dtype)
            memory /= xp.maximum(1, kernels_index.as_strided_add(
                xp, xp.zeros_like(memory), ones, sizes, strides, offset - start))
        sizes, strides, offset = target
        return xp.asarray(strided(xp, memory, sizes, strides, offset - start), order="C")

    def grad_self(g, source, target, counted):
        return F.restride(g, target, source, counted)

    def samples(make):
        yield make(2, 2), ((2, 2), (1, 1), 2), ((2, 3), (3, 1), 1), ((2, 3), (3, 1), 1)
        yield make(4), ((4,), (1,), 0), ((2, 3), (0, 1), 0), ((2, 3), (0, 1), 0)


# -------------------------------------------------------------------- aliases


class Alias(Op):
    """A view of the whole of `self`.

    >>> from minigrad import ones
    >>> ones(2)[...]
    tensor([1., 1.])
    """

    kind = "view elementwise"
    method, samples = False, unary_samples

    def forward(xp, self):
        return self

    def grad_self(g):
        return g


def geometry_of(array):
    """Return the size, the strides and the offset of an array in its memory, in elements."""
    start = data_pointer(array) - start_of_memory(array)
    return tuple(array.shape), element_strides(array), start // array.itemsize


def strided_arguments(array, size, stride, storage_offset):
    """Return the arguments of `AsStrided`, checked."""
    for position, (name, given) in enumerate((("size", size), ("stride", stride)), 1):
        if not isinstance(given, (tuple, list)):
            INT_LIST.check("as_strided", name, given, position)
    geometry = geometry_of(array)
    offset = geometry[2] if storage_offset is None else storage_offset
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError("as_strided: Negative strides are not supported at the moment, got "
                           f"strides: {list(stride)}")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    size, stride = tuple(size), tuple(stride)
    refuse_beyond_memory(array, size, stride, offset)
    return size, stride, offset, geometry


def refuse_beyond_memory(array, size, stride, offset):
    """Raise if a view with this geometry would exceed the array's memory."""
    needed, item = (0 if 0 in size else reach(size, stride, offset)), array.itemsize
    if needed * item > bytes_of_memory(array):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and "
            f"itemsize {item} requiring a storage size of {needed * item} are out of bounds for "
            f"storage of size {bytes_of_memory(array)}")


@function()
def as_strided(input, size: Any, stride: Any, storage_offset=None):
    """Return a view with any size, strides and offset, in elements from the start of the memory.

    Raises `RuntimeError` if the view would exceed the memory.

    >>> from minigrad import arange
    >>> arange(4.0).as_strided((3, 2), (1, 1))
    tensor([[0., 1.],
            [1., 2.],
            [2., 3.]])
    """
    return AsStrided(input, *strided_arguments(array_of(input), size, stride, storage_offset))


@method("_node_for")
def node_for(self, view):
    """Return the node for a tensor that views this one's memory with the geometry of `view`.

    Returns `None` if no graph is recorded.  The memory itself is not accessed, because it may
    differ.
    """
    xp = BACKENDS[type(self._array)]
    arguments = [tuple(view._array.shape), *geometry_of(view._array)[1:], geometry_of(self._array)]
    node = record(AsStrided, Prepared([self, *arguments], [self._array, *arguments], {}, True, xp))
    if node is not None:
        node.shape, node.dtype = view._array.shape, self._array.dtype
        if (place := xp.place_of([self._array])) is not None:
            node._extras().place = place
    return node


@method("as_strided_")
def as_strided_(self, size, stride, storage_offset=None):
    """Change the size, strides and offset of the tensor itself.

    >>> from minigrad import arange
    >>> arange(6).as_strided_((2, 2), (3, 1), 1)
    tensor([[1, 2],
            [4, 5]])
    """
    arguments = strided_arguments(self._array, size, stride, storage_offset)
    return apply_inplace(AsStrided, [self, *arguments])


@method("swapaxes_")
def swapaxes_(self, axis0, axis1):
    """Swap two dimensions of the tensor itself.

    >>> from minigrad import tensor
    >>> x = tensor([[1, 2], [3, 4]]); _ = x.swapaxes_(0, 1); x
    tensor([[1, 3],
            [2, 4]])
    """
    return apply_inplace(Transpose, [self, axis0, axis1])


method("swapdims_")(swapaxes_)


def transposed(self):
    """Reverse the dimensions; this is meant for matrices, so other tensors warn.

    >>> from minigrad import tensor
    >>> tensor([[1, 2], [3, 4]]).T
    tensor([[1, 3],
            [2, 4]])
    """
    if not self.ndim:
        warn_user("Tensor.T is deprecated on 0-D tensors. This function is the identity in "
                  "these cases.", UserWarning)
    elif self.ndim != 2:
        warn_user("The use of `x.T` on tensors of dimension other than 2 to reverse their "
                  "shape is deprecated and it will throw an error in a future release. "
                  "Consider `x.mT` to transpose batches of matrices or "
                  "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of "
                  "a tensor.", UserWarning)
    return F.permute(self, tuple(reversed(range(self.ndim))))


def matrices_transposed(self, name="mT"):
    """Swap the last two dimensions.

    >>> from minigrad import tensor
    >>> tensor([[[1, 2], [3, 4]]]).mT
    tensor([[[1, 3],
             [2, 4]]])
    """
    if self.ndim == 0:
        return self
    if self.ndim < 2:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. "
                           f"Got {self.ndim}-D tensor.")
    return Transpose(self, -2, -1)


def adjoint_of_matrix(self):
    """Transpose the matrix, which for real numbers is the adjoint.

    >>> from minigrad import ones
    >>> ones(2, 3).H.shape
    torch.Size([3, 2])
    """
    if self.ndim not in (0, 2):
        advice = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError("tensor.H is only supported on matrices (2-D tensors). Got "
                           f"{self.ndim}-D tensor.{advice}")
    return matrices_transposed(self)


@function()
def adjoint(input):
    """Swap the last two dimensions, which for real matrices is the adjoint.

    Source: `torch.adjoint`.

    >>> from minigrad import adjoint, ones
    >>> adjoint(ones(2, 3, 4)).shape
    torch.Size([2, 4, 3])
    """
    return matrices_transposed(input, "adjoint()")


def adjoint_of_matrices(self):
    """Swap the last two dimensions, which for real matrices is the adjoint.

    >>> from minigrad import ones
    >>> ones(2, 3, 4).mH.shape
    torch.Size([2, 4, 3])
    """
    return matrices_transposed(self, "mH")


method("T")(property(transposed))  # type: ignore[type-var]  # works for a property too
method("mT")(property(matrices_transposed))  # type: ignore[type-var]  # likewise
method("H")(property(adjoint_of_matrix))  # type: ignore[type-var]  # likewise
method("mH")(property(adjoint_of_matrices))  # type: ignore[type-var]  # likewise


# -------------------------------------------------------------------- without history


@function()
def detach(input):
    """Return a tensor with the same values outside of the graph: no gradient flows back through it.

    It shares memory and the version counter with the input, so a write to one is visible in the
    other.

    >>> from minigrad import tensor
    >>> x = tensor(3.0, requires_grad=True)
    >>> (x * x.detach()).backward(); x.grad  # one factor is a constant
    tensor(3.)
    """
    if not isinstance(input, Tensor):
        return input
    result = Tensor._plain(without_history(input._array))
    counter = input._shared_counter()
    result._counter = detached(counter) if isinstance(counter, InferenceVersion) else counter
    if _state.observers.count:
        input._tell_of_alias(result)
    return result


@method("detach_")
def detach_(self):
    """Detach the tensor itself from the graph; raise `RuntimeError` for a view.

    >>> from minigrad import tensor
    >>> x = 2 * tensor(1.0, requires_grad=True)
    >>> x.detach_()
    tensor(2.)
    """
    if self._view is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
            "function in torch/optim/optimizer.py as the solution.")
    if _state.inference_enabled.get():  # which has no history to check
        return self
    if self._node is not None:
        self._counter = DetachedVersion(self._shared_counter())
    self._node, self._index, self._requires_grad = None, 0, False
    self._array = without_history(self._array)
    return self


@method("resize_")
def resize_(self, *sizes):
    """Change the size of the tensor itself; if it grows, the new memory is uninitialized.

    Raises `RuntimeError` if it requires grad.

    >>> from minigrad import arange
    >>> arange(6).resize_(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    if self.requires_grad and not _state.inference_enabled.get():
        raise RuntimeError("cannot resize variables that require grad")
    size = tuple(map(index, given_ints("resize_", "size", sizes)))
    array, memory = self._array, storage_of(self._array)
    xp = BACKENDS[type(array)]
    _, _, offset = geometry_of(array)
    if size == array.shape:
        return self
    self._bump()
    if offset + numel(size) <= memory.size:
        self._array = strided(xp, array, size, contiguous_strides(size))
    else:
        grown = xp.empty(size, array.dtype)
        old = strided(xp, array, (memory.size - offset,), (1,))
        grown.reshape(-1)[: old.size] = old
        self._array = grown
    return self


@method("set_")
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Make the tensor itself a view of the memory of `source`; without one, it becomes empty.

    With `size` and `stride`, it views that part of the memory, from `storage_offset` on.  Raises
    `RuntimeError` for another dtype, or if the change would have to be recorded.

    Source: `torch.Tensor.set_`.

    >>> from minigrad import tensor
    >>> x = tensor([1.0])
    >>> x.set_(tensor([2.0, 3.0]))
    tensor([2., 3.])
    """
    if source is None:
        source = self.new_empty(0)
    if not isinstance(source, Tensor):
        raise TypeError("set_(): argument 'source' must be Tensor, not "
                        f"{type_in_error(source)}")
    if source.dtype != self.dtype:
        raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type "
                           f"{self.dtype}")
    recorded = _state.grad_enabled.get() and (self.requires_grad or source.requires_grad)
    check_inplace(self, recorded, alike=True)
    if recorded:
        raise RuntimeError("the derivative for 'set_' is not implemented.")
    array = source._array
    if size is not None:
        size = tuple(size)
        array = strided(BACKENDS[type(array)], array, size,
                        contiguous_strides(size) if stride is None else tuple(stride),
                        storage_offset - source.storage_offset())
    self._bump()  # first, because Ctrl-C can interrupt in between
    if self._extras is not None:
        self._extras.accumulator = None  # it belongs to the old memory
    self._array = array
    return self


@function()
def resize_as_(input, the_template, *, memory_format=None):
    """Resize the tensor itself to the size of `the_template`.  Source: `torch.resize_as_`.

    >>> from minigrad import arange, zeros
    >>> arange(4).resize_as_(zeros(2, 2)).shape
    torch.Size([2, 2])
    """
    return input.resize_(tuple(the_template.shape))
