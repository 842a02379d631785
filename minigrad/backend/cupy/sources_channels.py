"""CUDA kernels of batch norm on (batch, channels, inner), with sums over each channel.

Channels are few and long, so a block sums over `share` elements of one channel, and a second kernel
adds the parts.

See `sources` for their conventions.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "channel_parts": r"""
// The mean of each part of a channel and the sum of squares around it.  A block reads its part
// twice, the second time from the cache.
extern "C" __global__ void channel_parts(const T* x, A* found, i64 batch, i64 channels, i64 inner,
                                         i64 parts, i64 share) {
    SHARED(A, room);
    for (i64 b = blockIdx.x; b < parts * channels; b += gridDim.x) {
        i64 c = b % channels, start = b / channels * share, stop = start + share;
        if (stop > batch * inner) stop = batch * inner;
        A total = 0;
        UNROLLED
        for (EACH_OF_CHANNEL(n, s, start, stop)) total += up(x[(n * channels + c) * inner + s]);
        A middle = block_sum(total, room) / (stop - start), squares = 0;
        UNROLLED
        for (EACH_OF_CHANNEL(n, s, start, stop)) {
            A off = up(x[(n * channels + c) * inner + s]) - middle;
            squares += off * off;
        }
        squares = block_sum(squares, room);
        if (threadIdx.x == 0) { found[2 * b] = middle; found[2 * b + 1] = squares; }
    }
}
""",
    "channel_moments": r"""
// Mean, variance and 1 / sqrt(variance + eps) of each channel, from its parts; a block each.
extern "C" __global__ void channel_moments(const A* found, A* mean, A* var, A* invstd,
                                           i64 channels, i64 count, i64 parts, i64 share,
                                           double eps) {
    SHARED(A, room);
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A total = 0, squares = 0;
        for (i64 p = threadIdx.x; p < parts; p += blockDim.x)
            total += found[2 * (p * channels + c)] * (p < parts - 1 ? share : count - p * share);
        A middle = block_sum(total, room) / count;
        for (i64 p = threadIdx.x; p < parts; p += blockDim.x) {
            A off = found[2 * (p * channels + c)] - middle;
            squares += found[2 * (p * channels + c) + 1]
                       + off * off * (p < parts - 1 ? share : count - p * share);
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
    "move_moments": r"""
// Moves running moments towards the batch's.
extern "C" __global__ void move_moments(A* running_mean, A* running_var, const A* mean,
                                        const A* var, i64 channels, double momentum,
                                        double of_var) {
    for (EACH(c, channels)) {
        if (running_mean)
            running_mean[c] = running_mean[c] * (A)(1 - momentum) + mean[c] * (A)momentum;
        if (running_var)
            running_var[c] = running_var[c] * (A)(1 - momentum) + var[c] * (A)of_var;
    }
}
""",
    "channel_normalize": r"""
template <int many>
__device__ inline void normalize(const T* x, const A* mean, const A* invstd, const A* weight,
                                 const A* bias, T* result, i64 size, i64 channels, i64 inner) {
    for (EACH(i, size / many)) {
        i64 c = i * many / inner % channels;
        A middle = mean[c], scale = invstd[c], above = bias ? bias[c] : (A)0;
        if (weight) scale *= weight[c];
        Group<many> own = ((const Group<many>*)x)[i];
        for (int k = 0; k < many; k++) own.of[k] = down((up(own.of[k]) - middle) * scale + above);
        ((Group<many>*)result)[i] = own;
    }
}

extern "C" __global__ void channel_normalize(const T* x, const A* mean, const A* invstd,
                                             const A* weight, const A* bias, T* result, i64 size,
                                             i64 channels, i64 inner, i64 many) {
    if (many == 4) normalize<4>(x, mean, invstd, weight, bias, result, size, channels, inner);
    else normalize<1>(x, mean, invstd, weight, bias, result, size, channels, inner);
}
""",
    "channel_products": r"""
// The sums of g and of g (x - mean) over each part of a channel; a block each.
extern "C" __global__ void channel_products(const T* g, const T* x, const A* mean, A* found,
                                            i64 batch, i64 channels, i64 inner, i64 parts,
                                            i64 share) {
    SHARED(A, room);
    for (i64 b = blockIdx.x; b < parts * channels; b += gridDim.x) {
        i64 c = b % channels, start = b / channels * share, stop = start + share;
        if (stop > batch * inner) stop = batch * inner;
        A middle = mean[c], sum = 0, product = 0;
        UNROLLED
        for (EACH_OF_CHANNEL(n, s, start, stop)) {
            i64 here = (n * channels + c) * inner + s;
            A above = up(g[here]);
            sum += above;
            product += above * (up(x[here]) - middle);
        }
        sum = block_sum(sum, room);
        product = block_sum(product, room);
        if (threadIdx.x == 0) { found[2 * b] = sum; found[2 * b + 1] = product; }
    }
}
""",
    "channel_totals": r"""
// The gradients by bias and weight of each channel, from the sums of its parts; a block each.
extern "C" __global__ void channel_totals(const A* found, const A* invstd, A* of_bias,
                                          A* of_weight, i64 channels, i64 parts) {
    SHARED(A, room);
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A sum = 0, product = 0;
        for (i64 p = threadIdx.x; p < parts; p += blockDim.x) {
            sum += found[2 * (p * channels + c)];
            product += found[2 * (p * channels + c) + 1];
        }
        sum = block_sum(sum, room);
        product = block_sum(product, room);
        if (threadIdx.x == 0) { of_bias[c] = sum; of_weight[c] = product * invstd[c]; }
    }
}
""",
    "channel_gradient": r"""
template <int many>
__device__ inline void derive(const T* g, const T* x, const A* mean, const A* invstd,
                              const A* weight, const A* of_bias, const A* of_weight, T* result,
                              i64 size, i64 channels, i64 inner, i64 count) {
    for (EACH(i, size / many)) {
        i64 c = i * many / inner % channels;
        A middle = mean[c], scale = invstd[c], even = of_bias[c] / count;
        A along = of_weight[c] * scale / count, factor = weight ? scale * weight[c] : scale;
        Group<many> above = ((const Group<many>*)g)[i], own = ((const Group<many>*)x)[i];
        for (int k = 0; k < many; k++)
            own.of[k] = down((up(above.of[k]) - even - (up(own.of[k]) - middle) * along) * factor);
        ((Group<many>*)result)[i] = own;
    }
}

extern "C" __global__ void channel_gradient(const T* g, const T* x, const A* mean,
                                            const A* invstd, const A* weight, const A* of_bias,
                                            const A* of_weight, T* result, i64 size, i64 channels,
                                            i64 inner, i64 count, i64 many) {
    if (many == 4) derive<4>(g, x, mean, invstd, weight, of_bias, of_weight, result, size,
                             channels, inner, count);
    else derive<1>(g, x, mean, invstd, weight, of_bias, of_weight, result, size, channels, inner,
                   count);
}
""",
}
