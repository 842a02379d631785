"""Kernels that a backend has of its own, in place of an op's forward or formula.

So a formula reads as mathematics, and a GPU runs it as one kernel.
"""

import functools
import inspect

import numpy as np

from ..backend import BACKENDS


def own_kernel(name, *takes):
    """Run a backend's own kernel of this name in place of an op's forward or formula.

    The kernel gets the function's arguments, or those named in `takes`.  If the backend has no
    such kernel, or the kernel returns `NotImplemented`, the function runs; so it does on tensors.
    """

    def give(function):
        parameters = list(inspect.signature(function).parameters)
        positions = [parameters.index(each) for each in takes or parameters if each != "xp"]
        is_forward = parameters[0] == "xp"

        @functools.wraps(function)
        def call(first, *rest):
            if type(first) is np.ndarray:  # the commonest formulas, with less to do
                return function(first, *rest)
            backend = first if is_forward else BACKENDS.get(type(first))
            kernel = getattr(backend, name, None)
            if kernel is not None:
                arguments = (first, *rest)
                result = kernel(*[arguments[i] for i in positions])
                if result is not NotImplemented:
                    return result
            return function(first, *rest)

        return call

    return give
