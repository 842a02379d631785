"""Batching rules that serve many ops each; `table.py` says which op has which.

`n` is the number of dimensions of one example throughout, so dimension `d` of an example is
`d + 1` of the batch.  A rule that does not fit its arguments lets the op run `in_turn`.
"""

from __future__ import annotations

from typing import Any

from .. import _state
from ..op import F
from ..ops.index import picked_shape
from ..ops.loss_of_classes import NllLoss
from ..shapes import numel, wrap_dim, wrap_dims
from ..tensor import Tensor
from .array import level_of
from .dispatch import Call, Rule

#: Arguments that are sizes of a result, by the names that ops have for them.
SIZES = ("self_sizes", "input_sizes", "sizes", "grad_sizes")


def unwrapped(result: Any) -> Any:
    """Return what a batch of a decomposition holds."""
    return (result._array if isinstance(result, Tensor) else result).value


def elementwise(call: Call) -> Any:
    """The operands broadcast: those with fewer dimensions get the missing ones behind the batch."""
    rank = max(call.ndim(name) for name in call.tensors)
    changes = {}
    for name in call.batched:
        shape = call.shape(name)
        if len(shape) < rank:
            missing = (1,) * (rank - len(shape))
            changes[name] = F.reshape(call[name], (call.size, *missing, *shape))
    return call.run(**changes)


def with_full_self(call: Call, **changes: Any) -> Call:
    """Return the call with a batch as the first operand."""
    name = call.op.tensors[0]
    arguments = {**call.arguments, name: F.clone(call.full(name)), **changes}
    return Call(call.op, arguments, call.batched | {name}, call.size)


def onto_self(call: Call) -> Any:
    """Elementwise, with a result of the shape of the first operand."""
    return elementwise(call if call.op.tensors[0] in call.batched else with_full_self(call))


def fill(call: Call) -> Any:
    """As `onto_self`; a value of its own for each example is copied."""
    if "value" not in call.batched:
        return onto_self(call)
    call = with_full_self(call)
    x, value = call.batch("self"), call.batch("value")
    value = F.expand(F.to(value, x.dtype) if isinstance(x, Tensor) else value.astype(x.dtype),
                     x.shape)
    if "mask" in call.arguments:
        value = F.where(call.batch("mask"), value, x)
    return F.clone(unwrapped(value))


def alone(call: Call) -> Any:
    """The op takes leading dimensions in its first operand; the others must not be batched."""
    first = call.op.tensors[0]
    return call.run() if call.only(first) and call.ndim(first) else call.in_turn()


def moved(dim: Any, n: int) -> Any:
    """Return a dimension, or several, of an example as those of the batch."""
    if isinstance(dim, (tuple, list)):
        return tuple(wrap_dim(d, n) + 1 for d in dim)
    return wrap_dim(dim, n) + 1


def along(*names: str) -> Rule:
    """Make the rule of ops whose arguments `names` are dimensions of the first operand.

    All operands have the same dimensions, and so has a size among the arguments.
    """

    def rule(call: Call) -> Any:
        n = call.ndim(call.op.tensors[0])
        changes: dict[str, Any] = {name: call.full(name) for name in call.tensors}
        for name in SIZES:
            if name in call.arguments:
                n = len(call[name])
                changes[name] = (call.size, *call[name])
        if not n or any(call.ndim(t) != call.ndim(call.tensors[0]) for t in call.tensors):
            return call.in_turn()
        return call.run(**changes, **{name: moved(call[name], n) for name in names})

    return rule


def part(*names: str) -> Rule:
    """Make the rule of ops that take parts of a tensor along the dimensions `names`, or put them
    back: their one operand may have other dimensions than the sizes among the arguments."""

    def rule(call: Call) -> Any:
        n, changes = call.ndim(call.op.tensors[0]), {}
        for name in SIZES:
            if name in call.arguments:
                n = len(call[name])
                changes[name] = (call.size, *call[name])
        if not n:
            return call.in_turn()
        return call.run(**changes, **{name: moved(call[name], n) for name in names})

    return rule


def reduction(call: Call) -> Any:
    """Sums and the like along `dim`: None, a number or several; of all elements without one."""
    op, n = call.op, call.ndim("self")
    x, dim = call["self"], call.arguments.get("dim")
    changes: dict[str, Any] = {}
    dims: Any
    if not n:  # one element each
        x, dims = F.reshape(x, (call.size, 1)), (1,)
        if "keepdim" in call.arguments:
            changes["keepdim"] = False
    else:
        dims = tuple(d + 1 for d in wrap_dims(dim, n))
    if isinstance(dim, int):
        dims = dims[0]
    return call.run(op, self=x, dim=dims, **changes)


def whole(along_dim: Any) -> Rule:
    """Make the rule of a reduction of all elements, from the op that reduces along one."""

    def rule(call: Call) -> Any:
        flat = F.reshape(call["self"], (call.size, numel(call.shape("self"))))
        result = call.run(along_dim, self=flat, dim=1)
        return result[0] if isinstance(result, (tuple, list)) else result

    return rule


def position(call: Call) -> Any:
    """argmax and argmin, which count through all elements where there is no `dim`."""
    shape, dim = call.shape("self"), call["dim"]
    if dim is not None and shape:
        return call.run(dim=moved(dim, len(shape)))
    found = call.run(self=F.reshape(call["self"], (call.size, numel(shape))), dim=1, keepdim=False)
    return F.reshape(found, (call.size, *(1 for _ in shape if call["keepdim"])))


def reshaped(call: Call) -> Any:
    """The same elements in the shape that the op's shape rule gives."""
    rest = [call[name] for name in call.op.parameters[1:]]
    return F.reshape(call["self"], (call.size, *call.op.shape(call.shape("self"), *rest)))


def expand(call: Call) -> Any:
    """New dimensions come behind the batch."""
    shape, size = call.shape("self"), tuple(call["size"])
    x = F.reshape(call["self"], (call.size, *(1,) * (len(size) - len(shape)), *shape))
    return call.run(self=x, size=(call.size, *call.op.shape(shape, size)))


def repeat(call: Call) -> Any:
    """New dimensions come behind the batch, which is not repeated."""
    shape, repeats = call.shape("self"), tuple(call["repeats"])
    x = F.reshape(call["self"], (call.size, *(1,) * (len(repeats) - len(shape)), *shape))
    return call.run(self=x, repeats=(1, *repeats))


def transpose(call: Call) -> Any:
    """Two dimensions exchanged; a number has none."""
    n = call.ndim("self")
    if not n:
        return F.alias(call["self"])
    return call.run(dim0=moved(call["dim0"], n), dim1=moved(call["dim1"], n))


def matrix_transpose(call: Call) -> Any:
    """The transpose of a matrix; vectors and numbers stay."""
    return F.transpose(call["self"], 1, 2) if call.ndim("self") == 2 else F.alias(call["self"])


def permute(call: Call) -> Any:
    """The batch stays in front."""
    return call.run(dims=(0, *moved(tuple(call["dims"]), call.ndim("self"))))


def roll(call: Call) -> Any:
    """Along dimensions, or through all elements as if they were one row."""
    shape = call.shape("self")
    if call["dims"] not in ((), None, []):
        return call.run(dims=moved(call["dims"], len(shape))) if shape else call.in_turn()
    flat = F.reshape(call["self"], (call.size, numel(shape)))
    return F.reshape(call.run(self=flat, dims=(1,)), (call.size, *shape))


def diag(call: Call) -> Any:
    """A vector becomes a matrix, a matrix its diagonal."""
    if call.ndim("self") == 1:
        return F.diag_embed(call["self"], call["diagonal"], 1, 2)
    return F.clone(F.diagonal(call["self"], call["diagonal"], 1, 2))


def diag_embed(call: Call) -> Any:
    """The dimensions are those of the result, which has one more."""
    n = call.ndim("self") + 1
    return call.run(dim1=moved(call["dim1"], n), dim2=moved(call["dim2"], n))


# -------------------------------------------------------------------- joining


def all_full(call: Call, name: str) -> list[Any]:
    """Return the tensors of a list, each with the batch dimension."""
    return [value if inside else F.expand(value, (call.size, *value.shape))
            for value, inside in call[name]]


def cat(call: Call) -> Any:
    """Joined along an existing dimension."""
    tensors = all_full(call, "tensors")
    n = tensors[0].ndim - 1
    if not n or any(t.ndim - 1 != n for t in tensors):
        return call.in_turn()
    return call.run(tensors=tensors, dim=moved(call["dim"], n))


def stack(call: Call) -> Any:
    """Joined along a new dimension."""
    tensors = all_full(call, "tensors")
    return call.run(tensors=tensors, dim=moved(call["dim"], tensors[0].ndim))


def einsum(call: Call) -> Any:
    """The batch is one label more, in front."""
    label = 1 + max((n for of in call["labels"] for n in of), default=0)
    labels = [(label, *of) if inside else of
              for (_, inside), of in zip(call["tensors"], call["labels"], strict=True)]
    return call.run(tensors=[value for value, _ in call["tensors"]], labels=labels,
                    output=(label, *call["output"]))


# -------------------------------------------------------------------- products


def mm(call: Call) -> Any:
    """Rows of all matrices that meet the same one are rows of one product."""
    a, b = call["self"], call["mat2"]
    if call.only("self"):
        size, n, k = a.shape
        return F.reshape(F.mm(F.reshape(a, (size * n, k)), b), (size, n, b.shape[1]))
    if call.only("mat2"):
        return F.bmm(call.full("self"), b)
    return F.bmm(a, b)


def mv(call: Call) -> Any:
    """Vectors that meet the same matrix are the columns of one."""
    matrix, vector = call["self"], call["vec"]
    if call.only("vec"):
        return F.mm(vector, F.t(matrix))
    if call.only("self"):
        return F.matmul(matrix, vector)
    return F.squeeze(F.bmm(matrix, F.unsqueeze(vector, 2)), 2)


def dot(call: Call) -> Any:
    """Pairs of vectors, or vectors that all meet the same one."""
    a, b = call["self"], call["tensor"]
    if call.only("self"):
        return F.mv(a, b)
    if call.only("tensor"):
        return F.mv(b, a)
    return F.squeeze(F.bmm(F.unsqueeze(a, 1), F.unsqueeze(b, 2)), (1, 2))


def bmm(call: Call) -> Any:
    """The batches of batches are one batch."""
    a, b = call.full("self"), call.full("mat2")
    size, inner = a.shape[:2]
    a = F.reshape(a, (size * inner, *a.shape[2:]))
    b = F.reshape(b, (size * inner, *b.shape[2:]))
    return F.reshape(F.bmm(a, b), (size, inner, a.shape[1], b.shape[2]))


def product_added(first: str, second: str, product: Any) -> Rule:
    """Make the rule of `beta self + alpha product(first, second)`, from the rules of its parts."""

    def rule(call: Call) -> Any:
        beta, alpha = call["beta"], call["alpha"]
        result = product(call.batch(first), call.batch(second))
        if alpha != 1:
            result = F.mul(result, alpha)
        if beta != 0:
            added = call.batch("self")
            result = F.add(added if beta == 1 else F.mul(added, beta), result)
        if not level_of(result):  # only `self` was batched, and counts for nothing
            return F.expand(result, (call.size, *result.shape))
        return unwrapped(result)

    return rule


def cross(call: Call) -> Any:
    """The vector product along a dimension of both."""
    n = call.ndim("self")
    if call.ndim("other") != n:
        return call.in_turn()
    return call.run(self=call.full("self"), other=call.full("other"),
                    dim=moved(call["dim"], n))


def solve(call: Call) -> Any:
    """Systems of equations with as many batch dimensions on both sides."""
    n = max(call.ndim("A"), call.ndim("B"))

    def grown(name: str) -> Any:
        shape = call.shape(name)
        if name not in call.batched:
            return call[name]
        return F.reshape(call[name], (call.size, *(1,) * (n - len(shape)), *shape))

    return call.run(A=grown("A"), B=grown("B"))


# -------------------------------------------------------------------- indices


def index_select(call: Call) -> Any:
    """The same places of every example; places of its own for each are looked up in turn."""
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
    """Places counted through all elements are places of a row."""
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
    """The indices of an `Index` op for the whole batch, and where its results lie."""

    def __init__(self, call: Call) -> None:
        dims = tuple(call["dims"])
        listed = call["indices"]
        pairs = listed if "indices" in call.batched else [(index, False) for index in listed]
        rank = max(v.ndim - inside for v, inside in pairs)
        together = dims == tuple(range(dims[0], dims[-1] + 1))
        self.rank = rank
        self.indices = [value for value, _ in pairs]
        self.dims = tuple(d + 1 for d in dims)
        self.at = dims[0] if together else 0  # where an example's picked dimensions start
        self.front = not together  # whether NumPy puts them in front of the batch
        self.counted = "indices" in call.batched
        if self.counted:  # the batch is picked from as well, by its number
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
        """Bring what an `Index` gave into the order batch, example."""
        if self.counted:  # batch and picked dimensions lie in front
            places = tuple(range(1, self.rank + 1))
            return F.movedim(x, places, tuple(p + self.at for p in places)) if self.at else x
        return F.movedim(x, self.rank, 0) if self.front and self.rank else x

    def placed(self, x: Any) -> Any:
        """Bring values in the order batch, example into that which an `Index` gives."""
        if self.counted:
            places = tuple(range(1, self.rank + 1))
            return F.movedim(x, tuple(p + self.at for p in places), places) if self.at else x
        return F.movedim(x, 0, self.rank) if self.front and self.rank else x


def index(call: Call) -> Any:
    """Elements picked by tensors, which may be batched as well."""
    key = Key(call)
    x = call.full("self") if key.counted else call["self"]
    return key.picked(F.index(x, key.indices, key.dims))


def index_backward(call: Call) -> Any:
    """Gradients put back where they were picked."""
    key = Key(call)
    return F.index_backward(key.placed(call.full("grad")), (call.size, *call["input_sizes"]),
                            key.indices, key.dims)


def index_put(call: Call) -> Any:
    """Values written where tensors pick."""
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


# -------------------------------------------------------------------- networks


def folded(*outputs: int) -> Rule:
    """Make the rule of ops whose first dimension is a batch already: both become one.

    All tensors have that dimension; so has a size among the arguments.
    """

    def rule(call: Call) -> Any:
        changes: dict[str, Any] = {}
        for name in call.tensors:
            full = call.full(name)
            if full.ndim < 2:
                return call.in_turn()
            changes[name] = F.reshape(full, (full.shape[0] * full.shape[1], *full.shape[2:]))
        for name in SIZES:
            if name in call.arguments:
                sizes = call[name]
                changes[name] = (call.size * sizes[0], *sizes[1:])
        result = call.run(**changes)

        def split(x: Any) -> Any:
            return F.reshape(x, (call.size, x.shape[0] // call.size, *x.shape[1:]))

        if isinstance(result, (tuple, list)):
            return [split(r) for r in result]
        return split(result)

    return rule


def with_channels(x: Any) -> Any:
    """(B, N, C, ...) -> (N, B C, ...): the batch's channels side by side."""
    x = F.movedim(x, 0, 1)
    return F.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:]))


def without_channels(x: Any, size: int) -> Any:
    """(N, B C, ...) -> (B, N, C, ...)."""
    return F.movedim(F.reshape(x, (x.shape[0], size, x.shape[1] // size, *x.shape[2:])), 1, 0)


def joined(x: Any) -> Any:
    """(B, O, ...) -> (B O, ...)."""
    return F.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def parted(x: Any, size: int) -> Any:
    """(B O, ...) -> (B, O, ...)."""
    return F.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))


def convolution(call: Call) -> Any:
    """One kernel meets all examples at once; kernels of their own are groups of channels."""
    size, bias = call.size, call["bias"]
    if call.only("input"):
        return parted(call.run(input=joined(call["input"])), size)
    return without_channels(call.run(
        input=with_channels(call.full("input")), weight=joined(call.full("weight")),
        bias=None if bias is None else joined(call.full("bias")), groups=call["groups"] * size),
        size)


def conv_input(call: Call) -> Any:
    """As `convolution`, of which it is the transpose."""
    size, sizes = call.size, tuple(call["sizes"])
    if call.only("grad"):
        return parted(call.run(grad=joined(call["grad"]), sizes=(size * sizes[0], *sizes[1:])),
                      size)
    return without_channels(call.run(
        grad=with_channels(call.full("grad")), weight=joined(call.full("weight")),
        sizes=(sizes[0], size * sizes[1], *sizes[2:]), groups=call["groups"] * size), size)


def conv_weight(call: Call) -> Any:
    """The gradients' channels side by side; the inputs' too, in groups, if they are batched."""
    size, sizes = call.size, tuple(call["sizes"])
    sizes = (size * sizes[0], *sizes[1:])
    grad = with_channels(call.full("grad"))
    if call.only("grad") and call["groups"] == 1:
        return parted(call.run(grad=grad, sizes=sizes), size)
    return parted(call.run(grad=grad, input=with_channels(call.full("input")), sizes=sizes,
                           groups=call["groups"] * size), size)


def embedding(call: Call) -> Any:
    """Tables side by side, looked up at the same places; or one table at the places of all."""
    if call.only("indices"):
        return call.run() if not call["scale_grad_by_freq"] else call.in_turn()
    if "indices" in call.batched:
        return call.in_turn()
    weight = F.movedim(call["weight"], 0, 1)
    rows, size, width = weight.shape
    found = call.run(weight=F.reshape(weight, (rows, size * width)))
    return F.movedim(F.reshape(found, (*call["indices"].shape, size, width)), -2, 0)


def embedding_weight(call: Call) -> Any:
    """The transpose of `embedding`."""
    if "indices" in call.batched:
        return call.in_turn()
    rows, width = call["sizes"]
    grad = F.movedim(call["grad"], 0, -2)
    grad = F.reshape(grad, (*call["indices"].shape, call.size * width))
    found = call.run(grad=grad, sizes=(rows, call.size * width))
    return F.movedim(F.reshape(found, (rows, call.size, width)), 1, 0)


def loss(call: Call) -> Any:
    """The losses of all, then the mean or sum of each example."""
    losses = elementwise(with_full_self(call, reduction="none"))
    if call["reduction"] == "none":
        return losses
    flat = F.reshape(losses, (call.size, numel(losses.shape[1:])))
    return F.mean(flat, 1) if call["reduction"] == "mean" else F.sum(flat, 1)


class Classes:
    """The arguments of a loss of classes with the examples' own batch dimension folded in."""

    def __init__(self, call: Call, sizes: tuple[int, ...]) -> None:
        self.call = call
        self.of_target = call.shape("target")
        many = len(sizes) > 1
        self.sizes = (call.size * sizes[0], *sizes[1:]) if many else (call.size, *sizes)
        self.target = F.reshape(call.full("target"), (self.sizes[0], *sizes[2:]))

    def run(self, /, **changes: Any) -> Any:
        """Run the op on all, with a result for each target."""
        return self.call.run(target=self.target, reduction="none", **changes)

    def total(self, each: Any) -> Any:
        """Return the sum of each example's results."""
        return F.sum(F.reshape(each, (self.call.size, numel(self.of_target))), 1)

    def weight(self, like: Any) -> Any:
        """Return the sum of the weights of each example's targets, which the mean divides by."""
        call = self.call
        ones = F.full_like(F.detach(F.reshape(F.expand(F.reshape(like, (-1,)), (
            numel(self.sizes),)), self.sizes)), -1.0)
        return self.total(NllLoss(ones, self.target, call["weight"], "none", call["ignore_index"]))


def nll_loss(call: Call) -> Any:
    """All losses one by one, then the sum or mean of each example."""
    if "weight" in call.batched:
        return call.in_turn()
    classes = Classes(call, call.shape("self"))
    x = F.reshape(call.full("self"), classes.sizes)
    each = classes.run(self=x)
    if call["reduction"] == "none":
        return F.reshape(each, (call.size, *classes.of_target))
    total = classes.total(each)
    if call["reduction"] == "sum":
        return total
    return total / classes.weight(F.select(F.reshape(x, (-1,)), 0, 0))


def nll_loss_input(call: Call) -> Any:
    """The transpose of `nll_loss`."""
    if "weight" in call.batched:
        return call.in_turn()
    sizes = tuple(call["sizes"])
    classes = Classes(call, sizes)
    grad = call.full("grad")
    if call["reduction"] != "none":
        if call["reduction"] == "mean":
            grad = grad / classes.weight(F.select(F.reshape(grad, (-1,)), 0, 0))
        ones = (1,) * len(classes.of_target)
        grad = F.expand(F.reshape(grad, (call.size, *ones)), (call.size, *classes.of_target))
    grad = F.reshape(grad, tuple(classes.target.shape))
    return F.reshape(classes.run(grad=grad, sizes=classes.sizes), (call.size, *sizes))


def native_layer_norm(call: Call) -> Any:
    """One weight for all examples; others in turn."""
    return call.run() if call.only("input") else call.in_turn()


def draw(call: Call) -> Any:
    """Random numbers of its own for each example, where that is what the caller of `vmap` wants."""
    if _state.randomness.get() == "same":
        raise RuntimeError("vmap: random numbers that are the same for all examples have to be "
                           "drawn without a batched input")
    return elementwise(call) if call.op.tensors[0] in call.batched else onto_self(call)
