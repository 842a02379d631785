"""Read the submissions of a class for a comparison, in limited processes that can be replaced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from ..content.stages import find_stage
from ..similarity.compare import Answer, Answers, given_statements
from ..similarity.signs import Sign
from ..similarity.tokens import Token
from .children import lines_from
from .job import Files
from .work import NOT_READ

__all__ = ["Read", "read_all"]

#: The module that a child runs, and the seconds that it may take for one submission of a stage.
CHILD, PATIENCE = "minigrad_course.jobs.reading", 600
#: How many submissions one process reads.
BATCH = 50


@dataclass(frozen=True)
class Read:
    """A submission of a stage, ready to be compared."""

    texts: dict[str, str] = field(default_factory=dict)  # in the form in which they are graded
    answers: Answers | None = None
    signs: tuple[Sign, ...] = ()
    problem: str = ""  # why it cannot be compared


def read_all(files: Sequence[Files]) -> list[Read]:
    """Read submissions; a text that ends its process cannot be compared, and the rest can."""
    batches = [files[i : i + BATCH] for i in range(0, len(files), BATCH)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [each for batch in pool.map(_read, batches) for each in batch]


def _read(files: Sequence[Files]) -> list[Read]:
    found: list[Read] = []
    while (start := len(found)) < len(files):
        ending = ""
        given = {"files": [asdict(each) for each in files], "start": start}
        for line in lines_from(CHILD, given, PATIENCE * len(files)):
            if "read" in line:
                found.append(_made(files[len(found)], line["read"]))
            ending = line.get("ended", ending)
        if len(found) < len(files):
            why = ending.removeprefix(f"{NOT_READ}: ") or "its process ended too early"
            found.append(Read(problem=why))
    return found


def _made(files: Files, read: dict[str, Any]) -> Read:
    if "problem" in read:
        return Read(problem=read["problem"])
    given = given_statements(find_stage(files.stage))

    def answer(plain: dict[str, Any]) -> Answer:
        return Answer([Token(*each) for each in plain["tokens"]], dict(plain["marks"]), given,
                      plain["flow"], {feature: [(path, line) for path, line in lines]
                                      for feature, lines in plain["where"].items()})

    return Read(read["texts"], Answers({hole: answer(plain) for hole, plain in
                                        read["holes"].items()}, answer(read["all"])),
                tuple(Sign(*each) for each in read["signs"]))
