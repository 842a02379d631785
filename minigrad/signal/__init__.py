"""torch.signal: windows.

>>> from minigrad import signal
>>> signal.windows.hann(3)
tensor([0., 1., 0.])
"""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from . import windows
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["windows"]
