# Stage 06b, Functions and operations in place, checkpointing: the solution for minigrad/op/inplace.py.
# Made by `minigrad dev build`. The lesson is lessons/06b_functions_in_place.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Running the in-place variant of an op, for every op.

`apply_inplace` checks that the tensor may be written to, writes, counts the write and gives the
tensor its new history.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _state, dtypes, on_demand
from ..backend import BACKENDS, Backend, numpy_backend
from ..backend.float_errors import ignoring_float_errors
from ..backend.memory_layout import is_dense
from ..device import NO_PLACE, place_on
from ..graph.special_versions import INFERENCE
from ..tensor.attributes import data_pointer, same_memory
from ..tensor.tensor import Tensor
from ..tensor.views import check_inplace, partly_overlaps, rebase_history, replace_node
from .apply import Prepared, forward, prepare, record
from .arguments import argument_error, shapes_of
from .error_nodes import node_without_formula, poison_history
from .out import INPUT_OVERLAP
from .placement import on_one_device

if TYPE_CHECKING:
    from .declaration import Op

captured = on_demand.later("op.captured")

Array = Any

#: Errors that ops and NumPy raise before the first write; see NOTE [Interrupted writes].
BEFORE_WRITING = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)


def apply_inplace(op: type[Op], values: list[Any], before: Tensor | None = None) -> Tensor:
    """Run an op, write its result to its first input, and make the op's node that input's history.

    `before` is a clone of that input, made earlier, which the node saves.
    """
    if _state.observers.count:
        return intercepted(op, values, before, _state.interceptors())
    return run_inplace(op, values, before)


def intercepted(op: type[Op], values: list[Any], before: Tensor | None = None,
                stack: tuple[Any, ...] = ()) -> Tensor:
    """Pass an in-place write to the first interceptor, or run it if no interceptor is left."""
    if not stack:
        return run_inplace(op, values, before)
    written: Tensor = stack[0].inplace(op, values, before, partial(intercepted, stack=stack[1:]))
    return written


@ignoring_float_errors
def run_inplace(op: type[Op], values: list[Any], before: Tensor | None) -> Tensor:
    """Check the target, write, count the write and give the target its new history."""
    target = values[0]
    if not isinstance(target, Tensor):
        raise TypeError(argument_error(op, op.parameters[0], "Tensor", target))
    live = (_state.grad_enabled.get() and not _state.inference_enabled.get()
            and not op.no_history
            and any(isinstance(v, Tensor) and v.requires_grad for v in values))
    if target._counter is INFERENCE and not _state.inference_enabled.get():
        refuse_inference(op, values)
    check_inplace(target, live, op.allow_self_overlap or op.view or stays_as_it_is(op, values))
    recorded = live and target._array.dtype.kind == "f"
    if recorded and (functions := _state.transformed.get()):
        captured.refuse_captured(op.name, target, functions)
    call = prepare(op, values)
    values, arrays, xp = call.values, call.arrays, call.xp
    if xp.run_op is not None:
        return xp.run_op(op, call, inplace=True)
    check_apart(op, target._array, values)
    node = record_write(op, call, before) if recorded else None
    place = xp.place_of(arrays)
    begun = written = False
    try:
        with NO_PLACE if place is None else place.entered():
            begun = True
            if not write_directly(op, target, xp, arrays):
                begun = False
                result = run_to_write(op, target, call)
                begun = True
                write_back(op, target, result)
        written = True
        if place is not None and node is not None:
            node._extras().place = place
        finish_write(op, target, node)
    except BaseException as error:
        if written or (begun and not isinstance(error, BEFORE_WRITING)):
            poison_history(target, recorded, values, f"{op.name}_()", error)
        raise
    return target


def record_write(op: type[Op], call: Prepared, before: Tensor | None) -> Any:
    """Return the node of the coming write, or `None` if no input requires grad."""
    target, arrays = call.values[0], call.arrays
    call.values = values_to_save(op, call.values, before)
    if call.xp is not numpy_backend:
        call.values = on_one_device(op, call.values, arrays)
    node = record(op, call)
    if not op.formulas:
        node = node_without_formula(op, call.values)
    if node is not None:  # it may have been recorded with a clone: its gradient is the target's
        node.set_edges([target._edge(), *node.edges[1:]])
    return node


def values_to_save(op: type[Op], values: list[Any], before: Tensor | None) -> list[Any]:
    """Return the arguments for the node to save; the write is about to overwrite the first one.

    `before` is a clone of the first one, if the caller has already made it.
    """
    if "self" not in op.node_type.saves:
        return values
    return [values[0].clone() if before is None else before, *values[1:]]


def finish_write(op: type[Op], target: Tensor, node: Any) -> None:
    """Count a write and, if a node records it, give the target its new history."""
    target._bump()
    if node is not None:
        give_history(op, target, node)
        if "result" in node.saves:
            node.save_output("result", target)


def give_history(op: type[Op], target: Tensor, node: Any) -> None:
    """Make a node the history of the target or, if the target is a view, of its base."""
    node.shape, node.dtype = target._array.shape, target._array.dtype
    if op.view:  # transpose_ and its kind only change the geometry
        replace_node(target, node)
    else:
        rebase_history(target, node)


def refuse_inference(op: type[Op], values: list[Any]) -> None:
    """Raise if the target is an inference tensor and inference mode is off.

    Run the write on a copy first, because PyTorch reports errors in the arguments first.
    """
    check_apart(op, values[0]._array, values)
    with place_on(values[0]._array):
        copied = Tensor._plain(values[0]._array.copy())
        call = prepare(op, [copied, *values[1:]])
        xp, arrays = call.xp, call.arrays
        if xp.run_op is None and not write_directly(op, copied, xp, arrays):
            run_to_write(op, copied, call)
    INFERENCE.bump()


def run_to_write(op: type[Op], target: Tensor, call: Prepared) -> Array:
    """Return the checked result that an in-place variant has to store."""
    try:
        result = forward(op, call)
    except NotImplementedError:
        if "elementwise" in op.kinds:
            check_shape(target, op.shape(*shapes_of(op, call.arrays)))
        raise
    check_result(op, target, result)
    if op.inplace_shape is not None:
        op.inplace_shape(*shapes_of(op, call.arrays))
    return result


def check_apart(op: type[Op], written: Array, values: list[Any]) -> None:
    """Raise if an op would read memory that it has already written to."""
    if not ("elementwise" in op.kinds or op.promote or op.forward_inplace or op.no_overlap):
        return
    read = [values[i] for i in op.tensor_positions[1:]]
    if op.list_position is not None:
        read += values[op.list_position]
    others = [t for t in read if isinstance(t, Tensor)]
    if "value" in op.tensors:
        others = [t for t in others if t._array.ndim]  # one value is read before any write
    for other in others:
        if partly_overlaps(written, other._array) or (
                op.no_overlap and (other is values[0] or wholly_overlaps(written, other._array))):
            if op.no_overlap == "after shapes":
                op.shape(*(tuple(v._array.shape) if isinstance(v, Tensor) else v for v in values))
            raise RuntimeError(INPUT_OVERLAP)


def stays_as_it_is(op: type[Op], values: list[Any]) -> bool:
    """Return whether the op copies a tensor onto itself, which is always allowed."""
    if not op.copies:
        return False
    written, read = values[0]._array, values[1]._array
    array_type = type(written)
    if array_type is not type(read) or array_type not in BACKENDS:
        return False
    return BACKENDS[array_type].run_op is None and wholly_the_same(written, read)


def wholly_the_same(written: Array, read: Array) -> bool:
    """Return whether two arrays have the same memory, shape and strides."""
    return written is read or (
        same_memory(written, read) and data_pointer(written) == data_pointer(read)
        and written.shape == read.shape and written.strides == read.strides)


def wholly_overlaps(written: Array, read: Array) -> bool:
    """Return whether two arrays cover the same memory, element by element."""
    return bool(written.size) and wholly_the_same(written, read) and is_dense(written)


def write_directly(op: type[Op], target: Tensor, xp: Backend, arrays: list[Any]) -> bool:
    """Let the op write its result directly; return `False`, without a write, if it cannot.

    It cannot if the result has another dtype or shape, or if a write would destroy values that the
    op still has to read.
    """
    array = target._array
    if op.run_inplace is None or arrays[0] is not array:
        return False
    read = [arrays[i] for i in op.tensor_positions[1:]]
    if op.list_position is not None:
        read += arrays[op.list_position]
    if any(type(a) in BACKENDS and xp.may_share_memory(array, a) for a in read):
        return False
    try:
        op.run_inplace(xp, *arrays)
    except (ValueError, TypeError, IndexError, OverflowError):
        return False  # forward will raise the error
    return True


def check_result(op: type[Op], target: Tensor, result: Array) -> None:
    """Raise unless the target can store an in-place result of this dtype and shape."""
    array = target._array
    from_, to = dtypes.from_numpy_dtype(result.dtype), dtypes.from_numpy_dtype(array.dtype)
    if not dtypes.can_cast(from_, to):
        raise RuntimeError(f"result type {dtypes.type_name(from_)} can't be cast to the desired "
                           f"output type {dtypes.type_name(to)}")
    if not op.view:
        check_shape(target, result.shape)


def check_shape(target: Tensor, shape: Sequence[int]) -> None:
    """Raise unless an in-place result has the shape of the target."""
    if tuple(shape) != target._array.shape:
        raise RuntimeError(f"output with shape {list(target._array.shape)} doesn't match the "
                           f"broadcast shape {list(shape)}")


def write_back(op: type[Op], target: Tensor, result: Array) -> None:
    """Store a checked in-place result in the target."""
    if op.view:
        target._array = result
    else:
        target._array[...] = result
