"""Applying an op: from arguments to arrays, forward, and from arrays to tensors with a node.

This is the version that is taught.  The closures in `specialise.py` do the same for the common
case; all tests run with either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _state, dtypes
from ._state import number
from .array_info import data_pointer, same_memory
from .array_memory import is_dense
from .backend import BACKENDS, Backend
from .device import device_of
from .op_node import NUMBERS, measure, measured_input
from .saved import INFERENCE, SavedTensor
from .shapes import broadcast
from .tensor import Tensor
from .views import check_inplace, mark_view, partly_overlaps, rebase_history, replace_node
from .without_formula import break_off, node_without_formula

if TYPE_CHECKING:
    from .op import Op

Array = Any

NO_PLACE = nullcontext()

BOOL_SUBTRACTION = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.")

#: What ops and NumPy raise before they write; see NOTE [Writes that are broken off].
BEFORE_WRITING = (ValueError, TypeError, LookupError, OverflowError, RuntimeError)

#: Names under which PyTorch also takes an argument, NumPy's among them.
SPELLINGS = {"input": "self", "axis": "dim", "keepdims": "keepdim"}


def bind(op: type[Op], args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
    """Put arguments into the order of `forward`; `TypeError` names what is wrong with them."""
    names = op.parameters
    if op.varargs is not None:
        args = pack_varargs(op, args)
    if not kwargs and op.required <= len(args) <= op.positional:
        return [*args, *op.default_values[len(args) :]]
    positional = [n for n in names if n not in op.keyword_only]
    if len(args) > len(positional):
        raise TypeError(f"{op.name}() takes {len(positional)} positional arguments but "
                        f"{len(args)} were given")
    given = dict(zip(positional, args, strict=False))
    for key, value in kwargs.items():
        name = key if key in names else SPELLINGS.get(key, key)
        if name not in names:
            raise TypeError(f"{op.name}() got an unexpected keyword argument '{key}'")
        if name in given:
            raise TypeError(f"{op.name}() got multiple values for argument '{key}'")
        given[name] = value
    values = []
    for position, name in enumerate(names, 1):
        if name in given:
            values.append(given[name])
        elif name in op.defaults:
            values.append(op.defaults[name])
        else:
            raise TypeError(f"{op.name}() missing required argument '"
                            f"{'input' if name == 'self' else name}' (position {position})")
    return values


def pack_varargs(op: type[Op], args: Sequence[Any]) -> Sequence[Any]:
    """Gather `x.view(2, 3)` into `x.view((2, 3))`."""
    at = op.parameters.index(op.varargs or "")
    rest = args[at:]
    if rest and not isinstance(rest[0], (tuple, list)) and rest[0] is not None:
        return [*args[:at], tuple(rest)]
    return args


def apply(op: type[Op], values: list[Any], watched: bool = True, transformed: bool = True) -> Any:
    """Run an op on arguments in forward's order: the taught version, and the oracle of the rest.

    Given tensors it returns tensors and records a node where one is needed; given bare arrays
    it returns arrays.  Where a profiler is on, it calls this once more, no longer `watched`;
    a transformation such as forward mode does so with `transformed` off.
    """
    if _state.observers.count:
        if watched and (recorder := _state.recorder.get()) is not None:
            return recorder.op(op, values, apply)
        if (casts := _state.autocast.get()) is not None:
            values = casts.op(op, values)
        if transformed and (transform := _state.transform.get()) is not None:
            return transform.op(op, values)
    elif op.hot is not None:
        return op.hot(values)
    return apply_plain(op, values)


def apply_plain(op: type[Op], values: list[Any]) -> Any:
    """Run an op that no observer watches; see `apply`."""
    values, arrays, casts, on_tensors = unwrap(op, values)
    xp = backend_of_all(op, arrays)
    if xp.run_op is not None:
        return xp.run_op(op, values, arrays, on_tensors)
    place = xp.place_of(arrays)
    try:
        with NO_PLACE if place is None else place.entered():
            result = run_forward(op, xp, arrays)
    except (ValueError, TypeError, LookupError, RuntimeError):
        if op.formulas and _state.grad_enabled.get():
            refuse_stale(op, values)
        raise
    if not on_tensors:
        return result
    node = make_node(op, values, arrays, casts)
    if place is not None and node is not None:
        node._extras().place = place
    if not op.outputs and not isinstance(result, (list, tuple)):
        return wrap_result(op, node, values, result)
    return wrap_results(op, node, values, result)


def refuse_stale(op: type[Op], values: list[Any]) -> None:
    """Raise if an input is a view that may not be used any more: PyTorch looks at that first."""
    if not _state.inference_enabled.get():
        for i in op.tensor_positions:
            if isinstance(values[i], Tensor):
                values[i]._edge()


def unwrap(op: type[Op], values: list[Any]) -> tuple[list[Any], list[Any], dict[str, Any], bool]:
    """Return the values, the same with arrays for tensors, casts made, and if any was a tensor."""
    values = plain_numbers(op, values)
    arrays, on_tensors = list(values), False
    for i in op.tensor_positions:
        value = values[i]
        if isinstance(value, Tensor):
            arrays[i], on_tensors = value._array, True
        elif not (value is None or type(value) in BACKENDS or isinstance(value, NUMBERS)):
            raise TypeError(argument_error(op, op.parameters[i], "Tensor", value))
    if op.list_position is not None:
        items = values[op.list_position]
        for place, item in enumerate(items):
            if not isinstance(item, Tensor) and type(item) not in BACKENDS:
                raise TypeError(f"expected Tensor as element {place} in argument 0, but got "
                                f"{type(item).__name__}")
        on_tensors = on_tensors or any(isinstance(t, Tensor) for t in items)
        arrays[op.list_position] = [t._array if isinstance(t, Tensor) else t for t in items]
    casts = promote_arrays(op, arrays) if op.promote else {}
    return values, arrays, casts, on_tensors


def plain_numbers(op: type[Op], values: list[Any]) -> list[Any]:
    """Return the values with the number in place of a tensor where a number is meant."""
    for i in op.plain_positions:
        value = values[i]
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise TypeError(argument_error(op, op.parameters[i], "a number or sequence", value))
            values = [*values[:i], value.item(), *values[i + 1 :]]
    return values


def argument_error(op: type[Op], name: str, wanted: str, value: Any) -> str:
    """Say which argument is wrong, what it has to be and what came."""
    position = op.parameters.index(name) + 1
    shown = "input" if name == "self" else name
    return (f"{op.name}(): argument '{shown}' (position {position}) must be {wanted}, not "
            f"{type(value).__name__}")


def promote_arrays(op: type[Op], arrays: list[Any]) -> dict[str, Any]:
    """Bring the promoted inputs to one dtype, in place; return those whose dtype changed."""
    operands = []
    for i in op.promoted_positions:
        value = arrays[i]
        if type(value) in BACKENDS or isinstance(value, np.generic):
            operands.append((dtypes.from_numpy_dtype(value.dtype), 2 if value.ndim else 1))
        elif value is not None:
            operands.append((dtypes.scalar_dtype(value), 0))
    items = () if op.list_position is None else arrays[op.list_position]
    operands += [(dtypes.from_numpy_dtype(a.dtype), 2 if a.ndim else 1) for a in items]
    if not operands:
        return {}
    if op.refuses_bools and len({dtype is dtypes.bool for dtype, _ in operands}) == 2:
        raise RuntimeError(BOOL_SUBTRACTION)
    common = dtypes.result_dtype(operands)
    if op.promote == "float" and not common.is_floating_point:
        common = dtypes.get_default_dtype()
    target, casts = common.numpy, {}
    for i in op.promoted_positions:
        value = arrays[i]
        if type(value) in BACKENDS or isinstance(value, np.generic):
            if value.dtype is not target:
                casts[op.parameters[i]] = target
                arrays[i] = value.astype(target)
        elif value is not None:
            arrays[i] = np.asarray(value).astype(target)
    if any(a.dtype is not target for a in items):
        casts[op.list_of_tensors or ""] = target
        arrays[op.list_position or 0] = [a.astype(target, copy=False) for a in items]
    return casts


def backend_of_all(op: type[Op], arrays: list[Any]) -> Backend:
    """Return the backend of the arrays; `RuntimeError` when they lie on several devices.

    A 0-d array on the CPU may meet arrays of any device: it is made fit for that, in `arrays`.
    """
    kinds = {type(arrays[i]) for i in op.tensor_positions}
    if op.list_position is not None:
        kinds.update(map(type, arrays[op.list_position]))
    found = [BACKENDS[kind] for kind in kinds if kind in BACKENDS]
    if not found:
        return BACKENDS[np.ndarray]
    if len(found) == 1:
        return found[0]
    if (whole := next((xp for xp in found if xp.run_op is not None), None)) is not None:
        return whole
    for i in op.tensor_positions:
        if type(arrays[i]) is np.ndarray and not arrays[i].ndim:
            device = next(xp for xp in found if xp.array_type is not np.ndarray)
            arrays[i] = device.number(arrays[i])
            return backend_of_all(op, arrays)
    names = list(dict.fromkeys(str(device_of(a)) for a in all_arrays(op, arrays)))
    raise RuntimeError("Expected all tensors to be on the same device, but found at least two "
                       f"devices, {names[0]} and {names[1]}!")


def all_arrays(op: type[Op], arrays: list[Any]) -> list[Array]:
    """Return the arrays among an op's arguments, those of its list too."""
    found = [arrays[i] for i in op.tensor_positions]
    found += () if op.list_position is None else arrays[op.list_position]
    return [a for a in found if type(a) in BACKENDS]


def run_forward(op: type[Op], xp: Backend, arrays: list[Any]) -> Any:
    """Run forward on arrays; where the shapes are wrong the error is in PyTorch's words."""
    try:
        result = call_with(op, op.forward, xp, arrays)
    except NotImplementedError:
        op.shape(*shapes_of(op, arrays))  # PyTorch looks at shapes before it chooses a kernel
        raise
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        op.shape(*shapes_of(op, arrays))
        if isinstance(error, IndexError):
            raise
        kind = TypeError if isinstance(error, TypeError) else RuntimeError
        raise kind(f"{op.name}(): {error}") from error
    if isinstance(result, (tuple, list)):
        return [xp.as_array(r) for r in result]
    return result if type(result) in BACKENDS else xp.as_array(result)  # a copy may be elsewhere


def call_with(op: type[Op], function: Callable[..., Any], xp: Backend, arrays: list[Any]) -> Any:
    """Call one of an op's functions with forward's arguments, given in order."""
    if not op.keyword_only:
        return function(xp, *arrays)
    split = op.positional
    return function(xp, *arrays[:split],
                    **dict(zip(op.parameters[split:], arrays[split:], strict=True)))


def shapes_of(op: type[Op], arrays: list[Any]) -> list[Any]:
    """Return forward's arguments with shapes in place of arrays, as shape rules take them."""
    shapes = []
    for name, value in zip(op.parameters, arrays, strict=True):
        if name == op.list_of_tensors:
            value = [tuple(v.shape) for v in value]
        elif name in op.tensors and hasattr(value, "shape"):
            value = tuple(value.shape)
        shapes.append(value)
    return shapes


def make_node(op: type[Op], values: list[Any], arrays: list[Any], casts: dict[str, Any]) -> Any:
    """Make the node with its edges and saved inputs, or return None when no gradient is needed."""
    if not _state.grad_enabled.get() or _state.inference_enabled.get():
        return None
    if not op.formulas:
        live = op.underivable and any(isinstance(values[i], Tensor) and values[i].requires_grad
                                      for i in op.tensor_positions)
        return node_without_formula(op, values) if live else None
    edges: list[Any] = []
    live = False
    for i in op.differentiable_positions:
        for item in values[i] if i == op.list_position else (values[i],):
            if isinstance(item, Tensor) and item.requires_grad:
                edges.append(item._edge())
                live = True
            else:
                edges.append((None, 0))
    if not live:
        return None
    node = op.node_type()
    node.extras = None
    number(node)
    node.set_edges(edges)
    known = dict(zip(op.parameters, values, strict=True))
    for name in node.keeps:  # type: ignore[attr-defined]  # an OpNode
        if name not in known:
            known[name] = measure(arrays[op.parameters.index(measured_input(name))], name)
    node.save(known, casts)  # type: ignore[attr-defined]  # an OpNode
    return node


def wrap_result(op: type[Op], node: Any, values: list[Any], array: Array) -> Tensor:
    """Make the tensor of the one output and join it to the node."""
    result = Tensor._plain_as(Tensor, array)
    if op.view:
        base = values[0]
        if not shares(array, base._array):
            array = result._array = array.copy()
        else:
            mark_view(result, base)
    if node is not None and array.dtype.kind == "f":
        node.shape, node.dtype = array.shape, array.dtype
        result._node, result._requires_grad = node, True
        if "result" in node.saves:
            node.save_output("result", result)
    return result


def shares(array: Array, base: Array) -> bool:
    """Tell whether an array that a view op gave is indeed a view (empty ones need not be)."""
    return array is base or array.base is not None or array.size == 0


def wrap_results(op: type[Op], node: Any, values: list[Any], arrays: Sequence[Array]) -> Any:
    """Make the tensors of several outputs and join them to the node."""
    results = []
    if node is not None:
        node.num_inputs = sum(a.dtype.kind == "f" for a in arrays)  # indices come last
        if arrays:
            node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
            node.others = [(a.shape, a.dtype) for a in arrays[1:]]
    for index, array in enumerate(arrays):
        result = Tensor._plain_as(Tensor, array)
        if op.view:
            mark_view(result, values[0], multiple=True)
        if node is not None and array.dtype.kind == "f":
            result._node, result._index, result._requires_grad = node, index, True
        results.append(result)
    if not op.outputs:
        return tuple(results)
    if node is not None:
        for name, result in zip(op.outputs, results, strict=True):
            if name in node.saves:
                if result._node is None:
                    setattr(node, "_t_" + name, SavedTensor(result))
                    setattr(node, "_v_" + name, None)
                else:
                    node.save_output(name, result)
    return op.result_type(*results)


def apply_inplace(op: type[Op], values: list[Any], watched: bool = True,
                  transformed: bool = True) -> Tensor:
    """Run an op and write its result into its first input, whose history becomes the op's node."""
    if _state.observers.count:
        if watched and (recorder := _state.recorder.get()) is not None:
            return recorder.op(op, values, apply_inplace, "_")
        if transformed and (transform := _state.transform.get()) is not None:
            return transform.inplace(op, values)
    target = values[0]
    if not isinstance(target, Tensor):
        raise TypeError(argument_error(op, op.parameters[0], "Tensor", target))
    live = (_state.grad_enabled.get() and not _state.inference_enabled.get()
            and not op.untracked and any(isinstance(v, Tensor) and v.requires_grad for v in values))
    if target._counter is INFERENCE and not _state.inference_enabled.get():
        refuse_inference(op, values)
    check_inplace(target, live, op.writes_alike or op.view or stays_as_it_is(op, values))
    recorded = live and target._array.dtype.kind == "f"
    values, arrays, casts, _ = unwrap(op, values)
    xp = backend_of_all(op, arrays)
    if xp.run_op is not None:
        return xp.run_op(op, values, arrays, True, inplace=True)
    check_apart(op, target._array, values)
    if recorded and "self" in op.node_type.saves:
        values = [target.clone(), *values[1:]]
    node = make_node(op, values, arrays, casts) if recorded else None
    if recorded and not op.formulas:
        node = node_without_formula(op, values)
    if node is not None:
        node.set_edges([target._edge(), *node.edges[1:]])
    place = xp.place_of(arrays)
    begun = written = False
    try:
        with NO_PLACE if place is None else place.entered():
            begun = True
            if not write_directly(op, target, xp, arrays):
                begun = False
                result = run_to_write(op, target, xp, arrays)
                begun = True
                write_back(op, target, result)
        written = True
        if place is not None and node is not None:
            node._extras().place = place
        target._bump()
        if node is not None:
            node.shape, node.dtype = target._array.shape, target._array.dtype
            if op.view:
                replace_node(target, node)
            else:
                rebase_history(target, node)
            if "result" in node.saves:
                node.save_output("result", target)
    except BaseException as error:
        if written or (begun and not isinstance(error, BEFORE_WRITING)):
            break_off(target, recorded, values, f"{op.name}_()", error)
        raise
    return target


def refuse_inference(op: type[Op], values: list[Any]) -> None:
    """Raise for a write to an inference tensor outside of inference mode.

    As in PyTorch what is wrong with the arguments themselves is said first: so a copy is written.
    """
    check_apart(op, values[0]._array, values)
    copied = Tensor._plain(values[0]._array.copy())
    values, arrays, _, _ = unwrap(op, [copied, *values[1:]])
    xp = backend_of_all(op, arrays)
    if xp.run_op is None and not write_directly(op, copied, xp, arrays):
        run_to_write(op, copied, xp, arrays)
    INFERENCE.bump()


def run_to_write(op: type[Op], target: Tensor, xp: Backend, arrays: list[Any]) -> Array:
    """Return what a variant in place is to write, checked."""
    try:
        result = run_forward(op, xp, arrays)
    except NotImplementedError:
        if op.pointwise or op.shape is broadcast:
            check_shape(target, op.shape(*shapes_of(op, arrays)))
        raise
    check_result(op, target, result)
    if op.inplace_shape is not None:
        op.inplace_shape(*shapes_of(op, arrays))
    return result


def check_apart(op: type[Op], written: Array, values: list[Any]) -> None:
    """Raise if an op would read memory that it has written to already."""
    pointwise = op.pointwise or op.promote or op.shape is broadcast
    if not (pointwise or op.forward_inplace or op.apart):
        return
    read = [values[i] for i in op.tensor_positions[1:]]
    if op.list_position is not None:
        read += values[op.list_position]
    others = [t._array for t in read if isinstance(t, Tensor)]
    if "value" in op.tensors:
        others = [other for other in others if other.ndim]  # one value is read before all writes
    for other in others:
        if partly_overlaps(written, other) or (op.apart and wholly_overlaps(written, other)):
            if op.__name__ == "Put":  # which counts first
                op.shape(*shapes_of(op, [v._array if isinstance(v, Tensor) else v
                                         for v in values]))
            raise RuntimeError("unsupported operation: some elements of the input tensor and the "
                               "written-to tensor refer to a single memory location. Please "
                               "clone() the tensor before performing the operation.")


def stays_as_it_is(op: type[Op], values: list[Any]) -> bool:
    """Tell whether a tensor is copied to itself, which asks nothing of its memory."""
    if op.__name__ != "Copy":
        return False
    written, read = values[0]._array, values[1]._array
    kind = type(written)
    if kind is not type(read) or kind not in BACKENDS or BACKENDS[kind].run_op is not None:
        return False
    return wholly_the_same(written, read)


def wholly_the_same(written: Array, read: Array) -> bool:
    """Tell whether two arrays look at the same memory in the same way."""
    return written is read or (
        same_memory(written, read) and data_pointer(written) == data_pointer(read)
        and written.shape == read.shape and written.strides == read.strides)


def wholly_overlaps(written: Array, read: Array) -> bool:
    """Tell whether two arrays are the same memory, element for element."""
    return written is read or (
        bool(written.size) and wholly_the_same(written, read) and is_dense(written))


def write_directly(op: type[Op], target: Tensor, xp: Backend, arrays: list[Any]) -> bool:
    """Let the op write its result itself; False where it cannot, and then nothing is written.

    It cannot write what has another dtype or shape, nor where it still has to read.
    """
    array = target._array
    if op.forward_inplace is None or arrays[0] is not array:
        return False
    read = [arrays[i] for i in op.tensor_positions[1:]]
    if op.list_position is not None:
        read += arrays[op.list_position]
    if any(type(a) in BACKENDS and xp.may_share_memory(array, a) for a in read):
        return False
    try:
        call_with(op, op.forward_inplace, xp, arrays)
    except (ValueError, TypeError, IndexError, OverflowError):
        return False  # forward will say what is wrong
    return True


def check_result(op: type[Op], target: Tensor, result: Array) -> None:
    """Raise unless dtype and shape let an in-place result be stored."""
    array = target._array
    from_, to = dtypes.from_numpy_dtype(result.dtype), dtypes.from_numpy_dtype(array.dtype)
    if not dtypes.can_cast(from_, to):
        raise RuntimeError(f"result type {type_name(from_)} can't be cast to the desired output "
                           f"type {type_name(to)}")
    if not op.view:
        check_shape(target, result.shape)


def check_shape(target: Tensor, shape: Sequence[int]) -> None:
    """Raise unless an in-place result has the shape of what is written to."""
    if tuple(shape) != target._array.shape:
        raise RuntimeError(f"output with shape {list(target._array.shape)} doesn't match the "
                           f"broadcast shape {list(shape)}")


def write_back(op: type[Op], target: Tensor, result: Array) -> None:
    """Store an in-place result that was checked."""
    if op.view:
        target._array = result
    else:
        target._array[...] = result


def type_name(d: dtypes.dtype) -> str:
    """Return the name by which PyTorch's errors call a dtype."""
    return {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long",
            "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
            "bool": "Bool"}[d.name]
