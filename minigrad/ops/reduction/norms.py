"""Functions that compute the norm of all elements or along dimensions, and distances by them."""

from ...dtypes import type_name
from ...op.declaration import F
from ...op.publish import function
from .vector_norm import Norm, NormAll


@function(out="exact overlap expanded")
def norm(input, p="fro", dim=None, keepdim=False, *, dtype=None):
    """Return the p-norm of all elements, or along `dim`; "nuc" sums the singular values.

    >>> from minigrad import tensor
    >>> tensor([3.0, 4.0]).norm(), tensor([3.0, -4.0]).norm(1)
    (tensor(5.), tensor(7.))
    """
    if p is None or p == "fro":
        p = 2
    elif isinstance(p, str):
        return F.linalg_matrix_norm(input, p, (-2, -1) if dim is None else dim, keepdim,
                                    dtype=dtype)
    op = NormAll if dim is None and not keepdim else Norm
    return op(input, p, dim, keepdim, dtype=dtype)


@function()
def dist(input, other, p=2):
    """Return the p-norm of the difference of two tensors.

    >>> from minigrad import dist, tensor
    >>> dist(tensor([1.0, 2.0]), tensor([4.0, 6.0]))
    tensor(5.)
    """
    difference = F.sub(input, other)
    if not difference.is_floating_point():
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{type_name(difference.dtype)} instead.")
    return F.norm(difference, p)
