"""Neural networks: modules, stateless functions and initialisers.

Source: https://docs.pytorch.org/docs/stable/nn.html
"""

# mypy: disable-error-code="has-type"
# Type checkers read the imports of this file; at run time it joins the files' lists of names.

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import (
        activation,
        adaptive_softmax,
        attention,
        batchnorm,
        containers,
        conv,
        conv_transpose,
        dropout,
        embedding,
        functional,
        init,
        lazy,
        linear,
        loss,
        margin_loss,
        models,
        modules,
        norm_pool,
        normalization,
        padding,
        parallel,
        parameter,
        parameter_containers,
        pool,
        rnn,
        sequence_loss,
        shape_layers,
        transformer,
        utils,
    )
    from .activation import *
    from .adaptive_softmax import *
    from .attention import *
    from .batchnorm import *
    from .containers import *
    from .conv import *
    from .conv_transpose import *
    from .dropout import *
    from .embedding import *
    from .lazy import *
    from .linear import *
    from .loss import *
    from .margin_loss import *
    from .module import Module
    from .norm_pool import *
    from .normalization import *
    from .padding import *
    from .parallel import DataParallel
    from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
    from .parameter_containers import *
    from .pool import *
    from .rnn import *
    from .sequence_loss import *
    from .shape_layers import *
    from .transformer import *
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["Buffer", "DataParallel", "Module", "Parameter", "UninitializedBuffer",
           "UninitializedParameter", "functional", "init", "models", "modules", "parallel",
           "parameter", "utils"]
if TYPE_CHECKING:
    __all__ += activation.__all__
    __all__ += adaptive_softmax.__all__
    __all__ += attention.__all__
    __all__ += containers.__all__
    __all__ += conv.__all__
    __all__ += conv_transpose.__all__
    __all__ += dropout.__all__
    __all__ += embedding.__all__
    __all__ += lazy.__all__
    __all__ += linear.__all__
    __all__ += loss.__all__
    __all__ += margin_loss.__all__
    __all__ += batchnorm.__all__
    __all__ += norm_pool.__all__
    __all__ += normalization.__all__
    __all__ += padding.__all__
    __all__ += parameter_containers.__all__
    __all__ += pool.__all__
    __all__ += rnn.__all__
    __all__ += sequence_loss.__all__
    __all__ += shape_layers.__all__
    __all__ += transformer.__all__
else:
    __all__ += [name for name in on_demand.names_in(__name__) if name not in __all__]
