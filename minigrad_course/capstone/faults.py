"""A fault is planted in one stage of the learner's engine, to be found by halves.

NOTE [Planting]
    A fault is a known mistake of one exercise: one line of the answer, changed.  It is composed
    into the learner's own file; a stage that is not solved gets none, since the answer would show
    its solution.  A number decides which mistake it is; it is taken only if at least one of the
    ten probes (lessons/programs/ten_probes.py) sees it.  `seen = true` beside a mistake says that
    they do, on the package's own code, so that few have to be tried.  The workspace keeps a digest
    of it and no name.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..content.source import module, mutated, symbols_in
from ..content.stages import CourseError, Hole, Mutant, Stage, checkout, stages
from ..running.compose import Source, compose, source_of
from ..running.learner_files import combine_files, exercises_at
from ..running.program import run_script

__all__ = ["LIMIT", "Engine", "Fault", "candidates", "fault_with", "plant", "probed"]

#: The seconds that the ten probes may take.
LIMIT = 60.0

#: The learner's files by path in the package, and the modules that are composed.
Engine = tuple[dict[str, Path], dict[str, Source]]
Own = list[tuple[Stage, dict[str, Path]]]


@dataclass(frozen=True)
class Fault:
    """A mistake that can be planted."""

    stage: Stage
    hole: Hole
    mutant: Mutant

    @property
    def digest(self) -> str:
        """The mark under which the workspace keeps it."""
        name = f"{self.stage.key} {self.hole.id} {self.mutant.name}"
        return hashlib.sha256(name.encode()).hexdigest()[:16]

    @property
    def lines(self) -> tuple[str, str]:
        """The line as it was, and as it is."""
        ((before, after),) = self.mutant.edits
        return before.strip(), after.strip()


def candidates() -> list[Fault]:
    """Return the mistakes that change one line, of all stages that a swap reaches."""
    return [Fault(stage, hole, mutant) for stage in stages() for hole in stage.holes
            for mutant in hole.mutants
            if not stage.beside and stage.number != "00" and len(mutant.edits) == 1
            and not any("\n" in text.strip("\n") for text in mutant.edits[0])]


def fault_with(digest: str) -> Fault:
    """Return the fault with this digest; CourseError where this version has none."""
    for fault in candidates():
        if fault.digest == digest:
            return fault
    raise CourseError("the planted fault is of another version of the course: "
                      "`minigrad capstone fault --new` plants another")


def engine_with(fault: Fault | None, own: Iterable[tuple[Stage, dict[str, Path]]]) -> Engine:
    """Return an engine of the learner's files with a fault in it."""
    files, shared = combine_files(own)
    if fault is None:
        return files, shared
    known = stages()
    for path, text in mutated(fault.stage, fault.hole, fault.mutant).items():
        original = fault.stage.package / path
        base = shared.get(path) or source_of(path, str(files.get(path, original).resolve()),
                                             _text(files.get(path), fault.stage, path))
        wrong = source_of(path, str(original.resolve()), text)
        shared[path] = compose(base, wrong, symbols_in(fault.hole, path), exercises_at(path, known))
        files.setdefault(path, original)
    return files, shared


def _text(file: Path | None, stage: Stage, path: str) -> str:
    return module(stage.package, path).text if file is None else file.read_text(encoding="utf-8")


def probed(engine: Engine) -> dict[str, str] | None:
    """Return the results of the ten probes; None if they do not end, or cannot begin."""
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        result = Path(folder, "result.json")
        script = checkout() / "lessons" / "programs" / "ten_probes.py"
        files, shared = engine
        try:
            run_script(script, ["--result", str(result)], files, shared, LIMIT, quiet=True)
        except subprocess.TimeoutExpired:
            return None
        if not result.is_file():
            return None
        found: dict[str, str] = json.loads(result.read_text(encoding="utf-8"))
        return found


def plant(number: int, own: Own, expected: Mapping[str, str]) -> Fault:
    """Return fault `number` of the learner's stages: the first of its order that a probe sees.

    CourseError where no stage can have one, and where the engine without a fault gives other
    results than the expected ones.
    """
    among = {stage.key for stage, _ in own}
    if not any(fault.stage.key in among for fault in candidates()):
        raise CourseError("a fault is planted in a stage that you have solved: solve one from 01 "
                          "on first (04d has none)")
    found = probed(engine_with(None, own))
    if found != expected:
        wrong = [name for name in expected if found is None or found[name] != expected[name]]
        raise CourseError("your engine has a fault of its own: it gets the probes "
                          f"{', '.join(wrong)} wrong. `minigrad python ten_probes.py` shows how, "
                          "and `--mine 00-05` before it takes stages out")
    for fault in order(number, among):
        found = probed(engine_with(fault, own))
        if found is not None and found != expected and not _names_an_object(found):
            return fault
    raise CourseError("no probe sees a fault in the stages that you have solved: solve another "
                      "one first")


def _names_an_object(found: Mapping[str, str]) -> bool:
    """Tell whether a probe printed an object in a value's place, which would name the fault."""
    return any(re.search(r"<\w.* at 0x", text) for text in found.values())


def order(number: int, among: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of stages, named by their keys, in the order of a number.

    Those that probes are known to see come first. A stage is as likely as any other.
    """
    lots = random.Random(f"fault {number}")
    for seen in (True, False):
        by_stage: dict[str, list[Fault]] = {}
        for fault in candidates():
            if fault.mutant.seen == seen and fault.stage.key in among:
                by_stage.setdefault(fault.stage.key, []).append(fault)
        for faults in by_stage.values():
            lots.shuffle(faults)
        while by_stage:
            key = lots.choice(sorted(by_stage))
            yield by_stage[key].pop()
            if not by_stage[key]:
                del by_stage[key]
