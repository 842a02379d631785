"""`minigrad doctor`: report what this installation has, what it lacks, and how to install it."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy
from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: Import name, distribution, what needs it, how to install it.
OPTIONAL = (
    ("rich", "rich", "the command", "pip install -e '.[tour]'"),
    ("typer", "typer", "the command", "pip install -e '.[tour]'"),
    ("sklearn", "scikit-learn", "the tour's digits", "pip install -e '.[tour]'"),
    ("PIL", "pillow", "the photographs of minigrad bench", "pip install -e '.[tour]'"),
    ("graphviz", "graphviz", "pictures of graphs", "pip install -e '.[tour]'"),
    ("pytest", "pytest", "minigrad run and learn; running the tests",
     "pip install -e '.[course]'"),
    ("watchfiles", "watchfiles", "minigrad learn", "pip install -e '.[course]'"),
    ("merge3", "merge3", "minigrad upgrade", "pip install -e '.[course]'"),
    ("IPython", "ipython", "notebooks", "pip install -e '.[jupyter]'"),
    ("safetensors", "safetensors", "saving weights", "pip install -e '.[safetensors]'"),
    ("threadpoolctl", "threadpoolctl", "counting BLAS threads",
     "pip install -e '.[threads]'"),
    ("hypothesis", "hypothesis", "the full test suite", "pip install -e '.[test]'"),
    ("torch", "torch", "comparison with PyTorch", "make test WITH_TORCH=1"),
    ("cupy", "cupy", "device='cuda'", "see the CuPy installation guide"),
)
THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def run(console: Console) -> int:
    """Print the report; return 1 if the tour cannot run because a package is missing."""
    table = Table("what", "found", "needed for, or how to install", box=None, pad_edge=False)
    table.add_row("Python", platform.python_version(), platform.platform(terse=True))
    table.add_row("NumPy", numpy.__version__, "the arrays")
    table.add_row("cores", str(available_cores()), "usable by this process")
    table.add_row("BLAS", blas_name(), blas_threads())
    for module, distribution, purpose, remedy in OPTIONAL:
        found = find_spec(module) is not None
        table.add_row(
            distribution,
            installed_version(distribution) if found else "no",
            escape(purpose if found else f"{purpose}: {remedy}"),
            style="" if found else "yellow",
        )
    dot = shutil.which("dot")
    remedy = "pictures of graphs: apt install graphviz, or brew install graphviz"
    table.add_row(
        "program dot", "yes" if dot else "no", dot or remedy, style="" if dot else "yellow"
    )
    console.print(table)
    if find_spec("sklearn") is None:
        console.print("The tour needs scikit-learn: pip install -e '.[tour]'", markup=False)
        return 1
    console.print("The tour can run: minigrad tour")
    missing = [distribution for module, distribution, _, remedy in OPTIONAL
               if "[course]" in remedy and find_spec(module) is None]
    if missing:
        console.print(f"The course needs {', '.join(missing)}: pip install -e '.[course]'",
                      markup=False)
    else:
        console.print("The course can run: minigrad init DIR, then minigrad learn in DIR")
    return 0


def installed_version(distribution: str) -> str:
    """Return the version of an installed distribution."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "yes"


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blas_name() -> str:
    """Return the name of the linear algebra library that NumPy was built with."""
    config: Any = numpy.show_config(mode="dicts")
    return str(config.get("Build Dependencies", {}).get("blas", {}).get("name", "unknown"))


def blas_threads() -> str:
    """Return how many threads matrix products use, as far as we can find out."""
    settings = [f"{name}={os.environ[name]}" for name in THREAD_SETTINGS if name in os.environ]
    text = ", ".join(settings) or "threads not limited by the environment"
    try:
        from threadpoolctl import threadpool_info  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        return text
    pools = [p["num_threads"] for p in threadpool_info() if p.get("user_api") == "blas"]
    return f"{max(pools)} threads ({text})" if pools else text
