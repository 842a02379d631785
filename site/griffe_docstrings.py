"""What mkdocstrings reads: examples in docstrings become blocks of code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import griffe

sys.path.insert(0, str(Path(__file__).parent))
from prose import fenced

sys.path.pop(0)


class Examples(griffe.Extension):
    """Puts `>>>` examples into blocks."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
