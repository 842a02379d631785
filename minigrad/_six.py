"""Two numbers that code written for PyTorch before version 2 imports from here."""

from math import inf, nan

__all__ = ["inf", "nan"]
