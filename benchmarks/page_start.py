"""How long a lesson's page takes: until its text is there, until Python is, until all blocks ran.

    make site
    python benchmarks/page_start.py --browsers 2 --visits 3

Each browser is new and visits the same lesson several times: the first start of Python begins from
nothing, later ones with what the browser kept.  Chromium has to be installed, and the extra
`browser`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "site"))

from serve import server  # noqa: E402  # site/ is no package

PAINTED = """new Promise(done => new PerformanceObserver(list =>
    done(list.getEntries()[0].startTime)).observe({type: "paint", buffered: true}))"""
LAST = "[...document.querySelectorAll('.mg-result')].at(-1).closest('[id]').id"
RAN = "id => /^(?!runs …)./.test(document.querySelector(`#${id} .mg-result`).textContent)"
KEPT = "caches.open('minigrad-python').then(cache => cache.keys()).then(kept => kept.length)"


def visit(page: Any, address: str) -> str:
    """Open a lesson, run all of it and say how long that took."""
    page.goto(address, wait_until="domcontentloaded")
    painted = page.evaluate(PAINTED) / 1000
    page.locator("html[data-mg-ready]").wait_for(state="attached")
    begun = time.perf_counter()
    page.get_by_role("button", name="Run all", exact=True).click()
    page.locator("html[data-mg-python=ready], html[data-mg-python=busy]").wait_for(state="attached")
    ready = time.perf_counter() - begun
    page.wait_for_function(RAN, arg=page.evaluate(LAST))
    ran = time.perf_counter() - begun
    while not page.evaluate(KEPT):  # or the next visit would begin from nothing too
        page.wait_for_timeout(100)
    came = page.evaluate("document.documentElement.dataset.mgFrom")
    return f"{painted:9.2f} {ready:9.2f} {ran:9.2f}   {came}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site",
                        help="built by make site")
    parser.add_argument("--lesson", default="02_graph")
    parser.add_argument("--browsers", type=int, default=2)
    parser.add_argument("--visits", type=int, default=3)
    asked = parser.parse_args()
    if not (asked.site / "index.html").exists():
        parser.error(f"--site: there is no site in {asked.site}; make site builds one")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        parser.error("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    running = server(asked.site)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{running.server_port}/lessons/{asked.lesson}/"
    print("seconds: the text is painted; after Run all, Python is ready; all blocks have run")
    with sync_playwright() as driver:
        for _ in range(asked.browsers):
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(120_000)
            for _ in range(asked.visits):
                print(visit(page, address), flush=True)
            browser.close()
    running.shutdown()


if __name__ == "__main__":
    main()
