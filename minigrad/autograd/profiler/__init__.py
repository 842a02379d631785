"""`torch.autograd.profiler`: times of the ops of the forward and of the nodes of the backward."""

from ..profiler_util import EventList, FunctionEvent
from .contexts import emit_nvtx, kineto_available, profile, record_function

__all__ = ["EventList", "FunctionEvent", "emit_nvtx", "kineto_available", "profile",
           "record_function"]

for _each in (emit_nvtx, kineto_available, profile, record_function):
    _each.__module__ = __name__  # as in PyTorch: pickles and reprs name it
