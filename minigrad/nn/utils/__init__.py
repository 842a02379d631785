"""Utilities: clip gradients, flatten parameters, reparametrise and prune weights, pack sequences.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from typing import TYPE_CHECKING

from ... import on_demand

if TYPE_CHECKING:
    from . import clip_grad, convert_parameters, parametrizations, parametrize, prune, rnn
    from .clip_grad import (
        clip_grad_norm,
        clip_grad_norm_,
        clip_grad_value_,
        clip_grads_with_norm_,
        get_total_norm,
    )
    from .convert_parameters import parameters_to_vector, vector_to_parameters
    from .fusion import (
        fuse_conv_bn_eval,
        fuse_conv_bn_weights,
        fuse_linear_bn_eval,
        fuse_linear_bn_weights,
        skip_init,
    )
    from .spectral_norm import remove_spectral_norm, spectral_norm
    from .weight_norm import remove_weight_norm, weight_norm
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "clip_grad", "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_parameters", "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
    "fuse_linear_bn_weights", "get_total_norm", "parameters_to_vector", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "skip_init", "spectral_norm", "vector_to_parameters",
    "weight_norm",
]
