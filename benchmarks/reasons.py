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

#: Why families of everyday work miss their targets, by family: the same for the mean and the
#: largest ratio.
FAMILIES = {
    "indexing": (
        "Python code takes the index apart, records it and adds the gradient to zeros. For a list "
        "of 15 rows of 8 numbers, a sum and both passes take 0.16 ms. Reading without a graph is "
        "as fast as in PyTorch."),
    "joining and choosing": (
        "NumPy and minigrad check a list of arrays in Python, so `cat` of two arrays of twenty "
        "numbers takes 13 µs."),
    "reductions": (
        "NumPy starts a loop for each row, which costs more than short rows do: `amax` of 1000 "
        "rows of 50 numbers takes 57 µs. Its `cumsum` adds one number at a time, which takes 3.3 "
        "ms for a million."),
    "convolution": (
        "minigrad copies the windows into a matrix before each product. With few channels, the "
        "copy takes as long as the product. PyTorch doesn't copy."),
    "depthwise convolution": (
        "minigrad copies the windows before each product, while PyTorch computes on the image as "
        "it is. With a stride, the gradient of the input also has to be spread out again."),
    "transposed convolution": (
        "The windows of the result are added one kernel position after the other, which costs "
        "most for small images."),
    "normalization and pooling": (
        "A call on small images costs what the calls to NumPy cost: average pooling of 16 images "
        "of 8x8 takes 41 µs. On large ones, NumPy makes a pass over memory for each step of a "
        "formula, where PyTorch makes two in all."),
    "recurrent networks": (
        "The forward pass of a small LSTM takes 0.94 ms for 50 steps, so 19 µs a step, for about "
        "forty calls on a few numbers each."),
    "small matrix products": (
        "A step of an LSTM cell runs many small operations and their nodes, each of which takes "
        "one to two microseconds in both passes."),
    "losses": (
        "`nll_loss` picks an element of each row by index, and `log_softmax` over two columns "
        "makes passes over rows that are too short for NumPy's vector code: 5.8 ms for 100,000 "
        "rows."),
    "convolutions by vmap": "The copies of windows are the same as for other convolutions.",
    "tangent kernels": (
        "Inside two nested batches, minigrad computes a derivative for each pair of images, even "
        "though each call to the network sees images from only one of the two batches. This "
        "happens because minigrad batches a tangent even when its value isn't batched."),
    "products with derivatives": (
        "The second backward pass runs about sixty operations and nodes on few numbers, each of "
        "which takes about 4 µs."),
    "data loading": (
        "A data set's own `__getitem__` indexes a tensor for each sample, and `stack` joins them. "
        "A `TensorDataset` reads whole batches."),
    "random numbers": (
        "How many words a gamma, beta or Poisson number takes depends on the words before it, and "
        "each swap of `randperm` depends on the swaps before. To match PyTorch's numbers, "
        "minigrad draws them one after the other, in Python: 18 ms for a permutation of 100,000."),
    "initial weights": (
        "Normal numbers have to round where PyTorch's fused multiply-add does. NumPy lacks it, so "
        "minigrad computes each step in float64 and rounds it: 17 ns for each number. LAPACK's QR "
        "decomposition takes most of `orthogonal_`."),
}

#: By the target's name, without `/ PyTorch`.
WHY = {
    **{f"{name}, {what}": reason for name, reason in FAMILIES.items()
       for what in ("mean", "largest ratio")},
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
    "hessian times a vector": (
        "Computing this product runs 58 operations and nodes on 100 numbers, and each of them "
        "takes 3 µs."),
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
