"""torch.serialization: tensors in files; see files.py.

Pickles of the first edition name the other classes here.
"""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from ..device import device
    from ..tensor.attributes import Size
    from ..tensor.tensor import Parameter, Tensor
    from .files import load, save
    from .pickling import Writer
    from .reading import Reader
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["Parameter", "Reader", "Size", "Tensor", "Writer", "device", "load", "save"]
