"""The keyword arguments of functions that create tensors, and how they are read.

Every such function goes through `create`, or through `alike` if another tensor (or in a formula a
bare array) determines the dtype and the device.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, TypedDict

from ... import _state
from ...backend import BACKENDS, backend_of
from ...backend.memory_layout import channels_last as laid_out_channels_last
from ...default_device import default_device
from ...device import build_on, device, device_of
from ...dtypes import as_dtype, dtype, from_numpy_dtype, get_default_dtype
from ...frames import type_in_error
from ...op.arguments import NUMBERS, given_ints, loses_no_gradient
from ...shapes import explain_dimensions
from ...tensor.tensor import Tensor, method
from .from_data import NO_COMPLEX, number

Array = Any
Shape = tuple[int, ...]


class Named:
    """A constant that prints as its name: a memory layout or a memory format."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = Named("strided")
contiguous_format = Named("contiguous_format")
preserve_format = Named("preserve_format")
channels_last = Named("channels_last")
channels_last_3d = Named("channels_last_3d")

#: The number of dimensions that a memory format requires.
RANKS = {channels_last: 4, channels_last_3d: 5}


def check_rank(memory_format: Named, ndim: int) -> None:
    """Raise `RuntimeError` unless a tensor has the rank that a memory format requires."""
    if ndim != RANKS[memory_format]:
        raise RuntimeError(f"required rank {RANKS[memory_format]} tensor to use "
                           f"{memory_format.name} format")


def layout(self: Tensor) -> Named:
    """The memory layout of the tensor: always `strided`.

    >>> from minigrad import ones
    >>> ones(2).layout
    torch.strided
    """
    return strided


method("layout")(property(layout))  # type: ignore[type-var]  # works for a property too


class Options(TypedDict, total=False):
    """The keyword arguments of all functions that create tensors."""

    dtype: Any
    layout: Named | None
    device: device | str | int | None
    requires_grad: bool
    pin_memory: bool | None
    memory_format: Named | None


class SizedOptions(Options, total=False):
    """The keyword arguments of functions that accept sizes one by one."""

    size: Any


ACCEPTED = Options.__annotations__.keys()


def create(
    name: str,
    options: Options,
    build: Callable[[Any, Any], Array],
    default: dtype | None = None,
    backend: Any = None,
) -> Tensor:
    """Create the tensor whose array is `build(xp, numpy dtype)`, with the given options.

    If the options have no dtype, it is `default`, or else the default dtype.
    """
    for key in options:
        if key not in ACCEPTED:
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    if options.get("layout") not in (None, strided):
        raise TypeError(f"{name}(): minigrad has strided tensors only, no {options['layout']}")
    chosen = wanted_dtype(name, options) or default or get_default_dtype()

    def make() -> Array:
        return built(name, options, build, chosen, backend)

    if _state.observers.count and (recording := _state.program.get()) is not None:
        tensor = recording.created(name, make)
    else:
        tensor = Tensor._plain_as(Tensor, make())
    return with_grad(tensor, options.get("requires_grad", False))


def built(name: str, options: Options, build: Callable[[Any, Any], Array], chosen: dtype,
          backend: Any) -> Array:
    """Return the array of a new tensor, on the device and in the memory format of the options."""
    where = options.get("device")
    try:
        if backend is not None and where is None:
            array = build(backend, chosen.numpy)
        else:
            place = default_device() if where is None else where
            array = build_on(place, lambda xp: build(xp, chosen.numpy))
    except ValueError as error:
        explain_dimensions(name, error)
        raise
    memory_format = options.get("memory_format")
    if memory_format is not None and memory_format in RANKS:
        check_rank(memory_format, array.ndim)
        array = laid_out_channels_last(array)
    return array


def without_grad(options: Options) -> Options:
    """Return options that leave `requires_grad` to a later `with_grad`."""
    return {**options, "requires_grad": False}


def with_grad(tensor: Tensor, requires_grad: bool) -> Tensor:
    """Set `requires_grad` on a new tensor; raise `RuntimeError` unless it is floating-point."""
    if requires_grad:
        if not tensor.is_floating_point():
            raise RuntimeError("Only Tensors of floating point and complex dtype can require "
                               "gradients")
        tensor.requires_grad_()
    return tensor


def wanted_dtype(name: str, options: Options) -> dtype | None:
    """Return the dtype in the options, or `None`."""
    wanted = options.get("dtype")
    if wanted is None or type(wanted) is dtype:
        return wanted
    if wanted is complex:
        raise TypeError(NO_COMPLEX)
    known = as_dtype(wanted)
    if not isinstance(known, dtype):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not "
                        f"{type_in_error(wanted)}")
    return known


def sizes(name: str, dims: tuple[Any, ...], options: SizedOptions) -> Shape:
    """Read a shape that is passed as `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`."""
    if "size" in options:
        dims = (options.pop("size"),)
    elif not dims:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    shape = [*map(index, given_ints(name, "size", dims))]
    if any(n < 0 for n in shape):
        least = min(shape)
        raise RuntimeError(f"Trying to create tensor with negative dimension {least}: {shape}")
    return tuple(shape)


def fill_number(name: str, position: int, value: Any) -> Any:
    """Return the number to fill with; a zero-dimensional tensor works too."""
    if isinstance(value, Tensor) and not value.ndim and loses_no_gradient(value):
        return value.item()
    if isinstance(value, complex):
        raise TypeError(NO_COMPLEX)
    if not isinstance(value, NUMBERS):
        raise TypeError(f"{name}(): argument 'fill_value' (position {position}) must be Number, "
                        f"not {type_in_error(value)}")
    return value


def filled(name: str, shape: Shape, value: Any, options: Options, default: dtype,
           backend: Any = None) -> Tensor:
    """Create a tensor filled with one value."""

    def build(xp: Any, numpy_dtype: Any) -> Array:
        return xp.full(shape, number(value, from_numpy_dtype(numpy_dtype))[()], numpy_dtype)

    return create(name, options, build, default, backend)


def alike(name: str, input: Any, options: Options, build: Callable[[Any, Any], Array]) -> Tensor:
    """Make a tensor like a tensor, or an array like an array: with its dtype, on its device."""
    if type(input) in BACKENDS:
        wanted = wanted_dtype(name, options)
        dtype = input.dtype if wanted is None else wanted.numpy
        return build(backend_of(input), dtype)
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not "
                        f"{type_in_error(input)}")
    array = input._array
    xp = backend_of(array)
    if xp.device_type != "cpu" and options.get("device") is None:
        options = {**options, "device": device_of(array)}
    return create(name, options, build, from_numpy_dtype(array.dtype), xp)


def order(input: Any, options: Options) -> str:
    """Return NumPy's `order` for the memory layout of a `*_like` tensor."""
    if options.get("memory_format") not in (None, preserve_format):
        return "C"
    array = input if type(input) in BACKENDS else getattr(input, "_array", None)
    return "C" if array is None or 0 in array.strides else "K"


def array_of(input: Any) -> Array:
    """Return the array of a tensor, or the array itself."""
    return input._array if isinstance(input, Tensor) else input
