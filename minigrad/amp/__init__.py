"""Mixed precision: `autocast` and `GradScaler`. Source: `torch.amp`."""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import for_cuda
    from .autocast import autocast, is_autocast_available
    from .custom import custom_bwd, custom_fwd
    from .grad_scaler import GradScaler
    from .switches import get_autocast_dtype, is_autocast_enabled
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "for_cuda", "get_autocast_dtype",
           "is_autocast_available", "is_autocast_enabled"]
