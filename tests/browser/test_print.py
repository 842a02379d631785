"""A printed lesson gives no answers away and has no controls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

LESSON = "lessons/00_chain_rule/"
SEEN = """(selector) => [...document.querySelectorAll(selector)]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height > 0).length"""


@pytest.fixture(scope="module", params=["light", "dark"])
def printed(chromium: Any, site: str, request: Any) -> Iterator[Any]:
    """A lesson as it is printed: the theme unfolds everything for that, as this does."""
    page = chromium.new_page(viewport={"width": 720, "height": 1000}, color_scheme=request.param)
    page.goto(site + LESSON)
    page.locator("html[data-mg-widgets]").wait_for(state="attached")
    page.locator(".mg-hint summary").first.evaluate("each => each.click()")  # this one is opened
    page.emulate_media(media="print", color_scheme=request.param)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    yield page
    page.close()


def test_answers_and_hints_stay_folded_but_those_that_the_reader_opened(printed):
    assert printed.evaluate(SEEN, "details > summary") > 20
    assert printed.evaluate(SEEN, "details.mg-opened > :not(summary)") > 0
    assert printed.evaluate(SEEN, "details:not(.mg-opened) > :not(summary)") == 0


def test_no_header_and_no_control_is_printed(printed):
    assert printed.evaluate(SEEN, ".mg-widget svg, .mg-figure svg") > 3
    assert printed.evaluate(SEEN, ".md-header, .md-footer, input, button, textarea") == 0


def test_no_figure_and_no_block_of_code_is_broken(printed):
    breaks = printed.eval_on_selector_all(
        ".mg-widget, .mg-figure, .mg-block, pre",
        "all => all.map((each) => getComputedStyle(each).breakInside)")
    assert set(breaks) == {"avoid"}


def test_paper_is_light(printed):
    printed.wait_for_function("document.body.dataset.mdColorScheme === 'default'")
    ink = printed.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 64
    printed.emulate_media(media="screen")
    printed.wait_for_function("""document.body.dataset.mdColorScheme
        === (matchMedia("(prefers-color-scheme: dark)").matches ? "slate" : "default")""")
