"""`utils.swap_tensors`: two tensors swap their contents and keep their identity."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from ..graph.accumulate_grad import AccumulateGrad
from ..tensor.tensor import Tensor

__all__ = ["swap_tensors"]

#: Layers whose objects refer to tensors and would then mean the other one.
BELOW = ("graph", "tensor", "op", "engine", "codegen", "autograd")
_PACKAGE = __name__.partition(".")[0]

POISONED = ("Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can "
            "happen when you try to run backward on a tensor that was swapped.")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Swap values, gradient, class and attributes of two tensors; names keep their objects.

    Raises `RuntimeError` if one of them is in a graph, has views or weak references, because these
    would refer to the other tensor afterwards. A graph that leads to a leaf is allowed, but its
    backward pass raises. Source: `torch.utils.swap_tensors`.

    >>> from minigrad import ones, zeros
    >>> from minigrad.utils.swapping import swap_tensors
    >>> x, y = ones(2), zeros(1)
    >>> swap_tensors(x, y)
    >>> x, y
    (tensor([0.]), tensor([1., 1.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        refuse_users(name, tensor)
    for tensor in (t1, t2):
        poison(tensor)
    swap(t1, t2, "__class__", "__dict__", *Tensor.__slots__[2:])


def swap(t1: Any, t2: Any, *names: str) -> None:
    """Swap attributes of two objects."""
    for name in names:
        first, second = getattr(t1, name), getattr(t2, name)
        setattr(t1, name, second)
        setattr(t2, name, first)


def refuse_users(name: str, tensor: Tensor) -> None:
    """Raise `RuntimeError` if a node or a view refers to the tensor."""
    layers = tuple(f"{_PACKAGE}.{layer}." for layer in BELOW)
    users = [one for one in gc.get_referrers(tensor) if type(one).__module__.startswith(layers)
             and not isinstance(one, AccumulateGrad)]
    if users or tensor.grad_fn is not None:
        raise RuntimeError(f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node "
                           f"but got {2 + len(users)} make sure you are not holding references to "
                           "the tensor in other places.")


def poison(tensor: Tensor) -> None:
    """Make the tensor's AccumulateGrad raise if it runs, and create a new one on the next use."""
    extras = tensor._extras
    node = extras.accumulator and extras.accumulator() if extras is not None else None
    if extras is not None and node is not None:
        node.register_prehook(_raise)
        extras.accumulator = None


def _raise(grads: Any) -> None:
    raise RuntimeError(POISONED)
