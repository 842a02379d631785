"""A learner's workspace: exercises, progress, and backups of the files that commands replaced.

    exercises/                the files that the learner edits
    progress.json             solved exercises and hints taken, in a readable form
    .minigrad/shipped/        the exercises as they were handed out, for `upgrade`
    .minigrad/backups/        every file that a command replaced

NOTE [No answer is ever lost]
    Before a command replaces a learner's file, it copies the file to the backups under a new name.
    Then it puts the new version in place in one atomic step.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from minigrad import __version__

from ..content.stages import CourseError, Hole, Stage, stages
from ..verdicts.verdict import Verdict
from .answers import answers_in, with_answers
from .from_scratch import from_scratch
from .unknown_names import unknown_names

__all__ = ["Workspace", "find_workspace", "make_workspace", "replace_file"]

#: The format of progress.json; an older package refuses a newer format.
FORM = 1


@dataclass(frozen=True)
class Workspace:
    """A learner's workspace."""

    root: Path

    @property
    def exercises(self) -> Path:
        """The folder of the files that the learner edits."""
        return self.root / "exercises"

    @property
    def shipped(self) -> Path:
        """The folder with the original versions of these files."""
        return self.root / ".minigrad" / "shipped"

    def handed_out(self, stage: Stage, path: str) -> str:
        """Return the package's version of an exercise for this workspace."""
        return _handed_out(stage, path, bool(self.progress().get("from_scratch")))

    def files(self, stage: Stage) -> dict[str, Path]:
        """Return the learner's file for each module of a stage; CourseError if one is missing."""
        files = {path: stage.exercise(path, self.exercises) for path in stage.modules}
        for file in files.values():
            if not file.is_file():
                known = (self.shipped / file.relative_to(self.exercises)).is_file()
                raise CourseError(f"{file} is missing; " + (
                    f"`minigrad reset {stage.number}` restores it as it was handed out" if known
                    else "it is new in this version: `minigrad upgrade` adds it, and keeps your "
                         "answers"))
        return files

    def add_missing(self, stage: Stage) -> list[Path]:
        """Write the files of a stage that are missing, as they are handed out; return them."""
        files = {path: stage.exercise(path, self.exercises) for path in stage.modules}
        missing = {path: file for path, file in files.items() if not file.exists()}
        for path, file in missing.items():
            replace_file(file, self.handed_out(stage, path))
        return list(missing.values())

    def progress(self) -> dict[str, Any]:
        """Return the content of progress.json; raise CourseError if it is not readable."""
        path = self.root / "progress.json"
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"form": FORM, "minigrad": __version__, "holes": {}}
        except (OSError, ValueError) as error:
            raise CourseError(f"cannot read {path}: {error}") from None
        if (not isinstance(read, dict) or not isinstance(read.get("holes"), dict)
                or not all(isinstance(each, dict) for each in read["holes"].values())):
            raise CourseError(f"{path} is not a progress file, because it has no \"holes\"")
        if read.get("form") != FORM:
            raise CourseError(f"{path} has the form {read.get('form')!r}, but this version of "
                              f"minigrad reads form {FORM}: install a newer version")
        return read

    def note(self, hole: Hole, **facts: Any) -> None:
        """Write facts about an exercise into progress.json."""
        holes = self.progress()["holes"]
        holes.setdefault(hole.id, {}).update(facts)
        self.keep(holes=dict(sorted(holes.items())))

    def keep(self, **facts: Any) -> None:
        """Write facts about the whole workspace into progress.json."""
        read = self.progress() | facts | {"minigrad": __version__}
        replace_file(self.root / "progress.json", json.dumps(read, indent=1) + "\n")

    def solved(self, hole: Hole) -> bool:
        """Return whether an exercise is recorded as solved."""
        return bool(self.progress()["holes"].get(hole.id, {}).get("solved"))

    def record(self, results: Iterable[tuple[Hole, bool]]) -> None:
        """Record which exercises are solved now, with the time when they first were."""
        known = self.progress()["holes"]
        for hole, solved in results:
            before = known.get(hole.id, {}).get("solved")
            if solved and not before:
                self.note(hole, solved=_now())
            elif before and not solved:
                self.note(hole, solved=None)

    def record_waits(self, verdicts: Iterable[Verdict]) -> None:
        """Record which other exercises each right answer waits for, if any."""
        known = self.progress()["holes"]
        for each in verdicts:
            waits = each.waits_for if each.state == "right" else None
            if waits != known.get(each.hole.id, {}).get("waits_for"):
                self.note(each.hole, waits_for=waits)

    def waits_for(self, hole: Hole) -> str:
        """Return the exercises that a right answer waits for, or ""."""
        return str(self.progress()["holes"].get(hole.id, {}).get("waits_for") or "")

    def hints_taken(self, hole: Hole) -> int:
        """Return how many hints were taken for an exercise."""
        return int(self.progress()["holes"].get(hole.id, {}).get("hints", 0))

    def back_up(self, file: Path) -> Path:
        """Copy one of the learner's files to the backups and return the copy."""
        inside = file.relative_to(self.exercises)
        base = self.root / ".minigrad" / "backups" / inside
        base.parent.mkdir(parents=True, exist_ok=True)
        number = 1
        while (copy := base.with_name(f"{base.stem}.{number}{base.suffix}")).exists():
            number += 1
        shutil.copy2(file, copy)
        return copy

    def reset(self, stage: Stage) -> list[Path]:
        """Restore a stage's files as they were handed out; return the backups of replaced files."""
        copies = []
        for path in stage.modules:
            file, text = stage.exercise(path, self.exercises), self.handed_out(stage, path)
            if file.is_file():
                if file.read_bytes() == text.encode():
                    continue
                copies.append(self.back_up(file))
            replace_file(file, text)
            replace_file(stage.exercise(path, self.shipped), text)
        for hole in stage.holes:
            if self.solved(hole):
                self.note(hole, solved=None, waits_for=None)
        return copies

    def upgrade(self) -> dict[str, list[str]]:
        """Merge the exercises of the installed package into the learner's files.

        Returns the affected files by kind: "new", "merged", "no longer used" (moved to the backups)
        or "conflict".  In a conflict the learner's file stays unchanged, and the new version is
        written next to it as `NAME.new.py`.  "unknown name" lists each helper that an answer uses
        but its new file lacks.
        """
        done, known = dict[str, list[str]](), stages()
        for stage in known:
            for path in stage.modules:
                file = stage.exercise(path, self.exercises)
                if done_to := self._merge(stage, path):
                    done.setdefault(done_to, []).append(str(file))
                if done_to in ("new", "merged") and (names := unknown_names(file)):
                    done.setdefault("unknown name", []).extend(f"{n} in {file}" for n in names)
        done.update(self._retire(known))
        return done

    def _merge(self, stage: Stage, path: str) -> str:
        """Update one file; return what was done, or "" if it was up to date."""
        import merge3

        new = self.handed_out(stage, path)
        file = stage.exercise(path, self.exercises)
        shipped = stage.exercise(path, self.shipped)
        if not file.is_file():
            replace_file(file, new)
            replace_file(shipped, new)
            return "new"
        old = shipped.read_text(encoding="utf-8") if shipped.is_file() else ""
        if old == new:
            return ""
        mine = file.read_text(encoding="utf-8", errors="surrogateescape")
        answers = answers_in(path, old, mine)
        merge = merge3.Merge3(with_answers(old, path, answers).splitlines(True),
                              mine.splitlines(True),
                              with_answers(new, path, answers).splitlines(True))
        if any(group[0] == "conflict" for group in merge.merge_groups()):
            replace_file(file.with_name(f"{file.stem}.new{file.suffix}"), new)
            return "conflict"
        self.back_up(file)
        replace_file(file, "".join(merge.merge_lines()))
        replace_file(shipped, new)
        return "merged"

    def _retire(self, known: list[Stage]) -> dict[str, list[str]]:
        """Move files that no longer belong to a stage to the backups, and return them."""
        used = {stage.exercise(path, self.shipped) for stage in known for path in stage.modules}
        gone = []
        for shipped in sorted(set(self.shipped.rglob("*.py")) - used):
            file = self.exercises / shipped.relative_to(self.shipped)
            if file.is_file():
                gone.append(f"{file}, backup: {self.back_up(file)}")
                file.unlink()
            shipped.unlink()
        return {"no longer used": gone} if gone else {}


def make_workspace(folder: Path, chosen: list[Stage] | None = None,
                   scratch: bool = False) -> Workspace:
    """Make a workspace with all stages or the `chosen` ones.

    With `scratch` the exercises only contain names, signatures and docstrings.  Raises CourseError
    if the folder is not empty.
    """
    space = Workspace(folder.resolve())
    if (space.root / "progress.json").exists():
        raise CourseError(f"{folder} is already a workspace; `minigrad upgrade` updates it and "
                          "keeps your answers")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourseError(f"{folder} exists and is not empty; name a new folder")
    for stage in stages() if chosen is None else chosen:
        for path in stage.modules:
            text = _handed_out(stage, path, scratch)
            replace_file(stage.exercise(path, space.exercises), text)
            replace_file(stage.exercise(path, space.shipped), text)
    begun = space.progress() | ({"from_scratch": True} if scratch else {})
    replace_file(space.root / "progress.json", json.dumps(begun, indent=1) + "\n")
    return space


def find_workspace(start: Path | None = None) -> Workspace:
    """Return the workspace around `start` (default: the current folder) or raise CourseError."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "progress.json").is_file() and (folder / "exercises").is_dir():
            return Workspace(folder)
    raise CourseError(f"{here} is not in a workspace; go to yours (`make learn` creates it in the "
                      "folder engine), or make one with `minigrad init DIR` and go there")


def _handed_out(stage: Stage, path: str, scratch: bool) -> str:
    """Return the text of an exercise: the package's, or one made from scratch."""
    if scratch:
        return from_scratch(stage, path)
    try:
        return stage.handed_out(path)
    except OSError as error:
        raise CourseError(f"cannot read the course's file {stage.exercise(path)}: "
                          f"{error.strerror}") from None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
