"""The subcommands of `minigrad`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from minigrad import __version__

from .commands import bench
from .commands import doctor as examination
from .commands.capstone import app as capstone
from .commands.dev import app as dev
from .commands.export import app as export
from .commands.grade import app as grading
from .commands.learner import app as learner
from .commands.lesson import app as lesson
from .commands.overview import Overview
from .commands.results import app as results
from .commands.show import app as show
from .commands.similarity import app as similarity
from .tour import tour as guided_tour

app = typer.Typer(
    name="minigrad",
    cls=Overview,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


app.add_typer(bench.app, name="bench")
app.add_typer(capstone, name="capstone")
app.add_typer(dev, name="dev")
app.add_typer(learner)
app.add_typer(lesson)
app.add_typer(grading)
app.add_typer(results, name="results")
app.add_typer(similarity)
app.add_typer(show)
app.add_typer(export)


@app.callback()
def minigrad() -> None:
    """torch.autograd rebuilt in Python on NumPy: an engine to use, and a course that builds it.

    New here? Run `minigrad tour`. To take the course, run `minigrad init engine`, then
    `minigrad learn` in that folder. `minigrad COMMAND --help` explains a command, with examples.
    """


@app.command()
def tour(
    quick: Annotated[
        bool, typer.Option("--quick", help="Train for a shorter time, to a lower target.")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Seed for the data split, the weights and the batches.")] = 0,
) -> None:
    """Show the engine at work, then train a network with it.

    Every code block runs as you read it. The network learns to read handwritten digits. Exits
    with 1 if a step fails or the network does not reach its target.

    \b
    Examples:
      minigrad tour
      minigrad tour --seed 7
      minigrad tour --quick
    """
    raise typer.Exit(guided_tour.run(Console(highlight=False), quick=quick, seed=seed))


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
    """Report what this installation has and what it is missing.

    Lists Python, NumPy, CPU cores, BLAS threads and the optional packages. Exits with 1 if the
    tour cannot run.

    \b
    Example:
      minigrad doctor
    """
    raise typer.Exit(examination.run(Console(highlight=False)))
