"""CUDA kernels of windows: as columns and back, and the maximum of each.

Spoken of in `sources`, where what they share is.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "im2col": r"""
// Element (n, row, step) of the columns goes to n * by_sample + row * by_row + step.
extern "C" __global__ void im2col(const W* x, W* columns, i64 batch, i64 channels, Window w,
                                  i64 by_sample, i64 by_row) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    for (EACH(i, batch * channels * taps * steps)) {
        i64 step = i % steps, row = i / steps % (channels * taps);
        i64 n = i / steps / (channels * taps);
        i64 rest = row % taps, at = step, place = 0, scale = 1;
        bool inside = true;
        for (int d = 2; d >= 0; d--) {
            i64 p = at % w.count[d] * w.stride[d] - w.padding[d]
                    + rest % w.kernel[d] * w.dilation[d];
            at /= w.count[d];
            rest /= w.kernel[d];
            inside = inside && p >= 0 && p < w.size[d];
            place += p * scale;
            scale *= w.size[d];
        }
        columns[n * by_sample + row * by_row + step] =
            inside ? x[(n * channels + row / taps) * scale + place] : (W)0;
    }
}
""",
    "col2im": r"""
// Each element sums what it is in all windows that hold it: no two threads write to one place.
extern "C" __global__ void col2im(const T* columns, T* x, i64 batch, i64 channels, Window w) {
    i64 steps = w.count[0] * w.count[1] * w.count[2];
    i64 taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (EACH(i, batch * channels * plane)) {
        i64 at[3], rest = i % plane, channel = i / plane;
        for (int d = 2; d >= 0; d--) { at[d] = rest % w.size[d]; rest /= w.size[d]; }
        A total = 0;
        for (i64 tap = 0; tap < taps; tap++) {
            i64 k = tap, step = 0, scale = 1;
            bool met = true;
            for (int d = 2; d >= 0; d--) {
                i64 p = at[d] + w.padding[d] - k % w.kernel[d] * w.dilation[d];
                k /= w.kernel[d];
                met = met && p >= 0 && p % w.stride[d] == 0 && p / w.stride[d] < w.count[d];
                step += p / w.stride[d] * scale;
                scale *= w.count[d];
            }
            if (met) total += up(columns[(channel * taps + tap) * steps + step]);
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
        i64 low[3], high[3], own = i % plane, rest = own, first = i / plane * steps;
        for (int d = 2; d >= 0; d--) {
            i64 last = rest % w.size[d] + w.padding[d];
            i64 reach = last - (w.kernel[d] - 1) * w.dilation[d];
            low[d] = reach > 0 ? (reach + w.stride[d] - 1) / w.stride[d] : 0;
            high[d] = last / w.stride[d];
            if (high[d] >= w.count[d]) high[d] = w.count[d] - 1;
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
