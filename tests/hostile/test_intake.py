"""What is handed in instead of a program: links, devices, folders, and text that is none."""

from __future__ import annotations

import os
import shutil

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Sandbox
from tests.support.attacks import LIMITS, MODULE, SOLUTION, STAGE, check_reports
from tests.support.slow import slow_but


@pytest.mark.parametrize(("content", "told"), slow_but(1, [
    (b"\xff\xfe\x00x", "is UTF-16"), (b"\xff\xff", "not UTF-8"), (b"x\0", "null bytes"),
    (b"x" * 300_000, "300000 bytes"), (b"", ""),
]))
def test_content_that_is_no_program(content, told, tmp_path):
    path = tmp_path / "handin.py"
    path.write_bytes(content)
    result = grade(STAGE, take_in(path, STAGE), Sandbox("limits"), limits=LIMITS)
    assert result.points == 0
    assert all(told in hole.reason for hole in result.holes)
    check_reports(Report("handin.py", (result,)))


@pytest.mark.parametrize("kind", slow_but(1, [
    "a link", "a linked folder", "a device", "a pipe", "a folder", "nothing"]))
def test_links_devices_and_pipes_are_not_read(kind, tmp_path):
    outside = tmp_path / "outside.py"
    outside.write_text(SOLUTION)
    folder = tmp_path / "handin"
    target = folder / "exercises" / "07_grad_mode.py"
    if kind == "a linked folder":
        (tmp_path / "elsewhere").mkdir()
        shutil.copy(outside, tmp_path / "elsewhere" / "07_grad_mode.py")
        folder.mkdir()
        (folder / "exercises").symlink_to(tmp_path / "elsewhere")
    else:
        target.parent.mkdir(parents=True)
        if kind == "a link":
            target.symlink_to(outside)
        elif kind == "a device":
            target.symlink_to("/dev/zero")
        elif kind == "a pipe":
            os.mkfifo(target)
        elif kind == "a folder":
            target.mkdir()
    submission = take_in(folder, STAGE)
    assert not submission.texts
    assert submission.problems[MODULE]
    assert grade(STAGE, submission, Sandbox("limits"), limits=LIMITS).points == 0
