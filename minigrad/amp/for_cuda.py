"""`torch.cuda.amp`: deprecated names, always for the GPU."""

from __future__ import annotations

from typing import Any

from . import custom as _custom
from . import grad_scaler as _grad_scaler
from .autocast import autocast as _autocast

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):
    """`minigrad.autocast` on the GPU. Source: `torch.cuda.amp.autocast`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_grad_scaler.GradScaler):
    """`minigrad.amp.GradScaler` on the GPU. Source: `torch.cuda.amp.GradScaler`."""

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000,
                 enabled: bool = True) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval,
                         enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """Call `minigrad.amp.custom_fwd` for the GPU. Source: `torch.cuda.amp.custom_fwd`."""
    return _custom.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """Call `minigrad.amp.custom_bwd` for the GPU. Source: `torch.cuda.amp.custom_bwd`."""
    return _custom.custom_bwd(bwd, device_type="cuda")
