"""Grading: what is taken in, how answers are compared, how a class is graded and gone on with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the course's commands need Typer")

from typer.testing import CliRunner

from minigrad import __version__
from minigrad_course.app import app
from minigrad_course.content import plain_text
from minigrad_course.content import stages as course
from minigrad_course.content.stages import CourseError
from minigrad_course.grading import process, sandbox, users
from minigrad_course.grading.answers import same
from minigrad_course.grading.asking import probe_jobs
from minigrad_course.grading.child import plain
from minigrad_course.grading.intake import take_in
from minigrad_course.grading.report import Report
from minigrad_course.grading.sandbox import Limits, Sandbox, best_sandbox
from minigrad_course.grading.settings import Settings, read_settings
from minigrad_course.grading.writers import FOR_ONE, WRITERS, classroom50, gradescope
from minigrad_course.jobs.batch import grade_all

STAGE = course.find_stage("07")
(MODULE,) = STAGE.modules
STUB = STAGE.exercise(MODULE).read_text(encoding="utf-8")
SOLUTION = STAGE.solution(MODULE).read_text(encoding="utf-8")


@pytest.mark.parametrize("value", [
    None, True, "text", 3, 2**80, 0.1, float("inf"), [1, (2.0, None)], np.arange(6.0).reshape(2, 3),
    np.zeros((0, 2), dtype=np.float32),
])
def test_a_value_is_the_same_as_itself(value):
    written = json.loads(json.dumps(plain(value)))
    assert same(written, plain(value))


@pytest.mark.parametrize(("answer", "expected"), [
    (1, True), (1, 1.0), (True, 1), ("1", 1), ([1], (1,)), (1.0, 1.0 + 1e-9), (0, None),
    (np.ones(2), np.ones((2, 1))), (np.ones(2), np.ones(2, np.float32)), (float("nan"), 0.0),
    (np.ones(2), [1.0, 1.0]), ([1, 2], [1]), (type("Own", (int,), {})(1), 1),
    (1.0, float("inf")), (float("-inf"), float("inf")), (np.ones(2), np.array([1.0, np.inf])),
])
def test_what_differs_is_not_the_same(answer, expected):
    assert not same(json.loads(json.dumps(plain(answer))), plain(expected))


@pytest.mark.parametrize("answer", [None, 3, [], {}, {"float": 3}, {"float": "x"}, {"array": "x"},
                                    {"array": [None], "shape": [1], "dtype": "float64"}])
def test_an_answer_of_the_wrong_form_is_wrong(answer):
    assert not same(answer, plain(1.0))
    assert not same(answer, plain(np.ones(1)))


def test_rounding_is_forgiven_and_a_finite_difference_is_not():
    x, eps = np.linspace(0.1, 2.0, 20), 1e-6
    difference = (np.exp(x + eps) - np.exp(x - eps)) / (2 * eps)
    assert same(plain(np.exp(x) * (1 + 1e-15)), plain(np.exp(x)))
    assert not same(plain(difference), plain(np.exp(x)))


def test_probes_get_other_seeds_each_time():
    assert probe_jobs(STAGE, 1) != probe_jobs(STAGE, 2)
    assert len(set(probe_jobs(STAGE, 1))) == len(probe_jobs(STAGE, 1))


@pytest.mark.parametrize(("text", "told"), [
    ("stage = ['07']", "unknown setting 'stage'"), ("stages = 7", "a list of numbers in quotes"),
    ("stages = ['99']", "there is no stage '99'"), ("seed = 'x'", "seed must be a whole number"),
    ("version = '0.0'", "version is 0.0"), ("x", "Expected '='"),
    ("hints = 4", "hints must be a whole number from 0 to 3"), ("hints = true", "from 0 to 3"),
    ("stages = ['07']\n[weights]\n'01.1' = 3", "which is not in the chosen stages"),
    ("stages = ['07']\n[weights]\n'07.1' = -3", "weight of 07.1"),
])
def test_what_is_wrong_in_course_toml_is_told(tmp_path, text, told):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(CourseError) as raised:
        read_settings(tmp_path / "course.toml", [])
    assert told in str(raised.value)


def test_course_toml(tmp_path):
    path = tmp_path / "course.toml"
    path.write_text(f"version = '{__version__}'\nstages = ['07']\nseed = 5\nhints = 2\n"
                    "[weights]\n'07.1' = 7\n")
    settings = read_settings(path, [])
    assert ([stage.number for stage in settings.stages], settings.seed) == (["07"], 5)
    assert (settings.weights, settings.hints) == ({"07.1": 7}, 2)


def test_a_workspace_is_taken_in(tmp_path):
    for folder in (tmp_path / "a" / "exercises", tmp_path / "b"):
        folder.mkdir(parents=True)
        (folder / f"{STAGE.key}.py").write_text(STUB)
    for path in (tmp_path / "a", tmp_path / "b", tmp_path / "b" / f"{STAGE.key}.py"):
        assert take_in(path, STAGE).texts == {MODULE: STUB}
    with pytest.raises(CourseError, match="No such file"):
        take_in(tmp_path / "c", STAGE)


@pytest.fixture(scope="module")
def reports():
    """A solution and a stub, graded with weights."""
    settings = Settings((STAGE,), {"07.1": 7}, hints=2)
    paths = [STAGE.solution(MODULE), STAGE.exercise(MODULE)]
    return [record.report for record in
            grade_all(paths, settings, best_sandbox(), 5, 2, None, lambda _: None)]


def test_points_and_weights(reports):
    solved, open_ = reports
    assert solved.points == solved.max_points == 10 - STAGE.holes[0].points + 7
    assert open_.points == 0
    assert {hole.reason for hole in open_.holes} == {"not written yet"}


def test_hints_are_shown_with_what_has_no_points(reports):
    solved, open_ = reports
    assert not any(hole.hints for hole in solved.holes)
    for hole, made in zip(STAGE.holes, open_.holes, strict=True):
        assert list(made.hints) == STAGE.words["hole"][hole.id]["hints"][:2]
    shown = gradescope(open_)["tests"][0]["output"]
    assert shown.count("hint: ") == 2


@pytest.mark.parametrize("form", WRITERS)
def test_every_form_names_both(reports, form):
    assert WRITERS[form](reports).count(f"{STAGE.key}.py") >= 2


def test_nbgrader_gets_one_finite_float(reports):
    solved, open_ = (json.loads(json.dumps(FOR_ONE["nbgrader"](each))) for each in reports)
    assert (solved, open_) == (float(reports[0].max_points), 0.0)
    assert type(solved) is type(open_) is float


def test_otter_gets_what_gradescope_gets(reports):
    tests = FOR_ONE["otter"](reports[0])["tests"]
    assert [test["name"].partition(" ")[0] for test in tests] == [h.id for h in STAGE.holes]
    assert sum(test["score"] for test in tests) == reports[0].points


@pytest.mark.slow
def test_a_form_for_one_submission_is_written(tmp_path):
    (tmp_path / "handin.py").write_text(SOLUTION)
    result = CliRunner().invoke(app, [
        "grade", str(tmp_path / "handin.py"), "--stage", "07", "--format", "nbgrader",
        "--out", str(tmp_path / "points")])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "points").read_text()) == sum(h.points for h in STAGE.holes)


def test_classroom50_needs_its_runner(reports):
    with pytest.raises(CourseError, match="sets CLASSROOM, but it is not set here"):
        classroom50(reports[0], {})


def test_a_report_comes_back(reports):
    for report in reports:
        assert Report.from_dict(json.loads(json.dumps(report.as_dict()))) == report


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path):
    """What was graded is not graded again, and nothing is lost by a line that was cut off."""
    (tmp_path / "class").mkdir()
    for number in range(4):
        (tmp_path / "class" / f"{number}.py").write_text(STUB if number % 2 else SOLUTION)
    paths = sorted(str(path) for path in (tmp_path / "class").iterdir())
    words = ["grade", *paths, "--stage", "07", "--keep", str(tmp_path / "kept"), "--format", "csv"]
    process = subprocess.Popen([sys.executable, "-m", "minigrad_course", *words],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               cwd=course.checkout(), start_new_session=True)
    lines = tmp_path / "kept" / "results.jsonl"
    ends = time.monotonic() + 200
    while time.monotonic() < ends and not (lines.exists() and lines.stat().st_size):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    before = lines.read_bytes()
    assert before
    with open(lines, "ab") as file:
        file.write(b'{"who": "cut o')
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert lines.read_bytes().startswith(before)
    graded = [json.loads(line)["who"] for line in lines.read_bytes().splitlines()
              if line.endswith(b"}")]
    assert len(graded) == len(set(graded)) == 4
    rows = (tmp_path / "kept" / "grades.csv").read_text().splitlines()
    assert [row.split(",")[:2] for row in rows[1:]] == [
        [f"{number}.py", "0" if number % 2 else "10"] for number in range(4)]


@pytest.mark.slow
def test_a_changed_submission_is_graded_again(tmp_path):
    path, kept = tmp_path / "handin.py", tmp_path / "results.jsonl"
    settings = Settings((STAGE,))
    points = []
    for text in (STUB, SOLUTION, SOLUTION):
        path.write_text(text)
        (record,) = grade_all([path], settings, best_sandbox(), 5, 1, kept, lambda _: None)
        points.append(record.report.points)
    assert points == [0, 10, 10]
    assert len(kept.read_text().splitlines()) == 2


def test_a_graded_process_has_no_fast_paths(tmp_path):
    from minigrad_course.child_process.swap import Swapped
    from minigrad_course.grading.bundle import make_bundle

    bundle = make_bundle(STAGE, None, tmp_path)
    assert (bundle / "site" / "minigrad" / "engine").is_dir()
    assert not (bundle / "site" / "minigrad" / "codegen").exists()
    with pytest.raises(ImportError, match=r"minigrad\.codegen cannot be imported"):
        Swapped({}).find_spec("minigrad.codegen")


@pytest.mark.slow
def test_a_limit_is_kept(tmp_path):
    from minigrad_course.grading.bundle import make_bundle

    bundle = make_bundle(STAGE, {MODULE: "while True: pass\n"}, tmp_path)
    begun = time.monotonic()
    ended = best_sandbox().run(bundle, ["probes"], b"[]", Limits(seconds=2))
    assert ended.reason == "it did not end within 2 seconds"
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(("code", "told"), [
    ("print(input()); import sys; print('e', file=sys.stderr); sys.exit(3)", ""),
    ("while True: pass", "it did not end within 1 seconds"),
    ("import sys\nwhile True: sys.stdout.write('x' * 9999)", "it wrote more than 50000 bytes"),
])
def test_where_pipes_cannot_be_waited_for(tmp_path, code, told):
    """The way of Windows, which other systems can go too."""
    begun = time.monotonic()
    ended = process.run_by_files([sys.executable, "-c", code], {}, str(tmp_path), b"given\n",
                                 Limits(seconds=1 if told else 60, output_bytes=50_000))
    assert ended.reason == told
    if not told:
        assert (ended.output.split(), ended.errors.split(), ended.status) == ([b"given"], [b"e"], 3)
    assert time.monotonic() - begun < 40


@pytest.mark.parametrize("run", [process.run_limited, process.run_by_files])
def test_log_messages_cost_nothing(run, tmp_path):
    code = "import sys\nfor _ in range(9): sys.stderr.write('x' * 99_999)\nsys.stderr.write('end')"
    ended = run([sys.executable, "-c", code], {}, str(tmp_path), b"", Limits(output_bytes=50_000))
    assert (ended.reason, ended.status, len(ended.errors)) == ("", 0, process.ERRORS)
    assert ended.errors.endswith(b"xend")


@pytest.mark.parametrize("way", [plain_text.opened, plain_text.opened_by_path])
@pytest.mark.parametrize(("name", "told"), [
    ("plain/a.py", None), ("linked/a.py", "is a link|is not readable"),
    ("plain/link.py", "is a link"), ("plain/none.py", "is missing"),
    ("plain", "is not a plain file"),
])
def test_no_link_is_followed_on_any_system(tmp_path, way, name, told):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("text")
    (tmp_path / "linked").symlink_to(tmp_path / "plain")
    (tmp_path / "plain" / "link.py").symlink_to("a.py")
    if told is None or (way is plain_text.opened and name == "plain"):
        os.close(way(tmp_path, Path(name)))  # what kind it is, read_text asks
        return
    with pytest.raises(plain_text.Refused, match=told):
        way(tmp_path, Path(name))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0,
                    reason="root alone gives users")
def test_runs_side_by_side_have_users_of_their_own():
    """Within a process and among several."""
    text = ("from minigrad_course.grading.users import user_for_a_run\n"
            "with user_for_a_run() as a, user_for_a_run() as b:\n"
            "    print(a, b, flush=True)\n"
            "    input()")
    with subprocess.Popen([sys.executable, "-c", text], cwd=course.checkout(), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None and other.stdout is not None
        theirs = [int(each) for each in other.stdout.readline().split()]
        with users.user_for_a_run() as one, users.user_for_a_run() as two:
            assert len({*theirs, one, two}) == 4
            assert {one, two} <= set(users.USERS)
        other.stdin.write("\n")


@pytest.mark.parametrize("kind", sandbox.METHODS)
def test_each_sandbox_says_what_it_keeps(kind):
    assert "limits" in Sandbox(kind).kept


@pytest.mark.parametrize(("words", "told"), [
    (["--format", "xml"], "unknown format; the formats are terminal"),
    (["--stage", "99"], "there is no stage '99'"),
])
def test_what_cannot_be_done_is_told(words, told, tmp_path):
    (tmp_path / "handin.py").write_text(STUB)
    result = CliRunner().invoke(app, ["grade", str(tmp_path / "handin.py"), *words])
    assert result.exit_code == 2
    assert told in result.output


#: Each process holds less than it may, all of them together hold more.
FAMILY = """
import os, time
for _ in range({children}):
    if not os.fork():
        if {orphans}:
            try: os.setsid()
            except PermissionError: pass  # a sandbox may refuse it
            if os.fork():
                os._exit(0)
        break
held = bytearray({each} << 20)
for i in range(0, len(held), 4096):
    held[i] = 1
print("here", flush=True)
time.sleep(20)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells it in /proc")
@pytest.mark.parametrize(("children", "each", "orphans", "told"), [
    (5, 100, False, "its processes held more than 400 MiB"),
    (1, 100, False, "it did not end within 3 seconds"),
    (5, 100, True, "its processes held more than 400 MiB"),
])
@pytest.mark.slow
def test_memory_is_limited_for_all_processes_together(children, each, orphans, told, tmp_path):
    sandbox_here = best_sandbox()
    if orphans and sandbox_here.method == "limits":
        pytest.skip("they have left what can be seen without another sandbox")
    (tmp_path / "child.py").write_text(FAMILY.format(**locals()))
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)
    limits = Limits(seconds=3 if "3" in told else 15, memory=400 << 20)
    ended = sandbox_here.run(tmp_path, [], b"", limits)
    assert ended.reason == told, ended


def test_a_sandbox_that_cannot_be_tried_in_time_is_no_weaker_one(monkeypatch):
    def slow(*words, **how):
        raise subprocess.TimeoutExpired(words, 1)

    monkeypatch.setattr(subprocess, "run", slow)
    with pytest.raises(CourseError, match="too busy; grade again later"):
        sandbox._bubblewrap_works(users=False)
    with pytest.raises(CourseError, match="too busy; grade again later"):
        sandbox._user_works()
