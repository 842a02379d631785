"""Puts what runs in the reader's browser into the built site: Pyodide, wheels, the course, editor.

    build(site_dir, root)      called by site/hooks.py after all pages were written
"""

from __future__ import annotations

import ast
import base64
import gzip
import hashlib
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["build"]

HERE = Path(__file__).resolve().parent
MODULES = HERE.parent / "node_modules"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
#: What the package brings that a page cannot use.
LEFT_OUT = ("minigrad/backend/cupy/", "minigrad_course/commands/", "minigrad_course/dev/",
            "minigrad_course/export/", "minigrad_course/grading/", "minigrad_course/pictures/",
            "minigrad_course/similarity/")
#: What only those need who write an exercise.
LATER = ("lessons/stages/", "tests/")
#: What of NumPy's wheel is for other compilers and type checkers; its licences stay.
NOT_RUN = re.compile(r"^numpy/f2py/|/tests/|/include/|\.(pyi|pxd|c|h|a|ini)$|/RECORD$")
#: The parts that the first run fetches, besides Pyodide's own files.
FIRST = ("package", "compiled_package")
#: Pyodide asks for this file itself, and worker.js gives it the packed one: hosts differ in whether
#: they compress it.
WASM = "pyodide/pyodide.asm.wasm"
#: Packages whose modules are left out one by one.
PARTED = ("encodings", "numpy")


def build(site_dir: Path, root: Path) -> None:
    """Write `site_dir/runtime`; SystemExit says what is missing."""
    sys.path.insert(0, str(HERE))
    fetch = importlib.import_module("fetch")
    sys.path.remove(str(HERE))
    runtime, cache = site_dir / "runtime", root / "build" / "cache"
    runtime.mkdir(parents=True, exist_ok=True)
    numpy = _pyodide(runtime / "pyodide", fetch.numpy_wheel(MODULES / "pyodide", cache))
    (runtime / "wheels").mkdir(exist_ok=True)
    wheels = [Path(shutil.copyfile(each, runtime / "wheels" / each.name))
              for each in fetch.tool_wheels(cache)]
    later = pack(runtime, root)
    _editor(runtime / "editor.js")
    shutil.copyfile(MODULES / "@viz-js" / "viz" / "dist" / "viz.js", runtime / "viz.js")
    (runtime / "course.json").write_text(json.dumps(_handed_out(root)), encoding="utf-8")
    manifest: dict[str, Any] = {
        "numpy": numpy.name,
        "package": _named(runtime / "package.tar.gz", runtime),
        "more": _named(runtime / "more.tar.gz", runtime), "later": later,
        "course": _named(runtime / "course.tar.gz", runtime),
        "wheels": [_named(wheel, runtime) for wheel in wheels]}
    _write(runtime, manifest | {"imports": _imports(root)})
    _run("node", str(HERE / "compile.mjs"), str(runtime), failed="Pyodide could not compile")
    manifest["rest"] = _leave_out(runtime, numpy, _compiled_alone(runtime))
    for name in ("library", "rest"):
        manifest[f"{name}_archive"] = _named(runtime / f"{name}.tar.gz", runtime)
    _gzip(runtime / WASM)
    manifest["python"] = _version(runtime / "pyodide")
    for name in ("package", "course"):
        folder = runtime / f"compiled-{name}"
        _archive(runtime / f"compiled-{name}.tar.gz",
                 [(each.relative_to(folder).as_posix(), each)
                  for each in folder.rglob("*") if each.is_file()])
        shutil.rmtree(folder)
        manifest[f"compiled_{name}"] = _named(runtime / f"compiled-{name}.tar.gz", runtime)
    _write_sizes(runtime, manifest)
    manifest["sizes"] = {each.relative_to(runtime).as_posix(): each.stat().st_size
                         for each in sorted(runtime.rglob("*")) if each.is_file()}
    _write(runtime, manifest)


def _write(runtime: Path, manifest: dict[str, Any]) -> None:
    (runtime / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def _pyodide(folder: Path, numpy: Path) -> Path:
    """Copy Pyodide into a folder, with as much of NumPy's wheel as runs; return that wheel."""
    folder.mkdir(exist_ok=True)
    for name in PYODIDE:
        shutil.copyfile(MODULES / "pyodide" / name, folder / name)
    lighter = folder / numpy.name
    with zipfile.ZipFile(numpy) as whole, zipfile.ZipFile(lighter, "w") as packed:
        for entry in whole.infolist():
            if not NOT_RUN.search(entry.filename):
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, whole.read(entry), compresslevel=9)
    _lock(lighter)
    return lighter


def _lock(numpy: Path) -> None:
    """Name NumPy alone to Pyodide: what else a program imports is not looked for elsewhere."""
    lock = json.loads((MODULES / "pyodide" / "pyodide-lock.json").read_text("utf-8"))
    wheel = lock["packages"]["numpy"] | {"sha256": _hash(numpy).hex()}
    lock["packages"] = {"numpy": wheel}
    (numpy.parent / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")


def _imports(root: Path) -> dict[str, list[str]]:
    """Return the modules that the lessons' blocks import, and that answers and tests import."""
    block = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
    lessons = [text for file in sorted((root / "lessons").glob("*.md"))
               for text in block.findall(file.read_text("utf-8"))]
    tests = [file.read_text("utf-8") for folder in ("solutions", "tests/stages", "lessons/stages")
             for file in sorted((root / folder).rglob("*.py"))]
    return {"lessons": _imported_by(lessons), "tests": _imported_by(tests)}


def _imported_by(programs: Iterable[str]) -> list[str]:
    names = set()
    for program in programs:
        try:
            tree = ast.parse(program)
        except SyntaxError:  # an excerpt
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return sorted(each for each in names if each.partition(".")[0] not in ("minigrad", "torch"))


def _compiled_alone(runtime: Path) -> set[str]:
    """Put NumPy's compiled files where Python takes them without a source; return their sources."""
    (folder,) = (runtime / "compiled-package" / "lib").glob("python3.*/site-packages")
    sources = set()
    for file in list((folder / "numpy").rglob("__pycache__/*.pyc")):
        target = file.parent.parent / f"{file.name.partition('.')[0]}.pyc"
        file.rename(target)
        sources.add(target.with_suffix(".py").relative_to(folder).as_posix())
    return sources


def _leave_out(runtime: Path, numpy: Path, sources: set[str]) -> dict[str, list[str]]:
    """Keep the modules of Python's library and of NumPy that imported.json lists.

    The modules that only the tests import go into library.tar.gz, and all others into rest.tar.gz,
    which a page fetches if a program imports one of the returned names.  The `sources` go there
    too, since only a traceback shows their lines.
    """
    imported = json.loads((runtime / "imported.json").read_text("utf-8"))
    parts: dict[str, list[tuple[str, bytes]]] = {"library": [], "rest": []}
    left_out: dict[str, set[str]] = {"library": set(), "rest": set()}
    for archive in (runtime / "pyodide" / "python_stdlib.zip", numpy):
        first, course = set(imported["first"]), set(imported["course"])
        with zipfile.ZipFile(archive) as whole:
            entries = [(each.filename, whole.read(each)) for each in whole.infolist()
                       if not each.is_dir()]
        kept = []
        for name, content in entries:
            if name in sources:
                parts["rest"].append((name, content))
                continue
            part = _part(name)
            if not part or part in first:
                kept.append((name, content))
                continue
            where = "library" if part in course else "rest"
            parts[where].append((name, content))
            left_out[where].add(part)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
            for name, content in kept:
                packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    _lock(numpy)
    for name, files in parts.items():
        _archive(runtime / f"{name}.tar.gz", files)
    return {name: sorted(each) for name, each in left_out.items()}


def _part(name: str) -> str:
    """Return the module that is kept or left out as a whole with a file; "" for one that is kept.

    >>> _part("email/mime/text.py"), _part("numpy/ma/core.py"), _part("encodings/cp037.py")
    ('email', 'numpy.ma', 'encodings.cp037')
    >>> _part("numpy/__init__.py")
    ''
    """
    top, *below = name.removesuffix(".py").split("/")
    if top.endswith(".dist-info") or (below == ["__init__"] and top in PARTED):
        return ""
    return f"{top}.{below[0]}" if top in PARTED else top


def _gzip(file: Path) -> None:
    with (file.with_name(f"{file.name}.gz").open("wb") as stream,
          gzip.GzipFile("", "wb", 9, stream, mtime=0) as packed):
        packed.write(file.read_bytes())
    file.unlink()


def _write_sizes(runtime: Path, manifest: dict[str, Any]) -> None:
    """Write sizes.js: how many bytes the first run fetches, as a server sends them."""
    files = [*(runtime / "pyodide").iterdir(),
             *(runtime / manifest[name]["path"].partition("?")[0] for name in FIRST)]
    sent = sum(min(len(content), len(gzip.compress(content, 9)))
               for content in (each.read_bytes() for each in files))
    (runtime / "sizes.js").write_text(
        f"// Made by build.py: what the first run fetches, compressed.\n"
        f"export const PYTHON_BYTES = {sent};\n", encoding="utf-8")


def pack(runtime: Path, root: Path) -> list[str]:
    """Write the archives of what the page's Python gets; return the names by which `more` is asked.

    `package` is what every page imports, `more` the rest, fetched for code that names a module of
    it; `course` is what tests exercises.
    """
    parts: dict[str, list[tuple[str, Path]]] = {"package": [], "more": [], "course": []}
    first = _imported(root)
    for name, file in _packed(root):
        of_course = name.startswith(LATER) or name.endswith(".toml")
        at_once = file in first or file.parent == HERE / "python"
        parts["course" if of_course else "package" if at_once else "more"].append((name, file))
    for part, files in parts.items():
        _archive(runtime / f"{part}.tar.gz", files)
    names = {name for name, _ in parts["package"]}
    return sorted({_first_missing(name, names) for name, _ in parts["more"]
                   if name.endswith(".py") and not name.endswith("__main__.py")
                   and name.startswith(("minigrad/", "minigrad_course/"))})


def _first_missing(name: str, names: set[str]) -> str:
    """Return the module that an import of this file meets first outside of `names`.

    >>> _first_missing("minigrad/viz/dot.py", {"minigrad/__init__.py"})
    'viz'
    """
    parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
    return next((part for place, part in enumerate(parts[:-1])
                 if "/".join([*parts[:place + 1], "__init__.py"]) not in names), parts[-1])


def _imported(root: Path) -> set[Path]:
    """Return the files of what a page imports, and of what the package offers by its `__all__`.

    Most of these are loaded when a program names them, but a page would wait for each.
    """
    program = """if True:
        import sys, types
        import blocks, minigrad, questions
        from minigrad import _C, _six, linalg, special
        from minigrad.autograd import batched_grads

        def load(package):
            for name in getattr(package, "__all__", ()):
                each = getattr(package, name)
                if isinstance(each, types.ModuleType) and each.__name__.startswith("minigrad."):
                    load(each)

        load(minigrad)
        minigrad.ops.load_all()
        print(*{getattr(each, "__file__", None) for each in sys.modules.values()}, sep="\\n")"""
    path = os.pathsep.join((str(HERE / "python"), str(root)))
    told = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, check=True).stdout
    return {Path(line) for line in told.splitlines()}


def _packed(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield what the page's Python gets: name in the archive, and file."""
    for package in ("minigrad", "minigrad_course"):
        for file in (root / package).rglob("*"):
            name = file.relative_to(root).as_posix()
            if file.suffix in (".py", ".html") and not name.startswith(LEFT_OUT):
                yield name, file
    for pattern in ("lessons/*.toml", "lessons/stages/*.toml", "lessons/stages/*.py",
                    "lessons/programs/*.py", "tests/stages/*.py", "tests/_oracle.py"):
        for file in root.glob(pattern):
            yield file.relative_to(root).as_posix(), file
    for file in (HERE / "python").glob("*.py"):
        yield file.name, file


def _archive(target: Path, files: Iterable[tuple[str, Path | bytes]]) -> None:
    """Pack files as one stream, which is smaller than a zip; the same files give the same bytes."""
    with (target.open("wb") as stream,
          gzip.GzipFile("", "wb", 9, stream, mtime=0) as packed,
          tarfile.open(fileobj=packed, mode="w") as archive):
        for name, file in sorted(files, key=lambda each: each[0]):
            entry = tarfile.TarInfo(name)
            content = file if isinstance(file, bytes) else file.read_bytes()
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _editor(target: Path) -> None:
    _run(str(MODULES / ".bin" / "esbuild"), str(HERE / "editor.js"), "--bundle", "--minify",
         "--format=esm", "--target=es2022", "--log-level=warning", f"--outfile={target}",
         failed="esbuild could not make the editor")


def _run(*command: str, failed: str) -> None:
    if subprocess.run(command, check=False).returncode:
        raise SystemExit(f"site: {failed} (its message is above)")


def _handed_out(root: Path) -> dict[str, Any]:
    """Return what an export of the reader's work is filled up with: every stage's exercises."""
    from minigrad import __version__
    from minigrad_course.content.stages import stages

    return {"version": __version__, "stages": {
        stage.key: {path: {"file": stage.exercise(path, Path()).as_posix(),
                           "text": stage.handed_out(path)}
                    for path in stage.modules}
        for stage in stages(root) if stage.holes}}


def _version(pyodide: Path) -> str:
    """Return what is new with each Pyodide: what a browser kept of another one is not used."""
    digest = hashlib.sha256()
    for file in sorted(pyodide.iterdir()):
        if not file.name.startswith("numpy") and file.suffix != ".json":
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _named(file: Path, runtime: Path) -> dict[str, str]:
    """Return a file's address, new with each content, and what the browser checks it by."""
    digest = _hash(file)
    return {"path": f"{file.relative_to(runtime).as_posix()}?{digest.hex()[:8]}",
            "integrity": f"sha256-{base64.b64encode(digest).decode()}"}


def _hash(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()
