"""Utilities: data sets, checkpointing, file exchange, stubs."""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import checkpoint, data, exchange, memory, safetensors
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["checkpoint", "data", "exchange", "memory", "safetensors"]
