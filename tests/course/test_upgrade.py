"""`minigrad upgrade` where exercises have other numbers, places or cuts than before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")

from typer.testing import CliRunner

from minigrad_course import moved_files
from minigrad_course import stages as course
from minigrad_course.app import app
from minigrad_course.dev.source import Module, body_span
from minigrad_course.renumbered import renumbered, said_of_numbers
from minigrad_course.stages import Hole, Stage
from minigrad_course.unknown_names import unknown_names
from minigrad_course.workspace import Workspace

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


def solved(space: Workspace) -> dict[str, object]:
    return {number: facts["solved"] for number, facts in space.progress()["holes"].items()
            if facts.get("solved")}


def test_answers_and_progress_go_to_the_new_numbers(space):
    mine, shipped = places(space)
    text = older(shipped.read_text())
    shipped.write_text(text)
    mine.write_text(answered(text, FIRST.id, "return 'mine'"))
    space.keep(holes={FIRST.id: {"solved": "then", "hints": 2}})

    told = upgrade()

    assert f"renumbered: {FIRST.id} is {SECOND.id} now" in told and "conflict" not in told
    assert "went to the new numbers" in told
    assert space.progress()["holes"] == {SECOND.id: {"solved": "then", "hints": 2}}
    merged = mine.read_text()
    assert "return 'mine'" in merged and f'NotImplementedError("{FIRST.id} ' in merged
    answer = merged.index("return 'mine'")
    assert f"def {SECOND.symbols[0].rpartition('.')[2].rpartition(':')[2]}" in merged[:answer]
    assert upgrade().strip() == "nothing to do"
    assert space.progress()["holes"] == {SECOND.id: {"solved": "then", "hints": 2}}


def test_progress_is_renumbered_once_where_a_file_is_in_conflict(space):
    mine, shipped = places(space)
    first = shipped.read_text().splitlines()[0]
    text = older(shipped.read_text()).replace(first, "# an older first line")
    shipped.write_text(text)
    mine.write_text(text.replace("# an older first line", "# mine"))
    space.keep(holes={FIRST.id: {"solved": "then"}})
    for _ in range(2):
        assert "conflict" in upgrade()
        assert solved(space) == {SECOND.id: "then"}


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
    space.keep(holes={"03b.9": {"solved": "then"}})

    told = upgrade()

    assert "given now: 03b.9" in told and "conflict" not in told
    assert mine.read_text() == text
    assert any("return 'mine'" in each.read_text()
               for each in (space.root / ".minigrad" / "backups").rglob("*.py"))
    assert solved(space) == {}


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


def test_an_answer_follows_its_symbol_into_another_file_and_depth(space, monkeypatch):
    """The function was a method in a file that no stage has any more."""
    mine, shipped = places(space)
    name = FIRST.symbols[0].partition(":")[2]
    monkeypatch.setitem(moved_files.MOVED_SYMBOLS, FIRST.symbols[0], "old/place.py:Owner.method")
    raised = 'raise NotImplementedError("99.7 Old is yours to write")'
    text = ("# Stage 99, Old: the exercise for minigrad/old/place.py.\n\n\nclass Owner:\n"
            "    def method(self):\n        ")
    (space.shipped / "99_old.py").write_text(f"{text}{raised}\n")
    (space.exercises / "99_old.py").write_text(f"{text}return 'mine'\n")
    for file in (mine, shipped):
        file.write_text(with_body(file.read_text(), name, "return 'given'"))

    told = upgrade()

    assert f"renumbered: 99.7 is {FIRST.id} now" in told and "conflict" not in told
    assert "no longer used" in told and not (space.exercises / "99_old.py").exists()
    assert (space.root / ".minigrad" / "backups" / "99_old.1.py").is_file()
    assert mine.read_text() == with_body(STAGE.handed_out(FILE), name, "return 'mine'")
    assert upgrade().strip() == "nothing to do"


def test_a_stage_of_one_file_may_become_a_folder(space):
    stage = next(each for each in course.stages() if len(each.modules) > 1)
    path, *others = stage.modules
    for base in (space.exercises, space.shipped):
        text = stage.exercise(path, base).read_text()
        shutil.rmtree(base / stage.key)
        (base / f"{stage.key}.py").write_text(text + "# mine\n" * (base == space.exercises))
    told = upgrade()
    assert stage.exercise(path, space.exercises).read_text().endswith("# mine\n")
    assert told.count("new: ") == len(others)
    assert not (space.exercises / f"{stage.key}.py").exists()


def test_a_file_that_is_new_is_brought_by_upgrade(space):
    for file in places(space):
        file.unlink()
    with pytest.raises(course.CourseError, match="new in this version: `minigrad upgrade` brings"):
        space.files(STAGE)
    assert f"new: {places(space)[0]}" in upgrade()


def stage(*holes: Hole) -> Stage:
    return Stage("05_hooks", course.checkout(), 1, ("a.py",), holes)


def hole(id: str, *names: str) -> Hole:
    return Hole(id, tuple(f"a.py:{name}" for name in names), 1, ())


@pytest.mark.parametrize(("new", "wanted"), [
    ([hole("05.1", "f", "g")], {"05.1": {"solved": "2", "hints": 3}}),
    ([hole("05.1", "h"), hole("05.2", "f"), hole("05.3", "g")],
     {"05.1": {"solved": "1"}, "05.2": {"solved": "2", "hints": 3},
      "05.3": {"solved": "2", "hints": 3}}),
    ([hole("05.1", "f", "g", "h")], {"05.1": {"solved": "2"}}),
    ([hole("05.1", "f", "new")], {}),
    ([hole("05.1", "f", "k")], {}),
    ([hole("05.2", "new")], {}),
], ids=["another number", "split", "joined", "more to write", "one was not solved", "another hole"])
def test_facts_about_exercises_that_were_cut_anew(new, wanted):
    old = {"05.1": ["a.py:h"], "05.2": ["a.py:f", "a.py:g"], "05.3": ["a.py:k"]}
    facts = {"05.1": {"solved": "1"}, "05.2": {"solved": "2", "hints": 3}, "05.3": {"hints": 1}}
    assert renumbered(facts, old, [stage(*new)]) == wanted


def test_nothing_is_forgotten_where_nothing_tells_the_numbers():
    facts = {"05.1": {"solved": "1"}}
    assert renumbered(facts, {}, [stage(hole("05.1", "f"))]) == facts


def test_what_is_said_of_numbers():
    old = {"05.1": ["a.py:h"], "05.2": ["a.py:f", "a.py:g"], "05.3": ["a.py:k"]}
    new = stage(hole("05.1", "f"), hole("05.2", "new", "g"), hole("05.4", "h"))
    assert said_of_numbers(old, [new]) == {
        "renumbered": ["05.1 is 05.4 now", "05.2 is 05.1 and 05.2 now"], "given now": ["05.3"]}
    assert json.dumps(said_of_numbers({"05.4": ["a.py:h"]}, [new])) == "{}"


def test_moved_symbols_are_symbols_of_exercises():
    known = {symbol for each in course.stages() for hole in each.holes for symbol in hole.symbols}
    assert moved_files.MOVED_SYMBOLS.keys() <= known
