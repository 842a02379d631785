"""The project's prose by kind of text, without code, tables, headings, output and formulas."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_NOT_PROSE = re.compile(
    r"```.*?```|<!--.*?-->|<[^>]+>|^\|.*?$|!\[[^\]]*\]\([^)]*\)|^#.*?$", re.DOTALL | re.MULTILINE)
#: Comments for tools.
_PRAGMA = re.compile(r"#\s*(type|noqa|pragma|mypy|ruff)\b")


def corpora(root: Path) -> dict[str, str]:
    """Return all prose of a checkout, by where its readers meet it."""
    pages = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md",
             *sorted((root / "docs" / "en").glob("*.md"))]
    words = [of_words(path) for path in sorted((root / "lessons").glob("[0-9]*.toml"))]
    return {
        "README, docs": joined(of_page(path) for path in pages),
        "lessons": joined(map(of_page, sorted((root / "lessons").glob("[0-9]*.md")))),
        "tasks, hints": joined(tasks for tasks, _ in words),
        "verdicts": joined(verdicts for _, verdicts in words),
        "minigrad": joined(map(of_code, sorted((root / "minigrad").rglob("*.py")))),
        "minigrad_course": joined(map(of_code, sorted((root / "minigrad_course").rglob("*.py")))),
    }


def joined(texts: Iterable[str]) -> str:
    """Return texts as paragraphs of one."""
    return "\n\n".join(texts)


def of_page(path: Path) -> str:
    """Return the prose of a Markdown page; for a lesson, without the appendix on its file."""
    text = path.read_text(encoding="utf-8").partition("## The rest of the file")[0]
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", _NOT_PROSE.sub(" ", text))
    return re.sub(r"\$[^$]*\$", "MATH", re.sub(r"`[^`]*`", "CODE", text))


def of_words(path: Path) -> tuple[str, str]:
    """Return the tasks and hints of a stage, and its verdicts."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    tasks = []
    for hole in data.get("hole", {}).values():
        tasks += [re.sub(r"^  .*$", "", hole.get("task", ""), flags=re.MULTILINE),
                  *hole.get("hints", ())]
    verdicts = data.get("symptoms", {}).values()
    tasks_text, verdicts_text = (re.sub(r"`[^`]*`", "CODE", joined(map(str, parts)))
                                 for parts in (tasks, verdicts))
    return tasks_text, verdicts_text


def of_code(path: Path) -> str:
    """Return the docstrings and the comments of a module."""
    source = path.read_text(encoding="utf-8")
    parts = [*docstrings(ast.parse(source)), *comments(source)]
    return re.sub(r"`+[^`]*`+", "CODE", joined(parts))


def docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a module, each without its examples."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield (ast.get_docstring(node) or "").partition(">>>")[0]


def comments(source: str) -> Iterator[str]:
    """Yield the comments of a module, except those for tools."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not _PRAGMA.match(token.string):
            yield token.string.lstrip("#: ")
