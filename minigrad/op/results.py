"""The named tuples in which ops return several results."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

#: The named tuples by the names that `return_types` has for them.
RESULTS: dict[str, Any] = {}


def named_result(name: str, outputs: tuple[str, ...]) -> Any:
    """Make the named tuple in which an op returns several outputs.

    >>> named_result("max", ("values", "indices"))(2.5, 1)
    torch.return_types.max(
    values=2.5,
    indices=1)
    """
    if name in RESULTS and RESULTS[name]._fields == outputs:
        return RESULTS[name]
    made: Any = namedtuple(name, outputs)  # type: ignore[misc]  # the names come from the op
    made.__module__ = "minigrad.return_types"
    made.__qualname__ = name
    setattr(made, "__repr__", show_result)  # noqa: B010  # mypy rejects a plain assignment
    RESULTS[name] = made
    return made


def show_result(result: Any) -> str:
    """Return the text that PyTorch prints for several outputs.

    >>> print(show_result(named_result("max", ("values", "indices"))(2.5, 1)))
    torch.return_types.max(
    values=2.5,
    indices=1)
    """
    fields = ",\n".join(f"{n}={v!r}" for n, v in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{fields})"
