"""Imports point downward: read from the sources with `ast`, nothing of the package is run.

An import is *upward* when its target stands in a higher layer than the importing module, and
*nested* when it stands inside a function or a class, where it could hide an upward one. Imports
under `if TYPE_CHECKING:` never run and are left alone, except in a package that loads on demand:
there they say what it loads later.  `on_demand.later("nn.init")` counts as an import too.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "minigrad"
COURSE = "minigrad_course"
INIT = "__init__"

# From the bottom up; the modules of one row may import each other as long as no cycle arises.
# The course reads the package as its users do, so it stands above the package's own __init__.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("tiny",),  # the idea on plain numbers: nothing of the package, and nothing needs it
    ("_names",),
    ("on_demand",),  # it imports what a table names
    ("_state", "frames"),
    ("shapes",),
    ("dtypes",),
    ("backend",),
    ("device",),
    ("default_device",),
    ("graph",),
    ("tensor",),
    ("backends", "cuda", "testing", "version"),
    ("op",),
    ("engine",),
    ("codegen",),
    ("ops",),
    ("batching",),
    ("autograd",),
    ("linalg", "masked", "special", "signal"),
    ("amp", "serialization"),
    ("func",),
    ("profiler",),
    ("distributions",),
    ("nn",),
    ("optim",),
    ("aot",),
    ("utils",),
    ("viz", "examples"),  # examples: what lessons begin with
    ("_C", "_six", "compat"),
    ("accelerator", "compiler", "functional", "futures", "jit", "overrides", "return_types",
     "storage", "torch_version", "types"),  # loaded when a program asks
    (INIT,),
    ("__main__",),
    ("minigrad_course",),
)
#: The folders of the course, from the bottom up: an import between two of them leads to a lower
#: row. The files beside the folders (the command, the extension for notebooks) stand above all.
COURSE_LAYERS: tuple[tuple[str, ...], ...] = (
    ("child_process",  # what runs in the process of a learner's code
     "demos",  # data and small trainings
     "pictures"),
    ("content",),  # the course as files
    ("running",),  # starts those processes
    ("verdicts",),
    ("learner",),  # a learner's folder
    ("lessons",),
    ("terminal",),
    ("bench", "tour"),
    ("capstone", "grading"),
    ("export", "similarity"),
    ("jobs",),
    ("dev",),
    ("commands",),
)
COURSE_RANK = {name: rank for rank, row in enumerate(COURSE_LAYERS) for name in row}
#: Files beside the folders of the course, at most: more say that a folder is missing.
COURSE_FILES = 6
#: The package that nothing imports but the line that switches it on.
RING = "codegen"
#: The command that prints what is generated imports it too.
SHOWS_THE_RING = "minigrad_course.commands.show"
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}

REQUIRED = {"numpy"}

# Optional dependencies, and the layers whose functions may import them.
OPTIONAL: dict[str, set[str]] = {
    "cupy": {"backend"},
    "cupyx": {"backend"},
    "cupy_backends": {"backend"},
    "cudnn": {"backend"},
    "graphviz": {"viz", "minigrad_course"},
    "js": {"viz"},  # JavaScript's global object, where Python runs in a browser
    "rich": {"minigrad_course"},
    "typer": {"minigrad_course"},
    "sklearn": {"minigrad_course", "utils"},
    "threadpoolctl": {"backend", "minigrad_course"},
    "tensorboard": {"utils"},
    "torch": {"minigrad_course", "utils"},
    "safetensors": {"utils"},
    "nbformat": {"minigrad_course"},
    "pytest": {"minigrad_course"},
    "watchfiles": {"minigrad_course"},
    "merge3": {"minigrad_course"},
    "distributed": {"minigrad_course"},
}

# Modules that make no sense without an optional dependency: they import it at their top, and are
# themselves imported inside the function that needs them.
LAZY = ("minigrad.backend.cupy", "minigrad_course")

# Programs of their own: they may import nothing of the package before they have begun.
PROGRAMS = {"minigrad_course.child_process.swap",
            "minigrad_course.child_process.program_recorder",
            "minigrad_course.child_process.import_tracer",
            "minigrad.compat.as_torch",  # it imports what a program names
            "minigrad.on_demand",  # it imports a module when a program names something in it
            "minigrad.ops",  # as does this, the file of an op
            "minigrad.cuda.amp",  # another name of a module in a layer above
            "minigrad.compat.found",  # and this
            # In a page it is there before the package, and after it.
            "minigrad_course.child_process.closing",
            "minigrad_course.child_process.second_copy",
            "minigrad_course.jupyter",  # it runs in the learner's kernel, before the swap
            "minigrad_course.grading.child", "minigrad_course.grading.confine",
            "minigrad_course.export.autograder",
            "minigrad_course.dev.relatives_child"}

# Packages that import every file in their folder, by a loop.
EVERY_FILE = {"minigrad.ops"}


@dataclass(frozen=True)
class Import:
    """One imported module: its full name, the line, and whether a function or class holds it."""

    target: str
    line: int
    nested: bool


def is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def absolute(name: str, dots: int, module: str, is_package: bool) -> str:
    """Spell a relative name out, as seen from `module`."""
    if not dots:
        return name
    parts = module.split(".")
    parts = parts[: len(parts) - dots + is_package]
    return ".".join([*parts, name] if name else parts)


def imports(source: str, module: str, modules: dict[str, bool]) -> list[Import]:
    """Return what `source`, the text of `module`, imports when it runs."""
    is_package = modules.get(module, False)

    def named(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node.module or "", node.level, module, is_package)
            for alias in node.names:
                child = f"{base}.{alias.name}"
                yield child if child in modules else base
        elif isinstance(node, ast.Call):
            function = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
            function = function.id if isinstance(function, ast.Name) else function
            if function in ("import_module", "__import__"):
                argument = node.args[0] if node.args else None
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    name = argument.value.lstrip(".")
                    yield absolute(name, len(argument.value) - len(name), module, is_package)
                elif module in EVERY_FILE:
                    yield from (name for name in modules if name.startswith(f"{module}."))
                else:
                    yield "<computed>"
            elif function in ("later", "module_of") and isinstance(node.args[0], ast.Constant):
                yield f"{PACKAGE}.{node.args[0].value}"

    def walk(node: ast.AST, nested: bool) -> Iterator[Import]:
        for target in named(node):
            yield Import(target, node.lineno, nested)  # type: ignore[attr-defined]  # all have one
        if isinstance(node, ast.If) and is_type_checking(node.test) and not on_demand:
            children: Iterator[ast.AST] = iter(node.orelse)
        else:
            children = ast.iter_child_nodes(node)
        holds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        for child in children:
            yield from walk(child, nested or isinstance(node, holds))

    on_demand = "on_demand.attributes(__name__)" in source
    return [found for found in walk(ast.parse(source), nested=False)
            if not (on_demand and found.target in (PACKAGE, f"{PACKAGE}._functions"))]  # a stub


def layer_of(module: str) -> str:
    parts = module.split(".")
    if parts[0] == COURSE:
        return COURSE
    return parts[1] if len(parts) > 1 else INIT


def is_lazy(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in LAZY)


def complaint(module: str, found: Import) -> str | None:
    """Return what is wrong with one import of `module`, or None."""
    own, top = layer_of(module), found.target.split(".")[0]
    if own not in RANK:
        return "has no layer: name it in LAYERS"
    if top in (PACKAGE, COURSE):
        other = layer_of(found.target)
        if other not in RANK:
            return "is imported, but has no layer: name it in LAYERS"
        if other == RING and own not in (RING, INIT) and module != SHOWS_THE_RING:
            return f"{RING} is imported by the switch in minigrad/__init__.py alone"
        if RANK[other] > RANK[own]:
            return f"upward import: {own} stands below {other}"
        if is_lazy(found.target) and not is_lazy(module):
            return None if found.nested else "module of an optional dependency at module level"
        return "nested import" if found.nested else None
    if top in OPTIONAL:
        if not (found.nested or is_lazy(module)):
            return "optional dependency imported at module level"
        return None if own in OPTIONAL[top] else f"no layer named in OPTIONAL[{top!r}] is {own}"
    if top not in REQUIRED and top not in sys.stdlib_module_names:
        return "third-party import that neither REQUIRED nor OPTIONAL names"
    return "nested import" if found.nested else None


def violations(sources: dict[str, str], packages: frozenset[str] = frozenset()) -> list[str]:
    """Return every complaint about `sources` (module name -> text), cycles in a layer included."""
    modules = {name: name in packages for name in sources}
    found = {name: imports(source, name, modules) for name, source in sources.items()}
    wrong = [
        f"{name}:{one.line}: {one.target}: {why}"
        for name, several in found.items()
        for one in several
        if name not in PROGRAMS and (why := complaint(name, one))
    ]
    unplaced = {name for name in sources if layer_of(name) not in RANK}
    wrong += [f"{name}: has no layer: name it in LAYERS" for name in sorted(unplaced)]
    graph = {
        name: {
            one.target
            for one in several
            if one.target in sources and layer_of(one.target) == layer_of(name)
        }
        for name, several in found.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        wrong.append("import cycle: " + " -> ".join(reversed(error.args[1])))
    return wrong


def package_sources() -> tuple[dict[str, str], frozenset[str]]:
    sources, packages = {}, set()
    for path in sorted(p for top in (PACKAGE, COURSE) for p in (ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == INIT else parts)
        sources[name] = path.read_text(encoding="utf-8")
        if parts[-1] == INIT:
            packages.add(name)
    return sources, frozenset(packages)


def test_the_package_imports_downward() -> None:
    sources, packages = package_sources()
    assert {"minigrad", "minigrad.tensor.tensor", "minigrad.op.declaration"} <= sources.keys()
    wrong = violations(sources, packages)
    assert not wrong, "\n" + "\n".join(wrong)


def test_the_package_needs_numpy_alone() -> None:
    code = (
        "import sys, numpy, numpy.random\n"
        f"for name in {sorted(OPTIONAL)}: sys.modules[name] = None\n"
        "before = set(sys.modules)\n"
        "import minigrad\n"
        "assert minigrad.__file__\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new - set(sys.stdlib_module_names) - {'minigrad', 'numpy'}))\n"
        "assert 'minigrad_course' not in sys.modules\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []


def course_violations(sources: dict[str, str]) -> list[str]:
    """Return the imports between folders of the course that lead sideways or upward."""
    modules = dict.fromkeys(sources, False)
    wrong = []
    for name, source in sources.items():
        own = name.split(".")[1] if name.count(".") > 1 else None
        if own is None:
            continue
        if own not in COURSE_RANK:
            wrong.append(f"{name}: has no layer: name {own} in COURSE_LAYERS")
            continue
        for found in imports(source, name, modules):
            parts = found.target.split(".")
            if parts[0] != COURSE or parts[1:2] == [own]:
                continue
            other = parts[1] if len(parts) > 2 or f"{COURSE}.{parts[-1]}" not in sources else None
            if COURSE_RANK.get(other or "", len(COURSE_RANK)) >= COURSE_RANK[own]:
                wrong.append(f"{name}:{found.line}: {found.target}: upward import from {own}")
    return wrong


def course_sources() -> tuple[dict[str, str], list[str]]:
    """Return the modules in the course's folders, and the files beside the folders."""
    sources, packages = package_sources()
    course = {name: text for name, text in sources.items()
              if name.startswith(f"{COURSE}.") and name not in packages}
    return course, [name for name in course if name.count(".") == 1]


def test_folders_of_the_course_import_downward() -> None:
    sources, beside = course_sources()
    wrong = course_violations(sources)
    assert not wrong, "\n" + "\n".join(wrong)
    assert {name.split(".")[1] for name in sources if name not in beside} == COURSE_RANK.keys()
    assert len(beside) <= COURSE_FILES, beside


@pytest.mark.parametrize(("module", "source", "wrong"), [
    ("content.x", "from ..running.trial import Trial", "upward import from content"),
    ("content.x", "from .. import app", "upward import from content"),
    ("content.x", "import minigrad_course.app", "upward import from content"),
    ("export.x", "from ..similarity import signs", "upward import from export"),
    ("content.x", "def f():\n    from ..running import trial", "upward import from content"),
    ("other.x", "", "name other in COURSE_LAYERS"),
    ("running.x", "from ..content.stages import Stage\nfrom .trial import Trial", ""),
    ("x", "from .commands import learner", ""),
])
def test_a_planted_import_between_folders_is_caught(module: str, source: str, wrong: str) -> None:
    tree = {f"{COURSE}.{each}": "" for each in
            ("app", "content.stages", "running.trial", "similarity.signs", "commands.learner")}
    found = course_violations(tree | {f"{COURSE}.{module}": source})
    assert len(found) == bool(wrong)
    assert wrong in "".join(found)


def test_modules_that_texts_name_exist() -> None:
    """Programs are started by `-m`, and pages import modules, by names that are texts."""
    sources, packages = package_sources()
    names = sources.keys()
    named = re.compile(rf"\b{COURSE}(?:\.[a-z]\w*)+")
    files = [file for top in (COURSE, "minigrad", "lessons", "docs", "site/runtime", "benchmarks",
                              "tests/course", "tests/support")
             for pattern in ("*.py", "*.md", "*.sh") for file in (ROOT / top).rglob(pattern)]
    assert [f"{file.relative_to(ROOT)}: {found}" for file in files
            for found in named.findall(file.read_text(encoding="utf-8"))
            if found not in names and found.rpartition(".")[0] not in names - packages] == []


# A tree that obeys every rule; each planted fault below is one file of it changed.
CLEAN = {
    "minigrad": "from .tensor import Tensor\nfrom .ops import view\n",
    "minigrad._state": "from contextvars import ContextVar\n",
    "minigrad.backend": "def cuda():\n    from .cupy import backend\n    return backend\n",
    "minigrad.backend.cupy": "import cupy\n",
    "minigrad.graph": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    from .tensor import Tensor\n",
    "minigrad.tensor": "import numpy as np\nfrom . import _state\nfrom .backend import cuda\n",
    "minigrad.op": "from .tensor import Tensor\n",
    "minigrad.ops": "from importlib import import_module\nfrom pkgutil import iter_modules\n"
    "for file in iter_modules(__path__):\n    import_module(file.name)\n",
    "minigrad.ops.view": "from ..op import Op\n",
    "minigrad.ops.reduce": "from ..op import Op\nfrom .view import expand\n",
    "minigrad.codegen": "from .op import Op\n",
    "minigrad.viz": "def draw():\n    import graphviz\n    return graphviz.Digraph()\n",
    "minigrad_course": "",
    "minigrad_course.tour": "import rich\nimport minigrad as torch\n",
}
CLEAN_PACKAGES = frozenset(
    {"minigrad", "minigrad.backend", "minigrad.ops", "minigrad.viz", "minigrad_course"}
)


def test_a_clean_tree_passes() -> None:
    assert violations(CLEAN, CLEAN_PACKAGES) == []


PLANTED = {
    "upward, relative": ("tensor", "from .op import Op", "upward import: tensor"),
    "upward, absolute": ("graph", "import minigrad.tensor", "upward import: graph"),
    "upward, module by name": ("graph", "from . import tensor", "upward import: graph"),
    "upward, out of a package": ("ops.view", "from .. import viz", "upward import: ops"),
    "upward, through __init__": ("op", "from minigrad import Tensor", "below __init__"),
    "upward, whole package": ("ops.view", "import minigrad", "below __init__"),
    "upward, conditional": ("tensor", "if 1:\n    from .op import Op", "upward import"),
    "upward, in try": ("tensor", "try:\n    from .op import Op\nfinally: pass", "upward import"),
    "upward, by call": (
        "tensor",
        "import importlib\nimportlib.import_module('minigrad.op')",
        "upward import",
    ),
    "upward, by relative call": (
        "ops.view",
        "from importlib import import_module\nimport_module('..viz', __package__)",
        "upward import",
    ),
    "upward, beside TYPE_CHECKING": (
        "graph",
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    pass\nelse:\n    from .tensor import Tensor",
        "upward import",
    ),
    "the ring": ("ops.view", "from .. import codegen", "codegen is imported by the switch"),
    "nested and upward": ("tensor", "def f():\n    from .op import Op", "upward import"),
    "nested, downward": ("op", "def f():\n    from .tensor import Tensor", "nested import"),
    "nested, standard library": ("op", "def f():\n    import math", "nested import"),
    "nested, NumPy": ("op", "async def f():\n    import numpy", "nested import"),
    "nested, method": ("op", "class C:\n  def f(s):\n    import math", "nested import"),
    "nested, class body": ("op", "class C:\n    import math", "nested import"),
    "nested, lambda": ("op", "f = lambda: __import__('math')", "nested import"),
    "computed name": ("op", "import importlib as i\ni.import_module('a' + 'b')", "<computed>"),
    "optional at module level": ("viz", "import graphviz", "dependency imported at module level"),
    "optional in another layer": ("op", "def f():\n    import rich", "OPTIONAL['rich']"),
    "lazy module at module level": ("backend", "from . import cupy", "at module level"),
    "unknown dependency": ("op", "import scipy", "third-party import"),
    "cycle of siblings": ("ops.view", "from . import reduce", "import cycle"),
    "cycle through a loop over files": ("ops.view", "from . import REGISTRY", "import cycle"),
    "module without a layer": ("extra", "", "minigrad.extra: has no layer"),
    "upward, on demand": (
        "tensor",
        "if TYPE_CHECKING:\n    from .op import Op\n"
        "else:\n    __getattr__, __dir__ = on_demand.attributes(__name__)",
        "upward import: tensor"),
    "upward, later": ("tensor", "op = on_demand.later('op')", "upward import: tensor"),
}


@pytest.mark.parametrize(("module", "source", "expected"), PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_caught(module: str, source: str, expected: str) -> None:
    wrong = violations(CLEAN | {f"minigrad.{module}": source}, CLEAN_PACKAGES)
    assert len(wrong) == 1, wrong
    assert expected in wrong[0]
