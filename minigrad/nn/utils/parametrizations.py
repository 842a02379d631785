"""Common parametrizations: weight norm, spectral norm, orthogonal matrices.

Source: https://docs.pytorch.org/docs/stable/nn.html#utilities
"""

from __future__ import annotations

from typing import Any, TypeVar

from ... import linalg
from ...autograd.grad_mode import no_grad
from ...op.declaration import F
from ...ops.info import finfo
from ...ops.random.sampling import randn
from ...tensor.tensor import Tensor
from .. import functional
from ..conv_transpose import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from .parametrize import register_parametrization
from .weight_norm import norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


# ---------------------------------------------------------------- orthogonal matrices

MAPS = ("matrix_exp", "cayley", "householder")


def is_orthogonal(q: Tensor) -> bool:
    """Return whether the columns of q, or of each matrix in it, are orthonormal.

    >>> from minigrad import tensor
    >>> is_orthogonal(tensor([[0.0, -1.0], [1.0, 0.0]])), is_orthogonal(tensor([[2.0]]))
    (True, False)
    """
    rows, columns = q.shape[-2:]
    wanted = F.eye(columns, dtype=q.dtype, device=q.device)
    near: bool = F.allclose(q.mT @ q, wanted, atol=10.0 * rows * finfo(q.dtype).eps)
    return near


def make_orthogonal(a: Tensor) -> Any:
    """Return Q of a = QR for a tall matrix, with signs that make R's diagonal positive.

    >>> from minigrad import tensor
    >>> make_orthogonal(tensor([[3.0], [4.0]]))
    tensor([[0.6000],
            [0.8000]])
    """
    reflectors, tau = F.geqrf(a)
    q = linalg.householder_product(reflectors, tau)
    return q * F.unsqueeze(F.sgn(F.diagonal(reflectors, dim1=-2, dim2=-1)), -2)


class _Orthogonal(Module):
    """An orthogonal matrix computed from an unconstrained one, by one of three maps.

    `base` is a fixed orthogonal matrix that multiplies the result, so that training starts where
    the map is well conditioned.  Source: https://arxiv.org/abs/1909.09501
    """

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *,
                 use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Any:
        """Return the orthogonal matrix for `x`: orthonormal columns, or rows if it is wide."""
        wide = x.shape[-2] < x.shape[-1]
        tall = x.mT if wide else x
        if self.orthogonal_map == "householder":
            reflectors = F.tril(tall, -1)
            tau = 2.0 / (1.0 + F.sum(reflectors * reflectors, -2))
            signs = F.diagonal(tall, dim1=-2, dim2=-1).int()  # constant signs, not trained
            q = linalg.householder_product(reflectors, tau) * F.unsqueeze(signs, -2)
        else:
            q = self._rotation(tall)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _rotation(self, tall: Tensor) -> Any:
        """Return the first columns of a rotation that is computed from the lower triangle."""
        rows, columns = tall.shape[-2:]
        lower = F.tril(tall)
        if rows != columns:
            zeros = F.new_zeros(tall, (*tall.shape[:-2], rows, rows - columns))
            lower = F.cat([lower, zeros], -1)
        skew = lower - lower.mT
        if self.orthogonal_map == "matrix_exp":
            q = linalg.matrix_exp(skew)
        else:
            one = F.eye(rows, dtype=skew.dtype, device=skew.device)
            q = linalg.solve(F.add(one, skew, alpha=-0.5), F.add(one, skew, alpha=0.5))
        return q if rows == columns else q[..., :columns]

    @no_grad()
    def right_inverse(self, q: Tensor) -> Any:
        """Return a matrix that `forward` maps to `q`; this updates `base`."""
        if q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. "
                             f"Got a tensor of shape {q.shape}.")
        wide = q.shape[-2] < q.shape[-1]
        tall = q.mT if wide else q
        if not hasattr(self, "base"):
            reflectors = self._reflectors(tall)
            return reflectors.mT if wide else reflectors
        rows, columns = tall.shape[-2:]
        if rows != columns:  # complete it with random columns
            others = randn(*tall.shape[:-2], rows, rows - columns, dtype=q.dtype, device=q.device)
            self.base = make_orthogonal(F.cat([tall, others], -1))
        elif is_orthogonal(tall):
            self.base = tall.clone()
        else:
            self.base = make_orthogonal(tall)
        # The diagonal holds the signs of the reflections; -1 with zeros below it gives `base`.
        start = F.zeros_like(q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start

    def _reflectors(self, tall: Tensor) -> Any:
        """Return the reflections whose product is Q, with their signs on the diagonal."""
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False.")
        reflectors, tau = F.geqrf(tall)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        diagonal[tau == 0.0] *= -1  # LAPACK sets tau to zero when it skips a reflection
        return reflectors


def orthogonal(module: M, name: str = "weight", orthogonal_map: str | None = None, *,
               use_trivialization: bool = True) -> M:
    """Keep a matrix (..., m, n) orthogonal: orthonormal columns, or orthonormal rows if m < n.

    `orthogonal_map` computes the matrix from the trained one: "matrix_exp" (the default for square
    matrices), "householder" (the default for others) or "cayley".  Returns the module. Raises
    `ValueError` if the tensor does not exist or has fewer than two dimensions, or for another map.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.orthogonal.html

    >>> from minigrad import nn
    >>> q = orthogonal(nn.Linear(3, 3)).weight
    >>> ((q @ q.T).diagonal() - 1).abs().max() < 1e-5
    tensor(True)
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError("Expected a matrix or batch of matrices. "
                         f"Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
                         f"Got: {orthogonal_map}")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


# ---------------------------------------------------------------- weight norm


class _WeightNorm(Module):
    """A weight computed from its length and its direction."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        """Return length times direction."""
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return the length and the weight itself, as the direction."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Train a weight as its length, `original0`, and its direction, `original1`.

    Each index of `dim` has a length; with `dim=None` the whole weight has one. Returns the module,
    which can also load states written with the deprecated `nn.utils.weight_norm`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html

    >>> from minigrad import nn
    >>> layer = weight_norm(nn.Linear(3, 2))
    >>> [(name, tuple(p.shape)) for name, p in layer.parametrizations.weight.named_parameters()]
    [('original0', (2, 1)), ('original1', (2, 3))]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def read_older(state: dict[str, Any], prefix: str, *_: Any) -> None:
        older = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state for key in older):
            for i, key in enumerate(older):
                state[f"{prefix}parametrizations.{name}.original{i}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(read_older)
    return module


# ---------------------------------------------------------------- spectral norm


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iteration estimates.

    The buffers `_u` and `_v` estimate the singular vectors; each use in training refines them.
    """

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError("Dimension out of range (expected to be in range of "
                             f"[-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim = dim % ndim
        self.eps = eps
        if ndim == 1:
            return  # a vector's norm needs no estimate
        self.n_power_iterations = n_power_iterations
        matrix = self._matrix(weight)
        u, v = (matrix.new_empty(n).normal_(0, 1) for n in matrix.shape)
        self.register_buffer("_u", functional.normalize(u, dim=0, eps=eps))
        self.register_buffer("_v", functional.normalize(v, dim=0, eps=eps))
        self._power_method(matrix, 15)

    def _matrix(self, weight: Tensor) -> Any:
        """Return the weight as a matrix with a row for each index of `dim`."""
        rows = F.movedim(weight, self.dim, 0) if self.dim else weight
        return F.flatten(rows, 1)

    @no_grad()
    def _power_method(self, matrix: Tensor, times: int) -> None:
        """Refine the singular vectors in place."""
        for _ in range(times):
            functional.normalize(F.mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
            functional.normalize(F.mv(matrix.mT, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Any:
        """Return the weight divided by its estimated norm."""
        if weight.ndim == 1:
            return functional.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the next forward overwrites them
        return weight / F.dot(u, F.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return the value unchanged, since `forward` keeps a value of norm 1."""
        return value


def spectral_norm(module: M, name: str = "weight", n_power_iterations: int = 1,
                  eps: float = 1e-12, dim: int | None = None) -> M:
    """Divide a weight by its largest singular value whenever it is read.

    The weight counts as a matrix with a row for each index of `dim`, which is 0, or 1 for
    transposed convolutions.  Returns the module. Raises `ValueError` if the tensor does not exist.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html

    >>> from minigrad import linalg, nn
    >>> layer = spectral_norm(nn.Linear(3, 3), n_power_iterations=50)
    >>> linalg.matrix_norm(layer.weight, 2).item() < 1.01
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        transposed = isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d))
        dim = 1 if transposed else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)
