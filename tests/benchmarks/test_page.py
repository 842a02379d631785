"""The site's page of figures is made from the committed results and is current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import page

    return page


def test_the_page_is_current(page: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert page.main(["--check"]) == 0, capsys.readouterr().out


def test_a_page_that_is_not_current_is_named(page: ModuleType, monkeypatch: pytest.MonkeyPatch,
                                             tmp_path: Path,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    good, old, absent = (tmp_path / name for name in ("good", "old", "absent"))
    good.write_text("a", encoding="utf-8")
    old.write_text("b", encoding="utf-8")
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr(page, "made", lambda: dict.fromkeys((good, old, absent), "a"))
    assert page.main(["--check"]) == 1
    shown = capsys.readouterr().out
    assert "old is not current" in shown and "absent is" in shown and "good" not in shown
    assert page.main([]) == 0
    assert page.main(["--check"]) == 0


def test_every_benchmark_with_results_has_its_section(page: ModuleType) -> None:
    text = page.made()[page.DOCS / "benchmarks.md"]
    for path in page.RESULTS.glob("*.json"):
        # those of reliability have a page of their own
        assert path.name.partition("-")[0] in {*page.NAMES, "fuzz", "mutation", "nodes"}
    sections = text.replace("\n## Why does minigrad miss some targets?\n", "")
    assert sections.count("\n## ") == len(page.measured())


def test_every_target_that_is_missed_has_a_reason(page: ModuleType, monkeypatch) -> None:
    reasons = "\n".join(page.of_reasons())
    missed = [each["name"] for name in page.measured()
              for each in page.newest(name).get("targets", ()) if each["met"] is False]
    assert reasons.count("\n| ") == len(missed) + 1  # with the table's head
    monkeypatch.setattr(page, "WHY", {})
    if missed:
        with pytest.raises(SystemExit, match=re.escape(missed[0].removesuffix(" / PyTorch"))):
            page.of_reasons()


@pytest.mark.slow
def test_the_figures_of_the_reasons_can_be_measured() -> None:
    done = subprocess.run([sys.executable, str(BENCHMARKS / "limits.py")], text=True,
                          capture_output=True, check=True)
    figures = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert set(figures) >= {"small operations, each", "small hvp", "tangent kernel", "LSTM 50x16",
                            "depthwise convolution", "random weights", "compiled small network",
                            "compiled mlp", "compiled gpt", "compiled chain"}
    for text in figures.values():
        numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
        assert numbers and all(number > 0 for number in numbers)
    assert figures["small hvp"].startswith("58 events ")  # as reasons.py says


def test_the_page_begins_with_its_headline(page: ModuleType) -> None:
    first = page.made()[page.DOCS / "benchmarks.md"].split("\n\n")[1]
    for name in ("mlp", "resnet", "sequence"):
        case = next(iter(page.newest(name)["workloads"].values()))
        ratio = case["ms"]["minigrad"]["median"] / case["ms"]["pytorch"]["median"]
        assert case["threads"] == 1
        (shown,) = re.findall(rf"([\d.]+) for [^(]*\({re.escape(case['case'])}\)", first)
        assert float(shown) == pytest.approx(ratio, rel=0.1)  # the median of ratios is near it


def test_every_missed_target_is_said_to_be_missed(page: ModuleType) -> None:
    text = page.made()[page.DOCS / "benchmarks.md"]
    for name in set(page.measured()) - {"trainings", "class_of_200", "site_visit"}:
        for target in page.newest(name)["targets"]:
            rows = [r for r in text.splitlines() if r.startswith(f"| {target['name']} |")]
            assert 1 <= len(rows) <= 2  # the last one may be the reason
            line = rows[0]
            assert ("**missed**" in line) == (target["met"] is False), line


def test_a_plot_is_one_picture_that_needs_nothing_else(page: ModuleType) -> None:
    bars = sys.modules["_plot"].bars
    text = bars("a < b", [("group", [("minigrad", 0.5, True), ("other", 12.9, False)], 0.75),
                          ("second", [("minigrad", 2.0, True)], None)])
    root = ElementTree.fromstring(text)
    widths = [float(each.attrib["width"]) for each in root.iter(SVG + "rect")]
    scale = sys.modules["_plot"].SCALE
    assert widths == [0.5 * scale, 3 * scale, 2 * scale]
    said = [each.text for each in root.iter(SVG + "text")]
    assert "12.90 →" in said and "a < b" in said
    assert [each.attrib["class"] for each in root.iter(SVG + "path")] == ["aim", "one", "one"]
    assert "href" not in text and "script" not in text


def test_curves_run_from_the_highest_value_to_the_lowest(page: ModuleType) -> None:
    text = sys.modules["_plot"].curves("Loss", {"ours": [4.0, 1.0, 2.0], "theirs": [3.0, 3.0, 1.5]})
    root = ElementTree.fromstring(text)
    ours, theirs = ([tuple(map(float, point.split(","))) for point in each.attrib["points"].split()]
                    for each in root.iter(SVG + "polyline"))
    assert [y for _, y in ours] == [40.0, 230.0, pytest.approx(166.7, abs=0.1)]
    assert [x for x, _ in ours] == [x for x, _ in theirs]
    assert {"1.00", "4.00", "ours", "theirs"} <= {each.text for each in root.iter(SVG + "text")}
