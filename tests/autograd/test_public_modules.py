"""The packages of `autograd` export what PyTorch's modules of the same names export."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

MODULES = ["forward_ad", "function", "functional", "gradcheck", "profiler"]


def module(name: str, package: str = "minigrad"):
    return importlib.import_module(f"{package}.autograd.{name}")


@pytest.mark.parametrize("name", MODULES)
def test_a_package_exports_names_of_pytorch_alone(name):
    pytest.importorskip("torch", reason="compares with PyTorch")
    theirs = module(name, "torch")
    assert [each for each in module(name).__all__ if not hasattr(theirs, each)] == []


@pytest.mark.parametrize("name", MODULES)
def test_what_it_exports_names_the_package_as_its_module(name):
    elsewhere = {"EventList", "FunctionEvent"}  # PyTorch defines them in profiler_util too
    mine = module(name)
    assert {getattr(mine, each).__module__ for each in mine.__all__ if each not in elsewhere} == {
        f"minigrad.autograd.{name}"}


@pytest.mark.parametrize("name", [*MODULES, "profiler_util"])
def test_each_can_be_the_first_that_a_program_imports(name):
    code = f"import minigrad.autograd.{name} as first; import minigrad"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_gradcheck_is_the_function_as_an_attribute_and_the_package_as_a_module():
    package = module("gradcheck")
    import minigrad.autograd.gradcheck.numerical

    assert minigrad.autograd.gradcheck is package.gradcheck
    assert package.numerical.GradcheckError is package.GradcheckError
    assert package.GradcheckError.__qualname__ == "GradcheckError"
