"""The programs at the end of lessons, on the package and on the solutions swapped in.

One test holds the sections that every lesson has.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.slow import one_in

pytest.importorskip("typer", reason="the course's commands need Typer")

from minigrad_course.content.stages import checkout, find_stage, stages
from minigrad_course.running.program import run_script

PROGRAMS = checkout() / "lessons" / "programs"

#: The program of each stage, its arguments, and lines that it prints.
CASES = [
    ("00", "moons.py", ["--steps", "20"], ["step   20: loss 0.3706"]),
    ("01", "yes_or_no.py", [], ["36 of 40 points are on the right side", "step  300: loss 0.0018",
                                "40 of 40 points are on the right side"]),
    ("02", "graph_of.py", [], ["5 nodes, 6 edges", "4 nodes, 4 edges", "slopes: a 10, b 10"]),
    ("02", "graph_of.py", ["a * a"], ["2 nodes, 2 edges", "slopes: a 4"]),
    ("03", "paths.py", ["--blocks", "4", "--steps", "10"],
     [" 16 steps     2,583 ███                              16",
      " 90 steps: yours needs 90 calls for the slope 7.540e+18; the naive engine,",
      "each step: 162 calls of the naive engine; yours: 23", "step   10: loss "]),
    ("03b", "newton.py", [], ["step 3: x   1.1443", "step 5: x   1.1309"]),
    ("03c", "two_devices.py", ["--steps", "25"],
     ["two chains of 8 slow steps: 2 times as fast on two devices", "gradients as in tiny.py: True",
      "step  25: loss 0.4235", "the caller: 4,160 steps, device 0: 4,160 steps, device 1: 4,160"]),
    ("04a", "routes.py", [], ["the route: effort 69.46, 58.0 places",
                              "travellers in doubt: effort 53.51, 75.1 places"]),
    ("04b", "clouds.py", [], ["step   0: loss 1.0986", "89 of 90 points are in their region"]),
    ("04c", "edges.py", [], ["step   0: error 1.109212", "  1.95    0.00   -1.95"]),
    ("04d", "ellipse.py", [], ["step 7: loss 0.221509, length of the gradient 2.9e-05",
                               "step 8: loss 0.221509, length of the gradient 4.1e-08",
                               "54 of 60 points are on the right side"]),
    ("04d", "own_op.py", [], ["second derivative: passed", "empty and 0d inputs: passed",
                              "18 of 18 tests of the registry pass for Log1pExp"]),
    ("04e", "tracer.py", [], ["9 operations, 7 without repeats",
                              "its trace, made at 1 and 2: (-6.0, [2.0, 2.0])"]),
    ("05", "wiretap.py", [], ["at the leaf         :  3.9e-07", "clipped to 1: 2.5e-01 arrives"]),
    ("06", "caught.py", [], ["75% of the points are told rightly",
                             "which is output 0 of Exp, is at version 1; expected version 0",
                             "100% of the points are told rightly"]),
    ("06b", "segments.py", ["--rounds", "8"], [
        "64 results in memory at most, 64 steps for a round",
        "15 results in memory at most, 128 steps for a round",
        "all losses are equal to the last bit"]),
    ("07", "last_step.py", [], ["every step        1.414214  0.353553  0.353553      61",
                                "the last step     1.414214  0.353553  0.353553       4"]),
    ("08", "rosenbrock.py", ["--steps", "100"], ["Newton's method :    6 steps"]),
    ("08b", "ensemble.py", ["--steps", "40"],
     ["  0.0348", "12 networks, 40 steps: the loss was called 40 times, not 480"]),
    ("09", "liar.py", [], ["Product   symmetric matrices     passes",
                           "Product   square, not symmetric  fails",
                           "Softplus  -20 and -30            passes",
                           "Exp       0 and 1, in float32    fails"]),
    ("10", "nan_hunt.py", [], ["careful_root  values [0.0, 2.0]  gradient [nan, 0.25]",
                               "repaired      values [0.0, 2.0]  gradient [0.0, 0.25]",
                               "the line:     root = torch.sqrt(x)"]),
    ("11", "flame.py", ["--out", "flame.svg"], ["flame.svg: 20 times forward, 20 times backward"]),
    ("12", "ghost.py", ["1000000", "4096", "16384", "4096"],
     ["layer 1   (1000000, 16384) 131,072,000,000 bytes",
      "grad 2    (16384, 4096)        536,870,912 bytes  on ghost"]),
    ("13a", "summary.py", [], ["0 numbers to train in 0 parameters",
                               "43 numbers to train in 4 parameters"]),
    ("13b", "race.py", [], ["SGD            5.0e+01   4.1e+01   6.4e+00",
                            "Adam           5.0e+01   4.1e+01   2.9e-01"]),
    ("15", "compile_it.py", ["--steps", "0"],
     ["def program(x, y, net_wq, net_wk, net_w, tangent):",
      "def forward(x, y, net_wq, net_wk, net_w):", "def backward(",
      "budget 1.0: 2,496 bytes", "budget 0.4:   896 bytes for mm_2\n",
      "            again: mm_1, mm, scaled_dot_product, silu"]),
]


@pytest.mark.parametrize(("number", "program", "arguments", "lines"),
                         one_in(3, [pytest.param(*case, id=f"{case[0]}-{case[1]}-{i}")
                                    for i, case in enumerate(CASES)]))
def test_a_program_does_the_same_on_the_package_and_on_the_solutions(
        number, program, arguments, lines, tmp_path, capfd):
    script = PROGRAMS / program
    environment = {**os.environ, "PYTHONPATH": str(checkout()), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run([sys.executable, str(script), *arguments], cwd=tmp_path, text=True,
                          encoding="utf-8", capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    for line in lines:
        assert line in done.stdout

    stage = find_stage(number)
    files = {path: stage.solution(path) for path in stage.modules}
    capfd.readouterr()
    with contextlib.chdir(tmp_path):
        assert run_script(script, arguments, files) == 0
    assert capfd.readouterr().out == done.stdout


def test_each_program_of_a_lesson_is_tried():
    capstone = {"compile_gpt.py", "digits.py", "resnet18.py", "spell.py", "fool.py",
                "own_network.py", "ten_probes.py"}  # see test_capstone.py
    tried = {case[1] for case in CASES}
    assert {path.name for path in PROGRAMS.glob("*.py")} == tried | capstone


def test_a_flame_graph_is_a_picture_with_a_box_for_each_name(tmp_path):
    subprocess.run([sys.executable, str(PROGRAMS / "flame.py"), "--steps", "2"], cwd=tmp_path,
                   env={**os.environ, "PYTHONPATH": str(checkout())}, check=True)
    drawn = Path(tmp_path, "flame.svg").read_text(encoding="utf-8")
    titles = re.findall(r"<title>([\w:#.]+): \d+ us, (\d+) calls</title>", drawn)
    assert ("ConvolutionBackward0", "2") in titles and ("forward", "2") in titles
    assert drawn.count("<rect") == len(titles)


@pytest.mark.parametrize(("program", "arguments", "told"), [
    ("graph_of.py", ["1 + 1"], "'1 + 1' has no graph: none of a, b and c is in it"),
    ("graph_of.py", ["c = a"], "'c = a' does not end in an expression, such as `a * b`"),
    ("last_step.py", ["-2"], "numbers are positive, --steps is 1 or more"),
    ("compile_it.py", ["--steps", "1"], "--steps is 0, or 2 or more"),
    ("compile_gpt.py", ["--budget", "2"], "--steps is 2 or more, and --budget from 0 to 1"),
    ("ghost.py", ["3"], "a batch and at least two widths, all positive"),
])
def test_a_program_says_what_it_cannot_do(program, arguments, told):
    done = subprocess.run([sys.executable, str(PROGRAMS / program), *arguments], text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": str(checkout())},
                          check=False)
    assert done.returncode and told in done.stderr and "Traceback" not in done.stderr


# --- sections of lessons ----------------------------------------------------------------------

#: How a lesson ends, in this order.
SECTIONS = ["Your engine at work", "Where PyTorch keeps this", "Check yourself", "Try it",
            "What you have now", "The rest of the file"]
#: Stages that ask their open question in an earlier section.
ASKED_EARLIER = {"03c", "04e"}


def sections(text: str) -> list[str]:
    """The names of a lesson's sections, without their numbers and what follows a colon."""
    return [re.sub(r"^\d+\. ", "", line).partition(":")[0].removesuffix("s")
            if line.startswith("The rest") else re.sub(r"^\d+\. ", "", line).partition(":")[0]
            for line in re.findall(r"^## (.*)$", text, re.MULTILINE)]


@pytest.mark.parametrize("stage", stages(), ids=lambda stage: stage.number)
def test_a_lesson_ends_as_all_lessons_do(stage):
    found = [each for each in sections(stage.text()) if each in SECTIONS]
    expected = SECTIONS if stage.modules else SECTIONS[:-1]
    assert found == [each for each in expected
                     if each != "Try it" or stage.number not in ASKED_EARLIER]
    for name in ("Check questions", "Questions", "Summary"):
        assert name not in sections(stage.text())
