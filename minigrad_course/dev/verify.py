"""Test a stage in the states that learners produce: untouched, half solved, solved, and wrong."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..content.lesson_blocks import parse
from ..content.source import blank, module, mutated, statements
from ..content.stages import Hole, Stage, stages
from ..running.trial import Trial, try_each, try_files, unwritten
from .strategies import strategies, with_strategy

#: The time limit in seconds for a stage's tests; a learner should not wait longer.
TIMEOUT = 180


def findings(stage: Stage, told: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Yield a sentence for each problem; `told` is called with each thing that is tried."""
    if not stage.is_own:  # a teacher decides how many exercises and mistakes there are
        yield from shape(stage)
    if not stage.holes:
        return
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        yield from _trials(stage, Path(folder), told)


def shape(stage: Stage) -> Iterator[str]:
    """Yield wrong counts of a stage: exercises, points, hints, mutants, taught lines."""
    if not stage.holes:
        return
    if not 3 <= len(stage.holes) <= 8:
        yield f"{stage.key} has {len(stage.holes)} holes; expected 3 to 8"
    if (points := sum(hole.points for hole in stage.holes)) != 10:
        yield f"{stage.key}: the points of its holes add up to {points}, not to 10"
    sizes = {hole.id: sum(statements(module(stage.package, path).function(name))
                          for path, _, name in (each.partition(":") for each in hole.symbols))
             for hole in stage.holes}
    taught = sum(_taught(stage))
    if sum(sizes.values()) * 2 < taught:
        yield (f"{stage.key}: its holes have only {sum(sizes.values())} of {taught} taught "
               "statements")
    named = set()
    for hole in stage.holes:
        words = stage.words["hole"].get(hole.id, {})
        if not words.get("title") or not words.get("task") or len(words.get("hints", ())) != 3:
            yield f"{stage.key}, {hole.id}: it needs a title, a task and three hints"
        if len(hole.mutants) < 3:
            yield f"{stage.key}, {hole.id}: it needs three mutants, but has {len(hole.mutants)}"
        named.update(stage.symptoms_of(hole))
    if unknown := set(stage.words.get("symptoms", ())) - named:
        yield f"{stage.key}: symptoms that belong to no hole: {sorted(unknown)}"


def _taught(stage: Stage) -> Iterator[int]:
    for block in parse(stage.text(), stage.key):
        if block.kind == "pull":
            path, _, symbol = block.detail.partition(":")
            yield max(1, statements(module(stage.package, path).find(symbol)))


def _trials(stage: Stage, folder: Path, told: Callable[[str], None]) -> Iterator[str]:
    holes = list(stage.holes)
    everything = [hole.id for hole in holes]
    folders = (folder / str(number) for number in itertools.count())

    def files(texts: dict[str, str]) -> dict[str, Path]:
        return _written(next(folders), texts)

    def blanked(open_holes: list[Hole]) -> dict[str, Path]:
        return files({path: blank(stage, path, open_holes) for path in stage.modules})

    told(f"{stage.key}: as shipped, solved, with the stages before it, and hole by hole")
    before = [each for each in stages(stage.root) if each.key <= stage.key]
    later = [[each for each in holes[position + 1 :] if each.id not in hole.needs]
             for position, hole in enumerate(holes)]
    shipped, solution, together, *rest = try_each(stage, [
        (blanked(holes), everything), (blanked([]), everything),
        ({path: each.solution(path) for each in before for path in each.modules}, everything),
        *((blanked([hole]), [hole.id]) for hole in holes),
        *((blanked(rest), [hole.id]) for hole, rest in zip(holes, later, strict=True)),
    ], TIMEOUT)
    yield from _whole(stage, shipped, solution, together)
    for hole, alone, first in zip(holes, rest, rest[len(holes):]):
        passing = [each.test for each in alone.of(hole) if each.passed]
        if alone.problem or passing:
            yield f"{stage.key}, {hole.id} alone open: {alone.problem or f'{passing} pass'}"
        if not first.solved(hole):
            failing = [each.test for each in first.of(hole) if not each.passed]
            yield (f"{stage.key}, {hole.id} solved, later holes open: "
                   f"{first.problem or f'{failing} fail'}")

    if stage.beside:
        told(f"{stage.key}: below the whole package")
        yield from _below(stage, try_files(stage, blanked([]), [stage.number], TIMEOUT))

    texts = {path: module(stage.package, path).text for path in stage.modules}
    for hole in holes:
        told(f"{stage.key}, {hole.id}: {len(hole.mutants)} mutants")
        found = try_each(stage, [(files(texts | mutated(stage, hole, mutant)), [hole.id])
                                 for mutant in hole.mutants], TIMEOUT, symptoms=True)
        for mutant, trial in zip(hole.mutants, found, strict=True):
            yield from _wrong(stage, hole, f"the mutant {mutant.name!r}", mutant.symptom, trial)
        yield from verify_strategies(stage, hole, folder / hole.id, told)


def _written(folder: Path, texts: dict[str, str]) -> dict[str, Path]:
    """Write texts, by path in the package, below a folder; return the files."""
    paths = {path: folder / path for path in texts}
    for path, text in texts.items():
        paths[path].parent.mkdir(parents=True, exist_ok=True)
        paths[path].write_text(text, encoding="utf-8")
    return paths


def _whole(stage: Stage, shipped: Trial, solution: Trial, together: Trial) -> Iterator[str]:
    if shipped.problem:
        yield f"{stage.key} as shipped: {shipped.problem}"
    for hole in stage.holes:
        passing = [each.test for each in shipped.of(hole) if each.passed]
        if not shipped.of(hole) or passing:
            yield f"{stage.key}, {hole.id} as shipped: these tests pass: {passing or 'it has none'}"
        hiding = [each.test for each in shipped.of(hole)
                  if not each.passed and unwritten(each.message) is None]
        if hiding:
            yield (f"{stage.key}, {hole.id} as shipped: these tests catch the NotImplementedError "
                   f"that says whose turn it is: {hiding}")
    if solution.problem:
        yield f"{stage.key}, solution: {solution.problem}"
    for outcome in solution.outcomes:
        if not outcome.passed:
            yield f"{stage.key}, solution: {outcome.test} fails: {outcome.message}"
    if together.problem or not all(each.passed for each in together.outcomes):
        yield f"{stage.key} with the stages before it: {together.problem or 'a test fails'}"


def _below(stage: Stage, whole: Trial) -> Iterator[str]:
    """Yield the failures of the solution below the whole package."""
    failing = [each.test for each in whole.outcomes if not each.passed]
    if whole.problem or failing:
        yield f"{stage.key} below the whole package: {whole.problem or f'{failing} fail'}"


def verify_strategies(stage: Stage, hole: Hole, folder: Path,
                      told: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Yield a finding for each right strategy that fails, and each wrong one without its sentence.

    Their files are written in `folder`.
    """
    known = strategies(stage, hole)
    if known:
        told(f"{stage.key}, {hole.id}: {len(known)} strategies")
    found = try_each(stage, [
        (_written(folder / f"strategy{number}", with_strategy(stage, hole, each)), [hole.id])
        for number, each in enumerate(known)], TIMEOUT, symptoms=True)
    for each, trial in zip(known, found, strict=True):
        if not each.is_right:
            yield from _wrong(stage, hole, f"the strategy {each.name!r}", each.symptom, trial)
        elif not trial.solved(hole):
            failing = [outcome.test for outcome in trial.of(hole) if not outcome.passed]
            yield (f"{stage.key}, {hole.id}: the tests refuse the right strategy {each.name!r}: "
                   f"{trial.problem or failing}")


def _wrong(stage: Stage, hole: Hole, answer: str, symptom: str | None, trial: Trial
           ) -> Iterator[str]:
    if trial.solved(hole):
        yield f"{stage.key}, {hole.id}: the tests accept {answer}"
        return
    found = None if trial.problem else trial.diagnosis(stage, hole)
    if found != symptom:
        shown = [name for name, seen in trial.symptoms.items() if seen]
        yield (f"{stage.key}, {hole.id}: {answer} is diagnosed as {found!r}, not "
               f"{symptom!r} (shown: {shown}) {trial.problem}")
