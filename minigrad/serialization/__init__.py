"""torch.serialization: save tensors to files, and load them; see files.py."""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from .files import load, save
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["load", "save"]
