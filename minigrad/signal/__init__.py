"""torch.signal: windows.

>>> from minigrad import signal
>>> signal.windows.hann(3)
tensor([0., 1., 0.])
"""

from . import windows

__all__ = ["windows"]
