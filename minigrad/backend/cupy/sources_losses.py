"""CUDA kernels of the negative log likelihood, forward and backward.

See `sources` for their conventions.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "nll_sums": r"""
// What the targets of each part lose, and what they count: two sums.  Row r is sample r / inner at
// place r % inner.  Without x only the counts are summed.  A single part is the loss, too.
extern "C" __global__ void nll_sums(const T* x, const i64* target, const T* weight, A* sums,
                                    T* result, bool* wrong, i64 rows, i64 classes, i64 inner,
                                    i64 ignored, i64 parts, int mean) {
    SHARED(A, room);
    for (i64 part = blockIdx.x; part < parts; part += gridDim.x) {
        A loss = 0, count = 0;
        for (i64 r = part * blockDim.x + threadIdx.x; r < rows; r += parts * blockDim.x) {
            i64 t = target[r];
            if (t == ignored) continue;
            if (t < 0 || t >= classes) { if (wrong) *wrong = true; continue; }
            A own = weight ? up(weight[t]) : (A)1;
            count += own;
            if (x && own != 0) loss -= up(x[(r / inner * classes + t) * inner + r % inner]) * own;
        }
        loss = block_sum(loss, room);
        count = block_sum(count, room);
        if (threadIdx.x == 0) {
            sums[2 * part] = loss;
            sums[2 * part + 1] = count;
            if (result) *result = down(mean ? loss / count : loss);
        }
    }
}
""",
    "nll_total": r"""
// The loss, from the sums of all parts; each block does the same.
extern "C" __global__ void nll_total(const A* sums, T* result, i64 parts, int mean) {
    SHARED(A, room);
    A loss = 0, count = 0;
    for (i64 i = threadIdx.x; i < parts; i += blockDim.x) {
        loss += sums[2 * i];
        count += sums[2 * i + 1];
    }
    loss = block_sum(loss, room);
    count = block_sum(count, room);
    if (threadIdx.x == 0) *result = down(mean ? loss / count : loss);
}
""",
    "nll_each": r"""
// What each target loses.
extern "C" __global__ void nll_each(const T* x, const i64* target, const T* weight, T* result,
                                    bool* wrong, i64 rows, i64 classes, i64 inner, i64 ignored) {
    for (EACH(r, rows)) {
        i64 t = target[r];
        A loss = 0;
        if (t != ignored && (t < 0 || t >= classes)) {
            if (wrong) *wrong = true;
        } else if (t != ignored) {
            A own = weight ? up(weight[t]) : (A)1;
            if (own != 0) loss = -up(x[(r / inner * classes + t) * inner + r % inner]) * own;
        }
        result[r] = down(loss);
    }
}
""",
    "nll_gradient": r"""
// g is one number, or one for each row.  Of a mean each block adds up what counts: `parts` sums of
// `nll_sums`, or the `rows` themselves where they are few.
extern "C" __global__ void nll_gradient(const T* g, const i64* target, const T* weight,
                                        const A* sums, T* result, i64 size, i64 classes, i64 inner,
                                        i64 ignored, i64 parts, i64 rows, int of_rows) {
    SHARED(A, room);
    A count = 1, counted = 0;
    for (i64 i = threadIdx.x; i < parts; i += blockDim.x) counted += sums[2 * i + 1];
    for (i64 r = threadIdx.x; r < rows; r += blockDim.x) {
        i64 t = target[r];
        if (t != ignored && t >= 0 && t < classes) counted += weight ? up(weight[t]) : (A)1;
    }
    if (parts || rows) count = block_sum(counted, room);
    for (EACH(i, size)) {
        i64 c = i / inner % classes, r = i / inner / classes * inner + i % inner;
        A value = 0;
        if (target[r] == c && c != ignored) {
            A own = weight ? up(weight[c]) : (A)1;
            value = own * (-up(g[of_rows ? r : 0]) / count);
        }
        result[i] = down(value);
    }
}
""",
}
