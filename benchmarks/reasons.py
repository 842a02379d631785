"""Reasons why rows miss their targets.

`page.py` shows the reason for each target that the newest results miss, and fails if one is absent.
`python benchmarks/limits.py` measures the figures that are in no table of the page.
"""

from __future__ import annotations

__all__ = ["WHY"]

TWO_THREADS = (
    "Only the matrix products get faster with a second thread. Copying windows, normalisation and "
    "calls hardly do. Running parts of convolutions on our own threads did not help: OpenBLAS's "
    "threads busy-wait for the next product and take the processor from them.")

#: By the target's name, without `/ PyTorch`.
WHY = {
    "batch 64, 2 threads, minigrad": (
        "Neither library gains from a second thread at this size. The products take 0.33 ms on "
        "one."),
    "1x3x224x224, 2 threads, minigrad": TWO_THREADS,
    "8x3x64x64, 2 threads, minigrad": "The same as for the large image.",
    "1x3x224x224 evaluation, 2 threads, minigrad": "The same as for a training step.",
    "8x3x64x64 evaluation, 2 threads, minigrad": "The same as for a training step.",
    "depthwise convolution, one thread, minigrad": (
        "minigrad copies the windows before each product, which takes up to 0.15 ms. PyTorch "
        "copies nothing."),
    "LSTM 50x16, one thread, minigrad": (
        "The products alone take 2.7 ms in NumPy. PyTorch's whole step takes as long, because it "
        "packs the weights once for all 50 time steps."),
    "tangent kernel, one thread, minigrad": (
        "In two nested batches, minigrad takes a derivative for each of the 24 pairs, although its "
        "network sees only one of 6 images: a tangent is batched even if its value is not."),
    "random weights, one thread, minigrad": (
        "NumPy's Mersenne Twister needs 1.7 ns for a word, and minigrad 2.2 ns for a number made "
        "from one. It cannot use another generator, because the numbers have to be PyTorch's."),
    "small hvp, one thread, minigrad": "It runs 59 operations and nodes on 100 numbers, 3 µs each.",
    "import and first backward, one thread, minigrad": (
        "When this was measured, each start declared and published 385 operations from 441 "
        "modules, and ending the process took about a quarter of the time. Now minigrad loads an "
        "operation when a program first names it."),
    "hessian times a vector": "The same as for the small hvp: calls on 100 numbers.",
    "forward + backward": (
        "For each operation, recording takes 1.3 µs, the gradient formulas 0.56 µs and counting "
        "0.18 µs, so little is left for the pass itself."),
    "record_shapes, within the block alone": "minigrad reads the arguments' shapes in Python.",
    "with_stack, within the block alone": "minigrad records every call on the stack in Python.",
    "profile_memory, within the block alone": "minigrad counts the bytes of results in Python.",
}
