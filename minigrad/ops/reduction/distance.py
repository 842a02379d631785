"""Norms and distances: the norms of `torch.linalg`, cdist and the similarity of vectors."""

import math

from ...dtypes import type_name
from ...op.declaration import F
from ...op.publish import function
from ...shapes import broadcast, wrap_dims
from ...tensor.tensor import Tensor
from ..linalg.decompositions import require_matrix
from .array_norm import check_norm_dtype
from .dims import unsqueeze_reduced
from .vector_norm import Norm


class LinalgVectorNorm(Norm):
    """The vector norm of `torch.linalg`: (sum |x|^ord)^(1/ord) along dimensions.

    >>> from minigrad import linalg, tensor
    >>> linalg.vector_norm(tensor([3.0, 4.0]), 1)
    tensor(7.)
    """

    node, public = "LinalgVectorNormBackward", False


@function(method_too=False, out="exact overlap expanded")
def linalg_vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """Return (sum |x|^ord)^(1/ord) over all elements, or along `dim`.

    >>> from minigrad import linalg, tensor
    >>> linalg.vector_norm(tensor([[3.0], [4.0]]))
    tensor(5.)
    """
    return LinalgVectorNorm(x, ord, dim, keepdim, dtype=dtype)


def check_matrix_dims(x, dim):
    """Return the two dimensions of the matrices, wrapped to nonnegative."""
    if not hasattr(dim, "__len__") or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    dims = tuple(d % x.ndim for d in dim)
    if dims[0] == dims[1]:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    return wrap_dims(list(dim), x.ndim)


@function(method_too=False, out="exact overlap expanded")
def linalg_matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """Return the norms of matrices: "fro", "nuc", or 1, 2, inf and their negatives.

    >>> from minigrad import linalg, tensor
    >>> linalg.matrix_norm(tensor([[1.0, 2.0], [3.0, 4.0]]), 1)
    tensor(6.)
    """
    require_matrix("linalg.matrix_norm", A)
    rows, columns = check_matrix_dims(A, dim)
    if dtype is not None:
        check_norm_dtype("linalg.matrix_norm", A.dtype, dtype)
        A = F.to(A, dtype)
    if ord == "fro":
        return LinalgVectorNorm(A, 2, (rows, columns), keepdim)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        if isinstance(ord, str):
            raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
        raise RuntimeError(f"linalg.matrix_norm: Order {ord:g} not supported.")
    extreme = F.amax if ord == "nuc" or ord > 0 else F.amin
    if ord in ("nuc", 2, -2):
        values = F.linalg_svdvals(F.movedim(A, (rows, columns), (-2, -1)))
        result = F.sum(values, -1) if ord == "nuc" else extreme(values, -1)
        for dim in sorted((rows, columns)) if keepdim else ():
            result = F.unsqueeze(result, dim)
        return result
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = LinalgVectorNorm(A, 1, summed, True)
    result = extreme(sums, compared, True)
    if keepdim:
        return result
    return F.squeeze(F.squeeze(result, max(rows, columns)), min(rows, columns))


@function(method_too=False, out="exact overlap expanded")
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """Return a vector norm or, for two dimensions, a matrix norm; by default over all elements.

    >>> from minigrad import linalg, tensor
    >>> linalg.norm(tensor([[3.0], [4.0]]))
    tensor(5.)
    """
    if ord is None:
        return LinalgVectorNorm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None and A.ndim not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D "
                           f"or 2D. Got {A.ndim}D.")
    dims = range(A.ndim) if dim is None else dim if hasattr(dim, "__len__") else (dim,)
    if isinstance(ord, str) or len(dims) == 2:
        dims_of_matrices = (-2, -1) if dim is None else dim
        return F.linalg_matrix_norm(A, ord, dims_of_matrices, keepdim, dtype=dtype)
    return LinalgVectorNorm(A, ord, dim, keepdim, dtype=dtype)


@function(method_too=False, out="cast")
def linalg_cond(A, p=None):
    """Return the condition number: the largest singular value over the smallest, or in norm p.

    >>> from minigrad import linalg, tensor
    >>> linalg.cond(tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    if p is None or p in (2, -2):
        values = F.linalg_svdvals(A)
        ratio = F.select(values, -1, 0) / F.select(values, -1, -1)
        return 1 / ratio if p == -2 else ratio
    return F.linalg_matrix_norm(A, p) * F.linalg_matrix_norm(F.linalg_inv(A), p)


@function(method_too=False)
def frobenius_norm(input, dim=None, keepdim=False):
    """Return the square root of the sum of squares along `dim`.

    >>> from minigrad import frobenius_norm, tensor
    >>> frobenius_norm(tensor([3.0, 4.0]), 0)
    tensor(5.)
    """
    return F.norm(input, 2, dim, keepdim)


@function(method_too=False, out="exact overlap expanded")
def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """Return the sum of the singular values.

    >>> from minigrad import eye, nuclear_norm
    >>> nuclear_norm(eye(3))
    tensor(3.)
    """
    return F.linalg_matrix_norm(input, "nuc", dim, keepdim)


@function(method_too=False)
def cdist(x1, x2, p=2.0, compute_mode=None):
    """Return the p-norm distance between each row of x1 and each row of x2.

    >>> from minigrad import cdist, tensor
    >>> cdist(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: "
                               f"{type_name(x.dtype)}")
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError("X1 and X2 must have the same number of columns. X1: "
                           f"{x1.shape[-1]} X2: {x2.shape[-1]}")
    return lengths(F.sub(F.unsqueeze(x1, -2), F.unsqueeze(x2, -3)), p, -1)


class LargestDifference(LinalgVectorNorm):
    """The maximum norm for distances: every element that equals the norm gets the whole gradient.

    >>> from minigrad import tensor
    >>> x = tensor([[3.0, -3.0]], requires_grad=True)
    >>> LargestDifference(x, math.inf, 1).sum().backward(); x.grad
    tensor([[ 1., -1.]])
    """

    def grad_self(g, self, result, self_sizes, p, dim, keepdim):
        g = unsqueeze_reduced(g, self_sizes, dim, keepdim)
        largest = F.eq(F.abs(self), unsqueeze_reduced(result, self_sizes, dim, keepdim))
        return F.where(largest, g * F.sign(self), 0)

    def samples(make):
        yield make(3, 4, distinct=True), math.inf, 1


def lengths(differences, p, dim):
    """Return p-norms along `dim` with the gradients of distances instead of a norm's.

    For p = 0, the gradient is zero instead of `None`; for p = inf, ties don't divide it.
    """
    if p == 0:
        return F.sum(F.where(F.ne(differences, 0), 1.0, F.sign(differences)), dim)
    if p == math.inf:
        return LargestDifference(differences, p, dim)
    return F.norm(differences, p, dim)


@function(method_too=False)
def pdist(input, p=2.0) -> Tensor:
    """Return the p-norm distances between all pairs of rows, (N, M) -> (N (N - 1) / 2,).

    The pairs of the first row precede the pairs of the second, and so on.  Raises
    `RuntimeError` unless the input is a floating-point matrix and p is nonnegative.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pdist.html

    >>> from minigrad import pdist, tensor
    >>> pdist(tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]))
    tensor([5., 3., 4.])
    """
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = F.unbind(F.triu_indices(len(input), len(input), 1, device=input.device))
    return lengths(F.index_select(input, 0, rows) - F.index_select(input, 0, columns), p, 1)


@function(method_too=False)
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """Return the p-norm of x1 - x2 + eps along the last dimension.

    >>> from minigrad import pairwise_distance, tensor
    >>> pairwise_distance(tensor([[0.0, 0.0]]), tensor([[3.0, 4.0]]), eps=0)
    tensor([5.])
    """
    return F.norm(F.sub(x1, x2) + eps, p, -1, keepdim)


@function(method_too=False)
def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """Return the cosine of the angle between vectors along `dim`; norms are at least eps.

    >>> from minigrad import cosine_similarity, tensor
    >>> cosine_similarity(tensor([[1.0, 0.0]]), tensor([[2.0, 0.0]]))
    tensor([1.])
    """
    if x1.shape != x2.shape:  # `dim` refers to the broadcast shape
        shape = broadcast(tuple(x1.shape), tuple(x2.shape))
        x1, x2 = F.expand(x1, shape), F.expand(x2, shape)
    norms = [LinalgVectorNorm(x, 2, dim, True) for x in (x1, x2)]
    # As in PyTorch, the gradient is the norm's, even where eps replaces the norm.
    norms = [n + F.detach(F.clamp(n, min=eps) - n) for n in norms]
    return F.sum((x1 / norms[0]) * (x2 / norms[1]), dim)
