"""`torch.functional`: functions of the package under the module where PyTorch defines them.

>>> import minigrad as torch
>>> from minigrad.functional import einsum
>>> einsum is torch.einsum
True
"""

from __future__ import annotations

from typing import Any

from .compat import attribute
from .ops import function

NAMES = ("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
           "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "lu",
           "meshgrid", "norm", "split", "tensordot", "unique", "unique_consecutive",
           "unravel_index")

globals().update({name: function(name) for name in NAMES})
__all__ = list(NAMES)


def __getattr__(name: str) -> Any:
    return attribute(__name__, name)
