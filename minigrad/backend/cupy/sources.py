"""CUDA kernels, as text: windows as columns, pooling, softmax, layer norm, batch norm, dropout.

They are compiled on first use, once for each element type: `T` is the type in memory and `A` that
of sums and of what norms
remember, which for float16 is float32.  `W` is an integer of an element's size, for kernels that
only move elements.

Everything is written as loops over threads and blocks of any number ("grid-stride"), with sums
of a block in shared memory, so that the same text runs on a CPU where macros stand for CUDA's
words: the tests do that, and compare with NumPy.

Spatial dimensions are always three; those that are missing have size one.
"""

from __future__ import annotations

__all__ = ["HEADER", "KERNELS"]

HEADER = r"""
#ifdef MINIGRAD_HALF
#include <cuda_fp16.h>
typedef __half T;
typedef float A;
__device__ inline A up(T x) { return __half2float(x); }
__device__ inline T down(A x) { return __float2half(x); }
#else
typedef MINIGRAD_T T;
typedef MINIGRAD_T A;
__device__ inline A up(T x) { return x; }
__device__ inline T down(A x) { return x; }
#endif
typedef MINIGRAD_W W;
typedef long long i64;

#define EACH(i, count) \
    i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < (count); \
    i += (i64)gridDim.x * blockDim.x

struct Window { i64 size[3], kernel[3], count[3], stride[3], padding[3], dilation[3]; };

// The block's total of each thread's value, in every thread; `room` has blockDim.x places.
__device__ inline A block_sum(A value, A* room) {
    __syncthreads();
    room[threadIdx.x] = value;
    __syncthreads();
    for (unsigned reach = blockDim.x / 2; reach; reach /= 2) {
        if (threadIdx.x < reach) room[threadIdx.x] += room[threadIdx.x + reach];
        __syncthreads();
    }
    return room[0];
}

// The block's largest value; NaN where one is NaN.
__device__ inline A block_max(A value, A* room) {
    __syncthreads();
    room[threadIdx.x] = value;
    __syncthreads();
    for (unsigned reach = blockDim.x / 2; reach; reach /= 2) {
        if (threadIdx.x < reach) {
            A other = room[threadIdx.x + reach], own = room[threadIdx.x];
            if (other > own || other != other) room[threadIdx.x] = other;
        }
        __syncthreads();
    }
    return room[0];
}
"""

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
    i64 taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    i64 plane = w.size[0] * w.size[1] * w.size[2];
    for (EACH(i, planes * steps)) {
        const T* own = x + i / steps * plane;
        i64 best = -1;
        A most = 0;
        for (i64 tap = 0; tap < taps; tap++) {
            i64 at = i % steps, k = tap, place = 0, scale = 1;
            bool inside = true;
            for (int d = 2; d >= 0; d--) {
                i64 p = at % w.count[d] * w.stride[d] - w.padding[d]
                        + k % w.kernel[d] * w.dilation[d];
                at /= w.count[d];
                k /= w.kernel[d];
                inside = inside && p >= 0 && p < w.size[d];
                place += p * scale;
                scale *= w.size[d];
            }
            if (!inside) continue;
            A value = up(own[place]);
            if (best < 0 || value > most || value != value) { best = place; most = value; }
        }
        values[i] = down(most);
        indices[i] = best;
    }
}
""",
    "softmax": r"""
// Rows of `inner` stride: element j of row r is at (r / inner) * length * inner + r % inner
// + j * inner.  One block for each row.
extern "C" __global__ void softmax(const T* x, T* result, i64 rows, i64 length, i64 inner,
                                   int logarithm) {
    SHARED(A, room);
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 start = r / inner * length * inner + r % inner;
        A most = up(x[start]);
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            A value = up(x[start + j * inner]);
            if (value > most || value != value) most = value;
        }
        most = block_max(most, room);
        A total = 0;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x)
            total += exp(up(x[start + j * inner]) - most);
        total = block_sum(total, room);
        A shift = most + log(total);
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            i64 at = start + j * inner;
            result[at] = down(logarithm ? up(x[at]) - shift : exp(up(x[at]) - most) / total);
        }
    }
}
""",
    "layer_norm": r"""
extern "C" __global__ void layer_norm(const T* x, const A* weight, const A* bias, T* result,
                                      A* mean, A* rstd, i64 rows, i64 length, double eps) {
    SHARED(A, room);
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        const T* own = x + r * length;
        A total = 0;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) total += up(own[j]);
        A middle = block_sum(total, room) / length;
        A squares = 0;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            A off = up(own[j]) - middle;
            squares += off * off;
        }
        A scale = 1 / sqrt(block_sum(squares, room) / length + (A)eps);
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            A value = (up(own[j]) - middle) * scale;
            if (weight) value *= weight[j];
            if (bias) value += bias[j];
            result[r * length + j] = down(value);
        }
        if (threadIdx.x == 0) { mean[r] = middle; rstd[r] = scale; }
    }
}
""",
    "channel_moments": r"""
// Mean and 1 / sqrt(variance + eps) of each channel of (batch, channels, inner); a block each.
extern "C" __global__ void channel_moments(const T* x, A* mean, A* var, A* invstd, i64 batch,
                                           i64 channels, i64 inner, double eps) {
    SHARED(A, room);
    i64 count = batch * inner;
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A total = 0;
        for (i64 i = threadIdx.x; i < count; i += blockDim.x)
            total += up(x[(i / inner * channels + c) * inner + i % inner]);
        A middle = block_sum(total, room) / count;
        A squares = 0;
        for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
            A off = up(x[(i / inner * channels + c) * inner + i % inner]) - middle;
            squares += off * off;
        }
        A spread = block_sum(squares, room) / count;
        if (threadIdx.x == 0) {
            mean[c] = middle;
            var[c] = spread;
            invstd[c] = 1 / sqrt(spread + (A)eps);
        }
    }
}
""",
    "channel_normalize": r"""
extern "C" __global__ void channel_normalize(const T* x, const A* mean, const A* invstd,
                                             const A* weight, const A* bias, T* result, i64 size,
                                             i64 channels, i64 inner) {
    for (EACH(i, size)) {
        i64 c = i / inner % channels;
        A scale = invstd[c];
        if (weight) scale *= weight[c];
        A value = (up(x[i]) - mean[c]) * scale;
        result[i] = down(bias ? value + bias[c] : value);
    }
}
""",
    "channel_products": r"""
// The sums of g and of g (x - mean) over each channel; a block each.
extern "C" __global__ void channel_products(const T* g, const T* x, const A* mean, A* sums,
                                            A* products, i64 batch, i64 channels, i64 inner) {
    SHARED(A, room);
    i64 count = batch * inner;
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A middle = mean[c], sum = 0, product = 0;
        for (i64 i = threadIdx.x; i < count; i += blockDim.x) {
            i64 at = (i / inner * channels + c) * inner + i % inner;
            sum += up(g[at]);
            product += up(g[at]) * (up(x[at]) - middle);
        }
        sum = block_sum(sum, room);
        product = block_sum(product, room);
        if (threadIdx.x == 0) { sums[c] = sum; products[c] = product; }
    }
}
""",
    "channel_gradient": r"""
extern "C" __global__ void channel_gradient(const T* g, const T* x, const A* mean,
                                            const A* invstd, const A* weight, const A* sums,
                                            const A* products, T* result, i64 size, i64 channels,
                                            i64 inner, i64 count) {
    for (EACH(i, size)) {
        i64 c = i / inner % channels;
        A scale = invstd[c];
        A along = products[c] * scale * scale / count;
        A value = up(g[i]) - sums[c] / count - (up(x[i]) - mean[c]) * along;
        result[i] = down(value * scale * (weight ? weight[c] : (A)1));
    }
}
""",
}
