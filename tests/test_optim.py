"""Optimizers: step by step against PyTorch, states, groups, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import optim

MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda o, p: o.SGD(p, lr=0.1),
    "sgd momentum": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9),
    "sgd dampening": lambda o, p: o.SGD(p, 0.1, 0.9, 0.3, 0.01),
    "sgd nesterov": lambda o, p: o.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "sgd maximize": lambda o, p: o.SGD(p, lr=0.01, weight_decay=0.1, maximize=True),
    "adam": lambda o, p: o.Adam(p, lr=0.1),
    "adam options": lambda o, p: o.Adam(p, 0.1, (0.5, 0.7), 1e-3, 0.1),
    "adam amsgrad": lambda o, p: o.Adam(p, lr=0.1, amsgrad=True, betas=(0.9, 0.5)),
    "adam maximize": lambda o, p: o.Adam(p, lr=0.1, maximize=True),
    "adamw": lambda o, p: o.AdamW(p, lr=0.1),
    "adamw amsgrad": lambda o, p: o.AdamW(p, lr=0.1, weight_decay=0.3, amsgrad=True),
}


def trajectory(package: Any, make: Callable[[Any, Any], Any], dtype: str) -> Any:
    """Return the parameters after each of ten steps, and the optimizer."""
    start = np.linspace(-1, 1, 12).astype(dtype)
    a = package.from_numpy(start.copy().reshape(3, 4)).requires_grad_()
    b = package.from_numpy(start[:4].copy()).requires_grad_()
    unused = package.ones(2, requires_grad=True)
    optimizer = make(package.optim, [a, b, unused])
    path = []
    for step in range(10):
        optimizer.zero_grad()
        ((a * b - step / 10) ** 2).sum().backward()
        optimizer.step()
        path += [a.detach().numpy().copy(), b.detach().numpy().copy()]
    return path, optimizer


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-6)])
def test_steps_are_those_of_pytorch(name: str, dtype: str, tolerance: float) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    ours, mine = trajectory(minigrad, MAKERS[name], dtype)
    theirs, other = trajectory(torch, MAKERS[name], dtype)
    for step, (left, right) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance, err_msg=str(step))
    assert repr(mine) == repr(other)
    left, right = mine.state_dict(), other.state_dict()
    assert left["param_groups"] == right["param_groups"]
    assert left["state"].keys() == right["state"].keys()
    for key, values in right["state"].items():
        assert list(left["state"][key]) == list(values)
        for what, value in values.items():
            np.testing.assert_allclose(left["state"][key][what].numpy(), value.numpy(),
                                       rtol=10 * tolerance, atol=10 * tolerance)


def quadratic(*starts: float) -> tuple[list[Any], Callable[[], Any]]:
    parameters = [minigrad.tensor([s], requires_grad=True) for s in starts]

    def loss() -> Any:
        for p in parameters:
            p.grad = None
        total = sum((p * p).sum() for p in parameters)
        total.backward()
        return total

    return parameters, loss


def test_a_known_step() -> None:
    (x,), loss = quadratic(2.0)
    loss()
    optim.SGD([x], lr=0.25).step()
    assert x.tolist() == [1.0]


def test_groups_have_their_own_options() -> None:
    (x, y), loss = quadratic(1.0, 1.0)
    optimizer = optim.SGD([{"params": [x]}, {"params": y, "lr": 0.0}], lr=0.5)
    loss()
    optimizer.step()
    assert (x.item(), y.item()) == (0.0, 1.0)
    optimizer.param_groups[1]["lr"] = 0.5
    optimizer.step()
    assert y.item() == 0.0
    assert [g["momentum"] for g in optimizer.param_groups] == [0, 0]


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_goes_round(name: str) -> None:
    (x, y), loss = quadratic(1.0, -2.0)
    optimizer = MAKERS[name](optim, [x, y])
    for _ in range(3):
        loss()
        optimizer.step()
    kept = pickle.loads(pickle.dumps(optimizer.state_dict()))
    twins = [copy.deepcopy(p) for p in (x, y)]
    other = MAKERS[name](optim, twins)
    other.load_state_dict(kept)
    loss()
    for twin, p in zip(twins, (x, y), strict=True):
        twin.grad = p.grad.clone()
    optimizer.step()
    other.step()
    assert [t.item() for t in twins] == [x.item(), y.item()]
    assert other.param_groups[0]["params"][0] is twins[0]


def test_zero_grad() -> None:
    (x,), loss = quadratic(1.0)
    optimizer = optim.SGD([x], lr=0.1)
    loss()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert x.grad is None


def test_a_closure_gives_the_loss() -> None:
    (x,), loss = quadratic(3.0)
    optimizer = optim.SGD([x], lr=0.1)
    with minigrad.no_grad():
        assert optimizer.step(loss).item() == 9.0
    assert x.item() == pytest.approx(2.4)


def test_a_step_between_forward_and_backward_is_noticed() -> None:
    (x,), loss = quadratic(3.0)
    optimizer = optim.SGD([x], lr=0.1)
    loss()
    late = (x * x).sum()
    optimizer.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        late.backward()


def test_gradients_are_left_alone() -> None:
    for make in MAKERS.values():
        (x,), loss = quadratic(3.0)
        optimizer = make(optim, [x])
        for _ in range(2):
            loss()
            before = x.grad.item()
            optimizer.step()
            assert x.grad.item() == before


def test_adam_reaches_the_bottom() -> None:
    (x, y), loss = quadratic(1.0, -2.0)
    optimizer = optim.Adam([x, y], lr=0.05)
    for _ in range(300):
        optimizer.step(loss)
    assert loss().item() < 1e-6


ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "lr": lambda o, p: o.SGD([p], lr=-1),
    "momentum": lambda o, p: o.SGD([p], momentum=-1),
    "weight decay": lambda o, p: o.SGD([p], weight_decay=-1),
    "nesterov": lambda o, p: o.SGD([p], nesterov=True),
    "empty": lambda o, p: o.SGD([]),
    "bare": lambda o, p: o.SGD(p),
    "number": lambda o, p: o.SGD([1]),
    "no leaf": lambda o, p: o.SGD([p * 2]),
    "twice": lambda o, p: o.SGD([{"params": [p]}, {"params": [p]}]),
    "no params": lambda o, p: o.SGD([{"lr": 1}]),
    "set": lambda o, p: o.SGD([{"params": {p}}]),
    "no dict": lambda o, p: o.SGD([p]).add_param_group(3),
    "beta": lambda o, p: o.Adam([p], betas=(0, 1)),
    "eps": lambda o, p: o.Adam([p], eps=-1),
    "adam lr": lambda o, p: o.Adam([p], lr=-1),
    "groups": lambda o, p: o.SGD([p]).load_state_dict({"state": {}, "param_groups": []}),
    "group size": lambda o, p: o.SGD([p]).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    with pytest.raises(Exception) as theirs:
        ERRORS[name](torch.optim, torch.ones(2, requires_grad=True))
    with pytest.raises(type(theirs.value)) as ours:
        ERRORS[name](optim, minigrad.ones(2, requires_grad=True))
    assert str(ours.value) == str(theirs.value)
