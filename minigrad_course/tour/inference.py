"""Measure separately what `no_grad` and `eval` change when a trained network is used."""

from __future__ import annotations

import copy
import time
import tracemalloc
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any, NamedTuple

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.viz import saved_tensors

ROUNDS = 5


class Measured(NamedTuple):
    """One combination of modes to run a network in, and the measurements."""

    training: bool
    grad: bool
    scores: Tensor
    requires_grad: bool
    saved_bytes: int  # kept for backward, without parameters and the images themselves
    peak_bytes: int  # the maximum allocated at any moment of the run
    seconds: float  # the median of ROUNDS runs
    repeatable: bool  # whether a second run gives exactly the same scores
    alone: float  # how much an image's scores change when it is not in its batch


def measure(net: nn.Module, images: Tensor, training: bool, grad: bool) -> Measured:
    """Run a copy of `net` on `images` in one combination of modes."""
    net = copy.deepcopy(net).train(training)  # a copy: train mode updates the running averages
    with context(grad):
        scores, again, single = net(images), net(images), net(images[:1])
        known = {t.data_ptr() for t in (images, *net.parameters(), *net.buffers())}
        kept = saved_tensors(scores) if scores.requires_grad else []
        return Measured(
            training=training,
            grad=grad,
            scores=scores.detach(),
            requires_grad=scores.requires_grad,
            saved_bytes=sum(t.nbytes for t in kept if t.data_ptr() not in known),
            peak_bytes=peak_memory(net, images),
            seconds=median(seconds(net, images) for _ in range(ROUNDS)),
            repeatable=bool((scores == again).all().item()),
            alone=float((scores[:1] - single).abs().max().item()),
        )


def context(grad: bool) -> AbstractContextManager[Any]:
    """Return a context in which a graph is recorded, or not."""
    return nullcontext() if grad else torch.no_grad()


def peak_memory(net: nn.Module, images: Tensor) -> int:
    """Return the maximum growth of traced memory while the network runs."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        net(images)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def seconds(net: nn.Module, images: Tensor) -> float:
    """Return how long one run takes."""
    start = time.perf_counter()
    net(images)
    return time.perf_counter() - start
