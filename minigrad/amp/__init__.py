"""Mixed precision: `autocast` and `GradScaler`. Source: `torch.amp`."""

from . import for_cuda
from .autocast import autocast, get_autocast_dtype, is_autocast_available, is_autocast_enabled
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "for_cuda", "get_autocast_dtype", "is_autocast_available",
           "is_autocast_enabled"]
