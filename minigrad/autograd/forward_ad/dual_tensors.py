"""Forward mode: dual tensors that carry a tangent through every operation.

Source: https://docs.pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from ..._state import having
from ...frames import type_in_error
from ...ops.shape.as_strided import Alias
from ...tensor.tensor import Tensor
from ..grad_mode import _Mode
from .tangents import Beneath, TangentLevel, require_size

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual",
           "unpack_dual"]

_current: ContextVar[TangentLevel | None] = ContextVar("dual_level", default=None)


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`: the value, and the tangent or `None`.

    >>> from minigrad import tensor
    >>> with dual_level():
    ...     primal, tangent = unpack_dual(make_dual(tensor(3.0), tensor(1.0)) ** 2)
    >>> primal, tangent
    (tensor(9.), tensor(6.))
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Enter a level of forward mode and return its number, 0; raise `RuntimeError` inside another.

    >>> enter_dual_level(); exit_dual_level()
    0
    """
    refuse_nesting(_current.get())
    level = TangentLevel()
    level.__enter__()
    _current.set(level)
    return 0


def refuse_nesting(outer: TangentLevel | None) -> None:
    """Raise if a level is open, since only a `func.jvp` may nest, inside another `func.jvp`."""
    if outer is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")


class JvpLevel(TangentLevel):
    """The level of a `func.jvp` that may contain another `func.jvp`."""


@contextmanager
def jvp_level() -> Iterator[JvpLevel]:
    """Enter the level of a `func.jvp`; like in PyTorch, it is the dual level within the block.

    Raises `RuntimeError` inside a `dual_level`.
    """
    outer = _current.get()
    if not isinstance(outer, JvpLevel):
        refuse_nesting(outer)
    level = JvpLevel()
    with level, having(_current, level):
        yield level


def exit_dual_level(*, level: int | None = None) -> None:
    """Leave the level and drop its tangents; raise `RuntimeError` unless it is the current one.

    >>> from minigrad import tensor
    >>> level = enter_dual_level()
    >>> x = make_dual(tensor(3.0), tensor(1.0)); unpack_dual(x).tangent
    tensor(1.)
    >>> exit_dual_level(); print(unpack_dual(x).tangent)
    None
    """
    here = _current.get()
    if level is not None and level != (-1 if here is None else 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was "
                           "created. This is not supported.")
    if here is None:
        raise RuntimeError("Dual level must be a positive number.")
    _current.set(None)
    here.__exit__()


class dual_level(_Mode):
    """The level of forward mode as a context manager or decorator.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.forward_ad.dual_level.html

    >>> from minigrad import tensor
    >>> with dual_level():
    ...     x = make_dual(tensor(3.0), tensor(1.0))
    ...     unpack_dual(x * x)
    UnpackedDualTensor(primal=tensor(9.), tangent=tensor(6.))
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def level_at(level: int | None) -> TangentLevel | None:
    """Return the level with this number; for `None`, the current level, or `None` outside one."""
    here = _current.get()
    if level is None or level < 0:
        return here if level is None else None
    if here is None or level:
        raise RuntimeError("Trying to access a forward AD level with an invalid index. This index "
                           "was either not created or is already deleted.")
    return here


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a view of `tensor` that carries `tangent`, which must have the same shape.

    The tangent is stored without a copy if it has the tensor's strides. Raises `ValueError` unless
    both are floating point, and `RuntimeError` outside a level or for a wrong shape.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.forward_ad.make_dual.html

    >>> from minigrad import tensor
    >>> with dual_level():
    ...     make_dual(tensor(3.0), tensor(1.0)).exp()
    tensor(20.0855, tangent=tensor(20.0855))
    """
    here = level_at(level)
    if here is None:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, "
                           "make sure to enter_dual_level() first.")
    return checked_dual(here, tensor, tangent)


def checked_dual(level: TangentLevel, tensor: Tensor, tangent: Tensor) -> Tensor:
    """Check the value and the tangent and call `dual_at`; see `make_dual`."""
    for what, given in (("primal", tensor), ("tangent", tangent)):
        if not given.is_floating_point():
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {given.dtype}")
    if level.tangent(tensor) is not None:
        raise RuntimeError("Making a dual Tensor based on a Tensor that already has a forward "
                           "gradient at the same level 0 is not supported.")
    if level.tangent(tangent) is not None:
        raise RuntimeError("Setting a forward grad that itself has a forward gradient at the same "
                           "level0 is not supported.")
    require_size(tensor, tangent)
    return dual_at(level, tensor, tangent)


def dual_at(level: TangentLevel, tensor: Tensor, tangent: Tensor) -> Tensor:
    """Return a view of `tensor` that carries `tangent` at the level."""
    with Beneath(level):
        dual: Tensor = Alias(tensor)
        level.hold(dual, tangent)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a view of a tensor's value, and its tangent, or `None` if no tangent is set.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.forward_ad.unpack_dual.html

    >>> from minigrad import tensor
    >>> with dual_level():
    ...     unpack_dual(tensor(3.0))
    UnpackedDualTensor(primal=tensor(3.), tangent=None)
    """
    if level is None and _current.get() is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError("_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
                        f"{type_in_error(tensor)}")
    here = _current.get()
    if here is None:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*unpacked_at(here, tensor))


def unpacked_at(level: TangentLevel, tensor: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return a view of a tensor without a tangent at the level, and the tensor's tangent there."""
    with Beneath(level):
        primal: Tensor = Alias(tensor)
        level.hold(primal, None)
    return primal, level.tangent(tensor)
