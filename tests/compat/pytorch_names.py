"""The table of PyTorch's public modules and names, and what minigrad does about each of them.

`python -m tests.compat.pytorch_names --write` reads the installed PyTorch and writes the table
`minigrad/compat/pytorch_names.txt`; without `--write` it prints the counts and the missing names.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minigrad
from minigrad.compat.as_torch import _module
from minigrad.compat.left_out import ANSWERS, left_out
from minigrad.compat.stand_ins import LeftOut, LeftOutModule

TABLE = Path(minigrad.__file__).parent / "compat" / "pytorch_names.txt"
#: Modules whose names do nothing but accept what a program passes.
THIN = ("minigrad.jit", "minigrad.compat.settings")


def modules_of(package: types.ModuleType) -> Iterator[tuple[str, types.ModuleType | None]]:
    """Yield PyTorch's public modules by their names below torch; `None` for one left out whole."""
    path = package.__name__.partition(".")[2]
    yield path, package
    for found in pkgutil.iter_modules(getattr(package, "__path__", [])):
        below = f"{path}.{found.name}".lstrip(".")
        if found.name.startswith("_") or below.startswith("testing."):
            continue
        if left_out(below) is not None:
            yield below, None
            continue
        try:
            module = importlib.import_module(f"{package.__name__}.{found.name}")
        except Exception:  # it needs a package that is not installed
            continue
        yield from modules_of(module)


def names_of(module: types.ModuleType) -> list[str]:
    """Return the public names of a module: those it lists, or else those it defines."""
    if hasattr(module, "__all__"):
        return sorted({name for name in module.__all__ if not name.startswith("_")})
    return sorted(name for name, value in vars(module).items()
                  if not name.startswith("_") and not isinstance(value, types.ModuleType)
                  and getattr(value, "__module__", None) == module.__name__)


def written() -> str:
    """Return the text of the table, from the installed PyTorch."""
    torch = importlib.import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated modules warn
        rows = {path: None if module is None else names_of(module)
                for path, module in modules_of(torch)}
    lines = [f"# PyTorch {torch.__version__.partition('+')[0]}: module: its public names",
             *(f"{path or '.'}:" + ("" if names is None else " " + " ".join(names))
               for path, names in sorted(rows.items()))]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def table() -> dict[str, list[str]]:
    """Return the names of each module in the table."""
    rows = [line.partition(":") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    return {"" if path == "." else path: names.split() for path, _, names in rows}


def resolved(path: str) -> Any:
    """Return what a name below torch means in minigrad; raise `LookupError` if nothing."""
    module = _module(path)
    if module is not None:
        return module
    owner, _, name = path.rpartition(".")
    module = _module(owner)
    try:
        return getattr(module, name)
    except AttributeError:
        raise LookupError(path) from None


def status(path: str) -> str:
    """Return "there", "thin", "refused" or "missing" for a name below torch.

    >>> status("ones"), status("fft.rfft"), status("distributed.is_available")
    ('there', 'refused', 'thin')
    """
    module, _, name = path.rpartition(".")
    if name in ANSWERS.get(module, {}):
        return "thin"
    try:
        found = resolved(path)
    except LookupError:
        return "missing" if left_out(path) is None else "refused"
    if isinstance(found, LeftOut | LeftOutModule) or left_out(path) is not None:
        return "refused"
    return "thin" if getattr(found, "__module__", "") in THIN else "there"


def by_status() -> dict[str, list[str]]:
    """Return the names and modules of the table by what minigrad does about them."""
    found: dict[str, list[str]] = {"there": [], "thin": [], "refused": [], "missing": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated names warn
        for module, names in table().items():
            for path in ([module] if module else []) + [
                    f"{module}.{name}".lstrip(".") for name in names]:
                found[status(path)].append(path)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table")
    if parser.parse_args().write:
        TABLE.write_text(written(), encoding="utf-8")
    counts = by_status()
    print(*counts["missing"], sep="\n")
    print({name: len(paths) for name, paths in counts.items()})
