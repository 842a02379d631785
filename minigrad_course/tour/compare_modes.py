"""The tour's third part: what `no_grad` and `eval` change, as a table."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from minigrad import nn

from ..demos import digits
from ..terminal.markdown_page import show_heading, show_text
from . import inference


def compare_modes(console: Console, number: int, net: nn.Module, data: digits.Digits) -> None:
    """Measure and show what `no_grad` and `eval` change."""
    images = data.test_images[:128]
    show_heading(console, number, "Using it: no_grad and eval")
    show_text(
        console,
        "You use both for inference, but they do different things. We run the trained "
        f"network on {len(images)} held-out images in each combination.",
    )
    combinations = ((True, True), (False, True), (True, False), (False, False))
    rows = [inference.measure(net, images, *modes) for modes in combinations]
    table = Table(
        "mode",
        "graph",
        "requires\ngrad",
        "saved for\nbackward",
        "peak\nmemory",
        "time",
        "same when\nrun again",
        "same when\nalone",
        box=None,
        pad_edge=False,
    )
    for row in rows:
        table.add_row(
            "train" if row.training else "eval",
            "recorded" if row.grad else "no_grad",
            "yes" if row.requires_grad else "no",
            megabytes(row.saved_bytes),
            megabytes(row.peak_bytes),
            f"{row.seconds * 1e3:.1f} ms",
            "yes" if row.repeatable else "no",
            "yes" if row.alone < 1e-4 else f"no, by {row.alone:.1f}",
        )
    console.print()
    console.print(table)
    _, recorded, _, bare = rows
    difference = (recorded.scores - bare.scores).abs().max().item()
    show_text(
        console,
        f"**`no_grad`** records no graph: it keeps {megabytes(bare.saved_bytes)} for a "
        f"backward pass instead of {megabytes(recorded.saved_bytes)}, and uses at most "
        f"{megabytes(bare.peak_bytes)} instead of {megabytes(recorded.peak_bytes)}. "
        f"The scores differ by at most {difference:g}.",
    )
    show_text(
        console,
        "**`eval`** changes the scores. Dropout no longer drops anything at random, so the "
        "network gives the same result again. Batch norm uses the averages it has learned "
        "instead of the batch's, so an image's scores no longer depend on its neighbours. "
        "`eval` alone saves no memory: while a graph is recorded, "
        f"{megabytes(recorded.saved_bytes)} are kept.",
    )


def megabytes(count: int) -> str:
    """Return a number of bytes in MB."""
    return f"{count / 1e6:.2f} MB"
