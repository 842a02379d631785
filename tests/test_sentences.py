"""Docstrings and comments are plain English: no private words, no sentence that opens on a clause.

The lists hold only what a regular expression can tell without doubt.  A reader can tell more: put
the standard term first, then one clause that says what is computed.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("minigrad", "minigrad_course")

#: Words and phrases, and what to write instead.
WORDS = {
    r"mend(?:s|ed|ing)?": "fix",
    r"nought": "zero",
    r"heart": "core",
    r"kin": "the members by name, or 'similar ...'",
    r"wholes": "what they are: batches, tensors, values",
    r"at once": "'immediately', 'together' or 'in one call'",
    r"one and the same": "the same",
    r"what is no": "'values that are not ...'",
    r"(?:by|for|from|of|to|with) what is": "the noun that it is",
    r"(?:by|for|in|of|to|with) whose": "two sentences, or 'with its ...'",
    r"(?:hence|lest|thence|whence|whereby|wherein|whereof|whereupon|whosoever)":
        "'so', 'from which', 'in which'",
    r"is told (?:by|that|what|where|which|who)": "'gets', 'is called with'",
    r"behind (?:its|the|their) back": "'without its counting', and the like",
    r"by (?:each|every) (?:input|leaf|parameter)": "'with respect to each ...'",
    r"(?:derivative|differentiat\w+) by (?:its|the|each|every|all|an?) \w+":
        "'with respect to ...'",
}

#: Words that open a sentence on a clause, and what to write instead.
OPENINGS = {
    "What": "name the thing: 'The result of ...', 'Return ...'",
    "Whatever": "'Any ...', 'Every ...'",
    "Who": "name the thing or the person",
    "Whoever": "'A caller that ...'",
    "Whose": "'The ... of ...'",
    "Whom": "name the thing or the person",
    "Where": "'If ...' for a condition, 'The place of ...' for a place",
    "Of": "begin with the noun: 'The first of equal maxima counts', not 'Of equal maxima ...'",
    "That": "'This ...', or name the thing",
    "Which": "name the thing, or 'This ...'",
}

WORD = re.compile(rf"\b(?:{'|'.join(f'({pattern})' for pattern in WORDS)})\b", re.IGNORECASE)
OPENING = re.compile(
    rf"(?:\A|(?<=[.!?:]\s)|(?<=\n\n))\s*\b({'|'.join(OPENINGS)})\b(?![^.!?]*\?)")
#: A trailing comment is no sentence, but it should not be a clause of a private grammar either.
CLAUSE = re.compile(r"\A(what|whose|whom)\b")
PRAGMA = re.compile(r"(type|noqa|pragma|mypy|ruff)\b")


def docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each docstring, without examples."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) \
                    and isinstance(first.value.value, str):
                lines = []
                example = False
                for line in first.value.value.splitlines():
                    example = line.strip().startswith(">>>") or (example and bool(line.strip()))
                    lines.append("" if example else line.strip())
                yield first.value.lineno, "\n".join(lines)


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text of each comment; lines below each other are one."""
    start, last, lines = 0, -1, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        text, row = token.string.lstrip("#:").strip(), token.start[0]
        if not token.line.lstrip().startswith("#"):
            yield row, text
        elif lines and row == last + 1:
            lines.append(text)
            last = row
        else:
            if lines:
                yield start, "\n".join(lines)
            start, last, lines = row, row, [text]
    if lines:
        yield start, "\n".join(lines)


def unquoted(text: str) -> str:
    """Return a text with code and quotations blanked."""
    return re.sub(r"`[^`]*`|\"[^\"\n]*\"", lambda m: re.sub(r"[^\n]", "_", m[0]), text)


def findings(source: str) -> list[tuple[int, str, str]]:
    """Return the line, the words and the advice for each finding in a file's text."""
    found = []
    for row, text in [*docstrings(ast.parse(source)), *comments(source)]:
        text = unquoted(text)
        if PRAGMA.match(text):
            continue
        for match in OPENING.finditer(text):
            line = row + text.count("\n", 0, match.start(1))
            found.append((line, f"{match[1]} ...", OPENINGS[match[1]]))
        if CLAUSE.match(text):
            found.append((row, f"{text.split()[0]} ...", "name the thing"))
        for match in WORD.finditer(text):
            line = row + text.count("\n", 0, match.start())
            advice = list(WORDS.values())[(match.lastindex or 1) - 1]
            found.append((line, " ".join(match[0].split()), advice))
    return found


FILES = {path.relative_to(ROOT).as_posix(): path
         for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}


@pytest.mark.parametrize("name", FILES)
def test_sentences_are_plain(name):
    told = [f"{name}:{line}: '{words}': write {advice}"
            for line, words, advice in findings(FILES[name].read_text(encoding="utf-8"))]
    assert not told, "\n" + "\n".join(told)


@pytest.mark.parametrize(("text", "words"), [
    ('"""What is kept."""', ["What ..."]),
    ('"""Return x.  Of two, the first."""', ["Of ..."]),
    ("x = 1  # what is kept", ["what ..."]),
    ("# It is\n# mended at once.", ["mended", "at once"]),
    ('"""What is a node?"""', []),
    ('"""Return `at_once`: "at once" means now."""', []),
    ('"""Return x.\n\n    >>> x  # what\n    1\n    """', []),
    ("# the whole array, in turn; a function of x", []),
    ("x: Any  # type: ignore[misc]  # whose type is not known", []),
])
def test_the_check_finds_what_it_should(text, words):
    assert [found[1] for found in findings(text)] == words
