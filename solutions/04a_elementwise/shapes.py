# Stage 04a, Operators, element by element: the solution for minigrad/shapes.py.
# Made by `minigrad dev build`. The lesson is lessons/04a_elementwise.md.
# MASTER COPY: a copy of the package's module, which never runs. Your answers are in a workspace.

"""Shape rules on plain tuples, with PyTorch's errors.

A shape rule takes the shapes of an op's tensors and the op's other arguments, and returns the shape
of its result.  An op that names no rule uses `same`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from operator import index
from typing import Any

from .frames import type_in_error

Shape = tuple[int, ...]

#: NumPy's texts for an array with more dimensions than it supports.
NUMPY_REFUSES = re.compile(
    "maximum supported dimension|number of dimensions must be within|"
    "ndmin must be <=|ndmin bigger than")


def numel(shape: Iterable[int]) -> int:
    """Return the number of elements.

    >>> numel((2, 3)), numel(())
    (6, 1)
    """
    return prod(shape)


def same(shape: Shape, *_: Any, **__: Any) -> Shape:
    """Return the shape of the first tensor.

    >>> same((2, 3), (4,))
    (2, 3)
    """
    return tuple(shape)


def depends_on_values(*_: Any, **__: Any) -> None:
    """Return `None`, because the shape is unknown before the op runs."""


def broadcast(*shapes: Any, **_: Any) -> Shape:
    """Return the shape that all broadcast to; arguments that are not shapes count as 0-d.

    >>> broadcast((3, 1), (4,), 1.5)
    (3, 4)
    """
    result: Shape = ()
    for shape in shapes:
        if isinstance(shape, tuple):
            result = infer_size(result, shape)
    return result


def infer_size(a: Shape, b: Shape) -> Shape:
    """Return the shape that two shapes broadcast to, or raise `size_mismatch`.

    >>> infer_size((3, 1), (4,))
    (3, 4)
    """
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    for dim in reversed(range(ndim)):
        if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
            raise size_mismatch(a[dim], b[dim], dim)
    return tuple(m if n == 1 else n for m, n in zip(a, b, strict=True))


def size_mismatch(a: int, b: int, dim: int) -> RuntimeError:
    """Return the error for two sizes that do not match in dimension `dim` of the result."""
    return RuntimeError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                        f"non-singleton dimension {dim}")


def explain_dimensions(name: str, error: Exception) -> None:
    """Raise an error that explains the limit if NumPy refused a result with too many dimensions."""
    if NUMPY_REFUSES.search(str(error)):
        raise RuntimeError(f"{name}(): the result would have more than 64 dimensions; minigrad's "
                           "tensors have at most 64, like NumPy's arrays") from error


def is_expandable_to(shape: Shape, target: Shape) -> bool:
    """Return whether `shape` broadcasts to exactly `target`.

    >>> is_expandable_to((3, 1), (2, 3, 4)), is_expandable_to((2,), (3,))
    (True, False)
    """
    if len(shape) > len(target):
        return False
    return all(n in (1, t) for n, t in zip(reversed(shape), reversed(target), strict=False))


def wrap_dim(dim: int, ndim: int, function: str = "") -> int:
    """Return `dim` counted from the front; a 0-d tensor counts as having one dimension.

    If you pass the name of the calling function, the type of `dim` is checked too.

    >>> wrap_dim(-1, 3)
    2
    """
    bound = ndim or 1
    if function and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"{function}(): argument 'dim' (position 1) must be int, not "
                        f"{type_in_error(dim)}")
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
            f"but got {dim})"
        )
    return dim + bound if dim < 0 else dim


def wrap_dims(dim: int | Sequence[int] | None, ndim: int) -> Shape:
    """Return the dimensions in `dim`; `None` or an empty sequence means all.

    >>> wrap_dims((-1, 0), 3)
    (2, 0)
    """
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, Sequence):
        dims: Shape = (wrap_dim(index(dim), ndim),)
    elif not dim:
        dims = tuple(range(ndim))
    else:
        dims = tuple(wrap_dim(index(d), ndim) for d in dim)
        if len(set(dims)) != len(dims):
            repeated = next(d for d in dims if dims.count(d) > 1)
            raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return dims if ndim else ()


def scalar(*_: Any, **__: Any) -> Shape:
    """Return the shape of a 0-d result."""
    return ()


def reduced(shape: Shape, dim: Any = None, keepdim: bool = False, *_: Any, **__: Any) -> Shape:
    """Return the shape after a reduction; reduced dimensions vanish or keep size one.

    >>> reduced((2, 3, 4), dim=(0, -1)), reduced((2, 3), dim=1, keepdim=True)
    ((3,), (2, 1))
    """
    dims = wrap_dims(dim, len(shape))
    if keepdim:
        return tuple(1 if i in dims else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in dims)


def infer_view(size: Sequence[int], total: int) -> Shape:
    """Return `size` with its -1 replaced so that it has `total` elements.

    >>> infer_view((2, -1), 6)
    (2, 3)
    """
    size = tuple(map(index, size))
    known, unknown = prod(size), size.count(-1)
    if min(size, default=0) < -1:
        raise RuntimeError(f"invalid shape dimension {min(size)}")
    if unknown > 1:
        raise RuntimeError("only one dimension can be inferred")
    if unknown:
        known = -known
        if known == total == 0:
            raise RuntimeError(
                f"cannot reshape tensor of {total} elements into shape {list(size)} because the "
                "unspecified dimension size -1 can be any value and is ambiguous"
            )
        if known and total % known == 0:
            at = size.index(-1)
            return (*size[:at], total // known, *size[at + 1 :])
    elif known == total:
        return size
    raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {total}")


def contiguous_strides(shape: Shape) -> Shape:
    """Return the strides, in elements, of a row-major array.

    >>> contiguous_strides((2, 3, 4))
    (12, 4, 1)
    """
    strides: list[int] = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def view_strides(shape: Shape, strides: Shape, size: Shape) -> Shape | None:
    """Return the strides with which `size` views memory of `shape` and `strides`.

    Returns `None` if no strides work and a copy is needed.

    >>> view_strides((2, 3), (3, 1), (3, 2)), view_strides((2, 3), (1, 2), (6,))
    ((2, 1), None)
    """
    if 0 in shape:
        return strides if shape == size else contiguous_strides(size)
    result = [0] * len(size)
    remaining = len(size) - 1
    chunk_stride = strides[-1] if strides else 1
    tensor_numel = view_numel = 1
    for d in range(len(shape) - 1, -1, -1):
        tensor_numel *= shape[d]
        breaks = d == 0 or (shape[d - 1] != 1 and strides[d - 1] != tensor_numel * chunk_stride)
        if not breaks:
            continue
        while remaining >= 0 and (view_numel < tensor_numel or size[remaining] == 1):
            result[remaining] = view_numel * chunk_stride
            view_numel *= size[remaining]
            remaining -= 1
        if view_numel != tensor_numel:
            return None
        if d > 0:
            chunk_stride = strides[d - 1]
            tensor_numel = view_numel = 1
    if not shape:
        result = [1] * len(size)
        remaining = -1
    return tuple(result) if remaining == -1 else None
