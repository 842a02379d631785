// What CuPy has compiled in advance from Thrust and CUB: sorting, sums and running sums.
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "machine.h"

namespace {

template <class T> struct Wide { using type = T; };
template <> struct Wide<__half> { using type = float; };
template <class T> using wide = typename Wide<T>::type;

template <class T> bool is_nan(const T&) { return false; }
bool is_nan(float x) { return std::isnan(x); }
bool is_nan(double x) { return std::isnan(x); }
template <class T> bool is_nan(const std::complex<T>& x) {
    return std::isnan(x.real()) || std::isnan(x.imag());
}

// The order of sorting: NaN is last.
template <class T> bool before(const T& a, const T& b) { return is_nan(b) ? !is_nan(a) : a < b; }
bool before(const __half& a, const __half& b) { return before(float(a), float(b)); }
template <class T> bool before(const std::complex<T>& a, const std::complex<T>& b) {
    if (is_nan(a) || is_nan(b)) return before(a.real(), b.real()) ||
        (!before(b.real(), a.real()) && before(a.imag(), b.imag()));
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
}

template <class F> void with_type(int id, F f) {
    switch (id) {  // as in CuPy's type_dispatcher.cuh
        case 0: return f(int8_t());
        case 1: return f(uint8_t());
        case 2: return f(int16_t());
        case 3: return f(uint16_t());
        case 4: return f(int32_t());
        case 5: return f(uint32_t());
        case 6: return f(int64_t());
        case 7: return f(uint64_t());
        case 8: return f(__half());
        case 9: return f(float());
        case 10: return f(double());
        case 11: return f(std::complex<float>());
        case 12: return f(std::complex<double>());
        case 13: return f(bool());
        default: throw std::runtime_error("a type that is not here");
    }
}

void enqueue(intptr_t stream, Work work) {
    if (machine_enqueue(reinterpret_cast<void*>(stream), &work))
        throw std::runtime_error("the stream refuses");
}

// Thrust waits for what it does, so a stream that captures refuses it.
void enqueue_and_wait(intptr_t stream, Work work) {
    enqueue(stream, work);
    if (machine_finish(reinterpret_cast<void*>(stream)))
        throw std::runtime_error("Thrust waits, which cannot be captured");
}

size_t rows_of(const std::vector<ptrdiff_t>& shape, size_t& length) {
    size_t size = 1;
    for (ptrdiff_t n : shape) size *= n;
    length = shape.empty() ? 1 : shape.back();
    return length ? size / length : 0;
}

enum Op { SUM, MIN, MAX, ARGMIN, ARGMAX, CUMSUM, CUMPROD, PROD };

template <class T> wide<T> combine(int op, wide<T> a, wide<T> b) {
    if (op == SUM || op == CUMSUM) return a + b;
    if (op == PROD || op == CUMPROD) return a * b;
    if (is_nan(a)) return a;
    if (is_nan(b)) return b;
    bool smaller = before(b, a);
    return (op == MIN) == smaller && (smaller || before(a, b)) ? b : a;
}

template <class T> wide<T> reduced(int op, const T* x, size_t count) {
    wide<T> total = op == SUM ? wide<T>(0) : op == PROD ? wide<T>(1) : wide<T>(x[0]);
    for (size_t i = op == SUM || op == PROD ? 0 : 1; i < count; i++)
        total = combine<T>(op, total, wide<T>(x[i]));
    return total;
}

}  // namespace

void thrust_sort(int type, void* data, size_t*, const std::vector<ptrdiff_t>& shape,
                 intptr_t stream, void*) {
    enqueue_and_wait(stream, [=] {
        size_t length, rows = rows_of(shape, length);
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            T* at = static_cast<T*>(data);
            for (size_t row = 0; row < rows; row++, at += length)
                std::stable_sort(at, at + length, [](const T& a, const T& b) { return before(a, b); });
        });
    });
}

void thrust_argsort(int type, size_t* places, void* data, void*,
                    const std::vector<ptrdiff_t>& shape, intptr_t stream, void*) {
    enqueue_and_wait(stream, [=] {
        size_t length, rows = rows_of(shape, length);
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (size_t row = 0; row < rows; row++) {
                T* at = static_cast<T*>(data) + row * length;
                size_t* order = places + row * length;
                std::iota(order, order + length, 0);
                std::stable_sort(order, order + length,
                                 [=](size_t a, size_t b) { return before(at[a], at[b]); });
                std::vector<T> sorted;
                for (size_t i = 0; i < length; i++) sorted.push_back(at[order[i]]);
                std::copy(sorted.begin(), sorted.end(), at);
            }
        });
    });
}

void thrust_lexsort(int type, size_t* order, void* keys, size_t count, size_t length,
                    intptr_t stream, void*) {
    enqueue_and_wait(stream, [=] {
        std::iota(order, order + length, 0);
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (size_t key = 0; key < count; key++) {
                const T* at = static_cast<const T*>(keys) + key * length;
                std::stable_sort(order, order + length,
                                 [=](size_t a, size_t b) { return before(at[a], at[b]); });
            }
        });
    });
}

void cub_device_segmented_reduce(void*, size_t&, void* x, void* y, int segments, int length,
                                 cudaStream_t stream, int op, int type) {
    enqueue(reinterpret_cast<intptr_t>(stream), [=] {
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            for (int i = 0; i < segments; i++)
                static_cast<T*>(y)[i] = T(reduced(op, static_cast<T*>(x) + size_t(i) * length,
                                                  length));
        });
    });
}

void cub_device_reduce(void* room, size_t& size, void* x, void* y, int count, cudaStream_t stream,
                       int op, int type) {
    if (op != ARGMIN && op != ARGMAX)
        return cub_device_segmented_reduce(room, size, x, y, 1, count, stream, op, type);
    enqueue(reinterpret_cast<intptr_t>(stream), [=] {
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            const T* at = static_cast<const T*>(x);
            int best = 0;
            for (int i = 1; i < count && !is_nan(wide<T>(at[best])); i++)
                if (is_nan(wide<T>(at[i])) ||
                    (op == ARGMIN ? before(at[i], at[best]) : before(at[best], at[i])))
                    best = i;
            *static_cast<int*>(y) = best;
        });
    });
}

void cub_device_scan(void*, size_t&, void* x, void* y, int count, cudaStream_t stream, int op,
                     int type) {
    enqueue(reinterpret_cast<intptr_t>(stream), [=] {
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            wide<T> total = op == CUMSUM ? wide<T>(0) : wide<T>(1);
            for (int i = 0; i < count; i++)
                static_cast<T*>(y)[i] = T(total = combine<T>(op, total,
                                                             wide<T>(static_cast<T*>(x)[i])));
        });
    });
}

void cub_device_histogram_range(void*, size_t&, void* x, void* y, int edges, void* at, size_t count,
                                cudaStream_t stream, int type) {
    enqueue(reinterpret_cast<intptr_t>(stream), [=] {
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            const T *values = static_cast<const T*>(x), *edge = static_cast<const T*>(at);
            auto* counts = static_cast<long long*>(y);
            std::fill(counts, counts + edges - 1, 0);
            for (size_t i = 0; i < count; i++)
                for (int bin = 0; bin + 1 < edges; bin++)
                    if (!before(values[i], edge[bin]) && before(values[i], edge[bin + 1]))
                        counts[bin]++;
        });
    });
}
void cub_device_histogram_even(void*, size_t&, void* x, void* y, int edges, int low, int, size_t count,
                               cudaStream_t stream, int type) {
    enqueue(reinterpret_cast<intptr_t>(stream), [=] {
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            auto* counts = static_cast<long long*>(y);
            std::fill(counts, counts + edges - 1, 0);
            if constexpr (std::is_integral<T>::value)
                for (size_t i = 0; i < count; i++) {
                    long long bin = static_cast<const T*>(x)[i] - low;
                    if (bin >= 0 && bin < edges - 1) counts[bin]++;
                }
        });
    });
}
size_t cub_device_reduce_get_workspace_size(void*, void*, int, cudaStream_t, int, int) { return 1; }
size_t cub_device_segmented_reduce_get_workspace_size(void*, void*, int, int, cudaStream_t, int, int) { return 1; }
size_t cub_device_scan_get_workspace_size(void*, void*, int, cudaStream_t, int, int) { return 1; }
size_t cub_device_histogram_range_get_workspace_size(void*, void*, int, void*, size_t, cudaStream_t, int) { return 1; }
size_t cub_device_histogram_even_get_workspace_size(void*, void*, int, int, int, size_t, cudaStream_t, int) { return 1; }
