"""Multi-tensor steps on a device: a few kernels step all parameters of a group.

On a CPU, `Optimizer.step` calls `update` for each parameter instead.

An optimizer names the formula of its step in `backend.formulas`, as in `fused_formula = "adam"`.  A
subclass that overrides `update` has no formula unless it names one again.

NOTE [Steps that are counted on the device]
    Adam's step depends on the number of earlier steps.  The count is normally kept on the host,
    where reading it is free, and its powers are arguments of the launch.  A captured graph would
    repeat the same numbers forever, so with `capturable=True` (and `fused=True`, as in PyTorch) the
    count is stored on the device: a kernel increments it and computes the numbers there, and the
    next kernel reads them.

NOTE [Steps that are skipped on the device]
    A `GradScaler` finds out on the device whether a gradient is infinite or NaN, and the host would
    have to wait to read that.  Therefore, as in PyTorch, a step that counts on the device gets the
    flag as the optimizer's `found_inf`, and the kernels read it.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..backend import DEVICES, Backend, backend_of
from ..backend.formulas import FORMULAS, Formula, numbers_of
from ..dtypes import float32
from ..ops.creation.create import tensor
from ..tensor.tensor import Tensor
from . import recorded

Group = dict[str, Any]
State = dict[str, Any]
Moved = list[tuple[Tensor, State]]


def step_on_devices(optimizer: Any, group: Group) -> Iterable[Tensor]:
    """Step the parameters on devices with fused kernels; return the ones that are left.

    On a CPU all are left, and `Optimizer.update` steps them.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)])
    >>> len(step_on_devices(optimizer, optimizer.param_groups[0]))
    1
    """
    params: list[Tensor] = group["params"]
    if group.get("differentiable"):
        recorded.step(optimizer, group)
        return ()
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
    name = formula_of(optimizer)
    if name is None:
        return chain(left, on_each_device(chain.from_iterable(devices.values())))
    found_inf = getattr(optimizer, "found_inf", None)
    for params in devices.values():
        xp, device = backend_of(params[0]._array), params[0].device
        moved = [(parameter, optimizer.state.get(parameter) or {}) for parameter in params]
        for parameter in params:
            parameter._bump()  # first, since Ctrl-C may arrive in between
        with xp.at(params[0]._array):
            fused_step(xp, name, group, moved,
                       None if found_inf is None else found_inf.to(device)._array)
        for parameter, state in moved:
            if state:
                optimizer.state[parameter] = state
    return left


def on_each_device(parameters: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield each parameter while its device is the current one."""
    for parameter in parameters:
        with backend_of(parameter._array).at(parameter._array):
            yield parameter


def check_capture(optimizer: Any, group: Group) -> None:
    """Raise if a captured graph would repeat a step count that is kept on the host."""
    params, name = group["params"], type(optimizer).__name__
    if not params or backend_of(params[0]._array).may_ask():
        return
    if formula_of(optimizer) is None or "capturable" not in group:
        raise RuntimeError(f"{name} counts its steps on the host, and a captured graph would "
                           "repeat one count: capture forward and backward, and call step() "
                           "outside, or use SGD, or Adam with capturable=True")
    if not group.get("capturable"):
        raise RuntimeError(f"Attempting CUDA graph capture of step() for an instance of {name} but "
                           "param_groups' capturable is False.")


def formula_of(optimizer: Any) -> str | None:
    """Return the name of the optimizer's fused formula, or `None`."""
    name: str | None = vars(owner_of(optimizer, "update")).get("fused_formula")
    return name


def owner_of(optimizer: Any, method: str) -> type:
    """Return the class that defines a method."""
    return next(c for c in type(optimizer).__mro__ if method in vars(c))


def counts_on_device(group: Group) -> bool:
    """Return whether steps are counted on the device."""
    return bool(group.get("capturable") or group.get("fused"))


def skips_on_device(optimizer: Any) -> bool:
    """Return whether a step reads `found_inf` on the device, for all parameters.

    It does not if a subclass overrides `step`, and not for momentum with dampening, because only
    the host knows which step is the first, and that one is different.
    """
    base = owner_of(optimizer, "_skips_on_device")  # `Optimizer`, which has `step`, extends it
    if formula_of(optimizer) is None or owner_of(optimizer, "step").__mro__[1] is not base:
        return False
    return all(
        counts_on_device(group) and not group.get("dampening") and not group.get("differentiable")
        and all(backend_of(p._array).device_index(p._array) is not None
                for p in group["params"] if p._grad is not None)
        for group in optimizer.param_groups)


#: State that exists only if an option is set.
OPTIONAL = {"max_exp_avg_sq": "amsgrad", "momentum_buffer": "momentum", "grad_avg": "centered"}


def fused_step(xp: Backend, name: str, group: Group, moved: Moved, found_inf: Any) -> None:
    """Step with a formula; parameters with the same numbers share a launch."""
    formula = FORMULAS[name]
    names = [n for n in formula.states if n not in OPTIONAL or group[OPTIONAL[n]]]
    launches: dict[Any, Moved] = defaultdict(list)
    for parameter, state in moved:
        first = init_state(xp, parameter, state, formula, names, counts_on_device(group))
        on_device = counts_on_device(group) or any(state[n].is_cuda for n in formula.counted)
        count: Any = None if formula.counted and on_device else tuple(
            state[n].item() for n in formula.counted)
        if count is None:  # the count is on the device
            for n in formula.counted:
                state[n] = state[n].to(parameter.device, float32)
        key = parameter._array.dtype, first and not formula.counted, count
        launches[key].append((parameter, state))
    for (_, first, count), some in launches.items():
        options, rate = options_of(formula, group, first), lr_array(group, some[0][0])
        counted = [[state[n]._array for _, state in some] for n in formula.counted]
        numbers: Any
        if count is None or (rate is not None and not formula.counted):
            options["lr"] = 0.0 if rate is not None else float(group["lr"])
            rows = counted or [[p._array for p, _ in some]]
            numbers = xp.count_steps(name, rows, options, rate, found_inf)
        else:
            values = dict(zip(formula.counted.values(), count, strict=True))
            numbers = numbers_of(name, {**options, **values, "lr": float(group["lr"])})
            for arrays, n in zip(counted, formula.counted.values(), strict=True):
                for array in arrays:
                    array[...] = numbers[n]
        xp.take_step(name, columns(some, formula, names), numbers, found_inf)


def init_state(xp: Backend, parameter: Tensor, state: State, formula: Formula,
               names: Iterable[str], on_device: bool) -> bool:
    """Create a parameter's missing state; return whether any was missing."""
    missing = [name for name in (*formula.counted, *names) if state.get(name) is None]
    for name in missing:
        if name in formula.counted:
            value = 0.0 if name == "step" else 1.0
            state[name] = (Tensor._plain(xp.full((), value, "float32")) if on_device
                           else tensor(value))
        else:
            state[name] = Tensor._plain(xp.zeros_like(parameter._array))
    return bool(missing)


def lr_array(group: Group, parameter: Tensor) -> Any:
    """Return the learning rate's array if it is on the parameter's device, else `None`."""
    lr = group["lr"]
    return lr._array if isinstance(lr, Tensor) and lr.device == parameter.device else None


def options_of(formula: Formula, group: Group, first: bool) -> dict[str, float]:
    """Return a group's options under the formulas' names; the first momentum is the gradient."""
    options = dict(zip(("beta1", "beta2"), group.get("betas", ()), strict=False))
    options |= {name: group[name] for name in formula.options.split() if name in group}
    if first:
        options["dampening"] = 0
    decay, decoupled = group["weight_decay"], group.get("decoupled_weight_decay")
    options |= {"decay": 0 if decoupled else decay, "decoupled": decay if decoupled else 0,
                "sign": -1 if group["maximize"] else 1}
    return {name: float(value) for name, value in options.items()}


def columns(moved: Moved, formula: Formula, names: Iterable[str]) -> list[list[Any] | None]:
    """Return the arrays of parameters, gradients and each state, with `None` for unused states."""
    return [[p._array for p, _ in moved], [p._grad._array for p, _ in moved if p._grad is not None],
            *([state[n]._array for _, state in moved] if n in names else None
              for n in formula.states)]
