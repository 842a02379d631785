"""Documents are plainly said: no sentence has more than 30 words.

Left out are code blocks, tables, comments and the addresses of links; code within a line is a word.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST = 30

PAGES = {path.relative_to(ROOT).as_posix(): path
         for path in (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))}

#: A sentence ends with a mark, perhaps in brackets or stars, before a space or the paragraph's end.
END = re.compile(r"(?<=[.!?])[)*_\"]*(?=\s|\Z)")


def sentences(text: str) -> list[str]:
    """Return the sentences of a page, each with single spaces."""
    text = re.sub(r"^ *```.*?^ *```$|<!--.*?-->", "\n", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ *\|.*$|^#+ .*$|^ *</?\w+[^>]*>$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]+`", "code", text)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)", text):
        found += [" ".join(each.split()) for each in END.split(paragraph)]
    return [each for each in found if each]


def words(sentence: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


def long_ones(text: str) -> list[str]:
    return [f"{words(each)} words: {each}" for each in sentences(text) if words(each) > MOST]


@pytest.mark.parametrize("name", PAGES)
def test_no_sentence_is_too_long(name):
    told = long_ones(PAGES[name].read_text(encoding="utf-8"))
    assert not told, "\n".join(told)


def test_a_long_sentence_is_found():
    long = "word " * 31
    assert len(long_ones(f"Short. {long.strip()}. Short.\n")) == 1
    assert len(long_ones(f"- Short\n- {long}\n")) == 1
    assert not long_ones(f"| {long} |\n\n```text\n{long}\n```\n\n<!-- {long} -->\n\n# {long}\n")
    assert not long_ones("`" + long + "`. [A link](a) " * 12)
    assert sentences("It is 0.5 of *it.* See `a.b`. Is it?") == ["It is 0.5 of *it.", "See code.",
                                                                  "Is it?"]
