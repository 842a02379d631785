"""Products of vectors other than `dot`: vdot, outer, inner."""

from ...op.declaration import F
from ...op.publish import function


@function(out="exact overlap expanded")
def vdot(input, other):
    """Return the dot product, which equals `dot` because minigrad has no complex numbers.

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).vdot(tensor([3.0, 4.0]))
    tensor(11.)
    """
    return F.dot(input, other)


@function(aliases=("ger",), out="cast")
def outer(input, vec2):
    """Return the outer product of two vectors, (n, m).

    >>> from minigrad import tensor
    >>> tensor([1.0, 2.0]).outer(tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, vector in (("self", input), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")
    return F.mul(F.unsqueeze(input, 1), vec2)


@function(out="exact")
def inner(input, other):
    """Return the sums of products over the last dimension of both.

    >>> from minigrad import ones
    >>> ones(2, 4).inner(ones(3, 4)).shape
    torch.Size([2, 3])
    """
    if not input.ndim or not other.ndim:
        return F.mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got "
                           f"shapes {list(input.shape)} and {list(other.shape)}")
    return F.tensordot(input, other, ([-1], [-1]))
