"""Tasks ask: their form, and where a learner reads what a graded test asks for."""

import re
from dataclasses import replace
from statistics import median

import pytest

from minigrad_course.content.source import parts, wrapped_task
from minigrad_course.content.stages import find_stage, stages
from minigrad_course.dev import form

WITH_TASKS = [stage for stage in stages() if stage.holes]


@pytest.mark.parametrize("stage", WITH_TASKS, ids=lambda stage: stage.key)
def test_tasks_have_the_form(stage):
    assert form.faults(stage) == []


def test_the_usual_task_is_short():
    """At most 60 words: half of all tasks are no longer."""
    words = [form.words_of_prose(stage, hole) for stage in WITH_TASKS for hole in stage.holes]
    assert median(words) <= 60


def test_a_stage_says_the_time_that_it_takes():
    stage = find_stage("07")
    needed = form.minutes_needed(stage)
    assert form.time_faults(replace(stage, minutes=needed + 10)) == []
    assert form.time_faults(replace(stage, minutes=10)) == [
        f"07_grad_mode: minutes is 10, but the estimate is about {needed}"]


@pytest.mark.parametrize("stage", stages(), ids=lambda stage: stage.key)
def test_a_lesson_has_its_title_and_numbers_its_sections(stage):
    title, *headings = re.findall(r"^##? .*$", re.sub(r"^(`{3,}).*?^\1$", "", stage.text(),
                                                     flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    assert title == f"# {stage.words['title']}"
    numbered = headings[: headings.index("## Where PyTorch keeps this")]
    assert [each.partition(". ")[0] for each in numbered] == [
        f"## {number}" for number in range(1, len(numbered) + 1)]


def changed(**words):
    """Stage 07 with other words: its tasks, or its rules."""
    stage = find_stage("07")
    other = replace(stage)
    other.__dict__["words"] = {**stage.words, **words}
    return other


@pytest.mark.parametrize(("task", "said"), [
    ("word " * 91, "91 words of prose, at most 90"),
    ("Do.\nMind:\n" + "- This.\n" * 5, "5 things to mind, at most 4"),
    ("Do.\n" + "  f(1) -> 2\n" * 7, "7 lines of examples, at most 6"),
])
def test_a_task_that_leaves_the_form_is_named(task, said):
    stage = changed(hole={"07.1": {"title": "T", "task": task, "hints": []}})
    assert form.form_faults(stage, stage.holes[0]) == [f"07.1: {said}"]


def test_examples_do_not_count_as_words():
    task = "Say it.\n" + "  one two three\n" * 6
    stage = changed(hole={"07.1": {"title": "T", "task": task, "hints": []}})
    assert form.words_of_prose(stage, stage.holes[0]) == 2
    assert form.form_faults(stage, stage.holes[0]) == []


def test_a_hole_that_is_too_long_is_named(monkeypatch):
    monkeypatch.setattr(form, "MOST_LINES", 1)
    stage = changed(hole={"07.1": {"title": "T", "task": "Do.", "hints": []}})
    assert form.form_faults(stage, stage.holes[0]) == ["07.1: 4 lines to write, at most 1"]


def test_each_graded_test_has_a_rule_that_can_be_read():
    stage = find_stage("07")
    tests = [name for names in form.graded_tests(stage).values() for name in names]
    assert len(tests) > 10 and all(name.startswith("test_") for name in tests)
    quote = "Return whether operations are recorded"
    good = dict.fromkeys(tests, quote)
    assert form.rule_faults(changed(rules=good)) == []
    first, second, third, *_ = tests
    bad = {**good, second: "Return whether", third: "no page says so", "test_gone": quote}
    del bad[first]
    assert form.rule_faults(changed(rules=bad)) == [
        f"{first}: no rule quotes what tells a learner what it expects",
        "test_gone: a rule for a test that does not exist",
        f"{second}: a rule must quote at least three words, not 'Return whether'",
        f"{third}: neither a task nor a docstring of the exercise has 'no page says so'"]


def test_a_task_is_filled_paragraph_by_paragraph():
    task = "Keep\nthe sum.\n  add(1, 2) -> 3\nMind:\n- " + "long " * 20 + "\n- Short.\nUse: `f`."
    kinds = [kind for kind, _ in parts(task)]
    assert kinds == ["prose", "example", "prose", "item", "item", "prose"]
    lines = wrapped_task(task)
    assert lines[:3] == ["Keep the sum.", "  add(1, 2) -> 3", "Mind:"]
    assert lines[3].startswith("- long") and lines[4].startswith("  long")
    assert lines[5:] == ["- Short.", "Use: `f`."] and max(map(len, lines)) <= 84
