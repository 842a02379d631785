"""CONTRIBUTING.md's way to add an op, a function, a module and an exercise, in a copy."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = ("Add an op", "Add a function to nn.functional", "Add a module to nn")

#: A step: a file's name, perhaps "at its end", and a block; or a block of commands.
STEP = re.compile(r"^(?:`([\w/.]+)`(, at its end)?:\n\n)?```(python|diff|toml|sh)\n(.*?)^```$",
                  re.MULTILINE | re.DOTALL)

#: What the steps have to pass: the registry's tests of the op, the cases of the others, the stubs,
#: the layers, the batching page, and the rule that every module has a case.
FILES = ("ops/test_registry", "ops/test_registry_parity", "batching/test_batching",
         "docs/test_stubs", "test_layers", "nn/test_functional", "nn/test_parity",
         "docs/test_doctests")
CHOSEN = ("Ldexp or conv_tbc or UpsamplingBilinear2d or ldexp or math.scaling or nn.functional or "
          "nn.shape_layers or "
          "imports_downward or stubs_are_current or page_lists or every_module_has_a_row")


def section(heading: str) -> str:
    _, found, rest = TEXT.partition(f"\n## {heading}\n")
    assert found, heading
    return rest.partition("\n## ")[0]


def changed(text: str, diff: str) -> str:
    """Apply a diff without line numbers: the lines that it replaces stand in the text once."""
    lines = diff.splitlines(keepends=True)
    assert {line[0] for line in lines} <= set(" -+")
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(before) == 1, before
    return text.replace(before, after)


def take(step: re.Match[str], tree: Path) -> str:
    """Take one step in a tree and return the place that it touched."""
    name, at_end, kind, block = step.groups()
    if kind == "sh":
        for line in block.splitlines():
            command, *arguments = shlex.split(line)
            assert command == "python"
            subprocess.run([sys.executable, *arguments], cwd=tree, env=environment(tree),
                           check=True)
        return block
    path = tree / name
    if kind == "diff":
        path.write_text(changed(path.read_text(encoding="utf-8"), block), encoding="utf-8")
    elif at_end:
        path.write_text(path.read_text(encoding="utf-8") + "\n\n" + block, encoding="utf-8")
    else:
        assert not path.exists()
        path.write_text(block, encoding="utf-8")
    return name


def undo(step: re.Match[str], tree: Path) -> None:
    """Take back in a tree what a step adds, where the package has it already."""
    name, at_end, kind, block = step.groups()
    if kind == "sh" or not (tree / name).exists():
        return
    text = (tree / name).read_text(encoding="utf-8")
    added = "".join(line[1:] for line in block.splitlines(keepends=True) if line[0] != "-")
    if at_end and text.endswith("\n\n" + block):
        text = text.removesuffix("\n\n" + block)
    elif kind == "diff" and added in text:
        back = {"+": "-", "-": "+", " ": " "}
        text = changed(text, "".join(back[line[0]] + line[1:]
                                     for line in block.splitlines(keepends=True)))
    (tree / name).write_text(text, encoding="utf-8")


def with_few_mutants(stage: str) -> str:
    """Keep three mutants of each exercise: `dev verify` tries all of the package's own."""
    heading = "[[hole.mutant]]\n"
    return "[[hole]]\n".join(heading.join(hole.split(heading)[:4])
                             for hole in stage.split("[[hole]]\n"))


def environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def run_pytest(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests of a tree in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *arguments],
        cwd=tree, env=environment(tree), capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("heading", SECTIONS)
def test_at_most_three_places_are_touched(heading):
    steps = list(STEP.finditer(section(heading)))
    assert len(steps) == section(heading).count("\n```") / 2, "a block names no file"
    assert 1 <= len({step[1] or step[4] for step in steps}) <= 3


@pytest.mark.slow
def test_the_steps_work_as_they_stand(tmp_path):
    for folder in ("minigrad", "minigrad_course", "tests", "site", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder,
                        ignore=shutil.ignore_patterns("__pycache__", "node_modules", "browser"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    steps = [step for heading in SECTIONS for step in STEP.finditer(section(heading))]
    for step in steps:
        undo(step, tmp_path)
    for name in ("minigrad/nn/shape_layers.py", "minigrad/nn/functional.py"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "class UpsamplingBilinear2d" not in text and "def conv_tbc" not in text
    for step in steps:
        take(step, tmp_path)
    done = run_pytest(tmp_path, "-k", CHOSEN, "-rA", *(f"tests/{name}.py" for name in FILES))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    passed = "\n".join(re.findall(r"^PASSED (.*)$", done.stdout, re.MULTILINE))
    for wanted in ("test_registry.py::test_declaration_is_complete[Ldexp]", "doctests.py::",
                   "test_the_package_imports_downward", "test_the_committed_stubs_are_current",
                   "test_every_module_has_a_row"):
        assert wanted in passed, done.stdout
    if "test_registry_parity" in passed:  # PyTorch is there
        for wanted in ("[conv_tbc]", "UpsamplingBilinear2d((5, 3))", "test_registry_parity.py"):
            assert wanted in passed, done.stdout
    op = tmp_path / "minigrad/ops/math/scaling.py"
    op.write_text(changed(op.read_text(encoding="utf-8"),
                          "-        return g * result * math.log(2)\n"
                          "+        return g * result * math.log(3)\n"), encoding="utf-8")
    done = run_pytest(tmp_path, "-k", "Ldexp", "tests/ops/test_registry.py")
    for wanted in ("test_first_derivative[Ldexp]", "test_second_derivative[Ldexp]"):
        assert f"FAILED tests/ops/test_registry.py::{wanted}" in done.stdout, "a wrong derivative"


@pytest.mark.slow
def test_an_exercise_of_ones_own_is_built_and_verified(tmp_path):
    for folder in ("minigrad", "minigrad_course", "tests", "lessons", "exercises", "solutions",
                   "notebooks", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder,
                        ignore=shutil.ignore_patterns("__pycache__", "browser", "answers"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    *steps, commands = STEP.finditer(section("Add an exercise"))
    for step in steps:
        take(step, tmp_path)
    mutants = tmp_path / "lessons" / "stages" / "07_grad_mode.toml"
    mutants.write_text(with_few_mutants(mutants.read_text(encoding="utf-8")), encoding="utf-8")
    build, verify = (shlex.split(line)[1:] for line in commands[4].splitlines())
    subprocess.run([sys.executable, *build], cwd=tmp_path, env=environment(tmp_path), check=True)
    exercise = (tmp_path / "exercises" / "07_grad_mode.py").read_text(encoding="utf-8")
    assert 'raise NotImplementedError("07.6 How a mode is shown is yours to write")' in exercise
    done = subprocess.run([sys.executable, *verify], cwd=tmp_path, env=environment(tmp_path),
                          capture_output=True, text=True, timeout=1200)
    assert "07_grad_mode, 07.6: 3 mutants" in done.stdout
    wrong = [line for line in done.stdout.splitlines() if "WRONG" in line]
    assert all("symptoms that belong to no hole" in line and "07_6" not in line
               for line in wrong), done.stdout  # those of the mutants that were taken out


def test_a_diff_has_to_fit_once():
    assert changed("a\nb\n", " a\n-b\n+c\n") == "a\nc\n"
    with pytest.raises(AssertionError):
        changed("a\na\n", "-a\n+b\n")
