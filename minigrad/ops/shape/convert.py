"""Copies in another dtype, on another device, or in another memory order.

Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html
"""

from ... import dtypes
from ...backend.memory_layout import channels_last, is_channels_last, is_dense
from ...device import as_device, backend_for, build_on, device_under
from ...device import device as Device
from ...dtypes import type_name
from ...frames import type_in_error
from ...op.declaration import F, Op
from ...tensor.tensor import Tensor, method
from ..creation.tensor_options import RANKS, check_rank, contiguous_format, preserve_format


class Clone(Op):
    """A differentiable copy; a dense tensor keeps its memory order.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).clone()
    tensor([1., 2.])
    """

    kind = "linear elementwise"

    def forward(xp, self, *, memory_format=None):
        if memory_format in RANKS:
            check_rank(memory_format, self.ndim)
            return channels_last(self)
        keep = memory_format is not contiguous_format and is_dense(self)
        return self.copy("K" if keep else "C")

    def grad_self(g):
        return g

    def samples(make):
        yield from (make(3, 4), make(), make(0, 2))
        yield make(3, 4), {"memory_format": contiguous_format}


class ToCopy(Op):
    """A copy in another dtype or on another device; the gradient is converted back.

    >>> from minigrad import float64, tensor
    >>> tensor([1.0, 2.0]).to(float64)
    tensor([1., 2.], dtype=torch.float64)
    """

    kind = "linear elementwise"
    node = "ToCopyBackward0"
    public = False

    def forward(xp, self, dtype, target, source, non_blocking=False):
        array = self.astype(dtype.numpy, order="K" if is_dense(self) else "C", copy=target is None)
        return array if target is None else moved(xp, array, target, non_blocking)

    def grad_self(g, source):
        # The engine converts the dtype back, so only the device is left.
        return g if source is None else F.to(g, source)

    def samples(make):
        yield make(3, 4), dtypes.float64, None, None
        yield make(2), dtypes.float32, None, None
        yield make(), dtypes.float64, None, None


def moved(xp, array, target, non_blocking):
    """Return a copy of an array on the device `target`."""

    def arrive(goal):
        if goal is xp:
            return goal.to_device(array, target.index)
        if non_blocking and goal.device_type == "cpu":
            return xp.to_host(array, non_blocking=True)
        return goal.from_host(xp.to_host(array))

    return build_on(target, arrive)


def converted(input, dtype, where, copy=False, non_blocking=False):
    """Return a tensor or array with this dtype and device, or the input itself if it matches.

    `copy` forces a copy.
    """
    array = input._array if isinstance(input, Tensor) else input
    target, source = None, None
    if where is not None:
        target, source = as_device(where), device_under(array)
        if target.type == source.type and target.index in (None, source.index):
            target = source = None
    wanted = dtypes.from_numpy_dtype(array.dtype) if dtype is None else dtype
    if not copy and target is None and wanted.numpy == array.dtype:
        return input
    return ToCopy(input, wanted, target, source, non_blocking)


def to(input, *args, **kwargs):
    """Return the tensor in another dtype or on another device, or itself if it already matches.

    Call it as `to(dtype)`, `to(device, dtype)` or `to(other)`; `copy=True` forces a copy.

    Source: `torch.Tensor.to`.

    >>> from minigrad import int64, tensor
    >>> tensor([1.5, -2.5]).to(int64)
    tensor([ 1, -2])
    """
    copy = kwargs.pop("copy", False)
    non_blocking = bool(kwargs.pop("non_blocking", False))
    order = kwargs.pop("memory_format", None)
    where, dtype = kwargs.pop("device", None), kwargs.pop("dtype", None)
    rest = list(map(dtypes.as_dtype, args))
    dtype = dtypes.as_dtype(dtype)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        given = "".join(f"{type_in_error(a)}, " for a in args)
        raise TypeError("to() received an invalid combination of arguments - got "
                        f"({given}dtype={type_in_error(dtype)})")
    if "other" in kwargs:
        rest.insert(0, kwargs.pop("other"))
    if kwargs:
        raise TypeError(f"to() received an invalid keyword argument '{next(iter(kwargs))}'")
    if rest and isinstance(rest[0], Tensor):
        where, dtype = rest[0].device, rest.pop(0).dtype
    elif rest and (rest[0] is None or isinstance(rest[0], (str, int, Device))):
        where = rest.pop(0)
    if rest and (rest[0] is None or isinstance(rest[0], dtypes.dtype)):
        dtype = rest.pop(0) or dtype
    if rest and rest[0] is not None and not isinstance(rest[0], bool):
        raise TypeError("to() received an invalid combination of arguments - got "
                        f"({', '.join(type_in_error(a) for a in args)})")
    if rest:
        non_blocking = bool(rest[0])
    if len(rest) > 1:
        copy = rest[1]
    result = converted(input, dtype, where, copy, non_blocking)
    return in_format(result, order)


def in_format(tensor, memory_format):
    """Return the tensor in a memory format, or itself if it already has it."""
    if memory_format in (None, preserve_format):
        return tensor
    if memory_format in RANKS:
        check_rank(memory_format, tensor.ndim)
        if is_channels_last(tensor._array):
            return tensor
        return F.clone(tensor, memory_format=memory_format)
    return contiguous(tensor)


method("to")(to)
vars(F)["to"] = to


@method("contiguous")
def contiguous(self, memory_format=contiguous_format):
    """Return the tensor with its elements in row-major order, or itself if they already are.

    With `memory_format=channels_last`, the order is (N, *S, C).

    Source: `torch.Tensor.contiguous`.

    >>> from minigrad import ones
    >>> ones(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if self.is_contiguous(memory_format):
        return self
    return F.clone(self, memory_format=memory_format)


@method("is_contiguous")
def is_contiguous(self, memory_format=contiguous_format):
    """Return whether the memory is row-major without gaps, or in the order of a memory format.

    >>> from minigrad import ones
    >>> ones(2, 3).t().is_contiguous()
    False
    """
    if memory_format is preserve_format:
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    if memory_format not in RANKS:
        return bool(self._array.flags.c_contiguous)
    order = (0, *range(2, self.ndim), 1)
    return self.ndim == RANKS[memory_format] and bool(
        self._array.transpose(order).flags.c_contiguous)


@method("cpu")
def cpu(self, memory_format=preserve_format):
    """Return the tensor in CPU memory, or itself if it is already there.

    >>> from minigrad import ones
    >>> ones(1).cpu()
    tensor([1.])
    """
    return converted(self, None, "cpu")


@method("cuda")
def cuda(self, device=None, non_blocking=False, memory_format=preserve_format):
    """Return the tensor on a GPU, or itself if it is already there.

    Raises `RuntimeError` if there is no GPU.

    >>> from minigrad import cuda, ones
    >>> ones(2).cuda().device.type if cuda.is_available() else "cuda"
    'cuda'
    """
    return converted(self, None, "cuda" if device is None else device, False, non_blocking)


@method("pin_memory")
def pin_memory(self, device=None):
    """Return a copy in page-locked CPU memory, from which copies to a GPU do not block.

    Raises `RuntimeError` if there is no GPU, or if the tensor is on a GPU.

    >>> from minigrad import cuda, ones
    >>> ones(2).pin_memory().tolist() if cuda.is_available() else [1.0, 1.0]
    [1.0, 1.0]
    """
    if self.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")
    return Tensor._plain(backend_for("cuda").pinned(self._array))


@method("type_as")
def type_as(self, other):
    """Return the tensor with the dtype and device of another one.

    >>> from minigrad import tensor
    >>> tensor([1.5]).type_as(tensor([1]))
    tensor([1])
    """
    if not isinstance(other, Tensor):
        raise TypeError(f"type_as(): argument 'other' must be Tensor, not {type_in_error(other)}")
    return converted(self, other.dtype, other.device)


@method("type")
def type_(self, dtype=None, non_blocking=False, **kwargs):
    """Return the tensor in another dtype, or without one the name of the tensor's type.

    Source: `torch.Tensor.type`.

    >>> from minigrad import tensor
    >>> tensor([1]).type(), tensor([1]).type("torch.FloatTensor")
    ('torch.LongTensor', tensor([1.]))
    """
    if dtype is None:
        place = "torch" if self.device.type == "cpu" else f"torch.{self.device.type}"
        return f"{place}.{type_name(self.dtype)}Tensor"
    if isinstance(dtype, str):
        named = {f"torch.{type_name(d)}Tensor": d for d in dtypes.ALL}
        if dtype not in named:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = named[dtype]
    dtype = getattr(dtype, "dtype", dtype)
    if isinstance(dtype, type):
        raise ValueError(f"invalid type: '{dtype.__name__}'")
    if not isinstance(dtype, dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return converted(self, dtype, None)


TEXT = """Return the tensor as {kind}, itself if it is that.

    >>> from minigrad import tensor
    >>> x = tensor([0.0, 1.5]).{name}(); x.dtype, x.tolist()
    (torch.{kind}, {shown})
    """


def dtype_method(dtype, name):
    """Add the tensor method that converts to a dtype."""

    def convert(self, memory_format=preserve_format):
        return converted(self, dtype, None)

    shown = [dtype.numpy.type(value).item() for value in (0.0, 1.5)]
    convert.__doc__ = TEXT.format(kind=dtype.name, name=name, shown=shown)
    method(name)(convert)


@method("bfloat16")
def to_bfloat16(self, memory_format=preserve_format):
    """Raise, because NumPy has no bfloat16, and suggest an alternative.

    >>> from minigrad import ones
    >>> ones(2).bfloat16()
    Traceback (most recent call last):
        ...
    NotImplementedError: minigrad has no bfloat16, because NumPy has none: use torch.float16, ...
    """
    return converted(self, dtypes.bfloat16, None)


dtype_method(dtypes.float32, "float")
dtype_method(dtypes.float64, "double")
dtype_method(dtypes.float16, "half")
dtype_method(dtypes.int64, "long")
dtype_method(dtypes.int32, "int")
dtype_method(dtypes.int16, "short")
dtype_method(dtypes.int8, "char")
dtype_method(dtypes.uint8, "byte")
dtype_method(dtypes.bool, "bool")
