"""Names that programs for PyTorch use, and the engine does not need.

`left_out` is the table of what minigrad leaves out, and why.  A program may name and compare these
names; using one raises an error that says why it is left out.  `found` answers for them, and
for modules that are loaded when a program first asks for them.  `as_torch` lets minigrad stand in
for torch.

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
