"""A learner's files for some stages, and the modules composed from them."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from ..content.source import module
from ..content.stages import CourseError, Hole, Stage, stages
from .compose import (
    Source,
    changed_symbols,
    compose,
    defines,
    open_symbols,
    read_source,
    repaired_source,
    source_of,
)

__all__ = ["LearnerFiles", "combine_files"]


class LearnerFiles:
    """A learner's files by their path in the package; the package can provide any exercise instead.

    >>> from minigrad_course.content.stages import find_stage
    >>> stage = find_stage("07")
    >>> learner_files = LearnerFiles(stage, {path: stage.exercise(path) for path in stage.modules})
    >>> source = learner_files.without({"07.2"})["autograd/grad_mode.py"]
    >>> "07.1 " in source.text, "07.2 " in source.text
    (True, False)
    """

    def __init__(self, stage: Stage, files: Mapping[str, Path | str],
                 shared: Mapping[str, Source] | None = None) -> None:
        """Take files or their texts; `shared` are modules that are already composed."""
        self.stage, self.files, self.shared = stage, files, shared or {}
        self._mine: dict[str, Source | None] = {}
        self._originals: dict[str, Source] = {}

    @cached_property
    def holes(self) -> list[Hole]:
        """All exercises in the files, of this stage and of others."""
        return [hole for stage in [self.stage, *(each for each in self._known
                                                 if each.key != self.stage.key)]
                for hole in stage.holes
                if any(symbol.partition(":")[0] in self.files
                       and (stage.key == self.stage.key
                            or symbol.partition(":")[0] not in self.stage.modules
                            or symbol.partition(":")[0] in self.shared)
                       for symbol in hole.symbols)]

    def repaired(self) -> dict[str, Source]:
        """Return the modules for which the learner's file cannot be used unchanged.

        They are shared by two stages, or contain an exercise that does not parse.
        """
        return {path: source for path in self.files if (source := self._source(path)) is not None
                and (source.broken or path in self.shared)}

    def broken(self) -> set[str]:
        """Return the exercises that do not parse."""
        return {self._exercises(path)[symbol] for path, source in self.repaired().items()
                for symbol in source.broken}

    def gone(self) -> dict[str, str]:
        """Return a sentence for each exercise of the stage whose function was deleted."""
        found: dict[str, str] = {}
        for hole in self.stage.holes:
            for path, _, symbol in (each.partition(":") for each in hole.symbols):
                source = self._source(path) if path in self.files else None
                if source is not None and not defines(source, symbol):
                    found.setdefault(hole.id, f"{self.stage.exercise(path).name} has no "
                                     f"`{symbol}`, which this exercise asks you to write.")
        return found

    def open(self) -> set[str]:
        """Return the exercises that are not written yet or do not parse."""
        found = self.broken()
        for path in self.files:
            source = self._source(path)
            if source is not None:
                exercises = self._exercises(path)
                found |= {exercises[each] for each in open_symbols(source) if each in exercises}
        return found

    def without(self, holes: Collection[str]) -> dict[str, Source]:
        """Return the modules that change if the package provides these exercises.

        It also provides unwritten functions that belong to no exercise.  Raises CourseError if a
        file is not readable.
        """
        holes = frozenset(holes)
        composed = {}
        for path in self.files:
            exercises = self._exercises(path)
            source = self._source(path)
            if source is None:
                if holes.isdisjoint(exercises.values()):
                    continue
                raise CourseError(f"cannot read {path}: it is not valid Python")
            made = self._taken_from_package(path, source, holes)
            if made is not source or source.broken or path in self.shared:
                composed[path] = made
        return composed

    def alone(self, hole: Hole) -> dict[str, Source]:
        """Return all modules of the stage, in which only this exercise is the learner's answer.

        The package provides the other exercises, and any unreadable file without this exercise.
        """
        others = {each.id for each in self.holes if each.id != hole.id}
        own = {symbol.partition(":")[0] for symbol in hole.symbols}
        made = {}
        for path in self.stage.modules:
            source = self._source(path) if path in self.files else None
            if source is not None:
                with contextlib.suppress(CourseError):  # cannot be composed: use it unchanged
                    source = self._taken_from_package(path, source, others)
            elif path in own:
                source = self._unreadable(path, hole)
            if source is not None:
                made[path] = source
        return made

    def _taken_from_package(self, path: str, source: Source, holes: Collection[str]) -> Source:
        """Return `source` with the package's version of the exercises in `holes`."""
        exercises = self._exercises(path)
        symbols = [symbol for symbol, hole in exercises.items() if hole in holes]
        symbols += [each for each in open_symbols(source) if each not in exercises]
        return compose(source, self._original(path), symbols, exercises) if symbols else source

    def _unreadable(self, path: str, hole: Hole) -> Source:
        """Return a module whose import explains why the learner's file is unreadable."""
        file, problem = self.files.get(path), "the file is missing"
        name = path if isinstance(file, str | None) else str(file.resolve())
        try:
            if file is not None:
                ast.parse(file if isinstance(file, str) else file.read_bytes(), name)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problem = getattr(error, "msg", str(error))
            if (line := getattr(error, "lineno", None)) is not None:
                problem += f" ({Path(path).name}, line {line})"
        message = f"{hole.id} cannot be read: {problem}"
        return source_of(path, name, f"raise SyntaxError({message!r})\n")

    def _source(self, path: str) -> Source | None:
        """Return the learner's module, or `None` if even repairs cannot make it parse."""
        if path in self.shared:
            return self.shared[path]
        if path not in self._mine:
            file, exercises = self.files[path], self._exercises(path)
            try:
                self._mine[path] = (
                    repaired_source(path, path, file, exercises, self._original(path))
                    if isinstance(file, str) else
                    read_source(path, file.resolve(), exercises, self._original(path)))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._mine[path] = None
        return self._mine[path]

    @cached_property
    def _known(self) -> list[Stage]:
        return stages(self.stage.root)

    def _exercises(self, path: str) -> dict[str, str]:
        return exercises_at(path, self._known)

    def _original(self, path: str) -> Source:
        if path not in self._originals:
            file = self.stage.package / path
            self._originals[path] = source_of(path, str(file.resolve()),
                                              module(self.stage.package, path).text)
        return self._originals[path]


def exercises_at(path: str, known: Iterable[Stage]) -> dict[str, str]:
    """Return the symbols of a module that are exercises, with the number of each exercise."""
    return {symbol: hole.id for stage in known for hole in stage.holes
            for where, _, symbol in (each.partition(":") for each in hole.symbols)
            if where == path}


def combine_files(chosen: Iterable[tuple[Stage, Mapping[str, Path]]]
             ) -> tuple[dict[str, Path], dict[str, Source]]:
    """Combine the files of several stages: return the files by path, and the shared modules.

    A module that several stages share is the last stage's file, with the exercises of the other
    stages taken from their files.
    """
    files: dict[str, Path] = {}
    shared: dict[str, Source] = {}
    by_path: dict[str, list[tuple[Stage, LearnerFiles]]] = {}
    for stage, mine in chosen:
        for path, file in mine.items():
            files[path] = file
            by_path.setdefault(path, []).append((stage, LearnerFiles(stage, {path: file})))
    for path, several in by_path.items():
        if len(several) == 1:
            continue
        (stage, last), *others = reversed(several)
        source = last._source(path)
        known = stages(stage.root)
        for other, learner_files in others:
            theirs = learner_files._source(path)
            if source is None or theirs is None:
                unread = stage if source is None else other
                raise CourseError(f"cannot read {path} of stage {unread.number}: it is not valid "
                                  "Python")
            exercises, original = exercises_at(path, known), learner_files._original(path)
            own = {hole.id for hole in other.holes}
            changed = changed_symbols(source, original)
            symbols = [each for each, hole in exercises.items() if hole in own]
            symbols += [each for each in changed_symbols(theirs, original)
                        if each not in exercises and each not in changed]
            source = compose(source, theirs, symbols, exercises)
        assert source is not None
        shared[path] = source
    return files, shared
