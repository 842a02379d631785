# Stage 03, The engine: the exercise for minigrad/engine/engine.py.
# Made by `minigrad dev build`. The lesson is lessons/03_engine.md.
# MASTER COPY: a learner's own file is in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: an answer written here is tested by no command, and lost.
# Write the bodies that raise NotImplementedError, then run: minigrad run 03
# Names of the package's inside are explained in docs/en/glossary.md.

"""The engine: runs the graph backward, each node once, when all its gradients have arrived.

A backward pass is a `GraphTask`.  It first counts, from the roots, how many edges lead into each
node.  Then it runs the nodes that wait for nothing, latest forward first; each result is added to
the buffer of the node it is for, and a node whose last gradient arrived becomes ready.  Nothing
here is recursive, so a graph may be a million nodes deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Thread, local
from typing import Any

from .. import _state
from ..graph.node import GraphRoot
from ..tensor.tensor import Tensor
from . import shortcuts
from .graph_task import Edge, GraphTask

Value = Any  # an array or a tensor, see NOTE [Arrays or tensors] in input_buffer.py

#: How deep backward may call itself on one thread before it goes on in a fresh one, whose
#: interpreter stack is empty.
MAX_DEPTH = 40


class _Running(local):
    """The backward passes that are under way on this thread, outermost first."""

    def __init__(self) -> None:
        self.tasks: list[GraphTask] = []


_running = _Running()


def execute(edges: Sequence[Edge], grads: Sequence[Value], retain_graph: bool, create_graph: bool,
            inputs: Sequence[Edge] | None = None, accumulate: bool = True,
            kind: type[GraphTask] = GraphTask) -> list[Value | None]:
    """Run a backward pass from `edges`, where `grads` come in, and return the inputs' gradients.

    With `inputs` only nodes on the way to them run; unless `accumulate`, their gradients are
    returned and no `.grad` is touched.
    """
    # 03.6 A whole pass (about 30 lines)
    # `execute`: make the task, `kind(retain_graph, create_graph, on_tensors)`, where
    # `on_tensors` is True if the first of `grads` is a Tensor, and `root =
    # GraphRoot(edges, grads)`. With `inputs` (pairs of node or None, and number) call
    # `task.end_at(root, inputs, accumulate)`. Run with `_run_here(task, root)`, or
    # `_run_in_fresh_thread(task, root)` where `_running.tasks` holds MAX_DEPTH passes
    # already. Return a list with `task.captured.get(position)` for each input, empty
    # without inputs. `end_at`: call `self.find_nodes_to_execute(root, ends)` with the set
    # of the inputs' nodes that are not None. With `accumulate` call
    # `self.note_inputs(ends)`, which is given. Without it note in `self.captures`, for
    # each node that is not None, under the number, the list of the positions in `inputs`
    # that ask for it: one node may be asked for by several numbers, and one number by
    # several positions. Last, where the root has one edge alone, call
    # `self.note_lone_root(root)`, given too. `_run_here`: set the grad mode
    # (`_state.grad_enabled`, with `get` and `set`) to `task.create_graph`, append the
    # task to `_running.tasks`; then count the dependencies and run. However that ends,
    # take the task off and set the mode that was there before. (The package asks for a
    # quicker loop first, `shortcuts.run_task`; leave that out.)
    # `queue_callback(callback)`: append to `callbacks` of the innermost pass on this
    # thread, the last in `_running.tasks`; without one raise RuntimeError("Final
    # callbacks can only be installed during backward pass.").
    raise NotImplementedError("03.6 A whole pass is yours to write")


def _run_here(task: GraphTask, root: GraphRoot) -> None:
    """Run a task on this thread, in the grad mode that it asks for.

    Ctrl-C may interrupt after any call: so nothing is set before the `try`, and the mode, whose
    setting is a call, comes last in the `finally`.
    """
    # 03.6 A whole pass: see the task at `execute`.
    raise NotImplementedError("03.6 A whole pass is yours to write")


def _run_in_fresh_thread(task: GraphTask, root: GraphRoot) -> None:
    """Run a task on a thread of its own and wait; a deep reentrant backward needs the stack."""
    failure: list[BaseException] = []

    def work() -> None:
        try:
            _run_here(task, root)
        except BaseException as error:  # carried to the thread that waits
            failure.append(error)

    thread = Thread(target=copy_context().run, args=(work,), name="minigrad reentrant backward")
    thread.start()
    try:
        thread.join()
    except BaseException:  # Ctrl-C has to wait: nothing may go on behind the caller's back
        thread.join()
        raise
    if failure:
        raise failure[0]


def queue_callback(callback: Callable[..., Any]) -> None:
    """Call `callback()` when the backward pass that is running now has run all its nodes."""
    # 03.6 A whole pass: see the task at `execute`.
    raise NotImplementedError("03.6 A whole pass is yours to write")
