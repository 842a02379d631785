"""Whom `minigrad similarity` names: independent answers, and copies in mechanical rewritings.

Half of the answers in tests/answers/strategies set the weights and thresholds, in
minigrad_course/similarity/calibrated.json; the figures are about the other half. A whole-stage
answer is put together from one answer to each exercise, drawn at random.

    python benchmarks/similarity.py            # the table in docs/en/grading.md
    python benchmarks/similarity.py --write    # set weights and thresholds anew, then the table
    python benchmarks/similarity.py --stage 03 --draws 200
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import _harness as harness

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minigrad_course.content.source import Module  # noqa: E402
from minigrad_course.content.stages import Hole, Stage, stages  # noqa: E402
from minigrad_course.dev.strategies import put_in, strategies  # noqa: E402
from minigrad_course.similarity import calibrated, compare  # noqa: E402
from minigrad_course.similarity.compare import Answer, Answers  # noqa: E402
from minigrad_course.similarity.signs import Sign, signs  # noqa: E402
from tests.support.more_rewritings import MORE_REWRITINGS  # noqa: E402
from tests.support.rewritings import REWRITINGS  # noqa: E402

EVERY = REWRITINGS | MORE_REWRITINGS
#: The lowest threshold of a stage.
LOWEST = 0.6
SEED = 41


def halves(stage: Stage, hole: Hole) -> tuple[list[tuple[Answer, list[Sign]]], ...]:
    """Read the answers to an exercise, and divide them by a hash of their text."""
    found: tuple[list[tuple[Answer, list[Sign]]], ...] = ([], [])
    known = sorted(strategies(stage, hole), key=lambda each: sha256(each.text.encode()).digest())
    for number, each in enumerate(known):
        texts = put_in(stage, Module.from_text("strategy.py", each.text), compare._stubs(stage),
                       [hole])
        read = compare.read_answers(stage, texts)
        elsewhere = Counter(read.all.flow)
        for other in stage.holes:
            elsewhere.subtract(read.holes[other.id].flow)
        flow = Counter(read.holes[hole.id].flow) + +elsewhere
        found[number % 2].append((replace(read.holes[hole.id], flow=dict(flow)),
                                  signs(stage, texts)))
    return found


def package(stage: Stage) -> Answers:
    return compare._package(stage)


def composed(stage: Stage, chosen: dict[str, Answer]) -> Answers:
    """Put a whole-stage answer together from answers to its exercises."""
    empty = Answer([], {})
    every: Counter[str] = Counter()
    for each in chosen.values():
        every.update(each.flow)
    return Answers({hole.id: chosen.get(hole.id, empty) for hole in stage.holes},
                   Answer([], {}, flow=dict(every), where=dict.fromkeys(every, ())))


def calibrate(stage: Stage, by_hole: dict[str, list[Answer]], draws: int) -> dict[str, object]:
    """Return the weights and the threshold that the calibrating half gives."""
    rng = random.Random(f"{SEED} {stage.number}")
    counts = {hole: Counter(feature for each in known for feature in each.flow)
              for hole, known in by_hole.items()}

    def share(chosen: dict[str, int]) -> float:
        """Return an answer's share with weights that leave it out."""
        every: Counter[str] = Counter()
        for hole, index in chosen.items():
            every.update(by_hole[hole][index].flow)
        common = of = 0.0
        for hole, index in chosen.items():
            others = len(by_hole[hole]) - 1
            for feature, count in package(stage).holes[hole].flow.items():
                number = counts[hole][feature] - (feature in by_hole[hole][index].flow)
                weight = max(0.0, 1 - 2 * number / others) if others else 0.0
                common += weight * min(count, every[feature])
                of += weight * count
        return common / of if of else 0.0

    known = {hole.id: by_hole[hole.id] for hole in stage.holes
             if by_hole[hole.id] and not hole.forced}
    highest = max(share({hole: rng.randrange(len(each)) for hole, each in known.items()})
                  for _ in range(draws))
    kept = {hole: {feature: number for feature, number in sorted(counts[hole].items())
                   if number > 1 or feature in package(stage).holes[hole].flow}
            for hole in known}
    return {"threshold": round(max(LOWEST, (1 + highest) / 2), 2), "features": kept,
            "answers": {hole: len(each) for hole, each in known.items()}}


def write(made: dict[str, dict[str, object]]) -> None:
    """Write the weights and thresholds of all stages."""
    data = {"thresholds": {stage: each["threshold"] for stage, each in made.items()},
            "answers": {}, "features": {}}
    for each in made.values():
        data["answers"] |= each["answers"]
        data["features"] |= each["features"]
    calibrated.FILE.write_text(json.dumps(data, separators=(",", ":")).replace("},", "},\n")
                               + "\n", encoding="utf-8")


def named(stage: Stage, rng: random.Random, by_hole: dict[str, list[tuple[Answer, list[Sign]]]],
          draws: int) -> tuple[int, int, int, int, float]:
    """Return how many independent answers are named by share, by a sign, and as pairs."""
    alone = signed = pairs = drawn = 0
    common = compare._common(stage, {})
    # where one author wrote functions for all answers to an exercise, two of them are no pair
    folder = ROOT / "tests" / "answers" / "strategies"
    shared = {hole for hole in by_hole if not (folder / f"{hole.replace('.', '_')}.py").is_file()
              or not (folder / f"{hole.replace('.', '_')}.py").read_text(
                  encoding="utf-8").startswith(("# right", "# wrong"))}
    highest = 0.0
    for _ in range(draws):
        one = {hole: rng.randrange(len(known)) for hole, known in by_hole.items() if known}
        mine = composed(stage, {hole: by_hole[hole][i][0] for hole, i in one.items()})
        found = compare._with_package(stage, "x", mine)
        highest = max(highest, found.whole.part)
        alone += found.reported
        signed += any(by_hole[hole][i][1] for hole, i in one.items())
        other = {hole: rng.choice([j for j in range(len(by_hole[hole])) if j != i])
                 for hole, i in one.items() if len(by_hole[hole]) > 1 and hole not in shared}
        theirs = composed(stage, {hole: by_hole[hole][i][0] for hole, i in other.items()})
        pairs += compare._pair(stage, ("x", mine), ("y", theirs), common).reported
        drawn += 1
    return alone, signed, pairs, drawn, highest


def interval(rates: list[float], rng: random.Random) -> tuple[float, float]:
    """Return a 95 % interval of the mean rate, by drawing stages anew."""
    means = sorted(sum(rng.choices(rates, k=len(rates))) / len(rates) for _ in range(4000))
    return means[100], means[-101]


def copies(stage: Stage) -> dict[str, str]:
    """Return how each rewriting of the package's answers is named: by its share, or by a sign."""
    found = {}
    for name, rewrite in EVERY.items():
        texts = rewrite(stage)
        likeness = compare._with_package(stage, "x", compare.read_answers(stage, texts))
        found[name] = (f"{likeness.whole.part:.0%}" if likeness.reported else
                       "sign" if signs(stage, texts) else f"no ({likeness.whole.part:.0%})")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--stage", action="append")
    parser.add_argument("--draws", type=int, default=300)
    arguments = parser.parse_args()
    chosen = [stage for stage in stages() if stage.holes
              and (not arguments.stage or stage.number in arguments.stage)]
    answers = {stage.number: {hole.id: halves(stage, hole) for hole in stage.holes}
               for stage in chosen}
    if arguments.write:
        write({stage.number: calibrate(stage, {hole: [answer for answer, _ in known[0]]
                                               for hole, known in answers[stage.number].items()},
                                       arguments.draws) for stage in chosen})
        for each in (calibrated._read, calibrated.weights, calibrated._unseen):
            each.cache_clear()
    rng = random.Random(SEED)
    print("| stage | operations that count | named from | independent answers: highest share | "
          "independent answers named | named for a sign | pairs named | rewritings named |")
    print("|" + "---|" * 8)
    rates: list[tuple[float, float, float]] = []
    caught: Counter[str] = Counter()
    for stage in chosen:
        known = {hole: each[1] for hole, each in answers[stage.number].items()}
        alone, signed, pairs, drawn, highest = named(stage, rng, known, arguments.draws)
        rates.append((alone / drawn, signed / drawn, pairs / drawn))
        rewritten = copies(stage)
        caught.update(name for name, how in rewritten.items() if not how.startswith("no"))
        of = compare._with_package(stage, "x", composed(stage, {})).whole.of
        print(f"| {stage.number} | {of:.0f} | {calibrated.threshold(stage.number):.0%} | "
              f"{highest:.0%} | {alone / drawn:.1%} | {signed / drawn:.1%} | {pairs / drawn:.1%} | "
              f"{sum(not how.startswith('no') for how in rewritten.values())} of "
              f"{len(rewritten)} |", flush=True)
    print()
    for kind, name in enumerate(("named for their share", "named for a sign", "pairs named")):
        mean = sum(each[kind] for each in rates) / len(rates)
        low, high = interval([each[kind] for each in rates], rng)
        print(f"independent answers, {name}: {mean:.2%} (95 % interval {low:.2%} to {high:.2%})")
    for name in EVERY:
        print(f"copies, {name}: named in {caught[name]} of {len(chosen)} stages")
    print(json.dumps(harness.machine()))


if __name__ == "__main__":
    main()
