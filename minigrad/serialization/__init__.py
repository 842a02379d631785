"""torch.serialization: tensors in files; see files.py."""

from .files import load, save

__all__ = ["load", "save"]
