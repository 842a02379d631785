"""Grades a class in three ways, kills each run in the middle, and checks verdicts and speed.

The class consists of the package's solutions, answers written by hand, solutions with exercises
left open, known mistakes, the attacks in tests/hostile, and files that aren't programs. Each
submission is made together with the points that it has to get. The class is graded

- locally: the run is killed (SIGKILL) after a quarter of the class and started again,
- in four shards, which are then merged: one of them is killed and started again,
- on a Dask cluster: one worker is killed after half of the class.

All three ways must write the same grades.csv.

    python benchmarks/class_of_200.py
    python benchmarks/class_of_200.py --count 20 --workers 1 --way locally
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
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import _harness as harness

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minigrad_course.content.source import blank, mutated  # noqa: E402
from minigrad_course.content.stages import Stage, find_stage  # noqa: E402
from tests.hostile.test_forging import FORGING  # noqa: E402  # the attacks of the tests
from tests.hostile.test_harm import HARMING  # noqa: E402
from tests.support.answers import answered, answers  # noqa: E402
from tests.support.attacks import added, in_probes  # noqa: E402

#: Out of twenty submissions so many are of each kind.
MIX = {"the solution": 4, "another answer": 2, "partly written": 4, "a known mistake": 7,
       "hostile": 2, "no program": 1}
NO_PROGRAM = (b"", b"\xff\xfe\x00x", b"def (:\n", b"x" * 300_000, b"\xff", b"()" * 100_000)


@dataclass(frozen=True)
class Submission:
    """A file that a student hands in, and its points: from `least` to `most`."""

    kind: str
    content: bytes
    least: int
    most: int
    lost: str = ""  # the hole that must have no points
    about: str = ""


def submissions(stage: Stage, count: int, seed: int) -> list[Submission]:
    """Make a class, in an order drawn with the seed."""
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
        # The comment makes each file different, as in a class.
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


def environment() -> dict[str, str]:
    """Return an environment whose programs import this checkout."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def command(words: list[str], kept: Path, stop_at: int | None = None) -> float:
    """Run `minigrad`, killed when `kept` has `stop_at` lines; return how long it took."""
    begun = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "minigrad_course", *words], cwd=ROOT,
                               stdout=subprocess.DEVNULL, env=environment())
    while process.poll() is None:
        if stop_at is not None and graded(kept) >= stop_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return time.monotonic() - begun
        time.sleep(0.05)
    if process.returncode:
        sys.exit(f"minigrad {words[0]} ended with {process.returncode}")
    return time.monotonic() - begun


def graded(kept: Path) -> int:
    """Return how many verdicts a file of results has."""
    return kept.read_bytes().count(b"\n") if kept.exists() else 0


def locally(grade: list[str], roster: list[str], folder: Path, count: int, workers: int
            ) -> dict[str, Any]:
    """Grade the class in one command, which is killed when a quarter is done, and again."""
    kept = folder / "results.jsonl"
    words = [*grade, *roster, "--keep", str(folder), "--workers", str(workers)]
    first = command(words, kept, max(1, count // 4))
    before = kept.read_bytes()
    second = command(words, kept)
    whole = kept.read_bytes()
    return {"seconds_before": round(first, 1), "seconds_after": round(second, 1),
            "killed_after": before.count(b"\n"),
            "lost": not whole.startswith(before[: before.rfind(b"\n") + 1])}


def in_shards(grade: list[str], roster: list[str], folder: Path, count: int, workers: int
              ) -> dict[str, Any]:
    """Grade the class in four parts, of which the second is killed and repeated, and merge them."""
    parts = [folder.with_name(f"part-{number}") for number in range(1, 5)]
    seconds, at_kill = 0.0, 0
    for number, part in enumerate(parts, 1):
        kept = part / "results.jsonl"
        words = [*grade, "--shard", f"{number}/4", "--keep", str(part), "--workers", str(workers)]
        if number == 2:
            seconds += command(words, kept, max(1, count // 8))
            at_kill = graded(kept)
        seconds += command(words, kept)
    merge = ["results", "merge", *map(str, parts), "--keep", str(folder), *roster]
    return {"seconds": round(seconds, 1), "killed_after": at_kill,
            "seconds_merging": round(command(merge, folder / "results.jsonl"), 1)}


def on_dask(grade: list[str], roster: list[str], folder: Path, count: int, workers: int
            ) -> dict[str, Any]:
    """Grade the class on a cluster of this machine, of which a worker is killed in the middle."""
    from distributed import Client, LocalCluster

    os.environ.update(environment())
    kept = folder / "results.jsonl"
    killed: list[int] = []
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True,
                      dashboard_address=None) as cluster:
        def kill() -> None:
            """Kill the first worker that has a job after half of the class is graded."""
            with Client(cluster.scheduler_address) as client:
                while not killed:
                    busy = [where for where, jobs in client.processing().items() if jobs]
                    if busy and graded(kept) >= count // 2:
                        os.kill(client.run(os.getpid)[busy[0]], signal.SIGKILL)
                        killed.append(graded(kept))
                    time.sleep(0.05)

        threading.Thread(target=kill, daemon=True).start()
        seconds = command([*grade, *roster, "--keep", str(folder), "--executor",
                           f"dask:{cluster.scheduler_address}"], kept)
    return {"seconds": round(seconds, 1), "killed_after": killed[0] if killed else None}


WAYS = {"locally": locally, "in shards": in_shards, "on Dask": on_dask}


def main() -> None:
    """Make the class, grade it in each way, and print the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--stage", default="07", help="one with a single module (default: 07)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=10, help="the time limit of each run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", action="append", choices=WAYS, help="may be repeated; "
                        "default: all of them, if the extra 'dask' is installed")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the report here")
    given = parser.parse_args()
    ways = given.way or [way for way in WAYS if way != "on Dask" or find_spec("distributed")]
    stage = find_stage(given.stage)
    made = submissions(stage, given.count, given.seed)
    with tempfile.TemporaryDirectory(prefix="minigrad-class-") as name:
        folder = Path(name)
        (folder / "class").mkdir()
        for number, each in enumerate(made):
            (folder / "class" / f"s{number:03}_{stage.key}.py").write_bytes(each.content)
        people = [f"s{number:03},Person {number}" for number in range(len(made) + 2)]
        (folder / "roster.csv").write_text("id,name\n" + "\n".join(people) + "\n")
        grade = ["grade", *sorted(str(path) for path in (folder / "class").iterdir()), "--stage",
                 stage.number, "--seconds", str(given.seconds), "--seed", "20261121"]
        report: dict[str, Any] = {
            "date": harness.now(), "machine": harness.machine(), "count": given.count,
            "stage": stage.number, "workers": given.workers, "seconds_limit": given.seconds,
            "wrong": [], "ways": {}}
        tables = {}
        for way in ways:
            results = folder / way.replace(" ", "_") / "results"
            results.parent.mkdir()
            measured = WAYS[way](grade, ["--roster", str(folder / "roster.csv")], results,
                                 given.count, given.workers)
            report["kinds"], report["sandbox"], wrong = judged(made, results)
            if measured.pop("lost", False):
                wrong.append("the verdicts from before the run was killed are lost")
            if not measured["killed_after"]:
                wrong.append("the run ended before it could be killed")
            report["wrong"] += [f"{way}: {each}" for each in wrong]
            tables[way] = (results / "grades.csv").read_bytes()
            report["ways"][way] = measured
            print(f"{way}: {measured}, {sum(right for _, right in report['kinds'].values())} of "
                  f"{given.count} right", flush=True)
        report["wrong"] += [f"{way}: grades.csv differs from the one graded {ways[0]}"
                            for way in ways if tables[way] != tables[ways[0]]]
    print(harness.table([["kind", "submissions", "right"], *(
        [kind, str(here), str(right)] for kind, (here, right) in report["kinds"].items())]))
    for each in report["wrong"]:
        print(f"WRONG  {each}")
    if given.json:
        harness.write_json(given.json, report)
    sys.exit(int(bool(report["wrong"])))


def judged(made: list[Submission], folder: Path
           ) -> tuple[dict[str, tuple[int, int]], str, list[str]]:
    """Compare the verdicts with the points that each submission has to get.

    Returns the number of submissions and of right verdicts of each kind, the sandbox, and a list of
    faults.
    """
    whole = (folder / "results.jsonl").read_bytes()
    wrong = []
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
    rows = list(csv.DictReader((folder / "grades.csv").open(encoding="utf-8")))
    notes = [row["id"] for row in rows if row["note"]]
    if notes != [f"s{len(made):03}", f"s{len(made) + 1:03}"]:
        wrong.append(f"the roster's notes are about {notes}")
    counts = Counter(each.kind for each in made)
    sandbox = next(iter(reports.values()))["grades"][0]["sandbox"]
    return {kind: (counts[kind], right[kind]) for kind in MIX}, sandbox, wrong


if __name__ == "__main__":
    main()
