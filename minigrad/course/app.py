"""The subcommands of `minigrad`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from minigrad import __version__

from . import bench
from . import doctor as examination
from . import run as trying
from . import tour as guided_tour
from .dev.app import app as dev
from .stages import CourseError, find_stage

app = typer.Typer(
    name="minigrad",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.add_typer(bench.app, name="bench")
app.add_typer(dev, name="dev")


@app.callback()
def minigrad() -> None:
    """torch.autograd rebuilt in Python on NumPy: an engine to use, and a course that builds it.

    \b
    Examples:
      minigrad tour            walk through the engine, then train a network (under 90 s)
      minigrad tour --quick    the same with less training
      minigrad doctor          what this installation has and lacks
      minigrad bench resnet18  where the time goes in ResNet-18
      minigrad run 03          test your answers to stage 03 of the course
      NO_COLOR=1 minigrad tour | less
    """


@app.command()
def tour(
    quick: Annotated[
        bool, typer.Option("--quick", help="Train for less long, and expect less of the network.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the split, the weights and the batches.")] = 0,
) -> None:
    """Show the engine at work, then train a network with it.

    Every code block runs as you read it. The network reads handwritten digits. Exits with 1 if a
    step fails or the network learns too little.

    \b
    Examples:
      minigrad tour
      minigrad tour --seed 7
      minigrad tour --quick
    """
    raise typer.Exit(guided_tour.run(Console(highlight=False), quick=quick, seed=seed))


@app.command()
def run(
    what: Annotated[str, typer.Argument(help="A stage, such as 03, or one hole of it, 03.2.")],
    folder: Annotated[
        Path | None, typer.Option(help="Where your files are, instead of exercises/.")
    ] = None,
) -> None:
    """Test your answers to a stage of the course.

    Your files stand in for the package's modules while its tests run. Exits with 1 while something
    is open.

    \b
    Examples:
      minigrad run 03
      minigrad run 03.2
      minigrad run 03 --folder ~/my-answers
    """
    number, _, hole = what.partition(".")
    try:
        stage = find_stage(number)
    except CourseError as error:
        raise typer.BadParameter(str(error)) from None
    code = trying.run(Console(highlight=False), stage, folder, what if hole else None)
    raise typer.Exit(code)


@app.command("version")
def show_version() -> None:
    """Print the version.

    \b
    Example:
      minigrad version
    """
    print(f"minigrad {__version__}")


@app.command()
def doctor() -> None:
    """Say what this installation has and lacks.

    Lists Python, NumPy, cores, BLAS threads and optional packages. Exits with 1 if the tour cannot
    run.

    \b
    Example:
      minigrad doctor
    """
    raise typer.Exit(examination.run(Console(highlight=False)))
