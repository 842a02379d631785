"""`func.functionalize`, which removes in-place writes in PyTorch.

Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functionalize.html
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["functionalize"]


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return a function with the same results; minigrad differentiates in-place writes as they are.

    Raises `RuntimeError` for an unknown kind of writes to remove.

    >>> from minigrad import ones
    >>> functionalize(lambda x: x.clone().add_(1))(ones(1))
    tensor([2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for remove='"
            f"{remove}'. Valid options are:\n     remove='mutations': all inplace and out= "
            "operators will be removed from the program, and replaced with their out-of-place "
            "equivalents.\n     remove='mutations_and_views': In addition to the above, all "
            "aliasing operators {view} will be replaced with their non-aliasing counterparts, "
            "{view}_copy.\n")

    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return call
