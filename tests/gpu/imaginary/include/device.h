// CUDA's language for a C++ compiler: what its words mean where threads are fibers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <vector_types.h>
#include <vector_functions.h>

#include "machine.h"

#undef __shared__
#undef __constant__
#define __shared__ static
#define __constant__ static
#define __launch_bounds__(...)
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif

struct Index { unsigned x, y, z; };
extern "C" {
extern Index threadIdx, blockIdx, blockDim, gridDim;
extern char* machine_shared;
}
static const int warpSize = 32;

static inline void __syncthreads() { machine_wait_for_block(); }
static inline void __syncwarp(unsigned = 0xffffffff) { machine_wait_for_warp(); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}

static inline int machine_lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}
template <class T> T machine_from(T value, int lane) {
    return *static_cast<T*>(machine_exchange(&value, sizeof(T), lane));
}
template <class T> T __shfl_sync(unsigned, T value, int lane, int width = 32) {
    int self = machine_lane();
    return machine_from(value, self / width * width + lane % width);
}
template <class T> T __shfl_up_sync(unsigned, T value, unsigned by, int width = 32) {
    int self = machine_lane(), from = self - int(by);
    return machine_from(value, from < self / width * width ? self : from);
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned by, int width = 32) {
    int self = machine_lane(), from = self + int(by);
    return machine_from(value, from >= self / width * width + width ? self : from);
}
template <class T> T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
    int self = machine_lane(), from = self ^ mask;
    return machine_from(value, from >= self / width * width + width ? self : from);
}

template <class T> T __ldg(const T* p) { return *p; }
template <class T, class V> T machine_swap(T* p, V v) { T old = *p; *p = T(v); return old; }
#define MACHINE_ATOMIC(T)                                                                   \
    static inline T atomicAdd(T* p, T v) { return machine_swap(p, T(*p + v)); }             \
    static inline T atomicExch(T* p, T v) { return machine_swap(p, v); }
#define MACHINE_ATOMIC_INTEGER(T)                                                           \
    MACHINE_ATOMIC(T)                                                                       \
    static inline T atomicSub(T* p, T v) { return machine_swap(p, T(*p - v)); }             \
    static inline T atomicMax(T* p, T v) { return machine_swap(p, std::max(*p, v)); }       \
    static inline T atomicMin(T* p, T v) { return machine_swap(p, std::min(*p, v)); }       \
    static inline T atomicAnd(T* p, T v) { return machine_swap(p, T(*p & v)); }             \
    static inline T atomicOr(T* p, T v) { return machine_swap(p, T(*p | v)); }              \
    static inline T atomicXor(T* p, T v) { return machine_swap(p, T(*p ^ v)); }             \
    static inline T atomicCAS(T* p, T c, T v) { return machine_swap(p, *p == c ? v : *p); }
MACHINE_ATOMIC(float)
MACHINE_ATOMIC(double)
MACHINE_ATOMIC_INTEGER(int)
MACHINE_ATOMIC_INTEGER(unsigned)
using Unsigned64 = unsigned long long;
MACHINE_ATOMIC_INTEGER(Unsigned64)
static inline long long atomicMax(long long* p, long long v) { return machine_swap(p, std::max(*p, v)); }
static inline long long atomicMin(long long* p, long long v) { return machine_swap(p, std::min(*p, v)); }

template <class To, class From> To machine_bits(From from) {
    To to;
    static_assert(sizeof to == sizeof from, "sizes differ");
    std::memcpy(&to, &from, sizeof to);
    return to;
}
static inline int __float_as_int(float x) { return machine_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return machine_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return machine_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return machine_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return machine_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return machine_bits<double>(x); }
static inline int __double2hiint(double x) { return int(machine_bits<uint64_t>(x) >> 32); }
static inline int __double2loint(double x) { return int(machine_bits<uint64_t>(x)); }
static inline double __hiloint2double(int hi, int lo) {
    return machine_bits<double>(uint64_t(unsigned(hi)) << 32 | unsigned(lo));
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return uint64_t(a) * b >> 32; }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned __int128)(a) * b >> 64;
}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); }

// CUDA's functions are there without a namespace, and for mixed arguments.
using std::isnan; using std::isinf; using std::isfinite; using std::signbit;
using std::abs; using std::exp; using std::exp2; using std::expm1; using std::log; using std::log2;
using std::log10; using std::log1p; using std::sqrt; using std::cbrt; using std::pow;
using std::hypot; using std::sin; using std::cos; using std::tan; using std::asin; using std::acos;
using std::atan; using std::atan2; using std::sinh; using std::cosh; using std::tanh;
using std::asinh; using std::acosh; using std::atanh; using std::erf; using std::erfc;
using std::lgamma; using std::tgamma; using std::floor; using std::ceil; using std::trunc;
using std::rint; using std::round; using std::nearbyint; using std::fmod; using std::remainder;
using std::copysign; using std::nextafter; using std::fabs; using std::fdim; using std::fma;
using std::fmin; using std::fmax; using std::ldexp; using std::frexp; using std::modf;
using std::logb; using std::ilogb; using std::scalbn;
#define MACHINE_EXTREME(NAME, OF_FLOATS, BEFORE)                                             \
    template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value &&    \
                                                         std::is_arithmetic<B>::value>>     \
    auto NAME(A a, B b) -> std::common_type_t<A, B> {                                       \
        using C = std::common_type_t<A, B>;                                                 \
        if constexpr (std::is_floating_point<C>::value) return OF_FLOATS(C(a), C(b));       \
        else return C(b) BEFORE C(a) ? C(b) : C(a);                                         \
    }
MACHINE_EXTREME(min, std::fmin, <)
MACHINE_EXTREME(max, std::fmax, >)
static inline float rsqrt(float x) { return 1 / std::sqrt(x); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
static inline float exp10f(float x) { return std::pow(10.0f, x); }
static inline float __expf(float x) { return std::exp(x); }
static inline float __logf(float x) { return std::log(x); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float __fsqrt_rn(float x) { return std::sqrt(x); }
static inline double sinpi(double x) { return std::sin(M_PI * std::fmod(x, 2)); }
static inline double cospi(double x) { return std::cos(M_PI * std::fmod(x, 2)); }
static inline float sinpif(float x) { return float(sinpi(double(x))); }
static inline float cospif(float x) { return float(cospi(double(x))); }
static inline double exp10(double x) { return std::pow(10.0, x); }
static inline double erfinv(double y) {  // Winitzki's formula, and Newton's method
    if (std::fabs(y) >= 1) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
    double w = std::log1p(-y * y), t = 2 / (M_PI * 0.147) + w / 2;
    double x = std::copysign(std::sqrt(std::sqrt(t * t - w / 0.147) - t), y);
    for (int i = 0; i < 4; i++) x -= (std::erf(x) - y) / (M_2_SQRTPI * std::exp(-x * x));
    return x;
}
static inline float erfinvf(float y) { return float(erfinv(double(y))); }
static inline double normcdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
static inline float normcdff(float x) { return float(normcdf(double(x))); }

#define assert(x) ((x) ? (void)0 : std::abort())

// How a launch finds a kernel, and keeps its arguments: by value, since the caller's are gone when
// a graph is launched.
template <class... P, size_t... I>
Work machine_bind(void (*kernel)(P...), void** args, std::index_sequence<I...>) {
    auto kept = std::make_tuple(*static_cast<std::remove_reference_t<P>*>(args[I])...);
    return [kernel, kept] { std::apply(kernel, kept); };
}
template <class... P> Work machine_bind(void (*kernel)(P...), void** args) {
    return machine_bind(kernel, args, std::index_sequence_for<P...>{});
}
