"""The deprecated `resize` and `resize_as`, which return a view with as many elements."""

from __future__ import annotations

from math import prod
from typing import Any

from ...frames import warn_user
from ...op.declaration import F
from ...tensor.tensor import Tensor, method


def resized(tensor: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    """Return a tensor with other sizes; raise `RuntimeError` for another number of elements."""
    if any(not hasattr(each, "__index__") for each in sizes) or prod(sizes) != tensor.numel():
        shown, total = "x".join(map(str, sizes)), sizes[0] if len(sizes) == 1 else prod(sizes)
        own = "x".join(map(str, tensor.shape))
        raise RuntimeError(
            f"requested resize to {shown} ({total} elements in total), but the given tensor has a "
            f"size of {own} ({tensor.numel()} elements). autograd's resize can only change the "
            "shape of a given tensor, while preserving the number of elements. ")
    result: Tensor = F.reshape(tensor, tuple(sizes))
    return result


@method("resize")
def resize(self: Tensor, *sizes: int) -> Tensor:
    """Return the elements with other sizes.  Deprecated: use `reshape`.

    >>> import warnings
    >>> from minigrad import ones
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ones(2, 2).resize(4)
    tensor([1., 1., 1., 1.])
    """
    warn_user("non-inplace resize is deprecated", UserWarning)
    return resized(self, sizes)


@method("resize_as")
def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Return the elements with the sizes of another tensor.  Deprecated: use `reshape`.

    >>> import warnings
    >>> from minigrad import ones
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     ones(2, 2).resize_as(ones(4))
    tensor([1., 1., 1., 1.])
    """
    warn_user("non-inplace resize_as is deprecated", UserWarning)
    return resized(self, tuple(tensor.shape))
