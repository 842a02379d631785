"""How an operation is declared, run and recorded."""

from .declaration import REGISTRY, F, Op

__all__ = ["REGISTRY", "F", "Op"]
