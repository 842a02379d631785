"""Deprecated signatures with numbers before tensors: `x.add_(-0.1, y)`, `addmm(2, x, a, b)`.

PyTorch still accepts them and warns once.
"""

from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from ..frames import warn_user

if TYPE_CHECKING:
    from .declaration import Op

#: The numbers that can precede an op's tensors, in order.
LEGACY = {
    **dict.fromkeys(("add", "sub"), ("alpha",)),
    **dict.fromkeys(("addcmul", "addcdiv"), ("value",)),
    **dict.fromkeys(("addmm", "addmv", "addr", "addbmm", "baddbmm"), ("beta", "alpha")),
}

_told: set[str] = set()


def numbers_by_name(op: "type[Op]", args: Sequence[Any],
                    kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments with the numbers before the tensors turned into keyword arguments.

    Raise `TypeError` if the number of positional arguments fits no signature of the op.
    """
    extra, last = len(args) - op.positional, op.positional - 1
    first = args[:len(args) - last]  # the tensor to add to, and numbers
    numbers = [value for value in first if isinstance(value, Real)]
    legacy = LEGACY.get(op.name, ())
    names = legacy[:extra]
    fits = len(numbers) == extra == len(names) and not any(name in kwargs for name in names)
    if not fits or (len(legacy) == 1 and first[0] is numbers[0]):
        raise TypeError(f"{op.name}() takes {op.positional} positional argument"
                        f"{'' if op.positional == 1 else 's'} but {len(args)} were given")
    given = dict(zip(names, numbers, strict=True))
    if not _told:
        _told.add(op.name)
        by_name = ", ".join(f"{name}={value}" for name, value in given.items())
        warn_user(f"This overload of {op.name} is deprecated: numbers before tensors.\n"
                  f"Consider passing them by name instead: {by_name}", UserWarning)
    (target,) = (value for value in first if not isinstance(value, Real))
    return [target, *args[len(first):]], kwargs | given
