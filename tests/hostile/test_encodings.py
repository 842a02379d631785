"""Code that hides in an encoding: what Python would read decides, for `run` and `grade` alike."""

from __future__ import annotations

import ast
import encodings.aliases
import itertools
import random
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.plain_text import Refused, decoded, encoded, refusal
from minigrad_course.grading.bundle import make_bundle
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.sandbox import Sandbox
from tests.support.attacks import LIMITS, MODULE, SOLUTION, STAGE, STUB

#: All encodings of Python's, by every name that a file can declare.
NAMES = sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values(), "idna", "uu",
                "undefined", "unicode_escape", "raw_unicode_escape", "unicode-escape", "UTF-7",
                "zz_top"})
UTF_8 = {"utf_8", "utf8", "u8", "utf", "cp65001", "utf8_ucs2", "utf8_ucs4", "utf_8_sig"}
#: Where a file can declare its encoding.
PLACES = {
    "the first line": b"# -*- coding: %s -*-\n", "a byte order mark": b"\xef\xbb\xbf# coding=%s\n",
    "the second line": b"#!python\n# vim: set fileencoding=%s :\n",
    "after a blank line": b"\x0c\t\n \x0c# coding: %s\n", "after CR": b"\r# coding:%s\r",
    "a byte order mark and CR": b"\xef\xbb\xbf\r\n# xcoding: %s\r\n",
    "after another name": b"# coding:\xc3\xa9 encoding: %s\n",
}


@pytest.mark.parametrize("place", PLACES)
def test_every_other_encoding_is_refused_by_name(place, tmp_path):
    file = tmp_path / "handin.py"
    for name in NAMES:
        file.write_bytes(PLACES[place] % name.encode() + b"x = 1\n")
        why = refusal(file)
        if name in UTF_8 and not PLACES[place].startswith(b"\xef\xbb\xbf"):
            assert why == ""
        elif name not in UTF_8:
            assert f"declares the encoding {name};" in why, name
        else:  # Python takes only some spellings together with a byte order mark
            assert (why == "") == _is_python(file.read_bytes())
        assert take_in(file, STAGE).problems == ({MODULE: why} if why else {})


@pytest.mark.parametrize(("codec", "told"), [
    ("utf-16", "is UTF-16"), ("utf-16-le", "null bytes"), ("utf-32", "is UTF-32"),
    ("utf-7", ""), ("latin-1", "is not UTF-8"), ("gb18030", "is not UTF-8"), ("utf-8-sig", ""),
    ("utf-8", "")])
def test_bytes_in_another_encoding_are_refused(codec, told, tmp_path):
    """Without a declaration Python reads UTF-8, so UTF-7 is harmless text."""
    (tmp_path / "handin.py").write_bytes("x = 1  # é\n".encode(codec))
    assert told in refusal(tmp_path / "handin.py")
    assert bool(told) == bool(refusal(tmp_path / "handin.py"))


def _hidden() -> dict[str, bytes]:
    """The exercise as shipped, with its solution in what looks like a comment."""
    escaped = "# \\n" + SOLUTION.replace("\\", "\\\\").replace("\n", "\\n")
    seven = "# " + ("\n" + SOLUTION).encode("utf-7").decode().replace("\n", "+AAo-")
    kinds = {"unicode_escape": escaped, "raw_unicode_escape": escaped.replace("\\n", "\\u000a"),
             "utf-7": seven}
    return {f"{name}, {place}": PLACES[place] % name.encode() + f"{STUB}\n{text}\n".encode()
            for (name, text), place in itertools.product(kinds.items(), PLACES)}


@pytest.mark.parametrize("attack", _hidden())
def test_hidden_code_gets_no_points(attack, tmp_path):
    file = tmp_path / "handin.py"
    file.write_bytes(_hidden()[attack])
    result = grade(STAGE, take_in(file, STAGE), Sandbox("limits"), limits=LIMITS)
    assert result.points == 0
    assert all("declares the encoding" in hole.reason for hole in result.holes)


def test_a_composed_text_declares_no_encoding(tmp_path):
    """A text that we compose can begin with a line from further down in the learner's file."""
    for attack, text in list(_hidden().items())[::4]:
        written = text.decode("utf-8-sig")
        bundle = make_bundle(STAGE, {MODULE: written}, tmp_path / attack)
        data = (bundle / "site" / "minigrad" / MODULE).read_bytes()
        assert ast.dump(ast.parse(data)) == ast.dump(ast.parse(written)) != _tree(text), attack


def test_the_parent_parses_what_python_runs():
    pieces = ["\ufeff", "#", " ", "\n", "\r", "\r\n", "\x0c", "\x0b", "\x1c", "\u2028", "'''", "\\",
              "# coding: unicode_escape", "coding=utf-7", "# -*- coding: utf8 -*-", "coding:", "é",
              "# coding: utf-8", "x = 1", "#\\ny = 2\n", "# +AAo-z = 3\n", "# coding: latin-1"]
    rng = random.Random(41)
    taken = 0
    for _ in range(2000):
        text = "".join(rng.choices(pieces, k=rng.randrange(1, 8)))
        assert _tree(encoded(text)) == _tree(text), text
        try:
            read = decoded(text.encode(), Path("handin.py"))
        except Refused:
            continue
        taken += 1
        assert _tree(text.encode()) == _tree(read), text
    assert taken > 1000


def _tree(text: bytes | str) -> str:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return "no Python"


def _is_python(text: bytes) -> bool:
    return _tree(text) != "no Python"
