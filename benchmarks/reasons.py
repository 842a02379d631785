"""What limits the rows that miss their targets.

`page.py` shows the reasons of the targets that the newest results miss; it asks for one of each.
Figures that stand in no table of the page are those of `python benchmarks/limits.py`.
"""

from __future__ import annotations

__all__ = ["WHY"]

TWO_THREADS = (
    "Matrix products scale, the rest hardly does: copies of windows, normalisation, calls. Threads "
    "of our own for parts of convolutions were tried and not kept. OpenBLAS's threads wait for "
    "the next product in a loop, and take the processor from them.")

#: By the target's name, without `/ PyTorch`.
WHY = {
    "batch 64, 2 threads, minigrad": (
        "Neither library gains by a second thread at this size. Products take 0.33 ms on one."),
    "1x3x224x224, 2 threads, minigrad": TWO_THREADS,
    "8x3x64x64, 2 threads, minigrad": "As for the large image.",
    "1x3x224x224 evaluation, 2 threads, minigrad": "As for a training step.",
    "8x3x64x64 evaluation, 2 threads, minigrad": "As for a training step.",
    "depthwise convolution, one thread, minigrad": (
        "Windows are copied for the product, which takes up to 0.15 ms a time; PyTorch copies "
        "none."),
    "LSTM 50x16, one thread, minigrad": (
        "The products alone take 2.7 ms on NumPy; PyTorch's whole step takes as long, with the "
        "weights packed once for all 50."),
    "tangent kernel, one thread, minigrad": (
        "Inside both batches a derivative is taken for each of the 24 pairs, though its network "
        "sees one of 6 images. Tangents are batched where their values are not."),
    "random weights, one thread, minigrad": (
        "A word of NumPy's Mersenne Twister takes 1.7 ns, a number made of it 2.2. The numbers "
        "have to be PyTorch's."),
    "small hvp, one thread, minigrad": "59 operations and nodes on 100 numbers, 3 µs each.",
    "import and first backward, one thread, minigrad": (
        "385 operations are declared and published at each start, from 441 modules. About a "
        "quarter of the time goes into ending the process."),
    "hessian times a vector": "The same as for the small hvp: calls on 100 numbers.",
    "forward + backward": (
        "Recording takes 1.3 µs an operation, the gradients' formulas 0.56, counting 0.18. Little "
        "is left for the pass itself."),
    "record_shapes, within the block alone": "The shapes of all arguments are read in Python.",
    "with_stack, within the block alone": "Every call on the stack is noted in Python.",
    "profile_memory, within the block alone": "The bytes of results are counted in Python.",
}
