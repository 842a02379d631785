"""Python functions applied to each element, in place: `apply_`, `map_` and `map2_`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend import backend_of
from ...dtypes import type_name
from ...frames import type_in_error
from ...tensor.tensor import Tensor, method


def refuse_history(name: str, tensors: tuple[Tensor, ...]) -> None:
    """Raise if a tensor requires grad, because a Python function has no derivative."""
    if any(each.requires_grad for each in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use "
                           f"var.detach().{name}() instead.")


def write_values(target: Tensor, function: Callable[..., Any], others: tuple[Tensor, ...]) -> None:
    """Write what a function returns for the elements of several tensors to the first one."""
    xp = backend_of(target._array)
    arrays = [xp.to_host(each._array) for each in (target, *others)]
    rows = zip(*[array.ravel().tolist() for array in arrays], strict=True)
    values = [function(*row) for row in rows]
    kind = arrays[0].dtype.kind
    convert = bool if kind == "b" else int if kind in "iu" else float
    results = np.array([convert(each) for each in values], arrays[0].dtype)
    target._array[...] = xp.from_host(results.reshape(arrays[0].shape))


@method("apply_")
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element `x` by `callable(x)`, a slow Python loop.

    Raises `RuntimeError` if the tensor requires grad.  Source: `torch.Tensor.apply_`.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).apply_(lambda x: x + 1)
    tensor([2., 3.])
    """
    refuse_history("apply_", (self,))
    write_values(self, callable, ())
    return self


@method("map_")
def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element `x` by `callable(x, y)`, with `y` from `other`.

    Raises `TypeError` if `other` has another dtype.  Source: `torch.Tensor.map_`.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).map_(tensor([10.0, 20.0]), lambda x, y: x + y)
    tensor([11., 22.])
    """
    return mapped("map_", self, {"other": other}, callable)


@method("map2_")
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element `a` by `callable(a, b, c)`, with `b` from `x` and `c` from `y`.

    >>> from minigrad import tensor
    >>> tensor([1.0]).map2_(tensor([2.0]), tensor([3.0]), lambda a, b, c: a + b * c)
    tensor([7.])
    """
    return mapped("map2_", self, {"x": x, "y": y}, callable)


def mapped(name: str, self: Tensor, others: dict[str, Tensor],
           function: Callable[..., Any]) -> Tensor:
    """Check the arguments of `map_` or `map2_`, and write the values."""
    for position, (argument, other) in enumerate(others.items(), 1):
        if not isinstance(other, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor,"
                            f" not {type_in_error(other)}")
    refuse_history(name, (self, *others.values()))
    for argument, other in others.items():
        if other.dtype is not self.dtype:
            shown = f"'{argument}'" if name == "map_" else f"argument '{argument}'"
            raise TypeError(f"{name}: expected torch.{type_name(self.dtype)}Tensor for {shown} "
                            f"(got torch.{type_name(other.dtype)}Tensor)")
    write_values(self, function, tuple(each.expand(self.shape) for each in others.values()))
    return self
