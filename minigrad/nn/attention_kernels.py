"""`torch.nn.attention`: the choice of a kernel for attention, which minigrad computes in one way.

Source: https://docs.pytorch.org/docs/stable/nn.attention.html
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(IntEnum):
    """PyTorch's kernels for `scaled_dot_product_attention`; minigrad's is `MATH`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Accept a choice of kernels for a block, since `MATH` gives the same results.

    Raises `AssertionError` for anything but a backend or a list of them.

    >>> with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
    ...     pass
    """
    chosen = backends if isinstance(backends, list) else [backends]
    if not all(isinstance(each, SDPBackend) for each in chosen):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend "
                             f"instances, got {type(backends).__name__}")
    yield
