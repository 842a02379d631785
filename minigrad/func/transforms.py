"""Functions that give derivatives of functions: grad, vjp, jvp; jacobians stand in `jacobians.py`.

They nest, with each other and inside `vmap`: the gradient of a gradient is the second derivative,
`vmap(grad(loss), (None, 0, 0))` gives each example its own gradient.

NOTE [Whose graph it is]
    A derivative is taken by the copy of its input that the function gets, so that derivatives
    taken inside or around it are kept apart.  Its own result keeps a graph only if somebody can
    ask for it: another derivative around, or a tensor that requires grad and was used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .._state import grad_enabled
from ..accumulate import AccumulateGrad
from ..autograd.backward import grad as gradients
from ..autograd.functional_passes import pullback
from ..autograd.grad_mode import enable_grad
from ..op import F
from ..tensor import Tensor
from .levels import Whole, depth
from .tree import leaves_of, mapped, rebuilt

__all__ = ["grad", "grad_and_value", "jvp", "value_and_grad", "vjp"]

Function = Callable[..., Any]
ArgNums = int | tuple[int, ...]


class Derivation:
    """One derivative being taken: copies of its inputs, and their gradients afterwards.

    All tensors in it are whole: see NOTE [Derivatives inside vmap] in levels.py.
    """

    def __init__(self, inputs: Any) -> None:
        self.whole = Whole()
        self.tree = inputs
        self.outermost = depth.get() == 0
        self.copies = [self.copy(leaf) for leaf in leaves_of(inputs)]

    def copy(self, leaf: Any) -> Tensor:
        """Return the tensor by which to differentiate in the place of `leaf`."""
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        whole = self.whole.of(leaf)
        if whole.requires_grad:
            alias: Tensor = F.view_as(whole, whole)
            return alias
        return whole.detach().requires_grad_()

    def arguments(self) -> Any:
        """Return what the function is called with, nested as the inputs were."""
        return rebuilt(self.tree, [self.whole.example(c) for c in self.copies])

    def call(self, func: Function, *args: Any, **kwargs: Any) -> Any:
        """Call the function with its operations recorded."""
        before = depth.get()
        try:
            depth.set(before + 1)
            with enable_grad():
                return func(*args, **kwargs)
        finally:
            depth.set(before)

    def keeps_graph(self, outputs: Sequence[Tensor]) -> bool:
        """Tell whether the derivative may be differentiated; see NOTE [Whose graph it is]."""
        if not self.outermost:
            return True
        own = {id(c) for c in self.copies if c.is_leaf}
        seen, stack = set(), [node for t in outputs if (node := t._edge()[0]) is not None]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if isinstance(node, AccumulateGrad) and id(node.variable) not in own:
                return grad_enabled.get()
            stack += [n for n, _ in node.edges if n is not None]
        return False

    def pull(self, outputs: Sequence[Tensor], vectors: Sequence[Tensor], keep: bool,
             is_batched: bool = False) -> list[Tensor | None]:
        """Return the product of vectors with the jacobian, by each input; None where it is zero."""
        live = [i for i, out in enumerate(outputs) if out.requires_grad]
        if not live:
            return [None] * len(self.copies)
        return list(gradients([outputs[i] for i in live], self.copies, [vectors[i] for i in live],
                              True, keep, allow_unused=True, is_grads_batched=is_batched))

    def result(self, found: Sequence[Tensor | None]) -> list[Tensor]:
        """Return gradients as the function's caller sees them, zeros for those that are missing."""
        return [self.whole.example(F.zeros_like(c) if g is None else g)
                for g, c in zip(found, self.copies, strict=True)]

    def finished(self, value: Any, keep: bool) -> Any:
        """Return what the function gave, without the graph of this derivative."""
        def outside(leaf: Any) -> Any:
            return leaf.detach() if isinstance(leaf, Tensor) and not keep else leaf

        return mapped(outside, value)


def chosen(argnums: ArgNums, args: tuple[Any, ...]) -> Any:
    """Return the arguments by which to differentiate: one, or a tuple of them."""
    def one(i: int) -> Any:
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
        return args[i]

    return tuple(one(i) for i in argnums) if isinstance(argnums, tuple) else one(argnums)


def replaced(argnums: ArgNums, args: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    """Return the arguments with others in the places `argnums`."""
    values = list(args)
    for i, value in zip(argnums, new, strict=True) if isinstance(argnums, tuple) else [
            (argnums, new)]:
        values[i] = value
    return tuple(values)


def parted(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Return the output to differentiate and what the function gave besides."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if "
                           "has_aux is True")
    return result


def grad_and_value(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return the function that gives gradient and value of `func`; arguments are those of `grad`.

    With `has_aux` the value is a pair, `(output, aux)`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad_and_value.html

    >>> from minigrad import tensor
    >>> grad_and_value(lambda x: x * x)(tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        derivation = Derivation(chosen(argnums, args))
        given = replaced(argnums, args, derivation.arguments())
        output, aux = parted(derivation.call(func, *given, **kwargs), has_aux,
                             "grad_and_value(f)(*args)")
        if not isinstance(output, Tensor):
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a Tensor, "
                               f"got {type(output)}")
        if output.dim():
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                               f"Tensor, got tensor with {output.dim()} dims. Maybe you wanted to "
                               "use the vjp or jacrev APIs instead?")
        whole = derivation.whole.of(output)
        keep = derivation.keeps_graph([whole])
        found = derivation.result(derivation.pull([whole], [F.ones_like(whole)], keep))
        slopes = rebuilt(derivation.tree, found)
        value = derivation.finished(output, keep)
        return (slopes, (value, derivation.finished(aux, keep))) if has_aux else (slopes, value)

    return derivative


def value_and_grad(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return the function that gives value and gradient of `func`: `grad_and_value` in the order
    that the name says.

    >>> from minigrad import tensor
    >>> value_and_grad(lambda x: x * x)(tensor(3.0))
    (tensor(9.), tensor(6.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        slopes, value = both(*args, **kwargs)
        return value, slopes

    return derivative


def grad(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return the function that gives the gradient of `func`, which returns one number.

    The gradient is by the argument number `argnums`, or by several; arguments may be nested.  With
    `has_aux` the function returns `(output, aux)` and its gradient `(gradient, aux)`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html

    >>> from minigrad import tensor
    >>> grad(grad(lambda x: x**3))(tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        slopes, value = both(*args, **kwargs)
        return (slopes, value[1]) if has_aux else slopes

    return derivative


def tensors_only(output: Any, name: str) -> list[Tensor]:
    """Return the leaves of an output; `RuntimeError` unless all are tensors."""
    leaves = leaves_of(output)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got "
                               f"unsupported type {type(leaf)}")
    return leaves


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and the function that multiplies vectors with its jacobian.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vjp.html

    >>> from minigrad import tensor
    >>> output, pull = vjp(lambda x: x * x, tensor([1.0, 2.0]))
    >>> output, pull(tensor([1.0, 10.0]))
    (tensor([1., 4.]), (tensor([ 2., 40.]),))
    """
    derivation = Derivation(primals)
    called = derivation.call(func, *derivation.arguments())
    output, aux = parted(called, has_aux, "vjp(f, *primals)")
    wholes = [derivation.whole.of(t) for t in tensors_only(output, "vjp(f, *primals)")]
    keep = derivation.keeps_graph(wholes)

    def pull(*cotangents: Any) -> Any:
        """Return the product of the vectors with the jacobian, a tuple like the inputs."""
        given = cotangents[0] if (len(cotangents) == 1 and not isinstance(output, tuple)) or (
            len(cotangents) == 1 and isinstance(cotangents[0], tuple)) else cotangents
        vectors = [derivation.whole.of(t) for t in leaves_of(given)]
        if len(vectors) != len(wholes):
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree "
                               f"structure of outputs to the function: {len(wholes)} tensors, got "
                               f"{len(vectors)}.")
        again = keep or depth.get() > 0 or any(v.requires_grad for v in vectors)
        return rebuilt(primals, derivation.result(derivation.pull(wholes, vectors, again)))

    value = derivation.finished(output, keep)
    return (value, pull, derivation.finished(aux, keep)) if has_aux else (value, pull)


def jvp(func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *,
        strict: bool = False, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and the product of its jacobian with `tangents`.

    It takes two backward passes, see NOTE [Tangents by double backward] of functional_passes.py.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jvp.html

    >>> from minigrad import tensor
    >>> jvp(lambda x: x * x, (tensor([1.0, 2.0]),), (tensor([1.0, 10.0]),))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it "
                           "should be valid to call f(*primals).")
    derivation = Derivation(primals)
    vectors = [derivation.whole.of(t) for t in leaves_of(tangents)]
    if len(vectors) != len(derivation.copies):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the "
                           "same python structure.")
    output, aux = parted(derivation.call(func, *derivation.arguments()), has_aux,
                         "jvp(f, primals, tangents)")
    wholes = [derivation.whole.of(t) for t in tensors_only(output, "jvp(f, primals, tangents)")]
    keep = derivation.keeps_graph(wholes) or any(v.requires_grad for v in vectors)
    found = pushed(derivation, wholes, vectors, keep)
    moved = [derivation.whole.example(F.zeros_like(out) if t is None else t)
             for t, out in zip(found, wholes, strict=True)]
    products = rebuilt(output, moved)
    value = derivation.finished(output, keep)
    return (value, products, derivation.finished(aux, keep)) if has_aux else (value, products)


def pushed(derivation: Derivation, outputs: Sequence[Tensor], vectors: Sequence[Tensor],
           keep: bool, is_batched: bool = False) -> list[Tensor | None]:
    """Return the product of the jacobian with vectors, by two backward passes."""
    with enable_grad():
        pulled, weights = pullback(outputs, tuple(derivation.copies), tuple(outputs))
    live = [(p, v) for p, v in zip(pulled, vectors) if p is not None and p.requires_grad]
    if not live:
        return [None] * len(outputs)
    return list(gradients([p for p, _ in live], weights, [v for _, v in live],
                          True, keep, allow_unused=True, is_grads_batched=is_batched))
