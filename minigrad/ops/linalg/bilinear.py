"""Functions that are linear in each of several tensors.

NOTE [One op that is its own derivative]
    A sum of products of three tensors, with letters that say which dimensions run together, is
    linear in each of them.  Its gradient with respect to one tensor is the same kind of sum: the
    gradient of the result takes that tensor's place, and the letters are swapped.  So there are
    derivatives of every order.
"""

from ...dtypes import c_name
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import numel
from ...tensor.tensor import Tensor


class Trilinear(Op):
    """A sum of products of three tensors; `letters` name their dimensions and the result's.

    >>> from minigrad import arange, ones
    >>> Trilinear(ones(1, 2), arange(4.0).reshape(1, 2, 2), ones(1, 2), "bi,oij,bj->bo")
    tensor([[6.]])
    """

    no_batching = "rare: only `bilinear` uses it"
    kind = "multilinear"
    public = False

    def shape(i1, i2, i3, letters):
        names, result = letters.split("->")
        sizes = {c: n for word, shape in zip(names.split(","), (i1, i2, i3), strict=True)
                 for c, n in zip(word, shape, strict=True)}
        return tuple(sizes[c] for c in result)

    def forward(xp, i1, i2, i3, letters):
        return xp.einsum(letters, i1, i2, i3, optimize=True)

    def grad_i1(g, i2, i3, letters):
        a, b, c, result = words(letters)
        return Trilinear(g, i2, i3, f"{result},{b},{c}->{a}")

    def grad_i2(g, i1, i3, letters):
        a, b, c, result = words(letters)
        return Trilinear(i1, g, i3, f"{a},{result},{c}->{b}")

    def grad_i3(g, i1, i2, letters):
        a, b, c, result = words(letters)
        return Trilinear(i1, i2, g, f"{a},{b},{result}->{c}")

    def samples(make):
        yield make(4, 2), make(3, 2, 5), make(4, 5), "bi,oij,bj->bo"
        yield make(0, 2), make(3, 2, 1), make(0, 1), "bi,oij,bj->bo"


def words(letters):
    """Return the letters of the three tensors and of the result."""
    names, result = letters.split("->")
    return *names.split(","), result


@function(method_too=False)
def bilinear(input1, input2, weight, bias=None) -> Tensor:
    """Apply a bilinear map for each output: out[o] = x1 @ weight[o] @ x2 + bias[o].

    Shapes (*, I), (*, J), (O, I, J), (O,) -> (*, O).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.bilinear.html

    >>> from minigrad import bilinear, ones
    >>> bilinear(ones(1, 2), ones(1, 3), ones(4, 2, 3))
    tensor([[6., 6., 6., 6.]])
    """
    first, second, table = (tuple(t.shape) for t in (input1, input2, weight))
    if len(first) != len(second):
        raise RuntimeError("bilinear(): input dimensions do not match: got "
                           f"{len(first)} and {len(second)}")
    for place, (a, b) in enumerate(zip(first[:-1], second[:-1], strict=True)):
        if a != b:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {place}: "
                               f"got {a} and {b}")
    for name, size, wanted in (("input1", first[-1], table[1]), ("input2", second[-1], table[2])):
        if size != wanted:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {size} "
                               f"but expected {wanted}")
    if bias is not None and bias.shape[0] != table[0]:
        raise RuntimeError("bilinear(): bias size does not match weight size: got "
                           f"{bias.shape[0]} but expected {table[0]}")
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    names = {name: c_name(t.dtype) for name, t in given.items() if t is not None}
    if len({*names.values()}) > 1:
        listed = ", ".join(f"{name}: {dtype}" for name, dtype in names.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {listed}")
    rows = numel(first[:-1])
    result = Trilinear(F.reshape(input1, (rows, first[-1])), weight,
                       F.reshape(input2, (rows, second[-1])), "bi,oij,bj->bo")
    result = F.reshape(result, (*first[:-1], table[0]))
    return result if bias is None else result + bias
