"""Tools beside the engine."""

from . import data

__all__ = ["data"]
