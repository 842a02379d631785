"""Schedules that change the learning rate during training.

Source: https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from typing import TYPE_CHECKING

from ... import on_demand

if TYPE_CHECKING:
    from .composed import ChainedScheduler, SequentialLR
    from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
    from .cycles import CyclicLR, OneCycleLR
    from .factors import (
        ConstantLR,
        ExponentialLR,
        LambdaLR,
        LinearLR,
        MultiplicativeLR,
        MultiStepLR,
        PolynomialLR,
        StepLR,
    )
    from .plateau import ReduceLROnPlateau
    from .scheduler import LRScheduler, _LRScheduler
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR",
    "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR", "_LRScheduler",
]
