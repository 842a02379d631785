"""One expression evaluated with minigrad and with PyTorch: what it gives, as comparable text."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def outcome(torch: Any, expression: str, **names: Any) -> str:
    """Return repr, dtype and strides of the result, or the class and the text of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(expression, {"torch": torch, "np": np, **names})
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    text = shown(result)
    return text + "".join(f"\n{w.category.__name__}: {str(w.message)[:60]}" for w in caught)


def shown(result: Any) -> str:
    if hasattr(result, "stride"):
        strides = result.stride() if result.numel() else "no elements"
        return f"{result!r} {result.dtype} {tuple(result.shape)} {strides}"
    if isinstance(result, (tuple, list)):
        return ", ".join(shown(item) for item in result)
    return repr(result)
