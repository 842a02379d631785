"""The node of an op: its formulas, and the values that they need saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..backend import backend_of
from ..graph.node import BinaryNode, NaryNode, Node, UnaryNode
from ..graph.saved_tensor import FREED_MESSAGE, SavedTensor
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

#: Python and NumPy types of numbers that may stand for a 0-d tensor.
NUMBERS = (bool, int, float, np.number, np.bool_)

#: Suffixes of names by which a formula gets an input's geometry without saving the input.
GEOMETRY = ("_sizes", "_strides")


def geometry_input(name: str) -> str:
    """Return the name of the input whose geometry `name` asks for."""
    return name.removesuffix("_sizes").removesuffix("_strides")


def saved_geometry(source: Any, name: str) -> Any:
    """Return the sizes of an array, or its strides in elements; for a list of arrays, a list."""
    if type(source) is list or type(source) is tuple:
        return [saved_geometry(item, name) for item in source]
    if name[-8:] == "_strides":
        itemsize = getattr(source, "itemsize", 1)
        return tuple([stride // itemsize for stride in getattr(source, "strides", ())])
    return tuple(getattr(source, "shape", ()))


class OpNode(Node):
    """The node of an op; its formulas and slots come from the declaration."""

    __slots__ = ()
    op: type[Op]
    saves: tuple[str, ...] = ()  # names of saved tensors and outputs
    keeps: tuple[str, ...] = ()  # names of saved arguments and geometry
    value_slots: dict[str, str] = {}  # the slot of each saved tensor
    arg_slots: dict[str, str] = {}  # and that of each saved argument

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return self.run(grads, needed, arrays=True)

    def apply_tensors(self, grads: Sequence[Any], needed: Any = None) -> Sequence[Any]:
        return self.run(grads, needed, arrays=False)

    def run(self, grads: Sequence[Any], needed: Any, arrays: bool) -> list[Any]:
        """Run the formulas of the edges that lead somewhere, on arrays or on tensors."""
        op, edges = self.op, self.edges
        results: list[Any] = []
        known = self.look_at_saved(arrays)  # once, however many formulas use it, or none

        def arguments(names: tuple[str, ...]) -> list[Any]:
            for name in names:
                if name not in known:
                    known[name] = self.value(name, grads, arrays)
            return [known[name] for name in names]

        def run_one(formula: Callable[..., Any], names: tuple[str, ...]) -> Any:
            if op.shared is None or not arrays:
                return formula(*arguments(names))
            if "shared" not in known:
                known["shared"] = op.shared(*arguments(op.needed_by_shared))
            return formula(*arguments(names), shared=known["shared"])

        if all(g is None for g in grads):
            return [None] * len(edges)
        if op.materialize and len(grads) > 1:
            grads = self.materialized(grads, arrays)
        for name, (formula, names) in op.formulas.items():
            here = edges[len(results) :]
            if name == op.list_of_tensors:
                here = here[: len(edges) - len(op.formulas) + 1]
                if any(wanted(node, needed) for node, _ in here):
                    results += formula(*arguments(names))
                else:
                    results += [None] * len(here)
            elif wanted(here[0][0], needed):
                results.append(run_one(formula, names))
            else:
                results.append(None)
        return results

    def look_at_saved(self, arrays: bool = False) -> dict[str, Any]:
        """Return the saved values by name; raise if one was freed or written to since."""
        known = {}
        for name in self.saves:
            saved = getattr(self, self.value_slots[name])
            if saved is not None and not (saved is FREED and self.is_spared(name)):
                known[name] = self.unpack(name, arrays)
        return known

    def is_spared(self, name: str) -> bool:
        """Tell whether an input is not saved, for the one formula that uses it leads nowhere."""
        op = self.op
        if name not in op.tensors or len(op.formulas) == 1 or op.list_of_tensors in op.formulas:
            return False
        users = [i for i, (_, names) in enumerate(op.formulas.values()) if name in names]
        return len(users) == 1 and self.edges[users[0]][0] is None

    def materialized(self, grads: Sequence[Any], arrays: bool) -> list[Any]:
        """Return the gradients with zeros in place of those that are missing."""
        some = next((g for g in grads if g is not None), None)
        if some is None:
            return list(grads)
        xp = backend_of(some if arrays else some._array)
        made = []
        for i, g in enumerate(grads):
            shape, dtype = self.metadata_of(i)
            if g is None and dtype.kind == "f":
                zeros = xp.zeros(shape, dtype)
                g = zeros if arrays else Tensor._plain(zeros)
            made.append(g)
        return made

    def value(self, name: str, grads: Sequence[Any], arrays: bool) -> Any:
        """Return the value of a formula's argument of this name."""
        if name == "g":
            return grads[0]
        if name == "grads":
            return grads
        if name in self.arg_slots:
            return getattr(self, self.arg_slots[name], self.op.defaults.get(name))
        if name in self.saves:
            return self.unpack(name, arrays)
        return grads[self.op.outputs.index(name[2:])]

    def unpack(self, name: str, arrays: bool) -> Any:
        """Return a saved value, as array or tensor; raise if its memory was written to since."""
        saved = getattr(self, self.value_slots[name])
        if saved is FREED:
            raise RuntimeError(FREED_MESSAGE)
        if isinstance(saved, list):
            return [s.unpack_array(self) if arrays else s.unpack(self) for s in saved]
        if isinstance(saved, (SavedTensor, SavedNumber)):
            return saved.unpack_array(self) if arrays else saved.unpack(self)
        return saved

    def save(self, values: dict[str, Any], promoted: dict[str, Any]) -> None:
        """Save the inputs that the formulas of live edges name.

        `promoted` holds the dtypes to which the forward converted inputs.
        """
        live = self.live_names()
        for name in self.saves:
            value = values.get(name) if name in live else None
            setattr(self, self.value_slots[name], saved_value(value, promoted.get(name)))
        for name, slot in self.arg_slots.items():
            setattr(self, slot, values[name])

    def live_names(self) -> set[str]:
        """Return the names that the formulas of edges with a node ask for."""
        formulas = self.op.formulas
        names = {name for (_, needed), (node, _) in zip(formulas.values(), self.edges, strict=False)
                 if node is not None for name in needed}
        if self.op.list_of_tensors in formulas:
            names.update(formulas[self.op.list_of_tensors][1])
        return names

    def save_output(self, name: str, tensor: Tensor) -> None:
        """Save an output; NOTE [How a graph stays free of reference cycles] in graph/node.py."""
        saved = SavedTensor(tensor, is_output=tensor._node is not None)
        setattr(self, self.value_slots[name], saved)

    def release(self) -> None:
        """Drop the saved tensors; using one again raises."""
        for name in self.saves:
            setattr(self, self.value_slots[name], FREED)

    def raw_saved(self, name: str) -> Any:
        """Return the `SavedTensor` of a name before it is unpacked; see `register_hooks` there."""
        slot = self.value_slots[name]
        saved = getattr(self, slot)
        if saved is FREED:
            saved = SavedTensor(Tensor._plain(np.zeros(0)))
            saved.release()
        if type(saved) is SavedTensor and (saved._array is not None or saved.hooks is not None):
            saved = RawSaved.of(saved, self, slot)
            setattr(self, slot, saved)
        return saved


class SavedNumber:
    """A saved number: tensor formulas get it as it was given, array formulas in its new dtype."""

    __slots__ = ("number", "promoted")

    def __init__(self, number: Any, dtype: Any) -> None:
        self.number, self.promoted = number, dtype.type(number)

    def unpack(self, node: Any) -> Any:
        """Return the number."""
        return self.number

    def unpack_array(self, node: Any) -> Any:
        """Return the number in the dtype in which the forward used it."""
        return self.promoted


def saved_value(value: Any, dtype: Any) -> Any:
    """Return the form in which a node keeps an input that the forward converted to `dtype`."""
    if isinstance(value, Tensor):
        return SavedTensor(value, cast=dtype)
    if isinstance(value, (list, tuple)):
        return [SavedTensor(item, cast=dtype) for item in value]
    return value if value is None or dtype is None else SavedNumber(value, dtype)


def wanted(node: Node | None, needed: Any) -> bool:
    """Tell whether a gradient towards `node` is of use to this backward pass."""
    return node is not None and (needed is None or node in needed)


class Freed:
    """Stands in a node's slot for a saved tensor that was freed."""

    __slots__ = ()

    @property
    def _counter(self) -> Any:
        raise RuntimeError(FREED_MESSAGE)


FREED = Freed()


def make_node_type(op: type[Op]) -> type[Node]:
    """Make the class of an op's nodes, with a slot for everything that its formulas name."""
    def is_output(name: str) -> bool:
        return name == "result" or name in op.outputs

    names = {n for _, needs in op.formulas.values() for n in needs}
    saves, keeps = [], []
    for name in sorted(names, key=lambda n: (is_output(n), n)):  # hooks see them in this order
        if name in ("g", "grads") or (name.startswith("g_") and name[2:] in op.outputs):
            continue
        is_list = name == op.list_of_tensors
        if name in op.tensors or is_list or is_output(name):
            saves.append(name)
        elif name in op.parameters or name.endswith(GEOMETRY):
            keeps.append(name)
        else:
            raise TypeError(f"{op.__name__}: a formula asks for {name!r}, which is no gradient, "
                            f"input, output, argument or size (see NOTE [A formula's argument "
                            "names are its save list])")
    value_slots = {name: intern("_value_" + name) for name in saves}
    arg_slots = {name: intern("_arg_" + name) for name in keeps}
    single = not op.outputs and op.list_of_tensors is None and not getattr(op, "many", False)
    bases = {1: UnaryNode, 2: BinaryNode}
    base = bases.get(len(op.formulas), NaryNode) if single else NaryNode
    body: dict[str, Any] = {
        "__slots__": (*value_slots.values(), *arg_slots.values()), "op": op, "saves": tuple(saves),
        "keeps": tuple(keeps), "value_slots": value_slots, "arg_slots": arg_slots,
        "__module__": "minigrad.ops", "__doc__": f"The backward of {op.name}.",
    }
    for name in saves + keeps:
        body["_saved_" + name] = saved_property(name, name in keeps)
        if name in saves:
            body["_raw_saved_" + name] = property(
                lambda node, name=name: node.raw_saved(name),
                doc=f"The SavedTensor of {name!r}, which has `register_hooks`.")
    return type(op.node or op.__name__ + "Backward0", (OpNode, base), body)


def saved_property(name: str, is_argument: bool) -> property:
    """Make the property that shows a saved value."""

    def read(self: OpNode) -> Any:
        if is_argument:
            return getattr(self, self.arg_slots[name], self.op.defaults.get(name))
        value = self.unpack(name, arrays=False)
        if isinstance(value, NUMBERS):
            return Tensor._plain(np.asarray(value))
        return value

    return property(read, doc=f"What was saved as {name!r} for the backward pass.")


class RawSaved(SavedTensor):
    """A saved tensor as users were shown it, which knows where its node keeps it."""

    __slots__ = ("node", "slot")
    node: Any
    slot: str

    @classmethod
    def of(cls, saved: SavedTensor, node: OpNode, slot: str) -> RawSaved:
        """Return what is to stand in the node's slot in place of `saved`."""
        made = object.__new__(cls)
        for name in SavedTensor.__slots__:
            setattr(made, name, getattr(saved, name))
        made.node, made.slot = ref(node), slot
        return made

    def register_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any],
                       shown: Any = None) -> None:
        """Keep `pack_hook(tensor)`, unless the node has freed the tensor in the meantime."""
        node = self.node()
        if node is not None and getattr(node, self.slot) is FREED:
            self.release()
        super().register_hooks(pack_hook, unpack_hook, shown)


RawSaved.__name__ = RawSaved.__qualname__ = "SavedTensor"  # what users know
