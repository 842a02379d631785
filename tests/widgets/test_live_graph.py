"""The graph of a few lines: parsed as Python parses them, with minigrad's derivatives."""

from __future__ import annotations

import random

import pytest

from tests.widgets.programs import derived, random_program


def test_random_programs_agree_with_minigrad(model):
    rng, compared = random.Random(24), 0
    while compared < 200:
        leaves = {name: round(rng.uniform(0.2, 1.8), 2) for name in "abc"}
        program = random_program(rng)
        expected, shown = derived(program, leaves), model("live-graph", program=program, **leaves)
        if expected is None or "error" in shown:
            assert expected is None or any(
                word in shown["error"] for word in ("steps", "name", "takes a tensor"))
            continue
        compared += 1
        value, gradients = expected
        last = shown["nodes"][-1]
        assert last["value"] == pytest.approx(value, rel=1e-9, abs=1e-12), program
        found = {each["name"]: each["adjoint"] for each in shown["nodes"] if each["kind"] == "leaf"}
        for name, gradient in gradients.items():
            assert found.get(name, 0.0) == pytest.approx(gradient, rel=1e-9, abs=1e-9), program


def test_a_gradient_is_the_sum_over_the_paths_of_the_products_of_the_slopes(model):
    shown = model("live-graph")
    leaf = {each.get("name"): number for number, each in enumerate(shown["nodes"])}
    assert [shown["nodes"][leaf[name]]["adjoint"] for name in "ab"] == [24, 40]

    def total(node: int) -> float:
        ways = [edge["slope"] * total(edge["to"]) for edge in shown["edges"]
                if edge["from"] == node]
        return sum(ways) if ways else 1.0

    assert total(leaf["a"]) == 24 and total(leaf["b"]) == 40


@pytest.mark.parametrize(("program", "words"), [
    ("a +", "ends too early"), ("a b", "a sign is missing"), ("a $ b", "“$”"),
    ("gamma(a)", "exp, log"), ("exp(2) * a", "exp takes a tensor, and 2 is a number"),
    ("2 + 3", "at least one name"), ("(a", "“)” is missing"),
    ("a * * b", "stands where"), ("", "name")])
def test_a_mistake_is_told_in_words(model, program, words):
    assert words in model("live-graph", program=program)["error"]


def test_a_slope_is_written_as_people_write_it(figures):
    def said(program, look=None, **leaves):
        markup = figures.ask({"draw": "live-graph", "name": "x",
                              "options": {"program": program, "pinned": "a", **leaves}})
        return markup.partition('class="mg-says">')[2].partition("</p>")[0]

    assert said("f = a * b", a=2, b=3).startswith('1 path from <b>a</b>: <b class="gradient">3</b>')
    assert "<code>4×3</code> = " in said("d = a**2\nf = d * b", a=2, b=3)
