"""The generated functions of an op, and the functions that handle all other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _state
from ..backend import BACKENDS, Backend, numpy_backend
from ..op.apply import run_op
from ..op.declaration import Op
from ..op.publish import documented
from .arrays import ArraysWriter
from .backward import StepWriter, has_plain_formulas
from .binding import BindingWriter
from .forward import ABSENT, Writer, is_served, takes_tensors_alone
from .inplace import InplaceWriter, writes_in_place
from .numbers import as_given
from .written import Written

Function = Callable[..., Any]


def function_of(op: type[Op], taught: Function, form: str) -> Function:
    """Return the generated function of an op, or the taught one if it cannot be generated.

    `form` is "steps", "operator", "function" or "package"; the last one is the function of the
    package, which rejects bare arrays.
    """
    if not is_served(op):
        return taught
    if form == "steps":
        write_nodes(op)
        op.changed += (lambda: write_nodes(op),)
        return written(op, form, numpy_backend, lambda *values: run_op(op, as_given(values)))
    if form == "in-place operator" and not writes_in_place(op):
        return taught
    if form == "operator" and not takes_tensors_alone(op):
        return taught

    def call(*values: Any, **named: Any) -> Any:
        return taught(*[v for v in as_given(values) if v is not ABSENT], **named)

    make = written if takes_tensors_alone(op) else bound
    function = make(op, form, numpy_backend, call)
    return documented(function, op, taught.__name__, vars(taught).get("__signature__"))


def bound(op: type[Op], form: str, xp: Backend, taught: Function) -> Any:
    """Return the function of an op that orders its arguments, generated at the first call."""
    made = Written(op.name, f"{op.__name__} {form}", lambda: BindingWriter(op, form).text(
        taught=taught, observers=_state.observers, overriding=_state.overriding))
    made.function.__wrapped__ = op.written_out  # for inspect.getsource
    return made.function


def written(op: type[Op], form: str, xp: Backend, taught: Function) -> Any:
    """Return a function of an op for arrays of `xp`, generated at the first call."""
    observers = _state.observers.recording if form == "steps" else _state.observers
    others = {"observers": observers, "taught": taught, "watching": _state.observers,
              "on_arrays": taught, "elsewhere": taught}
    if xp is numpy_backend and form != "in-place operator":
        others["elsewhere"] = elsewhere(op, form, taught)
    if form not in ("package", "in-place operator"):
        on_arrays = Written(op.name, f"{op.__name__} {form} on arrays of {xp.name}",
                            lambda: ArraysWriter(op, form, xp).text(**others))
        others["on_arrays"] = on_arrays.function
        op.changed += (on_arrays.forget,)
    writer = InplaceWriter if form == "in-place operator" else Writer
    made = Written(op.name, f"{op.__name__} {form} {xp.name}",
                   lambda: writer(op, form, xp).text(**others))
    op.changed += (made.forget,)
    made.function.on_arrays = others["on_arrays"]
    return made.function


def elsewhere(op: type[Op], form: str, taught: Function) -> Function:
    """Return the function that handles arrays of other backends: batches, or arrays of a device.

    The function for a device is generated at its first call.  The taught function handles work on
    any stream other than the device's default.
    """
    made: dict[Backend, Function] = {}
    positions = op.tensor_positions
    rest = [] if form == "steps" else op.default_values[len(op.tensors):]

    def call(*values: Any) -> Any:
        operands = values if form != "steps" else [values[i] for i in positions]
        arrays = [getattr(each, "_array", each) for each in operands if each is not ABSENT]
        for array in arrays:
            xp = BACKENDS.get(type(array))
            if xp is not None and xp.run_op is not None:
                return xp.run_values(op, [*as_given(values), *rest])
        xp = BACKENDS.get(type(arrays[0]))
        if xp is None or xp is numpy_backend or xp.place_of(arrays):
            return taught(*values)
        if xp not in made:
            made[xp] = written(op, form, xp, taught)
        return made[xp](*as_given(values))

    return call


def write_nodes(op: type[Op]) -> None:
    """Give an op's nodes steps that are generated at their first call."""
    node_type: Any = op.node_type
    if has_plain_formulas(op):
        node_type.is_written = True
        for on_arrays in (True, False):
            writer = StepWriter(op, on_arrays)
            made = Written(writer.name, f"{node_type.__name__} {writer.name}", writer.text)
            setattr(node_type, writer.name, made.function)


def texts_of(op: type[Op]) -> dict[str, str]:
    """Return the code generated for an op on NumPy arrays, by title; empty if no code is generated.

    >>> from minigrad.op.declaration import REGISTRY
    >>> list(texts_of(REGISTRY["Mul"]))
    ['operator', 'backward on arrays', 'backward on tensors']
    >>> texts_of(REGISTRY["Cat"])
    {}
    """
    if not is_served(op):
        return {}
    form = "steps" if not takes_tensors_alone(op) else "operator" if op.dunder else "function"
    title = "operator" if form == "operator" else "function"
    texts = {title: Writer(op, form, numpy_backend).text().source}
    if has_plain_formulas(op):
        texts["backward on arrays"] = StepWriter(op, True).text().source
        texts["backward on tensors"] = StepWriter(op, False).text().source
    return texts
