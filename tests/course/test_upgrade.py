"""`minigrad upgrade` after exercises got other numbers, or other bodies to write."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.content import stages as course
from minigrad_course.content.source import Module, body_span
from minigrad_course.learner.unknown_names import unknown_names
from minigrad_course.learner.workspace import Workspace

STAGE = course.find_stage("03b")
FILE = "autograd/backward.py"
FIRST, SECOND = STAGE.holes[:2]


def upgrade() -> str:
    result = CliRunner().invoke(app, ["upgrade"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def space(tmp_path, monkeypatch):
    """A workspace, with the test inside it."""
    monkeypatch.setenv("COLUMNS", "100")
    CliRunner().invoke(app, ["init", str(tmp_path / "engine")], catch_exceptions=False)
    monkeypatch.chdir(tmp_path / "engine")
    return Workspace(tmp_path / "engine")


def places(space: Workspace) -> tuple[Path, Path]:
    return tuple(STAGE.exercise(STAGE.modules[0], base)
                 for base in (space.exercises, space.shipped))


def older(text: str) -> str:
    """Return an exercise with the numbers of two holes exchanged."""
    return text.replace(f"{FIRST.id} ", "@ ").replace(
        f"{SECOND.id} ", f"{FIRST.id} ").replace("@ ", f"{SECOND.id} ")


def answered(text: str, number: str, answer: str) -> str:
    """Return an exercise with an answer in the place of the first unwritten body of `number`."""
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if f'NotImplementedError("{number} ' in line)
    first = at
    while lines[first - 1].lstrip().startswith("#"):
        first -= 1
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    lines[first : at + 1] = [f"{indent}{answer}\n"]
    return "".join(lines)


def test_an_answer_stays_with_its_function_when_exercises_change_numbers(space):
    mine, shipped = places(space)
    text = older(shipped.read_text())
    shipped.write_text(text)
    mine.write_text(answered(text, FIRST.id, "return 'mine'"))

    assert "merged" in upgrade()

    merged = mine.read_text()
    assert "return 'mine'" in merged and f'NotImplementedError("{FIRST.id} ' in merged
    answer = merged.index("return 'mine'")
    assert f"def {SECOND.symbols[0].rpartition('.')[2].rpartition(':')[2]}" in merged[:answer]
    assert upgrade().strip() == "already up to date"


def with_body(text: str, symbol: str, line: str) -> str:
    """Return an exercise with `line` as the body of a function."""
    module = Module.from_text(FILE, text)
    function = module.function(symbol)
    first, last = body_span(module, function)
    lines = module.lines
    lines[first - 1 : last] = [" " * (function.col_offset + 4) + line]
    return "\n".join(lines) + "\n"


def test_an_answer_to_what_is_handed_out_now_is_kept_in_the_backups(space):
    mine, shipped = places(space)
    text = shipped.read_text()
    holes = {symbol.partition(":")[2] for hole in STAGE.holes for symbol in hole.symbols}
    given = next(symbol for symbol, _ in Module.from_text(FILE, text).functions()
                 if symbol not in holes)
    shipped.write_text(with_body(text, given,
                                 'raise NotImplementedError("03b.9 Old is yours to write")'))
    mine.write_text(with_body(text, given, "return 'mine'"))

    assert "conflict" not in upgrade()

    assert mine.read_text() == text
    assert any("return 'mine'" in each.read_text()
               for each in (space.root / ".minigrad" / "backups").rglob("*.py"))


def test_a_helper_that_an_answer_uses_and_that_is_gone_is_named(space):
    mine, shipped = places(space)
    text = older(shipped.read_text())
    shipped.write_text(text)
    mine.write_text(answered(text, FIRST.id, "return list(map(old_helper, torch))"))
    told = upgrade()
    assert f"unknown name: old_helper in {mine}" in told.replace("\n", "")
    assert "unknown name: list" not in told and told.count("unknown name: ") == 2  # torch too
    assert "old_helper" in mine.read_text()


@pytest.mark.parametrize(("text", "wanted"), [
    ("import a\ndef f(b):\n    c = a, b\n    return [d for d in c], len, __name__", []),
    ("class C:\n    def f(self):\n        def g(): return self, C, h\n        return g", ["h"]),
    ("def f():\n    global n\n    n = 1\ndef g(): return n, m", ["m"]),
    ("from a import *\ndef f(): return g", []),
    ("def f(:", []),
], ids=["known", "in a method", "declared global", "a star", "no Python"])
def test_names_that_nothing_defines(text, wanted, tmp_path):
    (tmp_path / "x.py").write_text(text)
    assert unknown_names(tmp_path / "x.py") == wanted


def test_a_file_that_no_stage_has_any_more_goes_to_the_backups(space):
    for base in (space.exercises, space.shipped):
        (base / "99_old.py").write_text("# mine\n")
    told = upgrade()
    assert "no longer used" in told and not (space.exercises / "99_old.py").exists()
    assert (space.root / ".minigrad" / "backups" / "99_old.1.py").read_text() == "# mine\n"
    assert upgrade().strip() == "already up to date"


def test_a_file_that_is_new_is_brought_by_upgrade(space):
    for file in places(space):
        file.unlink()
    with pytest.raises(course.CourseError, match="new in this version: `minigrad upgrade` adds"):
        space.files(STAGE)
    assert f"new: {places(space)[0]}" in upgrade()
