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
    conv_transpose,
    dropout,
    embedding,
    lazy,
    linear,
    loss,
    margin_loss,
    norm_pool,
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
    "container": containers, "conv": conv, "distance": margin_loss,
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
BY_CLASS = {"CosineSimilarity": "distance", "PairwiseDistance": "distance",
            "Flatten": "flatten", "Unflatten": "flatten", "LocalResponseNorm": "normalization",
            "Fold": "fold", "Unfold": "fold", "PixelShuffle": "pixelshuffle",
            "PixelUnshuffle": "pixelshuffle", "Upsample": "upsampling",
            "UpsamplingNearest2d": "upsampling", "UpsamplingBilinear2d": "upsampling",
            "ChannelShuffle": "channelshuffle",
            **{f"Lazy{kind}{n}d": file for n in (1, 2, 3) for kind, file in {
                "Conv": "conv", "ConvTranspose": "conv", "BatchNorm": "batchnorm",
                "InstanceNorm": "instancenorm"}.items()}, "LazyLinear": "linear",
            "LayerNorm": "normalization", "GroupNorm": "normalization", "RMSNorm": "normalization"}

#: PyTorch's private names of the classes that layers share: programs ask `isinstance` of them.
BASES: dict[str, dict[str, type]] = {
    "batchnorm": {"_NormBase": batchnorm.ChannelNorm, "_LazyNormBase": lazy._LazyNorm},
    "conv": {"_ConvNd": conv.ConvNd, "_ConvTransposeNd": conv_transpose._ConvTranspose,
             "_LazyConvXdMixin": lazy._LazyConv},
    "dropout": {"_DropoutNd": dropout._Dropout},
    "padding": {"_CircularPadNd": padding._CircularPad, "_ConstantPadNd": padding._ConstantPad,
                "_ReflectionPadNd": padding._ReflectionPad,
                "_ReplicationPadNd": padding._ReplicationPad},
    "pooling": {"_AdaptiveAvgPoolNd": pool._AdaptiveAvgPool,
                "_AdaptiveMaxPoolNd": pool._AdaptiveMaxPool, "_AvgPoolNd": pool._AvgPool,
                "_LPPoolNd": norm_pool._LPPool, "_MaxPoolNd": pool._MaxPool,
                "_MaxUnpoolNd": pool._MaxUnpool},
}

_NN = sys.modules[__name__.rpartition(".")[0]]


def name_as_pytorch_does() -> None:
    """Set `__module__` of each class of `nn` to its module in PyTorch, which pickles name."""
    by_file = {file.__name__: name for name, file in reversed(FILES.items())}
    for kind in list(vars(_NN).values()):
        if not isinstance(kind, type) or kind.__module__.rpartition(".")[0] != _NN.__name__:
            continue
        own = kind.__module__
        name = (BY_CLASS.get(kind.__name__) or ELSEWHERE.get(own.rpartition(".")[2])
                or by_file.get(own))
        if name is not None:
            kind.__module__ = f"{__name__}.{name}"
            globals()[name].__dict__.setdefault(kind.__name__, kind)
    for file, names in BASES.items():
        vars(FILES[file]).update(names)


def __getattr__(name: str) -> Any:
    if name in getattr(_NN, "__all__", ()):
        return getattr(_NN, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
