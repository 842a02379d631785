"""An imaginary GPU under CuPy itself: CuPy's own code, with the host's in the place of CUDA's.

`install()` comes before the first import of CuPy.  From then on

- CUDA's driver, its runtime, cuBLAS, cuSOLVER and cuDNN are the libraries that `build.py` has made;
- the three modules of CuPy that have parts of CUDA compiled into them (its runtime, Thrust, CUB)
  are made anew from CuPy's sources, on top of these libraries;
- the text of each kernel goes to NVIDIA's compiler, which has to accept it, and then to the host's,
  whose result is launched.

Python and Cython code, rules of types, broadcasting and memory pools are CuPy's.  Numbers, errors
and what cannot be captured come out as on a GPU; how quick anything is does not.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[2] / "build" / "imaginary-gpu"

#: In the order in which they need each other; of some CuPy only wants that they are there.
LIBRARIES = ("libcuda.so.1", "libcublasLt.so.13", "libnvJitLink.so.13", "libcusparse.so.12",
             "libcublas.so.13", "libcusolver.so.12", "libcudnn.so.9")
MODULES = {"cupy_backends.cuda.api.runtime": "runtime.so", "cupy.cuda.thrust": "thrust.so",
           "cupy.cuda.cub": "cub.so"}

COMPILE = ("g++", "-std=c++17", "-O1", "-w", "-fPIC", "-fpermissive")
#: Words of kernels whose threads wait for each other.
WAITING = re.compile(r"__sync|__shfl|cub::")
KERNEL = re.compile(r'extern\s+"C"\s*(?:\{\s*)?__global__\s+void\s+'
                    r"(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(")
SHARED = re.compile(r"extern\s+__shared__\s+([\w ]+?)\s+(\w+)\[\]")


def install() -> None:
    """Let CuPy find the imaginary GPU."""
    if not all((BUILT / name).exists() for name in (*LIBRARIES, *MODULES.values())):
        raise RuntimeError("the imaginary GPU is not built: `make imaginary-gpu` does it")
    os.environ["CUPY_CACHE_DIR"] = str(kernels() / "cupy")
    os.environ["CUDNN_FRONTEND_CUDART_LIB_NAME"] = str(BUILT / "libcuda.so.1")
    for name in LIBRARIES:
        ctypes.CDLL(str(BUILT / name), mode=ctypes.RTLD_GLOBAL)
    sys.meta_path.insert(0, Finder())

    from cupy.cuda import compiler

    accepted = compiler._NVRTCProgram.compile

    def compile_both(self: Any, options: Sequence[str] = (), log_stream: Any = None) -> Any:
        by_nvidia = accepted(self, options, log_stream)
        if "__global__" not in self.src:  # CuPy asks for the compiler's version that way
            return by_nvidia
        named = {name: f"named_{i}" for i, name in enumerate(self.name_expressions or ())}
        return compiled(self.src, options, named), named or None

    compiler._NVRTCProgram.compile = compile_both


class Finder:
    """Finds the modules that were made anew in place of CuPy's own."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where a module comes from, None for all others."""
        if name not in MODULES:
            return None
        return spec_from_loader(name, ExtensionFileLoader(name, str(BUILT / MODULES[name])))


@cache
def includes() -> list[str]:
    """Return the folders of headers: ours, CuPy's and NVIDIA's."""
    site = Path(str(sys.modules["cupy"].__file__)).parents[1] if "cupy" in sys.modules else None
    site = site or next(Path(p) for p in sys.path if (Path(p) / "cupy" / "_core").is_dir())
    core = site / "cupy" / "_core" / "include"
    folders = [HERE / "include", HERE, core, core / "cupy" / "_cccl" / "libcudacxx",
               site / "nvidia" / "cu13" / "include"]
    return [f"-I{folder}" for folder in folders]


@cache
def kernels() -> Path:
    """Return the folder of compiled kernels: another one whenever what they include changes."""
    headers = sorted([*HERE.glob("*.h"), *(HERE / "include").rglob("*.*h")])
    text = b"".join(header.read_bytes() for header in headers) + repr(COMPILE).encode()
    return BUILT / hashlib.sha256(text).hexdigest()[:12]


def compiled(source: str, options: Sequence[str], named: dict[str, str]) -> bytes:
    """Return the path of the library that a kernel becomes, as an image for the driver.

    Those that are instances of templates get names to be found by.
    """
    defines = [option for option in options if option.startswith("-D")]
    waits = "true" if WAITING.search(source) else "false"
    text = SHARED.sub(r"\1* \2 = reinterpret_cast<\1*>(machine_shared)", source)
    text = f'#include "prefix.h"\n{text}\nextern "C" bool machine_waits = {waits};\n' + "".join(
        f'extern "C" Work machine_bind_{name}(void** given) '
        f"{{ return machine_bind({kernel}, given); }}\n"
        for kernel, name in [*((name, name) for name in KERNEL.findall(source)), *named.items()])
    name = hashlib.sha256((text + repr(defines)).encode()).hexdigest()[:20]
    library = kernels() / f"{name}.so"
    if not library.exists():
        own = kernels() / f"{name}-{os.getpid()}.cpp"
        own.write_text(text)
        command = [*COMPILE, "-shared", *defines, f"-I{kernels()}", *includes(), str(own),
                   "-o", str(own.with_suffix(".so"))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the host's compiler refuses {own}:\n{done.stderr[:2000]}")
        own.with_suffix(".so").replace(library)
        own.unlink()
    return str(library).encode() + b"\0"
