"""Generates an op's function from its declaration: the four steps of op/apply.py, without loops.

The generator decides everything that the declaration determines: the number of tensors, which edge
needs which saved value, whether the result is a view.  The generated function therefore only tests
what can differ between calls.  It handles tensors that need no promotion, together with Python
numbers, and passes every other call, and every error, to the taught function, named `taught` in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _state
from ..backend import BACKENDS, Backend, numpy_backend
from ..backend.float_errors import IGNORED, reset_float_errors, set_float_errors
from ..graph.node import next_sequence, read_sequence
from ..graph.special_versions import INFERENCE
from ..graph.version import Version
from ..op.apply import NO_EDGE, shares_memory
from ..op.arguments import NUMBER
from ..op.declaration import Op
from ..op.node import geometry_input, saved_geometry
from ..tensor.tensor import Parameter, Tensor
from ..tensor.views import mark_view
from .numbers import (
    DeviceNumber,
    Number,
    device_number,
    fits_integers,
    fitting_number,
    number,
)
from .written import Text

#: Dtypes that can have gradients, the commonest first.
FLOATS = tuple(np.dtype(name) for name in ("float32", "float64", "float16"))

#: Types of default values that are written into generated code as literals.
LITERALS = (type(None), bool, int, float, str)

#: Names that generated code uses; for an op with such a parameter, no function is generated.
RESERVED = frozenset((
    "IGNORED", "Number", "Parameter", "Tensor", "Version", "absent", "after", "as_array",
    "backend", "before", "buffers", "counter", "elsewhere", "fits_integers", "floats", "forward",
    "g", "grad", "grad_enabled", "mark_view", "may_share_memory", "more", "named", "ndarray",
    "needed", "new", "next_sequence", "node", "number", "observers", "on_arrays", "output",
    "read_sequence", "reset_float_errors", "result", "saved", "saved_counter", "saved_geometry",
    "sequence_of_thread", "set_float_errors", "shares_memory", "task", "taught", "tell",
    "version", "watching"))


class Absent:
    """Marks an operand that the caller left out."""


ABSENT = Absent()


def is_served(op: type[Op]) -> bool:
    """Return whether a function can be generated for an op: it needs one output and no list."""
    return not (op.outputs or op.list_of_tensors or op.many or op.not_implemented_derivative
                or not op.tensors or (op.view and op.parameters[0] != op.tensors[0])
                or (op.view and "result" in op.node_type.saves) or RESERVED & {*op.parameters})


def takes_none(value: float, dtype: Any) -> bool:
    """Return False: a device's functions choose the dtype of a number themselves."""
    return False


def takes_tensors_alone(op: type[Op]) -> bool:
    """Return whether all positional arguments are tensors and all others have defaults."""
    return (op.parameters[:op.positional] == op.tensors and not op.varargs
            and op.keyword_only <= op.defaults.keys())


class Writer:
    """Generates the function of one op for the arrays of one backend.

    `form` says how the function is called: "operator" as in `x * y`, "function" with the tensors,
    or "steps" with all arguments of forward in order.
    """

    def __init__(self, op: type[Op], form: str, xp: Backend) -> None:
        self.op, self.form, self.xp, self.node_type = op, form, xp, op.node_type
        name = op.parameters.__getitem__
        self.arguments = op.parameters if form == "steps" else op.tensors
        self.optional = set(map(name, op.optional_positions))
        self.promoted = [*map(name, op.promoted_positions)] if op.promote else []
        self.first = next((n for n in self.promoted if n not in self.optional), "")
        numbers = {*map(name, op.number_positions)} & {*self.promoted} - {self.first}
        self.numbers = set() if op.tensors[0] in numbers else numbers
        self.differentiable = op.differentiable
        self.saved_result = "result" in op.node_type.saves
        self.sets_errors = not op.view  # views only change geometry
        self.asked = {user for saved in self.node_type.saves for user in self.users_of(saved)
                      if len(self.users_of(saved)) < len(op.differentiable)}

    def text(self, **others: Any) -> Text:
        """Return the source of the function and its global names.

        `others` are further globals: the functions that handle other calls, and the observers.
        """
        lines = [*self.header()]
        where = self.op.__module__.replace(".", "/") + ".py"
        lines.insert(1, f"    # Written from `class {self.op.__name__}` in {where};")
        lines.insert(2, "    # taught() runs the same four steps for any op: minigrad/op/apply.py")
        for title, step in self.steps():
            lines += ["", f"    # {title}", *("    " + line for line in step())]
        return Text("\n".join(lines) + "\n", self.names() | others)

    def steps(self) -> tuple[tuple[str, Callable[[], Iterator[str]]], ...]:
        """Return the title of each step and the method that generates it."""
        return (("Prepare", self.prepare), ("Forward", self.forward), ("Record", self.record),
                ("Wrap", self.wrap))

    def names(self) -> dict[str, Any]:
        """Return the global names of the text."""
        op, xp = self.op, self.xp
        on_host = xp.array_type is np.ndarray
        return {
            "Tensor": Tensor, "Parameter": Parameter, "ndarray": xp.array_type, "backend": xp,
            "forward": with_numbers(op.forward, xp), "BACKENDS": BACKENDS,
            "as_array": np.asarray if on_host else xp.as_array,
            "number": (fitting_number if op.numbers_fit else number) if on_host else device_number,
            "Number": Number if on_host else DeviceNumber,
            "fits_integers": fits_integers if on_host else takes_none, "floats": FLOATS,
            "new": object.__new__, "Version": Version,
            "INFERENCE": INFERENCE,
            "NO_EDGE": NO_EDGE, "grad_enabled": _state.grad_enabled.get, "absent": ABSENT,
            "next_sequence": next_sequence, "read_sequence": read_sequence,
            "shares_memory": shares_memory, "mark_view": mark_view,
            "saved_geometry": saved_geometry, "IGNORED": IGNORED,
            "set_float_errors": set_float_errors, "reset_float_errors": reset_float_errors,
            self.node_type.__name__: self.node_type,
            **{f"default_{name}": value for name, value in op.defaults.items()},
        }

    # ---------------------------------------------------------------- the call

    def header(self) -> Iterator[str]:
        """Generate the first lines: the arguments, and the check for observers."""
        if self.form in ("function", "package"):
            operands = "".join(f"{name}=absent, " for name in self.arguments)
            yield f"def {self.op.name}({operands}/, *more, **named):"
            yield "    if more or named or observers.count:"
            yield f"        return taught({', '.join(self.arguments)}, *more, **named)"
        else:
            yield f"def {self.op.name}({', '.join(self.arguments)}):"
            yield "    if observers.count:"
            yield f"        {self.hand_to('taught')}"

    def hand_to(self, function: str) -> str:
        """Return the line that passes the call to another function."""
        return f"return {function}({', '.join(self.arguments)})"

    def value(self, name: str) -> str:
        """Return the expression for an argument, which is its default if it is not a parameter."""
        if name in self.arguments:
            return name
        default = self.op.defaults[name]
        return repr(default) if type(default) in LITERALS else f"default_{name}"

    # ---------------------------------------------------------------- prepare

    def prepare(self) -> Iterator[str]:
        """Generate the first step: unwrap tensors that have the same dtype and backend."""
        for name in self.op.tensors:
            yield from self.prepare_tensor(name)
        types = {name: argument_type for _, name, argument_type in self.op.checked}
        for name in self.arguments:
            if name not in self.op.tensors and types.get(name, NUMBER).wanted == NUMBER.wanted:
                yield f"if type({name}) is Tensor or type({name}) is Parameter:"
                yield f"    {self.hand_to('taught')}"
        if self.op.promote == "float":
            yield f"if {self.first}_array.dtype not in floats:"
            yield f"    {self.hand_to('taught')}"

    def prepare_tensor(self, name: str) -> Iterator[str]:
        """Generate the lines that check one operand and take its array."""
        is_none = f"{name} is None" if name in self.optional else ""
        no_tensor = f"type({name}) is not Tensor and type({name}) is not Parameter"
        if name in self.numbers:
            floats = "floats[:2]" if self.op.float32_scalars else "floats"
            yield f"if {no_tensor}:"
            yield f"    if (type({name}) is not float and type({name}) is not int) or (" \
                  f"{self.first}_array.dtype not in {floats} and " \
                  f"not fits_integers({name}, {self.first}_array.dtype)):"
            yield f"        {self.hand_to('taught')}"
            yield f"    {name} = number({name}, {self.first}_array.dtype)"
        elif is_none and name not in self.promoted:
            yield f"if {name} is not None and {no_tensor}:"
            yield f"    {self.hand_to('taught')}"
        else:
            yield f"if {no_tensor}:"
            yield f"    {self.hand_to('on_arrays' if name == self.op.tensors[0] else 'taught')}"
        if is_none and name not in self.promoted:
            yield f"{name}_array = None if {is_none} else {name}._array"
            yield f"if {name} is not None and type({name}_array) is not ndarray:"
        elif name in self.numbers and self.xp.array_type is not np.ndarray:
            yield f"{name}_array = {name}._array"
            yield f"if type({name}_array) is not ndarray and type({name}) is not Number:"
        else:
            yield f"{name}_array = {name}._array"
            yield f"if type({name}_array) is not ndarray:"
        yield f"    {self.hand_to('elsewhere')}"
        if name in self.promoted and name != self.first:
            yield f"if {name}_array.dtype is not {self.first}_array.dtype:"
            yield f"    {self.hand_to('taught')}"

    # ---------------------------------------------------------------- forward

    def forward(self) -> Iterator[str]:
        """Generate the second step: the op's `forward` on arrays."""
        arguments = []
        for name in self.op.parameters:
            shown = f"{name}_array" if name in self.op.tensors else self.value(name)
            arguments.append(f"{name}={shown}" if name in self.op.keyword_only else shown)
        called = getattr(self.op.forward, "calls", None)
        call = "forward(backend, " if called is None or self.xp is not numpy_backend else (
            f"backend.{called}(")
        if self.sets_errors:
            yield "before = set_float_errors(IGNORED)"
        yield "try:"
        yield f"    result = {call}{', '.join(arguments)})"
        yield "except Exception:  # the taught function raises it again and says what is wrong"
        yield "    result = absent"
        if self.sets_errors:
            yield "finally:"
            yield "    reset_float_errors(before)"
        yield "if type(result) not in BACKENDS:"
        yield "    if result is absent:"
        yield f"        {self.hand_to('taught')}"
        yield "    result = as_array(result)  # a NumPy scalar, if all operands have no dimensions"

    # ---------------------------------------------------------------- record

    def record(self) -> Iterator[str]:
        """Generate the third step: the node, its edges, and the values that its formulas need."""
        if not self.differentiable:
            yield "node = None"
            return
        for name in self.differentiable:
            live = f"{name}._requires_grad if {name}._view is None else {name}.requires_grad"
            none = f"{name} is not None and " if name in self.optional else ""
            yield f"{name}_live = {none}({live})" if none else f"{name}_live = {live}"
        yield "node = counter = None" if self.saved_result else "node = None"
        some = " or ".join(f"{name}_live" for name in self.differentiable)
        some = f"({some})" if len(self.differentiable) > 1 else some
        yield f"if {some} and grad_enabled() and result.dtype in floats:"
        for line in (*self.new_node(), *self.edges(), *self.saves(), *self.keeps()):
            yield "    " + line

    def new_node(self) -> Iterator[str]:
        """Generate the lines that create and number the node."""
        yield f"node = new({self.node_type.__name__})"
        yield "node.extras = None  # new() runs no __init__"
        yield "sequence_of_thread = read_sequence()"
        yield "node.sequence = sequence_of_thread() if sequence_of_thread else next_sequence()"
        yield "node.shape, node.dtype = result.shape, result.dtype"
        if self.form == "steps":  # in the others no observer is on
            yield "for tell in watching.on_node:"
            yield "    tell(node)"

    def edges(self) -> Iterator[str]:
        """Generate the edges, which lead to the node that made an input or to a leaf's."""
        names = self.differentiable
        if len(names) > 2:
            yield "node.num_inputs, node.others = 1, []"
            for name in names:
                yield f"if {name}_live and {name}._counter is INFERENCE:"
                yield f"    {self.hand_to('taught')}"
            ends = ", ".join(f"{n}._edge() if {n}_live else NO_EDGE" for n in names)
            yield f"node.edges = ({ends})"
            for i, name in enumerate(names):
                if name in self.asked:
                    yield f"{name}_live = node.edges[{i}][0] is not None"
            return
        for i, name in enumerate(names):
            there = f"node.next{i}, node.index{i}"
            if len(names) > 1:
                yield f"if not {name}_live:"
                yield f"    {there} = None, 0"
            yield f"{'elif' if len(names) > 1 else 'if'} {name}._node is None or " \
                  f"{name}._view is not None:"
            yield f"    if {name}._counter is INFERENCE:"
            yield f"        {self.hand_to('taught')}"
            yield f"    {there} = {name}._edge()"
            if name in self.asked:  # the edge of a view that was made without grad is empty
                yield f"    {name}_live = node.next{i} is not None"
            yield "else:"
            yield f"    {there} = {name}._node, {name}._index"

    def saves(self) -> Iterator[str]:
        """Generate the lines that save each tensor, with its version."""
        for name in self.node_type.saves:
            if name == "result":
                yield "counter = new(Version)"
                yield "counter.value = 0"
                yield "node._value_result = (result, 0, counter)"
                continue
            conditions = [f"{user}_live" for user in self.users_of(name)]
            always = len(conditions) == len(self.differentiable)
            if not always:
                yield f"if not ({' or '.join(conditions)}):" if len(conditions) > 1 else (
                    f"if not {conditions[0]}:")
                yield f"    node._value_{name} = None"
            word = "if" if always else "elif"
            if name in self.optional or name in self.numbers:
                rest = " or ".join([f"{name} is None"] * (name in self.optional)
                                   + [f"type({name}) is Number"] * (name in self.numbers))
                yield f"{word} {rest}:"
                yield f"    node._value_{name} = {name}"
                always = False
            indent = "" if always else "    "
            if not always:
                yield "else:"
            yield f"{indent}saved_counter = {name}._counter"
            yield f"{indent}node._value_{name} = " \
                  f"({name}, 0 if saved_counter is None else saved_counter.value)"

    def users_of(self, name: str) -> tuple[str, ...]:
        """Return the inputs whose gradients need a saved value."""
        if name in self.node_type.always_saved:  # type: ignore[attr-defined]  # an OpNode
            return self.differentiable
        return tuple(n for n, (_, names) in self.op.formulas.items() if name in names)

    def keeps(self) -> Iterator[str]:
        """Generate the lines that store arguments and sizes in the node."""
        for name, slot in self.node_type.arg_slots.items():  # type: ignore[attr-defined]  # an OpNode
            if name in self.op.parameters:
                yield f"node.{slot} = {self.value(name)}"
            elif name.endswith("_sizes") and geometry_input(name) in self.op.tensors and (
                    geometry_input(name) not in self.optional):
                yield f"node.{slot} = {geometry_input(name)}_array.shape"
            else:
                source = geometry_input(name)
                shown = f"{source}_array" if source in self.op.tensors else self.value(source)
                yield f"node.{slot} = saved_geometry({shown}, {name!r})"

    # ---------------------------------------------------------------- wrap

    def wrap(self) -> Iterator[str]:
        """Generate the last step: wrap the result in a Tensor that is connected to its node."""
        yield "output = new(Tensor)"
        yield "output._array, output._index = result, 0"
        yield "output._node, output._requires_grad = node, node is not None"
        if self.saved_result and self.differentiable:
            yield "output._counter = counter"
            yield "output._view = output._grad = output._extras = None"
        else:
            yield "output._counter = output._view = output._grad = output._extras = None"
        if self.op.view:
            base = self.op.parameters[0]
            yield f"if shares_memory(result, {base}_array):"
            yield f"    mark_view(output, {base})"
            yield "else:"
            yield "    output._array = result.copy()"
        yield "return output"


def with_numbers(forward: Any, xp: Backend) -> Any:
    """Make a forward for arrays of a device accept numbers, which are 0-d NumPy arrays."""
    if xp.array_type is np.ndarray:
        return forward

    def call(xp: Backend, *arrays: Any, **arguments: Any) -> Any:
        return forward(xp, *[xp.number(a) if type(a) is np.ndarray and not a.ndim else a
                             for a in arrays], **arguments)

    return call
