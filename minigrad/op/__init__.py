"""Declaring, running and recording an operation."""

from .declaration import REGISTRY, F, Op

__all__ = ["REGISTRY", "F", "Op"]
