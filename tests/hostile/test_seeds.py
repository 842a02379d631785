"""A second upload: what the first one learned about the probes is of no use."""

from __future__ import annotations

import base64
import dataclasses
import json
import random
import textwrap
import zlib

import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.grading.asking import probe_jobs, reference
from minigrad_course.grading.grade import grade
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.seeds import seed_for
from minigrad_course.grading.settings import Settings
from minigrad_course.grading.writers import WRITERS, gradescope
from tests.support.attacks import (
    LIMITS,
    SOLUTION,
    STAGE,
    STUB,
    added,
    check_reports,
    each_sandbox,
    graded,
    in_probes,
)
from tests.support.jobs import grading
from tests.support.slow import slow_but

SECRET = 20_261_121

#: Tells what the probes' process knows, by every way that a report may quote.
LEAKING = {
    "the text of an error": "raise RuntimeError(str(JOBS))",
    "the name of an error": "raise type(str(JOBS), (Exception,), {})",
    "the name of an error in a probe": """
        import random
        def told(seed):
            raise type(f"Told{seed}", (BaseException,), {})
        random.Random = told
    """,
    "a name of Python's own for each digit": """
        import random
        def told(seed):
            raise (KeyError, ValueError, TypeError, OSError)[seed % 4]
        random.Random = told
    """,
    "standard error": "import os, sys; os.write(2, str(JOBS).encode()); os._exit(1)",
    "standard output": "import os; os.write(1, str(JOBS).encode()); os._exit(1)",
    "the answers' own pipe": "import os; os.write(3, str(JOBS).encode()); os._exit(1)",
    "a type that is answered": """
        import json, os
        lines = [{"ready": True}] + [{"probe": name, "seed": seed, "raises": f"Told{seed}"}
                                     for name, seed in JOBS]
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """,
    "outcomes of tests": """
        import json, os
        os.write(3, json.dumps({"test": str(JOBS), "holes": ["07.1"], "outcome": "failed",
                                "message": str(JOBS)}).encode() + b"\\n")
        os._exit(0)
    """,
    "the name of its process": "import sys; sys.excepthook = None; sys.exit(str(JOBS))",
    "a warning": "import warnings; warnings.warn(str(JOBS)); raise SystemExit(2)",
    "files for the next process": """
        import json, os, tempfile
        for place in (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm"):
            try: open(place + "/seeds", "w").write(str(JOBS))
            except OSError: pass
    """,
}

_JOBS = "import json, os\nJOBS = json.loads(os.pread(0, 1 << 20, 0))\n"

#: Reads what an earlier process may have left, in the process whose messages are shown.
_READ = """
import glob, sys
if sys.argv[1:2] == ["tests"]:
    raise RuntimeError(str([open(each).read() for each in glob.glob("/tmp/**/seeds",
        recursive=True) + glob.glob("/var/tmp/seeds") + glob.glob("/dev/shm/seeds")]))
"""


def seeds(text, secret=SECRET):
    """Return the seeds that a text's probes are asked with, as text."""
    submission = dataclasses.replace(take_in(STAGE.exercise(next(iter(STAGE.modules))), STAGE),
                                     texts={next(iter(STAGE.modules)): text})
    return [str(seed) for _, seed in probe_jobs(STAGE, seed_for(secret, STAGE, submission))]


@each_sandbox
@pytest.mark.parametrize("attack", slow_but(1, LEAKING))
def test_no_seed_is_shown(attack, sandbox, tmp_path):
    path = tmp_path / "handin.py"
    path.write_text(in_probes(_JOBS + textwrap.dedent(LEAKING[attack])), encoding="utf-8")
    report = grading(path, Settings((STAGE,)), sandbox, SECRET, LIMITS)
    check_reports(report)
    mine = seeds(path.read_text(encoding="utf-8"))
    shown = [*(WRITERS[form]([report]) for form in ("junit", "csv", "html")),
             json.dumps(gradescope(report)),
             *(str(dataclasses.astuple(hole)) for hole in report.holes)]
    assert not [seed for seed in mine for text in shown if seed in text]
    assert report.points == 0
    path.write_text(added(_READ), encoding="utf-8")
    later = grading(path, Settings((STAGE,)), sandbox, SECRET, LIMITS)
    assert not [seed for seed in mine if seed in str(later)]
    assert "[]" in str(later.holes[0]) or "PermissionError" in str(later.holes[0])


def table(answers):
    """A program that answers from a table."""
    known = json.dumps([[name, seed, answer] for (name, seed), answer in answers.items()])
    packed = base64.b64encode(zlib.compress(known.encode())).decode()  # a file may be 256 KiB
    return in_probes(f"""
        import base64, json, os, sys, zlib
        told = zlib.decompress(base64.b64decode({packed!r}))
        known = {{(name, seed): answer for name, seed, answer in json.loads(told)}}
        jobs = json.loads(os.pread(0, 1 << 20, 0))
        lines = [{{"ready": True}}]
        for name, seed in jobs:
            lines.append({{"probe": name, "seed": seed, **known.get((name, seed), {{}})}})
        sys.stdout = None
        os.write(3, "".join(json.dumps(each) + "\\n" for each in lines).encode())
        os._exit(0)
    """)


@each_sandbox
@pytest.mark.slow
def test_a_table_of_answers_is_of_no_use(sandbox, tmp_path):
    """Even if the first upload told its seeds, and its answers are all known."""
    path = tmp_path / "handin.py"
    path.write_text(STUB, encoding="utf-8")
    leaked = seed_for(SECRET, STAGE, take_in(path, STAGE))
    path.write_text(table(reference(STAGE, leaked)), encoding="utf-8")
    assert len(path.read_text(encoding="utf-8")) < 256 * 1024
    # the table is right: whoever asks the first upload's seeds again gives all points for it
    assert grade(STAGE, take_in(path, STAGE), sandbox, leaked, LIMITS).points == 10
    assert grading(path, Settings((STAGE,)), sandbox, SECRET, LIMITS).points == 0


def test_each_text_has_seeds_of_its_own():
    assert seeds(STUB) == seeds(STUB)
    found = {tuple(seeds(text, secret)) for text in (STUB, STUB + "\n", STUB + "# 1", SOLUTION)
             for secret in (SECRET, SECRET + 1)}
    assert len(found) == 8
    every = [seed for each in found for seed in each]
    assert len(every) == len(set(every))


def test_seeds_tell_nothing_of_the_secret():
    """No two secrets or texts that are near have seeds that are near."""
    rng = random.Random(5)
    near = [rng.randrange(1 << 40) for _ in range(20)]
    first = [int(seeds(STUB, each)[0]) for each in near]
    after = [int(seeds(STUB, each + 1)[0]) for each in near]
    assert min(abs(a - b) for a, b in zip(first, after, strict=True)) > 1 << 20


@each_sandbox
@pytest.mark.slow
def test_a_right_answer_is_right_for_each_secret(sandbox, tmp_path):
    path = tmp_path / "handin.py"
    path.write_text(SOLUTION, encoding="utf-8")
    for secret in (0, SECRET):
        assert grading(path, Settings((STAGE,)), sandbox, secret, LIMITS).points == 10
    assert graded(SOLUTION, tmp_path, sandbox).points == 10
