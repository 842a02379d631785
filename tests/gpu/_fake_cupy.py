"""A stand-in for CuPy: NumPy underneath, its limits and its habits on top, and a record of it all.

It offers the names and keyword arguments of CuPy 14.2 and no others (`cupy_names.json`, read off
the real package), refuses NumPy arrays and hidden transfers, wraps indices around, forgets memory
order in ufuncs, loses the base of strided views, wants the current device to be the arrays' own,
and forbids transfers while a graph is captured.  Every call is noted with its device and stream.
A captured graph can be launched: it repeats the calls on the same memory.

What it cannot show is what only a GPU can: that kernels compile and run, and how fast.
"""

from __future__ import annotations

import json
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from minigrad.backend import special, special_gamma
from tests.gpu import _cuda_on_host

NAMES = json.loads(Path(__file__).with_name("cupy_names.json").read_text())
MODULES = ("cupy", "cupy.linalg", "cupyx", "cupyx.scipy", "cupyx.scipy.special")

COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")


class CUDARuntimeError(RuntimeError):
    """What the driver complains about."""


class State:
    """The imaginary machine: its devices, streams, memory and the record of what was done."""

    def __init__(self, devices: int = 2) -> None:
        self.devices = devices
        self.current = 0
        self.streams: dict[int, Stream] = {}
        self.log: list[tuple[Any, ...]] = []
        self.ticks = 0
        self.handles = 0
        self.capturing: Stream | None = None
        self.recorded: list[tuple[Any, ...]] = []
        self.worked_in: list[Any] = []  # what a capture allocated: a graph writes there for good
        self.pools: list[MemoryPool] = []
        self.pool = MemoryPool()
        self.allocator: Callable[[int], Any] = self.pool.malloc
        self.memories: weakref.WeakValueDictionary[int, Memory] = weakref.WeakValueDictionary()
        self.linalg_raises = False

    def note(self, name: str, *more: Any) -> None:
        self.ticks += 1
        self.log.append((name, self.current, current_stream().ptr, *more))

    def transfer(self, name: str) -> None:
        """Note a transfer, for which a capture has no place."""
        if self.capturing is not None:
            raise CUDARuntimeError(
                f"cudaErrorStreamCaptureUnsupported: operation not permitted when stream is "
                f"capturing ({name})")
        self.note(name)

    def new_pool(self) -> MemoryPool:
        """Return a pool; nobody frees its memory if it is forgotten, so it is remembered."""
        self.pools.append(MemoryPool())
        return self.pools[-1]

    def names(self) -> list[str]:
        """Return the names of all calls so far."""
        return [entry[0] for entry in self.log]


machine: State


# -------------------------------------------------------------------- memory


class Memory:
    """A piece of memory; `owner` is the NumPy array that has it."""

    def __init__(self, size: int, pool: MemoryPool | None = None) -> None:
        self.size = -(-size // 512) * 512
        self.device_id = machine.current
        self.owner: Any = None
        self.ptr = 0
        if pool is not None:
            pool.used[self.device_id] = pool.used.get(self.device_id, 0) + self.size
            weakref.finalize(self, pool.give_back, self.device_id, self.size)

    def adopt(self, owner: Any) -> None:
        self.owner, self.ptr = owner, owner.__array_interface__["data"][0]
        machine.memories[id(owner)] = self
        if machine.capturing is not None:
            machine.worked_in.append(owner)


class MemoryPointer:
    def __init__(self, mem: Memory, ptr: int) -> None:
        self.mem, self.ptr = mem, ptr

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr + offset)


class MemoryPool:
    def __init__(self) -> None:
        self.used: dict[int, int] = {}
        self.most: dict[int, int] = {}
        self.asked = 0  # how often what is in use was added up, which takes its time

    def malloc(self, size: int) -> MemoryPointer:
        memory = Memory(size, self)
        used = self.used[memory.device_id]
        self.most[memory.device_id] = max(self.most.get(memory.device_id, 0), used)
        return MemoryPointer(memory, 0)

    def give_back(self, device: int, size: int) -> None:
        self.used[device] -= size

    def used_bytes(self) -> int:
        self.asked += 1
        return self.used.get(machine.current, 0)

    def total_bytes(self) -> int:
        return self.most.get(machine.current, 0)

    def free_all_blocks(self, stream: Any = None) -> None:
        self.most[machine.current] = self.used.get(machine.current, 0)  # as CuPy does


# -------------------------------------------------------------------- arrays


def owner_of(host: Any) -> Any:
    while type(host.base) is np.ndarray:
        host = host.base
    return host


class ndarray:
    __slots__ = ("__weakref__", "base", "data", "host")
    __hash__ = None  # type: ignore[assignment]  # arrays compare elementwise

    host: Any

    def __init__(self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None,
                 order: str = "C") -> None:
        self.base = None
        if memptr is None:
            self.host = np.empty(shape, dtype, order)
            self.data = allocated(self.host)
            return
        memory = memptr.mem
        flat = memory.owner.transpose(
            np.argsort([-s for s in memory.owner.strides], kind="stable")).reshape(-1)
        assert np.shares_memory(flat, memory.owner) or not flat.size
        self.host = np.ndarray(shape, dtype, flat.view(np.uint8), memptr.ptr - memory.ptr, strides)
        self.data = memptr

    @classmethod
    def of(cls, host: Any) -> ndarray:
        """Return the device array of a NumPy array that nobody else has, or of a view."""
        array = cls.__new__(cls)
        array.host, array.base = host, None
        owner = owner_of(host)
        memory = machine.memories.get(id(owner))
        if memory is None:
            array.data = allocated(host)
        else:
            pointer = host.__array_interface__["data"][0]
            array.data = MemoryPointer(memory, pointer)
            if owner is not host:
                array.base = cls.__new__(cls)
                array.base.host, array.base.base = owner, None
                array.base.data = MemoryPointer(memory, memory.ptr)
        return array

    @property
    def device(self) -> Any:
        return SimpleNamespace(id=self.data.device_id)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Take on what NumPy was asked for, as CuPy does: with a 0-d array a comparison only."""
        found = getattr(sys.modules["cupy"], ufunc.__name__, None)
        if found is None or method != "__call__":
            return NotImplemented
        if ufunc.__name__ in COMPARISONS:
            inputs = tuple(x.item() if isinstance(x, np.ndarray) and not x.ndim else x
                           for x in inputs)
        return found(*inputs, **kwargs)

    def get(self, stream: Any = None, order: str = "C", out: Any = None,
            blocking: bool = True) -> Any:
        machine.transfer("get" if blocking else "get without waiting")
        self._here()
        if out is None:
            return np.array(self.host, order=order)
        assert out.flags.c_contiguous and self.host.flags.c_contiguous
        out[...] = self.host
        return out

    def item(self) -> Any:
        machine.transfer("item")
        return self.host.item()

    def tolist(self) -> Any:
        machine.transfer("tolist")
        return self.host.tolist()

    def __bool__(self) -> bool:
        if self.host.dtype.kind != "b":
            self._refuse()
        machine.transfer("bool")
        return bool(self.host)

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("reading a value of a device array in Python is a hidden transfer; use "
                        "`array.item()` to make it explicit")

    __float__ = __int__ = __index__ = _refuse

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()` "
                        "to construct a NumPy array explicitly.")

    def _here(self) -> None:
        if self.data.device_id != machine.current:
            raise CUDARuntimeError(f"an array of device {self.data.device_id} is used while device "
                                   f"{machine.current} is the current one")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        host = self.host
        return {"shape": host.shape, "typestr": host.dtype.str, "version": 3, "stream": 1,
                "strides": None if host.flags.c_contiguous else host.strides,
                "data": (self.data.ptr, False)}

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.host.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self.data.device_id

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in NAMES["ndarray"]:
            raise AttributeError(f"'cupy.ndarray' object has no attribute {name!r}")
        value = getattr(self.host, name)
        if not callable(value):
            return wrap(value)
        return method(name, value, self)

    @property
    def flags(self) -> Any:
        flags = self.host.flags
        return SimpleNamespace(c_contiguous=flags.c_contiguous, f_contiguous=flags.f_contiguous,
                               owndata=self.base is None)

    def __len__(self) -> int:
        return len(self.host)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self.host)))

    def __getitem__(self, key: Any) -> Any:
        return call("getitem", lambda a, k: a[wrapped_around(a, k)], (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        parts = key if isinstance(key, tuple) else (key,)
        if machine.capturing is not None and not isinstance(value, ndarray) and any(
                isinstance(part, ndarray) for part in parts):
            machine.transfer("from host")  # a number for elements that an array names
        call("setitem", lambda a, k, v: a.__setitem__(wrapped_around(a, k), v),
             (self, key, value), {})

    def __repr__(self) -> str:
        return f"fake cupy {self.host!r}"


def allocated(host: Any) -> MemoryPointer:
    """Ask the allocator for the memory that a new array already has."""
    pointer = machine.allocator(host.nbytes)
    owner = owner_of(host)
    pointer.mem.adopt(owner)
    pointer.mem.owner = owner
    pointer.ptr = host.__array_interface__["data"][0]
    return pointer


def wrapped_around(array: Any, key: Any) -> Any:
    """Return an index whose integer arrays wrap around, as CuPy's do."""
    parts = list(key) if isinstance(key, tuple) else [key]
    dim = 0
    for place, part in enumerate(parts):
        if part is Ellipsis:
            rest = sum(p.ndim if isinstance(p, np.ndarray) and p.dtype.kind == "b" else
                       p is not None for p in parts[place + 1:])
            dim = array.ndim - rest
        elif isinstance(part, np.ndarray) and part.dtype.kind in "iu":
            parts[place] = part % max(array.shape[dim], 1)
            dim += 1
        elif isinstance(part, np.ndarray):
            dim += part.ndim
        elif part is not None:
            dim += 1
    return tuple(parts) if isinstance(key, tuple) else parts[0]


def unwrap(value: Any) -> Any:
    """Return the NumPy array of a fake one, inside sequences too; refuse plain ones."""
    if isinstance(value, ndarray):
        value._here()
        return value.host
    if isinstance(value, np.ndarray) and value.dtype.kind != "V":  # structs go by value
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    if type(value) is dict:
        return {key: unwrap(item) for key, item in value.items()}
    return value


def wrap(value: Any) -> Any:
    """Return results as fake arrays, NumPy scalars too; named tuples come as plain ones."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray.of(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(wrap, value)) if type(value) is list else tuple(map(wrap, value))
    return value


def call(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run a function on the hosts of its arguments; note it, and record it into a graph."""
    machine.note(name)
    hosts, named = unwrap(tuple(args)), unwrap(dict(kwargs))
    result = function(*hosts, **named)
    wrapped = wrap(result)
    if machine.capturing is not None and name not in ("empty", "empty_like"):  # no work
        several = type(wrapped) in (tuple, list)
        outputs = [w.host if isinstance(w, ndarray) else None
                   for w in (wrapped if several else [wrapped])]
        machine.recorded.append((function, hosts, named, outputs, several))
    return wrapped


def replay(recorded: list[tuple[Any, ...]]) -> None:
    """Repeat recorded calls: what they return goes where it went the first time."""
    for function, hosts, named, outputs, several in recorded:
        again = function(*hosts, **named)
        for before, now in zip(outputs, again if several else [again], strict=True):
            if before is not None and before.ctypes.data != np.asarray(now).ctypes.data:
                before[...] = now  # a view or `out` is where it was the first time


def check_keywords(name: str, args: Any, kwargs: Any, known: list[str]) -> None:
    wrong = [key for key in kwargs if key not in known]
    if "**" not in known and (wrong or (len(args) > len(known) and "*" not in known)):
        raise TypeError(f"{name}() takes {known}, not {len(args)} values and {sorted(kwargs)}")


def method(name: str, function: Callable[..., Any], array: ndarray) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        if name in NAMES["methods"]:
            check_keywords(name, args, kwargs, NAMES["methods"][name])
        result = call(name, lambda host, *a, **k: getattr(host, name)(*a, **k), (array, *args),
                      kwargs)
        return array if getattr(result, "host", None) is array.host else result  # as of `squeeze()`

    return run


class Ufunc:
    """A ufunc whose results are row-major, as CuPy's are."""

    def __init__(self, function: np.ufunc) -> None:
        self.function, self.nin, self.nout = function, function.nin, function.nout
        self.__name__ = function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        check_keywords(self.__name__, (), kwargs, ["out", "dtype", "casting"])
        if len(args) == self.nin and "out" not in kwargs:
            kwargs["order"] = "C"
        return call(self.__name__, self.function, args, kwargs)

    def at(self, array: ndarray, indices: Any, values: Any) -> None:
        if self.function is not np.add or array.dtype.name not in (
                "int32", "float16", "float32", "float64", "uint32", "uint64"):
            raise TypeError(f"{self.__name__}.at does not support {array.dtype}")
        call("add.at", lambda a, i, v: np.add.at(a, wrapped_around(a, i), v),
             (array, indices, values), {})

    def reduce(self, array: ndarray, axis: Any = 0, dtype: Any = None, out: Any = None,
               keepdims: bool = False) -> Any:
        if self.function not in (np.add, np.multiply):
            raise NotImplementedError(f"`{self.__name__}.reduce` is not supported yet")
        return call(self.__name__ + ".reduce", self.function.reduce,
                    (array, axis, dtype, out, keepdims), {})


#: What CuPy asks cuBLAS for.
PRODUCTS = ("matmul", "dot", "vdot", "inner", "tensordot")


def check_captured(name: str, args: Any) -> None:
    """Refuse what CuPy does not do while a stream captures."""
    if machine.capturing is None:
        return
    if name in PRODUCTS and any(a.dtype.kind == "f" for a in args[:2]):
        raise NotImplementedError("calling cuBLAS API during stream capture is currently "
                                  "unsupported")
    if name == "einsum" and "matmul" not in vars(sys.modules["cupy"]):  # which it calls
        raise NotImplementedError("calling cuBLAS API during stream capture is currently "
                                  "unsupported")
    if name in ("concatenate", "stack") and len(args[0]) > 8:
        machine.transfer("from host")  # the arrays' addresses


def function(section: str, name: str, found: Callable[..., Any]) -> Callable[..., Any]:
    known = NAMES[section][name]

    def run(*args: Any, **kwargs: Any) -> Any:
        check_keywords(name, args, kwargs, known)
        check_captured(name, args)
        return call(name, found, args, kwargs)

    return run


class RawKernel:
    """A kernel, run on the CPU where there is a C++ compiler."""

    def __init__(self, code: str, name: str, options: tuple[str, ...] = ()) -> None:
        self.code, self.name, self.options = code, name, options

    def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int = 0) -> None:
        assert len(grid) == len(block) == 1 and 0 < grid[0] < 1 << 31 and block[0] <= 1024
        assert block[0] & (block[0] - 1) == 0, "sums of a block want a power of two"
        if _cuda_on_host.COMPILER is None:
            pytest.skip("kernels run on the CPU only with a C++ compiler")
        for value in args:
            assert isinstance(value, (ndarray, np.generic, np.ndarray)), f"no size: {value!r}"
            assert not isinstance(value, ndarray) or value.flags.c_contiguous, "strides are lost"

        def run(*hosts: Any) -> None:
            _cuda_on_host.run(self.name, self.options, hosts)

        call(self.name, run, args, {})


def operation(name: str, reflected: bool = False, into: bool = False) -> Callable[..., Any]:
    compute = getattr(operator, ("i" if into else "") + name)

    def run(self: ndarray, *others: Any) -> Any:
        for other in others:
            if not isinstance(other, (ndarray, int, float, np.generic)):
                if isinstance(other, np.ndarray):
                    raise TypeError(f"Unsupported type {type(other)}")
                return NotImplemented
        args = (*others, self) if reflected else (self, *others)
        check_captured(name, args)
        result = call(name, compute, args, {})
        return self if into else result

    return run


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_",
              "xor", "lshift", "rshift"):
    _short = _name.rstrip("_")
    setattr(ndarray, f"__{_short}__", operation(_name))
    setattr(ndarray, f"__r{_short}__", operation(_name, reflected=True))
    if _name != "matmul":
        setattr(ndarray, f"__i{_short}__", operation(_short if _short in ("and", "or") else _name,
                                                     into=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(ndarray, f"__{_name}__", operation(_name))


# -------------------------------------------------------------------- devices, streams, events


class Device:
    def __init__(self, device: int | None = None) -> None:
        self.id = machine.current if device is None else int(device)
        self._before: list[int] = []

    def use(self) -> None:
        if not 0 <= self.id < machine.devices:
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        machine.current = self.id

    def __enter__(self) -> Device:
        self._before.append(machine.current)
        self.use()
        return self

    def __exit__(self, *exc: object) -> None:
        machine.current = self._before.pop()

    def synchronize(self) -> None:
        machine.transfer("device synchronize")

    @property
    def mem_info(self) -> tuple[int, int]:
        return 1 << 33, 1 << 34

    @property
    def cublas_handle(self) -> int:
        return 1000 + self.id


class Event:
    def __init__(self, block: bool = False, disable_timing: bool = False,
                 interprocess: bool = False) -> None:
        self.timed = not disable_timing
        self.at: int | None = None
        self.device = machine.current

    def record(self, stream: Any = None) -> None:
        machine.note("record", (stream or current_stream()).ptr)
        self.at = machine.ticks

    @property
    def done(self) -> bool:
        return True

    def synchronize(self) -> None:
        machine.transfer("event synchronize")


class Stream:
    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False,
                 priority: int | None = None) -> None:
        self.ptr = 0
        self.device_id = -1
        self.is_non_blocking = non_blocking
        if not null:
            machine.handles += 1
            self.ptr, self.device_id = machine.handles, machine.current
        self._before: list[Stream] = []

    def use(self) -> Stream:
        if self.device_id not in (-1, machine.current):
            raise RuntimeError(f"The device that the stream is created on ({self.device_id}) does "
                               f"not match with the current device ({machine.current})")
        machine.streams[machine.current] = self
        return self

    def __enter__(self) -> Stream:
        self._before.append(current_stream())
        return self.use()

    def __exit__(self, *exc: object) -> None:
        machine.streams[machine.current] = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)

    def synchronize(self) -> None:
        machine.transfer("stream synchronize")

    @property
    def done(self) -> bool:
        return True

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        machine.note("wait", self.ptr)

    def begin_capture(self, mode: Any = None) -> None:
        if not self.ptr:
            raise RuntimeError("cannot capture on the default (legacy) stream")
        machine.capturing, machine.recorded, machine.worked_in = self, [], []
        self._values = [(memory, memory.owner.copy()) for memory in machine.memories.values()]

    def end_capture(self) -> Graph:
        for memory, values in self._values:  # what is captured is not done yet
            memory.owner[...] = values
        self._values.clear()
        recorded, machine.capturing, machine.recorded = machine.recorded, None, []
        return Graph(recorded, machine.worked_in)

    def is_capturing(self) -> bool:
        return machine.capturing is self


class Graph:
    def __init__(self, recorded: list[tuple[Any, ...]], worked_in: list[Any]) -> None:
        self.recorded, self.worked_in = recorded, worked_in

    def launch(self, stream: Any = None) -> None:
        machine.note("launch", len(self.recorded))
        replay(self.recorded)


def current_stream(device: int = -1) -> Stream:
    index = machine.current if device == -1 else device
    return machine.streams.setdefault(index, Stream(null=True))


def elapsed_time(start: Event, end: Event) -> float:
    if not (start.timed and end.timed):
        raise CUDARuntimeError("cudaErrorInvalidResourceHandle: invalid resource handle")
    assert start.at is not None and end.at is not None
    return float(end.at - start.at)


@contextmanager
def using_allocator(allocator: Any = None) -> Iterator[None]:
    before, machine.allocator = machine.allocator, allocator or machine.pool.malloc
    try:
        yield
    finally:
        machine.allocator = before


# -------------------------------------------------------------------- the modules


class FakeModule(ModuleType):
    """A module with the names of the real one: NumPy's functions behind them."""

    def __init__(self, name: str, section: str, source: Any, own: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(own)
        self.__path__: list[str] = []
        self._section, self._source = section, source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in NAMES[self._section]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(self._source, name)
        if isinstance(found, np.ufunc):
            return Ufunc(found)
        if isinstance(found, (type, float, int)) or found is None:
            return found
        return function(self._section, name, found)


def numpy_array(obj: Any, dtype: Any = None, copy: Any = True, order: Any = "K",
                subok: bool = False, ndmin: int = 0, *, blocking: bool = False) -> ndarray:
    """`cupy.array`: from the host a transfer, unless it is a number; on the device a copy."""
    if isinstance(obj, ndarray):
        if obj.data.device_id != machine.current:
            if order in (None, "K") and not (obj.host.flags.forc or 0 in obj.shape):
                raise NotImplementedError(
                    "CuPy cannot copy non-contiguous array between devices.")
            machine.note("copy between devices")
            return ndarray.of(np.array(obj.host, dtype, order=order or "K"))
        return call("array", lambda a: np.array(a, dtype, copy=copy, order=order or "K",
                                                ndmin=ndmin), (obj,), {})
    if isinstance(obj, (list, tuple)) and any(isinstance(item, ndarray) for item in obj):
        return call("array", lambda a: np.array(a, dtype), (list(obj),), {})
    machine.transfer("from host")
    order = "F" if order == "K" and np.asarray(obj).flags.fnc else "C"
    return ndarray.of(np.array(obj, dtype, order=order, ndmin=ndmin))


def as_array(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None,
             blocking: bool = False) -> ndarray:
    return numpy_array(a, dtype, copy, order)


def as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    return ndarray(tuple(shape), x.dtype, x.data, tuple(strides))


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> Any:
    machine.note("pinned memory")
    return np.empty(shape, dtype, order)


def isin(element: Any, test_elements: Any, assume_unique: bool = False,
         invert: bool = False) -> Any:
    assert isinstance(element, ndarray) and isinstance(test_elements, ndarray), "CuPy wants arrays"
    return call("isin", lambda a, b: np.isin(a, b, invert=invert), (element, test_elements), {})


def floor_divide(a: Any, b: Any) -> Any:
    """Divide and round down: floats as CuPy does it, whose quotient was rounded before."""
    def compute(a: Any, b: Any) -> Any:
        found = np.floor_divide(a, b)
        whole = found.dtype.kind != "f"
        return found if whole else np.floor(np.true_divide(a, b)).astype(found.dtype)

    return call("floor_divide", compute, (a, b), {})


@contextmanager
def errstate(*, linalg: str | None = None) -> Iterator[None]:
    before, machine.linalg_raises = machine.linalg_raises, linalg == "raise"
    try:
        yield
    finally:
        machine.linalg_raises = before


class FakeLinalg(FakeModule):
    """`cupy.linalg`, which gives NaN for want of a result unless it is told to raise."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, type) or not callable(found):
            return found

        def run(*args: Any, **kwargs: Any) -> Any:
            if name == "solve" and args[0].shape[:-1] != args[1].shape[:-1]:
                raise ValueError("a must have (..., M, M) shape and b must have (..., M, K)")
            try:
                return found(*args, **kwargs)
            except np.linalg.LinAlgError:
                if machine.linalg_raises:
                    raise
                return ndarray.of(np.full(args[0].shape, np.nan))

        return run


def modules(devices: int = 2) -> dict[str, ModuleType]:
    """Return fresh modules, by the names under which they are imported."""
    global machine
    machine = State(devices)
    state = machine

    def device_count() -> int:
        if not state.devices:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return state.devices

    cuda = SimpleNamespace(
        Device=Device, Event=Event, Stream=Stream, Graph=Graph, MemoryPool=state.new_pool,
        MemoryPointer=MemoryPointer, get_current_stream=current_stream,
        get_elapsed_time=elapsed_time, using_allocator=using_allocator,
        set_allocator=lambda f=None: setattr(state, "allocator", f or state.pool.malloc),
        get_allocator=lambda: state.allocator,
        runtime=SimpleNamespace(
            getDeviceCount=device_count, CUDARuntimeError=CUDARuntimeError,
            getDeviceProperties=lambda i: {"name": f"Imaginary GPU {i}".encode(), "major": 9,
                                           "minor": 0, "totalGlobalMem": 1 << 34,
                                           "multiProcessorCount": 132}),
        nvtx=SimpleNamespace(RangePush=lambda name: state.note("push", name),
                             RangePop=lambda: state.note("pop")),
    )
    linalg = FakeLinalg("cupy.linalg", "linalg", np.linalg, {})
    cupy = FakeModule("cupy", "cupy", np, {
        "ndarray": ndarray, "RawKernel": RawKernel, "array": numpy_array, "asarray": as_array,
        "isin": isin, "floor_divide": floor_divide, "cuda": cuda, "__version__": NAMES["version"],
        "linalg": linalg, "get_default_memory_pool": lambda: state.pool, "fake": state,
        "from_dlpack": lambda x: ndarray.of(getattr(x, "_array", x).host[...]),
        "lib": SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided)),
    })
    polygamma = np.frompyfunc(lambda n, x: float(special.polygamma(np.float64(x), int(n))), 2, 1)

    def of_arrays(n: Any, x: Any) -> Any:
        return np.asarray(polygamma(n.astype(float), x)).astype(x.dtype)

    functions = SimpleNamespace(
        erf=special.erf, erfc=special.erfc, erfinv=special.erfinv, gammaln=special.lgamma,
        digamma=special.digamma, polygamma=of_arrays, gammainc=special_gamma.gammainc,
        gammaincc=special_gamma.gammaincc)
    cupyx_special = FakeModule("cupyx.scipy.special", "special", functions, {})
    scipy = FakeModule("cupyx.scipy", "special", None, {"special": cupyx_special})
    cupyx = FakeModule("cupyx", "cupy", None, {"errstate": errstate, "scipy": scipy,
                                               "empty_pinned": empty_pinned})
    return dict(zip(MODULES, (cupy, linalg, cupyx, scipy, cupyx_special), strict=True))


@cache
def code_of(name: str, path: str) -> CodeType | None:
    """Return the code of one of the backend's modules, compiled once."""
    return SourceFileLoader(name, path).get_code(name)


class CompiledOnce(SourceFileLoader):
    """Loads a module that is imported anew for each test, but compiled only once."""

    def get_code(self, fullname: str) -> CodeType | None:
        return code_of(fullname, self.path)


class Finder(MetaPathFinder):
    """Finds the backend's modules for `CompiledOnce`."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith("minigrad.backend.cupy"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = CompiledOnce(name, spec.origin)
        return spec


@contextmanager
def installed(devices: int = 2) -> Iterator[State]:
    """Put the stand-in in CuPy's place; the backend is imported anew on it, and forgotten."""
    from minigrad import backend

    ours = [name for name in sys.modules if name.startswith("minigrad.backend.cupy")]
    kept = {name: sys.modules.pop(name, None) for name in (*MODULES, *ours)}
    tables = dict(backend.BACKENDS), dict(backend.DEVICES)
    sys.modules.update(modules(devices))
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield machine
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.startswith("minigrad.backend.cupy")] + [*MODULES]:
            sys.modules.pop(name, None)
        sys.modules.update({name: module for name, module in kept.items() if module is not None})
        vars(backend).pop("cupy", None)
        for table, before in zip((backend.BACKENDS, backend.DEVICES), tables, strict=True):
            table.clear()
            table.update(before)
