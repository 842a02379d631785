"""Each sentence of the page on grading has its tests, or says why it has none.

`grading_claims.toml` lists them by their first words.  A sentence is one of a paragraph or of a
list's item; a row of a table counts as one.  Questions, bold labels and blocks of code have no
entry, and neither have the rows of the similarity's table, which is compared with its limits.
Names with `[...]` are attacks, which are tried on each sandbox that works.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "en" / "grading.md"
CLAIMS = tomllib.loads(
    Path(__file__).with_name("grading_claims.toml").read_text(encoding="utf-8"))
ENTRIES = [(part, start) for part, claims in CLAIMS.items() for start in claims]
#: Entries of sentences that no test holds; see the file's first lines.
UNTESTED = ("how", "elsewhere")
MEASURED = "measured:"


def sentences(text):
    """Return the parts and sentences of a page."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    part, found, lines = "", [], text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("#"):
            part = line.lstrip("# ")
        elif line.startswith("|"):
            is_head = after.startswith("|-") or line.startswith("|-")
            if not is_head and not re.match(r"\| \d\d[a-e]? \|", line):
                found.append((part, line.strip("| ")))
        elif not line.startswith("<a "):
            pieces = re.split(r"(?<=[.?!:])(?:\*\*|\))? +(?=[A-Z`*(\[]|minigrad )",
                              line.strip().removeprefix("- "))
            found += [(part, each.replace("**", "")) for each in pieces
                      if each and not each.endswith("?") and not re.fullmatch(
                          r"\*\*[^.:*]+[.:](\*\*)?", each)]
    return found


ALL = sentences(PAGE.read_text(encoding="utf-8"))


@cache
def known(file):
    """Return the tests of a file, and the texts in it."""
    nodes = [*ast.walk(ast.parse((TESTS / file).read_text(encoding="utf-8")))]
    return ({node.name for node in nodes if isinstance(node, ast.FunctionDef)},
            {node.value for node in nodes if isinstance(node, ast.Constant)})


def test_each_sentence_has_one_entry():
    for part, sentence in ALL:
        entries = [start for start in CLAIMS.get(part, {}) if sentence.startswith(start)]
        assert len(entries) == 1, f"{part!r}: {sentence!r} has {entries or 'no entry'}"
    assert len(ALL) == len(ENTRIES)


def test_most_sentences_are_tested():
    """A new sentence without a test has to replace another one."""
    untested = [start for part, start in ENTRIES if CLAIMS[part][start] in UNTESTED]
    assert len(untested) <= 70


@pytest.mark.parametrize("part", CLAIMS)
def test_the_tests_are_there(part):
    for start, entry in CLAIMS[part].items():
        names = [entry] if isinstance(entry, str) else entry
        assert names and (len(names) == 1 or not set(names) & set(UNTESTED))
        for name in names:
            if name in UNTESTED:
                continue
            if name.startswith(MEASURED):
                assert (TESTS.parent / name.removeprefix(MEASURED)).is_file(), name
                continue
            file, _, rest = name.partition("::")
            test, _, case = rest.partition("[")
            tests, texts = known(file)
            assert test.startswith("test_") and test in tests, f"{start!r}: {file} has no {test}"
            assert not case or case.removesuffix("]") in texts, f"{file} has no case {case}"


def test_sentences_are_found():
    page = ("# A\n\nOne, e.g. this. Two:\n\n- **Bold.** `three` is one (or not). Is it?\n\n"
            "| head | x |\n|---|---|\n| four | y |\n| 07 | z |\n\n```sh\nFive.\n```\n## B\n"
            "**Why?** Six. minigrad is seven.\n")
    assert sentences(page) == [
        ("A", "One, e.g. this."), ("A", "Two:"), ("A", "`three` is one (or not)."),
        ("A", "four | y"), ("B", "Six."), ("B", "minigrad is seven.")]
