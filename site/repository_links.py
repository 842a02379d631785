"""Links between files of the repository, rewritten to lead from page to page of the site.

The Markdown files link to each other as files, so that every link works in a checkout and on a
code host too. `tests/docs/test_links.py` follows them there.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

__all__ = ["page_of", "with_site_anchors", "with_site_links"]

DOCS = "docs/en/"
#: The pages that show a file or a folder from outside of `docs/en`.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "exercises": "exercises/index.md",
    "lessons": "lessons/index.md",
    "minigrad": "api/index.md",
    "minigrad/ops": "ops/index.md",
    "site/licences": "licences.md",
}
FENCED = re.compile(r"^(`{3,})[^`\n]*$.*?^\1`*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
HREF = re.compile(r'(?<=\bhref=")(?![a-z]+:|#)([^"#]+)')
ANCHORED = re.compile(r'^<a id="([\w-]+)"></a>\n\n(#+ .*)$', re.MULTILINE)


def page_of(path: str) -> str | None:
    """Return the address of the page that shows a file or folder, or None if none does.

    >>> page_of("lessons/00_chain_rule.md"), page_of("docs/en/gpu.md"), page_of("minigrad/ops")
    ('lessons/00_chain_rule.md', 'gpu.md', 'ops/index.md')
    >>> page_of("benchmarks/README.md")
    """
    if path in PAGES:
        return PAGES[path]
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return path if re.fullmatch(r"lessons/\w+\.md", path) else None


def with_site_links(text: str, file: str, address: str) -> str:
    """Return the Markdown of a file with links that work on its page, at `address`.

    A link to a file that no page shows becomes its words.

    >>> with_site_links("[a](../../lessons/03_engine.md#x), [b](../../LICENSE), [c](gpu.md)",
    ...                 "docs/en/index.md", "index.md")
    '[a](lessons/03_engine.md#x), b, [c](gpu.md)'
    >>> with_site_links('<a href="../../lessons/03_engine.md">', "docs/en/x.md", "x.md")
    '<a href="../lessons/03_engine/">'
    """
    def target(link: str) -> str | None:
        return page_of(posixpath.normpath(posixpath.join(posixpath.dirname(file), link)))

    def link(found: re.Match[str]) -> str:
        page = target(found[2])
        if page is None:
            return found[1]
        here = posixpath.relpath(page, posixpath.dirname(address) or ".")
        return f"[{found[1]}]({here}{found[3] or ''})"

    def href(found: re.Match[str]) -> str:
        page = target(found[1])
        if page is None:
            raise ValueError(f"{file}: no page shows {found[1]}")
        here = posixpath.relpath(_url(page), _url(address))
        return here if posixpath.splitext(page)[1] != ".md" else f"{here}/"

    return _outside_of_code(text, lambda part: HREF.sub(href, LINK.sub(link, part)))


def with_site_anchors(text: str) -> str:
    """Return Markdown in which an anchor before a heading is the heading's own.

    >>> with_site_anchors('<a id="memory"></a>\\n\\n## Does memory grow?')
    '## Does memory grow? { #memory }'
    """
    return _outside_of_code(text, lambda part: ANCHORED.sub(r"\2 { #\1 }", part))


def _url(address: str) -> str:
    """Return the folder that MkDocs makes of a page."""
    return re.sub(r"(^|/)index$", "", address.removesuffix(".md")) or "."


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to the parts of a text between its fenced blocks."""
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [change(text[end:block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])
