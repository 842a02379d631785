"""The LKJ distribution over Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..op.declaration import F
from ..ops.info import finfo
from ..tensor.tensor import Tensor
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular factors L of correlation matrices M = L L^T of size `dim`.

    p(M) is proportional to det(M)**(concentration - 1).  With concentration 1, all correlation
    matrices are equally likely; a larger value favours matrices near the identity.  Raises
    `ValueError` if `dim` is less than 2.

    >>> import minigrad as torch
    >>> from minigrad.distributions import LKJCholesky
    >>> LKJCholesky(2, 1.0).log_prob(torch.eye(2)).exp()  # correlations evenly from -1 to 1
    tensor(0.5000)
    >>> _ = torch.manual_seed(0)
    >>> factor = LKJCholesky(3, 2.0).sample()
    >>> factor @ factor.T
    tensor([[1.0000, 0.1394, 0.1229],
            [0.1394, 1.0000, 0.4958],
            [0.1229, 0.4958, 1.0000]])
    """

    arg_constraints: Any = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky
    _expanded = {"concentration": 0, "_beta": 1}
    _kept = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0,
                 validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. Found "
                             f"dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        before = F.arange(dim - 1, dtype=self.concentration.dtype,
                          device=self.concentration.device)
        before = F.cat([F.zeros_like(before[:1]), before])
        # for each row, the squared norm of the part before the diagonal
        self._beta = Beta(before + 0.5, (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1)
                          - 0.5 * before)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw each row: a direction for the part before the diagonal, and its squared norm."""
        with no_grad():
            share = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = standard_normal(self._extended_shape(sample_shape), share).tril(-1)
            direction = normal / F.linalg_vector_norm(normal, dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # the first row starts with its diagonal element
            rows = F.sqrt(share) * direction
            rest = (1 - rows.pow(2).sum(-1)).clamp(min=finfo(rows.dtype).tiny)
            return rows + F.diag_embed(F.sqrt(rest))

    def log_prob(self, value: Any) -> Tensor:
        """Return sum of (2 concentration - 2 + dim - i) log(L_ii), minus the log normalizer."""
        if self._validate_args:
            self._validate_sample(value)
        rows = F.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        normalizer = (0.5 * n * math.log(math.pi) + F.mvlgamma(alpha - 0.5, n)
                      - F.lgamma(alpha) * n)
        return (order * diagonal.log()).sum(-1) - normalizer
