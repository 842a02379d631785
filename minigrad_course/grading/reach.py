"""The files that a graded process may read: Python, its shared libraries, a few packages.

NOTE [No folder of programs]
    A folder such as `/usr/lib` or Python's prefix may contain anything, even a checkout of minigrad
    or an environment with it.  So a graded process sees only the standard library, each shared
    library that Python and NumPy use (found by loading them), and the folders of a few packages.
    Packages installed inside the standard library's folder are hidden.  If the answers are still
    visible, minigrad refuses to grade.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..content.stages import CourseError

__all__ = ["inside_library", "interpreter", "known_libraries", "libraries", "refuse_answers",
           "shared_libraries", "site_folders", "standard_library"]

#: The shared libraries that another process has found; see primed.py.
known_libraries: list[str] = []

#: Packages that a graded process may import, besides the standard library and the bundle.
LIBRARIES = ("numpy", "numpy.libs", "pytest", "_pytest", "py.py", "pluggy", "iniconfig",
             "packaging", "pygments", "ml_dtypes")

#: Names of folders of installed packages inside the standard library.
SITE = ("site-packages", "dist-packages")
#: Folders that may contain a shared library under another name; it is shown there too.
ALIASES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")

#: Loads everything that Python and its libraries are linked with, and prints the paths.
_LOAD = """
import importlib, pathlib, sys, sysconfig
sys.path.append({libraries!r})
folder = pathlib.Path(sysconfig.get_path("platstdlib"), "lib-dynload")
names = {{each.name.partition(".")[0] for each in folder.glob("*")}} - {{"_tkinter", "_testcapi"}}
for name in ["numpy", "pytest", *sorted(names)]:
    try:
        importlib.import_module(name)
    except BaseException:
        pass
for line in open("/proc/self/maps"):
    if "/" in line:
        print(line[line.index("/"):].rstrip("\\n"))
"""


def interpreter() -> str:
    """Return the path of the Python executable."""
    return str(Path(sys.executable).resolve())


@cache
def standard_library() -> list[str]:
    """Return the folders of the standard library."""
    own = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix,
           "installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    found = [str(Path(path).resolve()) for name in ("stdlib", "platstdlib")
             if os.path.isdir(path := sysconfig.get_path(name, vars=own))]
    return [path for path in dict.fromkeys(found)
            if not any(path != other and Path(path).is_relative_to(other) for other in found)]


@cache
def site_folders() -> list[str]:
    """Return the folders of installed packages inside the standard library; they are hidden."""
    return [path for base in standard_library() for name in SITE
            if os.path.isdir(path := os.path.join(base, name))]


@cache
def inside_library() -> list[str]:
    """Return the contents of the standard library, without the folders of installed packages."""
    return [os.path.join(base, name) for base in standard_library()
            for name in sorted(os.listdir(base)) if name not in SITE]


@cache
def libraries() -> list[tuple[str, str]]:
    """Return the names and paths of the packages that a graded process may import."""
    found = []
    for name in LIBRARIES:
        path = Path(sysconfig.get_path("platlib")) / name
        if not path.exists() and "." not in name and (spec := find_spec(name)) is not None \
                and spec.submodule_search_locations:
            path = Path(next(iter(spec.submodule_search_locations)))
        if path.exists():
            found.append((name, str(path.resolve())))
    return found


@cache
def shared_libraries() -> list[str]:
    """Return all paths of the files that Python and its libraries are linked with.

    Returns an empty list if there is no /proc, as on macOS.
    """
    if known_libraries:
        return known_libraries
    text = _LOAD.format(libraries=sysconfig.get_path("platlib"))
    done = subprocess.run([interpreter(), "-I", "-S", "-B", "-c", text], capture_output=True,
                          text=True, errors="replace", cwd="/", check=False)
    own = (*standard_library(), *(path for _, path in libraries()))
    files = [Path(line) for line in dict.fromkeys(done.stdout.splitlines())
             if os.path.isfile(line) and not any(Path(line).is_relative_to(each) for each in own)]
    names = {str(name) for file in files for name in _names_of(file)}
    return sorted(names | {each for each in ("/etc/ld.so.cache",) if os.path.exists(each)})


def _names_of(file: Path) -> Iterable[Path]:
    """Yield all paths under which the loader may look for a shared library."""
    here = [name for name in os.listdir(file.parent)
            if name == file.name or os.path.realpath(file.parent / name) == str(file)]
    folders = [str(file.parent)]
    for alias in ALIASES:
        folders += [alias, os.path.join(alias, file.parent.name)]
    for folder in folders:
        for name in here:
            path = Path(folder, name)
            if path.exists() and path.samefile(file):
                yield path


def refuse_answers(private: Iterable[Path] = ()) -> None:
    """Raise CourseError if a graded process could read the package or one of these paths."""
    shown = [*inside_library(), *(path for _, path in libraries())]
    for each in private:
        path = Path(os.path.realpath(each))  # does not fail on circular links
        if any(path.is_relative_to(one) for one in shown):
            raise CourseError(f"a graded process could read {each}, because it is inside the "
                              "folders of Python or of a library; move it elsewhere")
    for folder in _packages_in(tuple(shown)):
        raise CourseError(f"a graded process could read {folder}, which may be minigrad with all "
                          "answers, because it is inside Python's own folders; remove it, or grade "
                          "with a Python that keeps it elsewhere")


@cache
def _packages_in(shown: tuple[str, ...]) -> list[str]:
    """Return the paths in some folders whose names begin with the package's name."""
    found = [path for path in shown if os.path.basename(path).startswith("minigrad")]
    for top in shown:
        for folder, folders, files in os.walk(top):
            found += [os.path.join(folder, name) for name in (*folders, *files)
                      if name.startswith("minigrad")]
    return found
