"""`Function.apply`: arguments, profiler, transforms, batches and failures around the recording.

`base` is the class Function; a method that `cls` inherits from it is not user-defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _state
from ...batching import level_of
from ...graph.version import version_of
from ...op.error_nodes import poison_history
from ...tensor.tensor import Tensor
from .arguments import by_position, with_defaults
from .vmap import run_on_batches

if TYPE_CHECKING:
    from .function import Function, FunctionNode


def apply_function(base: type[Function], cls: type[Function], args: tuple[Any, ...],
                   kwargs: dict[str, Any]) -> Any:
    """Return the results of a call, after turning keyword arguments into positional ones."""
    if cls.setup_context is not base.setup_context:
        args, kwargs = with_defaults(cls.forward, args, kwargs)
    if kwargs:
        args, kwargs = by_position(cls.forward, args, kwargs), {}
    if _state.observers.count and (recorder := _state.recorder.get()) is not None:
        return recorder.call(cls.__name__, args, _results, base, cls, args, kwargs)
    return _results(base, cls, args, kwargs)


def _results(base: type[Function], cls: type[Function], args: tuple[Any, ...],
             kwargs: dict[str, Any]) -> Any:
    node, results = run_function(base, cls, args, kwargs)
    node.saved_for_forward = None
    return results


def run_function(base: type[Function], cls: type[Function], args: tuple[Any, ...],
                 kwargs: dict[str, Any]) -> tuple[FunctionNode, Any]:
    """Return the context and the results, since forward mode needs both."""
    level = max(map(level_of, args), default=0)
    if _state.observers.count and (transform := _state.transform.get()) is not None and (
            not level or transform.any_tangent([a for a in args if level_of(a)])):
        return transform.function(cls, args, kwargs)
    if level:
        return run_on_batches(base, cls, args, level)
    recording = _state.grad_enabled.get()
    before = []
    if recording:
        for a in args:
            if isinstance(a, Tensor) and (a._node is not None or a._view is not None):
                before.append((a, version_of(a)))
    try:
        return cls._record(args, kwargs)
    except BaseException as error:
        _state.grad_enabled.set(recording)  # Ctrl-C may arrive while the mode is being restored
        for tensor, version in before:
            if version_of(tensor) != version and tensor.requires_grad:
                poison_history(tensor, True, (), f"{cls.__name__}.forward", error, counted=True)
        raise
