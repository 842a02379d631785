"""The base class of all constraints, and constraints that depend on other objects.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "is_dependent"]


class Constraint:
    """A set of values: `check(value)` returns a boolean tensor that is true where `value` is in it.

    The result has the shape of `value` without its last `event_dim` dimensions.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> class Even(constraints.Constraint):
    ...     is_discrete = True
    ...     def check(self, value):
    ...         return value % 2 == 0
    >>> Even().check(tensor([1, 2, 4])), Even().event_dim
    (tensor([False,  True,  True]), 0)
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _shown: tuple[str, ...] = ()

    def check(self, value: Any) -> Any:
        """Return for each event of `value` whether it satisfies the constraint.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import constraints
        >>> constraints.unit_interval.check(tensor([0.5, 1.5]))
        tensor([ True, False])
        >>> constraints.simplex.check(tensor([[0.25, 0.75], [0.5, 0.75]]))
        tensor([ True, False])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)
        return f"{type(self).__name__[1:]}({shown})"


# -------------------------------------------------------------------- sets that depend on an object


class _Dependent(Constraint):
    """A set that depends on other parameters, so it cannot be checked on its own.

    >>> from minigrad.distributions import Uniform, constraints
    >>> Uniform.support.is_discrete, Uniform.support.event_dim
    (False, 0)
    >>> constraints.dependent(is_discrete=True, event_dim=1).event_dim
    1
    """

    def __init__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self) -> Any:
        """Whether the set is discrete."""
        return self._known("is_discrete")

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that make up one event."""
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> Constraint:
        """Return a dependent constraint with `is_discrete` or `event_dim` filled in."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Return whether a constraint depends on the parameters of an object.

    >>> from minigrad.distributions import constraints
    >>> is_dependent(constraints.dependent), is_dependent(constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint; on the class it is a dependent constraint.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> class Disc:
    ...     def __init__(self, radius):
    ...         self.radius = radius
    ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return constraints.interval(0.0, self.radius)
    >>> Disc(2.0).support.check(tensor([1.0, 3.0]))
    tensor([ True, False])
    >>> Disc.support.is_discrete, constraints.is_dependent(Disc.support)
    (False, True)
    """

    def __init__(self, fn: Callable[[Any], Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Any) -> Any:  # type: ignore[override]  # as a decorator with arguments
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint on the last dimensions together: all of their elements must satisfy the base.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> rows = constraints.independent(constraints.positive, 1)
    >>> rows.check(tensor([[1.0, 2.0], [1.0, -2.0]]))
    tensor([ True, False])
    >>> rows.event_dim, rows.is_discrete
    (1, False)
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        """Whether the set is discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that make up one event."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        return _all_of_last(result, self.reinterpreted_batch_ndims, self.event_dim, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, " \
               f"{self.reinterpreted_batch_ndims})"


def _all_of_last(result: Any, dims: int, least: int, value: Any) -> Any:
    """Reduce the last `dims` dimensions of a check with `and`.

    Raises `ValueError` if the result has too few dimensions.
    """
    kept = result.dim() - dims
    if kept < 0:
        raise ValueError(f"Expected value.dim() >= {least} but got {value.dim()}")
    return result.reshape((*result.shape[:kept], -1)).all(-1)


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value must satisfy the constraint of every component.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import Categorical, MixtureSameFamily, Uniform
    >>> parts = Uniform(tensor([0.0, 1.0]), tensor([3.0, 2.0]))
    >>> support = MixtureSameFamily(Categorical(tensor([0.5, 0.5])), parts).support
    >>> support.check(tensor([0.5, 1.5])), support.is_discrete
    (tensor([False,  True]), False)
    """

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        """Whether the set is discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that make up one event."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = value.dim() - self.event_dim
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"
