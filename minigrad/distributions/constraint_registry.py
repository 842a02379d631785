"""Transforms that map unconstrained numbers to the set of a constraint.

`biject_to` returns bijective transforms, which have a log determinant.  `transform_to` may return
simpler ones, which are enough for optimizers.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraint_registry
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor.tensor import Tensor
from . import constraints
from .transform import ComposeTransform, identity_transform
from .transforms_elementwise import AffineTransform, ExpTransform, SigmoidTransform
from .transforms_events import IndependentTransform
from .transforms_vector import (
    CatTransform,
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StackTransform,
    StickBreakingTransform,
)

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table of functions that build a transform, keyed by the class of a constraint.

    >>> from minigrad.distributions import constraints
    >>> transform_to(constraints.unit_interval)
    SigmoidTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Register a function for a class of constraints, or for the class of an instance.

        Without `factory`, returns a decorator.  Raises `TypeError` if `constraint` is not a
        constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        found = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(found, type) or not issubclass(found, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, "
                            f"but got {found}")
        self._registry[found] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """Return a transform whose results satisfy a constraint.

        Raises `NotImplementedError` if no function is registered for the constraint's class.
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def both(*classes: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function in both registries, for several classes of constraints."""

    def give(factory: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for registry in (biject_to, transform_to):
            for each in classes:
                registry.register(each, factory)
        return factory

    return give


@both(constraints.real)
def to_real(constraint: Any) -> Any:
    """Return the identity, because any number satisfies the constraint."""
    return identity_transform


def _independent(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda constraint: IndependentTransform(
        registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


@both(constraints.greater_than, constraints.greater_than_eq)
def to_greater_than(constraint: Any) -> Any:
    """Return lower_bound + exp(x)."""
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


@both(constraints.less_than)
def to_less_than(constraint: Any) -> Any:
    """Return upper_bound - exp(x)."""
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


@both(constraints.interval, constraints.half_open_interval)
def to_interval(constraint: Any) -> Any:
    """Return the sigmoid, scaled and shifted to the interval."""
    low, high = constraint.lower_bound, constraint.upper_bound
    if not isinstance(low, Tensor) and not isinstance(high, Tensor) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@both(constraints.corr_cholesky)
def to_corr_cholesky(constraint: Any) -> Any:
    """Return the transform that takes unconstrained numbers as partial correlations."""
    return CorrCholeskyTransform()


biject_to.register(constraints.simplex, lambda constraint: StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda constraint: LowerCholeskyTransform())
for _kind in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_kind, lambda constraint: PositiveDefiniteTransform())


def _register_parts(registry: ConstraintRegistry) -> None:
    registry.register(constraints.independent, _independent(registry))
    registry.register(constraints.cat, lambda constraint: CatTransform(
        [registry(each) for each in constraint.cseq], constraint.dim, constraint.lengths))
    registry.register(constraints.stack, lambda constraint: StackTransform(
        [registry(each) for each in constraint.cseq], constraint.dim))


for _registry in (biject_to, transform_to):
    _register_parts(_registry)
