"""Tries a stage as all its learners would: untouched, half solved, solved, and wrongly solved."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ..stages import Hole, Mutant, Stage, stages
from ..trial import Trial, try_files
from .lesson import parse
from .source import blank, module, mutated, statements

#: What the tests of a stage may take; the learner is not to wait longer.
TIMEOUT = 180


def findings(stage: Stage, told: Callable[[str], None] = lambda _: None) -> Iterator[str]:
    """Yield a sentence for each thing that is not as it should be; `told` hears what is tried."""
    yield from shape(stage)
    if not stage.holes:
        return
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        yield from _trials(stage, Path(folder), told)


def shape(stage: Stage) -> Iterator[str]:
    """Yield what is wrong with a stage's counts: holes, points, hints, mutants, taught lines."""
    if not stage.holes:
        return
    if not 3 <= len(stage.holes) <= 8:
        yield f"{stage.key} has {len(stage.holes)} holes; 3 to 8 are wanted"
    if (points := sum(hole.points for hole in stage.holes)) != 10:
        yield f"{stage.key}: the points of its holes add up to {points}, not to 10"
    sizes = {hole.id: sum(statements(module(stage.package, path).function(name))
                          for path, _, name in (each.partition(":") for each in hole.symbols))
             for hole in stage.holes}
    if max(sizes.values()) < 15:
        yield f"{stage.key}: no hole has 15 statements; they have {sizes}"
    taught = sum(_taught(stage))
    if sum(sizes.values()) * 2 < taught:
        yield f"{stage.key}: its holes have {sum(sizes.values())} of {taught} taught statements"
    named = set()
    for hole in stage.holes:
        words = stage.words["hole"].get(hole.id, {})
        if not words.get("title") or not words.get("task") or len(words.get("hints", ())) != 3:
            yield f"{stage.key}, {hole.id}: it needs a title, a task and three hints"
        if len(hole.mutants) < 3:
            yield f"{stage.key}, {hole.id}: it needs three mutants, but has {len(hole.mutants)}"
        named.update(stage.symptoms_of(hole))
    if unknown := set(stage.words.get("symptoms", ())) - named:
        yield f"{stage.key}: symptoms of no hole: {sorted(unknown)}"


def _taught(stage: Stage) -> Iterator[int]:
    for block in parse(stage.text(), stage.key):
        if block.kind == "pull":
            path, _, symbol = block.detail.partition(":")
            yield max(1, statements(module(stage.package, path).find(symbol)))


def _trials(stage: Stage, folder: Path, told: Callable[[str], None]) -> Iterator[str]:
    holes = list(stage.holes)

    def files(texts: dict[str, str]) -> dict[str, Path]:
        paths = {}
        for path, text in texts.items():
            paths[path] = folder / path
            paths[path].parent.mkdir(parents=True, exist_ok=True)
            paths[path].write_text(text, encoding="utf-8")
        return paths

    def tried(blanked: list[Hole], **options: object) -> Trial:
        texts = {path: blank(stage, path, blanked) for path in stage.modules}
        return try_files(stage, files(texts), timeout=TIMEOUT, **options)  # type: ignore[arg-type]

    told(f"{stage.key}: as shipped")
    trial = tried(holes, symptoms=False)
    if trial.problem:
        yield f"{stage.key} as shipped: {trial.problem}"
    for hole in holes:
        passing = [each.test for each in trial.of(hole) if each.passed]
        if not trial.of(hole) or passing:
            yield f"{stage.key}, {hole.id} as shipped: these tests pass: {passing or 'it has none'}"

    told(f"{stage.key}: the solution")
    trial = tried([])
    if trial.problem:
        yield f"{stage.key}, solution: {trial.problem}"
    for outcome in trial.outcomes:
        if not outcome.passed:
            yield f"{stage.key}, solution: {outcome.test} fails: {outcome.message}"

    told(f"{stage.key}: with the stages before it")
    before = [each for each in stages(stage.root) if each.key <= stage.key]
    swapped = {path: each.solution(path) for each in before for path in each.modules}
    trial = try_files(stage, swapped, timeout=TIMEOUT)
    if trial.problem or not all(each.passed for each in trial.outcomes):
        yield f"{stage.key} with the stages before it: {trial.problem or 'a test fails'}"

    for position, hole in enumerate(holes):
        told(f"{stage.key}, {hole.id}")
        trial = tried([hole], holes=[hole.id], symptoms=False)
        passing = [each.test for each in trial.of(hole) if each.passed]
        if trial.problem or passing:
            yield f"{stage.key}, {hole.id} alone open: {trial.problem or f'{passing} pass'}"
        later = [each for each in holes[position + 1 :] if each.id not in hole.needs]
        if later:
            trial = tried(later, holes=[hole.id], symptoms=False)
            if not trial.solved(hole):
                failing = [each.test for each in trial.of(hole) if not each.passed]
                yield (f"{stage.key}, {hole.id} solved, later holes open: "
                       f"{trial.problem or f'{failing} fail'}")
        for mutant in hole.mutants:
            told(f"{stage.key}, {hole.id}: {mutant.name}")
            yield from _mutant(stage, hole, mutant, files)


def _mutant(stage: Stage, hole: Hole, mutant: Mutant,
            files: Callable[[dict[str, str]], dict[str, Path]]) -> Iterator[str]:
    texts = {path: module(stage.package, path).text for path in stage.modules}
    paths = files(texts | mutated(stage, hole, mutant))
    trial = try_files(stage, paths, holes=[hole.id], timeout=TIMEOUT)
    if trial.solved(hole):
        yield f"{stage.key}, {hole.id}: the tests accept the mutant {mutant.name!r}"
        return
    found = None if trial.problem else trial.diagnosis(stage, hole)
    if found != mutant.symptom:
        shown = [name for name, seen in trial.symptoms.items() if seen]
        yield (f"{stage.key}, {hole.id}: the mutant {mutant.name!r} is told {found!r}, not "
               f"{mutant.symptom!r} (shown: {shown}) {trial.problem}")
