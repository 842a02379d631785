"""`torch.autograd.profiler`: times of the ops of the forward and of the nodes of the backward."""

from typing import TYPE_CHECKING

from ... import on_demand

if TYPE_CHECKING:  # `profiler_util` imports files of this folder
    from ..profiler_util import EventList, FunctionEvent
    from .contexts import kineto_available, profile, record_function
    from .emit import emit_nvtx
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["EventList", "FunctionEvent", "emit_nvtx", "kineto_available", "profile",
           "record_function"]
