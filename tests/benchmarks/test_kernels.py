"""benchmarks/kernels.py: each case that it may draw runs, and results are compared first."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from minigrad_course.content.stages import checkout

pytest.importorskip("torch", reason="the kernels are timed beside PyTorch's")

SCRIPT = checkout() / "benchmarks" / "kernels.py"


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), "--rounds", "1", *words],
                          capture_output=True, text=True, cwd=checkout())


def test_drawn_cases_are_measured_and_written(tmp_path):
    path = tmp_path / "results.json"
    done = run("--seed", "3", "--cases", "4", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert "4 cases, geometric mean" in done.stdout
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    assert len(cases) == 4
    assert all(case[task]["ratio"] > 0 for case in cases for task in ("forward", "both"))


def test_a_kernel_that_does_not_exist_is_refused():
    done = run("--only", "relu,rleu")
    assert done.returncode == 2
    assert "there is no kernel rleu" in done.stderr


@pytest.fixture
def kernels(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("kernels_benchmark", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_another_result_is_not_timed(kernels, monkeypatch):
    class Wrong:
        def __init__(self, engine):
            self.engine = engine

        def ask(self, request):
            return [1.0] if self.engine == "minigrad" else [2.0]

        def __enter__(self):
            return self

        def __exit__(self, *exception):
            pass

    monkeypatch.setattr(kernels, "pair", lambda script: (Wrong("minigrad"), Wrong("torch")))
    with pytest.raises(SystemExit, match="minigrad computes"):
        kernels.measure([{"kernel": "relu", "shape": (2, 2), "dtype": "float32",
                          "layout": "contiguous"}], 1)


def test_a_seed_draws_the_same_cases(kernels):
    assert kernels.random_cases(5, 30) == kernels.random_cases(5, 30)
    assert kernels.random_cases(5, 30) != kernels.random_cases(6, 30)
