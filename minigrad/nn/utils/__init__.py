"""Utilities: clip gradients, flatten parameters, reparametrise and prune weights, pack sequences.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import clip_grad, convert_parameters, rnn
from .clip_grad import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .convert_parameters import parameters_to_vector, vector_to_parameters
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

if TYPE_CHECKING:
    from . import parametrizations, parametrize, prune

__all__ = [
    "clip_grad", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "convert_parameters", "get_total_norm", "parameters_to_vector", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "spectral_norm", "vector_to_parameters", "weight_norm",
]

#: Files that few programs use: they are read when one asks for them.
LATER = ("parametrizations", "parametrize", "prune")


if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        if name in LATER:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
