"""`minigrad bench no-grad`: the peak memory of a residual network with and without the graph."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ..demos import photographs
from .peak_memory import Peak, peak


class Model(StrEnum):
    """The networks that can be measured."""

    RESNET18 = "resnet18"
    RESNET50 = "resnet50"


def run(console: Console, model: Model, batch: int, size: int) -> int:
    """Measure minigrad, and PyTorch if it is installed, and print a table; return 0."""
    images, about = photographs.load(batch, size)
    libraries = ["minigrad"] + ["torch"] * (find_spec("torch") is not None)
    console.print(f"{model.value}, inference in eval mode of {about}", soft_wrap=True, markup=False)
    table = Table("peak memory", "graph", "no_grad", "no_grad / graph", "saves", box=None,
                  pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.npy"
        np.save(path, images.numpy())
        for library in libraries:
            recorded, bare = (peak(library, model.value, path, graph) for graph in (True, False))
            add_rows(table, {"torch": "PyTorch"}.get(library, library), recorded, bare)
    console.print(table)
    if len(libraries) == 1:
        console.print("PyTorch is not installed, so there is no comparison with it.", markup=False)
    return 0


def add_rows(table: Table, library: str, recorded: Peak, bare: Peak) -> None:
    """Add the measurements of one library."""
    rows = (
        (f"{library}, arrays of the run", recorded.arrays, bare.arrays),
        (f"{library}, growth of the process", recorded.process - recorded.before,
         bare.process - bare.before),
        (f"{library}, whole process", recorded.process, bare.process),
    )
    for title, graph, no_grad in rows:
        ratio, saving = ("n/a", "n/a") if graph <= 0 or no_grad <= 0 else (
            f"{no_grad / graph:.2f}", f"{graph / no_grad:.1f} times")
        table.add_row(title, megabytes(graph), megabytes(no_grad), ratio, saving)


def megabytes(count: int) -> str:
    """Return a number of bytes in MB."""
    return f"{count / 1e6:.1f} MB"
