# Stage 06b, Functions and operations in place, checkpointing: the exercise for minigrad/autograd/function/outputs.py.
# Made by `minigrad dev build`. The lesson is lessons/06b_functions_in_place.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 06b
# docs/en/glossary.md explains the names used inside the package.

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
    # 06b.2 Outputs that aren't new (about 7 lines)
    # `alias` returns a different tensor on the same memory, without a place in the graph.
    # `join_to_node` makes a tensor output number `index` of the node (`_node`, `_index`,
    # `_requires_grad`) and returns it. A tensor with another place keeps that place, and
    # an alias becomes the output instead.
    #   forward made y               -> y itself
    #   y is a leaf, and no input    -> y itself
    #   forward returned its input   -> an alias; the input stays what it was
    #   y belongs to another node    -> an alias
    #   y belongs to this node       -> y itself, now number `index`
    # Mind:
    # - An alias is a view, made IN_CUSTOM_FUNCTION.
    # Use: `Tensor._plain(array)`, `mark_view(result, tensor, creation=...)`.
    raise NotImplementedError("06b.2 Outputs that aren't new is yours to write")


def join_written(node: FunctionNode, output: Tensor, index: int, differentiable: bool,
                 position: int | None, live: int) -> Tensor:
    """Count a write by `forward` to one of its inputs, and add it to the input's history."""
    # 06b.3 Inputs that forward wrote to (about 8 lines)
    # `forward` wrote to `output` and returned it. Count the write, make it part of the
    # tensor's history, and return the tensor.
    #   differentiable                            -> output, counted, rebased; `_grad` None: it belonged to the old value
    #   not differentiable, requires no grad      -> output, counted
    #   not differentiable, requires grad (a write under no_grad)
    #                                             -> counted; returns output.detach()
    # Mind:
    # - A rejected write has no effect. A write that isn't differentiable is never
    #   rejected.
    # Use: `refuse_write(output, live)`, which raises for a leaf; `output._bump()`;
    # `rebase_output(node, output, index, position)`.
    raise NotImplementedError("06b.3 Inputs that forward wrote to is yours to write")


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
    # 06b.2 Outputs that aren't new: see the task at `join_to_node`.
    raise NotImplementedError("06b.2 Outputs that aren't new is yours to write")


def describe_outputs(node: FunctionNode, results: Sequence[Any]) -> None:
    """Store the shapes and dtypes that incoming gradients must match."""
    arrays = [r._array if isinstance(r, Tensor) else None for r in results]
    described = [((), None) if a is None else (a.shape, a.dtype) for a in arrays]
    if described:
        (node.shape, node.dtype), node.others = described[0], described[1:]
    node._blanks = [((), None) if a is None else (a.shape, backend_of(a)) for a in arrays]
