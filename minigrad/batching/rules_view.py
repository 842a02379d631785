"""Batching rules for ops that rearrange dimensions or join tensors."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.shape.as_strided import reach
from ..ops.shape.view import element_strides
from ..shapes import numel
from ..tensor.tensor import Tensor
from .array import refuse
from .dispatch import Call
from .rules import moved


def reshaped(call: Call) -> Any:
    """Reshape to the shape that the op's shape rule gives for one example."""
    rest = [call[name] for name in call.op.parameters[1:]]
    return F.reshape(call["self"], (call.size, *call.op.shape(call.shape("self"), *rest)))


def expand(call: Call) -> Any:
    """Insert new dimensions after the batch dimension."""
    shape, size = call.shape("self"), tuple(call["size"])
    x = F.reshape(call["self"], (call.size, *(1,) * (len(size) - len(shape)), *shape))
    return call.run(self=x, size=(call.size, *call.op.shape(shape, size)))


def repeat(call: Call) -> Any:
    """Insert new dimensions after the batch dimension, which is not repeated."""
    shape, repeats = call.shape("self"), tuple(call["repeats"])
    x = F.reshape(call["self"], (call.size, *(1,) * (len(repeats) - len(shape)), *shape))
    return call.run(self=x, repeats=(1, *repeats))


def transpose(call: Call) -> Any:
    """Swap two dimensions; a zero-dimensional example stays as it is."""
    n = call.ndim("self")
    if not n:
        return F.alias(call["self"])
    return call.run(dim0=moved(call["dim0"], n), dim1=moved(call["dim1"], n))


def matrix_transpose(call: Call) -> Any:
    """Transpose matrices; vectors and numbers stay as they are."""
    return F.transpose(call["self"], 1, 2) if call.ndim("self") == 2 else F.alias(call["self"])


def permute(call: Call) -> Any:
    """Permute the other dimensions and keep the batch first."""
    return call.run(dims=(0, *moved(tuple(call["dims"]), call.ndim("self"))))


def as_strided(call: Call) -> Any:
    """View each example; its layout in the batch must be the one that `geometry` describes."""
    x, (shape, strides, start) = call["self"], call["geometry"]
    step = x.stride() if isinstance(x, Tensor) else element_strides(x)
    first = call["storage_offset"] - start
    if step[1:] != strides or first < 0 or (
            reach(call["size"], call["stride"], first) > reach(shape, strides, 0)):
        raise refuse("calling as_strided, beyond the memory of one example, on")
    return call.run(size=(call.size, *call["size"]), stride=(step[0], *call["stride"]),
                    geometry=((call.size, *shape), step, start))


def roll(call: Call) -> Any:
    """Roll along dimensions, or without `dims` through the flattened example."""
    shape = call.shape("self")
    if call["dims"] not in ((), None, []):
        return call.run(dims=moved(call["dims"], len(shape))) if shape else call.in_turn()
    flat = F.reshape(call["self"], (call.size, numel(shape)))
    return F.reshape(call.run(self=flat, dims=(1,)), (call.size, *shape))


def diag(call: Call) -> Any:
    """Turn a vector into a diagonal matrix, and a matrix into its diagonal."""
    if call.ndim("self") == 1:
        return F.diag_embed(call["self"], call["diagonal"], 1, 2)
    return F.clone(F.diagonal(call["self"], call["diagonal"], 1, 2))


def diag_embed(call: Call) -> Any:
    """Shift `dim1` and `dim2`, which are dimensions of the result."""
    n = call.ndim("self") + 1
    return call.run(dim1=moved(call["dim1"], n), dim2=moved(call["dim2"], n))


# -------------------------------------------------------------------- joining


def all_full(call: Call, name: str) -> list[Any]:
    """Return the tensors of a list, each with the batch dimension."""
    return [value if inside else F.expand(value, (call.size, *value.shape))
            for value, inside in call[name]]


def cat(call: Call) -> Any:
    """Join along an existing dimension."""
    tensors = all_full(call, "tensors")
    n = tensors[0].ndim - 1
    if not n or any(t.ndim - 1 != n for t in tensors):
        return call.in_turn()
    return call.run(tensors=tensors, dim=moved(call["dim"], n))


def stack(call: Call) -> Any:
    """Join along a new dimension."""
    tensors = all_full(call, "tensors")
    return call.run(tensors=tensors, dim=moved(call["dim"], tensors[0].ndim))
