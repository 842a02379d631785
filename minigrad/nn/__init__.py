"""Neural networks: modules, the functions they are made of, and how they start.

Source: https://docs.pytorch.org/docs/stable/nn.html
"""

from . import (
    activation,
    attention,
    containers,
    conv,
    conv_transpose,
    dropout,
    embedding,
    functional,
    init,
    linear,
    loss,
    margin_loss,
    models,
    modules,
    norm,
    norm_of_samples,
    parameter,
    parameter_containers,
    pool,
    rnn,
    shaping,
    transformer,
    utils,
)
from .activation import *
from .attention import *
from .containers import *
from .conv import *
from .conv_transpose import *
from .dropout import *
from .embedding import *
from .linear import *
from .loss import *
from .margin_loss import *
from .module import Module
from .norm import *
from .norm_of_samples import *
from .parameter import Buffer, Parameter
from .parameter_containers import *
from .pool import *
from .rnn import *
from .shaping import *
from .transformer import *

modules.name_as_pytorch_does()

__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "models", "modules", "parameter",
           "utils"]
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += containers.__all__
__all__ += conv.__all__
__all__ += conv_transpose.__all__
__all__ += dropout.__all__
__all__ += embedding.__all__
__all__ += linear.__all__
__all__ += loss.__all__
__all__ += margin_loss.__all__
__all__ += norm.__all__
__all__ += norm_of_samples.__all__
__all__ += parameter_containers.__all__
__all__ += pool.__all__
__all__ += rnn.__all__
__all__ += shaping.__all__
__all__ += transformer.__all__
