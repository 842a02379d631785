"""What every platform's assignment has in common: a stage, its points, its seed, its files."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from minigrad import __version__

from ..dev.source import module
from ..stages import CourseError, Stage

__all__ = ["NEEDED", "Assignment", "new_folder", "put", "script", "zipped"]

#: What grading needs from a package index besides our wheel.
NEEDED = ("numpy>=2.0", "pytest>=8", "rich>=13", "typer>=0.12")


@dataclass(frozen=True)
class Assignment:
    """A stage to hand out."""

    stage: Stage
    seed: int | None = None  # of the probes; None draws one at each grading
    weights: dict[str, int] = field(default_factory=dict)  # points by hole of this stage

    @property
    def title(self) -> str:
        """Its name in words."""
        return f"Stage {self.stage.number}: {self.stage.words['title']}"

    def points(self, hole: str) -> int:
        """Return what a hole is worth."""
        own = {each.id: each.points for each in self.stage.holes}
        return self.weights.get(hole, own[hole])

    @property
    def max_points(self) -> int:
        """What all holes are worth."""
        return sum(self.points(hole.id) for hole in self.stage.holes)

    def exercises(self) -> dict[str, str]:
        """Return the files to hand out and to hand in, by their path in `exercises/`."""
        return {self.inside(path): self.stage.handed_out(path)
                for path in self.stage.modules}

    def solutions(self) -> dict[str, str]:
        """Return the same files solved: the package's own modules."""
        return {self.inside(path): module(self.stage.package, path).text
                for path in self.stage.modules}

    def inside(self, path: str) -> str:
        """Return where the file for a module of the package lies in `exercises/`."""
        return self.stage.exercise(path, Path()).as_posix()

    def course_toml(self, seed: bool) -> str:
        """Return the settings for `minigrad grade --course`, with the seed only if asked."""
        lines = [f'version = "{__version__}"', f'stages = ["{self.stage.number}"]']
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
