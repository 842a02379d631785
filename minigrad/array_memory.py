"""What can be told of the memory of an array: whether it is dense, whether it is held alone."""

from __future__ import annotations

from sys import getrefcount
from typing import Any

import numpy as np

Array = Any


def holds_alone(view: Array) -> bool:
    """Tell whether a view of a whole array is all that refers to that array.

    >>> import numpy as np
    >>> a = np.ones((2, 3)); holds_alone(a.T), holds_alone(np.ones((2, 3)).T)
    (False, True)
    """
    if type(view) is not np.ndarray:
        return False  # see NOTE [Memory of device arrays] in array_info
    base: Any = view.base
    whole = type(base) is type(view) and base.base is None and base.nbytes == view.nbytes
    del base  # which would be one more reference
    return whole and references_to_base(view) == _ALONE


def references_to_base(view: Array) -> int:
    """Count the references to the array that a view looks at, those of counting included."""
    whole = view.base
    return getrefcount(whole)


_ALONE = references_to_base(np.ones((2, 3)).T)  # interpreters differ in what counting adds


def is_dense(array: Array) -> bool:
    """Tell whether the array's elements fill its memory without gaps or overlap, in any order."""
    if array.flags.c_contiguous:
        return True
    step = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n == 1:
            continue
        if stride != step:
            return False
        step *= n
    return True
