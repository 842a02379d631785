"""A page for each file of the package that an operation's page or a lesson leads to."""

from __future__ import annotations

from pathlib import Path

import op_pages
from course_stages import stages_of
from prose import code, front_matter

import minigrad

__all__ = ["source_name", "source_page", "source_pages"]

PACKAGE = Path(minigrad.__file__).parent


def source_name(path: str) -> str:
    """Return the name of a file's page, by the file's path in the package.

    >>> source_name("graph/node.py")
    'graph.node'
    """
    return path.removesuffix(".py").replace("/", ".")


def source_pages() -> dict[str, tuple[str, list[str]]]:
    """Return, by the page's name, each file's path in the package and what leads to it."""
    found: dict[str, tuple[str, list[str]]] = {}
    for module in op_pages.families():
        found[module] = (module.replace(".", "/") + ".py", ["[All operations](../ops/index.md)"])
    for stage in stages_of(PACKAGE.parent):
        for path in stage.modules:
            link = f"[Stage {stage.number}, {stage.words['title']}](../lessons/{stage.key}.md)"
            found.setdefault(source_name(path), (path, []))[1].append(link)
    return found


def source_page(path: str, links: list[str]) -> str:
    """Return a file's text as a page."""
    name = f"minigrad/{path}"
    text = (PACKAGE / path).read_text(encoding="utf-8")
    return (front_matter(title=name, hide=["navigation", "toc"], search={"exclude": True})
            + f"# `{name}`\n\n{' · '.join(links)}\n{{ .mg-facts }}\n\n"
            + code(text, "python", 'linenums="1"'))
