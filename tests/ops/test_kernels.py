"""A backend's own kernels in place of forwards and formulas."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad.backend import BACKENDS
from minigrad.ops.kernels import own_kernel


class Array:
    """An array of a backend that has one kernel, `twice`."""


class Backend:
    def twice(self, *arguments):
        return NotImplemented if arguments[-1] == "refused" else ("kernel", *arguments)


@pytest.fixture
def array(monkeypatch):
    monkeypatch.setitem(BACKENDS, Array, Backend())
    return Array()


@own_kernel("twice")
def formula(g, self):
    return "formula", g, self


@own_kernel("twice", "scale", "g")
def formula_of_three(g, self, scale):
    return "formula", g, self, scale


@own_kernel("twice")
def forward(xp, self):
    return "forward", self


@own_kernel("another")
def without_kernel(g, self):
    return "formula", g, self


def test_the_kernel_gets_the_formulas_arguments(array):
    assert formula(array, 1) == ("kernel", array, 1)


def test_the_kernel_gets_the_arguments_that_are_named(array):
    assert formula_of_three(array, 1, 2) == ("kernel", 2, array)


def test_the_kernel_of_a_forward_gets_no_backend():
    assert forward(Backend(), 1) == ("kernel", 1)


def test_a_kernel_may_leave_the_work_to_the_function(array):
    assert formula(array, "refused") == ("formula", array, "refused")
    assert forward(Backend(), "refused") == ("forward", "refused")


def test_without_a_kernel_the_function_runs(array):
    assert without_kernel(array, 1) == ("formula", array, 1)
    assert forward(BACKENDS[np.ndarray], 1) == ("forward", 1)


@pytest.mark.parametrize("g", [np.ones(2), torch.ones(2)], ids=["array", "tensor"])
def test_formulas_run_on_tensors_and_numpys_arrays(g):
    assert formula(g, 1) == ("formula", g, 1)
