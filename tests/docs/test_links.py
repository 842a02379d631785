"""Every relative link of every Markdown file works, in a checkout and on the site."""

from __future__ import annotations

import doctest
import posixpath
import re
from pathlib import Path

import pytest
import repository_links
from made import made_pages
from repository_links import with_site_anchors, with_site_links

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "en"
#: Folders of things that are built or installed.
BUILT = {"build", "dist", "node_modules", "__pycache__"}
FILES = sorted(
    path for path in ROOT.rglob("*.md")
    if not any(part in BUILT or (part.startswith(".") and part != ".github")
               for part in path.relative_to(ROOT).parts[:-1])
    and not (ROOT / path.relative_to(ROOT).parts[0] / "pyvenv.cfg").exists())
PAGES = sorted(DOCS.rglob("*.md"))
MADE = made_pages()


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def without_code(text: str) -> str:
    text = re.sub(r"^ *(`{3,}|~{3,}).*?^ *\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "code", text)


def links(text: str) -> list[str]:
    """Return the targets of a text's links and pictures, including HTML ones."""
    text = without_code(text)
    found = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", text)
    found += re.findall(r"^\[[^\]]+\]: (\S+)", text, re.MULTILINE)
    found += re.findall(r"<[a-z][^<>]*?\b(?:href|src|srcset)=\"([\w./#-]+)\"", text)
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """Return the anchors of a text that work both on a code host and on the site."""
    text = re.sub(r"^ *(`{3,}).*?^ *\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)
    found = set(re.findall(r'<a id="([^"]+)"></a>', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        words = re.sub(r"[^\w\s-]", "", words).strip().lower()
        on_host, on_site = words.replace(" ", "-"), re.sub(r"[-\s]+", "-", words)
        if on_host == on_site:
            found.add(on_host)
    return found


def broken(file: Path) -> list[str]:
    """Return the links of a file that lead nowhere in a checkout."""
    found = []
    for link in links(file.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.is_relative_to(ROOT) or not target.exists() or (
                anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@pytest.mark.parametrize("file", FILES, ids=name)
def test_every_relative_link_leads_to_a_file_and_a_heading(file):
    assert not broken(file)


def test_the_files_that_people_read_first_are_among_them():
    names = {name(file) for file in FILES}
    assert {"README.md", "CONTRIBUTING.md", "docs/en/index.md", "minigrad/README.md",
            "lessons/00_chain_rule.md", "site/README.md"} <= names


@pytest.mark.parametrize("text", [
    "[a](lessons/index.md)", "[a](README.md#no-such-heading)", '<a href="lessons/00/">a</a>',
    "![a](docs/en/assets/none.svg)", "[a](../outside.md)", "[a]: none.md", "[`x`](none.md)"])
def test_a_broken_link_is_found(text, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    (tmp_path / "README.md").write_text(f"# Heading\n\n{text}\n", encoding="utf-8")
    assert len(broken(tmp_path / "README.md")) == 1


def test_links_within_code_are_not_followed():
    assert not links("`[a](none.md)`\n\n```text\n[b](none.md)\n```\n") and links("[`a`](x.md)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_written_page_leads_to_pages_of_the_site(page):
    address = page.relative_to(DOCS).as_posix()
    text = page.read_text(encoding="utf-8")
    shown = with_site_links(text, f"docs/en/{address}", address)
    assert len(links(shown)) == len(links(text)), "a link leads to a file that no page shows"
    for link in re.findall(r"\]\((?![a-z]+:|#)([^)\s#]+)", without_code(shown)):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(address), link))
        assert place in MADE or (DOCS / place).is_file(), link


def test_pages_of_the_site_are_named_once_and_are_there():
    for path, page in repository_links.PAGES.items():
        assert (ROOT / path).exists() and page in MADE


def test_examples_of_the_rewriting():
    failed, run = doctest.testmod(repository_links)
    assert run and not failed


def test_code_is_left_as_it_is():
    text = '```markdown\n[a](../../CHANGELOG.md)\n<a id="a"></a>\n\n# A\n```\n'
    assert with_site_anchors(with_site_links(text, "docs/en/x.md", "x.md")) == text


def test_a_link_of_html_to_a_file_without_a_page_is_refused():
    with pytest.raises(ValueError, match="no page shows"):
        with_site_links('<a href="../../LICENSE">', "docs/en/x.md", "x.md")
