"""Compile the GPT that learns to spell: memory and time of a training step, before and after.

    minigrad python compile_gpt.py                      on your own engine
    minigrad python --mine 15 compile_gpt.py --steps 20 --budget 1
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import spell

import minigrad as torch
from minigrad.nn.models.gpt import GPT
from minigrad.viz import saved_tensors


def loss_of(net: GPT) -> Callable[[Any, Any], Any]:
    """Return the function to compile; it can reach the network alone, so only that is guarded."""
    def loss(seen: Any, wanted: Any) -> Any:
        scores = net(seen)
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())

    return loss


class Way:
    """One way to run training steps, eager or compiled, with a separate network."""

    def __init__(self, name: str, budget: float | None = None) -> None:
        torch.manual_seed(0)
        self.name, self.net = name, spell.network()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=spell.LEARNING_RATE)
        self.loss_of = loss_of(self.net)
        if budget is not None:
            self.loss_of = torch.compile(self.loss_of, fullgraph=True,
                                         options={"activation_memory_budget": budget})
        self.times: list[float] = []
        self.kept = 0

    def step(self, seen: Any, wanted: Any) -> Any:
        """Take a training step and note its time; return the loss."""
        begun = perf_counter()
        self.optimizer.zero_grad()
        loss = self.loss_of(seen, wanted)
        middle = perf_counter()
        if not self.times:
            self.kept = self.bytes_kept(loss, (seen, wanted))
        resumed = perf_counter()
        loss.backward()
        self.optimizer.step()
        self.times.append(perf_counter() - resumed + middle - begun)
        return loss

    def bytes_kept(self, loss: Any, batch: Iterable[Any]) -> int:
        """Return the bytes that a loss keeps for its backward pass, except for inputs."""
        saved = getattr(loss.grad_fn, "saved", None)  # arrays, if this is a compiled call
        arrays = [each._array for each in saved_tensors(loss)] if saved is None else saved
        known = {id(owner(each._array)) for each in (*batch, *self.net.parameters(),
                                                     *self.net.buffers())}
        found = {id(whole): whole.nbytes for whole in map(owner, arrays)}
        return sum(size for place, size in found.items() if place not in known)

    @property
    def milliseconds(self) -> float:
        """The median time of a step, without the first one, in which a program is recorded."""
        return 1e3 * median(self.times[1:])

    def __str__(self) -> str:
        return f"{self.name:10}{self.kept / 1e6:6.2f} MB{self.milliseconds:13.1f} ms"


def owner(array: Any) -> Any:
    """Return the array whose memory an array shares."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def difference(eager: Way, compiled: Way, losses: list[Any]) -> str:
    """Return in what two training steps differ, or ""."""
    if losses[1].grad_fn.name() != "CompiledFunctionBackward":
        return "the compiled function ran eagerly"
    if losses[0].item() != losses[1].item():
        return f"the loss is {losses[1].item():.6g} instead of {losses[0].item():.6g}"
    pairs = zip(eager.net.named_parameters(), compiled.net.parameters(), strict=True)
    for (name, one), other in pairs:
        if other.grad is None or not torch.equal(one.grad, other.grad):
            return f"the gradient of {name} is another one"
    return ""


def main() -> None:
    """Train eagerly and compiled, step by step in turn, and compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=100, help="steps of training (100)")
    parser.add_argument("--budget", type=float, default=0.5,
                        help="of memory, as a fraction of what it takes to save everything (0.5)")
    parser.add_argument("--result", help="a file for what came of it, as JSON")
    options = parser.parse_args()
    if options.steps < 2 or not 0 <= options.budget <= 1:
        parser.error("--steps is 2 or more, and --budget from 0 to 1")
    eager, compiled = ways = Way("eager"), Way("compiled", options.budget)
    weights = sum(each.numel() for each in eager.net.parameters())
    print(f"{weights:,} weights, batches of {spell.BATCH} times {spell.CONTEXT} characters")
    for number, (seen, wanted) in enumerate(spell.batches(options.steps), 1):
        losses = [way.step(seen, wanted) for way in ways]
        if told := difference(eager, compiled, losses):
            raise SystemExit(f"step {number}: {told}. A compiled step has to give the numbers of "
                             "an eager one, to the last bit")
    print("          between the passes   a step")
    print(eager, compiled, sep="\n")
    print(f"{options.steps} steps: the same losses and the same gradients, to the last bit")
    if options.result:
        Path(options.result).write_text(json.dumps({
            "steps": options.steps, "bytes": [way.kept for way in ways],
            "milliseconds": [round(way.milliseconds, 1) for way in ways]}), encoding="utf-8")


if __name__ == "__main__":
    main()
