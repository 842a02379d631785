"""Levels of forward mode that hold the tangents of tensors and compute the tangents of results.

NOTE [Where tangents are kept]
    The level stores tangents by the identity of the tensor, as long as both live.  A view that has
    no tangent takes a view of its base's tangent, just like it views its base's memory.  A node
    does not keep its outputs but rebuilds them for its formulas, so the level finds these tensors
    by node and output number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from ... import _state
from ...backend.memory_layout import is_dense
from ...batching import batched, examples, level_of
from ...op.captured import refuse_captured
from ...op.declaration import F, Op
from ...op.error_nodes import no_tangent
from ...tensor.tensor import Tensor
from ..function.jvp import tangents_of_outputs
from .pushforward import Tangents, as_sequence, batched_like, pushed_forward


class TangentLevel:
    """A context in which tensors may have tangents; levels nest, and the innermost runs first.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0])
    >>> with TangentLevel() as level:
    ...     level.hold(x, tensor([1.0, 0.0]))
    ...     level.tangent(x * x)
    tensor([2., 0.])
    """

    def __init__(self) -> None:
        self.below: Any = None  # the next interceptor of ops, outside this level
        self.interrupted_by = ""  # the in-place write that failed halfway
        self._held: dict[Any, tuple[ref[Any], Tensor | None]] = {}

    def __enter__(self) -> TangentLevel:
        self.below = _state.transform.get()
        _state.transform.set(self)
        _state.observers.enter(intercepts=True)
        return self

    def __exit__(self, *exc: object) -> None:
        _state.observers.leave(intercepts=True)
        _state.transform.set(self.below)
        self._held.clear()

    # ---------------------------------------------------------------- lookup

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """Return a tensor's tangent at this level, or `None`; always `None` in inference mode."""
        if _state.inference_enabled.get():
            return None
        if self.interrupted_by:
            raise RuntimeError(f"an in-place write by {self.interrupted_by}, so values and "
                               "tangents of this level may no longer match. Leave the level.")
        found = self._held.get(id(tensor))
        if found is not None:
            return found[1]
        view = tensor._view
        if view is not None and (found := self._held.get(id(view.base))) and found[1] is not None:
            with Beneath(self):
                part = looked_at(found[1], tensor, view.base)
            self.hold(tensor, part)
            return part
        if tensor._node is not None:
            found = self._held.get((id(tensor._node), tensor._index))
            return None if found is None else found[1]
        return None

    def any_tangent(self, tensors: Sequence[Tensor]) -> bool:
        """Return whether one of the tensors has a tangent, at this level or an outer one."""
        return any(self.tangent(t) is not None for t in tensors) or (
            self.below is not None and self.below.any_tangent(tensors))

    def hold(self, tensor: Tensor, tangent: Tensor | None) -> None:
        """Set a tensor's tangent; `None` means no tangent, even if its base has one."""
        if tangent is not None:
            tangent = with_layout_of(tensor, tangent)
        self._hold_by(id(tensor), tensor, tangent)
        if tensor._node is not None:
            self._hold_by((id(tensor._node), tensor._index), tensor._node, tangent)

    def _hold_by(self, key: Any, owner: Any, tangent: Tensor | None) -> None:
        held = self._held
        held[key] = ref(owner, lambda _: held.pop(key, None)), tangent

    def _hides(self, tensor: Any) -> bool:
        """Return whether a tensor is marked as having no tangent even if its base has one."""
        return self._held.get(id(tensor), (None, tensor))[1] is None

    def tangents_of(self, op: type[Op], values: Sequence[Any]) -> Tangents:
        """Return the existing tangents of an op's inputs; raise if PyTorch lacks its derivative."""
        found: Tangents = {}
        if op.not_implemented_derivative and not op.formulas and any(
                isinstance(values[i], Tensor) and self.tangent(values[i]) is not None
                for i in op.tensor_positions):
            raise no_tangent(op)
        for i in op.differentiable_positions:
            if i == op.list_position:
                of_items = [self.tangent(v) if isinstance(v, Tensor) else None for v in values[i]]
                if any(t is not None for t in of_items):
                    found[i] = of_items
            elif isinstance(values[i], Tensor) and (t := self.tangent(values[i])) is not None:
                found[i] = t
        return found

    # ---------------------------------------------------------------- interception of ops

    def op(self, op: type[Op], values: list[Any], proceed: Callable[..., Any]) -> Any:
        """Apply an op and set the tangents of its outputs."""
        tangents = self.tangents_of(op, values)
        if not tangents or belong_to_examples(op, values, tangents):
            result = proceed(op, values)
            if op.view and isinstance(result, (Tensor, tuple)) and self._hides(values[0]):
                for output in as_sequence(result):
                    self.hold(output, None)
            return result
        with Beneath(self):
            result = proceed(op, values)
            outputs = as_sequence(result)
            for output, tangent in zip(
                    outputs, pushed_forward(op, values, outputs, tangents), strict=True):
                if tangent is not None:
                    self.hold(output, tangent)
        return result

    def inplace(self, op: type[Op], values: list[Any], before: Tensor | None,
                proceed: Callable[..., Any]) -> Tensor:
        """Apply an op in place and update the target's tangent."""
        target = values[0]
        tangents = self.tangents_of(op, values)
        current = self.tangent(target) if isinstance(target, Tensor) else None
        if current is None and (not tangents or belong_to_examples(op, values, tangents)):
            written: Tensor = proceed(op, values, before)
            return written
        if functions := _state.transformed.get():
            refuse_captured(op.name, target, functions)
        version = target._version
        try:
            self._write(op, values, tangents, current, before, proceed)
        except BaseException as error:
            if target._version != version:  # see NOTE [Interrupted writes]
                self.interrupted_by = f"{op.name}_() was interrupted by {type(error).__name__}"
            raise
        return target

    def _write(self, op: type[Op], values: list[Any], tangents: Tangents,
               current: Tensor | None, before: Tensor | None,
               proceed: Callable[..., Any]) -> None:
        """Write to the first of the values, then update its tangent."""
        target = values[0]
        with Beneath(self):
            if op.view:
                before = target
            elif before is None:
                before = target.clone()
                if current is not None:  # backward needs it if the op saves `before`
                    self.hold(before, current.clone())
            proceed(op, values, before)
            pushed: Tensor | None = None
            if tangents:
                values = [before if v is target else v for v in values]
                (pushed,) = pushed_forward(op, values, (target,), self.tangents_of(op, values))
            if pushed is None:
                pushed = F.zeros_like(target if current is None else current)
            if op.view:
                self.hold(target, pushed)
            else:
                self._update(target, current, pushed)

    def _update(self, target: Tensor, current: Tensor | None, pushed: Tensor) -> None:
        """Write to the target's tangent, whose memory views share; create it if missing."""
        view = target._view
        if current is None and view is not None and not self._hides(target):
            self.hold(view.base, batched_like(pushed, F.zeros_like(view.base)))
            current = looked_at(self._held[id(view.base)][1], target, view.base)
        if current is None:
            current = pushed
        else:
            current.copy_(pushed)
        self.hold(target, current)

    def function(self, cls: Any, args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Apply a custom Function and set the tangents of its outputs with its `jvp`."""
        tangents = [self.tangent(a) if isinstance(a, Tensor) else None for a in args]
        with Beneath(self):
            ctx, results = cls._run(*args, **kwargs)
            if any(t is not None for t in tangents):
                outputs = results if isinstance(results, tuple) else (results,)
                for output, tangent in zip(
                        outputs, tangents_of_outputs(ctx, args, outputs, tangents), strict=True):
                    if tangent is not None:
                        require_size(output, tangent)
                        self.hold(output, tangent)
        return ctx, results


class Beneath:
    """Pass ops to the next outer interceptor, so that a level does not intercept its own ops."""

    __slots__ = ("before", "level")

    def __init__(self, level: TangentLevel) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before = _state.transform.get()
        _state.transform.set(self.level.below)

    def __exit__(self, *exc: object) -> None:
        _state.transform.set(self.before)


def belong_to_examples(op: type[Op], values: Sequence[Any], tangents: Tangents) -> bool:
    """Return whether an op on batches of tensors gets tangents only from unbatched arguments.

    In that case the op on the unwrapped tensors propagates them.
    """
    batch = False
    for i in op.tensor_positions:
        if value_is_batch(values[i]):
            if i in tangents:
                return False
            batch = True
    if op.list_position is not None:
        of_items = tangents.get(op.list_position)
        for k, item in enumerate(values[op.list_position]):
            if value_is_batch(item):
                if of_items is not None and of_items[k] is not None:
                    return False
                batch = True
    return batch


def value_is_batch(value: Any) -> bool:
    """Return whether a value is a tensor that wraps a batch of tensors."""
    return (isinstance(value, Tensor) and level_of(value) > 0
            and isinstance(value._array.value, Tensor))


# -------------------------------------------------------------------- the memory of tangents


def looked_at(whole: Any, view: Tensor, base: Tensor) -> Tensor:
    """Return the view of a base's tangent that corresponds to a view of the base."""
    size, stride = tuple(view.shape), view.stride()
    offset = view.storage_offset() - base.storage_offset()
    level = level_of(whole)
    if not level:
        return whole.as_strided(size, stride, whole.storage_offset() + offset)
    rows: Any = examples(whole, level)
    return batched(rows.as_strided((len(rows), *size), (rows.stride(0), *stride),
                                   rows.storage_offset() + offset), level)


def with_layout_of(tensor: Tensor, tangent: Tensor) -> Tensor:
    """Return a tangent with the strides of its tensor, so that views of both correspond.

    An expanded dimension of the tensor becomes the tangent's outermost one, with separate elements
    for each index.
    """
    strides = tensor._array.strides
    if tangent._array.strides == strides or not tensor._array.size:
        return tangent
    if (0 not in strides and not is_dense(tensor._array)
            and type(tangent._array) is type(tensor._array)):
        return tensor.new_empty_strided(
            tuple(tensor.shape), tensor.stride(), dtype=tangent.dtype).copy_(tangent)
    order = sorted(range(len(strides)), key=lambda d: (strides[d] != 0, -strides[d]))
    back = sorted(range(len(strides)), key=order.__getitem__)
    return tangent.permute(order).contiguous().permute(back)


def require_size(tensor: Tensor, tangent: Tensor) -> None:
    """Raise unless a tangent has the size of its tensor."""
    if tangent._array.shape != tensor._array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            "Tensor, this is not supported. Tensor is of size "
            f"{list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}.")
