"""The entry point of the command `minigrad`: says what is missing, or hands over to the app."""

from __future__ import annotations

import sys
from collections.abc import Callable

MISSING = (
    "minigrad: the command needs Rich and Typer, which the extra 'tour' brings: "
    "pip install -e '.[tour]'"
)

app: Callable[[], object] | None
try:
    from .app import app
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("rich", "typer"):
        raise
    app = None


def main() -> None:
    """Run the command; exit with 1 and one sentence where Rich or Typer is not installed."""
    if app is None:
        print(MISSING, file=sys.stderr)
        raise SystemExit(1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without Unicode shows ? and goes on
            stream.reconfigure(errors="replace")
    app()
