"""Options of the libraries that do the work, and whether they are available: cuDNN and MPS.

Source: https://docs.pytorch.org/docs/stable/backends.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import cudnn, mps
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["cudnn", "mps"]
