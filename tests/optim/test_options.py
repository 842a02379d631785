"""Options that optimizers refuse, and options that a loaded state lacks, as in PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam",
              "ASGD", "Rprop", "LBFGS", "Adafactor", "Muon")
OPTIONS = ("lr", "eps", "weight_decay", "momentum", "rho", "alpha", "lr_decay", "dampening",
           "initial_accumulator_value", "momentum_decay")
VALUES = ("a", None, float("nan"), -1, -0.5)
PAIRS = ((0.9,), (0.9, "a"), 0.9, (0.9, 0.9, 0.9), (1, 0.9), (0.9, 1.0), (0, 0.9), ())


def made(engine: Any, name: str, options: dict[str, Any]) -> str:
    """Return "made", or the error of an optimizer with these options."""
    try:
        getattr(engine.optim, name)([engine.ones(2, 2, requires_grad=True)], **options)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return "no such option" if "unexpected keyword" in text else text
    return "made"


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_bad_options_are_refused_as_in_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    given: list[dict[str, Any]] = [{option: value} for option in OPTIONS for value in VALUES]
    given += [{"betas": pair} for pair in PAIRS]
    found = [(options, made(minigrad, name, options), made(torch, name, options))
             for options in given]
    assert [each for each in found if each[1] != each[2]] == []


def optimizer_of(engine: Any, name: str) -> Any:
    return getattr(engine.optim, name)([engine.ones(2, 2, requires_grad=True)])


def shown(value: Any) -> Any:
    return bool(value) if value in (None, False) else value


@pytest.mark.parametrize("source", ["Adam", "SGD", "RMSprop"])
@pytest.mark.parametrize("target", [name for name in OPTIMIZERS if name != "LBFGS"])
def test_the_state_of_another_optimizer_replaces_all_options(target: str, source: str) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    groups = []
    for engine in (minigrad, torch):
        optimizer = optimizer_of(engine, target)
        optimizer.load_state_dict(optimizer_of(engine, source).state_dict())
        (group,) = optimizer.param_groups
        groups.append({name: shown(value) for name, value in group.items() if name != "params"})
    assert groups[0] == groups[1]
