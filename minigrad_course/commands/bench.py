"""`minigrad bench`: the measurements of the documentation, as commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..bench import no_grad as bench_no_grad
from ..bench import resnet18 as bench_resnet18
from ..bench.no_grad import Model
from ..bench.resnet18 import SortBy

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def bench() -> None:
    """Repeat the documentation's measurements on this machine.

    \b
    Examples:
      minigrad bench resnet18
      minigrad bench no-grad
    """


def writable(path: Path | None) -> Path | None:
    """Return a path to write to; complain before the measurement if its folder does not exist."""
    if path is not None and not path.absolute().parent.is_dir():
        raise typer.BadParameter(f"the folder {path.absolute().parent} does not exist")
    return path


@app.command()
def resnet18(
    iterations: Annotated[int, typer.Option(min=1, help="Forward and backward passes.")] = 100,
    size: Annotated[
        int, typer.Option(min=32, max=427, help="Height and width of the image.")] = 224,
    sort: Annotated[
        SortBy, typer.Option(help="Column to sort the table by.")
    ] = SortBy.SELF_CPU_TIME_TOTAL,
    rows: Annotated[int, typer.Option(min=-1, help="Rows of the table to print; -1 for all.")] = 30,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write a trace for ui.perfetto.dev to this file.", callback=writable),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write an HTML page with a flame graph to this file.", callback=writable)
    ] = None,
) -> None:
    """Profile ResNet-18, forward and backward, and print where the time goes.

    The image is one of scikit-learn's photographs, or random numbers if scikit-learn is not
    installed; the output says which.

    \b
    Examples:
      minigrad bench resnet18
      minigrad bench resnet18 --iterations 10 --sort count
      minigrad bench resnet18 --iterations 3 --trace trace.json --html flames.html
    """
    raise typer.Exit(bench_resnet18.run(Console(highlight=False), iterations, size, sort, rows,
                                        trace, html))


@app.command("no-grad")
def no_grad(
    model: Annotated[Model, typer.Option(help="The network.")] = Model.RESNET50,
    batch: Annotated[int, typer.Option(min=1, help="Images in a batch.")] = 4,
    size: Annotated[
        int, typer.Option(min=32, max=427, help="Height and width of the images.")] = 224,
) -> None:
    """Compare the peak memory of inference with and without no_grad.

    Runs each case in a separate process, and measures the array allocations and the peak of the
    process. Also measures PyTorch if it is installed.

    \b
    Examples:
      minigrad bench no-grad
      minigrad bench no-grad --model resnet18 --batch 8
    """
    console = Console(highlight=False)
    try:
        status = bench_no_grad.run(console, model, batch, size)
    except RuntimeError as error:
        typer.echo(f"minigrad: {error}", err=True)
        status = 1
    raise typer.Exit(status)
