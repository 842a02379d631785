"""The page's engine of the reader: its first run is on the reader's files already."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.stages import find_stage

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
from pathlib import Path
sys.path[:0] = [{folder!r}, {root!r}]
import own
own.ROOT = Path({root!r})
code = "import minigrad as torch\\nx = torch.tensor(2.0, requires_grad=True)\\n(x * x).backward()"
print(own.OwnEngine().execute(code, "<block>", print, {own!r}))
"""


@pytest.mark.parametrize("read", ["03_engine", "14_capstone"])
def test_the_first_run_is_on_the_readers_files(read):
    stage, path = find_stage("03"), "engine/graph_task.py"
    text = stage.solution(path).read_text(encoding="utf-8")
    place = text.index('"""', text.index("def run("))
    mine = f"{text[:place]}raise RuntimeError('this is mine')\n        {text[place:]}"
    own = json.dumps({"stage": read, "files": {"03_engine": {path: mine}},
                      "holes": {hole.id: {"solved": "now"} for hole in stage.holes}})
    program = PROGRAM.format(folder=str(ROOT / "site/runtime/python"), root=str(ROOT), own=own)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True)
    assert json.loads(done.stdout)["error"] == "RuntimeError: this is mine"
