// cuSOLVER's decompositions for float32 and float64, by LAPACK.
#include <algorithm>
#include <vector>

#include "lapack.h"
#include "machine.h"

namespace {

struct Handle { void* stream = nullptr; };

int enqueue(void* handle, Work work) {
    return machine_enqueue(static_cast<Handle*>(handle)->stream, &work) ? 7 : 0;
}
const char* part(int uplo) { return uplo == 0 ? "L" : "U"; }

template <class T> int64_t eigen(int job, int uplo, int64_t n, T* a, int64_t lda, T* w) {
    int64_t info = 0, room = 2 * n * n + 6 * n + 1, whole = 5 * n + 3;
    std::vector<T> work(room);
    std::vector<int64_t> numbers(whole);
    lapack(letter<T>() + std::string("syevd"), (char*)(job ? "V" : "N"), (char*)part(uplo), &n, a,
           &lda, w, work.data(), &room, numbers.data(), &whole, &info);
    return info;
}

template <class T> int64_t singular(const char* job, int64_t m, int64_t n, T* a, int64_t lda, T* s,
                                    T* u, int64_t ldu, T* vt, int64_t ldvt, const char* job_vt) {
    int64_t info = 0, room = 5 * std::max(m, n) + 3 * std::min(m, n) + 64;
    std::vector<T> work(room);
    lapack(letter<T>() + std::string("gesvd"), (char*)job, (char*)job_vt, &m, &n, a, &lda, s, u,
           &ldu, vt, &ldvt, work.data(), &room, &info);
    return info;
}

}  // namespace

extern "C" {

int cusolverGetProperty(int kind, int* value) { *value = kind == 0 ? 12 : 0; return 0; }
int cusolverDnCreate(void** handle) { *handle = new Handle; return 0; }
int cusolverDnDestroy(void* handle) { delete static_cast<Handle*>(handle); return 0; }
int cusolverDnSetStream(void* handle, void* stream) { static_cast<Handle*>(handle)->stream = stream; return 0; }
int cusolverDnGetStream(void* handle, void** stream) { *stream = static_cast<Handle*>(handle)->stream; return 0; }
int cusolverDnCreateSyevjInfo(void** info) { *info = new int; return 0; }
int cusolverDnDestroySyevjInfo(void* info) { delete static_cast<int*>(info); return 0; }
int cusolverDnXsyevjSetTolerance(void*, double) { return 0; }
int cusolverDnXsyevjSetMaxSweeps(void*, int) { return 0; }
int cusolverDnXsyevjSetSortEig(void*, int) { return 0; }
int cusolverDnCreateGesvdjInfo(void** info) { *info = new int; return 0; }
int cusolverDnDestroyGesvdjInfo(void* info) { delete static_cast<int*>(info); return 0; }
int cusolverDnXgesvdjSetTolerance(void*, double) { return 0; }
int cusolverDnXgesvdjSetMaxSweeps(void*, int) { return 0; }
int cusolverDnXgesvdjSetSortEig(void*, int) { return 0; }
int cusolverDnCreateParams(void** params) { *params = new int; return 0; }
int cusolverDnDestroyParams(void* params) { delete static_cast<int*>(params); return 0; }

int cusolverDnXsyevd_bufferSize(void*, void*, int, int, int64_t, int, const void*, int64_t, int,
                                const void*, int, size_t* device, size_t* host) {
    *device = *host = 16;
    return 0;
}
int cusolverDnXsyevd(void* h, void*, int job, int uplo, int64_t n, int kind, void* a, int64_t lda,
                     int, void* w, int, void*, size_t, void*, size_t, int* info) {
    return enqueue(h, [=] {
        *info = int(kind == 1 ? eigen(job, uplo, n, (double*)a, lda, (double*)w)
                              : eigen(job, uplo, n, (float*)a, lda, (float*)w));
    });
}

#define SOLVER(L, T)                                                                               \
    int cusolverDn##L##potrf_bufferSize(void*, int, int, T*, int, int* room) { return *room = 1, 0; } \
    int cusolverDn##L##potrf(void* h, int uplo, int n, T* a, int lda, T*, int, int* info) {        \
        return enqueue(h, [=] {                                                                    \
            int64_t size = n, step = lda, found = 0;                                               \
            lapack(letter<T>() + std::string("potrf"), (char*)part(uplo), &size, a, &step, &found); \
            *info = int(found);                                                                    \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##potrfBatched(void* h, int uplo, int n, T** a, int lda, int* info, int count) { \
        return enqueue(h, [=] {                                                                    \
            for (int i = 0; i < count; i++) {                                                      \
                int64_t size = n, step = lda, found = 0;                                           \
                lapack(letter<T>() + std::string("potrf"), (char*)part(uplo), &size, a[i], &step,  \
                       &found);                                                                    \
                info[i] = int(found);                                                              \
            }                                                                                      \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##getrf_bufferSize(void*, int, int, T*, int, int* room) { return *room = 1, 0; } \
    int cusolverDn##L##getrf(void* h, int m, int n, T* a, int lda, T*, int* pivots, int* info) {   \
        return enqueue(h, [=] {                                                                    \
            int64_t rows = m, columns = n, step = lda, found = 0;                                  \
            std::vector<int64_t> order(std::min(m, n));                                            \
            lapack(letter<T>() + std::string("getrf"), &rows, &columns, a, &step, order.data(),    \
                   &found);                                                                        \
            std::copy(order.begin(), order.end(), pivots);                                         \
            *info = int(found);                                                                    \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##getrs(void* h, int trans, int n, int many, const T* a, int lda,             \
                             const int* pivots, T* b, int ldb, int* info) {                        \
        return enqueue(h, [=] {                                                                    \
            int64_t size = n, right = many, step = lda, other = ldb, found = 0;                    \
            std::vector<int64_t> order(pivots, pivots + n);                                        \
            lapack(letter<T>() + std::string("getrs"), (char*)(trans ? "T" : "N"), &size, &right,  \
                   const_cast<T*>(a), &step, order.data(), b, &other, &found);                     \
            *info = int(found);                                                                    \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##geqrf_bufferSize(void*, int, int, T*, int, int* room) { return *room = 1, 0; } \
    int cusolverDn##L##geqrf(void* h, int m, int n, T* a, int lda, T* tau, T*, int, int* info) {   \
        return enqueue(h, [=] {                                                                    \
            int64_t rows = m, columns = n, step = lda, room = 64 * int64_t(n) + 64, found = 0;     \
            std::vector<T> work(room);                                                             \
            lapack(letter<T>() + std::string("geqrf"), &rows, &columns, a, &step, tau,             \
                   work.data(), &room, &found);                                                    \
            *info = int(found);                                                                    \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##orgqr_bufferSize(void*, int, int, int, const T*, int, const T*, int* room) { \
        return *room = 1, 0;                                                                       \
    }                                                                                              \
    int cusolverDn##L##orgqr(void* h, int m, int n, int k, T* a, int lda, const T* tau, T*, int,   \
                             int* info) {                                                          \
        return enqueue(h, [=] {                                                                    \
            int64_t rows = m, columns = n, inner = k, step = lda, room = 64 * int64_t(n) + 64;     \
            int64_t found = 0;                                                                     \
            std::vector<T> work(room);                                                             \
            lapack(letter<T>() + std::string("orgqr"), &rows, &columns, &inner, a, &step,          \
                   const_cast<T*>(tau), work.data(), &room, &found);                               \
            *info = int(found);                                                                    \
        });                                                                                        \
    }                                                                                              \
    int cusolverDn##L##gesvd_bufferSize(void*, int, int, int* room) { return *room = 1, 0; }       \
    int cusolverDn##L##gesvd(void* h, signed char job_u, signed char job_vt, int m, int n, T* a,   \
                             int lda, T* s, T* u, int ldu, T* vt, int ldvt, T*, int, T*,           \
                             int* info) {                                                          \
        if (m < n) return 3; /* as cuSOLVER says */                                                \
        return enqueue(h, [=] {                                                                    \
            char first[2] = {char(job_u), 0}, second[2] = {char(job_vt), 0};                       \
            *info = int(singular<T>(first, m, n, a, lda, s, u, ldu, vt, ldvt, second));            \
        });                                                                                        \
    }
SOLVER(S, float)
SOLVER(D, double)

#define SYEVJ(L, T)                                                                                \
    int cusolverDn##L##syevj_bufferSize(void*, int, int, int, const T*, int, const T*, int* room,  \
                                        void*) { return *room = 1, 0; }                            \
    int cusolverDn##L##syevj(void* h, int job, int uplo, int n, T* a, int lda, T* w, T*, int,      \
                             int* info, void*) {                                                   \
        return enqueue(h, [=] { *info = int(eigen(job, uplo, n, a, lda, w)); });                   \
    }                                                                                              \
    int cusolverDn##L##syevjBatched_bufferSize(void*, int, int, int, const T*, int, const T*,      \
                                               int* room, void*, int) { return *room = 1, 0; }     \
    int cusolverDn##L##syevjBatched(void* h, int job, int uplo, int n, T* a, int lda, T* w, T*,    \
                                    int, int* info, void*, int count) {                            \
        return enqueue(h, [=] {                                                                    \
            for (int64_t i = 0; i < count; i++)                                                    \
                info[i] = int(eigen(job, uplo, n, a + i * lda * n, lda, w + i * n));               \
        });                                                                                        \
    }
SYEVJ(S, float)
SYEVJ(D, double)


// One-sided Jacobi: V comes as it is, not transposed.
#define GESVDJ(L, T)                                                                               \
    int cusolverDn##L##gesvdjBatched_bufferSize(void*, int, int, int, const T*, int, const T*,     \
                                                const T*, int, const T*, int, int* room, void*,    \
                                                int) { return *room = 1, 0; }                      \
    int cusolverDn##L##gesvdjBatched(void* h, int job, int m, int n, T* a, int lda, T* s, T* u,    \
                                     int ldu, T* v, int ldv, T*, int, int* info, void*,            \
                                     int count) {                                                  \
        if (m > 32 || n > 32) return 3;                                                            \
        return enqueue(h, [=] {                                                                    \
            for (int64_t i = 0; i < count; i++) {                                                  \
                std::vector<T> vt(n * n);                                                          \
                const char* all = job ? "A" : "N";                                                 \
                info[i] = int(singular<T>(all, m, n, a + i * lda * n, lda,                         \
                                          s + i * std::min(m, n), u + i * ldu * m, ldu, vt.data(), \
                                          n, all));                                                \
                for (int64_t j = 0; job && j < n; j++)                                             \
                    for (int64_t k = 0; k < n; k++) v[i * ldv * n + k * ldv + j] = vt[j * n + k];  \
            }                                                                                      \
        });                                                                                        \
    }
GESVDJ(S, float)
GESVDJ(D, double)

}  // extern "C"
