"""What the project is made of is pinned: dependencies by version, what is served by hash."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OWN = canonicalize_name(PROJECT["project"]["name"])
NAMED = [Requirement(each) for group in (
    PROJECT["build-system"]["requires"], PROJECT["project"]["dependencies"],
    *PROJECT["project"]["optional-dependencies"].values()) for each in group]
WANTED = [each for each in NAMED if canonicalize_name(each.name) != OWN]


def lines(path: str) -> list[str]:
    text = (ROOT / path).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


PINNED = {canonicalize_name(name): version
          for name, version in (line.split("==") for line in lines("constraints.txt"))}


def test_the_list_of_versions_holds_names_and_versions_only():
    for line in lines("constraints.txt"):
        assert re.fullmatch(r"[\w.-]+==[\w.+!]+", line), line
    assert len(PINNED) == len(lines("constraints.txt")), "a name stands there twice"


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_what_the_project_names_is_pinned_within_its_range(wanted):
    version = PINNED.get(canonicalize_name(wanted.name))
    assert version is not None and version in wanted.specifier


def test_what_that_needs_in_turn_is_pinned_as_far_as_it_is_installed_here():
    seen: set[tuple[str, frozenset[str]]] = set()

    def visit(wanted: Requirement) -> None:
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            return
        seen.add((name, extras))
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            return
        for each in map(Requirement, needs):
            if each.marker is None or any(
                    each.marker.evaluate({"extra": extra}) for extra in {"", *extras}):
                visit(each)

    for wanted in WANTED:
        if wanted.marker is None or wanted.marker.evaluate():
            visit(wanted)
    assert len(seen) > len(WANTED) / 2
    assert {name for name, _ in seen} - {"pip"} <= set(PINNED)  # pip comes with Python


def test_what_runs_the_tests_in_a_page_has_the_same_versions_and_hashes():
    for line in lines("site/runtime/wheels.txt"):
        found = re.fullmatch(r"([\w.-]+)==([\w.]+) --hash=sha256:[0-9a-f]{64}", line)
        assert found and PINNED[canonicalize_name(found[1])] == found[2], line


@pytest.mark.parametrize("folder", ["site", "tests/browser/firefox"])
def test_what_comes_from_npm_has_one_version_and_a_hash_each(folder):
    lock = json.loads((ROOT / folder / "package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((ROOT / folder / "package.json").read_text(encoding="utf-8"))
    for name, version in (wanted.get("dependencies", {}) | wanted["devDependencies"]).items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    for path, about in lock["packages"].items():
        assert not path or (about["integrity"].startswith("sha512-") and about["license"]), path
