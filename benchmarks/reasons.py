"""Reasons why rows miss their targets.

`page.py` shows the reason for each target that the newest results miss, and fails if one is absent.
`python benchmarks/limits.py` measures the figures that are in no table of the page.
"""

from __future__ import annotations

__all__ = ["WHY"]

TWO_THREADS = (
    "A second thread speeds up only the matrix products. It makes hardly any difference for "
    "copying windows, for normalization and for calls. We tried running parts of the convolutions "
    "on threads that we started ourselves, but this didn't help, because OpenBLAS's threads "
    "busy-wait for the next product and keep the processor occupied.")

#: By the target's name, without `/ PyTorch`.
WHY = {
    "network 784-256-128-10, batch 64: compiled": (
        "The matrix products in OpenBLAS alone take 0.77 ms, longer than 0.6 of PyTorch's step, "
        "and a program calls the same ones."),
    "GPT, 16 sequences of 64: compiled": (
        "The matrix products in OpenBLAS alone take 49 ms, longer than 0.6 of PyTorch's step, and "
        "the error function in GELU takes another 7 ms."),
    "LSTM 64-128, 50 steps, batch 16: compiled": (
        "The whole layer is a single operation, so there is little to save. Its matrix products "
        "take 5.3 ms, and PyTorch's whole step 6 ms."),
    "GELU, dropout, layer norm on 10^6: compiled / eager": (
        "The error function takes 3 ms and drawing random numbers 4.5 ms of the compiled step's "
        "15 ms, and a step in eager mode draws the same numbers. Since the error function became "
        "four times as fast, there is also less to gain by sharing it between the passes."),
    "time of the GPT: budget 0.375 / saving everything": (
        "To halve the bytes, all four blocks have to compute the error function and the attention "
        "weights again. Each of the two takes 8% of a step, because it costs about 1 ms to get "
        "one megabyte back. On an idle machine, we measured between 1.13 and 1.16."),
    "map of operations, geometric mean forward": (
        "NumPy makes one pass over memory for each step of a formula, and PyTorch makes one for "
        "the whole formula. Working in blocks that stay in the cache gained nothing here."),
    "map of operations, geometric mean forward and backward": (
        "The reason is the same as for the forward pass."),
    "map of operations, largest ratio": (
        "The error function takes most of GELU's time. NumPy lacks it, so minigrad computes two "
        "polynomials and an exponential, each in several passes."),
    "batch 64, 2 threads, minigrad": (
        "At this size, neither library benefits from a second thread. On a single thread, the "
        "matrix products take 0.33 ms."),
    "1x3x224x224, 2 threads, minigrad": TWO_THREADS,
    "8x3x64x64, 2 threads, minigrad": "The reason is the same as for the large image.",
    "1x3x224x224 evaluation, 2 threads, minigrad": "The reason is the same as for a training step.",
    "8x3x64x64 evaluation, 2 threads, minigrad": "The reason is the same as for a training step.",
    "depthwise convolution, one thread, minigrad": (
        "minigrad copies the windows before each product, which takes up to 0.15 ms, while "
        "PyTorch doesn't have to copy anything."),
    "LSTM 50x16, one thread, minigrad": (
        "The matrix products alone take 2.7 ms in NumPy. PyTorch finishes the whole step in this "
        "time, because it packs the weights just once for all 50 time steps."),
    "tangent kernel, one thread, minigrad": (
        "Inside two nested batches, minigrad computes a derivative for each of the 24 pairs, even "
        "though each call to the network sees images from only one of the two batches. This "
        "happens because minigrad batches a tangent even when its value isn't batched."),
    "random weights, one thread, minigrad": (
        "Of the 2.2 ns that minigrad needs for a random number, NumPy's Mersenne Twister already "
        "takes 1.7 ns to generate a word. minigrad can't switch to a faster generator, because the "
        "numbers have to match the ones in PyTorch."),
    "small hvp, one thread, minigrad": (
        "Computing this product runs 59 operations and nodes on 100 numbers, and each of them "
        "takes 3 µs."),
    "import and first backward, one thread, minigrad": (
        "At the time of this measurement, each start declared and published 385 operations from "
        "441 modules, and about a quarter of the time was spent on ending the process. Today, "
        "minigrad doesn't load an operation until a program first uses its name."),
    "hessian times a vector": (
        "As with the small hvp, the time is spent on calls that process only 100 numbers."),
    "forward + backward": (
        "For each operation, recording takes 1.3 µs, the gradient formulas take 0.56 µs and "
        "counting takes 0.18 µs, so little time is left for the pass itself."),
    "record_shapes, within the block alone": (
        "minigrad uses Python code to read the shapes of the arguments."),
    "with_stack, within the block alone": (
        "minigrad uses Python code to record every call on the stack."),
    "profile_memory, within the block alone": (
        "minigrad uses Python code to count the bytes in the results."),
}
