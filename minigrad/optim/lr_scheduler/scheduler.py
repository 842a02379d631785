"""LRScheduler sets the learning rate of each parameter group at each step.

Source: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ...frames import warn_user
from ...tensor.tensor import Tensor
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")
_SEE = ("See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-"
        "rate")


class LRScheduler:
    """Base of all schedulers; subclasses compute the rates in `get_lr`.

    Creating a scheduler takes its first step.  `last_epoch` counts the steps; pass it to resume.

    >>> from minigrad import optim, zeros
    >>> class Falling(optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / (1 + self.last_epoch) for base in self.base_lrs]
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=0.6)
    >>> scheduler = Falling(optimizer); scheduler.get_last_lr()
    [0.6]
    >>> optimizer.step(); scheduler.step(); scheduler.get_last_lr()
    [0.3]
    >>> resumed = Falling(optim.SGD([zeros(1, requires_grad=True)], lr=0.6))
    >>> resumed.load_state_dict(scheduler.state_dict())
    >>> resumed.last_epoch, resumed.get_lr()
    (1, [0.3])
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _step_count: int
    _last_lr: list[Any]
    base_lrs: list[Any]
    last_epoch: int

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    "scheduler with last_epoch >= 0.\nThis typically happens when:\n1. You're "
                    "trying to resume training from a checkpoint but haven't properly loaded the "
                    "optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not"
                    " recommended)")
        self.base_lrs = rates(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        if optimizer._opt_called is None:
            optimizer._opt_called = False
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """Return the rate of each group at step `last_epoch`; subclasses override this."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """Return the most recent rates."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Set the rates for the next step; call it after the optimizer's step."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warn_user(EPOCH_DEPRECATION_WARNING, UserWarning)
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        if "step" in vars(self.optimizer):
            warn_user("Seems like `optimizer.step()` has been overridden after learning rate "
                      "scheduler initialization. Please, make sure to call `optimizer.step()` "
                      f"before `lr_scheduler.step()`. {_SEE}", UserWarning)
        elif not self.optimizer._opt_called:
            warn_user("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In "
                      "PyTorch 1.1.0 and later, you should call them in the opposite order: "
                      "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
                      "will result in PyTorch skipping the first value of the learning rate "
                      f"schedule. {_SEE}", UserWarning)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._set(self._called(closed or self.get_lr))

    def _called(self, get_lr: Callable[[], list[Any]]) -> list[Any]:
        self._get_lr_called_within_step = True
        try:
            return get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _set(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            put(group, "lr", value)
        self._last_lr = rates(self.optimizer)

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn_user("To get the last learning rate computed by the scheduler, please use "
                      "`get_last_lr()`.", UserWarning)

    def state_dict(self) -> dict[str, Any]:
        """Return the state: every attribute except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state that `state_dict` returned."""
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler


# -------------------------------------------------------------------- helpers of the schedulers


def check_optimizer(optimizer: Any) -> None:
    """Raise `TypeError` unless this is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: Any) -> Any:
    """Return a rate that later writes do not change, by cloning tensors."""
    return value.clone() if isinstance(value, Tensor) else value


def rates(optimizer: Optimizer, key: str = "lr") -> list[Any]:
    """Return an option, by name, of each group."""
    return [copied(group[key]) for group in optimizer.param_groups]


def put(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option; if it is a tensor, write to it in place."""
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = value


def of_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return an option's value for each group, given a single value or a list."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(count)]
    if len(value) != count:
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                         f"{len(value)} values, param_groups has {count}.")
    return [copied(v) for v in value]


def state_of_callable(function: Any) -> dict[str, Any] | None:
    """Return the attributes of a callable object, or `None` for a function: it is not saved."""
    kept = not isinstance(function, types.FunctionType)
    return dict(function.__dict__) if kept else None
