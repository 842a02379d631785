"""Op: a declaration that determines an operation's forward, node, saves and in-place variant.

    class Mul(Binary):
        '''Elementwise product; the shapes broadcast.'''
        function = "multiply"
        def grad_self(g, other): return g * other
        def grad_other(g, self): return g * self
        def samples(make): yield make(3, 4), make(4)

NOTE [A formula's argument names are its save list]
    `grad_<input>` computes the gradient of one input.  The names of its arguments say what it
    needs: `g` (the gradient of the only output), `g_<output>` or `grads` (of several outputs), an
    input, an output (`result`, or a name in `outputs`), an argument of forward, or `<input>_sizes`
    or `<input>_strides`.  If the formula is going to run, the node saves the named values and shows
    them as `_saved_<name>`.  An argument `shared=None` receives the result of the op's function
    `shared`, which runs once per node in a pass on arrays; the formulas must name everything that
    `shared` names.

NOTE [Kinds of ops]
    `kind` names the families that an op belongs to.  Several parts of minigrad depend on it:
    forward mode derives how a tangent passes the op, `vmap` derives a batching rule, and in-place
    writes derive whether operands may overlap.
        "elementwise"  each element of the result depends on one element of each operand
        "linear"       the output's tangent is the op applied to the input's tangent
        "multilinear"  linear in each input: sum the op over the inputs, with one tangent each time
        "reduction"    combines elements along the dimensions in its argument `dim`, or all
        "view"         linear, and the result shares the memory of the first input
    An op of two families names both: `kind = "linear reduction"`.

NOTE [Two realisations of one formula]
    A formula may use `+ - * / @`, unary minus and the functions of the namespace `F`, because these
    work on tensors and on bare arrays.  With `create_graph` the engine runs the formula on tensors,
    so that second derivatives work without further code; otherwise it runs it on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..shapes import broadcast, same
from .apply import apply
from .arguments import bind
from .attributes import (
    BackendCall,
    Batching,
    Differentiation,
    InPlaceWrites,
    Operands,
    Outputs,
    Promotion,
    Publishing,
)
from .forwards import binary_call, unary_call
from .reading import DerivedAttributes, read_again, read_declaration
from .registry import Registry

REGISTRY = Registry()


class Namespace:
    """`F`, which has every operation by name, for tensors and for bare arrays.

    >>> from minigrad import tensor
    >>> F.exp(numpy.zeros(2)), F.exp(tensor([0.0, 0.0]))
    (array([1., 1.]), tensor([1., 1.]))
    """

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no operation named {name!r}")


F: Any = Namespace()


class Declaration(type):
    """The metaclass of ops: if you replace a formula or a forward, the next call runs the new one.

    >>> op = REGISTRY["Sinh"]; before = op.grad_self
    >>> op.grad_self = staticmethod(lambda g: g * 7); op.formulas["self"][1]
    ('g',)
    >>> op.grad_self = staticmethod(before); op.formulas["self"][1]
    ('g', 'self')
    """

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if (name == "forward" or name.startswith("grad_")) and "node_type" in vars(cls):
            read_again(cls)  # type: ignore[arg-type]  # an Op


class Op(Operands, Promotion, Outputs, Differentiation, Batching, InPlaceWrites, Publishing,
         BackendCall, DerivedAttributes, metaclass=Declaration):
    """The base of all operations; each subclass declares one and is registered automatically.

    Most declarations need only these ten attributes and formulas named `grad_<input>`.  The base
    classes have the rarer attributes by topic, and minigrad derives the attributes in
    `DerivedAttributes` from a declaration.

    >>> from minigrad import tensor
    >>> REGISTRY["Mul"](tensor(2.0), tensor(3.0))
    tensor(6.)
    """

    name: str = ""  # the function's name; by default the class name in snake_case
    #: The class name of the op's nodes; by default the op's class name followed by "Backward0", or
    #: by "Backward" if there is a formula
    node: str = ""
    kind: str = ""  # see NOTE [Kinds of ops]
    tensors: tuple[str, ...] = ()  # the tensor arguments; by default those with a formula
    #: "result" converts inputs to their common dtype; "float" also makes that dtype floating
    promote: str | None = None
    shape: Callable[..., Any] = same  # the shape rule: maps shapes to a shape, or raises
    function = ""  # the backend's function, if `forward` only calls that
    forward: Callable[..., Any]  # by default calls `function`, or `forward_inplace` on a copy
    inplace = False  # whether the op has an in-place variant
    samples: Callable[..., Iterator[Any]]  # yields arguments for tests

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
    """An elementwise op of one tensor; its forward calls the backend function of the same name.

    >>> REGISTRY["Exp"].parameters
    ('self',)
    """

    kind = "elementwise"
    inplace = True
    out = "cast"
    backend_call = unary_call
    samples: Callable[..., Iterator[Any]] = unary_samples


class Binary(Op, abstract=True):
    """An elementwise op of two tensors; its forward calls the backend function of the same name.

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


def declare(op: type[Op]) -> None:
    """Read a declaration, raise `TypeError` if something is missing, and register the op.

    >>> class Double(Unary, abstract=True):
    ...     def forward(xp, self): return self * 2
    ...     def grad_self(g): return g * 2
    >>> declare(Double); op = REGISTRY.pop("Double"); op.name, op.parameters, op.differentiable
    ('double', ('self',), ('self',))
    """
    read_declaration(op)
    if REGISTRY.has(op.__name__):
        raise TypeError(f"an op named {op.__name__} is registered already")
    REGISTRY[op.__name__] = op
