"""L-BFGS beside PyTorch's: losses, places, counts; with and without a line search."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad
from tests._oracle import assert_close
from tests.support.engines import on_each_engine
from tests.support.slow import slow_but

LOSSES: dict[str, Any] = {
    "valley": lambda t, x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2,
    "bowl": lambda t, x: x[0] ** 2 + 2 * x[1] ** 2,
    "waves": lambda t, x: (3 * x[0]).sin() + x[0] ** 2 / 10 + (x[1] * 2).cos() + x[1].abs(),
}
OPTIONS = [
    {"lr": 0.1}, {"line_search_fn": "strong_wolfe"}, {"lr": 0.01, "max_iter": 7, "max_eval": 5},
    {"lr": 0.5, "max_iter": 4, "history_size": 2, "line_search_fn": "strong_wolfe"},
    {"max_iter": 1}, {"tolerance_grad": 1.0, "lr": 0.1}, {"tolerance_change": 0.1, "lr": 0.01},
]


def run(torch: Any, name: str, start: list[float], options: dict[str, Any],
        renewed: bool = False) -> list[float]:
    """Take three steps; return losses, places and counts."""
    x, y, unused = (torch.tensor(v, dtype=torch.float64, requires_grad=True)
                    for v in (start, [0.5], [1.0]))
    optimizer, found = torch.optim.LBFGS([x, y, unused], **options), []

    def closure():
        optimizer.zero_grad()
        loss = LOSSES[name](torch, x) + (y**4).sum() * x[0] ** 2
        loss.backward()
        return loss

    for _ in range(3):
        found.append(optimizer.step(closure).item())
        if renewed:
            state = optimizer.state_dict()
            optimizer = torch.optim.LBFGS([x, y, unused], **options)
            optimizer.load_state_dict(state)
    state = optimizer.state_dict()["state"][0]
    return [*found, *x.tolist(), *y.tolist(), *unused.tolist(), state["func_evals"],
            state["n_iter"], len(state.get("old_dirs", []))]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("start", slow_but(1, [[-1.2, 1.0], [0.0, 0.0], [3.0, -2.0],
                                                [0.7, 5.0]]))
@pytest.mark.parametrize("name", LOSSES)
def test_steps_are_pytorchs(name, start, options):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    found, expected = (run(engine, name, start, options) for engine in (minigrad, torch))
    assert_close(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_a_loaded_state_continues_the_same_steps(options):
    assert run(minigrad, "valley", [-1.2, 1.0], options, True) == run(
        minigrad, "valley", [-1.2, 1.0], options)


@on_each_engine
def test_errors(torch):
    x, y = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError, match="^Invalid learning rate: -1$"):
        torch.optim.LBFGS([x], lr=-1)
    with pytest.raises(ValueError, match="LBFGS doesn't support per-parameter options"):
        torch.optim.LBFGS([{"params": [x]}, {"params": [y]}])
    optimizer = torch.optim.LBFGS([x], line_search_fn="other")

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="^only 'strong_wolfe' is supported$"):
        optimizer.step(closure)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'closure'"):
        optimizer.step()
