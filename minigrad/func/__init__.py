"""Function transforms, which nest: derivatives of functions, and functions on batches.

Source: https://docs.pytorch.org/docs/stable/func.html
"""

from typing import TYPE_CHECKING

from .. import on_demand

if TYPE_CHECKING:
    from .functional_call import functional_call, stack_module_state
    from .jacobians import hessian, jacfwd, jacrev
    from .transforms import grad, grad_and_value, jvp, linearize, value_and_grad, vjp
    from .vmap import vmap
else:
    __getattr__, __dir__ = on_demand.attributes(__name__)

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
           "linearize", "stack_module_state", "value_and_grad", "vjp", "vmap"]
