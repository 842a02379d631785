"""Writes an object as the pickle that PyTorch would write; see NOTE [The format] in files.py.

Python's pickler written in C refers only to what it can import, and PyTorch may not be installed.
The one in Python lets a subclass write other names.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict
from typing import Any

from ..backend import backend_of
from ..backend.memory_layout import is_dense
from ..device import device_under
from ..ops.shape.storages import TypedStorage, UntypedStorage
from ..tensor.attributes import Size, data_pointer, storage_of
from ..tensor.protocols import PythonProtocols
from ..tensor.tensor import Parameter, Tensor
from .names import name_in_pytorch
from .storage_types import BY_DTYPE, BY_NAME, StorageType

__all__ = ["Writer"]

Array = Any


class Name:
    """A function that only PyTorch has, as "module name": a pickle refers to it."""

    def __init__(self, qualified: str) -> None:
        self.qualified = qualified

    def __call__(self) -> None:
        """Never run: picklers insist on callables."""


TENSOR = Name("torch._utils _rebuild_tensor_v2")
PARAMETER = Name("torch._utils _rebuild_parameter")
PARAMETER_WITH_STATE = Name("torch._utils _rebuild_parameter_with_state")
FROM_TYPE = Name("torch._tensor _rebuild_from_type_v2")
STORAGES = {name: Name(name) for name in BY_NAME}


class Memory:
    """A reference to a memory; the pickle contains it instead of the memory."""

    def __init__(self, reference: tuple[Any, ...]) -> None:
        self.reference = reference


#: Python's pickler written in Python; type checkers see only a part of it.
PythonPickler: Any = vars(pickle)["_Pickler"]


class Writer(PythonPickler):  # type: ignore[misc]  # a class that is Any
    """Turns an object into a pickle, and collects the memories of its tensors."""

    def __init__(self, protocol: int = 2, is_legacy: bool = False) -> None:
        self.out = io.BytesIO()
        super().__init__(self.out, protocol)
        self.is_legacy = is_legacy
        self.memories: list[Array] = []
        self.known_memories: dict[tuple[int, int], int] = {}
        self.types: list[StorageType] = []
        self.warnings: list[str] = []
        self.kept: list[Any] = []  # keeps arrays alive while their ids are in use

    def program(self, obj: Any) -> bytes:
        """Return the pickle of an object."""
        self.dump(obj)
        return self.out.getvalue()

    # ---------------------------------------------------------------- names and references

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        """Return the reference to write for a memory, or `None` for another object."""
        if isinstance(obj, Memory):
            return obj.reference
        if isinstance(obj, TypedStorage):
            return self.memory(storage_of(obj._elements), BY_DTYPE[obj.dtype]).reference
        if isinstance(obj, UntypedStorage):
            found = BY_NAME["torch.storage UntypedStorage"]
            return self.memory(storage_of(obj._elements), found).reference
        return None

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write the name of a class or function: PyTorch's for the package's own."""
        qualified = (tuple(obj.qualified.split(" ")) if isinstance(obj, Name)
                     else name_in_pytorch(obj, name))
        if qualified is None:
            super().save_global(obj, name)
        elif self.proto >= 4:
            for part in qualified:
                self.save(part)
            self.write(pickle.STACK_GLOBAL)
            self.memoize(obj)
        else:
            self.write(pickle.GLOBAL + "\n".join((*qualified, "")).encode())
            self.memoize(obj)

    def save_type(self, obj: Any) -> None:
        """Write a class: this is where the pickler sends classes, before `save_global`."""
        if obj in (type(None), type(NotImplemented), type(...)):
            super().save_type(obj)
        else:
            self.save_global(obj)

    dispatch = PythonPickler.dispatch | {
        type: save_type, type(lambda: 0): save_global}

    def reducer_override(self, obj: Any) -> Any:
        """Return how PyTorch rebuilds an object, or `NotImplemented` for pickle's own way."""
        if isinstance(obj, Name):
            return obj.qualified
        if type(obj) is Size:
            return Size, (tuple(obj),)
        if isinstance(obj, Tensor) and type(obj).__reduce_ex__ is PythonProtocols.__reduce_ex__:
            return self.parameter(obj) if isinstance(obj, Parameter) else self.any_tensor(obj)
        return NotImplemented

    # ---------------------------------------------------------------- tensors

    def any_tensor(self, value: Tensor) -> tuple[Any, ...]:
        """Return how to build a tensor, its class and its attributes."""
        for hook in (value._backward_hooks or {}).values() if value.is_leaf else ():
            if not hasattr(hook, "__torch_unserializable__"):
                self.warnings.append(
                    f"backward hook {hook} on tensor will not be serialized.  If this is expected, "
                    "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                    "suppress this warning")
        function, args = self.tensor(value, value.requires_grad)
        if type(value) is Tensor and not value.__dict__:
            return function, args
        return FROM_TYPE, (function, type(value), args, value.__dict__)

    def parameter(self, value: Parameter) -> tuple[Any, ...]:
        """Return how to build a parameter."""
        hooks: OrderedDict[Any, Any] = OrderedDict()
        args = Rebuilt(*self.tensor(value, False)), value.requires_grad, hooks
        if type(value) is not Parameter:
            return FROM_TYPE, (PARAMETER, type(value), args, value.__dict__)
        if value.__dict__:
            return PARAMETER_WITH_STATE, (*args, value.__dict__)
        return PARAMETER, args

    def tensor(self, value: Tensor, requires_grad: bool) -> tuple[Any, ...]:
        """Return how to build a tensor, and collect its memory."""
        array = value._array
        storage = storage_of(array)
        if not is_dense(storage) or storage.dtype != array.dtype:
            array = storage = array.copy()  # the memory belongs to another object or type
        memory = self.memory(storage, BY_DTYPE[value.dtype])
        offset = (data_pointer(array) - data_pointer(storage)) // array.itemsize
        strides = tuple(s // array.itemsize for s in array.strides) if array.size else (
            value.stride())
        return TENSOR, (memory, offset if array.size else 0, tuple(array.shape), strides,
                        requires_grad, OrderedDict())

    def memory(self, storage: Array, storage_type: StorageType) -> Memory:
        """Collect the values of an array that owns its memory, once; return a reference to it."""
        key = (data_pointer(storage), storage.nbytes) if storage.size else (id(storage), 0)
        number = self.known_memories.get(key)
        if number is None:
            host = backend_of(storage).to_host(storage)
            number = self.known_memories[key] = len(self.memories)
            self.memories.append(host.ravel(order="K"))
            self.types.append(storage_type)
            self.kept.append(storage)
        if self.types[number] is not storage_type:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data "
                               "as different types")
        size = storage.nbytes // storage_type.in_file.itemsize
        reference = ("storage", STORAGES[storage_type.qualified], str(number),
                     str(device_under(storage)), size)
        return Memory((*reference, None) if self.is_legacy else reference)

    def data(self, number: int) -> Any:
        """Return the bytes of a memory."""
        memory = self.memories[number]
        return memory.data.cast("B") if memory.size else b""

    def legacy_data(self, number: int) -> bytes:
        """Return the number of elements of a memory, and its bytes."""
        return struct.pack("<q", self.memories[number].size) + bytes(self.data(number))


class Rebuilt:
    """An object for which the pickle holds a call."""

    def __init__(self, function: Name, args: tuple[Any, ...]) -> None:
        self.call = function, args

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call
