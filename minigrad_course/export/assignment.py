"""Assignments, as all platforms need them: stages, their points, a seed, their files."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from minigrad import __version__

from ..content.source import module
from ..content.stages import CourseError, Hole, Stage

__all__ = ["NEEDED", "Assignment", "new_folder", "put", "script", "zipped"]

#: Packages that grading needs from an index, besides our wheel.
NEEDED = ("numpy>=2.0", "pytest>=8", "rich>=13", "typer>=0.12")


@dataclass(frozen=True)
class Assignment:
    """Stages to hand out, usually one."""

    stages: tuple[Stage, ...]
    seed: int | None = None  # of the probes; None draws one at each grading
    weights: dict[str, int] = field(default_factory=dict)  # points by hole of these stages
    hints: int = 0  # how many are shown with what has no points

    @property
    def name(self) -> str:
        """Its name in files."""
        if len(self.stages) == 1:
            return self.stages[0].key
        return f"stages_{'_'.join(self.numbers)}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of its stages."""
        return [each.number for each in self.stages]

    @property
    def title(self) -> str:
        """Its name in words."""
        return "; ".join(f"Stage {each.number}: {each.words['title']}" for each in self.stages)

    @property
    def holes(self) -> dict[str, Hole]:
        """All exercises by their number."""
        return {hole.id: hole for stage in self.stages for hole in stage.holes}

    def hole_title(self, hole: str) -> str:
        """Return the name of an exercise in words."""
        return next(str(stage.words["hole"][hole]["title"]) for stage in self.stages
                    if hole in stage.words["hole"])

    def points(self, hole: str) -> int:
        """Return what a hole is worth."""
        return self.weights.get(hole, self.holes[hole].points)

    @property
    def max_points(self) -> int:
        """The points of all holes together."""
        return sum(map(self.points, self.holes))

    def exercises(self) -> dict[str, str]:
        """Return the files to hand out and to hand in, by their path in `exercises/`."""
        return {self.inside(stage, path): stage.handed_out(path)
                for stage in self.stages for path in stage.modules}

    def solutions(self) -> dict[str, str]:
        """Return the same files solved: the package's own modules."""
        return {self.inside(stage, path): module(stage.package, path).text
                for stage in self.stages for path in stage.modules}

    def inside(self, stage: Stage, path: str) -> str:
        """Return where the file for a module of the package lies in `exercises/`."""
        return stage.exercise(path, Path()).as_posix()

    def course_toml(self, seed: bool) -> str:
        """Return the settings for `minigrad grade --course`, with the seed only if asked."""
        lines = [f'version = "{__version__}"', f"stages = {json.dumps(self.numbers)}"]
        if self.hints:
            lines.append(f"hints = {self.hints}")
        if seed and self.seed is not None:
            lines.append(f"seed = {self.seed}")
        if self.weights:
            lines += ["", "[weights]",
                      *(f"{json.dumps(hole)} = {points}" for hole, points in self.weights.items())]
        return "\n".join(lines) + "\n"


def script(name: str) -> str:
    """Return a file that goes into a bundle as it is."""
    return (files(__package__) / "files" / name).read_text(encoding="utf-8")


def put(path: Path, text: str, *, run: bool = False, secret: bool = False) -> Path:
    """Write a file with its folders; `run` makes it a program, `secret` the owner's alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if secret:
        path.touch(0o600)
    path.write_text(text, encoding="utf-8", newline="\n")
    path.chmod(0o600 if secret else 0o755 if run else 0o644)
    return path


def zipped(folder: Path, path: Path) -> Path:
    """Put a folder's content into an archive, with the right to run where a file has it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                entry = zipfile.ZipInfo(each.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.external_attr = (0o100755 if each.stat().st_mode & 0o100 else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, each.read_bytes())
    return path


def new_folder(path: Path) -> Path:
    """Make an empty folder; CourseError where something is in it already."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise CourseError(f"{path} exists and is not empty; name a new folder")
    path.mkdir(parents=True, exist_ok=True)
    return path
