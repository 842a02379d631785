"""How long a reader of the site waits on a slow line, at a first visit and at a second one.

    python benchmarks/site_visit.py            build/site, on lines of 1.6 and of 10 Mbit/s
    python benchmarks/site_visit.py --json benchmarks/results/site_visit-DATE.json

The server packs its answers as hosts do and holds them back as the line would: a round trip for
each, then all of them together at the line's rate.  So workers and the service worker wait too,
which the browser's own throttle leaves out.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import gzip
import http.server
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import _harness as harness
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "site"))
import serve  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
PIECE = 8192
WATCH = """window.shifts = 0;
new PerformanceObserver(list => list.getEntries().forEach(each => { shifts += each.value; }))
    .observe({type: "layout-shift", buffered: true})"""
FIGURE = "document.documentElement.dataset.mgWidgets === 'yes'"


@functools.cache
def packed(file: Path) -> bytes:
    return gzip.compress(file.read_bytes(), 6)


class Line:
    """What is sent waits for its turn, at `rate` bytes a second; `trip` is a round trip's time."""

    def __init__(self, rate: float, trip: float) -> None:
        self.rate, self.trip, self.sent, self.free = rate, trip, 0, 0.0
        self.lock = threading.Lock()

    def carry(self, size: int) -> None:
        """Wait until so many bytes have gone over the line."""
        with self.lock:
            self.free = max(self.free, time.monotonic()) + size / self.rate
            self.sent, until = self.sent + size, self.free
        time.sleep(max(0.0, until - time.monotonic()))


def handler(line: Line, built: Path) -> Any:
    """Return a handler of requests that answers over a line."""
    class Slow(serve.Handler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            time.sleep(line.trip)
            file = Path(self.translate_path(self.path))
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file():
                self.send_error(404)
                return
            tag = f'"{file.stat().st_mtime_ns:x}"'
            if self.headers["If-None-Match"] == tag:
                self.send_response(304)
                self.end_headers()
                return
            body = min(packed(file), file.read_bytes(), key=len)
            self.send_response(200)
            self.send_header("ETag", tag)
            self.send_header("Content-Type", self.guess_type(str(file)))
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=600")
            if body is packed(file):
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # the page was left
                for start in range(0, len(body), PIECE):
                    piece = body[start:start + PIECE]
                    line.carry(len(piece))
                    self.wfile.write(piece)

        def log_message(self, *given: Any) -> None: pass

    return functools.partial(Slow, directory=str(built))


def home(page: Any, site: str) -> dict[str, float]:
    """Open the first page; return its times in seconds, and how far its text moved."""
    began = time.monotonic()
    page.goto(site, wait_until="commit")
    page.wait_for_function(FIGURE, timeout=300_000)
    figure = time.monotonic() - began
    page.wait_for_load_state("load")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return {"painted": round(paint / 1000, 2), "figure": round(figure, 2),
            "shift": round(page.evaluate("shifts"), 4)}


def python(page: Any, site: str) -> float:
    """Run the first block of a lesson; return the seconds from the press to its result."""
    page.goto(f"{site}lessons/02_graph/", wait_until="commit")
    page.locator("html[data-mg-ready]").wait_for(state="attached", timeout=300_000)
    block = page.locator(".mg-block:has(.mg-tools)").first
    began = time.monotonic()
    block.get_by_role("button", name="Run", exact=True).click()
    block.locator(".mg-out").wait_for(timeout=600_000)
    return round(time.monotonic() - began, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("lines", nargs="*", default=["1.6/150", "10/40"],
                        help="Mbit a second / milliseconds of a round trip")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the report here")
    given = parser.parse_args()
    report: dict[str, Any] = {"date": harness.now(), "machine": harness.machine(), "visits": []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for words in given.lines:
            rate, trip = map(float, words.split("/"))
            line = Line(rate * 1e6 / 8, trip / 1000)
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(line, given.site))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            site = f"http://127.0.0.1:{server.server_port}/"
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.add_init_script(WATCH)
            for visit in ("first", "second"):
                page = context.new_page()
                before = line.sent
                times = {**home(page, site), "python": python(page, site)}
                report["visits"].append({"rate": rate, "trip": trip, "visit": visit, **times,
                                         "bytes": line.sent - before})
                print(report["visits"][-1], flush=True)
                page.wait_for_timeout(3000)  # for what is kept meanwhile
                page.close()
            context.close()
            server.shutdown()
        browser.close()
    report["machine"]["load_average_at_end"] = harness.machine()["load_average"]
    if given.json:
        harness.write_json(given.json, report)


if __name__ == "__main__":
    main()
