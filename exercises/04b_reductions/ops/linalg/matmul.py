# Stage 04b, Reductions, matrix products, indices: the exercise for minigrad/ops/linalg/matmul.py.
# Made by `minigrad dev build`. The lesson is lessons/04b_reductions.md.
# MASTER COPY: write your answers in a workspace, which `minigrad init DIR` makes.
# MASTER COPY: answers in this file are never tested, and a build overwrites them.
# Write the bodies that raise NotImplementedError, then run: minigrad run 04b
# docs/en/glossary.md explains the names used inside the package.

"""Products of vectors and matrices: matmul, and the four ops that it decomposes to.

NOTE [How matmul decomposes]
    As in PyTorch, `a @ b` is not a single op.  Two vectors go to `dot`, a matrix and a vector to
    `mv`, and two matrices to `mm`; operands with more dimensions are reshaped for `mm` or `bmm`.
"""

from ...dtypes import c_name
from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import broadcast, numel
from ...tensor.tensor import Tensor, method
from ..checks import require_one_dtype
from ..shape.view import UnsafeView
from .product_checks import bmm_shape, dot_shape, mm_shape, mv_shape, product_of_numbers


def mT(x):
    """Transpose the last two dimensions."""
    return F.transpose(x, -2, -1)


@function(out="exact overlap")
def matmul(input, other):
    """Return the matrix product; dimensions before the last two are batches and broadcast.

    >>> from minigrad import ones
    >>> (ones(5, 1, 2, 3) @ ones(4, 3, 6)).shape
    torch.Size([5, 4, 2, 6])
    """
    m, n = input.ndim, other.ndim
    if m == 2 and n == 2:
        return F.mm(input, other)
    if m == 2 and n == 1:
        return F.mv(input, other)
    if m == 1 and n == 1:
        return F.dot(input, other)
    if m == 0 or n == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{m}D and {n}D")
    if m == 1 and n == 2:
        return F.mm(F.unsqueeze(input, 0), other).squeeze_(0)
    if n <= 2 and folds(input, other):
        return rows_by_matrix(input, other)
    if m <= 2 and (m == 1 or live(input)) and folds(mT(other), input):
        # bmm would expand the smaller factor and its gradient
        columns = rows_by_matrix(mT(other), F.t(input))
        return columns if m == 1 else mT(columns).contiguous()
    return batched_matmul(input, other)


def live(factor):
    """Return whether a factor is a tensor that requires grad."""
    return isinstance(factor, Tensor) and factor.requires_grad


def folds(batch, matrix):
    """Return whether one product can cover a whole batch without a needless copy."""
    if batch.ndim < 3:
        return False
    if live(matrix) or not isinstance(batch, Tensor) or not batch.numel():
        return True
    steps = batch.stride()
    return all(steps[d] == steps[d + 1] * batch.shape[d + 1] for d in range(batch.ndim - 2))


def rows_by_matrix(batch, matrix):
    """Multiply a batch by one matrix or vector, as a single product of all its rows."""
    # 04b.4 Batched products (about 18 lines)
    # `matmul`, above, calls these two for batches. In `rows_by_matrix`, all matrices of a
    # batch meet one matrix or vector, so let all their rows share one `F.matmul`.
    # `batched_matmul` computes one product for each place in the batch dimensions, the
    # ones before the last two.
    #   rows_by_matrix:  (6, 5, 2, 3) and (3, 4)     -> (6, 5, 2, 4)
    #   rows_by_matrix:  (5, 2, 3) and (3,)          -> (5, 2)
    #   batched_matmul:  (6, 1, 2, 3) and (5, 3, 4)  -> (6, 5, 2, 4)
    #   batched_matmul:  (3,) and (5, 3, 4)          -> (5, 4)
    # Mind:
    # - `F.bmm` takes exactly three dimensions, with equal first sizes.
    # - A vector is a row on the left and a column on the right. The result lacks that
    #   dimension.
    # Use: `broadcast(shape, shape)`, `numel`, `F.reshape`, `F.expand`, `F.unsqueeze(t,
    # dim)`, `F.squeeze(t, dim)`; they record for tensors.
    raise NotImplementedError("04b.4 Batched products is yours to write")


def batched_matmul(a, b):
    """Return the matrix products of two batches, which broadcast; either may be a vector."""
    # 04b.4 Batched products: see the task at `rows_by_matrix`.
    raise NotImplementedError("04b.4 Batched products is yours to write")


def by_columns(strides):
    """Return whether a matrix is stored in column-major order.

    A gradient with the layout of its leaf does not need to be copied.  In `x @ weight.T`, the
    gradient of `weight.T` should therefore be column-major, so that the gradient of `weight` is
    row-major.
    """
    return len(strides) == 2 and strides[0] == 1 < strides[1]


class Mm(Op):
    """The product of two matrices, (n, k) times (k, m).

    >>> from minigrad import mm, tensor
    >>> mm(tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """

    out = "exact overlap"
    kind = "multilinear"
    shape = mm_shape

    def forward(xp, self, mat2):
        if self.ndim != 2 or mat2.ndim != 2:
            mm_shape(self.shape, mat2.shape)
        if self.dtype != mat2.dtype:
            raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                               f"{c_name(self.dtype)} != {c_name(mat2.dtype)}")
        return product_of_numbers(xp.matmul(self, mat2), "addmm_impl_cpu_", self, mat2)

    def grad_self(g, mat2, self_strides):
        # 04b.5 Gradients of matrix products (about 8 lines)
        # Return the gradients of `Mm`, (n, k) @ (k, m), of `Bmm`, the same for each matrix of
        # a batch, of `Mv`, matrix times vector, and of `Dot`, two vectors.
        #   Mm: [[1, 2, 3], [4, 5, 6]] @ [[7, 8], [9, 10], [11, 12]], g = [[2, 5], [0, 3]]
        #       -> self: [[54, 68, 82], [24, 30, 36]];  mat2: [[2, 17], [4, 25], [6, 33]]
        #   Mv: [[1, 2, 3], [4, 5, 6]] @ [10, 20, 30], g = [2, 3]
        #       -> self: [[20, 40, 60], [30, 60, 90]];  vec: [14, 19, 24]
        #   Dot: [1, 2, 3] and [4, 5, 6], g = 2
        #       -> self: [8, 10, 12];  tensor: [2, 4, 6]
        # Mind:
        # - Ignore `self_strides` and `mat2_strides`, which only serve speed.
        # - Don't write to the arguments. A batch may be empty.
        # Use: `@`, `F.t`, `F.transpose(t, 1, 2)`, `F.bmm`, `F.mv`, `F.outer(u, v)` (all u[i]
        # v[j]); they work on arrays and tensors.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def grad_mat2(g, self, mat2_strides):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def samples(make):
        yield make(2, 3), make(3, 4)
        yield make(2, 0), make(0, 3)


class Bmm(Op):
    """The products of pairs of matrices, (n, p, k) times (n, k, q).

    >>> from minigrad import bmm, ones
    >>> bmm(ones(2, 3, 4), ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """

    out = "exact overlap expanded"
    kind = "multilinear"
    node, shape = "BmmBackward0", bmm_shape

    def forward(xp, self, mat2):
        bmm_shape(self.shape, mat2.shape)
        if self.dtype != mat2.dtype:
            product_of_numbers(self, "bmm", self, mat2)
            require_one_dtype("expected scalar type {} but found {}", self, mat2)
        return product_of_numbers(xp.bmm(self, mat2), "bmm", self, mat2)

    def grad_self(g, mat2, self_strides):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def grad_mat2(g, self, mat2_strides):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def samples(make):
        yield make(2, 3, 4), make(2, 4, 5)
        yield make(0, 3, 4), make(0, 4, 5)


class Mv(Op):
    """The product of a matrix and a vector, (n, k) times (k,).

    >>> from minigrad import mv, tensor
    >>> mv(tensor([[1.0, 2.0]]), tensor([3.0, 4.0]))
    tensor([11.])
    """

    out = "exact overlap expanded"
    kind = "multilinear"
    shape = mv_shape

    def forward(xp, self, vec):
        mv_shape(self.shape, vec.shape)
        require_one_dtype("addmv input tensors must have the same dtype, but got {}, {}, and {}",
                          vec, self, vec)
        return product_of_numbers(xp.matmul(self, vec), "addmv_impl_cpu", self, vec)

    def grad_self(g, vec):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def grad_vec(g, self):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def samples(make):
        yield make(2, 3), make(3)
        yield make(2, 0), make(0)


class Dot(Op):
    """The dot product of two vectors.

    >>> from minigrad import dot, tensor
    >>> dot(tensor([1.0, 2.0]), tensor([3.0, 4.0]))
    tensor(11.)
    """

    out = "exact overlap expanded"
    kind = "multilinear"
    shape = dot_shape

    def forward(xp, self, tensor):
        if self.ndim == tensor.ndim == 1:
            require_one_dtype("dot : expected both vectors to have same dtype, but found {} and "
                              "{}", self, tensor)
        dot_shape(self.shape, tensor.shape)
        return product_of_numbers(xp.dot(self, tensor), "dot")

    def grad_self(g, tensor):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def grad_tensor(g, self):
        # 04b.5 Gradients of matrix products: see the task at `Mm.grad_self`.
        raise NotImplementedError("04b.5 Gradients of matrix products is yours to write")

    def samples(make):
        yield make(3), make(3)
        yield make(0), make(0)


@method("__matmul__")
def matmul_operator(self, other):
    """Return self @ other."""
    return F.matmul(self, other) if isinstance(other, Tensor) else NotImplemented


@method("__rmatmul__")
def matmul_swapped(self, other):
    """Return other @ self."""
    return F.matmul(other, self) if isinstance(other, Tensor) else NotImplemented
