"""The tour's second part: the network and its training loop, shown from their source and run."""

from __future__ import annotations

import inspect
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

import minigrad as torch
from minigrad import nn
from minigrad.nn.models.resnet import BasicBlock
from minigrad.viz import walk

from ..demos import digits
from ..terminal.markdown_page import show_code, show_heading, show_text


def train_the_network(
    console: Console, number: int, data: digits.Digits, epochs: int, seed: int
) -> tuple[nn.Module, float]:
    """Train the network; return it with the share of held-out images that it recognises."""
    show_heading(console, number, "A residual network that reads digits")
    seen, held_out = len(data.train_images), len(data.test_images)
    show_text(
        console,
        f"scikit-learn ships {seen + held_out} handwritten digits of 8 × 8 pixels. We train on "
        f"{seen} and hold out {held_out}, drawn with seed {seed}. The same people wrote both "
        "parts. The first held-out digits:",
    )
    show_images(console, data)
    show_text(
        console,
        "The network consists of blocks that add their result to their input, so that "
        "gradients also flow past them unchanged:",
    )
    show_code(console, inspect.getsource(BasicBlock.forward))
    show_code(console, inspect.getsource(digits.network))
    show_text(console, "One step of training:")
    show_code(console, inspect.getsource(digits.train_step))

    torch.manual_seed(seed)
    net = digits.network()
    loss = nn.functional.cross_entropy(net(data.train_images[:1]), data.train_digits[:1])
    assert loss.grad_fn is not None
    nodes = sum(1 for _ in walk([loss.grad_fn]))
    weights = sum(parameter.numel() for parameter in net.parameters())
    console.print(f"\n{weights:,} weights; the graph of one step has {nodes} nodes.")
    start = time.perf_counter()
    show_training(console, net, data, epochs)
    took = time.perf_counter() - start

    net.eval()
    right = digits.correct(net, data.test_images, data.test_digits)
    share = right / held_out
    console.print(
        f"\n[bold]Held-out images recognised: {right} of {held_out}, {share:.1%}[/bold] "
        f"({epochs} epochs, {took:.1f} s)."
    )
    return net, share


def show_images(console: Console, data: digits.Digits, count: int = 4) -> None:
    """Show the first held-out images side by side."""
    console.print()
    images = [digits.drawn(image[0]) for image in data.test_images[:count]]
    for line in zip(*images, strict=True):
        console.print(Text("    " + "   ".join(line).rstrip()))


def show_training(console: Console, net: nn.Module, data: digits.Digits, epochs: int) -> None:
    """Train with a progress bar, and print a line after each epoch."""
    per_epoch = digits.steps_per_epoch(data)
    bar = Progress(
        TextColumn("    training"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
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
