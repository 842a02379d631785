"""Rescaling of slices to a maximum norm.

Source: https://docs.pytorch.org/docs/stable/generated/torch.renorm.html
"""

from ...op.declaration import F
from ...op.publish import function
from ...shapes import wrap_dim
from ...tensor.tensor import method


@function(out="exact")
def renorm(input, p, dim: int, maxnorm):
    """Scale each slice along `dim` whose `p`-norm exceeds `maxnorm` down to that norm.

    Raises `RuntimeError` for p <= 0, maxnorm < 0 or fewer than two dimensions.

    Source: `torch.renorm`.

    >>> from minigrad import renorm, tensor
    >>> renorm(tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.ndim} "
                           "dimensions")
    dim = wrap_dim(dim, input.ndim)
    others = tuple(d for d in range(input.ndim) if d != dim)
    norms = F.linalg_vector_norm(input, p, others, keepdim=True)
    return input * F.where(F.gt(norms, maxnorm), maxnorm / (norms + 1e-7), 1.0)


@method("renorm_")
def renorm_(self, p, dim, maxnorm):
    """Scale slices down to a maximum norm, in place.

    >>> from minigrad import tensor
    >>> tensor([[3.0, 4.0], [0.3, 0.4]]).renorm_(2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    return self.copy_(F.renorm(self, p, dim, maxnorm))
