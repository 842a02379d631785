"""Neural networks: modules, functions without state, and initialisers.

Source: https://docs.pytorch.org/docs/stable/nn.html
"""

from . import functional, init, models, modules, parameter, utils
from .activation import *
from .activation import __all__ as _activations
from .attention import *
from .attention import __all__ as _attention
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .containers import ModuleDict, ModuleList, Sequential
from .conv import Conv1d, Conv2d, Conv3d
from .conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .dropout import *
from .dropout import __all__ as _dropouts
from .embedding import Embedding, EmbeddingBag
from .linear import Bilinear, Identity, Linear
from .loss import *
from .loss import __all__ as _losses
from .margin_loss import *
from .margin_loss import __all__ as _margin_losses
from .module import Module
from .normalization import (
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
    RMSNorm,
)
from .parameter import Buffer, Parameter
from .parameter_containers import ParameterDict, ParameterList
from .pool import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
    MaxUnpool1d,
    MaxUnpool2d,
)
from .rnn import *
from .rnn import __all__ as _recurrent
from .shape_layers import Flatten, Fold, PixelShuffle, PixelUnshuffle, Unflatten, Unfold, Upsample
from .transformer import *
from .transformer import __all__ as _transformers

modules.name_as_pytorch_does()

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AvgPool1d", "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear", "Buffer",
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "Embedding", "EmbeddingBag", "Flatten", "Fold", "GroupNorm", "Identity", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "Linear", "MaxPool1d", "MaxPool2d",
    "MaxUnpool1d", "MaxUnpool2d", "Module", "ModuleDict", "ModuleList", "Parameter",
    "ParameterDict", "ParameterList", "PixelShuffle", "PixelUnshuffle", "RMSNorm", "Sequential",
    "Unflatten", "Unfold", "Upsample", "functional", "init", "models", "modules", "parameter",
    "utils",
]
__all__ += _activations
__all__ += _dropouts
__all__ += _losses
__all__ += _margin_losses
__all__ += _recurrent
__all__ += _attention
__all__ += _transformers
