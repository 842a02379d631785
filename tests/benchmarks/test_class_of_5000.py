"""The benchmark that merges a large class, with a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_class_is_merged_and_measured(tmp_path):
    pytest.importorskip("typer", reason="the course's commands need Typer")
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "class_of_5000.py"), "--count", "120", "--parts",
         "3", "--json", str(tmp_path / "report.json")], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["count"], report["parts"]) == (120, 3)
    assert 0 < report["mib_of_a_tenth"] <= report["mib"] + 16
