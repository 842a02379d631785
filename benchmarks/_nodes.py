"""One long chain in a process of its own: what a node takes, and whether all is freed again."""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path
from typing import Any

#: What one step of the chain is, and what its node keeps.
CHAINS = {
    "add": ("value + y", "nothing"),
    "mul": ("value * y", "both factors"),
    "tanh": ("tanh(value)", "its output"),
}


def resident() -> int:
    """The process's resident memory, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmRSS in /proc/self/status")


def fill_free_lists() -> None:
    """Fill the lists of freed tuples that CPython keeps, because filling them looks like a leak."""
    for length in range(1, 20):
        made = [tuple(range(length)) for _ in range(2000)]
        del made


def measure(kind: str, nodes: int) -> dict[str, Any]:
    """Build a chain of so many nodes, run it backward and drop it, without the collector."""
    import minigrad as torch

    step: Any = {"add": lambda v: v + y, "mul": lambda v: v * y, "tanh": torch.tanh}[kind]
    x = torch.tensor(0.0, requires_grad=True)
    y = torch.tensor(1.0, requires_grad=True)
    step(step(x)).backward()  # so that nothing below is done for the first time
    x.grad = y.grad = None
    gc.collect()
    gc.disable()
    fill_free_lists()
    before, blocks = resident(), sys.getallocatedblocks()
    start = time.perf_counter()
    value = x
    for _ in range(nodes):
        value = step(value)
    built = time.perf_counter()
    with_graph = resident()
    value.backward()
    ran = time.perf_counter()
    after_backward = resident()
    right = x.grad.item() == 1.0 and (kind != "add" or y.grad.item() == min(nodes, 1 << 24))
    del value
    released = time.perf_counter()
    return {
        "kind": kind, "nodes": nodes, "bytes_per_node": (with_graph - before) / nodes,
        "most_in_backward_per_node": (peak() - before) / nodes,
        "after_backward_per_node": (after_backward - before) / nodes,
        "left_per_node": (resident() - before) / nodes,
        "blocks_left": sys.getallocatedblocks() - blocks, "gradient_right": right,
        "seconds": {"build": built - start, "backward": ran - built, "release": released - ran},
    }


def peak() -> int:
    """The most that the process ever had resident, in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
