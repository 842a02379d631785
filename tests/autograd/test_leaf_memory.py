"""Leaves whose memory is exchanged or resized, and what tensors and passes say of themselves."""

from __future__ import annotations

import warnings

import pytest

from tests.support.engines import function_of, leaf, on_each_engine

pytestmark = [on_each_engine, pytest.mark.filterwarnings(
    "ignore:`torch.jit.script:DeprecationWarning",  # PyTorch's forward mode
    "ignore:Anomaly Detection has been enabled:UserWarning")]


@pytest.mark.parametrize("choose", [
    lambda torch, x: torch.unique(x), lambda torch, x: torch.unique(x, dim=0),
    lambda torch, x: torch.unique(x, return_inverse=True)[0],
    lambda torch, x: torch.unique_consecutive(x),
    lambda torch, x: torch.unique_consecutive(x, dim=0, return_counts=True)[0],
    lambda torch, x: torch.bincount(torch.tensor([0, 1, 1]), x),
], ids=["unique", "along a dimension", "with places", "consecutive", "with counts", "bincount"])
def test_a_gradient_that_would_be_missing_is_refused(torch, choose):
    x = leaf(torch, [1.0, 2.0, 2.0])
    chosen = choose(torch, x)
    assert chosen.requires_grad
    with pytest.raises(RuntimeError, match=r"derivative for .* is not implemented"):
        (chosen.sum() + x.sum()).backward()


def test_places_and_counts_are_outside_the_graph(torch):
    _, places, counts = torch.unique(leaf(torch, [1.0, 2.0, 2.0]), return_inverse=True,
                                     return_counts=True)
    assert not places.requires_grad and not counts.requires_grad


def test_a_leaf_that_looks_at_other_memory_is_another_end_of_the_graph(torch):
    x = leaf(torch, [1.0, 2.0])
    edge = torch.autograd.graph.get_gradient_edge(x)
    y = (x * 3).sum()
    with torch.no_grad():
        x.set_(torch.zeros(2))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(y, x, retain_graph=True)
    assert torch.autograd.grad(y, edge)[0].tolist() == [3.0, 3.0]


def test_a_leaf_may_become_smaller(torch):
    x = torch.nn.Parameter(torch.ones(4))
    for n in (3, 2):
        with torch.no_grad():
            x.set_(x.detach()[1:])
        x.grad = None
        torch.cat([x, x]).sum().backward()
        assert x.grad.tolist() == [2.0] * n


def test_another_size_is_a_write_and_the_same_is_none(torch):
    x = torch.rand(1)
    x.resize_(1, 2)
    assert x._version == 1
    x.resize_as_(torch.rand(3))
    assert x._version == 2
    x.resize_(3)
    assert x._version == 2


def test_what_was_saved_notices_another_size(torch):
    x, w = torch.ones(2), leaf(torch, [1.0, 2.0])
    y = (x * w).sum()
    x.resize_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_inference_mode_gives_leaves_another_size(torch):
    with torch.inference_mode():
        assert torch.ones(1, 2, requires_grad=True).resize_(2, 1).shape == (2, 1)


def test_where_warnings_are_errors_anomaly_mode_prints_and_the_error_comes_out(torch, capfd):
    with torch.autograd.detect_anomaly():
        x = leaf(torch, [1.0, 2.0])
        y = x + 1
        z = (y**2).sum()
        y += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.backward()
    assert "UserWarning: Error detected in PowBackward0" in capfd.readouterr().err


@pytest.mark.parametrize(("kind", "recorded", "told"), [
    ("made here", True, True), ("made here", False, False), ("whole numbers", True, False),
    ("an input", True, False)])
def test_marking_a_tensor_that_is_no_input_as_dirty(torch, kind, recorded, told):
    def forward(ctx, x):
        made = {"an input": x, "whole numbers": (x * 3).long()}.get(kind, x * 3)
        ctx.mark_dirty(made)
        return made

    f = function_of(torch, forward, lambda ctx, g: g * 3)
    x = torch.ones(2, requires_grad=recorded)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        f.apply(x * 1)
    text = "ctx.mark_dirty() received a tensor that was not an input."
    assert [str(w.message).startswith(text) for w in warned] == [True] * told


def test_each_pass_has_a_number_of_its_own(torch):
    seen = []
    x = leaf(torch, [1.0, 2.0]).clone()
    x.register_hook(lambda g: seen.append(torch._C._current_graph_task_id()))
    for _ in range(3):
        x.sum().backward(retain_graph=True)
    assert seen == [seen[0], seen[0] + 1, seen[0] + 2] and seen[0] >= 0
    assert torch._C._current_graph_task_id() == -1


def test_whether_several_threads_are_allowed(torch):
    autograd = torch.autograd
    with autograd.set_multithreading_enabled(False):
        assert not autograd.is_multithreading_enabled()
        autograd.set_multithreading_enabled(True)
        assert autograd.is_multithreading_enabled()
    assert autograd.is_multithreading_enabled()


def test_a_tensor_has_a_layout(torch):
    assert torch.ones(2, 3).t().layout is torch.strided
    assert repr(torch.nn.Parameter(torch.ones(1)).layout) == "torch.strided"


@pytest.mark.parametrize(("name", "value"), [
    *((f"is_{kind}", False) for kind in ("sparse", "sparse_csr", "quantized", "mkldnn", "meta",
                                         "nested", "cuda")), ("is_cpu", True)])
def test_flags_of_kinds_of_tensors(torch, name, value):
    x = leaf(torch, [1.0])
    (x * 2).sum().backward()
    assert getattr(x, name) is getattr(x.grad, name) is value
