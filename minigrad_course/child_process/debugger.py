"""Open a debugger where a test fails, in the learner's file if the failure passed through it.

This runs in the process of `swap.py`, after the learner's files were swapped in.
"""

from __future__ import annotations

import pdb
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class AtFrame(pdb.Pdb):
    """A debugger that starts in the innermost frame that `wanted` accepts, or in the last one."""

    def __init__(self, wanted: Callable[[FrameType], bool]) -> None:
        super().__init__(nosigint=True)
        self.wanted = wanted

    def setup(self, f: FrameType | None, tb: TracebackType | None) -> None:
        """Select the first frame; `up` and `down` reach the rest of the stack."""
        super().setup(f, tb)
        for position in reversed(range(len(self.stack))):
            frame = self.stack[position][0]
            if self.wanted(frame):
                self.curindex, self.curframe = position, frame
                if "curframe_locals" in vars(self):  # a property since Python 3.14
                    self.curframe_locals = frame.f_locals
                return


class StopAtFailure:
    """A pytest plugin that prints what failed and opens the debugger there."""

    def __init__(self, files: set[str]) -> None:
        self.files = files

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Stop at a failure."""
        crash = getattr(report.longrepr, "reprcrash", None)
        print(f"\n{node.name} failed:")
        for line in (crash.message if crash else str(report.longrepr)).splitlines():
            print(f"  {line}")
        own = {str(node.path), *self.files}
        trace = call.excinfo.value.__traceback__
        while trace.tb_next is not None and trace.tb_frame.f_code.co_filename not in own:
            trace = trace.tb_next  # skip pytest's own frames
        frames = []
        step = trace
        while step is not None:
            frames.append(step.tb_frame.f_code.co_filename)
            step = step.tb_next
        wanted = self.files if self.files & set(frames) else own
        if wanted is own:
            print("your code had already returned: to step through it, put breakpoint() where it "
                  "should stop, and run this again")
        print("up and down move through the calls, p VALUE prints, q quits\n")
        debugger = AtFrame(lambda frame: frame.f_code.co_filename in wanted)
        debugger.reset()
        debugger.interaction(None, trace)
