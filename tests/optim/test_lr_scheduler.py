"""Learning-rate schedules: step by step against PyTorch, states, composition, errors."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.optim import lr_scheduler

# Schedules within schedules may be stepped while they are made; PyTorch warns then too.
# schedulers step here without their optimizer
pytestmark = pytest.mark.filterwarnings("ignore:Detected call of")


class Halving:
    """A callable object with a state."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __call__(self, step: float) -> float:
        return self.share**step


SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "lambda": lambda s, o: s.LambdaLR(o, lambda step: 0.95**step),
    "lambdas": lambda s, o: s.LambdaLR(o, [Halving(0.9), lambda step: 1 / (1 + step)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda step: 1 - 0.01 * (step % 5)),
    "step": lambda s, o: s.StepLR(o, 7, gamma=0.5),
    "multistep": lambda s, o: s.MultiStepLR(o, [30, 5, 5, 12], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, factor=0.4, total_iters=9),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, total_iters=20),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.93),
    "polynomial": lambda s, o: s.PolynomialLR(o, total_iters=33, power=1.7),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, T_max=13, eta_min=0.001),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=6, T_mult=2, eta_min=1e-3),
    "equal restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, T_0=6),
    "one cycle": lambda s, o: s.OneCycleLR(o, max_lr=[0.4, 0.8], total_steps=51),
    "one cycle linear": lambda s, o: s.OneCycleLR(o, 0.5, epochs=10, steps_per_epoch=6,
                                                  anneal_strategy="linear", three_phase=True),
    "triangular": lambda s, o: s.CyclicLR(o, 0.01, 0.2, step_size_up=4, step_size_down=7),
    "triangular2": lambda s, o: s.CyclicLR(o, [0.01, 0.02], 0.2, 5, mode="triangular2"),
    "exp range": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 5, mode="exp_range", gamma=0.97),
    "cyclic scale": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 5, scale_fn=Halving(0.8),
                                            scale_mode="iterations", cycle_momentum=False),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=5), s.CosineAnnealingLR(o, 20), s.StepLR(o, 3)],
        milestones=[6, 25]),
    "chained": lambda s, o: s.ChainedScheduler(
        [s.ExponentialLR(o, 0.97), s.ConstantLR(o, 0.5, 10), s.MultiStepLR(o, [20]),
         s.CosineAnnealingLR(o, 17)]),
    "nested": lambda s, o: s.SequentialLR(
        o, [s.ChainedScheduler([s.ConstantLR(o, 0.5), s.ExponentialLR(o, 0.9)]),
            s.ExponentialLR(o, 0.8)], [8]),
}
OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda optim, groups: optim.SGD(groups, lr=0.1, momentum=0.9),
    "adam": lambda optim, groups: optim.Adam(groups, lr=0.1),
}


def prepared(package: Any, schedule: str, optimizer: str = "sgd") -> tuple[Any, Any]:
    groups = [{"params": [package.zeros(2, requires_grad=True)]},
              {"params": [package.zeros(3, requires_grad=True)], "lr": 0.7}]
    made = OPTIMIZERS[optimizer](package.optim, groups)
    return made, SCHEDULES[schedule](package.optim.lr_scheduler, made)


def path(optimizer: Any, scheduler: Any, steps: int = 50) -> list[list[float]]:
    """Return all rates and momenta after each step."""
    seen = []
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        seen.append([x for group in optimizer.param_groups
                     for x in (group["lr"], group.get("momentum", 0), *group.get("betas", ()))])
        assert scheduler.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
    return seen


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_those_of_pytorch(name: str, optimizer: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    ours, theirs = (prepared(package, name, optimizer) for package in (minigrad, torch))
    first = [[g["lr"] for g in made[0].param_groups] for made in (ours, theirs)]
    np.testing.assert_allclose(*first, rtol=1e-12)
    np.testing.assert_allclose(path(*ours), path(*theirs), rtol=1e-12, atol=1e-15)
    shared = {"_scale_fn_ref"}
    assert set(ours[1].state_dict()) == set(theirs[1].state_dict()) - shared
    left, right = (made[0].state_dict()["param_groups"] for made in (ours, theirs))
    assert [set(group) for group in left] == [set(group) for group in right]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_state(name: str) -> None:
    optimizer, scheduler = prepared(minigrad, name)
    path(optimizer, scheduler, 17)
    kept = copy.deepcopy((optimizer.state_dict(), scheduler.state_dict()))
    other, twin = prepared(minigrad, name)
    other.load_state_dict(kept[0])
    twin.load_state_dict(kept[1])
    assert path(other, twin, 20) == path(optimizer, scheduler, 20)


@pytest.mark.parametrize("name", ["step", "multistep", "constant", "linear", "exponential",
                                  "polynomial", "cosine", "restarts"])
def test_going_to_an_epoch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    found = []
    for package in (minigrad, torch):
        optimizer, scheduler = prepared(package, name)
        optimizer.step()
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            for epoch in (3, 10, 25, 0, 40):
                scheduler.step(epoch)
                found.append(scheduler.get_last_lr())
    np.testing.assert_allclose(found[:5], found[5:], rtol=1e-12)


@pytest.mark.parametrize("options", [
    {}, {"mode": "max", "threshold": 0.1, "threshold_mode": "abs"}, {"cooldown": 2, "patience": 1},
    {"min_lr": [0.01, 0.3], "factor": 0.5}, {"mode": "max", "patience": 0},
    {"threshold": 0.2, "patience": 2, "threshold_mode": "abs"}], ids=str)
def test_a_plateau(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    figures = 1 + np.cos(np.arange(60) ** 1.3) / (1 + np.arange(60))
    found = []
    for package in (minigrad, torch):
        optimizer, _ = prepared(package, "constant")
        scheduler = package.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, **{"patience": 3, **options})
        rates = []
        for figure in figures:
            scheduler.step(package.tensor(figure))
            rates.append(scheduler.get_last_lr())
        found.append((rates, scheduler.state_dict()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    assert found[0][1] == found[1][1]


def test_a_tensor_as_rate_is_written_to() -> None:
    rate = minigrad.tensor(0.5)
    optimizer = minigrad.optim.SGD([minigrad.zeros(1, requires_grad=True)], lr=rate)
    scheduler = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate.item() == 0.25
    assert scheduler.base_lrs[0].item() == 0.5


def test_steps_in_the_wrong_order_are_noticed() -> None:
    optimizer, scheduler = prepared(minigrad, "step")
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before"):
        scheduler.step()
    optimizer, scheduler = prepared(minigrad, "step")
    optimizer.step = lambda: None
    with pytest.warns(UserWarning, match="has been overridden after learning rate"):
        scheduler.step()
    with pytest.warns(UserWarning, match="please use `get_last_lr\\(\\)`"):
        scheduler.get_lr()


ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "no optimizer": lambda s, o: s.StepLR(3, 1),
    "plateau without": lambda s, o: s.ReduceLROnPlateau(3),
    "one cycle without": lambda s, o: s.OneCycleLR(3, 1, 1),
    "cyclic without": lambda s, o: s.CyclicLR(3, 1, 1),
    "lambdas": lambda s, o: s.LambdaLR(o, [abs]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, [1, 2]),
    "constant": lambda s, o: s.ConstantLR(o, factor=2),
    "linear start": lambda s, o: s.LinearLR(o, start_factor=0),
    "linear end": lambda s, o: s.LinearLR(o, end_factor=-1),
    "resumed": lambda s, o: s.StepLR(o, 1, last_epoch=3),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 0.5),
    "restart factor": lambda s, o: s.CosineAnnealingWarmRestarts(o, 5, 0),
    "restart bottom": lambda s, o: s.CosineAnnealingWarmRestarts(o, 5, 1, "a"),
    "restart back": lambda s, o: s.CosineAnnealingWarmRestarts(o, 5).step(-2),
    "one cycle": lambda s, o: s.OneCycleLR(o, 1),
    "one cycle steps": lambda s, o: s.OneCycleLR(o, 1, total_steps=0),
    "one cycle epochs": lambda s, o: s.OneCycleLR(o, 1, epochs=-1, steps_per_epoch=2),
    "one cycle per epoch": lambda s, o: s.OneCycleLR(o, 1, epochs=1, steps_per_epoch=0.5),
    "one cycle share": lambda s, o: s.OneCycleLR(o, 1, 10, pct_start=2.0),
    "one cycle strategy": lambda s, o: s.OneCycleLR(o, 1, 10, anneal_strategy="up"),
    "one cycle momentum": lambda s, o: s.OneCycleLR(o, 1, 10),
    "one cycle groups": lambda s, o: s.OneCycleLR(o, [1], 10, cycle_momentum=False),
    "one cycle too far": lambda s, o: [
        x.step() for x in [s.OneCycleLR(o, 1, 2, cycle_momentum=False)] for _ in range(9)],
    "cyclic mode": lambda s, o: s.CyclicLR(o, 1, 2, mode="up"),
    "cyclic momentum": lambda s, o: s.CyclicLR(o, 1, 2),
    "cyclic groups": lambda s, o: s.CyclicLR(o, [1, 2, 3], 2, cycle_momentum=False),
    "plateau factor": lambda s, o: s.ReduceLROnPlateau(o, factor=1.0),
    "plateau mode": lambda s, o: s.ReduceLROnPlateau(o, mode="up"),
    "plateau threshold": lambda s, o: s.ReduceLROnPlateau(o, threshold_mode="up"),
    "plateau groups": lambda s, o: s.ReduceLROnPlateau(o, min_lr=[1]),
    "sequential none": lambda s, o: s.SequentialLR(o, [], []),
    "sequential milestones": lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [3]),
    "sequential plateau": lambda s, o: s.SequentialLR(o, [s.ReduceLROnPlateau(o)], []),
    "sequential kind": lambda s, o: s.SequentialLR(o, [3], []),
    "chained none": lambda s, o: s.ChainedScheduler([]),
    "chained plateau": lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]),
    "chained optimizers": lambda s, o: s.ChainedScheduler(
        [s.StepLR(o, 1), s.StepLR(copy.deepcopy(o), 1)]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    errors = []
    for package in (torch, minigrad):
        groups = [{"params": [package.zeros(2, requires_grad=True)]},
                  {"params": [package.zeros(3, requires_grad=True)]}]
        optimizer = package.optim.Adagrad(groups)
        with pytest.raises(Exception) as error:
            ERRORS[name](package.optim.lr_scheduler, optimizer)
        errors.append(error.value)
    assert type(errors[1]) is type(errors[0])
    assert str(errors[1]) == str(errors[0])
