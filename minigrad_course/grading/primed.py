"""Facts about this machine that a process has found out, for the processes that it starts.

Each submission is graded in a separate process.  Without these facts, each of these processes would
compile the package and search for Python's shared libraries again.
"""

from __future__ import annotations

import tempfile
import threading
from typing import Any

from ..content.stages import Stage
from . import bundle, reach, sandbox, users

__all__ = ["prime", "primed"]

_lock = threading.Lock()


def primed(stages: list[Stage], method: str) -> dict[str, Any]:
    """Return this process's facts for JSON; gather them first if they are missing."""
    with _lock:  # the functions are cached
        known: dict[str, Any] = {
            "compiled": {str(stage.package): str(bundle.compiled_package(stage.package))
                         for stage in stages},
            "lock_folder": users.lock_folder or tempfile.gettempdir()}
        if method != "limits":
            known["shared_libraries"] = reach.shared_libraries()
        if method == "bubblewrap":
            known["gives_users"] = sandbox.gives_users()
    return known


def prime(known: dict[str, Any]) -> None:
    """Use the facts from another process."""
    bundle.compiled_elsewhere.update(known["compiled"])
    users.lock_folder = known["lock_folder"]
    reach.known_libraries[:] = known.get("shared_libraries", ())
    sandbox.known_to_give_users[:] = [known["gives_users"]] if "gives_users" in known else []
