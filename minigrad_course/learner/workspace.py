"""A learner's folder: the exercises, their progress, and backups of what commands replaced.

    exercises/                what the learner edits
    progress.json             what is solved, which hints were taken; readable
    .minigrad/shipped/        the exercises as they were handed out, for `upgrade`
    .minigrad/backups/        every file that a command replaced

NOTE [No answer is ever lost]
    A command that replaces a learner's file first copies it to the backups, under a name that does
    not exist yet, and then puts the new one in its place in one step.
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

#: The form of progress.json; a newer one is not touched by an older package.
FORM = 1


@dataclass(frozen=True)
class Workspace:
    """A learner's folder."""

    root: Path

    @property
    def exercises(self) -> Path:
        """The folder of the files that the learner edits."""
        return self.root / "exercises"

    @property
    def shipped(self) -> Path:
        """The folder of the same files as they were handed out."""
        return self.root / ".minigrad" / "shipped"

    def handed_out(self, stage: Stage, path: str) -> str:
        """Return the text of an exercise as this workspace gets it from the package."""
        return _handed_out(stage, path, bool(self.progress().get("from_scratch")))

    def files(self, stage: Stage) -> dict[str, Path]:
        """Return the learner's file for each module of a stage; CourseError if one is missing."""
        files = {path: stage.exercise(path, self.exercises) for path in stage.modules}
        for file in files.values():
            if not file.is_file():
                known = (self.shipped / file.relative_to(self.exercises)).is_file()
                raise CourseError(f"{file} is missing; " + (
                    f"`minigrad reset {stage.number}` brings it back as it was handed out" if known
                    else "it is new in this version: `minigrad upgrade` brings it, and keeps your "
                         "answers"))
        return files

    def progress(self) -> dict[str, Any]:
        """Return what progress.json holds; CourseError where it cannot be read."""
        path = self.root / "progress.json"
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {"form": FORM, "minigrad": __version__, "holes": {}}
        except (OSError, ValueError) as error:
            raise CourseError(f"{path} cannot be read: {error}") from None
        if (not isinstance(read, dict) or not isinstance(read.get("holes"), dict)
                or not all(isinstance(each, dict) for each in read["holes"].values())):
            raise CourseError(f"{path} is not a progress file: it has no \"holes\"")
        if read.get("form") != FORM:
            raise CourseError(f"{path} has the form {read.get('form')!r}; this package reads "
                              f"{FORM}: upgrade it")
        return read

    def note(self, hole: Hole, **facts: Any) -> None:
        """Write facts about a hole into progress.json."""
        holes = self.progress()["holes"]
        holes.setdefault(hole.id, {}).update(facts)
        self.keep(holes=dict(sorted(holes.items())))

    def keep(self, **facts: Any) -> None:
        """Write facts about the whole workspace into progress.json."""
        read = self.progress() | facts | {"minigrad": __version__}
        replace_file(self.root / "progress.json", json.dumps(read, indent=1) + "\n")

    def solved(self, hole: Hole) -> bool:
        """Tell whether a hole is noted as solved."""
        return bool(self.progress()["holes"].get(hole.id, {}).get("solved"))

    def record(self, results: Iterable[tuple[Hole, bool]]) -> None:
        """Note which holes are solved now, with the time at which they first were."""
        known = self.progress()["holes"]
        for hole, solved in results:
            before = known.get(hole.id, {}).get("solved")
            if solved and not before:
                self.note(hole, solved=_now())
            elif before and not solved:
                self.note(hole, solved=None)

    def record_waits(self, verdicts: Iterable[Verdict]) -> None:
        """Note for which others each right answer waits, and which wait no more."""
        known = self.progress()["holes"]
        for each in verdicts:
            waits = each.waits_for if each.state == "right" else None
            if waits != known.get(each.hole.id, {}).get("waits_for"):
                self.note(each.hole, waits_for=waits)

    def waits_for(self, hole: Hole) -> str:
        """Return the exercises that a right answer waits for; "" if there are none."""
        return str(self.progress()["holes"].get(hole.id, {}).get("waits_for") or "")

    def hints_taken(self, hole: Hole) -> int:
        """Return how many hints were taken for a hole."""
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
        """Put a stage's files back as handed out; return the copies of what was replaced."""
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

        Returns what was done, by kind: files that are "new", "merged", "no longer used" (moved to
        the backups), or in "conflict": then the learner's file stays as it is, and the new one is
        written beside it as `NAME.new.py`.  "unknown name" lists each helper that an answer uses
        and that its new file lacks.
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
        """Bring one file up to date; return what was done, "" for nothing."""
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
        """Move files that no stage has any more to the backups, and return which."""
        used = {stage.exercise(path, self.shipped) for stage in known for path in stage.modules}
        gone = []
        for shipped in sorted(set(self.shipped.rglob("*.py")) - used):
            file = self.exercises / shipped.relative_to(self.shipped)
            if file.is_file():
                gone.append(f"{file}, kept as {self.back_up(file)}")
                file.unlink()
            shipped.unlink()
        return {"no longer used": gone} if gone else {}


def make_workspace(folder: Path, chosen: list[Stage] | None = None,
                   scratch: bool = False) -> Workspace:
    """Make a learner's folder, with all stages or the `chosen` ones.

    With `scratch` nothing is written in the exercises but names, signatures and docstrings.
    CourseError where the folder has something else in it already.
    """
    space = Workspace(folder.resolve())
    if (space.root / "progress.json").exists():
        raise CourseError(f"{folder} is a workspace already; `minigrad upgrade` brings it up to "
                          "date, and keeps your answers")
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
    """Return the workspace around `start` (default: the current folder); CourseError if none."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "progress.json").is_file() and (folder / "exercises").is_dir():
            return Workspace(folder)
    raise CourseError(f"{here} is not in a workspace; make one with `minigrad init DIR` and go "
                      "there, or to yours (`make learn` makes it in engine)")


def _handed_out(stage: Stage, path: str, scratch: bool) -> str:
    """Return the text of an exercise as the package brings it, or with nothing of it written."""
    if scratch:
        return from_scratch(stage, path)
    try:
        return stage.handed_out(path)
    except OSError as error:
        raise CourseError(f"the course's file {stage.exercise(path)} cannot be read: "
                          f"{error.strerror}") from None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
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
