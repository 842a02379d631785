"""Plant a fault in one stage of the learner's engine, to be found by bisection.

NOTE [Planting]
    A fault is a known mistake of one exercise that changes one line of the answer.  It is composed
    into the learner's own file.  A stage that is not solved gets no fault, because the answer would
    show its solution.  A number selects the mistake to plant from the mistakes that at least one
    of the ten probes (lessons/programs/ten_probes.py) detects.  `seen = true` marks a mistake that
    they detect in the package's own code, so that only few mistakes must be tried.  The workspace
    stores only a digest of the fault, not its name.
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

__all__ = ["COMPILER", "LIMIT", "Engine", "Fault", "candidates", "fault_with", "plant", "probed"]

#: The number of the stage about the compiler.
COMPILER = "15"
#: The time limit in seconds for the ten probes.
LIMIT = 60.0

#: The learner's files by path in the package, and the composed modules.
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
        """The digest that the workspace stores."""
        name = f"{self.stage.key} {self.hole.id} {self.mutant.name}"
        return hashlib.sha256(name.encode()).hexdigest()[:16]

    @property
    def lines(self) -> tuple[str, str]:
        """The line before and after the change."""
        ((before, after),) = self.mutant.edits
        return before.strip(), after.strip()


def candidates() -> list[Fault]:
    """Return the mistakes that change one line, in all stages that can be swapped in.

    Mistakes in the compiler are left out, because no probe compiles anything.
    """
    return [Fault(stage, hole, mutant) for stage in stages() for hole in stage.holes
            for mutant in hole.mutants
            if not stage.beside and stage.number not in ("00", COMPILER) and len(mutant.edits) == 1
            and not any("\n" in text.strip("\n") for text in mutant.edits[0])]


def fault_with(digest: str) -> Fault:
    """Return the fault with this digest; raise CourseError if this version lacks it."""
    for fault in candidates():
        if fault.digest == digest:
            return fault
    raise CourseError("the planted fault is from another version of the course: "
                      "plant another with `minigrad capstone fault --new`")


def engine_with(fault: Fault | None, own: Iterable[tuple[Stage, dict[str, Path]]]) -> Engine:
    """Return an engine made of the learner's files, with a fault planted in it."""
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
    """Return the results of the ten probes, or `None` if they fail to start or to end in time."""
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        result = Path(folder, "result.json")
        script = checkout() / "lessons" / "programs" / "ten_probes.py"
        files, shared = engine
        try:
            run_script(script, ["--result", str(result)], files, shared, LIMIT, quiet=True,
                       one_thread=True)
        except subprocess.TimeoutExpired:
            return None
        if not result.is_file():
            return None
        found: dict[str, str] = json.loads(result.read_text(encoding="utf-8"))
        return found


def plant(number: int, own: Own, expected: Mapping[str, str], known: Collection[str] = ()) -> Fault:
    """Return fault `number` of the learner's stages: the first in its order that a probe detects.

    Faults whose digests are in `known` aren't planted again.  Raises CourseError if the stages have
    no other fault, or if the engine gives wrong results even without one.
    """
    among = {stage.key for stage, _ in own}
    if not any(fault.stage.key in among for fault in candidates()):
        raise CourseError("a fault needs a stage that you have solved: solve one from 01 on first "
                          "(04d and 04e get no faults)")
    found = probed(engine_with(None, own))
    if found != expected:
        wrong = [name for name in expected if found is None or found[name] != expected[name]]
        raise CourseError("your engine already has a fault: it gets the probes "
                          f"{', '.join(wrong)} wrong. `minigrad python ten_probes.py` shows how; "
                          "with `--mine 00-05` before the program you can leave stages out")
    for fault in order(number, among):
        if fault.digest in known:
            continue
        found = probed(engine_with(fault, own))
        if found is not None and found != expected and not _names_an_object(found):
            return fault
    raise CourseError("no probe detects " + ("another fault" if known else "a fault")
                      + " in the stages that you have solved: solve another stage first")


def _names_an_object(found: Mapping[str, str]) -> bool:
    """Return whether a probe printed an object instead of a value, which would reveal the fault."""
    return any(re.search(r"<\w.* at 0x", text) for text in found.values())


def order(number: int, among: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of stages, given by key, in a random order that `number` determines.

    Faults that probes are known to detect come first.  All stages are equally likely.
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
