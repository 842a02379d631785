"""Lets a backend run a kernel of its choice in place of an op's forward or gradient formula.

A formula can then read like mathematics, and a GPU still runs it as one kernel.
"""

import functools
import inspect

import numpy as np

from ..backend import BACKENDS


def own_kernel(name, *takes):
    """Run the backend's kernel `name`, if it has one, in place of an op's forward or formula.

    The kernel gets the function's arguments, or only those listed in `takes`.  If the backend has
    no such kernel, if the kernel returns `NotImplemented`, or if the arguments are tensors, the
    function itself runs.
    """

    def give(function):
        parameters = list(inspect.signature(function).parameters)
        positions = [parameters.index(each) for each in takes or parameters if each != "xp"]
        is_forward = parameters[0] == "xp"

        @functools.wraps(function)
        def call(first, *rest):
            if type(first) is np.ndarray:  # a fast path, because NumPy arrays are the most common
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
