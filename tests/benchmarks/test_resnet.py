"""The benchmark of ResNet-18 runs, computes the same everywhere, reports; no timing is judged."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SHAPE = "8x3x64x64"


@pytest.fixture
def resnet(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import resnet

    return resnet


@pytest.mark.slow
@pytest.mark.parametrize(("case", "trains_only"), [
    (SHAPE, set()), (f"{SHAPE} evaluation", {"by_hand"})])
def test_a_quick_run(tmp_path: Path, resnet: ModuleType, case: str, trains_only: set[str]) -> None:
    from _steps import PINS

    path = tmp_path / "report.json"
    engines = "minigrad,by_hand,products"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "resnet.py"), "--quick", "--engines", engines,
         "--cases", case, "--threads", "2", "--json", str(path)],
        capture_output=True, text=True, timeout=300,
        env={name: value for name, value in os.environ.items() if name not in PINS})
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    record = report["workloads"][f"{case}, 2 threads"]
    assert record["not_available"].keys() == {"HIPS autograd", *trains_only}
    timed = set(engines.split(",")) - trains_only
    assert record["rounds"][0].keys() >= timed
    for key in timed:
        assert report["engines"][key]["status"] == "measured"
        assert record["ms"][key]["median"] > 0 and record["ms"][key]["ratio"] is None
        assert resnet.BENCHMARK.title(key) in done.stdout
    assert {each["met"] for each in report["targets"]} == {None}


def test_an_engine_that_computes_something_else_is_refused(resnet: ModuleType) -> None:
    compare, refused = resnet.BENCHMARK.compare, sys.modules["_harness"].Unavailable
    right = {"logit 0 of image 0": 1.0, "gradient of w": 0.3}
    compare(right, right)
    with pytest.raises(refused, match="another logit 0 of image 0: 1.1, not 1"):
        compare(right | {"logit 0 of image 0": 1.1}, right)
    for wrong in (0.31, math.nan):
        with pytest.raises(refused, match="another gradient of w"):
            compare(right | {"gradient of w": wrong}, right)


@pytest.mark.parametrize("ratio", [1.0, 9.0, None])
def test_targets_stand_beside_what_was_measured(resnet: ModuleType, ratio: float | None) -> None:
    record = {"case": SHAPE, "threads": 1,
              "ms": {"minigrad": {"ratio": ratio}, "by_hand": {"ratio": 1.1}}}
    (verdict,) = resnet.BENCHMARK.judge({"it": record})
    assert verdict["limit"] == resnet.BENCHMARK.targets[SHAPE, 1] and verdict["by_hand"] == 1.1
    assert verdict["met"] is (None if ratio is None else ratio == 1.0)


def test_the_step_by_hand_has_the_gradients_of_the_step_with_an_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import _resnets

    from minigrad import get_num_threads

    found = []
    for adapter in (_resnets.TorchLike, _resnets.ByHand):
        found.append(adapter("minigrad", SHAPE, get_num_threads()).results())
    ours, wanted = found
    assert ours.keys() == wanted.keys() and len(ours) == 8 * 1000 + 62
    for name, value in ours.items():
        precision = {"rel": 1e-3} if name.startswith("gradient") else {"rel": 0, "abs": 1e-4}
        assert value == pytest.approx(wanted[name], **precision), name
