"""What `forward` of a Function returned, given its place in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..backend import backend_of
from ..saved import SavedTensor
from ..tensor import Tensor
from ..views import IN_CUSTOM_FUNCTION, MULTI_OUTPUT, mark_view, rebase_history

if TYPE_CHECKING:
    from .function import FunctionNode


def join_outputs(node: FunctionNode, inputs: list[Tensor], outputs: Sequence[Any],
                 recorded: bool) -> list[Any]:
    """Give each output its place in the graph, then save what `forward` asked to keep."""
    dirty = {id(t) for t in node.dirty_tensors}
    if not dirty <= {id(o) for o in outputs}:
        raise RuntimeError("Some elements marked as dirty during the forward method were not "
                           "returned as output. The inputs that are modified inplace must all be "
                           "outputs of the Function.")
    fixed = {id(t) for t in node.non_differentiable}
    node._differentiable = tuple(isinstance(o, Tensor) and o.is_floating_point()
                                 and id(o) not in fixed for o in outputs)
    live = sum(node._differentiable)
    positions = {id(t): i for i, t in enumerate(inputs)}
    node.num_inputs = len(outputs)
    results: list[Any] = []
    seen: dict[int, Any] = {}
    for index, (output, sloped) in enumerate(zip(outputs, node._differentiable, strict=True)):
        if not isinstance(output, Tensor):
            results.append(output)
            continue
        result = join_output(node, output, index, recorded and sloped, id(output) in dirty,
                             positions.get(id(output)), live)
        seen[id(output)] = result
        results.append(result)
    describe_outputs(node, results)
    if recorded:
        kept: list[SavedTensor | None] = []
        for t in node.to_save:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError("save_for_backward can only save variables, but argument "
                                f"{len(kept)} is of type {type(t).__name__}")
            if t is not None and id(t) in seen and id(t) not in positions:
                t = seen[id(t)]
            kept.append(None if t is None else SavedTensor(t, is_output=t._node is node))
        node._saved = kept
    node.to_save = node.dirty_tensors = node.non_differentiable = ()
    return results


def join_output(node: FunctionNode, output: Tensor, index: int, differentiable: bool, dirty: bool,
                position: int | None, live: int) -> Tensor:
    """Give one output its place in the graph; one that was returned as it came gets an alias."""
    if dirty:
        output._bump()
    elif not differentiable and output.requires_grad:
        return output.detach()
    if not differentiable:
        return alias(output) if position is not None and not dirty else output
    if dirty:
        if output.requires_grad and output.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place "
                               "operation.")
        if output._view is not None:
            if live > 1:
                raise RuntimeError(
                    "If your Function modifies inplace an input that is a view of another Tensor, "
                    "your Function cannot return more than one Tensor. This is not supported by "
                    "the current autograd engine. You should either make sure the input is not a "
                    "view (using .clone() for example) or make your Function only return one "
                    "Tensor (potentially splitting it into two Functions: one doing the inplace "
                    "that returns a single Tensor and a second one that does the other operations)."
                    " You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
                    "this change.")
            output._view.refuse(output)
            node.shape, node.dtype = output._array.shape, output._array.dtype
        if position is not None:
            rebase_history(output, node, index, position)
            return output
    elif position is not None or (output._node is not None and output._node is not node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    if output._view is not None and not dirty:
        output._view.creation = MULTI_OUTPUT if live > 1 else IN_CUSTOM_FUNCTION
        output._view.version = output._version
    return output


def alias(tensor: Tensor) -> Tensor:
    """Return a view of the whole tensor, made outside the graph."""
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result


def describe_outputs(node: FunctionNode, results: Sequence[Any]) -> None:
    """Note shapes and dtypes, which incoming gradients are checked against."""
    arrays = [r._array if isinstance(r, Tensor) else None for r in results]
    described = [((), None) if a is None else (a.shape, a.dtype) for a in arrays]
    if described:
        (node.shape, node.dtype), node.others = described[0], described[1:]
    node._blanks = [((), None) if a is None else (a.shape, backend_of(a)) for a in arrays]
