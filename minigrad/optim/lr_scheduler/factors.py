"""Schedules that multiply the rate by a factor at each step.

Source: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, state_of_callable

Rule = Callable[[int], float]


class _Factor(LRScheduler):
    """Base of these schedules: multiplies the current rates by `_factor()`.

    They can be chained, since each multiplies the rates that other schedules set.
    """

    def _factor(self) -> float:
        """Return the factor for step `last_epoch`."""
        raise NotImplementedError

    def _whole_factor(self) -> float:
        """Return the product of the factors of all steps up to `last_epoch`."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """Return the current rates times this step's factor."""
        self._warn_outside_step()
        factor = self._factor()
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._whole_factor()
        return [base * factor for base in self.base_lrs]


class StepLR(_Factor):
    """Multiply the rate by `gamma` every `step_size` steps.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = StepLR(optimizer, step_size=2)
    >>> for _ in range(4):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [1.0]
    [0.1]
    [0.1]
    [0.010000000000000002]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch and not self.last_epoch % self.step_size else 1

    def _whole_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Factor):
    """Multiply the rate by `gamma` at each of the `milestones`.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1], gamma=0.5)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1,
                 last_epoch: int = -1) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]

    def _whole_factor(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ExponentialLR(_Factor):
    """Multiply the rate by `gamma` at each step.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self._is_initial else self.gamma

    def _whole_factor(self) -> float:
        return self.gamma**self.last_epoch


class ConstantLR(_Factor):
    """Multiply the rate by `factor` for the first `total_iters` steps.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [1.0]
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5,
                 last_epoch: int = -1) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1

    def _whole_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_Factor):
    """Multiply the initial rate by a factor that goes from `start_factor` to `end_factor`.

    The factor changes linearly within `total_iters` steps.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.75]
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3,
                 end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and "
                             "less or equal to 1.")
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _whole_factor(self) -> float:
        rise = self.end_factor - self.start_factor
        return self.start_factor + rise * min(self.total_iters, self.last_epoch) / self.total_iters


class PolynomialLR(_Factor):
    """Multiply the initial rate by (1 - step / total_iters) ** power, until it is zero.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0,
                 last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        left = 1.0 - self.last_epoch / self.total_iters
        left_before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return float((left / left_before) ** self.power)

    def _whole_factor(self) -> float:
        done = min(self.total_iters, self.last_epoch) / self.total_iters
        return float((1.0 - done) ** self.power)


# -------------------------------------------------------------------- factors from functions


class _Rules(LRScheduler):
    """Base of schedules defined by a function for all groups, or by a list of functions."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Rule | list[Rule],
                 last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * count
        self._check_rules()
        super().__init__(optimizer, last_epoch)

    def _check_rules(self) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        """Return the state; it includes functions only as the attributes of callable objects."""
        return {**super().state_dict(), "lr_lambdas": list(map(state_of_callable, self.lr_lambdas))}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state that `state_dict` returned, keeping the functions."""
        kept = state_dict["lr_lambdas"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for rule, attributes in zip(self.lr_lambdas, kept, strict=False):
            if attributes is not None:
                rule.__dict__.update(attributes)


class LambdaLR(_Rules):
    """Set the rate to the initial rate times `lr_lambda(step)`.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.5)
    >>> scheduler = LambdaLR(optimizer, lambda step: 1 / (step + 1)); scheduler.get_last_lr()
    [0.5]
    >>> optimizer.step(); scheduler.step(); scheduler.get_last_lr()
    [0.25]
    >>> scheduler.state_dict()["lr_lambdas"]  # a function is not saved; give it again
    [None]
    """

    def get_lr(self) -> list[Any]:
        """Return the initial rates times the functions' values."""
        self._warn_outside_step()
        return [base * rule(self.last_epoch)
                for rule, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_Rules):
    """Multiply the rate by `lr_lambda(step)` at each step.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.25]
    """

    def _check_rules(self) -> None:
        for rule in self.lr_lambdas:
            if not callable(rule):
                raise TypeError(f"lr_lambda should be a function, but got {type(rule).__name__}")

    def get_lr(self) -> list[Any]:
        """Return the current rates times the functions' values."""
        self._warn_outside_step()
        groups = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * (1 if self._is_initial else rule(self.last_epoch))
                for rule, group in groups]
