"""What `vmap` makes of a Function: the rule that its class has, or the Function of whole batches.

NOTE [A Function of whole batches]
    With `generate_vmap_rule` all that the user wrote runs on tensors of one example, which stand
    for batches.  A Function made for the call has these runs in its own `forward`, `setup_context`,
    `backward` and `jvp`; its inputs and outputs are the whole batches, and so is what it saves.
    It is recorded where the whole batches are, and what it calls may be batched once more.

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
    from ..function import Function

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
    """What the `vmap` of a Function is told: how many examples, and `vmap`'s `randomness`."""

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
    wholes, places = unwrapped(args, level)
    given = {id(w): a for w, a, place in zip(wholes, args, places, strict=True) if place == 0}
    size = next(w.shape[0] for w, place in zip(wholes, places, strict=True) if place == 0)
    if has_rule:
        context = cls._backward_cls()
        results, dims = by_own_rule(cls, level, size, places, wholes)
    else:
        calls = Examples(cls, level, size, [place == 0 for place in places])
        wholes = [a if place != 0 else w  # only what the graph sees is whole
                  for a, w, place in zip(args, wholes, places, strict=True)]
        node, results = of_batches(base, cls)._run(calls, *wholes)
        context, dims = calls.context, 0
        node.saved_for_forward = None
        context._differentiable = node._differentiable

    def shown(result: Any, dim: int | None) -> Any:
        if id(result) in given:  # written to in place, say
            return given[id(result)]
        if dim is None or not isinstance(result, Tensor):
            return result
        return batched(F.movedim(result, dim, 0) if dim else result, level)

    if not isinstance(results, tuple):
        return context, shown(results, dims)
    return context, tuple(map(shown, results, dims if isinstance(dims, tuple) else
                              (dims,) * len(results)))


def unwrapped(values: Any, level: int) -> tuple[Any, Any]:
    """Return whole batches for what stands for them, in tuples, lists and dicts as well; and 0
    where one was, None elsewhere, nested in the same way."""
    if isinstance(values, dict):
        wholes, places = unwrapped(list(values.values()), level)
        return dict(zip(values, wholes, strict=True)), dict(zip(values, places, strict=True))
    if isinstance(values, (tuple, list)):
        pairs = [unwrapped(v, level) for v in values]
        kind = list if isinstance(values, list) else tuple
        return kind(w for w, _ in pairs), kind(place for _, place in pairs)
    batch = examples(values, level)
    return (values, None) if batch is None else (batch, 0)


def by_own_rule(cls: type[Function], level: int, size: int, places: tuple[Any, ...],
                wholes: Sequence[Any]) -> tuple[Any, Any]:
    """Return what a Function's `vmap` makes of whole batches, and where it has their dimension."""
    info, whole = VmapInfo(size, _state.randomness.get()), _state.drawn.get()
    around = tuple(v for v in vmaps.get() if v[0] != level)
    with (having(vmaps, around), having(_state.randomness, info.randomness if around else ""),
          having(_state.drawn, None if whole is None else whole.without(level))):
        pair = cls.vmap(info, places, *wholes)
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
    """One call of a Function inside `vmap`; see NOTE [A Function of whole batches]."""

    def __init__(self, cls: type[Function], level: int, size: int, inside: Sequence[bool]) -> None:
        self.cls, self.level, self.size, self.inside = cls, level, size, inside
        self.randomness, self.drawn = _state.randomness.get(), _state.drawn.get()
        self.context: Any = cls._backward_cls()  # what the user's code sees
        self.saved: list[bool] = []  # which of what is saved for backward is batched
        self.saved_forward: list[bool] = []

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Inside the block the `vmap` of the call is under way, as it was in `forward`."""
        outer, mine = vmaps.get(), (self.level, self.size)
        with (having(vmaps, outer if mine in outer else (*outer, mine)),
              having(_state.randomness, self.randomness), having(_state.drawn, self.drawn)):
            yield

    # ---------------------------------------------------------------- batches, seen and whole

    def seen(self, wholes: Sequence[Any], inside: Sequence[bool]) -> tuple[Any, ...]:
        """Return what an example sees of whole batches, and of what is not batched."""
        return tuple(batched(w, self.level) if b and w is not None else w
                     for w, b in zip(wholes, inside, strict=True))

    def held(self, tensors: Sequence[Any]) -> list[Any]:
        """Return the whole batches that an example's tensors stand for; all else as it is."""
        return [t if (batch := examples(t, self.level)) is None else batch for t in tensors]

    def full(self, value: Any) -> Any:
        """Return the whole batch of a tensor; of one that is not batched, by repeating it."""
        if not isinstance(value, Tensor):
            return value
        batch: Tensor | None = examples(value, self.level)
        return F.expand(value, (self.size, *value.shape)) if batch is None else batch

    def gradient(self, value: Any, inside: bool) -> Any:
        """Return the gradient of an argument: what is not batched has that of all examples."""
        if inside or not isinstance(value, Tensor):
            return self.full(value)
        batch: Tensor | None = examples(value, self.level)
        return value if batch is None else F.sum(batch, (0,))

    # ---------------------------------------------------------------- the Function's methods

    def forward(self, *wholes: Any) -> Any:
        """Return the whole batches of what `forward` returns."""
        output = self.cls.forward(*self.seen(wholes, self.inside))
        return tuple(map(self.full, output)) if isinstance(output, tuple) else self.full(output)

    def setup_context(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Have the context of one example filled, and keep the whole batches of what it saves."""
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
        """Return the context of one example, with what was saved."""
        saved = self.seen(ctx.saved_tensors, inside)
        return Context(self.context, {**(self.context._aside or {}), "saved_tensors": saved})

    def pull(self, backward: Callable[..., Any], ctx: Any, grads: Sequence[Any]) -> Any:
        """Return what `backward`, or `vjp`, gives for whole batches of gradients."""
        with self.under_way():
            found = backward(self.shown(ctx, self.saved), *self.seen(grads, [True] * len(grads)))
            results = found if isinstance(found, tuple) else (found,)
            extra = [False] * (len(results) - len(self.inside))
            return None, *map(self.gradient, results, [*self.inside, *extra])

    def push(self, jvp: Callable[..., Any], ctx: Any, tangents: Sequence[Any]) -> Any:
        """Return what `jvp` gives for whole batches of tangents."""
        with self.under_way():
            found = jvp(self.shown(ctx, self.saved_forward), *self.seen(tangents, self.inside))
            return tuple(map(self.full, found)) if isinstance(found, tuple) else self.full(found)


def of_batches(base: type[Function], cls: type[Function]) -> type[Function]:
    """Return the Function of whole batches of a class, whose first argument is the call.

    It is made once, for classes are freed by the garbage collector alone.
    """
    made: type[Function] | None = vars(cls).get("_of_batches")
    if made is None:
        body: dict[str, Any] = {
            "forward": lambda call, *wholes: call.forward(*wholes),
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
