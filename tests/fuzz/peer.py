"""PyTorch in a process of its own, for random programs can crash it.

Run as a program this is that process: it reads programs and answers with their traces.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .interpret import Trace, run
from .program import Program


class Peer:
    """Asks the process, and starts another one when it has died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.crashes = 0

    def start(self) -> subprocess.Popen[bytes]:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, pipesize=1 << 20,
            cwd=Path(__file__).resolve().parents[2])
        return self.process

    def send(self, programs: Sequence[Program]) -> None:
        """Hand over programs; `receive` gives their traces."""
        process = self.process or self.start()
        assert process.stdin is not None
        try:
            pickle.dump([list(p) for p in programs], process.stdin)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # `receive` finds out

    def receive(self, programs: Sequence[Program]) -> list[Trace | None]:
        """Return the trace of each program that was sent; None for one on which PyTorch died."""
        traces: list[Trace | None] = []
        while len(traces) < len(programs):
            assert self.process is not None and self.process.stdout is not None
            try:
                traces.append(pickle.load(self.process.stdout))
            except (EOFError, pickle.UnpicklingError):
                self.close()
                self.crashes += 1
                traces.append(None)
                self.start()
                self.send(programs[len(traces):])
        return traces

    def trace(self, program: Program) -> Trace | None:
        """Return the trace of one program."""
        self.send([program])
        return self.receive([program])[0]

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def serve() -> None:
    """Answer each list of programs with their traces, one by one."""
    import signal

    import torch

    torch.set_num_threads(1)
    inputs, outputs = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            programs: Any = pickle.load(inputs)
        except EOFError:
            return
        for program in programs:
            signal.alarm(20)  # a program that hangs counts as a crash
            trace = run(torch, program)
            signal.alarm(0)
            pickle.dump(trace, outputs, protocol=5)
            outputs.flush()


if __name__ == "__main__":
    serve()
