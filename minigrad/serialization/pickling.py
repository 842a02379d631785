"""Writes an object as the pickle that PyTorch would write; see NOTE [The format] in files.py.

It writes the instructions itself, because Python's pickler can only refer to what it can import,
and PyTorch may not be installed.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from typing import Any

import numpy as np

from .. import dtypes
from ..backend import backend_of
from ..backend.memory_layout import is_dense
from ..device import device
from ..tensor.attributes import Size, data_pointer, storage_of
from ..tensor.tensor import Parameter, Tensor

__all__ = ["STORAGES", "Writer"]

Array = Any

#: PyTorch's names of storages, by dtype.
STORAGES = {dtypes.float64: "DoubleStorage", dtypes.float32: "FloatStorage",
            dtypes.float16: "HalfStorage", dtypes.int64: "LongStorage",
            dtypes.int32: "IntStorage", dtypes.int16: "ShortStorage", dtypes.int8: "CharStorage",
            dtypes.uint8: "ByteStorage", dtypes.bool: "BoolStorage"}

#: Containers written as a call of a class with a list, or tuple, of their items.
CALLED: dict[type, tuple[str, type]] = {
    Size: ("torch Size", tuple), set: ("__builtin__ set", list),
    frozenset: ("__builtin__ frozenset", list)}

MARK, STOP, REDUCE, BUILD, CALL_PERSISTENT = b"(", b".", b"R", b"b", b"Q"
NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"
EMPTY_DICT, EMPTY_LIST, EMPTY_TUPLE = b"}", b"]", b")"
APPENDS, SETITEMS, TUPLE = b"e", b"u", b"t"


class Writer:
    """Turns an object into a pickle, and collects the memories of its tensors."""

    def __init__(self) -> None:
        self.memories: list[Array] = []
        self.known_memories: dict[int, int] = {}
        self.memo: dict[int, int] = {}  # memo places of objects that may recur, by id
        self.open: set[int] = set()  # the containers around the current object
        self.kept: list[Any] = []  # keeps objects alive while their ids are in use
        self.out = bytearray(b"\x80\x02")  # protocol 2

    def program(self, obj: Any) -> bytes:
        """Return the pickle of an object."""
        try:
            self.encode(obj, "")
        except RecursionError:
            raise TypeError("cannot save obj: it is nested too deeply") from None
        return bytes(self.out + STOP)

    def encode(self, value: Any, where: str) -> None:
        """Write a value; `where` is the path to it, for errors."""
        if value is None or value is True or value is False:
            self.out += NONE if value is None else TRUE if value else FALSE
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, int):
            self.integer(int(value))
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        elif isinstance(value, bytes):
            self.call("_codecs encode", value.decode("latin1"), "latin1")
        elif isinstance(value, dtypes.dtype):
            self.name(f"torch {value.name}")
        elif isinstance(value, device):
            self.call("torch device", str(value))
        elif id(value) in self.memo:
            self.out += b"j" + struct.pack("<I", self.memo[id(value)])
        elif isinstance(value, Tensor):
            self.tensor(value, where)
            self.remember(value)
        elif id(value) in self.open:
            raise TypeError(f"cannot save obj{where}: it contains itself")
        else:
            self.open.add(id(value))
            self.container(value, where)
            self.open.discard(id(value))
            self.remember(value)

    def remember(self, value: Any) -> None:
        """Store the object on top of the stack in the memo."""
        self.kept.append(value)
        self.memo[id(value)] = len(self.memo)
        self.out += b"r" + struct.pack("<I", self.memo[id(value)])

    # ---------------------------------------------------------------- plain values

    def text(self, value: str) -> None:
        """Write a string."""
        data = value.encode("utf-8", "surrogatepass")
        self.out += b"X" + struct.pack("<I", len(data)) + data

    def integer(self, value: int) -> None:
        """Write an int."""
        if -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
            return
        data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        if len(data) > 255:
            raise TypeError("cannot save an integer of more than 255 bytes")
        self.out += b"\x8a" + bytes([len(data)]) + data

    def name(self, qualified: str) -> None:
        """Write the name of a class or function, "module name"."""
        self.out += b"c" + qualified.replace(" ", "\n").encode() + b"\n"

    def call(self, function: str, *args: Any) -> None:
        """Write a call of a function with plain arguments."""
        self.name(function)
        self.plain_tuple(args)
        self.out += REDUCE

    def plain_tuple(self, items: Any) -> None:
        """Write a tuple of plain values."""
        self.out += MARK
        for item in items:
            self.encode(item, "")
        self.out += TUPLE

    # ---------------------------------------------------------------- containers

    def container(self, value: Any, where: str) -> None:
        """Write a list, tuple, set or dict."""
        value_type = type(value)
        if value_type is list:
            self.out += EMPTY_LIST
            self.items(value, where, APPENDS)
        elif value_type is tuple:
            self.items(value, where, TUPLE)
        elif value_type in CALLED:
            function, holder = CALLED[value_type]
            self.name(function)
            self.out += MARK
            self.out += EMPTY_LIST if holder is list else b""
            self.items(value, where, APPENDS if holder is list else TUPLE)
            self.out += TUPLE + REDUCE
        elif value_type is dict or value_type is OrderedDict:
            self.mapping(value, where)
        else:
            raise TypeError(f"cannot save obj{where}, of type {value_type.__name__}"
                            f"{advice_for(value)}")

    def items(self, value: Any, where: str, end: bytes) -> None:
        """Write the items of a sequence, between a mark and `end`."""
        self.out += MARK
        for i, item in enumerate(value):
            self.encode(item, f"{where}[{i}]")
        self.out += end

    def mapping(self, value: Any, where: str) -> None:
        """Write a dict, including the `_metadata` of a module's state dict."""
        if type(value) is dict:
            self.out += EMPTY_DICT
        else:
            self.name("collections OrderedDict")
            self.out += EMPTY_TUPLE + REDUCE
        self.out += MARK
        for key, item in value.items():
            self.encode(key, f"{where} key {key!r}")
            self.encode(item, f"{where}[{key!r}]")
        self.out += SETITEMS
        if type(value) is OrderedDict and "_metadata" in vars(value):
            self.encode({"_metadata": vars(value)["_metadata"]}, f"{where} metadata")
            self.out += BUILD

    # ---------------------------------------------------------------- tensors

    def tensor(self, value: Tensor, where: str) -> None:
        """Write a tensor, and collect its memory."""
        tensor_type = type(value)
        if tensor_type is not Tensor and tensor_type is not Parameter:
            raise TypeError(f"cannot save obj{where}, of type {tensor_type.__name__}, a subclass "
                            "of Tensor; save the tensor it holds")
        if tensor_type is Parameter:
            self.name("torch._utils _rebuild_parameter")
            self.out += MARK
        array = value._array
        storage = storage_of(array)
        if not is_dense(storage) or storage.dtype != array.dtype:
            array = storage = array.copy()  # the memory belongs to another object or type
        self.name("torch._utils _rebuild_tensor_v2")
        self.out += MARK
        self.storage(value, storage)
        self.encode((data_pointer(array) - data_pointer(storage)) // array.itemsize, where)
        self.plain_tuple(array.shape)
        self.plain_tuple(s // array.itemsize for s in array.strides)
        self.encode(value.requires_grad and tensor_type is Tensor, where)
        self.no_hooks()
        self.out += TUPLE + REDUCE
        if tensor_type is Parameter:
            self.encode(value.requires_grad, where)
            self.no_hooks()
            self.out += TUPLE + REDUCE

    def storage(self, value: Tensor, storage: Array) -> None:
        """Write a reference to a tensor's memory: its type, number, device and size."""
        self.out += MARK
        self.text("storage")
        self.name(f"torch {STORAGES[value.dtype]}")
        self.text(str(self.memory(storage)))
        self.text(str(value.device))
        self.integer(storage.size)
        self.out += TUPLE + CALL_PERSISTENT

    def no_hooks(self) -> None:
        """Write the empty dict where PyTorch would store hooks."""
        self.name("collections OrderedDict")
        self.out += EMPTY_TUPLE + REDUCE

    def memory(self, storage: Array) -> int:
        """Collect the values of an array that owns its memory, once, and return their number."""
        known = self.known_memories.get(id(storage))
        if known is None:
            host = backend_of(storage).to_host(storage)
            known = self.known_memories[id(storage)] = len(self.memories)
            self.memories.append(host.ravel(order="K"))
            self.kept.append(storage)
        return known


def advice_for(value: Any) -> str:
    """Suggest what to save instead of an object that cannot be saved."""
    if isinstance(value, (np.ndarray, np.generic)):
        return "; make it a tensor or a Python number first"
    if hasattr(value, "state_dict"):
        return "; save its state_dict() instead"
    return ""
