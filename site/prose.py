"""Small pieces of Markdown that several kinds of pages are made of."""

from __future__ import annotations

import json
import re

__all__ = ["anchor", "code", "fenced", "front_matter", "summary", "table"]


def front_matter(**values: object) -> str:
    """Return the head of a page that tells MkDocs about it.

    >>> print(front_matter(title="A: b"))
    ---
    title: "A: b"
    ---
    <BLANKLINE>
    """
    plain = {key: value.replace("\\*", "*") if isinstance(value, str) else value
             for key, value in values.items()}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in plain.items()]
    return f"---\n{''.join(lines)}---\n"


def code(text: str, language: str = "python", options: str = "") -> str:
    """Return a block of code; its fence is longer than any within."""
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks}{language}{f' {options}' if options else ''}\n{text.rstrip()}\n{ticks}\n"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a table; bars within a cell are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"
                   for line in lines)


def fenced(docstring: str) -> str:
    """Return a docstring as Markdown: examples become blocks of code, addresses links.

    >>> fenced("Adds.\\n\\n>>> 1 + 1\\n2").splitlines()
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    lines: list[str] = []
    inside = False
    for line in re.sub(r"(?<!<)\bhttps?://[^\s)>]*[^\s)>.,;:]", r"<\g<0>>", docstring).splitlines():
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            indent = len(line) - len(line.lstrip())
            lines += ["", "```pycon"] if lines and lines[-1] else ["```pycon"]
            inside = True
        elif inside and not line.strip():
            lines += ["```", ""]
            inside = False
            continue
        lines.append(line[indent:] if inside else _starred(line))
    return "\n".join([*lines, "```"] if inside else lines)


def summary(docstring: str | None) -> str:
    """Return the first sentence's line of a docstring: up to the first empty line.

    >>> summary("A shape (*, I), not `*args`.\\n\\nMore.")
    'A shape (\\\\*, I), not `*args`.'
    """
    return _starred(" ".join((docstring or "").strip().partition("\n\n")[0].split()))


def _starred(text: str) -> str:
    """Return prose in which the star of a shape is no mark of Markdown's."""
    return re.sub(r"\((\*)([,)])", r"(\\\1\2", text)


def anchor(text: str) -> str:
    """Return the identifier of a heading.

    >>> anchor("01.2 A and `b`")
    '012-a-and-b'
    """
    words = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"[-\s]+", "-", words)
