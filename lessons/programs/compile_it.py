"""Compile a training step of attention: its program, its two halves, and what each budget saves.

    minigrad python --mine 15 compile_it.py
    minigrad python --mine 15 compile_it.py --steps 0       without measuring the time
"""

from __future__ import annotations

import argparse
import linecache
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import minigrad as torch
from minigrad.aot.compiled import Compiled
from minigrad.aot.partition import partition
from minigrad.aot.trace.record import Recorded, record
from minigrad.nn import functional as F

#: Fractions of the bytes that it takes to save every value.
BUDGETS = (1.0, 0.9, 0.4)


class Attention(torch.nn.Module):
    """Attention between the rows of `x`, and a layer that uses it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wq, self.wk, self.w = (torch.nn.Parameter(torch.randn(width, width) / width**0.5)
                                    for _ in range(3))

    def forward(self, x: Any) -> Any:
        """Return a row for each row of `x`."""
        found = F.scaled_dot_product_attention(x @ self.wq, x @ self.wk, x)
        return F.silu(found) @ self.w


def loss_of(net: Attention) -> Callable[[Any, Any], Any]:
    """Return the function to compile."""
    return lambda x, y: F.mse_loss(net(x), y)


def source(function: Callable[..., Any]) -> str:
    """Return the source of an emitted function, which Python keeps for debuggers."""
    return "".join(linecache.getlines(function.__code__.co_filename))


def choice(recorded: Recorded, budget: float) -> str:
    """Return a line about what a budget saves, and what it computes again."""
    found = partition(recorded, budget)
    made = [v for step in recorded.forward if not step.view for v in step.outputs]
    kept = [v.name for v in made if any(v is each for each in found.saved)]
    again = [step.outputs[0].name for step in found.backward
             if not step.view and any(step is each for each in recorded.forward)]
    return (f"budget {budget}: {found.saved_bytes:5,} bytes for {', '.join(kept)}\n"
            f"{'':12}again: {', '.join(again) or 'nothing'}")


def train(steps: int, x: Any, y: Any) -> tuple[list[float], float]:
    """Train two equal networks, one of them compiled; return the losses and the ratio of times.

    Raises SystemExit at the first loss or gradient in which they differ.
    """
    nets = []
    for _ in range(2):
        torch.manual_seed(0)
        nets.append(Attention(x.shape[1]))
    eager, compiled = nets
    functions = [loss_of(eager), torch.compile(loss_of(compiled), fullgraph=True)]
    times: list[list[float]] = [[], []]
    losses = []
    for step in range(steps):
        found = []
        for net, function, took in zip(nets, functions, times, strict=True):
            begun = perf_counter()
            net.zero_grad()
            loss = function(x, y)
            loss.backward()
            took.append(perf_counter() - begun)
            found.append([loss, *(each.grad for each in net.parameters())])
            with torch.no_grad():
                for each in net.parameters():
                    each -= 0.3 * each.grad  # more, and late losses depend on rounding
        if not all(torch.equal(one, other) for one, other in zip(*found, strict=True)):
            raise SystemExit(f"step {step + 1}: the compiled step gives other numbers")
        losses.append(found[0][0].item())
    slow, fast = (median(took[1:]) for took in times)  # the first step records the program
    return losses, fast / slow


def main() -> None:
    """Print what becomes of one step, and train with it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
    options = parser.parse_args()
    if options.steps < 0 or options.steps == 1:
        parser.error("--steps is 0, or 2 or more: the first step records the program")
    torch.manual_seed(0)
    x, y = torch.randn(12, 8), torch.randn(12, 8)
    recorded = record(loss_of(Attention(8)), (x, y))
    print(recorded.joint, end="\n\n")
    choices = [choice(recorded, budget) for budget in BUDGETS]
    compiled = Compiled(recorded)
    print(source(compiled.forward), source(compiled.backward), *choices, sep="\n")
    if options.steps:
        losses, ratio = train(options.steps, x, y)
        print(f"{options.steps} steps, loss {losses[0]:.4f} to {losses[-1]:.4f}: eager and "
              "compiled are equal to the last bit")
        print(f"a compiled step takes {ratio:.2f} of the time")


if __name__ == "__main__":
    main()
