"""Products with an addend, `beta self + alpha (a b)`, of matrices, vectors and batches."""

from ...dtypes import c_name
from ...op.declaration import F, Op
from ..checks import require_one_dtype, size_at
from ..math.arithmetic_support import check_factor
from .matmul import by_columns, mT
from .product_checks import bmm_shape, by, dtype_names, mm_shape


def check_expandable(shape, target):
    """Raise unless the addend expands to the shape of the product."""
    if len(shape) > len(target):
        raise RuntimeError(
            f"expand(torch.FloatTensor{{{list(shape)}}}, size={list(target)}): the number of sizes "
            f"provided ({len(target)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(shape)})")
    for i in range(1, len(shape) + 1):
        if shape[-i] not in (1, target[-i]):
            raise RuntimeError(
                f"The expanded size of the tensor ({target[-i]}) must match the existing size "
                f"({shape[-i]}) at non-singleton dimension {len(target) - i}.  Target sizes: "
                f"{list(target)}.  Tensor sizes: {list(shape)}")


def check_dtypes(array, a, b):
    """Raise unless all three have one dtype; PyTorch compares the addend with `b` first."""
    for name, first in (("self", array), ("mat1", a)):
        if first.dtype != b.dtype:
            raise RuntimeError("{} and mat2 must have the same dtype, but got {} and {}".format(
                name, *dtype_names(first, b)))


def check_batches(array, a, b):
    """Raise PyTorch's error for batches unless all three have one dtype."""
    if array.dtype != a.dtype:
        raise RuntimeError("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}"
                           .format(*(c_name(t.dtype) for t in (array, a, b))))
    if a.dtype != b.dtype:
        raise RuntimeError("expected scalar type {} but found {}".format(*dtype_names(a, b)))


def add_product(array, product, beta, alpha):
    """Return beta array + alpha product, writing into the product.

    If beta is 0, the values of the array are ignored, even nan.
    """
    if alpha != 1:
        product *= product.dtype.type(alpha)
    if beta == 1:
        product += array
    elif beta != 0:
        product += array * product.dtype.type(beta)
    return product


def scaled(x, factor):
    """Return x * factor; skip the product if factor is 1."""
    return x if factor == 1 else F.mul(x, factor)


class AddedProduct(Op, abstract=True):
    """beta self + alpha times a product of the two other operands."""

    inplace = True

    def grad_self(g, beta): return scaled(g, beta)


def addmm_shape(shape, a, b, *_):
    """Return the shape of the product, to which the addend expands."""
    target = mm_shape(a, b)
    check_expandable(shape, target)
    return target


class Addmm(AddedProduct):
    """beta self + alpha (mat1 @ mat2), where `self` expands to the shape of the product.

    >>> from minigrad import addmm, ones
    >>> addmm(ones(3), ones(2, 4), ones(4, 3))
    tensor([[5., 5., 5.],
            [5., 5., 5.]])
    """

    out = "exact"
    shape = addmm_shape

    def forward(xp, self, mat1, mat2, *, beta=1, alpha=1):
        if mat1.ndim != 2 or mat2.ndim != 2 or self.ndim > 2:
            addmm_shape(self.shape, mat1.shape, mat2.shape)
        check_dtypes(self, mat1, mat2)
        return add_product(self, xp.matmul(mat1, mat2), beta, alpha)

    def grad_mat1(g, mat2, mat1_strides, alpha):
        g = scaled(g, alpha)
        return F.t(mat2 @ F.t(g)) if by_columns(mat1_strides) else g @ F.t(mat2)

    def grad_mat2(g, mat1, mat2_strides, alpha):
        g = scaled(g, alpha)
        return F.t(F.t(g) @ mat1) if by_columns(mat2_strides) else F.t(mat1) @ g

    def samples(make):
        yield make(2, 4), make(2, 3), make(3, 4)
        yield make(4), make(2, 3), make(3, 4), {"beta": 0.5, "alpha": 2}


def baddbmm_shape(shape, a, b, *_):
    """Return the shape of the batch of products, to which the addend expands."""
    size_at(a, 0), size_at(a, 1), size_at(b, 2)
    target = bmm_shape(a, b)
    check_expandable(shape, target)
    return target


class Baddbmm(AddedProduct):
    """beta self + alpha bmm(batch1, batch2): products of pairs of matrices, plus an addend.

    >>> from minigrad import baddbmm, ones
    >>> baddbmm(ones(1), ones(2, 3, 4), ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """

    out = "exact"
    shape = baddbmm_shape

    def forward(xp, self, batch1, batch2, *, beta=1, alpha=1):
        baddbmm_shape(self.shape, batch1.shape, batch2.shape)
        check_batches(self, batch1, batch2)
        return add_product(self, xp.bmm(batch1, batch2), beta, alpha)

    def grad_batch1(g, batch2, alpha): return scaled(F.bmm(g, mT(batch2)), alpha)
    def grad_batch2(g, batch1, alpha): return scaled(F.bmm(mT(batch1), g), alpha)

    def samples(make):
        yield make(2, 3, 5), make(2, 3, 4), make(2, 4, 5)
        yield make(5), make(2, 3, 4), make(2, 4, 5), {"beta": 0.5, "alpha": 2}


def addbmm_shape(shape, a, b, *_):
    """Return the shape of a single product, to which the addend expands."""
    size_at(a, 1), size_at(b, 2)
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError(f"batch{1 if len(a) != 3 else 2} must be a 3D tensor")
    if a[0] != b[0]:
        raise RuntimeError("batch1 and batch2 must have same number of batches, got "
                           f"{a[0]} and {b[0]}")
    if a[2] != b[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({by(a[1:])} and {by(b[1:])})")
    check_expandable(shape, (a[1], b[2]))
    return a[1], b[2]


class Addbmm(AddedProduct):
    """beta self + alpha times the sum of the products of pairs of matrices.

    >>> from minigrad import addbmm, ones
    >>> addbmm(ones(3, 5), ones(2, 3, 4), ones(2, 4, 5)).shape
    torch.Size([3, 5])
    """

    out = "exact"
    shape = addbmm_shape

    def forward(xp, self, batch1, batch2, *, beta=1, alpha=1):
        addbmm_shape(self.shape, batch1.shape, batch2.shape)
        check_dtypes(self, batch1, batch2)
        product = xp.sum(xp.matmul(batch1, batch2), axis=0, dtype=self.dtype)
        return add_product(self, xp.as_array(product), beta, alpha)

    def grad_batch1(g, batch2, alpha): return scaled(F.bmm(each(g, batch2), mT(batch2)), alpha)
    def grad_batch2(g, batch1, alpha): return scaled(F.bmm(mT(batch1), each(g, batch1)), alpha)

    def samples(make):
        yield make(3, 5), make(2, 3, 4), make(2, 4, 5)
        yield make(5), make(2, 3, 4), make(2, 4, 5), {"beta": 0.5, "alpha": 2}
        yield make(2, 2), make(0, 2, 3), make(0, 3, 2)


def each(matrix, batch):
    """Return the matrix expanded to a batch."""
    return F.expand(matrix, (batch.shape[0], *matrix.shape))


def addmv_shape(shape, a, v, beta=1, *_):
    """(n, k) times (k,) is (n,), to which an addend of at most one dimension expands.

    If the matrix is empty, PyTorch's result has the shape of the addend.
    """
    if len(a) != 2 or len(v) != 1 or len(shape) > 1:
        raise RuntimeError("vector + matrix @ vector expected, got "
                           f"{len(shape)}, {len(a)}, {len(v)}")
    if a[1] != v[0] or (shape and shape[0] not in (1, a[0])):
        raise RuntimeError(f"size mismatch, got input ({shape[0] if shape else 1}), mat ({by(a)}), "
                           f"vec ({v[0]})")
    return shape if 0 in a and beta != 0 else a[:1]


class Addmv(AddedProduct):
    """beta self + alpha (mat @ vec): a matrix-vector product plus an addend.

    >>> from minigrad import addmv, ones
    >>> addmv(ones(2), ones(2, 3), ones(3))
    tensor([4., 4.])
    """

    out = "exact"
    shape = addmv_shape

    def forward(xp, self, mat, vec, *, beta=1, alpha=1):
        addmv_shape(self.shape, mat.shape, vec.shape)
        require_one_dtype("addmv input tensors must have the same dtype, but got {}, {}, and {}",
                          self, mat, vec)
        if not mat.size and beta != 0:
            return xp.multiply(self, self.dtype.type(beta))
        return add_product(self, xp.matmul(mat, vec), beta, alpha)

    def inplace_shape(self, mat, *_):
        """Raise unless a tensor has the size of the product, even if the product is discarded."""
        if self != mat[:1]:
            raise RuntimeError(f"Bad in-place call: input tensor size {list(self)} and output "
                               f"tensor size {list(mat[:1])} should match")

    def grad_mat(g, vec, alpha): return scaled(F.outer(g, vec), alpha)
    def grad_vec(g, mat, alpha): return scaled(F.mv(F.t(mat), g), alpha)

    def samples(make):
        yield make(2), make(2, 3), make(3)
        yield make(1), make(2, 3), make(3), {"beta": 0.5, "alpha": 2}
        yield make(), make(2, 0).detach(), make(0).detach()  # PyTorch refuses their gradients


def addr_shape(shape, a, b, *_):
    """(n,) and (m,) make (n, m), to which the addend expands."""
    for name, vector in (("vec1", a), ("vec2", b)):
        if len(vector) != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {len(vector)}-D")
    check_expandable(shape, (a[0], b[0]))
    return a[0], b[0]


class Addr(AddedProduct):
    """beta self + alpha outer(vec1, vec2): an outer product plus an addend.

    >>> from minigrad import addr, ones
    >>> addr(ones(2, 3), ones(2), ones(3)).shape
    torch.Size([2, 3])
    """

    out = "cast"
    shape, promote = addr_shape, "result"

    def forward(xp, self, vec1, vec2, *, beta=1, alpha=1):
        addr_shape(self.shape, vec1.shape, vec2.shape)
        check_factor("beta", beta, self)
        check_factor("alpha", alpha, self)
        product = xp.multiply(vec1[:, None], vec2)
        if alpha != 1:
            product = xp.multiply(product, alpha)
        if beta == 0:
            return product
        return xp.add(product, self if beta == 1 else xp.multiply(self, beta))

    def grad_vec1(g, vec2, alpha): return scaled(F.mv(g, vec2), alpha)
    def grad_vec2(g, vec1, alpha): return scaled(F.mv(F.t(g), vec1), alpha)

    def samples(make):
        yield make(2, 3), make(2), make(3)
        yield make(3), make(2), make(3), {"beta": 0.5, "alpha": 2}
        yield make(), make(2), make(0)
