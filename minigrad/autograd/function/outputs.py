"""The outputs of a Function: check them and add them to the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...backend import backend_of
from ...frames import warn_user
from ...op.error_nodes import poison_history
from ...tensor.creation_meta import IN_CUSTOM_FUNCTION, MULTI_OUTPUT
from ...tensor.tensor import Tensor
from ...tensor.views import mark_view, rebase_history
from .saved import check_savable, keep

if TYPE_CHECKING:
    from .function import FunctionNode


def join_outputs(node: FunctionNode, inputs: list[Tensor], outputs: Sequence[Any],
                 recorded: bool) -> list[Any]:
    """Add each output to the graph, then save the tensors of `save_for_backward`.

    If this fails, differentiating a tensor that `forward` wrote to raises; see NOTE [Interrupted
    writes].
    """
    try:
        return joined_outputs(node, inputs, outputs, recorded)
    except BaseException as error:
        for tensor in node.dirty_tensors:
            poison_history(tensor, recorded, inputs, f"{node.function.__name__}.forward", error)
        raise


def joined_outputs(node: FunctionNode, inputs: list[Tensor], outputs: Sequence[Any],
                   recorded: bool) -> list[Any]:
    """Do the work of `join_outputs`, without handling failures."""
    node.put_aside()
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
    if dirty and recorded and any(
            differentiable and id(o) in dirty and id(o) not in positions
            for o, differentiable in zip(outputs, node._differentiable, strict=True)):
        warn_user("ctx.mark_dirty() received a tensor that was not an input. Only input "
                  "Tensors that have been mutated should be passed to ctx.mark_dirty().")
    node.num_inputs = len(outputs)
    results: list[Any] = []
    for index, (output, differentiable) in enumerate(
            zip(outputs, node._differentiable, strict=True)):
        result = output
        if isinstance(output, Tensor):
            joined = join_written if id(output) in dirty else join_output
            result = joined(node, output, index, recorded and differentiable,
                            positions.get(id(output)), live)
        results.append(result)
    describe_outputs(node, results)
    if recorded and node.to_save:
        joined_as = {id(o): r for o, r in zip(outputs, results, strict=True)
                     if id(o) not in positions}
        check_savable(node.to_save)
        node._saved = keep(node, joined_as)
    node.to_save = node.dirty_tensors = node.non_differentiable = ()
    return results


def join_output(node: FunctionNode, output: Tensor, index: int, differentiable: bool,
                position: int | None, live: int) -> Tensor:
    """Add an output to the graph, or return it without a gradient."""
    if not differentiable:
        made_here = position is None and (not output.requires_grad or output._view is not None)
        return output if made_here else constant(output)
    output = join_to_node(node, output, index, position is not None)
    if output._view is not None:
        output._view.creation = MULTI_OUTPUT if live > 1 else IN_CUSTOM_FUNCTION
        output._view.version = output._version
    return output


def join_to_node(node: FunctionNode, output: Tensor, index: int, is_input: bool) -> Tensor:
    """Make `output` output number `index` of `node`, or an alias of it if it has a node already.

    `is_input` is True if `output` is one of the tensors that `forward` took.
    """
    if is_input or (output._node is not None and output._node is not node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output


def join_written(node: FunctionNode, output: Tensor, index: int, differentiable: bool,
                 position: int | None, live: int) -> Tensor:
    """Count a write by `forward` to one of its inputs, and add it to the input's history."""
    if not differentiable:
        output._bump()
        return output.detach() if output.requires_grad else output
    refuse_write(output, live)
    output._bump()
    output._grad = None
    rebase_output(node, output, index, position)
    return output


def rebase_output(node: FunctionNode, output: Tensor, index: int, position: int | None) -> None:
    """Make `node` the history of a tensor that `forward` wrote to.

    `position` is its number among the input tensors, or `None` if it was not an input.
    """
    if position is None:
        output._node, output._index, output._requires_grad = node, index, True
    else:
        rebase_history(output, node, index, position)


def refuse_write(output: Tensor, live: int) -> None:
    """Raise for forbidden writes: to a leaf, or to a view if there are other outputs."""
    if output.requires_grad and output.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place "
                           "operation.")
    if output._view is not None:
        if output.requires_grad and output._view.base.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an "
                               "in-place operation.")
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


def constant(output: Tensor) -> Tensor:
    """Return a tensor without a gradient in place of an input or of a recorded tensor."""
    if output.requires_grad:
        return output.detach()
    return alias(output)


def alias(tensor: Tensor) -> Tensor:
    """Return a view of a whole tensor, created outside the graph."""
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result


def describe_outputs(node: FunctionNode, results: Sequence[Any]) -> None:
    """Store the shapes and dtypes that incoming gradients must match."""
    arrays = [r._array if isinstance(r, Tensor) else None for r in results]
    described = [((), None) if a is None else (a.shape, a.dtype) for a in arrays]
    if described:
        (node.shape, node.dtype), node.others = described[0], described[1:]
    node._blanks = [((), None) if a is None else (a.shape, backend_of(a)) for a in arrays]
