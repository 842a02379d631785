"""The argument `out=`, which stores a result in tensors that the caller provides.

NOTE [out=]
    `Op.out`, and the argument `out` of `function` and `overloaded`, contain words that say how a
    function handles `out=`; without a word, the function does not accept it.
        "cast"       `out` may have any dtype that the result can be cast to
        "exact"      `out` must have the dtype of the result
        "dtype"      the argument `dtype` is the dtype of `out` by default
        "creation"   the arguments `dtype` and `device` default to those of `out`; if they are
                     passed, they must agree with it
        "passed"     the function also receives `out`, because its random numbers depend on the
                     strides
        "dim"        the function accepts `out` only together with `dim`
        "apart"      `out` must not be an input, nor share memory with one
        "overlap"    `out` may partly overlap an input, because PyTorch does not check that here
        "expanded"   elements of `out` may share a memory location, as in an expanded tensor
    Without the last three words, `out` may be an input, as in `mul(x, y, out=x)`, but no other
    overlap is allowed.

    The function computes the result first, as it does without `out`.  It makes every check before
    the first write, so an error leaves `out` unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import _state
from ..backend import BACKENDS, is_batch
from ..backend.float_errors import ignoring_float_errors
from ..backend.memory_layout import is_dense
from ..device import as_device, place_on
from ..dtypes import can_cast, type_name
from ..frames import type_in_error, warn_user
from ..shapes import contiguous_strides
from ..tensor.attributes import same_memory, storage_of
from ..tensor.tensor import Tensor
from ..tensor.views import check_inplace, partly_overlaps

#: The words of NOTE [out=].
WORDS = {"apart", "cast", "creation", "dim", "dtype", "exact", "expanded", "overlap", "passed"}

INPUT_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
    "a single memory location. Please clone() the tensor before performing the operation.")


def call_with_out(name: str, words: str, function: Callable[..., Any], args: tuple[Any, ...],
                  kwargs: dict[str, Any]) -> Any:
    """Call a function, store its result in `kwargs["out"]` and return that.

    For a function of several results, `out` is a tuple of tensors, returned as a named tuple.
    """
    options = dict(kwargs)
    out = options.pop("out")
    if out is None:
        return function(*args, **options)
    if any(is_batch(each._array) for each in tensors_among((args, options))):
        raise RuntimeError(f"Batching rule not implemented for aten::{name}.out; the fallback path "
                           "doesn't work on out= or view ops.")
    if "dim" in words and len(args) < 2 and not options.keys() & {"dim", "axis"}:
        raise TypeError(f'{name}() missing 1 required positional arguments: "dim"')
    requires_grad = options.pop("requires_grad", False) if "creation" in words else False
    with _state.having(_state.autocast, None):  # PyTorch does not autocast a call with `out`
        result = function(*args, **(options | options_from(name, words, out, options)))
    pairs = paired(name, out, result)
    inputs = list(tensors_among((args, kwargs)))
    for tensor, value in pairs:
        check_history(name, tensor, value)
        check_dtype(name, words, tensor, value)
        check_device(words, tensor, value)
        check_memory(words, tensor, value, inputs)
    quiet = "creation" in words
    for tensor, value in pairs:
        store(tensor, value, quiet)
    if requires_grad:
        out.requires_grad_()
    return out if isinstance(result, Tensor) else as_result(result, [t for t, _ in pairs])


def options_from(name: str, words: str, out: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that default to a property of `out`."""
    defaults = ("dtype", "device") if "creation" in words else ("dtype",) * ("dtype" in words)
    if not defaults and "passed" not in words:
        return {}
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_in_error(out)}")
    defaulted = {key: getattr(out, key) for key in defaults if options.get(key) is None}
    if "device" in defaults and "device" not in defaulted and (
            as_device(options["device"]).type == out.device.type):
        defaulted["device"] = out.device  # PyTorch only compares the device types
    return {**defaulted, "out": out} if "passed" in words else defaulted


def paired(name: str, out: Any, result: Any) -> list[tuple[Tensor, Tensor]]:
    """Return pairs of a tensor of `out` and the result to store in it."""
    if isinstance(result, Tensor):
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_in_error(out)}")
        return [(out, result)]
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not "
                        f"{type_in_error(out)}")
    if len(out) != len(result):
        raise TypeError(f"{name}(): argument 'out' must be tuple of {len(result)} Tensors, but got "
                        f"{len(out)}")
    for position, tensor in enumerate(out):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, but found element "
                            f"of type {type_in_error(tensor)} at pos {position}")
    return list(zip(out, result, strict=True))


def as_result(result: Any, outs: list[Tensor]) -> Any:
    """Return the tensors of `out` in a tuple like `result`, whose fields may have names."""
    return type(result)(*outs) if hasattr(result, "_fields") else tuple(outs)


def tensors_among(values: Iterable[Any]) -> Iterator[Tensor]:
    """Yield the tensors among some arguments and inside their lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from tensors_among(value)
        elif isinstance(value, dict):
            yield from tensors_among(v for key, v in value.items() if key != "out")


# -------------------------------------------------------------------- checks


def check_history(name: str, out: Tensor, result: Tensor) -> None:
    """Raise if a tensor requires grad, because autograd does not record writes to `out`."""
    if not _state.inference_enabled.get() and (
            result.requires_grad or (out.requires_grad and _state.grad_enabled.get())):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic "
                           "differentiation, but one of the arguments requires grad.")
    transform = _state.transform.get()
    if transform is not None and transform.any_tangent((result, out)):
        raise NotImplementedError(f"Trying to use forward AD with {name}_out that does not support "
                                  "it because it is an out= function")


def check_dtype(name: str, words: str, out: Tensor, result: Tensor) -> None:
    """Raise unless the result can be stored in the dtype of `out`."""
    given, wanted = out.dtype, result.dtype
    if given is wanted:
        return
    if "creation" in words:
        raise RuntimeError(f"dtype {type_name(wanted)} does not match dtype of out parameter "
                           f"({type_name(given)})")
    if name in WRONG_DTYPE:
        raise RuntimeError(WRONG_DTYPE[name].format(type_name(wanted), type_name(given)))
    if "exact" in words:
        raise RuntimeError(f"Expected out tensor to have dtype {C_NAMES[wanted.name]}, but got "
                           f"{C_NAMES[given.name]} instead")
    if not can_cast(wanted, given):
        raise RuntimeError(f"result type {type_name(wanted)} can't be cast to the desired output "
                           f"type {type_name(given)}")


#: Words of single functions for the dtype of their result beside another one of `out`.
WRONG_DTYPE = {
    **dict.fromkeys(("amax", "amin"), "Expected the dtype for input and out to match, but got {} "
                    "for input's dtype and {} for out's dtype."),
    "multinomial": "multinomial expects {} tensor out, got: {}",
}

#: The names by which PyTorch's errors about `out` call dtypes.
C_NAMES = {"float64": "double", "float32": "float", "float16": "c10::Half", "int64": "long int",
           "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char",
           "bool": "bool"}


def check_device(words: str, out: Tensor, result: Tensor) -> None:
    """Raise unless `out` is on the device of the result."""
    if result.device == out.device:
        return
    if "creation" in words:
        raise RuntimeError(f"device type {result.device.type} does not match device type of out "
                           f"parameter ({out.device.type})")
    raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                       f"devices, {out.device} and {result.device}!")


def check_memory(words: str, out: Tensor, result: Tensor, inputs: list[Tensor]) -> None:
    """Raise if a write to `out` would change unread input elements, or write one twice."""
    check_inplace(out, recorded=False, alike=True)  # raises for an inference tensor
    if BACKENDS[type(out._array)].run_op is not None:
        return
    apart = "apart" in words
    if not apart and out._array.shape != result._array.shape:
        if "overlap" not in words and any(t is out for t in inputs):
            raise RuntimeError(f"output with shape {list(out._array.shape)} doesn't match the "
                               f"broadcast shape {list(result._array.shape)}")
        return  # it will get new memory
    check_inplace(out, recorded=False, alike="expanded" in words)
    written = memory_to_write(out, result)
    for tensor in () if "overlap" in words else inputs:
        if overlaps(written, tensor._array, wholly=apart):
            raise RuntimeError(INPUT_OVERLAP)


def memory_to_write(out: Tensor, result: Tensor) -> Any:
    """Return the array of `out`, or its resized array if its memory has room for the result."""
    array, memory = out._array, storage_of(out._array)
    size, start = result._array.size, out.storage_offset()
    if array.shape == result._array.shape or start + size > memory.size:
        return array
    return memory.reshape(-1)[start:start + size]


def overlaps(written: Any, read: Any, wholly: bool) -> bool:
    """Return whether two arrays overlap in part or, with `wholly`, completely."""
    if type(written) is not type(read):
        return False
    if wholly and written is read:
        return True
    if partly_overlaps(written, read):
        return True
    return (wholly and bool(written.size) and same_memory(written, read) and is_dense(written)
            and BACKENDS[type(written)].may_share_memory(written, read))


# -------------------------------------------------------------------- the write


@ignoring_float_errors
def store(out: Tensor, result: Tensor, quiet: bool) -> None:
    """Copy a result into `out`, which takes its shape; `quiet` suppresses the resize warning."""
    array = result._array
    if out._array.shape != array.shape:
        resize(out, array, quiet)
    else:
        out._bump()  # first, because Ctrl-C may interrupt in between
    with place_on(out._array):
        out._array[...] = array


def resize(out: Tensor, array: Any, quiet: bool) -> None:
    """Give `out` the shape and memory format of a result; warn if it had elements."""
    shape, xp = array.shape, BACKENDS[type(array)]
    if out._array.size and not quiet:
        warn_user(
            "An output with one or more elements was resized since it had shape "
            f"{list(out._array.shape)}, which does not match the required output shape "
            f"{list(shape)}. This behavior is deprecated, and in a future PyTorch release outputs "
            "will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
            UserWarning)
    if xp.run_op is not None:
        out._bump()
        out._array = array.astype(out._array.dtype)
        return
    out.resize_(shape)
    if array.size and is_dense(array):
        strides = [stride // array.itemsize * out._array.itemsize for stride in array.strides]
        rows = [n * out._array.itemsize for n in contiguous_strides(shape)]
        if strides != rows:
            out._array = xp.as_strided(out._array, shape, tuple(strides))
