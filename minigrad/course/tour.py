"""`minigrad tour`: the engine at work, then a network trained with it, then what it costs to use.

The walk is the page tour.md, run as it is shown; the rest is the code of digit_net.py, digits.py and
inference.py, shown from its source and run.
"""

from __future__ import annotations

import inspect
import time
import traceback
from importlib.resources import files
from importlib.util import find_spec

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

import minigrad as torch
from minigrad import nn
from minigrad.viz import walk

from . import digit_net, digits, inference
from .steps import play, show_code, show_heading, show_text

EPOCHS, REQUIRED = 8, 0.97
QUICK_EPOCHS, QUICK_REQUIRED = 2, 0.85

NEXT_STEPS = """
- **Look inside.** `minigrad/graph.py`, `minigrad/autograd/engine.py` and `minigrad/ops/` are written
  to be read, in this order.
- **Use it.** `import minigrad as torch` runs PyTorch code that stays on the CPU: change one line of
  a notebook of yours.
- **Draw.** `viz.graph(loss).svg("graph.svg")` makes a picture of any graph; a notebook shows it
  when a cell ends with `viz.graph(loss)`.
- **Check.** `make test` runs all tests, `make bench` times the engine beside others,
  `minigrad doctor` says what this installation has and lacks.
- **Build it.** The course that builds this engine lesson by lesson is to come; `docs/en/design.md`
  says how, `CONTRIBUTING.md` how to take part.
"""


def run(console: Console, quick: bool = False, seed: int = 0) -> int:
    """Give the tour; return 0, or 1 if a step failed or the network learnt too little."""
    if find_spec("sklearn") is None:
        console.print("The tour trains on scikit-learn's digits: pip install -e '.[tour]'",
                      markup=False)  # fmt: skip
        return 1
    start = time.perf_counter()
    console.print("[bold]minigrad[/bold]: torch.autograd rebuilt in Python on NumPy. A guided tour.")
    console.print("All code below runs as you read; every output is what it printed just now.")
    try:
        torch.manual_seed(seed)
        number = play(console, files(__package__).joinpath("tour.md").read_text("utf-8"))
        data = digits.load(seed)
        net, share = train_the_network(console, number, data, quick, seed)
        compare_modes(console, number + 1, net, data)
    except Exception:
        console.print(Text(traceback.format_exc(), "red"))
        console.print("The tour stops: the step above failed, which is a bug in minigrad.")
        return 1
    required = QUICK_REQUIRED if quick else REQUIRED
    show_heading(console, number + 2, "What to do next")
    show_text(console, NEXT_STEPS)
    console.print(f"\nThe tour took {time.perf_counter() - start:.0f} s.")
    if share < required:
        console.print(f"[bold red]It fell short:[/] {share:.1%} of the held-out digits were "
                      f"recognised, {required:.0%} was the aim.")  # fmt: skip
        return 1
    return 0


def train_the_network(
    console: Console, number: int, data: digits.Digits, quick: bool, seed: int
) -> tuple[nn.Module, float]:
    """Train the network; return it with the share of held-out images that it gets right."""
    epochs = QUICK_EPOCHS if quick else EPOCHS
    show_heading(console, number, "A residual network that reads digits")
    show_text(console, "scikit-learn ships 1797 digits that people wrote, 8 × 8 pixels each. We "
              f"train on {len(data.train_images)} and hold {len(data.test_images)} out, drawn with "
              f"seed {seed}. The first held-out ones:")  # fmt: skip
    show_images(console, data)
    show_text(console, "The network's building block adds what it computes to what came in, so that "
              "gradients also flow past it unchanged:")  # fmt: skip
    show_code(console, inspect.getsource(digit_net.Residual))
    show_code(console, inspect.getsource(digit_net.digit_net))
    show_text(console, "One step of training:")
    show_code(console, inspect.getsource(digits.train_step))

    torch.manual_seed(seed)
    net = digit_net.digit_net()
    loss = nn.functional.cross_entropy(net(data.train_images[:1]), data.train_digits[:1])
    nodes = sum(1 for _ in walk([loss.grad_fn]))
    weights = sum(parameter.numel() for parameter in net.parameters())
    console.print(f"\n{weights:,} weights; the graph of one step has {nodes} nodes.")
    start = time.perf_counter()
    show_training(console, net, data, epochs)
    took = time.perf_counter() - start

    net.eval()
    right, total = digits.correct(net, data.test_images, data.test_digits), len(data.test_images)
    share = right / total
    console.print(f"\n[bold]Held-out images recognised: {right} of {total}, {share:.1%}[/bold] "
                  f"({epochs} epochs, {took:.1f} s).")  # fmt: skip
    if quick:
        console.print(f"This was the quick tour: {epochs} of {EPOCHS} epochs, at least "
                      f"{QUICK_REQUIRED:.0%} wanted instead of {REQUIRED:.0%}.")  # fmt: skip
    return net, share


def show_images(console: Console, data: digits.Digits, count: int = 4) -> None:
    """Show the first held-out images side by side."""
    console.print()
    images = [digits.drawn(image[0]) for image in data.test_images[:count]]
    for line in zip(*images, strict=True):
        console.print(Text("    " + "   ".join(line).rstrip()))


def show_training(console: Console, net: nn.Module, data: digits.Digits, epochs: int) -> None:
    """Train with a progress bar, and a line after each epoch."""
    per_epoch = digits.steps_per_epoch(data)
    bar = Progress(TextColumn("    training"), BarColumn(), MofNCompleteColumn(),
                   TimeElapsedColumn(), console=console, transient=True)  # fmt: skip
    console.print()
    with bar:
        task = bar.add_task("training", total=epochs * per_epoch)
        losses: list[float] = []
        for epoch, loss in digits.train(net, data, epochs):
            losses.append(loss)
            bar.advance(task)
            if len(losses) == per_epoch:
                mean = sum(losses) / per_epoch
                bar.console.print(f"  │ epoch {epoch + 1} of {epochs}: mean loss {mean:.3f}")
                losses.clear()


def compare_modes(console: Console, number: int, net: nn.Module, data: digits.Digits) -> None:
    """Measure what `no_grad` and `eval` change."""
    images = data.test_images[:128]
    show_heading(console, number, "Using it: no_grad and eval")
    show_text(console, "Both belong to inference, and they have nothing to do with each other. We run "
              f"the trained network on {len(images)} held-out images in all four combinations.")  # fmt: skip
    rows = [inference.measure(net, images, *modes)
            for modes in ((True, True), (False, True), (True, False), (False, False))]  # fmt: skip
    table = Table("mode", "graph", "requires\ngrad", "saved for\nbackward", "peak\nmemory", "time",
                  "same when\nrun again", "same when\nalone", box=None, pad_edge=False)  # fmt: skip
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
    show_text(console, f"**`no_grad`** records nothing: {megabytes(bare.saved_bytes)} kept for a "
              f"backward pass instead of {megabytes(recorded.saved_bytes)}, at most "
              f"{megabytes(bare.peak_bytes)} in use instead of {megabytes(recorded.peak_bytes)}. "
              f"The scores differ by at most {difference:g}.")  # fmt: skip
    show_text(console, "**`eval`** changes the scores: dropout stops drawing lots, so that the network "
              "repeats itself, and batch norm uses the averages it learnt instead of those of the "
              "batch, so that an image's scores no longer depend on its neighbours.")  # fmt: skip


def megabytes(count: int) -> str:
    """Return a number of bytes in MB."""
    return f"{count / 1e6:.2f} MB"
