"""The service worker: the site without a network, and Stop on a host that sends no headers."""

from __future__ import annotations

import http.server
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from offline import write_service_worker

MINUTE = 60_000


class Plain(http.server.SimpleHTTPRequestHandler):
    """Files as any host sends them."""

    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the terminal quiet."""


class Host:
    """A plain host, with a site in a folder of its own; `leave` is the end of the network."""

    def __init__(self, folder: Path) -> None:
        self.running = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(Plain, directory=str(folder)))
        self.thread = threading.Thread(target=self.running.serve_forever, daemon=True)
        self.thread.start()
        self.address = f"http://127.0.0.1:{self.running.server_port}/sub/"

    def leave(self) -> None:
        if self.thread.is_alive():
            self.running.shutdown()
            self.running.server_close()
            self.thread.join()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    running = Host(tmp_path)
    yield running
    running.leave()


def kept(page: Any) -> None:
    """Wait until the site is kept, and the page is one of those that are looked after."""
    page.wait_for_function("navigator.serviceWorker.controller?.state === 'activated'",
                           timeout=2 * MINUTE)


def write(page: Any, block: Any, code: str) -> None:
    block.locator(".cm-content").focus()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)


KEPT = """async () => {
    for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys())
            if (url.includes("/more.tar.gz")) return true;
}"""


def test_a_plain_host_isolates_pages_stops_quickly_and_is_left_for_the_train(
        chromium, built, host, tmp_path):
    (tmp_path / "sub").symlink_to(built.resolve())
    context = chromium.new_context()
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(host.address)
    assert page.evaluate("crossOriginIsolated") is False
    kept(page)
    page.goto(f"{host.address}lessons/02_graph/")
    assert page.evaluate("crossOriginIsolated") is True

    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Edit").click()
    write(page, block, "kept = 5\nwhile True:\n    pass")
    page.keyboard.press("Control+Enter")
    page.locator("html[data-mg-python=busy]").wait_for(state="attached", timeout=2 * MINUTE)
    page.wait_for_timeout(500)
    block.get_by_role("button", name="Stop").click()
    block.locator(".mg-result", has_text="stopped").wait_for()
    write(page, block, "print(kept + 1)")  # Python goes on: it was interrupted, not ended
    page.keyboard.press("Control+Enter")
    block.locator(".mg-out", has_text="6").wait_for()

    page.wait_for_function(KEPT)  # what comes after Python is ready
    host.leave()
    page.goto(f"{host.address}lessons/05_hooks/?hooks.seen=true")  # never read before
    assert page.evaluate("crossOriginIsolated") is True
    page.wait_for_function("document.documentElement.dataset.mgWidgets == 'yes'")
    block = page.locator(".mg-block:has(.mg-tools)").first
    block.get_by_role("button", name="Run", exact=True).click()
    block.locator(".mg-result", has_text="as in the lesson").wait_for(timeout=2 * MINUTE)
    block.get_by_role("button", name="Edit").click()
    write(page, block, "from minigrad.examples import softplus\nprint('fetched later')")
    page.keyboard.press("Control+Enter")
    block.locator(".mg-out", has_text="fetched later").wait_for()
    for address, title in (("glossary/", "Glossary"), ("error_messages/", "Error messages"),
                           ("grad_is_none/", "Why is .grad None?")):
        page.goto(host.address + address)
        assert title in page.locator("h1").inner_text()
    page.goto(f"{host.address}ops/exp/")
    assert "not kept in your browser" in page.locator("h1").inner_text()
    context.close()
    assert problems == []


PAGE = """<!doctype html><html lang="en"><title>A site</title><body>{text}<script>
navigator.serviceWorker.register("service_worker.js")</script></body></html>"""


def edition(folder: Path, text: str) -> None:
    """Write a small site, and its service worker."""
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text(PAGE.format(text=text), encoding="utf-8")
    (folder / "503.html").write_text("not kept", encoding="utf-8")
    write_service_worker(folder)


def test_a_new_edition_is_shown_at_once_and_takes_the_place_of_the_old(chromium, host, tmp_path):
    edition(tmp_path / "sub", "the first")
    before = time.time() - 2  # a host tells what is new by the second
    os.utime(tmp_path / "sub" / "index.html", (before, before))
    context = chromium.new_context()
    page = context.new_page()
    page.goto(host.address)
    kept(page)
    names = "caches.keys().then(names => names.filter(name => name.startsWith('minigrad-site')))"
    (old,) = page.evaluate(names)
    edition(tmp_path / "sub", "the second")
    page.goto(host.address)
    assert "the second" in page.inner_text("body")
    page.wait_for_function(f"{names}.then(names => names.length === 1"
                           f" && names[0] !== {old!r})", timeout=MINUTE)
    host.leave()
    page.goto(f"{host.address}?figure.x=1")
    assert "the second" in page.inner_text("body")
    page.goto(f"{host.address}elsewhere/")
    assert "not kept" in page.inner_text("body")
    context.close()


def test_what_is_kept_is_named_by_its_content(tmp_path):
    edition(tmp_path, "one")
    first = (tmp_path / "service_worker.js").read_text(encoding="utf-8")
    edition(tmp_path, "one")
    assert (tmp_path / "service_worker.js").read_text(encoding="utf-8") == first
    edition(tmp_path, "two")
    second = (tmp_path / "service_worker.js").read_text(encoding="utf-8")
    assert second.partition(";")[2] == first.partition(";")[2] and second != first
