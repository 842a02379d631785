"""The sets that parameters and samples must be in; `check` returns which elements of a tensor are.

A constraint has two attributes: `event_dim`, the number of trailing dimensions that are checked as
one event, and `is_discrete`.  A set that depends on parameters is written as a
`dependent_property`.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.constraints

>>> from minigrad import tensor
>>> positive.check(tensor([1.0, -1.0]))
tensor([ True, False])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from .constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    is_dependent,
)

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky",
           "dependent", "dependent_property", "greater_than", "greater_than_eq",
           "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
           "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative",
           "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer",
           "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack",
           "symmetric", "unit_interval"]


# -------------------------------------------------------------------- numbers


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """All real numbers and the infinities, but not NaN."""

    def check(self, value: Any) -> Any:
        return value == value


class _Bounded(Constraint):
    """Numbers between bounds; `_shown` has the names of the bounds."""

    lower_bound: Any
    upper_bound: Any

    def __init__(self, *bounds: Any, **named: Any) -> None:
        given = {**dict(zip(self._shown, bounds)), **named}
        if len(bounds) > len(self._shown) or set(given) != set(self._shown):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._shown)}")
        for name, bound in given.items():
            setattr(self, name, bound)


class _GreaterThan(_Bounded):
    """Real numbers greater than `lower_bound`.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.greater_than(1.0).check(tensor([0.0, 1.0, 2.0]))
    tensor([False, False,  True])
    """

    _shown = ("lower_bound",)

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_GreaterThan):
    """Real numbers greater than or equal to `lower_bound`.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.greater_than_eq(1.0).check(tensor([0.0, 1.0, 2.0]))
    tensor([False,  True,  True])
    """

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Bounded):
    """Real numbers less than `upper_bound`.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.less_than(1.0).check(tensor([0.0, 1.0, 2.0]))
    tensor([ True, False, False])
    """

    _shown = ("upper_bound",)

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Real numbers from `lower_bound` to `upper_bound`, both included.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.interval(0.0, 1.0).check(tensor([0.0, 1.0, 2.0]))
    tensor([ True,  True, False])
    """

    _shown = ("lower_bound", "upper_bound")

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Real numbers from `lower_bound` up to, but not including, `upper_bound`.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.half_open_interval(0.0, 1.0).check(tensor([0.0, 1.0, 2.0]))
    tensor([ True, False, False])
    """

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    """Integers from `lower_bound` to `upper_bound`, both included.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.integer_interval(0, 2).check(tensor([0.0, 1.5, 2.0, 3.0]))
    tensor([ True, False,  True, False])
    """

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(_GreaterThanEq):
    """Integers greater than or equal to `lower_bound`."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


# -------------------------------------------------------------------- vectors and matrices


class _OneHot(Constraint):
    """Vectors with a single 1 and zeros elsewhere."""

    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        return _Boolean().check(value).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of nonnegative numbers that sum to 1, up to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_LessThan):
    """Vectors of nonnegative counts that sum to at most `upper_bound`.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> constraints.multinomial(3).check(tensor([[1.0, 2.0], [3.0, 1.0]]))
    tensor([ True, False])
    """

    is_discrete, event_dim = True, 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)

    def __repr__(self) -> str:
        return "Multinomial()"


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Lower triangular matrices with a positive diagonal, whose rows have norm 1."""

    def check(self, value: Any) -> Any:
        slack = finfo(value.dtype).eps * value.shape[-1] * 10
        off = (F.linalg_vector_norm(value.detach(), dim=-1) - 1).abs()
        return super().check(value) & (off <= slack).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        fits = value.shape[-2] == value.shape[-1]
        return F.full(value.shape[:-2], fits, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices, up to 1e-6."""

    def check(self, value: Any) -> Any:
        square = super().check(value)
        return F.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return F.linalg_eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        return F.linalg_cholesky_ex(value)[1].eq(0) if symmetric.all() else symmetric


# -------------------------------------------------------------------- several in one tensor


class _Stack(Constraint):
    """One constraint for each index along a dimension.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> rows = constraints.stack([constraints.positive, constraints.boolean])
    >>> rows.check(tensor([[0.5, -1.0], [1.0, 0.5]])), rows.is_discrete
    (tensor([[ True, False],
            [ True, False]]), True)
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> Any:
        """Whether any of the sets is discrete."""
        return any(each.is_discrete for each in self.cseq)

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that make up one event."""
        most = max(each.event_dim for each in self.cseq)
        return most + (self.dim + most < 0)

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return F.stack([each.check(part) for each, part in zip(self.cseq, parts)], self.dim)


class _Cat(_Stack):
    """Several constraints along a dimension, each for a slice of the given length.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import constraints
    >>> parts = constraints.cat([constraints.positive, constraints.boolean], lengths=[2, 1])
    >>> parts.check(tensor([0.5, -1.0, 1.0])), parts.is_discrete
    (tensor([ True, False,  True]), True)
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0,
                 lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    @property
    def event_dim(self) -> Any:
        """The number of trailing dimensions that make up one event."""
        return max(each.event_dim for each in self.cseq)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return F.cat([each.check(part) for each, part in zip(self.cseq, parts)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
