"""Conversion of tensors between minigrad and PyTorch within a process.

`load_state_dict` accepts PyTorch's tensors directly; these two functions convert nested containers
of tensors, such as the states of optimizers. Between processes, use files with `save` and `load`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..backend import backend_of
from ..tensor.tensor import Tensor

__all__ = ["from_torch", "to_torch"]


def from_torch(value: Any) -> Any:
    """Convert PyTorch tensors in nested dicts, lists and tuples to minigrad's, copying the values.

    Other values stay unchanged. Raises `TypeError` for a dtype that NumPy lacks, such as bfloat16.

    >>> from_torch({"step": 3})
    {'step': 3}
    """
    return nested(value, is_torch_tensor, array_of_torch)


def to_torch(value: Any) -> Any:
    """Convert minigrad tensors in nested dicts, lists and tuples to PyTorch's, copying the values.

    Other values stay unchanged. It needs the package torch, and raises `RuntimeError` after
    `as_torch`, because minigrad then replaces PyTorch.

    >>> to_torch({"step": 3})
    {'step': 3}
    """
    return nested(value, lambda item: isinstance(item, Tensor), torch_of)


def nested(value: Any, wanted: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """Apply `change` to every matching item of a nested container."""
    if wanted(value):
        return change(value)
    if isinstance(value, Mapping):
        items = ((key, nested(item, wanted, change)) for key, item in value.items())
        if not isinstance(value, OrderedDict):
            return dict(items)
        made = OrderedDict(items)
        vars(made).update(vars(value))  # the versions of the modules of a state
        return made
    if type(value) in (list, tuple):
        return type(value)(nested(item, wanted, change) for item in value)
    return value


def is_torch_tensor(value: Any) -> bool:
    """Return whether a value is a PyTorch tensor, without importing PyTorch."""
    return any(base.__module__ == "torch" and base.__name__ == "Tensor"
               for base in type(value).__mro__)


def array_of_torch(tensor: Any) -> Tensor:
    """Return a PyTorch tensor's values as a minigrad tensor."""
    made = Tensor._plain(np.array(tensor.detach().cpu().numpy()))
    return made.requires_grad_(tensor.requires_grad) if tensor.requires_grad else made


def torch_of(tensor: Tensor) -> Any:
    """Return a minigrad tensor's values as a PyTorch tensor."""
    import torch

    if torch.Tensor is Tensor:
        raise RuntimeError("to_torch: minigrad replaces torch in this process (as_torch was "
                           "called), so PyTorch cannot be imported")
    array = tensor._array
    made = torch.from_numpy(np.array(backend_of(array).to_host(array)))
    return made.requires_grad_(tensor.requires_grad)
