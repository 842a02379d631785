"""The entry point of the `minigrad` command: run the app, or say which packages are missing."""

from __future__ import annotations

import sys
from collections.abc import Callable

MISSING = (
    "minigrad: this command needs Rich and Typer. Install them with the extra 'tour': "
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
    """Run the command; exit with 1 and one sentence if Rich or Typer is not installed."""
    if app is None:
        print(MISSING, file=sys.stderr)
        raise SystemExit(1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # print ? for what the terminal cannot show
            stream.reconfigure(errors="replace")
    app()
