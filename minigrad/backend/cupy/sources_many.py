"""CUDA kernels over many arrays at once: steps of optimizers, and the unscaling of gradients.

Spoken of in `sources`, where what they share is.
"""

from __future__ import annotations

__all__ = ["KERNELS"]

KERNELS = {
    "sgd": r"""
// Columns: parameters, gradients and, where there is momentum, what is remembered.
extern "C" __global__ void sgd(Many many, const double* rates, double rate, double momentum,
                               double kept, double decay, int maximize, int nesterov) {
    A lr = rates ? *rates : rate;
    for (i64 chunk = blockIdx.x; chunk < many.ends[many.count - 1]; chunk += gridDim.x) {
        Piece piece = piece_of(many, chunk);
        int k = piece.k;
        T* p = (T*)many.at[0][k];
        const T* g = (const T*)many.at[1][k];
        T* v = (T*)many.at[2][k];
        for (i64 i = piece.start + threadIdx.x; i < piece.stop; i += blockDim.x) {
            A own = up(p[i]), slope = maximize ? -up(g[i]) : up(g[i]);
            if (decay != 0) slope += own * (A)decay;
            if (v) {
                A speed = up(v[i]) * (A)momentum + slope * (A)kept;
                v[i] = down(speed);
                slope = nesterov ? slope + speed * (A)momentum : speed;
            }
            p[i] = down(own - slope * lr);
        }
    }
}
""",
    "adam_numbers": r"""
// Counts a step of each array, and computes from the counts what `adam` multiplies with: rate, eps
// and what is left of the parameter, three numbers for each array.  The one column are the counts.
extern "C" __global__ void adam_numbers(Many many, const double* rates, double* numbers,
                                        double rate, double beta1, double beta2, double eps,
                                        double decay) {
    double lr = rates ? *rates : rate;
    for (EACH(k, many.count)) {
        float* step = (float*)many.at[0][k];
        double count = *step += 1;
        double spread = sqrt(1 - pow(beta2, count));
        numbers[3 * k] = lr * spread / (1 - pow(beta1, count));
        numbers[3 * k + 1] = eps * spread;
        numbers[3 * k + 2] = 1 - lr * decay;
    }
}
""",
    "adam": r"""
// Columns: parameters, gradients, their averages, the averages of their squares and, for amsgrad,
// the largest of those.
extern "C" __global__ void adam(Many many, const double* numbers, double rate, double eps,
                                double left, double away1, double beta2, double away2,
                                double decay, int maximize) {
    for (i64 chunk = blockIdx.x; chunk < many.ends[many.count - 1]; chunk += gridDim.x) {
        Piece piece = piece_of(many, chunk);
        int k = piece.k;
        T* p = (T*)many.at[0][k];
        const T* g = (const T*)many.at[1][k];
        T* m = (T*)many.at[2][k];
        T* v = (T*)many.at[3][k];
        T* largest = (T*)many.at[4][k];
        A lr = numbers ? numbers[3 * k] : rate;
        A least = numbers ? numbers[3 * k + 1] : eps;
        A shrink = numbers ? numbers[3 * k + 2] : left;
        for (i64 i = piece.start + threadIdx.x; i < piece.stop; i += blockDim.x) {
            A own = up(p[i]) * shrink, slope = maximize ? -up(g[i]) : up(g[i]);
            if (decay != 0) slope += own * (A)decay;
            A mean = up(m[i]), square = up(v[i]) * (A)beta2 + slope * slope * (A)away2;
            mean += (slope - mean) * (A)away1;
            m[i] = down(mean);
            v[i] = down(square);
            if (largest) {
                A before = up(largest[i]);
                square = square > before || square != square ? square : before;
                largest[i] = down(square);
            }
            p[i] = down(own - mean / (sqrt(square) + least) * lr);
        }
    }
}
""",
    "unscale": r"""
// Multiplies the arrays of the one column, and tells whether there was an infinity or NaN.
extern "C" __global__ void unscale(Many many, bool* found, double factor) {
    for (i64 chunk = blockIdx.x; chunk < many.ends[many.count - 1]; chunk += gridDim.x) {
        Piece piece = piece_of(many, chunk);
        int k = piece.k;
        T* g = (T*)many.at[0][k];
        for (i64 i = piece.start + threadIdx.x; i < piece.stop; i += blockDim.x) {
            A own = up(g[i]);
            if (own - own != 0) *found = true;  // all who write write the same
            g[i] = down(own * (A)factor);
        }
    }
}
""",
}
