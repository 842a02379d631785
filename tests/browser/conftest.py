"""The built site, served, and a browser without a window that watches what its pages do."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serve import server

from tests.support.slow import ALL, DAY

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"]


AXE = Path(__file__).resolve().parents[2] / "site" / "node_modules" / "axe-core" / "axe.min.js"


#: Whether every test in a browser runs, with every lesson and exercise: `make site-browser`.
EVERYTHING = os.environ.get("MINIGRAD_SITE_ALL", "") not in ("", "0")
#: Otherwise, `make site-check` runs one in so many of the tests that drive a browser.
ONE_IN = 4


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave most tests that drive a browser to other days, because all of them take 15 minutes."""
    here = Path(__file__).parent
    driven = [] if EVERYTHING or ALL else [
        item for item in items if here in item.path.parents
        and "chromium" in item.fixturenames and item.get_closest_marker("slow") is None]
    for number, item in enumerate(driven):
        if (number + DAY) % ONE_IN:
            item.add_marker(pytest.mark.skip(reason="`make site-browser` runs it"))


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the built site, which MINIGRAD_SITE names."""
    named = os.environ.get("MINIGRAD_SITE")
    if named is None:
        pytest.skip("no built site is named: `make site-check` builds one and runs this")
    assert (Path(named) / "index.html").exists(), f"there is no site in {named}"
    return Path(named)


@pytest.fixture(scope="session")
def site(built: Path) -> Iterator[str]:
    """The address of the built site."""
    running = server(built)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright drives the browser")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


#: A window of a laptop's size; test_offline.py tries pages with a service worker.
LAPTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "service_workers": "block"}


class Page:
    """A fresh page of a site."""

    def __init__(self, context: Any, site: str) -> None:
        self.page, self.site = context.new_page(), site

    def open(self, address: str, wait: str = "load") -> Any:
        """Go to an address of the site."""
        self.page.goto(self.site + address, wait_until=wait)
        return self.page


class Watched(Page):
    """A page of the browser with what went wrong on it: `problems` is to be empty."""

    def __init__(self, context: Any, site: str) -> None:
        super().__init__(context, site)
        self.problems: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("request", self._request)
        self.page.on("response", self._response)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning") and "blocked by Playwright" not in message.text:
            self.problems.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.site, "data:", "blob:", "about:")):
            self.problems.append(f"a request to {request.url}")

    def _response(self, response: Any) -> None:
        if response.status >= 400:
            self.problems.append(f"{response.status} for {response.url}")


@pytest.fixture
def watched(chromium: Any, site: str) -> Iterator[Watched]:
    """A fresh page; no console error and no request to elsewhere may have come when a test ends."""
    context = chromium.new_context(**LAPTOP)
    shown = Watched(context, site)
    yield shown
    context.close()
    assert shown.problems == []


@pytest.fixture(scope="session")
def returning(chromium: Any) -> Iterator[Any]:
    """A context that keeps what pages keep: its reader was here before."""
    context = chromium.new_context(**LAPTOP)
    yield context
    context.close()


@pytest.fixture
def watched_again(returning: Any, site: str) -> Iterator[Watched]:
    """A page for a reader who was here before; nothing may have gone wrong when a test ends."""
    shown = Watched(returning, site)
    yield shown
    shown.page.close()
    assert shown.problems == []


@pytest.fixture
def serious() -> Callable[[Any], list[str]]:
    """Return what axe-core finds on a page: problems for those who cannot see or use a mouse."""
    return _serious


def _serious(page: Any) -> list[str]:
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run(document, {iframes: false})")
    return [f"{each['id']}: {each['help']}: {[node['html'][:150] for node in each['nodes']][:5]}"
            for each in found["violations"] if each["impact"] in ("serious", "critical")]
