"""The benchmarks of the profiler and of memory run and report; no timing is judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import memory
    import page
    import profiler
    import step_memory

    return SimpleNamespace(memory=memory, page=page, profiler=profiler, step_memory=step_memory)


def report(script: str, path: Path) -> tuple[dict, str]:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), "--quick", "--engines", "minigrad", "--json",
         str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8")), done.stdout


@pytest.mark.slow
def test_a_quick_run_of_the_profilers_cost(tmp_path, scripts):
    found, shown = report("profiler.py", tmp_path / "report.json")
    assert found["engines"]["minigrad"]["status"] == "measured"
    for setting in scripts.profiler.SETTINGS:
        record = found["profilers"][setting]
        assert len(record["rounds"]) == 2
        assert all(each["minigrad"]["events"] > 200 for each in record["rounds"])
        for figure, title in scripts.profiler.FIGURES.items():
            assert record[figure]["minigrad"]["median"] is not None
            assert title in shown
    assert {target["met"] for target in found["targets"]} == {None}


@pytest.mark.slow
def test_a_quick_run_of_the_memory(tmp_path, scripts):
    pytest.importorskip("sklearn", reason="the extra 'tour' is not installed")
    found, shown = report("memory.py", tmp_path / "report.json")
    ours = found["workloads"]["resnet18-1"]["bytes"]["minigrad"]
    assert 0 < ours["arrays"]["no_grad"] < ours["arrays"]["graph"]
    assert ours["process"]["graph"] > ours["arrays"]["graph"]
    shares = [t for t in found["targets"] if t["name"].endswith("no_grad / graph")]
    assert shares[0]["measured"] == ours["arrays"]["no_grad"] / ours["arrays"]["graph"]
    assert [t["met"] for t in found["targets"] if "PyTorch" in t["name"]] == [None] * 4
    assert "quoting" in shown


@pytest.mark.slow
def test_a_quick_run_of_the_memory_of_steps(tmp_path, scripts, monkeypatch):
    found, shown = report("step_memory.py", tmp_path / "step_memory-2026-01-01.json")
    assert len(found["workloads"]) == len(scripts.step_memory.CASES) * 2
    for case in scripts.step_memory.CASES:
        training, inference = (found["workloads"][f"{case}, {title}"]["bytes"]["minigrad"]
                               for title in scripts.step_memory.MODES.values())
        assert 1e6 < inference < training
    assert {target["met"] for target in found["targets"]} == {None}
    assert "LSTM, an inference" in shown
    monkeypatch.setattr(scripts.page, "RESULTS", tmp_path)
    assert "| LSTM, an inference |" in "\n".join(scripts.page.of_step_memory())


@pytest.mark.slow
@pytest.mark.skipif(find_spec("minigrad.codegen") is None, reason="the limits need codegen/")
def test_what_the_nodes_of_chains_take(tmp_path, scripts):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "memory.py"), "--nodes", "30000", "--json",
         str(tmp_path / "nodes.json")], capture_output=True, text=True, timeout=300,
        env={**os.environ, "MINIGRAD_GENERIC": "0"})
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "nodes.json").read_text(encoding="utf-8"))
    assert "30000 nodes" in done.stdout
    for kind, limit in scripts.memory.NODE_LIMITS.items():
        chain = found["chains"][kind]
        assert 50 < chain["bytes_per_node"] < limit + 50  # of few nodes the rest has its share too
        assert chain["gradient_right"] and chain["blocks_left"] < 1000
