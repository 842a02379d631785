"""Run a job in a separate process; if that process dies, the record gives the reason."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..content.stages import find_stage
from ..grading.grade import Grade
from ..grading.primed import primed
from ..grading.report import as_grade
from ..grading.sandbox import best_sandbox
from ..grading.ungraded import NOT_GRADED, ungraded
from ..grading.users import remove
from ..running.one_thread import ONE_THREAD
from . import budget
from .job import Job
from .record import MOST
from .work import NOT_READ, TOO_DEEP, merged

__all__ = ["lines_of", "run_job"]

#: Seconds that a process may take for a stage besides the time of its sandboxes.
PATIENCE = 900
#: The module that a child runs.
CHILD = "minigrad_course.jobs.child"
_START = "import sys; sys.path[:] = {path!r}; from {module} import main; main()"


def run_job(text: str) -> str:
    """Do a job, given as JSON, and return its record as JSON.

    Any executor can call this function on any machine with the same minigrad.  It raises an error
    if that machine cannot grade, but never because of the submission's contents.
    """
    job = Job.from_json(text)
    method = job.sandbox or best_sandbox(job.require_sandbox).method
    grades: list[Grade] = []
    look: list[str] = []
    while (start := len(grades)) < len(job.files):
        begun, step, ending = start, "grade", ""
        for line in lines_of(job, method, start):
            if "ended" in line:
                ending = line["ended"]
            elif "begins" in line:
                begun, step = line["begins"]
            elif "grade" in line:
                grades.append(as_grade(line["grade"]))
            else:
                look += line.get("look", ())
        if len(grades) in (start, begun) and len(grades) < len(job.files):
            grades.append(_without_verdict(job, len(grades), ending, method))
        elif ending and step == "look":
            number = find_stage(job.files[begun].stage).number
            look.append(f"stage {number} could not be searched for signs: "
                        f"{ending.removeprefix(f'{NOT_READ}: ')}")
    return merged(job, grades, look).as_json()


def _without_verdict(job: Job, index: int, ending: str, method: str) -> Grade:
    """Return the grade for the stage at which a child ended."""
    stage = find_stage(job.files[index].stage)
    if ending.startswith(NOT_READ):
        return ungraded(job.name, stage, ending, method)
    return ungraded(job.name, stage, f"{NOT_GRADED}: {ending or 'its process ended too early'}",
                    method)


def lines_of(job: Job, method: str, start: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of JSON that a child writes, and `{"ended": why}` if it ended too early."""
    stages = [find_stage(each.stage) for each in job.files]
    given = {"job": asdict(job), "start": start, "sandbox": method,
             "primed": primed(stages, method)}
    folder = tempfile.mkdtemp(prefix="minigrad-")
    os.chmod(folder, 0o711)  # graded processes of other users have their folders in it
    environment = {**os.environ, **ONE_THREAD, "TMPDIR": folder, "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-c", _START.format(path=sys.path, module=CHILD)]
    try:
        with tempfile.TemporaryFile() as errors, subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                env=environment) as process:
            seconds = (job.limits.total or 4 * job.limits.seconds) + PATIENCE
            timer = threading.Timer(seconds * len(stages), process.kill)
            timer.daemon = True
            timer.start()
            try:
                yield from _lines(process, json.dumps(given).encode() + b"\n")
            finally:
                timer.cancel()
                _end(process)
    finally:
        remove(folder)


def _lines(process: subprocess.Popen[bytes], given: bytes) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError):  # it may have ended already
        process.stdin.write(given)
        process.stdin.flush()
    while line := process.stdout.readline(MOST):
        try:
            read = json.loads(line)
        except ValueError:
            break  # it was killed while it wrote, or wrote too much
        if read == {"done": True}:
            return
        yield read
    _end(process)
    yield {"ended": _why(process.returncode)}


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close a child's input, which ends it and its sandbox; kill it if it goes on."""
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(status: int) -> str:
    """Return why a child ended too early."""
    crashes = [-int(getattr(signal, name)) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL")
               if hasattr(signal, name)]
    if status in crashes or (sys.platform == "win32" and status > 1):
        return f"{NOT_READ}: Python itself crashes on it, probably because {TOO_DEEP}"
    if status == -int(getattr(signal, "SIGXCPU", 0)) and status:
        return (f"{NOT_READ}: it takes more than {budget.SECONDS} seconds; hand in a shorter text, "
                "without tables of values")
    if status == -signal.SIGINT:
        return "it was interrupted"
    if status == -int(getattr(signal, "SIGKILL", 0)) and status:
        return "its process was killed, because it took too long or this machine has no memory left"
    return f"its process ended with status {status}"
