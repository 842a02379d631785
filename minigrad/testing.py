"""`minigrad.testing`: `assert_close` compares with a tolerance that depends on the dtype.

Source: https://docs.pytorch.org/docs/stable/testing.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import on_demand
from .backend import backend_of
from .dtypes import dtype, float16, float32, float64, get_default_dtype, int64, promote_types
from .tensor.tensor import Tensor

Array = Any
Message = str | Callable[[str], str] | None

#: (rtol, atol) by dtype; all others compare exactly.
TOLERANCES = {float16: (1e-3, 1e-5), float32: (1.3e-6, 1e-5), float64: (1e-7, 1e-7)}


@dataclass(frozen=True)
class Comparison:
    """A comparison: the values, and how strictly they are compared."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_stride: bool
    where: str = ""

    def at(self, key: Any) -> Comparison:
        """Return the comparison for one item of a container."""
        return replace(self, where=f"{self.where}[{key!r}]")

    def fail(self, text: str) -> None:
        """Raise `AssertionError`, including the path of the item."""
        raise AssertionError(text + (f"\n\nThe failure occurred for item {self.where}"
                                     if self.where else ""))

    def tolerances(self, actual: dtype, expected: dtype) -> tuple[float, float]:
        """Return the given rtol and atol, or the larger defaults of the two dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [TOLERANCES.get(d, (0.0, 0.0)) for d in (actual, expected)]
        return max(p[0] for p in pairs), max(p[1] for p in pairs)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Raise `AssertionError` unless |actual - expected| <= atol + rtol * |expected| everywhere.

    It accepts tensors, arrays, numbers, and sequences or mappings of them; dtypes must be equal.
    rtol and atol default to 1.3e-6 and 1e-5 for float32, 1e-7 each for float64, 1e-3 and 1e-5 for
    float16, else 0.
    Source: `torch.testing.assert_close`.

    >>> from minigrad import tensor
    >>> assert_close(tensor([1.0]), tensor([1.0 + 1e-7]))
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError("Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                         f"{missing}.")
    how = Comparison(rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    try:
        compare(actual, expected, how, allow_subclasses)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from error


def compare(actual: Any, expected: Any, how: Comparison, subclasses: bool) -> None:
    """Compare two values of the same type."""
    if isinstance(actual, (str, bytes)) or isinstance(expected, (str, bytes)):
        refuse(actual, expected)
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing = [k for k in expected if k not in actual]
            extra = [k for k in actual if k not in expected]
            how.fail("The keys of the mappings do not match:\nMissing keys in the actual mapping: "
                     f"{missing}\nAdditional keys in the actual mapping: {extra}")
        for key in expected:
            compare(actual[key], expected[key], how.at(key), subclasses)
    elif isinstance(actual, Sequence) and isinstance(expected, Sequence):
        if len(actual) != len(expected):
            how.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for index, pair in enumerate(zip(actual, expected, strict=True)):
            compare(*pair, how.at(index), subclasses)
    elif actual is None and expected is None:
        return
    elif is_number(actual) and is_number(expected):
        compare_numbers(actual, expected, how)
    else:
        if not subclasses and type(actual) is not type(expected):
            refuse(actual, expected)
        compare_tensors(as_tensor(actual, expected), as_tensor(expected, actual), how)


def refuse(actual: Any, expected: Any) -> None:
    """Raise `TypeError`, because values of these types cannot be compared."""
    raise TypeError("No comparison pair was able to handle inputs of type "
                    f"{type(actual)} and {type(expected)}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a plain number."""
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def as_tensor(value: Any, other: Any) -> Tensor:
    """Return an array or a tensor as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor._plain(value)
    if is_number(value) or value is None or not hasattr(value, "__array__"):
        refuse(value, other)
    return Tensor._plain(np.asarray(value))


def compare_numbers(actual: Any, expected: Any, how: Comparison) -> None:
    """Compare two numbers."""
    if how.check_dtype and type(actual) is not type(expected):
        how.fail(f"The (d)types do not match: {type(actual)} != {type(expected)}.")
    rtol, atol = how.tolerances(*(float64 if isinstance(v, float) else int64
                                  for v in (actual, expected)))
    difference = abs(actual - expected)
    if actual == expected or (how.equal_nan and actual != actual and expected != expected):
        return
    if np.isfinite(difference) and difference <= atol + rtol * abs(expected):
        return
    noun = "Booleans" if isinstance(actual, bool) else "Scalars"
    if rtol == 0 and atol == 0:
        how.fail(f"{noun} are not equal!\n\nExpected {expected} but got {actual}.\n"
                 f"Absolute difference: {difference}\n"
                 f"Relative difference: {difference / abs(expected) if expected else np.inf}")
    relative = difference / abs(expected) if expected else np.inf
    how.fail(f"{noun} are not close!\n\nExpected {expected} but got {actual}.\n"
             f"Absolute difference: {difference} (up to {atol} allowed)\n"
             f"Relative difference: {relative} (up to {rtol} allowed)")


def compare_tensors(actual: Tensor, expected: Tensor, how: Comparison) -> None:
    """Compare shapes, devices, dtypes, strides if requested, and values."""
    if actual.shape != expected.shape:
        how.fail("The values for attribute 'shape' do not match: "
                 f"{actual.shape} != {expected.shape}.")
    for attribute, checked in (("device", how.check_device), ("dtype", how.check_dtype)):
        left, right = getattr(actual, attribute), getattr(expected, attribute)
        if checked and left != right:
            how.fail(f"The values for attribute '{attribute}' do not match: {left} != {right}.")
    if how.check_stride and actual.stride() != expected.stride():
        how.fail("The values for attribute 'stride()' do not match: "
                 f"{actual.stride()} != {expected.stride()}.")
    rtol, atol = how.tolerances(actual.dtype, expected.dtype)
    common = promote_types(actual.dtype, expected.dtype)
    wide = common.numpy if common.is_floating_point else np.int64
    left, right = (backend_of(t._array).to_host(t._array).astype(wide) for t in (actual, expected))
    # inf - inf and 0 / 0 are compared like other values
    with np.errstate(all="ignore"):
        close = left == right
        if how.equal_nan:
            close |= (left != left) & (right != right)
        difference = np.abs(left - right)
        close |= np.isfinite(difference) & (difference <= atol + rtol * np.abs(right))
        if not close.all():
            how.fail(mismatch(left, right, close, rtol, atol))


def mismatch(actual: Array, expected: Array, close: Array, rtol: float, atol: float) -> str:
    """Describe how many elements differ, and by how much at most."""
    exact = rtol == 0 and atol == 0
    if close.ndim:
        count, total = int((~close).sum()), close.size
        noun = "Tensor-likes"
        what = f"Mismatched elements: {count} / {total} ({count / total:.1%})\n"
    else:
        noun, what = "Scalars", f"Expected {expected.item()} but got {actual.item()}.\n"
    difference = np.abs(actual - expected)
    size = np.abs(expected)
    if size.dtype.kind != "f":
        size = size.astype(get_default_dtype().numpy)
    relative = np.where(close, 0, difference.astype(size.dtype) / size)
    lines = []
    for name, values, allowed in (("absolute", np.where(close, 0, difference), atol),
                                  ("relative", relative, rtol)):
        index = np.unravel_index(int(np.argmax(values)), values.shape)
        place = f" at index {tuple(int(i) for i in index)}" if close.ndim else ""
        limit = "" if exact else f" (up to {allowed} allowed)"
        title = "Greatest " + name if close.ndim else name.capitalize()
        lines.append(f"{title} difference: {values[index].item()}{place}{limit}")
    ending = "equal" if exact else "close"
    return f"{noun} are not {ending}!\n\n{what}" + "\n".join(lines)


if not TYPE_CHECKING:
    __getattr__, __dir__ = on_demand.attributes(__name__)
