"""Applying an op: from arguments to arrays, forward, and from arrays to tensors with a node.

`fast/` has quicker twins of what stands here; see NOTE [The ring] in fast/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _state, dtypes
from .._state import number
from ..backend import BACKENDS, Backend
from ..device import device_of, place_on
from ..graph.version import INFERENCE
from ..tensor.tensor import Tensor
from ..tensor.views import mark_view
from .error_nodes import node_without_formula
from .node import NUMBERS, geometry_input, saved_geometry

if TYPE_CHECKING:
    from .declaration import Op

Array = Any

NO_PLACE = nullcontext()

BOOL_SUBTRACTION = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.")

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
    elif op.fast is not None:
        return op.fast(values)
    return run_op(op, values)


def run_op(op: type[Op], values: list[Any]) -> Any:
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
    on_tensors = any(isinstance(values[i], Tensor) for i in op.tensor_positions)
    arrays = list(values)
    for i in op.tensor_positions:
        value = values[i]
        if on_tensors and isinstance(value, np.generic):  # to tensors NumPy's numbers are Python's
            value = arrays[i] = value.item()
        if isinstance(value, Tensor):
            arrays[i] = value._array
        elif not (i in op.optional_positions if value is None
                  else type(value) in BACKENDS or isinstance(value, np.generic)
                  or (i in op.number_positions and isinstance(value, NUMBERS))):
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
    if op.reject_bool and len({dtype is dtypes.bool for dtype, _ in operands}) == 2:
        raise RuntimeError(BOOL_SUBTRACTION)
    common = dtypes.result_dtype(operands)
    if op.promote == "float" and not common.is_floating_point:
        common = dtypes.get_default_dtype()
    target, casts = common.numpy, {}
    for i in op.promoted_positions:
        value, name = arrays[i], op.parameters[i]
        to = target
        if name in op.float32_scalars and target == np.float16 and not getattr(value, "ndim", 0):
            to = np.dtype(np.float32)
        if type(value) in BACKENDS or isinstance(value, np.generic):
            if value.dtype is not target:
                casts[name] = to
                # Of an expanded array NumPy would choose another order of memory than PyTorch.
                arrays[i] = cast(value, to, "C" if 0 in value.strides else "K")
        elif value is not None:
            arrays[i] = np.asarray(value).astype(to)
            if to is not target:
                casts[name] = to
    if any(a.dtype is not target for a in items):
        casts[op.list_of_tensors or ""] = target
        arrays[op.list_position or 0] = [a if a.dtype is target else cast(a, target, "K")
                                         for a in items]
    return casts


def cast(array: Array, dtype: Any, order: str) -> Array:
    """Return an array, or a number of NumPy's, in another dtype."""
    if isinstance(array, np.generic):
        return array.astype(dtype)
    with place_on(array):
        return array.astype(dtype, order)


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


def on_one_device(op: type[Op], values: list[Any], arrays: list[Any]) -> list[Any]:
    """Return the values with copies of those tensors that forward took as numbers of the host.

    A formula may use them beside arrays of the device, and a gradient finds its way back.
    """
    numbers = [i for i in op.tensor_positions
               if isinstance(arrays[i], np.generic) and isinstance(values[i], Tensor)]
    there = [a for a in all_arrays(op, arrays) if type(a) is not np.ndarray] if numbers else []
    if there:
        values, where = [*values], device_of(there[0])
        for i in numbers:
            values[i] = values[i].to(where)
    return values


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
    if op.float32_scalars and result.dtype == np.float32 and any(
            arrays[i].dtype == np.float16 for i in op.promoted_positions):
        result = result.astype(np.float16)
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
        live = op.not_implemented_derivative and any(
            isinstance(values[i], Tensor) and values[i].requires_grad for i in op.tensor_positions)
        return node_without_formula(op, values) if live else None
    values = on_one_device(op, values, arrays)
    edges: list[Any] = []
    live = False
    for i in op.differentiable_positions:
        for item in values[i] if i == op.list_position else (values[i],):
            if isinstance(item, Tensor) and item.requires_grad:
                edges.append(item._edge())
                live = True
            else:
                edges.append((None, 0))
    if not live or none_recorded(op, values):
        return None
    node = op.node_type()
    node.extras = None
    number(node)
    node.set_edges(edges)
    known = dict(zip(op.parameters, values, strict=True))
    for name in node.keeps:  # type: ignore[attr-defined]  # an OpNode
        if name not in known:
            known[name] = saved_geometry(arrays[op.parameters.index(geometry_input(name))], name)
    node.save(known, casts)  # type: ignore[attr-defined]  # an OpNode
    return node


def none_recorded(op: type[Op], values: list[Any]) -> bool:
    """Tell whether an op works on inference tensors alone, which no graph is made of."""
    inputs = [values[i] for i in op.tensor_positions if values[i] is not None]
    inputs += () if op.list_position is None else values[op.list_position]
    return all(isinstance(x, Tensor) and x._counter is INFERENCE for x in inputs)


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
    sloped = len(arrays) - op.constants
    if node is not None:
        node.num_inputs = sum(a.dtype.kind == "f" for a in arrays[:sloped])  # indices come last
        if arrays:
            node.shape, node.dtype = arrays[0].shape, arrays[0].dtype
            node.others = [(a.shape, a.dtype) for a in arrays[1:]]
    for index, array in enumerate(arrays):
        result = Tensor._plain_as(Tensor, array)
        if op.view:
            mark_view(result, values[0], multiple=True)
        if node is not None and array.dtype.kind == "f" and index < sloped:
            result._node, result._index, result._requires_grad = node, index, True
        results.append(result)
    if not op.outputs:
        return tuple(results)
    if node is not None:
        for name, result in zip(op.outputs, results, strict=True):
            if name in node.saves:
                node.save_output(name, result)
    return op.result_type(*results)


def type_name(d: dtypes.dtype) -> str:
    """Return the name by which PyTorch's errors call a dtype."""
    return {"float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long",
            "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte",
            "bool": "Bool"}[d.name]
