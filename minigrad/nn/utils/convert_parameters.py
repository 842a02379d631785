"""Conversion of parameters to a single vector and back.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

from collections.abc import Iterable

from ...op.declaration import F
from ...tensor.tensor import Tensor
from ..member_tables import type_name


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all parameters into one vector.

    >>> from minigrad import ones
    >>> parameters_to_vector([ones(2), ones(1, 2)])
    tensor([1., 1., 1., 1.])
    """
    vector: Tensor = F.cat([p.reshape(-1) for p in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Turn the parameters into views of consecutive slices of a vector.

    >>> from minigrad import nn, tensor
    >>> layer = nn.Linear(2, 1)
    >>> nn.utils.vector_to_parameters(tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight
    Parameter containing:
    tensor([[1., 2.]], requires_grad=True)
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type_name(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start:start + count].view_as(parameter).data
        start += count
