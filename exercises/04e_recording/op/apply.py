# Stage 04e, Recording an operation: the exercise for minigrad/op/apply.py.
# Made by `minigrad dev build`. The lesson is lessons/04e_recording.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04e
# docs/en/glossary.md explains the names used inside the package.

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
    # 04e.1 Running an op (about 8 lines)
    # `intercepted` lets each interceptor in `stack` see an op before it runs. `run_op`
    # runs an op: prepare, forward, record, wrap.
    #   intercepted(Mul, [x, y], (first, second))  -> asks first, then second, then runs Mul
    #   run_op(Mul, [x, y])                        -> a Tensor whose grad_fn is a MulBackward0
    #   run_op(Exp, [array])                       -> an array, and no node
    # Mind:
    # - `interceptor.op(op, values, proceed)` returns the result. It may call `proceed`
    #   with a different op or other values, or twice.
    # - If `call.xp` isn't `numpy_backend`, return `run_elsewhere(op, call)`.
    # - `call.on_tensors` says whether a Tensor was passed.
    raise NotImplementedError("04e.1 Running an op is yours to write")


@ignoring_float_errors
def run_op(op: type[Op], values: list[Any]) -> Any:
    """Run an op while no interceptor is active: prepare, forward, record, wrap."""
    # 04e.1 Running an op: see the task at `intercepted`.
    raise NotImplementedError("04e.1 Running an op is yours to write")


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
    # 04e.2 Record (about 13 lines)
    # Return a node that has its edges and its saved values, or None if nothing needs to
    # be recorded.
    #   x * y, only x requires grad         edges (AccumulateGrad of x, 0) and (None, 0)
    #   x * 2.0                             the same edges
    #   under no_grad, or neither requires grad    -> None
    # Mind:
    # - Each of the `differentiable_inputs` has an edge. It's `NO_EDGE` for a number, for
    #   None, and for a Tensor that needs no gradient.
    # - If the op has no formulas, or in no_grad or inference mode, return
    #   `record_without_formula(op, call.values)`.
    # Use: `_state.grad_enabled.get()`, `_state.inference_enabled.get()`;
    # `op.node_type(edges)`; `assign_sequence_nr(node)`; `node.save(call.values,
    # call.arrays, call.promoted)`.
    raise NotImplementedError("04e.2 Record is yours to write")


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
    # 04e.3 Wrap (about 12 lines)
    # Put the array that forward returned into a Tensor. If there's a node, complete it,
    # and connect the two.
    #   wrap(Sin, node, [x], array)   -> a Tensor whose grad_fn is node; it requires grad
    #   then node.shape, node.dtype   -> the shape and the dtype of the array
    #   an array of integers          -> no grad_fn, because integers have no gradient
    #   exp, then `del result`        -> the node is freed too, without the garbage collector
    # Mind:
    # - `mark_result(op, values, tensor)` makes views and inference tensors. It may change
    #   the tensor's array.
    # - Only ops with "result" in `node.saves` save the output.
    # - A list of arrays is for `wrap_several`.
    # Use: `Tensor._plain(array)`; `tensor._node`, `tensor._requires_grad`;
    # `node.save_output("result", tensor)`.
    raise NotImplementedError("04e.3 Wrap is yours to write")


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
