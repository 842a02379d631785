"""The backend's CUDA kernels on a CPU: the same text, compiled by a C++ compiler.

Macros stand for CUDA's words.  The threads of a block are threads, and `__syncthreads` is a
barrier, so that sums in shared memory run as they would on a GPU, if with fewer threads.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++") or shutil.which("clang++")
THREADS, BLOCKS = 4, 3

PRELUDE = r"""
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
using std::exp; using std::log; using std::sqrt;
#define __device__
#define __global__
struct Extent { unsigned x; };
static thread_local Extent threadIdx, blockIdx;
static Extent blockDim, gridDim;
static thread_local char* shared_memory;
static thread_local std::barrier<>* fence;
#define __syncthreads() fence->arrive_and_wait()
#undef SHARED
#define SHARED(type, name) type* name = (type*)shared_memory
"""

LAUNCH = r"""
extern "C" void launch(unsigned blocks, unsigned threads, void** args) {
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
                KERNEL(ARGUMENTS);
            });
        for (auto& one : running) one.join();
    }
}
"""


@cache
def folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="minigrad-kernels-"))


@cache
def compiled(code: str, name: str, options: tuple[str, ...]) -> Any:
    """Return `launch(blocks, threads, args)` of a kernel."""
    signature = re.search(rf"void {name}\((.*?)\)\s*{{", code, re.S)
    assert signature, f"no kernel named {name}"
    types = [re.sub(r"\w+\s*$", "", parameter).strip()
             for parameter in signature[1].split(",")]
    arguments = ", ".join(f"*({kind}*)args[{i}]" for i, kind in enumerate(types))
    code = re.sub(r"#define SHARED.*\n", "", code)
    text = PRELUDE + code + LAUNCH.replace("KERNEL", name).replace("ARGUMENTS", arguments)
    path = folder() / (hashlib.sha256((text + str(options)).encode()).hexdigest()[:16] + ".cpp")
    library = path.with_suffix(".so")
    path.write_text(text)
    defines = [o for o in options if o.startswith("-D")]
    subprocess.run([str(COMPILER), "-std=c++20", "-O0", "-pthread", "-shared", "-fPIC", "-Wall",
                    "-Wno-unused", *defines, "-o", str(library), str(path)], check=True)
    return ctypes.CDLL(str(library)).launch


def run(code: str, name: str, options: tuple[str, ...], args: tuple[Any, ...]) -> None:
    """Run a kernel on NumPy arrays and scalars, with few threads and blocks."""
    launch = compiled(code, name, options)
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
