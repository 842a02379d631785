"""`torch.autograd.function`: operations with a user-defined forward and backward."""

from .delayed_error import once_differentiable
from .function import Function, FunctionCtx, InplaceFunction
from .nested_io import NestedIOFunction

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "NestedIOFunction", "once_differentiable"]

for _each in (Function, FunctionCtx, InplaceFunction, NestedIOFunction, once_differentiable):
    _each.__module__ = __name__  # as in PyTorch, because pickles and reprs use it
