"""Pictures of lessons: how they are drawn, what every one of them keeps to, where they stand."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course import pictures
from minigrad_course.content import lesson_blocks
from minigrad_course.content import stages as course
from minigrad_course.dev import fill_lesson
from minigrad_course.pictures import Box, Chip, Curve, Drawing, drawing
from tests.support.slow import one_in

ROOT = course.checkout()
STAGES = course.stages()
SVG = "{http://www.w3.org/2000/svg}"
MADE = sorted((ROOT / "lessons" / "pictures").glob("*.svg"))


def picture_blocks(stage: course.Stage) -> list[lesson_blocks.Block]:
    return [block for block in lesson_blocks.parse(stage.text(), stage.key)
            if block.kind == "picture"]


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_a_lesson_has_two_pictures_at_least(stage):
    assert len(picture_blocks(stage)) >= 2


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_a_lesson_has_no_diagram_in_characters(stage):
    shown = [block.text for block in lesson_blocks.parse(stage.text(), stage.key)
             if block.kind == "other" and block.fence in ("```text", "```")]
    drawn = [text for text in shown if re.search(r"[│└┘┐┌├┤▼▶]|──|--+[>+|]|\|--", text)]
    assert not drawn


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_where_a_lesson_asks_for_a_prediction_the_output_is_folded(stage):
    asks = re.compile(r"\b(?:[Pp]redict|Guess|[Bb]efore you (?:run|look)|do you expect)\b")
    shown = []
    for words, block in pairwise(lesson_blocks.parse(stage.text(), stage.key)):
        if words.kind == "text" and block.runs and block.printed and not block.predicted:
            last = re.sub("`[^`]*`", "", words.text).rstrip().rpartition("\n\n")[2]
            shown += [last] * bool(asks.search(last))
    assert not shown


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.key)
def test_a_picture_s_words_and_file_are_there(stage):
    for block in picture_blocks(stage):
        alt, caption = lesson_blocks.picture_words(block)
        file = lesson_blocks.picture_file(stage, block.detail)
        svg = file.read_text(encoding="utf-8")
        assert (ROOT / "notebooks" / "pictures" / file.name).read_text(encoding="utf-8") == svg
        assert ElementTree.fromstring(svg).findtext(f"{SVG}desc") == alt
        assert len(alt) > 40 and caption.endswith((".", "?")) and alt.endswith(".")


# `make course` draws all of them too.
@pytest.mark.parametrize("stage", one_in(6, [
    stage for stage in STAGES if stage.pictures.exists()]), ids=lambda stage: stage.key)
def test_a_picture_is_drawn_as_it_lies_there(stage):
    names = [block.detail for block in picture_blocks(stage)]
    for name, found in fill_lesson.draw(stage, names).items():
        assert lesson_blocks.picture_file(stage, name).read_text(encoding="utf-8") == found["svg"]


def texts(element: ElementTree.Element, x: float = 0, y: float = 0):
    """Yield the corners of each text, and the text; a letter is taken to be half its size wide."""
    for each in element:
        if each.tag == f"{SVG}g":
            dx, dy = map(float, re.findall(r"-?[\d.]+", each.get("transform")))
            yield from texts(each, x + dx, y + dy)
        elif each.tag == f"{SVG}text":
            size = float(each.get("font-size"))
            width = 0.52 * size * len(each.text)
            left = x + float(each.get("x")) - width * {"start": 0, "middle": 0.5, "end": 1}[
                each.get("text-anchor")]
            base = y + float(each.get("y"))
            yield left, base - 0.7 * size, left + width, base, each.text


@pytest.mark.parametrize("file", MADE, ids=lambda file: file.stem)
def test_a_picture_can_be_read_in_both_schemes_and_on_a_phone(file: Path):
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    width, height = float(root.get("width")), float(root.get("height"))
    assert width <= pictures.MOST_WIDTH
    assert root.get("role") == "img" and root.findtext(f"{SVG}title")
    assert root.get("aria-labelledby") == f"{root[0].get('id')} {root[1].get('id')}"
    shapes = [each for each in root.iter() if each.tag not in (f"{SVG}style", f"{SVG}desc")]
    for each in shapes:  # colours come from classes, which know dark from light
        assert not {"fill", "stroke", "style"} & each.attrib.keys()
    classes = {name for each in shapes for name in each.get("class", "").split()}
    style = root.findtext(f"{SVG}style")
    assert all(re.search(rf"\.{name}\b", style) for name in classes - {"mg-drawing"}), classes
    found = [*texts(root)]
    assert all(float(each.get("font-size")) >= drawing.SMALL for each in root.iter(f"{SVG}text"))
    for left, top, right, bottom, text in found:
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, text
    for one, other in combinations(found, 2):
        apart = (one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1]
                 or other[3] <= one[1])
        assert apart, (one[4], other[4])


def test_a_style_sheet_of_a_page_follows_its_switch():
    assert "prefers-color-scheme" not in drawing.site_style()
    dark = drawing.site_style().partition("[data-md-color-scheme=slate]{")[2]
    assert all(f"--{name}:{dark_one}" in dark for name, (_, dark_one) in drawing.PALETTE.items())


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("above", "below", "least"), [
    *((text, "paper", 4.5) for text in ("ink", "muted", "forward", "gradient", "right", "wrong")),
    *((text, "surface", 4.5) for text in ("ink", "muted", "forward", "gradient")),
    ("forward", "forward-fill", 4.5), ("gradient", "gradient-fill", 4.5),
    ("ink", "forward-fill", 4.5), ("ink", "gradient-fill", 4.5), ("border", "paper", 3),
    ("forward-line", "paper", 3), ("gradient-line", "paper", 3),
])
def test_colours_stand_out(above, below, least):
    for scheme in (0, 1):
        one, other = sorted(luminance(drawing.PALETTE[name][scheme]) for name in (above, below))
        assert (other + 0.05) / (one + 0.05) >= least


def test_a_graph_has_each_box_and_an_arrow_to_each_end():
    made = pictures.graph({"a": Box("a", "2", "∂ 1"), "b": Box("b")},
                          [pictures.Arrow("a", "b", "×3", "gradient-line", backward=True)])
    text = "\n".join(made.shapes)
    assert text.count("<rect") == 3 and text.count("<polygon") == 1  # two boxes and the label's
    assert ">∂ 1<" in text and ">×3<" in text
    (path,) = re.findall(r'd="M([\d.]+)', text)
    (tip,) = re.findall(r'points="([\d.]+)', text)
    assert float(tip) < float(path)  # a backward arrow points to its start


def test_a_view_shows_the_cells_that_it_sees_in_its_order():
    from minigrad import arange

    made = pictures.storage(range(6), [pictures.View("t", arange(6).reshape(2, 3).t())])
    cells = [text for text in re.findall(r'x="([\d.]+)"[^>]*>(\d)</text>', "\n".join(made.shapes))]
    assert [order for _, order in sorted(cells[6:], key=lambda cell: float(cell[0]))] == [
        "0", "2", "4", "1", "3", "5"]


def test_a_plot_s_axis_of_logarithms_has_powers_of_ten():
    made = pictures.plot([Curve([(1e-4, 1.0), (1.0, 100.0)], "error")], "step", "error",
                         log_x=True, log_y=True)
    assert {"10⁻⁴", "10⁻²", "10⁰" if ">10⁰<" in "".join(made.shapes) else "1"} <= set(
        re.findall(r">([^<]+)</text>", "\n".join(made.shapes)))


@pytest.mark.parametrize(("low", "high", "told"), [
    (0.0177, 4.02, ["0", "1", "2", "3", "4", "5"]), (-4.0, 4.0, ["-4", "-2", "0", "2", "4"]),
    (0.0, 0.3, ["0", "0.1", "0.2", "0.3"]), (2.0, 2.0, ["2", "2.2"]),
])
def test_a_plot_s_ticks_are_round_numbers_around_its_data(low, high, told):
    made = "".join(pictures.plot([Curve([(0.0, low), (1.0, high)])], "x", "y", x_ticks=[0, 1]
                                 ).shapes)
    assert re.findall(r'text-anchor="end">([^<]+)<', made) == told


def test_bars_and_events_are_as_wide_as_what_they_stand_for():
    def widths(made: Drawing) -> list[float]:
        return [float(width) for width in re.findall(r'<rect[^>]*width="([\d.]+)"',
                                                     "\n".join(made.shapes))]

    short, long = widths(pictures.bars([("a", 1.0, "on-forward"), ("b", 2.0, "on-forward")]))
    assert long == pytest.approx(2 * short, abs=0.2)
    whole, half = widths(pictures.flame([("f", 0, 10, 0, "box"), ("g", 5, 10, 1, "box")]))
    assert whole + 1 == pytest.approx(2 * (half + 1), abs=0.2)


def test_a_table_has_its_chips_in_rows():
    made = pictures.table(["runs", "ready"], [["f", [Chip("g"), Chip("h")]], ["g", []]])
    assert re.findall(r">(\w+)</text>", "\n".join(made.shapes)) == [
        "runs", "ready", "f", "g", "h", "g"]


def test_titles_and_signs_cannot_end_their_element():
    made = pictures.Picture(Drawing().text(10, 10, "a < b & c"), "<title>", "a > b.", "c")
    root = ElementTree.fromstring(made.svg("x"))
    assert root.findtext(f"{SVG}title") == "<title>"
    assert [text for *_, text in texts(root)] == ["a < b & c"]
