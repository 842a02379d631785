"""Tools beside the engine."""

from . import checkpoint, data

__all__ = ["checkpoint", "data"]
