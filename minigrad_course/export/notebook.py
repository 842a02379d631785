"""A notebook with a cell for each file of a stage, and a last cell that grades them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from minigrad import __version__

from .assignment import Assignment

__all__ = ["answered", "as_text", "notebook", "runnable"]

#: Jupyter's magic for a cell that writes a file.
MAGIC = "%%writefile exercises/"

FIRST = """# {title}

Read the lesson, `lesson.md`. Each cell below that begins with `%%writefile` is a file. Replace each
`raise NotImplementedError` with your code, leave the rest unchanged, and run the cell to save the
file. The last cell grades all of them. Hand in this notebook.

It needs minigrad {version}. If that is not installed yet, install the wheel that you were given:

    pip install "minigrad_course-{version}-py3-none-any.whl[course]"
"""


def notebook(assignment: Assignment, last: str, about: Mapping[str, Any] | None = None,
             locked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a notebook: instructions, a cell for each file, and the cell `last`.

    `about` is the metadata of the last cell, `locked` of the cell that makes folders.
    """
    folders = sorted({f"exercises/{name}".rpartition("/")[0] for name in assignment.exercises()})
    cells = [_cell("about", "markdown", FIRST.format(title=assignment.title, version=__version__)),
             _cell("folders", "code", "from pathlib import Path\n\n" + "\n".join(
                 f'Path("{folder}").mkdir(parents=True, exist_ok=True)' for folder in folders),
                 locked)]
    for number, (name, text) in enumerate(assignment.exercises().items(), 1):
        cells.append(_cell(f"file-{number}", "code", f"{MAGIC}{name}\n{text.rstrip()}\n"))
    cells.append(_cell("points", "code", last, about))
    return {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"}}}


def _cell(name: str, kind: str, text: str, metadata: Mapping[str, Any] | None = None
          ) -> dict[str, Any]:
    cell: dict[str, Any] = {"id": name, "cell_type": kind, "metadata": dict(metadata or {}),
                            "source": text.splitlines(keepends=True)}
    return cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []}


def as_text(made: dict[str, Any]) -> str:
    """Return a notebook as the text of its file."""
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def answered(made: dict[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """Return a notebook with the cells of these files replaced."""
    cells = []
    for cell in made["cells"]:
        name = _file(cell)
        if name is not None and name in files:
            cell = cell | {"source": f"{MAGIC}{name}\n{files[name]}".splitlines(keepends=True)}
        cells.append(cell)
    return made | {"cells": cells}


def _file(cell: dict[str, Any]) -> str | None:
    first = "".join(cell["source"]).partition("\n")[0]
    return first.removeprefix(MAGIC) if first.startswith(MAGIC) else None


def runnable(made: dict[str, Any]) -> list[str]:
    """Return the cells' code with magics translated to plain Python."""
    code = []
    for cell in made["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            name, body = _file(cell), text.partition("\n")[2]
            code.append(text if name is None else
                        f"Path({f'exercises/{name}'!r}).write_text({body!r}, encoding='utf-8')")
    return code
