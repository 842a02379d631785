"""Gradients that `grad` returns as views, as PyTorch does.

Some formulas return views: the gradient of a sum is one number, expanded, and the gradient of a
reshape is the incoming gradient in another shape.  PyTorch returns such a gradient as a view that
was made without recording, and raises if a recorded operation writes to it in place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor.creation_meta import NO_GRAD
from ..tensor.tensor import Tensor
from ..tensor.views import mark_view


def mark_views(gradients: Sequence[Tensor | None]) -> None:
    """Mark each gradient whose array is a view of another array as a view."""
    for gradient in gradients:
        if gradient is None or gradient._view is not None or gradient._node is not None:
            continue
        base = gradient._array.base
        if base is not None:
            mark_view(gradient, Tensor._plain(base), creation=NO_GRAD)
