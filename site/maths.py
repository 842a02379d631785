"""Formulas, drawn by KaTeX while the site is built, so that no script has to run for them."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

from node_process import Node

__all__ = ["Maths", "copy_styles"]

SITE = Path(__file__).parent
KATEX = SITE / "node_modules" / "katex"
#: What the Markdown extension arithmatex makes of $...$ and $$...$$, and a mark right after it.
FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>([.,;:?!)]?)',
    re.DOTALL)


class Maths(Node):
    """Draws formulas."""

    def __init__(self) -> None:
        if not (KATEX / "package.json").exists():
            raise FileNotFoundError(f"KaTeX is not in {KATEX}: `make site` puts it there")
        super().__init__(SITE / "maths.mjs", "formulas")

    def draw(self, page: str) -> str:
        """Return a page's HTML with its formulas drawn; ValueError for one that KaTeX refuses."""
        found = [(html.unescape(inline or display), not inline)
                 for _, inline, display, _ in FORMULA.findall(page)]
        if not found:
            return page
        try:
            drawn = iter(self.ask(found))
        except ValueError:
            raise ValueError(f"KaTeX cannot draw one of {[text for text, _ in found]}") from None

        def put(match: re.Match[str]) -> str:
            formula, mark = next(drawn), match[4]
            # A line of text may end behind a formula, but a mark is not to begin the next one.
            return f'<span class="mg-nowrap">{formula}{mark}</span>' if mark else formula

        return FORMULA.sub(put, page)


def copy_styles(to: Path) -> None:
    """Copy KaTeX's style sheet and fonts, of each font the one format that all browsers read."""
    (to / "fonts").mkdir(parents=True, exist_ok=True)
    styles = (KATEX / "dist" / "katex.min.css").read_text(encoding="utf-8")
    styles = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)', "", styles)
    (to / "katex.min.css").write_text(styles, encoding="utf-8")
    for font in (KATEX / "dist" / "fonts").glob("*.woff2"):
        shutil.copy(font, to / "fonts")
