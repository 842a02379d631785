"""The benchmark on a GPU: what goes wrong in one place leaves the rest, and is written down."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

import minigrad
from tests.support.slow import slow_but

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("gpu")


class Worker:
    """Answers as an engine would; in the case "mlp step" PyTorch fails, in the next it ends."""

    def __init__(self, script, engine, timeout=0):
        self.engine, self.asked = engine, 0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def ask(self, request):
        if request["task"] == "hello":
            return {"version": "1"}
        self.asked += 1
        if self.engine == "torch" and request["case"] == "mlp step":
            raise importlib.import_module("gpu").Unavailable("out of memory")
        if self.engine == "torch" and request["case"] == "gpt step" and self.asked == 2:
            raise BrokenPipeError("gone")
        return 2.0 if self.engine == "torch" else 2.5


def test_a_case_survives_anothers_failure(gpu, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(gpu, "Worker", Worker)
    path = tmp_path / "gpu.json"
    cases = ["mlp step", "gpt step", "one addition", "mlp step, captured"]
    asked = [word for case in cases for word in ("--case", case)]
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--json", str(path), "--rounds", "3", *asked])
    assert gpu.main() == 0
    results = json.loads(path.read_text())["results"]
    assert list(results) == cases
    failed, broken, met, missed = results.values()
    assert failed["rounds"] == {"minigrad": [2.5] * 3, "torch": []} and failed["minigrad"] == 2.5
    assert failed["wrong"] == {"torch": "Unavailable: out of memory"} and "ratio" not in failed
    assert broken["rounds"]["torch"] == [2.0] and broken["ratio"] == 1.25
    assert broken["wrong"] == {"torch": "BrokenPipeError: gone"}
    assert met["met"] and missed["ratio"] == 1.25 and missed["met"] is False
    shown = capsys.readouterr().out
    assert "torch: Unavailable: out of memory" in shown and "NOT met" in shown


@pytest.mark.parametrize("case", slow_but(2, ["mlp step", "one addition", "gpt step"]))
def test_cases_run(gpu, monkeypatch, case):
    """On the CPU, without what is a GPU's, for one step."""
    for kind in (minigrad.Tensor, minigrad.nn.Module):
        monkeypatch.setattr(kind, "cuda", lambda self: self)
    monkeypatch.setattr(gpu, "milliseconds", lambda torch, step, repeats: step())
    assert gpu.CASES[case](minigrad).requires_grad


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["minigrad", "torch"])
def test_both_libraries_get_the_same_networks(gpu, engine):
    module = pytest.importorskip(engine, reason="compares with PyTorch")
    for depth, parameters in ((18, 11_689_512), (50, 25_557_032)):
        net = getattr(gpu.models(module), f"resnet{depth}")()
        assert sum(p.numel() for p in net.parameters()) == parameters
        assert net(module.ones(2, 3, 32, 32)).shape == (2, 1000)
