"""Checkpoints of `minigrad.examples` agree with a run without them, and with `utils.checkpoint`."""

import random
import weakref

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import minigrad as torch
from minigrad.examples.checkpoint import checkpoint, in_segments
from minigrad.utils.checkpoint import checkpoint as packages

STEPS = [lambda x: x.tanh(), lambda x: x * x, lambda x: (x * 0.1).exp(), lambda x: x.sin(),
         lambda x: x * (torch.rand(x.shape) < 0.5).to(x.dtype), lambda x: x + 1,
         lambda x: (x * 1).mul_(2)]


def gradient(run, steps, seed):
    """Return the gradient of what `run` makes of random numbers."""
    torch.manual_seed(seed)
    x = torch.rand(5, dtype=torch.float64).requires_grad_()
    result = run(steps, x)
    result.sum().backward()
    return x.grad.tolist()


def chained(steps):
    def run(x):
        for step in steps:
            x = step(x)
        return x
    return run


@given(st.integers(0, 10**9))
@example(4974)
def test_random_chains_have_the_gradient_of_a_run_without_checkpoints(seed):
    rng = random.Random(seed)
    steps, segments = [rng.choice(STEPS) for _ in range(rng.randint(1, 12))], rng.randint(1, 6)
    expected = gradient(lambda steps, x: chained(steps)(x), steps, seed)
    # Exactly equal, and nan where that is the gradient: seed 4974 has two.
    assert_array_equal(gradient(lambda steps, x: in_segments(steps, x, segments), steps, seed),
                       expected)
    assert_array_equal(gradient(lambda steps, x: packages(
        chained(steps), x, use_reentrant=False), steps, seed), expected)


def test_a_checkpoint_inside_a_checkpoint():
    x, y = (torch.tensor([0.5, 1.0], requires_grad=True) for _ in range(2))
    checkpoint(lambda x: checkpoint(lambda x: x.tanh().exp(), x.sin()).exp(), x).sum().backward()
    y.sin().tanh().exp().exp().sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


@pytest.mark.parametrize(("segments", "peak", "calls"), [
    (0, 64, 64), (1, 65, 128), (2, 34, 128), (4, 20, 128), (8, 16, 128), (16, 20, 128),
    (64, 65, 128)])
def test_memory_and_calls_of_sixty_four_steps(segments, peak, calls):
    alive, seen = set(), {"peak": 0, "calls": 0}

    def step(x):
        y, number = x.tanh(), seen["calls"]
        seen["calls"] += 1
        alive.add(number)
        weakref.finalize(y._array, alive.discard, number)
        seen["peak"] = max(seen["peak"], len(alive))
        return y

    x = torch.tensor([0.5], requires_grad=True)
    y = in_segments([step] * 64, x, segments)
    y.sum().backward()
    assert seen == {"peak": peak, "calls": calls}


def test_the_graph_of_the_second_run_cannot_be_walked():
    found = []
    x = torch.tensor([0.5], requires_grad=True)
    checkpoint(lambda x: found.append(x.exp()) or found[-1] * 1, x).backward()
    with pytest.raises(RuntimeError, match="the second run of a segment has no backward pass"):
        found[1].backward()
