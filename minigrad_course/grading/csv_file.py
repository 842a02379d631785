"""Read a CSV file that a teacher wrote, in any spreadsheet's form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from ..content.stages import CourseError

__all__ = ["read_rows"]


def read_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the stripped cells of each line that is not empty.

    Cells may be separated by commas, semicolons or tabs.  Raises CourseError if the file cannot be
    read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not UTF-8: save it as \"CSV UTF-8\" ({error.reason} at byte "
                          f"{error.start})") from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    number = 1
    for cells in reader:
        stripped = [cell.strip() for cell in cells]
        if any(stripped):
            yield number, stripped
        number = reader.line_num + 1


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t", key=first.count)
