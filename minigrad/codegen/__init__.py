"""Generates the functions of ops from their declarations, as `gen_autograd` does for PyTorch.

NOTE [What is read is what runs]
    `op/apply.py` runs any op in four steps: prepare, forward, record, wrap.  When the function of
    an op is first called, this folder generates one straight-line function with these steps, in
    which the op and its formulas are filled in.  So `x * y` runs code generated for `Mul`.  A
    debugger steps through that code, a traceback shows its lines, and `minigrad show mul` or
    `inspect.getsource(minigrad.mul)` prints it.  The generated function handles the common case and
    passes every other call, and every error, to the taught functions.  Both return the same
    numbers, bit for bit.

    Only one line in `minigrad/__init__.py` imports this folder, and switches it on.  With
    MINIGRAD_GENERIC=1, and wherever a learner's code runs, it stays off, so that only the taught
    functions run.
"""

from __future__ import annotations

from .. import on_demand
from ..engine import engine
from ..op import publish
from .functions import function_of
from .planned_task import PlannedTask

replay = on_demand.later("codegen.replay")


def switch_on() -> None:
    """Switch code generation on; must be called before the first op is published."""
    vars(publish)["written"] = function_of
    vars(engine)["jacobian_rows"] = lambda *args: replay.jacobian_rows(*args)
    engine.task_type = PlannedTask
