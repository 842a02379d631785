"""The tables in `_names.py` map each name of the package to its module.

Names in packages are read from their imports under `if TYPE_CHECKING:`, names of operations from
what the files of `ops/` publish.  `python -m minigrad.utils.stubs` writes the tables.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..op.declaration import REGISTRY, F, Op
from ..op.publish import AUGMENTED, FUNCTIONS

__all__ = ["tables"]

PACKAGE = Path(__file__).resolve().parent.parent
_PACKAGE = __spec__.name.partition(".")[0]

#: Files that contain these words without using them.
OWN = ("on_demand.py", "name_tables.py")

HEADER = '''\
"""The names that a program may say before their modules are loaded, by module.

Written by `python -m minigrad.utils.stubs`; do not edit.  "new=old" is `old as new` in an import,
and "new=." the module itself.
"""
'''


def tables(methods: Mapping[str, Any]) -> str:
    """Return the text of `_names.py`; `methods` are the tensor methods added by higher layers."""
    packages = {path: names for path, names in sorted(packages_on_demand())}
    parts = [HEADER, "#: Names of each package, by the module that has them.", "NAMES = {"]
    for path, names in packages.items():
        parts += [f'    "{path}": {{', *lines(names, 8), "    },"]
    parts.append("}")
    for title, comment, values in (
            ("F_NAMES", "Functions of `F`.", vars(F)),
            ("FUNCTION_NAMES", "Operations that the package offers.", FUNCTIONS),
            ("METHODS", "Methods and properties that tensors get from layers above.", methods)):
        by_module: dict[str, list[str]] = {}
        for name in sorted(values):
            module = home(name, values[name]).partition(".")[2]
            if module.partition(".")[0] != "tensor":
                by_module.setdefault(module, []).append(name)
        parts += ["", f"#: {comment}", f"{title} = {{", *lines(by_module, 4), "}"]
    return "\n".join(parts) + "\n"


def lines(table: Mapping[str, list[str]], indent: int) -> Iterator[str]:
    """Yield a table's rows as Python source, at most 100 columns wide."""
    space = " " * indent
    for module, names in sorted(table.items()):
        row = f'{space}"{module}": "{" ".join(names)}",'
        if len(row) <= 100:
            yield row
            continue
        yield f'{space}"{module}": ('
        line = ""
        for name in names:
            if len(space) + 6 + len(line) + len(name) > 98:
                yield f'{space}    "{line}"'
                line = ""
            line += f"{name} "
        yield f'{space}    "{line.rstrip()}"),'


def packages_on_demand() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield the path of each package that loads on demand, and its names by module."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "on_demand.attributes(__name__)" in text and path.name not in OWN:
            parts = path.relative_to(PACKAGE).with_suffix("").parts
            package = ".".join(parts[:-1] if path.name == "__init__.py" else parts)
            found = names_for_type_checkers(ast.parse(text), package)
            if path.name == "__init__.py":
                add_files(found, path.parent, package)
            yield package, found


def names_for_type_checkers(tree: ast.Module, package: str) -> dict[str, list[str]]:
    """Return the names that a package imports under `if TYPE_CHECKING:`, by module."""
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom):
                    for module, name in imported(each, package):
                        found.setdefault(module, []).append(name)
    return found


def add_files(found: dict[str, list[str]], folder: Path, package: str) -> None:
    """Add the modules in a package's folder that are not hidden by a name of the package."""
    known = {name.partition("=")[0] for names in found.values() for name in names}
    for file in sorted(folder.iterdir()):
        if (file.suffix == ".py" or (file / "__init__.py").exists()) and (
                not file.name.startswith("_") and file.stem not in {*known, *FUNCTIONS}):
            found.setdefault(f"{package}.{file.stem}".lstrip("."), []).append(f"{file.stem}=.")


def imported(node: ast.ImportFrom, package: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name, in the form of `_names.py`, for everything an import binds."""
    above = package.split(".") if package else []
    base = ".".join([*above[:len(above) + 1 - node.level], *filter(None, [node.module])])
    for alias in node.names:
        inside, name = f"{base}.{alias.name}".lstrip("."), alias.asname or alias.name
        if alias.name == "*":
            if base != "_functions":  # which lists the operations
                yield from ((base, each) for each in exported(base))
        elif is_module(inside) and not is_hidden(base, alias.name):
            if inside != "_functions":
                yield inside, f"{name}=."
        else:
            yield base, name if name == alias.name else f"{name}={alias.name}"


def is_hidden(package: str, name: str) -> bool:
    """Return whether a package binds a module's name to something else."""
    tree = ast.parse(PACKAGE.joinpath(*package.split("."), "__init__.py").read_text("utf-8"))
    return any(isinstance(node, ast.ImportFrom) and node.module and alias.name == name
               for node in ast.walk(tree) for alias in getattr(node, "names", ()))


def exported(path: str) -> list[str]:
    """Return the names in the `__all__` of a module, read from its source."""
    tree = ast.parse(PACKAGE.joinpath(*path.split(".")).with_suffix(".py").read_text("utf-8"))
    names: list[str] = next(ast.literal_eval(node.value) for node in tree.body
                            if isinstance(node, ast.Assign)
                            and ast.unparse(node.targets[0]) == "__all__")
    return names


def is_module(path: str) -> bool:
    """Return whether a path below the package is a module."""
    file = PACKAGE.joinpath(*path.split("."))
    return file.is_dir() or file.with_suffix(".py").exists() or file.with_suffix(".pyi").exists()


def home(name: str, value: Any) -> str:
    """Return the full name of the module that publishes an operation under `name`."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    own: str = inspect.unwrap(value).__module__
    if own.startswith(f"{_PACKAGE}.") and own.split(".")[1] not in ("op", "codegen"):
        return own
    for called in (name, value.__name__):
        for op in REGISTRY.values():
            if called in names_of(op):
                return op.__module__
    for cell in value.__closure__ or ():  # an operator that chooses from several ops
        if inspect.isfunction(cell.cell_contents):
            return home(name, cell.cell_contents)
    raise LookupError(f"no file publishes {name}")


def names_of(op: type[Op]) -> set[str]:
    """Return the names under which an op is published."""
    return {op.name, f"{op.name}_", *op.dunder, *(AUGMENTED.get(each, each) for each in op.dunder)}
