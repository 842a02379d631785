"""Figures that the parts of the capstone measured, kept in the workspace.

    .minigrad/capstone.json     the best figures of each part, with a digest

NOTE [Figures are measured]
    Only a command that has measured them writes figures, and the certificate is made from them and
    from progress.json each time.  A file that was changed in another way no longer has its digest,
    and is not read.
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
    """Return what was measured, by part; CourseError where the file is not what was written."""
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
    raise CourseError(f"{file} was changed or is damaged: delete it, and measure again")


def keep_result(space: Workspace, part: str, facts: dict[str, Any]) -> None:
    """Keep the figures of a part in the place of earlier ones."""
    parts = read_results(space) | {part: facts}
    _file(space).parent.mkdir(exist_ok=True)
    replace_file(_file(space), json.dumps({"parts": parts, "digest": _digest(parts)}, indent=1)
                 + "\n")


def _file(space: Workspace) -> Path:
    return space.root / ".minigrad" / "capstone.json"


def _digest(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(f"minigrad capstone {text}".encode()).hexdigest()
