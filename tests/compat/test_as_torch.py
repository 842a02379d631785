"""Programs that say `import torch` run on minigrad: `python -m minigrad` and `as_torch`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad


def run(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder,
                          check=False)


def in_place(program: str) -> subprocess.CompletedProcess[str]:
    return run("-c", f"import minigrad\nminigrad.as_torch()\nimport torch, sys\n{program}")


#: Modules that programs import from PyTorch by these names.
IMPORTED = [
    "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.modules",
    "torch.nn.modules.module", "torch.nn.parameter", "torch.nn.utils", "torch.nn.utils.rnn",
    "torch.optim", "torch.optim.optimizer", "torch.optim.lr_scheduler", "torch.autograd",
    "torch.autograd.function", "torch.autograd.functional", "torch.autograd.forward_ad",
    "torch.autograd.graph", "torch.autograd.profiler",
    "torch.utils", "torch.utils.data", "torch.utils.checkpoint", "torch.func", "torch.linalg",
    "torch.special", "torch.cuda", "torch.cuda.amp", "torch.amp", "torch.backends",
    "torch.random", "torch.testing", "torch.profiler", "torch.serialization",
]


def test_each_module_exists_once_whatever_its_name():
    done = in_place("import importlib\n"
                    f"for name in {IMPORTED}:\n"
                    "    module, mine = importlib.import_module(name), minigrad\n"
                    "    for part in name.split('.')[1:]:\n"
                    "        mine = getattr(mine, part)\n"
                    "    assert module is mine, name\n"
                    "from torch.autograd.gradcheck import gradcheck\n"
                    "assert torch.autograd.gradcheck is gradcheck\n"
                    "assert not [name for name in sys.modules if name.startswith('torch.') and\n"
                    "            sys.modules[name].__spec__.name.startswith('torch')]\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_it_can_be_called_twice_and_torch_keeps_its_functions():
    done = in_place("minigrad.as_torch()\n"
                    "import torch.nn.functional as F\n"
                    "from torch.nn import Linear\n"
                    "print(torch.tensor(2.), F.relu(torch.tensor(-1.)), Linear.__module__)")
    assert done.stdout == ("tensor(2.) tensor(0.) minigrad.nn.modules.linear\n"), done.stderr


@pytest.mark.parametrize("program", ["import torch.no_such_module", "torch.no_such_name",
                                     "from torch.nn import NoSuchLayer",
                                     "torch.ones(1).no_such_method()"])
def test_an_error_about_a_missing_name_says_who_stands_in_for_torch(program):
    done = in_place(program)
    assert done.returncode == 1
    assert "no_such" in done.stderr.lower().replace("nosuch", "no_such")
    assert "minigrad replaces torch in this process" in done.stderr


def test_other_errors_are_shown_as_ever():
    done = in_place("class A: pass\nA().no_such_name")
    assert done.stderr.rstrip().endswith("AttributeError: 'A' object has no attribute "
                                         "'no_such_name'")


def test_a_module_that_is_not_there_is_not_found():
    done = in_place("import importlib.util\n"
                    "print(importlib.util.find_spec('torch.no_such_module'),\n"
                    "      importlib.util.find_spec('torch.nn').origin)")
    assert re.fullmatch(r"None .*minigrad.nn.__init__\.py\n", done.stdout), done.stderr


def test_it_refuses_where_pytorch_was_imported_before(tmp_path):
    (tmp_path / "torch.py").write_text("")
    done = run("-c", "import torch, minigrad\nminigrad.as_torch()", folder=tmp_path)
    assert "RuntimeError: as_torch: PyTorch was imported before, from " in done.stderr


def test_no_tensor_goes_to_pytorch_where_minigrad_stands_in_for_it():
    done = in_place("from minigrad.utils.exchange import to_torch\nto_torch(torch.ones(1))")
    assert "RuntimeError: to_torch: minigrad replaces torch" in done.stderr


PROGRAM = """\
import sys
from helper import SCALE
import torch
from torch import nn
x = torch.tensor([1., 2.], requires_grad=True)
(SCALE * nn.functional.relu(x)).sum().backward()
print(x.grad, sys.argv, __name__, __file__)
"""


def test_a_program_runs_as_python_would_run_it(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "program.py").write_text(PROGRAM)
    (tmp_path / "sub" / "helper.py").write_text("SCALE = 3.0\n")
    done = run("-m", "minigrad", "sub/program.py", "--lr", "1", folder=tmp_path)
    assert done.stdout == ("tensor([3., 3.]) ['sub/program.py', '--lr', '1'] __main__ "
                           "sub/program.py\n"), done.stderr
    done = run("-m", "minigrad", "-m", "sub.program", folder=tmp_path)
    assert "No module named 'helper'" in done.stderr  # as `python -m` would say
    done = run("-m", "minigrad", "-c", "import sys, torch; print(torch.ones(1), sys.argv)", "a")
    assert done.stdout == "tensor([1.]) ['-c', 'a']\n", done.stderr


def test_without_a_program_it_shows_one_screen():
    done = run("-m", "minigrad")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 24
    assert all(len(line) <= 79 for line in lines)
    assert "`minigrad python program.py`" in done.stdout
    assert run("-m", "minigrad", "--help").stdout == done.stdout
    assert run("-m", "minigrad", "--version").stdout == f"minigrad {minigrad.__version__}\n"


@pytest.mark.parametrize(("words", "said"), [
    (["nowhere.py"], "minigrad: there is no program nowhere.py"),
    (["--nowhere"], "minigrad: --nowhere is not an option; see `python -m minigrad -h`"),
    (["-m"], "minigrad: -m needs a module"),
    (["-m", "nowhere"], "minigrad: there is no module nowhere"),
    (["-m", "nowhere.at_all"], "minigrad: there is no module nowhere.at_all"),
    (["-c"], "minigrad: -c needs a program"),
])
def test_it_says_what_is_wrong_with_the_words(words, said, tmp_path):
    done = run("-m", "minigrad", *words, folder=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (1, said)
