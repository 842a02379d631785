"""Measure the peak memory of one inference in a separate process.

A process has only one peak, and memory left by one run would help the next, so each figure gets a
fresh process.  It runs this file as a script, imports only the library to measure, and prints a
line of JSON at the end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from pkgutil import resolve_name
from runpy import run_path
from typing import Any, NamedTuple

import numpy as np

_COURSE = Path(__file__).resolve().parents[1]
_PACKAGE = _COURSE.parent / "minigrad"


class Peak(NamedTuple):
    """Bytes allocated at the peak, kept with the result, and used by the whole process."""

    arrays: int
    kept: int
    process: int
    before: int  # of the whole process before the run, with interpreter, library and weights


def peak(library: str, network: str, images: Path, recorded: bool) -> Peak:
    """Return the memory that inference of a network takes on the images of an `.npy` file.

    `library` is "minigrad" or "torch".  Arrays and process are measured in separate processes,
    because counting arrays takes memory.  Raises RuntimeError if a process fails.
    """
    paths = [str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)),
                                "MINIGRAD_KEEP_MEMORY": "0"}
    found: dict[str, int] = {}
    for counted in (True, False):
        request = json.dumps([library, network, str(images), recorded, counted])
        done = subprocess.run([sys.executable, "-P", __file__, request], env=environment,
                              capture_output=True, encoding="utf-8")
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
            raise RuntimeError(f"could not measure {network} with {library}: {reason}")
        found |= json.loads(done.stdout.splitlines()[-1])
    return Peak(**found)


def measure(library: str, name: str, path: str, recorded: bool, counted: bool) -> dict[str, int]:
    """Run one inference and return the figures of its arrays or of the process."""
    torch = resolve_name(library)
    memory = run_path(str(_PACKAGE / "utils" / "memory.py"))
    network = run_path(str(_COURSE / "demos" / "resnet.py"))["residual_network"](torch, name).eval()
    images = torch.from_numpy(np.load(path))

    def infer() -> Any:
        with nullcontext() if recorded else torch.no_grad():
            return network(images)

    if not counted:
        memory["reset_process_peak"]()
        before = memory["process_peak"]()
        result = infer()
        return {"process": memory["process_peak"](), "before": before}
    if library == "minigrad":
        with memory["peak_memory"]() as arrays:
            result = infer()
        return {"arrays": arrays.peak, "kept": arrays.kept}
    with torch.autograd.profiler.profile(profile_memory=True) as record:
        result = infer()
    changes = sorted((event.start_ns(), event.nbytes()) for event in record.kineto_results.events()
                     if event.name() == "[memory]")
    highest, now = 0, 0
    for _, change in changes:
        now += change
        highest = max(highest, now)
    del result  # it had to live until here, because it holds the graph
    return {"arrays": highest, "kept": now}


if __name__ == "__main__":
    print(json.dumps(measure(*json.loads(sys.argv[1]))))
