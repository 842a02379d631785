"""Batching rules for products of matrices and vectors, and for linear systems."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.linalg.addmm import Addmm, Baddbmm
from .array import level_of
from .dispatch import Call, Rule
from .rules import moved, unwrapped
from .rules_network import joined, split


def einsum(call: Call) -> Any:
    """Give the batch a new label, in front of the others."""
    label = 1 + max((n for of in call["labels"] for n in of), default=0)
    labels = [(label, *of) if inside else of
              for (_, inside), of in zip(call["tensors"], call["labels"], strict=True)]
    return call.run(tensors=[value for value, _ in call["tensors"]], labels=labels,
                    output=(label, *call["output"]))



def mm(call: Call) -> Any:
    """Use `bmm`; if only the left matrix is batched, stack the rows of all examples into one `mm`.
    """
    a, b = call["self"], call["mat2"]
    if call.only("self"):
        size, n, k = a.shape
        return F.reshape(F.mm(F.reshape(a, (size * n, k)), b), (size, n, b.shape[1]))
    if call.only("mat2"):
        return F.bmm(call.full("self"), b)
    return F.bmm(a, b)


def mv(call: Call) -> Any:
    """Use one `mm` if the matrix is shared, with a row for each vector; else a batched product."""
    matrix, vector = call["self"], call["vec"]
    if call.only("vec"):
        return F.mm(vector, F.t(matrix))
    if call.only("self"):
        return F.matmul(matrix, vector)
    return F.squeeze(F.bmm(matrix, F.unsqueeze(vector, 2)), 2)


def dot(call: Call) -> Any:
    """Use `mv` if one vector is shared, otherwise `bmm`."""
    a, b = call["self"], call["tensor"]
    if call.only("self"):
        return F.mv(a, b)
    if call.only("tensor"):
        return F.mv(b, a)
    return F.squeeze(F.bmm(F.unsqueeze(a, 1), F.unsqueeze(b, 2)), (1, 2))


def bmm(call: Call) -> Any:
    """Fold the two batch dimensions into one."""
    a, b = call.full("self"), call.full("mat2")
    size, inner = a.shape[:2]
    a = F.reshape(a, (size * inner, *a.shape[2:]))
    b = F.reshape(b, (size * inner, *b.shape[2:]))
    return F.reshape(F.bmm(a, b), (size, inner, a.shape[1], b.shape[2]))


def product_added(first: str, second: str, product: Any) -> Rule:
    """Make the rule for `beta self + alpha product(first, second)` from ops on its parts."""

    def rule(call: Call) -> Any:
        beta, alpha = call["beta"], call["alpha"]
        result = product(call.batch(first), call.batch(second))
        if alpha != 1:
            result = F.mul(result, alpha)
        if beta != 0:
            added = call.batch("self")
            added = added if beta == 1 else F.mul(added, beta)
            shape = call.op.shape(*map(call.shape, ("self", first, second)), beta)
            result = F.add(added, result) if shape == tuple(result.shape) else added
        if not level_of(result):  # only `self` was batched, but `beta` is 0
            return F.expand(result, (call.size, *result.shape))
        return unwrapped(result)

    return rule


def addmm(call: Call) -> Any:
    """Use one `addmm` over the rows of all examples if `mat2` is shared; otherwise use `baddbmm`.
    """
    start = call.shape("self")
    call.op.shape(start, call.shape("mat1"), call.shape("mat2"))
    if call.only("mat1") and start[:-1] in ((), (1,)):
        return split(call.run(mat1=joined(call["mat1"])), call.size)
    if call.only("self"):
        return product_added("mat1", "mat2", F.matmul)(call)
    if "self" in call.batched:
        added = F.reshape(call["self"], (call.size, *(1,) * (2 - len(start)), *start))
    else:
        added = call["self"]
    return call.run(Baddbmm, self=added, batch1=call.full("mat1"), batch2=call.full("mat2"))


def addmv(call: Call) -> Any:
    """Use one `addmm` with a row for each vector if the matrix is shared; otherwise use `baddbmm`.
    """
    start = call.shape("self")
    call.op.shape(start, call.shape("mat"), call.shape("vec"))
    if call.only("self") or 0 in call.shape("mat"):
        return product_added("mat", "vec", F.matmul)(call)
    if call.only("vec"):
        return call.run(Addmm, mat1=call["vec"], mat2=F.t(call["mat"]))
    added = call["self"]
    if start:
        added = F.unsqueeze(added, -1)
    elif "self" in call.batched:
        added = F.reshape(added, (call.size, 1, 1))
    return F.squeeze(call.run(Baddbmm, self=added, batch1=call.full("mat"),
                              batch2=F.unsqueeze(call.full("vec"), 2)), 2)


def cross(call: Call) -> Any:
    """Take the cross product along a dimension of both operands."""
    n = call.ndim("self")
    if call.ndim("other") != n:
        return call.in_turn()
    return call.run(self=call.full("self"), other=call.full("other"),
                    dim=moved(call["dim"], n))


def solve(call: Call) -> Any:
    """Give both sides the same number of batch dimensions, then solve all systems at once."""
    if "vector" in call.op.parameters and call["vector"]:
        return call.in_turn()
    sides = call.op.tensors
    n = max(map(call.ndim, sides))

    def grown(name: str) -> Any:
        shape = call.shape(name)
        if name not in call.batched:
            return call[name]
        return F.reshape(call[name], (call.size, *(1,) * (n - len(shape)), *shape))

    return call.run(**{name: grown(name) for name in sides})
