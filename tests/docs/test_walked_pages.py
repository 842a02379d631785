"""The three walked pages: their commands run in their order, and print what stands below them.

A tree like a fresh clone is made of links. Installing is left out: `minigrad` and `python` are
those that run the test.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("six_minutes", "first_evening", "ten_minutes")

#: Commands that install, or wait for a person, and what takes their place.
REPLACED = {
    "git clone ADDRESS minigrad": "true",
    "python3 -m venv .venv": "true",
    ". .venv/bin/activate": "true",
    "pip install -e '.[course]'": "true",
    "pip install -e .": "true",
    "pip install -e '.[tour]'": "true",
    "pip install torch==2.13.0": "true",
    "make learn": "minigrad init engine",
}
#: Commands that take too long here, and the test that runs the same.
ELSEWHERE = {"minigrad export": "tests/course/test_export.py"}

#: A file's name and its text, a change to a file, or a session in the terminal.
BLOCK = re.compile(r"^(?:`([\w/.]+)`:\n\n)?```(python|diff|console)\n(.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def fresh_clone(place: Path) -> None:
    """Make a folder that looks like a clone, out of links."""
    place.mkdir()
    for name in ("minigrad", "minigrad_course", "lessons", "exercises", "solutions", "tests",
                 "docs", "pyproject.toml", "README.md"):
        (place / name).symlink_to(ROOT / name)


def programs(place: Path) -> None:
    """Put `minigrad` and `python` into a folder, as an environment has them."""
    place.mkdir()
    for name, words in (("minigrad", "-m minigrad_course"), ("python", "")):
        file = place / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        file.chmod(0o755)


def script(page: str, place: Path) -> tuple[str, list[tuple[str, str]]]:
    """Return a page as a shell script, and each of its commands with the output that it shows."""
    lines, sessions = ["export PS1="], []
    for name, kind, block in BLOCK.findall(page):
        if kind == "console":
            for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                if any(command.startswith(each) for each in ELSEWHERE):
                    continue
                lines += ["echo @@@", REPLACED.get(command, command)]
                sessions.append((command, "" if command in REPLACED else shown))
        elif kind == "python" and name:
            (place / "written.py").write_text(block, encoding="utf-8")
            lines.append(f"cp '{place}/written.py' {name}")
        elif kind == "diff":
            number = len(lines)
            (place / f"{number}.diff").write_text(block, encoding="utf-8")
            lines.append(f"python -m tests.docs.test_walked_pages {name} '{place}/{number}.diff'")
    return "\n".join(lines) + "\n", sessions


def change(file: Path, diff: str) -> None:
    """Replace the lines with a minus, which stand in the file once, by those with a plus."""
    old, new = ("".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] == sign)
                for sign in "-+")
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="commands of a POSIX shell")
@pytest.mark.parametrize("name", PAGES)
def test_the_commands_print_what_stands_below_them(name, tmp_path):
    pytest.importorskip("watchfiles", reason="the course is not installed")
    page = (ROOT / "docs" / "en" / f"{name}.md").read_text(encoding="utf-8")
    if not find_spec("torch"):
        page = re.sub(r"^\$ minigrad compare.*\n.*\n", "", page, flags=re.MULTILINE)
    fresh_clone(tmp_path / "minigrad")
    programs(tmp_path / "bin")
    commands, sessions = script(page, tmp_path)
    done = subprocess.run(
        ["sh"], input=commands, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", timeout=600,
        env=os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "COLUMNS": "90",
                          "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "LC_ALL": "C"})
    printed = done.stdout.split("@@@\n")[1:]
    assert len(printed) == len(sessions) >= 5
    same = doctest.OutputChecker().check_output
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for (command, shown), got in zip(sessions, printed, strict=True):
        assert not shown or same(shown, got, options), f"{command} printed\n{got}"


@pytest.mark.parametrize("name", PAGES)
def test_every_change_names_its_file_and_every_page_its_date(name):
    page = (ROOT / "docs" / "en" / f"{name}.md").read_text(encoding="utf-8")
    assert all(file for file, kind, _ in BLOCK.findall(page) if kind in ("python", "diff"))
    assert re.search(r"measured on \d{4}-\d\d-\d\d", page)
    assert page.count("\n```console\n") >= 2


if __name__ == "__main__":
    change(Path(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8"))
