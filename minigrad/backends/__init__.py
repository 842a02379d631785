"""Switches of the libraries that the work is done by, and whether they are there: cuDNN and MPS.

Source: https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

from . import cudnn, mps

__all__ = ["cudnn", "mps"]
