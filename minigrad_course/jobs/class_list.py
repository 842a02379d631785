"""The list of a class, `class.json`: its submissions in order, each with the key of its record.

A class that is graded in shards has one folder of results for each shard.  Each folder contains the
list of the whole class, so that merging them gives the rows in the order of one undivided run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ..content.stages import CourseError
from ..grading.process import Limits
from ..grading.settings import Settings
from .ground import ground
from .job import Files, Job

__all__ = ["ClassList", "Member", "read_list", "settings_key", "union", "write_list"]

NAME = "class.json"


@dataclass(frozen=True)
class Member:
    """One submission of a class."""

    who: str  # its label: as much of its path as makes it unique
    place: str  # its name and its folder's name, which a roster may contain
    key: str  # of its record


@dataclass(frozen=True)
class ClassList:
    """The submissions of a class, and the settings that they are graded with."""

    settings: str  # see `settings_key`
    stages: tuple[str, ...]  # their keys
    members: tuple[Member, ...]
    when: str


def settings_key(settings: Settings, secret: int, limits: Limits) -> str:
    """Return a hash of everything that all verdicts of a class depend on."""
    return Job("", tuple(Files(stage.key, {}, {}, "", ground(stage)) for stage in settings.stages),
               secret, dict(settings.weights), settings.hints, limits).key


def write_list(folder: Path, made: ClassList) -> None:
    """Write the list into a folder of results; an interrupted write leaves the old one."""
    partly = folder / f"{NAME}.part"
    partly.write_text(json.dumps(asdict(made)), encoding="utf-8")
    os.replace(partly, folder / NAME)


def read_list(folder: Path) -> ClassList:
    """Read the list in a folder of results; raise CourseError if it is missing."""
    file = folder / NAME
    try:
        read = json.loads(file.read_bytes())
        return ClassList(read["settings"], tuple(read["stages"]), tuple(
            Member(each["who"], each["place"], each["key"]) for each in read["members"]),
            read["when"])
    except OSError as error:
        raise CourseError(f"{folder} contains no results, because {file} cannot be read: "
                          f"{error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CourseError(f"{file} is not the list of a class; grade that part again") from None


def union(folders: Sequence[Path]) -> ClassList:
    """Return one list for folders of results; raise CourseError if their settings differ.

    If a submission has changed between two runs, the later one counts.
    """
    lists = [(folder, read_list(folder)) for folder in folders]
    first, one = lists[0]
    for folder, other in lists:
        if other.settings != one.settings:
            raise CourseError(f"{first} and {folder} were graded with different tests, settings, "
                              "seeds or versions of minigrad; grade one of them again")
    found: dict[str, Member] = {}
    for _, each in sorted(lists, key=lambda pair: pair[1].when):
        found |= {member.who: member for member in each.members}
    order = {member.who: None for _, each in lists for member in each.members}
    return ClassList(one.settings, one.stages, tuple(found[who] for who in order),
                     max(each.when for _, each in lists))
