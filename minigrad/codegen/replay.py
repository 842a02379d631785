"""Running one planned backward pass many times, for the rows of a jacobian.

Planning once instead of for each row reduces the time for the jacobian of a network from 100 to 100
to 0.4: compare "jacobian, row by row" in `python benchmarks/functional.py` with and without
`jacobian_rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backend import backend_of
from ..backend.float_errors import starts_a_pass
from ..graph.node import GraphRoot, Node
from ..tensor.tensor import Tensor
from .planned_task import PlannedTask

Array = Any
#: Runs one node of a pass on the gradient that arrived.
Step = Callable[[PlannedTask, Array], None]
Steps = list[tuple[Node, Step]]


@starts_a_pass
def jacobian_rows(output: Tensor, inputs: Sequence[Tensor]) -> list[Tensor | None] | None:
    """Return an output's jacobian for each input, or `None` for an input it does not depend on.

    Return `None` instead of a list if a node on the path needs a separate pass for each row.
    """
    planned = plan(output, inputs)
    if planned is None:
        return None
    array, size = output._array, output.numel()
    xp = backend_of(array)
    units = xp.zeros((size, *array.shape), array.dtype)
    units.reshape(-1)[:: size + 1] = 1
    stacks: list[Any] = [None] * len(inputs)
    for i in range(size):
        for j, found in run(*planned, units[i, ...]).items():
            if found is not None:
                if stacks[j] is None:
                    stacks[j] = xp.zeros((size, *found.shape), found.dtype)
                stacks[j][i] = found
    return [None if stack is None else Tensor._plain(stack) for stack in stacks]


def plan(output: Tensor, inputs: Sequence[Tensor]) -> tuple[PlannedTask, GraphRoot, Steps] | None:
    """Plan a pass from an output to its inputs that can run many times, with a step for each node.

    Return `None` if a node on the path has hooks or belongs to no op, because it may do something
    different in each pass.
    """
    root = GraphRoot([output._edge()], [None])
    task = PlannedTask(retain_graph=True, create_graph=False)
    task.end_at(root, [x._edge() for x in inputs], accumulate=False)
    task.count_dependencies(root)
    fixed = all(node is root or node in task.captures or (node.is_op and node.extras is None)
                for node in task.order or ())
    if task.order is None or not fixed:
        return None
    return task, root, [(node, step_of(task, node)) for node in task.order]


def step_of(task: PlannedTask, node: Any) -> Step:
    """Return the function that runs a node: what `PlannedTask.evaluate` would choose each time."""
    if node.is_written and task.unobserved and node not in task.captures:
        step: Step = node.step_on_arrays
        return step

    def evaluate(task: PlannedTask, arrived: Array) -> None:
        task.evaluate(node, arrived)

    return evaluate


def run(task: PlannedTask, root: GraphRoot, steps: Steps, grad: Array) -> dict[int, Array | None]:
    """Run a planned pass for one gradient; return the inputs' gradients by position."""
    root.outputs, task.captured = (grad,), {}
    arrived: dict[Node, Any] = task.buffers
    arrived[root] = grad
    for node, step in steps:
        if (g := arrived.pop(node)) is None:
            task.evaluate(node, None)
        else:
            step(task, g)
    return task.captured
