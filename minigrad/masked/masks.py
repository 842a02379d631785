"""Masks, and the values that replace masked-out elements.

A masked operation replaces the masked-out elements by a value that does not change the result, such
as 0 for a sum or 1 for a product, and then runs the ordinary operation.  No gradient reaches these
elements, because `where` passes it only to the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..op.declaration import F
from ..ops.info import iinfo
from ..shapes import wrap_dim

#: Operations whose result has the tensor's shape, and operations that reduce dimensions.
NORMALIZATIONS = {"softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"}
REDUCTIONS = {"sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var",
              "std", "logsumexp"}


def identity(name: str, input: Any, ord: Any = 2) -> Any:
    """Return, as a 0-d tensor, the value that does not change an operation's result.

    >>> from minigrad import ones
    >>> identity("amax", ones(2))
    tensor(-inf)
    """
    dtype = input.dtype
    if name in ("sum", "prod"):
        value: Any = int(name == "prod")
    elif name == "norm":
        value = math.inf if ord == -math.inf else 0
    elif name == "median":  # `nanmedian` computes it
        value = math.nan
    elif dtype.is_floating_point:
        value = math.inf if name in ("amin", "argmin") else -math.inf
    elif str(dtype) == "torch.bool":
        raise NotImplementedError(f"identity of {name} on {dtype} input")
    else:
        value = iinfo(dtype).max if name in ("amin", "argmin") else iinfo(dtype).min
    return F.full((), value, dtype=dtype, device=input.device)


def _input_mask(input: Any, *args: Any, mask: Any, **kwargs: Any) -> Any:
    """Return a masked operation's mask as booleans in the tensor's shape.

    >>> from minigrad import masked, ones, tensor
    >>> masked._input_mask(ones(2, 2), mask=tensor([False, True]))
    tensor([[False,  True],
            [False,  True]])
    """
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher "
                         "than of the input)")
    return F.broadcast_to(mask, tuple(input.shape)).bool()


def filled(name: str, input: Any, mask: Any, ord: Any = 2) -> Any:
    """Replace masked-out elements by the identity of an operation."""
    if mask is None:
        return input
    return F.where(_input_mask(input, mask=mask), input, identity(name, input, ord))


def dimensions(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return dimensions counted from the front, in order; `None` and () mean all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(wrap_dim(d, ndim))
    return tuple(sorted(found))


def in_dtype(found: Any, input: Any, dtype: Any) -> Any:
    """Return a result in the requested dtype, or else in the tensor's dtype."""
    return F.to(found, dtype=input.dtype if dtype is None else dtype)


def _output_mask(op: Callable[..., Any], input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a mask of the result's elements that have at least one unmasked input.

    >>> from minigrad import masked, ones, tensor
    >>> masked._output_mask(masked.sum, ones(2), mask=tensor([False, True]))
    tensor(True)
    """
    mask = _input_mask(input, mask=kwargs["mask"])
    if op.__name__ in NORMALIZATIONS:
        return mask
    if op.__name__ not in REDUCTIONS:
        raise ValueError("_output_mask expected masked operation (got callable "
                         f"{op.__module__}.{op.__name__})")
    args = args[1:] if op.__name__ == "norm" else args
    dims = dimensions(args[0] if args else kwargs.get("dim"), input.ndim)
    return F.any(mask, dims, bool(kwargs.get("keepdim")))
