"""The benchmark of compiled functions runs and reports as it should; no timing is judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.slow
def test_a_quick_run(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "compile.py"), "--quick", "--engines", "compiled,eager",
         "--rounds", "1", "--json", str(path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert report["engines"]["compiled"]["status"] == "measured", report["engines"]
    for record in report["workloads"].values():
        assert record["ms"]["compiled"]["median"] > 0 and record["compiled_to_eager"] > 0
    saved = report["saved_bytes"]
    assert saved["budget 0.0"] < saved["budget 1.0"] <= saved["eager"]
    assert len(report["targets"]) == 8
    assert report["times_by_budget"].keys() <= saved.keys()
