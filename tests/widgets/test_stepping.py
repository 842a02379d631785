"""The steps of the engine itself, as the page's Python hands them to the stepper's figure."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.test_stepper import PRODUCTS

FILE = Path(__file__).resolve().parents[2] / "site/runtime/python/stepping.py"


@pytest.fixture(scope="module")
def stepping() -> Any:
    spec = importlib.util.spec_from_file_location("minigrad_site_stepping", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def traced(stepping: Any, program: str, **leaves: float) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(stepping.traced(program, leaves))
    return found


@pytest.mark.parametrize("program", PRODUCTS)
def test_the_engine_takes_the_steps_of_the_figure_s_own_model(model, stepping, program):
    leaves = {"a": 1.5, "b": 0.5, "c": 2.0}
    shown, real = model("stepper", program=program, **leaves), traced(stepping, program, **leaves)
    assert [node["value"] for node in real["nodes"]] == pytest.approx(
        [node["value"] for node in shown["nodes"]], rel=1e-3)
    assert [node["row"] for node in real["nodes"] if node["kind"] == "op"] == [
        node["row"] for node in shown["nodes"] if node["kind"] == "op"]

    def ran(steps):
        return [(step["kind"], step["node"]) for step in steps
                if step["kind"] in ("made", "run", "write", "end")]

    assert ran(real["steps"]) == ran(shown["steps"])
    end, expected = real["steps"][-1], shown["steps"][-1]
    assert end["grads"] == pytest.approx(expected["grads"], rel=1e-3)
    assert end["visits"] == expected["visits"]


def test_any_program_is_taken_whose_last_line_is_a_tensor(stepping):
    found = traced(stepping, "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
                             "def twice(u): return u + u\n"
                             "for _ in range(2):\n    x = twice(x)\n(x * k).sum()", k=3)
    assert [node["title"] for node in found["nodes"]][-1] == "SumBackward0"
    assert {node["name"]: node["value"] for node in found["nodes"] if node["kind"] == "leaf"} == {
        "k": 3, None: None}
    places = range(len(found["nodes"]))
    assert all(edge["from"] < edge["to"] and edge["to"] in places for edge in found["edges"])
    arrives = [step for step in found["steps"] if step["kind"] == "arrive"]
    assert len(arrives) == len(found["edges"])
    assert all(found["edges"][step["edge"]]["to"] == step["node"] for step in arrives)


@pytest.mark.parametrize(("program", "words"), [
    ("a *", "SyntaxError"), ("1 + 1", "a tensor that requires grad"), ("", "the last line"),
    ("a\nfor i in []:\n    pass", "the last line"), ("a / b.c", "AttributeError"),
    ("\n".join(["x = a"] + ["x = x + a"] * 50 + ["x"]), "more than 40 nodes"),
])
def test_what_cannot_be_stepped_through_is_told(stepping, program, words):
    assert words in traced(stepping, program)["error"]


def test_numbers_that_are_none_of_json_are_texts(stepping):
    found = traced(stepping, "a.log() * 0 / 0", a=-1)
    assert found["nodes"][-1]["value"] == "nan"
    assert found["steps"][-1]["grads"] == {"0": "nan"}
