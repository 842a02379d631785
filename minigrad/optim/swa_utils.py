"""Averages of weights over training: stochastic weight averaging (SWA) and moving averages (EMA).

Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization,
https://arxiv.org/abs/1803.05407
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from ..autograd.grad_mode import no_grad
from ..frames import warn_user
from ..nn.batchnorm import ChannelNorm
from ..nn.module import Module
from ..ops.creation.create import tensor
from ..tensor.tensor import Tensor
from .lr_scheduler.scheduler import LRScheduler
from .optimizer import Optimizer

__all__ = ["SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
           "get_swa_multi_avg_fn", "update_bn"]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
                         "range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """Return the function that averages one parameter exponentially, for `AveragedModel`.

    >>> from minigrad import ones, zeros
    >>> get_ema_avg_fn(0.75)(zeros(1), ones(1), 3)
    tensor([0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Return the function that averages lists of parameters exponentially, in place.

    >>> from minigrad import ones, zeros
    >>> averages = [zeros(1)]
    >>> get_ema_multi_avg_fn(0.75)(averages, [ones(1)], 3); averages
    [tensor([0.2500])]
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(averages: Any, current: Any, num_averaged: Any) -> None:
        for average, each in zip(averages, current, strict=True):
            if average.is_floating_point():
                average.lerp_(each, 1 - decay)
            else:
                average.copy_(average * decay + each * (1 - decay))

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """Return the function that updates the mean of one parameter.

    >>> from minigrad import ones, zeros
    >>> get_swa_avg_fn()(zeros(1), ones(1), 3)
    tensor([0.2500])
    """
    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Return the function that updates the means of lists of parameters, in place.

    >>> from minigrad import ones, zeros
    >>> averages = [zeros(1)]
    >>> get_swa_multi_avg_fn()(averages, [ones(1)], 3); averages
    [tensor([0.2500])]
    """
    @no_grad()
    def swa_update(averages: Any, current: Any, num_averaged: Any) -> None:
        for average, each in zip(averages, current, strict=True):
            if average.is_floating_point():
                average.lerp_(each, float(1 / (num_averaged + 1)))
            else:
                average.copy_(average + (each - average) / (num_averaged + 1))

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's.

    `avg_fn(average, current, count)` returns the next average of a parameter, and
    `multi_avg_fn(averages, currents, count)` updates all in place; by default it is the mean.
    With `use_buffers`, buffers are averaged too, otherwise copied.

    >>> from minigrad import nn, no_grad
    >>> model = nn.Linear(1, 1, bias=False)
    >>> average = AveragedModel(model)
    >>> for value in (1.0, 3.0):
    ...     with no_grad():
    ...         _ = model.weight.fill_(value)
    ...     average.update_parameters(model)
    >>> average.module.weight.item(), average.n_averaged.item()
    (2.0, 2)
    """

    n_averaged: Tensor

    def __init__(self, model: Module, device: Any = None,
                 avg_fn: Callable[..., Tensor] | None = None,
                 multi_avg_fn: Callable[..., None] | None = None,
                 use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the averaged model returns."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Update the averages with the parameters of `model`; the first time, copy them."""
        pairs = [(mine.detach(), theirs.detach().to(mine.device))
                 for mine, theirs in zip(self._averaged(self.module), self._averaged(model),
                                         strict=False)]
        if not self.n_averaged:
            for mine, theirs in pairs:
                mine.copy_(theirs)
        elif self.avg_fn is not None:
            for mine, theirs in pairs:
                mine.copy_(self.avg_fn(mine, theirs, self.n_averaged.to(mine.device)))
        else:
            for alike in self._groups(pairs):
                update = self.multi_avg_fn or get_swa_multi_avg_fn()
                update([mine for mine, _ in alike], [theirs for _, theirs in alike],
                       self.n_averaged.to(alike[0][0].device))
        if not self.use_buffers:
            for kept, new in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(new.detach().to(kept.device))
        self.n_averaged += 1

    def _averaged(self, module: Module) -> Iterable[Tensor]:
        if self.use_buffers:
            return chain(module.parameters(), module.buffers())
        return module.parameters()

    @staticmethod
    def _groups(pairs: list[tuple[Tensor, Tensor]]) -> Iterable[list[tuple[Tensor, Tensor]]]:
        """Return the pairs by device and dtype."""
        groups: dict[Any, list[tuple[Tensor, Tensor]]] = {}
        for pair in pairs:
            groups.setdefault((str(pair[0].device), pair[0].dtype), []).append(pair)
        return groups.values()


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the statistics of all batch norms anew, in one pass over the data.

    If a batch is a list or a tuple, its first element is the input.

    >>> from minigrad import nn, tensor
    >>> model = nn.BatchNorm1d(1)
    >>> update_bn([tensor([[1.0], [3.0]])], model); model.running_mean
    tensor([2.])
    """
    momenta = {module: module.momentum for module in model.modules()
               if isinstance(module, ChannelNorm) and hasattr(module, "running_mean")
               and type(module).__name__.startswith(("BatchNorm", "LazyBatchNorm"))}
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.reset_running_stats()
        module.momentum = None
    with no_grad():
        for input in loader:
            if isinstance(input, list | tuple):
                input = input[0]
            model(input if device is None else input.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneal the learning rates to `swa_lr` over `anneal_epochs`, along a cosine or a line.

    >>> from minigrad import optim, zeros
    >>> optimizer = optim.SGD([zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step(); print(scheduler.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10,
                 anneal_strategy: str = "cos", last_epoch: int = -1) -> None:
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError("swa_lr must have the same length as optimizer.param_groups. swa_lr "
                             f"has {len(rates)} values, param_groups has {len(groups)}.")
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError("anneal_epochs must be equal or greater than 0, got "
                             f"{anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """Return how far the rates have come at `t` in [0, 1]."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        """Return the next rate of each group."""
        if not self._get_lr_called_within_step:
            warn_user("To get the last learning rate computed by the scheduler, please use "
                      "`get_last_lr()`.", UserWarning)
        step, length = self._step_count - 1, max(1, self.anneal_epochs)
        if not self.anneal_epochs:
            step = max(1, step)
        before = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            first = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates


