"""Read a roster: a CSV file that a teacher wrote or that a platform exported.

NOTE [Columns of a roster]
    Platforms name the same thing differently.  The first column of COLUMNS that is in the file gets
    our name, and all others keep theirs.  Moodle's and Gradescope's lists may have no id for some
    people, so their e-mail address takes its place, and the name may be in two columns.  Canvas's
    gradebook has lines that describe no person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..content.stages import CourseError
from .csv_file import read_rows
from .roster import Person, Roster

__all__ = ["read_roster"]

#: Our names of columns, and those in rosters as letters only.
COLUMNS = {
    "id": ("id", "studentid", "sid", "idnumber", "identifier"),
    "name": ("name", "fullname", "student", "studentname"),
    "email": ("email", "mail", "emailaddress"),
    "login": ("login", "loginid", "sisloginid", "username"),
    "github": ("github", "githubname", "githubusername"),
}
FIRST, LAST = ("firstname", "givenname"), ("lastname", "surname", "familyname")
#: Texts in the place of a name, in Canvas's gradebook.
NO_PERSON = ("Points Possible", "Student, Test")


def read_roster(path: Path) -> Roster:
    """Read a roster: a CSV file whose header has an id or an e-mail address.

    Keeps all columns.  Raises CourseError with the line if the file cannot be a roster.
    """
    rows = read_rows(path)
    header = next(rows, (1, []))[1]
    columns = _named(header)
    if not {"id", "email"} & set(columns) or len(set(columns)) != len(columns):
        raise CourseError(f"{path}: the first line must name each column once, including id or "
                          f"email, but it is {', '.join(columns) or 'empty'}")
    people: dict[str, Person] = {}
    for number, cells in rows:
        row = dict(zip(columns, cells, strict=False))
        if "student" in map(_letters, header) and row.get("name") in ("", *NO_PERSON):
            continue
        row["id"] = row.get("id") or row.get("email", "")
        if len(cells) != len(columns) or not row["id"]:
            raise CourseError(f"{path}, line {number}: expected {len(columns)} cells and an id, "
                              f"but it has {','.join(cells)!r}")
        if row["id"] in people:
            raise CourseError(f"{path}, line {number}: the id {row['id']!r} appears twice")
        parts = [row[column] for names in (FIRST, LAST) for column in columns
                 if _letters(column) in names]
        row.setdefault("name", " ".join(parts))
        people[row["id"]] = Person(row)
    return Roster(columns, tuple(people.values()))


def _named(header: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a header, in which one of each kind has our name."""
    given = [_letters(each) for each in header]
    ours = {next(each for each in known if each in given): name
            for name, known in COLUMNS.items() if any(each in given for each in known)}
    return tuple(ours.get(short, each.strip()) for short, each in zip(given, header, strict=True))


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.casefold())
