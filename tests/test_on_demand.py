"""What a program does not name is not loaded, and everything can be named as before."""

from __future__ import annotations

import importlib
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import minigrad as torch
from minigrad import _names, _state, on_demand
from minigrad.op.declaration import F
from tests.support.slow import slow_but

ROOT = Path(__file__).resolve().parent.parent

#: How many modules of the package a plain import loads, and a first backward pass.
IMPORTED, FIRST_BACKWARD = 99, 117


def printed(program: str, *options: str) -> Any:
    """Run a program in a fresh process and return the JSON that it prints."""
    done = subprocess.run([sys.executable, *options, "-c", program], cwd=ROOT, text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def stored_names() -> Iterator[tuple[str, str, list[str]]]:
    """Yield module, kind and names of the stored list."""
    lines = (ROOT / "tests/data/public_names.txt").read_text(encoding="utf-8").splitlines()[1:]
    rows: list[tuple[str, str, list[str]]] = []
    for line in lines:
        if not line.startswith(" "):
            where, kind = line.split()
            rows.append((where, kind, []))
        else:
            rows[-1][2].extend(line.split())
    yield from rows


def kind_of(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    return "function" if callable(value) and hasattr(value, "__name__") else "value"


STORED = list(stored_names())


def test_a_first_backward_pass_loads_few_modules() -> None:
    count = "sum(name.partition('.')[0] == 'minigrad' for name in sys.modules)"
    imported, after, names = printed(
        "import json, sys\nimport minigrad as torch\n"
        f"imported = {count}\n"
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\n"
        f"print(json.dumps([imported, {count}, list(sys.modules)]))")
    assert imported <= IMPORTED
    assert after <= FIRST_BACKWARD
    for rare in ("minigrad.nn.module", "minigrad.batching", "minigrad.ops.math.bessel",
                 "numpy.random", "numpy.polynomial", "zipfile", "tempfile"):
        assert rare not in names


def is_hidden(package: str, name: str) -> bool:
    """Tell whether `dir` leaves out a name that isn't PyTorch's."""
    return package == "minigrad" and (
        name.startswith(("linalg_", "special_")) or name.endswith("_backward"))


@pytest.mark.parametrize(("where", "kind", "names"), STORED,
                         ids=[f"{where} {kind}" for where, kind, _ in STORED])
def test_every_name_is_there_as_before(where: str, kind: str, names: list[str]) -> None:
    names = [name for name in names if name != "codegen" or _state.codegen]
    owner = torch.Tensor if where == "minigrad.Tensor" else importlib.import_module(where)
    listed = set(dir(owner))
    assert [name for name in names if name not in listed and not is_hidden(where, name)] == []
    if owner is torch.Tensor:
        assert [name for name in names
                if (kind == "function") != callable(getattr(owner, name))] == []
    else:
        assert [name for name in names if kind_of(getattr(owner, name)) != kind] == []


@pytest.mark.slow
def test_names_are_the_same_in_a_process_that_asked_for_nothing_else() -> None:
    # Importing a module must not put it in the place of a function with its name.
    wrong = printed(
        "import importlib, json, pkgutil\n"
        "import minigrad\n"
        "from tests.test_on_demand import STORED, kind_of\n"
        "for package in ('autograd', 'amp', 'func', 'nn.utils'):\n"
        "    folder = importlib.import_module('minigrad.' + package)\n"
        "    for file in pkgutil.iter_modules(folder.__path__, folder.__name__ + '.'):\n"
        "        importlib.import_module(file.name)\n"
        "print(json.dumps([(where, name) for where, kind, names in STORED for name in names\n"
        "    if where != 'minigrad.Tensor' and name != 'codegen'\n"
        "    and kind_of(getattr(importlib.import_module(where), name)) != kind]))")
    assert wrong == []


def test_star_import_gives_every_public_name() -> None:
    found: dict[str, Any] = {}
    exec("from minigrad import *", found)
    assert set(torch.__all__) <= set(found)
    assert {"tensor", "nn", "special_bessel_j0", "Generator", "float32"} <= set(found)
    assert all(found[name] is getattr(torch, name) for name in torch.__all__)


@pytest.mark.parametrize("package", _names.NAMES)
def test_a_package_lists_what_it_offers(package: str) -> None:
    module = on_demand.module_of(package)
    listed = {name for name in getattr(module, "__all__", ())
              if not is_hidden(module.__name__, name)}
    assert listed <= set(dir(module))
    for _, name, _ in on_demand.rows(_names.NAMES[package]):
        if name == "codegen" and not _state.codegen:
            continue
        if name not in ("cuda", "tensorboard"):  # backends.cuda has no GPU, TensorBoard is optional
            getattr(module, name)


@pytest.mark.parametrize("module", ["minigrad", "minigrad.nn", "minigrad.optim", "minigrad.linalg",
                                    "minigrad.autograd", "minigrad.nn.utils", "minigrad.testing"])
def test_a_name_that_does_not_exist_is_an_error(module: str) -> None:
    with pytest.raises(AttributeError, match=f"^module '{module}' has no attribute 'no_such'$"):
        _ = importlib.import_module(module).no_such
    assert not hasattr(importlib.import_module(module), "no_such")


def test_names_of_ops_are_there_before_their_files() -> None:
    assert {"bessel_j0", "erfinv"} & set(dir(torch.special)) == {"bessel_j0", "erfinv"}
    for name in ("special_bessel_j0", "linalg_ldl_factor", "ctc_loss"):
        assert name in dir(F)
        assert hasattr(F, name)
    assert "renorm_" in dir(torch.Tensor)
    assert hasattr(torch.Tensor, "renorm_")
    assert hasattr(torch.ones(1), "lgamma_")


def test_a_name_that_was_said_once_is_found_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.ones(1)
    for each in (lambda: F.exp, lambda: x.exp, lambda: torch.exp, lambda: torch.nn.Linear):
        each()
        with monkeypatch.context() as patch:
            patch.setattr("minigrad.ops.load", None)
            patch.setattr("minigrad.on_demand.module_of", None)
            each()


@pytest.mark.slow
def test_each_file_publishes_what_its_row_says() -> None:
    # Each file in a process of its own: others may publish the same names.
    wrong = printed(
        "import json, os\n"
        "from minigrad import Tensor, _names, on_demand, ops\n"
        "from minigrad.op.declaration import F\n"
        "from minigrad.op.publish import FUNCTIONS\n"
        "tables = ((_names.F_NAMES, vars(F)), (_names.METHODS, vars(Tensor)),\n"
        "          (_names.FUNCTION_NAMES, FUNCTIONS))\n"
        "wrong = []\n"
        "for file in sorted({each for table, _ in tables for each in table}):\n"
        "    if not os.fork():\n"
        "        ops.load(file)\n"
        "        os._exit(any(name not in there for table, there in tables\n"
        "                     for module, name, _ in on_demand.rows(table) if module == file))\n"
        "    if os.wait()[1]: wrong.append(file)\n"
        "print(json.dumps(wrong))")
    assert wrong == []


@pytest.mark.slow
def test_a_subclass_reaches_the_method_that_it_overrides() -> None:
    seen = printed(
        "import json, minigrad\n"
        "class Loud(minigrad.Tensor):\n"
        "    def lgamma(self): return ['loud', super().lgamma().item()]\n"
        "print(json.dumps(minigrad.tensor([1.0]).as_subclass(Loud).lgamma()))")
    assert seen == ["loud", 0.0]


PICKLED = ["nn.Linear(2, 1)", "optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)", "nn.LSTM(2, 3)",
           "torch.Generator", "torch.finfo", "nn.MultiheadAttention(4, 2)",
           "distributions.Normal(0.0, 1.0)", "torch.special.bessel_j0", "torch.float32"]


@pytest.mark.parametrize("value", slow_but(0, PICKLED))
def test_pickles_are_read_in_a_fresh_process(value: str, tmp_path: Path) -> None:
    made = eval(value, {"torch": torch, "nn": torch.nn, "optim": torch.optim,
                        "distributions": torch.distributions})
    path = tmp_path / "pickle"
    path.write_bytes(pickle.dumps(made))
    kind = printed(
        f"import json, pickle\nvalue = pickle.loads(open({str(path)!r}, 'rb').read())\n"
        "print(json.dumps([type(value).__module__, type(value).__qualname__]))")
    assert kind == [type(made).__module__, type(made).__qualname__]


@pytest.mark.slow
def test_threads_that_name_the_same_thing_at_once_all_get_it() -> None:
    found = printed(
        "import json, sys, threading\nimport minigrad as torch\n"
        "sys.setswitchinterval(1e-6)\n"
        "start, seen = threading.Barrier(8), []\n"
        "def ask(i):\n"
        "    start.wait()\n"
        "    x = torch.ones(2)\n"
        "    try:\n"
        "        asked = [lambda: torch.nn.Linear, lambda: torch.special_entr,\n"
        "                 lambda: torch.Tensor.lgamma, lambda: torch.optim.Adam,\n"
        "                 lambda: torch.nn.functional.ctc_loss, lambda: x.erfinv()]\n"
        "        for each in asked[i % 2:] + asked[:i % 2]: each()\n"
        "        seen.append([id(torch.nn.Linear), id(torch.optim.Adam)])\n"
        "    except BaseException as error: seen.append(repr(error))\n"
        "threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "print(json.dumps(seen))")
    assert len(found) == 8
    assert all(each == found[0] and isinstance(each, list) for each in found)
