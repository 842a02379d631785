# Stage 01, Function: the exercise for minigrad/autograd/function/saved.py.
# Made by `minigrad dev build`. The lesson is lessons/01_function.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 01
# docs/en/glossary.md explains the names used inside the package.

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
    # 01.8 Saving without a reference cycle (about 9 lines)
    # After `forward`, `keep` packs each item of `node.to_save`, and None stays None. In
    # the backward pass, `unpacked` returns the tensors as a tuple.
    #   x an input, to_save (x, None)    -> [SavedTensor(x, is_output=False), None]
    #   y an output, to_save (y,)        -> [SavedTensor(joined_as[id(y)], is_output=True)]
    #   then unpacked(node)              -> the tensors and Nones, in order
    # Mind:
    # - `is_output` is True exactly if the tensor's `_node` is this node. That includes an
    #   input that `forward` wrote to.
    # - Save an input itself, neither copied nor detached.
    # Use: `saved.unpack(node)`, for each item of `node._saved`.
    raise NotImplementedError("01.8 Saving without a reference cycle is yours to write")


def unpacked(node: FunctionNode) -> tuple[Any, ...]:
    """Return the tensors that were packed; `SavedTensor.unpack` checks for later writes."""
    # 01.8 Saving without a reference cycle: see the task at `keep`.
    raise NotImplementedError("01.8 Saving without a reference cycle is yours to write")
