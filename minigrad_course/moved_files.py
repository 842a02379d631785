"""The places of exercises in earlier editions, so that `upgrade` finds a learner's answers.

Exercises that only have another number stand in no table: see NOTE [Answers follow their symbols]
in answered.py.
"""

from __future__ import annotations

__all__ = ["earlier_path", "earlier_symbols"]

#: The earlier path of each file that has moved.
_EARLIER = {"graph/node.py": "graph.py", "tensor/tensor.py": "tensor.py",
            "graph/saved_tensor.py": "saved.py", "engine/engine.py": "autograd/engine.py",
            "op/declaration.py": "op.py", "graph/version.py": "saved.py"}

#: Symbols of exercises that had another name, or stood in another file, by what they are now.
MOVED_SYMBOLS = {"autograd/function/saved.py:keep": "autograd/functions/outputs.py:keep"}


def earlier_path(path: str) -> str | None:
    """Return where a module of the package lay before; None if it has not moved.

    >>> earlier_path("engine/engine.py")
    'autograd/engine.py'
    >>> earlier_path("autograd/backward.py")
    """
    return _EARLIER.get(path)


def earlier_symbols(symbol: str) -> list[str]:
    """Return "path:symbol" as it is now and as it was in earlier editions.

    >>> earlier_symbols("engine/engine.py:execute")
    ['engine/engine.py:execute', 'autograd/engine.py:execute']
    """
    known = [symbol, *([MOVED_SYMBOLS[symbol]] if symbol in MOVED_SYMBOLS else [])]
    for each in tuple(known):
        path, _, name = each.partition(":")
        if (earlier := earlier_path(path)) is not None:
            known.append(f"{earlier}:{name}")
    return known
