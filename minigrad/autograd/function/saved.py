"""The tensors that a Function saves, packed once its outputs are in the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...frames import type_in_error
from ...graph.saved_tensor import SavedTensor
from ...tensor.tensor import Tensor

if TYPE_CHECKING:
    from .function import FunctionNode


def check_savable(items: Iterable[Any]) -> None:
    """Raise unless all items are tensors or `None`; `save_for_backward` saves only these."""
    for position, item in enumerate(items):
        if not (item is None or isinstance(item, Tensor)):
            raise TypeError("save_for_backward can only save variables, but argument "
                            f"{position} is of type {type_in_error(item)}")


def keep(node: FunctionNode, joined_as: dict[int, Tensor]) -> list[SavedTensor | None]:
    """Pack what `save_for_backward` noted in `node.to_save`; `check_savable` has run already.

    `joined_as` maps the `id` of an output of `forward` to the tensor that is in the graph.
    """
    kept: list[SavedTensor | None] = []
    for tensor in node.to_save:
        if tensor is None:
            kept.append(None)
        else:
            tensor = joined_as.get(id(tensor), tensor)
            kept.append(SavedTensor(tensor, is_output=tensor._node is node))
    return kept


def unpacked(node: FunctionNode) -> tuple[Any, ...]:
    """Return the tensors that were packed; `SavedTensor.unpack` checks for later writes."""
    return tuple(None if saved is None else saved.unpack(node) for saved in node._saved)
