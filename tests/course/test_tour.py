"""The command `minigrad`: its help, its answers, and the tour as a reader gets it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.slow import slow_but

ROOT = Path(__file__).resolve().parents[2]


def require_tools() -> None:
    for name in ("rich", "typer", "sklearn"):
        pytest.importorskip(name, reason="the extra 'tour' is not installed")


def command(*arguments: str, blocked: tuple[str, ...] = (), **environment: str):
    """Run `minigrad` in a process of its own, as if `blocked` were not installed."""
    if not blocked:
        require_tools()
    code = (
        f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n"
        "sys.argv[0] = 'minigrad'\n"
        "from minigrad_course.cli import main\nmain()\n"
    )
    return subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", "-c", code, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"} | environment,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize("missing", slow_but(1, ["rich", "typer"]))
def test_without_its_packages_it_says_what_to_install(missing):
    done = command("tour", blocked=(missing,))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "minigrad: this command needs Rich and Typer. Install them with the extra 'tour': "
        "pip install -e '.[tour]'\n"
    )


@pytest.mark.slow
def test_help_shows_examples():
    done = command("--help")
    assert done.returncode == 0, done.stderr
    for shown in ("minigrad tour", "minigrad learn", "Take the course:", "version ", "doctor "):
        assert shown in done.stdout
    assert len(done.stdout.splitlines()) <= 45, "one screen"
    assert max(map(len, done.stdout.splitlines())) < 80
    done = command("tour", "--help")
    for shown in ("Examples:", "minigrad tour --seed 7", "--quick", "--seed"):
        assert shown in done.stdout


def test_the_help_lists_every_command_once():
    pytest.importorskip("typer", reason="the command is not installed")
    import typer

    from minigrad_course.app import app
    from minigrad_course.commands.overview import SECTIONS

    listed = [name for commands in SECTIONS.values() for name in commands]
    assert sorted(listed) == sorted(typer.main.get_command(app).commands)


@pytest.mark.slow
def test_a_wrong_command_is_an_error():
    done = command("tuor")
    assert done.returncode == 2
    assert "tuor" in done.stderr


def test_version():
    done = command("version")
    assert re.fullmatch(r"minigrad \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.slow
def test_doctor():
    done = command("doctor")
    assert done.returncode == 0, done.stdout
    for shown in ("Python", "NumPy", "BLAS", "cores", "scikit-learn", "graphviz", "program dot"):
        assert re.search(rf"^{shown} ", done.stdout, re.MULTILINE)
    assert "The tour can run" in done.stdout


@pytest.mark.slow
def test_doctor_names_what_is_missing():
    require_tools()
    code = (
        "import importlib.util, io\n"
        "from rich.console import Console\n"
        "from minigrad_course.commands import doctor\n"
        "doctor.find_spec = lambda name: None\n"
        "out = io.StringIO()\n"
        "print(doctor.run(Console(file=out, width=120)))\n"
        "print(out.getvalue())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    assert done.stdout.startswith("1\n"), done.stderr
    assert "The tour needs scikit-learn: pip install -e '.[tour]'" in done.stdout
    assert re.search(r"^graphviz +no +pictures of graphs: pip install", done.stdout, re.MULTILINE)
    for name, extra in (("pytest", "course"), ("watchfiles", "course"), ("merge3", "course"),
                        ("graphviz", "tour"), ("safetensors", "safetensors")):
        assert re.search(rf"^{name} +no +.*pip install -e '\.\[{extra}\]' *$", done.stdout,
                         re.MULTILINE), name


@pytest.fixture(scope="module")
def quick_tour():
    return command("tour", "--quick")


@pytest.mark.slow
def test_the_quick_tour(quick_tour):
    assert quick_tour.returncode == 0, quick_tour.stdout + quick_tour.stderr
    text = quick_tour.stdout
    printed = [line[4:] for line in text.splitlines() if line.startswith("  │ ")]
    for line in (
        "tensor([2.7183], grad_fn=<ExpBackward>)",
        "['ExpBackward', 'MulBackward0']",
        "[True, True, False, False, True, False]",
        "by hand: tensor([24.], grad_fn=<MulBackward0>) tensor([40.], grad_fn=<MulBackward0>)",
        "by paths: tensor([24.], grad_fn=<AddBackward0>) tensor([40.], grad_fn=<AddBackward0>)",
        "by the engine: tensor([24.]) tensor([40.])",
        "3.0 tensor([6.0000, 1.5000, 1.0000, 0.0000])",
        "10.0 tensor([0., 5., 0., 2.])",
        "tensor([[ 0.8776, -0.9589],",
        "        [ 0.,  0., 18.]])",
    ):
        assert line in printed
    assert re.search(r"its determinant is the radius: tensor\((2\.0*|1\.9999\d*)\)", text)
    right, of = map(int, re.search(r"recognised: (\d+) of (\d+),", text).groups())
    assert of == 450
    assert right >= 0.9 * of
    assert "a target of 90% of the held-out digits instead of 97%" in " ".join(text.split())
    assert "What to do next" in text


@pytest.mark.slow
def test_the_quick_tour_measures_the_modes(quick_tour):
    rows = re.findall(
        r"^(train|eval) +(recorded|no_grad) +(yes|no) +([\d.]+) MB +([\d.]+) MB +[\d.]+ ms +"
        r"(yes|no) +(yes|no)",
        quick_tour.stdout,
        re.MULTILINE,
    )
    assert [row[:2] for row in rows] == [
        ("train", "recorded"), ("eval", "recorded"), ("train", "no_grad"), ("eval", "no_grad"),
    ]
    for mode, graph, requires_grad, saved, peak, again, alone in rows:
        assert requires_grad == ("yes" if graph == "recorded" else "no")
        assert (float(saved) > 1) == (graph == "recorded")
        assert float(peak) > 0
        assert again == alone == ("yes" if mode == "eval" else "no")
    peaks = {row[:2]: float(row[4]) for row in rows}
    assert peaks["eval", "no_grad"] < peaks["eval", "recorded"]


@pytest.mark.slow
def test_it_is_plain_when_it_is_not_a_terminal(quick_tour):
    assert "\x1b" not in quick_tour.stdout
    assert quick_tour.stderr == ""


def test_the_full_tour_promises_what_it_asks():
    require_tools()
    from minigrad_course.tour import tour

    assert tour.REQUIRED == 0.97
    assert tour.QUICK_REQUIRED < tour.REQUIRED


def tour_with(monkeypatch, **replaced) -> tuple[int, str]:
    require_tools()
    from rich.console import Console

    from minigrad_course.tour import tour

    for name, value in replaced.items():
        monkeypatch.setattr(tour, name, value)
    out = io.StringIO()
    code = tour.run(Console(file=out, width=100), quick=True)
    return code, out.getvalue()


def test_too_little_learnt_is_a_failure(monkeypatch):
    code, text = tour_with(
        monkeypatch,
        play=lambda console, page: 6,
        train_the_network=lambda *arguments: (None, 0.5),
        compare_modes=lambda *arguments: None,
    )
    assert code == 1
    assert "it recognised 50.0% of the held-out digits, not 90%" in text


def test_a_step_that_fails_is_a_failure(monkeypatch):
    def fail(console, page):
        raise RuntimeError("planted")

    code, text = tour_with(monkeypatch, play=fail)
    assert code == 1
    assert "RuntimeError: planted" in text
    assert "The tour stops" in text


def test_a_page_runs_in_one_namespace_and_shows_real_output():
    require_tools()
    from rich.console import Console

    from minigrad_course.terminal.markdown_page import play

    out = io.StringIO()
    page = (
        "## First\n\nWords.\n\n```python\nx = 2\n```\n\n"
        "## Second\n\n```python\nprint(x + 40)\n```\n"
    )
    assert play(Console(file=out, width=80), page, first=3) == 5
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines[0].startswith("3. First ")
    assert lines[1:3] == ["Words.", "    x = 2"]
    assert lines[3].startswith("4. Second ")
    assert lines[4:] == ["    print(x + 40)", "  │ 42"]
