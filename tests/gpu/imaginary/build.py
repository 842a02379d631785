"""Build the libraries and modules of the imaginary GPU, from the files here and CuPy's sources."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from importlib.metadata import version
from pathlib import Path

from machine import BUILT, COMPILE, HERE, LIBRARIES, MODULES, includes, kernels

#: The type and the constants with which CuPy's own packages are made.
CONSTANTS = {"CUPY_USE_CUDA_PYTHON": False, "CUPY_CUFFT_STATIC": False, "CUPY_HIP_VERSION": 0,
             "CUPY_CYTHON_VERSION": version("cython"), "CUPY_CUDA_VERSION": 13000,
             "CUPY_DTYPE_WINDOWS": False}
DIRECTIVES = {"binding": False, "c_api_binop_methods": True, "embedsignature": True,
              "freethreading_compatible": True, "warn.deprecated.IF": False}

#: What functions return that nobody has written: "not supported", of each library.
REFUSALS = {"cuda": 801, "cublas": 15, "cusolver": 9}


def run(*command: object, **environment: str) -> str:
    """Run a command and return what it printed; CalledProcessError if it fails."""
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}).stdout


def symbols(library: Path, prefix: str, defined: bool) -> set[str]:
    """Return the names that a library defines, or wants from others."""
    listed = run("nm", "-D", "--defined-only" if defined else "--undefined-only", library)
    names = {line.split()[-1].split("@")[0] for line in listed.splitlines()}
    return {name for name in names if name.startswith(prefix)}


def library(name: str, sources: list[str], prefix: str = "", users: tuple[Path, ...] = ()) -> None:
    """Compile a library; functions that its users want and it has not say so when called."""
    target = BUILT / name
    command = [*COMPILE, "-O2", "-g", "-shared", f"-Wl,-soname,{name}", "-Wl,--default-symver",
               *includes(), "-o", target]
    paths = [HERE / source for source in sources]
    run(*command, *paths)
    missing = {n for user in users for n in symbols(user, prefix, defined=False)}
    missing -= symbols(target, prefix, defined=True)
    if missing:
        refusing = BUILT / f"{prefix}_refusing.cpp"
        refusing.write_text("#include <cstdio>\n" + "".join(
            f'extern "C" int {n}() {{ std::fprintf(stderr, "{n} is not here\\n"); '
            f"return {REFUSALS[prefix]}; }}\n" for n in sorted(missing)))
        run(*command, *paths, refusing)


def sources() -> Path:
    """Return the folder of CuPy's sources, of the version that is installed."""
    name = f"cupy-{version('cupy-cuda13x')}"
    folder = BUILT / name
    if not folder.exists():
        run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "cupy",
            "--no-build-isolation", name.replace("-", "=="), "--dest", BUILT,
            CUPY_INSTALL_USE_STUB="1")
        with tarfile.open(BUILT / f"{name}.tar.gz") as archive:
            archive.extractall(BUILT, filter="data")
    return folder


def modules(folder: Path) -> None:
    """Make the modules of CuPy anew that have parts of CUDA in them."""
    from Cython.Build import cythonize
    from setuptools import Extension

    os.chdir(folder)
    places = {name: name.replace(".", "/") for name in MODULES}
    cythonize([Extension(name, [f"{place}.pyx"], language="c++") for name, place in places.items()],
              compile_time_env=CONSTANTS, compiler_directives=DIRECTIVES, language_level=3,
              quiet=True)
    for name, place in places.items():
        own = [HERE / "prebuilt.cpp"] if name.startswith("cupy.cuda") else []
        run(*COMPILE, "-shared", f"-I{Path(place).parent}", *includes(),
            f"-I{sysconfig.get_path('include')}", f"{place}.cpp", *own,
            "-o", BUILT / MODULES[name])


def main() -> None:
    """Build all that is missing, or older than what it is made of."""
    BUILT.mkdir(parents=True, exist_ok=True)
    made = [BUILT / name for name in (*LIBRARIES, *MODULES.values())]
    newest = max(path.stat().st_mtime for path in HERE.rglob("*") if path.suffix in (".cpp", ".h"))
    if not all(path.exists() and path.stat().st_mtime > newest for path in made):
        modules(sources())
        site = Path(next(i for i in includes() if i.endswith("nvidia/cu13/include"))[2:]).parents[2]
        by_cupy = site / "cupy_backends" / "cuda" / "libs"
        library("libcuda.so.1", ["runtime.cpp", "driver.cpp"], "cuda", (BUILT / "runtime.so",))
        library("libcublas.so.13", ["cublas.cpp"], "cublas", tuple(by_cupy.glob("cublas.*.so")))
        library("libcusolver.so.12", ["cusolver.cpp"], "cusolver",
                (*by_cupy.glob("cusolver.*.so"), *(site / "cupyx").glob("_cusolver.*.so")))
        library("libcudnn.so.9", ["cudnn.cpp"])
        for name in LIBRARIES:
            if not (BUILT / name).exists() or name in ("libcublasLt.so.13", "libcusparse.so.12"):
                library(name, ["empty.cpp"])
    if not (kernels() / "prefix.h.gch").exists():
        kernels().mkdir(exist_ok=True)
        (kernels() / "prefix.h").write_text((HERE / "include" / "prefix.h").read_text())
        run(*COMPILE, "-x", "c++-header", *includes(), kernels() / "prefix.h",
            "-o", kernels() / "prefix.h.gch")


if __name__ == "__main__":
    main()
