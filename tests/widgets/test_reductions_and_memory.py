"""The figures of reductions and of checkpoints, beside minigrad."""

from __future__ import annotations

import random
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.examples.checkpoint import in_segments

# --- reductions -------------------------------------------------------------------------------

REDUCTIONS = ["sum", "mean", "var", "norm", "logsumexp", "amax", "max"]


def reduced(op: str, x: Any, dim: str, keepdim: bool) -> Any:
    """What minigrad makes of the call that a figure shows."""
    if dim != "all":
        result = getattr(x, op)(dim=int(dim), keepdim=keepdim)
        return result[0] if op == "max" else result
    both = (0, 1) if op == "logsumexp" or (keepdim and op != "max") else None
    if op == "max":
        return x.max().reshape((1, 1) if keepdim else ())
    return getattr(x, op)() if both is None else getattr(x, op)(dim=both, keepdim=keepdim)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_a_reduction_and_its_gradient_are_minigrad_s(model, op):
    rng = random.Random(4)
    for _ in range(60):
        sizes = rng.randint(1, 3), rng.randint(1, 3)
        rows = [[rng.choice([0, 1, 2, -5, 5, round(rng.uniform(-3, 3), 2)])
                 for _ in range(sizes[1])] for _ in range(sizes[0])]
        dim, keepdim = rng.choice(["0", "1", "all"]), rng.random() < 0.5
        shown = model("reductions", x="; ".join(" ".join(map(str, row)) for row in rows),
                      op=op, dim=dim, keepdim=keepdim)
        x = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
        together = {"0": sizes[0], "1": sizes[1], "all": sizes[0] * sizes[1]}[dim]
        assert ("error" in shown) == (op == "var" and together == 1)
        if "error" in shown:
            continue
        result = reduced(op, x, dim, keepdim)
        assert shown["shape"] == list(result.shape)
        assert shown["results"] == pytest.approx(result.flatten().tolist(), rel=1e-9)
        result.backward(torch.tensor(shown["g"], dtype=torch.float64).reshape(result.shape))
        for found, right in zip(shown["grad"], x.grad.tolist(), strict=True):
            assert found == pytest.approx(right, rel=1e-9, abs=1e-12), (rows, dim)


@pytest.mark.parametrize("dim", ["0", "1"])
def test_what_is_forgotten_is_told_or_lines_up_as_numpy_does(model, dim):
    for sizes in [(2, 3), (3, 2), (2, 2), (3, 3), (1, 3), (3, 1)]:
        x = "; ".join([" ".join("1" * sizes[1])] * sizes[0])
        shown = model("reductions", x=x, op="sum", dim=dim, forget=True)
        try:
            expected = np.broadcast_to(np.array(shown["g"]), sizes)
        except ValueError:
            assert shown["refused"]
            continue
        right = np.expand_dims(np.array(shown["g"]), int(dim))
        assert np.array_equal(shown["grad"], expected)
        assert shown["wrong"] != np.array_equal(np.broadcast_to(right, sizes), expected)


@pytest.mark.parametrize("x", ["", "1 2; 3", "1 2 3 4", "a", "1; 2; 3; 4"])
def test_what_is_no_small_matrix_is_told(model, x):
    assert "such as" in model("reductions", x=x)["error"]


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
