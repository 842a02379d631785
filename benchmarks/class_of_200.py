"""Grades a class in one command: right verdicts, throughput, a run that is killed and goes on.

The class is made from the package's solutions, from answers written by hand, from solutions with
exercises left open, from known mistakes, from the attacks of tests/hostile and from what is no
program at all. Of each submission it is known beforehand what it has to get. Grading is killed
(SIGKILL) when a quarter is done, and called again.

    python benchmarks/class_of_200.py
    python benchmarks/class_of_200.py --count 20 --workers 1
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import _harness as harness

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minigrad_course.content.source import blank, mutated  # noqa: E402
from minigrad_course.content.stages import Stage, find_stage  # noqa: E402
from tests.hostile.test_forging import FORGING  # noqa: E402  # they lie with the tests
from tests.hostile.test_harm import HARMING  # noqa: E402
from tests.support.answers import answered, answers  # noqa: E402
from tests.support.attacks import added, in_probes  # noqa: E402

#: Out of twenty submissions so many are of each kind.
MIX = {"the solution": 4, "another answer": 2, "partly written": 4, "a known mistake": 7,
       "hostile": 2, "no program": 1}
NO_PROGRAM = (b"", b"\xff\xfe\x00x", b"def (:\n", b"x" * 300_000, b"\xff", b"()" * 100_000)


@dataclass(frozen=True)
class Submission:
    """What is handed in, and what it has to get: from `least` to `most` points."""

    kind: str
    content: bytes
    least: int
    most: int
    lost: str = ""  # the hole that must have no points
    about: str = ""


def submissions(stage: Stage, count: int, seed: int) -> list[Submission]:
    """Make a class, in an order of its own."""
    rng = random.Random(seed)
    kinds = [kind for kind, often in MIX.items() for _ in range(often)]
    makers = {kind: _made(stage, kind, rng) for kind in MIX}
    made = [next(makers[kinds[i % len(kinds)]]) for i in range(count)]
    rng.shuffle(made)
    return made


def _made(stage: Stage, kind: str, rng: random.Random) -> Iterator[Submission]:
    (path,) = stage.modules
    whole = sum(hole.points for hole in stage.holes)
    solution = stage.solution(path).read_text(encoding="utf-8")
    attacks = list(FORGING.items()) + list(HARMING.items())
    mistakes = [(hole, mutant) for hole in stage.holes for mutant in hole.mutants]
    for each in (attacks, mistakes):
        rng.shuffle(each)
    number = 0
    while True:
        # A comment makes every file another one, as in a class.
        last = f"\n# {kind} {number}\n"
        if kind == "the solution":
            yield Submission(kind, (solution + last).encode(), whole, whole)
        elif kind == "another answer":
            name = answers(stage)[number % len(answers(stage))]
            text = answered(stage, name)[path]
            yield Submission(kind, (text + last).encode(), whole, whole, about=name)
        elif kind == "partly written":
            written = number % len(stage.holes)
            text = blank(stage, path, list(stage.holes[written:]))
            points = sum(hole.points for hole in stage.holes[:written])
            yield Submission(kind, (text + last).encode(), points, points, about=str(written))
        elif kind == "a known mistake":
            hole, mutant = mistakes[number % len(mistakes)]
            text = mutated(stage, hole, mutant)[path]
            yield Submission(kind, (text + last).encode(), 0, whole - hole.points, hole.id,
                             mutant.name)
        elif kind == "hostile":
            name, attack = attacks[number % len(attacks)]
            text = (added, in_probes)[number % 2](attack)
            yield Submission(kind, (text + last).encode(), 0, 0, about=name)
        else:
            yield Submission(kind, NO_PROGRAM[number % len(NO_PROGRAM)], 0, 0)
        number += 1


def graded(words: list[str], kept: Path, stop_at: int | None) -> float:
    """Run `minigrad grade`, killed when `stop_at` are graded; return how long it took."""
    begun = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "minigrad_course", "grade", *words],
                               cwd=ROOT, stdout=subprocess.DEVNULL,
                               env={**os.environ, "PYTHONPATH": str(ROOT)})
    while process.poll() is None:
        if stop_at is not None and kept.exists() and kept.read_bytes().count(b"\n") >= stop_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return time.monotonic() - begun
        time.sleep(0.05)
    if process.returncode:
        sys.exit(f"minigrad grade ended with {process.returncode}")
    return time.monotonic() - begun


def main() -> None:
    """Make the class, grade it, and say what came."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--stage", default="07", help="one with a single module (default: 07)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=10, help="the time limit of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the report here")
    given = parser.parse_args()
    stage = find_stage(given.stage)
    made = submissions(stage, given.count, given.seed)
    with tempfile.TemporaryDirectory(prefix="minigrad-class-") as name:
        folder = Path(name)
        (folder / "class").mkdir()
        for number, each in enumerate(made):
            (folder / "class" / f"s{number:03}_{stage.key}.py").write_bytes(each.content)
        people = [f"s{number:03},Person {number}" for number in range(len(made) + 2)]
        (folder / "roster.csv").write_text("id,name\n" + "\n".join(people) + "\n")
        kept = folder / "results" / "results.jsonl"
        words = [*sorted(str(path) for path in (folder / "class").iterdir()), "--stage",
                 stage.number, "--keep", str(folder / "results"), "--workers", str(given.workers),
                 "--seconds", str(given.seconds), "--roster", str(folder / "roster.csv"),
                 "--seed", "20261121"]
        first = graded(words, kept, max(1, given.count // 4))
        before = kept.read_bytes()
        at_kill = before.count(b"\n")
        second = graded(words, kept, None)
        report = judged(made, folder, before)
    total = first + second
    report |= {"date": harness.now(), "machine": harness.machine(), "count": given.count,
               "stage": stage.number, "workers": given.workers, "seconds_limit": given.seconds,
               "killed_after": at_kill, "seconds_before": round(first, 1),
               "seconds_after": round(second, 1), "per_minute": round(60 * given.count / total, 1)}
    print(harness.table([["kind", "submissions", "right"], *(
        [kind, str(here), str(right)] for kind, (here, right) in report["kinds"].items())]))
    for wrong in report["wrong"]:
        print(f"WRONG  {wrong}")
    print(f"{given.count} submissions in {total:.0f} s, {report['per_minute']} a minute, by "
          f"{given.workers} at a time in a sandbox of kind {report['sandbox']}; killed after "
          f"{at_kill} in {first:.0f} s and gone on for {second:.0f} s")
    if given.json:
        harness.write_json(given.json, report)
    sys.exit(int(bool(report["wrong"])))


def judged(made: list[Submission], folder: Path, before: bytes) -> dict[str, object]:
    """Compare the verdicts with what was known beforehand."""
    whole = (folder / "results" / "results.jsonl").read_bytes()
    wrong = []
    if not whole.startswith(before[: before.rfind(b"\n") + 1]):
        wrong.append("what was graded before the run was killed is not there any more")
    reports = {}
    for line in whole.splitlines():
        try:
            read = json.loads(line)["report"]
        except ValueError:
            continue  # cut off when the run was killed
        if read["submission"] in reports:
            wrong.append(f"{read['submission']} was graded twice")
        reports[read["submission"]] = read
    right: Counter[str] = Counter()
    for number, each in enumerate(made):
        name = next((name for name in reports if name.startswith(f"s{number:03}_")), None)
        read = reports.get(name or "")
        about = f"{name}, {each.kind} {each.about}"
        if read is None:
            wrong.append(f"{about}: it was not graded")
        elif not each.least <= read["points"] <= each.most:
            wrong.append(f"{about}: {read['points']} points, not {each.least} to {each.most}: "
                         f"{[hole['reason'] for hole in read['grades'][0]['holes']]}")
        elif any(hole["hole"] == each.lost and hole["points"] for hole in
                 read["grades"][0]["holes"]):
            wrong.append(f"{about}: {each.lost} has points")
        else:
            right[each.kind] += 1
    rows = list(csv.DictReader((folder / "results" / "grades.csv").open(encoding="utf-8")))
    notes = [row["id"] for row in rows if row["note"]]
    if notes != [f"s{len(made):03}", f"s{len(made) + 1:03}"]:
        wrong.append(f"the roster's notes are about {notes}")
    counts = Counter(each.kind for each in made)
    return {"kinds": {kind: (counts[kind], right[kind]) for kind in MIX}, "wrong": wrong,
            "sandbox": next(iter(reports.values()))["grades"][0]["sandbox"]}


if __name__ == "__main__":
    main()
