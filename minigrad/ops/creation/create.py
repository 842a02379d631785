"""Create tensors from data, filled with one value, or evenly spaced.

All functions accept the keyword arguments of `Options`.

Source: https://docs.pytorch.org/docs/stable/torch.html#creation-ops
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any, Unpack

import numpy as np

from ... import _state
from ...backend import backend_of
from ...default_device import default_device
from ...device import backend_for
from ...dtypes import bool as boolean
from ...dtypes import (
    dtype,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    numpy_of,
    scalar_dtype,
    type_name,
)
from ...frames import type_in_error, warn_user
from ...op.arguments import INT, NOT_GIVEN, NUMBERS, is_int, loses_no_gradient
from ...op.publish import function
from ...tensor.tensor import Tensor, from_array, method
from .from_data import checked, from_checked_dtype, read
from .tensor_options import (
    Options,
    SizedOptions,
    create,
    fill_number,
    filled,
    sizes,
    wanted_dtype,
    with_grad,
    without_grad,
)

Array = Any


# -------------------------------------------------------------------- from data


@function(method_too=False, event=False)
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
           pin_memory: bool = False) -> Tensor:
    """Copy a number, nested sequences, an array or a tensor into a new leaf tensor.

    The dtype is inferred: the default dtype for Python floats, int64 for ints, bool for bools, and
    an array's own dtype for arrays.  Raises `ValueError` for ragged sequences.

    Source: `torch.tensor`.

    >>> from minigrad import tensor
    >>> tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    return copied("tensor", data, None, {"dtype": dtype, "device": device,
                                         "requires_grad": requires_grad})


def copied(name: str, data: Any, default: dtype | None, options: Options) -> Tensor:
    """Make a tensor from a copy of `data`."""
    wanted = wanted_dtype(name, options) or default
    plain: Options = {**options, "dtype": None}
    if isinstance(data, Tensor):
        call = "torch.tensor" if name == "tensor" else f"tensor.{name}"
        warn_user(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach()."
            "clone() or sourceTensor.detach().clone().requires_grad_(True), rather than "
            f"{call}(sourceTensor).", UserWarning)
        if plain.get("device") is None:
            plain["device"] = default_device() or data.device
        data = backend_of(data._array).to_host(data._array)
    array = read(data, wanted)
    return create(name, plain, lambda xp, _: xp.from_host(array))


@function(method_too=False, event=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return `data` as a tensor, without a copy if it already has the dtype and device.

    A tensor keeps its history, and a NumPy array shares memory with the result.

    Source: `torch.as_tensor`.

    >>> from minigrad import as_tensor
    >>> as_tensor([1, 2])
    tensor([1, 2])
    """
    options: Options = {"dtype": dtype, "device": device}
    wanted = wanted_dtype("as_tensor", options)
    if isinstance(data, Tensor):
        place = default_device() if device is None else device
        converted: Tensor = data.to(device=place, dtype=wanted)  # `data` itself if it matches
        return converted
    if isinstance(data, np.ndarray):
        checked(data)
        if from_checked_dtype(data.dtype) is (wanted or from_numpy_dtype(data.dtype)):
            return create("as_tensor", {"device": device}, lambda xp, _: xp.from_host(data))
    return copied("as_tensor", data, None, options)


@function(method_too=False, event=False)
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None,
            requires_grad: bool | None = None) -> Tensor:
    """Return `obj` as a tensor; `copy=True` forces a copy, and `copy=False` forbids one.

    A tensor keeps its history unless `requires_grad` is given: False detaches, and True makes a
    tensor without history a leaf that requires grad.  Source: `torch.asarray`.

    >>> from minigrad import asarray
    >>> asarray([1.0, 2.0])
    tensor([1., 2.])
    """
    if isinstance(obj, Tensor):
        result = as_tensor(obj, dtype, device)
        if copy is False and result is not obj:
            raise ValueError(f"can't alias tensor with dtype '{type_name(obj.dtype)}' into dtype "
                             f"'{type_name(result.dtype)}'." if result.dtype is not obj.dtype else
                             f"can't alias tensor from device '{obj.device}' to '{result.device}'.")
        if copy and result is obj:
            result = obj.clone()
        if requires_grad is False:
            result = result.detach()
        return with_grad(result, True) if requires_grad and result.is_leaf else result
    if copy:
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    result = as_tensor(obj, dtype, device)
    shared = isinstance(obj, np.ndarray) and np.shares_memory(obj, result._array)
    if copy is False and not shared:
        raise ValueError(f"can't alias arbitrary sequence into a tensor: {type(obj).__name__}")
    return with_grad(result, True) if requires_grad else result


@function(method_too=False, event=False)
def scalar_tensor(s: Any, **options: Unpack[Options]) -> Tensor:
    """Create a zero-dimensional tensor from a number, by default with the default dtype.

    Source: `torch.scalar_tensor`.

    >>> from minigrad import scalar_tensor
    >>> scalar_tensor(2)
    tensor(2.)
    """
    if isinstance(s, Tensor):
        s = plain_number("scalar_tensor", "s", 1, s)
    return filled("scalar_tensor", (), s, options, get_default_dtype())


@function(method_too=False, event=False)
def from_numpy(ndarray: Any) -> Tensor:
    """Create a tensor that shares memory with a NumPy array.  Source: `torch.from_numpy`.

    >>> import numpy as np
    >>> from minigrad import from_numpy
    >>> from_numpy(np.arange(3))
    tensor([0, 1, 2])
    """
    if not isinstance(ndarray, np.ndarray):
        array_type = type(ndarray)
        module = "" if array_type.__module__ == "builtins" else array_type.__module__ + "."
        raise TypeError(f"expected np.ndarray (got {module}{array_type.__name__})")
    checked(ndarray)
    from_checked_dtype(ndarray.dtype)
    if not ndarray.flags.writeable:
        warn_user("The given NumPy array is not writable, and PyTorch does not support "
                  "non-writable tensors. This means writing to this tensor will result in "
                  "undefined behavior. You may want to copy the array to protect its data or "
                  "make it writable before converting it to a tensor.", UserWarning)
    return from_array(np.asarray(ndarray))


@function(method_too=False, event=False)
def frombuffer(buffer: Any, *, dtype: Any, count: Any = -1, offset: Any = 0,
               requires_grad: bool = False) -> Tensor:
    """Create a one-dimensional tensor that shares memory with a buffer, such as a bytearray.

    Reads `count` elements (all if negative), starting at byte `offset`.  Raises `ValueError` if the
    buffer is too short, and warns if it is read-only.  Source: `torch.frombuffer`.

    >>> import minigrad as torch
    >>> torch.frombuffer(bytearray([1, 2]), dtype=torch.uint8)
    tensor([1, 2], dtype=torch.uint8)
    """
    numpy_dtype, count, offset = numpy_of(dtype), index(count), index(offset)
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, item = memory.nbytes, numpy_dtype.itemsize
    if not size or not count:
        raise ValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer "
                         f"length ({size} bytes) minus 1")
    if count < 0 and (size - offset) % item:
        raise ValueError(f"buffer length ({size - offset} bytes) after offset ({offset} bytes) "
                         f"must be a multiple of element size ({item})")
    if count > 0 and offset + count * item > size:
        raise ValueError(f"requested buffer length ({count} * {item} bytes) after offset ({offset} "
                         f"bytes) must not be greater than actual buffer length ({size} bytes)")
    if memory.readonly:
        warn_user("The given buffer is not writable, and PyTorch does not support non-writable "
                  "tensors. Here a write to the tensor is an error.", UserWarning)
    array = np.frombuffer(memory, numpy_dtype, max(count, -1), offset)
    return with_grad(from_array(array), requires_grad)


@function(method_too=False, event=False)
def from_dlpack(ext_tensor: Any) -> Tensor:
    """Create a tensor that shares memory with another library's.  Source: `torch.from_dlpack`.

    >>> import numpy as np
    >>> from minigrad import from_dlpack
    >>> from_dlpack(np.arange(3))
    tensor([0, 1, 2])
    """
    device_code, _ = ext_tensor.__dlpack_device__()
    xp = backend_for("cpu" if device_code == 1 else "cuda")
    return from_array(xp.from_dlpack(ext_tensor))


@method("new_tensor")
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, device: Any = None,
               requires_grad: bool = False) -> Tensor:
    """Copy `data` into a new leaf with this tensor's dtype.  Source: `torch.Tensor.new_tensor`.

    >>> from minigrad import tensor
    >>> tensor([1.5]).new_tensor([1, 2])
    tensor([1., 2.])
    """
    options: Options = {"dtype": dtype, "device": device or self.device,
                        "requires_grad": requires_grad}
    return copied("new_tensor", data, self.dtype, options)


# -------------------------------------------------------------------- filled


@function(method_too=False, out="creation expanded")
def zeros(*dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Create a tensor of zeros, by default with the default dtype.  Source: `torch.zeros`.

    >>> from minigrad import zeros
    >>> zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    shape = sizes("zeros", dims, options)
    return create("zeros", options, lambda xp, numpy_dtype: xp.zeros(shape, numpy_dtype))


@function(method_too=False, out="creation expanded")
def ones(*dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Create a tensor of ones, by default with the default dtype.  Source: `torch.ones`.

    >>> from minigrad import ones
    >>> ones(2)
    tensor([1., 1.])
    """
    shape = sizes("ones", dims, options)
    return create("ones", options, lambda xp, numpy_dtype: xp.ones(shape, numpy_dtype))


@function(method_too=False, out="creation expanded")
def empty(*dims: Any, **options: Unpack[SizedOptions]) -> Tensor:
    """Create a tensor of uninitialized values.  Source: `torch.empty`.

    >>> from minigrad import empty
    >>> empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape = sizes("empty", dims, options)
    return create("empty", options, lambda xp, numpy_dtype: xp.empty(shape, numpy_dtype))


@function(method_too=False, out="creation expanded")
def full(size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """Create a tensor filled with `fill_value`, by default with its dtype.  Source: `torch.full`.

    >>> from minigrad import full
    >>> full((2,), 3.5)
    tensor([3.5000, 3.5000])
    """
    if not isinstance(size, (tuple, list)):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not "
                        f"{type_in_error(size)}")
    value = fill_number("full", 2, fill_value)
    return filled("full", sizes("full", (size,), {}), value, options, scalar_dtype(value))


@function(method_too=False)
def empty_strided(size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """Create an uninitialized tensor with the given strides, counted in elements.

    Source: `torch.empty_strided`.

    >>> from minigrad import empty_strided
    >>> empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return create("empty_strided", options,
                  lambda xp, numpy_dtype: strided_array(xp, numpy_dtype, size, stride))


@function(method_too=False)
def empty_permuted(size: Any, physical_layout: Any, **options: Unpack[Options]) -> Tensor:
    """Create an uninitialized tensor whose dimensions have the memory order `physical_layout`.

    Raises `RuntimeError` unless `physical_layout` names each dimension once.

    Source: `torch.empty_permuted`.

    >>> from minigrad import empty_permuted
    >>> empty_permuted((2, 3), (1, 0)).stride()
    (1, 2)
    """
    shape, order = sizes("empty_permuted", (size,), {}), tuple(physical_layout)
    if len(order) != len(shape):
        raise RuntimeError("Number of dimensions in size does not match the length of the physical_"
                           f"layout; i.e. len(size) = {len(shape)} is not equal to len(physical_"
                           f"layout) = {len(order)}")
    for place, dim in enumerate(order):
        if not 0 <= dim < len(shape):
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and "
                               f"{len(shape) - 1}, but got {dim} at index {place}).  NB: negative "
                               "dims not currently supported; file an issue if you want it.")
        if dim in order[:place]:
            raise RuntimeError("Duplicate dim not allowed")

    def build(xp: Any, numpy_dtype: Any) -> Array:
        memory = xp.empty(tuple(shape[d] for d in order), numpy_dtype)
        return memory.transpose(sorted(range(len(order)), key=order.__getitem__))

    return create("empty_permuted", options, build)


@function(method_too=False, out="creation expanded")
def eye(n: int, m: int | None = None, **options: Unpack[Options]) -> Tensor:
    """Create an (n, m) matrix with ones on the diagonal and zeros elsewhere.  Source: `torch.eye`.

    >>> from minigrad import eye
    >>> eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    shape: list[int] = []
    for name, value in (("n", n), ("m", n if m is None else m)):
        INT.check("eye", name, value, len(shape))
        shape.append(index(value))
        if shape[-1] < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {shape[-1]}")
    return create("eye", options, lambda xp, numpy_dtype: xp.eye(*shape, dtype=numpy_dtype))


def strided_array(xp: Any, numpy_dtype: Any, size: Any, stride: Any) -> Array:
    """Make an uninitialized array with the given strides, counted in elements."""
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of "
                           f"strides ({len(stride)})")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and "
                           f"strides={list(stride)}")
    extent = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    memory = xp.empty(extent, numpy_dtype)
    return xp.as_strided(memory, tuple(size), tuple(s * memory.itemsize for s in stride))


# -------------------------------------------------------------------- evenly spaced


def plain_number(name: str, argument: str, position: int, value: Any) -> Any:
    """Return a Python number for an argument that may also be a zero-dimensional tensor."""
    # PyTorch's `linspace` and `logspace` accept such tensors and drop the gradient
    if isinstance(value, Tensor) and (name.endswith("space") or loses_no_gradient(value)):
        if value.ndim:
            raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got "
                               f"{argument} with {value.ndim} dimension(s).")
        return value.item()
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Number, "
                        f"not {type_in_error(value)}")
    return value.item() if isinstance(value, np.generic) else value


@function(method_too=False, out="creation")
def arange(start: Any = NOT_GIVEN, end: Any = None, step: Any = 1,
           **options: Unpack[Options]) -> Tensor:
    """Create the numbers from `start` (by default 0) up to, but not including, `end`, `step` apart.

    The dtype is int64 if all three are integers, else the default dtype.  Raises `RuntimeError` if
    `step` is 0 or has the wrong sign.  Source: `torch.arange`.

    >>> from minigrad import arange
    >>> arange(3), arange(1, 2, 0.5)
    (tensor([0, 1, 2]), tensor([1.0000, 1.5000]))
    """
    if end is None:
        if start is NOT_GIVEN:
            raise TypeError('arange() missing 1 required positional arguments: "end"')
        end = plain_number("arange", "end", 1, start)
        start = 0
    else:
        start = plain_number("arange", "start", 1, 0 if start is NOT_GIVEN else start)
        end = plain_number("arange", "end", 2, end)
    step = plain_number("arange", "step", 3, step)
    integral = all(isinstance(value, int) for value in (start, end, step))
    target = wanted_dtype("arange", options)
    if target is boolean:
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool'")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if target is int64:
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise ValueError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    exact = all(isinstance(value, int) for value in (start, end, step))
    count = -((start - end) // step) if exact else math.ceil((end - start) / step)
    if target is not None and not target.is_floating_point:
        start, step = int(start), int(step)  # after `count` is computed, as for other integers

    def build(xp: Any, numpy_dtype: Any) -> Array:
        wide = np.int64 if numpy_dtype.kind != "f" else np.float64
        steps = xp.arange(count, dtype=np.int64)
        return (wide(start) + steps * wide(step)).astype(numpy_dtype)

    return create("arange", options, build, int64 if integral else None)


@function(method_too=False, out="creation")
def linspace(start: Any, end: Any, steps: Any, **options: Unpack[Options]) -> Tensor:
    """Create `steps` evenly spaced numbers from `start` to `end`, both included.

    Source: `torch.linspace`.

    >>> from minigrad import linspace
    >>> linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    def spaced(start: Any, end: Any) -> Tensor:
        return create("linspace", without_grad(options),
                      even_steps("linspace", start, end, steps))

    return between("linspace", spaced, start, end, options)


@function(method_too=False, out="creation")
def logspace(start: Any, end: Any, steps: Any, base: float = 10.0,
             **options: Unpack[Options]) -> Tensor:
    """Create `base` to the power of evenly spaced numbers.  Source: `torch.logspace`.

    >>> from minigrad import logspace
    >>> logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    def spaced(start: Any, end: Any) -> Tensor:
        exponents = even_steps("logspace", start, end, steps, wide=True)
        return create("logspace", without_grad(options), lambda xp, numpy_dtype: xp.power(
            float(base), exponents(xp, numpy_dtype)).astype(numpy_dtype))

    return between("logspace", spaced, start, end, options)


def between(name: str, spaced: Callable[[Any, Any], Tensor], start: Any, end: Any,
            options: Options) -> Tensor:
    """Return `spaced(start, end)`; a program calls it in each run if one of them is a tensor."""
    recording = _state.program.get() if _state.observers.count else None
    if recording is not None and (isinstance(start, Tensor) or isinstance(end, Tensor)):
        spaced.__name__ = name  # names the step
        made = recording.at_each_run(spaced, (start, end))
    else:
        made = spaced(start, end)
    return with_grad(made, options.get("requires_grad", False))


def even_steps(name: str, start: Any, end: Any, steps: Any,
               wide: bool = False) -> Callable[[Any, Any], Array]:
    """Return a function that computes evenly spaced numbers.

    The first half is computed from `start` and the second half from `end`, so both ends are exact.
    """
    start = plain_number(name, "start", 1, start)
    end = plain_number(name, "end", 2, end)
    if not is_int(steps):
        given = ", ".join(type_in_error(value) for value in (start, end, steps))
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), "
                        "but 'steps' must be an int")
    steps = index(steps)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")

    def build(xp: Any, numpy_dtype: Any) -> Array:
        if numpy_dtype.kind == "b" and steps > 1:
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
        real = numpy_dtype.kind == "f"
        number = np.result_type(numpy_dtype, np.float32).type if real and not wide else np.float64
        first, last = (number(n if real else int(n)) for n in (start, end))
        step = (last - first) / number(max(steps - 1, 1))
        half = steps // 2 if steps > 1 else 1
        rising = first + step * xp.arange(min(half, steps)).astype(number)
        falling = last - step * xp.arange(steps - half - 1, -1, -1).astype(number)
        result = xp.concatenate([rising, falling])
        return result if wide else result.astype(numpy_dtype)

    return build
