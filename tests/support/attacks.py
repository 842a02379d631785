"""Grading attacks: their stage, the sandboxes that work here, and what holds of every report."""

from __future__ import annotations

import json
import os
import tempfile
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from minigrad_course.content.stages import find_stage
from minigrad_course.grading.grade import Grade, grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import METHODS, Limits, Sandbox, works
from minigrad_course.grading.writers import WRITERS, classroom50, gradescope

__all__ = ["LIMITS", "MODULE", "SANDBOXES", "SECONDS", "SOLUTION", "STAGE", "STUB", "added",
           "check_reports", "each_sandbox", "graded", "in_probes", "open_to_others", "ran"]

STAGE = find_stage("07")
(MODULE,) = STAGE.modules
STUB = STAGE.exercise(MODULE).read_text(encoding="utf-8")
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")
SECONDS = 8
LIMITS = Limits(seconds=SECONDS, memory=2 << 30)
#: Every sandbox that works for who runs the tests; limits alone are none.
SANDBOXES = [Sandbox(kind) for kind in METHODS if kind != "limits" and works(kind)]
RUNNER = {"CLASSROOM": "c", "ASSIGNMENT": "a", "SUBMISSION_TAG": "t", "COMMIT_URL": "u",
          "RELEASE_URL": "r"}

each_sandbox = pytest.mark.parametrize(
    "sandbox", SANDBOXES or [pytest.param(None, marks=pytest.mark.skip("no sandbox works here"))],
    ids=lambda sandbox: getattr(sandbox, "method", "none"))

#: Says that all tests passed, so that what follows is reached in the process of the probes.
_PRELUDE = """
import json as _json, os as _os, sys as _sys
if _sys.argv[1:2] == ["tests"]:
    for _fd in range(3, 20):
        try:
            _os.write(_fd, b'{"ready": true}\\n' + b"".join(
                _json.dumps({"test": "x", "holes": [_hole], "outcome": "passed"}).encode() + b"\\n"
                for _hole in HOLES))
        except OSError:
            pass
    _os._exit(0)
""".replace("HOLES", repr([hole.id for hole in STAGE.holes]))


def added(code: str) -> str:
    """Return the exercise as shipped with some code added, which runs with the tests."""
    return STUB + "\n\n" + textwrap.dedent(code)


def in_probes(code: str) -> str:
    """Return the same for code that runs when the probes are asked: the tests are forged."""
    return STUB + "\n\n" + _PRELUDE + textwrap.dedent(code)


def graded(text: str, tmp_path: Path, sandbox: Sandbox, limits: Limits = LIMITS) -> Grade:
    """Grade a text, and check that every format can tell what came of it."""
    path = tmp_path / "handin.py"
    path.write_text(text, encoding="utf-8")
    result = grade(STAGE, take_in(path, STAGE), sandbox, limits=limits)
    assert path.read_text(encoding="utf-8") == text
    check_reports(Report("handin.py", (result,)))
    return result


def open_to_others(folder: Path) -> None:
    """Let every user reach a folder of pytest's: the run may be another's."""
    for each in (folder, *folder.parents):
        if each == Path(tempfile.gettempdir()) or each.stat().st_uid != os.getuid():
            break
        each.chmod(each.stat().st_mode | 0o055)


def ran(code: str, folder: Path, sandbox: Sandbox, limits: Limits = LIMITS) -> str:
    """Run a program in a sandbox, with a folder as its bundle; return what it wrote."""
    (folder / "child.py").write_text(textwrap.dedent(code), encoding="utf-8")
    open_to_others(folder)
    ended = sandbox.run(folder, [], b"", limits)
    assert not ended.status and not ended.reason, ended
    return ended.output.decode()


def check_reports(report: Report) -> None:
    """Every format can be written, and read by its own rules."""
    assert Report.from_dict(json.loads(json.dumps(report.as_dict()))) == report
    ElementTree.fromstring(WRITERS["junit"]([report]))
    assert len(WRITERS["csv"]([report]).splitlines()) == 2
    assert "<script>" not in WRITERS["html"]([report])
    for test in gradescope(report)["tests"]:
        assert test["status"] in ("passed", "failed")
        assert 0 <= test["score"] <= test["max_score"]
    result50 = classroom50(report, RUNNER)
    assert result50["score"] <= result50["max-score"]
    assert all(type(test[key]) is int for test in result50["tests"]
               for key in ("score", "max-score"))
