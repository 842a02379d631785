"""A process that runs the blocks of a lesson, on the package or on the learner's files."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from .compose import Source
from .trial import as_plan, module_name

__all__ = ["ONE_THREAD", "Runner"]

#: Matrix products on one core: they are small in lessons, and sharing them costs more.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                            "VECLIB_MAXIMUM_THREADS"), "1")


class Runner:
    """Runs blocks in one namespace; a context that ends the process when it is left.

    `files` (path in the package to file) stand in for the package's modules; `shared` has those
    that several stages share.
    """

    def __init__(self, files: dict[str, Path] | None = None,
                 shared: Mapping[str, Source] | None = None) -> None:
        self.files, self.shared = files or {}, shared
        self.folder = tempfile.TemporaryDirectory(prefix="minigrad-")  # blocks may write files
        self.errors = Path(self.folder.name, "errors")
        self.process: subprocess.Popen[str] | None = None

    def run(self, source: str) -> dict[str, str]:
        """Run a block; return what it printed, its value, its error and the traceback."""
        process = self.process or self._start()
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
        self.process = None  # the next block begins with an empty namespace
        return {"printed": "", "value": "", "traceback": told,
                "error": told.rpartition("\n")[2] or f"the process ended ({process.returncode})"}

    def _start(self) -> subprocess.Popen[str]:
        program, root = Path(__file__).with_name("lesson_process.py"), Path(__file__).parents[1]
        command = [sys.executable, str(program)]
        if self.files:
            plan = Path(self.folder.name, "plan.json")
            plan.write_text(json.dumps({
                "root": str(root), "script": str(program), "arguments": [],
                "files": {module_name(path): str(file.resolve())
                          for path, file in self.files.items()},
                "composed": as_plan(self.shared),
            }), encoding="utf-8")
            command = [sys.executable, str(Path(__file__).with_name("swap.py")), str(plan)]
        paths = [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                encoding="utf-8", cwd=self.folder.name,
                env={**ONE_THREAD, **os.environ, "PYTHONPATH": os.pathsep.join(paths),
                     "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "100"})
        return self.process

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
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
