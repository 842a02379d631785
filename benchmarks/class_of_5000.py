"""Merges the records of a class of 5,000 in one command, and measures its time and memory.

It also grades twenty submissions of `class_of_200.py` with one worker, and tells how long the class
would take. The processor's time is what a worker needs alone; other programs on the machine add to
the time that passes.

The records are made up, with the length of real ones: a tenth has all points, the others have a
reason and a message for each exercise. Each part holds the list of the whole class, as after
`minigrad grade --shard`. The class is merged twice, and a tenth of it as well, to see whether
memory grows with the class.

    python benchmarks/class_of_5000.py
    python benchmarks/class_of_5000.py --count 500 --parts 4 --graded 0
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import _harness as harness
import class_of_200

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minigrad_course.content.stages import Stage, find_stage  # noqa: E402
from minigrad_course.grading.grade import Grade, HoleGrade  # noqa: E402
from minigrad_course.grading.report import Report  # noqa: E402
from minigrad_course.jobs.class_list import ClassList, Member, write_list  # noqa: E402
from minigrad_course.jobs.history import now  # noqa: E402
from minigrad_course.jobs.record import Record  # noqa: E402

#: The most seconds of the processor, and the most MiB by which a class ten times as large may need
#: more memory.
SECONDS, GROWTH = 60, 48
#: Runs a command, and prints its longest resident set in KiB and the processor's seconds.
_MEASURED = ("import resource, subprocess, sys\n"
             "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
             "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
             "print(used.ru_maxrss, used.ru_utime + used.ru_stime)\n"
             "sys.exit(code)")


def record(stage: Stage, number: int) -> Record:
    """Make up a record."""
    name, solved = f"s{number:05}.py", number % 10 == 0
    message = f"AssertionError: expected {number} but got {number + 1}; " + "x" * 400
    holes = tuple(HoleGrade(
        hole.id, stage.words["hole"][hole.id]["title"], hole.points if solved else 0, hole.points,
        "" if solved else "2 of its tests fail",
        () if solved else ((f"test_{stage.key}.py::test_a", message),) * 2,
        "" if solved else "The sign of the gradient is wrong, because the formula subtracts.")
        for hole in stage.holes)
    return Record(f"{number:064x}", Report(name, (Grade(
        name, stage.key, holes, "bubblewrap", number),)))


def make(folder: Path, stage: Stage, count: int, parts: int) -> list[str]:
    """Make the parts of a class, and return their folders."""
    members = tuple(Member(f"s{number:05}.py", f"class/s{number:05}.py", f"{number:064x}")
                    for number in range(count))
    listed = ClassList("settings", (stage.key,), members, now())
    made = []
    for part in range(parts):
        where = folder / f"part-{part}"
        where.mkdir(parents=True)
        write_list(where, listed)
        with open(where / "results.jsonl", "w") as file:
            for number in range(part, count, parts):
                file.write(json.dumps({"who": f"s{number:05}.py", "when": now(), "minigrad": "",
                                       "reason": "", **record(stage, number).as_dict()}) + "\n")
        made.append(str(where))
    people = "".join(f"s{number:05},Person {number}\n" for number in range(count))
    (folder / "roster.csv").write_text("id,name\n" + people)
    return made


def merged(folder: Path, parts: list[str]) -> tuple[float, float, float]:
    """Merge the parts; return the seconds of the clock and of the processor, and the MiB."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, sys.executable, "-m", "minigrad_course", "results",
         "merge", *parts, "--keep", str(folder / "results"),
         "--roster", str(folder / "roster.csv")],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)})
    if done.returncode:
        sys.exit(done.stderr)
    held, used = map(float, done.stdout.split())
    return time.monotonic() - begun, used, held / 1024


def rate(stage: Stage, count: int, folder: Path) -> tuple[float, float]:
    """Grade submissions with one worker; return the seconds for each, of the clock and of work."""
    for number, each in enumerate(class_of_200.submissions(stage, count, 1)):
        (folder / f"s{number:05}.py").write_bytes(each.content)
    paths = sorted(str(path) for path in folder.iterdir())
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    class_of_200.command(["grade", *paths, "--stage", stage.number, "--seed", "1", "--keep",
                          str(folder / "kept")], folder / "kept" / "results.jsonl")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (time.monotonic() - begun) / count, used / count


def main() -> None:
    """Make a class and a tenth of it, merge both, and report time and memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--parts", type=int, default=10)
    parser.add_argument("--stage", default="07")
    parser.add_argument("--graded", type=int, default=20, help="how many to grade")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the report here")
    given = parser.parse_args()
    stage = find_stage(given.stage)
    with tempfile.TemporaryDirectory(prefix="minigrad-class-") as name:
        each, used = rate(stage, given.graded, Path(name)) if given.graded else (0.0, 0.0)
        for path in Path(name).glob("*.py"):
            path.unlink()
        small, large = Path(name, "small"), Path(name, "large")
        *_, before = merged(small, make(small, stage, given.count // 10, given.parts))
        parts = make(large, stage, given.count, given.parts)
        passed, seconds, memory = merged(large, parts)
        rows = [*csv.DictReader((large / "results" / "grades.csv").open(encoding="utf-8"))]
        whole = sum(hole.points for hole in stage.holes)
        right = [row["points"] for row in rows] == [
            str(whole if number % 10 == 0 else 0) for number in range(given.count)]
        size = (large / "results" / "results.jsonl").stat().st_size
        table = (large / "results" / "grades.csv").read_bytes()
        _, again, _ = merged(large, parts)
        same = (table == (large / "results" / "grades.csv").read_bytes()
                and size == (large / "results" / "results.jsonl").stat().st_size)
    report = {"date": harness.now(), "machine": harness.machine(), "count": given.count,
              "parts": given.parts, "seconds": round(seconds, 1), "again": round(again, 1),
              "mib": round(memory), "mib_of_a_tenth": round(before),
              "mb_of_records": round(size / 1e6), "graded": given.graded,
              "seconds_each": round(each, 1), "processor_each": round(used, 1)}
    if each:
        print(f"one worker graded {given.graded} submissions with {used:.1f} s of the processor "
              f"each ({each:.1f} s passed): {60 / used:.0f} a minute, so {given.count} take it "
              f"{given.count * used / 3600:.1f} hours, and 20 workers "
              f"{given.count * used / 1200:.0f} minutes")
    print(f"{given.count} records ({report['mb_of_records']} MB) in {given.parts} parts merged in "
          f"{seconds:.1f} s of the processor ({passed:.1f} s passed), and again in {again:.1f} s, "
          f"with {memory:.0f} MiB; a tenth of them takes {before:.0f} MiB")
    wrong = [told for told, is_wrong in {
        "the table is wrong": not right, "merging again changed something": not same,
        f"it took more than {SECONDS} s of the processor": seconds > SECONDS,
        f"memory grew by more than {GROWTH} MiB": memory - before > GROWTH}.items() if is_wrong]
    for each in wrong:
        print(f"WRONG  {each}")
    if given.json:
        harness.write_json(given.json, report)
    sys.exit(int(bool(wrong)))


if __name__ == "__main__":
    main()
