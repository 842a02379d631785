"""Benchmarks of sequences, everyday work and trainings run and report; no timing is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import minigrad

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import trainings

    return trainings


@pytest.mark.slow
def test_a_quick_run_of_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "sequence.py"), "--quick", "--engines",
         "minigrad,products", "--threads", "1", "--json", str(path)],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert set(report["workloads"]) == {"GPT 16x64, 1 threads", "LSTM 32x32, 1 threads"}
    for record in report["workloads"].values():
        assert not record["not_available"]
        for key in ("minigrad", "products"):
            assert record["ms"][key]["median"] > 0
    assert {each["met"] for each in report["targets"]} == {None}


@pytest.mark.slow
def test_pytorch_and_minigrad_make_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import sequence

    before = [(package, package.get_num_threads()) for package in (minigrad, torch)]
    try:
        for case in sequence.SHAPES:
            ours, theirs = (sequence.TorchLike(module, case, 1).results()
                            for module in ("minigrad", "torch"))
            assert ours == pytest.approx(theirs, rel=1e-4)
    finally:
        for package, count in before:
            package.set_num_threads(count)



@pytest.mark.slow
def test_trainings_reach_their_aims(tmp_path: Path, trainings: ModuleType,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    assert trainings.main(["--quick", "--only", "lstm,gpt", "--json", str(path)]) == 0
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert list(report["trainings"]) == ["lstm", "gpt"]
    assert all(each["met"] for each in report["trainings"].values())
    assert report["trainings"]["gpt"]["sample"] in capsys.readouterr().out


def test_a_missed_aim_is_an_error(trainings: ModuleType, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("lstm", 0.5), ("gpt", 9.0)):
        title, _, more = trainings.TRAININGS[name]
        monkeypatch.setitem(trainings.TRAININGS, name,
                            (title, lambda quick, v=value: {"measured": v}, more))
        assert trainings.main(["--only", name]) == 1
        assert "MISSED" in capsys.readouterr().out


def test_a_comparison_without_pytorch_is_no_failure(trainings: ModuleType,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainings.importlib.util, "find_spec", lambda name: None)
    found = trainings.compare_gpt(quick=True)
    assert found["measured"] is None
    assert "not installed" in found["reason"]


@pytest.mark.slow
def test_digits_are_read(trainings: ModuleType) -> None:
    pytest.importorskip("sklearn", reason="its digits are trained on")
    found = trainings.train_digits(quick=True)
    assert found["measured"] >= trainings.AIMS["digits"][True]
    assert found["right"] == round(found["measured"] * found["held_out"])
