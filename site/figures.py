"""Pictures to play with: `<!-- widget: name key=value -->` in a page becomes a drawn figure.

Node runs the same code that the reader's browser will run, so the picture and its sentence are in
the page before any script is.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

__all__ = ["Figures", "copy_scripts"]

WIDGETS = Path(__file__).parent / "widgets"
ESBUILD = Path(__file__).parent / "node_modules" / ".bin" / "esbuild"
MAP = '<div class="mg-map">'
COMMENT = re.compile(r"<!-- widget: ([\w-]+)((?: [\w-]+=\S+)*) -->")


class Figures:
    """A process of Node's that draws figures as long as it is kept."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("Node, which draws the figures, is not installed")
        self.process = subprocess.Popen([node, WIDGETS / "node.mjs"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8")

    @staticmethod
    def in_page(page: str) -> bool:
        """Whether a page asks for a figure, or has the map of the course."""
        return "<!-- widget: " in page or MAP in page

    def ask(self, question: dict[str, Any]) -> Any:
        """Return the answer to one question, as node.mjs says; ValueError if there is none."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise ValueError(f"no figure is drawn for {question}")
        return json.loads(answer)

    def draw(self, page: str, root: str) -> str:
        """Return a page's HTML with its figures drawn, and the script that brings them to life.

        `root` leads from the page to the site's root.
        """
        seen: dict[str, int] = {}

        def put(match: re.Match[str]) -> str:
            name, words = match[1], match[2].split()
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

    def close(self) -> None:
        """End the process."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        self.process.wait()


def copy_scripts(to: Path) -> None:
    """Write the widgets' modules, without comments and spaces, into the folder `to`."""
    sources = [str(path) for path in sorted(WIDGETS.glob("*.js"))]
    command = [str(ESBUILD), *sources, "--minify", "--format=esm", "--target=es2022",
               "--log-level=warning", f"--outdir={to}"]
    if subprocess.run(command, check=False).returncode:
        raise SystemExit("site: esbuild could not write the widgets (its message is above)")
