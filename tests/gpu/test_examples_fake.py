"""The examples of `minigrad.cuda` on imaginary GPUs: the lines that need a GPU run too."""

from __future__ import annotations

import doctest
import importlib

import pytest

import minigrad as torch
from tests.gpu._cuda_on_host import COMPILER

NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None,
                                    reason="random numbers come from kernels' text, which needs a "
                                           "C++ compiler to run on a CPU")
MODULES = ["devices", "graphs", "memory", pytest.param("random", marks=NEEDS_COMPILER), "streams"]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run(test: doctest.DocTest) -> str:
    """Run a docstring's examples; return what `doctest` says of those that differ."""
    shown: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=shown.append)
    return "".join(shown)


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold_with_a_gpu_too(fake, name):
    assert torch.cuda.is_available()
    module = importlib.import_module(f"minigrad.cuda.{name}")
    found = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert found
    assert "".join(map(run, found)) == ""


def test_an_example_that_does_not_hold_with_a_gpu_is_found(fake):
    text = ">>> if torch.cuda.is_available():\n...     assert torch.zeros(2, device='cuda').is_cpu"
    test = doctest.DocTestParser().get_doctest(text, {"torch": torch}, "wrong", None, None)
    assert "AssertionError" in run(test)
