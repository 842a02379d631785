"""The node of an op: its formulas, what they need saved, and how that is checked when used.

NOTE [Saved numbers]
    A number has no version, so in the version's place stands what the forward computed with, where
    that is not the number itself: array formulas use it.  Of the specialised closures for the CPU
    it is a 0-d array, which is faster; of a number that was cast, NumPy's scalar, which arrays of a
    device take too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .. import _state
from ..backend import backend_of
from ..graph.node import BinaryNode, NaryNode, Node, UnaryNode
from ..graph.saved_tensor import FREED_MESSAGE, SavedTensor, modified_error
from ..graph.version import INFERENCE, version_of
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

#: Kinds of Python and NumPy numbers that stand for a 0-d tensor of no rank.
NUMBERS = (bool, int, float, np.number, np.bool_)


#: What of an input a formula may ask for without having the input itself saved.
GEOMETRY = ("_sizes", "_strides")


def geometry_input(name: str) -> str:
    """Return the input of which a formula asks for sizes or strides."""
    return name.removesuffix("_sizes").removesuffix("_strides")


def saved_geometry(source: Any, name: str) -> Any:
    """Return sizes or strides, counted in elements, of an array; of a list of them, a list."""
    if type(source) is list or type(source) is tuple:
        return [saved_geometry(item, name) for item in source]
    if name[-8:] == "_strides":
        itemsize = getattr(source, "itemsize", 1)
        return tuple([stride // itemsize for stride in getattr(source, "strides", ())])
    return tuple(getattr(source, "shape", ()))


class OpNode(Node):
    """What the nodes of all ops share; the formulas and slots come from the declaration."""

    __slots__ = ()
    op: type[Op]
    saves: tuple[str, ...] = ()  # names of saved tensors and outputs
    keeps: tuple[str, ...] = ()  # names of saved arguments and sizes
    #: The slots of each saved name, spelt out once: value, version and, for an output, counter.
    slots_of: dict[str, tuple[str, str, str]] = {}
    kept_in: dict[str, str] = {}  # and the slot of each argument

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
        """Return what was saved, by name; raise if any of it may not be used any more."""
        known = {}
        for name in self.saves:
            kept = getattr(self, self.slots_of[name][0])
            if kept is not None and not (kept is FREED and self.is_spared(name)):
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
        """Return what a formula's argument of this name stands for."""
        if name == "g":
            return grads[0]
        if name == "grads":
            return grads
        if name in self.kept_in:
            return getattr(self, self.kept_in[name], self.op.defaults.get(name))
        if name in self.saves:
            return self.unpack(name, arrays)
        return grads[self.op.outputs.index(name[2:])]

    def unpack(self, name: str, arrays: bool) -> Any:
        """Return a saved tensor, after checking that its memory was not written to since."""
        value_slot, version_slot, _ = self.slots_of[name]
        kept, version = getattr(self, value_slot), getattr(self, version_slot)
        if name in self.op.outputs or name == "result":
            if version is not None:
                return self.unpack_output(name, kept, version, arrays)
        elif isinstance(version, (np.ndarray, np.generic)):
            return version if arrays else kept
        elif version is not None:
            current = version_of(kept)
            if current != version:
                raise modified_error(kept._array, kept._index, kept.grad_fn, current, version)
            return kept._array if arrays else kept
        if isinstance(kept, SavedTensor):
            return kept.unpack_array(self) if arrays else kept.unpack(self)
        if isinstance(kept, list):
            return [s.unpack_array(self) if arrays else s.unpack(self) for s in kept]
        if kept is FREED:
            raise RuntimeError(FREED_MESSAGE)
        return kept

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

    def save(self, values: dict[str, Any], casts: dict[str, Any]) -> None:
        """Keep what the formulas of the live edges name; `casts` are dtypes the forward used."""
        op = self.op
        live = {
            name
            for (formula, names), (node, _) in zip(op.formulas.values(), self.edges, strict=False)
            if node is not None
            for name in names
        }
        if op.list_of_tensors in op.formulas:
            live.update(op.formulas[op.list_of_tensors][1])
        for name in self.saves:
            value = values.get(name)
            version: Any = None
            if name not in live:
                value = None
            elif isinstance(value, Tensor):
                if name in casts or _state.saved_tensors_hooks.get() or value._counter is INFERENCE:
                    value = self.with_hooks(SavedTensor(value, cast=casts.get(name)))
                elif not _state.specialised:
                    value = SavedTensor(value)
                else:
                    version = version_of(value)
            elif isinstance(value, (list, tuple)):
                value = [SavedTensor(v, cast=casts.get(name)) for v in value]
            elif name in casts:
                version = casts[name].type(value)  # see NOTE [Saved numbers]
            value_slot, version_slot, _ = self.slots_of[name]
            setattr(self, value_slot, value)
            setattr(self, version_slot, version)
        for name, slot in self.kept_in.items():
            setattr(self, slot, values[name])

    def save_output(self, name: str, tensor: Tensor) -> None:
        """Keep an output as array and counter; see NOTE [How a graph stays free of cycles]."""
        value_slot, version_slot, counter_slot = self.slots_of[name]
        hooked = _state.saved_tensors_hooks.get() or tensor._view is not None
        if hooked or not _state.specialised:
            saved = SavedTensor(tensor, is_output=True)
            setattr(self, value_slot, self.with_hooks(saved) if hooked else saved)
            setattr(self, version_slot, None)
        else:
            counter = tensor._shared_counter()
            setattr(self, value_slot, tensor._array)
            setattr(self, version_slot, counter.value)
            setattr(self, counter_slot, counter)

    def with_hooks(self, saved: SavedTensor) -> SavedTensor:
        """Return a SavedTensor that has hooks or may get some, for this node to keep.

        The engine's fast path would unpack it once for each formula that uses it; it leaves
        nodes with extras alone.
        """
        self._extras()
        return saved


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
    outputs = list(filter(is_output, saves))
    slots_of = {n: (intern("_t_" + n), intern("_v_" + n), intern("_c_" + n)) for n in saves}
    kept_in = {n: intern("_p_" + n) for n in keeps}
    slots = [slot for n in saves for slot in slots_of[n][: 3 if n in outputs else 2]]
    slots += kept_in.values()
    single = not op.outputs and op.list_of_tensors is None and not op.many
    bases = {1: UnaryNode, 2: BinaryNode}
    base = bases.get(len(op.formulas), NaryNode) if single else NaryNode
    body: dict[str, Any] = {
        "release": releaser(saves), "__slots__": tuple(slots), "op": op,
        "saves": tuple(saves), "keeps": tuple(keeps), "slots_of": slots_of, "kept_in": kept_in,
        "__module__": "minigrad.ops", "__doc__": f"The backward of {op.name}.",
    }
    for name in saves + keeps:
        body["_saved_" + name] = saved_property(name, name in keeps)
        if name not in keeps:
            body["_raw_saved_" + name] = raw_saved_property(name)
    name = op.node or op.__name__ + ("Backward" if op.formulas else "Backward0")
    return type(name, (OpNode, base), body)


def releaser(names: Sequence[str]) -> Callable[[Any], None]:
    """Make the method that drops what was saved; spelt out for the commonest names, for speed."""
    if not names:
        return lambda node: None
    spelt_out = {("self",): release_self, ("other",): release_other, ("result",): release_result,
                 ("other", "self"): release_operands}
    if tuple(names) in spelt_out:
        return spelt_out[tuple(names)]
    slots = [(f"_t_{name}", FREED) for name in names] + [(f"_v_{name}", None) for name in names]

    def release(node: Any) -> None:
        for slot, value in slots:
            setattr(node, slot, value)

    return release


def release_self(node: Any) -> None:
    """Drop the one saved tensor, `self`."""
    node._t_self, node._v_self = FREED, None


def release_other(node: Any) -> None:
    """Drop the one saved tensor, `other`."""
    node._t_other, node._v_other = FREED, None


def release_result(node: Any) -> None:
    """Drop the one saved tensor, the result."""
    node._t_result, node._v_result = FREED, None


def release_operands(node: Any) -> None:
    """Drop the two saved tensors, `self` and `other`."""
    node._t_other = node._t_self = FREED
    node._v_other = node._v_self = None


def saved_property(name: str, is_argument: bool) -> property:
    """Make the property that shows a saved value."""

    def read(self: OpNode) -> Any:
        if is_argument:
            return getattr(self, "_p_" + name, self.op.defaults.get(name))
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


def raw_saved_property(name: str) -> property:
    """Make the property that shows a saved tensor before unpacking, for `register_hooks`."""

    def read(self: OpNode) -> Any:
        kept, version = getattr(self, "_t_" + name), getattr(self, "_v_" + name)
        if version is not None:
            is_output = name in self.op.outputs or name == "result"
            tensor = self.unpack(name, arrays=False)
            kept = self.with_hooks(SavedTensor(tensor, is_output))
            setattr(self, "_v_" + name, None)
        elif kept is FREED:
            kept = SavedTensor(Tensor._plain(np.zeros(0)))
            kept.release()
        if type(kept) is SavedTensor and (kept._array is not None or kept.hooks is not None):
            kept = RawSaved.of(kept, self, "_t_" + name)
            setattr(self, "_t_" + name, kept)
        return kept

    return property(read, doc=f"The SavedTensor of {name!r}, which has `register_hooks`.")
