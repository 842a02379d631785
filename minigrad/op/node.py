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
from .arguments import NUMBERS

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

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
    is_op = takes_batches = True
    borrows_results = False
    op: type[Op]
    saves: tuple[str, ...] = ()  # names of saved tensors and outputs
    keeps: tuple[str, ...] = ()  # names of saved arguments and geometry
    value_slots: dict[str, str] = {}  # the slot of each saved tensor
    arg_slots: dict[str, str] = {}  # and that of each saved argument
    positions: dict[str, int] = {}  # where forward's arguments stand

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        return self.run(grads, needed, arrays=True)

    def apply_tensors(self, grads: Sequence[Any], needed: Any = None) -> Sequence[Any]:
        return self.run(grads, needed, arrays=False)

    def apply_needed_tensors(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return self.run(grads, needed, arrays=False)

    @property
    def shows_all_results(self) -> bool:  # type: ignore[override]  # asked of few nodes
        return self.op.list_of_tensors is not None

    def run(self, grads: Sequence[Any], needed: Any, arrays: bool) -> list[Any]:
        """Run the formulas of the edges that lead somewhere, on arrays or on tensors."""
        op, edges = self.op, self.edges
        known = self.look_at_saved(arrays)  # once, however many formulas use it, or none
        if len(grads) == 1:
            if grads[0] is None:
                return [None] * len(edges)
            known["g"] = grads[0]
        else:
            if all(grad is None for grad in grads):
                return [None] * len(edges)
            grads = self.materialized(grads, arrays) if op.materialize else grads
        if op.list_of_tensors in op.formulas:
            return self.run_with_list(grads, needed, arrays, known)
        results: list[Any] = []
        for (formula, names), (node, _) in zip(op.formulas.values(), edges, strict=True):
            if node is None or (needed is not None and node not in needed):
                results.append(None)
            elif op.shared is not None and arrays:
                results.append(self.run_sharing(formula, names, grads, known))
            else:
                results.append(formula(*self.arguments(names, grads, arrays, known)))
        return results

    def arguments(self, names: Sequence[str], grads: Sequence[Any], arrays: bool,
                  known: dict[str, Any]) -> list[Any]:
        """Return a formula's arguments by their names; `known` keeps them for the next formula."""
        values = []
        for name in names:
            if name not in known:
                known[name] = self.value(name, grads, arrays)
            values.append(known[name])
        return values

    def run_sharing(self, formula: Callable[..., Any], names: Sequence[str], grads: Sequence[Any],
                    known: dict[str, Any]) -> Any:
        """Run a formula on arrays with what it shares with the op's other formulas."""
        if "shared" not in known:
            needed = self.op.needed_by_shared
            known["shared"] = self.op.shared(  # type: ignore[misc]  # the caller has seen it
                *self.arguments(needed, grads, True, known))
        return formula(*self.arguments(names, grads, True, known), shared=known["shared"])

    def run_with_list(self, grads: Sequence[Any], needed: Any, arrays: bool,
                      known: dict[str, Any]) -> list[Any]:
        """Run the formulas of an op on a list of tensors, one of which gives a list of results."""
        op, edges = self.op, self.edges
        results: list[Any] = []
        for name, (formula, names) in op.formulas.items():
            count = len(edges) - len(op.formulas) + 1 if name == op.list_of_tensors else 1
            here = edges[len(results) : len(results) + count]
            if not any(n is not None and (needed is None or n in needed) for n, _ in here):
                results += [None] * count
                continue
            found = formula(*self.arguments(names, grads, arrays, known))
            results += found if name == op.list_of_tensors else [found]
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

    def save(self, values: Sequence[Any], arrays: Sequence[Any],
             promoted: dict[str, Any]) -> None:
        """Save the inputs and arguments that the formulas of live edges name.

        `values` are forward's arguments, `arrays` the same with arrays for tensors, and `promoted`
        the dtypes of inputs that were converted.
        """
        live, positions = self.live_names(), self.positions
        for name, slot in self.value_slots.items():
            value = values[positions[name]] if name in live and name in positions else None
            if isinstance(value, Tensor):
                value = SavedTensor(value, cast=promoted.get(name))
            elif value is not None:
                value = saved_value(value, promoted.get(name))
            setattr(self, slot, value)
        for name, slot in self.arg_slots.items():
            if name in positions:
                setattr(self, slot, values[positions[name]])
            else:
                setattr(self, slot, saved_geometry(arrays[positions[geometry_input(name)]], name))

    def live_names(self) -> set[str]:
        """Return the names that the formulas of edges with a node ask for."""
        formulas = self.op.formulas
        names: set[str] = set()
        for (_, needed), (node, _) in zip(formulas.values(), self.edges, strict=False):
            if node is not None:
                names.update(needed)
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
    """Return the form in which a node keeps a list of tensors, or a number, made a `dtype`."""
    if isinstance(value, (list, tuple)):
        return [SavedTensor(item, cast=dtype) for item in value]
    return value if value is None or dtype is None else SavedNumber(value, dtype)


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
        "positions": {name: i for i, name in enumerate(op.parameters)},
        "__module__": "minigrad.ops", "__doc__": f"The backward of {op.name}.",
    }
    for name in saves + keeps:
        body["_saved_" + name] = saved_property(name, name in keeps)
        if name in saves:
            body["_raw_saved_" + name] = raw_saved_property(name)
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


def raw_saved_property(name: str) -> property:
    """Make the property that shows a saved tensor before unpacking, for `register_hooks`."""
    return property(lambda node: node.raw_saved(name),
                    doc=f"The SavedTensor of {name!r}, which has `register_hooks`.")


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
