"""The files for clusters in grading.md: well formed, and with commands that there are."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad_course.app import app
from minigrad_course.jobs.executors import shard_named

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "en" / "grading.md").read_text(encoding="utf-8")
PART = PAGE.split("## Grading on several machines")[1].split("\n## ")[0]
BLOCKS = {kind: re.findall(rf"```{kind}\n(.*?)```", PART, re.DOTALL)
          for kind in ("sh", "yaml", "dockerfile")}
(SLURM,) = (text for text in BLOCKS["sh"] if "#SBATCH" in text)
(JOB,), (IMAGE,) = BLOCKS["yaml"], BLOCKS["dockerfile"]


def commands() -> list[list[str]]:
    """Return the words of each call of minigrad in the files."""
    whole = "\n".join(BLOCKS["sh"]).replace("\\\n", " ")
    called = [line for line in whole.splitlines() if line.startswith("minigrad ")]
    (inside,) = re.findall(r"exec (minigrad .*?)\n +resources", JOB, re.DOTALL)
    called.append(" ".join(inside.split()))
    return [shlex.split(line, comments=True) for line in called]


def test_every_command_and_option_is_there():
    assert len(commands()) == 6
    for words in commands():
        name = [word for word in words[1:3] if word in ("grade", "results", "merge")]
        shown = CliRunner().invoke(app, [*name, "--help"], terminal_width=200)
        assert shown.exit_code == 0
        for option in words:
            assert not option.startswith("--") or option in shown.output, (name, option)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash reads the script")
def test_the_array_grades_each_shard_once(tmp_path):
    (tmp_path / "minigrad").write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> calls\n')
    (tmp_path / "minigrad").chmod(0o755)
    first, last = map(int, re.search(r"--array=(\d+)-(\d+)", SLURM).groups())
    for number in range(first, last + 1):
        done = subprocess.run(["bash", "-euc", SLURM], cwd=tmp_path, check=True,
                              capture_output=True, text=True, env={
                                  "PATH": f"{tmp_path}:/usr/bin:/bin",
                                  "SLURM_ARRAY_TASK_ID": str(number)})
        assert not done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [shard_named(after) for before, after in pairwise(calls)
            if before == "--shard"] == [(i, last) for i in range(1, last + 1)]
    kept = [after for before, after in pairwise(calls) if before == "--keep"]
    assert len(set(kept)) == last


def test_the_indexed_job_has_as_many_indices_as_shards():
    yaml = pytest.importorskip("yaml", reason="PyYAML reads the file")
    job = yaml.safe_load(JOB)
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    spec = job["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert spec["completionMode"] == "Indexed"
    assert f"+ 1))/{spec['completions']}\"" in container["args"][0]
    mounted = {each["name"] for each in container["volumeMounts"]}
    assert mounted == {each["name"] for each in spec["template"]["spec"]["volumes"]}
    assert spec["template"]["spec"]["automountServiceAccountToken"] is False


def test_the_image_has_a_sandbox_and_does_not_run_as_root():
    steps = re.sub(r"\\\n", " ", IMAGE).splitlines()
    assert {step.split()[0] for step in steps} == {"FROM", "RUN", "COPY", "USER"}
    assert steps[0].startswith("FROM ") and steps[-1] == "USER grader"
    assert any("bubblewrap" in step for step in steps)
    version = re.search(r"python:(\d+)\.(\d+)", steps[0])
    assert (int(version[1]), int(version[2])) >= (3, 11)
