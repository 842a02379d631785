"""A published site: its address, its links shown elsewhere, and its page for what is missing."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import publish
import pytest
import serve

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {"site_name": "minigrad", "site_description": "A <b> & c.",
          "site_url": "https://example.org/minigrad/"}


def tags(text: str) -> dict[str, str]:
    found: dict[str, str] = {}

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            told = dict(attributes)
            found[told.get("property") or told["name"]] = told["content"]

    Reader().feed(text)
    return found


def test_a_link_to_a_page_is_shown_with_its_title_words_and_picture():
    page = SimpleNamespace(title='A "title"', meta={"description": "Its words."},
                           is_homepage=False, canonical_url="https://example.org/minigrad/a/")
    told = tags(publish.head_of(page, CONFIG))
    assert told["og:title"] == 'A "title" · minigrad'
    assert told["og:description"] == "Its words." and told["og:url"] == page.canonical_url
    picture = told["og:image"].removeprefix(CONFIG["site_url"])
    header = (ROOT / "docs/en" / picture).read_bytes()[:24]
    size = (int.from_bytes(header[16:20]), int.from_bytes(header[20:24]))
    assert size == (int(told["og:image:width"]), int(told["og:image:height"])) == (1200, 630)
    home = SimpleNamespace(title="Home", meta={}, is_homepage=True,
                           canonical_url=CONFIG["site_url"])
    assert tags(publish.head_of(home, CONFIG))["og:title"] == "minigrad: A <b> & c."


def test_the_address_is_one_setting_which_the_workflow_gives():
    plan = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (default,) = re.findall(r'^site_url: !ENV \[SITE_URL, "(.*)"\]$', plan, re.MULTILINE)
    assert default.endswith("/")
    workflow = (ROOT / ".github/workflows/pages.yml").read_text(encoding="utf-8")
    assert "make site PYTHON=python SITE_URL=${{ steps.pages.outputs.base_url }}/" in workflow
    (icon,) = re.findall(r"favicon: (.*)", plan)
    assert (ROOT / "docs/en" / icon).is_file()


@pytest.fixture
def running(tmp_path):
    (tmp_path / "sitemap.xml").write_text("<loc>https://example.org/minigrad/</loc>")
    (tmp_path / "404.html").write_text("nothing here")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/index.html").write_text("a page")
    server = serve.server(tmp_path)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_site_is_served_at_its_root_and_at_the_path_that_it_will_have(running):
    for address in ("/a/", "/minigrad/a/"):
        with urllib.request.urlopen(running + address) as answer:
            assert answer.read() == b"a page"


def test_a_missing_page_is_answered_by_the_sites_own(running):
    for address in ("/b/", "/minigrad/b/c/"):
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(running + address)
        assert error.value.code == 404 and error.value.read() == b"nothing here"
        assert error.value.headers["Cross-Origin-Opener-Policy"] == "same-origin"
