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
    adaptive_softmax,
    batchnorm,
    containers,
    conv,
    dropout,
    embedding,
    lazy,
    linear,
    loss,
    normalization,
    padding,
    pool,
    rnn,
    shape_layers,
    transformer,
)
from . import module, utils

#: PyTorch's name for each file.
FILES: dict[str, ModuleType] = {
    "activation": activation, "adaptive": adaptive_softmax,
    "batchnorm": batchnorm, "channelshuffle": shape_layers,
    "container": containers, "conv": conv,
    "dropout": dropout, "flatten": shape_layers, "fold": shape_layers,
    "instancenorm": normalization, "lazy": lazy,
    "linear": linear, "loss": loss, "module": module,
    "normalization": normalization, "padding": padding,
    "pixelshuffle": shape_layers, "pooling": pool, "rnn": rnn,
    "sparse": embedding, "transformer": transformer, "upsampling": shape_layers, "utils": utils,
}

for _name, _file in FILES.items():
    sys.modules[f"{__name__}.{_name}"] = _file
    globals()[_name] = _file

#: Files of ours that are part of a larger file in PyTorch.
ELSEWHERE = {"attention": "activation", "conv_transpose": "conv", "margin_loss": "loss",
             "norm_pool": "pooling", "parameter_containers": "container",
             "sequence_loss": "loss"}
#: PyTorch's file for classes that share one file here.
BY_CLASS = {"Fold": "fold", "Unfold": "fold", "PixelShuffle": "pixelshuffle",
            "PixelUnshuffle": "pixelshuffle", "Upsample": "upsampling",
            "UpsamplingNearest2d": "upsampling", "UpsamplingBilinear2d": "upsampling",
            "ChannelShuffle": "channelshuffle",
            **{f"Lazy{kind}{n}d": file for n in (1, 2, 3) for kind, file in {
                "Conv": "conv", "ConvTranspose": "conv", "BatchNorm": "batchnorm",
                "InstanceNorm": "instancenorm"}.items()}, "LazyLinear": "linear",
            "LayerNorm": "normalization", "GroupNorm": "normalization", "RMSNorm": "normalization"}

_NN = sys.modules[__name__.rpartition(".")[0]]


def name_as_pytorch_does() -> None:
    """Set `__module__` of each class of `nn` to its module in PyTorch, which pickles name."""
    by_file = {file.__name__: name for name, file in reversed(FILES.items())}
    for kind in list(vars(_NN).values()):
        if not isinstance(kind, type) or kind.__module__.rpartition(".")[0] != _NN.__name__:
            continue
        own = kind.__module__
        name = (BY_CLASS.get(kind.__name__) or by_file.get(own)
                or ELSEWHERE.get(own.rpartition(".")[2]))
        if name is not None:
            kind.__module__ = f"{__name__}.{name}"
            globals()[name].__dict__.setdefault(kind.__name__, kind)


def __getattr__(name: str) -> Any:
    if name in getattr(_NN, "__all__", ()):
        return getattr(_NN, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
