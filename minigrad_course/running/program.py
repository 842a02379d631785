"""Run a program on the learner's engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..child_process import swap
from ..content.folders import ROOT
from ..content.stages import CourseError
from .compose import Source
from .one_thread import ONE_THREAD
from .trial import as_plan, module_name


def run_script(script: Path, arguments: list[str], files: dict[str, Path],
               shared: Mapping[str, Source] | None = None, seconds: float | None = None,
               quiet: bool = False, one_thread: bool = False) -> int:
    """Run a program in a fresh process with `files` swapped in; return its exit status.

    `shared` contains the composed modules.  Raises TimeoutExpired after `seconds`.  If `quiet`, the
    program's output is discarded.  If `one_thread`, matrix products stay on one core unless the
    caller's environment says otherwise.
    """
    if not script.is_file():
        raise CourseError(f"the program {script} does not exist")
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        plan = Path(folder, "plan.json")
        plan.write_text(json.dumps({
            "root": str(ROOT), "script": str(script),
            "arguments": arguments,
            "files": {module_name(path): str(file.resolve()) for path, file in files.items()},
            "composed": as_plan(shared),
        }), encoding="utf-8")
        nowhere = subprocess.DEVNULL if quiet else None
        return subprocess.run([sys.executable, swap.__file__, str(plan)], check=False,
                              env={**(ONE_THREAD if one_thread else {}), **os.environ},
                              timeout=seconds, stdout=nowhere, stderr=nowhere).returncode
