"""torch.serialization: save objects to files, and load them; see files.py."""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from .allowed import (
        add_safe_globals,
        clear_safe_globals,
        get_safe_globals,
        safe_globals,
    )
    from .files import get_unsafe_globals_in_checkpoint, load, save
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals",
           "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save"]
