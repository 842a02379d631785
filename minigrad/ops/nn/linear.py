"""The affine map, and lookup of vectors in a table."""

from ... import _state
from ...backend import BACKENDS
from ...backend.kernels_index import index_add
from ...op.declaration import F, Op
from ...op.out import call_with_out
from ...op.publish import function, observable, with_aliases
from ...shapes import numel
from ...tensor.tensor import Tensor
from ..checks import at_each_run
from ..indexing.gather import check_selected


@observable
def linear(input, weight, bias=None, *, out=None) -> Tensor:
    """input @ weight.T + bias: (*, in), (out, in), (out,) -> (*, out).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html

    >>> from minigrad import ones
    >>> linear(ones(1, 2), ones(3, 2), ones(3))
    tensor([[3., 3., 3.]])
    """
    if out is not None:
        return call_with_out("linear", "exact", linear, (input, weight, bias), {"out": out})
    if bias is not None and len(weight.shape) == 2:
        if len(input.shape) == 2:
            return F.addmm(bias, input, F.t(weight))
        if suits_addmv(input, weight, bias):
            return F.addmv(bias, weight, input)
        if len(input.shape) and input.is_contiguous():  # a single product for all batches
            rows = F.view(input, (numel(input.shape[:-1]), input.shape[-1]))
            return F.view(F.addmm(bias, rows, F.t(weight)), (*input.shape[:-1], weight.shape[0]))
    if not input.ndim or not weight.ndim:
        raise RuntimeError("both arguments to linear need to be at least 1D, but they are "
                           f"{input.ndim}D and {weight.ndim}D")
    if bias is not None and weight.ndim == 1:
        raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
    product = F.matmul(input, F.t(weight))
    return product if bias is None else product + bias


def suits_addmv(input, weight, bias):
    """Return whether one `addmv` suffices for a vector inside `vmap`, where nodes are hidden."""
    return (input.ndim == 1 and weight.shape == (*bias.shape, *input.shape)
            and any(BACKENDS[type(t._array)].run_op is not None for t in (input, weight, bias)))


class Embedding(Op):
    """weight[indices]: (V, D) and (*) -> (*, D); `padding_idx` gets no gradient.

    >>> from minigrad import arange, embedding, tensor
    >>> embedding(arange(6.0).reshape(3, 2), tensor([2, 0]))
    tensor([[4., 5.],
            [0., 1.]])
    """

    kind = "linear"
    public = False
    tensors = ("weight", "indices")

    def shape(weight, indices, padding_idx=-1, scale_grad_by_freq=False):
        return tuple(indices) + tuple(weight[1:])

    def forward(xp, weight, indices, padding_idx=-1, scale_grad_by_freq=False):
        check_selected(weight, 0, indices)
        return weight[indices]

    def grad_weight(g, indices, weight_sizes, padding_idx, scale_grad_by_freq):
        return EmbeddingWeight(g, indices, weight_sizes, padding_idx, scale_grad_by_freq)

    def samples(make):
        yield make(5, 3), make.ints(4, high=5)
        yield make(5, 3), make.ints(2, 3, high=5), 1
        yield make(5, 2), make.ints(2, 4, high=5), -1, True
        yield make(5, 2), make.ints(0, high=5)


class EmbeddingWeight(Op):
    """Add each row of `grad` to the row of a table of `sizes` that it was looked up from.

    >>> from minigrad import ones, tensor
    >>> EmbeddingWeight(ones(2, 1), tensor([1, 1]), (2, 1), -1, False)
    tensor([[0.],
            [2.]])
    """

    public = False
    node = "EmbeddingDenseBackward"
    tensors = ("grad", "indices")

    def shape(grad, indices, sizes, padding_idx, scale_grad_by_freq):
        return tuple(sizes)

    def forward(xp, grad, indices, sizes, padding_idx, scale_grad_by_freq):
        flat = indices.reshape(-1)
        rows = grad.reshape(flat.size, *sizes[1:])
        rows = rows * row_weights(xp, flat, sizes[0], padding_idx, scale_grad_by_freq, grad.dtype)
        return index_add(xp, xp.zeros(sizes, grad.dtype), 0, flat, rows)

    def grad_grad(g, indices, padding_idx, scale_grad_by_freq):
        return EmbeddingRows(g, indices, padding_idx, scale_grad_by_freq)

    def samples(make):
        yield make(4, 3), make.ints(4, high=5), (5, 3), -1, False
        yield make(2, 3, 2), make.ints(2, 3, high=5), (5, 2), 1, True


class EmbeddingRows(Embedding):
    """The transpose of `EmbeddingWeight`: look up rows, with zeros for `padding_idx`.

    >>> from minigrad import ones, tensor
    >>> EmbeddingRows(ones(2, 1), tensor([1, 0]), 0, False)
    tensor([[1.],
            [0.]])
    """

    node = "EmbeddingDenseBackward"

    def forward(xp, weight, indices, padding_idx, scale_grad_by_freq):
        flat = indices.reshape(-1)
        factors = row_weights(xp, flat, weight.shape[0], padding_idx, scale_grad_by_freq,
                              weight.dtype)
        return (weight[flat] * factors).reshape(indices.shape + weight.shape[1:])

    def samples(make):
        yield make(5, 3), make.ints(4, high=5), -1, False
        yield make(5, 2), make.ints(2, 3, high=5), 1, True


def row_weights(xp, flat, count, padding_idx, scale_grad_by_freq, dtype):
    """Return the weight of each row: 0 for `padding_idx`, and smaller for a frequent one."""
    factors = (flat != padding_idx).astype(dtype)
    if scale_grad_by_freq:
        factors /= xp.bincount(flat, minlength=count)[flat].astype(dtype)
    return factors[:, None]


@function(method_too=False)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Look up the rows of a table by index; note that the table is the first argument here.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html

    >>> from minigrad import arange, embedding, tensor
    >>> embedding(arange(6.0).reshape(3, 2), tensor([2, 0]))
    tensor([[4., 5.],
            [0., 1.]])
    """
    if not weight.shape and _state.grad_enabled.get() and getattr(weight, "requires_grad", False):
        # PyTorch reads the number of rows, for the gradient, before any checks.
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    if str(indices.dtype).removeprefix("torch.") not in ("int64", "int32"):
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following "
                           "scalar types: Long, Int; but got "
                           f"{indices.type() if hasattr(indices, 'type') else indices.dtype} "
                           "instead (while checking arguments for embedding)")
    if sparse:
        raise NotImplementedError("embedding(): argument 'sparse' is True, but minigrad has no "
                                  "sparse tensors; leave it False")
    return Embedding(weight, indices, padding_idx, scale_grad_by_freq)


class OneHot(Op):
    """1 at the class, 0 elsewhere: (*) -> (*, num_classes), int64.

    >>> from minigrad import tensor
    >>> from minigrad.nn.functional import one_hot
    >>> one_hot(tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """

    public = False
    nondifferentiable = True
    tensors = ("self",)

    def shape(self, num_classes=-1):
        return (*self, num_classes)

    def forward(xp, self, num_classes=-1):
        return (self[..., None] == xp.arange(num_classes)).astype("int64")

    def samples(make):
        yield make.ints(4, high=5), 5
        yield make.ints(2, 3, high=5), 7


@at_each_run
def check_classes(input, num_classes):
    """Raise unless classes are from 0 to `num_classes`, or not negative if that is -1."""
    if bool(input.min() < 0):
        raise RuntimeError("Class values must be non-negative.")
    if num_classes != -1 and num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    if num_classes != -1 and bool(input.max() >= num_classes):
        raise RuntimeError("Class values must be smaller than num_classes.")


@with_aliases
def one_hot(input, num_classes=-1) -> Tensor:
    """1 at the class, 0 elsewhere: (*) -> (*, num_classes), int64; -1 infers the number of classes.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html

    >>> from minigrad import tensor
    >>> one_hot(tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if str(input.dtype) != "torch.int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    array = input._array
    if not array.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if array.size:
        check_classes(input, num_classes)
    if num_classes == -1:
        num_classes = input.max().item() + 1
    result = OneHot(input, num_classes)
    if array.size and isinstance(result, Tensor):
        result._written_inside(2)
    return result
