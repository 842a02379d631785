"""Twins of `op.apply.run_op` for ops of one or two tensors: one closure for each op.

The common case is one or two plain tensors with the same dtype (or a tensor and a Python number),
no interceptor, no keyword arguments.  Every other case, and every error, is left to the generic
function.  The first closure of an op is for the CPU; for arrays of a device it calls `fallback`,
see devices.py.

With a graph recorded, on four elements, `mul` takes 2.5 us in place of 7.7, `exp` 1.7 in place of
5.9 (the best of seven runs, one thread).
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, cast

import numpy as np

from .. import _state
from ..backend import BACKENDS, Backend, numpy_backend
from ..graph.node import next_sequence, read_sequence
from ..graph.special_versions import INFERENCE
from ..graph.version import Version
from ..op.apply import shares_memory
from ..op.declaration import Op
from ..op.publish import documented
from ..tensor.tensor import Parameter, Tensor
from ..tensor.views import mark_view
from .devices import beside_numbers_of_host, on_devices

Function = Callable[..., Any]
_new = object.__new__
_ndarray = np.ndarray
_FLOATS = tuple(np.dtype(n) for n in ("float32", "float64", "float16"))

_numbers: dict[Any, Any] = {}


def number_array(value: float, dtype: Any) -> Any:
    """Return a number as a read-only 0-d array; combining an array with one is twice as fast."""
    found = _numbers.get((value, dtype))
    if found is None:
        found = np.asarray(value).astype(dtype)
        found.flags.writeable = False
        if value:  # 0.0 and -0.0 would share a key
            if len(_numbers) > 1024:
                _numbers.clear()
            _numbers[value, dtype] = found
    return found


def specialised(op: type[Op], generic: Function) -> Function | None:
    """Return the closure for an op of one or two tensors, or None where there is none."""
    positional = [n for n in op.parameters if n not in op.keyword_only]
    if (op.outputs or op.list_of_tensors or op.many
            or op.not_implemented_derivative
            or op.promoted != op.tensors):
        return None
    differentiable = op.differentiable == op.tensors
    if positional == ["self"] and op.tensors == ("self",) and (differentiable or not op.formulas):
        make = unary
    elif (positional == ["self", "other"] and op.tensors == ("self", "other") and op.promote
          and not op.view and (differentiable or not op.formulas)
          and not getattr(op.node_type, "geometry", None)):  # sizes are kept by general.py
        make = binary
    else:
        return None

    def closure(xp: Backend, fallback: Function) -> Function:
        return observable(make, op, xp, generic, fallback)

    rest = op.default_values[len(positional):]

    def values_of(*args: Any) -> list[Any]:
        return [*args, *rest]

    return documented(closure(numpy_backend, on_devices(op, closure, generic, values_of)), op,
                      op.name)


#: For closures that no observer stops.
NOBODY = _state.Observers()


def observable(make: Callable[..., Function], op: type[Op], xp: Backend, generic: Function,
               fallback: Function) -> Function:
    """Return the closure that `make` gives; while an observer is on, it calls another function.

    This is the generic function.  If a profile that accepts reports afterwards is the only
    observer, or ops have passed the levels of forward mode, it is a second closure from `make`, so
    that they stay fast.
    """
    fast = make(op, xp, generic, fallback, NOBODY, generic)
    observers, read_recorder = _state.observers, _state.recorder.get
    beneath_levels = _state.beneath_levels

    def traced(*args: Any) -> Any:
        if beneath_levels():
            return fast(*args)
        recorder = read_recorder()
        if recorder is None or observers.count > 1 or not recorder.quick:
            return generic(*args)
        out = None
        start = perf_counter_ns()
        try:
            out = fast(*args)
            return out
        finally:
            recorder.ran(op, start, out, args)

    return make(op, xp, generic, fallback, observers, traced)


def give_vjp_fns(op: type[Op]) -> None:
    """Let the engine's fast path run the formulas of an op with one output."""
    if op.formulas and not (op.outputs or op.list_of_tensors or op.many):
        formulas, node_type = op.formulas.values(), cast(Any, op.node_type)
        node_type.vjp_fns = tuple([runner(op, f, names, True) for f, names in formulas])
        node_type.tensor_vjp_fns = tuple([runner(op, f, names, False) for f, names in formulas])


def runner(op: type[Op], formula: Function, names: tuple[str, ...], arrays: bool) -> Function:
    """Return `any_runner`, spelt out for the commonest names, for speed."""
    if names == ("g", "self"):

        def run_self(node: Any, g: Any) -> Any:
            kept, version = node._value_self, node._version_self
            if type(version) is not int:
                return formula(g, node.unpack("self", arrays))
            counter = kept._counter
            if version != (0 if counter is None else counter.value):
                node.unpack("self", arrays)  # raises
            return formula(g, kept._array if arrays else kept)

        return run_self
    if names == ("g", "other"):

        def run_other(node: Any, g: Any) -> Any:
            kept, version = node._value_other, node._version_other
            if type(version) is not int:
                return formula(g, version if arrays and type(version) is _ndarray
                               else node.unpack("other", arrays))
            counter = kept._counter
            if version != (0 if counter is None else counter.value):
                node.unpack("other", arrays)  # raises
            return formula(g, kept._array if arrays else kept)

        return run_other
    if names == ("g", "result"):

        def run_result(node: Any, g: Any) -> Any:
            if node._version_result is None or node._counter_result.value != node._version_result:
                return formula(g, node.unpack("result", arrays))
            return formula(g, node._value_result if arrays else result_of(node))

        return run_result
    return any_runner(op, formula, names, arrays)


def result_of(node: Any) -> Tensor:
    """Return the saved result as a tensor, made anew; `unpack_output` of the only output."""
    tensor = Tensor._plain(node._value_result)
    tensor._counter = node._counter_result
    tensor._node, tensor._requires_grad = node, True
    return tensor


def any_runner(op: type[Op], formula: Function, names: tuple[str, ...], arrays: bool) -> Function:
    """Return `run(node, g)`: a formula, on arrays or tensors, with what it names from the node."""
    if names == ("g",):
        return lambda node, g: formula(g)
    if names[:1] == ("g",) and "grads" not in names:
        getters = [getter(op, name, arrays) for name in names[1:]]
        if len(getters) == 1:
            (get,) = getters
            return lambda node, g: formula(g, get(node))
        return lambda node, g: formula(g, *[get(node) for get in getters])
    return lambda node, g: formula(*[node.value(n, (g,), arrays) for n in names])


def getter(op: type[Op], name: str, arrays: bool) -> Function:
    """Return `get(node)`: what a formula's argument stands for; `arrays` in place of tensors."""
    node_type: Any = op.node_type
    slot = node_type.arg_slots.get(name)
    if slot is not None:
        default = op.defaults.get(name)
        return lambda node: getattr(node, slot, default)
    value_slot, version_slot, _ = node_type.slots_of[name]
    if name == "result":
        return lambda node: node.unpack("result", arrays)
    read_value = getattr(node_type, value_slot).__get__
    read_version = getattr(node_type, version_slot).__get__

    def get(node: Any) -> Any:
        version = read_version(node)
        if type(version) is int:
            kept = read_value(node)
            counter = kept._counter
            if version == (0 if counter is None else counter.value):
                return kept._array if arrays else kept
        return node.unpack(name, arrays)

    return get


def unary(op: type[Op], xp: Backend, generic: Function, fallback: Function,
          observers: _state.Observers, traced: Function) -> Function:
    """Make the closure of an op with one tensor; where `observers` are on it calls `traced`."""
    forward, array_type, as_array, node_type = op.forward, xp.array_type, xp.as_array, op.node_type
    names = op.formulas["self"][1] if op.formulas else ()
    keeps_self, keeps_result = "self" in names, "result" in names
    recorded, to_float, is_view = bool(op.formulas), op.promote == "float", op.view
    grad_enabled = _state.grad_enabled.get

    def call(input: Any, **kwargs: Any) -> Any:
        kind = type(input)
        if kwargs:
            return generic(input, **kwargs)
        if observers.count:
            return traced(input)
        if kind is not Tensor and kind is not Parameter:
            if kind is array_type and not (to_float and input.dtype not in _FLOATS):
                try:
                    r = forward(xp, input)  # in a formula
                except Exception:
                    return generic(input)
                return r if type(r) is array_type else as_array(r)
            return fallback(input)
        a = input._array
        if type(a) is not array_type or (to_float and a.dtype not in _FLOATS):
            return fallback(input)
        try:
            r = forward(xp, a)
        except Exception:
            return generic(input)  # which says what is wrong
        if type(r) is not array_type:
            r = as_array(r)
        out = _new(Tensor)
        out._array = r
        out._index = 0
        out._counter = out._view = out._grad = out._extras = None
        if is_view:
            out._node, out._requires_grad = None, False
            if shares_memory(r, a):
                mark_view(out, input)
            else:
                r = out._array = r.copy()
        if recorded and (input._requires_grad if input._view is None else input.requires_grad) and (
                grad_enabled()) and r.dtype in _FLOATS:
            node: Any = _new(node_type)
            node.extras = None
            count = read_sequence()
            node.sequence = next_sequence() if count is None else count()
            node.shape = r.shape
            node.dtype = r.dtype
            before = input._node
            if before is None or input._view is not None:
                if input._counter is INFERENCE:
                    return generic(input)
                node.next0, node.index0 = input._edge()
            else:
                node.next0 = before
                node.index0 = input._index
            if keeps_self:
                counter = input._counter
                node._version_self = 0 if counter is None else counter.value
                node._value_self = input
            if keeps_result:
                counter = out._counter = _new(Version)
                counter.value = 0
                node._counter_result = counter
                node._version_result = 0
                node._value_result = r
            out._node = node
            out._requires_grad = True
        else:
            out._node = None
            out._requires_grad = False
        return out

    return call


def binary(op: type[Op], xp: Backend, generic: Function, fallback: Function,
           observers: _state.Observers, traced: Function) -> Function:
    """Make the closure of an op with two tensors, or a tensor and a number; see `unary`."""
    forward, array_type, as_array, node_type = op.forward, xp.array_type, xp.as_array, op.node_type
    on_host = xp is numpy_backend
    if not on_host:
        forward = beside_numbers_of_host(forward)
    first = op.formulas["self"][1] if op.formulas else ()
    second = op.formulas["other"][1] if op.formulas else ()
    keeps_self, keeps_other = "self" in first + second, "other" in first + second
    self_for_self, self_for_other = "self" in first, "self" in second
    other_for_self, other_for_other = "other" in first, "other" in second
    keeps_result = "result" in first + second
    recorded, to_float = bool(op.formulas), op.promote == "float"
    grad_enabled = _state.grad_enabled.get
    numbers = _numbers
    beside_numbers = (_FLOATS[:2] if op.float32_scalars else _FLOATS) if op.numbers else ()

    def call(input: Any, other: Any) -> Any:
        if observers.count:
            return traced(input, other)
        kind = type(input)
        if kind is not Tensor and kind is not Parameter:
            if kind is not array_type:
                return fallback(input, other)
            dtype, kind = input.dtype, type(other)
            if (kind is array_type or kind is _ndarray) and other.dtype is dtype and not (
                to_float and dtype not in _FLOATS
            ):
                b = other
            elif (kind is float or kind is int) and dtype in beside_numbers:
                b = number_array(other, dtype)
            else:
                return generic(input, other)
            try:
                r = forward(xp, input, b)  # in a formula
            except Exception:
                return generic(input, other)
            return r if type(r) is array_type else as_array(r)
        a = input._array
        dtype = a.dtype
        kind = type(other)
        if kind is Tensor or kind is Parameter:
            b = other._array
            if b.dtype is not dtype or (to_float and dtype not in _FLOATS):
                return generic(input, other)
            if other._view is None:
                live1 = other._requires_grad
            else:
                live1 = other.requires_grad
        elif (kind is float or kind is int) and dtype in beside_numbers:
            b = numbers.get((other, dtype))
            if b is None:
                b = number_array(other, dtype)
            live1 = False
        else:
            return generic(input, other)
        if type(a) is not array_type:
            return fallback(input, other)
        try:
            r = forward(xp, a, b)
        except Exception:
            return generic(input, other)  # which says what is wrong
        if type(r) is not array_type:
            if type(r) in BACKENDS:  # `b` was on a device, which took the work on
                return generic(input, other)
            r = as_array(r)
        out = _new(Tensor)
        out._array = r
        out._index = 0
        out._counter = out._view = out._grad = out._extras = None
        live0 = input._requires_grad if input._view is None else input.requires_grad
        if recorded and (live0 or live1) and grad_enabled() and r.dtype in _FLOATS:
            if type(b) is not array_type and kind is not float and kind is not int:
                return generic(input, other)  # a tensor of the host beside a device's array
            node: Any = _new(node_type)
            node.extras = None
            count = read_sequence()
            node.sequence = next_sequence() if count is None else count()
            node.shape = r.shape
            node.dtype = dtype
            if live0:
                before = input._node
                if before is None or input._view is not None:
                    if input._counter is INFERENCE:
                        return generic(input, other)
                    node.next0, node.index0 = input._edge()
                else:
                    node.next0 = before
                    node.index0 = input._index
            else:
                node.next0 = None
                node.index0 = 0
            if live1:
                before = other._node
                if before is None or other._view is not None:
                    if other._counter is INFERENCE:
                        return generic(input, other)
                    node.next1, node.index1 = other._edge()
                else:
                    node.next1 = before
                    node.index1 = other._index
            else:
                node.next1 = None
                node.index1 = 0
            if keeps_self:
                if (self_for_self and live0) or (self_for_other and live1):
                    counter = input._counter
                    node._version_self = 0 if counter is None else counter.value
                    node._value_self = input
                else:
                    node._version_self = node._value_self = None
            if keeps_other:
                if (other_for_self and live0) or (other_for_other and live1):
                    if kind is float or kind is int:
                        node._version_other = b if on_host else None  # NOTE [Saved values ...]
                        node._value_other = other
                    else:
                        counter = other._counter
                        node._version_other = 0 if counter is None else counter.value
                        node._value_other = other
                else:
                    node._version_other = node._value_other = None
            if keeps_result:
                counter = out._counter = _new(Version)
                counter.value = 0
                node._counter_result = counter
                node._version_result = 0
                node._value_result = r
            out._node = node
            out._requires_grad = True
        else:
            out._node = None
            out._requires_grad = False
        return out

    return call

