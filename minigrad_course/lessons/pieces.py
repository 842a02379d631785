"""Split a lesson into the pieces that a reader sees: text, code, pictures and folded answers.

The terminal and the notebook magics both show these pieces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ..content.lesson_blocks import Block, parse, picture_file, picture_words
from ..content.stages import Stage
from .plain_math import plain

__all__ = ["Piece", "pieces_of", "sections"]

_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_AUTOLINK = re.compile(r"<(https?://[^>\s]+)>")
#: How a paragraph begins that belongs to the list before it.
_CONTINUED = re.compile(r"[ ]|[-*] |\d+\. ")


@dataclass
class Piece:
    """A heading, a text, a block that runs, code to read, a picture, or an answer."""

    kind: str  # "heading", "text", "run", "code", "picture" or "answer"
    text: str
    level: int = 0  # of a heading
    language: str = ""  # of code
    printed: str = ""  # the output stored in the lesson
    raises: bool = False  # whether that output is an error
    predicted: bool = False  # whether a reader should guess it first
    caption: str = ""  # of a picture, whose text describes what it shows
    file: Path | None = None  # of a picture
    inside: list[Piece] = field(default_factory=list)  # of an answer


def pieces_of(stage: Stage, bare: bool = True) -> list[Piece]:
    """Return the pieces of a stage's lesson; if `bare`, with formulas and links as plain text.

    >>> from minigrad_course.content.stages import find_stage
    >>> [piece.kind for piece in pieces_of(find_stage("00"))][:4]
    ['heading', 'text', 'picture', 'text']
    """
    top: list[Piece] = []
    levels = [top]
    for block in parse(stage.text(), stage.lesson.name):
        if block.kind in ("text", "rest"):
            for line_group in _folded(block.text):
                if line_group == "</details>":
                    if len(levels) > 1:
                        levels.pop()
                elif (title := _SUMMARY.fullmatch(line_group)) is not None:
                    answer = Piece("answer", title[1])
                    levels[-1].append(answer)
                    levels.append(answer.inside)
                else:
                    levels[-1].extend(_words(line_group, bare))
        elif block.kind == "picture":
            alt, caption = picture_words(block)
            levels[-1].append(Piece("picture", alt, caption=plain(caption) if bare else caption,
                                    file=picture_file(stage, block.detail)))
        elif block.kind != "widget":
            levels[-1].append(_code(block))
    return top


def sections(pieces: list[Piece]) -> list[str]:
    """Return the titles of the sections: the second-level headings."""
    return [piece.text for piece in pieces if piece.kind == "heading" and piece.level == 2]


def _folded(text: str) -> list[str]:
    """Split text at the marks of answers, which are returned as `<summary>` and `</details>`."""
    cut = re.split(r"^(?:<details[^>]*>|(<summary>.*?</summary>|</details>))$", text, flags=re.M)
    return [each.strip("\n") for each in cut if each is not None and each.strip()]


def _words(text: str, bare: bool) -> list[Piece]:
    pieces = []
    for part in re.split(r"^(#+ .*)$", text, flags=re.M):
        if re.match(r"#+ ", part):
            marks, _, title = part.partition(" ")
            pieces.append(Piece("heading", title.replace("`", ""), len(marks)))
        elif part.strip():
            words = part.strip("\n")
            pieces.append(Piece("text", plain(_without_links(words)) if bare else words))
    return pieces


def _without_links(text: str) -> str:
    """Return Markdown whose links are plain words, with the addresses as notes below a paragraph.

    >>> print(_without_links("See [the manual](https://a.org/b) first.\\n\\nThen <https://c.org>."))
    See the manual [1] first.
    <BLANKLINE>
    [1] https://a.org/b
    <BLANKLINE>
    Then https://c.org.
    """
    made: list[str] = []
    addresses: list[str] = []
    paragraphs = text.split("\n\n")
    for paragraph, following in zip(paragraphs, [*paragraphs[1:], ""], strict=True):
        made.append(_AUTOLINK.sub(r"\1", _LINK.sub(partial(_link, addresses), paragraph)))
        if addresses and not _CONTINUED.match(following):
            made.append("  \n".join(f"[{number}] {address}"
                                    for number, address in enumerate(addresses, 1)))
            addresses.clear()
    return "\n\n".join(made)


def _link(addresses: list[str], found: re.Match[str]) -> str:
    """Return the words of a link, with the number of a note if it leads to the web."""
    words, address = found[1], found[2]
    if lesson := re.match(r"(\d\d\w?)_\w+\.md", address):
        return words if lesson[1] in words else f"{words} (lesson {lesson[1]})"
    if not address.startswith("http"):
        return words
    if address not in addresses:
        addresses.append(address)
    return f"{words} [{addresses.index(address) + 1}]"


def _code(block: Block) -> Piece:
    language = block.fence.strip("`")
    if not block.runs:
        return Piece("code", block.text, language=language)
    return Piece("run", block.text, language=language, printed=block.printed or "",
                 raises=block.kind == "raises", predicted=block.predicted)
