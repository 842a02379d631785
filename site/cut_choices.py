"""Cuts a joint program for several budgets of memory and writes the cuts for the figure "cut".

    python site/cut_choices.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import minigrad as torch
from minigrad.aot.buffers import roots_of
from minigrad.aot.partition import Partition, at_level, partition
from minigrad.aot.program import Step, Value
from minigrad.aot.trace.record import Recorded, record
from minigrad.nn import functional as F

__all__ = ["BUDGETS", "FILE", "recorded", "written"]

FILE = Path(__file__).parent / "widgets" / "cut_choices.js"
#: Percentages of the bytes that it takes to save everything.
BUDGETS = range(30, 101, 5)
COMMENT = """\
// Made by site/cut_choices.py: do not edit. The joint program of a step with attention, which
// minigrad recorded, and its cuts; BUDGETS has the number of the cut for each percentage.
"""
#: Names of values that the figure shows in place of the program's.
NAMES = {"mm": "q", "mm_1": "k", "scaled_dot_product": "attention",
         "scaled_dot_product_1": "weights", "mm_2": "result", "mse_loss": "loss"}
#: Names of steps in the backward pass, by the step's name; others keep theirs.
STEPS = {"ScaledDotProductBackward0": "attention ∂"}


def recorded() -> Recorded:
    """Record a training step: attention, a residual connection, an activation and a layer."""
    def loss(x: Any, y: Any, wq: Any, wk: Any, w: Any) -> Any:
        found = F.scaled_dot_product_attention(x @ wq, x @ wk, x)
        return F.mse_loss(F.silu(x + found) @ w, y)

    weights = (torch.ones(16, 16, requires_grad=True) for _ in range(3))
    return record(loss, (torch.ones(32, 16), torch.ones(32, 16), *weights))


def written(step: Recorded) -> str:
    """Return the program and its cuts as a module of JavaScript."""
    cuts, budgets = [at_level(step, 0)], {}
    for percent in reversed(BUDGETS):
        found = partition(step, percent / 100)
        if not same(found, cuts[-1]):
            cuts.append(found)
        budgets[percent] = len(cuts) - 1
    forward = [{"name": NAMES.get(value.name, value.name), "bytes": value.nbytes,
                "op": each.name} for each in step.forward for value in each.outputs]
    lines = [COMMENT, f"export const BUDGETS = {json.dumps(budgets)};\n"]
    for name, part in (("FORWARD", forward), ("CUTS", [described(step, each) for each in cuts])):
        rows = ",\n".join(f"  {json.dumps(each, ensure_ascii=False)}" for each in part)
        lines.append(f"export const {name} = [\n{rows},\n];\n")
    return "\n".join(lines)


def same(one: Partition, other: Partition) -> bool:
    """Return whether two cuts save the same values."""
    return set(map(id, one.saved)) == set(map(id, other.saved))


def described(step: Recorded, found: Partition) -> dict[str, Any]:
    """Return what the figure shows of a cut.

    Of the backward half, these are the steps that are computed again, that read a value of the
    forward pass, or that give a gradient.
    """
    made = {id(value) for each in step.forward for value in each.outputs}
    roots = roots_of([*step.forward, *step.backward])
    gradients: dict[int, str] = {id(roots.get(id(v), v)): step.inputs[i].name for v, i in
                                 zip(step.gradients, step.sources, strict=True) if v is not None}
    rows = []
    for each in found.backward:
        if each.view:
            continue
        reads = list(dict.fromkeys(
            NAMES.get(value.name, value.name) for value in
            (roots.get(id(v), v) for v in each.inputs()) if id(value) in made))
        grad = next((gradients[id(v)] for v in each.outputs if id(v) in gradients), "")
        again = any(each is other for other in step.forward)
        if reads or grad or again:
            rows.append({"name": label(each, again), "again": again, "reads": reads,
                         "gives": [NAMES.get(v.name, v.name) for v in each.outputs if again],
                         "grad": grad})
    kept = set(map(id, found.saved))
    saved = [NAMES.get(v.name, v.name) for each in step.forward for v in each.outputs
             if id(v) in kept]
    return {"saved": saved, "bytes": found.saved_bytes, "backward": rows}


def label(step: Step, again: bool) -> str:
    """Return the name of a step in the backward half."""
    value: Value = step.outputs[0]
    return NAMES.get(value.name, value.name) if again else STEPS.get(step.name, step.name)


def main() -> None:
    """Record, cut, and write the file."""
    text = written(recorded())
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(text)} bytes")


if __name__ == "__main__":
    main()
