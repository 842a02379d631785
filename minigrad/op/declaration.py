"""Op: one declaration from which an operation's forward, node, saves and in-place variant follow.

    class Mul(Binary):
        '''Elementwise product; the shapes broadcast.'''
        function = "multiply"
        def grad_self(g, other): return g * other
        def grad_other(g, self): return g * self
        def samples(make): yield make(3, 4), make(4)

NOTE [A formula's argument names are its save list]
    `grad_<input>` computes the gradient of one input.  Its arguments are names: `g` (the gradient
    of the one output), `g_<output>` or `grads` (of several), an input, an output (`result`, or a
    name in `outputs`), an argument of forward, or `<input>_sizes` or `<input>_strides`.  A
    named value is saved if the formula will run, and shows as `_saved_<name>` on the node.
    An argument `shared=None` gets what the function `shared` of an op of several outputs returns,
    which is called once in a pass on arrays; whatever it names, all formulas name too.

NOTE [Kinds of ops]
    `kind` names the families that an op belongs to, and each part of minigrad reads from it what
    it has to know: forward mode how a tangent passes the op, `vmap` its batching rule, a write in
    place whether operands may overlap.
        "elementwise"  each element of the result depends on one element of each operand
        "linear"       the tangent of the op is the op of the tangents
        "multilinear"  linear in each input alone: the op with one tangent in its place, summed
        "reduction"    combines elements along the dimensions in its argument `dim`, or all
        "view"         linear, and the result shares the memory of the first input
    An op of two families names both: `kind = "linear reduction"`.

NOTE [Two realisations of one formula]
    A formula may use `+ - * / @`, unary minus and the functions of the namespace `F`.  They work
    on tensors, so that second derivatives come free, and on bare arrays, which is what the engine
    uses when no graph of the backward pass is wanted.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..graph.node import Node
from ..shapes import broadcast, same
from .apply import apply, run_steps
from .arguments import Kind, bind, kind_of
from .forwards import binary_call, call_as_shape, in_float32, in_order, on_a_copy, unary_call
from .node import base_of_nodes, make_node_type, needed_by
from .out import WORDS
from .registry import Registry
from .results import named_result

Array = Any
Formula = Callable[..., Any]

#: The words that `Op.kind` may hold.
KINDS = {"elementwise", "linear", "multilinear", "reduction", "view"}

REGISTRY = Registry()


class Namespace:
    """`F`: every operation by its name, on tensors and on bare arrays alike.

    >>> from minigrad import tensor
    >>> F.exp(numpy.zeros(2)), F.exp(tensor([0.0, 0.0]))
    (array([1., 1.]), tensor([1., 1.]))
    """

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no operation named {name!r}")


F: Any = Namespace()


class Declaration(type):
    """The type of ops: if you replace a formula or a forward, the next call runs the new one.

    >>> op = REGISTRY["Sinh"]; before = op.grad_self
    >>> op.grad_self = staticmethod(lambda g: g * 7); op.formulas["self"][1]
    ('g',)
    >>> op.grad_self = staticmethod(before); op.formulas["self"][1]
    ('g', 'self')
    """

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if (name == "forward" or name.startswith("grad_")) and "node_type" in vars(cls):
            read_formulas(cls)  # type: ignore[arg-type]  # an Op
            renew(cls)  # type: ignore[arg-type]  # an Op


class Op(metaclass=Declaration):
    """The base of all operations; a subclass declares one and registers itself.

    >>> from minigrad import tensor
    >>> REGISTRY["Mul"](tensor(2.0), tensor(3.0))
    tensor(6.)
    """

    name: str = ""  # how it is called; the class name in snake_case by default
    #: How its node is printed; by default the class name + "Backward", or + "Backward0" where
    #: there is no formula
    node: str = ""
    #: The function that chooses between this op and others, and the number of this op's node, as
    #: PyTorch counts them.  The op has that function's name, and is not published itself.
    overload: tuple[str, int | str] | None = None
    kind: str = ""  # see NOTE [Kinds of ops]
    #: "result": inputs are brought to their common dtype; "float": and that is floating at least
    promote: str | None = None
    reject_bool = False  # whether an input to be promoted may not be boolean
    promoted: tuple[str, ...] = ()  # which inputs are promoted; all by default
    tensors: tuple[str, ...] = ()  # which arguments are tensors; those with a formula
    numbers: bool | tuple[str, ...] = False  # for which a number may stand; True: any
    #: Inputs that are read in float32 if they are one number beside float16, as in PyTorch.
    float32_scalars: tuple[str, ...] = ()
    in_float32 = False  # whether float16 is computed in float32, so that no step overflows
    optional: tuple[str, ...] = ()  # which may be None; by default those whose default that is
    list_of_tensors: str | None = None  # the argument that is a sequence of tensors
    outputs: tuple[str, ...] = ()  # names, where there are several
    constants = 0  # how many of them, the last ones, have no gradient
    many = False  # whether the result is a list of any length
    #: Whether the variant in place may write to several elements that are one place in memory.
    allow_self_overlap = False
    copies = False  # whether it copies its second input to the first: onto itself that is allowed
    #: Whether it refuses tensors that share memory with the first, even all of it; "after shapes"
    #: if its shape rule comes before that
    no_overlap: bool | str = False
    inplace = False  # whether there is a variant that writes to the first input
    #: The op that this one is the variant in place of, if PyTorch gives that a node of its own
    inplace_of: type[Op] | None = None
    inplace_op: type[Op] | None = None  # and, of that op, this one
    out = ""  # how the package's function takes `out=`; see NOTE [out=] in op/out.py
    varargs: str | None = None  # the argument that also takes its items one by one
    dunder: tuple[str, ...] = ()  # operators, the second one with the operands swapped
    commutative = False  # whether that second one may as well be the first
    method = True  # whether tensors have it as a method
    public = True  # whether `F` and the package have it as a function
    nondifferentiable = False  # whether no formula is given because PyTorch has none either
    #: Whether PyTorch lacks the derivative, so that backward has to raise; perhaps what it says
    not_implemented_derivative: bool | str = False
    no_history = False  # whether the variant in place leaves the history as it is
    materialize = True  # whether missing gradients of outputs become zeros
    #: A rule for forward mode, where neither the kind nor the formulas give it; see NOTE [How a
    #: tangent passes an op] in autograd/forward_ad/pushforward.py
    jvp: Callable[..., Any] | None = None
    no_batching = ""  # why there is no batching rule, so that `vmap` runs it example by example
    #: Makes the forward of an op that only calls a function of the backend; see `Unary`, `Binary`
    backend_call: Callable[..., Any] | None = None
    function = ""  # the name of that function; the op's by default
    #: The kinds of dtypes, as in NumPy, that PyTorch's kernel has code for, and the kernel's name
    kernel: tuple[str, str] | None = None
    shape: Callable[..., Any] = same
    forward: Callable[..., Any]  # by default `forward_inplace` on a copy, which that returns
    #: `forward` that writes its result to `self`, which has that dtype already, and raises before
    #: it writes; without one `forward`'s result is copied there
    forward_inplace: Callable[..., Any] | None = None
    #: A shape rule for the variant in place alone: raises where `forward`'s result would fit
    inplace_shape: Callable[..., Any] | None = None
    shared: Callable[..., Any] | None = None  # the common part of formulas on arrays
    samples: Callable[..., Iterator[Any]]

    kinds: frozenset[str]  # the words in `kind`
    view: bool  # whether the result shares the memory of the first input
    parameters: tuple[str, ...]
    signature: inspect.Signature  # of the function and the method that the op becomes
    keyword_only: frozenset[str]
    # The same by position in `parameters`, where `apply` reads it:
    tensor_positions: tuple[int, ...]
    promoted_positions: tuple[int, ...]
    differentiable_positions: tuple[int, ...]
    optional_positions: tuple[int, ...]
    number_positions: tuple[int, ...]
    list_position: int | None
    plain_positions: tuple[int, ...]
    checked: tuple[tuple[int, str, Kind], ...]  # position, name and kind of plain arguments
    run_forward: Callable[..., Any]  # `forward` with keyword-only arguments in their order too
    run_inplace: Callable[..., Any] | None  # the same of `forward_inplace`
    positional: int  # how many may be given without a name
    required: int
    default_values: list[Any]
    defaults: dict[str, Any]
    differentiable: tuple[str, ...]
    formulas: dict[str, tuple[Formula, tuple[str, ...]]]
    needed_by_shared: tuple[str, ...]
    result_type: Any
    node_type: type[Node]
    #: Runs the four steps on arguments in forward's order; `codegen/` writes it out.
    steps: Callable[..., Any]
    changed: tuple[Callable[[], None], ...]  # called after a formula or the forward was replaced

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return apply(cls, bind(cls, args, kwargs))


    def __init_subclass__(cls, abstract: bool = False) -> None:
        if not abstract:
            declare(cls)


def unary_samples(make: Any) -> Iterator[Any]:
    """Yield samples of one tensor.

    >>> list(unary_samples(lambda *shape: shape))
    [(3, 4), (), (0, 2)]
    """
    yield from (make(3, 4), make(), make(0, 2))


def binary_samples(make: Any) -> Iterator[Any]:
    """Yield samples of two tensors that broadcast; the second has no zeros.

    >>> list(binary_samples(lambda *shape, **bounds: shape))[1]
    ((3, 1), (4,))
    """
    yield make(3, 4), make(3, 4, low=0.5)
    yield make(3, 1), make(4, low=0.5)
    yield make(), make(2, low=0.5)
    yield make(0, 3), make(3, low=0.5)


class Unary(Op, abstract=True):
    """An elementwise op of one tensor; its forward calls the backend's function of its name.

    >>> REGISTRY["Exp"].parameters
    ('self',)
    """

    kind = "elementwise"
    inplace = True
    out = "cast"
    backend_call = unary_call
    samples: Callable[..., Iterator[Any]] = unary_samples


class Binary(Op, abstract=True):
    """An elementwise op of two tensors; its forward calls the backend's function of its name.

    >>> REGISTRY["Mul"].parameters
    ('self', 'other')
    """

    kind = "elementwise"
    shape = broadcast
    promote: str | None = "result"
    inplace = True
    out = "cast"
    backend_call = binary_call
    samples: Callable[..., Iterator[Any]] = binary_samples


def shown_signature(op: type[Op], arguments: list[inspect.Parameter]) -> inspect.Signature:
    """Return the signature of an op's function; the types of `forward` are those of arrays.

    >>> def forward(self: Array, dim: int = 0): ...
    >>> shown_signature(Unary, list(inspect.signature(forward).parameters.values()))
    <Signature (self, dim=0)>
    """
    shown = []
    for parameter in arguments:
        if parameter.annotation is not parameter.empty:
            parameter = parameter.replace(annotation=parameter.empty)
        if parameter.name == op.varargs:
            parameter = parameter.replace(kind=parameter.VAR_POSITIONAL, default=parameter.empty)
        shown.append(parameter)
    return inspect.Signature(shown)


def declare(op: type[Op]) -> None:
    """Read a declaration, complain about what is missing, and register it.

    >>> class Double(Unary, abstract=True):
    ...     def forward(xp, self): return self * 2
    ...     def grad_self(g): return g * 2
    >>> declare(Double); op = REGISTRY.pop("Double"); op.name, op.parameters, op.differentiable
    ('double', ('self',), ('self',))
    """
    for key, value in list(vars(op).items()):
        if inspect.isfunction(value) and key != "__new__":
            setattr(op, key, staticmethod(value))
    op.name = vars(op).get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", op.__name__).lower()
    if "overload" in vars(op) and op.overload is not None:
        op.name, number = op.overload
        op.node = "".join(map(str.capitalize, op.name.split("_"))) + f"Backward{number}"
        op.public = False
    if "inplace_of" in vars(op) and op.inplace_of is not None:
        declare_inplace(op, op.inplace_of)
    op.kinds = frozenset(op.kind.split())
    if unknown := op.kinds - KINDS:
        raise TypeError(f"{op.__name__}: unknown kind {min(unknown)!r}; see NOTE [Kinds of ops]")
    if unknown := frozenset(op.out.split()) - WORDS:
        raise TypeError(f"{op.__name__}: unknown word {min(unknown)!r} in `out`; see NOTE [out=]")
    op.view = "view" in op.kinds
    if op.backend_call and (not hasattr(op, "forward") or "function" in vars(op)):
        op.forward = staticmethod(op.backend_call(op.function or op.name, op.kernel))
    if "forward" in vars(op) and "forward_inplace" not in vars(op):
        op.forward_inplace = None  # a base's would compute something else
    if not hasattr(op, "forward") and op.forward_inplace is not None:
        op.forward = staticmethod(on_a_copy(op.forward_inplace))
    if op.in_float32 and "forward" in vars(op):
        op.forward = staticmethod(in_float32(op.forward))
    if not hasattr(op, "forward") and op.function:
        op.forward = staticmethod(call_as_shape(op))
    signature = inspect.signature(op.forward)
    arguments = list(signature.parameters.values())[1:]
    op.parameters = tuple(p.name for p in arguments)
    op.signature = shown_signature(op, arguments)
    op.defaults = {p.name: p.default for p in arguments if p.default is not p.empty}
    op.checked = tuple(
        (i, p.name, kind) for i, p in enumerate(arguments)
        if op.public and p.name not in op.tensors
        and (kind := kind_of(p, "reduction" in op.kinds)) is not None)
    op.keyword_only = frozenset(p.name for p in arguments if p.kind is p.KEYWORD_ONLY)
    op.formulas = Formulas(op)
    op.needed_by_shared = () if op.shared is None else needed_by(op.shared)
    op.differentiable = tuple(op.formulas)
    if not op.tensors:
        op.tensors = tuple(n for n in op.differentiable if n != op.list_of_tensors)
        if op.nondifferentiable and not op.differentiable and op.list_of_tensors is None:
            op.tensors = tuple(n for n in op.parameters if n in ("self", "other"))
    if not op.promoted:
        op.promoted = op.tensors
    place = op.parameters.index
    op.tensor_positions = tuple(map(place, op.tensors))
    op.promoted_positions = tuple(i for i in map(place, op.promoted) if i in op.tensor_positions)
    op.number_positions = tuple(
        i for i in op.tensor_positions
        if op.numbers is True or (op.numbers and op.parameters[i] in op.numbers))
    op.optional_positions = tuple(
        i for i in op.tensor_positions
        if op.parameters[i] in op.optional or op.defaults.get(op.parameters[i], 0) is None)
    op.differentiable_positions = tuple(map(place, op.differentiable))
    op.list_position = None if op.list_of_tensors is None else place(op.list_of_tensors)
    op.plain_positions = tuple(
        i for i in range(len(op.parameters))
        if i not in op.tensor_positions and i != op.list_position)
    op.positional = len(op.parameters) - len(op.keyword_only)
    op.run_forward = in_order(op, op.forward)
    op.run_inplace = op.forward_inplace and in_order(op, op.forward_inplace)
    op.required = len(op.parameters) - len(op.defaults)
    op.default_values = [op.defaults.get(n) for n in op.parameters]
    if op.outputs:
        op.result_type = named_result(op.name, op.outputs)
    op.changed, op.steps = (), partial(run_steps, op)
    op.node_type = make_node_type(op, base_of_nodes(op))
    if REGISTRY.has(op.__name__):
        raise TypeError(f"an op named {op.__name__} is registered already")
    REGISTRY[op.__name__] = op


class Formulas(dict[str, tuple[Formula, tuple[str, ...]]]):
    """The formula of each differentiable input of an op, with the names of what it needs.

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
        renew(self.op)


def renew(op: type[Op]) -> None:
    """Call what has to read a declaration again after a change.

    >>> from types import SimpleNamespace
    >>> renew(SimpleNamespace(changed=(lambda: print("read again"),)))
    read again
    """
    for read_again in op.changed:
        read_again()


def read_formulas(op: type[Op]) -> None:
    """Read forward and formulas of an op anew, after one of them was replaced.

    >>> op = REGISTRY["Mul"]; read_formulas(op); list(op.formulas)
    ['self', 'other']
    """
    op.formulas = Formulas(op)
    op.run_forward = in_order(op, op.forward)
    op.node_type = make_node_type(op, base_of_nodes(op))


def declare_inplace(op: type[Op], original: type[Op]) -> None:
    """Make an op the variant in place of another, whose name it has; its node is numbered 1.

    >>> from types import SimpleNamespace
    >>> op, original = SimpleNamespace(), SimpleNamespace(name="mul", node="MulBackward0")
    >>> declare_inplace(op, original); op.name, op.node, original.inplace_op is op
    ('mul', 'MulBackward1', True)
    """
    original.inplace_op = op
    op.name, op.public = original.name, False
    op.node = original.node.removesuffix("0") + "1"
