"""CUDA kernels for windows: copied to columns and back, and the maximum of each.

See `sources` for their conventions.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "im2col": r"""
// Element (n, row, step) of the columns goes to n * by_sample + row * by_row + step.  A row is one
// channel at one place of the kernel; a block takes a piece of `share` steps of one.
extern "C" __global__ void im2col(const W* x, W* columns, i64 batch, i64 channels, Window w,
                                  i64 by_sample, i64 by_row, i64 pieces, i64 share) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (i64 b = blockIdx.x; b < batch * channels * taps * pieces; b += gridDim.x) {
        i64 start = b % pieces * share, row = b / pieces % (channels * taps);
        i64 n = b / pieces / (channels * taps), rest = row % taps, from[3];
        const W* own = x + (n * channels + row / taps) * plane;
        W* out = columns + n * by_sample + row * by_row;
        for (int d = 2; d >= 0; d--) {
            from[d] = rest % w.kernel[d] * w.dilation[d] - w.padding[d];
            rest /= w.kernel[d];
        }
        i64 stop = start + share < steps ? start + share : steps;
        for (i64 step = start + threadIdx.x; step < stop; step += blockDim.x) {
            i64 at = step, place = 0, scale = 1;
            bool inside = true;
            for (int d = 2; d >= 0; d--) {
                i64 after = w.count[d] == 1 ? at : at / w.count[d];
                i64 p = (at - after * w.count[d]) * w.stride[d] + from[d];
                inside = inside && p >= 0 && p < w.size[d];
                place += p * scale;
                scale *= w.size[d];
                at = after;
            }
            out[step] = inside ? own[place] : (W)0;
        }
    }
}
""",
    "col2im": r"""
// Each element sums what it is in all windows that hold it: no two threads write to one place.
// The windows that may hold it are those from `low` to `high`.
extern "C" __global__ void col2im(const T* columns, T* x, i64 batch, i64 channels, Window w) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (EACH(i, batch * channels * plane)) {
        i64 low[3], high[3], last[3], rest = i % plane;
        const T* own = columns + i / plane * taps * steps;
        for (int d = 2; d >= 0; d--) {
            windows_of(w, d, rest, low[d], high[d], last[d]);
            rest /= w.size[d];
        }
        A total = 0;
        for (i64 a = low[0]; a <= high[0]; a++) {
            i64 p = tap_of(w, 0, last[0] - a * w.stride[0]);
            for (i64 b = low[1]; p >= 0 && b <= high[1]; b++) {
                i64 q = tap_of(w, 1, last[1] - b * w.stride[1]);
                for (i64 c = low[2]; q >= 0 && c <= high[2]; c++) {
                    i64 r = tap_of(w, 2, last[2] - c * w.stride[2]);
                    if (r < 0) continue;
                    i64 tap = (p * w.kernel[1] + q) * w.kernel[2] + r;
                    total += up(own[tap * steps + (a * w.count[1] + b) * w.count[2] + c]);
                }
            }
        }
        x[i] = down(total);
    }
}
""",
    "max_pool": r"""
// The first of equal maxima, the last NaN; of a window of nothing but -inf its first element.
extern "C" __global__ void max_pool(const T* x, T* values, i64* indices, i64 planes, Window w) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (EACH(i, planes * steps)) {
        const T* own = x + i / steps * plane;
        i64 first[3], rest = i % steps, best = -1;
        for (int d = 2; d >= 0; d--) {
            first[d] = rest % w.count[d] * w.stride[d] - w.padding[d];
            rest /= w.count[d];
        }
        A most = 0;
        for (i64 a = 0, p = first[0]; a < w.kernel[0]; a++, p += w.dilation[0]) {
            if (p < 0 || p >= w.size[0]) continue;
            for (i64 b = 0, q = first[1]; b < w.kernel[1]; b++, q += w.dilation[1]) {
                if (q < 0 || q >= w.size[1]) continue;
                for (i64 c = 0, r = first[2]; c < w.kernel[2]; c++, r += w.dilation[2]) {
                    if (r < 0 || r >= w.size[2]) continue;
                    i64 place = (p * w.size[1] + q) * w.size[2] + r;
                    A value = up(own[place]);
                    if (best < 0 || value > most || value != value) { best = place; most = value; }
                }
            }
        }
        values[i] = down(most);
        indices[i] = best;
    }
}
""",
    "max_pool_gradient": r"""
// Each element sums the gradients of the windows whose maximum it was: no two threads write to one
// place.  The windows that may hold it are those from `low` to `high`.
extern "C" __global__ void max_pool_gradient(const T* g, const i64* indices, T* result, i64 planes,
                                             Window w) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (EACH(i, planes * plane)) {
        i64 low[3], high[3], last[3], own = i % plane, rest = own, first = i / plane * steps;
        for (int d = 2; d >= 0; d--) {
            windows_of(w, d, rest, low[d], high[d], last[d]);
            rest /= w.size[d];
        }
        A total = 0;
        for (i64 a = low[0]; a <= high[0]; a++)
            for (i64 b = low[1]; b <= high[1]; b++)
                for (i64 c = low[2]; c <= high[2]; c++) {
                    i64 step = first + (a * w.count[1] + b) * w.count[2] + c;
                    if (indices[step] == own) total += up(g[step]);
                }
        result[i] = down(total);
    }
}
""",
}
