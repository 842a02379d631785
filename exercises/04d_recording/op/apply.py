# Stage 04d, Recording an operation: the exercise for minigrad/op/apply.py.
# Made by `minigrad dev build`. The lesson is lessons/04d_recording.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04d
# docs/en/glossary.md explains the names used inside the package.

"""Applying an op: prepare the arguments, run forward, record a node, wrap the results.

An op for which `codegen/` has written the four steps out has that function in `op.written_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _state
from ..backend import BACKENDS, Backend, numpy_backend
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
    return run_op(op, values) if op.written_out is None else op.written_out(*values)


def intercepted(op: type[Op], values: list[Any], stack: tuple[Any, ...] = ()) -> Any:
    """Hand an op to the first of the interceptors, or run it where there are none left.

    See NOTE [Interceptors] in _state.py.
    """
    # 04d.5 Four steps (about 20 lines)
    # Run an op: prepare, forward, record, wrap. `intercepted` lets the first of a stack
    # hand the op on to the next, the last to `op.steps(*values)`. `wrap` makes the
    # result's Tensor and joins it to the node.
    #   run_op(Mul, [x, y]).grad_fn.shape     -> that of the result; dtype likewise
    #   F.exp(array)                          -> an array: then two steps are enough
    # Mind:
    # - Elsewhere than on `numpy_backend`: `run_elsewhere(op, call)`.
    # - A list of arrays: `wrap_several`.
    # - If `op.view` or `_state.observers.count`: `mark_result(op, values, tensor)`; its
    #   array may change.
    # - Only results with `array.dtype.kind == "f"` get the node and `_requires_grad`.
    # Use: `stack[0].op(op, values, proceed)`; `call.on_tensors`; last,
    # `node.save_output("result", tensor)` if "result" is in `node.saves`.
    raise NotImplementedError("04d.5 Four steps is yours to write")


def run_op(op: type[Op], values: list[Any]) -> Any:
    """Run an op that nobody watches: prepare, forward, record, wrap."""
    # 04d.5 Four steps: see the task at `intercepted`.
    raise NotImplementedError("04d.5 Four steps is yours to write")


def run_elsewhere(op: type[Op], call: Prepared) -> Any:
    """Run a prepared op on a device, or on batches: see NOTE [Interceptors] in _state.py."""
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
    """Take the arrays out of tensors, promote them and find their backend."""
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
    """Check operands that are no tensors: numbers, None, lists; return the values.

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


def forward(op: type[Op], call: Prepared) -> Any:
    """Run an op's forward on arrays; returns an array, or a list of several."""
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
    """Raise PyTorch's error if the shapes are wrong, else NumPy's with the op's name before it.

    PyTorch checks views that may not be used any more first, and shapes before it chooses a
    kernel, so that comes before NotImplementedError too.
    """
    refuse_stale_views(op, call.values)
    if isinstance(error, (RuntimeError, LookupError)) and not isinstance(
            error, (NotImplementedError, IndexError)):
        return  # it says what is wrong
    op.shape(*shapes_of(op, call.arrays))
    explain_dimensions(op.name, error)
    if not isinstance(error, (NotImplementedError, IndexError)):
        error_type = TypeError if isinstance(error, TypeError) else RuntimeError
        raise error_type(f"{op.name}(): {error}") from error


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
    """Return the op's node, or None if no input requires grad.

    It has its edges and saved inputs.  `wrap` completes it: shape, dtype and a saved output are
    known only once there is a result.
    """
    # 04d.4 Record (about 13 lines)
    # Return a node that is joined to the graph and has saved its inputs; None if nothing
    # is to be recorded.
    #   x * y, only x requires grad         edges (AccumulateGrad of x, 0) and (None, 0)
    #   x * 2.0                             the same edges
    #   under no_grad, or neither requires it    -> None
    # Mind:
    # - There is an edge for each input with a formula; `NO_EDGE` stands for those that
    #   need no gradient.
    # - An input may be a number or None.
    # - No formulas, no grad mode, or inference mode: return `record_without_formula(op,
    #   call.values)`.
    # Use: `_state.grad_enabled.get()`, `_state.inference_enabled.get()`;
    # `differentiable_inputs`; `tensor._edge()`; `op.node_type(edges)`;
    # `assign_sequence_nr(node)`; `node.save(call.values, call.arrays, call.promoted)`.
    raise NotImplementedError("04d.4 Record is yours to write")


def differentiable_inputs(op: type[Op], values: list[Any]) -> list[Any]:
    """Return the inputs that have a formula; the tensors of a list come one by one.

    There are none if all inputs are inference tensors, which leave no graph.
    """
    inputs = [*map(values.__getitem__, op.differentiable_positions)]
    special = op.list_of_tensors in op.formulas or getattr(inputs[0], "_counter", 0) is INFERENCE
    return inputs_of_list(op, values, inputs) if special else inputs


def inputs_of_list(op: type[Op], values: list[Any], inputs: list[Any]) -> list[Any]:
    """Return `inputs` with the tensors of the op's list in its place; [] for inference tensors."""
    if op.list_of_tensors in op.formulas:
        at = op.differentiable_positions.index(op.list_position)
        inputs = [*inputs[:at], *inputs[at], *inputs[at + 1:]]
    some = any(getattr(x, "_counter", 0) is INFERENCE for x in inputs)
    return [] if some and only_inference(op, values) else inputs


def record_without_formula(op: type[Op], values: list[Any]) -> Any:
    """Return the node of an op whose derivative is missing: backward through it raises.

    None if nothing is recorded here, or no input requires grad.
    """
    if op.formulas or not op.not_implemented_derivative:
        return None
    live = _state.grad_enabled.get() and not _state.inference_enabled.get() and any(
        isinstance(values[i], Tensor) and values[i].requires_grad for i in op.tensor_positions)
    return node_without_formula(op, values) if live else None


def only_inference(op: type[Op], values: list[Any]) -> bool:
    """Tell whether all inputs are inference tensors, which leave no graph."""
    inputs = [values[i] for i in op.tensor_positions if values[i] is not None]
    inputs += () if op.list_position is None else values[op.list_position]
    return all(isinstance(x, Tensor) and x._counter is INFERENCE for x in inputs)


# -------------------------------------------------------------------- wrap


def wrap(op: type[Op], node: Any, values: list[Any], array: Any) -> Any:
    """Make the tensor of the one output, complete the node that `record` made, and join both."""
    # 04d.5 Four steps: see the task at `intercepted`.
    raise NotImplementedError("04d.5 Four steps is yours to write")


def mark_result(op: type[Op], values: list[Any], tensor: Tensor) -> None:
    """Join the result of a view op to its base; make it an inference tensor in inference mode.

    The result of a view op gets an array of its own where forward made a copy.
    """
    mark_inference(tensor)
    if op.view:
        join_to_base(tensor, values[0])


def mark_inference(tensor: Tensor) -> None:
    """Make a new tensor an inference tensor if inference mode is on."""
    if _state.inference_enabled.get():
        tensor._counter = INFERENCE


def join_to_base(result: Tensor, base: Tensor) -> None:
    """Mark the result of a view op as a view; a copy has no base."""
    if shares_memory(result._array, base._array):
        mark_view(result, base)
    else:
        result._array = result._array.copy()


def shares_memory(array: Array, base: Array) -> bool:
    """Tell whether an array that a view op gave is indeed a view (empty ones need not be)."""
    return array is base or array.base is not None or array.size == 0


def wrap_several(op: type[Op], node: Any, values: list[Any], arrays: Sequence[Array]) -> Any:
    """Make the tensors of several outputs, complete the node and join it to them."""
    results = []
    with_gradient = len(arrays) - op.constants  # indices come last
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
