"""Code that does not end: which exercise, file and line was running, and the others' verdicts."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="the course's commands need the extra 'course'")

from minigrad_course.content import stages as course
from minigrad_course.running.trial import Trial, _trial_in, try_files
from minigrad_course.verdicts.verdict import Verdict, over_time, verdicts
from tests.course.test_printed import FIRST_LINE, files_with

STAGE = course.find_stage("05")
ENDLESS = {
    "a loop": "while True: pass",
    "a loop that catches all": "while True:\n            try:\n                while True: pass\n"
                               "            except: pass",
    "a lock": "import threading; threading.Event().wait()",
}


def tried(files: dict[str, Path], limit: float = 1, **more: bool) -> tuple[Trial, list[Verdict]]:
    trial = try_files(STAGE, files, limit=limit, **more)
    return trial, verdicts(STAGE, trial, list(STAGE.holes))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDLESS)
def test_the_place_is_named_and_the_rest_is_tested(tmp_path, kind):
    files = files_with(tmp_path, ENDLESS[kind])
    trial, found = tried(files, only_first=kind == "a lock")
    first, second, third, *_ = found
    assert not trial.problem
    assert first.state == "wrong"
    place = re.fullmatch(r"It did not end within 1 seconds; stopped at hooks\.py, line (\d+), in "
                         r"RemovableHandle\.__init__ \(05\.1\)\.", first.diagnosis)
    line = files["graph/hooks.py"].read_text(encoding="utf-8").splitlines()[int(place[1]) - 1]
    assert any(word in line for word in ("while", "try", "pass", "wait"))
    assert over_time(first.first.message) == first.diagnosis
    assert first.first.test.endswith("test_hooks_stand_in_the_order_of_registration")
    # One exercise after the other has its own seconds, but the mistake is named once.
    assert second.state == ("waiting" if kind == "a lock" else "solved")
    assert (third.state, third.waits_for) == ("waiting", "05.1")


@pytest.mark.slow
def test_code_that_never_comes_back_to_python_is_ended_from_outside(tmp_path):
    line = "sum(iter(int, 1))"
    _, (first, second, *_) = tried(files_with(tmp_path, line))
    assert first.state == "wrong"
    assert "stopped at hooks.py, line " in first.diagnosis
    assert (second.state, second.waits_for) == ("waiting", "05.1")


@pytest.mark.slow
def test_an_import_that_does_not_end_is_told_with_its_line(tmp_path):
    trial, _ = tried(files_with(tmp_path, "while True: pass", "class RemovableHandle"))
    told = trial.problem.splitlines()[-1]
    assert re.fullmatch(r"TimeLimit: importing your files did not end within 3 seconds; stopped "
                        r"at hooks\.py, line \d+", told)


@pytest.mark.slow
def test_time_that_others_take_does_not_count(tmp_path):
    """The limit is on processor time: waiting a little, or a busy machine, makes nothing wrong."""
    line = "import time; time.sleep(0.3 if self._ids.__reduce__()[1] < (5,) else 0)"
    _, (first, *_) = tried(files_with(tmp_path, line))
    assert first.state == "solved"


@pytest.mark.slow
def test_each_exercise_has_its_own_seconds(tmp_path):
    before = time.monotonic()
    tried(files_with(tmp_path, "while True: pass", FIRST_LINE))
    assert time.monotonic() - before < 60


def test_a_temporary_folder_that_was_deleted_is_told(tmp_path):
    trial = _trial_in(tmp_path / "gone", "")
    assert trial.problem == "a temporary file of this run was deleted; run it again"
