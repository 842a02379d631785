"""Functions of ops written out from their declarations, as `gen_autograd` writes PyTorch's.

NOTE [What is read is what runs]
    `op/apply.py` runs any op in four steps: prepare, forward, record, wrap.  This folder writes
    those steps out for one op, straight down, when its function is first called: `x * y` runs a
    text in which `Mul` and its formulas are filled in.  A debugger steps through the text, a
    traceback shows its lines, and `minigrad show mul` or `inspect.getsource(minigrad.mul)` prints
    it.  The text serves the common case and hands every other call, and every error, to the taught
    functions, so both give the same numbers, bit for bit.

    Nothing imports this folder but the line in `minigrad/__init__.py` that switches it on.  With
    MINIGRAD_GENERIC=1, and wherever a learner's code runs, it stays off and the taught functions
    run alone.
"""

from __future__ import annotations

from .. import on_demand
from ..engine import engine
from ..op import publish
from .functions import function_of
from .planned_task import PlannedTask

replay = on_demand.later("codegen.replay")


def switch_on() -> None:
    """Have the functions of ops written out; called before the first op is published."""
    vars(publish)["written"] = function_of
    vars(engine)["jacobian_rows"] = lambda *args: replay.jacobian_rows(*args)
    engine.task_type = PlannedTask
