"""Applying an op: prepare the arguments, run forward, record a node, wrap the results.

`fast/` has quicker twins of these functions; see NOTE [The ring] in fast/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _state
from .._state import number
from ..backend import BACKENDS, Backend, numpy_backend
from ..device import NO_PLACE
from ..graph.version import INFERENCE
from ..tensor.tensor import Tensor
from ..tensor.views import mark_view
from .arguments import check_operand, plain_numbers, shapes_of, unwrap_list
from .error_nodes import node_without_formula
from .placement import backend_of_all, on_one_device
from .type_promotion import promote_arrays

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

NO_EDGE: tuple[Any, int] = (None, 0)


@dataclass(slots=True)
class Prepared:
    """The arguments of an op, ready for `forward`, in its order."""

    values: list[Any]  # as the user gave them
    arrays: list[Any]  # the same with arrays in place of tensors, promoted
    promoted: dict[str, Any]  # the new dtypes of inputs that were converted, by name
    on_tensors: bool  # whether one of the inputs is a tensor; then so are the results
    xp: Backend


def apply(op: type[Op], values: list[Any]) -> Any:
    """Run an op on arguments in the order of its `forward`.

    Given tensors it returns tensors and records a node where one is needed; given bare arrays it
    returns arrays.
    """
    if _state.observers.count:
        return intercepted(op, values, _state.interceptors())
    return run_op(op, values) if op.fast is None else op.fast(values)


def intercepted(op: type[Op], values: list[Any], stack: tuple[Any, ...] = ()) -> Any:
    """Hand an op to the first of the interceptors, or run it where there are none left.

    See NOTE [Interceptors] in _state.py.
    """
    if not stack:
        return run_op(op, values)
    return stack[0].op(op, values, partial(intercepted, stack=stack[1:]))


def run_op(op: type[Op], values: list[Any]) -> Any:
    """Run an op that nobody watches: prepare, forward, record, wrap."""
    call = prepare(op, values)
    xp, arrays = call.xp, call.arrays
    if xp.run_op is not None:
        return xp.run_op(op, call.values, arrays, call.on_tensors)
    place = None if xp.device_type == "cpu" else xp.place_of(arrays)
    try:
        with NO_PLACE if place is None else place.entered():
            result = forward(op, xp, arrays)
    except (ValueError, TypeError, LookupError, RuntimeError):
        refuse_stale_views(op, values)
        raise
    if call.promoted and op.float32_scalars:
        result = narrowed(op, call, result)
    if not call.on_tensors:
        return result
    node = record(op, call)
    if node is not None and place is not None:
        node._extras().place = place
    if type(result) is list:
        return wrap_several(op, node, call.values, result)
    return wrap(op, node, call.values, result)


# -------------------------------------------------------------------- prepare


def prepare(op: type[Op], values: list[Any]) -> Prepared:
    """Take the arrays out of tensors, promote them and find their backend."""
    if op.plain_positions:
        values = plain_numbers(op, values)
    arrays, on_tensors, all_tensors = values.copy(), False, True
    for i in op.tensor_positions:
        value = values[i]
        if isinstance(value, Tensor):
            arrays[i], on_tensors = value._array, True
        else:
            all_tensors = False
    if not all_tensors:
        values = check_operands(op, values, arrays, on_tensors)
    if op.list_position is not None:
        arrays[op.list_position], some = unwrap_list(values[op.list_position])
        on_tensors = on_tensors or some
    promoted = promote_arrays(op, arrays) if op.promote else {}
    return Prepared(values, arrays, promoted, on_tensors, backend_of_all(op, arrays))


def check_operands(op: type[Op], values: list[Any], arrays: list[Any],
                   on_tensors: bool) -> list[Any]:
    """Check operands that are no tensors: arrays, numbers, None; return the values.

    Beside tensors a NumPy scalar becomes a Python number.
    """
    values = values.copy()
    for i in op.tensor_positions:
        value = values[i]
        if not isinstance(value, Tensor):
            if on_tensors and isinstance(value, np.generic):
                value = values[i] = arrays[i] = value.item()
            check_operand(op, i, value)
    return values


# -------------------------------------------------------------------- forward


def forward(op: type[Op], xp: Backend, arrays: list[Any]) -> Any:
    """Run an op's forward on arrays; returns an array, or a list of several."""
    try:
        if op.keyword_only:
            result = call_with(op, op.forward, xp, arrays)
        else:
            result = op.forward(xp, *arrays)
    except (NotImplementedError, ValueError, TypeError, IndexError, OverflowError) as error:
        explain(op, arrays, error)
        raise
    return result if type(result) in BACKENDS else as_arrays(xp, result)


def call_with(op: type[Op], function: Callable[..., Any], xp: Backend, arrays: list[Any]) -> Any:
    """Call one of an op's functions with forward's arguments, given in order."""
    split = op.positional
    return function(xp, *arrays[:split],
                    **dict(zip(op.parameters[split:], arrays[split:], strict=True)))


def explain(op: type[Op], arrays: list[Any], error: Exception) -> None:
    """Raise PyTorch's error if the shapes are wrong, else NumPy's with the op's name before it.

    PyTorch checks shapes before it chooses a kernel, so that comes before NotImplementedError too.
    """
    op.shape(*shapes_of(op, arrays))
    if not isinstance(error, (NotImplementedError, IndexError)):
        kind = TypeError if isinstance(error, TypeError) else RuntimeError
        raise kind(f"{op.name}(): {error}") from error


def as_arrays(xp: Backend, result: Any) -> Any:
    """Return several outputs as a list of arrays, and a NumPy scalar as a 0-d array."""
    if isinstance(result, (tuple, list)):
        return [xp.as_array(item) for item in result]
    return xp.as_array(result)


def narrowed(op: type[Op], call: Prepared, result: Array) -> Array:
    """Return the result in float16 where only a number beside float16 was read in float32."""
    if result.dtype == np.float32 and any(
            call.arrays[i].dtype == np.float16 for i in op.promoted_positions):
        return result.astype(np.float16)
    return result


def refuse_stale_views(op: type[Op], values: list[Any]) -> None:
    """Raise if an input is a view that may not be used any more: PyTorch checks that first."""
    if op.formulas and _state.grad_enabled.get() and not _state.inference_enabled.get():
        for i in op.tensor_positions:
            if isinstance(values[i], Tensor):
                values[i]._edge()


# -------------------------------------------------------------------- record


def record(op: type[Op], call: Prepared) -> Any:
    """Return the op's node with its edges and saved inputs; None if no input requires grad."""
    if not _state.grad_enabled.get() or _state.inference_enabled.get():
        return None
    if not op.formulas:
        return record_without_formula(op, call.values)
    values = call.values
    if call.xp is not numpy_backend:
        values = on_one_device(op, values, call.arrays)
    edges: list[Any] = []
    live = inference = False
    for i in op.differentiable_positions:
        for tensor in values[i] if i == op.list_position else (values[i],):
            edge = NO_EDGE
            if isinstance(tensor, Tensor):
                if tensor._requires_grad or (tensor._view is not None and tensor.requires_grad):
                    edge, live = tensor._edge(), True
                inference = inference or tensor._counter is INFERENCE
            edges.append(edge)
    if not live or (inference and only_inference(op, values)):
        return None
    node = op.node_type()
    node.extras = None
    number(node)
    node.set_edges(edges)
    node.save(values, call.arrays, call.promoted)  # type: ignore[attr-defined]  # an OpNode
    return node


def record_without_formula(op: type[Op], values: list[Any]) -> Any:
    """Return the node of an op whose derivative is missing: backward through it raises."""
    live = op.not_implemented_derivative and any(
        isinstance(values[i], Tensor) and values[i].requires_grad for i in op.tensor_positions)
    return node_without_formula(op, values) if live else None


def only_inference(op: type[Op], values: list[Any]) -> bool:
    """Tell whether all inputs are inference tensors, which leave no graph."""
    inputs = [values[i] for i in op.tensor_positions if values[i] is not None]
    inputs += () if op.list_position is None else values[op.list_position]
    return all(isinstance(x, Tensor) and x._counter is INFERENCE for x in inputs)


# -------------------------------------------------------------------- wrap


def wrap(op: type[Op], node: Any, values: list[Any], array: Array) -> Tensor:
    """Make the tensor of the one output and join it to the node."""
    result = Tensor._plain_as(Tensor, array)
    if op.view:
        array = join_to_base(result, values[0])
    if node is not None and array.dtype.kind == "f":
        node.shape, node.dtype = array.shape, array.dtype
        result._node, result._requires_grad = node, True
        if "result" in node.saves:
            node.save_output("result", result)
    return result


def join_to_base(result: Tensor, base: Tensor) -> Array:
    """Mark the result of a view op as a view; where the library made a copy, it has no base."""
    if shares_memory(result._array, base._array):
        mark_view(result, base)
    else:
        result._array = result._array.copy()
    return result._array


def shares_memory(array: Array, base: Array) -> bool:
    """Tell whether an array that a view op gave is indeed a view (empty ones need not be)."""
    return array is base or array.base is not None or array.size == 0


def wrap_several(op: type[Op], node: Any, values: list[Any], arrays: Sequence[Array]) -> Any:
    """Make the tensors of several outputs and join them to the node."""
    results = []
    with_gradient = len(arrays) - op.constants  # indices come last
    if node is not None:
        node.num_inputs = sum(a.dtype.kind == "f" for a in arrays[:with_gradient])
        if arrays:
            node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
            node.others = [(a.shape, a.dtype) for a in arrays[1:]]
    for index, array in enumerate(arrays):
        result = Tensor._plain_as(Tensor, array)
        if op.view:
            mark_view(result, values[0], multiple=True)
        if node is not None and array.dtype.kind == "f" and index < with_gradient:
            result._node, result._index, result._requires_grad = node, index, True
        results.append(result)
    if not op.outputs:
        return tuple(results)
    if node is not None:
        for name, result in zip(op.outputs, results, strict=True):
            if name in node.saves:
                node.save_output(name, result)
    return op.result_type(*results)
