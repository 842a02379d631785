"""Writing to the elements that an index selects along one dimension."""

from functools import partial

from ...backend import kernels_index
from ...frames import warn_user_once
from ...op.arguments import NUMBERS
from ...op.declaration import F, Op
from ...op.type_promotion import fitting
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..overloads import overloaded
from .gather import check_positions, checked_gather


def written(xp, name, write, self, dim, index, src):
    """Check the arguments and write `src` to the elements of `self` that `index` selects."""
    if not index.size:
        return self
    is_number = isinstance(src, NUMBERS)
    if not is_number and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    dim = checked_gather(self.shape, dim, index.shape, None if is_number else src.shape)
    check_positions(name, self, dim, index)
    return write(xp, self, dim, index, src)


class Scatter(Op, abstract=True):
    """Write `src`, a tensor or a number, to the elements that `index` selects along `dim`."""

    no_overlap: bool | str = "after shapes"
    tensors: tuple[str, ...] = ("self", "index", "src")
    inplace = True

    def shape(self, dim, index, src, *_, **__):
        if numel(index):
            checked_gather(self, dim, index, src if isinstance(src, tuple) else None)
        return self


class ScatterSource(Scatter):
    """Write `src` along `dim`: for `dim=0`, `result[index[i][j]][j] = src[i][j]`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2, 0]), tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """

    kind = "linear"
    overload = "scatter", 0

    def forward_inplace(xp, self, dim, index, src):
        return written(xp, "scatter", kernels_index.scatter_write, self, dim, index, src)

    def grad_self(g, dim, index):
        return F.scatter(g, dim, index, 0)

    def grad_src(g, dim, index):
        return F.gather(g, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(1, 4, high=3), make(1, 4)
        yield make(3, 4), -1, make.ints(2, 1, high=4), make(2, 1)


class ScatterNumber(ScatterSource):
    """Write the number `src` to the elements that `index` selects along `dim`.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2]), 5)
    tensor([0., 0., 5.])
    """

    kind, no_overlap = "", True
    overload = "scatter", 1
    tensors = ("self", "index")
    grad_src = None  # type: ignore[assignment]  # a number has none

    def forward_inplace(xp, self, dim, index, src):
        src = src if hasattr(src, "dtype") else fitting(src, self.dtype)[()]
        return written(xp, "scatter", kernels_index.scatter_write, self, dim, index, src)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3), 1.5
        yield make(3), 0, make.ints(2, high=3), 0


class ScatterAdd(Scatter):
    """Add `src` to the elements that `index` selects along `dim`.

    >>> from minigrad import ones, tensor, zeros
    >>> zeros(3).scatter_add(0, tensor([2, 2]), ones(2))
    tensor([0., 0., 2.])
    """

    out = "exact"
    def forward_inplace(xp, self, dim, index, src):
        return written(xp, "scatter_add", kernels_index.scatter_add, self, dim, index, src)

    def grad_self(g):
        return g

    def grad_src(g, dim, index):
        return F.gather(g, dim, index)

    def samples(make):
        yield make(3, 4), 0, make.ints(2, 4, high=3), make(2, 4)
        yield make(3, 4), -1, make.ints(2, 6, high=4), make(2, 6)


class ScatterReduced(Scatter):
    """Add `src`, a tensor or a number, to the elements that `index` selects, or multiply by it.

    As in PyTorch, it has no derivative.

    >>> from minigrad import ones, tensor
    >>> ones(3).scatter(0, tensor([2, 2]), 3.0, reduce="multiply")
    tensor([1., 1., 9.])
    """

    name, numbers, public = "scatter", ("src",), False
    nondifferentiable = not_implemented_derivative = True

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


@overloaded(out="exact")
def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """Return `input` with `src`, or the number `value`, where `index` selects along `dim`.

    With `reduce` "add" or "multiply", the values are combined with the old elements instead of
    replacing them.

    >>> from minigrad import tensor, zeros
    >>> zeros(3).scatter(0, tensor([2, 0]), tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """
    src = value if src is None else src
    if reduce is not None:
        if isinstance(src, Tensor):
            warn_user_once(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
                "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
                "reduction options.")
        return ScatterReduced, input, dim, index, src, reduce
    number = isinstance(src, (bool, int, float)) or (isinstance(src, Tensor) and src is value)
    return ScatterNumber if number else ScatterSource, input, dim, index, src
