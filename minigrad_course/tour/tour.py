"""`minigrad tour`: the engine at work, then a network trained with it, then what it costs to use.

The walk is the page tour.md, run as it is shown; the rest is the code of demos/digits.py
and inference.py, shown from its source and run.
"""

from __future__ import annotations

import time
import traceback
from contextlib import AbstractContextManager
from importlib.resources import files
from importlib.util import find_spec

from rich.console import Console
from rich.text import Text

import minigrad as torch

from ..demos import digits
from ..terminal.markdown_page import play, show_heading, show_text
from .compare_modes import compare_modes
from .train_digits import train_the_network

EPOCHS, QUICK_EPOCHS = 8, 2
REQUIRED, QUICK_REQUIRED = 0.97, 0.90  # the share of held-out images

NEXT_STEPS = """
- **Look inside.** `minigrad/graph/node.py`, `minigrad/engine/engine.py` and `minigrad/ops/` are
  written to be read, in this order.
- **Use it.** `import minigrad as torch` runs PyTorch code that stays on the CPU: change one line of
  a notebook of yours.
- **Draw.** `viz.graph(loss).svg("graph.svg")` makes a picture of any graph; a notebook shows it
  when a cell ends with `viz.graph(loss)`.
- **Check.** `make test` runs all tests, `make bench` times the engine beside others,
  `minigrad doctor` says what this installation has and lacks.
- **Build it.** `make learn` starts the course: lesson by lesson you write this engine yourself, and
  what you wrote runs in the package's place. `docs/en/course.md` says how.
"""


def run(console: Console, quick: bool = False, seed: int = 0) -> int:
    """Give the tour; return 0, or 1 if a step failed or the network learnt too little."""
    if find_spec("sklearn") is None:
        console.print(
            "The tour trains on scikit-learn's digits: pip install -e '.[tour]'", markup=False
        )
        return 1
    epochs, required = (QUICK_EPOCHS, QUICK_REQUIRED) if quick else (EPOCHS, REQUIRED)
    start = time.perf_counter()
    console.print("[bold]minigrad[/bold]: torch.autograd rebuilt in Python on NumPy.")
    console.print(
        "A guided tour: all code runs as you read, every output is what it printed just now."
    )
    try:
        torch.manual_seed(seed)
        number = play(console, files(__package__).joinpath("tour.md").read_text("utf-8"))
        data = digits.load(seed)
        with one_thread():
            net, share = train_the_network(console, number, data, epochs, seed)
            compare_modes(console, number + 1, net, data)
    except Exception:
        console.print(Text(traceback.format_exc(), "red"))
        console.print("The tour stops: the step above failed, which is a bug in minigrad.")
        return 1
    show_heading(console, number + 2, "What to do next")
    show_text(console, NEXT_STEPS)
    console.print(f"\nThe tour took {time.perf_counter() - start:.0f} s.")
    if quick:
        console.print(
            f"It was the quick one: {epochs} of {EPOCHS} epochs, and at least {required:.0%} of "
            f"the held-out digits wanted instead of {REQUIRED:.0%}."
        )
    if share < required:
        console.print(
            f"[bold red]It fell short:[/] {share:.1%} of the held-out digits were "
            f"recognised, {required:.0%} was the aim."
        )
        return 1
    return 0


def one_thread() -> AbstractContextManager[object]:
    """Keep matrix products on one core: they are small here, and sharing them costs more."""
    # It comes with scikit-learn.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # ships no types

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
