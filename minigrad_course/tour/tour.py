"""`minigrad tour`: the engine at work, a network trained with it, and the cost of inference.

The first part is the page tour.md, whose code runs as it is shown.  The other parts show and run
the source of demos/digits.py and inference.py.
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
REQUIRED, QUICK_REQUIRED = 0.97, 0.90  # the share of held-out images to recognise

NEXT_STEPS = """
- **Look inside.** Read `minigrad/graph/node.py`, `minigrad/engine/engine.py` and `minigrad/ops/`,
  in this order.
- **Use it.** `import minigrad as torch` runs PyTorch code that stays on the CPU: change one line in
  one of your notebooks.
- **Draw.** `viz.graph(loss).svg("graph.svg")` draws any graph; a notebook shows it when a cell ends
  with `viz.graph(loss)`.
- **Check.** `make test` runs all tests, `make bench` compares the engine's speed with others, and
  `minigrad doctor` reports what this installation has and what is missing.
- **Build it.** `make learn` starts the course: lesson by lesson you write this engine yourself, and
  your code runs in the package's place. `docs/en/course.md` explains how.
"""


def run(console: Console, quick: bool = False, seed: int = 0) -> int:
    """Give the tour; return 0, or 1 if a step failed or the network missed its target."""
    if find_spec("sklearn") is None:
        console.print(
            "The tour needs scikit-learn's digits: pip install -e '.[tour]'", markup=False
        )
        return 1
    epochs, required = (QUICK_EPOCHS, QUICK_REQUIRED) if quick else (EPOCHS, REQUIRED)
    start = time.perf_counter()
    console.print("[bold]minigrad[/bold]: torch.autograd rebuilt in Python on NumPy.")
    console.print(
        "A guided tour: all code runs as you read, and every output was printed just now."
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
        console.print("The tour stops here: the step above failed, which is a bug in minigrad.")
        return 1
    show_heading(console, number + 2, "What to do next")
    show_text(console, NEXT_STEPS)
    console.print(f"\nThe tour took {time.perf_counter() - start:.0f} s.")
    if quick:
        console.print(
            f"It was the quick one: {epochs} of {EPOCHS} epochs, with a target of {required:.0%} "
            f"of the held-out digits instead of {REQUIRED:.0%}."
        )
    if share < required:
        console.print(
            f"[bold red]The network missed its target:[/] it recognised {share:.1%} of the "
            f"held-out digits, not {required:.0%}."
        )
        return 1
    return 0


def one_thread() -> AbstractContextManager[object]:
    """Keep matrix products on one core: they are small here, so sharing them costs more."""
    # threadpoolctl is installed with scikit-learn.
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # ships no types

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
