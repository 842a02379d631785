"""The few names of PyTorch's compiled module that Python code asks for.

Nothing of the package needs them: they stand where tests and libraries written for PyTorch look.
"""

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.graph import is_multithreading_enabled as _is_multithreading_enabled
from ..autograd.tasks import current_task
from ..autograd.tasks import will_execute as _will_engine_execute_node
from ..autograd.variable import ImperativeEngine as _ImperativeEngine
from ..tensor import Tensor as TensorBase
from . import _autograd, _functions

__all__ = ["TensorBase", "_autograd", "_functions", "is_grad_enabled"]


def _current_graph_task_id() -> int:
    """Return a number of the backward pass that is running; -1 outside one."""
    task = current_task()
    return -1 if task is None else id(task)
