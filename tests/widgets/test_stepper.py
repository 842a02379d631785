"""The steps of a backward pass beside those that minigrad's engine records."""

from __future__ import annotations

import json
import random

import pytest

from minigrad import viz
from minigrad.examples.naive_engine import NaiveEngine
from tests.widgets.programs import computed, derived, random_program

PRODUCTS = ("d = b**2\na**2 * d + d", "u = a * b\nv = u * u\nv * a + u", "a * b + b * c",
            "u = a + a\nv = u + u\nv * u")


def test_nodes_run_in_the_order_of_the_engine(model):
    rng, compared = random.Random(3), 0
    programs = [*PRODUCTS, *(random_program(rng) for _ in range(150))]
    for program in programs:
        leaves = {name: round(rng.uniform(0.3, 1.7), 2) for name in "abc"}
        if derived(program, leaves) is None:
            continue
        result, given = computed(program, leaves)
        passed = viz.backward_steps(result, names=given)
        shown = model("stepper", program=program, **leaves)
        if "error" in shown:
            continue
        ops = [node for node in shown["nodes"] if node["kind"] == "op"]
        recorded = [passed.nodes[number] for number in passed.steps[-1].done]
        expected = [node.sequence for node in recorded if node.role == "op"]
        made = sorted(expected)  # unused operations have numbers too, and are not drawn
        if len(ops) != len(expected):
            continue  # minigrad has two nodes where the figure draws one, or the reverse
        compared += 1
        place = {number: i for i, number in enumerate(
            n for n, node in enumerate(shown["nodes"]) if node["kind"] == "op")}
        ran = [place[step["node"]] for step in shown["steps"] if step["kind"] == "run"]
        assert ran == [made.index(number) for number in expected], program
        end = shown["steps"][-1]["grads"]
        for number, node in enumerate(shown["nodes"]):
            if node["kind"] == "leaf":
                assert end[str(number)] == pytest.approx(given[node["name"]].grad.item(), rel=1e-9)
    assert compared >= 60


@pytest.mark.parametrize("program", PRODUCTS)
def test_the_naive_engine_makes_the_calls_that_are_counted(model, program):
    result, given = computed(program, {"a": 1.5, "b": 0.5, "c": 2.0})
    engine = NaiveEngine()
    engine.backward(result)
    shown = model("stepper", program=program, a=1.5, b=0.5, c=2.0, engine="naive")
    assert shown["visits"] == shown["both"]["naive"] == engine.calls
    end = shown["steps"][-1]["grads"]
    for number, node in enumerate(shown["nodes"]):
        if node["kind"] == "leaf":
            assert end[str(number)] == pytest.approx(engine.gradients[given[node["name"]]].item())


def test_doublings_take_two_to_the_power_calls(model):
    lines = ["a = x + x", *(f"{new} = {old} + {old}" for old, new in zip("abcdefghi", "bcdefghij"))]
    assert model("stepper", program="\n".join(lines))["both"] == {"counted": 10, "naive": 1023}


def test_each_state_is_whole(model):
    """A buffer holds what has arrived, and a node runs when it waits for nothing more."""
    for step in model("stepper")["steps"]:
        assert all(node not in step["done"] for node in step["queue"])
        assert all(step["waits"][str(node)] == 0 for node in step["queue"])


def test_a_last_line_may_go_backward_from_a_name(model):
    leaves = {"a": 3, "b": 2}
    plain = model("stepper", program="d = b**2\nf = a**2 * d + d", **leaves)
    ended = "d = b**2\nf = a**2 * d + d\nf.backward()  # now\n"
    assert model("stepper", program=ended, **leaves) == plain
    inner = model("stepper", program="d = b**2\nf = a * d\nd.backward()", **leaves)
    assert [node["name"] for node in inner["nodes"]] == ["b", "d"]
    for program, error in (("f = a\ng.backward()", "g is not computed"),
                           ("f = a * b\nf.backward()\nf + 1", "in the last line")):
        assert error in model("stepper", program=program)["error"]


def test_a_wrong_choice_is_told_why(figures):
    state = {"program": "c = a * b\nd = a + b\nc * d", "a": 3.0, "b": 2.0, "engine": "counted"}
    steps = figures.ask({"model": "stepper", "state": state})["steps"]
    place = max(i for i, step in enumerate(steps)
                if step["kind"] == "arrive" and len(step["queue"]) > 1)
    told = figures.ask({"draw": "stepper", "name": "stepper", "options": state | {
        "step": place, "guess": f"{place}:{steps[place]['queue'][1]}"}})
    assert "is ready too, but" in json.dumps(told)
