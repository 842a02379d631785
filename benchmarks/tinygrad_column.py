"""What README.md says of tinygrad's derivatives and writes, tried with tinygrad itself.

    pip install tinygrad
    DEV=PYTHON python benchmarks/tinygrad_column.py    # no compiler needed
"""

from __future__ import annotations

from importlib.metadata import version

from tinygrad import Tensor


def second_derivative() -> bool:
    """Tell whether the second derivative of x**3 at 2 is 12."""
    x = Tensor([2.0])
    (first,) = (x * x * x).sum().gradient(x)
    (second,) = first.sum().gradient(x)
    return bool(second.tolist() == [12.0])


def write_by_index() -> bool:
    """Tell whether a write to an element of a result leaves derivatives right."""
    x, value = Tensor([1.0, 2.0, 3.0]), Tensor([5.0])
    y = x * 2
    y[0:1] = value * 3
    to_x, to_value = (y * y).sum().gradient(x, value)
    return bool(to_x.tolist() == [0.0, 16.0, 24.0] and to_value.tolist() == [90.0])


def write_through_a_view() -> bool:
    """Tell whether a tensor changes when its reshaped form is written to."""
    y = Tensor([1.0, 2.0, 3.0, 4.0]) * 2
    rows = y.reshape(2, 2)
    rows[0] = 0.0
    return bool(y.tolist() == [0.0, 0.0, 6.0, 8.0])


def main() -> None:
    print("tinygrad", version("tinygrad"))
    print("nodes can be inspected:", bool((Tensor([1.0]) * 2).uop.src))
    for check in (second_derivative, write_by_index, write_through_a_view):
        print(f"{check.__name__.replace('_', ' ')}:", check())


if __name__ == "__main__":
    main()
