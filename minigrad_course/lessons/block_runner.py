"""Run the blocks of a lesson in one process, on the package or on the learner's files."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from ..child_process import block_server, swap
from ..content.folders import ROOT
from ..content.stages import CourseError
from ..learner.own_engine import Engine
from ..running.one_thread import ONE_THREAD
from ..running.trial import as_plan, module_name

__all__ = ["Runner"]


class Runner:
    """Runs blocks in one namespace; leaving the context ends the process.

    `engine` returns the files and modules that replace the package's; it is called before each
    block.  If a file has changed, a new process runs the earlier blocks again.
    """

    def __init__(self, engine: Callable[[], Engine] | None = None) -> None:
        self.engine = engine
        self.blocks: list[str] = []  # the blocks that have run
        self.news = ""  # a message for the reader about the last block
        self._made_of: Any = None
        self.folder = tempfile.TemporaryDirectory(prefix="minigrad-")  # blocks may write files
        self.errors = Path(self.folder.name, "errors")
        self.process: subprocess.Popen[str] | None = None

    def run(self, source: str) -> dict[str, str]:
        """Run a block; return what it printed, its value, its error and the traceback."""
        self.news = ""
        process = self.process or self._start()
        if self.engine is not None and self._has_changed():
            self.news = "one of your files changed, so the blocks before this one ran again"
            process.kill()
            self._end(process)
            process = self._start()
            for each in self.blocks:
                self._give(process, each)
        self.blocks.append(source)
        return self._give(process, source)

    def _has_changed(self) -> bool:
        """Return whether a file has changed since the process started.

        If one is not readable now, the process continues unchanged.
        """
        assert self.engine is not None
        try:
            return _described(*self.engine()) != self._made_of
        except CourseError as error:
            self.news = f"{error}: this block runs on your files before the change"
            return False

    def _give(self, process: subprocess.Popen[str], source: str) -> dict[str, str]:
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(source) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            result: dict[str, str] = json.loads(line)
            return result
        self._end(process)
        told = self.errors.read_text(encoding="utf-8", errors="replace").strip()
        self.process = None  # the next block starts with an empty namespace
        self.blocks.clear()
        return {"printed": "", "value": "", "traceback": told,
                "error": told.rpartition("\n")[2] or f"the process exited ({process.returncode})"}

    def _start(self) -> subprocess.Popen[str]:
        program = block_server.__file__
        command = [sys.executable, program]
        files, shared = self.engine() if self.engine is not None else ({}, {})
        self._made_of = _described(files, shared)
        if files:
            plan = Path(self.folder.name, "plan.json")
            plan.write_text(json.dumps({
                "root": str(ROOT), "script": program, "arguments": [],
                "files": {module_name(path): str(file.resolve())
                          for path, file in files.items()},
                "composed": as_plan(shared),
            }), encoding="utf-8")
            command = [sys.executable, swap.__file__, str(plan)]
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                encoding="utf-8", cwd=self.folder.name,
                env={**ONE_THREAD, **os.environ, "PYTHONPATH": os.pathsep.join(paths),
                     "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "100"})
        return self.process

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, error_type: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.process is not None:
            self.process.kill()
            self._end(self.process)
        self.folder.cleanup()

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()


def _described(files: Any, shared: Any) -> Any:
    """Return what identifies an engine: its files in their present state, and its modules."""
    stamps = {path: (str(file), file.stat().st_mtime_ns, file.stat().st_size)
              for path, file in files.items()}
    return stamps, {path: source.text for path, source in shared.items()}
