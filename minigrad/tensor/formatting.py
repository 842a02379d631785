"""PyTorch's `repr` of a tensor, character for character, from a NumPy array.

All numbers of an array share one format (integral, fixed point or scientific).  The module chooses
it, writes the nested brackets with it and appends suffixes such as `dtype=` and `grad_fn=`.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class PrintOptions:
    """The options of `set_printoptions`; the defaults are PyTorch's."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = PrintOptions()

# A profile leaves `sci_mode` out because, as in PyTorch, every call of set_printoptions sets it.
_PROFILES: dict[str, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print, by `profile` ("default", "short" or "full") and single options.

    `sci_mode` forces scientific notation on or off; with `None`, it depends on the values.
    Source: `torch.set_printoptions`.

    >>> set_printoptions(precision=2)
    >>> format_array(np.array([1.12345]))
    '[1.12]'
    >>> set_printoptions(profile="default")
    """
    chosen: dict[str, float | None] = dict(_PROFILES.get(profile or "", {}))
    refined = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    chosen.update((name, value) for name, value in refined.items() if value is not None)
    for name, value in chosen.items():
        setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the current options as a dictionary that `set_printoptions(**...)` accepts.

    >>> get_printoptions()["precision"]
    4
    """
    return asdict(options)


def format_array(array: Array, indent: int = 0) -> str:
    """Return the numbers of `array` in nested brackets, the text between `tensor(` and `)`.

    The array may have any shape and a floating, integer or bool dtype.  Lines after the first are
    indented by `indent` plus their depth.  Source: `torch.Tensor.__repr__`.

    >>> format_array(np.array([1.0, 2.5]))
    '[1.0000, 2.5000]'
    """
    if array.size == 0:
        return "[]"
    summarize = array.size > options.threshold
    number = _NumberFormat(_edges(array) if summarize else array)
    return _nested(array, indent, summarize, number)


def format_tensor(
    array: Array,
    *,
    dtype_suffix: str | None,
    grad_fn_name: str | None,
    requires_grad: bool,
    device_suffix: str | None = None,
    prefix: str = "tensor(",
    tangent: str | None = None,
) -> str:
    """Return the complete `repr` of a tensor with these values.

    `dtype_suffix` is the dtype's name ("torch.float64"), or `None` for the default floating dtype;
    int64 and bool are omitted unless the tensor is empty, because the numbers show them.
    `device_suffix` is the device's name ("cuda:0"), or `None` for the default device; `tangent` is
    the text of the tangent in forward mode.
    Source: `torch.Tensor.__repr__`.

    >>> format_tensor(np.float32([6]), dtype_suffix=None, grad_fn_name="MulBackward0",
    ...               requires_grad=True)
    'tensor([6.], grad_fn=<MulBackward0>)'
    """
    suffixes = []
    if device_suffix is not None:
        suffixes.append(f"device='{device_suffix}'")
    if (array.size == 0 and array.ndim != 1) or (array.size and not options.edgeitems):
        suffixes.append(f"size={array.shape}")
    if dtype_suffix is not None and not (array.size and array.dtype in (np.int64, np.bool_)):
        suffixes.append(f"dtype={dtype_suffix}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    indent = len(prefix)
    return _append_suffixes(prefix + format_array(array, indent), suffixes, indent)


class _NumberFormat:
    """The width and the notation that all numbers of an array share."""

    def __init__(self, array: Array) -> None:
        self.floating = array.dtype.kind == "f"
        self.integral = True
        self.scientific = False
        self.width = 1
        values = array.reshape(-1)
        if self.floating:
            values = values[np.isfinite(values) & (values != 0)]
            if not values.size:
                return
            self.integral = bool((values == np.ceil(values)).all())
            self.scientific = _wants_scientific(values)
        self.width = max((len(self._bare(value)) for value in values.tolist()), default=1)

    def text(self, value: Any) -> str:
        return self._bare(value).rjust(self.width)

    def _bare(self, value: Any) -> str:
        if not self.floating:
            return f"{value}"
        if self.scientific:
            return f"{value:.{options.precision}e}"
        if self.integral:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{options.precision}f}"


def _wants_scientific(nonzero: Array) -> bool:
    if options.sci_mode is not None:
        return options.sci_mode
    # compare in float64, because float16 overflows below 1e8
    magnitudes = np.abs(nonzero.astype(np.float64))
    least, greatest = float(magnitudes.min()), float(magnitudes.max())
    # the ratio of the extremes of float64 overflows to inf
    return greatest / least > 1000.0 or greatest > 1.0e8 or least < 1.0e-4


def _edges(array: Array) -> Array:
    """Return the part of `array` that a summary shows; only these numbers choose the format."""
    edge = options.edgeitems
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            shown = [*range(edge), *range(length - edge, length)]
            array = np.take(array, np.array(shown, dtype=np.intp), axis)
    return array


def _nested(array: Array, indent: int, summarize: bool, number: _NumberFormat) -> str:
    if array.ndim == 0:
        return number.text(array.item())
    head, tail, dots = array, array[:0], []
    if summarize and len(array) > 2 * options.edgeitems:
        head, tail = array[: options.edgeitems], array[len(array) - options.edgeitems :]
        dots = [" ..." if array.ndim == 1 and options.edgeitems else "..."]
    if array.ndim == 1:
        texts = [number.text(value) for value in head.tolist()]
        texts += dots + [number.text(value) for value in tail.tolist()]
        return _wrapped(texts, indent, number.width)
    rows = [_nested(row, indent + 1, summarize, number) for row in head]
    rows += dots + [_nested(row, indent + 1, summarize, number) for row in tail]
    separator = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(rows) + "]"


def _wrapped(texts: list[str], indent: int, width: int) -> str:
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _append_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """A suffix that would pass the line width goes on a line of its own."""
    # PyTorch counts two characters too many here; equal texts need the same count.
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"
