"""Output of a learner's code stands under the exercise that printed it."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path

import pytest

pytest.importorskip("rich", reason="the course's commands need the extra 'course'")

from rich.console import Console

from minigrad_course.content import stages as course
from minigrad_course.running.trial import try_files
from minigrad_course.terminal.show_verdicts import try_and_show
from minigrad_course.verdicts.verdict import SHOWN_LINES, verdicts
from tests.support.slow import one_in

STAGE = course.find_stage("05")
FIRST_LINE = "        self.id = next(self._ids)\n"


def files_with(folder: Path, line: str, before: str = FIRST_LINE) -> dict[str, Path]:
    """The solution of stage 05 with a line put into it."""
    files = {}
    for path in STAGE.modules:
        files[path] = folder / path
        files[path].parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(STAGE.solution(path), files[path])
        text = files[path].read_text(encoding="utf-8")
        indent = before[: len(before) - len(before.lstrip())]
        files[path].write_text(text.replace(before, f"{indent}{line}\n{before}"), encoding="utf-8")
    return files


def shown(files: dict[str, Path], *numbers: str) -> str:
    out = Console(file=StringIO(), width=200, color_system=None)
    try_and_show(out, STAGE, files, [each for each in STAGE.holes if each.id in numbers])
    return out.file.getvalue()


@pytest.mark.parametrize("line", [
    "print('here', len(hooks))", "import sys; sys.stderr.write(f'here {len(hooks)}\\n')"])
def test_a_print_is_shown_where_the_exercise_passes(tmp_path, line):
    told = shown(files_with(tmp_path, line), "05.1")
    first = "test_hooks_stand_in_the_order_of_registration"
    assert told.splitlines()[0].startswith("solved    05.1")
    assert f"  05.1 printed in {first} (and in " in told
    assert "  │ here 1\n" in told


@pytest.mark.slow
def test_a_print_is_shown_where_the_exercise_fails_and_under_no_other(tmp_path):
    line = "print('id is', 7); self.id = 7; self.hooks = hooks; return"
    told = shown(files_with(tmp_path, line), "05.1", "05.2", "05.3")
    first, _, rest = told.partition("05.2 ")
    assert "wrong" in first and "  │ id is 7\n" in first
    assert "id is" not in rest


@pytest.mark.slow
def test_much_output_is_cut(tmp_path):
    told = shown(files_with(tmp_path, "for i in range(5000): print('line', i, 'x' * 3000)"), "05.1")
    assert told.count("  │ line ") <= SHOWN_LINES
    assert max(map(len, told.splitlines())) < 400


@pytest.mark.slow
def test_output_while_the_files_are_imported_is_shown(tmp_path):
    told = shown(files_with(tmp_path, "print('on import')", "class RemovableHandle"), "05.1")
    assert "your files print while they are imported:\n  │ on import\n" in told


@pytest.mark.parametrize("stage", one_in(4, [each for each in course.stages() if each.holes]),
                         ids=lambda stage: stage.key)
def test_the_package_s_own_answers_print_nothing(stage):
    trial = try_files(stage, {path: stage.solution(path) for path in stage.modules}, limit=60)
    told = {each.hole.id: each.printed for each in verdicts(stage, trial, list(stage.holes))}
    assert not any(told.values()), told
