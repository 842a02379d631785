"""`python -m minigrad PROGRAM` runs a program written for PyTorch on minigrad."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from . import __version__, as_torch

SCREEN = """\
minigrad {version}: PyTorch's autograd in Python on NumPy

Run a program that says `import torch`, on minigrad:

  python -m minigrad program.py [arguments]
  python -m minigrad -m module [arguments]      such as -m pytest tests
  python -m minigrad -c 'import torch; print(torch.ones(2))'

Use it in your own program:

  import minigrad as torch

What it has:    docs/en/library.md, and the list of operations on the site
The course:     the command `minigrad`; begin with `minigrad tour`
Your engine:    `minigrad python program.py` runs the same program on the
                engine that you wrote in the course
"""


def main(words: list[str]) -> None:
    """Run the program in `words` as Python would; without a program, show one screen of help."""
    if not words or words[0] in ("-h", "--help"):
        print(SCREEN.format(version=__version__), end="")
        return
    if words[0] in ("-V", "--version"):
        print(f"minigrad {__version__}")
        return
    option = words[0] if words[0] in ("-m", "-c") else ""
    if words[0].startswith("-") and not option:
        sys.exit(f"minigrad: {words[0]} is not an option; see `python -m minigrad -h`")
    given = words[1:] if option else words
    if not given:
        sys.exit(f"minigrad: {option} needs {'a module' if option == '-m' else 'a program'}")
    as_torch()
    if option == "-m":
        if not found(given[0]):
            sys.exit(f"minigrad: there is no module {given[0]}")
        sys.argv = given
        runpy.run_module(given[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.argv = ["-c", *given[1:]]
        exec(compile(given[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        program = Path(given[0])
        if not program.is_file():
            sys.exit(f"minigrad: there is no program {program}")
        sys.argv, sys.path[0] = given, str(program.resolve().parent)
        runpy.run_path(str(program), run_name="__main__")


def found(module: str) -> bool:
    """Return whether a module exists."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its package does not exist
        return False


if __name__ == "__main__":
    main(sys.argv[1:])
