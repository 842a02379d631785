"""The few names of PyTorch's compiled module that Python code asks for.

The package doesn't need them; they exist for tests and libraries written for PyTorch.
"""

from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, ref

from .. import _state
from ..autograd.grad_mode import is_grad_enabled
from ..autograd.graph import is_multithreading_enabled as _is_multithreading_enabled
from ..autograd.variable import ImperativeEngine as _ImperativeEngine
from ..engine.tasks import current_task
from ..engine.tasks import will_execute as _will_engine_execute_node
from ..op.overrides import Having
from ..ops.linalg.decompositions import LinAlgError as _LinAlgError
from ..tensor.protocols import keep_out as _disabled_torch_function_impl
from ..tensor.tensor import Tensor as TensorBase
from . import _autograd, _functions

_numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # of the passes that were asked for
_next_number = count().__next__

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "TensorBase", "_LinAlgError",
           "_autograd", "_functions", "is_grad_enabled"]


class DisableTorchFunctionSubclass(Having):
    """A block in which the `__torch_function__` of classes is off, but modes stay on.

    >>> from minigrad import ones
    >>> class Mine(TensorBase): pass
    >>> with DisableTorchFunctionSubclass():
    ...     type(ones(1).as_subclass(Mine) + 1).__name__
    'Tensor'
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_state.torch_function.get()._replace(subclasses=False))


class DisableTorchFunction(Having):
    """A block in which no `__torch_function__` is called.

    >>> from minigrad import ones
    >>> class Mine(TensorBase): pass
    >>> with DisableTorchFunction():
    ...     type(ones(1).as_subclass(Mine) + 1).__name__
    'Tensor'
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(_state.torch_function.get()._replace(subclasses=False, modes=()))


def _is_torch_function_enabled() -> bool:
    """Return whether classes can take calls over."""
    return bool(_state.torch_function.get().subclasses)


class _WeakTensorRef:
    """Tell whether a tensor is still there, without keeping it.

    >>> from minigrad import ones
    >>> x = ones(1)
    >>> reference = _WeakTensorRef(x)
    >>> del x
    >>> reference.expired()
    True
    """

    def __init__(self, tensor: TensorBase) -> None:
        self._reference = ref(tensor)

    def expired(self) -> bool:
        """Tell whether the tensor is gone."""
        return self._reference() is None


def _current_graph_task_id() -> int:
    """Return the id of the backward pass that is running; -1 outside one."""
    task = current_task()
    if task is None:
        return -1
    number = _numbers.get(task)
    if number is None:
        number = _numbers[task] = _next_number()
    return number
