"""What a program gives with one package, as plain values, and how those of two compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return np.asarray(value.detach().numpy())
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def assert_same(mine: Any, other: Any) -> None:
    if isinstance(other, np.ndarray):
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
    elif isinstance(other, dict):
        assert list(mine) == list(other)
        assert_same(list(mine.values()), list(other.values()))
    elif isinstance(other, list):
        for a, b in zip(mine, other, strict=True):
            assert_same(a, b)
    else:
        assert mine == other


def error(run: Callable[[], Any]) -> list[str]:
    try:
        run()
    except Exception as caught:
        return [type(caught).__name__, str(caught).replace("minigrad", "torch")]
    return ["none"]
