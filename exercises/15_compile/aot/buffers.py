# Stage 15, Compiling: the backward pass as a program: the exercise for minigrad/aot/buffers.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 15
# docs/en/glossary.md explains the names used inside the package.

"""Memory: when each value of a program dies, and which result can take over its buffer.

NOTE [When a buffer may be taken over]
    An elementwise step may write its result over an operand that dies in this step, if no other
    value refers to the memory: a step of this program allocated the operand, no value that lives on
    is a view of it, no other operand of the step shares it, and it has the result's shape, dtype
    and strides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from .program import Step, Value


def last_uses(steps: Sequence[Step], outputs: Sequence[Value | None]) -> list[list[Value]]:
    """Return for each step the Values that no later step and no output needs."""
    # 15.7 Lifetimes and buffers (about 23 lines)
    # `last_uses` finds what dies in each step, and `taken_over` finds the operand that a
    # result may overwrite; see the NOTE. With a = exp(x), b = neg(a):
    #   last_uses(steps, [b])                   -> [[x], [a]]
    #   taken_over(steps, [b], is_elementwise)  -> {id(step of b): a}
    #   taken_over(steps, [a, b], is_elementwise), or if a view of a is an output  -> {}
    # Mind:
    # - An unused result dies at once.
    # - A Value dies once, and a constant never.
    # - If two operands qualify, choose the first.
    # Use: `roots_of`, `last_use_of_memory`, `alike`.
    raise NotImplementedError("15.7 Lifetimes and buffers is yours to write")


def roots_of(steps: Sequence[Step]) -> dict[int, Value]:
    """Return, for each Value that may share memory with another one, that other one, by id."""
    roots: dict[int, Value] = {}
    for step in steps:
        if step.view:
            source = next(step.inputs())
            for value in step.outputs:
                roots[id(value)] = roots.get(id(source), source)
    return roots


def taken_over(steps: Sequence[Step], outputs: Sequence[Value | None],
               is_elementwise: Callable[[Step], bool]) -> dict[int, Value]:
    """Return, by the id of a step, the operand whose buffer its result takes over; see the NOTE."""
    # 15.7 Lifetimes and buffers: see the task at `last_uses`.
    raise NotImplementedError("15.7 Lifetimes and buffers is yours to write")


def last_use_of_memory(steps: Sequence[Step], outputs: Sequence[Value | None],
                       roots: dict[int, Value]) -> dict[int, int]:
    """Return the number of the last step that needs a value's memory, by the id of the value.

    Views count as their root.  For an output, it is the number of steps.
    """
    last: dict[int, int] = {}
    for number, step in enumerate(steps):
        for value in (*step.inputs(), *step.outputs):
            last[id(roots.get(id(value), value))] = number
    for output in outputs:
        if output is not None:
            last[id(roots.get(id(output), output))] = len(steps)
    return last


def alike(one: Value, other: Value) -> bool:
    """Return whether two values have the same shape, dtype and strides, and some elements."""
    return (one.shape == other.shape != () and 0 not in one.shape and one.dtype == other.dtype
            and one.strides == other.strides)
