"""What a code host and a package index read agrees with the project, and with each other."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import minigrad
from tests.release import clean, versions

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def test_the_version_stands_in_one_place_and_the_citation_has_it():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "minigrad/version.py"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.M) == [minigrad.__version__]
    assert re.findall(r"^license: (.*)$", citation, re.M) == [PROJECT["project"]["license"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_make_and_its_targets_exist(workflow):
    steps = re.findall(r"^ *-? *run: (.*)$", workflow.read_text(encoding="utf-8"), re.M)
    assert steps
    for step in steps:
        words = step.split()
        assert words[0] == "make" and words[1] in TARGETS, step


def test_the_tests_run_on_each_version_that_is_supported():
    (line,) = re.findall(r"python: (\[.*\])", (ROOT / ".github/workflows/tests.yml").read_text())
    assert json.loads(line) == versions.supported()
    assert set(versions.supported()) <= set(versions.OLDEST_NUMPY)
    assert PROJECT["project"]["requires-python"] == f">={versions.supported()[0]}"
    oldest = versions.OLDEST_NUMPY[versions.supported()[0]]
    assert PROJECT["project"]["dependencies"] == [f"numpy>={oldest.rpartition('.')[0]}"]


def test_what_a_release_leaves_out_of_its_tests_is_there():
    assert [name for name in clean.OF_THE_CHECKOUT if not (ROOT / "tests" / name).exists()] == []


def test_a_release_fails_where_a_command_fails(tmp_path):
    with pytest.raises(SystemExit, match=r"(?s)failed \(3\).*no such thing"):
        clean.run(["sh", "-c", "echo no such thing; exit 3"], tmp_path)


def test_the_development_container_opens_into_the_course():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    assert container["postAttachCommand"] == "make learn" and "learn" in TARGETS
