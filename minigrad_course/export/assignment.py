"""Assignments in the form that all platforms need: stages, points, a seed and files."""

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

#: Packages that grading installs from a package index, besides our wheel.
NEEDED = ("numpy>=2.0", "pytest>=8", "rich>=13", "typer>=0.12")


@dataclass(frozen=True)
class Assignment:
    """Stages to hand out, usually one."""

    stages: tuple[Stage, ...]
    seed: int | None = None  # of the probes; `None` draws one at each grading
    weights: dict[str, int] = field(default_factory=dict)  # points by exercise
    hints: int = 0  # how many hints to show for an exercise without points

    @property
    def name(self) -> str:
        """The assignment's name in file names."""
        if len(self.stages) == 1:
            return self.stages[0].key
        return f"stages_{'_'.join(self.numbers)}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of its stages."""
        return [each.number for each in self.stages]

    @property
    def title(self) -> str:
        """The assignment's title."""
        return "; ".join(f"Stage {each.number}: {each.words['title']}" for each in self.stages)

    @property
    def holes(self) -> dict[str, Hole]:
        """All exercises by their number."""
        return {hole.id: hole for stage in self.stages for hole in stage.holes}

    def hole_title(self, hole: str) -> str:
        """Return the title of an exercise."""
        return next(str(stage.words["hole"][hole]["title"]) for stage in self.stages
                    if hole in stage.words["hole"])

    def points(self, hole: str) -> int:
        """Return the points for an exercise."""
        return self.weights.get(hole, self.holes[hole].points)

    @property
    def max_points(self) -> int:
        """The maximum score."""
        return sum(map(self.points, self.holes))

    def exercises(self) -> dict[str, str]:
        """Return the files that students get and submit, by their path in `exercises/`."""
        return {self.inside(stage, path): stage.handed_out(path)
                for stage in self.stages for path in stage.modules}

    def solutions(self) -> dict[str, str]:
        """Return the same files solved: the package's own modules."""
        return {self.inside(stage, path): module(stage.package, path).text
                for stage in self.stages for path in stage.modules}

    def inside(self, stage: Stage, path: str) -> str:
        """Return the path in `exercises/` of the file for a module of the package."""
        return stage.exercise(path, Path()).as_posix()

    def course_toml(self, seed: bool) -> str:
        """Return a course.toml for `minigrad grade --course`, including the seed if requested."""
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
    """Return a file that goes into a bundle unchanged."""
    return (files(__package__) / "files" / name).read_text(encoding="utf-8")


def put(path: Path, text: str, *, run: bool = False, secret: bool = False) -> Path:
    """Write a file and its folders; `run` makes it executable, `secret` private to the owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if secret:
        path.touch(0o600)
    path.write_text(text, encoding="utf-8", newline="\n")
    path.chmod(0o600 if secret else 0o755 if run else 0o644)
    return path


def zipped(folder: Path, path: Path) -> Path:
    """Put a folder's content into an archive, keeping executable bits."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                entry = zipfile.ZipInfo(each.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.external_attr = (0o100755 if each.stat().st_mode & 0o100 else 0o100644) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, each.read_bytes())
    return path


def new_folder(path: Path) -> Path:
    """Make an empty folder; raise CourseError if it already has content."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise CourseError(f"{path} exists and is not empty; name a new folder")
    path.mkdir(parents=True, exist_ok=True)
    return path
