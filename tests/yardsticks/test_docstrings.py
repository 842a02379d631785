"""Examples in PyTorch's docstrings have the same output, or are in known_docstrings.json."""

from __future__ import annotations

import json
import sys

import pytest

from tests.support.slow import today

from .docstrings import KNOWN, alike, collect, measure, statements, verdict

pytestmark = [pytest.mark.slow, pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the programs run in forks of a process")]

ADVICE = "python -m tests.yardsticks.docstrings --notes NAME shows a difference, --write stores it"


def test_examples_show_the_same() -> None:
    pytest.importorskip("torch", reason="the examples come with PyTorch")
    programs = collect()
    chosen = dict(today(30, sorted(programs.items())))
    theirs, ours = measure(chosen)
    found = {name: wrong for name in theirs if (wrong := verdict(theirs[name], ours[name]))}
    known = json.loads(KNOWN.read_text("utf-8"))
    assert found == {name: wrong for name, wrong in known.items() if name in theirs}, ADVICE


def test_the_table_names_examples_that_are_there() -> None:
    pytest.importorskip("torch", reason="the examples come with PyTorch")
    assert set(json.loads(KNOWN.read_text("utf-8"))) <= collect().keys()


def test_statements_of_both_forms_are_read() -> None:
    text = """
    >>> for i in range(2):
    ...     print(i)
    0
    >>> with open("x"):
    >>>     a = 1
    """
    assert statements(text) == ["for i in range(2):\n    print(i)\n",
                                'with open("x"):\n    a = 1\n']
    assert statements(">>> a = (1,\n>>> b") == ["a = (1,\n", "b\n"]


def test_only_rounding_and_spaces_are_forgiven() -> None:
    assert alike("tensor([1.0000, -2.5e-07])", "tensor([ 1.0001, -2.6e-07])")
    assert not alike("tensor([1.0, 2.0])", "tensor([1.0, 2.1])")
    assert not alike("tensor([1.0])", "tensor([1.0], grad_fn=<MulBackward>)")
    assert verdict(["1"], ["!NameError: x"]) == "ends early"
    assert verdict(["1"], ["2"]) == "shows something else"
