"""`minigrad bench resnet18`: where the time goes in ResNet-18, forward and backward.

It runs the program of the documentation: 100 times forward, a sum, and backward, in a profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from time import perf_counter

from rich.console import Console
from rich.progress import track

import minigrad as torch
from minigrad.autograd.profiler import profile
from minigrad.nn.models import resnet18

from ..demos import photographs


class SortBy(StrEnum):
    """The columns by which the table can be sorted."""

    SELF_CPU_TIME_TOTAL = "self_cpu_time_total"
    CPU_TIME_TOTAL = "cpu_time_total"
    CPU_TIME = "cpu_time"
    COUNT = "count"


def run(console: Console, iterations: int, size: int, sort: SortBy, rows: int,
        trace: Path | None, page: Path | None) -> int:
    """Profile, print the table and write the requested files; return the exit status."""
    torch.manual_seed(0)
    network = resnet18()
    image, about = photographs.load(1, size)
    image.requires_grad_()
    start = perf_counter()
    record = measure(network, image, steps(console, iterations))
    seconds = perf_counter() - start
    table = record.key_averages().table(sort_by=sort.value, row_limit=rows)
    console.print(f"ResNet-18, {iterations} × forward and backward of {about}, in {seconds:.1f} s",
                  soft_wrap=True, markup=False)
    console.print(table, soft_wrap=True, markup=False, end="")
    for path, write in ((trace, record.export_chrome_trace), (page, record.export_html)):
        if path is not None:
            write(path)
            console.print(f"written: {path}", soft_wrap=True, markup=False)
    return 0


def measure(network: torch.nn.Module, image: torch.Tensor, turns: Iterator[int]) -> profile:
    """Return the profile of one forward and backward pass per turn."""
    with profile() as record:
        for _ in turns:
            torch.sum(network(image)).backward()
    return record


def steps(console: Console, iterations: int) -> Iterator[int]:
    """Count to `iterations`, with a progress bar on a terminal."""
    if not console.is_terminal:
        return iter(range(iterations))
    return iter(track(range(iterations), "ResNet-18", console=console, transient=True))
