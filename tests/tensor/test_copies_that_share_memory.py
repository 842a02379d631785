"""`deepcopy` of tensors that share memory: the copies share memory where PyTorch's do."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import minigrad

GROUPS: dict[str, Callable[[Any], Any]] = {
    "a view after its base": lambda t: (lambda x: [x, x[1:]])(t.arange(4.0)),
    "a view before its base": lambda t: (lambda x: [x[:2], x])(t.arange(4.0)),
    "two views": lambda t: (lambda x: [x[:, 0], x.t()[1]])(t.arange(6.0).view(3, 2)),
    "tied by data": lambda t: (lambda x: [x, x.data])(t.arange(4.0)),
    "a leaf and its data": lambda t: (lambda x: [x, x.data])(t.arange(4.0).requires_grad_()),
    "expanded": lambda t: (lambda x: [x.expand(3), x])(t.arange(1.0)),
    "of another dtype": lambda t: (lambda x: [x, x.view(t.int32)])(t.arange(4.0)),
    "strided": lambda t: (lambda x: [x[1:, ::2], x])(t.arange(16.0).view(4, 4)),
    "transposed": lambda t: (lambda x: [x.t(), x])(t.arange(6.0).view(2, 3)),
    "empty": lambda t: (lambda x: [x[4:], x])(t.arange(4.0)),
    "parameters tied by data": lambda t: (lambda x: [x, t.nn.Parameter(x.data)])(
        t.nn.Parameter(t.arange(4.0))),
    "one tensor twice": lambda t: (lambda x: [x, x])(t.arange(4.0)),
    "apart": lambda t: [t.arange(4.0), t.arange(4.0)],
}


def buffers(t: Any) -> Any:
    module = t.nn.Module()
    module.register_buffer("whole", t.arange(4.0))
    module.register_buffer("part", module.whole[:2])
    return module


def write_to(tensor: Any) -> None:
    with minigrad.no_grad():
        tensor.data.fill_(9)


def copied(torch: Any, make: Callable[[Any], Any]) -> list[Any]:
    """Return what the copies and the originals are after a write to the first copy."""
    originals = make(torch)
    first, second = copies = copy.deepcopy(originals)
    shown = [(c.stride(), c.storage_offset(), c.is_leaf, c.requires_grad) for c in copies]
    write_to(first)
    return [shown, *(t.tolist() for t in (first, second, *originals))]


@pytest.mark.parametrize("group", GROUPS)
def test_copies_share_memory_where_pytorchs_do(group):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    assert copied(minigrad, GROUPS[group]) == copied(torch, GROUPS[group])


def test_buffers_that_share_memory_still_do():
    module = copy.deepcopy(buffers(minigrad))
    module.part.fill_(9)
    assert module.whole.tolist() == [9, 9, 2, 3]


def test_a_gradient_is_copied_once():
    x = minigrad.ones(2, requires_grad=True)
    x.sum().backward()
    twin, gradient = copy.deepcopy([x, x.grad])
    assert twin.grad is gradient and gradient is not x.grad
