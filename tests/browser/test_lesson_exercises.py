"""Exercises within their lesson, what the reader writes there, and what is kept of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from tests.browser.test_runtime import opened, write

SLOPE = """def slope(f, x, eps=1e-6):
    print("here", x)
    return (f(x + eps) - f(x - eps)) / (2 * eps)"""
WORK = "localStorage['minigrad/work/00_chain_rule/tiny.py']"


def exercise(page: Any, hole: str) -> Any:
    """The section of an exercise, with its editor open."""
    section = page.locator(f'[data-hole="{hole}"]')
    section.scroll_into_view_if_needed()
    section.locator(".cm-content").first.wait_for()
    return section


def test_an_exercise_is_solved_where_the_lesson_asks_for_it_and_leads_on(watched):
    page = opened(watched, "lessons/00_chain_rule/")
    blocks = page.locator(".mg-block:has(.mg-tools)")
    blocks.first.get_by_role("button", name="Edit").click()
    write(page, blocks.first, "kept = 5")
    page.keyboard.press("Control+Enter")
    blocks.first.locator(".mg-result", has_text="your code").wait_for()

    # the function alone; what is folded is not selected with it, and stays
    section = exercise(page, "00.1")
    assert "class Number" not in section.locator(".cm-content").inner_text()
    write(page, section, SLOPE)
    assert page.evaluate(f"{WORK}.includes('class Number') && {WORK}.includes('print(\"here\"')")
    page.keyboard.press("Control+Enter")
    section.locator('.mg-verdict[data-state="solved"]').wait_for()
    assert section.locator(".mg-printed").inner_text().startswith("here 3.0")
    assert section.locator(".mg-title.mg-done").count() == 1
    way = section.locator(".mg-way")
    assert "1 of 6 exercises of stage 00 are yours" in way.inner_text()
    assert way.get_by_role("link").get_attribute("href") == "#ex-00-2"

    seen = "each => getComputedStyle(each).opacity"
    assert section.get_by_role("button", name="Try it").evaluate(seen) == "1"

    # the scratch cell runs what was written, before it is tested again too
    scratch = section.locator(".mg-scratch")
    scratch.locator(".mg-result", has_text="ran on your engine").wait_for()
    assert scratch.locator(".mg-out").inner_text().split("\n")[:2] == ["here 3.0", "6.0"]
    section.get_by_role("button", name="Start over").focus()
    other = exercise(page, "00.2")
    write(page, other, "def add(a, b):\nreturn 'mine'")
    section.get_by_role("button", name="Start over").click()
    assert "00.1 alone" in page.locator(".mg-dialog").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".mg-dialog").count() == 0
    assert page.evaluate(f"{WORK}.includes('\"here\"')")
    section.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Exercise 00.1 alone").click()
    assert page.evaluate(f"!{WORK}.includes('\"here\"') && {WORK}.includes('mine')")
    other.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="Exercise 00.2 alone").click()
    assert page.evaluate(WORK) is None
    write(page, other, "def add(a, b):\n    return 'mine'")
    section.get_by_role("button", name="Start over").click()
    page.get_by_role("button", name="The whole file tiny.py").click()
    assert page.evaluate(WORK) is None
    assert [section.locator(".mg-editor > .mg-code .mg-fold").count(),
            other.locator(".mg-editor > .mg-code .mg-fold").count()] == [2, 3]
    scratch.get_by_role("button", name="Run", exact=True).click()
    error = scratch.locator(".mg-error", has_text="00.1 Measure a slope is yours to write")
    error.wait_for()

    # tests are interrupted as a block is: Python goes on
    write(page, section, "def slope(f, x, eps=1e-6):\n    while True:\n        pass")
    page.keyboard.press("Control+Enter")
    section.locator(".mg-results", has_text="The tests run").wait_for()
    page.wait_for_timeout(1000)
    section.get_by_role("button", name="Stop").click()
    section.locator(".mg-results", has_text="Stopped.").wait_for()

    # the lesson's own names and package are as they were before the tests
    write(page, blocks.first,
          "import minigrad.tiny\nprint(kept, minigrad.tiny.slope(abs, 3.0) > 0)")
    page.keyboard.press("Control+Enter")
    blocks.first.locator(".mg-out", has_text="5 True").wait_for()


def test_what_is_not_python_is_said_with_the_readers_line_in_a_lesson(watched):
    page = opened(watched, "lessons/00_chain_rule/#ex-00-1")
    section = exercise(page, "00.1")
    write(page, section, "def slope(f, x, eps=1e-6):\n    return (f(x")
    page.keyboard.press("Control+Enter")
    section.locator('.mg-verdict[data-state="wrong"]').wait_for()
    assert "'(' was never closed (tiny.py, line 29)" in section.inner_text()
    assert "/tmp/" not in section.inner_text()
    assert page.locator(".mg-marked").all_inner_texts() == ["    return (f(x"]


def test_what_is_folded_stays_after_a_syntax_error_and_what_is_gone_is_named(watched):
    page = opened(watched, "lessons/00_chain_rule/#ex-00-1")
    section = exercise(page, "00.1")
    write(page, section, "def slope(f, x, eps=1e-6):\nreturn 3")
    page.keyboard.press("Control+Enter")
    section.locator('.mg-verdict[data-state="wrong"]').wait_for()
    assert page.locator(".mg-marked").all_inner_texts() == ["return 3"]
    assert section.locator(".mg-fold").count() == 2
    assert section.locator(".mg-gone").count() == 0
    write(page, section, "def slope(f, x, eps=1e-6):\n    return (f(x + eps) - f(x)) / eps")
    page.keyboard.press("Control+Enter")
    diagnosis = section.locator(".mg-diagnosis")
    diagnosis.locator("code").first.wait_for()
    assert "`" not in diagnosis.inner_text()
    write(page, section, f"{SLOPE}\n    ")
    page.keyboard.type("slo")
    page.locator(".cm-tooltip-autocomplete").wait_for()
    page.keyboard.press("Control+Enter")
    section.locator('.mg-verdict[data-state="solved"]').wait_for()
    assert page.locator(".cm-tooltip-autocomplete").count() == 0
    assert page.evaluate(f"{WORK}.includes('class Number') && !{WORK}.includes('return 3')")

    # an exercise of two functions: the exercises folded between them stay
    other = exercise(page, "00.6")
    write(page, other, "def backward(self):\n        pass")
    assert page.evaluate(f"{WORK}.includes('def gradients') && {WORK}.includes('def descend')")

    section.get_by_role("button", name="Whole file").click()
    section.locator(".mg-fold").first.wait_for(state="detached")
    write(page, section, SLOPE)
    page.keyboard.press("Control+Enter")
    gone = section.locator(".mg-gone")
    assert "Number, _number, add and" in gone.inner_text()
    assert "are no longer in tiny.py: “Start over”" in gone.inner_text()


def test_two_tabs_show_the_same_and_neither_loses_what_the_other_wrote(watched):
    first = opened(watched, "lessons/00_chain_rule/")
    other = first.context.new_page()
    other.goto(f"{watched.site}exercises/00_chain_rule/")
    theirs = exercise(other, "00.2")
    write(first, exercise(first, "00.1"), SLOPE)
    mine = exercise(other, "00.1")  # lines that are out of sight are not drawn
    mine.locator(".cm-content").get_by_text("here").wait_for()
    write(other, theirs, "def add(a, b):\n    return 'theirs'")
    exercise(first, "00.2").locator(".cm-content").get_by_text("theirs").wait_for()
    kept = other.evaluate(WORK)
    assert '"here"' in kept and "'theirs'" in kept


def test_edits_of_blocks_and_guesses_are_there_after_a_reload(watched):
    page = opened(watched, "lessons/02_graph/")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, "print('mine')")
    asked = page.locator(".mg-block:has(.mg-predict)").first
    asked.locator(".mg-guess").fill("no idea")
    right = asked.locator(".mg-output").text_content().strip()

    page.reload()
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    block.locator(".cm-content", has_text="mine").wait_for()
    assert "your version" in block.locator(".mg-result").inner_text()
    assert asked.locator(".mg-guess").input_value() == "no idea"
    kept = page.evaluate("JSON.parse(localStorage['minigrad/progress'])")
    assert [*kept["guesses"]["02_graph"].values()] == ["no idea"]
    asked.locator("summary").click()
    assert asked.locator(".mg-judged").inner_text() == "compare it with yours"
    asked.locator("summary").click()
    asked.locator(".mg-guess").fill(f"  {right}\n")
    asked.locator("summary").click()
    assert asked.locator(".mg-judged").inner_text() == "✓ as you said"

    block.get_by_role("button", name="Reset").click()
    page.reload()
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    assert block.locator(".cm-content").count() == 0


SHIFT = """new Promise(done => {
    let sum = 0;
    new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 1500);
})"""


@pytest.mark.parametrize(("address", "place"), [
    ("lessons/03_engine/", "ex-03-6"), ("exercises/03_engine/", "ex-03-6"),
    ("exercises/04b_reductions/", "ex-04b-6"), ("lessons/00_chain_rule/", "")])
def test_a_link_to_an_exercise_lands_there_and_nothing_moves(watched, address, place):
    page = opened(watched, f"{address}#{place}")
    shift = page.evaluate(SHIFT)
    assert shift < 0.1
    if place:
        section = page.locator(f"#{place}")
        section.locator(".cm-content").first.wait_for()
        top = section.evaluate("each => each.getBoundingClientRect().top")
        assert 0 < top < 200, json.dumps(top)


SHIFT_BY_SCROLLING = """async () => {
    let sum = 0;
    new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
    }).observe({type: "layout-shift"});
    for (let y = scrollY; y > 0; y -= 300) {
        scrollTo({top: y, behavior: "instant"});
        await new Promise(done => setTimeout(done, 60));
    }
    return sum;
}"""


def test_nothing_moves_while_a_reader_scrolls_past_editors_not_seen_before(watched):
    page = opened(watched, "exercises/04b_reductions/#ex-04b-6")
    page.locator("#ex-04b-6 .cm-content").first.wait_for()
    assert page.evaluate("scrollY") > 3000
    assert page.evaluate(SHIFT_BY_SCROLLING) < 0.1  # 0.4 where unseen lines go on below


def test_progress_is_marked_wherever_a_link_leads_and_the_way_on_is_shown(watched):
    solved = {f"00.{number}": {"solved": "2026-01-01 10:00 UTC"} for number in range(1, 7)}
    solved |= {"03.1": {"solved": "2026-01-02 10:00 UTC"}, "03.3": {"hints": 1}}
    watched.page.add_init_script("localStorage['minigrad/progress'] ??= " + json.dumps(json.dumps(
        {"form": 1, "minigrad": "", "holes": solved})))
    page = watched.open("lessons/03_engine/")
    lesson = page.locator('.md-nav--primary a[href$="00_chain_rule/"]')
    page.wait_for_function("document.querySelector('[data-mg-done]') !== null")
    assert lesson.first.get_attribute("data-mg-done") == "all"
    turns = page.locator(".md-nav--secondary a", has_text="Your turn")
    marks = turns.evaluate_all("all => all.map(each => each.dataset.mgDone ?? '')")
    assert marks[:2] == ["all", ""]
    page = watched.open("lessons/")
    way = page.locator(".mg-continue a")
    way.wait_for()
    assert way.inner_text().startswith("Continue with 03.2 ")
    page = watched.open("course/")
    way.wait_for()
    marks = page.locator('td a[href$="03_engine/"]')
    assert marks.first.get_attribute("data-mg-done") == "1/8"
    way.click()
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    assert page.url.endswith("lessons/03_engine/#ex-03-2")
    page = watched.open("")
    page.locator("a[data-start]", has_text="Continue with 03.2").wait_for()


@pytest.mark.parametrize("address", [
    "lessons/00_chain_rule/", "lessons/13b_optimizers/", "exercises/04d_declaration/"])
def test_a_phone_shows_a_page_of_exercises_without_scrolling_sideways(watched, address):
    watched.page.set_viewport_size({"width": 390, "height": 844})
    page = opened(watched, address)
    exercise(page, page.locator(".mg-exercise").first.get_attribute("data-hole"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_code_that_asks_or_ends_python_is_answered_in_words(watched):
    page = opened(watched, "lessons/02_graph/")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, "x = input('How many? ')")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-error", has_text="input() waits for a keyboard").wait_for()
    assert block.locator(".mg-result").inner_text() == "your code ended with an error"
    write(page, block, "import os\nos._exit(3)")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-result", has_text="the code ended Python itself").wait_for()
    write(page, block, "print('again')")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-out", has_text="again").wait_for()


CUT = """[...document.querySelectorAll("main pre > code, main .cm-scroller")].filter(
    each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
    .map(each => each.textContent.slice(0, 200))"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1479, "dark"), (1920, "light")])
@pytest.mark.parametrize("address", ["lessons/06b_functions_in_place/", "exercises/03_engine/"])
def test_a_line_of_code_is_seen_whole(chromium, site, address, width, scheme):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme,
                                   service_workers="block")
    page = context.new_page()
    page.goto(site + address)
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    editor = page.locator(".mg-exercise .mg-editor").first
    editor.scroll_into_view_if_needed()
    editor.locator(".cm-lineWrapping").wait_for()  # from the frame after it is seen
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    editor.locator(".cm-line", has_text="raise NotImplementedError").first.wait_for()
    heights = editor.locator(".cm-line").evaluate_all("""all => all.filter(
        each => each.textContent.length <= 100 && each.offsetHeight)
        .map(each => each.offsetHeight)""")
    assert len(heights) > 10 and max(heights) < 1.5 * min(heights)  # none goes on below
    context.close()


def test_on_a_phone_the_lines_of_an_editor_go_on_below(chromium, site):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, is_mobile=True,
                                   has_touch=True, service_workers="block")
    page = context.new_page()
    page.goto(f"{site}exercises/03_engine/")
    editor = page.locator(".mg-exercise .mg-editor").first
    editor.scroll_into_view_if_needed()
    line = editor.locator(".cm-line", has_text="At the node of a leaf, add the gradient")
    line.wait_for()
    editor.locator(".cm-lineWrapping").wait_for()
    assert page.evaluate(CUT) == []
    rows, indents = line.evaluate("""each => {
        const range = document.createRange()
        range.selectNodeContents(each)
        const rects = [...range.getClientRects()].filter(rect => rect.width > 1)
        const rows = [...new Set(rects.map(rect => Math.round(rect.top)))]
        return [rows.length, each.firstChild && [each.textContent.search(/\\S/),
            getComputedStyle(each).textIndent]]
    }""")
    assert rows > 2 and indents[0] == 8 and indents[1].startswith("-")  # further in below
    context.close()
