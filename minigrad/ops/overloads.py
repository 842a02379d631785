"""Helpers for families of ops: one name for several ops, or several names for one op.

PyTorch has two gradient formulas for `x ** 2` and `x ** y` under one name.  Here they are two ops,
and the function with that name chooses one of them.
"""

import inspect

from .. import _state
from ..backend import BACKENDS
from ..dtypes import type_name
from ..op.apply import apply
from ..op.arguments import NUMBERS
from ..op.arguments import is_tensor as is_tensor  # re-exported for neighbouring modules
from ..op.declaration import F
from ..op.inplace import apply_inplace
from ..op.out import call_with_out
from ..op.publish import (
    AUGMENTED,
    FUNCTIONS,
    caller,
    documented,
    inplace_caller,
    operator,
    overridable,
    package_function,
    refuse_bare,
    swapped,
    with_aliases,
    with_out,
)
from ..tensor.tensor import Tensor, method


def is_number(value):
    """Return whether an operand is a number, not a tensor or array."""
    return isinstance(value, NUMBERS) and type(value) not in BACKENDS


def overloaded(*, inplace=True, function=True, aliases=(), dunder=(), method_too=True, out=""):
    """Publish, under the decorated function's name, the ops that it chooses from.

    The function takes the user's arguments, and returns the op and its arguments in the order of
    the op's `forward`.  If it has an argument `dim`, it accepts `axis` too.  `out` says how it
    accepts `out=`, see NOTE [out=] in op/out.py.
    """

    def give(choose):
        if "dim" in inspect.signature(choose).parameters:
            choose = with_aliases(choose)

        @overridable
        def call(*args, **kwargs):
            op, *values = choose(*args, **kwargs)
            return apply(op, values)

        @overridable
        def public_call(*args, **kwargs):
            if kwargs and "out" in kwargs:
                return call_with_out(choose.__name__, out, public_call, args, kwargs)
            op, *values = choose(*args, **kwargs)
            result = apply(op, values)
            if type(result) is not Tensor:
                refuse_bare(choose.__name__, args)
            return result

        @overridable
        def call_inplace(*args, **kwargs):
            op, *values = choose(*args, **kwargs)
            return apply_inplace(op.inplace_op or op, values)

        for name in (choose.__name__, *aliases):
            for suffix, made, public in (("", call, public_call if out else call),
                                         ("_", call_inplace, call_inplace)):
                if (suffix and not inplace) or not (suffix or function):
                    continue
                for each in (made, public):
                    each.__name__ = each.__qualname__ = choose.__name__ + suffix
                    each.__module__, each.__doc__ = "minigrad", choose.__doc__
                    each.__wrapped__ = choose  # for its signature
                vars(F)[name + suffix], FUNCTIONS[name + suffix] = made, public
                if method_too:
                    method(name + suffix)(made)
        if out:
            public_call.__signature__ = with_out(inspect.signature(choose), out)
        if dunder:
            method(dunder[0])(operator(call))
            if inplace:
                method(AUGMENTED[dunder[0]])(operator(call_inplace))
        if len(dunder) > 1:
            method(dunder[1])(operator(swapped(call)))
        return call

    return give


def alias(op, *names):
    """Publish an op and its in-place variant under further names."""
    for name in names:
        call = documented(overridable(caller(op)), op, op.name)
        vars(F)[name] = call
        FUNCTIONS[name] = package_function(call, op)
        method(name)(call)
        if op.inplace:
            inplace = documented(overridable(inplace_caller(op)), op, op.name + "_")
            FUNCTIONS[name + "_"] = inplace
            method(name + "_")(inplace)


def depend_on(result, *inputs):
    """Add a zero that depends on `inputs` to a gradient, as PyTorch's backward functions do.

    This gives a second backward pass a path to the inputs.  On arrays it is a no-op.
    """
    for input in inputs:
        if isinstance(input, Tensor) and not result.requires_grad and _state.grad_enabled.get():
            way = F.where(F.gt(F.zeros_like(input), 0), input, 0)  # zeros, even for infinities
            result = result + (way if way.shape == result.shape else F.sum(way))
    return result


vars(F)["depend_on"] = depend_on


def refuse_gradient(function, **arguments):
    """Raise PyTorch's error if an argument requires grad but the function has no gradient for it.
    """
    for name, value in arguments.items():
        if (isinstance(value, Tensor) and value.requires_grad and _state.grad_enabled.get()
                and not _state.inference_enabled.get()):
            raise RuntimeError(f"The function '{function}' is not differentiable with respect to "
                               f"argument '{name}'. This input cannot have requires_grad True.")


def refuse_integers(input, value):
    """Raise PyTorch's error if integers would be filled with a value that requires grad."""
    if (isinstance(value, Tensor) and isinstance(input, Tensor) and value.requires_grad
            and not input.dtype.is_floating_point and _state.grad_enabled.get()
            and not _state.inference_enabled.get()):
        raise RuntimeError(f"Autograd not support dtype: {type_name(input.dtype)}")
