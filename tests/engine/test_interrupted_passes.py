"""Ctrl-C, or no memory, in the middle of a backward pass, at every place where either may come.

Python looks for signals where a function begins, after a call, and where a loop goes back.  A
trace function raises `KeyboardInterrupt` at the first such place within the package, then at the
second, and so on; and `MemoryError` in place of the first call or sum, then of the second.
Whatever the place: each leaf's gradient is as before or whole, recording is on as before, no lock
stays taken, and the next pass is right.

Entering and leaving a `with` of a manager written in Python is left out: there Python itself can
lose the exit, here as in PyTorch.
"""

from __future__ import annotations

import itertools

import pytest

import minigrad as torch
from minigrad.utils.checkpoint import checkpoint
from tests.support.engines import leaf
from tests.support.faults import ALL, KINDS, fault
from tests.support.slow import slow_but

STEP = 1 if ALL else 17


def plain():
    x, w = leaf(torch, [1.0, 2.0, 3.0]), leaf(torch, [2.0, 1.0, 0.5])
    x.grad = torch.ones(3)
    loss = ((x * w).exp() + x * x).sum() * 2
    return [x, w], loss.backward


def with_hooks_views_and_a_function():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    x, w = leaf(torch, [1.0, 2.0, 3.0]), leaf(torch, [2.0, 1.0, 0.5])
    x.register_hook(lambda g: g * 2)
    y = Square.apply(x * w)
    y.retain_grad()
    y[1:].mul_(2)
    return [x, w], (y.sum() + x[0] * 3).backward


def twice():
    x = leaf(torch, [1.0, 2.0, 3.0])

    def run():
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        slope.sum().backward()

    return [x], run


def with_a_graph():
    x = leaf(torch, [1.0, 2.0, 3.0])
    x.grad = torch.ones(3)
    loss = (x * x).sum()
    return [x], lambda: loss.backward(create_graph=True)


def reentrant():
    x = leaf(torch, [1.0, 2.0])
    return [x], checkpoint(lambda a: (a * a).exp(), x, use_reentrant=True).sum().backward


def recomputed():
    x = leaf(torch, [1.0, 2.0])
    return [x], checkpoint(lambda a: (a * a).exp(), x, use_reentrant=False).sum().backward


def gradients(leaves):
    return [None if x.grad is None else x.grad.tolist() for x in leaves]


@pytest.mark.filterwarnings("ignore:Using backward")  # once in a process: `.grad` keeps its history
@pytest.mark.parametrize("kind", slow_but(1, KINDS))
@pytest.mark.parametrize("make", [plain, with_hooks_views_and_a_function, twice, with_a_graph,
                                  reentrant, recomputed])
def test_a_backward_pass_interrupted_anywhere(make, kind):
    leaves, run = make()
    before = gradients(leaves)
    run()
    whole = gradients(leaves)
    for number in itertools.count(1, STEP):
        leaves, run = make()
        reached = fault(run, number, kind)
        assert torch.is_grad_enabled(), f"recording is off after place {number}"
        for got, old, new in zip(gradients(leaves), before, whole, strict=True):
            assert got in (old, new), f"half a gradient after place {number}"
        with pytest.raises(RuntimeError, match="Final callbacks can only be installed during"):
            torch.autograd.Variable._execution_engine.queue_callback(print)
        if not reached:
            assert gradients(leaves) == whole
            assert number > 100, "too few places for the trace to have worked"
            break
