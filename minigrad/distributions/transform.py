"""Transforms of samples: a function, its inverse, and the log of its Jacobian determinant.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

from ..op.declaration import F
from . import constraints
from .utils import lazy_property, sum_rightmost

__all__ = ["ComposeTransform", "Transform", "identity_transform"]


class Transform:
    """A function on tensors from `domain` to `codomain`, with an inverse `inv`.

    A subclass defines `_call`, `_inverse` and `log_abs_det_jacobian`.  With `cache_size=1`, the
    last argument and result are cached, so inverting that result returns the very same argument.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import ExpTransform
    >>> exp = ExpTransform()
    >>> exp.domain, exp.codomain, exp.bijective
    (Real(), GreaterThan(lower_bound=0.0), True)
    >>> exp.inv(exp(tensor([0.0, 2.0]))), exp.inv.inv is exp
    (tensor([0., 2.]), True)
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: tuple[Any, Any] = None, None

    @property
    def event_dim(self) -> int:
        """The number of trailing dimensions that make up one event.

        Raises `ValueError` if the transform changes that number.

        >>> from minigrad.distributions import ExpTransform, StickBreakingTransform
        >>> ExpTransform().event_dim, StickBreakingTransform().event_dim
        (0, 1)
        """
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return int(self.domain.event_dim)

    @property
    def inv(self) -> Any:
        """The inverse transform.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import SigmoidTransform
        >>> logit = SigmoidTransform().inv
        >>> logit(tensor([0.25, 0.5])), logit.domain
        (tensor([-1.0986,  0.0000]), Interval(lower_bound=0.0, upper_bound=1.0))
        """
        if self._inv is None:
            self._inv = _InverseTransform(self)
        return self._inv

    @property
    def sign(self) -> Any:
        """1 if the function is increasing, -1 if it is decreasing.

        >>> from minigrad.distributions import AffineTransform, ExpTransform
        >>> ExpTransform().sign, AffineTransform(0.0, -2.0).sign
        (1, -1)
        """
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """Return this transform with the given cache size.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import TanhTransform
        >>> tanh, x = TanhTransform().with_cache(), tensor([20.0])
        >>> tanh.inv(tanh(x)) is x, TanhTransform().inv(tanh(x))
        (True, tensor([inf]))
        """
        if self._cache_size == cache_size:
            return self
        other = copy.copy(self)
        Transform.__init__(other, cache_size)
        return other

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]  # as in a class that defines only __eq__

    def __call__(self, x: Any) -> Any:
        """Return the transformed tensor."""
        if self._cache_size and x is self._cached_x_y[0]:
            return self._cached_x_y[1]
        return self._kept(x, self._call(x))[1]

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        return self._kept(self._inverse(y), y)[0]

    def _kept(self, x: Any, y: Any) -> tuple[Any, Any]:
        if self._cache_size:
            self._cached_x_y = x, y
        return x, y

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Return log |det dy/dx| for an argument and its result, one number per event.

        >>> from minigrad import tensor
        >>> from minigrad.distributions import ExpTransform
        >>> exp, x = ExpTransform(), tensor([0.0, 2.0])
        >>> exp.log_abs_det_jacobian(x, exp(x))  # dy/dx = exp(x)
        tensor([0., 2.])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_inv": None}

    def forward_shape(self, shape: Any) -> Any:
        """Return the shape of the result for an argument of the given shape.

        >>> from minigrad.distributions import StickBreakingTransform
        >>> StickBreakingTransform().forward_shape((5, 2))
        (5, 3)
        """
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """Return the shape of the argument for a result of the given shape.

        >>> from minigrad.distributions import StickBreakingTransform
        >>> StickBreakingTransform().inverse_shape((5, 3))
        (5, 2)
        """
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform; both use the same cache."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    domain = constraints.dependent_property(lambda self: self._inv.codomain, is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._inv.domain, is_discrete=False)

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


def _widened(steps: Sequence[tuple[Any, Any]]) -> Any:
    """Return the last set, with enough event dimensions for all steps that lead to it.

    Each step is a pair: the set it starts from and the set it maps to.
    """
    dims = steps[0][0].event_dim
    for start, end in steps:
        dims = max(dims, start.event_dim) - start.event_dim + end.event_dim
    last = steps[-1][1]
    return constraints.independent(last, dims - last.event_dim) if dims > last.event_dim else last


class ComposeTransform(Transform):
    """Several transforms, applied in order; an empty list is the identity.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import AffineTransform, ComposeTransform, ExpTransform
    >>> both, x = ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()]), tensor([-0.5, 0.5])
    >>> both(x)  # exp(1 + 2 x)
    tensor([1.0000, 7.3891])
    >>> both.inv(both(x)), both.log_abs_det_jacobian(x, both(x))
    (tensor([-0.5000,  0.5000]), tensor([0.6931, 2.6931]))
    """

    def __init__(self, parts: Sequence[Any], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return ComposeTransform(self.parts, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The domain of the first transform, with enough event dimensions for all."""
        if not self.parts:
            return constraints.real
        return _widened([(part.codomain, part.domain) for part in reversed(self.parts)])

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The codomain of the last transform, with enough event dimensions for all."""
        if not self.parts:
            return constraints.real
        return _widened([(part.domain, part.codomain) for part in self.parts])

    @lazy_property
    def bijective(self) -> Any:
        """Whether all parts are bijective."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the signs of the parts."""
        return math.prod(part.sign for part in self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @property
    def inv(self) -> Any:
        """The inverses of the parts in reverse order."""
        if self._inv is None:
            self._inv = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv._inv = self
        return self._inv

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return F.zeros_like(x)
        dims, total = self.domain.event_dim, 0
        for i, part in enumerate(self.parts):
            result = y if i == len(self.parts) - 1 else part(x)
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, result),
                                          dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = result
        return total

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


identity_transform = ComposeTransform([])
