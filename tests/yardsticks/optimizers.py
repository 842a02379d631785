"""One optimizer of PyTorch's database: the path of its parameters, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad

from .ops import Report, quiet

STEPS = 4


def try_optimizer(info: Any) -> Report:
    """Compare an optimizer with all options of the database."""
    report = Report(info.optim_cls.__name__)
    ours = getattr(minigrad.optim, report.name, None)
    if ours is None:
        report.present = False
        return report
    with quiet():
        for given in info.optim_inputs_func(device="cpu"):
            try_path(info.optim_cls, ours, given, report)
    return report


def try_path(theirs: Any, ours: Any, given: Any, report: Report) -> None:
    """Compare a few steps."""
    import torch

    def path(package: Any, cls: Any) -> Any:
        start = np.random.default_rng(0).standard_normal((4, 3))
        weight = package.nn.Parameter(package.from_numpy(start.copy()))
        goal = package.from_numpy(np.arange(12.0).reshape(4, 3))
        options = {key: package.tensor(value.item()) if isinstance(value, torch.Tensor) else value
                   for key, value in given.kwargs.items()}
        optimizer = cls([weight], **options)

        def closure() -> Any:
            optimizer.zero_grad()
            loss = ((weight - goal) ** 2).sum() + (weight**4).sum() / 50
            loss.backward()
            return loss

        for _ in range(STEPS):
            optimizer.step(closure)
        return weight.detach().numpy()

    try:
        wanted = path(torch, theirs)
    except Exception:
        return
    try:
        agrees = bool(np.allclose(wanted, path(minigrad, ours), 1e-7, 1e-9))
        report.count("forward", agrees, f"{given.kwargs} {given.desc}")
    except Exception as error:
        report.count("forward", False, f"{type(error).__name__}: {error} {given.kwargs}")
