"""The figures of reductions and of checkpoints, beside minigrad."""

from __future__ import annotations

import random
import weakref
from typing import Any

import pytest

import minigrad as torch
from minigrad.examples.checkpoint import in_segments

# --- memory for time --------------------------------------------------------------------------


class Meter:
    """A step that notes which results are alive at each call and after each backward step."""

    def __init__(self) -> None:
        self.calls = 0
        self.alive: set[int] = set()
        self.moments: list[tuple[str, list[int]]] = []

    def tanh(self, x: Any) -> Any:
        y, number = x.tanh(), self.calls
        self.calls += 1
        self.alive.add(number)
        weakref.finalize(y._array, self.alive.discard, number)
        self.note("call")
        y.grad_fn.register_hook(lambda *grads: self.note("backward"))
        return y

    def note(self, phase: str) -> None:
        self.moments.append((phase, sorted(self.alive)))


def metered(n: int, k: int) -> Meter:
    meter, x = Meter(), torch.tensor([0.5, 1.0], requires_grad=True)
    y = in_segments([meter.tanh] * n, x, k)
    y.sum().backward()
    return meter


def test_every_moment_holds_what_minigrad_holds(model):
    rng = random.Random(6)
    for n, k in [(64, 8), (64, 0), (4, 4), *[(n := rng.randint(4, 64), rng.randint(0, n))
                                             for _ in range(60)]]:
        shown, meter = model("checkpoints", n=n, k=k, at=0), metered(n, k)
        held = [("backward" if each["phase"] == "backward" else "call",
                 sorted(result["call"] for result in each["held"])) for each in shown["moments"]]
        assert held == meter.moments, (n, k)
        assert shown["calls"] == meter.calls
        assert shown["peaks"][k] == max(len(alive) for _, alive in meter.moments)


def test_the_peaks_are_those_that_the_lesson_prints(model):
    peaks = model("checkpoints")["peaks"]
    assert [peaks[k] for k in (0, 1, 2, 4, 8, 16, 32, 64)] == [64, 65, 34, 20, 16, 20, 34, 65]
    assert min(peaks) == peaks[8]


@pytest.mark.parametrize("n", [9, 16, 20, 50])
def test_a_peak_is_that_of_its_own_moments(model, n):
    for k, peak in enumerate(model("checkpoints", n=n, k=0, at=0)["peaks"]):
        shown = model("checkpoints", n=n, k=k, at=0)["moments"]
        assert peak == max(len(each["held"]) for each in shown)
