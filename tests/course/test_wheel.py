"""The course works from an installed wheel, with no checkout in sight."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds a wheel")
pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from minigrad_course.content import stages as course

ROOT = course.checkout()
STAGE = next(stage for stage in course.stages() if stage.holes)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the wheel's files, as in site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
                   cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.slow
def test_the_course_is_taken_from_a_wheel(installed, tmp_path):
    def call(*words, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "minigrad_course", *words], text=True, capture_output=True,
            cwd=tmp_path if words[0] == "init" else tmp_path / "engine",
            env={**os.environ, "PYTHONPATH": str(installed), "COLUMNS": "100", "NO_COLOR": "1"})
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    call("init", "engine")
    hole = STAGE.holes[0]
    assert f"untouched {hole.id}" in call("run", STAGE.number, code=1)
    for path in STAGE.modules:
        shutil.copy(installed / "minigrad" / path,
                    STAGE.exercise(path, tmp_path / "engine" / "exercises"))
    assert f"solved    {hole.id}" in call("run", STAGE.number)
    told = call("hint", hole.id)
    assert hole.id in told
    (place,) = re.findall(r"package, see (.*), \"Names in the exercises\"", told)
    assert Path(place).is_file() and Path(place).is_relative_to(installed)


@pytest.mark.slow
def test_a_wheel_holds_no_solutions_beside_the_package(installed):
    assert not (installed / "minigrad" / "course" / "data" / "solutions").exists()
