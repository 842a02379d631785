"""Nodes of ops that keep saved tensors as they are, with a version number beside each.

Replaces `save`, `save_output`, `unpack` and `release` of `op.node.OpNode`, which make a
`SavedTensor` for each value.  Making one takes 0.24 us; `mul` on four elements, which saves two,
takes 2.5 us in all.

NOTE [Saved values and versions]
    Beside each saved value stands what tells whether it may still be used: for a tensor and for
    an output the version that it had, for a number the array that the forward computed with, and
    None where the value is a `SavedTensor` (it has hooks, was converted, or is a view's output),
    absent or freed.  An output is kept as array and version counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from sys import intern
from typing import Any

import numpy as np

from .. import _state
from ..graph.saved_errors import modified_error
from ..graph.saved_tensor import SavedTensor
from ..graph.special_versions import INFERENCE
from ..graph.version import version_of
from ..op.arguments import NUMBERS
from ..op.declaration import Op
from ..op.node import FREED, OpNode, make_node_type
from ..tensor.tensor import Tensor
from .flat_nodes import flat_base

Array = Any


class FastOpNode(OpNode):
    """A node of an op that saves raw values; the class of each op's nodes derives from it."""

    __slots__ = ()
    #: Slots by the name of a saved value: value, version and, for an output, counter.
    slots_of: dict[str, tuple[str, str, str]] = {}
    #: For each saved value its slot, and what reads its version and the counter to compare it with.
    checks: list[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = []

    def unpack(self, name: str, arrays: bool) -> Any:
        """Return a saved value; see NOTE [Saved values and versions]."""
        value_slot, version_slot, _ = self.slots_of[name]
        value, version = getattr(self, value_slot), getattr(self, version_slot)
        if version is None:
            return value if isinstance(value, NUMBERS) else super().unpack(name, arrays)
        if name in self.op.outputs or name == "result":
            return self.unpack_output(name, value, version, arrays)
        if isinstance(version, (np.ndarray, np.generic)):
            return version if arrays else value
        current = version_of(value)
        if current != version:
            raise modified_error(value._array, value._index, value.grad_fn, current, version)
        return value._array if arrays else value

    def look_at_saved(self, arrays: bool = False) -> dict[str, Any]:
        """Return the saved values by name; raise if one was freed or written to since."""
        return {name: None if self.is_spared(name) else self.unpack(name, arrays)
                for name in self.saves}

    def check_saved(self) -> None:
        """Do what `look_at_saved` does, for its errors alone."""
        for value_slot, read_version, read_counter in self.checks:
            version = read_version(self)
            if type(version) is int:
                counter = read_counter(self)
                if version != (0 if counter is None else counter.value):
                    self.look_at_saved()  # raises
            elif version is None and getattr(self, value_slot) is not None:
                self.look_at_saved()

    def is_spared(self, name: str) -> bool:
        """Tell whether a freed input was not saved: its one formula leads nowhere."""
        op = self.op
        if (getattr(self, self.value_slots[name]) is not FREED or name not in op.tensors
                or len(op.formulas) == 1 or op.list_of_tensors in op.formulas):
            return False
        users = [i for i, (_, names) in enumerate(op.formulas.values()) if name in names]
        return len(users) == 1 and self.edges[users[0]][0] is None

    def value(self, name: str, grads: Sequence[Any], arrays: bool) -> Any:
        """Return the value of one of a formula's arguments, by its name."""
        if name == "g":
            return grads[0]
        if name == "grads":
            return grads
        if name in self.arg_slots:
            return getattr(self, self.arg_slots[name], self.op.defaults.get(name))
        if name in self.saves:
            return self.unpack(name, arrays)
        return grads[self.op.outputs.index(name[2:])]

    def unpack_output(self, name: str, array: Array, version: int, arrays: bool) -> Any:
        """Return a saved output, rebuilt as a tensor for the tensor realisation."""
        counter = getattr(self, self.slots_of[name][2])
        index = self.op.outputs.index(name) if self.op.outputs else 0
        if counter.value != version:
            raise modified_error(array, index, self, counter.value, version)
        if arrays:
            return array
        tensor = Tensor._plain(array)
        tensor._counter = counter
        if array.dtype.kind == "f":
            tensor._node, tensor._index, tensor._requires_grad = self, index, True
        return tensor

    def save(self, values: Sequence[Any], arrays: Sequence[Any],
             promoted: dict[str, Any]) -> None:
        """Save the inputs, plain tensors with their version."""
        super().save(values, arrays, promoted)
        plain = not _state.saved_tensors_hooks.get()
        for name in self.saves:
            value_slot, version_slot, _ = self.slots_of[name]
            saved = getattr(self, value_slot)
            version: int | None = None
            if type(saved) is SavedTensor:
                if plain and saved.cast is None and saved._counter is not INFERENCE:
                    setattr(self, value_slot, saved.tensor)
                    version = saved.version
                else:
                    self._extras()  # the fast loop leaves nodes with extras to the engine
            setattr(self, version_slot, version)

    def save_output(self, name: str, tensor: Tensor) -> None:
        """Save an output as array and counter."""
        value_slot, version_slot, counter_slot = self.slots_of[name]
        if tensor._node is None or tensor._view is not None or _state.saved_tensors_hooks.get():
            super().save_output(name, tensor)
            setattr(self, version_slot, None)
            if tensor._node is not None or _state.saved_tensors_hooks.get():
                self._extras()
            return
        counter = tensor._shared_counter()
        setattr(self, value_slot, tensor._array)
        setattr(self, version_slot, counter.value)
        setattr(self, counter_slot, counter)

    def raw_saved(self, name: str) -> Any:
        """Return the `SavedTensor` of a name, made now; it may get hooks."""
        value_slot, version_slot, _ = self.slots_of[name]
        if getattr(self, version_slot) is not None:
            is_output = name in self.op.outputs or name == "result"
            tensor = self.unpack(name, arrays=False)
            if isinstance(tensor, Tensor):
                setattr(self, value_slot, SavedTensor(tensor, is_output))
                setattr(self, version_slot, None)
                self._extras()
        return super().raw_saved(name)


def fast_node_type(op: type[Op]) -> type[FastOpNode]:
    """Return a class for the nodes of an op, with slots for edges, versions and counters."""
    slow: Any = make_node_type(op, flat_base(op))
    slots_of = {name: (slot, intern("_version_" + name), intern("_counter_" + name))
                for name, slot in slow.value_slots.items()}
    slots = [slots_of[name][1] for name in slow.saves]
    outputs = [name for name in slow.saves if name == "result" or name in op.outputs]
    slots += [slots_of[name][2] for name in outputs]
    checks = [(value, attrgetter(version),
               attrgetter(counter if name in outputs else value + "._counter"))
              for name, (value, version, counter) in slots_of.items()]
    body = {"__slots__": tuple(slots), "slots_of": slots_of, "checks": checks,
            "release": releaser(slow.saves),
            "__module__": slow.__module__, "__doc__": slow.__doc__}
    return type(slow.__name__, (FastOpNode, slow), body)


def releaser(names: Sequence[str]) -> Callable[[Any], None]:
    """Return the method that drops saved values; written out for the commonest names."""
    if not names:
        return lambda node: None
    written_out = {("self",): release_self, ("other",): release_other,
                   ("result",): release_result, ("other", "self"): release_operands}
    if tuple(names) in written_out:
        return written_out[tuple(names)]
    slots: list[tuple[str, Any]] = [("_value_" + name, FREED) for name in names]
    slots += [("_version_" + name, None) for name in names]

    def release(node: Any) -> None:
        for slot, value in slots:
            setattr(node, slot, value)

    return release


def release_self(node: Any) -> None:
    """Drop the one saved tensor, `self`."""
    node._value_self, node._version_self = FREED, None


def release_other(node: Any) -> None:
    """Drop the one saved tensor, `other`."""
    node._value_other, node._version_other = FREED, None


def release_result(node: Any) -> None:
    """Drop the one saved tensor, the result."""
    node._value_result, node._version_result = FREED, None


def release_operands(node: Any) -> None:
    """Drop the two saved tensors, `self` and `other`."""
    node._value_other = node._value_self = FREED
    node._version_other = node._version_self = None
