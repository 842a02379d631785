"""A walk through a stage in a pseudo-terminal, as a learner takes it.

For each exercise a known mistake is saved, keys are pressed at random moments, then the answer is
saved. Each mistake has to be told in its own sentence, each answer solved, and the terminal left in
order. `make walk` walks all stages, `make walk STAGES=05,06b` some; `make test-all` walks one.
"""

from __future__ import annotations

import ast
import os
import random
import re

import pytest

pytest.importorskip("merge3", reason="the course's commands need the extra 'course'")
pytest.importorskip("pexpect.fdpexpect", reason="types into a pseudo-terminal")
pytest.importorskip("termios", reason="types into a pseudo-terminal")

import pexpect

from minigrad_course.content.selection import stages_named
from minigrad_course.content.source import blank, module, mutated
from minigrad_course.content.stages import find_stage, stages
from minigrad_course.learner.workspace import make_workspace
from tests.support.terminal import learning

ASKED = os.environ.get("MINIGRAD_WALK", "10")
WALKED = [stage for stage in (stages() if ASKED == "all" else stages_named(ASKED)) if stage.holes]


def save(space, stage, later, texts):
    """Save the stage's files with the exercises `later` still open, `texts` in place of some.

    A file that would not change is not written.
    """
    for path in stage.modules:
        text = blank(stage, path, later)
        if path in texts:
            text = opened(text, texts[path], stage, path, later)
        file = stage.exercise(path, space.exercises)
        if file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def opened(blanked, whole, stage, path, later):
    """Return the text `whole` with the exercises `later` as they are in `blanked`."""
    lines = whole.splitlines()
    spans = []
    for hole in later:
        for symbol in (each.partition(":")[2] for each in hole.symbols
                       if each.startswith(f"{path}:")):
            spans.append((span(whole, symbol), span(blanked, symbol)))
    for (first, last), (begin, end) in sorted(spans, reverse=True):
        lines[first - 1 : last] = blanked.splitlines()[begin - 1 : end]
    return "\n".join(lines) + "\n"


def span(text, symbol):
    body = ast.parse(text).body
    for name in symbol.split("."):
        found = next(each for each in body if getattr(each, "name", "") == name)
        body = found.body
    return found.body[0].lineno, found.end_lineno


def wait_for(terminal, wanted, dice):
    """Read the screen until `wanted` is there; harmless keys are pressed meanwhile."""
    for _ in range(240):
        if dice.random() < 0.1:
            terminal.send(dice.choice("hl"))
        try:
            terminal.screen.expect(wanted, timeout=1)
        except pexpect.TIMEOUT:
            continue
        return
    raise AssertionError(f"{wanted!r} did not come; the screen has {terminal.screen.before!r}")


def told(terminal, sentence):
    """Read on until the screen has a sentence, which it may have wrapped."""
    wanted = r"\s+".join(map(re.escape, sentence.split()))
    terminal.expect(wanted, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("stage", WALKED, ids=lambda stage: stage.key)
def test_a_stage_is_walked(stage, tmp_path):
    dice = random.Random(stage.key)
    space = make_workspace(tmp_path / "engine", [find_stage(stage.number)])
    with learning(space, "--from", stage.number) as terminal:
        terminal.expect("q quit", timeout=120)
        for position, hole in enumerate(stage.holes):
            later = list(stage.holes[position + 1 :])
            later = [each for each in later if each.id not in hole.needs]
            mistakes = [each for each in hole.mutants if each.symptom]
            if mistakes:
                mistake = dice.choice(mistakes)
                save(space, stage, later, mutated(stage, hole, mistake))
                wait_for(terminal, rf"wrong +{re.escape(hole.id)}", dice)
                told(terminal, stage.words["symptoms"][mistake.symptom].partition("`")[0][:60])
                terminal.expect("q quit", timeout=60)
            save(space, stage, later, {path: module(stage.package, path).text
                                       for path in stage.modules})
            wait_for(terminal, rf"solved +{re.escape(hole.id)}", dice)
            terminal.expect("q quit", timeout=120)
        terminal.send("q")
        assert terminal.left() == 0
