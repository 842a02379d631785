"""What the engine itself gives, as the page's Python hands it to a figure: steps, and a digit."""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.widgets.test_stepper import PRODUCTS

FOLDER = Path(__file__).resolve().parents[2] / "site/runtime/python"


def traced(asked: Callable[..., Any], program: str, **leaves: float) -> dict[str, Any]:
    found: dict[str, Any] = asked("stepping.traced", program, leaves)
    return found


@pytest.mark.parametrize("program", PRODUCTS)
def test_the_engine_takes_the_steps_of_the_figure_s_own_model(model, asked, program):
    leaves = {"a": 1.5, "b": 0.5, "c": 2.0}
    shown, real = model("stepper", program=program, **leaves), traced(asked, program, **leaves)
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


def test_any_program_is_taken_whose_last_line_is_a_tensor(asked):
    found = traced(asked, "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
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
def test_what_cannot_be_stepped_through_is_told(asked, program, words):
    assert words in traced(asked, program)["error"]


def test_numbers_that_are_none_of_json_are_texts(asked):
    found = traced(asked, "a.log() * 0 / 0", a=-1)
    assert found["nodes"][-1]["value"] == "nan"
    assert found["steps"][-1]["grads"] == {"0": "nan"}


def test_what_cannot_be_answered_is_told(asked):
    assert "ModuleNotFoundError" in asked("nowhere.at_all")["error"]
    assert "TypeError" in asked("digit.read")["error"]
    assert asked("digit.read", [0] * 63, {}, {})["error"]


# --- a digit ----------------------------------------------------------------------------------

WEIGHTS = FOLDER.parents[1] / "widgets" / "digit_weights.js"


def weights() -> dict[str, Any]:
    """The two layers as the page has them."""
    text = WEIGHTS.read_text(encoding="utf-8")
    parts = re.findall(r"export const (\w+) = (\{.*?\n\});", text, re.DOTALL)
    names = re.compile(r"\b(bias|weight):")
    return {name: json.loads(re.sub(r",(\s*[\]}])", r"\1", names.sub(r'"\1":', body)))
            for name, body in parts}


def random_ink(rng: random.Random) -> str:
    """One to three strokes of random points."""
    letters = "0123456789abcdefghijklmnopqrstuv"
    return ".".join("".join(rng.choices(letters, k=2 * rng.randint(1, 6)))
                    for _ in range(rng.randint(1, 3)))


def test_the_figure_reads_a_digit_as_minigrad_does(model, asked):
    layers, rng = weights(), random.Random(14)
    for _ in range(100):
        shown = model("digit", ink=random_ink(rng))
        real = asked("digit.read", shown["pixels"], layers["HIDDEN"], layers["OUTPUT"])
        assert shown["shares"] == pytest.approx(real["shares"], rel=1e-9, abs=1e-12)
        assert shown["slope"] == pytest.approx(real["slope"], rel=1e-9, abs=1e-12)
        assert shown["digit"] == int(np.argmax(real["shares"]))


@pytest.mark.slow
def test_the_weights_read_as_many_held_out_digits_as_they_say(asked):
    pytest.importorskip("sklearn", reason="its digits are read")
    from minigrad_course.demos import digits

    layers, data = weights(), digits.load(0)
    right = 0
    for image, wanted in zip(data.test_images.tolist(), data.test_digits.tolist(), strict=True):
        pixels = [16 * each for each in np.ravel(image)]
        shares = asked("digit.read", pixels, layers["HIDDEN"], layers["OUTPUT"])["shares"]
        right += int(np.argmax(shares)) == wanted
    said = f"it reads {right} of {len(data.test_digits)} digits that it was not trained on"
    assert said in WEIGHTS.read_text(encoding="utf-8")
    assert right > 0.95 * len(data.test_digits)


def test_the_script_writes_what_the_figure_imports():
    pytest.importorskip("sklearn", reason="its digits are trained on")
    import digit_weights

    from minigrad_course.demos import digits

    data = digits.load(0)
    text = digit_weights.written(digit_weights.trained(data, 1), data)
    kept = WEIGHTS.read_text(encoding="utf-8")
    number = re.compile(r"-?\d+\.\d{3}|\d+ of \d+ digits")
    assert number.sub("0", text) == number.sub("0", kept)


@pytest.mark.parametrize("digit", [3, 4, 7, 8])
def test_the_examples_are_read_as_what_they_are(figures, model, digit):
    drawn = html.unescape(figures.ask({"draw": "digit", "options": {}, "name": "digit"}))
    ink = re.search(rf'"ink":"([^"]*)","pen":false\}}"[^>]*>a {digit}<', drawn)
    assert ink is not None
    shown = model("digit", ink=ink[1])
    assert shown["digit"] == digit and max(shown["shares"]) > 0.8


def test_a_drawing_is_fitted_to_its_image_and_an_empty_sheet_is_no_digit(model):
    here, moved = (model("digit", ink=ink)["pixels"] for ink in ("48cgk8", "6aeima"))
    assert here == moved and max(here) > 12
    tall = np.array(model("digit", ink="g0gv")["pixels"]).reshape(8, 8)
    assert (tall[:, 3:5] > 0).all() and (tall[:, :3] == 0).all() and (tall[:, 5:] == 0).all()
    assert model("digit", ink="")["pixels"] == [0] * 64
    assert model("digit", ink="")["digit"] is None
    assert model("digit", ink="<b>&.9")["digit"] is None  # as an address may say
