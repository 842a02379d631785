"""Gradients that `grad` returns as views, as PyTorch does.

The gradient of a sum is one number, expanded: a view that was made without recording.  PyTorch
hands it out as it is and refuses a recorded write to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor import Tensor
from ..views import NO_GRAD, mark_view


def mark_expanded(gradients: Sequence[Tensor | None]) -> None:
    """Mark those gradients as views whose elements share their memory."""
    for gradient in gradients:
        if gradient is None or gradient._view is not None or gradient._node is not None:
            continue
        array = gradient._array
        if array.base is not None and 0 in array.strides:
            mark_view(gradient, Tensor._plain(array.base), creation=NO_GRAD)
