"""Build our own wheel from the files that run here: a checkout's, or an installed package's.

This needs no build tool and no downloads, so assignments can be made offline.  The wheel contains
the files that `hatch_build.py` puts into a wheel, and never the solutions next to the package.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import minigrad

from ..content.folders import COURSE
from ..content.stages import CourseError, checkout

__all__ = ["make_wheel"]

NAME = "minigrad-course"


def make_wheel(folder: Path) -> Path:
    """Write the wheel into `folder` and return its path; equal files give equal bytes.

    Raises CourseError if this package's own metadata is missing.
    """
    stem = f"{NAME.replace('-', '_')}-{minigrad.__version__}"
    info = f"{stem}.dist-info"
    files = dict(sorted({**dict(_package()), **_about(info)}.items()))
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD")
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


def _package() -> Iterator[tuple[str, bytes]]:
    """Yield each file's name in the wheel, and its content."""
    package = Path(minigrad.__file__).resolve().parent
    yield from _tree(package, "minigrad")
    yield from _tree(COURSE, "minigrad_course")
    root = checkout()
    if root == COURSE / "data":
        return  # an installed package already contains the course's data
    for name in _data(root):
        yield from _tree(root / name, f"minigrad_course/data/{name}")


def _tree(path: Path, name: str) -> Iterator[tuple[str, bytes]]:
    if path.is_file():
        yield name, path.read_bytes()
        return
    for each in sorted(path.rglob("*")):
        inside = each.relative_to(path)
        if each.is_file() and "__pycache__" not in inside.parts and each.suffix != ".pyc":
            yield f"{name}/{inside.as_posix()}", each.read_bytes()


def _data(root: Path) -> tuple[str, ...]:
    """Return the DATA of the build hook, parsed because importing it would need the build tool."""
    tree = ast.parse((root / "hatch_build.py").read_text(encoding="utf-8"))
    for each in tree.body:
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "DATA":
            return tuple(ast.literal_eval(each.value))
    raise CourseError(f"{root / 'hatch_build.py'} defines no DATA")


def _about(info: str) -> dict[str, bytes]:
    """Return the files with the distribution's metadata."""
    wheel = "Wheel-Version: 1.0\nGenerator: minigrad export\nRoot-Is-Purelib: true\n" \
            "Tag: py3-none-any\n"
    about = {f"{info}/WHEEL": wheel.encode()}
    project = checkout() / "pyproject.toml"
    if project.is_file():
        read = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        scripts = "".join(f"{name} = {where}\n" for name, where in read["scripts"].items())
        return about | {
            f"{info}/METADATA": _metadata(read).encode(),
            f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}".encode(),
            f"{info}/licenses/LICENSE": (project.parent / "LICENSE").read_bytes(),
        }
    try:
        installed = distribution(NAME)
    except PackageNotFoundError:
        raise CourseError(f"found no metadata of {NAME}; install it with pip") from None
    for name in ("METADATA", "entry_points.txt", "licenses/LICENSE"):
        if (text := installed.read_text(name)) is not None:
            about[f"{info}/{name}"] = text.encode()
    return about


def _metadata(project: dict[str, Any]) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}",
             f"Version: {minigrad.__version__}", f"Summary: {project['description']}",
             f"License-Expression: {project['license']}",
             "License-File: LICENSE", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {each}" for each in project["dependencies"]]
    for extra, needed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        for each in needed:
            name, _, marker = (part.strip() for part in each.partition(";"))
            where = f"({marker}) and " if marker else ""
            lines.append(f"Requires-Dist: {name}; {where}extra == '{extra}'")
    return "\n".join(lines) + "\n"


def _record(files: dict[str, bytes], own: str) -> bytes:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return ("\n".join([*lines, f"{own},,"]) + "\n").encode()
