"""CUDA kernels that draw random numbers, as text; they use the header of `sources`.

Thread j makes the four words of counter j, and from them two numbers in float64, or four in other
types: elements j, j + part, j + 2 part ... of the result, where `part` is the number of counters.
So adjacent threads write adjacent elements, and a number depends on seed, offset and size, but not
on the launch's blocks and threads.

`held` is null, or points to a seed and an offset on the device. The kernel adds `offset` to that
offset, which is the initial state of each repetition of a captured graph.
"""

from __future__ import annotations

__all__ = ["KERNELS", "PHILOX"]

PHILOX = r"""
typedef unsigned int u32;
typedef unsigned long long u64;

// Philox4x32-10: in each round two products, whose halves change places.
__device__ inline void philox(u32* c, u32 key0, u32 key1) {
    for (int round = 0; round < 10; round++) {
        u64 first = (u64)0xD2511F53u * c[0], second = (u64)0xCD9E8D57u * c[2];
        c[0] = (u32)(second >> 32) ^ c[1] ^ key0;
        c[2] = (u32)(first >> 32) ^ c[3] ^ key1;
        c[1] = (u32)second;
        c[3] = (u32)first;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

// The four words of the counter that lies j counters behind an offset, which counts words.
__device__ inline void words_of(u32* c, i64 j, u64 seed, u64 offset, const u64* held) {
    if (held) { seed = held[0]; offset += held[1]; }
    u64 counter = offset / 4 + j;
    c[0] = (u32)counter;
    c[1] = (u32)(counter >> 32);
    c[2] = c[3] = 0;
    philox(c, (u32)seed, (u32)(seed >> 32));
}

// How many numbers of type A four words make.
#define PER (sizeof(A) == 8 ? 2 : 4)

__device__ inline u64 two_words(const u32* c, int k) {
    return (u64)c[2 * k & 3] << 32 | c[(2 * k + 1) & 3];
}

// Number k, evenly from [0, 1), with as many random bits as A holds.
__device__ inline A unit(const u32* c, int k) {
    return sizeof(A) == 8 ? (A)(two_words(c, k) >> 11) * (A)1.1102230246251565e-16
                          : (A)(c[k] >> 8) * (A)5.9604644775390625e-08;
}

// Number k, evenly from (0, 1]; small ones have all their digits.
__device__ inline A above_zero(const u32* c, int k) {
    return sizeof(A) == 8 ? ((A)(two_words(c, k) >> 11) + 1) * (A)1.1102230246251565e-16
                          : (A)c[k] * (A)2.3283064365386963e-10 + (A)1.1641532182693481e-10;
}
"""

KERNELS = {name: PHILOX + text for name, text in {
    "hold_position": r"""
extern "C" __global__ void hold_position(u64* held, u64 seed, u64 offset) {
    if (blockIdx.x == 0 && threadIdx.x == 0) { held[0] = seed; held[1] = offset; }
}
""",
    "draw_uniform": r"""
extern "C" __global__ void draw_uniform(T* out, i64 count, i64 part, double low, double high,
                                        u64 seed, u64 offset, const u64* held) {
    A start = (A)low, span = (A)high - start, end = up(down((A)high));
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < PER && j + k * part < count; k++) {
            T value = down(start + span * unit(c, k));
            // Rounding may reach the bound that the range leaves out.
            out[j + k * part] = up(value) == end ? down(start) : value;
        }
    }
}
""",
    "draw_normal": r"""
// The Box-Muller transform: two numbers from two.
extern "C" __global__ void draw_normal(T* out, i64 count, i64 part, double mean, double std,
                                       u64 seed, u64 offset, const u64* held) {
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < PER; k += 2) {
            A radius = sqrt(-2 * log(above_zero(c, k)));
            A angle = unit(c, k + 1) * (A)6.283185307179586;
            i64 i = j + k * part;
            if (i < count) out[i] = down((A)mean + (A)std * (radius * cos(angle)));
            if (i + part < count)
                out[i + part] = down((A)mean + (A)std * (radius * sin(angle)));
        }
    }
}
""",
    "draw_exponential": r"""
// Never zero, so that one may divide by it.
extern "C" __global__ void draw_exponential(T* out, i64 count, i64 part, double rate, u64 seed,
                                            u64 offset, const u64* held) {
    A least = sizeof(A) == 8 ? (A)1.1102230246251565e-16 : (A)5.9604644775390625e-08;
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < PER && j + k * part < count; k++) {
            A value = -log(above_zero(c, k));
            out[j + k * part] = down((value < least ? least : value) / (A)rate);
        }
    }
}
""",
    "draw_whole": r"""
// low + (0 to span - 1), cut to the bits of W; a span of 0 stands for 2**64.  A span of 2**28 and
// more takes two words, so that small numbers are not drawn more often than large ones.
extern "C" __global__ void draw_whole(W* out, i64 count, i64 part, u64 low, u64 span, u64 seed,
                                      u64 offset, const u64* held) {
    bool small = span && span < 1ull << 28;
    int per = small ? 4 : 2;
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < per && j + k * part < count; k++) {
            u64 word = small ? c[k] : two_words(c, k);
            out[j + k * part] = (W)(low + (span ? word % span : word));
        }
    }
}
""",
    "draw_bernoulli": r"""
// The bits `one` with a probability, which `chances` gives each element unless it is null.
extern "C" __global__ void draw_bernoulli(W* out, i64 count, i64 part, double chance,
                                          const double* chances, W one, u64 seed, u64 offset,
                                          const u64* held) {
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < 4 && j + k * part < count; k++) {
            i64 i = j + k * part;
            u64 limit = (u64)((chances ? chances[i] : chance) * 4294967296.0);
            out[i] = c[k] < limit ? one : (W)0;
        }
    }
}
""",
    "dropout": r"""
// Each element kept with a probability, and multiplied by `scale`.
extern "C" __global__ void dropout(const T* x, unsigned char* mask, T* out, i64 count, i64 part,
                                   double keep, double scale, u64 seed, u64 offset,
                                   const u64* held) {
    u64 limit = (u64)(keep * 4294967296.0);
    for (EACH(j, part)) {
        u32 c[4];
        words_of(c, j, seed, offset, held);
        for (int k = 0; k < 4 && j + k * part < count; k++) {
            i64 i = j + k * part;
            bool kept = c[k] < limit;
            out[i] = down(up(x[i]) * (kept ? (A)scale : (A)0));
            mask[i] = kept;
        }
    }
}
""",
    "masked_scale": r"""
extern "C" __global__ void masked_scale(const T* g, const unsigned char* mask, T* out, i64 count,
                                        double scale) {
    for (EACH(i, count)) out[i] = down(up(g[i]) * (mask[i] ? (A)scale : (A)0));
}
""",
}.items()}
