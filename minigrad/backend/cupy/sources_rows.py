"""CUDA kernels on rows and elements: softmax, layer norm, GELU, and their gradients.

See `sources` for their conventions.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
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
    "softmax_gradient": r"""
// The rows are those of `softmax`, y its result.
extern "C" __global__ void softmax_gradient(const T* g, const T* y, T* result, i64 rows,
                                            i64 length, i64 inner, int logarithm) {
    SHARED(A, room);
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        i64 start = r / inner * length * inner + r % inner;
        A total = 0;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            i64 at = start + j * inner;
            total += logarithm ? up(g[at]) : up(g[at]) * up(y[at]);
        }
        total = block_sum(total, room);
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            i64 at = start + j * inner;
            A above = up(g[at]), own = up(y[at]);
            result[at] = down(logarithm ? above - exp(own) * total : above * own - own * total);
        }
    }
}
""",
    "layer_norm_gradient": r"""
extern "C" __global__ void layer_norm_gradient(const T* g, const T* x, const A* weight,
                                               const A* mean, const A* rstd, T* result, i64 rows,
                                               i64 length) {
    SHARED(A, room);
    for (i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        const T* above = g + r * length;
        const T* own = x + r * length;
        A middle = mean[r], scale = rstd[r], sum = 0, product = 0;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            A slope = up(above[j]) * (weight ? weight[j] : (A)1);
            sum += slope;
            product += slope * ((up(own[j]) - middle) * scale);
        }
        sum = block_sum(sum, room) / length;
        product = block_sum(product, room) / length;
        for (i64 j = threadIdx.x; j < length; j += blockDim.x) {
            A slope = up(above[j]) * (weight ? weight[j] : (A)1);
            A unit = (up(own[j]) - middle) * scale;
            result[r * length + j] = down(scale * (slope - sum - unit * product));
        }
    }
}
""",
    "layer_norm_products": r"""
// The sums of g (x - mean) rstd over the rows, in `parts` parts: row r belongs to r % parts.
extern "C" __global__ void layer_norm_products(const T* g, const T* x, const A* mean,
                                               const A* rstd, A* products, i64 rows, i64 length,
                                               i64 parts) {
    for (EACH(i, parts * length)) {
        A total = 0;
        for (i64 r = i / length; r < rows; r += parts) {
            i64 at = r * length + i % length;
            total += up(g[at]) * ((up(x[at]) - mean[r]) * rstd[r]);
        }
        products[i] = total;
    }
}
""",
    "relu": r"""
template <int many> __device__ inline void rectify(const T* x, T* result, i64 size) {
    for (EACH(i, size / many)) {
        Group<many> own = ((const Group<many>*)x)[i];
        for (int k = 0; k < many; k++) if (up(own.of[k]) < 0) own.of[k] = down(0);
        ((Group<many>*)result)[i] = own;
    }
}

extern "C" __global__ void relu(const T* x, T* result, i64 size, i64 many) {
    if (many == 4) rectify<4>(x, result, size); else rectify<1>(x, result, size);
}
""",
    "relu_gradient": r"""
// y is the result of `relu`.
template <int many>
__device__ inline void rectify(const T* g, const T* y, T* result, i64 size) {
    for (EACH(i, size / many)) {
        Group<many> above = ((const Group<many>*)g)[i], own = ((const Group<many>*)y)[i];
        for (int k = 0; k < many; k++) if (up(own.of[k]) <= 0) above.of[k] = down(0);
        ((Group<many>*)result)[i] = above;
    }
}

extern "C" __global__ void relu_gradient(const T* g, const T* y, T* result, i64 size, i64 many) {
    if (many == 4) rectify<4>(g, y, result, size); else rectify<1>(g, y, result, size);
}
""",
    "gelu": r"""
extern "C" __global__ void gelu(const T* x, T* result, i64 size, int approximate) {
    for (EACH(i, size)) {
        A own = up(x[i]);
        A inner = approximate ? (A)0.7978845608028654 * (own + (A)0.044715 * own * own * own)
                              : own * (A)0.7071067811865476;
        result[i] = down(own * (A)0.5 * (1 + (approximate ? tanh(inner) : erf(inner))));
    }
}
""",
    "gelu_gradient": r"""
extern "C" __global__ void gelu_gradient(const T* g, const T* x, T* result, i64 size,
                                         int approximate) {
    for (EACH(i, size)) {
        A own = up(x[i]), slope;
        if (approximate) {
            A t = tanh((A)0.7978845608028654 * (own + (A)0.044715 * own * own * own));
            A inner = (A)0.7978845608028654 * (1 + (A)0.134145 * own * own);
            slope = (A)0.5 * (1 + t) + (A)0.5 * own * (1 - t * t) * inner;
        } else {
            slope = (A)0.5 * (1 + erf(own * (A)0.7071067811865476))
                    + own * (exp((A)-0.5 * own * own) * (A)0.3989422804014327);
        }
        result[i] = down(up(g[i]) * slope);
    }
}
""",
}
