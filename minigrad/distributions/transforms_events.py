"""Transforms that change the event dimensions or the event shape.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
"""

from __future__ import annotations

import math
from typing import Any

from ..tensor.attributes import Size
from . import constraints
from .transform import Transform
from .utils import sum_rightmost

__all__ = ["IndependentTransform", "ReshapeTransform"]


class IndependentTransform(Transform):
    """A transform whose last dimensions make up one event.

    `log_abs_det_jacobian` sums over those dimensions.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import ExpTransform, IndependentTransform
    >>> rows, x = IndependentTransform(ExpTransform(), 1), zeros(2, 3)
    >>> rows.log_abs_det_jacobian(x, rows(x)), rows.domain
    (tensor([0., 0.]), IndependentConstraint(Real(), 1))
    """

    def __init__(self, base_transform: Any, reinterpreted_batch_ndims: int,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The domain of the base, with more event dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The codomain of the base, with more event dimensions."""
        return constraints.independent(self.base_transform.codomain,
                                       self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        """Whether the base is bijective."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """The sign of the base."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y),
                             self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({self.base_transform!r}, "
                f"{self.reinterpreted_batch_ndims})")

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Reshapes events from `in_shape` to `out_shape`, which have equally many elements.

    >>> from minigrad import arange
    >>> from minigrad.distributions import ReshapeTransform
    >>> matrix = ReshapeTransform((6,), (2, 3))
    >>> matrix(arange(6))
    tensor([[0, 1, 2],
            [3, 4, 5]])
    >>> matrix.forward_shape((5, 6)), matrix.inverse_shape((5, 2, 3))
    (torch.Size([5, 2, 3]), torch.Size([5, 6]))
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Events of `in_shape`."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Events of `out_shape`."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return _other_end(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _other_end(shape, self.out_shape, self.in_shape)


def _other_end(shape: Any, old: Any, new: Any) -> Any:
    """Return a shape with its last dimensions `old` replaced by `new`.

    Raises `ValueError` if the shape does not end in `old`.
    """
    kept = len(shape) - len(old)
    if kept < 0:
        raise ValueError("Too few dimensions on input")
    if tuple(shape[kept:]) != old:
        raise ValueError(f"Shape mismatch: expected {old} but got {shape[kept:]}")
    return Size(tuple(shape[:kept]) + new)
