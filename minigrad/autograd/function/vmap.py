"""`vmap` of a Function, by its own rule or by a generated Function on batched values.

NOTE [A Function of batched values]
    With `generate_vmap_rule` the user's methods run on batched tensors, which look like single
    examples.  For each call, a generated Function runs these methods in its own `forward`,
    `setup_context`, `backward` and `jvp`.  Its inputs, outputs and saved tensors are the unwrapped
    batches, so it is recorded in their graph, and ops in it may be batched at a lower level.

Source: https://docs.pytorch.org/docs/stable/notes/extending.func.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import _state
from ..._state import having
from ...batching import batched, examples, level_of, vmaps
from ...op.declaration import F
from ...tensor.tensor import Tensor
from .context import Context

if TYPE_CHECKING:
    from .function import Function

MORE = " For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
WITHOUT_SETUP_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, "
    "...), it must override the setup_context staticmethod." + MORE)
WITHOUT_RULE = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and implement "
    "the vmap staticmethod or set generate_vmap_rule=True." + MORE)
TWO_RULES = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an overridden vmap "
    "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod "
    "to avoid ambiguity." + MORE)
NO_PAIR = ("Expected the vmap staticmethod to have two returns, an output and out_dims with pytree "
           "structure compatible with the output. Got {} instead")
MISMATCH = (
    "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
    "Expected out_dims={} to be compatible with the structure of `output`." + MORE)


class VmapInfo(NamedTuple):
    """The first argument of a Function's `vmap`: the number of examples, and `randomness`."""

    batch_size: int
    randomness: str


def run_on_batches(base: type[Function], cls: type[Function], args: tuple[Any, ...],
                   level: int) -> tuple[Any, Any]:
    """Run a Function on arguments that are batches of a level; return context and results."""
    if cls.setup_context is base.setup_context:
        raise RuntimeError(WITHOUT_SETUP_CONTEXT)
    has_rule = cls.vmap is not base.vmap
    if cls.generate_vmap_rule == has_rule:
        raise RuntimeError((TWO_RULES if has_rule else WITHOUT_RULE).format(cls.__name__))
    batches, in_dims = unwrapped(args, level)
    given = {id(w): a for w, a, dim in zip(batches, args, in_dims, strict=True) if dim == 0}
    size = next(w.shape[0] for w, dim in zip(batches, in_dims, strict=True) if dim == 0)
    if has_rule:
        context = cls._backward_cls()
        results, dims = by_own_rule(cls, level, size, in_dims, batches)
    else:
        calls = Examples(cls, level, size, [dim == 0 for dim in in_dims])
        batches = [a if dim != 0 else w  # unwrap only arguments that are in the graph
                  for a, w, dim in zip(args, batches, in_dims, strict=True)]
        node, results = of_batches(base, cls)._run(calls, *batches)
        context, dims = calls.context, 0
        node.saved_for_forward = None
        context._differentiable = node._differentiable

    def shown(result: Any, dim: int | None) -> Any:
        if id(result) in given:  # for example, it was written in place
            return given[id(result)]
        if dim is None or not isinstance(result, Tensor):
            return result
        return batched(F.movedim(result, dim, 0) if dim else result, level)

    if not isinstance(results, tuple):
        return context, shown(results, dims)
    return context, tuple(map(shown, results, dims if isinstance(dims, tuple) else
                              (dims,) * len(results)))


def unwrapped(values: Any, level: int) -> tuple[Any, Any]:
    """Unwrap batched tensors, including those nested in tuples, lists and dicts.

    Returns the values and, nested the same way, 0 for each batch and `None` for other values.
    """
    if isinstance(values, dict):
        batches, in_dims = unwrapped(list(values.values()), level)
        return dict(zip(values, batches, strict=True)), dict(zip(values, in_dims, strict=True))
    if isinstance(values, (tuple, list)):
        pairs = [unwrapped(v, level) for v in values]
        sequence = list if isinstance(values, list) else tuple
        return sequence(w for w, _ in pairs), sequence(dim for _, dim in pairs)
    batch = examples(values, level)
    return (values, None) if batch is None else (batch, 0)


def by_own_rule(cls: type[Function], level: int, size: int, in_dims: tuple[Any, ...],
                batches: Sequence[Any]) -> tuple[Any, Any]:
    """Return the results of a Function's `vmap` on unwrapped batches, and their dimensions."""
    info, drawn = VmapInfo(size, _state.randomness.get()), _state.drawn.get()
    around = tuple(v for v in vmaps.get() if v[0] != level)
    with (having(vmaps, around), having(_state.randomness, info.randomness if around else ""),
          having(_state.drawn, None if drawn is None else drawn.without(level))):
        pair = cls.vmap(info, in_dims, *batches)
    if not isinstance(pair, tuple):
        raise RuntimeError(NO_PAIR.format(f"a {type(pair)}"))
    if len(pair) != 2:
        raise RuntimeError(NO_PAIR.format(f"{len(pair)} returns"))
    output, dims = pair
    if isinstance(dims, tuple) and (
            not isinstance(output, tuple) or len(output) != len(dims)):
        raise RuntimeError(MISMATCH.format(dims))
    return output, dims


class Examples:
    """One call of a Function inside `vmap`; see NOTE [A Function of batched values]."""

    def __init__(self, cls: type[Function], level: int, size: int, inside: Sequence[bool]) -> None:
        self.cls, self.level, self.size, self.inside = cls, level, size, inside
        self.randomness, self.drawn = _state.randomness.get(), _state.drawn.get()
        self.context: Any = cls._backward_cls()  # the context of the user's methods
        self.saved: list[bool] = []  # whether each saved tensor is batched
        self.saved_forward: list[bool] = []

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Reactivate the call's `vmap` for a block, with the settings it had in `forward`."""
        outer, mine = vmaps.get(), (self.level, self.size)
        with (having(vmaps, outer if mine in outer else (*outer, mine)),
              having(_state.randomness, self.randomness), having(_state.drawn, self.drawn)):
            yield

    # ---------------------------------------------------------------- wrapping and unwrapping

    def seen(self, batches: Sequence[Any], inside: Sequence[bool]) -> tuple[Any, ...]:
        """Wrap unwrapped batches for the user's methods; other values stay unchanged."""
        return tuple(batched(w, self.level) if b and w is not None else w
                     for w, b in zip(batches, inside, strict=True))

    def held(self, tensors: Sequence[Any]) -> list[Any]:
        """Unwrap the batched tensors; other values stay unchanged."""
        return [t if (batch := examples(t, self.level)) is None else batch for t in tensors]

    def full(self, value: Any) -> Any:
        """Unwrap a tensor, or expand it if it is not batched."""
        if not isinstance(value, Tensor):
            return value
        batch: Tensor | None = examples(value, self.level)
        return F.expand(value, (self.size, *value.shape)) if batch is None else batch

    def gradient(self, value: Any, inside: bool) -> Any:
        """Return the gradient of an argument, summed over the examples if it is not batched."""
        if inside or not isinstance(value, Tensor):
            return self.full(value)
        batch: Tensor | None = examples(value, self.level)
        return value if batch is None else F.sum(batch, (0,))

    # ---------------------------------------------------------------- the Function's methods

    def forward(self, *batches: Any) -> Any:
        """Run the user's `forward` and unwrap its outputs."""
        output = self.cls.forward(*self.seen(batches, self.inside))
        return tuple(map(self.full, output)) if isinstance(output, tuple) else self.full(output)

    def setup_context(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Run the user's `setup_context`, and save its tensors as unwrapped batches."""
        inner, ctx.call = self.context, self
        inner.needs_input_grad = ctx.needs_input_grad[1:]
        outputs = output if isinstance(output, tuple) else (output,)
        results = self.seen(outputs, [isinstance(o, Tensor) for o in outputs])
        self.cls.setup_context(inner, self.seen(inputs, self.inside),
                               results if isinstance(output, tuple) else results[0])
        self.saved = [level_of(t) == self.level for t in inner.to_save]
        ctx.save_for_backward(*self.held(inner.to_save))
        if inner.saved_for_forward is not None:
            self.saved_forward = [level_of(t) == self.level for t in inner.saved_for_forward]
            ctx.save_for_forward(*self.held(inner.saved_for_forward))
        ctx.mark_dirty(*self.held(inner.dirty_tensors))
        ctx.mark_non_differentiable(*self.held(inner.non_differentiable))
        ctx.set_materialize_grads(inner.materialize_grads)
        inner.to_save = inner.dirty_tensors = inner.non_differentiable = ()
        inner.put_aside()

    def shown(self, ctx: Any, inside: Sequence[bool]) -> Context:
        """Return the context of the user's methods, with the saved tensors wrapped."""
        saved = self.seen(ctx.saved_tensors, inside)
        return Context(self.context, {**(self.context._aside or {}), "saved_tensors": saved})

    def pull(self, backward: Callable[..., Any], ctx: Any, grads: Sequence[Any]) -> Any:
        """Run the user's `backward` or `vjp` on unwrapped gradients."""
        with self.under_way():
            found = backward(self.shown(ctx, self.saved), *self.seen(grads, [True] * len(grads)))
            results = found if isinstance(found, tuple) else (found,)
            extra = [False] * (len(results) - len(self.inside))
            return None, *map(self.gradient, results, [*self.inside, *extra])

    def push(self, jvp: Callable[..., Any], ctx: Any, tangents: Sequence[Any]) -> Any:
        """Run the user's `jvp` on unwrapped tangents."""
        with self.under_way():
            found = jvp(self.shown(ctx, self.saved_forward), *self.seen(tangents, self.inside))
            return tuple(map(self.full, found)) if isinstance(found, tuple) else self.full(found)


def of_batches(base: type[Function], cls: type[Function]) -> type[Function]:
    """Return the Function of batched values for a class; its first argument is the call.

    It is created once and cached, because only the garbage collector frees classes.
    """
    made: type[Function] | None = vars(cls).get("_of_batches")
    if made is None:
        body: dict[str, Any] = {
            "forward": lambda call, *batches: call.forward(*batches),
            "setup_context": lambda ctx, inputs, output: inputs[0].setup_context(
                ctx, inputs[1:], output)}
        if cls.backward is not base.backward:
            body["backward"] = lambda ctx, *grads: ctx.call.pull(cls.backward, ctx, grads)
        if cls.vjp is not base.vjp:
            body["vjp"] = lambda ctx, *grads: ctx.call.pull(cls.vjp, ctx, grads)
        if cls.jvp is not base.jvp:
            body["jvp"] = lambda ctx, _, *tangents: ctx.call.push(cls.jvp, ctx, tangents)
        made = type(f"Vmapped{cls.__name__}", (base,), {
            "generate_vmap_rule": True, **{n: staticmethod(f) for n, f in body.items()}})
        cls._of_batches = made  # type: ignore[attr-defined]  # a cache of this function's
    return made
