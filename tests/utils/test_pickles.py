"""Pickles name public classes by PyTorch's module names, and restore what was pickled."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from minigrad import nn, optim

NAMESPACES = [
    "minigrad", "minigrad.amp", "minigrad.autograd", "minigrad.autograd.anomaly_mode",
    "minigrad.autograd.forward_ad", "minigrad.autograd.function", "minigrad.autograd.functional",
    "minigrad.autograd.grad_mode", "minigrad.autograd.gradcheck", "minigrad.autograd.graph",
    "minigrad.autograd.profiler", "minigrad.autograd.variable", "minigrad.backends.cudnn",
    "minigrad.cuda", "minigrad.linalg", "minigrad.nn", "minigrad.nn.models",
    "minigrad.nn.parameter", "minigrad.nn.utils.rnn", "minigrad.optim",
    "minigrad.optim.lr_scheduler", "minigrad.profiler", "minigrad.testing",
    "minigrad.utils.checkpoint", "minigrad.utils.data", "minigrad.viz",
]
#: Each public class by its module and name; tensor types such as `FloatTensor` are no classes.
CLASSES = {
    f"{namespace}.{name}": value for namespace in NAMESPACES
    for name, value in vars(importlib.import_module(namespace)).items()
    if inspect.isclass(value) and not name.startswith("_")
    and value.__module__.startswith("minigrad")}


@pytest.mark.parametrize("name", CLASSES)
def test_a_pickled_class_is_found_again(name):
    assert pickle.loads(pickle.dumps(CLASSES[name])) is CLASSES[name]


def stepped(kind, **options):
    """Return an optimizer that has taken one step, so that it has a state."""
    weight = nn.Parameter(minigrad.ones(2))
    made = kind([weight], **options)
    weight.grad = minigrad.ones(2)
    made.step(lambda: minigrad.ones(()))
    return made


OBJECTS = {
    "tensor": lambda: minigrad.tensor([1.0, 2.0]),
    "leaf": lambda: minigrad.tensor([1.0], requires_grad=True),
    "view": lambda: minigrad.arange(6.0).view(2, 3).t(),
    "parameter": lambda: nn.Parameter(minigrad.ones(2)),
    "size": lambda: minigrad.Size((2, 3)),
    "device": lambda: minigrad.device("cpu"),
    "dtype": lambda: minigrad.float64,
    "finfo": lambda: minigrad.finfo(minigrad.float32),
    "Sequential": lambda: nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout()),
    "LSTM": lambda: nn.LSTM(2, 3),
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2),
    "ParameterDict": lambda: nn.ParameterDict({"a": nn.Parameter(minigrad.ones(1))}),
    "SGD": lambda: stepped(optim.SGD, lr=0.1, momentum=0.9),
    "AdamW": lambda: stepped(optim.AdamW),
    "LBFGS": lambda: stepped(optim.LBFGS),
    "TensorDataset": lambda: minigrad.utils.data.TensorDataset(minigrad.ones(2)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_pickled_object_is_restored(name):
    value = OBJECTS[name]()
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is type(value)
    if isinstance(value, minigrad.Tensor):
        assert minigrad.equal(value, again) and value.requires_grad == again.requires_grad
    if isinstance(value, nn.Module):
        assert [n for n, _ in value.named_parameters()] == [n for n, _ in again.named_parameters()]


@pytest.mark.parametrize(("kind", "module"), [
    (minigrad.Tensor, "minigrad"), (minigrad.Size, "minigrad"), (minigrad.dtype, "minigrad"),
    (minigrad.device, "minigrad"), (minigrad.Generator, "minigrad"),
    (minigrad.nn.Linear, "minigrad.nn.modules.linear"),
    (minigrad.nn.LayerNorm, "minigrad.nn.modules.normalization"),
    (minigrad.nn.MultiheadAttention, "minigrad.nn.modules.activation"),
    (minigrad.nn.Parameter, "minigrad.nn.parameter"), (minigrad.optim.SGD, "minigrad.optim.sgd"),
    (minigrad.autograd.Function, "minigrad.autograd.function")],
    ids=lambda value: getattr(value, "__name__", ""))
def test_a_public_class_has_the_module_that_it_has_in_pytorch(kind, module):
    assert kind.__module__ == module
    assert getattr(sys.modules[module], kind.__name__) is kind


def test_importing_a_module_that_does_not_exist_raises():
    with pytest.raises(ModuleNotFoundError, match=r"minigrad\.no_such_module"):
        importlib.import_module("minigrad.no_such_module")


def test_tensor_stays_a_function_after_every_submodule_is_imported():
    names = [found.name for found in pkgutil.walk_packages(minigrad.__path__, "minigrad.")
             if "cupy" not in found.name]
    code = (f"import importlib, minigrad\nfor name in {names!r}: importlib.import_module(name)\n"
            "assert minigrad.tensor([1.0, 2.0]).tolist() == [1.0, 2.0]\n"
            "from minigrad.tensor.tensor import Tensor\n"
            "assert isinstance(minigrad.tensor(1.0), Tensor)")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
