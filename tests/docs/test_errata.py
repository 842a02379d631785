"""Errata 22 lists the nodes of second derivatives that minigrad has."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import minigrad as torch
import minigrad.ops
from minigrad.nn import functional as F
from minigrad.op.declaration import REGISTRY

PAGE = Path(__file__).resolve().parents[2] / "docs/en/errata.md"
AS_IN_PYTORCH, ONLY_HERE = (
    set(re.findall(r"`(\w+)`", part)) for part in re.findall(
        r"<!-- (?:as in PyTorch|only here) -->(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8")))
INDEX = torch.tensor([1, 0])
#: Functions whose second derivatives show these nodes, each with the shape of its input.
SHOWN = {
    "AdaptiveAvgPool2DBackwardBackward": (lambda x: F.adaptive_avg_pool2d(x, 2), (1, 1, 4, 4)),
    "AdaptiveAvgPool3DBackwardBackward": (lambda x: F.adaptive_avg_pool3d(x, 2), (1, 1, 4, 4, 4)),
    "AvgPool2DBackwardBackward": (lambda x: F.avg_pool2d(x, 2), (1, 1, 4, 4)),
    "AvgPool3DBackwardBackward": (lambda x: F.avg_pool3d(x, 2), (1, 1, 4, 4, 4)),
    "DiagonalBackwardBackward": (lambda x: x.diagonal(), (2, 2)),
    "GatherBackwardBackward": (lambda x: x.gather(1, INDEX[:, None]), (2, 2)),
    "IndexBackwardBackward": (lambda x: x[INDEX], (2, 2)),
    "IndexSelectBackwardBackward": (lambda x: x.index_select(0, INDEX), (2, 2)),
    "MaxPool2DWithIndicesBackwardBackward":
        (lambda x: F.adaptive_max_pool2d(x, 2), (1, 1, 4, 4)),
    "NativeDropoutBackwardBackward": (lambda x: torch.native_dropout(x, 0.5, True)[0], (2, 2)),
    "NllLossBackwardBackward": (lambda x: F.nll_loss(x, INDEX), (2, 2)),
    "SelectBackwardBackward": (lambda x: x[0], (2, 2)),
    "SliceBackwardBackward": (lambda x: x[1:], (2, 2)),
    "TakeBackwardBackward": (lambda x: x.take(INDEX), (2, 2)),
    "UnfoldBackwardBackward": (lambda x: x.unfold(0, 2, 1), (2, 2)),
    "UpsampleBackwardBackward": (lambda x: F.interpolate(x, scale_factor=2), (1, 1, 2)),
}


def test_the_list_has_every_node_of_a_second_derivative():
    for module in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
        importlib.import_module(module.name)
    names = {op.node_type.__name__ for op in REGISTRY.values()}
    listed = AS_IN_PYTORCH | ONLY_HERE
    assert {name for name in names if name.endswith("BackwardBackward")} == listed
    assert (len(AS_IN_PYTORCH), len(ONLY_HERE)) == (11, 5) and not AS_IN_PYTORCH & ONLY_HERE
    assert set(SHOWN) == listed


@pytest.mark.parametrize("name", SHOWN)
def test_a_second_derivative_shows_the_node(name):
    function, shape = SHOWN[name]
    x = torch.rand(shape, requires_grad=True)
    result = function(x)
    weight = torch.rand(tuple(result.shape), requires_grad=True)
    (gradient,) = torch.autograd.grad((result * weight).sum(), x, create_graph=True)
    assert gradient.grad_fn.name() == name


def test_a_second_derivative_of_softmax_shows_nodes_of_tensor_operations():
    x = torch.rand(2, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(x.softmax(1)[0, 0], x, create_graph=True)
    assert gradient.grad_fn.name() == "SubBackward0"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch")
def test_pytorch_has_those_that_are_said_to_be_its_own():
    found = importlib.util.find_spec("torch")
    assert found is not None and found.origin is not None
    header = Path(found.origin).parent / "include/torch/csrc/autograd/generated/Functions.h"
    classes = set(re.findall(r"^struct TORCH_API (\w+)0 : ", header.read_text("utf-8"), re.M))
    assert classes >= AS_IN_PYTORCH | {"SoftmaxBackwardDataBackward", "ValuesBackward"}
    assert not classes & (ONLY_HERE | {"IndicesBackward"})
