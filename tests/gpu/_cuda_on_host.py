"""The backend's CUDA kernels on a CPU: the same text, compiled by a C++ compiler.

Macros stand for CUDA's words.  The threads of a block are threads, and `__syncthreads` is a
barrier, so that sums in shared memory run as they would on a GPU, if with fewer threads.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("clang++")
THREADS, BLOCKS = 4, 3

#: What stands for CUDA's header of half precision: numbers that are stored, and read as float32.
HALF = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
struct __half { uint16_t bits; };
static inline float __half2float(__half x) {
    float sign = x.bits >> 15 ? -1.0f : 1.0f;
    int exponent = x.bits >> 10 & 31, digits = x.bits & 1023;
    if (exponent == 31) return digits ? NAN : sign * INFINITY;
    return sign * (exponent ? std::ldexp(1024.0f + digits, exponent - 25)
                            : std::ldexp((float)digits, -24));
}
static inline __half __float2half(float x) {  // the nearest, and of two as near the even one
    uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    float size = std::fabs(x);
    if (size != size) return {uint16_t(sign | 0x7e00)};
    if (size >= 65520.0f) return {uint16_t(sign | 0x7c00)};
    int exponent = size < 0x1p-14f ? -14 : std::ilogb(size);
    int digits = (int)std::nearbyint(std::ldexp(size, 10 - exponent));
    return {uint16_t(sign + ((exponent + 14) << 10) + digits)};
}
"""

PRELUDE = r"""
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
using std::erf; using std::exp; using std::log; using std::pow; using std::sqrt; using std::tanh;
#define __device__
#define __global__
struct Extent { unsigned x; };
static thread_local Extent threadIdx, blockIdx;
static Extent blockDim, gridDim;
static thread_local char* shared_memory;
static thread_local std::barrier<>* fence;
#define __syncthreads() fence->arrive_and_wait()
#define SHARED(type, name) type* name = (type*)shared_memory
#define UNROLLED
"""

#: Runs one kernel after another; PRELUDE's end, so that threads are compiled once.
LAUNCHER = r"""
static void launch(unsigned blocks, unsigned threads, void** args, void (*kernel)(void**)) {
    gridDim.x = blocks;
    blockDim.x = threads;
    for (unsigned block = 0; block < blocks; block++) {
        std::vector<char> shared(threads * 8);
        std::barrier<> barrier(threads);
        std::vector<std::thread> running;
        for (unsigned thread = 0; thread < threads; thread++)
            running.emplace_back([&, thread] {
                blockIdx.x = block;
                threadIdx.x = thread;
                shared_memory = shared.data();
                fence = &barrier;
                kernel(args);
            });
        for (auto& one : running) one.join();
    }
}
"""

LAUNCH = r"""
extern "C" void launch_KERNEL(unsigned blocks, unsigned threads, void** args) {
    launch(blocks, threads, args, [](void** args) { KERNEL(ARGUMENTS); });
}
"""

#: Where compiled kernels are kept from one run to the next, for all processes of a run.
FOLDER = Path(__file__).resolve().parents[2] / "build" / "kernels-on-host"


@cache
def compiled(options: tuple[str, ...]) -> Any:
    """Return a library of all kernels, compiled together: most of the time is the includes'."""
    sources = importlib.import_module("minigrad.backend.cupy.sources")
    text = PRELUDE + LAUNCHER + sources.HEADER
    for name, code in sources.KERNELS.items():
        signature = re.search(rf"void {name}\((.*?)\)\s*{{", code, re.S)
        assert signature, f"no kernel named {name}"
        types = [re.sub(r"\w+\s*$", "", parameter).strip()
                 for parameter in signature[1].split(",")]
        arguments = ", ".join(f"*({kind}*)args[{i}]" for i, kind in enumerate(types))
        code += LAUNCH.replace("KERNEL", name).replace("ARGUMENTS", arguments)
        text += f"namespace of_{name} {{\n{code}}}\n"  # for several may share helpers
    return ctypes.CDLL(str(library(text, [o for o in options if o.startswith("-D")])))


def library(text: str, defines: list[str]) -> Path:
    """Return the library compiled from a text; the process that comes first compiles it."""
    command = [str(COMPILER), "-std=c++20", "-O0", "-pthread", "-shared", "-fPIC", "-Wall",
               "-Wno-unused", *defines]
    digest = hashlib.sha256(repr((command, version(), HALF, text)).encode()).hexdigest()[:24]
    made = FOLDER / digest / "kernels.so"
    made.parent.mkdir(parents=True, exist_ok=True)
    with open(made.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            (made.parent / "cuda_fp16.h").write_text(HALF)
            (made.parent / "kernels.cpp").write_text(text)
            partial = made.with_suffix(".partial")
            subprocess.run([*command, f"-I{made.parent}", "-o", str(partial),
                            str(made.parent / "kernels.cpp")], check=True)
            partial.replace(made)
    return made


@cache
def version() -> str:
    """Return what the compiler says of itself."""
    return subprocess.run([str(COMPILER), "--version"], check=True, capture_output=True,
                          text=True).stdout


def run(name: str, options: tuple[str, ...], args: tuple[Any, ...]) -> None:
    """Run a kernel on NumPy arrays and scalars, with few threads and blocks."""
    launch = getattr(compiled(options), "launch_" + name)
    kept, pointers = [], []
    for value in args:
        if isinstance(value, np.ndarray) and value.dtype.kind != "V":
            held: Any = ctypes.c_void_p(value.__array_interface__["data"][0])
            pointers.append(ctypes.addressof(held))
        else:
            held = np.atleast_1d(np.asarray(value))  # by value: a number or a struct
            pointers.append(held.__array_interface__["data"][0])
        kept.append(held)
    launch(BLOCKS, THREADS, (ctypes.c_void_p * len(pointers))(*pointers))
