"""The engines that a behaviour test runs on: minigrad, and PyTorch where it is installed.

A test that takes `torch` and asserts values derived by hand shows, by passing on PyTorch, that
it is right, and on minigrad that the package is.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

NAMES = ["minigrad"] + (["torch"] if importlib.util.find_spec("torch") else [])
ENGINES = [importlib.import_module(name) for name in NAMES]

#: For `pytestmark`: every test of the module takes `torch` and runs on each engine.
on_each_engine = pytest.mark.parametrize("torch", ENGINES, ids=NAMES)


def leaf(torch: ModuleType, values: Any, **options: Any) -> Any:
    """Make a tensor that requires grad."""
    return torch.tensor(values, requires_grad=True, **options)


def function_of(torch: ModuleType, forward: Callable[..., Any],
                backward: Callable[..., Any] | None = None, **more: Any) -> Any:
    """Make a Function of functions; what is given besides stands in its class as it is."""
    body = {"forward": staticmethod(forward), **more}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Made", (torch.autograd.Function,), body)


def with_jvp(torch: ModuleType, jvp: Callable[[Any], Any]) -> Any:
    """Make a Function that returns its input, with a right gradient and this tangent."""
    return function_of(torch, lambda ctx, x: x * 1, lambda ctx, g: g,
                       jvp=staticmethod(lambda ctx, t: jvp(t)))


def forward_ad(torch: ModuleType) -> ModuleType:
    """Return the engine's `autograd.forward_ad`."""
    return importlib.import_module(torch.__name__ + ".autograd.forward_ad")


def spelt(torch: ModuleType, name: str) -> str:
    """Return a built-in node's name as the engine spells it: PyTorch ends it with a number."""
    return name if torch.__name__ == "minigrad" else name + "0"
