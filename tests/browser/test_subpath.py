"""The site below a path of its host, as code hosts serve it: its pages, and its own 404."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from serve import server

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_site_below_a_path_has_its_pages_and_its_own_404(chromium, built, tmp_path):
    environment = os.environ | {"SITE_URL": "http://127.0.0.1:8000/below/here/",
                                "NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir",
                    str(tmp_path)], env=environment, cwd=ROOT, check=True)
    running = server(tmp_path)
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    host = f"http://127.0.0.1:{running.server_port}"
    page, missing = chromium.new_page(), []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    try:
        page.goto(f"{host}/below/here/lessons/02_graph/")
        page.locator("html[data-mg-ready]").wait_for(state="attached")
        page.goto(f"{host}/below/here/")
        page.locator("html[data-mg-widgets]").wait_for(state="attached")
        assert missing == []
        for nowhere in ("no-such-page", "lessons/02_graph/no/such/page/"):
            address = f"{host}/below/here/{nowhere}"
            page.goto(address)
            assert missing == [address]  # its styles, scripts and fonts are found from any depth
            missing.clear()
            assert "There is no page here" in page.locator("h1").inner_text()
            links: list[str] = page.eval_on_selector_all(
                "article a", "all => all.map((each) => each.href)")
            assert len(links) > 4 and all(each.startswith(f"{host}/below/here/") for each in links)
            answers: list[Any] = [page.request.get(each) for each in links]
            assert all(each.ok for each in answers)
    finally:
        page.close()
        running.shutdown()
        running.server_close()
        thread.join()
