"""The page of `viz.backward_steps`, driven in a real browser without a window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import minigrad as torch
from minigrad import viz


@pytest.fixture(scope="module")
def passed() -> viz.BackwardSteps:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([0.5, 1.0], requires_grad=True)
    c = a * b
    loss = (c.exp() + c * 3).sum()
    return viz.backward_steps(loss, names={"a": a, "b <b>": b, "c": c})


def opened(chromium: Any, steps: viz.BackwardSteps, folder: Any, **how: Any) -> Iterator[Any]:
    """Yield a page of its own with these steps, on which nothing may go wrong."""
    context = chromium.new_context(**{"viewport": {"width": 1200, "height": 900}} | how)
    page, problems = context.new_page(), []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(steps.save(folder / "steps.html").as_uri())
    yield page
    context.close()
    assert problems == []


@pytest.fixture
def page(chromium, passed, tmp_path):
    yield from opened(chromium, passed, tmp_path)


def step(page: Any) -> int:
    """The number of the step that is shown, from 0."""
    return int(page.inner_text("#count").split()[1]) - 1


def with_class(page: Any, name: str) -> list[str]:
    return [each.get_attribute("id") for each in page.locator(f".{name}").all()]


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_every_step_shows_its_sentence_queue_and_nodes(page, passed):
    for number, recorded in enumerate(passed.steps):
        assert step(page) == number
        assert page.inner_text("#sentence").strip() == " ".join(recorded.text.split())
        names = [passed.nodes[n] for n in recorded.queue]
        queue = page.inner_text("#queue").strip()
        assert queue == "\n".join(map(str, names)) or (not names and queue == "empty")
        assert with_class(page, "now") == ([] if recorded.node is None else [f"n{recorded.node}"])
        assert with_class(page, "hot") == (
            [] if recorded.edge is None else [f"e{recorded.node}-{recorded.edge}"]
        )
        for node in passed.nodes:
            badge = page.locator(f"#n{node.number} .badge")
            waits = recorded.waiting.get(node.number, 0)
            assert badge.is_visible() == bool(waits)
            assert not waits or badge.text_content() == str(waits)
        if recorded is not passed.steps[-1]:
            page.click("#next")
    assert page.is_disabled("#next")


def test_the_buttons_lead_everywhere(page, passed):
    end = len(passed.steps) - 1
    page.click("#last")
    assert step(page) == end
    assert page.is_disabled("#next")
    page.click("#previous")
    assert step(page) == end - 1
    page.click("#first")
    assert step(page) == 0
    assert page.is_disabled("#previous")


def test_the_keyboard_leads_everywhere(page, passed):
    end = len(passed.steps) - 1
    press(page, *["ArrowRight"] * 3)
    assert step(page) == 3
    press(page, "ArrowLeft")
    assert step(page) == 2
    press(page, "End")
    assert step(page) == end
    press(page, "Home")
    assert step(page) == 0
    page.focus("#slider")
    press(page, *["ArrowRight"] * 2)
    assert step(page) == 2
    page.press("#next", "Space")  # a button's own key, not that of playing
    assert step(page) == 3
    assert page.get_attribute("#play", "aria-label") == "Play"


def test_playing_goes_on_by_itself_and_stops(page):
    page.evaluate("window.faster = setInterval; window.setInterval = (f) => faster(f, 20)")
    press(page, "Space")
    page.wait_for_selector("#next:disabled", timeout=20_000)
    assert page.get_attribute("#play", "aria-label") == "Play"


def test_a_step_of_the_list_is_shown_when_it_is_clicked(page):
    page.click("summary")
    page.locator("#steps li").nth(4).click()
    assert step(page) == 4


def test_every_control_has_a_name_and_the_sentence_is_announced(page):
    for control in page.locator("button, input").all():
        assert control.get_attribute("aria-label") or control.inner_text().strip()
    assert page.get_attribute("#sentence", "aria-live") == "polite"


def wide() -> viz.BackwardSteps:
    """A pass whose graph is wider than a phone."""
    leaves = [torch.tensor(float(i), requires_grad=True) for i in range(8)]
    return viz.backward_steps(torch.stack([leaf.exp() for leaf in leaves]).sum())


def test_a_phone_shows_it_without_scrolling_sideways(chromium, tmp_path):
    for page in opened(chromium, wide(), tmp_path, viewport={"width": 360, "height": 740},
                       device_scale_factor=2, is_mobile=True):
        page.click("#last")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.evaluate("document.getElementById('graph').clientWidth") > 360
        boxes = [button.bounding_box() for button in page.locator("button").all()]
        assert min(min(box["width"], box["height"]) for box in boxes) >= 44


def test_the_running_node_is_scrolled_into_view(chromium, tmp_path):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(40):
        y = -y
    passed = viz.backward_steps(y)
    for page in opened(chromium, passed, tmp_path):
        page.click("#last")
        page.click("#previous")
        page.wait_for_function("""leaf => {
            const inner = document.getElementById(leaf).getBoundingClientRect()
            const outer = document.getElementById("frame").getBoundingClientRect()
            return outer.top <= inner.top && inner.bottom <= outer.bottom
        }""", arg=f"n{len(passed.nodes) - 1}", timeout=10_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(chromium, passed, tmp_path, scheme):
    for page in opened(chromium, passed, tmp_path, color_scheme=scheme):
        page.click("#next")
        ink, paper = page.evaluate(
            "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
        assert contrast(ink, paper) > 7


def luminance(colour: str) -> float:
    parts = [int(p) / 255 for p in colour[colour.index("(") + 1:-1].split(",")[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_without_scripts_the_steps_are_a_list(chromium, passed, tmp_path):
    for page in opened(chromium, passed, tmp_path, java_script_enabled=False):
        assert not page.is_visible("#panel")
        shown = page.locator("#steps li").all()
        assert [item.inner_text() for item in shown] == [
            " ".join(s.text.split()) for s in passed.steps]
        assert page.is_visible("#graph")


def test_nothing_is_fetched(page):
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
