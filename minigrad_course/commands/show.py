"""`minigrad show`: print the declaration of an operation and the code generated from it."""

from __future__ import annotations

import inspect
import sys
from typing import Annotated

import typer

from minigrad import _state
from minigrad.codegen.functions import texts_of
from minigrad.op.declaration import REGISTRY, Op

app = typer.Typer()

NOT_WRITTEN = ("minigrad generates no function for {}, because it has several outputs or takes a "
               "list of tensors.\nIt runs the four steps in minigrad/op/apply.py: `run_op`.")
SWITCHED_OFF = "MINIGRAD_GENERIC is set, so {} runs the generic functions in minigrad/op/apply.py."


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="OP", help="An operation, such as mul or Mul.")],
) -> None:
    """Print the declaration of an operation, and the code that runs when you call it.

    minigrad generates this code from the declaration: prepare, forward, record, wrap, and the
    backward of the operation's node.

    \b
    Examples:
      minigrad show mul
      minigrad show softmax | less
    """
    for op in ops_called(name):
        print(f"# {inspect.getsourcefile(op)}\n{inspect.getsource(op)}")
        if not _state.codegen:
            print(SWITCHED_OFF.format(op.__name__))
            continue
        for title, text in texts_of(op).items():
            print(f"# {op.__name__}: {title}\n{text}")
        if not texts_of(op):
            print(NOT_WRITTEN.format(op.__name__))


def ops_called(name: str) -> list[type[Op]]:
    """Return the operations with this PyTorch or class name; exit with 2 if no name matches."""
    found = [op for op in REGISTRY.values() if name in (op.__name__, op.name)]
    if not found:
        close = sorted(op.name for op in REGISTRY.values() if op.name.startswith(name[:3]))
        near = f" Similar names: {', '.join(dict.fromkeys(close))}." if close else ""
        print(f"minigrad show: no operation is named {name!r}.{near}", file=sys.stderr)
        raise typer.Exit(2)
    return found
