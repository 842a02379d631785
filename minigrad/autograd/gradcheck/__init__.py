"""`torch.autograd.gradcheck`: compare derivatives with finite differences.

`autograd` exports the function under the same name, so `torch.autograd.gradcheck` is the function,
and only imports reach this module: `from minigrad.autograd.gradcheck import gradgradcheck`.
"""

from .check_function import gradcheck, gradgradcheck
from .deprecated import get_analytical_jacobian, get_numerical_jacobian
from .numerical import GradcheckError

__all__ = ["GradcheckError", "get_analytical_jacobian", "get_numerical_jacobian", "gradcheck",
           "gradgradcheck"]

for _each in (GradcheckError, get_analytical_jacobian, get_numerical_jacobian, gradcheck,
              gradgradcheck):
    _each.__module__ = __name__  # as in PyTorch, because tracebacks and pickles use it
