"""Pushforward: compute the tangents of an op's outputs from the tangents of its inputs.

NOTE [How a tangent passes an op]
    Forward mode pushes a tangent `t` through an op as `J t`.  Ops declare only the transpose, as
    formulas that compute `J^T v`.  These are linear in `v`, so differentiating `<J^T v, t>` with
    respect to `v`, at any value of `v`, gives `J t`: a backward pass through the formulas.  If a
    simpler rule is enough, the op's kind selects it (NOTE [Kinds of ops] in op/declaration.py), or
    the op defines its own rule, `jvp`:
        "linear", "view"  apply the op to the tangents,
        "multilinear"     the op is linear in each input: replace one input at a time by its
                          tangent, and sum,
        "elementwise"     the jacobian is diagonal: run the formulas with `t` as the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any

from ... import _state
from ..._state import having
from ...batching import SLOW, NotBatchable, batched, examples, level_of
from ...frames import warn_user
from ...op.apply import apply
from ...op.arguments import plain_numbers
from ...op.declaration import F, Op
from ...op.node import GEOMETRY, geometry_input, saved_geometry
from ...tensor.tensor import Tensor
from ..backward import grad

#: The tangents of an op's inputs by argument position; for a list of tensors, a list with `None`
#: for missing tangents.
Tangents = dict[int, Any]
Outputs = Sequence[Tensor]
Rule = Callable[..., Sequence[Tensor | None]]


def pushed_forward(op: type[Op], values: list[Any], outputs: Outputs,
                   tangents: Tangents) -> list[Tensor | None]:
    """Return the tangent of each output, or `None` for outputs without a derivative."""
    values = plain_numbers(op, values)
    rule = own_rule if op.jvp else rule_of_kind(op)
    given = [t for ts in tangents.values() for t in (ts if isinstance(ts, list) else [ts])]
    batch = max((t for t in given if t is not None), key=level_of)
    try:
        pushed = rule(op, values, outputs, tangents)
    except NotBatchable:  # the formulas read values
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


def own_rule(op: type[Op], values: list[Any], outputs: Outputs,
             tangents: Tangents) -> Sequence[Tensor | None]:
    """Return what the op's `jvp` returns or, if that is `None`, follow the rule of its kind."""
    pushed: Sequence[Tensor | None] | None = op.jvp and op.jvp(op, values, outputs, tangents)
    return rule_of_kind(op)(op, values, outputs, tangents) if pushed is None else pushed


def rule_of_kind(op: type[Op]) -> Rule:
    """Return the rule for an op's kind; if it has several kinds, the simplest rule."""
    return next((rule for kind, rule in RULES.items() if kind in op.kinds), transposed_twice)


def in_turn(rule: Rule, op: type[Op], values: list[Any], outputs: Outputs, tangents: Tangents,
            batch: Tensor) -> list[Tensor | None]:
    """Apply a rule once for each row of a batch of tangents, and warn."""
    level = level_of(batch)
    if not level:
        raise AssertionError(f"{op.name}: only a batch may be refused")
    warn_user(SLOW.format(op.name), UserWarning)

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
    """Return whether formulas with the arguments `named` use an output's gradient."""
    if not op.outputs or "grads" in named or (output == 0 and "g" in named):
        return True
    return "g_" + op.outputs[output] in named


def of_its_own(tangent: Tensor, output: Tensor, given: Sequence[Tensor | None]) -> Tensor:
    """Return a tangent in the output's shape and dtype, in memory that it does not share."""
    if tangent._array.dtype != output._array.dtype:
        tangent = tangent.to(output.dtype)
    if tangent._array.shape != output._array.shape:
        tangent = tangent.expand(tuple(output.shape))
    array = tangent._array
    if array.base is not None or any(t is not None and t._array is array for t in given):
        return tangent.clone()
    return tangent


# ------------------------------------------------------------ one rule for each kind of op


def multilinear(op: type[Op], values: Sequence[Any], outputs: Outputs,
                tangents: Tangents) -> Sequence[Tensor | None]:
    """Sum, over the inputs with a tangent, the op with the tangent in that input's place."""
    return [total(apply(op, [*values[:i], tangent, *values[i + 1 :]])
                  for i, tangent in tangents.items())]


def elementwise(op: type[Op], values: Sequence[Any], outputs: Outputs,
                tangents: Tangents) -> Sequence[Tensor | None]:
    """Run the backward formulas with the tangents as gradients, and sum the results."""
    return [total(gradient_of_input(op, i, values, outputs, [tangent])
                  for i, tangent in tangents.items())]


def linear(op: type[Op], values: Sequence[Any], outputs: Outputs,
           tangents: Tangents) -> Sequence[Tensor | None]:
    """Apply the op to the tangents; missing tangents are zeros."""
    moved = list(values)
    for i in op.differentiable_positions:
        moved[i] = tangent_or_zeros(tangents.get(i), values[i])
    return as_sequence(apply(op, moved))


def transposed_twice(op: type[Op], values: Sequence[Any], outputs: Outputs,
                     tangents: Tangents) -> Sequence[Tensor | None]:
    """Differentiate the backward pass in its gradients; see NOTE [How a tangent passes an op]."""
    again = wants_graph()
    with having(_state.grad_enabled, True):
        vectors = zero_vectors(outputs)
        pairs = []
        for i, tangent in tangents.items():
            product = gradient_of_input(op, i, values, outputs, vectors)
            pairs += differentiable_pairs(product, tangent)
    if not pairs:
        return [None] * len(outputs)
    live = [v for v in vectors if v is not None]
    products, directions = zip(*pairs, strict=True)
    found = iter(grad(products, live, directions, allow_unused=True, create_graph=again))
    return [None if v is None else next(found) for v in vectors]


RULES: dict[str, Rule] = {
    "linear": linear, "view": linear, "multilinear": multilinear, "elementwise": elementwise}


# ------------------------------------------------------------ helpers of the rules


def gradient_of_input(op: type[Op], i: int, values: Sequence[Any], outputs: Outputs,
                      grads: Sequence[Tensor | None]) -> Any:
    """Run the backward formula of argument `i`; return a tensor, `None`, or a list for a list.

    `grads` are the gradients of the outputs.
    """
    formula, names = op.formulas[op.parameters[i]]
    return formula(*[argument(op, name, values, outputs, grads) for name in names])


def total(parts: Iterable[Tensor | None]) -> Tensor | None:
    """Add up the parts, skipping `None`; return `None` if no part is left."""
    given = [part for part in parts if part is not None]
    return reduce(add, given) if given else None


def tangent_or_zeros(tangent: Any, value: Any) -> Any:
    """Return a tangent, or zeros like the value if it is missing; other values stay unchanged.

    A list gives a list, with a tangent or zeros for each tensor.
    """
    if isinstance(value, (list, tuple)):
        tangents = [None] * len(value) if tangent is None else tangent
        return [F.zeros_like(v) if t is None else t for t, v in zip(tangents, value, strict=True)]
    if tangent is not None:
        return tangent
    return F.zeros_like(value) if isinstance(value, Tensor) else value


def wants_graph() -> bool:
    """Return whether tangents may be differentiated again, by a graph or by an outer level."""
    return _state.grad_enabled.get() or _state.transform.get() is not None


def zero_vectors(outputs: Outputs) -> list[Tensor | None]:
    """Return zeros that require grad for each output, or `None` if it has no gradient."""
    return [F.zeros_like(o).requires_grad_() if o._array.dtype.kind == "f" else None
            for o in outputs]


def differentiable_pairs(product: Any, tangent: Any) -> list[tuple[Tensor, Tensor]]:
    """Pair the result of a formula with the tangent of its input, if both exist.

    A list of tensors gives a pair for each; products without a graph are left out.
    """
    pairs = (zip(product, tangent, strict=True) if isinstance(tangent, list)
             else ((product, tangent),))
    return [(p, t.expand(tuple(p.shape))) for p, t in pairs
            if p is not None and t is not None and p.requires_grad]


def as_sequence(result: Any) -> Sequence[Tensor]:
    """Return one output or several as a sequence."""
    return (result,) if isinstance(result, Tensor) else result


def argument(op: type[Op], name: str, values: Sequence[Any], outputs: Outputs,
             grads: Sequence[Tensor | None]) -> Any:
    """Return the value of a formula's argument by name; compare `OpNode.value`."""
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
    if name.endswith(GEOMETRY):
        source = values[op.parameters.index(geometry_input(name))]
        return saved_geometry(getattr(source, "_array", source), name)
    return grads[op.outputs.index(name[2:])]


def batched_like(other: Tensor, tangent: Tensor) -> Tensor:
    """Batch a tangent if `other` is batched, so that each can be written to the other."""
    level = level_of(other)
    if not level or level_of(tangent):
        return tangent
    size = (other._array.batch_size, *tangent.shape)
    return batched(tangent.expand(size).clone(), level)
