# Stage 04d, Declaring an operation: the exercise for minigrad/op/node.py.
# Made by `minigrad dev build`. The lesson is lessons/04d_declaration.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04d
# docs/en/glossary.md explains the names used inside the package.

"""The node of an op: it runs the op's formulas on the values that it saved for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from sys import intern
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from ..backend import backend_of
from ..graph.node import BinaryNode, NaryNode, Node, UnaryNode
from ..graph.saved_errors import FREED_MESSAGE
from ..graph.saved_tensor import SavedTensor
from ..tensor.tensor import Tensor
from .arguments import NUMBERS

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

#: Suffixes of names with which a formula asks for an input's geometry, so only that is saved.
GEOMETRY = ("_sizes", "_strides")

#: Error message for an unknown name in a formula; `.format` fills in the op's class and the name.
NO_SUCH_NAME = ("{}: a formula asks for {!r}, which is no gradient, input, output, argument or "
                "size (see NOTE [A formula's argument names are its save list])")


# -------------------------------------------------------------------- the save list


def needed_by(formula: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of a formula's arguments, except those with a default."""
    # 04d.2 Names that say what to save (about 13 lines)
    # The argument names of its formulas say what an op's nodes save. `needed_by` returns
    # the arguments of a formula that have no default. `save_list` returns what all
    # formulas of an op ask for, in two lists: tensors and plain arguments.
    #   needed_by(lambda g, other: g * other)        -> ("g", "other")
    #   needed_by(lambda g, dim, shared=None: g)     -> ("g", "dim")
    #   save_list(Mul)                               -> (["other", "self"], [])
    #   save_list(Exp)                               -> (["result"], [])
    #   save_list(Sum)                               -> ([], ["dim", "keepdim", "self_sizes"])
    # Mind:
    # - `op.formulas` maps inputs to pairs of a formula and its names.
    # - List each name once, in the order of `inputs_first`.
    # - An unknown name raises `TypeError(NO_SUCH_NAME.format(op.__name__, name))`.
    # Use: `is_gradient`, `is_tensor` and `is_argument`, given below.
    raise NotImplementedError("04d.2 Names that say what to save is yours to write")


def save_list(op: type[Op]) -> tuple[list[str], list[str]]:
    """Return the names of the tensors and of the arguments that the op's nodes may save."""
    # 04d.2 Names that say what to save: see the task at `needed_by`.
    raise NotImplementedError("04d.2 Names that say what to save is yours to write")


def inputs_first(op: type[Op], names: set[str]) -> list[str]:
    """Sort names with outputs last, which is the order in which hooks see saved values."""
    return sorted(names, key=lambda name: (is_output(op, name), name))


def is_gradient(op: type[Op], name: str) -> bool:
    """Return whether a formula's argument is an incoming gradient: `g`, `g_<output>` or `grads`."""
    return name in ("g", "grads") or (name.startswith("g_") and name[2:] in op.outputs)


def is_output(op: type[Op], name: str) -> bool:
    """Return whether a formula's argument is an output of the op."""
    return name == "result" or name in op.outputs


def is_tensor(op: type[Op], name: str) -> bool:
    """Return whether a formula's argument is a tensor input, the list of tensors, or an output."""
    return name in op.tensors or name == op.list_of_tensors or is_output(op, name)


def is_argument(op: type[Op], name: str) -> bool:
    """Return whether a formula's argument is a plain argument, or sizes or strides of an input."""
    return name in op.parameters or name.endswith(GEOMETRY)


def geometry_input(name: str) -> str:
    """Return the name of the input to whose geometry `name` refers."""
    return name.removesuffix("_sizes").removesuffix("_strides")


# -------------------------------------------------------------------- the class of an op's nodes


def make_node_type(op: type[Op], base: type[Node] = NaryNode) -> type[Node]:
    """Make the class of an op's nodes, with a slot for every value that its formulas name."""
    # 04d.3 A class for each op (about 11 lines)
    # Make the class of an op's nodes. It is called `node_name(op)`, its bases are
    # `OpNode` and `base`, and each name in the save list has a slot.
    #   Mul        -> MulBackward0, __slots__ ("_value_other", "_value_self")
    #   Sum        -> slots "_arg_dim", "_arg_keepdim", "_arg_self_sizes"
    #   node._saved_self, node._saved_dim        -> the values that were saved
    #   node._raw_saved_self                     -> for hooks: only tensors have it
    # Mind:
    # - A node must not have a `__dict__`.
    # - The class attributes `value_slots` and `arg_slots` map each name to its slot.
    # Use: `constants_of(op, tensors, arguments)`, further class attributes;
    # `saved_property(name, is_argument)`; `raw_saved_property(name)`.
    raise NotImplementedError("04d.3 A class for each op is yours to write")


def base_of_nodes(op: type[Op]) -> type[Node]:
    """Return the node class that has slots for as many edges as the op has formulas."""
    if op.outputs or op.list_of_tensors is not None or op.many:
        return NaryNode
    return {1: UnaryNode, 2: BinaryNode}.get(len(op.formulas), NaryNode)


def node_name(op: type[Op]) -> str:
    """Return the name of the class of an op's nodes, such as MulBackward0."""
    return op.node or op.__name__ + ("Backward" if op.formulas else "Backward0")


def constants_of(op: type[Op], tensors: list[str], arguments: list[str]) -> dict[str, Any]:
    """Return the class attributes that all nodes of an op share."""
    return {
        "op": op, "saves": tuple(tensors), "keeps": tuple(arguments),
        "positions": {name: i for i, name in enumerate(op.parameters)},
        "always_saved": {name for name in tensors if is_always_saved(op, name)},
        "geometry": {name: op.parameters.index(geometry_input(name)) for name in arguments
                     if name not in op.parameters},
        "__module__": "minigrad.ops", "__doc__": f"The backward of {op.name}.",
    }


def is_always_saved(op: type[Op], name: str) -> bool:
    """Return whether a value is saved even if no live edge needs it.

    Like PyTorch, skip a value only if the op has several formulas and just one of them needs it.
    """
    users = [edge for edge, (_, names) in op.formulas.items() if name in names]
    return len(users) > 1 or len(op.formulas) == 1 or op.list_of_tensors in users


def saved_property(name: str, is_argument: bool) -> property:
    """Make the property that shows a saved value."""

    def read(self: OpNode) -> Any:
        if is_argument:
            return getattr(self, self.arg_slots[name], self.op.defaults.get(name))
        value = self.unpack(name, arrays=False)
        if isinstance(value, NUMBERS):
            return Tensor._plain(np.asarray(value, np.int64 if type(value) is int else None))
        return value

    return property(read, doc=f"What was saved as {name!r} for the backward pass.")


def raw_saved_property(name: str) -> property:
    """Make the property that shows a saved tensor before unpacking, for `register_hooks`."""
    return property(lambda node: node.raw_saved(name),
                    doc=f"The SavedTensor of {name!r}, which has `register_hooks`.")


# -------------------------------------------------------------------- the node


class OpNode(Node):
    """The node of an op; its formulas and slots come from the declaration."""

    __slots__ = ()
    is_op = takes_batches = True
    borrows_results = False
    op: type[Op]
    saves: tuple[str, ...] = ()  # names of saved tensors and outputs
    keeps: tuple[str, ...] = ()  # names of saved arguments and geometry
    value_slots: dict[str, str] = {}  # the slot of each saved tensor
    arg_slots: dict[str, str] = {}  # the slot of each saved argument
    positions: dict[str, int] = {}  # the positions of forward's arguments
    always_saved: set[str] = set()  # names that are saved even if no live edge needs them
    geometry: dict[str, int] = {}  # the positions of inputs whose sizes or strides are saved

    def names_to_save(self) -> set[str]:
        """Return the names of the inputs to save: the ones that live edges need."""
        # 04d.4 A node keeps what it needs (about 9 lines)
        # A node saves what the formulas of its live edges ask for. An edge is live if its
        # node isn't None. `names_to_save` returns the names of the inputs to save, and `save`
        # fills every slot in `self.value_slots`.
        #   z = x * y, only x requires grad     z.grad_fn.names_to_save() -> {"other"}
        #   then                                z.grad_fn._saved_other is y, z.grad_fn._saved_self is None
        #   z = exp(x)                          z.grad_fn.names_to_save() -> set()
        # Mind:
        # - Inputs in `self.always_saved` are saved in any case.
        # - `self.positions` has only arguments of forward, not outputs.
        # - A Tensor knows its version and history, but an array doesn't.
        # - If an op takes a list, one formula has many edges.
        # Use: `saved_value(value, promoted.get(name))`, also for None;
        # `self.keep_arguments(values, arrays)`.
        raise NotImplementedError("04d.4 A node keeps what it needs is yours to write")

    def save(self, values: Sequence[Any], arrays: Sequence[Any],
             promoted: dict[str, Any]) -> None:
        """Save the inputs and arguments that the formulas of live edges name.

        `values` are forward's arguments, `arrays` the same with arrays instead of tensors, and
        `promoted` holds the new dtypes of converted inputs.
        """
        # 04d.4 A node keeps what it needs: see the task at `OpNode.names_to_save`.
        raise NotImplementedError("04d.4 A node keeps what it needs is yours to write")

    def keep_arguments(self, values: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Keep the arguments and the geometry that the formulas name."""
        for name, slot in self.arg_slots.items():
            setattr(self, slot, values[self.positions[name]] if name in self.positions else
                    saved_geometry(arrays[self.geometry[name]], name))

    def save_output(self, name: str, tensor: Tensor) -> None:
        """Save an output without a reference cycle.

        See NOTE [How a graph stays free of reference cycles] in graph/node.py.
        """
        saved = SavedTensor(tensor, is_output=tensor._node is not None)
        setattr(self, self.value_slots[name], saved)

    def apply_arrays(self, grads: Sequence[Array | None], needed: Any) -> Sequence[Array | None]:
        # 04d.5 One formula, arrays or tensors (about 17 lines)
        # `run` evaluates a node's formulas and returns one gradient for each edge, or None
        # where none is needed. `apply_arrays` does this on arrays, and `apply_tensors` on
        # Tensors.
        #   z = x * y at 2, 3     z.grad_fn.apply_arrays([array([10.])], None) -> [array([30.]), array([20.])]
        #   apply_tensors([tensor([10.])])         -> Tensors, which require grad again
        #   y requires no grad                     -> the gradient for y is None
        # Mind:
        # - `needed` is a set of nodes; None means that all nodes are needed.
        # - If no gradient arrived, `named_values` returns None.
        # - Two kinds of op have their own methods: if `op.list_of_tensors in op.formulas`,
        #   `run_with_list`; on arrays, if there's an `op.shared`, `run_sharing`.
        raise NotImplementedError("04d.5 One formula, arrays or tensors is yours to write")

    def apply_tensors(self, grads: Sequence[Any], needed: Any = None) -> Sequence[Any]:
        # 04d.5 One formula, arrays or tensors: see the task at `OpNode.apply_arrays`.
        raise NotImplementedError("04d.5 One formula, arrays or tensors is yours to write")

    def apply_needed_tensors(self, grads: Sequence[Any], needed: Any) -> Sequence[Any]:
        return self.run(grads, needed, arrays=False)

    def run(self, grads: Sequence[Any], needed: Any, arrays: bool) -> list[Any]:
        """Run the formulas of the edges that lead to a needed node, on arrays or on tensors."""
        # 04d.5 One formula, arrays or tensors: see the task at `OpNode.apply_arrays`.
        raise NotImplementedError("04d.5 One formula, arrays or tensors is yours to write")

    def named_values(self, grads: Sequence[Any], arrays: bool) -> dict[str, Any] | None:
        """Return all values that formulas can name; `None` if no gradient has arrived."""
        known = self.look_at_saved(arrays)
        known["g"], known["grads"] = grads[0], grads
        for name, slot in self.arg_slots.items():
            known[name] = getattr(self, slot, self.op.defaults.get(name))
        several = grads[0] is None or self.op.outputs or self.op.many
        return self.name_gradients(known, arrays) if several else known

    def name_gradients(self, known: dict[str, Any], arrays: bool) -> dict[str, Any] | None:
        """Add the gradients of several outputs by name, with zeros for missing ones.

        Return `None` if all of them are missing.
        """
        if all(grad is None for grad in known["grads"]):
            return None
        if self.op.materialize:
            known["grads"] = self.materialized(known["grads"], arrays)
        known["g"] = known["grads"][0]
        known.update(zip(map("g_".__add__, self.op.outputs), known["grads"], strict=False))
        return known

    def materialized(self, grads: Sequence[Any], arrays: bool) -> list[Any]:
        """Return the gradients, with zeros instead of missing ones."""
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

    def run_sharing(self, formula: Callable[..., Any], names: Sequence[str],
                    known: dict[str, Any]) -> Any:
        """Run a formula on arrays with the result of `shared`, which runs once for all formulas."""
        if "shared" not in known:
            known["shared"] = self.op.shared(  # type: ignore[misc]  # checked by the caller
                *map(known.__getitem__, self.op.needed_by_shared))
        return formula(*map(known.__getitem__, names), shared=known["shared"])

    def run_with_list(self, needed: Any, known: dict[str, Any]) -> list[Any]:
        """Run the formulas of an op that takes a list; the list's formula returns a list."""
        op, edges = self.op, self.edges
        results: list[Any] = []
        for name, (formula, names) in op.formulas.items():
            count = len(edges) - len(op.formulas) + 1 if name == op.list_of_tensors else 1
            here = edges[len(results) : len(results) + count]
            if not any(n is not None and (needed is None or n in needed) for n, _ in here):
                results += [None] * count
                continue
            result = formula(*map(known.__getitem__, names))
            results += result if name == op.list_of_tensors else [result]
        return results

    @property
    def shows_all_results(self) -> bool:  # type: ignore[override]  # a constant of other nodes
        return self.op.list_of_tensors is not None

    def unpack(self, name: str, arrays: bool) -> Any:
        """Return a saved value, as array or tensor; raise if it was freed or modified in place."""
        saved = self.kept(name)
        if saved is None:  # no live edge needs it, or the value itself was None
            return None
        return saved.unpack_array(self) if arrays else saved.unpack(self)

    def kept(self, name: str) -> Any:
        """Return the content of a value's slot: a saved value, `FREED` or `None`."""
        saved = getattr(self, self.value_slots[name])
        return self.from_note(saved) if type(saved) is tuple else saved

    def look_at_saved(self, arrays: bool = False) -> dict[str, Any]:
        """Return the saved values by name; raise if one was freed or modified in place."""
        return {name: self.unpack(name, arrays) for name in self.saves}

    def release(self) -> None:
        """Free the saved tensors; unpacking one afterwards raises."""
        for slot in self.value_slots.values():
            if getattr(self, slot) is not None:
                setattr(self, slot, FREED)

    def raw_saved(self, name: str) -> Any:
        """Return the `SavedTensor` of a value without unpacking it, for `register_hooks`."""
        slot, saved = self.value_slots[name], self.kept(name)
        if saved is FREED:
            saved = SavedTensor(Tensor._plain(np.zeros(0)))
            saved.release()
        if type(saved) is SavedTensor and (saved._array is not None or saved.hooks is not None):
            saved = RawSaved.of(saved, self, slot)
            setattr(self, slot, saved)
        return saved

    @staticmethod
    def from_note(note: tuple[Any, ...]) -> SavedTensor:
        """Make a `SavedTensor` from the note that a generated function stored.

        NOTE [Notes of saved tensors]
            A function from `codegen/` creates no `SavedTensor`, to save time.  Instead it stores
            a note in the node's slot: `(tensor, version)` for an input, or
            `(array, version, counter)` for an output.  `kept` turns the note into a `SavedTensor`
            on demand.
        """
        saved = SavedTensor.noted(note)
        if len(note) == 3:
            saved.plain = Tensor._plain
        return saved


# -------------------------------------------------------------------- what a node keeps


class SavedNumber:
    """A saved number: formulas on tensors get it unchanged, those on arrays in the new dtype."""

    __slots__ = ("number", "promoted")

    def __init__(self, number: Any, dtype: Any) -> None:
        self.number, self.promoted = number, number if dtype is None else dtype.type(number)

    def unpack(self, node: Any) -> Any:
        """Return the number."""
        return self.number

    def unpack_array(self, node: Any) -> Any:
        """Return the number in the dtype that the forward used."""
        return self.promoted


class SavedList:
    """A saved list of tensors."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any], dtype: Any) -> None:
        self.items = [SavedTensor(item, cast=dtype) for item in items]

    def unpack(self, node: Any) -> list[Any]:
        """Return the tensors."""
        return [item.unpack(node) for item in self.items]

    def unpack_array(self, node: Any) -> list[Any]:
        """Return the arrays."""
        return [item.unpack_array(node) for item in self.items]


def saved_value(value: Any, dtype: Any) -> Any:
    """Wrap an input in the form in which a node saves it; `dtype` is its promoted dtype, if any."""
    if isinstance(value, Tensor):
        return SavedTensor(value, cast=dtype)
    if isinstance(value, (list, tuple)):
        return SavedList(value, dtype)
    return None if value is None else SavedNumber(value, dtype)


def saved_geometry(source: Any, name: str) -> Any:
    """Return the sizes or, in elements, the strides of an array; for a list of arrays, a list."""
    if type(source) is list or type(source) is tuple:
        return [saved_geometry(item, name) for item in source]
    return strides_of(source) if name[-8:] == "_strides" else tuple(getattr(source, "shape", ()))


def strides_of(source: Any) -> tuple[int, ...]:
    """Return the strides of an array in elements."""
    itemsize = getattr(source, "itemsize", 1)
    return tuple([stride // itemsize for stride in getattr(source, "strides", ())])


class Freed:
    """The type of `FREED`, which replaces a saved value in a node's slot after it was freed."""

    __slots__ = ()

    @property
    def _counter(self) -> Any:
        raise RuntimeError(FREED_MESSAGE)

    def unpack(self, node: Any) -> Any:
        """Raise PyTorch's error for a freed value."""
        raise RuntimeError(FREED_MESSAGE)

    unpack_array = unpack


FREED = Freed()


class RawSaved(SavedTensor):
    """A saved tensor that users have access to, which knows its node and slot."""

    __slots__ = ("node", "slot")
    node: Any
    slot: str

    @classmethod
    def of(cls, saved: SavedTensor, node: OpNode, slot: str) -> RawSaved:
        """Return a `RawSaved` that replaces `saved` in the node's slot."""
        made = object.__new__(cls)
        for name in SavedTensor.__slots__:
            setattr(made, name, getattr(saved, name))
        made.node, made.slot = ref(node), slot
        return made

    def register_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any],
                       shown: Any = None) -> None:
        """Save `pack_hook(tensor)` instead, unless the node has freed the tensor since."""
        node = self.node()
        if node is not None and getattr(node, self.slot) is FREED:
            self.release()
        super().register_hooks(pack_hook, unpack_hook, shown)


RawSaved.__name__ = RawSaved.__qualname__ = "SavedTensor"  # the name in PyTorch
