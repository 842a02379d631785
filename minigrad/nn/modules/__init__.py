"""`torch.nn.modules`: PyTorch's names for the files of this package.

>>> from minigrad.nn.modules.batchnorm import BatchNorm2d
>>> from minigrad import nn
>>> BatchNorm2d is nn.BatchNorm2d
True
"""

import sys
from types import ModuleType
from typing import Any

from .. import (
    activation,
    containers,
    conv,
    dropout,
    embedding,
    linear,
    loss,
    norm,
    norm_of_samples,
    pool,
    rnn,
    shaping,
    transformer,
)
from . import module, utils

#: The files by the names that PyTorch has for what is in them.
FILES: dict[str, ModuleType] = {
    "activation": activation, "batchnorm": norm, "container": containers, "conv": conv,
    "dropout": dropout, "flatten": shaping, "fold": shaping, "instancenorm": norm_of_samples,
    "linear": linear, "loss": loss, "module": module, "normalization": norm_of_samples,
    "pixelshuffle": shaping, "pooling": pool, "rnn": rnn, "sparse": embedding,
    "transformer": transformer, "upsampling": shaping, "utils": utils,
}

for _name, _file in FILES.items():
    sys.modules[f"{__name__}.{_name}"] = _file
    globals()[_name] = _file

_NN = sys.modules[__name__.rpartition(".")[0]]


def __getattr__(name: str) -> Any:
    if name in getattr(_NN, "__all__", ()):
        return getattr(_NN, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
