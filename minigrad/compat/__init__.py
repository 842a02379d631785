"""Names that programs for PyTorch use, and the engine does not need.

`left_out` is the table of what minigrad leaves out, and why.  A name in it can be imported, named
and compared; an error says why it is left out when it is used.  `found` has the modules of small
names that are loaded when a program first asks for them.

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
