"""Two numbers, where code for PyTorch before version 2 looks for them."""

from math import inf, nan

__all__ = ["inf", "nan"]
