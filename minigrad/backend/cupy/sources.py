"""CUDA kernels as text: the shared header, and all kernels by name.

They are compiled on first use, once for each element type: `T` is the type in memory, and `A` the
type of sums and of saved moments, which is float32 for float16.  `W` is an integer of an element's
size, for kernels that only move elements.

All kernels loop over any number of threads and blocks ("grid-stride") and keep the sums of a block
in shared memory. Therefore the same text also runs on a CPU, with macros for CUDA's keywords; the
tests do that and compare with NumPy.

There are always three spatial dimensions; missing ones have size one.
"""

from __future__ import annotations

from . import (
    sources_channels,
    sources_losses,
    sources_many,
    sources_random,
    sources_rows,
    sources_windows,
)

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

// The block's threads share out the elements `start` to `stop` of one channel of (batch, channels,
// inner), each (n, s), without dividing for each.
#define EACH_OF_CHANNEL(n, s, start, stop) \
    i64 at = (start) + threadIdx.x, n = at / inner, s = at % inner, over = blockDim.x / inner, \
        beside = blockDim.x % inner; \
    at < (stop); \
    at += blockDim.x, s += beside, n += over + (s >= inner), s -= s >= inner ? inner : 0

// Neighbours in memory: four of them are read and written by one access.
template <int many> struct alignas(many * sizeof(T)) Group { T of[many]; };

// Up to MOST_ARRAYS arrays, or so many pairs, triples ... of one size: columns of addresses.  Work
// on them is dealt out in chunks; `ends` counts the chunks up to the end of each array.
#define MOST_ARRAYS 72
#define CHUNK 1024
struct Many { i64 sizes[MOST_ARRAYS]; void* at[5][MOST_ARRAYS]; int ends[MOST_ARRAYS], count; };

// The array to which a chunk belongs.
__device__ inline int array_of(const Many& many, i64 chunk) {
    int low = 0, high = many.count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (chunk < many.ends[middle]) high = middle; else low = middle + 1;
    }
    return low;
}

// The elements `start` to `stop` of array `k`, which a chunk is.
struct Piece { int k; i64 start, stop; };

__device__ inline Piece piece_of(const Many& many, i64 chunk) {
    int k = array_of(many, chunk);
    i64 start = (chunk - (k ? many.ends[k - 1] : 0)) * CHUNK;
    return {k, start, start + CHUNK < many.sizes[k] ? start + CHUNK : many.sizes[k]};
}

struct Window { i64 size[3], kernel[3], count[3], stride[3], padding[3], dilation[3]; };

// Along one dimension: which windows may hold an element, whose place is `at % size`, and how far
// from the start of window 0 it is.  Divisions take time, and missing dimensions need none.
__device__ inline void windows_of(const Window& w, int d, i64 at, i64& low, i64& high,
                                  i64& last) {
    low = high = last = 0;
    if (w.size[d] == 1 && w.kernel[d] == 1 && w.padding[d] == 0) return;
    last = at % w.size[d] + w.padding[d];
    i64 reach = last - (w.kernel[d] - 1) * w.dilation[d];
    low = reach > 0 ? (reach + w.stride[d] - 1) / w.stride[d] : 0;
    high = last / w.stride[d];
    if (high >= w.count[d]) high = w.count[d] - 1;
}

// The place in its window's kernel of what is so far from the window's start; -1 between two.
__device__ inline i64 tap_of(const Window& w, int d, i64 far) {
    if (w.dilation[d] == 1) return far;
    return far % w.dilation[d] ? -1 : far / w.dilation[d];
}

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
    **sources_windows.KERNELS, **sources_rows.KERNELS, **sources_channels.KERNELS,
    **sources_losses.KERNELS, **sources_many.KERNELS, **sources_random.KERNELS,
}
