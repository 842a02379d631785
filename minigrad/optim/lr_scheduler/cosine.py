"""Schedules along a cosine: down once, down with restarts, up and down.

Source: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .scheduler import LRScheduler, rates


def between(top: Any, bottom: Any, share: float) -> Any:
    """Interpolate from `top` to `bottom` along a cosine; `share` goes from 0 to 1."""
    return bottom + (top - bottom) * (1 + math.cos(math.pi * share)) / 2


class CosineAnnealingLR(LRScheduler):
    """Lower the initial rate to `eta_min` within `T_max` steps, raise it again, and so on.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = CosineAnnealingLR(optimizer, T_max=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [0.0]
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates one step after the current ones, so that schedulers can be chained."""
        self._warn_outside_step()
        now = rates(self.optimizer)
        if self._is_initial:
            return now
        if self._step_count == 1 and self.last_epoch > 0:
            return [between(base, self.eta_min, self.last_epoch / self.T_max)
                    for base in self.base_lrs]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # no quotient
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * rise
                    for base, lr in zip(self.base_lrs, now, strict=True)]
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        height_before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [height / height_before * (lr - self.eta_min) + self.eta_min for lr in now]

    def _get_closed_form_lr(self) -> list[Any]:
        return [between(base, self.eta_min, self.last_epoch / self.T_max)
                for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rate to `eta_min` within `T_0` steps, then restart with `T_mult` times the length.

    `step(epoch)` also takes fractions of an epoch.

    >>> from minigrad import nn, optim
    >>> optimizer = optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    >>> scheduler = optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0,
                 last_epoch: int = -1) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type "
                             f"{type(eta_min)}")
        self.T_0 = self.T_i = T_0  # lengths of the first and the current descent
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch  # steps into the current descent
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """Return the rates at the current point of the descent."""
        self._warn_outside_step()
        return [between(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance by one step, or move to `epoch`."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._find(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self._called(self.get_lr))

    def _find(self, epoch: float) -> None:
        """Find the descent that contains `epoch`, and the position in it."""
        if self.T_mult == 1 and epoch >= self.T_0:
            self.T_cur = epoch % self.T_0
            return
        rounds = 0
        if epoch >= self.T_0:
            rounds = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_i = self.T_0 * self.T_mult**rounds
        self.T_cur = epoch
        if rounds:
            self.T_cur -= self.T_0 * (self.T_mult**rounds - 1) / (self.T_mult - 1)
