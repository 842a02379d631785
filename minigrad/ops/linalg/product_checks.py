"""The shapes and dtypes that products accept, with PyTorch's errors."""

from ...dtypes import type_name
from ..checks import size_at


def by(shape):
    """Format a shape as in PyTorch's errors: 2x3."""
    return "x".join(map(str, shape))


def dtype_names(*arrays):
    """Return the names of the arrays' dtypes in PyTorch's errors."""
    return [type_name(a.dtype) for a in arrays]


def product_of_numbers(product, kernel, *factors):
    """Return a product; raise `NotImplementedError` for bools, as PyTorch does."""
    if product.dtype.kind == "b" and all(factor.size for factor in factors):
        raise NotImplementedError(f'"{kernel}" not implemented for \'Bool\'')
    return product


def mm_shape(a, b):
    """(n, k) times (k, m) is (n, m)."""
    if len(a) != 2 or len(b) != 2:
        raise RuntimeError(f"{'self' if len(a) != 2 else 'mat2'} must be a matrix")
    if a[1] != b[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({by(a)} and {by(b)})")
    return a[0], b[1]


def bmm_shape(a, b):
    """(n, p, k) times (n, k, q) is (n, p, q)."""
    for name, shape in (("batch1", a), ("batch2", b)):
        if len(shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError("Expected size for first two dimensions of batch2 tensor to be: "
                           f"[{a[0]}, {a[2]}] but got: [{b[0]}, {b[1]}].")
    return a[0], a[1], b[2]


def mv_shape(a, v):
    """(n, k) times (k,) is (n,)."""
    size_at(a, 0)
    if len(a) != 2 or len(v) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {len(a)}, {len(v)}")
    if a[1] != v[0]:
        raise RuntimeError(f"size mismatch, got input ({a[0]}), mat ({by(a)}), vec ({v[0]})")
    return (a[0],)


def dot_shape(a, b):
    """Two vectors of equal length give a number."""
    if len(a) != 1 or len(b) != 1:
        raise RuntimeError(f"1D tensors expected, but got {len(a)}D and {len(b)}D tensors")
    if a != b:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{a[0]}] and src [{b[0]}] to have the same "
            f"number of elements, but got {a[0]} and {b[0]} elements respectively")
    return ()
