"""Ctrl-C in the middle of a backward pass, at every place where Python looks for it.

Python looks for signals where a function begins, after a call, and where a loop goes back.  A
trace function raises `KeyboardInterrupt` at the first such place within the package, then at the
second, and so on.  Whatever the place: each leaf's gradient is as before or whole, recording is on
as before, no lock stays taken, and the next pass is right.

Entering and leaving a `with` of a manager written in Python is left out: there Python itself can
lose the exit, here as in PyTorch.
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
from functools import cache
from pathlib import Path
from types import CodeType

import pytest
from _engines import leaf

import minigrad as torch
from minigrad.utils.checkpoint import checkpoint

PACKAGE = str(Path(torch.__file__).parent)
LOOKS = ("RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD")
MANAGERS = ("__enter__", "__exit__")
STEP = 1 if os.environ.get("MINIGRAD_ALL_INTERRUPTS") == "1" else 17


@cache
def places(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions before which Python has looked for signals."""
    names = [(each.offset, each.opname) for each in dis.get_instructions(code)]
    return frozenset(offset for (_, before), (offset, _) in itertools.pairwise(names)
                     if before in LOOKS)


def interrupt(program, number: int) -> bool:
    """Run a program, interrupted at the place of that number; tell whether it came there."""
    count, reached = 0, False

    def trace(frame, event, _):
        nonlocal count, reached
        around = [frame.f_code, frame.f_back.f_code,
                  frame.f_back.f_back.f_code if frame.f_back.f_back else frame.f_code]
        if (not frame.f_code.co_filename.startswith(PACKAGE)
                or any(code.co_name in MANAGERS for code in around)):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        if event == "opcode" and frame.f_lasti in places(frame.f_code):
            count += 1
            if count == number:
                reached = True
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        program()
    except KeyboardInterrupt:
        if not reached:
            raise
    finally:
        sys.settrace(before)
    return reached


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
@pytest.mark.parametrize("make", [plain, with_hooks_views_and_a_function, twice, with_a_graph,
                                  reentrant, recomputed])
def test_a_backward_pass_interrupted_anywhere(make):
    leaves, run = make()
    before = gradients(leaves)
    run()
    whole = gradients(leaves)
    for number in itertools.count(1, STEP):
        leaves, run = make()
        reached = interrupt(run, number)
        assert torch.is_grad_enabled(), f"recording is off after place {number}"
        for got, old, new in zip(gradients(leaves), before, whole, strict=True):
            assert got in (old, new), f"half a gradient after place {number}"
        with pytest.raises(RuntimeError, match="Final callbacks can only be installed during"):
            torch.autograd.Variable._execution_engine.queue_callback(print)
        if not reached:
            assert gradients(leaves) == whole
            assert number > 200, "too few places for the trace to have worked"
            break
