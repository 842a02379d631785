// cuBLAS's products, in plain loops; what is not here says so when it is called.
#include <cuda_fp16.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lapack.h"
#include "machine.h"

namespace {

struct Handle { void* stream = nullptr; int pointer_mode = 0, math_mode = 0; };

int enqueue(void* handle, Work work) {
    return machine_enqueue(static_cast<Handle*>(handle)->stream, &work) ? 14 : 0;
}

template <class T> T conjugate(T x) { return x; }
template <class T> std::complex<T> conjugate(std::complex<T> x) { return std::conj(x); }

// A number of an element type, as the type that is summed in.
template <class Sum> Sum read(const void* memory, int type, int64_t at) {
    if constexpr (std::is_arithmetic<Sum>::value)
        switch (type) {
            case 0: return Sum(static_cast<const float*>(memory)[at]);
            case 1: return Sum(static_cast<const double*>(memory)[at]);
            case 2: return Sum(float(static_cast<const __half*>(memory)[at]));
        }
    return static_cast<const Sum*>(memory)[at];
}
template <class Sum> void write(void* memory, int type, int64_t at, Sum value) {
    if constexpr (std::is_arithmetic<Sum>::value)
        switch (type) {
            case 0: static_cast<float*>(memory)[at] = float(value); return;
            case 1: static_cast<double*>(memory)[at] = double(value); return;
            case 2: static_cast<__half*>(memory)[at] = __float2half(float(value)); return;
        }
    static_cast<Sum*>(memory)[at] = value;
}

template <class Sum>
void product(int op_a, int op_b, int m, int n, int k, Sum alpha, const void* a, int type_a, int lda,
             const void* b, int type_b, int ldb, Sum beta, void* c, int type_c, int ldc) {
    if constexpr (std::is_arithmetic<Sum>::value) {
        constexpr int own = sizeof(Sum) == 8;
        if (type_a == own && type_b == own && type_c == own && int64_t(m) * n * k > 4096) {
            int64_t sizes[] = {m, n, k, lda, ldb, ldc};
            return lapack(letter<Sum>() + std::string("gemm"), (char*)(op_a ? "T" : "N"),
                          (char*)(op_b ? "T" : "N"), sizes, sizes + 1, sizes + 2, &alpha, (Sum*)a,
                          sizes + 3, (Sum*)b, sizes + 4, &beta, (Sum*)c, sizes + 5);
        }
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            Sum total = 0;
            for (int64_t l = 0; l < k; l++) {
                Sum x = read<Sum>(a, type_a, op_a ? l + i * lda : i + l * lda);
                Sum y = read<Sum>(b, type_b, op_b ? j + l * ldb : l + j * ldb);
                total += (op_a == 2 ? conjugate(x) : x) * (op_b == 2 ? conjugate(y) : y);
            }
            Sum before = beta == Sum(0) ? Sum(0) : beta * read<Sum>(c, type_c, i + j * ldc);
            write<Sum>(c, type_c, i + j * ldc, alpha * total + before);
        }
}

size_t width(int type) { return type == 1 ? 8 : type == 2 ? 2 : 4; }

template <class Sum>
int products(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
             const void* a, int type_a, int lda, long long step_a, const void* b, int type_b,
             int ldb, long long step_b, const void* beta, void* c, int type_c, int ldc,
             long long step_c, int count) {
    if (m < 0 || n < 0 || k < 0 || lda < 1 || ldb < 1 || ldc < 1 || lda < (op_a ? k : m) ||
        ldb < (op_b ? n : k) || ldc < m)
        return 7;  // CUBLAS_STATUS_INVALID_VALUE
    bool on_device = static_cast<Handle*>(handle)->pointer_mode == 1;
    Sum x{}, y{};
    if (!on_device) {
        std::memcpy(&x, alpha, sizeof x);
        std::memcpy(&y, beta, sizeof y);
    }
    return enqueue(handle, [=] {
        Sum p = on_device ? *static_cast<const Sum*>(alpha) : x;
        Sum q = on_device ? *static_cast<const Sum*>(beta) : y;
        for (int64_t i = 0; i < count; i++)
            product<Sum>(op_a, op_b, m, n, k, p,
                         static_cast<const char*>(a) + i * step_a * width(type_a), type_a, lda,
                         static_cast<const char*>(b) + i * step_b * width(type_b), type_b, ldb, q,
                         static_cast<char*>(c) + i * step_c * width(type_c), type_c, ldc);
    });
}

template <class T, int TYPE>
int pointers(void* handle, int op_a, int op_b, int m, int n, int k, const T* alpha, const T** a,
             int lda, const T** b, int ldb, const T* beta, T** c, int ldc, int count) {
    T x = *alpha, y = *beta;
    return enqueue(handle, [=] {
        for (int i = 0; i < count; i++)
            product<T>(op_a, op_b, m, n, k, x, a[i], TYPE, lda, b[i], TYPE, ldb, y, c[i], TYPE, ldc);
    });
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) { *handle = new Handle; return 0; }
int cublasDestroy_v2(void* handle) { delete static_cast<Handle*>(handle); return 0; }
int cublasGetVersion_v2(void*, int* version) { *version = 130000; return 0; }
int cublasSetStream_v2(void* handle, void* stream) { static_cast<Handle*>(handle)->stream = stream; return 0; }
int cublasGetStream_v2(void* handle, void** stream) { *stream = static_cast<Handle*>(handle)->stream; return 0; }
int cublasSetWorkspace_v2(void*, void*, size_t) { return 0; }
int cublasSetPointerMode_v2(void* handle, int mode) { static_cast<Handle*>(handle)->pointer_mode = mode; return 0; }
int cublasGetPointerMode_v2(void* handle, int* mode) { *mode = static_cast<Handle*>(handle)->pointer_mode; return 0; }
int cublasSetMathMode(void* handle, int mode) { static_cast<Handle*>(handle)->math_mode = mode; return 0; }
int cublasGetMathMode(void* handle, int* mode) { *mode = static_cast<Handle*>(handle)->math_mode; return 0; }

#define GEMM(letter, T, type)                                                                      \
    int cublas##letter##gemm_v2(void* h, int ta, int tb, int m, int n, int k, const T* alpha,      \
                                const T* a, int lda, const T* b, int ldb, const T* beta, T* c,     \
                                int ldc) {                                                         \
        return products<T>(h, ta, tb, m, n, k, alpha, a, type, lda, 0, b, type, ldb, 0, beta, c,   \
                           type, ldc, 0, 1);                                                       \
    }                                                                                              \
    int cublas##letter##gemmBatched(void* h, int ta, int tb, int m, int n, int k, const T* alpha,  \
                                    const T** a, int lda, const T** b, int ldb, const T* beta,     \
                                    T** c, int ldc, int count) {                                   \
        return pointers<T, type>(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);  \
    }                                                                                              \
    int cublas##letter##gemv_v2(void* h, int ta, int m, int n, const T* alpha, const T* a,         \
                                int lda, const T* x, int incx, const T* beta, T* y, int incy) {    \
        return products<T>(h, 0, ta ? 0 : 1, 1, ta ? n : m, ta ? m : n, alpha, x, type, incx, 0,   \
                           a, type, lda, 0, beta, y, type, incy, 0, 1);                            \
    }
GEMM(S, float, 0)
GEMM(D, double, 1)
GEMM(C, std::complex<float>, -1)
GEMM(Z, std::complex<double>, -1)

#define DOT(letter, T)                                                                             \
    int cublas##letter##_v2(void* h, int n, const T* x, int incx, const T* y, int incy, T* out) {  \
        auto* handle = static_cast<Handle*>(h);                                                    \
        int error = enqueue(h, [=] {                                                               \
            T total = 0;                                                                           \
            for (int64_t i = 0; i < n; i++) total += x[i * incx] * y[i * incy];                    \
            *out = total;                                                                          \
        });                                                                                        \
        return error || handle->pointer_mode ? error : machine_finish(handle->stream);             \
    }
DOT(Sdot, float)
DOT(Ddot, double)

int cublasGemmStridedBatchedEx(void* h, int ta, int tb, int m, int n, int k, const void* alpha,
                               const void* a, int kind_a, int lda, long long step_a, const void* b,
                               int kind_b, int ldb, long long step_b, const void* beta, void* c,
                               int kind_c, int ldc, long long step_c, int count, int sums, int) {
    if (kind_a > 2 || kind_b > 2 || kind_c > 2) return 15;
    auto* call = sums == 70 || sums == 71 ? products<double> : products<float>;
    return call(h, ta, tb, m, n, k, alpha, a, kind_a, lda, step_a, b, kind_b, ldb, step_b, beta, c,
                kind_c, ldc, step_c, count);
}
int cublasGemmEx(void* h, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                 int kind_a, int lda, const void* b, int kind_b, int ldb, const void* beta, void* c,
                 int kind_c, int ldc, int sums, int algorithm) {
    return cublasGemmStridedBatchedEx(h, ta, tb, m, n, k, alpha, a, kind_a, lda, 0, b, kind_b, ldb,
                                      0, beta, c, kind_c, ldc, 0, 1, sums, algorithm);
}
int cublasSgemmEx(void* h, int ta, int tb, int m, int n, int k, const float* alpha, const void* a,
                  int kind_a, int lda, const void* b, int kind_b, int ldb, const float* beta,
                  void* c, int kind_c, int ldc) {
    return cublasGemmEx(h, ta, tb, m, n, k, alpha, a, kind_a, lda, b, kind_b, ldb, beta, c, kind_c,
                        ldc, 68, -1);
}

}  // extern "C"

// Batches of small systems.
#define SYSTEMS(L, T)                                                                              \
    extern "C" int cublas##L##getrfBatched(void* h, int n, T* const* a, int lda, int* pivots,      \
                                           int* info, int count) {                                 \
        return enqueue(h, [=] {                                                                    \
            for (int64_t i = 0; i < count; i++) {                                                  \
                int64_t size = n, step = lda, found = 0;                                           \
                std::vector<int64_t> order(n);                                                     \
                lapack(letter<T>() + std::string("getrf"), &size, &size, a[i], &step,              \
                       order.data(), &found);                                                      \
                for (int64_t j = 0; pivots && j < n; j++) pivots[i * n + j] = int(order[j]);       \
                info[i] = int(found);                                                              \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    extern "C" int cublas##L##getrsBatched(void* h, int trans, int n, int many,                    \
                                           const T* const* a, int lda, const int* pivots,          \
                                           T* const* b, int ldb, int* info, int count) {           \
        *info = 0;                                                                                 \
        return enqueue(h, [=] {                                                                    \
            for (int64_t i = 0; i < count; i++) {                                                  \
                int64_t size = n, right = many, step = lda, other = ldb, found = 0;                \
                std::vector<int64_t> order(pivots + i * n, pivots + (i + 1) * n);                  \
                lapack(letter<T>() + std::string("getrs"), (char*)(trans ? "T" : "N"), &size,      \
                       &right, const_cast<T*>(a[i]), &step, order.data(), b[i], &other, &found);   \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    extern "C" int cublas##L##getriBatched(void* h, int n, const T* const* a, int lda,             \
                                           const int* pivots, T* const* c, int ldc, int* info,     \
                                           int count) {                                            \
        return enqueue(h, [=] {                                                                    \
            for (int64_t i = 0; i < count; i++) {                                                  \
                int64_t size = n, step = ldc, room = 64 * int64_t(n) + 64, found = 0;              \
                std::vector<int64_t> order(pivots + i * n, pivots + (i + 1) * n);                  \
                std::vector<T> work(room);                                                         \
                for (int64_t j = 0; j < n; j++)                                                    \
                    std::memcpy(c[i] + j * ldc, a[i] + j * lda, n * sizeof(T));                    \
                lapack(letter<T>() + std::string("getri"), &size, c[i], &step, order.data(),       \
                       work.data(), &room, &found);                                                \
                info[i] = int(found);                                                              \
            }                                                                                      \
        });                                                                                        \
    }
SYSTEMS(S, float)
SYSTEMS(D, double)
