"""Check the form of a task: it describes the goal, and does not dictate the code.

A task has a sentence or two of purpose, examples with numbers, at most four things to mind, and
names to use:

    Several gradients may arrive for one output. Keep their sum in `self.grads[index]`.
      buffer.add(0, g1)          -> buffer.grads[0] is g1
      then buffer.add(0, g2)     -> buffer.grads[0] equals g1 + g2; g1 and g2 are unchanged
    Mind:
    - Never write to an array that you receive, because it belongs to the caller.
    Use: `combine(current, grad)`, given above.

For each graded test, `[rules]` in lessons/NN_name.toml quotes the words that state what the test
expects: a few words of the task, an example, or a docstring of the exercise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..content.lesson_blocks import parse
from ..content.source import answer_lines, module, parts
from ..content.stages import Hole, Stage

__all__ = ["MOST_EXAMPLES", "MOST_LINES", "MOST_MINDED", "MOST_WORDS", "faults", "form_faults",
           "graded_tests", "minutes_needed", "rule_faults", "time_faults", "words_of_prose"]

#: The maximum of: words of prose, things to mind, lines of examples, lines to write.
MOST_WORDS, MOST_MINDED, MOST_EXAMPLES, MOST_LINES = 90, 4, 6, 25

#: Reading speed in words per minute in a second language, and the minutes per exercise and per line
#: of its answer, as reported by people who took stages for the first time (2026-11-24).
READING_SPEED, MINUTES_AN_EXERCISE, MINUTES_A_LINE = 150, 6, 0.6


def faults(stage: Stage) -> list[str]:
    """Return all faults in a stage's tasks and time; skip a stage without exercises."""
    if not stage.holes:
        return []
    return [*(fault for hole in stage.holes for fault in form_faults(stage, hole)),
            *rule_faults(stage), *time_faults(stage)]


def form_faults(stage: Stage, hole: Hole) -> list[str]:
    """Return what a task has too much of: words, items, examples or lines to write."""
    found = parts(stage.words["hole"][hole.id]["task"])
    of_kind = {kind: [part for each, part in found if each == kind]
               for kind in ("prose", "item", "example")}
    counts = (
        ("words of prose", words_of_prose(stage, hole), MOST_WORDS),
        ("things to mind", len(of_kind["item"]), MOST_MINDED),
        ("lines of examples", len(of_kind["example"]), MOST_EXAMPLES),
        ("lines to write", answer_lines(stage, hole), MOST_LINES),
    )
    return [f"{hole.id}: {count} {what}, at most {most}"
            for what, count, most in counts if count > most]


def words_of_prose(stage: Stage, hole: Hole) -> int:
    """Count the words of a task without its examples."""
    return sum(len(part.split()) for kind, part in parts(stage.words["hole"][hole.id]["task"])
               if kind != "example")


def minutes_needed(stage: Stage) -> int:
    """Return the minutes for the lesson (without folded answers) and its exercises, in tens."""
    text = "\n".join(block.text for block in parse(stage.text(), stage.key)
                     if block.kind == "text")
    words = len(re.sub(r"(?s)<details.*?</details>|<!--.*?-->", "", text).split())
    exercises = sum(MINUTES_AN_EXERCISE + MINUTES_A_LINE * answer_lines(stage, hole)
                    for hole in stage.holes)
    return round((words / READING_SPEED + exercises) / 10) * 10


def time_faults(stage: Stage) -> list[str]:
    """Return a fault if the stated minutes of a stage are far from the estimate."""
    needed = minutes_needed(stage)
    return [] if abs(stage.minutes - needed) <= 10 else [
        f"{stage.key}: minutes is {stage.minutes}, but the estimate is about {needed}"]


def rule_faults(stage: Stage) -> list[str]:
    """Return the graded tests that expect something that the exercise does not say.

    Each test needs an entry in `[rules]` that quotes at least three words of a task or docstring.
    """
    rules: dict[str, str] = stage.words.get("rules", {})
    tests = {name for id, names in graded_tests(stage).items() if id != stage.number
             for name in names}
    text = _plain(" ".join(_told(stage)))
    faults = [f"{name}: no rule quotes what tells a learner what it expects"
              for name in sorted(tests - rules.keys())]
    faults += [f"{name}: a rule for a test that does not exist"
               for name in sorted(rules.keys() - tests)]
    for name, quote in rules.items():
        if len(quote.split()) < 3:
            faults.append(f"{name}: a rule must quote at least three words, not {quote!r}")
        elif _plain(quote) not in text:
            faults.append(f"{name}: neither a task nor a docstring of the exercise has {quote!r}")
    return faults


def graded_tests(stage: Stage) -> dict[str, list[str]]:
    """Return the names of the tests marked for each exercise."""
    found: dict[str, list[str]] = {hole.id: [] for hole in stage.holes}
    tree = ast.parse(stage.tests.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for id in _marked(node):
                found.setdefault(id, []).append(node.name)
    return found


def _marked(test: ast.FunctionDef) -> Iterator[str]:
    for each in test.decorator_list:
        if isinstance(each, ast.Call) and ast.unparse(each.func).endswith("hole"):
            yield from (str(arg.value) for arg in each.args if isinstance(arg, ast.Constant))


def _told(stage: Stage) -> Iterator[str]:
    """Yield everything an exercise tells a learner: tasks, and docstrings of its modules."""
    for hole in stage.holes:
        words = stage.words["hole"][hole.id]
        yield f"{words['title']} {words['task']}"
    for path in stage.modules:
        for node in ast.walk(module(stage.package, path).tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield ast.get_docstring(node) or ""


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())
