"""Prepares the site for publishing: how other sites show links to its pages."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

__all__ = ["head_of", "publish"]

PICTURE = "assets/preview.png"


def head_of(page: Any, config: Any) -> str:
    """Return the elements by which other sites show a link to a page, for the end of its head."""
    title = page.title if page.is_homepage else f"{page.title} · {config['site_name']}"
    if page.is_homepage:
        title = f"{config['site_name']}: {config['site_description']}"
    description = page.meta.get("description") or config["site_description"]
    told = {"og:type": "website" if page.is_homepage else "article",
            "og:site_name": config["site_name"], "og:title": title, "og:description": description,
            "og:url": page.canonical_url, "og:image": config["site_url"] + PICTURE,
            "og:image:alt": "A graph: values flow forward, gradients flow back",
            "og:image:width": "1200", "og:image:height": "630"}
    lines = [f'<meta property="{name}" content="{escape(text)}">' for name, text in told.items()]
    return "\n".join([*lines, '<meta name="twitter:card" content="summary_large_image">', ""])


def publish(built: Path) -> None:
    """Add to the built site what a code host looks for: no pass of Jekyll's over it."""
    (built / ".nojekyll").write_text("", encoding="utf-8")
