"""`testing.make_tensor` and `testing.assert_allclose`.

Source: https://docs.pytorch.org/docs/stable/testing.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dtypes import bool as boolean
from ..dtypes import dtype, float16, float32, float64, int64
from ..frames import warn_user
from ..ops.creation.create import empty, tensor
from ..ops.info import finfo, iinfo
from ..ops.random.sampling import randint
from ..tensor.tensor import Tensor
from ..testing import assert_close

__all__ = ["assert_allclose", "make_tensor"]

#: (rtol, atol) of `assert_allclose` by dtype.
TOLERANCES = {float16: (1e-3, 1e-3), float32: (1e-4, 1e-5), float64: (1e-5, 1e-8)}


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None,
                    atol: float | None = None, equal_nan: bool = True, msg: str = "") -> None:
    """Raise `AssertionError` unless two tensors are close. Deprecated: use `assert_close`.

    It does not require equal dtypes or strides. Source: `torch.testing.assert_allclose`.
    """
    warn_user("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed "
              "in a future release. Please use `torch.testing.assert_close()` instead. You can "
              "find detailed upgrade instructions in "
              "https://github.com/pytorch/pytorch/issues/61844.", FutureWarning)
    if not isinstance(actual, Tensor):
        actual = tensor(actual)
    if not isinstance(expected, Tensor):
        expected = tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        pairs = [TOLERANCES.get(d, (0.0, 0.0)) for d in (actual.dtype, expected.dtype)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)


def make_tensor(*shape: Any, dtype: dtype, device: Any, low: float | None = None,
                high: float | None = None, requires_grad: bool = False,
                noncontiguous: bool = False, exclude_zero: bool = False,
                memory_format: Any = None) -> Tensor:
    """Return a tensor of random numbers from `low` up to, but excluding, `high`.

    The defaults are -9 and 9, for integers -9 and 10, for unsigned integers 0 and 10, and for
    booleans 0 and 2. `exclude_zero` replaces zeros by the smallest positive number. Raises
    `ValueError` if `low` is not below `high`, or if the dtype has no numbers in between.

    Source: `torch.testing.make_tensor`.

    >>> import minigrad as torch
    >>> torch.testing.make_tensor(2, 3, dtype=torch.float32, device="cpu").shape
    torch.Size([2, 3])
    """
    sizes = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape)
    if noncontiguous and memory_format is not None:
        raise ValueError("The parameters `noncontiguous` and `memory_format` are mutually "
                         f"exclusive, but got {noncontiguous=} and {memory_format=}")
    floating = dtype.is_floating_point
    if requires_grad and not floating:
        raise ValueError("`requires_grad=True` is not supported for boolean and integral dtypes, "
                         f"but got {dtype=}")
    spread = noncontiguous and math.prod(sizes) > 1
    if spread:  # every second element, so that there are gaps
        sizes = (*sizes[:-1], 2 * sizes[-1])
    first, last = limits(dtype, low, high)
    result: Tensor
    if floating:
        result = uniform(empty(sizes, device=device, dtype=dtype), first, last)
    else:
        result = randint(math.ceil(first), math.ceil(last), sizes, device=device, dtype=dtype)
    if spread:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = finfo(dtype).tiny if floating else 1
    return result.requires_grad_(requires_grad) if floating else result


def limits(dtype: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """Return the given limits, or the dtype's defaults, clamped to the numbers it has."""
    least: float
    most: float
    if dtype is boolean:
        least, most, first, last = 0, 2, 0, 2
    elif dtype.is_floating_point:
        least, most, first, last = finfo(dtype).min, finfo(dtype).max, -9, 9
    else:
        least, most, first, last = iinfo(dtype).min, iinfo(dtype).max, -9, 10
        most += dtype is not int64  # for int64, that number is too large for `randint`
    low, high = first if low is None else low, last if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype.is_floating_point:
        warn_user("Passing `low==high` to `torch.testing.make_tensor` for floating or complex "
                  "types is deprecated since 2.1 and will be removed in 2.3. Use "
                  "`torch.full(...)` instead.", FutureWarning)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), "
                         f"but {dtype} only supports [{least}, {most})")
    return min(max(low, least), most), min(max(high, least), most)


def uniform(result: Tensor, low: float, high: float) -> Tensor:
    """Fill a tensor; if the range exceeds the largest number, draw at half the size."""
    if high - low >= finfo(result.dtype).max:
        return result.uniform_(low / 2, high / 2).mul_(2)
    return result.uniform_(low, high)
