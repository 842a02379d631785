"""The home page's program in Python: it gives what the picture beside it shows."""

from __future__ import annotations

import random

import pytest

from tests.widgets.programs import random_program


def ran(asked, program, **leaves):
    return asked("cell.ran", program, leaves)


def test_random_programs_give_what_the_picture_shows(model, asked):
    rng, compared = random.Random(31), 0
    while compared < 100:
        leaves = {name: round(rng.uniform(0.2, 1.8), 2) for name in "abc"}
        program = random_program(rng)
        *lines, last = program.splitlines()
        program = "\n".join([*lines, f"f = {last}", "f.backward()"][:rng.choice([3, 4])])
        shown, found = model("live-graph", program=program, **leaves), ran(asked, program, **leaves)
        if "error" in shown:
            assert "name" in shown["error"] or "error" in found, program
            continue
        compared += 1
        values = dict(found["values"])
        expected = {"f": shown["nodes"][-1]["value"]}
        expected |= {f"{node['name']}.grad": node["adjoint"] for node in shown["nodes"]
                     if node["kind"] == "leaf"}
        for name, number in expected.items():
            value = values.pop(name)
            if number is None:  # as JSON writes what is not finite
                assert value in ("nan", "inf", "-inf"), program
            else:
                assert value == pytest.approx(number, rel=1e-9, abs=1e-9), program
        assert {*values.values()} <= {"None", 0.0}, program


def test_the_first_program_gives_the_first_picture(asked, model):
    found = ran(asked, "d = b**2\nf = a**2 * d + d\nf.backward()", a=3, b=2)
    assert found == {"printed": "", "values": [["f", 40.0], ["a.grad", 24.0], ["b.grad", 40.0]]}


@pytest.mark.parametrize(("program", "printed", "values"), [
    ("a * b", "", [["a * b", 6.0], ["a.grad", 3.0], ["b.grad", 2.0]]),
    ("for _ in range(3):\n    a = a * a if _ else a0 * a0\na", "",
     [["a", 256.0], ["a0.grad", 1024.0]]),
    ("print(a.grad)\nf = a * 3\nf.backward()\nprint(a.grad.item())", "None\n3.0\n",
     [["a.grad", 3.0]]),
    ("import math\nmath.inf", "", [["math.inf", "inf"]]),
    ("[1, 2]", "", [["[1, 2]", "[1, 2]"]]),
    ("torch.stack([a, b])", "", [["torch.stack([a, b])", "tensor([2., 3.], dtype=torch.float64)"],
                                 ["a.grad", "None"], ["b.grad", "None"]]),
    ("f = a / 0", "", [["f", "inf"], ["a.grad", "inf"]]),
    ("", "", [])])
def test_any_python_runs(asked, program, printed, values):
    assert ran(asked, program, a=2, b=3, a0=2) == {"printed": printed, "values": values}


@pytest.mark.parametrize(("program", "words"), [
    ("f = a *", "SyntaxError: invalid syntax (<your program>, line 1)"),
    ("f = (a * 2).nothing()", "AttributeError: 'Tensor' object has no attribute 'nothing'"),
    ("torch.ones(2, requires_grad=True).backward()", "grad can be implicitly created only for"),
    ("raise SystemExit(3)", "SystemExit: 3")])
def test_a_mistake_is_told_in_python_s_words(asked, program, words):
    assert words in ran(asked, program, a=2)["error"]


def test_the_picture_s_numbers_are_there_before_python_is_asked(figures, model):
    shown = model("live-graph", cell="yes")
    assert "python" not in shown and shown["nodes"][-1]["value"] == 40
    markup = figures.ask({"draw": "live-graph", "name": "x", "options": {"cell": "yes"}})
    assert markup.count('data-needs="python"') == 2
    markup = figures.ask({"draw": "live-graph", "name": "x", "options": {}})
    assert "data-needs" not in markup
