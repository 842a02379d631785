"""Files and imports of the first edition keep working after modules have moved."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import inspect
import io
import json
import os
import pickle
import pkgutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import minigrad
from minigrad.utils.moved_modules import MOVED, MOVED_FUNCTIONS

#: Written by the first edition: pickles of its public classes, of some objects, and saved files.
FIRST_EDITION = json.loads(
    (Path(__file__).parents[1] / "data" / "first_edition_pickles.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FIRST_EDITION["classes"])
def test_a_pickled_class_is_found_again(name):
    cls = pickle.loads(base64.b64decode(FIRST_EDITION["classes"][name]))
    namespace, _, attribute = name.rpartition(".")
    assert inspect.isclass(cls)
    assert getattr(importlib.import_module(namespace), attribute) is cls


@pytest.mark.parametrize(("old", "name", "new"), [
    (old, name, new) for old, names in MOVED_FUNCTIONS.items() for name, new in names.items()])
def test_a_function_is_found_where_it_was(old, name, new):
    home, _, new_name = new.rpartition(".")
    before, now = (importlib.import_module(f"minigrad.{each}") for each in (old, home))
    assert getattr(before, name) is getattr(now, new_name)


@pytest.mark.parametrize("name", FIRST_EDITION["instances"])
def test_a_pickled_object_is_restored(name):
    value = pickle.loads(base64.b64decode(FIRST_EDITION["instances"][name]))
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is type(value)
    if isinstance(value, minigrad.Tensor):
        assert minigrad.equal(value, again)
    if isinstance(value, minigrad.nn.Module):
        assert [n for n, _ in value.named_parameters()] == [n for n, _ in again.named_parameters()]


@pytest.mark.parametrize("name", FIRST_EDITION["saved"])
def test_a_saved_file_is_loaded(name):
    value = minigrad.load(io.BytesIO(base64.b64decode(FIRST_EDITION["saved"][name])))
    assert isinstance(value, (minigrad.Tensor, dict))


def rewritten(name, change):
    """Return a saved file with its structure changed."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(FIRST_EDITION["saved"][name]))) as old, \
            zipfile.ZipFile(file, "w") as new:
        for each in old.namelist():
            data = old.read(each)
            if each == "structure.json":
                structure = json.loads(data)
                change(structure)
                data = json.dumps(structure).encode()
            new.writestr(each, data)
    file.seek(0)
    return file


@pytest.mark.parametrize(("field", "value"), [
    ("offset", 10**6), ("shape", [10**9]), ("strides", [-1]), ("dtype", "float16"),
    ("memory", 7), ("class", "Module"), ("device", "nowhere")])
def test_a_saved_file_that_lies_is_refused(field, value):
    file = rewritten("tensor", lambda structure: structure["tensors"][0].update({field: value}))
    with pytest.raises(RuntimeError, match=r"cannot load|Expected one of"):
        minigrad.load(file)


def test_a_saved_file_of_a_later_version_is_refused():
    file = rewritten("tensor", lambda structure: structure.update(version=2))
    with pytest.raises(RuntimeError, match="version 2, is not known"):
        minigrad.load(file)


def test_a_saved_file_that_was_cut_is_refused():
    data = base64.b64decode(FIRST_EDITION["saved"]["checkpoint"])
    for length in range(0, len(data), 37):
        with pytest.raises(RuntimeError, match="cannot load"):
            minigrad.load(io.BytesIO(data[:length]))


@pytest.mark.parametrize(("kind", "module"), [
    (minigrad.Tensor, "minigrad"), (minigrad.Size, "minigrad"), (minigrad.dtype, "minigrad"),
    (minigrad.device, "minigrad"), (minigrad.Generator, "minigrad"),
    (minigrad.nn.Linear, "minigrad.nn.modules.linear"),
    (minigrad.nn.LayerNorm, "minigrad.nn.modules.normalization"),
    (minigrad.nn.MultiheadAttention, "minigrad.nn.modules.activation"),
    (minigrad.nn.Parameter, "minigrad.nn.parameter"), (minigrad.optim.SGD, "minigrad.optim.sgd"),
    (minigrad.autograd.Function, "minigrad.autograd.function")],
    ids=lambda value: getattr(value, "__name__", ""))
def test_a_public_class_has_the_module_that_it_has_in_pytorch(kind, module):
    assert kind.__module__ == module
    assert getattr(sys.modules[module], kind.__name__) is kind


#: Without `fast/` its old names lead nowhere.
THERE = [old for old, new in MOVED.items()
         if not new.startswith("fast") or importlib.util.find_spec("minigrad.codegen")]


@pytest.mark.parametrize("old", THERE)
def test_an_old_module_name_gives_the_module(old):
    assert importlib.import_module(f"minigrad.{old}") is importlib.import_module(
        f"minigrad.{MOVED[old]}")


@pytest.mark.parametrize("name", ["", ".grading", ".grading.intake", ".export.cell"])
def test_the_course_is_found_by_its_old_name(name):
    """Exported notebooks import `minigrad.course.export.cell`."""
    assert importlib.import_module(f"minigrad.course{name}") is importlib.import_module(
        f"minigrad_course{name}")


@pytest.mark.parametrize("name", ["no_such_module", "course.no_such_module", "courses"])
def test_a_name_that_never_was_is_not_found(name):
    with pytest.raises(ModuleNotFoundError, match=rf"minigrad\.{name}"):
        importlib.import_module(f"minigrad.{name}")


@pytest.mark.slow
def test_an_old_name_can_be_run():
    pytest.importorskip("typer", reason="the course's commands need Typer")
    done = subprocess.run([sys.executable, "-P", "-m", "minigrad.course", "export", "-h"],
                          capture_output=True, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])})
    assert "Usage: python -m minigrad.course export" in done.stdout


def test_tensor_stays_a_function_after_every_submodule_is_imported():
    names = [found.name for found in pkgutil.walk_packages(minigrad.__path__, "minigrad.")
             if "cupy" not in found.name]
    code = (f"import importlib, minigrad\nfor name in {names!r}: importlib.import_module(name)\n"
            "assert minigrad.tensor([1.0, 2.0]).tolist() == [1.0, 2.0]\n"
            "from minigrad.tensor.tensor import Tensor\n"
            "assert isinstance(minigrad.tensor(1.0), Tensor)")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
