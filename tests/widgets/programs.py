"""Random programs for the figures that draw one, and what minigrad makes of a program."""

from __future__ import annotations

import math
import random
from typing import Any

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


def random_program(rng: random.Random) -> str:
    """Two named steps and a result, of the leaves a, b and c."""
    names, lines = ["a", "b", "c"], []
    for name in ("u", "v"):
        lines.append(f"{name} = {formula(rng, names, 2)}")
        names.append(name)
    return "\n".join([*lines, formula(rng, names, 3)])


def functions() -> dict[str, Any]:
    """The functions that a program may call, by name: each a method of minigrad's tensors."""
    def method(name: str) -> Any:
        return lambda x: getattr(torch.as_tensor(x, dtype=torch.float64), name)()

    return {name: method(name) for name in CALLS}


def computed(program: str, leaves: dict[str, float]) -> tuple[Any, dict[str, Any]]:
    """The value of the last line, and the leaves: both as minigrad's tensors."""
    given = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
             for name, value in leaves.items()}
    names = functions() | given
    *lines, last = program.splitlines()
    exec("\n".join([*lines, f"result = {last}"]), names)
    return names["result"], given


def derived(program: str, leaves: dict[str, float]) -> tuple[float, dict[str, float]] | None:
    """The result and the gradients by minigrad; None without a graph or for values not real."""
    try:
        result, given = computed(program, leaves)
        if not isinstance(result, torch.Tensor) or result.grad_fn is None:
            return None
        result.backward()
    except ArithmeticError:
        return None
    gradients = {name: 0.0 if leaf.grad is None else leaf.grad.item()
                 for name, leaf in given.items()}
    numbers = [result.item(), *gradients.values()]
    return (result.item(), gradients) if all(map(math.isfinite, numbers)) else None
