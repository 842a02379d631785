"""Pruning: set entries of a parameter to zero with a mask, and keep training the others.

A forward pre-hook computes a pruned parameter `weight` as `weight_orig` (a parameter) times
`weight_mask` (a buffer). The functions below prune; their classes in `pruning_methods` choose the
entries.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ...op.declaration import F
from ...tensor.tensor import Tensor
from ..module import Module
from .convert_parameters import parameters_to_vector
from .pruning_methods import (
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    hook_of,
)

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]

M = TypeVar("M", bound=Module)


def identity(module: M, name: str) -> M:
    """Give a parameter a mask of ones, without pruning any entry; return the module.

    >>> from minigrad import nn
    >>> sorted(identity(nn.Linear(2, 1), "bias").state_dict())
    ['bias_mask', 'bias_orig', 'weight']
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: M, name: str, amount: Any) -> M:
    """Set random entries of a parameter to zero, `amount` being a number or a fraction.

    >>> from minigrad import nn
    >>> (random_unstructured(nn.Linear(4, 2), "weight", amount=3).weight == 0).sum()
    tensor(3)
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: M, name: str, amount: Any,
                    importance_scores: Tensor | None = None) -> M:
    """Set the entries of a parameter with the smallest magnitude to zero; return the module.

    `amount` is a number or a fraction. If you pass `importance_scores`, their magnitude decides.

    >>> from minigrad import nn, tensor
    >>> scores = tensor([[1.0, 5.0, 3.0]])
    >>> l1_unstructured(nn.Linear(3, 1), "weight", 2, importance_scores=scores).weight_mask
    tensor([[0., 1., 0.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: M, name: str, amount: Any, dim: int) -> M:
    """Set random channels of a parameter along `dim` to zero; return the module.

    >>> from minigrad import nn
    >>> random_structured(nn.Linear(2, 4), "weight", 0.25, dim=0).weight_mask.sum()
    tensor(6.)
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: M, name: str, amount: Any, n: Any, dim: int,
                  importance_scores: Tensor | None = None) -> M:
    """Set the channels of a parameter along `dim` with the smallest n-norm to zero.

    `amount` is a number or a fraction. If you pass `importance_scores`, their norms decide. Returns
    the module. Raises `ValueError` if the parameter has only one dimension.

    >>> from minigrad import nn, tensor
    >>> layer = nn.Linear(2, 2)
    >>> layer.weight.data = tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ln_structured(layer, "weight", amount=1, n=2, dim=0).weight_mask
    tensor([[0., 0.],
            [1., 1.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Any, pruning_method: Any,
                        importance_scores: dict[Any, Tensor] | None = None,
                        **kwargs: Any) -> None:
    """Prune the (module, name) pairs of `parameters` as if they were one long parameter.

    `pruning_method` is the class of an unstructured method, and `kwargs` are its arguments.
    `importance_scores` maps (module, name) pairs to scores. Raises `TypeError` for other arguments.

    >>> from minigrad import nn, tensor
    >>> one, two = nn.Linear(2, 1), nn.Linear(2, 1)
    >>> one.weight.data, two.weight.data = tensor([[1.0, 4.0]]), tensor([[2.0, 3.0]])
    >>> global_unstructured([(one, "weight"), (two, "weight")], L1Unstructured, amount=2)
    >>> one.weight_mask, two.weight_mask
    (tensor([[0., 1.]]), tensor([[0., 1.]]))
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    flat = parameters_to_vector(
        [scores.get((module, name), getattr(module, name)) for module, name in pairs])
    before = parameters_to_vector(
        [getattr(module, name + "_mask", F.ones_like(getattr(module, name)))
         for module, name in pairs])
    container = PruningContainer()
    method = pruning_method(**kwargs)
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
                        f"Found method {pruning_method} of type {method.PRUNING_TYPE}")
    container.add_pruning_method(method)
    mask = container.compute_mask(flat, before)
    start = 0
    for module, name in pairs:
        parameter = getattr(module, name)
        end = start + parameter.numel()
        custom_from_mask(module, name, mask[start:end].view_as(parameter))
        start = end


def custom_from_mask(module: M, name: str, mask: Tensor) -> M:
    """Set a parameter to zero where `mask` is zero; return the module.

    >>> from minigrad import nn, tensor
    >>> custom_from_mask(nn.Linear(5, 3), "bias", tensor([0, 1, 0])).bias_mask
    tensor([0., 1., 0.])
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: M, name: str) -> M:
    """Turn a pruned parameter back into a plain one that keeps its zeros; return the module.

    Raises `ValueError` if it is not pruned.

    >>> from minigrad import nn
    >>> sorted(remove(identity(nn.Linear(2, 1), "weight"), "weight").state_dict())
    ['bias', 'weight']
    """
    key = hook_of(module, name)
    if key is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning "
                         "can be removed")
    hook: Any = module._forward_pre_hooks.pop(key)
    hook.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Return whether the module or one of its submodules has a pruned parameter.

    >>> from minigrad import nn
    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> is_pruned(net), is_pruned(nn.Sequential(identity(net[0], "weight")))
    (False, True)
    """
    return any(isinstance(hook, BasePruningMethod)
               for part in module.modules() for hook in part._forward_pre_hooks.values())
