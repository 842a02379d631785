"""torch.serialization: save tensors to files, and load them; see files.py."""

from .files import load, save

__all__ = ["load", "save"]
