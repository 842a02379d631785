"""A screen reader finds roles, names and live regions in the figures and in a verdict."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.test_lesson_exercises import exercise
from tests.browser.test_runtime import opened, write
from tests.support.slow import slow_but

#: The figures that readers meet first or most often, by the page that has them.
MOST_USED = {"live-graph": "lessons/00_chain_rule/", "nudge": "lessons/00_chain_rule/",
             "stepper": "lessons/03_engine/", "broadcast": "lessons/04a_elementwise/",
             "memory": "lessons/06_saved/", "digit": "lessons/14_capstone/"}
#: The button that changes one without a slider that does.
PRESSED = {"stepper": "One step on", "digit": "a 4"}
#: Roles of what can be changed; each needs a name to be spoken of.
OPERATED = {"button", "checkbox", "slider", "spinbutton", "textbox"}


@pytest.mark.parametrize(("name", "address"), slow_but(2, list(MOST_USED.items())))
def test_a_figure_is_a_named_group_of_named_controls_with_its_sentence_told(watched, name, address):
    page = watched.open(address)
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    figure = page.locator(f"#figure-{name}")
    tree = figure.aria_snapshot()
    first = tree.splitlines()[0]
    assert re.match(r'- group ".{10,}"', first), first
    found = re.findall(r'^ *- (\w+)(?: "([^"]*)")?', tree, re.M)
    roles = {role for role, _ in found}
    assert roles & OPERATED
    assert [role for role, words in found if role in OPERATED and not words] == []
    assert "paragraph" in roles  # what it shows, in a sentence
    assert figure.locator("svg[role=img], svg[role=group]").first.get_attribute("aria-label")
    live = figure.locator(".mg-aloud")
    assert live.get_attribute("aria-live") == "polite" and live.inner_text() == ""
    if name in PRESSED:
        figure.get_by_role("button", name=PRESSED[name], exact=True).click()
    elif name == "broadcast":
        figure.get_by_role("textbox", name="shape of a").fill("4")
    else:
        figure.locator("input[type=range]").first.press("ArrowRight")
    page.wait_for_function("figure => figure.querySelector('.mg-aloud').textContent",
                           arg=figure.element_handle())
    assert live.inner_text().strip() == figure.locator(".mg-says").inner_text().strip()


@pytest.mark.slow
def test_a_verdict_is_told_in_a_live_region_with_names_for_all_that_is_pressed(watched):
    page = opened(watched, "lessons/00_chain_rule/")
    section = exercise(page, "00.1")
    group = section.get_by_role("group", name="Exercise 00.1", exact=True)
    names = group.get_by_role("button").all_inner_texts()
    assert names == ["Run tests", "Try it", "Whole file", "Start over", "Solution"]
    whole: Any = group.get_by_role("button", name="Whole file")
    assert whole.get_attribute("aria-pressed") == "false"
    assert section.get_by_role("textbox", name=re.compile("tiny.py, for exercise 00.1")).count()
    write(page, section, "def slope(f, x, eps=1e-6):\n    return unknown(f)")
    page.keyboard.press("Control+Enter")
    told = section.locator('.mg-results[aria-live="polite"]')
    told.locator(".mg-verdict").wait_for()
    tree = told.aria_snapshot()
    assert "Wrong" in tree and "tests of 00.1 Measure a slope fail" in tree
    found = re.findall(r'^ *- (\w+)(?: "([^"]*)")?', tree, re.M)
    assert ("button", "tiny.py, line 29") in found
    assert [role for role, words in found if role == "button" and not words] == []
