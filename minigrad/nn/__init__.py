"""Neural networks: modules, the functions they are made of, and how they start.

Source: https://docs.pytorch.org/docs/stable/nn.html
"""

from . import functional, init, models, parameter, utils
from .activation import *
from .activation import __all__ as _activations
from .containers import ModuleDict, ModuleList, ParameterList, Sequential
from .conv import Conv1d, Conv2d, Conv3d
from .dropout import AlphaDropout, Dropout, Dropout1d, Dropout2d
from .linear import Embedding, Flatten, Identity, Linear, Unflatten
from .loss import *
from .loss import __all__ as _losses
from .module import Module
from .norm import BatchNorm1d, BatchNorm2d, LayerNorm
from .parameter import Parameter
from .pool import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AlphaDropout", "AvgPool1d", "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Conv1d", "Conv2d",
    "Conv3d", "Dropout", "Dropout1d", "Dropout2d", "Embedding", "Flatten", "Identity",
    "LayerNorm", "Linear", "MaxPool1d", "MaxPool2d", "Module", "ModuleDict", "ModuleList",
    "Parameter", "ParameterList", "Sequential", "Unflatten", "functional", "init", "models",
    "parameter", "utils",
]  # fmt: skip
__all__ += _activations
__all__ += _losses
