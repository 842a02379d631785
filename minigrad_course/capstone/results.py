"""Results of the capstone's tasks, stored in the workspace.

    .minigrad/capstone.json     the best results of each task, with a digest

NOTE [Figures are measured]
    Only a command that measures results writes them, and the certificate is computed from them and
    from progress.json each time.  If the file was edited by hand, its digest no longer matches, and
    reading it raises an error.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ..content.stages import CourseError
from ..learner.workspace import Workspace, replace_file

__all__ = ["keep_result", "read_results"]


def read_results(space: Workspace) -> dict[str, dict[str, Any]]:
    """Return the results by task; raise CourseError if the file was changed or is damaged."""
    file = _file(space)
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        parts = read["parts"]
        if isinstance(parts, dict) and read["digest"] == _digest(parts):
            return parts
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError):
        pass
    raise CourseError(f"{file} was changed or is damaged: delete it and run the tasks again")


def keep_result(space: Workspace, part: str, facts: dict[str, Any]) -> None:
    """Store the results of a task in place of earlier ones."""
    parts = read_results(space) | {part: facts}
    _file(space).parent.mkdir(exist_ok=True)
    replace_file(_file(space), json.dumps({"parts": parts, "digest": _digest(parts)}, indent=1)
                 + "\n")


def _file(space: Workspace) -> Path:
    return space.root / ".minigrad" / "capstone.json"


def _digest(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(f"minigrad capstone {text}".encode()).hexdigest()
