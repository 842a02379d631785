"""The type stubs say what is published, and type checkers can read them."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad.op.publish import FUNCTIONS
from minigrad.tensor.tensor import Tensor
from minigrad.utils import stubs


def test_the_committed_stubs_are_current():
    for path, text in stubs.stubs().items():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.name} is not current: run python -m minigrad.utils.stubs")


def test_every_function_and_method_is_in_them():
    methods, functions, _ = (ast.parse(text) for text in stubs.stubs().values())
    named = {node.name for node in functions.body if isinstance(node, ast.FunctionDef)}
    assert named == FUNCTIONS.keys()
    (body,) = (n.body for n in methods.body
               if isinstance(n, ast.ClassDef) and n.name == "TensorMethods")
    named = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    assert {"new_zeros", "uniform_", "mul", "mul_", "__mul__", "__rmul__", "__imul__",
            "__repr__"} <= named
    assert not named & {"shape", "requires_grad_", "item"}  # the class body's own
    assert all(hasattr(Tensor, name) for name in named)


def test_signatures():
    text = "\n".join(stubs.stubs().values())
    assert "def mul(input: Tensor, other: Tensor | _Number, *, out: Any = ...) -> Tensor" in text
    assert "    def mul(self, other: Tensor | _Number" in text
    assert "def rand(*size: Any, generator: Generator | None = ..., out: Tensor | None" in text


def test_annotations_are_reduced_to_known_names():
    assert stubs.annotation("int | None") == "builtins.int | None"
    assert stubs.annotation("Callable[[float], Tensor]") == "Callable[[builtins.float], Tensor]"
    assert stubs.annotation("np.ndarray") == stubs.annotation("Unheard") == "Any"


@pytest.mark.slow
def test_check_reports_a_stale_stub(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stubs, "METHODS", tmp_path / "m.pyi")
    monkeypatch.setattr(stubs, "FUNCTIONS_STUB", tmp_path / "f.pyi")
    assert stubs.main(["--check"]) == 1
    assert "m.pyi, f.pyi" in capsys.readouterr().err
    assert stubs.main([]) == 0 and stubs.main(["--check"]) == 0
    (tmp_path / "m.pyi").write_text("")
    assert stubs.main(["--check"]) == 1


USER = """
import minigrad as torch

x: torch.Tensor = torch.zeros(2, 3, dtype=torch.float64)
y: torch.Tensor = torch.mul(x, 2.0) * x + 1
y += 1
z: torch.Tensor = y.uniform_(0, 1)
with torch.no_grad():
    w: torch.Tensor = torch.rand(2)
product: torch.Tensor = (x @ x.T).sum()[None]
joined: torch.Tensor = torch.cat([x, x.to(torch.float64)])
largest: torch.Tensor = x.max()
values, indices = torch.max(x, 1)
where: torch.Tensor = indices
parts: tuple[torch.Tensor, ...] = x.split(1)
near: bool = torch.allclose(x, x)
powers: torch.Tensor = 2.0 - x ** 2 % 3


@torch.no_grad()
def doubled(count: int) -> str:
    return str(2 * count)


name: str = doubled(2)
number: int = doubled(2)
x.nothing()
torch.nothing
"""


PROGRAM = Path(__file__).parents[1] / "data/typed_program.py"


def test_the_program_for_type_checkers_runs():
    exec(compile(PROGRAM.read_text(encoding="utf-8"), str(PROGRAM), "exec"), {"__name__": "typed"})


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [
    "", "x.nothing()", "wrong: str = x @ x", "doubled('2')", "compiled('2')",
    "wrong: Tensor = compiled_whole(x)"])
def test_pyright_checks_a_program_strictly(mistake, tmp_path):
    pytest.importorskip("pyright", reason="the second type checker")
    if not shutil.which("node"):
        pytest.skip("pyright needs Node")
    (tmp_path / "program.py").write_text(f"{PROGRAM.read_text(encoding='utf-8')}{mistake}\n")
    settings = {"typeCheckingMode": "strict", "include": ["program.py"], "pythonVersion": "3.11",
                "extraPaths": [str(stubs.PACKAGE.parent)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p",
                          str(tmp_path)], capture_output=True, text=True)
    errors = [line for line in run.stdout.splitlines() if " - error: " in line]
    last = len((tmp_path / "program.py").read_text().splitlines())
    wrong = {str(last)} if mistake else set()
    assert {line.split(":")[1] for line in errors} == wrong, run.stdout
    assert mistake or "0 errors" in run.stdout, run.stdout + run.stderr


@pytest.mark.slow
def test_mypy_checks_the_same_program_strictly(tmp_path):
    pytest.importorskip("mypy", reason="checks the stubs")
    mistakes = ["compiled('2')", "wrong: Tensor = compiled_whole(x)", "not_compiled(x, 2, 3)",
                "allowed(count=2)"]
    text = PROGRAM.read_text(encoding="utf-8")
    (tmp_path / "program.py").write_text(text + "\n".join(mistakes) + "\n")
    root = str(stubs.PACKAGE.parent)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
         str(tmp_path / "cache"), str(tmp_path / "program.py")],
        capture_output=True, text=True, cwd=root, env={"PATH": "", "MYPYPATH": root})
    errors = [line for line in run.stdout.splitlines() if ": error: " in line]
    first = len(text.splitlines()) + 1
    assert [int(line.split(":")[1]) for line in errors] == [
        first + number for number in range(len(mistakes))], run.stdout + run.stderr


@pytest.mark.slow
def test_users_code_is_checked_strictly(tmp_path):
    pytest.importorskip("mypy", reason="checks the stubs")
    path = tmp_path / "user.py"
    path.write_text(USER)
    root = str(stubs.PACKAGE.parent)
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir",
         str(tmp_path / "cache"), str(path)],
        capture_output=True, text=True, cwd=root, env={"PATH": "", "MYPYPATH": root})
    errors = [line for line in run.stdout.splitlines() if "user.py" in line and "error" in line]
    assert len(errors) == 3, run.stdout + run.stderr
    assert [("nothing" in line, '"str"' in line) for line in errors] == [
        (False, True), (True, False), (True, False)], run.stdout


def test_the_package_exports_what_it_has():
    assert all(hasattr(minigrad, name) for name in minigrad.__all__)
    assert len(set(minigrad.__all__)) == len(minigrad.__all__)
