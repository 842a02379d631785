"""`course.toml`: what an instructor sets for a class."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from minigrad import __version__

from ..content.selection import stages_named
from ..content.stages import CourseError, Stage, stages

__all__ = ["Settings", "read_settings"]


@dataclass(frozen=True)
class Settings:
    """The stages to grade, the weight of each exercise, and the secret that seeds the probes."""

    stages: tuple[Stage, ...]
    weights: dict[str, int] = field(default_factory=dict)  # points by exercise, if not the course's
    seed: int | None = None
    hints: int = 0  # how many hints to show for an exercise without points

    @property
    def most(self) -> dict[str, int]:
        """The maximum points of each exercise."""
        return {hole.id: self.weights.get(hole.id, hole.points)
                for stage in self.stages for hole in stage.holes}


def read_settings(path: Path | None, chosen: list[str]) -> Settings:
    """Return the settings in a file, or the defaults for the `chosen` stages (all if empty).

        version = "0.1.0"          # of minigrad; any other version is refused
        stages = ["01", "03"]
        seed = 20261121            # keep it secret
        hints = 1                  # how many of three to show for an exercise without points
        [weights]
        "03.2" = 5

    Raises CourseError naming a key that is unknown or has a wrong value.
    """
    known = {"version", "stages", "seed", "hints", "weights"}
    read: dict[str, object] = {}
    if path is not None:
        try:
            read = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CourseError(f"{path}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise CourseError(f"{path}: {error}") from None
        if unknown := sorted(set(read) - known):
            raise CourseError(f"{path}: unknown setting {unknown[0]!r}; the settings are "
                              f"{sorted(known)}")
    version = read.get("version", __version__)
    if version != __version__:
        raise CourseError(f"{path}: version is {version}, but this is minigrad {__version__}")
    numbers = chosen or read.get("stages") or [each.number for each in stages() if each.holes]
    if not isinstance(numbers, list) or not all(isinstance(each, str) for each in numbers):
        raise CourseError(f"{path}: stages must be a list of numbers in quotes, not {numbers!r}")
    seed, weights = read.get("seed"), read.get("weights", {})
    if seed is not None and (type(seed) is not int or seed < 0):
        raise CourseError(f"{path}: seed must be a whole number of at least 0, not {seed!r}")
    hints = read.get("hints", 0)
    if type(hints) is not int or not 0 <= hints <= 3:
        raise CourseError(f"{path}: hints must be a whole number from 0 to 3, not {hints!r}")
    found = tuple(stages_named(",".join(numbers)))
    holes = {hole.id for stage in found for hole in stage.holes}
    if not isinstance(weights, dict):
        raise CourseError(f"{path}: weights must be a table, not {weights!r}")
    for hole, points in weights.items():
        if hole not in holes:
            raise CourseError(f"{path}: weights names {hole!r}, which is not in the chosen stages")
        if type(points) is not int or points < 0:
            raise CourseError(f"{path}: the weight of {hole} must be a whole number of at least "
                              f"0, not {points!r}")
    return Settings(found, dict(weights), seed if isinstance(seed, int) else None, hints)
