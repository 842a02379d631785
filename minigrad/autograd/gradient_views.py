"""Which of the gradients that `grad` returns are views, as PyTorch's are.

The gradient of a sum is one number, expanded: a view that was made without recording.  PyTorch
hands it out as it is and refuses a recorded write to it.  An array that looks at other memory may
be such a view, or come of a kernel that gave its result another shape; which it is, the operation
says whose backward made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..graph import Node
from ..tensor import Tensor
from ..views import NO_GRAD, mark_view
from .engine_fast import following

#: Operations whose gradient is a view of what their node received.
VIEWS = {"AsStrided", "BlockDiag", "Cat", "DiagEmbed", "Einsum", "Permute", "ReshapeAlias", "Stack",
         "Sum", "SumAll", "T", "Transpose", "UnsafeView", "Unsqueeze", "View"}

#: Those for which it is one where it has another shape.
RESHAPED = {"SqueezeAll", "SqueezeDim", "SqueezeDims"}

#: Poolings: of one dimension PyTorch makes two, and takes the second away again.
POOLED = {"AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "MaxPool"}

#: Operations that pass their gradient on as it is, and to which of their inputs.
PASSED_ON = {
    **dict.fromkeys((
        "Addbmm", "Addcdiv", "Addcmul", "Addmm", "Addmv", "Addr", "Alias", "Baddbmm",
        "Clone", "Expand", "Fmod", "FmodNumber", "Frac", "IndexAdd", "Remainder",
        "RemainderNumber", "ScatterAdd", "Sub", *RESHAPED), (0,)),
    "Add": (0, 1), "Rsub": (1,), "RsubNumber": (1,)}

Sources = dict[Node, list[tuple[Node, int]]]


def mark_views(gradients: Sequence[Tensor | None], goals: Sequence[Any],
               roots: Sequence[Any]) -> None:
    """Mark those of `gradients`, which a pass from `roots` has brought to `goals`, as views."""
    sources: Sources | None = None
    for gradient, goal in zip(gradients, goals, strict=True):
        if gradient is None or gradient._array.base is None or gradient._view is not None or (
                gradient._node is not None):
            continue
        node = node_at(goal)
        if sources is None:
            sources = nodes_before(map(node_at, roots))
        if node is not None and is_view(node, sources):
            mark_view(gradient, Tensor._plain(gradient._array.base), creation=NO_GRAD)


def node_at(place: Tensor | tuple[Any, ...]) -> Node | None:
    """Return the node at which the gradient of a tensor, or of an edge, arrives."""
    node: Node | None = (place._edge() if isinstance(place, Tensor) else place)[0]
    return node


def nodes_before(starts: Iterable[Node | None]) -> Sources:
    """Return for each node of a graph those with an edge that leads to it, and which edge it is."""
    before: Sources = {}
    stack = [node for node in starts if node is not None]
    while stack:
        node = stack.pop()
        for position, after in enumerate(following(node)):
            if after in before:
                before[after].append((node, position))
            elif after is not None:
                before[after] = [(node, position)]
                stack.append(after)
    return before


def is_view(node: Node, sources: Sources) -> bool:
    """Tell whether the gradient that arrives at `node` is a view where it is made in PyTorch."""
    while len(found := sources.get(node, [])) == 1:
        source, position = found[0]
        name = source.op.__name__ if hasattr(source, "op") else ""
        if name in VIEWS or (name in POOLED and pooled_dims(source) == 1):
            return True
        if position not in PASSED_ON.get(name, ()) or source.num_inputs != 1:
            return False
        if source.metadata_of(0)[0] != node.metadata_of(0)[0]:
            return name in RESHAPED
        node = source
    return False


def pooled_dims(node: Any) -> int:
    """Return how many dimensions the node of a pooling has pooled."""
    sizes = getattr(node, "_saved_kernel_size", None) or node._saved_output_size
    return len(sizes)
