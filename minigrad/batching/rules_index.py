"""Batching rules for ops that read or write elements by index tensors."""

from __future__ import annotations

from typing import Any

from ..op.declaration import F
from ..ops.indexing.index import picked_shape
from ..shapes import numel
from .dispatch import Call
from .rules import moved


def index_select(call: Call) -> Any:
    """Use the same indices for every example; batched indices run `in_turn`."""
    n = call.ndim(call.op.tensors[0])
    if "index" in call.batched or not n:
        return call.in_turn()
    changes: dict[str, Any] = {}
    for name in call.tensors:
        if name != "index":
            if call.ndim(name) != n:
                return call.in_turn()
            changes[name] = call.full(name)
    if "self_sizes" in call.arguments:
        if len(call["self_sizes"]) != n:
            return call.in_turn()
        changes["self_sizes"] = (call.size, *call["self_sizes"])
    return call.run(dim=moved(call["dim"], n), **changes)


def take(call: Call) -> Any:
    """Flatten each example, so that the linear indices pick from a row of the batch."""
    if not call.only(call.op.tensors[0]):
        return call.in_turn()
    shape = call["index"].shape
    index = F.reshape(call["index"], (-1,))
    if "self_sizes" in call.arguments:
        sizes = tuple(call["self_sizes"])
        flat = F.reshape(call["grad"], (call.size, numel(shape)))
        placed = F.index_backward(flat, (call.size, numel(sizes)), [index], (1,))
        return F.reshape(placed, (call.size, *sizes))
    flat = F.reshape(call["self"], (call.size, numel(call.shape("self"))))
    return F.reshape(F.index(flat, [index], (1,)), (call.size, *shape))


class Key:
    """The indices of an `Index` op for the whole batch, and where the batch is in its result."""

    def __init__(self, call: Call) -> None:
        dims = tuple(call["dims"])
        listed = call["indices"]
        pairs = listed if "indices" in call.batched else [(index, False) for index in listed]
        rank = max(v.ndim - inside for v, inside in pairs)
        together = dims == tuple(range(dims[0], dims[-1] + 1))
        self.rank = rank
        self.indices = [value for value, _ in pairs]
        self.dims = tuple(d + 1 for d in dims)
        self.at = dims[0] if together else 0  # where an example's indexed dimensions start
        self.front = not together  # NumPy puts the indexed dimensions before the batch
        self.counted = "indices" in call.batched
        if self.counted:  # index the batch dimension too, with 0, 1, 2, ...
            self.indices = [
                F.reshape(v, (call.size, *(1,) * (rank + 1 - v.ndim), *v.shape[1:]))
                if inside else v
                for v, inside in pairs]
            like = self.indices[0]
            count = F.arange(call.size)
            number = F.reshape(count if hasattr(like, "_array") else count._array,
                               (call.size, *(1,) * rank))
            self.indices = [number, *self.indices]
            self.dims = (0, *self.dims)

    def picked(self, x: Any) -> Any:
        """Move the batch dimension of an `Index` result to the front."""
        if self.counted:  # the batch and the indexed dimensions are in front
            places = tuple(range(1, self.rank + 1))
            return F.movedim(x, places, tuple(p + self.at for p in places)) if self.at else x
        return F.movedim(x, self.rank, 0) if self.front and self.rank else x

    def placed(self, x: Any) -> Any:
        """Undo `picked`: move the batch dimension to where `Index` has it."""
        if self.counted:
            places = tuple(range(1, self.rank + 1))
            return F.movedim(x, tuple(p + self.at for p in places), places) if self.at else x
        return F.movedim(x, 0, self.rank) if self.front and self.rank else x


def index(call: Call) -> Any:
    """Index with tensors, which may be batched too."""
    key = Key(call)
    x = call.full("self") if key.counted else call["self"]
    return key.picked(F.index(x, key.indices, key.dims))


def index_backward(call: Call) -> Any:
    """Scatter-add gradients to the elements that `index` read."""
    key = Key(call)
    return F.index_backward(key.placed(call.full("grad")), (call.size, *call["input_sizes"]),
                            key.indices, key.dims)


def index_put(call: Call) -> Any:
    """Write values to the elements that the index tensors select."""
    key = Key(call)
    x = F.clone(call.full("self"))
    picked = [v if not inside else F.select(v, 0, 0)
              for v, inside in (call["indices"] if key.counted
                                else [(i, False) for i in call["indices"]])]
    shape = picked_shape(call.shape("self"), [tuple(i.shape) for i in picked],
                                    call["dims"])
    values = call["values"]
    if "values" in call.batched:
        values = F.reshape(values, (call.size, *(1,) * (len(shape) - call.ndim("values")),
                                    *call.shape("values")))
    values = F.expand(values, (call.size, *shape))
    return call.run(self=x, indices=key.indices, values=key.placed(values), dims=key.dims)
