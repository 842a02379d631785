"""Pictures to play with: `<!-- widget: name key=value -->` in a page becomes a drawn figure.

Node runs the same code that the reader's browser will run, so the picture and its sentence are in
the page before any script is.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

from node_process import Node

__all__ = ["Figures", "copy_scripts"]

WIDGETS = Path(__file__).parent / "widgets"
ESBUILD = Path(__file__).parent / "node_modules" / ".bin" / "esbuild"
MAP = '<div class="mg-map">'
COMMENT = re.compile(r'<!-- widget: ([\w-]+)((?: [\w-]+=(?:"[^"]*"|\S+))*) -->')


class Figures(Node):
    """Draws figures; questions and answers are those of node.mjs."""

    def __init__(self) -> None:
        super().__init__(WIDGETS / "node.mjs", "figures")

    @staticmethod
    def in_page(page: str) -> bool:
        """Whether a page asks for a figure, or has the map of the course."""
        return "<!-- widget: " in page or MAP in page

    def draw(self, page: str, root: str) -> str:
        """Return a page's HTML with its figures drawn, and the script that brings them to life.

        `root` leads from the page to the site's root.
        """
        seen: dict[str, int] = {}

        def put(match: re.Match[str]) -> str:
            name, words = match[1], shlex.split(match[2])
            seen[name] = seen.get(name, 0) + 1
            options = dict(word.split("=", 1) for word in words)
            place = name if seen[name] == 1 else f"{name}-{seen[name]}"
            drawn: str = self.ask({"draw": name, "options": options, "name": place})
            return drawn

        page = COMMENT.sub(put, page)
        scripts = ["frame"] * bool(seen) + ["course_map"] * (MAP in page)
        tags = "".join(f'<script type="module" src="{root}widgets/{name}.js"></script>'
                       for name in scripts)
        return page.replace("</body>", f"{tags}</body>", 1)


def copy_scripts(to: Path) -> None:
    """Write the widgets' modules, without comments and spaces, into the folder `to`."""
    sources = [str(path) for path in sorted(WIDGETS.glob("*.js"))]
    command = [str(ESBUILD), *sources, "--minify", "--format=esm", "--target=es2022",
               "--log-level=warning", f"--outdir={to}"]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("site: esbuild could not write the widgets (its message is above)")
