"""Writing to elements that an index names along one dimension: replaced, added or multiplied."""

from functools import partial

from ...backend import kernels_index
from ...op.arguments import NUMBERS
from ...op.declaration import F, Op
from ...op.inplace import apply_inplace
from ...op.publish import function
from ...shapes import numel
from ...tensor.tensor import Tensor, method
from .gather import check_positions, checked_gather


def written(xp, name, write, self, dim, index, src):
    """Return `self` after `write` has put `src` where `index` says, if all fit together."""
    if not index.size:
        return self
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    dim = checked_gather(self.shape, dim, index.shape, src.shape)
    check_positions(name, self, dim, index)
    return write(xp, self, dim, index, src)


class ScatterSource(Op):
    """`self` with `result[index[i][j]][j] = src[i][j]` for `dim=0`, and so for each dimension.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2, 0]), tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """

    no_overlap = "after shapes"
    name, node, tensors = "scatter", "ScatterBackward0", ("self", "index", "src")
    inplace, public = True, False

    def shape(self, dim, index, src):
        if numel(index):
            checked_gather(self, dim, index, src)
        return self

    def forward_inplace(xp, self, dim, index, src):
        return written(xp, "scatter", kernels_index.scatter_write, self, dim, index, src)

    def grad_self(g, dim, index):
        return F.scatter(g, dim, index, 0)

    def grad_src(g, dim, index):
        return F.gather(g, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(1, 4, high=3), make(1, 4)
        yield make(3, 4), -1, make.ints(2, 1, high=4), make(2, 1)


class ScatterNumber(Op):
    """`self` with the number `value` where `index` names an element along `dim`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2]), 5)
    tensor([0., 0., 5.])
    """

    no_overlap = True
    name, node, tensors = "scatter", "ScatterBackward1", ("self", "index")
    inplace, public = True, False

    def shape(self, dim, index, value):
        if numel(index):
            checked_gather(self, dim, index, self)
        return self

    def forward_inplace(xp, self, dim, index, value):
        if not index.size:
            return self
        dim = checked_gather(self.shape, dim, index.shape)
        check_positions("scatter", self, dim, index)
        return kernels_index.scatter_write(xp, self, dim, index, value)

    def grad_self(g, dim, index):
        return F.scatter(g, dim, index, 0)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3), 1.5
        yield make(3), 0, make.ints(2, high=3), 0


class ScatterAdd(Op):
    """`self` with `src` added where `index` names an element along `dim`.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).scatter_add(0, tensor([2, 2]), ones(2))
    tensor([0., 0., 2.])
    """

    no_overlap = "after shapes"
    node, tensors, inplace = "ScatterAddBackward", ("self", "index", "src"), True

    def shape(self, dim, index, src):
        if numel(index):
            checked_gather(self, dim, index, src)
        return self

    def forward_inplace(xp, self, dim, index, src):
        return written(xp, "scatter_add", kernels_index.scatter_add, self, dim, index, src)

    def grad_self(g):
        return g

    def grad_src(g, dim, index):
        return F.gather(g, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3), make(2, 4)
        yield make(3, 4), -1, make.ints(2, 6, high=4), make(2, 6)


class ScatterReduced(Op):
    """`self` with `src`, a tensor or a number, added or multiplied where `index` says.

    PyTorch has no derivative of it.

    >>> from minigrad import ones, tensor
    >>> ones(3).scatter(0, tensor([2, 2]), 3.0, reduce="multiply")
    tensor([1., 1., 9.])
    """

    name, tensors, numbers = "scatter", ("self", "index", "src"), ("src",)
    no_overlap, inplace, public = "after shapes", True, False
    nondifferentiable = not_implemented_derivative = True

    def shape(self, dim, index, src, reduce):
        return ScatterSource.shape(self, dim, index, index if isinstance(src, NUMBERS) else src)

    def forward_inplace(xp, self, dim, index, src, reduce):
        if isinstance(src, NUMBERS):
            src = xp.broadcast_to(xp.asarray(src, self.dtype), index.shape)
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        write = kernels_index.scatter_add
        if reduce == "multiply":
            write = partial(kernels_index.scatter_combined, combine="multiply")
        return written(xp, "scatter", write, self, dim, index, src)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3), make(2, 4), "add"
        yield make(3, 4), -1, make.ints(2, 6, high=4), 2.5, "multiply"


def scatter_op(src, value, reduce):
    """Return the op for a tensor or a number, and what it takes after the index."""
    src = value if src is None else src
    if reduce is not None:
        return ScatterReduced, (src, reduce)
    number = isinstance(src, (bool, int, float)) or (isinstance(src, Tensor) and src is value)
    return ScatterNumber if number else ScatterSource, (src,)


@function()
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """`input` with `src`, or the number `value`, where `index` names an element along `dim`.

    With `reduce` "add" or "multiply" what is there is added to or multiplied.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2, 0]), tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """
    op, rest = scatter_op(src, value, reduce)
    return op(input, dim, index, *rest)


@method("scatter_")
def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """Write `src`, or the number `value`, where `index` names an element along `dim`."""
    op, rest = scatter_op(src, value, reduce)
    return apply_inplace(op, [self, dim, index, *rest])
