"""Names that programs for PyTorch use, but that the engine does not need.

`left_out` is the table of everything that minigrad leaves out, and why.  A program may refer to
these names and compare them, but using one raises an error that gives the reason.  `found` resolves
them, and modules that are loaded on first use.  `as_torch` lets minigrad replace torch.

>>> import minigrad as torch
>>> torch.float32 in (torch.complex64, torch.complex128)
False
>>> torch.fft.rfft(torch.ones(4))
Traceback (most recent call last):
NotImplementedError: torch.fft.rfft is left out: minigrad has no complex numbers. ...
"""

from .found import attribute, install
from .left_out import LEFT_OUT

__all__ = ["LEFT_OUT", "attribute", "install"]
