"""Five backward passes, some of which lie: which inputs show it?

    minigrad python --mine 09 liar.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import Function, gradcheck


class Product(Function):
    """A matrix product that forgets to transpose."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        a, b = ctx.saved_tensors
        return gradients[0] @ b, a @ gradients[0]


class Size(Function):
    """|x| with the slope 1 everywhere."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.abs()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0]


class Softplus(Function):
    """log(1 + e**x), whose slope is a little too large: by 0.3 %."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.log1p(torch.exp(x))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradients[0] * (torch.sigmoid(x) * 1.003)


class Exp(Function):
    """An honest e**x."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(result := torch.exp(x))
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0] * ctx.saved_tensors[0]


def inputs(*values: Any, dtype: Any = np.float64) -> tuple[Any, ...]:
    """Return leaves that require grad."""
    return tuple(torch.from_numpy(np.array(each, dtype)).requires_grad_() for each in values)


#: A Function, what the input is like, the input.
CASES = [
    (Product, "symmetric matrices", inputs([[1, 2], [2, 5]], [[3, 1], [1, 4]])),
    (Product, "2 x 3 by 3 x 4", inputs(np.arange(6).reshape(2, 3), np.ones((3, 4)))),
    (Product, "square, not symmetric", inputs([[1, 2], [3, 5]], [[3, 1], [2, 4]])),
    (Size, "positive numbers", inputs([0.5, 2.0])),
    (Size, "both signs", inputs([0.5, -2.0])),
    (Softplus, "0 and 1", inputs([0.0, 1.0])),
    (Softplus, "-20 and -30", inputs([-20.0, -30.0])),
    (Exp, "0 and 1, in float64", inputs([0.0, 1.0])),
    (Exp, "0 and 1, in float32", inputs([0.0, 1.0], dtype=np.float32)),
]


def verdict(function: Any, given: tuple[Any, ...]) -> str:
    """Return what gradcheck says, in its first line."""
    try:
        gradcheck(function.apply, given)
    except (RuntimeError, ValueError) as error:
        return f"fails: {str(error).strip().splitlines()[0][:46]}"
    return "passes"


def main() -> None:
    """Ask gradcheck about each case."""
    for function, what, given in CASES:
        print(f"{function.__name__:9} {what:22} {verdict(function, given)}")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")  # float32 is told of, and meant
    main()
