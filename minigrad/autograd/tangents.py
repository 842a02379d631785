"""Forward mode: a level holds the tangents of tensors and takes them through every op.

NOTE [How a tangent passes an op]
    Forward mode pushes a tangent `t` through an op as `J t`.  Ops declare only the transpose, as
    formulas that compute `J^T v`; these are linear in `v`, so differentiating `<J^T v, t>` by `v`,
    whose value does not matter, gives `J t`: a backward pass through the formulas.  Where that is
    more than is needed the op says so by its attribute `jvp`:
        "linear"       the op of the tangents is the tangent of the op (all views are so),
        "multilinear"  it is linear in each input: the op with one tangent in its place, summed,
        "elementwise"  the jacobian is diagonal: the formulas themselves, with `t` as gradient.

NOTE [Where tangents are kept]
    In the level, by the identity of the tensor, as long as tensor and level live.  A view without
    a tangent of its own looks at its base's, as it looks at the base's memory.  A node keeps no
    output and rebuilds it for its formulas: those are found by node and output number.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any
from weakref import ref

from .. import _state
from ..apply import apply, apply_inplace, plain_numbers
from ..batching import SLOW, NotBatchable, batched, examples, level_of
from ..graph import is_dense
from ..op import F, Op
from ..tensor import Tensor
from .backward import grad
from .function_jvp import tangents_of_outputs

#: The tangents of an op's inputs, by the position of the argument; a list of them (None where
#: there is none) for the list of tensors.
Tangents = dict[int, Any]
Outputs = Sequence[Tensor]
Rule = Callable[..., Sequence[Tensor | None]]


class TangentLevel:
    """A context in which tensors may have tangents; levels nest, and the inner one is asked first.

    >>> from minigrad import tensor
    >>> x = tensor([1.0, 2.0])
    >>> with TangentLevel() as level:
    ...     level.hold(x, tensor([1.0, 0.0]))
    ...     level.tangent(x * x)
    tensor([2., 0.])
    """

    def __init__(self) -> None:
        self.below: Any = None  # what ops go through after this level
        self._held: dict[Any, tuple[ref[Any], Tensor | None]] = {}

    def __enter__(self) -> TangentLevel:
        self.below = _state.transform.get()
        _state.transform.set(self)
        _state.observers.enter()
        return self

    def __exit__(self, *exc: object) -> None:
        _state.observers.leave()
        _state.transform.set(self.below)
        self._held.clear()

    # ---------------------------------------------------------------- which tensor has which

    def tangent(self, tensor: Tensor) -> Tensor | None:
        """Return the tangent of a tensor at this level, or None."""
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

    def hold(self, tensor: Tensor, tangent: Tensor | None) -> None:
        """Give a tensor its tangent; None says that it has none though its base may have one."""
        if tangent is not None:
            tangent = with_layout_of(tensor, tangent)
        self._hold_by(id(tensor), tensor, tangent)
        if tensor._node is not None:
            self._hold_by((id(tensor._node), tensor._index), tensor._node, tangent)

    def _hold_by(self, key: Any, owner: Any, tangent: Tensor | None) -> None:
        held = self._held
        held[key] = ref(owner, lambda _: held.pop(key, None)), tangent

    def _hides(self, tensor: Any) -> bool:
        """Tell whether a tensor has no tangent though its base may have one."""
        return self._held.get(id(tensor), (None, tensor))[1] is None

    def tangents_of(self, op: type[Op], values: Sequence[Any]) -> Tangents:
        """Return the tangents of an op's inputs, those there are."""
        found: Tangents = {}
        for i in op.differentiable_positions:
            if i == op.list_position:
                of_items = [self.tangent(v) if isinstance(v, Tensor) else None for v in values[i]]
                if any(t is not None for t in of_items):
                    found[i] = of_items
            elif isinstance(values[i], Tensor) and (t := self.tangent(values[i])) is not None:
                found[i] = t
        return found

    # ---------------------------------------------------------------- what ops go through

    def op(self, op: type[Op], values: list[Any]) -> Any:
        """Apply an op and give its outputs their tangents."""
        tangents = {} if _state.inference_enabled.get() else self.tangents_of(op, values)
        if not tangents:
            result = self._pass_on(op, values)
            if op.view and isinstance(result, (Tensor, tuple)) and self._hides(values[0]):
                for output in as_sequence(result):
                    self.hold(output, None)
            return result
        with Beneath(self):
            result = apply(op, values)
            outputs = as_sequence(result)
            for output, tangent in zip(
                    outputs, pushed_forward(op, values, outputs, tangents), strict=True):
                if tangent is not None:
                    self.hold(output, tangent)
        return result

    def _pass_on(self, op: type[Op], values: list[Any]) -> Any:
        """Apply an op to what has no tangents here; in a batch there may be some that have."""
        if self.below is not None:
            return self.below.op(op, values)
        return apply(op, values, watched=False, transformed=False)

    def inplace(self, op: type[Op], values: list[Any]) -> Tensor:
        """Apply an op in place and bring the target's tangent up to date."""
        target = values[0]
        tangents = self.tangents_of(op, values)
        current = self.tangent(target) if isinstance(target, Tensor) else None
        if current is None and not tangents:
            if self.below is not None:
                return self.below.inplace(op, values)
            return apply_inplace(op, values, watched=False, transformed=False)
        with Beneath(self):
            before = target if op.view else target.clone()
            before = [before if v is target else v for v in values]
            apply_inplace(op, values)
            pushed: Tensor | None = None
            if tangents:
                (pushed,) = pushed_forward(op, before, (target,), tangents)
            if pushed is None:
                pushed = F.zeros_like(target if current is None else current)
            if op.view:
                self.hold(target, pushed)
            else:
                self._update(target, current, pushed)
        return target

    def _update(self, target: Tensor, current: Tensor | None, pushed: Tensor) -> None:
        """Write a tangent to where the target's is, and its views' are; make that if there is none.
        """
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
        """Apply a custom Function and give its outputs the tangents that its `jvp` computes."""
        inference = _state.inference_enabled.get()
        tangents = [self.tangent(a) if isinstance(a, Tensor) and not inference else None
                    for a in args]
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
    """Hand ops to what lies below a level: its own work must not come back to it."""

    __slots__ = ("before", "level")

    def __init__(self, level: TangentLevel) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before = _state.transform.get()
        _state.transform.set(self.level.below)

    def __exit__(self, *exc: object) -> None:
        _state.transform.set(self.before)


# -------------------------------------------------------------------- the memory of tangents


def looked_at(whole: Any, view: Tensor, base: Tensor) -> Tensor:
    """Return the part of a base's tangent that lies where the view lies in the base."""
    size, stride = tuple(view.shape), view.stride()
    offset = view.storage_offset() - base.storage_offset()
    level = level_of(whole)
    if not level:
        return whole.as_strided(size, stride, whole.storage_offset() + offset)
    rows: Any = examples(whole, level)
    return batched(rows.as_strided((len(rows), *size), (rows.stride(0), *stride),
                                   rows.storage_offset() + offset), level)


def batched_like(other: Tensor, tangent: Tensor) -> Tensor:
    """Return a tangent as a batch if `other` is one, so that one can be written to the other."""
    level = level_of(other)
    if not level or level_of(tangent):
        return tangent
    size = (other._array.batch_size, *tangent.shape)
    return batched(tangent.expand(size).clone(), level)


def with_layout_of(tensor: Tensor, tangent: Tensor) -> Tensor:
    """Return a tangent with the strides of its tensor, so that their views correspond."""
    strides = tensor._array.strides
    if tangent._array.strides == strides or not tensor._array.size or 0 in strides:
        return tangent
    if not is_dense(tensor._array) and type(tangent._array) is type(tensor._array):
        return tensor.new_empty_strided(
            tuple(tensor.shape), tensor.stride(), dtype=tangent.dtype).copy_(tangent)
    order = sorted(range(len(strides)), key=lambda d: -strides[d])
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


# -------------------------------------------------------------------- tangents through an op


def pushed_forward(op: type[Op], values: list[Any], outputs: Outputs,
                   tangents: Tangents) -> list[Tensor | None]:
    """Return the tangent of each output, None for one that has no derivative."""
    values = plain_numbers(op, values)
    rule = RULES[op.jvp] if isinstance(op.jvp, str) else op.jvp
    if rule is None:
        rule = linear if op.view else transposed_twice
    given = [t for ts in tangents.values() for t in (ts if isinstance(ts, list) else [ts])]
    batch = max((t for t in given if t is not None), key=level_of)
    try:
        pushed = rule(op, values, outputs, tangents)
    except NotBatchable:  # the formulas look at values
        pushed = in_turn(rule, op, values, outputs, tangents, batch)
    named = {n for _, names in op.formulas.values() for n in names}
    found = []
    for i, (output, tangent) in enumerate(zip(outputs, pushed, strict=True)):
        if output._array.dtype.kind != "f" or not has_gradient(op, i, named):
            tangent = None
        elif tangent is None:
            tangent = F.zeros_like(output)
        elif not op.view:
            tangent = of_its_own(tangent, output, given)
        found.append(None if tangent is None else batched_like(batch, tangent))
    return found


def in_turn(rule: Rule, op: type[Op], values: list[Any], outputs: Outputs, tangents: Tangents,
            batch: Tensor) -> list[Tensor | None]:
    """Follow a rule once for each row of a batch of tangents, with a warning."""
    level = level_of(batch)
    if not level:
        raise AssertionError(f"{op.name}: only a batch may be refused")
    warnings.warn(SLOW.format(op.name), UserWarning, stacklevel=2)

    def row(tangent: Any, i: int) -> Any:
        if isinstance(tangent, list):
            return [row(t, i) for t in tangent]
        rows = None if tangent is None else examples(tangent, level)
        return tangent if rows is None else F.select(rows, 0, i)

    found = [rule(op, values, outputs, {at: row(t, i) for at, t in tangents.items()})
             for i in range(batch._array.batch_size)]
    return [None if column[0] is None else batched(F.stack(column), level)
            for column in zip(*found, strict=True)]


def has_gradient(op: type[Op], output: int, named: set[str]) -> bool:
    """Tell whether formulas, which name `named`, use the gradient of an output."""
    if not op.outputs or "grads" in named or (output == 0 and "g" in named):
        return True
    return "g_" + op.outputs[output] in named


def of_its_own(tangent: Tensor, output: Tensor, given: Sequence[Tensor | None]) -> Tensor:
    """Return a tangent in the output's shape and dtype, in memory that no other tangent has."""
    if tangent._array.dtype != output._array.dtype:
        tangent = tangent.to(output.dtype)
    if tangent._array.shape != output._array.shape:
        tangent = tangent.expand(tuple(output.shape))
    array = tangent._array
    if array.base is not None or any(t is not None and t._array is array for t in given):
        return tangent.clone()
    return tangent


def linear(op: type[Op], values: Sequence[Any], outputs: Outputs,
           tangents: Tangents) -> Sequence[Tensor]:
    """Apply the op to the tangents, with zeros for those that are missing."""
    moved = list(values)
    for i in op.differentiable_positions:
        if i == op.list_position:
            pairs = zip(tangents.get(i, [None] * len(values[i])), values[i], strict=True)
            moved[i] = [F.zeros_like(v) if t is None else t for t, v in pairs]
        elif i in tangents:
            moved[i] = tangents[i]
        elif isinstance(values[i], Tensor):
            moved[i] = F.zeros_like(values[i])
    return as_sequence(apply(op, moved))


def multilinear(op: type[Op], values: Sequence[Any], outputs: Outputs,
                tangents: Tangents) -> Sequence[Tensor]:
    """Apply the op with the tangent of one input in its place, for each input, and add up."""
    parts = [apply(op, [*values[:i], t, *values[i + 1 :]]) for i, t in tangents.items()]
    return [reduce(add, parts)]


def elementwise(op: type[Op], values: Sequence[Any], outputs: Outputs,
                tangents: Tangents) -> Sequence[Tensor | None]:
    """Run the formulas of the backward pass with the tangents as gradients, and add up."""
    parts = []
    for i, tangent in tangents.items():
        formula, names = op.formulas[op.parameters[i]]
        part = formula(*[argument(op, n, values, outputs, [tangent]) for n in names])
        if part is not None:
            parts.append(part)
    return [reduce(add, parts) if parts else None]


def transposed_twice(op: type[Op], values: Sequence[Any], outputs: Outputs,
                     tangents: Tangents) -> Sequence[Tensor | None]:
    """Differentiate the backward pass by its gradients; see NOTE [How a tangent passes an op]."""
    recorded = _state.grad_enabled.get()
    _state.grad_enabled.set(True)
    try:
        cotangents = [F.zeros_like(o).requires_grad_() if o._array.dtype.kind == "f" else None
                      for o in outputs]
        products: list[Tensor] = []
        directions: list[Tensor] = []
        for i, tangent in tangents.items():
            formula, names = op.formulas[op.parameters[i]]
            product = formula(*[argument(op, n, values, outputs, cotangents) for n in names])
            pairs = (zip(product, tangent, strict=True) if i == op.list_position
                     else ((product, tangent),))
            for p, t in pairs:
                if p is not None and t is not None and p.requires_grad:
                    products.append(p)
                    directions.append(t.expand(tuple(p.shape)))
    finally:
        _state.grad_enabled.set(recorded)
    live = [c for c in cotangents if c is not None]
    if not products:
        return [None] * len(cotangents)
    found = iter(grad(products, live, directions, allow_unused=True,
                      create_graph=recorded or _state.transform.get() is not None))
    return [None if c is None else next(found) for c in cotangents]


RULES: dict[str, Rule] = {
    "linear": linear, "multilinear": multilinear, "elementwise": elementwise}


def as_sequence(result: Any) -> Sequence[Tensor]:
    """Return one output or several as a sequence."""
    return (result,) if isinstance(result, Tensor) else result


def argument(op: type[Op], name: str, values: Sequence[Any], outputs: Outputs,
             grads: Sequence[Tensor | None]) -> Any:
    """Return what a formula's argument of this name stands for; compare `OpNode.value`."""
    if name == "g":
        return grads[0]
    if name == "grads":
        return grads
    if name == "result":
        return outputs[0]
    if name in op.parameters:
        return values[op.parameters.index(name)]
    if name in op.outputs:
        return outputs[op.outputs.index(name)]
    if name.endswith("_sizes"):
        source = values[op.parameters.index(name.removesuffix("_sizes"))]
        if isinstance(source, (list, tuple)):
            return [tuple(v.shape) for v in source]
        return tuple(getattr(source, "shape", ()))
    return grads[op.outputs.index(name[2:])]
