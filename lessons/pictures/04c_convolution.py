"""Pictures of lesson 04c."""

from __future__ import annotations

import numpy as np

import minigrad as torch
from minigrad.backend import kernels_window
from minigrad.backend import numpy_backend as xp
from minigrad_course.pictures import Picture, View, chained, grid, stacked, storage

X = [1.0, 2.0, 4.0, 8.0, 16.0]


def sliding_window() -> Picture:
    """Three steps of a window over five elements."""
    x = torch.tensor(X)
    views = []
    for step in range(3):
        seen = x[step : step + 3]
        said = " + ".join(f"{int(value)}{name}"
                          for value, name in zip(seen.tolist(), "abc", strict=True))
        views.append(View(f"step {step}", seen, said, marks=("a", "b", "c")))
    return Picture(
        storage(X, views, "the input", cell=48), "A window slides over the input",
        "Five elements, 1 2 4 8 16. A window with the weights a, b and c covers elements 0 to 2 in "
        "step 0, 1 to 3 in step 1 and 2 to 4 in step 2: 1a + 2b + 4c, 2a + 4b + 8c, "
        "4a + 8b + 16c.",
        "All three steps see element 4, in the middle.")


def windows_without_copies() -> Picture:
    """A view with two equal strides."""
    x = np.array(X)
    view = kernels_window.windows(xp, x, (3,), (1,), (1,), (3,))
    middle = {(k, i): "on-forward" for k in range(3) for i in range(3) if k + i == 2}
    drawn = stacked([
        storage(X, [], "5 elements in memory", cell=40),
        grid(view.tolist(), middle, label="9 elements shown, strides (8, 8)", cell=40)], 20)
    return Picture(
        drawn, "Windows as a view of memory",
        f"Five numbers in memory. A 3 by 3 view of them has the rows "
        f"{', '.join(str([int(each) for each in row]) for row in view.tolist())}: one step down "
        "and one step to the right both go one element further, so element 4 appears three times "
        "on the diagonal.",
        "Column i is window number i. The three blue cells are the same element in memory.")


def windows_added_back() -> Picture:
    """How many windows cover each element."""
    grad, positions = np.zeros(5), []
    for k in range(3):
        ones = np.zeros(5)
        ones[k : k + 3] += 1
        grad += ones
        positions.append([f"{int(each)}" if each else "" for each in ones])
    rows = [grid([row], {(0, i): "on-gradient" for i, each in enumerate(row) if each}, cell=40,
                 label=f"position {k} of the window")
            for k, row in enumerate(positions)]
    rows.append(grid([grad.tolist()], tone="code gradient", label="their sum", cell=40))
    return Picture(
        stacked(rows, 10), "Gradients of windows, added back",
        "Position 0 of the window adds 1 to elements 0 to 2, position 1 to elements 1 to 3, "
        f"position 2 to elements 2 to 4. The sum is {[int(each) for each in grad]}.",
        "A position never meets an element twice, so each row is one exact addition.")


def one_product() -> Picture:
    """A convolution as a product of matrices."""
    x = np.array(X)
    columns = kernels_window.windows(xp, x, (3,), (1,), (1,), (3,))
    filters = np.array([[1.0, 10.0, 100.0]])
    out = filters @ columns

    def whole(array: np.ndarray) -> list[list[str]]:
        return [[str(int(each)) for each in row] for row in array]

    return Picture(
        chained([grid(whole(filters), label="filter", cell=36),
                 grid(whole(columns), label="columns: windows", cell=36),
                 grid(whole(out), label="result", cell=42)], labels=["@", "="], room=26),
        "A convolution as one matrix product",
        f"The filter {[int(each) for each in filters[0]]} times the matrix whose columns are the "
        f"three windows gives {[int(each) for each in out[0]]}.",
        "Each column is a window. A step is the product of a row and a column.")
