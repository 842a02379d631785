"""Two builds of the same sources are the same site, to the byte."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import same

ROOT = Path(__file__).resolve().parents[2]


def folder(place: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def test_what_differs_is_named_with_its_place(tmp_path):
    first = folder(tmp_path / "1", {"a/x.html": b"one two", "b.js": b"same", "c.css": b"long",
                                    "old": b""})
    second = folder(tmp_path / "2", {"a/x.html": b"one too", "b.js": b"same", "c.css": b"longer",
                                     "new": b""})
    assert list(same.differences(first, second)) == [
        "a/x.html: at byte 5\n    b'one two'\n    b'one too'",
        "c.css: at byte 4\n    b'long'\n    b'longer'",
        "new: only in the second build", "old: only in the first build"]
    assert list(same.differences(first, first)) == []


@pytest.mark.parametrize("differ", [False, True])
def test_the_command_ends_with_what_differs(tmp_path, monkeypatch, capsys, differ):
    seeds = []

    def build(command: list[str], env: dict[str, str], **more: object) -> SimpleNamespace:
        seeds.append((env["PYTHONHASHSEED"], env["TZ"]))
        written = env["TZ"].encode() if differ else b"always"
        folder(Path(command[-1]), {"index.html": written})
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(same, "ROOT", tmp_path)
    monkeypatch.setattr(same, "BUILDS", tmp_path / "same")
    monkeypatch.setattr(same.subprocess, "run", build)
    if differ:
        with pytest.raises(SystemExit, match=r"index.html: at byte 0[^$]*1 of 1 files differ"):
            same.main()
    else:
        same.main()
        assert "1 files are the same in both builds" in capsys.readouterr().out
    assert len(set(seeds)) == 2


@pytest.mark.parametrize("given", ["", "86400"])
def test_pages_are_of_the_day_of_the_last_commit(given):
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("the date comes from git")
    pytest.importorskip("mkdocs", reason="the extra 'site' is not installed")
    program = ("import os, sys; sys.path.insert(0, 'site'); import hooks; "
               "os.environ.pop('SOURCE_DATE_EPOCH', None); "
               f"os.environ.update({{'SOURCE_DATE_EPOCH': '{given}'}} if '{given}' else {{}}); "
               "hooks.date_of_sources(); print(os.environ['SOURCE_DATE_EPOCH'])")
    told = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True,
                          check=True)
    commit = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True,
                            text=True, check=True)
    assert told.stdout == (f"{given}\n" if given else commit.stdout)

