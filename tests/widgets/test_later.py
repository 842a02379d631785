"""The page's finder of modules that come later: one fetch, with the first import of one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = str(Path(__file__).resolve().parents[2] / "site" / "runtime" / "python")


@pytest.fixture
def later(monkeypatch, tmp_path):
    """The module, where a package `here` lacks the module `here.rest`."""
    monkeypatch.setattr(sys, "path", [FOLDER, str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "__init__.py").touch()
    module = importlib.import_module("later")
    monkeypatch.setattr(module, "PLACE", str(tmp_path / "rest"))
    yield module
    for name in [each for each in sys.modules if each.partition(".")[0] == "here"]:
        del sys.modules[name]


def test_the_rest_is_fetched_with_the_first_import_of_it_once(later, tmp_path):
    fetched = []

    def fetch(name):
        if fetched or not name.startswith("here."):
            return False
        fetched.append(name)
        (tmp_path / "here" / "rest.py").write_text("answer = 42", encoding="utf-8")
        return True

    later.install(fetch)
    importlib.import_module("here")
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        importlib.import_module("elsewhere")
    assert not fetched
    assert importlib.import_module("here.rest").answer == 42
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'here\.nothing'"):
        importlib.import_module("here.nothing")
    assert fetched == ["here.rest"]


def test_a_part_of_a_package_may_lie_in_another_folder(later, tmp_path):
    def fetch(name):
        (tmp_path / "rest" / "here").mkdir(parents=True)
        (tmp_path / "rest" / "here" / "apart.py").write_text("answer = 43", encoding="utf-8")
        return True

    later.install(fetch)
    assert importlib.import_module("here.apart").answer == 43


def test_what_cannot_be_fetched_is_told_and_tried_again(later, tmp_path):
    def fetch(name):
        if not fetched:
            fetched.append(True)
            raise OSError("more.tar.gz (503)")
        (tmp_path / "here" / "rest.py").touch()
        return True

    fetched = []
    later.install(fetch)
    with pytest.raises(ImportError, match=r"here\.rest .* not be fetched: more\.tar\.gz \(503\)"):
        importlib.import_module("here.rest")
    importlib.import_module("here.rest")
