"""The page of `viz.backward_steps`, driven in a real browser without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import minigrad as torch
from minigrad import viz

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium drives the browser")
from selenium.webdriver.common.by import By  # noqa: E402  # after the skip
from selenium.webdriver.common.keys import Keys  # noqa: E402  # after the skip
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402  # after the skip

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="Chromium and chromedriver are not both installed"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def passed() -> viz.BackwardSteps:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([0.5, 1.0], requires_grad=True)
    c = a * b
    loss = (c.exp() + c * 3).sum()
    return viz.backward_steps(loss, names={"a": a, "b <b>": b, "c": c})


@pytest.fixture
def page(browser, passed, tmp_path) -> Any:
    browser.get_log("browser")
    browser.set_window_size(1200, 900)
    browser.get(passed.save(tmp_path / "steps.html").as_uri())
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser")] == []


def element(page: Any, name: str) -> Any:
    return page.find_element(By.ID, name)


def step(page: Any) -> int:
    """The number of the step that is shown, from 0."""
    return int(element(page, "count").text.split()[1]) - 1


def with_class(page: Any, name: str) -> list[str]:
    return [e.get_attribute("id") for e in page.find_elements(By.CLASS_NAME, name)]


def press(page: Any, key: str) -> None:
    page.find_element(By.TAG_NAME, "body").send_keys(key)


def test_every_step_shows_its_sentence_queue_and_nodes(page, passed):
    for number, recorded in enumerate(passed.steps):
        assert step(page) == number
        assert element(page, "sentence").text == " ".join(recorded.text.split())
        names = [passed.nodes[n] for n in recorded.queue]
        queue = element(page, "queue").text
        assert queue == "\n".join(map(str, names)) or (not names and queue == "empty")
        assert with_class(page, "now") == ([] if recorded.node is None else [f"n{recorded.node}"])
        assert with_class(page, "hot") == (
            [] if recorded.edge is None else [f"e{recorded.node}-{recorded.edge}"]
        )
        for node in passed.nodes:
            badge = page.find_element(By.CSS_SELECTOR, f"#n{node.number} .badge")
            waits = recorded.waiting.get(node.number, 0)
            assert badge.is_displayed() == bool(waits)
            assert badge.text == (str(waits) if waits else "")
        element(page, "next").click()
    assert step(page) == len(passed.steps) - 1


def test_the_buttons_lead_everywhere(page, passed):
    end = len(passed.steps) - 1
    element(page, "last").click()
    assert step(page) == end
    assert not element(page, "next").is_enabled()
    element(page, "previous").click()
    assert step(page) == end - 1
    element(page, "first").click()
    assert step(page) == 0
    assert not element(page, "previous").is_enabled()


def test_the_keyboard_leads_everywhere(page, passed):
    end = len(passed.steps) - 1
    press(page, Keys.ARROW_RIGHT * 3)
    assert step(page) == 3
    press(page, Keys.ARROW_LEFT)
    assert step(page) == 2
    press(page, Keys.END)
    assert step(page) == end
    press(page, Keys.HOME)
    assert step(page) == 0
    element(page, "slider").send_keys(Keys.ARROW_RIGHT * 2)
    assert step(page) == 2
    element(page, "next").send_keys(Keys.SPACE)  # a button's own key, not that of playing
    assert step(page) == 3
    assert element(page, "play").get_attribute("aria-label") == "Play"


def test_playing_goes_on_by_itself_and_stops(page):
    page.execute_script("window.faster = setInterval; window.setInterval = (f) => faster(f, 20)")
    press(page, Keys.SPACE)
    WebDriverWait(page, 20).until(
        lambda _: not element(page, "next").is_enabled()
    )
    assert element(page, "play").get_attribute("aria-label") == "Play"


def test_a_step_of_the_list_is_shown_when_it_is_clicked(page):
    page.find_element(By.TAG_NAME, "summary").click()
    page.find_elements(By.CSS_SELECTOR, "#steps li")[4].click()
    assert step(page) == 4


def test_every_control_has_a_name_and_the_sentence_is_announced(page):
    for control in page.find_elements(By.CSS_SELECTOR, "button, input"):
        assert control.accessible_name
    assert element(page, "sentence").get_attribute("aria-live") == "polite"


def wide() -> viz.BackwardSteps:
    """A pass whose graph is wider than a phone."""
    leaves = [torch.tensor(float(i), requires_grad=True) for i in range(8)]
    return viz.backward_steps(torch.stack([leaf.exp() for leaf in leaves]).sum())


def test_a_phone_shows_it_without_scrolling_sideways(page, tmp_path):
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                         {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    try:
        page.get(wide().save(tmp_path / "wide.html").as_uri())
        element(page, "last").click()
        assert page.execute_script("return document.documentElement.scrollWidth") <= 360
        assert page.execute_script("return document.getElementById('graph').clientWidth") > 360
        buttons = page.find_elements(By.TAG_NAME, "button")
        assert min(min(button.size.values()) for button in buttons) >= 44
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_running_node_is_scrolled_into_view(page, tmp_path):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(40):
        y = -y
    passed = viz.backward_steps(y)
    page.get(passed.save(tmp_path / "deep.html").as_uri())
    element(page, "last").click()
    element(page, "previous").click()
    leaf = element(page, f"n{len(passed.nodes) - 1}")
    frame = element(page, "frame")

    def visible(_: Any) -> bool:
        inner, outer = leaf.rect, frame.rect
        return bool(outer["y"] <= inner["y"] <= outer["y"] + outer["height"] - inner["height"])

    WebDriverWait(page, 10).until(visible)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(page, scheme):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia",
                         {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    element(page, "next").click()
    ink, paper = page.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    assert contrast(ink, paper) > 7
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def luminance(colour: str) -> float:
    parts = [int(p) / 255 for p in colour[colour.index("(") + 1:-1].split(",")[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_without_scripts_the_steps_are_a_list(browser, passed, tmp_path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(passed.save(tmp_path / "steps.html").as_uri())
        assert not element(browser, "panel").is_displayed()
        shown = browser.find_elements(By.CSS_SELECTOR, "#steps li")
        assert [item.text for item in shown] == [" ".join(s.text.split()) for s in passed.steps]
        assert element(browser, "graph").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_nothing_is_fetched(page):
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
