"""What limits the rows that miss their targets, each with the measurement that shows it.

`page.py` shows the reasons of the targets that the newest results miss; it asks for one of each.
"""

from __future__ import annotations

__all__ = ["WHY"]

TWO_THREADS = (
    "Products scale, from 61.9 to 33.6 ms; copies of windows, normalisation and the rest hardly "
    "do. Parts of convolutions on threads of our own, each with one BLAS thread, were tried. All "
    "convolutions by themselves take 43 ms then, and 65 on one thread. But a step gains 10 % only, "
    "and loses 11 % where one other product runs on BLAS's threads. Those wait for the next one "
    "in a loop, 2^26 cycles or 25 ms long.")
SAMPLES = (
    "Calls, not arithmetic: the kernels take 96 of the 390 µs of the Jacobians; the rest is Python "
    "that leads each operation through the rule for batches.")

#: By the target's name, without `/ PyTorch`.
WHY = {
    "batch 64, 2 threads, minigrad": (
        "Neither library gains by a second thread at this size: a step of PyTorch takes 0.84 ms on "
        "one and 0.91 on two. Products take 308 of our 685 µs; sharing them out costs as much."),
    "1x3x224x224, 2 threads, minigrad": TWO_THREADS,
    "8x3x64x64, 2 threads, minigrad": (
        "As for the large image: products go from 43.4 to 25.1 ms, the rest hardly gains."),
    "depthwise convolution, one thread, minigrad": (
        "Copying the windows takes 60 µs; PyTorch's whole convolution takes 69 and copies none."),
    "LSTM 50x16, one thread, minigrad": (
        "Matrix products alone, near the processor's peak, take 2.15 ms; PyTorch's whole step "
        "takes 2.67, with the weights packed once for all 50."),
    "multinomial, one thread, minigrad": (
        "Exponential numbers are drawn by several NumPy calls over the array, and by PyTorch in "
        "one loop that gives the same numbers."),
    "gradients of samples, one thread, minigrad": SAMPLES,
    "jacobians of samples, one thread, minigrad": SAMPLES,
    "tangent kernel, one thread, minigrad": (
        "305 operations go through three levels of batches and tangents, which takes 7 to 8 ms of "
        "Python. Their kernels take 11.5 ms, as tangents are batched where their values are not."),
    "random weights, one thread, minigrad": (
        "NumPy's Mersenne Twister takes 1.65 ns a word, PyTorch's whole filling 2.1, and both have "
        "to give the same numbers."),
    "small hvp, one thread, minigrad": (
        "27 operations of 1.1 µs and 24 steps of the passes take 75 µs, finding the passes 35, "
        "checks and preparation about 40; PyTorch takes 110 in all."),
    "hessian times a vector": "The same as for the small hvp: calls on 100 numbers.",
    "forward + backward": (
        "Forward takes 1.2 µs an operation, the gradients' formulas 0.6, counting 0.2: 0.53 of "
        "PyTorch's time before the engine has moved anything. NumPy alone needs 0.36 for them."),
    "record_shapes, within the block alone": (
        "The shapes of all arguments are read in Python, which takes 0.8 µs an event."),
    "with_stack, within the block alone": (
        "Every call on the stack is noted in Python, which takes 2.6 µs an event."),
    "profile_memory, within the block alone": (
        "The memory in use is asked for in Python, which takes 1.5 µs an event."),
}
