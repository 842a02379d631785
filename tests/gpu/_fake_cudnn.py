"""A stand-in for NVIDIA's frontend of cuDNN, which convolves with NumPy.

It has the names, parameters and ports of `nvidia-cudnn-frontend` 1.32 and no others
(`cudnn_names.json`, read off the real package), takes its steps in the same order and no other,
finds arrays by the addresses and strides that it was told, and refuses what `refused` says.
Run under CuPy's stand-in, whose record has each execution, and whose graphs repeat it.

What it cannot show is which convolutions cuDNN has kernels for, and that they are right.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from minigrad.backend import dnn, numpy_backend
from tests.gpu import _fake_cupy

NAMES = json.loads(Path(__file__).with_name("cudnn_names.json").read_text())
STEPS = ("validate", "build_operation_graph", "create_execution_plans", "check_support",
         "build_plans")


class cudnnGraphNotSupportedError(Exception):
    """What cuDNN has no kernel for; no `RuntimeError`, as in the real package."""


class Library(ModuleType):
    """The module; `graphs` are those that were made, `refused(graph)` tells why one has no plan."""

    def __init__(self) -> None:
        super().__init__("cudnn")
        self.graphs: list[pygraph] = []
        self.handles: list[Handle] = []
        self.refused: Callable[[pygraph], Exception | None] = lambda graph: None
        self.pygraph = lambda *args, **kwargs: pygraph(self, *args, **kwargs)
        self.cudnnGraphNotSupportedError = cudnnGraphNotSupportedError
        for name, members in NAMES["enums"].items():
            setattr(self, name, SimpleNamespace(**{m: f"{name}.{m}" for m in members}))

    def backend_version(self) -> int:
        return 92800

    def create_handle(self) -> Handle:
        self.handles.append(Handle(_fake_cupy.machine.current))
        return self.handles[-1]

    def set_stream(self, handle: Handle, stream: int) -> None:
        assert handle.device == _fake_cupy.machine.current, "a handle belongs to a device"
        handle.stream = stream


class Handle:
    def __init__(self, device: int) -> None:
        self.device, self.stream = device, 0


class Tensor:
    """A described tensor; its setters return it."""

    def __init__(self, **known: Any) -> None:
        self.dim = self.stride = self.data_type = self.uid = None
        self.output = False
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("set_") or name not in NAMES["tensor"]:
            raise AttributeError(name)

        def change(value: Any) -> Tensor:
            setattr(self, name[4:], value)
            return self

        return change

    def array(self, address: int) -> Any:
        """Return the memory at an address as this tensor."""
        kind = {"data_type.HALF": np.float16, "data_type.FLOAT": np.float32}[self.data_type]
        size = np.dtype(kind).itemsize
        assert len(self.dim) == len(self.stride) and len(self.dim) >= 4, "images, or more"
        reach = 1 + sum((n - 1) * s for n, s in zip(self.dim, self.stride, strict=True))
        memory = (ctypes.c_byte * (reach * size)).from_address(address)
        return np.ndarray(self.dim, kind, memory, 0, [s * size for s in self.stride])


class pygraph:
    """A graph of one convolution."""

    def __init__(self, library: Library, name: str = "", io_data_type: Any = None,
                 intermediate_data_type: Any = None, compute_data_type: Any = None,
                 handle: Any = None) -> None:
        assert set(inspect.signature(pygraph).parameters) - {"library"} <= set(
            NAMES["pygraph"]["__init__"])
        assert isinstance(handle, Handle) and compute_data_type == "data_type.FLOAT"
        self.library, self.name, self.done = library, name, 0
        self.node: Any = None
        self.deselected: list[str] = []
        self.policy = ""
        library.graphs.append(self)

    def tensor(self, **known: Any) -> Tensor:
        assert set(known) <= set(NAMES["pygraph"]["tensor"])
        return Tensor(**known)

    def _step(self, name: str) -> None:
        assert STEPS[self.done] == name, f"{name} comes after {STEPS[:self.done]}"
        self.done += 1

    def validate(self) -> None:
        self._step("validate")
        tensors = [*self.node[1].values(), self.node[3]]
        assert all(t.dim and t.stride and t.data_type for t in tensors) and tensors[-1].output
        assert [t.uid for t in tensors] == [1, 2, 3]

    def build_operation_graph(self) -> None:
        self._step("build_operation_graph")

    def create_execution_plans(self, heuristics: list[str]) -> None:
        self._step("create_execution_plans")
        error = self.library.refused(self)
        if error is not None:
            raise error

    def deselect_numeric_notes(self, notes: list[str]) -> pygraph:
        assert self.done == 3, "there are no plans to leave out, or they are built"
        self.deselected += notes
        return self

    def check_support(self) -> None:
        self._step("check_support")

    def build_plans(self, policy: str = "") -> None:
        self._step("build_plans")
        self.policy = policy

    def get_execution_plan_count(self) -> int:
        return 3

    def get_workspace_size(self) -> int:
        assert self.done == 5
        return 640

    def get_workspace_size_plan_at_index(self, index: int) -> int:
        if index == 0:  # all are counted, but not all can be built
            raise cudnnGraphNotSupportedError("plan 0")
        return 0

    def execute(self, tensor_dict: Any, workspace: Any = None, handle: Any = None) -> None:
        self.execute_plan_at_index(tensor_dict, workspace, -1, handle)

    def execute_plan_at_index(self, tensor_dict: Any, workspace: Any = None, index: int = 0,
                              handle: Any = None) -> None:
        machine = _fake_cupy.machine
        assert self.done == 5 and workspace
        assert handle.device == machine.current
        assert handle.stream == _fake_cupy.current_stream().ptr
        assert not any(address % 16 for address in tensor_dict.values()), "misaligned pointer"
        name, read, options, written = self.node
        a, b = (t.array(tensor_dict[t.uid]) for t in read.values())
        out = written.array(tensor_dict[written.uid])

        def work(*_: Any) -> None:
            out[...] = convolve(name, a, b, out.shape, *options)

        machine.note(name, index)
        if machine.capturing is not None:
            machine.recorded.append((work, (), {}, [None], False))
        work()


def convolve(name: str, a: Any, b: Any, shape: Any, *options: Any) -> Any:
    """Return what a node writes, by NumPy's kernels, with sums in float32."""
    xp, kind = numpy_backend, a.dtype
    a, b = a.astype(np.float32), b.astype(np.float32)
    if name == "conv_fprop":
        result = xp.conv_forward(a, b, None, *options, a.shape[1] // b.shape[1])
    elif name == "conv_dgrad":
        result = xp.conv_grad_input(a, b, shape, *options, shape[1] // b.shape[1])
    else:
        result = xp.conv_grad_weight(b, a, shape, *options, a.shape[1] // shape[1])
    assert result.shape == tuple(shape)
    return result.astype(kind)


def node(name: str) -> Callable[..., Tensor]:
    known = NAMES["nodes"][name]

    def build(self: pygraph, *, compute_data_type: str, name: str = name, **given: Any) -> Tensor:
        assert self.node is None and set(given) <= {*known["inputs"], *known["attrs"]}
        read = {port: given[port] for port in known["inputs"]}
        options = [given[each] for each in ("stride", "padding", "dilation")]
        dims = {len(t.dim) - 2 for t in read.values()} | {len(each) for each in options}
        assert len(dims) == 1 and dims <= {2, 3}, "images or volumes"
        written = Tensor()
        self.node = name, read, options, written
        return written

    return build


for _name in NAMES["nodes"]:
    setattr(pygraph, _name, node(_name))


def check_against_the_real_names() -> None:
    """Assert that the stand-in takes no parameter that the real package does not."""
    for name, parameters in NAMES["pygraph"].items():
        mine = set(inspect.signature(getattr(pygraph, name)).parameters) - {"self", "library"}
        known = {"known": "**", "policy": "args"}  # what stands for `**kwargs` and `*args`
        assert all(known.get(each, each) in {*parameters, "**"} for each in mine), name
    for name, parameters in NAMES["functions"].items():
        if hasattr(Library, name):
            mine = [*inspect.signature(getattr(Library, name)).parameters][1:]
            assert mine == parameters, name


@contextmanager
def installed() -> Iterator[Library]:
    """Put the stand-in in the package's place."""
    made = Library()
    before = sys.modules.get("cudnn")
    sys.modules["cudnn"] = made
    dnn.library.cache_clear()
    switches = dict(vars(dnn.switches))
    try:
        yield made
    finally:
        del sys.modules["cudnn"]
        if before is not None:
            sys.modules["cudnn"] = before
        dnn.library.cache_clear()
        vars(dnn.switches).update(switches)
