"""Deriving further attributes from an op's declaration, step by step.

A declaration (`declaration.py`, `attributes.py`) contains only a forward, formulas and a few
attributes.  From these follows which arguments are tensors, at which positions they are, and what a
node saves.  `read_declaration` derives all this once, when the class is created, so that a call can
look each fact up in one attribute of the op.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..graph.node import Node
from .arguments import ArgumentType, argument_type
from .forwards import call_as_shape, in_float32, in_order, on_a_copy
from .node import base_of_nodes, make_node_type, needed_by
from .out import WORDS
from .results import named_result

if TYPE_CHECKING:
    from .declaration import Op

Formula = Callable[..., Any]

#: The words that `Op.kind` may contain; see NOTE [Kinds of ops] in op/declaration.py.
KINDS = {"elementwise", "linear", "multilinear", "reduction", "view"}


class DerivedAttributes:
    """The attributes that `read_declaration` derives, so that no declaration sets them.

    A position is an index into `parameters`.
    """

    kinds: frozenset[str]  # the words in `kind`
    view: bool  # whether the result shares the memory of the first input

    # The arguments of `forward`, without `xp`.
    parameters: tuple[str, ...]
    signature: inspect.Signature  # of the function and the method that the op becomes
    keyword_only: frozenset[str]
    positional: int  # how many can be passed by position
    required: int  # how many have no default
    defaults: dict[str, Any]
    default_values: list[Any]  # by position; None if there is no default
    checked: tuple[tuple[int, str, ArgumentType], ...]  # the arguments whose type `bind` checks

    # The positions that `apply` needs.
    tensor_positions: tuple[int, ...]
    promoted_positions: tuple[int, ...]
    differentiable_positions: tuple[int, ...]
    optional_positions: tuple[int, ...]
    number_positions: tuple[int, ...]
    list_position: int | None
    plain_positions: tuple[int, ...]  # of the arguments that are not tensors

    # The formulas, and the class of the nodes that run them.
    differentiable: tuple[str, ...]
    formulas: dict[str, tuple[Formula, tuple[str, ...]]]
    needed_by_shared: tuple[str, ...]
    node_type: type[Node]

    # The functions that a call runs.
    run_forward: Callable[..., Any]  # `forward`, with keyword-only arguments by position too
    run_inplace: Callable[..., Any] | None  # the same for `forward_inplace`
    result_type: Any  # the named tuple of several outputs
    #: The function with the four steps that `codegen/` generates, for arguments in forward's order
    written_out: Callable[..., Any] | None
    changed: tuple[Callable[[], None], ...]  # called after a formula or the forward was replaced


def read_declaration(op: type[Op]) -> None:
    """Set the `DerivedAttributes` of an op; raise `TypeError` if its declaration is wrong.

    >>> from minigrad.op.declaration import Unary
    >>> class Double(Unary, abstract=True):
    ...     def forward(xp, self): return self * 2
    ...     def grad_self(g): return g * 2
    >>> read_declaration(Double); Double.name, Double.parameters, Double.differentiable
    ('double', ('self',), ('self',))
    """
    make_functions_static(op)
    read_name(op)
    read_words(op)
    complete_forward(op)
    read_parameters(op)
    read_formulas(op)
    read_tensors(op)
    read_checked(op)
    prepare_calls(op)
    if op.outputs:
        op.result_type = named_result(op.name, op.outputs)
    op.changed, op.written_out = (), None


def make_functions_static(op: type[Op]) -> None:
    """Make the functions in a declaration static, because their `self` is an array.

    >>> class Made: double = lambda self: self * 2
    >>> make_functions_static(Made); Made().double(2)
    4
    """
    for key, value in list(vars(op).items()):
        if inspect.isfunction(value) and key != "__new__":
            setattr(op, key, staticmethod(value))


def read_name(op: type[Op]) -> None:
    """Set the op's name: as declared, or after its overload, its original op or its class.

    >>> from minigrad.op.declaration import Op
    >>> class LogSoftmax(Op, abstract=True): pass
    >>> read_name(LogSoftmax); LogSoftmax.name
    'log_softmax'
    """
    op.name = vars(op).get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op.__name__).lower()
    if "overload" in vars(op) and op.overload is not None:
        op.name, number = op.overload
        op.node = "".join(map(str.capitalize, op.name.split("_"))) + f"Backward{number}"
        op.public = False
    if "inplace_of" in vars(op) and op.inplace_of is not None:
        name_inplace(op, op.inplace_of)


def name_inplace(op: type[Op], original: type[Op]) -> None:
    """Name an op after the op whose in-place variant it is; its node gets the number 1.

    >>> from types import SimpleNamespace
    >>> op, original = SimpleNamespace(), SimpleNamespace(name="mul", node="MulBackward0")
    >>> name_inplace(op, original); op.name, op.node, original.inplace_op is op
    ('mul', 'MulBackward1', True)
    """
    original.inplace_op = op
    op.name, op.public = original.name, False
    op.node = original.node.removesuffix("0") + "1"


def read_words(op: type[Op]) -> None:
    """Split `kind` into words; raise `TypeError` if `kind` or `out` contains an unknown word.

    >>> from minigrad.op.declaration import Op
    >>> class Sum(Op, abstract=True): kind = "linear reduction"
    >>> read_words(Sum); sorted(Sum.kinds), Sum.view
    (['linear', 'reduction'], False)
    """
    op.kinds = frozenset(op.kind.split())
    if unknown := op.kinds - KINDS:
        raise TypeError(f"{op.__name__}: unknown kind {min(unknown)!r}; see NOTE [Kinds of ops]")
    if unknown := frozenset(op.out.split()) - WORDS:
        raise TypeError(f"{op.__name__}: unknown word {min(unknown)!r} in `out`; see NOTE [out=]")
    op.view = "view" in op.kinds


def complete_forward(op: type[Op]) -> None:
    """Make the `forward` if a declaration leaves it out because it follows from the rest.

    >>> from minigrad.op.declaration import Unary
    >>> class Sqrt(Unary, abstract=True): function = "sqrt"
    >>> complete_forward(Sqrt); Sqrt.forward(numpy, 4.0)
    np.float64(2.0)
    """
    if op.backend_call and (not hasattr(op, "forward") or "function" in vars(op)):
        op.forward = staticmethod(op.backend_call(op.function or op.name, op.kernel))
    if "forward" in vars(op) and "forward_inplace" not in vars(op):
        op.forward_inplace = None  # an inherited one would compute something else
    if not hasattr(op, "forward") and op.forward_inplace is not None:
        op.forward = staticmethod(on_a_copy(op.forward_inplace))
    if op.in_float32 and "forward" in vars(op):
        op.forward = staticmethod(in_float32(op.forward))
    if not hasattr(op, "forward") and op.function:
        op.forward = staticmethod(call_as_shape(op))


def parameters_of(op: type[Op]) -> list[inspect.Parameter]:
    """Return the parameters of an op's `forward`, without `xp`.

    >>> from minigrad.op.declaration import REGISTRY
    >>> [str(parameter) for parameter in parameters_of(REGISTRY["Softplus"])]
    ['self', 'beta=1.0', 'threshold=20.0']
    """
    return list(inspect.signature(op.forward).parameters.values())[1:]


def read_parameters(op: type[Op]) -> None:
    """Read the arguments of `forward`: names, defaults, and which are keyword-only.

    >>> from minigrad.op.declaration import Op
    >>> class Scale(Op, abstract=True): forward = staticmethod(lambda xp, self, by=2: self * by)
    >>> read_parameters(Scale); Scale.parameters, Scale.required, Scale.default_values
    (('self', 'by'), 1, [None, 2])
    """
    parameters = parameters_of(op)
    op.parameters = tuple(p.name for p in parameters)
    op.signature = shown_signature(op, parameters)
    op.keyword_only = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    op.positional = len(op.parameters) - len(op.keyword_only)
    op.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    op.required = len(op.parameters) - len(op.defaults)
    op.default_values = [op.defaults.get(n) for n in op.parameters]


def shown_signature(op: type[Op], parameters: list[inspect.Parameter]) -> inspect.Signature:
    """Return the signature of an op's function, without `forward`'s types, which are for arrays.

    >>> from minigrad.op.declaration import Unary
    >>> def forward(self: Array, dim: int = 0): ...
    >>> shown_signature(Unary, list(inspect.signature(forward).parameters.values()))
    <Signature (self, dim=0)>
    """
    shown = []
    for parameter in parameters:
        if parameter.annotation is not parameter.empty:
            parameter = parameter.replace(annotation=parameter.empty)
        if parameter.name == op.varargs:
            parameter = parameter.replace(kind=parameter.VAR_POSITIONAL, default=parameter.empty)
        shown.append(parameter)
    return inspect.Signature(shown)


class Formulas(dict[str, tuple[Formula, tuple[str, ...]]]):
    """The formula of each differentiable input of an op, with the names of the values it needs.

    >>> from minigrad.op.declaration import REGISTRY
    >>> Formulas(REGISTRY["Mul"])["self"][1]
    ('g', 'other')
    """

    def __init__(self, op: type[Op]) -> None:
        self.op = op
        for name in op.parameters:
            if (formula := getattr(op, f"grad_{name}", None)) is not None:
                super().__setitem__(name, (formula, needed_by(formula)))

    def __setitem__(self, name: str, formula: tuple[Formula, tuple[str, ...]]) -> None:
        super().__setitem__(name, formula)
        announce_change(self.op)


def read_formulas(op: type[Op]) -> None:
    """Collect the formulas, `grad_<input>`, which determine the differentiable inputs.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op = REGISTRY["Mul"]; read_formulas(op); op.differentiable
    ('self', 'other')
    """
    op.formulas = Formulas(op)
    op.needed_by_shared = () if op.shared is None else needed_by(op.shared)
    op.differentiable = tuple(op.formulas)
    op.differentiable_positions = tuple(map(op.parameters.index, op.differentiable))


def read_tensors(op: type[Op]) -> None:
    """Find out which arguments are tensors, and the positions of each sort of argument.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op = REGISTRY["Where"]; read_tensors(op); op.tensor_positions, op.promoted_positions
    ((0, 1, 2), (1, 2))
    """
    if not op.tensors:
        op.tensors = tuple(n for n in op.differentiable if n != op.list_of_tensors)
        if op.nondifferentiable and not op.differentiable and op.list_of_tensors is None:
            op.tensors = tuple(n for n in op.parameters if n in ("self", "other"))
    if not op.promoted:
        op.promoted = op.tensors
    position = op.parameters.index
    tensors = op.tensor_positions = tuple(map(position, op.tensors))
    op.promoted_positions = tuple(i for i in map(position, op.promoted) if i in tensors)
    op.number_positions = tuple(
        i for i in tensors
        if op.numbers is True or (op.numbers and op.parameters[i] in op.numbers))
    op.optional_positions = tuple(
        i for i in tensors
        if op.parameters[i] in op.optional or op.defaults.get(op.parameters[i], 0) is None)
    op.list_position = None if op.list_of_tensors is None else position(op.list_of_tensors)
    op.plain_positions = tuple(
        i for i in range(len(op.parameters)) if i not in tensors and i != op.list_position)


def read_checked(op: type[Op]) -> None:
    """Collect the arguments whose types `bind` checks: in public ops, those without tensors.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op = REGISTRY["Tril"]; read_checked(op); [(i, name) for i, name, _ in op.checked]
    [(1, 'diagonal')]
    """
    op.checked = tuple(
        (i, p.name, expected) for i, p in enumerate(parameters_of(op))
        if op.public and p.name not in op.tensors
        and (expected := argument_type(p, "reduction" in op.kinds)) is not None
        and expected.wanted != "float")  # `plain_numbers` checks those


def prepare_calls(op: type[Op]) -> None:
    """Prepare what a call needs: forward with arguments by position, and the node class.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op = REGISTRY["Mul"]; prepare_calls(op); op.run_forward(numpy, 2, 3), op.node_type.__name__
    (np.int64(6), 'MulBackward0')
    """
    op.run_forward = in_order(op, op.forward)
    op.run_inplace = op.forward_inplace and in_order(op, op.forward_inplace)
    op.node_type = make_node_type(op, base_of_nodes(op))


# -------------------------------------------------------------------- after a change


def read_again(op: type[Op]) -> None:
    """Read an op's forward and formulas again after one of them was replaced.

    >>> from minigrad.op.declaration import REGISTRY
    >>> op = REGISTRY["Mul"]; read_again(op); list(op.formulas)
    ['self', 'other']
    """
    read_formulas(op)
    prepare_calls(op)
    announce_change(op)


def announce_change(op: type[Op]) -> None:
    """Call the functions in `op.changed`, which discard everything derived from the declaration.

    >>> from types import SimpleNamespace
    >>> announce_change(SimpleNamespace(changed=(lambda: print("read again"),)))
    read again
    """
    for changed in op.changed:
        changed()
