"""Utilities: data sets, checkpointing, file exchange, stubs."""

from . import checkpoint, data, exchange, memory, safetensors

__all__ = ["checkpoint", "data", "exchange", "memory", "safetensors"]
