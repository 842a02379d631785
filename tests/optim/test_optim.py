"""Optimizers: step by step against PyTorch, states, groups, errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib import import_module
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
    "adamw maximize": lambda o, p: o.AdamW(p, lr=0.01, maximize=True, weight_decay=0.2),
    "adam decoupled": lambda o, p: o.Adam(p, weight_decay=0.2, decoupled_weight_decay=True),
    "rmsprop": lambda o, p: o.RMSprop(p),
    "rmsprop momentum": lambda o, p: o.RMSprop(p, 0.02, 0.9, 1e-4, 0.1, 0.8),
    "rmsprop centered": lambda o, p: o.RMSprop(p, momentum=0.5, centered=True, maximize=True),
    "adagrad": lambda o, p: o.Adagrad(p, lr=0.1),
    "adagrad options": lambda o, p: o.Adagrad(p, 0.1, 0.2, 0.1, 0.5, maximize=True),
    "adafactor": lambda o, p: o.Adafactor(p),
    "adafactor options": lambda o, p: o.Adafactor(p, 0.1, -0.5, (1e-4, 0.1), 1.2, 0.1),
    "adafactor maximize": lambda o, p: o.Adafactor(p, 0.1, maximize=True),
    "asgd": lambda o, p: o.ASGD(p),
    "asgd options": lambda o, p: o.ASGD(p, 0.05, 0.1, 0.5, 5, 0.1),
    "asgd maximize": lambda o, p: o.ASGD(p, lr=0.01, weight_decay=0.1, maximize=True),
    "rprop": lambda o, p: o.Rprop(p),
    "rprop options": lambda o, p: o.Rprop(p, 0.1, (0.7, 1.5), (1e-3, 0.2)),
    "rprop maximize": lambda o, p: o.Rprop(p, lr=0.01, maximize=True),
    "adadelta": lambda o, p: o.Adadelta(p),
    "adadelta options": lambda o, p: o.Adadelta(p, 0.5, 0.7, 1e-3, 0.1, maximize=True),
    "adamax": lambda o, p: o.Adamax(p, lr=0.1),
    "adamax options": lambda o, p: o.Adamax(p, 0.1, (0.5, 0.7), 1e-3, 0.1, maximize=True),
    "nadam": lambda o, p: o.NAdam(p, lr=0.1),
    "nadam options": lambda o, p: o.NAdam(p, 0.1, (0.5, 0.7), 1e-3, 0.1, 0.1, maximize=True),
    "nadam decoupled": lambda o, p: o.NAdam(p, weight_decay=0.1, decoupled_weight_decay=True),
    "radam": lambda o, p: o.RAdam(p, lr=0.1),
    "radam options": lambda o, p: o.RAdam(p, 0.1, (0.5, 0.99), 1e-3, 0.1, maximize=True),
    "radam decoupled": lambda o, p: o.RAdam(p, weight_decay=0.1, decoupled_weight_decay=True),
}


def trajectory(package: Any, make: Callable[[Any, Any], Any], dtype: str) -> Any:
    """Return the parameters after each of twenty steps, and the optimizer."""
    start = np.linspace(-1, 1, 12).astype(dtype)
    a = package.from_numpy(start.copy().reshape(3, 4)).requires_grad_()
    b = package.from_numpy(start[:4].copy()).requires_grad_()
    unused = package.ones(2, requires_grad=True)
    optimizer = make(package.optim, [a, b, unused])
    path = []
    for step in range(20):
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


@pytest.mark.parametrize("options", [
    {}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"},
    {"momentum": 0.5, "weight_decay": 0.3, "ns_steps": 2, "ns_coefficients": (2.0, -1.5, 0.5)}])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_steps_of_muon_are_those_of_pytorch(shape: tuple[int, int],
                                            options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    start = np.random.default_rng(1).standard_normal(shape).astype("float32")

    def path(package: Any) -> tuple[Any, Any]:
        weight = package.from_numpy(start.copy()).requires_grad_()
        optimizer = package.optim.Muon([weight], lr=0.1, **options)
        for _ in range(5):
            optimizer.zero_grad()
            ((weight - 1) ** 2).sum().backward()
            optimizer.step()
        return weight.detach().numpy(), optimizer

    (ours, mine), (theirs, other) = path(minigrad), path(torch)
    # a product summed in another order may round to the next number of eight bits
    np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)
    assert repr(mine) == repr(other)
    assert list(mine.state_dict()["state"][0]) == list(other.state_dict()["state"][0])


#: How many steps PyTorch can go back through, and the options.
RECORDED: list[tuple[str, int, dict[str, Any]]] = [
    ("SGD", 7, {"weight_decay": 0.1}), ("SGD", 7, {"maximize": True}), ("Adam", 7, {}),
    ("Adam", 1, {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", 7, {}), ("NAdam", 7, {}),
    ("NAdam", 7, {"weight_decay": 0.1, "decoupled_weight_decay": True}), ("RAdam", 7, {}),
    ("Adamax", 1, {}), ("Adagrad", 7, {"lr_decay": 0.1, "weight_decay": 0.1}),
    ("ASGD", 7, {"weight_decay": 0.1, "lambd": 0.1}), ("Adadelta", 7, {}), ("RMSprop", 7, {}),
    ("RMSprop", 1, {"momentum": 0.9, "centered": True}),
]


def recorded(package: Any, name: str, steps: int, options: dict[str, Any]) -> list[Any]:
    """Return where recorded steps lead, and the gradients by the start and the gradients' size."""
    start = package.tensor([1.0, 2.0, -3.0], dtype=package.float64, requires_grad=True)
    size = package.tensor(0.5, dtype=package.float64, requires_grad=True)
    parameter = start.clone()
    optimizer = getattr(package.optim, name)([parameter], lr=0.1, differentiable=True, **options)
    for step in range(steps):
        parameter.grad = size * (step + 1) * start + size
        optimizer.step()
    return [parameter, *package.autograd.grad((parameter * parameter).sum(), [start, size])]


@pytest.mark.parametrize("case", RECORDED, ids=str)
def test_recorded_steps_are_those_of_pytorch(case: Any) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    for left, right in zip(recorded(minigrad, *case), recorded(torch, *case), strict=True):
        np.testing.assert_allclose(left.detach().numpy(), right.detach().numpy(), rtol=1e-5,
                                   atol=1e-5)  # PyTorch counts in float32


def test_options_that_a_recorded_step_refuses() -> None:
    leaf, rate = (minigrad.ones((), requires_grad=True) for _ in range(2))
    leaf.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        optim.SGD([leaf], differentiable=True).step()
    with pytest.raises(NotImplementedError, match="gradient of a learning rate"):
        optim.SGD([leaf], lr=rate, differentiable=True).step()


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
    "etas": lambda o, p: o.Rprop([p], etas=(1.5, 1.2)),
    "asgd weight decay": lambda o, p: o.ASGD([p], weight_decay=-1),
    "adafactor lr": lambda o, p: o.Adafactor([p], lr=-1),
    "adafactor decay": lambda o, p: o.Adafactor([p], beta2_decay=1),
    "adafactor eps1": lambda o, p: o.Adafactor([p], eps=(-1, 0)),
    "adafactor eps2": lambda o, p: o.Adafactor([p], eps=(None, -1)),
    "adafactor d": lambda o, p: o.Adafactor([p], d=0.5),
    "adafactor weight decay": lambda o, p: o.Adafactor([p], weight_decay=-1),
    "muon vector": lambda o, p: o.Muon([p]),
    "muon lr": lambda o, p: o.Muon([p], lr=-1),
    "muon momentum": lambda o, p: o.Muon([p], momentum=-1),
    "muon decay": lambda o, p: o.Muon([p], weight_decay=-1),
    "muon lr function": lambda o, p: o.Muon([p], adjust_lr_fn="other"),
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


# -------------------------------------------------------------------- hooks, names, other states


def hooked(package: Any) -> list[Any]:
    """Return what the hooks of an optimizer see, and where its parameter ends."""
    seen: list[Any] = []
    p = package.ones(1, requires_grad=True)
    p.grad = package.ones(1)
    optimizer = package.optim.SGD([p], lr=0.5)
    o = import_module(package.__name__ + ".optim.optimizer")
    handles = [
        optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(len(args))),
        optimizer.register_step_pre_hook(lambda opt, args, kwargs: (args, {"closure": None})),
        optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(list(kwargs))),
        o.register_optimizer_step_pre_hook(lambda opt, args, kwargs: seen.append("all")),
        o.register_optimizer_step_post_hook(lambda opt, args, kwargs: seen.append("all after")),
        optimizer.register_state_dict_pre_hook(lambda opt: seen.append("before state")),
        optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1}),
        optimizer.register_state_dict_post_hook(
            lambda opt, state: seen.append(sorted(state)), prepend=True),
        optimizer.register_load_state_dict_pre_hook(
            lambda opt, state: {**state, "param_groups": [
                {**group, "lr": 0.25} for group in state["param_groups"]]}),
        optimizer.register_load_state_dict_post_hook(
            lambda opt: seen.append(opt.param_groups[0]["lr"])),
    ]
    try:
        optimizer.step()
        state = optimizer.state_dict()
        seen.append(sorted(state))
        optimizer.load_state_dict(state)
    finally:
        for handle in handles:
            handle.remove()
    optimizer.step()
    return [*seen, p.tolist()]


def test_hooks_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    assert hooked(minigrad) == hooked(torch)


def test_a_step_of_ones_own_has_the_hooks_too() -> None:
    seen: list[str] = []

    class Own(optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            seen.append("step")

    optimizer = Own([minigrad.zeros(1, requires_grad=True)], {})
    optimizer.register_step_pre_hook(lambda *given: seen.append("before"))
    optimizer.step()
    assert seen == ["before", "step"]
    optimizer.register_step_pre_hook(lambda *given: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


def named(package: Any) -> list[Any]:
    layer = package.nn.Linear(2, 1)
    optimizer = package.optim.SGD(layer.named_parameters(), lr=0.5, momentum=0.5)
    state = optimizer.state_dict()
    other = package.optim.SGD(layer.named_parameters(), lr=0.1)
    del state["param_groups"][0]["param_names"]
    other.load_state_dict(state)
    errors = []
    for wrong in (lambda: package.optim.SGD([("a", layer.weight), layer.bias]),
                  lambda: optimizer.add_param_group({"params": [package.zeros(1)]})):
        with pytest.raises(ValueError, match="names") as caught:
            wrong()
        errors.append(str(caught.value))
    return [optimizer.param_groups[0]["param_names"], other.param_groups[0]["param_names"],
            other.param_groups[0]["lr"], errors]


def test_parameters_with_names_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    assert named(minigrad) == named(torch)


@pytest.mark.parametrize("name", MAKERS)
def test_a_state_of_pytorch_is_taken_over(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    _, theirs = trajectory(torch, MAKERS[name], "float64")
    _, ours = trajectory(minigrad, MAKERS[name], "float64")
    fresh = MAKERS[name](optim, ours.param_groups[0]["params"])
    fresh.load_state_dict(theirs.state_dict())
    starts = [p.detach().numpy().copy() for p in theirs.param_groups[0]["params"]]
    for p, q, start in zip(fresh.param_groups[0]["params"], theirs.param_groups[0]["params"],
                           starts, strict=True):
        p.data.copy_(minigrad.from_numpy(start))
        p.grad, q.grad = minigrad.ones_like(p), torch.ones_like(q)
    fresh.step()
    theirs.step()
    for p, q in zip(fresh.param_groups[0]["params"], theirs.param_groups[0]["params"],
                    strict=True):
        np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("layout", ["transposed", "long", "wide gradient"])
@pytest.mark.parametrize("name", ["sgd nesterov", "adam amsgrad", "rmsprop centered", "nadam"])
def test_large_and_strided_parameters_move_alike(name: str, layout: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    shape = (40_000,) if layout == "long" else (150, 300)
    start = np.sin(np.arange(np.prod(shape), dtype="float64")).reshape(shape)
    found = []
    for package in (minigrad, torch):
        p = package.from_numpy(start.T.copy()).t() if layout == "transposed" else (
            package.from_numpy(start.copy()))
        p.requires_grad_()
        grad = package.from_numpy(np.cos(start))
        p.grad = grad.t().contiguous().t() if layout == "wide gradient" else grad
        optimizer = MAKERS[name](package.optim, [p])
        for _ in range(3):
            optimizer.step()
        found.append(p.detach().numpy())
    np.testing.assert_allclose(*found, rtol=1e-11, atol=1e-14)


def test_errors_of_wrong_options_and_parameters() -> None:
    p = minigrad.zeros(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        optim.Adam([p], fused=True, foreach=True)
    with pytest.raises(ValueError, match="didn't specify a value of required"):
        optim.Optimizer([p], {"lr": optim.optimizer.required})


def test_steps_show_in_profiles() -> None:
    p = minigrad.zeros(1, requires_grad=True)
    optimizer = optim.Adam([p])
    with minigrad.autograd.profiler.profile() as prof:
        optimizer.zero_grad()
        optimizer.step()
    names = [event.name for event in prof.function_events]
    assert "Optimizer.step#Adam.step" in names
    assert "Optimizer.zero_grad#Adam.zero_grad" in names


def test_a_file_of_an_earlier_version_may_name_the_placeholder_of_required_options():
    """`defaults` of a subclass hold it; its class lay in `optim/optimizer.py`."""
    earlier = b"cminigrad.optim.optimizer\n_Required\n)\x81."
    assert repr(pickle.loads(earlier)) == "<required parameter>"
