"""Which passes the sorted pass takes, and which it leaves to the engine."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import _state
from minigrad.codegen.sorted_pass import gradients_at
from tests.support.engines import leaf

pytestmark = pytest.mark.skipif(not _state.codegen, reason="codegen/ is switched off")


def test_which_passes_go_the_short_way(monkeypatch):
    x = leaf(minigrad, [1.0, 2.0])
    out = (x * 3).sum()
    start, goal, one = (out.grad_fn, 0), x._edge(), np.ones((), np.float32)

    def run():
        found = gradients_at([start], [one], [goal], True, False)
        return None if found is None else found[0].tolist()

    assert run() == [3.0, 3.0]
    with minigrad.autograd.profiler.profile():
        assert run() is None
    with monkeypatch.context() as changed:
        changed.setattr(_state.anomaly, "enabled", True)
        assert run() is None
    with minigrad.autograd.forward_ad.dual_level():
        assert run() is None
    out.register_hook(lambda g: None)
    assert run() is None


def test_a_pass_to_no_node_the_short_way():
    x = leaf(minigrad, [1.0, 2.0])
    out = (x * 3).sum()
    inputs = [(None, 0), x._edge()]
    found = gradients_at([(out.grad_fn, 0)], [np.ones((), np.float32)], inputs, False, False)
    assert found[0] is None and found[1].tolist() == [3.0, 3.0]
