"""The site's figures in a browser: by pointer, by keys, by address, and without a script."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote

import pytest

from minigrad_course.content.stages import find_stage, stages
from tests.support.slow import slow_but

GRAPH = "lessons/00_chain_rule/"


HALVED = ("step 1\n  forward 1\n    conv2d 6\n    relu 1\n  backward 1\n    ReluBackward0 2\n"
          "    ConvolutionBackward0 5.5\n  optimizer 3")
WAITS = "step 1\n  forward 1\n    item 14\n    matmul 2\n  backward 1\n    MmBackward0 4"


def opened(watched: Any, address: str) -> Any:
    page = watched.open(address)
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    return page


def says(page: Any, name: str = "live-graph") -> str:
    return page.locator(f"#figure-{name} .mg-says").inner_text()


def test_a_first_touch_changes_the_graph_on_the_home_page(watched):
    page = opened(watched, "")
    assert "= 40" in says(page)
    page.get_by_label("b", exact=True).first.focus()
    page.keyboard.press("ArrowRight")
    assert "= 40" not in says(page)
    assert "live-graph.b=2.1" in page.url


def test_a_program_on_the_home_page_has_its_graph_beside_it(watched):
    page = opened(watched, "")
    cell = page.locator("#figure-live-graph textarea")
    graph = page.locator("#figure-live-graph .mg-canvas svg >> visible=true")
    beside, box = cell.bounding_box(), graph.bounding_box()
    assert beside["x"] + beside["width"] <= box["x"] and box["y"] + box["height"] < 900
    cell.fill("y = tanh(w * x)\nloss = (y - 1)**2")
    assert "paths" not in says(page) and "loss" in graph.text_content()
    figure = page.locator("#figure-digit")
    figure.get_by_role("button", name="a 7").click()
    assert "reads 7" in figure.locator(".mg-says").inner_text()


def test_on_a_phone_the_graph_is_in_the_first_screen(chromium, site):
    context = chromium.new_context(viewport={"width": 360, "height": 740}, is_mobile=True,
                                   has_touch=True)
    page = context.new_page()
    page.goto(site)
    box = page.locator("#figure-live-graph .mg-canvas svg >> visible=true").bounding_box()
    assert page.locator("h1").bounding_box()["y"] < box["y"] and box["y"] + box["height"] <= 740
    context.close()


#: Puts each control of each figure to its end; returns the texts that are too small.
SMALLEST = """() => {
    const found = [], smallest = what => {
        for (const text of document.querySelectorAll("main svg text")) {
            if (!text.checkVisibility() || !text.textContent.trim()) continue;
            const {a, b} = text.getScreenCTM();
            const size = Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
            if (size < 9.4) found.push(`${size.toFixed(1)}: ${text.textContent} after ${what}`);
        }
    };
    smallest("loading");
    for (const figure of document.querySelectorAll("figure[data-widget]")) {
        const count = figure.querySelectorAll(".mg-controls :is(input, button)").length;
        for (let place = 0; place < count; place++) {
            const control = figure.querySelectorAll(".mg-controls :is(input, button)")[place];
            if (!control || control.dataset.needs) continue;
            if (["minigrad", "mine"].includes(control.dataset.value)) continue;
            if (control.type === "range") {
                control.value = control.max;
                control.dispatchEvent(new Event("input", {bubbles: true}));
            } else if (control.tagName === "BUTTON" || control.type === "checkbox") control.click();
            smallest(`${figure.dataset.name} ${control.dataset.control ?? control.textContent}`);
        }
    }
    return found;
}"""


@pytest.mark.parametrize("key", ["", *(f"lessons/{stage.key}/" for stage in stages())])
def test_on_a_phone_no_text_of_a_figure_is_too_small(chromium, site, key):
    context = chromium.new_context(viewport={"width": 360, "height": 740}, is_mobile=True,
                                   has_touch=True)
    page = context.new_page()
    page.goto(site + key)
    if page.locator("figure[data-widget]").count():
        page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    assert page.evaluate(SMALLEST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()


def test_every_figure_is_there_without_a_script(chromium, site, built):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for path in built.rglob("index.html"):
        text = path.read_text(encoding="utf-8")
        if "data-widget=" not in text:
            continue
        page.goto(site + path.parent.relative_to(built).as_posix() + "/")
        for figure in page.locator("figure[data-widget]").all():
            assert figure.locator(".mg-canvas:visible svg, .mg-canvas:visible ol").count() >= 1
            assert figure.locator(".mg-says").inner_text().strip()
            assert not figure.locator(".mg-controls").is_visible()
    context.close()


def test_hydrating_a_figure_does_not_move_the_page(chromium, site):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(site)
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    page.wait_for_timeout(300)
    shift = page.evaluate("""new Promise(done => new PerformanceObserver(list => done(
        list.getEntries().reduce((sum, each) => sum + each.value, 0)))
        .observe({type: "layout-shift", buffered: true}) || setTimeout(() => done(0), 200))""")
    context.close()
    assert shift < 0.05


def test_pointing_at_an_edge_tells_its_formula_and_leaving_takes_it_back(watched):
    page = opened(watched, GRAPH)
    before = says(page)
    page.locator("#figure-live-graph [data-view=wide] [data-look='edge:3']").hover()
    assert "the other factor, 9" in says(page)
    page.mouse.move(5, 5)
    assert says(page) == before


def test_keys_reach_every_node_and_choose_a_leaf(watched):
    page = opened(watched, GRAPH)
    node = page.locator("#figure-live-graph [data-view=wide] [aria-label^='a, value 3']")
    node.focus()
    page.keyboard.press("Enter")
    assert "from a" in says(page)
    page.keyboard.press("ArrowRight")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("a, value 3.1")


def test_a_leaf_is_dragged_sideways(watched):
    page = opened(watched, GRAPH)
    node = page.locator("#figure-live-graph [data-view=wide] [aria-label^='a, value 3']")
    node.scroll_into_view_if_needed()
    box = node.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 62, y, steps=5)
    page.mouse.up()
    assert page.locator("#figure-live-graph [id=figure-live-graph-1]").input_value() == "4"


def test_a_formula_is_typed_and_a_mistake_keeps_the_picture(watched):
    page = opened(watched, GRAPH)
    field = page.locator("#figure-live-graph textarea")
    leaf = page.locator("#figure-live-graph [data-view=wide] [aria-label^='c, value 1']")
    field.fill("a * c")
    assert leaf.count() == 1
    field.fill("a * ")
    assert "Not yet a formula" in says(page) and leaf.count() == 1
    page.locator("#figure-live-graph [data-reset]").click()
    assert field.input_value().startswith("d = b**2") and "= 40" in says(page)


def test_a_number_beyond_its_limit_becomes_the_limit_and_the_field_says_so(watched):
    page = opened(watched, GRAPH)
    field = page.locator("#figure-live-graph input[type=number]").first
    field.fill("12")
    assert page.locator("#figure-live-graph .mg-limit").inner_text() == "at most 5"
    field.press("Enter")
    assert field.input_value() == "5"
    assert field.evaluate("each => each === document.activeElement")
    field.fill("2")
    field.press("Enter")
    assert field.input_value() == "2"
    assert page.locator("#figure-live-graph .mg-limit").text_content() == ""


def test_the_address_brings_a_state_back(watched):
    page = opened(watched, f"{GRAPH}?live-graph.a=1&live-graph.b=3&live-graph.pinned=a")
    assert re.search(r"= 18\b", says(page))
    assert page.locator("#figure-live-graph [data-reset]").is_visible()


@pytest.mark.parametrize("scheme", slow_but(1, ["light", "dark"]))
def test_axe_finds_nothing_serious_in_a_lesson_with_figures(chromium, site, serious, scheme):
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(site + GRAPH)
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    found = serious(page)
    context.close()
    assert not found, "\n".join(found)


PLAYED = {"nudge": "00_chain_rule", "stepper": "03_engine", "broadcast": "04a_elementwise",
          "reductions": "04b_reductions", "checkpoints": "06b_functions_in_place",
          "convolution": "04c_convolution", "flame": "11_profiler",
          "anomaly": "10_anomaly", "modes": "07_grad_mode",
          "recording": "04d_declaration", "hooks": "05_hooks",
          "memory": "06_saved", "jacobian": "08_functional", "dual-numbers": "08b_forward_mode",
          "optimizers": "13b_optimizers", "function-pair": "01_function",
          "asked-gradients": "03b_backward", "waiting": "12_backend",
          "module-walk": "13a_modules", "digit": "14_capstone", "cut": "15_compile"}


@pytest.mark.parametrize("name", PLAYED)
def test_a_figure_is_played_by_keys_told_in_words_and_put_back(watched, name):
    page = opened(watched, f"lessons/{PLAYED[name]}/")
    figure = page.locator(f"#figure-{name}")
    before, url = says(page, name), page.url
    bar = figure.locator(".mg-controls")
    for control in bar.locator("input, button:not([data-reset])").all():
        control.focus()
        page.keyboard.press("Space" if control.get_attribute("type") in ("checkbox", "button")
                            else "ArrowRight")
        if says(page, name) != before:
            break
    assert says(page, name) != before
    page.wait_for_function(f"document.querySelector('#figure-{name} .mg-aloud').textContent"
                           f" === document.querySelector('#figure-{name} .mg-says').textContent")
    assert page.url != url and f"{name}." in page.url
    figure.locator("[data-reset]").click()
    assert says(page, name) == before and f"{name}." not in page.url


@pytest.mark.parametrize("name", PLAYED)
def test_each_shape_of_a_figure_has_a_name_and_a_place_for_the_keys(watched, name):
    page = opened(watched, f"lessons/{PLAYED[name]}/")
    shapes = page.locator(f"#figure-{name} .mg-canvas:visible svg [tabindex]")
    for shape in shapes.all():
        assert shape.get_attribute("aria-label")
        shape.focus()
        assert shape.evaluate("""element => element.isConnected
            || document.activeElement.dataset.key === element.dataset.key""")
        if shape.get_attribute("data-drag"):
            before = says(page, name)
            page.keyboard.press("ArrowLeft")
            assert says(page, name) != before


def test_the_stepper_asks_for_the_next_node_and_says_why_not(watched):
    page = opened(watched, "lessons/03_engine/?stepper.step=9")
    assert "Which node is next?" in says(page, "stepper")
    graph = page.locator("#figure-stepper [data-view=wide]")
    told = page.locator("#figure-stepper .mg-panel div:has(dt:text-is('next')) dd >> visible=true")
    marks = graph.locator(".on-right, text:text('waits for'), [aria-label*='waits for']")
    assert told.inner_text() == "?" and marks.count() == 0  # what is asked stands nowhere beside it
    assert "queue" not in says(page, "stepper")
    graph.locator("[aria-label^='b 2']").click()
    assert told.inner_text() == "a² × d" and marks.count() > 1
    assert "it still waits for 1" in says(page, "stepper")
    graph.locator("[aria-label^='a² × d 36']").click()
    assert "✓ Right" in says(page, "stepper")
    for step in (7, 8, 10):  # the result is sent on, or a node begins: nothing is asked
        page.locator("#figure-stepper input[data-control=step]").fill(str(step))
        assert "?" not in says(page, "stepper") and marks.count() > 1
    page.locator("#figure-stepper input[data-control=step]").fill("14")
    assert "Which node is next?" in says(page, "stepper")
    page.get_by_label("ask me which node is next").uncheck()
    assert "?" not in says(page, "stepper") and told.inner_text() != "?"


def test_a_program_of_many_steps_stays_readable(watched):
    page = opened(watched, "lessons/03_engine/")
    page.get_by_role("button", name="five doublings").click()
    size = """() => { const text = document.querySelector(
        "#figure-stepper [data-view=wide] svg text.strong");
        return parseFloat(text.getAttribute("font-size")) * text.getScreenCTM().a; }"""
    assert page.evaluate(size) > 11
    page.get_by_role("button", name="two paths").click()
    box = page.locator("#figure-stepper [data-view=wide] svg").bounding_box()
    assert box["width"] > box["height"] and page.evaluate(size) > 11


def test_a_picture_that_no_longer_belongs_to_the_program_is_dimmed(watched):
    page = opened(watched, "lessons/03_engine/")
    figure = page.locator("#figure-stepper")
    opacity = "each => Number(getComputedStyle(each).opacity)"
    program = figure.locator("textarea")
    program.fill("f = a *")
    assert figure.locator(".mg-canvas").first.evaluate(opacity) < 0.6
    program.fill("f = a * a")
    assert figure.locator(".mg-canvas").first.evaluate(opacity) == 1


def test_a_number_in_a_graph_is_a_slider_with_limits_and_all_keys(watched):
    page = opened(watched, "")
    node = page.locator("svg [data-scrub=b] >> visible=true").first
    assert [node.get_attribute(f"aria-value{each}") for each in ("min", "max")] == ["-5", "5"]
    before = float(node.get_attribute("aria-valuenow"))
    node.focus()
    for key, value in {"PageUp": before + 1, "PageDown": before, "End": 5, "Home": -5}.items():
        page.keyboard.press(key)
        assert float(node.get_attribute("aria-valuenow")) == value, key
    page.keyboard.press("End")
    page.locator("svg [aria-label^='edge from b to'] >> visible=true").first.focus()
    assert "2 × 5" in page.locator(".mg-says").first.inner_text()  # not 2 × 5^(1)


def test_the_map_shows_what_is_solved_and_leads_on(watched):
    page = opened(watched, "")
    page.evaluate("""localStorage.setItem("minigrad/progress", JSON.stringify({
        form: 1, minigrad: "", holes: {"00.1": {solved: "now"}, "00.2": {solved: "now"}}}))""")
    page.reload()
    page.get_by_text("Continue with 00.3").wait_for()
    assert "builds on 02, 03" in page.locator("[data-stage='05_hooks']").inner_text()
    assert page.locator("[data-stage='05_hooks'] .mg-mark").count() == 1
    assert page.locator("[data-stage='06_saved'] .mg-mark").count() == 0  # it needs 05 first
    assert "2 of 6 solved" in page.locator("[data-stage='00_chain_rule']").inner_text()
    page.locator("[data-stage='03_engine'] a").focus()
    assert "03 builds on 02" in page.locator(".mg-map-says").inner_text()


def test_a_forgotten_unsqueeze_is_refused_and_in_a_square_it_is_not(watched):
    page = opened(watched, "lessons/04b_reductions/")
    figure = page.locator("#figure-reductions")
    figure.get_by_label("forget to unsqueeze").check()
    assert "does not fit" in says(page, "reductions")
    figure.get_by_role("button", name="a square").click()
    assert "No error, and a wrong gradient" in says(page, "reductions")
    figure.get_by_label("forget to unsqueeze").uncheck()
    cell = figure.locator(".mg-canvas:visible [data-drag='x:2']")
    cell.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.search.endsWith('reductions.x=1+2%3B+5+5')")
    cell.hover()  # when nothing moves any more
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=5)
    page.mouse.up()
    page.wait_for_function("location.search.endsWith('reductions.x=1+2%3B+-3+5')")


def test_the_most_that_is_held_is_found_for_each_number_of_segments(watched):
    page = opened(watched, "lessons/06b_functions_in_place/")
    graph = page.locator("#figure-checkpoints .mg-canvas:visible")
    for words, held in (("16 segments", 20), ("no checkpoints", 64), ("8 segments", 16)):
        graph.locator(f"[data-set][aria-label^='{words}:']").focus()
        page.keyboard.press("Enter")
        assert f"{held} held" in says(page, "checkpoints")
        assert f"{held} results at most" in says(page, "checkpoints")
    graph.locator("[data-drag=at]").focus()
    page.keyboard.press("ArrowLeft")
    assert "15 held" in says(page, "checkpoints")


GOALS = [("04d_declaration", ["recording.op=add", "recording.op=div", "recording.grad=false"]),
         ("01_function", ["function-pair.f=Bell&function-pair.x=0",
                          "function-pair.f=Tanh&function-pair.x=4",
                          "function-pair.f=GradClip&function-pair.g=2"]),
         ("07_grad_mode", ["modes.outer=inference&modes.inner=enable_grad",
                           "modes.outer=none&modes.inner=inference"]),
         ("11_profiler", ["flame.profile=" + quote(HALVED),
                          "flame.profile=" + quote(WAITS) + "&flame.zoom=2"])]


@pytest.mark.parametrize(("lesson", "addresses"), GOALS)
def test_a_figure_asks_for_something_and_marks_what_is_reached(watched, lesson, addresses):
    name = addresses[0].partition(".")[0]
    page = opened(watched, f"lessons/{lesson}/")
    marks = page.locator(f"#figure-{name} .mg-goals b")
    assert marks.count() == len(addresses)
    assert not any(each.is_visible() for each in marks.all())
    for place, address in enumerate(addresses):
        page = opened(watched, f"lessons/{lesson}/?{address}")
        assert [each.is_visible() for each in marks.all()] == [
            number == place for number in range(len(addresses))]


def test_the_stepper_opens_with_a_step_taken_and_never_counts_beyond_its_steps(watched):
    page = opened(watched, "lessons/03_engine/")
    count = page.locator("#figure-stepper output")
    assert count.inner_text() == "4 / 20" and "a node is left behind" in says(page, "stepper")
    page = opened(watched, "lessons/03_engine/?stepper.engine=minigrad&stepper.step=131")
    first, _, last = count.inner_text().partition(" / ")
    assert not last or int(first) <= int(last)


@pytest.mark.parametrize(("lesson", "address"), [
    ("03_engine", "stepper.step=999&stepper.engine=none"), ("05_hooks", "hooks.order=%3Cb%3E"),
    ("04c_convolution", "convolution.at=77&convolution.padding=9"),
    ("06_saved", "memory.offset=1e9&memory.shape=x"), ("13b_optimizers", "optimizers.rule=x"),
    ("08_functional", "jacobian.m=900&jacobian.rows=99"), ("01_function", "function-pair.f=x"),
    ("03b_backward", "asked-gradients.want=x+%3Cb%3E&asked-gradients.call=y"),
    ("12_backend", "waiting.every=0&waiting.line=x"), ("13a_modules", "module-walk.step=99"),
    ("14_capstone", "digit.ink=%3Cb%3E&digit.x=99&digit.engine=none"),
    ("00_chain_rule", "nudge.f=x&nudge.h=x"), ("04b_reductions", "reductions.x=%3Cb%3E"),
    ("04b_reductions", "reductions.op=x&reductions.dim=7"),
    ("06b_functions_in_place", "checkpoints.n=1e9&checkpoints.k=-3&checkpoints.at=7.5"),
])
def test_a_mistake_in_an_address_does_no_harm(watched, lesson, address):
    page = opened(watched, f"lessons/{lesson}/?{address}")
    name = address.partition(".")[0]
    assert page.locator(f"#figure-{name}[data-ready]").count() == 1 and says(page, name)
    reset = page.locator(f"#figure-{name} [data-reset]")
    if reset.is_visible():  # else nothing of the address was taken over
        reset.click()
        assert f"{name}." not in page.url


def test_a_digit_is_drawn_by_pointer_and_by_keys(watched):
    page = opened(watched, "lessons/14_capstone/")
    figure = page.locator("#figure-digit")
    sheet = figure.locator(".mg-canvas:visible [data-drag=pen]")
    figure.get_by_role("button", name="Empty").click()
    assert "The sheet is empty" in says(page, "digit")

    def strokes(page):
        return page.url.partition("digit.ink=")[2].partition("&")[0].count(".") + 1

    def place(x, y):
        box = sheet.locator("rect").bounding_box()
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    sheet.scroll_into_view_if_needed()
    for stroke in ([(0.25, 0.15), (0.75, 0.15), (0.45, 0.9)],):
        page.mouse.move(*place(*stroke[0]))
        page.mouse.down()
        for point in stroke:
            page.mouse.move(*place(*point), steps=4)
        page.mouse.up()
    assert "reads 7" in says(page, "digit")
    assert strokes(page) == 1
    figure.get_by_label("∂ of the loss").check()
    assert figure.locator(".mg-canvas:visible text.gradient").count() > 5

    # a bar through the middle, by keys: the pen goes there, then down, then draws a second stroke
    sheet.focus()
    for key in ["ArrowUp"] * 12 + ["ArrowLeft"] * 4:
        page.keyboard.press(key)
    figure.get_by_label("pen down").check()
    sheet.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.drag") == "pen"
    assert strokes(page) == 2
    figure.get_by_role("button", name="without the last stroke").click()
    assert strokes(page) == 1


@pytest.mark.slow
def test_a_digit_is_read_by_minigrad_and_by_the_reader_s_engine(watched):
    page = opened(watched, "lessons/14_capstone/")
    figure = page.locator("#figure-digit")
    engine = figure.get_by_role("group", name="read by")
    assert engine.get_by_role("button", name="yours").count() == 0
    first = says(page, "digit").partition("reads")[2]
    engine.get_by_role("button", name="minigrad’s own").press("Enter")
    figure.locator(".mg-says", has_text="minigrad reads 3").wait_for(timeout=120_000)
    assert says(page, "digit").partition("reads")[2] == first

    stage = find_stage("03")
    solved = {hole.id: {"solved": "now"} for hole in stage.holes}
    page.evaluate("text => localStorage.setItem('minigrad/progress', text)",
                  json.dumps({"form": 1, "minigrad": "", "holes": solved}))
    path = "engine/graph_task.py"
    right = stage.solution(path).read_text(encoding="utf-8")
    place = right.index('"""', right.index("def run("))
    wrong = f"{right[:place]}raise RuntimeError('this is mine')\n        {right[place:]}"
    for text, told in ((wrong, "RuntimeError: this is mine"), (right, "Your engine reads 3")):
        page.evaluate("([path, text]) => localStorage.setItem(`minigrad/work/03_engine/${path}`,"
                      " text)", [path, text])
        page.goto(f"{watched.site}lessons/14_capstone/?digit.engine=mine")
        figure.locator(".mg-says", has_text=told).wait_for(timeout=240_000)
    assert engine.get_by_role("button", name="yours, 1 stage").count() == 1
    assert says(page, "digit").partition("reads")[2] == first


@pytest.mark.slow
def test_the_stepper_runs_any_program_on_minigrad_and_on_the_reader_s_engine(watched):
    page = opened(watched, "lessons/03_engine/")
    figure, graph = page.locator("#figure-stepper"), page.locator(
        "#figure-stepper [data-view=wide]")
    engine = figure.get_by_role("group", name="engine")
    engine.get_by_role("button", name="minigrad’s own").press("Enter")
    figure.locator(".mg-says", has_text="is a leaf").wait_for(timeout=120_000)
    focused = page.evaluate("document.activeElement.dataset.value")
    assert focused == "minigrad"
    figure.locator("textarea").fill(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nloss = (x * a).exp().sum()")
    bar = figure.locator("input[type=range][data-control=step]")
    page.wait_for_function("document.querySelector('#figure-stepper [data-view=wide]')"
                           ".textContent.includes('loss.backward()')")
    bar.fill("7")
    assert "SumBackward0" in graph.text_content()
    assert "ExpBackward" in says(page, "stepper")
    figure.locator("textarea").fill("loss = a *")
    page.wait_for_function("document.querySelector('#figure-stepper .mg-says')"
                           ".textContent.includes('SyntaxError')")

    assert engine.get_by_role("button", name="yours").count() == 0
    page.evaluate("""localStorage.setItem("minigrad/progress", JSON.stringify({
        form: 1, minigrad: "", holes: Object.fromEntries(JSON.parse(document.getElementById(
            "mg-data").textContent).holes.map(({id}) => [id, {solved: "now"}]))}))""")
    page.goto(f"{watched.site}lessons/03_engine/?stepper.engine=mine")
    figure.locator(".mg-says", has_text="Python is asked").wait_for()
    figure.locator(".mg-says", has_text="is a leaf").wait_for(timeout=240_000)
    figure.locator("input[type=range][data-control=step]").fill("6")
    assert "PowBackward0" in graph.text_content() and "waits for" in graph.text_content()


def test_on_a_phone_a_switch_and_its_label_are_on_one_line(chromium, site):
    context = chromium.new_context(viewport={"width": 360, "height": 740}, is_mobile=True,
                                   has_touch=True)
    page = context.new_page()
    page.goto(f"{site}lessons/13a_modules/")
    labels = page.locator(".mg-switch label").all()
    assert len(labels) >= 4
    for label in labels:
        whole, box = label.bounding_box(), label.locator("input").bounding_box()
        middle = box["y"] + box["height"] / 2
        assert abs(middle - whole["y"] - whole["height"] / 2) < 1 and box["height"] < 24
    context.close()
