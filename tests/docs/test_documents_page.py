"""The table of the documents' items: each leads to a section that names what the item names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.test_links import anchors

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/en/documents.md"
ROWS = [[cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| item |")]
EXERCISES = {number for path in sorted((ROOT / "lessons").glob("*.toml"))
             for number in tomllib.loads(path.read_text(encoding="utf-8")).get("hole", {})}
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+)(?:#([^)\s]+))?\)")
#: The heading of a page with an old anchor; what follows it up to the next of its level.
HEADING = re.compile(r"^(?:<a id=\"(?P<anchor>[^\"]+)\"></a>\n\n)?(?P<level>#+) (?P<title>.*)$",
                     re.MULTILINE)


def section(path: Path, anchor: str | None) -> str:
    """Return a section of a page, or the page's beginning if there is no anchor."""
    text = path.read_text(encoding="utf-8")
    bare = re.sub(r"^ *(`{3,}).*?^ *\1`*$", lambda block: " " * len(block[0]), text,
                  flags=re.DOTALL | re.MULTILINE)
    headings = list(HEADING.finditer(bare))
    if anchor is None:
        return text[:next(each.start() for each in headings if each["level"] == "##")]
    for number, heading in enumerate(headings):
        if anchor in anchors(heading[0]):
            end = next((each.start() for each in headings[number + 1:]
                        if len(each["level"]) <= len(heading["level"])), len(text))
            return text[heading.start():end]
    raise AssertionError(f"{path.name} has no heading for #{anchor}")


def target(link: str) -> Path:
    return (PAGE.parent / link).resolve()


def name(row: list[str]) -> str:
    return row[0][:60]


def test_there_is_a_row_for_each_item_and_no_item_twice():
    """The documents explain about two hundred things."""
    assert len(ROWS) >= 200
    titles = [(row[0], row[1]) for row in ROWS]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_row_is_filled_and_leads_to_a_section_and_to_exercises(row):
    item, places, exercises = row
    assert item and LINK.search(places) and exercises
    for _, path, anchor in LINK.findall(places):
        assert target(path).is_file(), path
        assert section(target(path), anchor or None)
    if exercises == "–":
        return
    found = LINK.findall(exercises)
    assert re.sub(LINK, "", exercises).strip(", ") == "" and found
    for number, path, anchor in found:
        assert number in EXERCISES
        assert number in section(target(path), anchor).partition("\n")[0]


@pytest.mark.parametrize("row", [row for row in ROWS if "`" in row[0]], ids=name)
def test_the_sections_of_a_row_name_what_the_item_names(row):
    text = "\n".join(section(target(path), anchor or None)
                     for _, path, anchor in LINK.findall(row[1]))
    missing = [quoted for quoted in re.findall(r"`([^`]+)`", row[0])
               if re.sub(r"^\.|\(.*\)$", "", quoted) not in text]
    assert not missing
