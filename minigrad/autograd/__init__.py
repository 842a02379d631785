"""Automatic differentiation: `backward`, `grad`, `Function` and the grad modes.

Source: https://docs.pytorch.org/docs/stable/autograd.html
"""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import anomaly_mode, forward_ad, functional, grad_mode, graph, profiler, profiler_util
    from .anomaly_mode import detect_anomaly, set_detect_anomaly
    from .backward import backward, grad
    from .function import Function, NestedIOFunction
    from .grad_mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        is_inference_mode_enabled,
        no_grad,
        set_grad_enabled,
    )
    from .gradcheck import GradcheckError, gradcheck, gradgradcheck
    from .graph import is_multithreading_enabled, set_multithreading_enabled
    from .profiler import kineto_available
    from .profiler.contexts import _profiler_enabled
    from .saved_tensor import SavedTensor
    from .variable import Variable
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = [
    "Function",
    "GradcheckError",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "_profiler_enabled",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "profiler_util",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
