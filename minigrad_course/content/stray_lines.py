"""Leave out lines that aren't Python, such as a notebook's commands or the fences of a chat."""

from __future__ import annotations

import ast
import re

from .plain_text import lines_of

__all__ = ["without_stray_lines"]

#: How many lines that are not Python to leave out.
STRAY = 20
#: How lines begin that belong to a statement of several lines, which can't be left out alone.
_PART = re.compile(r"\s|[)\]}@]|(async|class|def|elif|else|except|finally|for|if|match|try|while|"
                   r"with)\b")


def without_stray_lines(text: str) -> str:
    """Empty the lines at the top level that keep a text from being Python; the others stay.

    A text that is Python, or nested too deeply to tell, is returned unchanged.

    >>> without_stray_lines("x = 1\\n%matplotlib inline\\ny = 2")
    'x = 1\\n\\ny = 2'
    """
    lines = lines_of(text)
    for _ in range(STRAY):
        try:
            ast.parse("\n".join(lines))
            break
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not 0 <= at < len(lines) or not lines[at] or _PART.match(lines[at]):
                break
            lines[at] = ""
        except (ValueError, RecursionError, MemoryError):
            return text
    return "\n".join(lines)
