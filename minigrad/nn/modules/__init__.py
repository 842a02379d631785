"""`torch.nn.modules`: PyTorch's module paths for the files of this package.

>>> from minigrad.nn.modules.batchnorm import BatchNorm2d
>>> from minigrad import nn
>>> BatchNorm2d is nn.BatchNorm2d
True
"""

import sys
from typing import Any

from .. import (
    activation,
    adaptive_softmax,
    attention,
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
from ..pytorch_names import FILES
from . import module, utils

_NN = sys.modules[__name__.rpartition(".")[0]]

for _name, _file in FILES.items():
    sys.modules[f"{__name__}.{_name}"] = globals()[_name] = getattr(_NN, _file)

#: PyTorch's private base classes: programs test for them with `isinstance`.
BASES: dict[str, dict[str, type]] = {
    "batchnorm": {"_NormBase": batchnorm.ChannelNorm, "_LazyNormBase": lazy._LazyNorm},
    "conv": {"_ConvNd": conv.ConvNd, "_ConvTransposeNd": conv_transpose._ConvTranspose,
             "_LazyConvXdMixin": lazy._LazyConv},
    "linear": {"NonDynamicallyQuantizableLinear": attention.NonDynamicallyQuantizableLinear},
    "dropout": {"_DropoutNd": dropout._Dropout},
    "padding": {"_CircularPadNd": padding._CircularPad, "_ConstantPadNd": padding._ConstantPad,
                "_ReflectionPadNd": padding._ReflectionPad,
                "_ReplicationPadNd": padding._ReplicationPad},
    "pooling": {"_AdaptiveAvgPoolNd": pool._AdaptiveAvgPool,
                "_AdaptiveMaxPoolNd": pool._AdaptiveMaxPool, "_AvgPoolNd": pool._AvgPool,
                "_LPPoolNd": norm_pool._LPPool, "_MaxPoolNd": pool._MaxPool,
                "_MaxUnpoolNd": pool._MaxUnpool},
}

for _kind in [getattr(_NN, _name) for _name in _NN.__all__ if _name != "modules"]:
    if isinstance(_kind, type) and _kind.__module__.startswith(f"{__name__}."):
        vars(sys.modules[_kind.__module__]).setdefault(_kind.__name__, _kind)
for _name, _names in BASES.items():
    vars(globals()[_name]).update(_names)


def __getattr__(name: str) -> Any:
    if name in getattr(_NN, "__all__", ()):
        return getattr(_NN, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
