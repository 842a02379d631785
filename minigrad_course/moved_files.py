"""The places of exercises in earlier editions, so that `upgrade` finds a learner's answers."""

from __future__ import annotations

from minigrad.utils.moved_modules import MOVED

__all__ = ["earlier_path"]

#: Files that the table of moved modules lacks: the old name is a package now, or the file was
#: split off another one.
_ALSO = {"graph/node.py": "graph.py", "tensor/tensor.py": "tensor.py",
         "op/declaration.py": "op.py", "graph/version.py": "saved.py"}


def earlier_path(path: str) -> str | None:
    """Return where a module of the package lay before; None if it has not moved.

    >>> earlier_path("engine/engine.py")
    'autograd/engine.py'
    >>> earlier_path("autograd/function.py")
    """
    module = path.removesuffix(".py").replace("/", ".")
    moved = {new: old for old, new in MOVED.items()}
    return _ALSO.get(path) or (f"{moved[module].replace('.', '/')}.py" if module in moved else None)
