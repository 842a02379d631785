"""Gradients that `grad` returns as views, as PyTorch does.

The gradient of a view is a view of what arrived, that of a sum is one number, expanded, and that
of what was broadcast is a sum in another shape.  PyTorch hands them out as they are, as views that
were made without recording, and refuses a recorded write to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor.creation_meta import NO_GRAD
from ..tensor.tensor import Tensor
from ..tensor.views import mark_view


def mark_views(gradients: Sequence[Tensor | None]) -> None:
    """Mark those gradients as views whose memory is that of another array."""
    for gradient in gradients:
        if gradient is None or gradient._view is not None or gradient._node is not None:
            continue
        base = gradient._array.base
        if base is not None:
            mark_view(gradient, Tensor._plain(base), creation=NO_GRAD)
