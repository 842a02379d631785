"""Optimizers: what moves parameters against their gradients.

Source: https://docs.pytorch.org/docs/stable/optim.html
"""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
