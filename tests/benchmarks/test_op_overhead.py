"""The benchmarks run, and report in the form that their readers rely on. No timing is judged."""

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
SCRIPT = BENCHMARKS / "op_overhead.py"
LIBRARIES = {"minigrad", "pytorch", "hips", "mygrad"}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], str]:
    path = tmp_path_factory.mktemp("benchmarks") / "new" / "report.json"
    done = run("--quick", "--json", str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8")), done.stdout


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import _harness

    return _harness


@pytest.fixture
def op_overhead(harness: ModuleType) -> ModuleType:
    import op_overhead

    return op_overhead


@pytest.mark.slow
def test_report_says_when_where_and_with_what(quick: tuple[dict[str, Any], str]) -> None:
    report, _ = quick
    assert report["date"].endswith("+00:00")
    assert report["machine"].keys() >= {"cpu", "cores", "python", "load_average"}
    assert report["settings"]["quick"] is True and report["settings"]["threads"] == 1
    assert report["engines"].keys() == LIBRARIES
    for engine in report["engines"].values():
        assert engine["status"] in {"measured", "not installed"}, engine
    assert report["engines"]["minigrad"].keys() == {"status", "version", "numpy", "dtype"}
    assert report["engines"]["minigrad"]["dtype"] == "float32"


@pytest.mark.slow
def test_every_round_is_reported(quick: tuple[dict[str, Any], str]) -> None:
    report, _ = quick
    settings = report["settings"]
    measured = {key for key, each in report["engines"].items() if each["status"] == "measured"}
    assert len(report["small_ops"]) == 4
    for workload, record in report["small_ops"].items():
        lacking = {"hips"} & measured if workload == "forward_no_grad" else set()
        assert record["not_available"].keys() == lacking
        assert len(record["rounds"]) == settings["rounds"]
        for values in record["rounds"]:
            assert values.keys() == measured - lacking
            for times in values.values():
                assert len(times) == settings["repeats_per_round"]
                assert all(time > 0 for time in times)
    assert report["chain"].keys() == {"default", "disabled"}
    for record in report["chain"].values():
        assert record["not_available"] == {}
        assert len(record["rounds"]) == settings["chain_rounds"]
        for values in record["rounds"]:
            assert values.keys() == measured
            for figures in values.values():
                assert figures.keys() == {"build", "backward", "release", "bytes_per_node"}


@pytest.mark.slow
def test_tables_name_every_library_and_target(quick: tuple[dict[str, Any], str]) -> None:
    report, printed = quick
    for name in ("minigrad", "PyTorch", "HIPS autograd", "MyGrad"):
        assert name in printed
    assert len(report["targets"]) == 7
    for target in report["targets"]:
        assert target["name"] in printed
        if target["measured"] is None:
            assert target["met"] is None
        elif target["relation"] == "<=":
            assert target["met"] is (target["measured"] <= target["limit"])
        else:
            assert target["met"] is (target["measured"] >= target["limit"])


def test_unknown_library_is_refused() -> None:
    done = run("--engines", "minigrad,abacus")
    assert done.returncode == 2
    assert "unknown engine 'abacus'" in done.stderr


def test_ratios_pair_within_a_round(harness: ModuleType) -> None:
    rounds = [{"a": 1.0, "b": 1.0}, {"a": 4.0, "b": 2.0}, {"a": 90.0, "b": 30.0}, {"a": 5.0}]
    figures = harness.summary(rounds, ["a", "c"], "b")
    assert figures["a"] == {"median": 4.5, "ratio": 2.0, "ratio_range": [1.0, 3.0]}
    assert figures["c"] == {"median": None, "ratio": None, "ratio_range": None}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit('no such library')", "no such library"),
        ("import os; os.abort()", "process ended by SIGABRT"),
        ("import time; time.sleep(60)", "no answer within 1 s"),
    ],
)
def test_a_worker_that_dies_says_why(
    harness: ModuleType, tmp_path: Path, body: str, reason: str
) -> None:
    script = tmp_path / "worker.py"
    script.write_text(body)
    timeout = 1 if "sleep" in body else 30
    with (
        harness.Worker(script, "any", timeout) as worker,
        pytest.raises(harness.Unavailable, match=reason),
    ):
        worker.ask({"task": "hello"})


def test_wrong_gradients_are_not_timed(op_overhead: ModuleType) -> None:
    small_ops = sys.modules["_small_ops"]
    inputs = [np.array(getattr(small_ops, name)) for name in "XWBCD"]
    output = small_ops.chain(np, *inputs, 10)
    with pytest.raises(op_overhead.Unavailable, match="wrong gradient of input 0"):
        op_overhead.check(np, output, [np.ones(8)] * 3, 10)
    with pytest.raises(op_overhead.Unavailable, match="wrong result"):
        op_overhead.check(np, output + 1.0, [np.ones(8)] * 3, 10)
