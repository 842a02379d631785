"""Editors know the types of what users write, and complete the names that users need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("revealed_types.py")
LINES = PROGRAM.read_text("utf-8").splitlines()

#: Lines whose type may be `Any`, and why. With PyTorch's own annotations it's 16 lines.
ANY = {
    "x.tolist()": "it depends on the number of dimensions",
    "torch.linalg.norm(x)": "functions of `linalg` are looked up by name",
    "torch.autograd.functional.jacobian(torch.exp, x)": "it's nested like the arguments",
    "torch.func.grad(torch.sum)(x)": "gradients are nested like the arguments",
    "Double.apply(x)": "it returns what `forward` returns",
    "F.max_pool2d(x, 2)": "`return_indices` makes it a tuple",
    "model(x)": "a module returns what its `forward` returns",
    "nn.Linear(3, 2)(x)": "a module returns what its `forward` returns",
    "nn.CrossEntropyLoss()(x, labels)": "a module returns what its `forward` returns",
    "optimizer.step()": "it returns what the closure returns",
    "batch": "it depends on the data set",
    "torch.load(\"a.pt\")": "it depends on the file",
}


def test_every_line_with_any_is_listed_and_there_are_at_most_12() -> None:
    assert sum("reveal_type(" in line for line in LINES) > 100
    assert len(ANY) <= 12
    assert all(any(f"reveal_type({each})" in line for line in LINES) for each in ANY)


@pytest.mark.slow
def test_mypy_reveals_no_other_any(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--config-file", "",
         "--follow-imports=silent", "--cache-dir", str(tmp_path), str(PROGRAM)],
        capture_output=True, text=True, cwd=ROOT, check=False)
    revealed = re.findall(r':(\d+): note: Revealed type is "(.+)"', found.stdout)
    assert len(revealed) == sum("reveal_type(" in line for line in LINES), found.stdout
    assert ": error:" not in found.stdout, found.stdout
    unknown = {LINES[int(number) - 1].strip().removeprefix("reveal_type(").removesuffix(")")
               for number, kind in revealed if kind in ("Any", "Unknown")}
    assert unknown == set(ANY)


def test_completion_shows_lazy_modules_and_no_internals() -> None:
    shown = set(dir(minigrad))
    assert {"nn", "optim", "linalg", "func", "distributions", "special", "utils", "amp", "cuda",
            "zeros", "compile", "masked", "signal", "profiler", "testing"} <= shown
    assert {"functional", "init", "Linear", "utils"} <= set(dir(minigrad.nn))
    internal = [name for name in shown if name.startswith(("linalg_", "special_"))
                or name.endswith("_backward")]
    assert internal == []
    assert minigrad.linalg_norm is minigrad.linalg.norm  # they exist nevertheless
