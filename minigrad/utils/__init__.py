"""Tools beside the engine."""

from . import checkpoint, data, exchange, memory, safetensors

__all__ = ["checkpoint", "data", "exchange", "memory", "safetensors"]
