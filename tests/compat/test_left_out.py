"""Names that minigrad leaves out: they can be imported, named and compared; their use says why."""

from __future__ import annotations

import importlib
import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import minigrad
from minigrad.compat import left_out
from minigrad.compat.found import LeftOutModules
from minigrad.compat.left_out import (
    ALIASES,
    ANSWERS,
    DTYPES,
    LAYOUTS,
    LEFT_OUT,
    METHODS,
    MODULES,
)
from minigrad.compat.stand_ins import LeftOut, LeftOutModule, stand_in

NAMES = [name for names in LEFT_OUT.values() for name in names.split() if not name.endswith(".")]
ALL_DTYPES = [name for names in DTYPES.values() for name in names]
ALL_LAYOUTS = [name for names in LAYOUTS.values() for name in names.split()]
ALL_METHODS = [name for names in METHODS.values() for name in names.split()]


def at(path: str, root: object = minigrad) -> object:
    for part in path.split("."):
        root = getattr(root, part)
    return root


@pytest.mark.parametrize("path", NAMES)
def test_a_name_can_be_named_and_compared_and_its_use_says_why(path):
    found = at(path)
    assert found is at(path) and isinstance(found, LeftOut)
    assert not isinstance(minigrad.ones(1), found) and found not in (1, minigrad.float32)
    assert found | None and found[int] is found  # in annotations
    with pytest.raises(NotImplementedError) as raised:
        found(1, key=2)
    assert str(raised.value) == left_out.error_text(path, left_out.left_out(path))


@pytest.fixture
def finder(monkeypatch):
    """Add the finder of modules that are left out, as `as_torch` does."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, LeftOutModules()])


@pytest.mark.usefixtures("finder")
@pytest.mark.parametrize("path", MODULES)
def test_a_module_is_imported_and_what_is_in_it_named(path):
    module = at(path)
    assert module is importlib.import_module(f"minigrad.{path}")
    assert isinstance(module, LeftOutModule) and MODULES[path] in module.__doc__
    below = importlib.import_module(f"minigrad.{path}.below")
    assert below is module.below
    with pytest.raises(NotImplementedError, match=f"^torch.{path}.below.thing.DEEP is left out"):
        below.thing.DEEP()
    assert not hasattr(module, "__wrapped__") and not hasattr(module, "_private")
    assert not hasattr(below.thing, "__wrapped__")


@pytest.mark.usefixtures("finder")
@pytest.mark.parametrize("path", [f"{name}.{each}" for name in ANSWERS for each in ANSWERS[name]])
def test_some_questions_have_an_answer(path):
    module, _, name = path.rpartition(".")
    answer = ANSWERS[module][name]
    given = object()
    function = getattr(importlib.import_module(f"minigrad.{module}"), name)
    assert function(given) is (given if answer is left_out.GIVEN else answer)


@pytest.mark.parametrize("name", ALL_DTYPES)
def test_a_dtype_is_named_and_unequal_to_those_that_tensors_have(name):
    found = getattr(minigrad, name)
    assert type(found) is minigrad.dtype and repr(found) == f"torch.{name}"
    assert minigrad.ones(1).dtype not in (found, None) and {found: 1}[found]
    assert pickle.loads(pickle.dumps(found)) is found
    for use in (lambda: minigrad.zeros(2, dtype=found), lambda: minigrad.ones(2).to(found),
                lambda: minigrad.tensor([1.0], dtype=found), lambda: minigrad.ones(2).type(found)):
        with pytest.raises(NotImplementedError, match=f"^torch.{name} is left out: minigrad has n"):
            use()


def test_second_names_are_the_same_dtypes():
    assert all(getattr(minigrad, name) is getattr(minigrad, first)
               for name, first in ALIASES.items())


@pytest.mark.parametrize("name", ALL_LAYOUTS)
def test_a_layout_is_one_that_no_tensor_has(name):
    found = getattr(minigrad, name)
    assert repr(found) == f"torch.{name}" and minigrad.ones(1).layout != found
    with pytest.raises(TypeError, match=f"strided tensors only, no torch.{name}"):
        minigrad.zeros(2, layout=found)


@pytest.mark.parametrize("name", ALL_METHODS)
def test_a_method_of_tensors_says_why(name):
    with pytest.raises(NotImplementedError, match=rf"^torch.Tensor.{name} is left out: minigrad "):
        getattr(minigrad.ones(2), name)()


def test_a_class_may_be_derived_and_is_used_when_an_object_is_made():
    class Mine(minigrad.fx.Tracer):
        def trace(self):
            return 1

    with pytest.raises(NotImplementedError, match=r"^torch.fx.Tracer is left out"):
        Mine()
    assert not isinstance(1, Mine)


@pytest.mark.parametrize(("module", "name"), [("minigrad", "zeroes"), ("minigrad.nn", "Linaer"),
                                              ("minigrad.optim", "Adma"), ("minigrad.cuda", "x")])
def test_other_names_are_not_there(module, name):
    with pytest.raises(AttributeError, match=f"^module '{module}' has no attribute '{name}'$"):
        getattr(importlib.import_module(module), name)
    with pytest.raises(ImportError, match=name):
        importlib.import_module(f"{module}.{name}")


def test_programs_import_and_name_them_under_as_torch():
    program = """
import minigrad
minigrad.as_torch()
import torch, torch.fft, torch.onnx.utils, torch._dynamo
import torch.multiprocessing as mp
from torch import distributed as dist, multiprocessing
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.data.distributed import DistributedSampler
@torch.fx.wrap
def f(op=dist.ReduceOp.SUM, layout=torch.sparse_coo): return 1
assert torch.fft is minigrad.fft and f() == 1 and not dist.is_available() and mp is multiprocessing
torch._dynamo.config.suppress_errors = True
size = {torch.complex64: 8, torch.float32: 4}[torch.ones(1).dtype]
print(size, torch.is_complex(torch.ones(1)))
torch.fft.fft(torch.ones(2))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False)
    assert done.stdout == "4 False\n", done.stderr
    assert done.stderr.rstrip().endswith("NotImplementedError: torch.fft.fft is left out: minigrad "
                                         "has no complex numbers. docs/en/library.md lists "
                                         "everything that is left out")


def test_none_is_made_before_a_program_asks_for_it():
    code = ("import minigrad, sys\nfrom minigrad.compat.stand_ins import _made\n"
            "print(_made, [n for n in sys.modules if n.startswith('minigrad.compat')])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == ("{} ['minigrad.compat.left_out', 'minigrad.compat.stand_ins', "
                           "'minigrad.compat.found', 'minigrad.compat']\n")


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=False)


def test_a_plain_import_leaves_the_import_system_as_it_was():
    done = run("import sys\n"
               "before = [list(each) for each in (sys.meta_path, sys.path_hooks, sys.path)]\n"
               "import minigrad as torch\n"
               "torch.nn.functional.relu(torch.ones(1, requires_grad=True)).backward()\n"
               "assert torch.fft.rfft and torch.jit.ScriptModule and torch.compile\n"
               "assert before == [sys.meta_path, sys.path_hooks, sys.path]\n"
               "assert sys.excepthook is sys.__excepthook__\n")
    assert done.returncode == 0, done.stderr


def test_a_plain_import_serves_what_is_left_out_as_attributes_of_modules():
    done = run("import minigrad as torch\n"
               "from minigrad import distributed as dist, multiprocessing\n"
               "from minigrad.nn.parallel import DataParallel, DistributedDataParallel\n"
               "from minigrad.jit import ScriptModule\n"
               "from minigrad.utils.data import DistributedSampler, distributed\n"
               "from minigrad.compiler import config\n"
               "import minigrad.jit, minigrad.utils.tensorboard\n"
               "assert dist is torch.distributed and not dist.is_available()\n"
               "assert torch.nn.DataParallel is DataParallel and torch.backends.mkl\n"
               "import minigrad.fft\n")
    assert done.stderr.rstrip().endswith("ModuleNotFoundError: No module named 'minigrad.fft'")


def test_modules_that_were_named_before_as_torch_stay_the_same():
    done = run("import minigrad\n"
               "fft, sampler = minigrad.fft, minigrad.utils.data.distributed\n"
               "minigrad.as_torch()\n"
               "import torch.fft, torch.utils.data.distributed, minigrad.onnx.utils, torch.onnx\n"
               "assert torch.fft is fft and torch.utils.data.distributed is sampler\n"
               "assert torch.onnx is minigrad.onnx and torch.onnx.utils is minigrad.onnx.utils\n")
    assert done.returncode == 0, done.stderr


def test_a_file_that_exists_takes_precedence():
    """The finder follows that of files, so a module that gets a file needs no other change."""
    done = run("import sys, minigrad\nminigrad.as_torch(), minigrad.as_torch()\n"
               "names = [getattr(each, '__name__', type(each).__name__)\n"
               "         for each in sys.meta_path]\n"
               "assert names[0] == '_TorchNames' and names[-1] == 'LeftOutModules'\n"
               "assert names.count('_TorchNames') == names.count('LeftOutModules') == 1\n")
    assert done.returncode == 0, done.stderr
    assert isinstance(minigrad.nn, ModuleType) and not isinstance(minigrad.nn, LeftOutModule)
    for path in MODULES:
        assert not Path(minigrad.__path__[0], *path.split(".")).with_suffix(".py").exists()


def row(why: str) -> str:
    """Return the row of the list in `docs/en/library.md` for one reason."""
    names = [name + "*" * name.endswith(".") for name in LEFT_OUT.get(why, "").split()]
    dtypes = list(DTYPES.get(why, {}))
    dtypes += [name for name, first in ALIASES.items() if first in dtypes]
    names += dtypes + LAYOUTS.get(why, "").split()
    names += [f"Tensor.{name}" for name in METHODS.get(why, "").split()]
    return f"| {why} | {' '.join(f'`{name}`' for name in names)} |"


def test_the_list_that_errors_name_has_them_all():
    page = Path(__file__).parents[2].joinpath("docs/en/library.md").read_text(encoding="utf-8")
    shown = page.partition("## Unsupported features")[2].partition("\n## ")[0]
    rows = [line for line in shown.splitlines() if line.startswith("| ")][1:]
    assert rows == [row(why) for why in dict.fromkeys([*LEFT_OUT, *DTYPES, *LAYOUTS, *METHODS])]


@pytest.mark.parametrize("path", [*NAMES, *ALL_DTYPES, *ALIASES, *ALL_LAYOUTS,
                                  *(f"Tensor.{name}" for name in ALL_METHODS)])
def test_pytorch_has_the_name(path):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    importlib.import_module("torch.utils.data.distributed")
    assert at(path, torch) is not None
    if isinstance(stand_in(path), minigrad.dtype):
        mine, theirs = stand_in(path), at(path, torch)
        for field in ("itemsize", "is_complex", "is_floating_point"):
            assert getattr(mine, field) == getattr(theirs, field), field
        assert repr(mine) == repr(theirs)


@pytest.mark.parametrize("path", MODULES)
def test_pytorch_has_the_module(path):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    parent, _, name = path.rpartition(".")
    there = hasattr(importlib.import_module(f"torch.{parent}") if parent else torch, name)
    assert there or importlib.util.find_spec(f"torch.{path}") is not None


@pytest.mark.parametrize("path", [f"{name}.{each}" for name in ANSWERS for each in ANSWERS[name]])
def test_pytorch_has_what_is_answered(path):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    importlib.import_module(f"torch.{path}".rpartition(".")[0])
    assert callable(at(path, torch))
