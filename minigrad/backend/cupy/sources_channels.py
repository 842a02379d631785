"""CUDA kernels of batch norm: (batch, channels, inner) and its sums over each channel.

Spoken of in `sources`, where what they share is.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "channel_moments": r"""
// Mean and 1 / sqrt(variance + eps) of each channel of (batch, channels, inner); a block each.
extern "C" __global__ void channel_moments(const T* x, A* mean, A* var, A* invstd, i64 batch,
                                           i64 channels, i64 inner, double eps) {
    SHARED(A, room);
    i64 count = batch * inner;
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A total = 0;
        for (EACH_OF_CHANNEL(n, s)) total += up(x[(n * channels + c) * inner + s]);
        A middle = block_sum(total, room) / count;
        A squares = 0;
        for (EACH_OF_CHANNEL(n, s)) {
            A off = up(x[(n * channels + c) * inner + s]) - middle;
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
    for (i64 c = blockIdx.x; c < channels; c += gridDim.x) {
        A middle = mean[c], sum = 0, product = 0;
        for (EACH_OF_CHANNEL(n, s)) {
            i64 at = (n * channels + c) * inner + s;
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
