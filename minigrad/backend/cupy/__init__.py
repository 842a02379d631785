"""CuPy as a backend, for one or several NVIDIA GPUs.

Everything here needs CuPy and a driver; `backend.load_cuda()` imports it on the first use of
`device="cuda"`.  This module handles differences between CuPy and NumPy:

- an index that is out of range wraps around, so `check_indices` checks it first;
- a matrix without a decomposition gives NaN, so functions of `linalg` are set to raise;
- strided views have no base; see NOTE [Memory of device arrays] in `tensor/attributes.py`;
- scatter-add does not support some integer dtypes, see `add_at`.

NOTE [The current device and stream]
    CuPy keeps both per thread and runs kernels there; using memory of another device is an error or
    slow.  Therefore an op runs under `Place(...)` of its arrays, unless that is the default place:
    device 0 and its default stream.  In the usual case this costs only two comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import cupy
import cupyx
import cupyx.scipy.special as device_special
import numpy as np

from .. import kernels_mask
from ..kernels import Kernels
from . import products
from .dnn import CudnnKernels
from .launch import each
from .layout import covered, dense, wide_type
from .losses import Losses
from .memory import Memory
from .place import Place, capturing, default_place, place_of, recorded
from .random import Capture, Generators
from .steps import Steps

__all__ = ["CupyBackend", "backend"]

Array = Any

#: Dtypes of CuPy's scatter-add; other integers are converted to the first one.
_SCATTERED = ("int32", "float16", "float32", "float64", "uint32", "uint64")


class Checked:
    """A module whose functions raise where CuPy's return NaN because there is no result."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.module, name)
        if isinstance(found, type) or not callable(found):
            return found

        def checked(*args: Any, **kwargs: Any) -> Any:
            with cupyx.errstate(linalg="raise"):
                return found(*args, **kwargs)

        setattr(self, name, checked)
        return checked

    def solve(self, a: Array, b: Array) -> Array:
        """Solve systems of equations; batches broadcast as in NumPy."""
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        with cupyx.errstate(linalg="raise"):
            return self.module.solve(*(cupy.broadcast_to(x, (*batch, *x.shape[-2:]))
                                       for x in (a, b)))


def of_same_dtype(function: Any) -> Any:
    """Wrap a special function so that its result has its first argument's dtype."""

    def same(x: Array, *others: Array) -> Array:
        return function(x, *others).astype(x.dtype, copy=False)

    return staticmethod(same)


class CupyBackend(CudnnKernels, Losses, Steps, Kernels):
    """CuPy's array functions, each bound on first use, and the ones that CuPy lacks."""

    name = "cupy"
    device_type = "cuda"
    array_type: type = cupy.ndarray
    run_op = run_values = None

    erf = of_same_dtype(device_special.erf)
    erfc = of_same_dtype(device_special.erfc)
    erfinv = of_same_dtype(device_special.erfinv)
    lgamma = of_same_dtype(device_special.gammaln)
    digamma = of_same_dtype(device_special.digamma)
    gammainc = of_same_dtype(device_special.gammainc)
    gammaincc = of_same_dtype(device_special.gammaincc)

    #: `dot` is only called with vectors
    matmul = dot = staticmethod(products.matmul)

    def __init__(self) -> None:
        self.memory = Memory()
        self.generators = Generators()
        self.linalg = Checked(cupy.linalg)

    def __getattr__(self, name: str) -> Any:
        if name == "errstate":  # only NumPy needs it: GPUs compute 1 / 0 without a warning
            raise AttributeError(name)
        value = getattr(cupy, name)
        setattr(self, name, value)
        return value

    # ---------------------------------------------------------------- arrays

    def as_array(self, value: Any) -> Array:
        """Return arrays unchanged and numbers as 0-d arrays."""
        return value if type(value) is cupy.ndarray else cupy.asarray(value)

    def asarray(self, value: Any, dtype: Any = None, order: str | None = None) -> Array:
        """Return `cupy.asarray`'s array; Python numbers are passed as in `from_host`."""
        if isinstance(value, (bool, int, float)):
            return self.from_host(np.asarray(value, dtype))
        return cupy.asarray(value, dtype, order)

    def number(self, array: Any) -> Any:
        """Return a 0-d array of the host as a NumPy scalar, which kernels take by value.

        That way a number needs no memory on the device and no copy, and a graph can capture it.
        """
        return array[()]

    def from_host(self, array: Any) -> Array:
        """Copy a NumPy array to the current device; dense memory keeps its order.

        The host waits until the values are read, but not until they have arrived.  A single number
        becomes an argument of the kernel that writes it, except -0.0, which CuPy would write as 0.
        """
        if not array.ndim and (array or array.dtype.kind != "f" or not np.signbit(array)):
            return cupy.full((), array[()], array.dtype)
        axes = order_in_memory(array)
        if axes is None:
            return cupy.asarray(array, order="C")
        return cupy.asarray(array.transpose(axes), order="C").transpose(np.argsort(axes).tolist())

    def to_host(self, array: Array, non_blocking: bool = False) -> Any:
        """Copy the values to the host; dense memory keeps its order.

        With `non_blocking` it copies into pinned memory; the values are there once the stream has
        been synchronised.
        """
        with self.at(array):
            axes = order_in_memory(array)
            turned = array if axes is None else array.transpose(axes)
            if non_blocking:
                turned = cupy.ascontiguousarray(turned)
                out = cupyx.empty_pinned(turned.shape, turned.dtype)
                host = turned.get(out=out, blocking=False)
            else:
                host = turned.get(order="C")
        return host if axes is None else host.transpose(np.argsort(axes))

    def to_device(self, array: Array, index: int | None) -> Array:
        """Copy an array to the device with this number, by default the current one.

        Dense memory keeps its order.  A copy between devices is queued in the target's stream,
        which waits for the source's stream; afterwards the source waits for the target.
        """
        with self.on(index):
            there = default_place()
            if there.index == self.device_index(array):
                return cupy.array(array, copy=True, order="K")
            with self.at(array):
                here, axes = default_place(), order_in_memory(array)
                source = dense(array if axes is None else array.transpose(axes))
            there.stream.wait_event(recorded(here.stream, here.index))
            copied = cupy.array(source, order="C")
            arrived = recorded(there.stream, there.index)
        with self.at(array):
            here.stream.wait_event(arrived)
        return copied if axes is None else copied.transpose(np.argsort(axes).tolist())

    def pinned(self, array: Any) -> Any:
        """Copy a NumPy array to page-locked host memory."""
        out = cupyx.empty_pinned(array.shape, array.dtype)
        out[...] = array
        return out

    def as_strided(self, array: Array, shape: Sequence[int], strides: Sequence[int],
                   offset: int = 0) -> Array:
        """View `array`'s memory with this shape and these strides, in bytes.

        `offset` counts bytes from its first element and may be negative.  Raises `ValueError` if
        the view would leave the memory.
        """
        if 0 not in shape:
            start, memory = array.data.ptr + offset, array.data.mem
            steps = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
            low = start + sum(step for step in steps if step < 0)
            high = start + sum(step for step in steps if step > 0) + array.itemsize
            if low < memory.ptr or high > memory.ptr + memory.size:
                raise ValueError(f"shape {tuple(shape)} and strides {tuple(strides)} leave the "
                                 f"memory of {memory.size} bytes")
        else:
            offset = 0
        window = cupy.ndarray(tuple(shape), array.dtype, array.data + offset, tuple(strides))
        return window.view()  # which has a base, as views must have

    def add_at(self, target: Array, positions: Array, values: Array) -> None:
        """Compute `target[positions] += values` for flat positions, counting repeated ones."""
        if target.dtype.name in _SCATTERED:
            cupy.add.at(target, positions, values)
        elif target.dtype == np.int64:  # two's complement, so the bits are the same
            cupy.add.at(target.view(np.uint64), positions, values.view(np.uint64))
        else:
            wide = target.astype(np.int32)
            cupy.add.at(wide, positions, values.astype(np.int32))
            target[...] = wide.astype(target.dtype)

    def combine_at(self, combine: Any, target: Array, positions: Array, values: Array) -> None:
        """Compute `target[p] = combine(target[p], v)` for flat positions, even repeated ones.

        CuPy does not support this for every dtype. Instead, we sort the values by position and
        combine each with its neighbour if both have the same position, then with the value two
        places away, four, and so on.
        """
        order = cupy.argsort(positions)
        place, combined = positions[order], values[order]
        reach = 1
        while reach < place.size:
            own = combined[reach:]
            same = place[reach:] == place[:-reach]
            combined[reach:] = cupy.where(same, combine(own, combined[:-reach]), own)
            reach *= 2
        last = cupy.ones(place.shape, bool)
        last[:-1] = place[1:] != place[:-1]
        place = cupy.where(last, place, target.size)
        grown = cupy.concatenate([target, target[:1]])  # longer by one
        grown[place] = combine(grown[place], combined)
        target[...] = grown[:-1]

    def concatenate(self, arrays: Sequence[Array], axis: int = 0) -> Array:
        """Join arrays.

        For more than eight arrays CuPy copies their addresses from the host, which a capture
        forbids.
        """
        if len(arrays) > 8 and capturing():
            arrays = [self.concatenate(arrays[i:i + 8], axis) for i in range(0, len(arrays), 8)]
            return self.concatenate(arrays, axis)
        return cupy.concatenate(arrays, axis)

    def stack(self, arrays: Sequence[Array], axis: int = 0) -> Array:
        """Join arrays along a new dimension."""
        return self.concatenate([cupy.expand_dims(array, axis) for array in arrays], axis)

    def masked_scale(self, x: Array, mask: Array, scale: float) -> Array:
        """Return `x` times `scale` where `mask` is True, else zero, with one kernel."""
        if not covered(1, x) or x.shape != mask.shape:
            return kernels_mask.masked_scale(self, x, mask, scale)
        x = cupy.ascontiguousarray(x)
        out = cupy.empty_like(x)
        each("masked_scale", x.dtype, x.size, x, cupy.ascontiguousarray(mask), out, x.size,
             float(scale))
        return out

    def may_ask(self) -> bool:
        """Return whether values may be read now: not while a graph is captured."""
        return not capturing()

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Run a step as in a capture, but without one, to load the kernels that it uses."""
        products.begin(warming=True)
        try:
            yield
        finally:
            products.end()

    def begin_capture(self) -> None:
        """Prepare for capturing a graph."""
        self.generators.begin_capture()
        products.begin()

    def end_capture(self) -> Capture:
        """Return the generators that each repetition must advance."""
        products.end()
        return self.generators.end_capture()

    def check_indices(self, shape: Sequence[int], indices: Sequence[Array],
                      dims: Sequence[int]) -> None:
        """Raise NumPy's `IndexError` if an index is out of range.

        The host waits for the answer. While a graph is captured there is no check, so indices must
        be in range.
        """
        if not self.may_ask():
            return
        for dim, index in zip(dims, indices, strict=True):
            size = shape[dim]
            if index.dtype.kind == "b" or not index.size:
                continue
            outside = (index < -size) | (index >= size)
            if outside.any().item():
                raise IndexError(f"index {index[outside][0].item()} is out of bounds for axis "
                                 f"{dim} with size {size}")

    def floor_divide(self, a: Array, b: Array) -> Array:
        """Return the quotient rounded down, from the exact remainder as in PyTorch.

        CuPy rounds twice: for 1 and 0.1 it returns 10 instead of 9.
        """
        like = a if isinstance(a, cupy.ndarray) else b
        if like.dtype.kind != "f":
            return cupy.floor_divide(a, b)
        wide = wide_type(like.dtype)
        a, b = (x.astype(wide, copy=False) if isinstance(x, cupy.ndarray) else
                cupy.full((), x, wide) for x in (a, b))
        quotient, rest = a / b, cupy.fmod(a, b)
        exact = (a - rest) / b - ((rest != 0) & ((rest < 0) != (b < 0)))
        down = cupy.floor(exact)
        down = cupy.where(exact - down > 0.5, down + 1, down)
        down = cupy.where(exact != 0, down, cupy.copysign(0, quotient))
        return cupy.where(b == 0, quotient, down).astype(like.dtype, copy=False)

    def polygamma(self, x: Array, n: int) -> Array:
        """Return the derivative of order `n` of digamma."""
        return device_special.polygamma(cupy.full((), n), x).astype(x.dtype, copy=False)

    # ---------------------------------------------------------------- devices

    def device_count(self) -> int:
        """Return the number of devices."""
        return int(cupy.cuda.runtime.getDeviceCount())

    def current_device(self) -> int:
        """Return the number of this thread's current device."""
        return int(cupy.cuda.Device().id)

    def device_index(self, array: Array) -> int:
        """Return the number of the device that holds an array."""
        return int(array.data.device_id)

    def device_properties(self, index: int) -> dict[str, Any]:
        """Return the driver's properties of a device."""
        return dict(cupy.cuda.runtime.getDeviceProperties(index))

    def place_of(self, arrays: Sequence[Any]) -> Place | None:
        """Return the place to work on these arrays, or `None` for the default place."""
        return place_of(arrays)

    def ones_like(self, array: Array, **options: Any) -> Array:
        """Return ones with an array's shape on its device."""
        place = place_of([array])
        with nullcontext() if place is None else place.entered():
            return cupy.ones_like(array, **options)

    @contextmanager
    def on(self, index: int | None) -> Iterator[None]:
        """Make a device the current one; a no-op for `None`."""
        if index is None or index == self.current_device():
            yield
            return
        if not 0 <= index < self.device_count():
            raise RuntimeError(f"CUDA error: invalid device ordinal {index}: there are "
                               f"{self.device_count()} devices")
        with cupy.cuda.Device(index):
            yield

    @contextmanager
    def at(self, array: Array) -> Iterator[None]:
        """Make the device of an array the current one."""
        with self.on(self.device_index(array)):
            yield

    def synchronize(self, index: int | None = None) -> None:
        """Wait until all work of a device has finished."""
        (cupy.cuda.Device() if index is None else cupy.cuda.Device(index)).synchronize()

    def default_place(self) -> Place:
        """Return the place of this thread: its current device and stream."""
        return default_place()


def order_in_memory(array: Any) -> list[int] | None:
    """Return the axes ordered from the outermost in memory to the innermost.

    Returns `None` if they already are in that order, and for arrays with gaps, whose copies are
    row-major.
    """
    if array.ndim < 2 or array.flags.c_contiguous or 0 in array.shape:
        return None
    axes = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    return axes if array.transpose(axes).flags.c_contiguous else None


backend = CupyBackend()
