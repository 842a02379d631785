"""Derivatives of functions: grad, vjp, jvp, linearize; for Jacobians see `jacobians.py`.

They nest, with each other and inside `vmap`.  The gradient of a gradient is the second derivative,
and `vmap(grad(loss), (None, 0, 0))` computes per-sample gradients.

NOTE [When a derivative keeps its graph]
    A derivative is computed with respect to a copy of the input, which the function gets instead
    of the input.  That separates it from derivatives inside or around it.  Its result keeps a
    graph only if something may need one: another derivative around it, or a tensor that requires
    grad and was used in the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .._state import grad_enabled, having, inference_enabled, transform, transformed
from ..autograd.backward import grad as gradients
from ..autograd.forward_ad.dual_tensors import checked_dual, jvp_level, unpacked_at
from ..autograd.grad_mode import enable_grad, inference_mode, no_grad
from ..graph.accumulate_grad import AccumulateGrad
from ..op.declaration import F
from ..ops.random.generator import States, fork_rng
from ..tensor.tensor import Tensor
from . import inner_levels
from .levels import VmapLevels, depth, is_batched
from .tree import form, leaves_of, mapped, rebuilt, spec_text

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "value_and_grad", "vjp"]

Function = Callable[..., Any]
ArgNums = int | tuple[int, ...]


def outside_inference(transform: Function) -> Function:
    """Make a derivative leave inference mode while it runs, so that ops are recorded.

    It gets copies of inference tensors, because these cannot be saved.  Its result has no graph.
    """

    def savable(leaf: Any) -> Any:
        copied = isinstance(leaf, Tensor) and (leaf.is_inference() or is_batched(leaf))
        return leaf.clone() if copied else leaf

    @functools.wraps(transform)
    def run(*args: Any, **kwargs: Any) -> Any:
        if not inference_enabled.get():
            return transform(*args, **kwargs)
        with inference_mode(False), no_grad():
            return transform(*mapped(savable, args), **kwargs)

    return run


def differentiating(func: Function) -> AbstractContextManager[None]:
    """Return a block in which the derivative of `func` is computed; see op/captured.py."""
    return having(transformed, (*transformed.get(), func))


class Derivation:
    """The state of one derivative: copies of its inputs, and their gradients afterwards.

    All its tensors are unwrapped: see NOTE [Derivatives inside vmap] in levels.py.
    """

    def __init__(self, inputs: Any) -> None:
        self.levels = VmapLevels()
        self.tree = inputs
        self.outermost = depth.get() == 0
        self.copies = [self.copy(leaf) for leaf in leaves_of(inputs)]

    def copy(self, leaf: Any) -> Tensor:
        """Return the tensor that replaces `leaf` as an input of the derivative."""
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")
        value = self.levels.of(leaf)
        if value.requires_grad and grad_enabled.get():
            if self.levels.count and not self.levels.holds(leaf):
                return value  # expanded, so already a separate tensor
            alias: Tensor = F.view_as(value, value)
            return alias
        return without_graph(value).requires_grad_()

    def arguments(self) -> Any:
        """Return the arguments for the function, nested like the inputs."""
        return rebuilt(self.tree, [self.levels.example(c) for c in self.copies])

    def call(self, func: Function, *args: Any, **kwargs: Any) -> Any:
        """Call the function and record its ops."""
        before = depth.get()
        try:
            depth.set(before + 1)
            with enable_grad(), differentiating(func):
                return func(*args, **kwargs)
        finally:
            depth.set(before)

    def keeps_graph(self, outputs: Sequence[Tensor]) -> bool:
        """Return whether the derivative may be differentiated again.

        See NOTE [When a derivative keeps its graph].
        """
        if not self.outermost:
            return grad_enabled.get()
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
        """Return the vector-Jacobian product for each input, or `None` where it is zero."""
        live = [i for i, out in enumerate(outputs) if out.requires_grad]
        if not live:
            return [None] * len(self.copies)
        return list(gradients([outputs[i] for i in live], self.copies, [vectors[i] for i in live],
                              True, keep, allow_unused=True, is_grads_batched=is_batched))

    def result(self, grads: Sequence[Tensor | None]) -> list[Tensor]:
        """Return gradients as the function's caller sees them, with zeros for missing ones."""
        return [inner_levels.example(self.levels, F.zeros_like(c) if g is None else g)
                for g, c in zip(grads, self.copies, strict=True)]

    def finished(self, value: Any, keep: bool) -> Any:
        """Return the function's result without the graph of this derivative."""
        def outside(leaf: Any) -> Any:
            return without_graph(leaf) if isinstance(leaf, Tensor) and not keep else leaf

        return mapped(outside, value)


def without_graph(tensor: Tensor) -> Tensor:
    """Return a detached tensor that keeps its tangents in an outer `jvp`."""
    if transform.get() is None and not tensor.is_inference():
        return tensor.detach()
    with no_grad():
        return tensor.clone()  # detach drops the tangent, or the result cannot be saved


def chosen(argnums: ArgNums, args: tuple[Any, ...]) -> Any:
    """Return the arguments to differentiate with respect to: one, or a tuple of them."""
    def position(i: int) -> int:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
        return i % len(args)

    if isinstance(argnums, int):
        return args[position(argnums)]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    positions = tuple(position(i) for i in argnums)
    if not positions:
        raise RuntimeError("argnums must be non-empty")
    if len(set(positions)) < len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {positions}")
    return tuple(args[i] for i in positions)


def replaced(argnums: ArgNums, args: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    """Return the arguments, with those at `argnums` replaced."""
    values = list(args)
    for i, value in zip(argnums, new, strict=True) if isinstance(argnums, tuple) else [
            (argnums, new)]:
        values[i] = value
    return tuple(values)


def parted(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Split a function's result into the output to differentiate and the auxiliary output."""
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if "
                           "has_aux is True")
    return result


def grad_and_value(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient and the value of `func`; arguments as in `grad`.

    With `has_aux` the value is a pair `(output, aux)`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.grad_and_value.html

    >>> from minigrad import tensor
    >>> grad_and_value(lambda x: x * x)(tensor(3.0))
    (tensor(6.), tensor(9.))
    """

    @outside_inference
    @functools.wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        derivation = Derivation(chosen(argnums, args))
        inputs = replaced(argnums, args, derivation.arguments())
        output, aux = parted(derivation.call(func, *inputs, **kwargs), has_aux,
                             "grad_and_value(f)(*args)")
        if not isinstance(output, Tensor):
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a Tensor, "
                               f"got {type(output)}")
        if output.dim():
            raise RuntimeError("grad_and_value(f)(*args): Expected f(*args) to return a scalar "
                               f"Tensor, got tensor with {output.dim()} dims. Maybe you wanted to "
                               "use the vjp or jacrev APIs instead?")
        value = derivation.levels.of(output)
        keep = derivation.keeps_graph([value])
        grads = derivation.result(derivation.pull([value], [F.ones_like(value)], keep))
        slopes = rebuilt(derivation.tree, grads)
        value = derivation.finished(output, keep)
        return (slopes, (value, derivation.finished(aux, keep))) if has_aux else (slopes, value)

    return derivative


def value_and_grad(func: Function, argnums: ArgNums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the value and the gradient: `grad_and_value` swapped.

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
    """Return a function that computes the gradient of `func`, which must return a scalar tensor.

    The gradient is with respect to argument `argnums`, or a tuple of them; arguments may be nested.
    With `has_aux`, `func` returns `(output, aux)` and the new function returns `(gradient, aux)`.

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
    """Return the leaves of an output, and raise `RuntimeError` unless all are tensors."""
    leaves = leaves_of(output)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got "
                               f"unsupported type {type(leaf)}")
    return leaves


def floating_only(output: Any) -> None:
    """Raise `RuntimeError` if an output cannot have a gradient."""
    for leaf in leaves_of(output):
        if isinstance(leaf, Tensor) and not leaf.is_floating_point():
            raise RuntimeError("vjp(f, ...): All outputs of f must be floating-point or complex "
                               f"Tensors, got Tensor with dtype {leaf.dtype}")


@outside_inference
def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and a function that computes vector-Jacobian products.

    The function takes one cotangent for each output and returns a tuple with a gradient for each
    primal.  With `has_aux`, `func` returns `(output, aux)` and `aux` is returned as a third value.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vjp.html

    >>> from minigrad import tensor
    >>> output, pull = vjp(lambda x: x * x, tensor([1.0, 2.0]))
    >>> output, pull(tensor([1.0, 10.0]))
    (tensor([1., 4.]), (tensor([ 2., 40.]),))
    """
    derivation = Derivation(primals)
    called = derivation.call(func, *derivation.arguments())
    output, aux = parted(called, has_aux, "vjp(f, *primals)")
    floating_only(output)
    values = [derivation.levels.of(t) for t in tensors_only(output, "vjp(f, *primals)")]
    keep = derivation.keeps_graph(values)

    @outside_inference
    def pull(*cotangents: Any) -> Any:
        """Return the vector-Jacobian product, a tuple like the inputs."""
        vector = cotangents[0] if (len(cotangents) == 1 and not isinstance(output, tuple)) or (
            len(cotangents) == 1 and isinstance(cotangents[0], tuple)) else cotangents
        vectors = [inner_levels.value(derivation.levels, t) for t in leaves_of(vector)]
        if form(vector) != form(output):
            given = cotangents[0] if len(cotangents) == 1 else cotangents
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {form(given)}, primal output: "
                f"{form(output)}")
        again = grad_enabled.get() and (
            keep or depth.get() > 0 or any(v.requires_grad for v in vectors))
        return rebuilt(primals, derivation.result(derivation.pull(values, vectors, again)))

    value = derivation.finished(output, keep)
    return (value, pull, derivation.finished(aux, keep)) if has_aux else (value, pull)


@outside_inference
def jvp(func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *,
        strict: bool = False, has_aux: bool = False) -> Any:
    """Return `func(*primals)` and the Jacobian-vector product with `tangents`.

    Runs the function once, in forward mode.  With `strict`, raises `RuntimeError` if an output does
    not depend on the inputs.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jvp.html

    >>> from minigrad import tensor
    >>> jvp(lambda x: x * x, (tensor([1.0, 2.0]),), (tensor([1.0, 10.0]),))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it "
                           "should be valid to call f(*primals).")
    if form(primals) != form(tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {spec_text(primals)} and tangents with structure "
            f"{spec_text(tangents)}")
    points, vectors = leaves_of(primals), leaves_of(tangents)
    if not points:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to contain at least one "
                           "Tensor.")
    for name, leaves in (("primals", points), ("tangents", vectors)):
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(f"jvp(f, primals, tangents): Expected {name} to only contain "
                                   f"Tensors, got {type(leaf)}")
    levels = VmapLevels()
    with jvp_level() as level:
        duals = [levels.example(checked_dual(level, levels.of(x), levels.of(t)))
                 for x, t in zip(points, vectors, strict=True)]
        with differentiating(func):
            result = func(*rebuilt(primals, duals))
        output, aux = parted(result, has_aux, "jvp(f, primals, tangents)")
        tensors = tensors_only(output, "jvp(f, primals, tangents)")
        if not tensors:
            raise RuntimeError("jvp(f, primals, tangents): Expected f to be a function that has "
                               "non-empty output (got output = [])")
        moved = []
        for out in map(levels.of, tensors):
            tangent = level.tangent(out)
            if strict and tangent is None:
                raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is "
                                   "independent of the inputs. This is not allowed with "
                                   "strict=True.")
            moved.append(levels.example(F.zeros_like(out) if tangent is None else tangent))

        def value(leaf: Any) -> Any:
            return unpacked_at(level, leaf)[0] if isinstance(leaf, Tensor) else leaf

        result = mapped(value, output), rebuilt(output, moved)
        return (*result, mapped(value, aux)) if has_aux else result


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return `func(*primals)` and a function that computes Jacobian-vector products at `primals`.

    Each call of that function runs `func` again, with the random numbers of the first run.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.linearize.html

    >>> from minigrad import tensor
    >>> output, push = linearize(lambda x: x * x, tensor([1.0, 2.0]))
    >>> output, push(tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    state = States()
    output = func(*primals)

    def push(*tangents: Any) -> Any:
        """Return the Jacobian-vector product, nested like the output."""
        if form(tangents) != form(primals):
            raise RuntimeError(f"Expected the tangents {spec_text(tangents)} to have the same "
                               f"argspec as the primals {spec_text(primals)}")
        for i, (t, x) in enumerate(zip(leaves_of(tangents), leaves_of(primals), strict=True)):
            for what in ("shape", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't "
                        f"match the {what} {getattr(x, what)} of the corresponding primal.")
        with fork_rng():
            state.restore()
            return jvp(func, primals, tangents)[1]

    return output, push
