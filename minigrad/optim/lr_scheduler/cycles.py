"""Schedules that raise the rate before they lower it, and do the opposite with the momentum.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from .cosine import between
from .scheduler import LRScheduler, check_optimizer, of_each_group, put, state_of_callable


class _Cycle(LRScheduler):
    """Base that changes the momentum, or the first of Adam's betas, along with the rate."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(self, optimizer: Optimizer, base: Any, top: Any,
                        last_epoch: int) -> tuple[list[float], list[float]]:
        """Store the bounds of the momentum in the groups, and return them."""
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` "
                             "option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases = of_each_group("base_momentum", optimizer, base)
        tops = of_each_group("max_momentum", optimizer, top)
        if last_epoch == -1:
            for low, high, group in zip(bases, tops, optimizer.param_groups, strict=True):
                self._put_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return bases, tops

    def _put_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_Cycle):
    """Raise the rate linearly from `base_lr` to `max_lr` and lower it again, over and over.

    `mode` determines the peaks: constant ("triangular"), halved each cycle ("triangular2"), or
    multiplied by `gamma` at each step ("exp_range"). A `scale_fn` of the cycle or of the step
    overrides it.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = CyclicLR(optimizer, 0.25, 0.75, step_size_up=2)
    >>> for _ in range(4):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.75]
    [0.5]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
                 step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
                 scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
                 last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        base_lrs = of_each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                put(group, "lr", lr)
        self.max_lrs = of_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up) + float(down)
        self.step_ratio = float(step_size_up) / self.total_size
        if scale_fn is None:
            if mode not in ("triangular", "triangular2", "exp_range"):
                raise ValueError("mode is invalid and scale_fn is None")
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(
                optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """Return the factor of a peak, given the number of the cycle or of the step.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], momentum=0.9)
        >>> scheduler = optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, mode="triangular2")
        >>> [scheduler.scale_fn(cycle) for cycle in (1, 2, 3)]
        [1.0, 0.5, 0.25]
        """
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else 1.0

    def get_lr(self) -> list[Any]:
        """Return the rates at the current point of the cycle, and set the momentum."""
        self._warn_outside_step()
        done = self.last_epoch / self.total_size
        cycle = math.floor(1 + done)
        x = 1.0 + done - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums,
                         strict=True)
            for group, low, high in bounds:
                self._put_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale
                for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Return the state; it includes `scale_fn` only as the attributes of a callable object."""
        function = self._scale_fn_custom
        kept = None if function is None else state_of_callable(function)
        return {**super().state_dict(), "_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state that `state_dict` returned, keeping the `scale_fn`."""
        kept = state_dict["_scale_fn_custom"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_scale_fn_custom"})
        if kept is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(kept)


class OneCycleLR(_Cycle):
    """Raise the rate to `max_lr` in the first `pct_start` of the steps, then lower it to nearly 0.

    It starts at max_lr / div_factor and ends at that rate divided by `final_div_factor`. With
    `three_phase` it first returns to the initial rate.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=5, pct_start=0.6)
    >>> (group,) = optimizer.param_groups
    >>> for _ in range(4):
    ...     optimizer.step(); scheduler.step(); print(f"{group['lr']:.6f} {group['momentum']:.2f}")
    0.520000 0.90
    1.000000 0.85
    0.500002 0.90
    0.000004 0.95
    """

    def __init__(self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None,
                 pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True,
                 base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
                 final_div_factor: float = 1e4, three_phase: bool = False,
                 last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.total_steps = steps_in_all(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._schedule_phases = phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        tops = of_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for top, group in zip(tops, optimizer.param_groups, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * share + start
        return between(start, end, share)

    def get_lr(self) -> list[Any]:
        """Return the rates at the current step, and set the momentum."""
        self._warn_outside_step()
        step, begin = self.last_epoch, 0.0
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        phase = self._schedule_phases[0]
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            begin = phase["end_step"]
        share = (step - begin) / (phase["end_step"] - begin)
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._put_momentum(group, self._anneal(start, end, share))
        return [self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], share)
                for group in groups]


def steps_in_all(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """Check the three arguments and return the total number of steps."""
    given = {"total_steps": total_steps}
    if total_steps is None:
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())


def phases(steps: int, share_up: float, three: bool) -> list[dict[str, Any]]:
    """Return each phase's end and the names of the options between which it moves."""
    bounds = [("initial_lr", "max_momentum"), ("max_lr", "base_momentum")]
    ends = [float(share_up * steps) - 1]
    if three:
        bounds.append(bounds[0])
        ends.append(float(2 * share_up * steps) - 2)
    bounds.append(("min_lr", "max_momentum"))
    ends.append(steps - 1)
    return [{"end_step": end, "start_lr": a[0], "end_lr": b[0], "start_momentum": a[1],
             "end_momentum": b[1]}
            for end, a, b in zip(ends, bounds[:-1], bounds[1:], strict=True)]
