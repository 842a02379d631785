"""Find the line that made a NaN, and repair it without changing a value.

    minigrad python --mine 10 nan_hunt.py
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad as torch


def careful_root(x: Any) -> Any:
    """Return the square root where there is one, else 0."""
    root = torch.sqrt(x)
    return torch.where(x > 0, root, torch.zeros_like(x))


def masked_again(x: Any) -> Any:
    """Return the same, and mask the result once more."""
    return torch.where(x > 0, careful_root(x), torch.zeros_like(x))


def repaired(x: Any) -> Any:
    """Return the same: the root never sees a zero."""
    inside = torch.where(x > 0, x, torch.ones_like(x))
    return torch.where(x > 0, torch.sqrt(inside), torch.zeros_like(x))


def gradient(root: Callable[[Any], Any]) -> tuple[list[float], list[float]]:
    """Return the values and the gradient at 0 and 4."""
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    y = root(x)
    y.sum().backward()
    return y.tolist(), x.grad.tolist()


def culprit(root: Callable[[Any], Any]) -> tuple[str, str]:
    """Return the error of anomaly mode, and the line of the forward pass that it names."""
    with warnings.catch_warnings(record=True) as seen, torch.autograd.detect_anomaly():
        warnings.simplefilter("always")
        try:
            gradient(root)
        except RuntimeError as error:
            lines = str(seen[-1].message).strip().splitlines()
            line = [each.strip() for each in lines if "^" not in each and "~" not in each][-1]
            return str(error), line
    return "no NaN", ""


def main() -> None:
    """Ask each version for its gradient, and anomaly mode for the culprit."""
    for root in (careful_root, masked_again, repaired):
        values, slopes = gradient(root)
        print(f"{root.__name__:13} values {values}  gradient {slopes}")
    error, line = culprit(careful_root)
    print(f"anomaly mode: {error}")
    print(f"the line:     {line}")
    print(f"repaired:     {culprit(repaired)[0]}")


if __name__ == "__main__":
    main()
