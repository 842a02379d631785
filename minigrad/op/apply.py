"""Applying an op: prepare the arguments, run forward, record a node, wrap the results.

If `codegen/` has generated a function with these four steps for an op, `op.written_out` holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _state
from ..backend import BACKENDS, Backend, numpy_backend
from ..backend.float_errors import ignoring_float_errors
from ..device import NO_PLACE
from ..graph.node import assign_sequence_nr
from ..graph.special_versions import INFERENCE
from ..shapes import explain_dimensions
from ..tensor.tensor import Tensor
from ..tensor.views import mark_view
from .arguments import check_operand, plain_numbers, shapes_of, unwrap_list
from .error_nodes import node_without_formula
from .placement import backend_of_mixed, on_one_device
from .type_promotion import promote_arrays

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

NO_EDGE: tuple[Any, int] = (None, 0)

#: The sets of dtypes that need no promotion: all inputs have the same floating dtype.
FLOATS = [{np.dtype(name)} for name in ("float32", "float64", "float16")]


@dataclass(slots=True)
class Prepared:
    """The arguments of an op, in the order of its `forward`."""

    values: list[Any]  # as the user passed them
    arrays: list[Any]  # the same with promoted arrays instead of tensors
    promoted: dict[str, Any]  # the new dtypes of the inputs that were converted, by name
    on_tensors: bool  # whether an input is a tensor, so that the results must be tensors
    xp: Backend


def apply(op: type[Op], values: list[Any]) -> Any:
    """Run an op on arguments in the order of its `forward`.

    If an argument is a tensor, return tensors and record a node if an input requires grad; for
    bare arrays, return arrays.
    """
    if _state.observers.count:
        return intercepted(op, values, _state.interceptors())
    return run_op(op, values) if op.written_out is None else op.written_out(*values)


def intercepted(op: type[Op], values: list[Any], stack: tuple[Any, ...] = ()) -> Any:
    """Pass an op to the first interceptor, or run it if no interceptor is left.

    See NOTE [Interceptors] in _state.py.
    """
    if not stack:
        return run_op(op, values) if op.written_out is None else op.written_out(*values)
    return stack[0].op(op, values, partial(intercepted, stack=stack[1:]))


@ignoring_float_errors
def run_op(op: type[Op], values: list[Any]) -> Any:
    """Run an op while no interceptor is active: prepare, forward, record, wrap."""
    call = prepare(op, values)
    if call.xp is not numpy_backend:
        return run_elsewhere(op, call)
    result = forward(op, call)
    return wrap(op, record(op, call), call.values, result) if call.on_tensors else result


def run_elsewhere(op: type[Op], call: Prepared) -> Any:
    """Run a prepared op on a device or on batches; see NOTE [Interceptors] in _state.py."""
    return (call.xp.run_op or run_on_device)(op, call)


def run_on_device(op: type[Op], call: Prepared) -> Any:
    """Run a prepared op on the device and stream of its arrays."""
    xp = call.xp
    place = None if xp.device_type == "cpu" else xp.place_of(call.arrays)
    with NO_PLACE if place is None else place.entered():
        result = forward(op, call)
    if not call.on_tensors:
        return result
    if not op.view:
        call.values = on_one_device(op, call.values, call.arrays)
    node = record(op, call)
    if node is not None and place is not None:
        node._extras().place = place
    return wrap(op, node, call.values, result)


# -------------------------------------------------------------------- prepare


def prepare(op: type[Op], values: list[Any]) -> Prepared:
    """Unwrap tensors to arrays, promote the arrays and find their backend."""
    for i in op.plain_positions:
        if isinstance(values[i], Tensor):
            values = plain_numbers(op, values)
    arrays, array_types, dtypes, on_tensors = values.copy(), set(), set(), False
    for i in op.tensor_positions:
        if isinstance(values[i], Tensor):
            arrays[i], on_tensors = values[i]._array, True
        array_types.add(type(arrays[i]))
        dtypes.add(arrays[i].dtype if type(arrays[i]) in BACKENDS else None)
    if not array_types <= BACKENDS.keys():
        values = check_operands(op, values, arrays, on_tensors)
    if op.list_position is not None:
        arrays[op.list_position], some = unwrap_list(values[op.list_position], array_types)
        on_tensors = on_tensors or some
    may_differ = op.list_position is not None or dtypes not in FLOATS
    promoted = promote_arrays(op, arrays) if op.promote and may_differ else {}
    xp = BACKENDS.get(array_types.pop()) if len(array_types) == 1 else None
    return Prepared(values, arrays, promoted, on_tensors, xp or backend_of_mixed(op, arrays))


def check_operands(op: type[Op], values: list[Any], arrays: list[Any],
                   on_tensors: bool) -> list[Any]:
    """Check the operands that are not tensors, such as numbers or `None`; return the values.

    If another operand is a tensor, a NumPy scalar is converted to a Python number.
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


def forward(op: type[Op], call: Prepared) -> Any:
    """Run an op's forward on arrays; return an array, or a list for several outputs."""
    xp, arrays = call.xp, call.arrays
    try:
        result = op.run_forward(xp, *arrays)
    except (ValueError, TypeError, LookupError, OverflowError, RuntimeError) as error:
        explain(op, call, error)
        raise
    if type(result) not in BACKENDS:
        result = as_arrays(xp, result)
    if call.promoted and op.float32_scalars:
        result = narrowed(op, call, result)
    return result


def explain(op: type[Op], call: Prepared, error: Exception) -> None:
    """Raise PyTorch's error for wrong shapes, or else NumPy's error prefixed with the op's name.

    The order of the checks is PyTorch's: first views that must no longer be used, then shapes, and
    only then whether the kernel supports the dtype (NotImplementedError).
    """
    refuse_stale_views(op, call.values)
    if isinstance(error, (RuntimeError, LookupError)) and not isinstance(
            error, (NotImplementedError, IndexError)):
        return  # its message is already PyTorch's
    op.shape(*shapes_of(op, call.arrays))
    explain_dimensions(op.name, error)
    if not isinstance(error, (NotImplementedError, IndexError)):
        error_type = TypeError if isinstance(error, TypeError) else RuntimeError
        raise error_type(f"{op.name}(): {error}") from error


def as_arrays(xp: Backend, result: Any) -> Any:
    """Return a tuple of outputs as a list of arrays, and a NumPy scalar as a 0-d array."""
    if isinstance(result, (tuple, list)):
        return [xp.as_array(item) for item in result]
    return xp.as_array(result)


def narrowed(op: type[Op], call: Prepared, result: Array) -> Array:
    """Convert a float32 result to float16 if only a number beside float16 was in float32."""
    if result.dtype == np.float32 and any(
            call.arrays[i].dtype == np.float16 for i in op.promoted_positions):
        return result.astype(np.float16)
    return result


def refuse_stale_views(op: type[Op], values: list[Any]) -> None:
    """Raise if an input is a view that must no longer be used, which PyTorch checks first."""
    if op.formulas and _state.grad_enabled.get() and not _state.inference_enabled.get():
        for i in op.tensor_positions:
            if isinstance(values[i], Tensor):
                values[i]._edge()


# -------------------------------------------------------------------- record


def record(op: type[Op], call: Prepared) -> Any:
    """Return the op's node, or `None` if no input requires grad.

    The node has its edges and saved inputs, but `wrap` has to complete it, because the shape, the
    dtype and a saved output are known only after the forward.
    """
    if not op.formulas or not _state.grad_enabled.get() or _state.inference_enabled.get():
        return record_without_formula(op, call.values)
    edges, live = [], False
    for tensor in differentiable_inputs(op, call.values):
        is_live = isinstance(tensor, Tensor) and tensor.requires_grad
        edges.append(tensor._edge() if is_live else NO_EDGE)
        live = live or is_live  # the edge may be empty, as for a view that was made without grad
    if not live:
        return None
    node = op.node_type(edges)  # type: ignore[call-arg]  # an OpNode
    assign_sequence_nr(node)
    node.save(call.values, call.arrays, call.promoted)  # type: ignore[attr-defined]  # see above
    return node


def differentiable_inputs(op: type[Op], values: list[Any]) -> list[Any]:
    """Return the inputs that have a formula, with the tensors of a list as separate inputs.

    If all inputs are inference tensors, return an empty list, because no graph is recorded.
    """
    inputs = [*map(values.__getitem__, op.differentiable_positions)]
    special = op.list_of_tensors in op.formulas or getattr(inputs[0], "_counter", 0) is INFERENCE
    return inputs_of_list(op, values, inputs) if special else inputs


def inputs_of_list(op: type[Op], values: list[Any], inputs: list[Any]) -> list[Any]:
    """Return `inputs` with the op's list expanded into its tensors; [] for inference tensors."""
    if op.list_of_tensors in op.formulas:
        at = op.differentiable_positions.index(op.list_position)
        inputs = [*inputs[:at], *inputs[at], *inputs[at + 1:]]
    some = any(getattr(x, "_counter", 0) is INFERENCE for x in inputs)
    return [] if some and only_inference(op, values) else inputs


def record_without_formula(op: type[Op], values: list[Any]) -> Any:
    """Return the node of an op without derivative, which raises in backward.

    Return `None` if grad mode is off or no input requires grad.
    """
    if op.formulas or not op.not_implemented_derivative:
        return None
    live = _state.grad_enabled.get() and not _state.inference_enabled.get() and any(
        isinstance(values[i], Tensor) and values[i].requires_grad for i in op.tensor_positions)
    return node_without_formula(op, values) if live else None


def only_inference(op: type[Op], values: list[Any]) -> bool:
    """Return whether all inputs are inference tensors, so that no graph is recorded."""
    inputs = [values[i] for i in op.tensor_positions if values[i] is not None]
    inputs += () if op.list_position is None else values[op.list_position]
    return all(isinstance(x, Tensor) and x._counter is INFERENCE for x in inputs)


# -------------------------------------------------------------------- wrap


def wrap(op: type[Op], node: Any, values: list[Any], array: Any) -> Any:
    """Make the output tensor, complete the node that `record` made, and connect the two."""
    if type(array) is list:
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    if op.view or _state.observers.count:
        mark_result(op, values, tensor)
    array = tensor._array
    if node is not None and array.dtype.kind == "f":  # integers have no gradient
        node.shape, node.dtype = array.shape, array.dtype
        tensor._node, tensor._requires_grad = node, True
        if "result" in node.saves:
            node.save_output("result", tensor)  # reads the tensor's node, so it comes last
    return tensor


def mark_result(op: type[Op], values: list[Any], tensor: Tensor) -> None:
    """Mark the result of a view op as a view, and any result as inference tensor if it is one."""
    mark_inference(tensor)
    if op.view:
        join_to_base(tensor, values[0])


def mark_inference(tensor: Tensor) -> None:
    """Make a new tensor an inference tensor if inference mode is on."""
    if _state.inference_enabled.get():
        tensor._counter = INFERENCE


def join_to_base(result: Tensor, base: Tensor) -> None:
    """Mark the result of a view op as a view of `base`, unless forward made a copy."""
    if shares_memory(result._array, base._array):
        mark_view(result, base)
    else:
        result._array = result._array.copy()


def shares_memory(array: Array, base: Array) -> bool:
    """Return whether the array of a view op is in fact a view; an empty array always counts."""
    return array is base or array.base is not None or array.size == 0


def wrap_several(op: type[Op], node: Any, values: list[Any], arrays: Sequence[Array]) -> Any:
    """Make the tensors of several outputs, complete the node and connect it to them."""
    results = []
    with_gradient = len(arrays) - op.constants  # outputs without gradient, like indices, are last
    if node is not None:
        node.num_inputs = sum(a.dtype.kind == "f" for a in arrays[:with_gradient])
        if arrays:
            node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
            node.others = [(a.shape, a.dtype) for a in arrays[1:]]
    for index, array in enumerate(arrays):
        result = Tensor._plain(array)
        mark_inference(result)
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
