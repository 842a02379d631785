"""Forward mode of a custom Function: call its `jvp` and check the result.

Source: https://docs.pytorch.org/docs/stable/notes/extending.html#forward-mode-ad
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...frames import type_in_error
from ...op.declaration import F
from ...tensor.tensor import Tensor


def tangents_of_outputs(ctx: Any, args: Sequence[Any], outputs: Sequence[Any],
                        tangents: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Return the checked result of a Function's `jvp` for each output.

    `tangents` has one item for each argument of `forward`.
    """
    if ctx.saved_for_forward is None:
        ctx.saved_for_forward = ()
    given = list(tangents)
    if ctx.materialize_grads:
        given = [F.zeros_like(a) if t is None and isinstance(a, Tensor) and a.is_floating_point()
                 else t
                 for a, t in zip(args, tangents, strict=True)]
    versions = [None if t is None else t._version for t in given]
    results = ctx.function.jvp(ctx.context(), *given)
    found = list(results) if isinstance(results, tuple) else [results]
    if len(found) != len(outputs):
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients "
                           f"(expected {len(outputs)} but got {len(found)})")
    for i, (output, tangent) in enumerate(zip(outputs, found, strict=True)):
        if tangent is None:
            continue
        if not isinstance(tangent, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_in_error(tangent)}) for grad "
                               f"output {i}.")
        if not ctx._differentiable[i]:
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {i}, but  the corresponding "
                "forward output is not a differentiable Tensor.You should return None at that "
                "position instead.")
        check_memory(output, tangent, args, given, versions)
    return found


def check_memory(output: Tensor, tangent: Tensor, args: Sequence[Any],
                 given: Sequence[Tensor | None], versions: Sequence[int | None]) -> None:
    """Raise unless tangents share memory exactly where their outputs do."""
    for arg, its_tangent, version in zip(args, given, versions, strict=True):
        if arg is not output or its_tangent is None:
            continue
        if tangent._version == version:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace.")
        if tangent is not its_tangent:
            raise RuntimeError(
                "An inplace custom Function is not returning the forward mode gradients as-is. If "
                "the forward is modifying an input inplace, then the jvp function must modify the "
                "gradient inplace and return it as-is.")
    if output._view is None or any(a is output for a in args):
        return
    for arg, its_tangent in zip(args, given, strict=True):
        if its_tangent is None or root(arg) is not output._view.base:
            continue
        if tangent._view is None:
            raise RuntimeError("A custom Function's forward is returning a view (or an input "
                               "as-is) but the jvp is not returning a view.")
        if root(its_tangent) is not tangent._view.base:
            same = "same base as the " if its_tangent._view is not None else ""
            raise RuntimeError("A custom Function is returning a view but the jvp is not returning "
                               f"a view of the {same}given grad input.")


def root(tensor: Tensor) -> Tensor:
    """Return the base of a view; a tensor that is not a view is its own base."""
    return tensor if tensor._view is None else tensor._view.base
