"""Transforms of vectors and matrices, and of parts of a tensor.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..op.declaration import F
from ..ops.info import finfo
from . import constraints
from .transform import Transform
from .transforms_elementwise import clipped_sigmoid
from .utils import lazy_property, sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = ["CatTransform", "CorrCholeskyTransform", "LowerCholeskyTransform",
           "PositiveDefiniteTransform", "SoftmaxTransform", "StackTransform",
           "StickBreakingTransform"]


class _OfEvents(Transform):
    """A transform of whole events without parameters, so that all instances of a class are equal.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    def forward_shape(self, shape: Any) -> Any:
        return self._resized(shape, self.domain.event_dim)

    inverse_shape = forward_shape

    def _resized(self, shape: Any, least: int, change: int = 0) -> Any:
        """Return a shape with `change` added to its last dimension.

        Raises `ValueError` if it has fewer than `least` dimensions.
        """
        if len(shape) < least:
            raise ValueError("Too few dimensions on input")
        return type(shape)((*shape[:-1], shape[-1] + change)) if change else shape


class SoftmaxTransform(_OfEvents):
    """The softmax of vectors, which is not bijective: the inverse returns the logarithm.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import SoftmaxTransform
    >>> softmax = SoftmaxTransform()
    >>> softmax(tensor([0.0, 2.0])), softmax.codomain
    (tensor([0.1192, 0.8808]), Simplex())
    """

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        return F.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(_OfEvents):
    """A bijection from n numbers to a point of the simplex in n + 1 dimensions.

    The sigmoid of each number is the share of the remaining stick that is broken off.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import StickBreakingTransform
    >>> sticks, x = StickBreakingTransform(), zeros(2)
    >>> sticks(x), sticks.inv(sticks(x))
    (tensor([0.3333, 0.3333, 0.3333]), tensor([ 5.9605e-08, -1.1921e-07]))
    >>> sticks.log_abs_det_jacobian(x, sticks(x)).exp()
    tensor(0.0370)
    """

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    @staticmethod
    def _log_rest(like: Any, size: int) -> Any:
        """Return log(size), log(size - 1), ..., log(1).

        Subtracting these maps the zero vector to equal parts.
        """
        return F.arange(size, 0, -1, dtype=like.dtype, device=like.device).log()

    def _call(self, x: Any) -> Any:
        share = clipped_sigmoid(x - self._log_rest(x, x.shape[-1]))
        rest = (1 - share).cumprod(-1)
        return F.constant_pad_nd(share, (0, 1), 1) * F.constant_pad_nd(rest, (1, 0), 1)

    def _inverse(self, y: Any) -> Any:
        parts = y[..., :-1]
        rest = (1 - parts.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return parts.log() - rest.log() + self._log_rest(y, parts.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._log_rest(x, x.shape[-1])
        return (y[..., :-1].log() - F.softplus(x)).sum(-1)  # the derivatives are part * (1 - share)

    def forward_shape(self, shape: Any) -> Any:
        return self._resized(shape, 1, 1)

    def inverse_shape(self, shape: Any) -> Any:
        return self._resized(shape, 1, -1)


class LowerCholeskyTransform(_OfEvents):
    """Maps square matrices to lower triangular ones with a positive diagonal.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import LowerCholeskyTransform
    >>> LowerCholeskyTransform()(tensor([[0.0, 7.0], [3.0, 1.0]]))
    tensor([[1.0000, 0.0000],
            [3.0000, 2.7183]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + F.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + F.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(LowerCholeskyTransform):
    """Maps square matrices to positive definite ones, through a Cholesky factor.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import PositiveDefiniteTransform
    >>> PositiveDefiniteTransform()(tensor([[0.0, 7.0], [3.0, 1.0]]))
    tensor([[ 1.0000,  3.0000],
            [ 3.0000, 16.3891]])
    """

    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = super()._call(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return super()._inverse(F.linalg_cholesky(y))


class CorrCholeskyTransform(_OfEvents):
    """Maps n (n - 1) / 2 numbers to the Cholesky factor (n, n) of a correlation matrix.

    The hyperbolic tangents of the numbers are partial correlations.  Each row has norm 1, and each
    partial correlation takes a share of the norm that is left in its row.

    >>> from minigrad import tensor
    >>> from minigrad.distributions import CorrCholeskyTransform
    >>> correlations, x = CorrCholeskyTransform(), tensor([0.5, 0.0, -1.0])
    >>> factor = correlations(x)
    >>> factor
    tensor([[ 1.0000,  0.0000,  0.0000],
            [ 0.4621,  0.8868,  0.0000],
            [ 0.0000, -0.7616,  0.6481]])
    >>> correlations.inv(factor), correlations.forward_shape((3,))
    (tensor([ 0.5000,  0.0000, -1.0000]), (3, 3))
    """

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(F.tanh(x).clamp(-1 + eps, 1 - eps), diag=-1)
        eye = F.eye(partial.shape[-1], dtype=x.dtype, device=x.device)
        left = (1 - partial * partial).sqrt().cumprod(-1)
        return (partial + eye) * F.constant_pad_nd(left[..., :-1], (1, 0), 1)

    def _inverse(self, y: Any) -> Any:
        left = F.constant_pad_nd(1 - (y * y).cumsum(-1)[..., :-1], (1, 0), 1)
        below, left = tril_matrix_to_vec(y, diag=-1), tril_matrix_to_vec(left, diag=-1)
        partial = below / left.sqrt()
        return (partial.log1p() - (-partial).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = 1 - (y * y).cumsum(-1)
        return (0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
                - 2 * (x + F.softplus(-2 * x) - math.log(2)).sum(-1))

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return type(shape)((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return type(shape)((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class StackTransform(Transform):
    """One transform for each index along a dimension, like `torch.stack`.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import ExpTransform, StackTransform, identity_transform
    >>> rows, x = StackTransform([ExpTransform(), identity_transform]), zeros(2)
    >>> rows(x), rows.codomain.check(-x - 1)
    (tensor([1., 0.]), tensor([False,  True]))
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else \
            list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        """Whether all parts are bijective."""
        return all(each.bijective for each in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The domains of the parts."""
        return constraints.stack([each.domain for each in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The codomains of the parts."""
        return constraints.stack([each.codomain for each in self.transforms], self.dim)

    def _parts(self, x: Any) -> Any:
        if x.shape[self.dim] != len(self.transforms):
            raise AssertionError(f"x.size({self.dim}) = {x.shape[self.dim]} must equal "
                                 f"len(transforms) {len(self.transforms)}")
        return x.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        return F.stack([each(part) for each, part in zip(self.transforms, self._parts(x))],
                       self.dim)

    def _inverse(self, y: Any) -> Any:
        return F.stack([each.inv(part) for each, part in zip(self.transforms, self._parts(y))],
                       self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return F.stack([each.log_abs_det_jacobian(*pair) for each, *pair in zip(
            self.transforms, self._parts(x), self._parts(y))], self.dim)


class CatTransform(Transform):
    """Several transforms for slices along a dimension, like `torch.cat`.

    >>> from minigrad import zeros
    >>> from minigrad.distributions import CatTransform, ExpTransform, identity_transform
    >>> parts, x = CatTransform([ExpTransform(), identity_transform], lengths=[2, 1]), zeros(3)
    >>> parts(x), parts.codomain.check(-x - 1)
    (tensor([1., 1., 0.]), tensor([False, False,  True]))
    """

    def __init__(self, tseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.transforms = [each.with_cache(cache_size) for each in tseq] if cache_size else \
            list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms "
                                 f"({len(self.transforms)})")
        self.dim = dim

    @lazy_property
    def event_dim(self) -> Any:
        """The largest `event_dim` of the parts."""
        return max(each.event_dim for each in self.transforms)

    @lazy_property
    def length(self) -> Any:
        """The sum of the lengths of the parts."""
        return sum(self.lengths)

    @property
    def bijective(self) -> Any:
        """Whether all parts are bijective."""
        return all(each.bijective for each in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The domains of the parts."""
        return constraints.cat([each.domain for each in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The codomains of the parts."""
        return constraints.cat([each.codomain for each in self.transforms], self.dim, self.lengths)

    def _parts(self, x: Any) -> Any:
        if x.shape[self.dim] != self.length:
            raise AssertionError(f"x.size({self.dim}) = {x.shape[self.dim]} must equal length "
                                 f"{self.length}")
        return x.split(self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        return F.cat([each(part) for each, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y: Any) -> Any:
        return F.cat([each.inv(part) for each, part in zip(self.transforms, self._parts(y))],
                     self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        slopes = [sum_rightmost(each.log_abs_det_jacobian(*pair), self.event_dim - each.event_dim)
                  for each, *pair in zip(self.transforms, self._parts(x), self._parts(y))]
        dim = self.dim - x.dim() * (self.dim >= 0) + self.event_dim
        return F.cat(slopes, dim) if dim < 0 else sum(slopes)
