"""Distinguish a right answer that waits for another exercise from a wrong one.

NOTE [Right; it waits for]
    If the tests of an exercise fail while others in the workspace are open or wrong, it is tested
    again with the package's version of those.  If all its tests pass then, it is right, and waits
    for the smallest set of other exercises that makes the difference.  If not, the failures of the
    second run are its own, and only these are shown.  In a second run only the tests of that one
    exercise count, and its own functions are always the learner's.

NOTE [Below the whole package]
    Each exercise of a stage with `beside = true` is tested on a separate copy and waits for no
    other.  Once all of them are right, the learner's files are swapped in below the whole package,
    as in other stages, and the tests marked with the stage's number run there.  A failure there
    belongs to the exercises that fail it with the package's version of all others, or to all
    exercises if no single one does.

NOTE [Time in second runs]
    Second runs have the same time limit.  An exercise that hit the limit in its own code is tested
    again at most once, with all others from the package and a third of the time.  Code that only
    waits for a wrong answer then ends quickly, and an endless loop does not double the wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

from ..content.plain_text import refusal
from ..content.stages import CourseError, Hole, Stage
from ..running.compose import Source
from ..running.learner_files import LearnerFiles
from ..running.trial import Outcome, Trial, try_each, try_files, unreadable, unwritten
from .verdict import REFUSED, over_time, running_in

__all__ = ["fewest", "find_waits", "second_runs", "took_too_long", "try_again", "try_answers"]

#: The time limit in seconds for the tests of one exercise in a second run.
SECONDS = 30

#: Run the tests of some exercises (the second argument) with the package's version of others (the
#: first); return the exercises that pass.  The third argument is true for an exercise's last run.
Tested = Callable[[Collection[str], Sequence[str], bool], Collection[str]]
#: A second run: the composed modules, the exercises to test, and whether it gets a third of the
#: time.
Run = tuple[Mapping[str, Source], Sequence[str], bool]
#: Execute second runs; the second argument is whether to look for symptoms.
Runs = Callable[[Sequence[Run], bool], list[Trial]]
#: Run the files unchanged, for some exercises or all.  The second argument is true for the rest of
#: the stage, of which only the outcomes are needed and not the symptoms.
Once = Callable[[list[str] | None, bool], Trial]


def try_answers(stage: Stage, files: dict[str, Path], holes: list[str] | None = None,
                timeout: float = 120, shared: Mapping[str, Source] | None = None,
                limit: float | None = None, stop: Event | None = None,
                only_first: bool = False) -> Trial:
    """Run the stage's tests on a learner's files, and run the exercises that fail a second time.

    `holes` limits the verdicts to these exercises; `shared` are modules that several stages share.
    `limit`, `stop` and `only_first` are as in `try_files`.
    """
    if refused := {path: why for path, file in files.items() if (why := refusal(file))}:
        return _without_refused(stage, files, holes, refused, partial(
            try_answers, timeout=timeout, shared=shared, limit=limit, stop=stop,
            only_first=only_first))
    answers = LearnerFiles(stage, files, shared)
    short = None if limit is None else limit / 3

    def run(runs: Sequence[Run], symptoms: bool) -> list[Trial]:
        if stop is not None and stop.is_set():
            return [Trial(problem="it was stopped")] * len(runs)
        return try_each(stage, [(files, list(tested)) for _, tested, _ in runs], SECONDS, symptoms,
                        composed=[composed for composed, _, _ in runs], stop=stop,
                        limit=short if any(is_short for _, _, is_short in runs) else limit)

    def once(tested: list[str] | None, is_rest: bool) -> Trial:
        return try_files(stage, files, tested, timeout, symptoms=not is_rest,
                         limit=short if is_rest else limit, stop=stop,
                         only_first=(only_first or is_rest) and not stage.beside,
                         composed=answers.repaired())

    first = once(holes, False)
    if first.problem and limit is not None and took_too_long(first.problem):
        return first
    return replace(try_again(answers, first, holes, once, run, only_first), gone=answers.gone())


def _without_refused(stage: Stage, files: dict[str, Path], holes: list[str] | None,
                     refused: Mapping[str, str], tried: Callable[..., Trial]) -> Trial:
    """Return a trial in which the exercises of refused files fail, with the reason.

    The others are tested with the package's version of those files.
    """
    asked = [hole for hole in stage.holes if holes is None or hole.id in holes]
    failing = {hole.id: Outcome(f"the file of {hole.id}", (hole.id,), False, REFUSED + why, str(
        files[path])) for path, why in refused.items() for hole in asked
        if any(symbol.startswith(f"{path}:") for symbol in hole.symbols)}
    rest = [hole.id for hole in asked if hole.id not in failing]
    taken = {path: file for path, file in files.items() if path not in refused}
    trial = tried(stage, taken, rest) if rest and taken else Trial()
    return replace(trial, outcomes=(*failing.values(), *trial.outcomes))


def try_again(answers: LearnerFiles, first: Trial, holes: list[str] | None, once: Once, run: Runs,
              only_first: bool = False) -> Trial:
    """Return a trial that includes the outcomes of all necessary further runs.

    `first` has the outcomes of `holes`, or of the whole stage if that is `None`.  With `only_first`
    it lacks those after an exercise that hit its limit.
    """
    every = answers.stage.holes
    if answers.stage.beside:  # each exercise was tested with the package's version of the rest
        is_whole = holes is None or {hole.id for hole in every} <= set(holes)
        if not is_whole or not all(map(first.solved, every)):
            return first
        return _below_whole_package(answers, first, once([answers.stage.number], False), run)
    asked = [hole for hole in every if holes is None or hole.id in holes]
    is_open = answers.open()  # their tests would fail, so do not run them
    others = [hole.id for hole in every if hole not in asked and hole.id not in is_open]
    if only_first and any(over_time(each.message) for each in first.outcomes):
        asked = [hole for hole in asked if first.of(hole)]  # the rest was left out
    if others and not first.problem and any(_is_to_run_again(first, hole) for hole in asked):
        rest = once(others, True)
        first = replace(first, outcomes=(*first.outcomes, *rest.outcomes))
    return second_runs(answers, first, asked, run)


def _below_whole_package(answers: LearnerFiles, first: Trial, whole: Trial, run: Runs) -> Trial:
    """Return a trial that includes the outcomes of all files below the whole package.

    See NOTE [Below the whole package] for how failures there are assigned to exercises.
    """
    first = replace(first, whole=whole)
    if not _fails(whole):
        return first
    every = answers.stage.holes
    try:
        trials = run([(answers.without([each.id for each in every if each != hole]),
                       [answers.stage.number], False) for hole in every], False)
    except CourseError:  # cannot compose the files
        trials = [whole] * len(every)
    broken = {hole: trial for hole, trial in zip(every, trials, strict=True) if _fails(trial)}
    more = [each for hole, trial in (broken or dict.fromkeys(every, whole)).items()
            for each in _failures_of(hole, trial)]
    return replace(first, outcomes=(*first.outcomes, *more))


def _fails(whole: Trial) -> bool:
    return bool(whole.problem) or not all(each.passed for each in whole.outcomes)


def _failures_of(hole: Hole, whole: Trial) -> list[Outcome]:
    """Return the failures below the whole package as failures of this exercise."""
    if whole.problem:
        return [replace(_failure(hole, whole), test=f"the whole package on your {hole.id}")]
    return [replace(each, holes=(hole.id,)) for each in whole.outcomes if not each.passed]


def took_too_long(problem: str) -> bool:
    """Return whether no test could run because the import, or the whole run, took too long."""
    return problem.startswith("it did not end within ") or \
        problem.strip().rpartition("\n")[2].startswith("TimeLimit: ")


def second_runs(answers: LearnerFiles, first: Trial, asked: Sequence[Hole], run: Runs) -> Trial:
    """Return a trial that includes the outcomes of second runs for the exercises in `asked`.

    `first` has the outcomes of all exercises of the stage.
    """
    if first.problem:
        return _one_by_one(answers, first, asked, run)
    failing = {hole.id: hole for hole in asked if _is_to_run_again(first, hole)}
    suspects = [hole.id for hole in answers.holes
                if not (hole in answers.stage.holes and first.solved(hole))]
    late = {number: running for number, hole in failing.items()
            if (running := _ran_in(first, hole)) is not None}
    last_runs: dict[str, Trial] = {}

    def tested(without: Collection[str], holes: Sequence[str], last: bool) -> list[str]:
        again = [each for each in holes
                 if each not in late or last or each in last_runs or late[each] in without]
        if not again:
            return []
        is_short = any(late.get(each) == each for each in again)
        (trial,) = run([(answers.without(without), again, is_short)], last)
        if last:
            last_runs[again[0]] = trial
        return [each for each in again if trial.solved(failing[each])]

    met = {each for hole in failing.values() for each in _met(first, hole)} | set(late.values())
    try:
        waits = find_waits(list(failing), suspects, met, tested, answers.open())
    except CourseError:  # cannot compose the files: keep the first run
        return first
    for number, trial in last_runs.items():
        ended_again = number in late and _ran_in(trial, failing[number]) is not None
        if number not in waits and not trial.problem and not ended_again:
            first = _with(first, failing[number], trial)
    return replace(first, waits=waits)


def find_waits(failing: Sequence[str], suspects: Sequence[str], likely: Collection[str],
               tested: Tested, to_write: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the failing exercises that are right, each with the exercises that it waits for.

    `suspects` are all exercises that are open or wrong; those in `likely` are tried first.  Those
    in `to_write` cannot be right, so they are tested once, with all others from the package.
    """
    waits: dict[str, tuple[str, ...]] = {}
    for suspect in sorted((each for each in suspects if each in likely or each in failing),
                          key=lambda each: each not in likely):
        left = [each for each in failing
                if each != suspect and each not in waits and each not in to_write]
        if left and suspect not in waits:
            waits |= {each: (suspect,) for each in tested([suspect], left, False)}
    for each in failing:
        others = [other for other in suspects if other != each]
        # If all other suspects wait only for this one, it is itself wrong.
        if each not in waits and any(waits.get(other) != (each,) for other in others) \
                and tested(others, [each], True):
            waits[each] = tuple(fewest(others, partial(_is_enough, tested, each)))
    return waits


def _is_enough(tested: Tested, hole: str, others: Collection[str]) -> bool:
    return bool(tested(others, [hole], False))


def fewest(others: Sequence[str], passes: Callable[[Collection[str]], bool]) -> list[str]:
    """Return a smallest part of `others` for which `passes` is true, as it is for all of them.

    >>> fewest(["a", "b", "c", "d"], lambda chosen: "c" in chosen)
    ['c']
    """
    needed, size = list(others), len(others) // 2
    while size:
        for start in range(len(needed) - size, -1, -size):
            fewer = needed[:start] + needed[start + size:]
            if fewer and passes(fewer):
                needed = fewer
        size = min(size, len(needed)) // 2
    return needed


def _is_to_run_again(trial: Trial, hole: Hole) -> bool:
    """Return whether an exercise failed although all of it is written."""
    return not trial.solved(hole) and hole.id not in _met(trial, hole)


def _met(trial: Trial, hole: Hole) -> set[str]:
    """Return the unwritten and unparsable exercises that an exercise's tests reached."""
    messages = [each.message for each in trial.of(hole) if not each.passed]
    broken = [found[0] for each in messages if (found := unreadable(each)) is not None]
    return {each for each in map(unwritten, messages) if each is not None} | set(broken)


def _ran_in(trial: Trial, hole: Hole) -> str | None:
    """Return the exercise that was running when the tests of `hole` ran out of time, or `None`."""
    told = [sentence for each in trial.of(hole)
            if (sentence := over_time(each.message)) is not None]
    return (running_in(told[0]) or hole.id) if told else None


def _with(trial: Trial, hole: Hole, second: Trial) -> Trial:
    """Return a trial with an exercise's outcomes and symptoms replaced with its second run's."""
    start = hole.id.replace(".", "_") + "_"
    kept = [each for each in trial.outcomes if hole.id not in each.holes]
    symptoms = {name: shown for name, shown in trial.symptoms.items() if not name.startswith(start)}
    return replace(trial, outcomes=(*kept, *second.of(hole)),
                   symptoms=symptoms | {name: shown for name, shown in second.symptoms.items()
                                        if name.startswith(start)})


def _one_by_one(answers: LearnerFiles, first: Trial, asked: Sequence[Hole], run: Runs) -> Trial:
    """If the tests could not run, test each exercise with the package's version of all others.

    A single answer can keep the package from being imported, or a test from ending.
    """
    every = [hole.id for hole in answers.holes]
    try:
        tries = [(answers.without([each for each in every if each != hole.id]), [hole.id], False)
                 for hole in answers.stage.holes]
    except CourseError:
        return first
    trials = dict(zip(answers.stage.holes, run(tries, True), strict=True))
    if all(each.problem for each in trials.values()):
        return first
    culprits = [hole.id for hole, trial in trials.items() if trial.problem] or [
        hole.id for hole, trial in trials.items() if not trial.solved(hole)]
    trial = Trial(printed=first.printed)
    for hole in asked:
        alone = trials[hole]
        if alone.problem:
            alone = Trial((_failure(hole, alone),))
        trial = _with(trial, hole, alone)
        blamed = tuple(each for each in culprits if each != hole.id)
        if alone.solved(hole) and blamed:
            trial = replace(trial, waits={**trial.waits, hole.id: blamed})
    return trial


def _failure(hole: Hole, trial: Trial) -> Outcome:
    """Return a failing outcome for an exercise that kept all tests from running."""
    lines = trial.problem.strip().splitlines() or [""]
    where = "" if trial.at is None else f"{trial.at[0]}:{trial.at[1]}"
    return Outcome(f"the tests of {hole.id}", (hole.id,), False, lines[-1], where, trial.problem)
