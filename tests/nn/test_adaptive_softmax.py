"""AdaptiveLogSoftmaxWithLoss beside PyTorch: all classes, predictions, what it returns.

The rows of `tests/support/nn_cases.py` hold its loss and gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from tests.support.programs import assert_same, plain


def made(t: Any, scale: float) -> Any:
    t.manual_seed(0)
    layer = t.nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7], div_value=2.0, head_bias=True)
    layer.head.bias.data.mul_(0.0)[:3] += scale
    return layer


@pytest.mark.parametrize("scale", [9.0, 0.0, -9.0])  # the head's classes win, some, none
def test_probabilities_and_predictions_are_those_of_pytorch(scale: float) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for t in (minigrad, torch):
        layer = made(t, scale)
        x = t.linspace(-2, 2, 30).reshape(5, 6).requires_grad_()
        found = layer.log_prob(x)
        (found * found).sum().backward()
        output, loss = out = layer(x, t.tensor([0, 4, 11, 3, 7]))
        assert out.output is output and out.loss is loss and type(out).__name__ == "_ASMoutput"
        layer.reset_parameters()
        results.append(plain([found, layer.predict(x), x.grad, output, loss,
                              {k: p.grad for k, p in layer.named_parameters()},
                              layer.state_dict(), repr(layer)]))
    assert_same(*results)


def test_probabilities_add_up_to_one_and_hold_the_loss() -> None:
    layer = made(minigrad, 0.0)
    x, targets = minigrad.randn(9, 6), minigrad.arange(9)
    found = layer.log_prob(x)
    np.testing.assert_allclose(found.exp().sum(1).tolist(), 1.0, rtol=1e-5)
    output, loss = layer(x, targets)
    np.testing.assert_allclose(output.tolist(), found[range(9), range(9)].tolist(), rtol=1e-5)
    assert loss.item() == pytest.approx(-output.mean().item())
    assert layer.predict(x).equal(found.argmax(1))


def test_clusters_without_a_target_get_no_gradient() -> None:
    layer = nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7], div_value=2.0)
    layer(minigrad.ones(2, 6), minigrad.tensor([0, 4])).loss.backward()
    assert [p.grad is None for p in layer.tail.parameters()] == [False, False, True, True]
