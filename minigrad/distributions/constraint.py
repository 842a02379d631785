"""The base of all constraints, and those that depend on other objects.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "is_dependent"]


class Constraint:
    """A set of values: `check` of a tensor tells where they lie in it.

    The result has the shape of the tensor without its last `event_dim` dimensions.
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _shown: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Tell for each event of `value` whether it satisfies the constraint."""
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__[1:]}({shown})"


# -------------------------------------------------------------------- sets told by an object


class _Dependent(Constraint):
    """A set that depends on other parameters, so that it cannot be checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        return self._known("is_discrete")

    @property
    def event_dim(self) -> Any:
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> Constraint:
        """Return a dependent set of which more is known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Tell whether a constraint depends on parameters of an object.

    >>> from minigrad.distributions import constraints
    >>> is_dependent(constraints.dependent), is_dependent(constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives an object's constraint, and a dependent constraint of its class."""

    def __init__(self, fn: Callable[[Any], Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]  # as a decorator with arguments
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint that holds for an event if it holds for all parts, its last dimensions."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        return _all_of_last(result, self.reinterpreted_batch_ndims, self.event_dim, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, " \
               f"{self.reinterpreted_batch_ndims})"


def _all_of_last(result: Any, dims: int, least: int, value: Any) -> Any:
    """Join the last dimensions of a check by `and`; ValueError if there are too few."""
    kept = result.dim() - dims
    if kept < 0:
        raise ValueError(f"Expected value.dim() >= {least} but got {value.dim()}")
    return result.reshape((*result.shape[:kept], -1)).all(-1)


class MixtureSameFamilyConstraint(Constraint):
    """The support of mixtures: it checks a value against all the components."""

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"
