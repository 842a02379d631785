"""The graph of a few lines: parsed as Python parses them, with minigrad's derivatives."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import minigrad as torch

CALLS = ["exp", "log", "tanh", "sin", "cos", "sqrt", "sigmoid", "relu"]


def formula(rng: random.Random, names: list[str], depth: int) -> str:
    """A random formula, written with as few parentheses as chance wants."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*names, *names, f"{rng.uniform(0.5, 2):.2f}"])
    kind = rng.randrange(8)
    inner = [formula(rng, names, depth - 1) for _ in range(2)]
    if kind < 4:
        return f"{inner[0]} {rng.choice('+-*/')} {inner[1]}"
    if kind == 4:
        return f"({inner[0]} {rng.choice('+-*')} {inner[1]})"
    if kind == 5:
        return f"-{inner[0]}"
    if kind == 6:
        return f"{rng.choice(names)}**{rng.choice(['2', '3', '-1', '0.5', rng.choice(names)])}"
    return f"{rng.choice(CALLS)}({inner[0]})"


def derived(program: str, leaves: dict[str, float]) -> tuple[float, dict[str, float]] | None:
    """The result and the gradients by minigrad; None without a graph or for values not real."""
    given = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
             for name, value in leaves.items()}

    def function(name: str) -> Any:
        return lambda x: getattr(torch.as_tensor(x, dtype=torch.float64), name)()

    names = {**{name: function(name) for name in CALLS}, **given}
    lines = program.splitlines()
    try:
        exec("\n".join([*lines[:-1], f"result = {lines[-1]}"]), names)
        result = names["result"]
        if not isinstance(result, torch.Tensor) or result.grad_fn is None:
            return None
        result.backward()
    except ArithmeticError:
        return None
    gradients = {name: 0.0 if leaf.grad is None else leaf.grad.item()
                 for name, leaf in given.items()}
    numbers = [result.item(), *gradients.values()]
    return (result.item(), gradients) if all(map(math.isfinite, numbers)) else None


def test_random_programs_agree_with_minigrad(model):
    rng, compared = random.Random(24), 0
    while compared < 200:
        leaves = {name: round(rng.uniform(0.2, 1.8), 2) for name in "abc"}
        names = ["a", "b", "c"]
        lines = []
        for name in ("u", "v"):
            lines.append(f"{name} = {formula(rng, names, 2)}")
            names.append(name)
        program = "\n".join([*lines, formula(rng, names, 3)])
        expected, shown = derived(program, leaves), model("live-graph", program=program, **leaves)
        if expected is None or "error" in shown:
            assert expected is None or any(word in shown["error"] for word in ("steps", "name"))
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
    ("gamma(a)", "exp, log"),
    ("2 + 3", "at least one name"), ("(a", "“)” is missing"),
    ("a * * b", "stands where"), ("", "name")])
def test_a_mistake_is_told_in_words(model, program, words):
    assert words in model("live-graph", program=program)["error"]
