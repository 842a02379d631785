"""The roster: who should hand in, and whose each submission is.

NOTE [Whose submission is it?]
    In a name that a platform made, only the part about the person counts (NOTE [Names of files] in
    platforms.py).  GitHub Classroom's folders end with the student's GitHub name, so they need the
    roster's column `github`; Gradescope's folders are only numbered, and the file
    `submission_metadata.yml` beside them names the people.  Any other name counts as a whole,
    without the ending, or up to its first underscore; so does the name of its folder.  A name
    matches a person if it is the person's id, e-mail address, the part of that before the @, login
    name, or name.  If a name matches several people, or contains another person's id further on, it
    remains unassigned, and the report lists all of them: minigrad never guesses.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path

from .platforms import GRADESCOPE, about_the_person
from .printable import one_line
from .report import Report
from .writers import Columns, unformula

__all__ = ["Matched", "Person", "Roster", "owners_of"]


@dataclass(frozen=True)
class Person:
    """One line of a roster."""

    row: dict[str, str]

    @property
    def id(self) -> str:
        """The person's unique id."""
        return self.row["id"]

    @property
    def spellings(self) -> set[str]:
        """All spellings of the person in a file name."""
        email = _folded(self.row.get("email", ""))
        words = _words(_folded(self.row.get("name", "")))
        orders = permutations(words) if len(words) <= 4 else (
            (*words[at:], *words[:at]) for at in range(len(words)))  # "last, first" in any script
        login = _folded(self.row.get("login", ""))
        return {_folded(self.id), login, email, email.partition("@")[0],
                *("".join(each) for each in orders)} - {""}

    @property
    def github(self) -> str:
        """The person's name on GitHub, or ""."""
        return _folded(self.row.get("github", ""))


@dataclass(frozen=True)
class Matched:
    """The owner of each submission, and the names without a match."""

    owners: dict[int, Person]  # by the submission's index in the list
    missing: list[Person]  # people without a submission
    unknown: list[str]  # names that match no person, or several people
    twice: dict[str, list[str]]  # names by id, for people with several submissions

    def findings(self) -> list[str]:
        """Return a sentence for everything that does not match."""
        return [one_line(each) for each in self._findings()]

    def _findings(self) -> list[str]:
        return [*(f"missing: {each.id} {each.row.get('name', '')}".rstrip()
                  for each in self.missing),
                *(f"unknown: {name}" for name in self.unknown),
                *(f"several submissions of {each}: {', '.join(names)}"
                  for each, names in self.twice.items())]


@dataclass(frozen=True)
class Roster:
    """The people who should hand in."""

    columns: tuple[str, ...]
    people: tuple[Person, ...]

    def match(self, paths: Sequence[str], names: Sequence[str] | None = None) -> Matched:
        """Find the owner of each submission; see NOTE [Whose submission is it?].

        `names` gives each submission's name in findings, by default its path.

        >>> ann = Person({"id": "alee", "name": "Ann Lee", "email": ""})
        >>> matched = Roster(("id", "name", "email"), (ann,)).match(["leeann_12_34_x.py", "x.py"])
        >>> matched.owners[0].id, matched.unknown
        ('alee', ['x.py'])
        """
        owners, unknown = {}, []
        twice: dict[str, list[str]] = {}
        for index, (path, name) in enumerate(zip(paths, names or paths, strict=True)):
            found, is_sure = self._owners(path)
            if len(found) == 1 and is_sure:
                owners[index] = found[0]
                twice.setdefault(found[0].id, []).append(name)
            else:
                several = ", ".join(each.id for each in found)
                unknown.append(f"{name} (could belong to {several})" if several else name)
        there = {each.id for each in owners.values()}
        return Matched(owners, [each for each in self.people if each.id not in there], unknown,
                       {each: names for each, names in twice.items() if len(names) > 1})

    def _owners(self, path: str) -> tuple[list[Person], bool]:
        """Return who may own a submission, and whether a single match is certain."""
        *_, folder, name = ["", *Path(path).parts[-2:]]
        if one_line(folder + name) != folder + name:
            return [], False  # hidden characters can make it look like another name
        stem = _folded(re.sub(r"\.(py|zip)$", "", name, flags=re.IGNORECASE))
        if (submitters := gradescope_submitters(Path(path))) is not None:
            people = [next(filter(None, map(self._named, map(_folded, each))), [])
                      for each in submitters]
            return list({each.id: each for found in people for each in found}.values()), True
        if on_github := [each for each in self.people if each.github and any(
                one == each.github or one.endswith(f"-{each.github}")
                for one in (stem, _folded(folder)))]:
            return on_github, True
        if (person := about_the_person(stem)) is not None:
            return self._named(person), True
        first, *others = re.split(r"_+", stem)
        by_folder = self._named(_folded(folder))
        mine = self._named(stem) or self._named(first)
        further = [each for part in others for each in self._named(part)]
        found = list({each.id: each for each in (*by_folder, *mine, *further)}.values())
        return found, bool(by_folder or mine)

    def _named(self, part: str) -> list[Person]:
        wanted = {part, "_".join("".join(_words(each)) for each in part.split("_"))} - {""}
        indices = {index for each in wanted for index in self._indices.get(each, ())}
        return [self.people[index] for index in sorted(indices)]

    @cached_property
    def _indices(self) -> dict[str, list[int]]:
        """By spelling, the indices in the roster of everyone whom it may name."""
        found: dict[str, list[int]] = {}
        for index, person in enumerate(self.people):
            for each in person.spellings:
                found.setdefault(each, []).append(index)
        return found

    def as_csv(self, reports: Sequence[Report], paths: Sequence[str] | None = None) -> str:
        """Return a line for each person and unknown submission: the roster's columns, the points.

        `paths` gives the path of each submission, by default its name.
        """
        matched = self.match(paths or [report.submission for report in reports])
        table = Columns(reports)
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*self.columns, "submission", "points", "max_points", *table.holes,
                         *table.decisions, "note"])

        def write(person: Person | None, report: Report | None, note: str) -> None:
            row = [unformula(person.row[column]) if person else "" for column in self.columns]
            writer.writerow([*row, unformula(report.submission) if report else "",
                             report.points if report else 0,
                             report.max_points if report else table.most,
                             *table.cells(report), note])

        handed_in: dict[str, list[int]] = {}
        for i, owner in matched.owners.items():
            handed_in.setdefault(owner.id, []).append(i)
        for person in self.people:
            mine = handed_in.get(person.id, [])
            for i in mine:
                write(person, reports[i], "several submissions" if len(mine) > 1 else "")
            if not mine:
                write(person, None, "no submission")
        for i, report in enumerate(reports):
            if i not in matched.owners:
                write(None, report, "not on the roster")
        return out.getvalue()


def owners_of(matched: Matched | None) -> dict[int, str]:
    """Return the id of each submission's owner, by the submission's index."""
    return {} if matched is None else {i: each.id for i, each in matched.owners.items()}


def _folded(text: str) -> str:
    """Return a text in one form for comparison: archives from macOS decompose accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).casefold())


def _words(text: str) -> list[str]:
    """Return a text's words: letters, marks (vowels in many scripts) and digits."""
    return "".join(each if unicodedata.category(each)[0] in "LMN" else " " for each in text).split()


def gradescope_submitters(path: Path) -> list[list[str]] | None:
    """Return how Gradescope's export describes each person of a submission, or `None`.

    It exports folders such as `submission_123`, and describes all of them in one file.
    """
    for folder in (path, path.parent):
        if GRADESCOPE.fullmatch(folder.name):
            about = folder.parent / "submission_metadata.yml"
            try:
                lines = about.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                return None
            return list(_submitters(lines, folder.name))
    return None


def _submitters(lines: Sequence[str], submission: str) -> Iterator[list[str]]:
    """Yield the student id, the e-mail address and the name of each submitter, if given."""
    is_mine, in_names, person = False, False, dict[str, str]()
    for line in [*lines, "end:"]:
        if line[:1] not in (" ", "-"):
            is_mine, in_names = line.rstrip() == f"{submission}:", False
        elif re.fullmatch(r"  :\w+:.*", line):
            in_names = line.strip() == ":submitters:"
        if line.lstrip().startswith("- ") or not (is_mine and in_names):
            if person:
                yield [person[each] for each in (":sid", ":email", ":name") if each in person]
            person = {}
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        if is_mine and in_names and value.strip("'\" "):
            person[key] = value.strip("'\" ")
