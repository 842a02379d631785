"""The same site in another browser: Firefox runs lessons, grades exercises and stops loops."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.source import module, mutated
from tests.browser.test_lesson_exercises import SLOPE
from tests.browser.test_runtime import EXERCISES, LESSONS, NOT_HERE, STAGES

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
DRIVER = Path(__file__).parent / "firefox"

pytestmark = pytest.mark.slow


@pytest.fixture
def firefox(site: str, tmp_path: Path) -> Callable[..., Any]:
    """Return what Firefox sees as it does a job; nothing may have gone wrong meanwhile."""
    if FIREFOX is None:
        pytest.skip("Firefox is not installed")
    if not (DRIVER / "node_modules").exists():
        pytest.skip("Firefox's driver is not installed: `make site-browser` does it")

    def do(kind: str, address: str, **given: Any) -> Any:
        file = tmp_path / "job.json"
        file.write_text(json.dumps({"kind": kind, "address": address, **given}), encoding="utf-8")
        done = subprocess.run(["node", DRIVER / "drive.mjs", FIREFOX, site, file],
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["problems"] == []
        return told["seen"]

    return do


def test_a_first_visit(firefox):
    seen = firefox("visit", "", hole="00.1", code=SLOPE)
    before, after = seen["home"]
    assert "= 40" in before and after != before
    assert seen["cell"] == "f = 42.44, a.grad = 24.8, b.grad = 42.44"
    assert seen["ran"] in ("same", "nearly")
    assert seen["verdict"] == "solved" and seen["printed"].startswith("here 3.0")
    before, after = seen["stepper"]
    assert after != before
    before, after = seen["digit"]
    assert "column 16, row 16" in before and "column 15, row 15" in after


@pytest.mark.parametrize("key", LESSONS)
def test_a_lessons_blocks_give_what_its_notebook_has(firefox, built, key):
    page = (built / "lessons" / key / "index.html").read_text(encoding="utf-8")
    start = page.index(">", page.index('id="mg-data"')) + 1
    blocks = {block["id"]: block for block in
              json.loads(page[start:page.index("</script>", start)])["blocks"]
              if block["kind"] in ("run", "draft", "raises")}
    seen = firefox("lesson", f"lessons/{key}/", last=list(blocks)[-1])
    assert seen.keys() >= blocks.keys()
    for name, block in blocks.items():
        how, gave = seen[name]
        if how == "not here":
            assert any(key == stage and words in block["code"] for stage, words in NOT_HERE)
        else:
            assert how in ("same", "nearly"), f"{name}: {gave}"


@pytest.mark.parametrize("key", EXERCISES)
def test_the_stub_fails_the_solution_passes_and_a_mistake_is_named(firefox, key):
    stage = STAGES[key]
    hole, mutant = next((hole, mutant) for hole in stage.holes for mutant in hole.mutants
                        if mutant.symptom)
    whole = {path: module(stage.package, path).text for path in stage.modules}
    seen = firefox("exercises", f"exercises/{key}/", hole=hole.id,
                   solutions={path: stage.solution(path).read_text(encoding="utf-8")
                              for path in stage.modules},
                   mistake=whole | mutated(stage, hole, mutant))
    assert len(seen["stubs"]) == len(stage.holes)
    assert {state for state, _ in seen["stubs"]} <= {"untouched", "waiting"}
    assert [failure for state, failure in seen["solved"] if state != "solved"] == []
    wanted = stage.words["symptoms"][mutant.symptom].replace("`", "")  # shown as code
    assert seen["said"] == wanted, mutant.name


def test_a_loop_is_stopped_and_what_was_made_is_kept(firefox):
    assert firefox("loop", "lessons/02_graph/") == ["5"]
