"""Reads the pickle and the memories of a file; archive.py and legacy.py find them."""

from __future__ import annotations

import pickle
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING  # Python 2's names
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from .. import dtypes
from ..backend import backend_of, numpy_backend
from ..device import as_device, build_on, device, place_on
from ..frames import warn_user
from ..ops.shape.storages import TypedStorage, UntypedStorage
from ..shapes import numel
from ..tensor.attributes import Size
from ..tensor.tensor import Parameter, Tensor
from .names import found
from .storage_types import BY_NAME, StorageType
from .unpickling import Constructor, Refused, checked_key, set_state, unpickle

__all__ = ["Reader"]

Array = Any

DTYPES = {f"torch {d.name}": d for d in dtypes.ALL}

#: Modules whose functions `load` doesn't call even if the caller declared them safe, as in PyTorch.
BLOCKED = ("sys", "os", "posix", "nt")

BFLOAT16 = ("the file contains tensors of dtype bfloat16, which NumPy does not have: they become "
            "float32, with the same values")


class Reader(ABC):
    """Builds objects from a pickle and the memories beside it."""

    #: "little" or "big": the order of the bytes of a number in the file
    byteorder = "little"

    def __init__(self, map_location: Any) -> None:
        self.map_location = map_location
        self.hosts: dict[str, tuple[StorageType, Array]] = {}
        self.storages: dict[str, Any] = {}
        self.has_warned = False

    @abstractmethod
    def host(self, storage_type: StorageType, key: str, size: int) -> Array:
        """Return a memory of `size` elements as an array on the CPU."""

    # ---------------------------------------------------------------- the pickle

    def safely(self, program: BinaryIO, trusted: dict[str, Any]) -> Any:
        """Return the object of a pickle of tensors, plain data and `trusted` objects by name."""
        return unpickle(program, lambda module, name: self.safe_name(module, name, trusted),
                        self.external, list(trusted.values()))

    def freely(self, program: BinaryIO, options: dict[str, Any]) -> Any:
        """Return the object of any pickle; this may run any code."""
        return Unpickler(self, program, options).load()

    def safe_name(self, module: str, name: str, trusted: dict[str, Any]) -> Any:
        """Return the object for a name in the pickle if it is harmless."""
        module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        full = f"{module}.{name}"
        if module in BLOCKED:
            raise Refused(f"Trying to load unsupported GLOBAL {full} whose module {module} is "
                          "blocked.")
        own = own_name(module, name)
        if own is not None:
            return own
        if full in trusted:
            return trusted[full]
        full = full.removeprefix("builtins.")
        raise Refused(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the "
            f"`torch.serialization.safe_globals([{full}])` context manager to allowlist this "
            "global if you trust this class/function.")

    # ---------------------------------------------------------------- memories

    def external(self, reference: Any) -> Any:
        """Return what a pickle refers to: a storage, or the class of a module in an old file."""
        tag, storage_type, key, place, size = reference[:5]
        if tag != "storage":
            raise Refused(f"Only persistent_load of storage is allowed, but got {type(tag)}")
        if not isinstance(storage_type, StorageType) or type(size) is not int or size < 0:
            raise Refused("the pickle refers to something that is not a memory")
        if reference[5:] not in ((), (None,)):
            raise Refused("the pickle refers to a part of a memory, as only PyTorch 0.1 wrote")
        key = str(key)
        if key not in self.storages:
            self.warn_of_bfloat16(storage_type)
            self.hosts[key] = storage_type, self.host(storage_type, key, size)
            self.storages[key] = self.placed(storage_type, self.hosts[key][1], str(place))
        known, host = self.hosts[key]
        if known is not storage_type or len(host) != size:
            raise ValueError(f"memory {key} has another dtype or size than its tensor")
        return self.storages[key]

    def warn_of_bfloat16(self, storage_type: StorageType) -> None:
        """Warn once that a file's numbers get another dtype."""
        if storage_type.in_file.itemsize != storage_type.dtype.itemsize and not self.has_warned:
            self.has_warned = True
            warn_user(f"load: {BFLOAT16}", UserWarning)

    def placed(self, storage_type: StorageType, host: Array, saved: str) -> Any:
        """Return the storage of a memory, on the device that `map_location` asks for."""
        cls = UntypedStorage if storage_type.name == "Untyped" else TypedStorage
        where: Any = self.map_location
        if callable(where):
            answer = where(cls(host), saved)
            where = saved if answer is None else answer.device
        elif isinstance(where, dict):
            where = where.get(saved)
        place = as_device(saved if where is None else where)
        if place.type == "cpu":
            return cls(numpy_backend.from_host(host))
        return cls(build_on(place, lambda xp: xp.from_host(host)))


class Unpickler(pickle.Unpickler):
    """Python's unpickler, for the names and memories of PyTorch's files."""

    def __init__(self, reader: Reader, program: BinaryIO, options: dict[str, Any]) -> None:
        super().__init__(program, **options)
        self.reader = reader

    def find_class(self, module: str, name: str) -> Any:
        """Return the object for a name."""
        if module.partition(".")[0] != "torch":
            return super().find_class(module, name)
        own = own_name(module, name)
        return found(module, name) if own is None else getattr(own, "call", own)

    def persistent_load(self, reference: Any) -> Any:
        """Return what a reference names."""
        if isinstance(reference, tuple) and reference[:1] == ("module",):
            return reference[1]  # in an old file: a class, then its source
        return self.reader.external(reference)


def own_name(module: str, name: str) -> Any:
    """Return what a harmless name means: a dtype, the type of a memory or a `Constructor`."""
    full = f"{module} {name}"
    for table in (DTYPES, BY_NAME, CONSTRUCTORS):
        if full in table:
            return table[full]
    if full == "torch bfloat16":
        return dtypes.float32
    if module == "torch" and name.endswith("Storage"):
        raise NotImplementedError(
            f"a tensor has the dtype of a {name}, which minigrad does not have")
    return None


# -------------------------------------------------------------------- what a pickle may call


def tensor(storage: Any, offset: int, shape: Any, strides: Any, requires_grad: bool = False,
           hooks: Any = None, metadata: Any = None) -> Tensor:
    """Return a tensor as a view of its memory."""
    if not isinstance(storage, TypedStorage):
        raise Refused("the pickle creates a tensor without memory")
    memory = storage._elements
    check_bounds(shape, strides, offset, len(memory))
    with place_on(memory):
        view = backend_of(memory).as_strided(
            memory[offset:], tuple(shape), tuple(s * memory.itemsize for s in strides))
    result = Tensor._plain_as(Tensor, view)
    return result.requires_grad_() if requires_grad else result


def parameter(data: Any, requires_grad: Any, hooks: Any, state: Any = None) -> Parameter:
    """Turn a tensor into a parameter."""
    if not isinstance(data, Tensor):
        raise Refused("the pickle creates a parameter from something that is not a tensor")
    made = Tensor._plain_as(Parameter, data._array)
    made.__dict__.update(state or {})
    return made.requires_grad_() if requires_grad else made


def from_type(function: Any, cls: Any, args: Any, state: Any) -> Any:
    """Build a tensor with attributes, or of a subclass."""
    call = getattr(function, "call", function)
    if call not in (tensor, parameter):
        raise Refused("the pickle builds a tensor with an unknown function")
    made = call(*args)
    if isinstance(cls, Constructor):
        cls = cls.call
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise Refused("the pickle builds a tensor of a class that is not a tensor's")
    if type(made) is not cls:
        made = Tensor._plain_as(cls, made._array).requires_grad_(made.requires_grad)
    if cls in (Tensor, Parameter):
        made.__dict__.update(state)  # slots keep their own values
    else:
        set_state(made, state)
    return made


def ordered(items: Any = ()) -> OrderedDict[Any, Any]:
    """Build an ordered dict from pairs."""
    return OrderedDict((checked_key(key), value) for key, value in items)


def counted(items: Any = ()) -> Counter[Any]:
    """Build a counter from a dict."""
    return Counter({checked_key(key): value for key, value in dict(items).items()})


def encoded(text: Any, encoding: Any) -> bytes:
    """Encode characters as bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise Refused("the pickle encodes text")
    return text.encode("latin1")


def array_of_bytes(data: Any = b"") -> bytearray:
    """Build a bytearray from bytes: a number would allocate as many."""
    if not isinstance(data, bytes):
        raise Refused("the pickle builds a bytearray from something that is not bytes")
    return bytearray(data)


def of_items(kind: Callable[[Any], Any]) -> Constructor:
    """Return a constructor of a set from its items."""
    return Constructor(lambda items=(): kind(map(checked_key, items)))


CONSTRUCTORS = {
    "torch._utils _rebuild_tensor_v2": Constructor(tensor),
    "torch._utils _rebuild_tensor": Constructor(tensor),
    "torch._utils _rebuild_parameter": Constructor(parameter),
    "torch._utils _rebuild_parameter_with_state": Constructor(parameter),
    "torch._tensor _rebuild_from_type_v2": Constructor(from_type),
    "torch Tensor": Constructor(Tensor), "torch.nn.parameter Parameter": Constructor(Parameter),
    "torch Size": Constructor(Size),
    "torch device": Constructor(lambda *of: device(":".join(map(str, of)))),
    "collections OrderedDict": Constructor(ordered), "collections Counter": Constructor(counted),
    "_codecs encode": Constructor(encoded), "builtins complex": Constructor(complex),
    "builtins bytearray": Constructor(array_of_bytes),
    "builtins set": of_items(set), "builtins frozenset": of_items(frozenset),
}


def check_bounds(shape: Any, strides: Any, offset: Any, size: int) -> None:
    """Raise `ValueError` unless all elements are within a memory of `size` elements."""
    numbers = (*shape, *strides, offset)
    if len(shape) != len(strides) or any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError("a tensor's shape, strides or offset has a negative or non-integer number")
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if numel(shape) and last >= size:
        raise ValueError("a tensor reaches beyond its memory")


def empty_host(storage_type: StorageType, size: int) -> Array:
    """Return an array for the elements of a memory."""
    return np.empty(size, storage_type.dtype.numpy)
