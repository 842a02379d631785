# Stage 15, Compiling: the backward pass as a program: the solution for minigrad/aot/buffers.py.
# Made by `minigrad dev build`. The lesson is lessons/15_compile.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

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
    needed = set(map(id, outputs))
    dead: list[list[Value]] = []
    for step in reversed(steps):
        ending = {id(v): v for v in (*step.outputs, *step.inputs())
                  if id(v) not in needed and v.array is None}
        needed.update(ending)
        dead.append(list(ending.values()))
    return dead[::-1]


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
    roots = roots_of(steps)
    last = last_use_of_memory(steps, outputs, roots)
    allocated: set[int] = set()
    taken: dict[int, Value] = {}
    for number, step in enumerate(steps):
        if is_elementwise(step):
            used = Counter(id(roots.get(id(v), v)) for v in step.inputs())
            for value in step.inputs():
                if (id(value) in allocated and last[id(value)] == number and used[id(value)] == 1
                        and alike(value, step.outputs[0])):
                    taken[id(step)] = value
                    break
        if not step.view:
            allocated.update(map(id, step.outputs))
    return taken


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
