"""Steps on a device: all parameters by few kernels, where `Optimizer.step` calls `update` for each.

An optimizer whose backend may have such a kernel names it: `at_once = "adam"`.  A subclass with an
`update` of its own has none, unless it names one too.

NOTE [Steps that are counted on the device]
    Adam's step depends on how many there were.  The count is kept on the host, where reading it
    costs nothing, and its powers go with the launch as numbers.  A captured graph would repeat
    those for good, so with `capturable=True` (and `fused=True`, as in PyTorch) the count lies on
    the device: a kernel counts and computes the numbers there, and the next one reads them.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..backend import DEVICES, Backend, backend_of
from ..dtypes import float32
from ..ops.create import tensor
from ..tensor import Tensor

Group = dict[str, Any]
State = dict[str, Any]
Moved = list[tuple[Tensor, State]]


def one_by_one(optimizer: Any, group: Group) -> Iterable[Tensor]:
    """Move what kernels move at once, and return the parameters that are left: on a CPU all.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)])
    >>> len(one_by_one(optimizer, optimizer.param_groups[0]))
    1
    """
    params: list[Tensor] = group["params"]
    if len(DEVICES) == 1 and not group.get("capturable"):
        return params
    left: list[Tensor] = []
    devices: dict[int, list[Tensor]] = defaultdict(list)
    for parameter in params:
        if parameter._grad is not None:
            index = backend_of(parameter._array).device_index(parameter._array)
            (left if index is None else devices[index]).append(parameter)
    if left and group.get("capturable"):
        raise AssertionError("If capturable=True, params and state_steps must be on supported "
                             "devices: ['cuda'].")
    rule = rule_of(optimizer)
    if rule is None:
        return chain(left, each_at_its_place(chain.from_iterable(devices.values())))
    for there in devices.values():
        xp = backend_of(there[0]._array)
        moved = [(parameter, optimizer.state.get(parameter) or {}) for parameter in there]
        for parameter in there:
            parameter._bump()  # first, for Ctrl-C may come in between
        with xp.at(there[0]._array):
            rule(xp, group, moved)
        for parameter, state in moved:
            if state:
                optimizer.state[parameter] = state
    return left


def each_at_its_place(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """Hand out parameters, each while its device is the current one."""
    for parameter in parameters:
        with backend_of(parameter._array).at(parameter._array):
            yield parameter


def check_capture(optimizer: Any, group: Group) -> None:
    """Raise where a step that is counted on the host would be captured into a graph."""
    params, name = group["params"], type(optimizer).__name__
    if not params or backend_of(params[0]._array).may_ask():
        return
    if rule_of(optimizer) is None:
        raise RuntimeError(f"{name} counts its steps on the host, and a captured graph would "
                           "repeat one count: capture forward and backward, and call step() "
                           "outside, or use SGD, or Adam with capturable=True")
    if not group.get("capturable"):
        raise RuntimeError(f"Attempting CUDA graph capture of step() for an instance of {name} but "
                           "param_groups' capturable is False.")


def rule_of(optimizer: Any) -> Any:
    """Return what moves all parameters at once, None where the optimizer names nothing."""
    owner = next(c for c in type(optimizer).__mro__ if "update" in vars(c))
    return RULES.get(vars(owner).get("at_once"))


def rate_of(group: Group, parameter: Tensor) -> Any:
    """Return the learning rate: a number, or an array if it lies on the parameter's device."""
    lr = group["lr"]
    there = isinstance(lr, Tensor) and lr.device == parameter.device
    return lr._array if there else float(lr)


def columns(moved: Moved, *names: str) -> list[list[Any]]:
    """Return the arrays of parameters and gradients, and those remembered under these names."""
    return [[p._array for p, _ in moved], [p._grad._array for p, _ in moved if p._grad is not None],
            *([state[name]._array for _, state in moved] for name in names)]


def begin(xp: Backend, parameter: Tensor, state: State, names: Iterable[str]) -> None:
    """Remember zeros under these names."""
    for name in names:
        state[name] = Tensor._plain(xp.zeros_like(parameter._array))


def sgd(xp: Backend, group: Group, moved: Moved) -> None:
    """Take a step of SGD; what has no momentum yet moves by the gradient itself."""
    names = ["momentum_buffer"] if group["momentum"] else []
    alike: dict[Any, Moved] = defaultdict(list)
    for parameter, state in moved:
        first = bool(names) and state.get("momentum_buffer") is None
        if first:
            begin(xp, parameter, state, names)
        alike[parameter._array.dtype, first].append((parameter, state))
    for (_, first), some in alike.items():
        params, grads, *speeds = columns(some, *names)
        xp.sgd_step(params, grads, speeds[0] if speeds else [], lr=rate_of(group, some[0][0]),
                    momentum=group["momentum"], dampening=0 if first else group["dampening"],
                    decay=group["weight_decay"], maximize=group["maximize"],
                    nesterov=group["nesterov"])


def adam(xp: Backend, group: Group, moved: Moved) -> None:
    """Take a step of Adam; parameters with as many steps behind them go together."""
    names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
    alike: dict[Any, Moved] = defaultdict(list)
    for parameter, state in moved:
        if not state:
            state["step"] = tensor(0.0)
            begin(xp, parameter, state, names)
        if group["capturable"] or group["fused"] or state["step"].is_cuda:
            state["step"] = state["step"].to(parameter.device, float32)
            count = None  # of which the host knows nothing
        else:
            state["step"]._array += 1
            count = state["step"].item()
        alike[parameter._array.dtype, count].append((parameter, state))
    for (_, count), some in alike.items():
        params, grads, means, squares, *largest = columns(some, *names)
        decoupled, decay, lr = group["decoupled_weight_decay"], group["weight_decay"], rate_of(
            group, some[0][0])
        options = {"betas": group["betas"], "eps": group["eps"],
                   "decoupled_decay": decay if decoupled else 0}
        if count is None:
            steps = [state["step"]._array for _, state in some]
            numbers = xp.adam_numbers(steps, lr=lr, **options)
        else:
            numbers = numbers_of(count, float(lr), **options)
        xp.adam_step(params, grads, means, squares, largest[0] if largest else [],
                     numbers=numbers, betas=group["betas"], decay=0 if decoupled else decay,
                     maximize=group["maximize"])


def numbers_of(count: float, lr: float, betas: tuple[float, float], eps: float,
               decoupled_decay: float) -> tuple[float, float, float]:
    """Return rate, eps and what is left of the parameter, as in `Adam.update`."""
    spread = math.sqrt(1 - betas[1]**count)
    return lr * spread / (1 - betas[0]**count), eps * spread, 1 - lr * decoupled_decay


RULES: dict[Any, Any] = {"sgd": sgd, "adam": adam}
