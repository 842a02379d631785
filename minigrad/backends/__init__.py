"""Switches of the libraries that the work is done by; here it is cuDNN alone.

Source: https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

from . import cudnn

__all__ = ["cudnn"]
