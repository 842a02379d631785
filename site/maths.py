"""Formulas, drawn by KaTeX while the site is built, so that no script has to run for them."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

__all__ = ["Maths", "copy_styles"]

SITE = Path(__file__).parent
KATEX = SITE / "node_modules" / "katex"
#: What the Markdown extension arithmatex makes of $...$ and $$...$$, and a mark right after it.
FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>([.,;:?!)]?)',
    re.DOTALL)


class Maths:
    """A process of Node's that draws formulas as long as it is kept."""

    def __init__(self) -> None:
        if not (KATEX / "package.json").exists():
            raise FileNotFoundError(f"KaTeX is not in {KATEX}: `make site` puts it there")
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("Node, which draws the formulas, is not installed")
        self.process = subprocess.Popen([node, SITE / "maths.mjs"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def draw(self, page: str) -> str:
        """Return a page's HTML with its formulas drawn; ValueError for one that KaTeX refuses."""
        found = [(html.unescape(inline or display), not inline)
                 for _, inline, display, _ in FORMULA.findall(page)]
        if not found:
            return page
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(found) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise ValueError(f"KaTeX cannot draw one of {[text for text, _ in found]}")
        drawn = iter(json.loads(answer))

        def put(match: re.Match[str]) -> str:
            formula, mark = next(drawn), match[4]
            # A line of text may end behind a formula, but a mark is not to begin the next one.
            return f'<span class="mg-nowrap">{formula}{mark}</span>' if mark else formula

        return FORMULA.sub(put, page)

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process.wait()


def copy_styles(to: Path) -> None:
    """Copy KaTeX's style sheet and fonts, of each font the one format that all browsers read."""
    (to / "fonts").mkdir(parents=True, exist_ok=True)
    styles = (KATEX / "dist" / "katex.min.css").read_text(encoding="utf-8")
    styles = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)', "", styles)
    (to / "katex.min.css").write_text(styles, encoding="utf-8")
    for font in (KATEX / "dist" / "fonts").glob("*.woff2"):
        shutil.copy(font, to / "fonts")
