"""`Variable`, a deprecated name for tensors, and the engine as an object.

Source: https://docs.pytorch.org/docs/stable/autograd.html#variable-deprecated
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.engine import execute, queue_callback
from ..engine.tasks import is_checkpoint_valid
from ..frames import type_in_error, warn_user
from ..op.declaration import F
from ..tensor.tensor import Tensor
from .backward import as_tuple, root_edges, root_gradients
from .function.function import FunctionNode

__all__ = ["Variable", "VariableMeta"]


class ImperativeEngine:
    """The engine object that PyTorch's code uses as `Variable._execution_engine`."""

    def run_backward(
        self,
        tensors: Tensor | Sequence[Tensor],
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: tuple[Tensor, ...] = (),
        allow_unreachable: bool = True,
        accumulate_grad: bool = False,
    ) -> tuple[Tensor | None, ...]:
        """Run a backward pass; return the gradients of `inputs` unless `accumulate_grad`.

        Raises `RuntimeError` for an unreachable input, unless `allow_unreachable`.
        """
        roots, grad_outputs = as_tuple(tensors), as_tuple(grad_tensors)
        for i, (root, grad) in enumerate(zip(roots, grad_outputs)):
            if grad is None and root.requires_grad:
                raise RuntimeError(f"element {i} of gradients tuple is None, but the corresponding "
                                   "Tensor requires grad")
        edges = root_edges(roots)
        grads = root_gradients(roots, grad_outputs, create_graph)
        if not isinstance(inputs, tuple):
            raise RuntimeError("inputs to run_backward must be a tuple")
        if not inputs:
            execute(edges, grads, keep_graph, create_graph)
            return ()
        if accumulate_grad:
            for input in inputs:
                input.retain_grad()
        results = execute(edges, grads, keep_graph, create_graph, [x._edge() for x in inputs],
                          accumulate=accumulate_grad)
        if accumulate_grad:
            return ()
        for i, grad in enumerate(results):
            if grad is None and not allow_unreachable:
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the "
                    "graph. Set allow_unused=True if this is the desired behavior.")
        return tuple(g if g is None or isinstance(g, Tensor) else Tensor._plain(g)
                     for g in results)

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call `callback()` at the end of the backward pass that is running."""
        queue_callback(callback)

    def is_checkpoint_valid(self) -> bool:
        """Return whether the running passes allow reentrant checkpointing."""
        return is_checkpoint_valid()


class VariableMeta(type):
    """Metaclass that makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """Deprecated: `Variable(tensor, requires_grad)` returns a tensor.

    The result shares the memory of `data`, without its history.  Raises `TypeError` unless `data`
    is a tensor.  `volatile` warns that it has no effect.

    >>> from minigrad import tensor
    >>> Variable(tensor([1.0]), requires_grad=True)
    tensor([1.], requires_grad=True)
    >>> isinstance(tensor(1.0), Variable)
    True
    """

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False,
                _grad_fn: Any = None, name: str | None = None) -> Any:
        if volatile:
            warn_user("volatile was removed and now has no effect. Use `with torch.no_grad():` "
                      "instead.", UserWarning)
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if _grad_fn is not None and not isinstance(_grad_fn, FunctionNode):
            raise TypeError("_grad_fn has to be a Function object or None, but got "
                            f"{type_in_error(_grad_fn)}")
        if data is None:
            data = F.empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_in_error(data)}")
        made: Tensor = data.detach()
        if _grad_fn is not None:
            made._node, made._requires_grad = _grad_fn, True
        elif requires_grad:
            made.requires_grad_()
        if name is not None:
            made.name = name
        return made


def _is_volatile(self: Tensor) -> bool:
    """Always False; use `torch.no_grad()` instead.

    >>> import minigrad, warnings
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always"); minigrad.zeros(1).volatile
    False
    >>> print(shown[0].message)
    volatile was removed (Variable.volatile is always False)
    """
    warn_user("volatile was removed (Variable.volatile is always False)", UserWarning)
    return False


def _set_volatile(self: Tensor, value: bool) -> None:
    warn_user("volatile was removed and now has no effect. Use `with torch.no_grad():` "
              "instead.", UserWarning)


setattr(Tensor, "volatile", property(_is_volatile, _set_volatile))  # noqa: B010  # to mypy Tensor has none
