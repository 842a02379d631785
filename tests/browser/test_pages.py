"""The built site in a real browser: it loads, fetches nothing elsewhere, and can be used by all."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from minigrad_course.content.stages import find_stage
from tests.support.slow import slow_but

LESSON, EXERCISE = "lessons/02_graph/", "exercises/02_graph/"
KINDS = {"home": "", "lesson": LESSON, "exercise": EXERCISE, "api": "api/nn/conv/",
         "op": "ops/mul/", "figures": "benchmarks/"}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}


def addresses(built: Path) -> list[str]:
    """The addresses of all pages."""
    found = [path.parent.relative_to(built).as_posix() for path in built.rglob("index.html")]
    return sorted("" if address == "." else f"{address}/" for address in found)


def test_no_page_names_a_resource_elsewhere(built):
    """What a browser fetches by itself: scripts, styles, pictures, frames, fonts."""
    tag = re.compile(r"<(?:script|img|iframe|link|source|video|audio|object|embed)\b[^>]*>")
    elsewhere = re.compile(r"""\b(?:src|href|data|srcset)=["']?(?:https?:)?//""")
    own_address = '<link rel="canonical"'  # it says where the page lies; nothing fetches it
    for path in built.rglob("*.html"):
        for each in tag.findall(path.read_text(encoding="utf-8")):
            foreign = elsewhere.search(each) and not each.startswith(own_address)
            assert not foreign, f"{path.relative_to(built)}: {each}"
    for path in built.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""url\(["']?(?:https?:)?//|@import""", text), path


def test_pages_load_without_errors_and_without_requests_to_elsewhere(watched, built):
    every = addresses(built)
    # Pages from one mould are made alike: some are enough.
    alike = [address for address in every if re.match(r"(ops|source|api|exercises)/.", address)]
    chosen = [address for address in every if address not in alike] + alike[::30]
    assert len(chosen) > 45
    for address in chosen:
        page = watched.open(address)
        assert page.locator("h1").count() == 1, address
        assert not watched.problems, address


def test_links_lead_to_pages_and_places(watched, site):
    """Every link of every kind of page, within the site and within its page."""
    known: dict[str, str] = {}

    def text(address: str) -> str:
        if address not in known:
            answer = watched.page.request.get(address)
            assert answer.ok, address
            known[address] = answer.text()
        return known[address]

    for address in [*KINDS.values(), "ops/", "api/", "lessons/", "exercises/", "course/"]:
        page = watched.open(address)
        for link in page.eval_on_selector_all("a[href]", "links => links.map(a => a.href)"):
            if not link.startswith(site) or link.endswith(".ipynb"):
                continue
            target, _, place = link.partition("#")
            assert f'id="{place}"' in text(target) or not place, f"{address} leads to {link}"


def test_no_page_of_the_api_is_long(built):
    sizes = {path: path.stat().st_size for path in (built / "api").rglob("*.html")}
    assert len(sizes) > 50
    assert max(sizes.values()) < 320_000, max(sizes, key=lambda path: sizes[path])


def test_a_phone_shows_plots_whole_and_scrolls_tables_within_the_page(chromium, site):
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(f"{site}benchmarks/")
    box = page.locator("img[src*='/benchmark-']").first.bounding_box()
    assert box["x"] >= 0 and box["width"] > 300 and box["x"] + box["width"] <= 360
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    around = page.locator(".md-typeset__scrollwrap").first
    assert around.evaluate("""each => each.scrollWidth > each.clientWidth
        && getComputedStyle(each).overflowX === 'auto'
        && getComputedStyle(each).backgroundImage.split('linear-gradient').length === 5""")
    context.close()


def test_a_phone_shows_the_meanings_of_the_glossary_across_the_page(chromium, site):
    context = chromium.new_context(**{**PHONE, "viewport": {"width": 400, "height": 740}})
    page = context.new_page()
    page.goto(f"{site}glossary/")
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    meanings = page.locator(".mg-stacked td:last-child").all()
    assert len(meanings) > 90
    for meaning in meanings:
        box = meaning.bounding_box()
        assert box["width"] > 330 and box["x"] >= 0 and box["x"] + box["width"] <= 400
    context.close()


#: In the dark the same styles colour all pages, so that one of each kind will do in CI.
IN_THE_DARK = ("", "lessons/03b_backward/", "exercises/03b_backward/", "ops/mul/", "benchmarks/")


#: On a phone other things scroll and fold than on a desk.
ON_A_PHONE = ("lessons/13a_modules/", "error_messages/", "503.html")


@pytest.mark.parametrize(("address", "scheme"), slow_but(
    lambda case: case[1] != "dark" or case[0] in IN_THE_DARK,
    [(address, scheme) for address in (
        "", "lessons/03b_backward/", "exercises/03b_backward/", "api/", "api/nn/", "api/nn/conv/",
        "ops/mul/", "benchmarks/", "licences/", "glossary/")
     for scheme in ("light", "dark", "phone")]
    + [(address, "phone") for address in ON_A_PHONE]))
def test_axe_finds_no_serious_problem(chromium, site, serious, address, scheme):
    wide = {"viewport": {"width": 1280, "height": 900}, "color_scheme": scheme}
    context = chromium.new_context(**(PHONE if scheme == "phone" else wide))
    page = context.new_page()
    page.goto(site + address)
    page.locator("html[data-mg-reach]").wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    if address.startswith("exercises"):
        page.locator("html[data-mg-ready]").wait_for(state="attached")
    found = serious(page)
    levels = page.evaluate("""[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
        .filter(each => each.offsetParent).map(each => Number(each.tagName[1]))""")
    landmarks = page.locator("main").count()
    context.close()
    assert not found, "\n".join(found)
    assert landmarks == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("kind", KINDS)
def test_a_phone_shows_it_without_scrolling_sideways(chromium, site, kind):
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(site + KINDS[kind])
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    context.close()


@pytest.mark.parametrize("width", [1220, 1360, 1479])
def test_a_lesson_has_its_contents_beside_it_on_a_laptop(watched, width):
    watched.page.set_viewport_size({"width": width, "height": 800})
    page = watched.open(LESSON)
    text, contents = (page.locator(each).first.bounding_box()
                      for each in ("article", ".md-sidebar--secondary nav"))
    assert text["x"] + text["width"] <= contents["x"] and contents["x"] + contents["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".mg-block pre > code").first.bounding_box()["width"] > 770


def test_an_editor_is_as_high_as_its_text(watched):
    page = watched.open(EXERCISE)
    longest = page.locator(".mg-exercise .mg-editor").nth(2)  # more lines than a screen has
    longest.scroll_into_view_if_needed()
    longest.locator(".cm-editor").wait_for()
    room, editor = (longest.locator(each).bounding_box() for each in (".mg-code", ".cm-editor"))
    assert abs(room["height"] - editor["height"]) < 2


REACHED = """() => [...document.querySelectorAll(".md-content *")].filter((each) => {
    const style = getComputedStyle(each);
    return /auto|scroll/.test(style.overflowX) && each.scrollWidth > each.clientWidth + 1
        && each.checkVisibility() && each.tabIndex < 0
        && !each.querySelector("a, button, [tabindex]");
}).map((each) => each.textContent.slice(0, 60))"""


@pytest.mark.parametrize("address", [LESSON, "benchmarks/", "error_messages/"])
def test_a_phone_with_a_keyboard_reaches_what_scrolls_sideways(chromium, site, address):
    context = chromium.new_context(**PHONE)
    page = context.new_page()
    page.goto(site + address)
    page.locator("html[data-mg-reach]").wait_for(state="attached")
    assert page.evaluate(REACHED) == []
    context.close()


def test_the_keyboard_skips_to_the_text_and_opens_a_hint(watched):
    page = watched.open(EXERCISE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to content"
    hint = page.locator("details.mg-hint").first
    assert hint.evaluate("element => element.open") is False
    hint.locator("summary").focus()
    page.keyboard.press("Enter")
    assert hint.evaluate("element => element.open") is True


def test_a_page_of_exercises_begins_at_its_top_with_its_tools(watched):
    page = watched.open(EXERCISE)
    page.wait_for_function("document.documentElement.dataset.mgReady == 'yes'")
    page.wait_for_timeout(500)
    assert page.evaluate("scrollY") == 0
    sections = page.locator(".mg-exercise")
    assert sections.count() == len(find_stage("02").holes)
    for each in (sections.first, sections.last):  # an editor is made when its exercise comes near
        each.scroll_into_view_if_needed()
        each.locator(".cm-editor").wait_for()


def test_formulas_are_drawn_and_read_aloud(watched):
    page = watched.open("lessons/04b_reductions/")
    formulas = page.locator(".katex")
    assert formulas.count() >= 9
    assert page.locator(".katex math").count() == formulas.count()
    assert page.locator(".katex-error").count() == 0
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px KaTeX_Main'))")


def test_a_lesson_hands_its_blocks_to_the_runtime(watched):
    page = watched.open(LESSON)
    data = page.evaluate("JSON.parse(document.getElementById('mg-data').textContent)")
    assert data["stage"] == "02_graph" and data["exercises"] == "../../exercises/02_graph/"
    assert page.evaluate("root => new URL(root + '/', location).href", data["root"]) == watched.site
    for block in data["blocks"]:
        element = page.locator(f"#{block['id']}")
        assert element.get_attribute("data-kind") == block["kind"]
        code = element.locator("> .highlight code").first.text_content()
        assert code.strip() == block["code"].strip()
        if block["expected"] is not None:
            shown = element.locator(".mg-output").text_content()
            assert shown.strip() == block["expected"].strip()


@pytest.mark.slow
def test_the_text_of_a_lesson_is_there_within_a_second(watched):
    page = watched.open(LESSON, wait="domcontentloaded")
    painted = page.evaluate("""new Promise(done => new PerformanceObserver(list =>
        done(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))""")
    assert painted < 3000  # a second on a machine of its own; CI's may be busy


def test_the_list_of_operations_is_filtered(watched):
    page = watched.open("ops/")
    field = page.get_by_role("searchbox", name="Filter the tables")
    rows = page.locator("article tbody tr:visible")
    everything = rows.count()
    field.fill("hyperbolic tangent")
    found = rows.all_inner_texts()
    assert 0 < len(found) < 20 < everything and any(text.startswith("tanh") for text in found)
    assert page.get_by_role("status").filter(has_text=f"{len(found)} found").count() == 1
    field.fill("")
    assert rows.count() == everything


def test_no_label_of_a_plot_is_cut_off(chromium, built):
    page = chromium.new_page(viewport={"width": 1000, "height": 1200})
    plots = sorted((built / "assets").glob("benchmark-*.svg"))
    assert len(plots) > 4
    for plot in plots:
        page.goto(plot.resolve().as_uri())
        assert page.evaluate("""[...document.querySelectorAll("text")].filter((text) => {
            const box = text.getBBox(), all = document.documentElement.viewBox.baseVal
            return box.x < 0 || box.x + box.width > all.width || box.y + box.height > all.height
        }).map((text) => text.textContent)""") == [], plot.name
    page.close()
