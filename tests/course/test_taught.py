"""The core is taught: what runs from an op to `.grad`, a write in place, a hook."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from minigrad_course.content.stages import CourseError, checkout
from minigrad_course.dev import taught

#: What runs is noted by a process of its own, on the taught path: without the quick twins.
PROGRAM = """
import os, sys
import minigrad as torch

ROOT, entered = os.path.dirname(torch.__file__), set()

def note(frame, event, arg):
    if event == "call" and frame.f_code.co_filename.startswith(ROOT):
        path = os.path.relpath(frame.f_code.co_filename, ROOT).replace(os.sep, "/")
        entered.add(f"{path}:{frame.f_code.co_qualname}")

def program():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([4.0, 5.0, 6.0])
    sys.setprofile(note)
    (x * y).sum().backward()             # an op, the graph, the leaf
    base = x * 1.0
    base[1:].mul_(y[:2])                 # a write in place, through a view
    base.sum().backward()
    hooked = x * y
    hooked.register_hook(lambda g: g * 2)
    hooked.sum().backward()
    sys.setprofile(None)

program()  # what runs once only, such as caches that are filled, does not count
entered.clear()
program()
print("\\n".join(sorted(entered)))
"""


@pytest.fixture(scope="module")
def entered():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                          check=True, cwd=checkout(),
                          env={**os.environ, "MINIGRAD_GENERIC": "1",
                               "PYTHONPATH": str(checkout())})
    return [tuple(line.split(":", 1)) for line in done.stdout.splitlines()]


def test_the_program_runs_through_the_core(entered):
    assert {path.partition("/")[0] for path, _ in entered} >= set(taught.CORE)


@pytest.mark.parametrize("part", taught.CORE)
def test_every_function_on_the_way_is_taught(entered, part):
    known = taught.taught_symbols(checkout())
    missing = [f"{path}:{name}" for path, name in entered
               if path.startswith(f"{part}/") and not taught.is_taught(path, name, known)]
    assert not missing


def test_every_other_file_of_the_core_is_named():
    assert not taught.file_faults(checkout())


def test_files_that_are_not_there_and_files_that_are_taught_need_no_line(tmp_path, monkeypatch):
    monkeypatch.setattr(taught, "left_out", lambda root: {"op/apple.py": "", "graph/node.py": ""})
    found = taught.file_faults(checkout())
    assert "op/apple.py: listed in lessons/core.toml, but the file does not exist" in found
    assert "graph/node.py: listed in lessons/core.toml, although a lesson shows it" in found
    assert ("op/out.py: no lesson shows it, and lessons/core.toml does not say what it is for"
            in found)


def test_a_list_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "lessons").mkdir()
    with pytest.raises(CourseError, match=r"core\.toml"):
        taught.left_out(Path(tmp_path))
