"""ReduceLROnPlateau lowers the rate when a metric stops improving.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html
"""

from __future__ import annotations

import math
from typing import Any

from ...frames import warn_user
from ..optimizer import Optimizer
from .scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler, check_optimizer, put, rates


class ReduceLROnPlateau(LRScheduler):
    """Multiply the rate by `factor` after more than `patience` steps without an improvement.

    An improvement is a lower metric in `mode` "min" and a higher one in "max". It must exceed
    `threshold`, which is a fraction of the best value ("rel") or an amount ("abs").  After a
    reduction, the scheduler waits for `cooldown` steps.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in (5.0, 4.0, 4.0, 4.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.1]
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1,
                 patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
                 cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        self.factor = factor
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        listed = isinstance(min_lr, (list, tuple))
        if listed and len(min_lr) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
        self.default_min_lr = None if listed else min_lr
        self.min_lrs = list(min_lr) if listed else [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = rates(optimizer)
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether the scheduler is still waiting after a reduction.

        >>> from minigrad import optim, zeros
        >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
        >>> scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, cooldown=2)
        >>> for loss in (5.0, 6.0, 6.0, 6.0):
        ...     scheduler.step(loss); print(scheduler.get_last_lr(), scheduler.in_cooldown)
        [1.0] False
        [0.1] True
        [0.1] True
        [0.1] False
        """
        return self.cooldown_counter > 0

    def _is_better(self, new: float, best: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "abs":
            return sign * new > sign * (best + sign * self.threshold)
        return sign * new > sign * (best * (1.0 + sign * self.threshold))

    def step(self, metrics: Any, epoch: Any = None) -> None:  # type: ignore[override]  # as PyTorch's
        """Compare the metric with the best one, and lower the rates if necessary."""
        current = float(metrics)
        if epoch is not None:
            warn_user(EPOCH_DEPRECATION_WARNING, UserWarning)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        better = self._is_better(current, self.best)
        if better:
            self.best = current
        self.num_bad_epochs = 0 if better else self.num_bad_epochs + 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = rates(self.optimizer)

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from "
                    f"when `ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due "
                    "to a new param group being added to the optimizer. Please modify the "
                    "`min_lrs` field to match the length of the `optimizer` param groups.")
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, lowest)
            if old - new > self.eps:
                put(group, "lr", new)
