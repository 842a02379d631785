"""Names in a pickle: they're PyTorch's, such as `torch.nn.modules.linear.Linear`.

The package's public classes have the same `__module__` as PyTorch's, except that it begins with
`minigrad` instead of `torch`.
"""

from __future__ import annotations

import pickle
from typing import Any

from .. import dtypes
from ..on_demand import module_of

__all__ = ["found", "name_in_pytorch"]

_PACKAGE = __name__.partition(".")[0]

#: Modules that PyTorch's pickles name although its documentation has other names for them.
PRIVATE = {"torch._C._nn": "nn.functional", "torch._tensor": "", "torch.tensor": "",
           "torch._C": "", "torch._C._VariableFunctions": ""}


def name_in_pytorch(obj: Any, name: str | None) -> tuple[str, str] | None:
    """Return module and name of one of the package's classes or functions, or `None`.

    >>> from minigrad import nn
    >>> name_in_pytorch(nn.Linear, None), name_in_pytorch(dict, None)
    (('torch.nn.modules.linear', 'Linear'), None)
    """
    name = name or getattr(obj, "__qualname__", None) or obj.__name__
    module = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]  # not in its stubs
    first, _, rest = module.partition(".")
    if first not in (_PACKAGE, "torch"):
        return None
    as_torch = f"torch.{rest}" if rest else "torch"
    try:
        is_there = found(as_torch, name) is obj
    except (ImportError, AttributeError):
        is_there = False
    if not is_there:
        raise pickle.PicklingError(f"Can't pickle {obj!r}: it's not found as {module}.{name}")
    return as_torch, name


def found(module: str, name: str) -> Any:
    """Return the package's object for a name of PyTorch's.

    >>> found("torch.optim.sgd", "SGD").__name__
    'SGD'
    """
    if module == "torch" and name == "bfloat16":
        return dtypes.float32
    path = PRIVATE.get(module)
    if path is None:
        path = module.partition(".")[2]
    value: Any = module_of(path)
    for part in name.split("."):
        value = getattr(value, part)
    return value
