"""The benchmark of whole derivatives runs and reports as it should; no timing is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def functional(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import functional

    return functional


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path, functional: ModuleType) -> None:
    path = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "functional.py"), "--quick", "--engines", "minigrad",
         "--json", str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert report["engines"]["minigrad"]["status"] == "measured", report["engines"]
    assert report["settings"]["threads"] == 1 and report["settings"]["quick"] is True
    for name, title in functional.WORKLOADS.items():
        record = report["workloads"][name]
        assert len(record["rounds"]) == 2 and not record["not_available"]
        assert record["ms"]["minigrad"]["median"] > 0
        assert title in done.stdout
    assert [t["met"] for t in report["targets"]] == [None] * len(functional.TARGETS)


def test_a_wrong_result_is_not_timed(functional: ModuleType) -> None:
    right = functional.expected(functional.data())
    functional.check({"hvp": lambda: right["hvp"]})
    with pytest.raises(functional.Unavailable, match="wrong result: jacobian_loop"):
        functional.check({"jacobian_loop": lambda: right["jacobian"] + 0.1})


def test_the_derivatives_by_hand_are_those_of_the_functions(functional: ModuleType) -> None:
    given = functional.data()
    right = functional.expected(given)
    x, v, step = given["x"], given["v"], 1e-5

    def network(x: Any) -> Any:
        return functional.network(np, x, given["weights"])

    slope = (network(x + step * v) - network(x - step * v)) / (2 * step)
    np.testing.assert_allclose(right["jacobian"] @ v, slope, 1e-6, 1e-6)

    def scalar(x: Any) -> Any:
        return functional.scalar(np, x, given["a"])

    curve = (scalar(x + 1e-4 * v) - 2 * scalar(x) + scalar(x - 1e-4 * v)) / 1e-8
    np.testing.assert_allclose(v @ right["hvp"], curve, 1e-4)
    np.testing.assert_allclose(right["hessian"] @ v, right["hvp"])
