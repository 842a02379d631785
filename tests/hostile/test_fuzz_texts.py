"""Random texts end neither the class nor a job, and every format can tell what came of them."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.stages import find_stage
from minigrad_course.grading.feedback import write_feedback
from minigrad_course.grading.intake import labels
from minigrad_course.grading.report import Report, as_grade
from minigrad_course.grading.roster import Person, Roster
from minigrad_course.grading.settings import Settings
from minigrad_course.grading.ungraded import could_not
from minigrad_course.jobs.children import lines_from
from minigrad_course.jobs.job import make_job
from minigrad_course.jobs.record import Record
from minigrad_course.jobs.work import NOT_READ, merged
from tests.support.attacks import check_reports
from tests.support.fuzzed_texts import job_of, name_of, text_of

#: Ten thousand in `make test-everything`; a few of them, others each day, in other runs.
COUNT = 10_000 if os.environ.get("MINIGRAD_ALL_MUTANTS") else 24
BATCH = 12
#: Numbers that once ended a job: of an answer that is right alone, but not beside the others.
KNOWN = [894]
DAY = int(os.environ.get("MINIGRAD_DAY", time.time() // 86400))


def done(numbers: list[int]) -> dict[int, list[dict]]:
    """Do the static part of jobs in limited processes; return the results by number."""
    found: dict[int, list[dict]] = {}
    while left := numbers[len(found):]:
        index, step, ending = -1, "", ""
        for line in lines_from("tests.support.fuzzed_texts", {"numbers": left, "start": 0}, 3000):
            if "begins" in line:
                index, step = line["begins"]
                if "results" in line:
                    found[left[index]] = line["results"]
            ending = line.get("ended", ending)
        if ending:
            assert ending.startswith(NOT_READ), f"number {left[index]} in {step}: {ending}"
            found.setdefault(left[index], [])
    return found


@pytest.mark.slow
def test_random_texts_end_nothing():
    first = 0 if COUNT > 1000 else DAY * COUNT
    numbers = sorted({*KNOWN, *range(first, first + COUNT)})
    batches = [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]
    with ThreadPoolExecutor(2) as pool:
        found = {number: each for results in pool.map(done, batches)
                 for number, each in results.items()}
    assert sorted(found) == numbers
    whole = 0
    for number, results in found.items():
        job = job_of(number)
        grades = [as_grade(each["grade"]) for each in results if "grade" in each]
        look = [each for result in results for each in result.get("look", ())]
        record = merged(job, grades, look)
        assert not could_not(record.report), (number, record)
        assert Record.from_json(record.as_json()).report == record.report
        if grades:
            check_reports(record.report)
            whole += 1
    assert whole > 0.8 * COUNT


def test_random_names_and_files_are_taken_in(tmp_path):
    """What the class's process does with a file: its name, its bytes, its key, its feedback."""
    numbers = range(DAY * 40, DAY * 40 + 40)
    person = Person({"id": "ann", "name": "Ann Lee", "email": "s101@uni.edu"})
    roster = Roster(("id", "name", "email"), (person,))
    paths: list[Path] = []
    for number in numbers:
        path = tmp_path / "class" / str(number) / name_of(number)
        path.parent.mkdir(parents=True)
        stage, texts = text_of(number)
        data = "\n".join(texts.values()).encode("utf-8", "surrogatepass")
        path.write_bytes(data if number % 3 else data[: len(data) // 2] + b"\xff\x00"[number % 2:])
        settings = Settings((find_stage(stage),))
        job = make_job(path, settings, 5, limits=job_of(number).limits)
        assert job.key == make_job(path, settings, 5, job.limits).key
        paths.append(path)
    shown = labels(paths)
    reports = [Report(label, ()) for label in shown]
    assert len(set(shown)) == len(paths)
    assert len(roster.as_csv(reports, [str(path) for path in paths]).splitlines()) >= len(paths)
    write_feedback(tmp_path / "feedback", reports, {})
    assert len([*(tmp_path / "feedback").iterdir()]) == 2 * len(paths)
