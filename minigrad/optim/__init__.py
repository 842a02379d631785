"""Optimizers move parameters against their gradients.

Source: https://docs.pytorch.org/docs/stable/optim.html
"""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import lr_scheduler
    from .adafactor import Adafactor
    from .adagrad import Adagrad
    from .adam import Adam, AdamW
    from .adam_variants import Adamax, NAdam, RAdam
    from .asgd import ASGD
    from .lbfgs import LBFGS
    from .muon import Muon
    from .optimizer import Optimizer
    from .rmsprop import Adadelta, RMSprop
    from .rprop import Rprop
    from .sgd import SGD
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["ASGD", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax",
           "Muon", "NAdam", "Optimizer", "RAdam", "RMSprop", "Rprop", "lr_scheduler"]
