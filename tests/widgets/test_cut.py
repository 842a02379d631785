"""The figure that moves the cut through a joint program, beside minigrad's partition."""

from __future__ import annotations

import html

import cut_choices
import pytest

from minigrad.aot.partition import at_level, partition


def test_the_script_writes_what_the_figure_imports():
    assert cut_choices.FILE.read_text(encoding="utf-8") == cut_choices.written(
        cut_choices.recorded())


@pytest.mark.parametrize("budget", cut_choices.BUDGETS)
def test_a_budget_leads_to_the_cut_that_minigrad_makes(model, budget):
    recorded = cut_choices.recorded()
    found, shown = partition(recorded, budget / 100), model("cut", budget=budget)
    assert shown["bytes"] == found.saved_bytes
    assert shown["most"] == at_level(recorded, 0).saved_bytes
    made = [v for step in recorded.forward for v in step.outputs]
    assert shown["saved"] == [cut_choices.NAMES.get(v.name, v.name) for v in made
                              if any(v is each for each in found.saved)]
    again = [step for step in found.backward if any(step is each for each in recorded.forward)]
    assert shown["recomputed"] == [cut_choices.NAMES.get(v.name, v.name) for step in again
                                   for v in step.outputs]


def test_with_everything_saved_nothing_is_computed_again(model):
    shown = model("cut", all=True, budget=30)
    assert shown["bytes"] == shown["most"] and not shown["again"]


def test_a_step_reads_what_is_saved_or_made_before_it(model):
    for budget in cut_choices.BUDGETS:
        shown = model("cut", budget=budget)
        known = set(shown["saved"])
        for step in shown["backward"]:
            assert known.issuperset(step["reads"])
            known.update(step["gives"])
        assert {step["grad"] for step in shown["backward"]} >= {"w", "wq", "wk"}


def test_the_figure_is_told_in_words(figures):
    told = html.unescape(figures.ask({"draw": "cut", "options": {"budget": "40"}, "name": "cut"}))
    assert "the minimum cut saves <code>q</code>, <code>k</code> and <code>result</code>" in told
    assert "silu, 2048 bytes, not saved" in told
