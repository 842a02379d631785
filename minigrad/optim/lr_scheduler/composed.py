"""Schedules made of other schedules, run one after the other or chained at every step.

Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.SequentialLR.html
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler, put, rates


class _Composed(LRScheduler):
    """Base that checks the schedulers and saves their states inside its own."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, optimizer: Any, schedulers: Sequence[Any]) -> None:
        name = type(self).__name__
        for index, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {index} should have `optimizer` as its "
                                "attribute.")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{index} in the given schedulers sequence.")
            if part.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(part).__name__} at index {index} has {part.optimizer}, which "
                    f"is different from {type(optimizer).__name__}.")

    def state_dict(self) -> dict[str, Any]:
        """Return the state, including a state for each scheduler."""
        return {**super().state_dict(),
                "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state that `state_dict` returned."""
        states = state_dict["_schedulers"]
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for part, state in zip(self._schedulers, states, strict=True):
            part.load_state_dict(state)


class SequentialLR(_Composed):
    """Use one schedule up to the first of the `milestones`, the next up to the second, and so on.

    >>> from minigrad import optim, zeros
    >>> from minigrad.optim.lr_scheduler import ConstantLR, ExponentialLR
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, 0.5, total_iters=9), ExponentialLR(optimizer, 0.9)]
    >>> scheduler = SequentialLR(optimizer, parts, milestones=[2])
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.5]
    [1.0]
    [0.9]
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int],
                 last_epoch: int = -1) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no "
                             "scheduler.")
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}")
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Each scheduler took its first step when it was created: undo all, then redo the first
        # one's.
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo one step of each scheduler.

        >>> from minigrad import optim, zeros
        >>> from minigrad.optim.lr_scheduler import ConstantLR, SequentialLR
        >>> part = ConstantLR(optim.SGD([zeros(1, requires_grad=True)]))
        >>> whole = SequentialLR(part.optimizer, [part], milestones=[]); part.last_epoch
        0
        >>> whole.recursive_undo(); part.last_epoch
        -1
        """
        whole = self if sched is None else sched
        if hasattr(whole, "_schedulers"):
            for part in whole._schedulers:
                self.recursive_undo(part)
        elif hasattr(whole, "last_epoch"):
            whole.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]  # as PyTorch's
        """Take a step of the active scheduler."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[turn]
        if turn and self._milestones[turn - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Composed):
    """Run all schedules at every step; each changes the rates that the previous one set.

    >>> from minigrad import optim, zeros
    >>> from minigrad.optim.lr_scheduler import ConstantLR, ExponentialLR
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> parts = [ConstantLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
    >>> scheduler = ChainedScheduler(parts, optimizer)
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.25]
    [0.25]
    [0.125]
    >>> len(scheduler.state_dict()["_schedulers"])
    2
    """

    def __init__(self, schedulers: Sequence[LRScheduler],
                 optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, "
                             "but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check(optimizer, schedulers)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = rates(optimizer)

    def step(self) -> None:  # type: ignore[override]  # as PyTorch's
        """Take a step of every scheduler."""
        for part in self._schedulers:
            part.step()
        self._last_lr = rates(self.optimizer)
