"""benchmarks/everyday.py: each family draws the same cases from a seed, and they run."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

import pytest

import minigrad
from minigrad_course.content.stages import checkout

BENCHMARKS = checkout() / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
families = importlib.import_module("families")
everyday = importlib.import_module("everyday")
sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize("name", families.FAMILIES)
def test_a_seed_draws_the_same_different_cases(name):
    titles = [case.title for case in families.cases_of(name, 3, 6)]
    assert titles == [case.title for case in families.cases_of(name, 3, 6)]
    assert len(set(titles)) == 6
    others = [case.title for case in families.cases_of(name, 4, 6)]
    assert sorted(titles) != sorted(others) or name == "processes"  # of which there are only six


@pytest.mark.parametrize("name", [each for each in families.FAMILIES if each != "processes"])
def test_a_case_returns_the_same_result_each_time(name):
    case = families.cases_of(name, 11, 1)[0]
    minigrad.manual_seed(0)
    step = case.build(minigrad)
    sizes = [everyday.size_of(step()) for _ in range(2)]
    assert sizes[0] > 0
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)  # an optimizer's step changes parameters


def test_figures_are_the_geometric_mean_and_the_worst_case():
    rows = [{"seed": 1, "case": "a", "ratio": 0.5}, {"seed": 1, "case": "b", "ratio": 2.0},
            {"seed": 2, "case": "c", "ratio": 4.0}]
    found = everyday.figures(rows)
    assert found["mean"] == pytest.approx(4 ** (1 / 3))
    assert (found["worst"], found["worst_case"]) == (4.0, "c")
    assert found["by_seed"] == {"1": pytest.approx(1.0), "2": pytest.approx(4.0)}
    met = {each["name"]: each["met"] for each in everyday.targets_of({"losses": found})}
    assert met == {"losses, mean": False, "losses, largest ratio": False}


def test_results_are_measured_beside_pytorch_and_written(tmp_path):
    pytest.importorskip("torch", reason="the families are timed beside PyTorch")
    path = tmp_path / "results.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "everyday.py"), "--quick", "--families",
         "losses,single elements", "--json", str(path)],
        capture_output=True, text=True, cwd=checkout())
    assert done.returncode == 0, done.stderr
    report = json.loads(path.read_text(encoding="utf-8"))
    assert {*report["families"]} == {"losses", "single elements"}
    for each in report["families"].values():
        assert len(each["cases"]) == 2 and all(row["ratio"] > 0 for row in each["cases"])


def test_a_family_that_does_not_exist_is_refused():
    done = subprocess.run([sys.executable, str(BENCHMARKS / "everyday.py"), "--families", "loses"],
                          capture_output=True, text=True, cwd=checkout())
    assert done.returncode == 2
    assert "unknown family 'loses'" in done.stderr
