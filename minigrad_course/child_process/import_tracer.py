"""Print which functions of the package run while it is imported, one "path line" per line.

This file is a separate program, started with the package's folder and the names of its modules.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import FrameType


def main(package: str, modules: list[str]) -> None:
    """Import the modules and print the functions that ran, by file and first line."""
    seen: set[tuple[str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    os.environ["MINIGRAD_GENERIC"] = "1"
    sys.path[0] = str(Path(package).parent)
    sys.setprofile(note)
    for name in modules:
        importlib.import_module(name)
    importlib.import_module("minigrad.ops").load_all()
    for table in importlib.import_module("minigrad._names").NAMES.values():
        for path in table:  # modules that are loaded when a program uses one of their names
            if path != "nn.utils.parametrizations":  # rarely used, and its import runs no_grad()
                importlib.import_module(f"minigrad.{path}")
    sys.setprofile(None)
    for file, line in sorted(seen):
        if file.startswith(package + os.sep):
            print(Path(file).relative_to(package).as_posix(), line)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
