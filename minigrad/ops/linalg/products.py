"""Products over several dimensions and matrix powers: tensordot, kron, matrix_power."""

from itertools import chain
from typing import Any

from ...backend.memory_layout import in_rows
from ...dtypes import type_name
from ...frames import warn_user_once
from ...op.arguments import require
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import broadcast, numel, wrap_dim
from ..checks import require_one_dtype
from ..shape.view import UnsafeView
from .product_checks import by


@function(method_too=False, out="exact overlap")
def tensordot(a, b, dims: Any = 2):
    """Return the sums of products over `dims`: the last of `a` with the first of `b`, or two lists.

    >>> from minigrad import ones, tensordot
    >>> tensordot(ones(2, 3, 4), ones(4, 3, 5), ([1, 2], [1, 0])).shape
    torch.Size([2, 5])
    """
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > a.ndim or dims > b.ndim:
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (range(-dims, 0), range(dims))
    ours, theirs = (d if hasattr(d, "__iter__") else (d,) for d in dims)
    ours, theirs = list(ours), list(theirs)
    for i, j in zip(ours, theirs):
        if b.shape[j] == 1:  # broadcast the single element
            a = F.sum(a, i, True)
        elif a.shape[i] == 1:
            b = F.sum(b, j, True)
        elif a.shape[i] != b.shape[j]:
            raise RuntimeError("contracted dimensions need to match, but first has size "
                               f"{a.shape[i]} in dim {i} and second has size {b.shape[j]} in dim "
                               f"{j}")
    ours, theirs = ([wrap_dim(d, x.ndim) for d in ds] for ds, x in ((ours, a), (theirs, b)))
    left = [d for d in range(a.ndim) if d not in ours]
    right = [d for d in range(b.ndim) if d not in theirs]
    rows, columns = [a.shape[d] for d in left], [b.shape[d] for d in right]
    size = numel(a.shape[d] for d in ours)
    product = F.mm(F.reshape(F.permute(a, left + ours), (numel(rows), size)),
                   F.reshape(F.permute(b, theirs + right), (size, numel(columns))))
    return UnsafeView(product, (*rows, *columns))


@function(out="cast")
def kron(input, other):
    """Return the Kronecker product: each element of `input` times all of `other`.

    >>> from minigrad import kron, tensor
    >>> kron(tensor([1.0, 2.0]), tensor([1.0, 10.0]))
    tensor([ 1., 10.,  2., 20.])
    """
    n = max(input.ndim, other.ndim)
    a = (1,) * (n - input.ndim) + tuple(input.shape)
    b = (1,) * (n - other.ndim) + tuple(other.shape)
    coarse = F.reshape(input, tuple(chain.from_iterable((size, 1) for size in a)))
    fine = F.reshape(other, tuple(chain.from_iterable((1, size) for size in b)))
    return UnsafeView(F.mul(coarse, fine), tuple(i * j for i, j in zip(a, b)))


@function()
def trace(input):
    """Return the sum of a matrix's diagonal elements.

    >>> from minigrad import eye
    >>> eye(3).trace()
    tensor(3.)
    """
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    return F.sum(F.diagonal(input))


class LinalgCross(Op):
    """The cross product along a dimension of size 3; the shapes broadcast.

    >>> from minigrad import linalg, tensor
    >>> linalg.cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """

    out = "exact apart"
    method = False

    def shape(a, b, dim=-1):
        if len(a) != len(b):
            raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
        result = broadcast(a, b)
        for shape in (a, b):
            if shape[wrap_dim(dim, len(shape))] != 3:
                raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                                   f"{a[dim]} and {b[dim]}")
        return result

    def forward(xp, self, other, *, dim=-1):
        LinalgCross.shape(self.shape, other.shape, dim)
        require(self, "iuf", "cross")
        require_one_dtype("expected scalar type {} but found {}", self, other)

        def turned(x, by):
            return xp.roll(x, -by, axis=dim)

        return in_rows(turned(self, 1) * turned(other, 2) - turned(self, 2) * turned(other, 1))

    def grad_self(g, other, dim): return F.linalg_cross(other, g, dim=dim)
    def grad_other(g, self, dim): return F.linalg_cross(g, self, dim=dim)

    def samples(make):
        yield make(3), make(3)
        yield make(2, 3), make(2, 3)
        yield make(3, 1), make(3, 4), {"dim": 0}


@function(out="exact apart")
def cross(input, other, dim: int | None = None):
    """Return the cross product along `dim`, by default the first dimension of size 3.

    >>> from minigrad import cross, tensor
    >>> cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    if dim is None:
        if 3 not in input.shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = tuple(input.shape).index(3)
        warn_user_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
            "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
            "change to agree with that of linalg.cross in a future release.")
    return F.linalg_cross(input, other, dim=dim)


@function(method_too=False, out="exact overlap expanded")
def linalg_vecdot(x, y, *, dim=-1):
    """Return the dot products of the vectors along `dim`.

    >>> from minigrad import linalg, ones
    >>> linalg.vecdot(ones(2, 3), ones(2, 3))
    tensor([3., 3.])
    """
    if not x.is_floating_point():
        raise RuntimeError("linalg.vecdot: Expected a floating point or complex tensor as input. "
                           f"Got {type_name(x.dtype)}")
    require_one_dtype("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                      "{} and y of type {} instead", x, y)
    return F.sum(F.mul(x, y), dim)


@function(method_too=False, out="exact overlap")
def linalg_multi_dot(tensors):
    """Return the product of a list of matrices; the first and last may be vectors.

    >>> from minigrad import linalg, ones
    >>> linalg.multi_dot([ones(2, 3), ones(3, 4), ones(4)]).shape
    torch.Size([2])
    """
    if len(tensors) < 2:
        raise RuntimeError("multi_dot(): expected at least 2 tensors but got "
                           f"{len(tensors)}")
    result = tensors[0]
    for tensor in tensors[1:]:
        result = F.matmul(result, tensor)
    return result


@function(method_too=False, out="exact overlap")
def chain_matmul(*matrices):
    """Return the product of several matrices.

    >>> from minigrad import chain_matmul, ones
    >>> chain_matmul(ones(2, 3), ones(3, 4), ones(4, 5)).shape
    torch.Size([2, 5])
    """
    warn_user_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters.")
    return F.linalg_multi_dot(matrices) if len(matrices) > 1 else F.clone(matrices[0])


@function(aliases=("linalg_matrix_power",), out="exact overlap")
def matrix_power(input, n: int):
    """Return the n-th power of square matrices by repeated squaring; a negative n inverts first.

    >>> from minigrad import tensor
    >>> tensor([[2.0, 0.0], [0.0, 3.0]]).matrix_power(2)
    tensor([[4., 0.],
            [0., 9.]])
    """
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError("linalg.matrix_power: A must be batches of square matrices, but they "
                           f"are {by(input.shape[-2:]).replace('x', ' by ')} matrices")
    if n == 0:
        identity = F.eye(input.shape[-1], dtype=input.dtype, device=input.device)
        return F.where(F.ones_like(identity).bool(), identity, input)  # so its gradient is zeros
    base, n = (F.linalg_inv(input), -n) if n < 0 else (input, n)
    if n == 1 and base is input:
        return F.clone(input)
    result = None
    while n:
        if n & 1:
            result = base if result is None else F.matmul(result, base)
        n >>= 1
        if n:
            base = F.matmul(base, base)
    return result
