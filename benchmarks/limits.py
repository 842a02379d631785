"""What limits the rows that miss their targets: the least that each can take on NumPy.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/limits.py

One line for each figure of reasons.py: minigrad alone, the fastest of some rounds, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import _small_ops
import compile as compiling
import mlp
import numpy as np
from families import derivatives, programs

import minigrad
from minigrad.aot.program import replace_values
from minigrad.backend import numpy_backend
from minigrad.codegen.planned_task import PlannedTask
from minigrad.graph.node import GraphRoot
from minigrad.op import REGISTRY

SMALL_OPS = 100 * _small_ops.OPS_PER_BLOCK


def microseconds(work: Callable[[], Any], rounds: int = 40,
                 clock: Callable[[], float] = time.process_time) -> float:
    """The fastest of some rounds, by this process's processor time unless `clock` is another."""
    found = []
    for _ in range(rounds):
        begun = clock()
        work()
        found.append(clock() - begun)
    return min(found) * 1e6


def floats(*shape: int) -> Any:
    """An array that is not zero: float32."""
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def of_small_ops() -> Iterator[str]:
    """Recording, the gradients' formulas and planning, for a chain of small operations."""
    library = _small_ops.TorchLike(minigrad)
    root = GraphRoot([(library.forward_graph(100).grad_fn, 0)], [None])

    def plan() -> PlannedTask:
        task = PlannedTask(True, False)
        task.plan(root)
        return task

    g = floats(_small_ops.SIZE)
    nodes = plan().order
    parts = {"recording": lambda: library.forward_graph(100),
             "formulas": lambda: [node.apply_arrays((g,), None) for node in nodes],
             "planning": plan}
    figures = [f"{name} {microseconds(work) / SMALL_OPS:.2f}" for name, work in parts.items()]
    yield f"small operations, each: {', '.join(figures)} us"


def of_calls() -> Iterator[str]:
    """The operations and nodes of a step, as the profiler counts them."""
    net = derivatives.convolutional(minigrad, 8, 16, 10)
    images = minigrad.randn(6, 3, 16, 16), minigrad.randn(4, 3, 16, 16)
    steps = {"small hvp": derivatives.hessian_product(minigrad, 100),
             "tangent kernel": derivatives.tangent_kernel(minigrad, net, *images, 10)}
    for name, step in steps.items():
        step()
        with minigrad.autograd.profiler.profile() as profile:
            step()
        count = sum(each.count for each in profile.key_averages())
        yield f"{name}: {count} events in {microseconds(step):.0f} us"


def of_products() -> Iterator[str]:
    """A step's matrix products and nothing else."""
    steps, batch, hidden, gates = 50, 16, 128, 512
    weights = floats(hidden, gates), floats(gates, hidden)
    state, slopes = floats(batch, hidden), floats(batch, gates)
    x, all_states, all_slopes = (floats(steps * batch, n) for n in (64, hidden, gates))
    w = floats(64, gates)
    lstm = [(x, w), *[(state, weights[0])] * steps, *[(slopes, weights[1])] * (steps - 1),
            (all_slopes.T, x), (all_slopes.T, all_states)]
    network = []
    for before, after in pairwise(mlp.SIZES):
        inputs, outputs, weight = floats(64, before), floats(64, after), floats(before, after)
        network += [(inputs, weight), (outputs.T, inputs), (outputs, weight.T)]
    del network[2]  # nobody asks for the gradient of the data
    for name, pairs in (("LSTM 50x16", lstm), ("small network, batch 64", network)):
        yield f"{name}: products {microseconds(lambda p=pairs: [a @ b for a, b in p]):.0f} us"


def of_programs() -> Iterator[str]:
    """The array programs of a compiled step, and what most of their time goes to."""
    calls: dict[Any, tuple[Any, ...]] = {}

    def compile(function: Any) -> Any:
        fast = minigrad.compile(function, fullgraph=True)
        return lambda *given: calls.update({"last": (fast, given)}) or fast(*given)

    for name, step in compiling.workloads(minigrad, compile).items():
        whole = microseconds(step, 200 if name == "small" else 10)
        fast, given = calls["last"]
        (((_, program),),) = fast.programs.values()
        arrays = [t._array for t in (*given, *program.captured)]
        if name == "small":
            saved, tangent = program.forward(*arrays)[1:], np.ones((), np.float32)
            forward = microseconds(lambda p=program, a=arrays: p.forward(*a), 200)
            backward = microseconds(lambda p=program, s=saved, t=tangent: p.backward(*s, t), 200)
            yield f"compiled small network: programs {forward + backward:.0f} of {whole:.0f} us"
        if name in ("mlp", "gpt", "chain"):
            parts = by_part(program.recorded, arrays)
            shown = ", ".join(f"{part} {time / 1000:.2g}" for part, time in parts.items() if time)
            yield f"compiled {name}: {shown} of {whole / 1000:.3g} ms"


def by_part(recorded: Any, arrays: list[Any]) -> dict[str, float]:
    """Return the microseconds of some kinds of steps, on the arrays of a call."""
    kinds = {"mm": "products", "addmm": "products", "erf": "erf", "bernoulli": "random numbers"}
    parts = dict.fromkeys(kinds.values(), 0.0)
    values = dict(zip(map(id, recorded.inputs), arrays, strict=True))
    values |= {id(v): np.ones(v.shape, v.dtype) for v in recorded.tangents}
    for step in [*recorded.forward, *recorded.backward]:
        values |= {id(v): v.array for v in step.inputs() if v.array is not None}
        given = replace_values(step.arguments, values)
        found = step.call(numpy_backend, *given)
        values |= zip(map(id, step.outputs), found if step.several else [found], strict=True)
        if step.name in kinds:
            parts[kinds[step.name]] += microseconds(
                lambda s=step, g=given: s.call(numpy_backend, *g), 10)
    return parts


def of_copies() -> Iterator[str]:
    """The windows of the depthwise convolution, copied once."""
    padded = np.pad(floats(128, 28, 28), [(0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    room = np.empty((128, 3, 3, 28, 28), np.float32)
    view = windows.transpose(0, 3, 4, 1, 2)
    yield f"depthwise convolution: windows {microseconds(lambda: np.copyto(room, view)):.0f} us"


def of_families() -> Iterator[str]:
    """The calls that reasons.py names for families of everyday work, in microseconds."""
    grad, F = minigrad.autograd.grad, minigrad.nn.functional
    small, index = minigrad.randn(30, 8, requires_grad=True), minigrad.randint(30, (15,))
    two = [minigrad.randn(4, 5) for _ in range(2)]
    rows = minigrad.randn(1000, 50, dtype=minigrad.float64)
    image, pairs = minigrad.randn(2, 8, 8, 8), minigrad.randn(100_000, 2, dtype=minigrad.float64)
    million, lstm = minigrad.randn(1000, 1000), minigrad.nn.LSTM(8, 16)
    sequence = minigrad.randn(50, 32, 8)
    calls = {
        "a list's gradient": lambda: grad(small[index].sum(), small),
        "cat": lambda: minigrad.cat(two, 1), "amax": lambda: rows.amax(1),
        "cumsum": lambda: million.cumsum(1), "average pooling": lambda: F.avg_pool2d(image, 2),
        "LSTM": lambda: lstm(sequence), "log_softmax": lambda: pairs.log_softmax(1),
        "permutation": lambda: minigrad.randperm(100_000),
        "normal numbers": lambda: minigrad.randn(1_000_000),
    }
    yield "families: " + ", ".join(
        f"{name} {microseconds(call, 10):.0f}" for name, call in calls.items())


def of_random_numbers() -> Iterator[str]:
    """Words of NumPy's Mersenne Twister, and numbers made of them."""
    count = 2_360_000
    words = microseconds(lambda: np.random.RandomState(0).randint(
        0, 2**24, count, dtype=np.uint32), 10) * 1000 / count
    room = minigrad.empty(count)
    numbers = microseconds(room.uniform_, 10) * 1000 / count
    yield f"random weights: words {words:.2f}, numbers {numbers:.2f} ns each"


def of_a_process() -> Iterator[str]:
    """A whole process that imports, what NumPy takes of it, and what there is to import."""
    bare, whole, cut = (
        microseconds(lambda program=program: programs.process(f"import {program}"), 5,
                     time.perf_counter) / 1000
        for program in ("numpy", "minigrad", "minigrad, os; os._exit(0)"))
    modules = programs.process("import sys, minigrad; print(sum("
                               "name.partition('.')[0] == 'minigrad' for name in sys.modules))")
    yield (f"import: Python and NumPy {bare:.0f}, with minigrad {whole:.0f}, its end "
           f"{whole - cut:.0f} ms, {len(REGISTRY)} operations, {int(modules)} modules")


if __name__ == "__main__":
    minigrad.set_num_threads(1)
    for part in (of_small_ops, of_calls, of_products, of_programs, of_copies, of_families,
                 of_random_numbers, of_a_process):
        print(*part(), sep="\n", flush=True)
