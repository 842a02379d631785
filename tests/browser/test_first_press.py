"""The page tells the truth after a press, on a slow host, a silent one and without a host."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from serve import Handler

from tests.browser.conftest import LAPTOP, Page
from tests.browser.test_lesson_exercises import SLOPE, exercise
from tests.browser.test_runtime import opened, write

MINUTE = 60_000
#: Bytes a second: 10 Mbit.
SLOW = 1_250_000


class Host:
    """The site on a host that is "quick", "slow", "silent" (it takes requests and waits) or "gone".
    """

    def __init__(self, folder: Path) -> None:
        self.how, self.line, self.speaks = "quick", threading.Lock(), threading.Event()
        host = self

        class Tested(Handler):
            def do_GET(self) -> None:
                if host.how == "silent":
                    host.speaks.wait(60)
                if host.how == "gone":
                    self.close_connection = True
                    return
                super().do_GET()

            def copyfile(self, source: Any, out: Any) -> None:
                while piece := source.read(16_384):
                    if host.how == "slow":
                        with host.line:
                            time.sleep(len(piece) / SLOW)
                    out.write(piece)

        self.running = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(Tested, directory=str(folder)))
        self.running.handle_error = lambda *given: None  # type: ignore[method-assign]  # a page went
        threading.Thread(target=self.running.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.running.server_port}/"

    def change(self, how: str) -> None:
        self.how = how
        if how == "silent":
            self.speaks.clear()
        else:
            self.speaks.set()


@pytest.fixture
def host(built: Path) -> Iterator[Host]:
    running = Host(built)
    yield running
    running.change("gone")
    running.running.shutdown()
    running.running.server_close()


@pytest.fixture
def fresh(chromium: Any, host: Host) -> Iterator[Page]:
    """A fresh page of that host, on which requests may fail."""
    context = chromium.new_context(**LAPTOP)
    yield Page(context, host.address)
    context.close()


#: Clicks a button; returns the texts, states of buttons and bars that are new in the window.
PRESSED = """button => new Promise(seen => {
    const shown = () => [...document.querySelectorAll(
            "main :is(button, span, p, pre, samp, progress, .cm-line, dialog), dialog *")]
        .filter(each => each.checkVisibility() && !each.closest("nav"))
        .filter(each => { const {top, bottom} = each.getBoundingClientRect();
                          return bottom > 0 && top < innerHeight; })
        .map(each => [each.tagName, each.disabled, each.ariaBusy,
                      each.childElementCount ? "" : each.textContent].join());
    const before = shown();
    button.click();
    setTimeout(() => {
        const now = shown();
        seen(now.filter(each => !before.includes(each)));
    }, 300);
})"""


def seen_after(page: Any, button: Any) -> str:
    """Return the new texts in the window 300 ms after a press."""
    button.scroll_into_view_if_needed()
    return " ".join(button.evaluate(PRESSED))


def test_every_press_shows_something_while_the_host_is_silent(fresh, host):
    page = opened(fresh, "lessons/00_chain_rule/")
    page.on("dialog", lambda dialog: dialog.accept())
    host.change("silent")
    block = page.locator(".mg-block:has(.mg-tools)").nth(1)
    for name in ("Run", "Stop", "Run all above", "Edit"):
        seen = seen_after(page, block.get_by_role("button", name=name, exact=True))
        assert seen, name
        if name == "Run":
            assert "Python is being loaded." in seen and "Stop" in seen and "runs" not in seen
    section = page.locator('[data-hole="00.1"]')
    for name in ("Run tests", "Stop", "Try it", "Whole file", "Start over", "Solution"):
        seen = seen_after(page, section.get_by_role("button", name=name, exact=True))
        assert seen, name
        if name == "Run tests":
            assert "Python is being loaded." in seen and "The tests run" not in seen
    for name in ("Stop", "Run all"):
        bar = page.locator(".mg-bar").get_by_role("button", name=name, exact=True)
        assert seen_after(page, bar), name


def test_without_a_network_a_press_says_so_and_is_tried_again(fresh, host):
    page = opened(fresh, "lessons/14_capstone/")
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    host.change("gone")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Run", exact=True).click()
    failed = block.locator(".mg-failed")
    failed.wait_for()
    assert "the site did not answer; is this device online?" in failed.inner_text()
    figure = page.locator("#figure-digit")
    figure.get_by_role("button", name="minigrad’s own").click()
    again = figure.get_by_role("button", name="Try again")
    again.wait_for()
    assert "Python could not run it: the site did not answer" in figure.inner_text()
    host.change("silent")
    again.click()
    waits = figure.locator(".mg-status", has_text="Python is being loaded.")
    waits.wait_for()
    host.change("quick")
    figure.locator(".mg-says", has_text="minigrad reads").wait_for(timeout=MINUTE)
    assert waits.count() == 0
    failed.get_by_role("button", name="Try again").click()
    block.locator(".mg-result", has_text="as in the lesson").wait_for(timeout=MINUTE)


#: Records each text under an exercise, with the state of Python.
WATCH = """place => {
    window.told = [];
    new MutationObserver(() => {
        const text = [...place.children].filter(each => each.checkVisibility())
            .map(each => each.textContent).join(" ");
        if (text !== told.at(-1)?.[0]) told.push([text, document.documentElement.dataset.mgPython]);
    }).observe(place, {subtree: true, childList: true, characterData: true, attributes: true});
}"""


def test_on_a_slow_host_an_exercise_says_how_far_it_is_until_its_tests_run(fresh, host):
    host.change("slow")
    page = opened(fresh, "lessons/00_chain_rule/")
    section = exercise(page, "00.1")
    write(page, section, SLOPE)
    section.locator(".mg-results").evaluate(WATCH)
    section.get_by_role("button", name="Run tests").click()
    page.wait_for_function("told.some(([text]) => text.includes('s left'))", timeout=MINUTE)
    host.change("quick")  # the rest of the bytes says no more
    verdict = section.locator('.mg-verdict[data-state="solved"]')
    verdict.wait_for(timeout=2 * MINUTE)
    told = page.evaluate("told")
    texts = [text for text, _ in told]
    runs = next(place for place, text in enumerate(texts) if text.startswith("The tests run"))
    assert told[runs][1] == "busy"
    before = " ".join(texts[:runs])
    assert "of 8." in before and "MB" in before and "s left" in before and "starts …" in before
    assert "What runs the tests is being loaded." in before
    assert all(not text.startswith("The tests run") for text in texts[:runs])


def test_the_home_page_s_program_runs_in_python_beside_its_picture(fresh, host):
    page = fresh.open("")
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    figure = page.locator("#figure-live-graph")
    ran, cell = figure.locator(".mg-ran"), figure.locator("textarea")
    graph = figure.locator(".mg-canvas svg >> visible=true")
    assert ran.count() == 0 and page.evaluate("document.documentElement.dataset.mgPython ?? 0") == 0
    host.change("silent")
    seen = seen_after(page, figure.get_by_role("button", name="Run", exact=True))
    assert "Python is asked to run it." in seen and "Python is being loaded." in seen
    cell.fill("f = a * b\nf.backward()")
    # the picture does not wait
    assert "1 path from b: 3" in figure.locator(".mg-says").inner_text()
    host.change("quick")
    figure.locator(".mg-ran", has_text="f = 6, a.grad = 2, b.grad = 3").wait_for(timeout=MINUTE)
    assert "f = a × b" in graph.text_content() and "∂ 3" in graph.text_content()
    cell.fill("f = 0\nfor k in range(3):\n    f = f + k * a\nprint(torch.tensor([1, 2]))\nf")
    figure.locator(".mg-ran", has_text="tensor([1, 2])\nf = 9, a.grad = 3").wait_for()
    assert "The picture shows arithmetic alone" in figure.locator(".mg-says").inner_text()
    cell.fill("f = a.nothing()")
    figure.locator(".mg-says", has_text="The program ends with AttributeError").wait_for()
    cell.fill("while True: pass")
    page.keyboard.press("Control+Enter")
    figure.locator(".mg-ran", has_text="stopped after 10 seconds").wait_for(timeout=MINUTE)
    cell.fill("f = a * 4")
    figure.locator(".mg-ran", has_text="f = 12, a.grad = 4").wait_for(timeout=MINUTE)


@pytest.mark.parametrize("saves", [False, True])
def test_the_home_page_fetches_python_when_its_program_is_touched(fresh, saves):
    if saves:
        fresh.page.add_init_script(SAVES)
    page = fresh.open("")
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    figure = page.locator("#figure-live-graph")
    figure.locator("input[type=range]").first.focus()
    figure.locator("textarea").focus()
    assert figure.locator(".mg-ran").count() == (not saves)
    figure.get_by_role("button", name="Run", exact=True).click()
    figure.locator(".mg-ran", has_text="f = 40").wait_for(timeout=MINUTE)


SAVES = "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"


@pytest.mark.parametrize("saves", [False, True])
def test_python_is_fetched_when_an_editor_comes_near_unless_data_is_saved(fresh, saves):
    if saves:
        fresh.page.add_init_script(SAVES)
    page = opened(fresh, "exercises/03_engine/")
    exercise(page, "03.1")
    if saves:
        page.locator(".mg-exercise").first.get_by_role("button", name="Run tests").hover()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.dataset.mgPython ?? 'off'") == "off"
        assert "Python (8." in page.locator(".mg-bar .mg-status").inner_text()
    else:
        page.locator("html[data-mg-python]").wait_for(state="attached")
