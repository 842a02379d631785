"""Canaries: proof that tests and grading run the learner's code.

NOTE [Canaries]
    A `raise` is planted in the solution of one exercise, as the first statement of its functions.
    If the tests and probes of that exercise run the submitted file, every one of them hits it.  One
    that misses it has run other code.  The exception is a BaseException but not an Exception, so
    that no test mistakes it for an error that it expects.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..content.source import Module, body_span, module
from ..content.stages import Hole, Stage
from ..grading.asking import probes_of
from ..grading.bundle import make_bundle, remove_tests
from ..grading.sandbox import Limits, best_sandbox
from ..grading.sealed import with_sealed
from ..running.trial import Trial, try_each

#: The seed for the probes; with any seed, every probe must hit the canary.
SEED = 20_261_121


def canaries(stage: Stage, told: Callable[[str, int, int], None] = lambda *_: None
             ) -> Iterator[str]:
    """Yield a sentence for each test or probe that misses the canary of its exercise.

    `told` is called with each exercise and its numbers of tests and probes.
    """
    trials = _tried(stage, list(stage.holes), "BaseException")
    for hole, trial in zip(stage.holes, trials, strict=True):
        if "Canary" in trial.problem:  # it was raised during collection, where pytest survives
            (trial,) = _tried(stage, [hole], "Exception")  # only an Exception
        outcomes = trial.of(hole)
        answers = _asked(stage, hole)
        told(hole.id, len(outcomes), len(answers))
        if trial.problem or not outcomes:
            yield f"{hole.id}: no test ran: {trial.problem}"
        for outcome in outcomes:
            if outcome.passed or "Canary" not in outcome.message + outcome.detail:
                yield (f"{hole.id}: {outcome.test} misses the canary: "
                       f"{outcome.message or 'it passes'}")
        if not answers:
            yield f"{hole.id}: no probe was asked"
        for name, answer in answers:
            if answer.get("raises") != "Canary":
                yield f"{hole.id}: {name} misses the canary: {str(answer)[:200]}"


def planted(stage: Stage, hole: Hole, kind: str = "BaseException") -> dict[str, str]:
    """Return the texts of the stage's modules with a canary in each function of an exercise."""
    texts = {path: module(stage.package, path).text for path in stage.modules}
    for symbol in hole.symbols:
        path, _, name = symbol.partition(":")
        texts[path] = plant(Module.from_text(path, texts[path]), name, hole.id, kind)
    return texts


def plant(source: Module, symbol: str, mark: str, kind: str = "BaseException") -> str:
    """Return a module's text with a `raise` as the first statement of one function."""
    return begun_with(source, symbol, [f'raise type("Canary", ({kind},), {{}})("{mark}")'])


def begun_with(source: Module, symbol: str, statements: Sequence[str]) -> str:
    """Return a module's text in which one function begins with these lines."""
    function = source.function(symbol)
    first, _ = body_span(source, function)
    indent = " " * (function.col_offset + 4)
    lines = source.lines
    lines[first - 1 : first - 1] = [f"{indent}{each}" for each in statements]
    return "\n".join(lines) + "\n"


def _tried(stage: Stage, holes: list[Hole], kind: str) -> list[Trial]:
    """Run the tests of each exercise on the solution with a canary in that exercise."""
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        tries = []
        for hole in holes:
            files = {}
            for path, text in planted(stage, hole, kind).items():
                files[path] = Path(folder, hole.id, path)
                files[path].parent.mkdir(parents=True, exist_ok=True)
                files[path].write_text(text, encoding="utf-8")
            tries.append((files, [hole.id]))
        return try_each(stage, tries)


def _asked(stage: Stage, hole: Hole) -> list[tuple[str, dict[str, Any]]]:
    """Ask the probes of an exercise as in grading; return their names and answers."""
    jobs = probes_of(stage, [hole], SEED)
    with tempfile.TemporaryDirectory(prefix="minigrad-") as folder:
        Path(folder).chmod(0o755)
        bundle = make_bundle(stage, planted(stage, hole), Path(folder), hole)
        remove_tests(bundle)
        ended = best_sandbox().run(bundle, ["probes"], json.dumps(
            with_sealed(stage, hole, jobs)).encode(), Limits())
    answers = [json.loads(line) for line in ended.output.splitlines()[1:]]
    missing: dict[str, Any] = {"raises": f"no answer: {ended.reason} {ended.errors[-300:]!r}"}
    return [(name, answers[i] if i < len(answers) else missing)
            for i, (name, _) in enumerate(jobs)]
