"""nn.functional against PyTorch: values, first and second gradients, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

torch = pytest.importorskip("torch", reason="parity needs PyTorch")

RNG = np.random.default_rng(0)


def real(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return RNG.uniform(low, high, shape)


def chance(*shape: int) -> np.ndarray:
    return real(*shape, low=0.1, high=0.9)


def classes(*shape: int, count: int) -> np.ndarray:
    return RNG.integers(0, count, shape)


def distinct(*shape: int) -> np.ndarray:
    return RNG.permutation(int(np.prod(shape))).reshape(shape) / 7.0


# Name -> arrays and what to compute of them, given nn.functional and one tensor per array.
# Floating arrays require grad unless their name is in `constant`.
CASES: dict[str, tuple[list[np.ndarray], Callable[..., Any]]] = {
    "conv1d": ([real(2, 4, 9), real(6, 4, 3), real(6)],
               lambda F, x, w, b: F.conv1d(x, w, b, stride=2, padding=1)),
    "conv1d same": ([real(2, 4, 9), real(6, 4, 4), real(6)],
                    lambda F, x, w, b: F.conv1d(x, w, b, padding="same", dilation=2)),
    "conv1d groups": ([real(2, 4, 9), real(6, 2, 3)],
                      lambda F, x, w: F.conv1d(x, w, None, groups=2, dilation=2)),
    "conv2d": ([real(2, 3, 7, 8), real(4, 3, 3, 2), real(4)],
               lambda F, x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0), (1, 2))),
    "conv2d unbatched": ([real(3, 7, 8), real(4, 3, 3, 3), real(4)],
                         lambda F, x, w, b: F.conv2d(x, w, b, padding="valid")),
    "conv2d pointwise": ([real(2, 3, 4, 4), real(5, 3, 1, 1)], lambda F, x, w: F.conv2d(x, w)),
    "conv2d depthwise": ([real(2, 3, 5, 5), real(6, 1, 3, 3), real(6)],
                         lambda F, x, w, b: F.conv2d(x, w, b, stride=2, padding=1, groups=3)),
    "conv3d": ([real(1, 2, 4, 5, 4), real(3, 2, 2, 3, 2), real(3)],
               lambda F, x, w, b: F.conv3d(x, w, b, stride=(1, 2, 1), padding=1)),
    "max_pool1d": ([distinct(2, 3, 8)], lambda F, x: F.max_pool1d(x, 3, 2, 1)),
    "max_pool2d": ([distinct(2, 3, 7, 6)], lambda F, x: F.max_pool2d(x, 2, ceil_mode=True)),
    "max_pool2d overlapping": ([distinct(2, 2, 7, 7)],
                               lambda F, x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0), (1, 2))),
    "avg_pool1d": ([real(2, 3, 8)], lambda F, x: F.avg_pool1d(x, 3, 2, 1)),
    "avg_pool2d": ([real(2, 3, 7, 6)], lambda F, x: F.avg_pool2d(
        x, 3, 2, 1, ceil_mode=True, count_include_pad=False)),
    "avg_pool2d divisor": ([real(3, 7, 6)],
                           lambda F, x: F.avg_pool2d(x, (2, 3), divisor_override=5)),
    "adaptive_avg_pool1d": ([real(2, 3, 7)], lambda F, x: F.adaptive_avg_pool1d(x, 3)),
    "adaptive_avg_pool2d": ([real(2, 3, 7, 6)], lambda F, x: F.adaptive_avg_pool2d(x, (3, None))),
    "adaptive_avg_pool2d one": ([real(2, 3, 7, 6)], lambda F, x: F.adaptive_avg_pool2d(x, 1)),
    "adaptive_max_pool1d": ([distinct(2, 3, 7)], lambda F, x: F.adaptive_max_pool1d(x, 3)),
    "adaptive_avg_pool3d": ([real(2, 3, 4, 5, 3)],
                            lambda F, x: F.adaptive_avg_pool3d(x, (3, None, 2))),
    "adaptive_avg_pool3d one": ([real(3, 4, 5, 3)], lambda F, x: F.adaptive_avg_pool3d(x, 1)),
    "adaptive_max_pool3d": ([distinct(2, 3, 4, 5, 3)],
                            lambda F, x: F.adaptive_max_pool3d(x, (3, None, 2), True)[0]),
    "adaptive_max_pool2d": ([distinct(2, 3, 7, 6)],
                            lambda F, x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True)[0]),
    "batch_norm 2d input": ([real(5, 3), real(3), real(3)],
                            lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True)),
    "batch_norm": ([real(4, 3, 2, 5), real(3), real(3)],
                   lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, 1e-3)),
    "batch_norm plain": ([real(4, 3, 5)], lambda F, x: F.batch_norm(x, None, None, training=True)),
    "batch_norm eval": ([real(4, 3, 5), real(3), real(3), real(3), chance(3)],
                        lambda F, x, w, b, m, v: F.batch_norm(x, m.detach(), v.detach(), w, b)),
    "layer_norm": ([real(4, 3, 5), real(3, 5), real(3, 5)],
                   lambda F, x, w, b: F.layer_norm(x, (3, 5), w, b)),
    "layer_norm plain": ([real(4, 5)], lambda F, x: F.layer_norm(x, (5,), eps=1e-2)),
    "layer_norm whole": ([real(5), real(5), real(5)],
                         lambda F, x, w, b: F.layer_norm(x, (5,), w, b)),
    "linear": ([real(4, 3), real(5, 3), real(5)], lambda F, x, w, b: F.linear(x, w, b)),
    "linear 3d": ([real(2, 4, 3), real(5, 3), real(5)], lambda F, x, w, b: F.linear(x, w, b)),
    "linear vector": ([real(3), real(5, 3), real(5)], lambda F, x, w, b: F.linear(x, w, b)),
    "linear no bias": ([real(4, 3), real(5, 3)], lambda F, x, w: F.linear(x, w)),
    "embedding": ([real(7, 3), classes(2, 4, count=7)], lambda F, w, i: F.embedding(i, w)),
    "embedding padding": ([real(7, 3), np.array([[1, 2], [2, 0]])],
                          lambda F, w, i: F.embedding(i, w, padding_idx=-5,
                                                      scale_grad_by_freq=True)),
    "one_hot": ([classes(2, 3, count=4)], lambda F, x: F.one_hot(x, 5)),
    "pad": ([real(2, 3, 4)], lambda F, x: F.pad(x, (1, 2, -1, 1), value=0.5)),
    "pad reflect cropped": ([real(2, 3, 4, 5)],
                            lambda F, x: F.pad(x, (1, 2, 2, 1), mode="reflect")),
    "pad replicate cropped": ([real(2, 3, 4)],
                            lambda F, x: F.pad(x, (3, 5), mode="replicate")),
    "pad circular cropped": ([real(2, 3, 4, 5)],
                            lambda F, x: F.pad(x, (1, 2, 3, 0), mode="circular")),
    "nll_loss": ([real(5, 4), classes(5, count=4)], lambda F, x, t: F.nll_loss(x, t)),
    "nll_loss spatial": ([real(2, 4, 3, 2), classes(2, 3, 2, count=4)],
                         lambda F, x, t: F.nll_loss(x, t, ignore_index=1, reduction="none")),
    "nll_loss weights": ([real(5, 4), np.array([0, 3, 1, 3, 2]), chance(4)],
                         lambda F, x, t, w: F.nll_loss(x, t, w.detach(), ignore_index=3)),
    "nll_loss one": ([real(4), np.array(2)], lambda F, x, t: F.nll_loss(x, t, reduction="sum")),
    "cross_entropy": ([real(5, 4), classes(5, count=4)], lambda F, x, t: F.cross_entropy(x, t)),
    "cross_entropy spatial": ([real(2, 4, 3), classes(2, 3, count=4)],
                              lambda F, x, t: F.cross_entropy(x, t, reduction="sum")),
    "cross_entropy smooth": ([real(5, 4), np.array([0, 3, 1, 3, 2]), chance(4)],
                             lambda F, x, t, w: F.cross_entropy(
                                 x, t, w.detach(), ignore_index=3, label_smoothing=0.2)),
    "cross_entropy smooth none": ([real(5, 4), np.array([0, 3, 1, 3, 2])],
                                  lambda F, x, t: F.cross_entropy(
                                      x, t, ignore_index=1, label_smoothing=0.3, reduction="none")),
    "cross_entropy chances": ([real(5, 4), chance(5, 4), chance(4)],
                              lambda F, x, t, w: F.cross_entropy(x, t, w.detach(),
                                                                 label_smoothing=0.1)),
    "cross_entropy chances spatial": ([real(2, 4, 3), chance(2, 4, 3)],
                                      lambda F, x, t: F.cross_entropy(x, t, reduction="none")),
    "mse_loss": ([real(4, 3), real(4, 3)], lambda F, x, t: F.mse_loss(x, t)),
    "mse_loss none": ([real(4, 3), real(4, 3)], lambda F, x, t: F.mse_loss(x, t, reduction="none")),
    "mse_loss weight": ([real(4, 3), real(4, 3), chance(4, 3)],
                        lambda F, x, t, w: F.mse_loss(x, t, weight=w.detach())),
    "l1_loss": ([real(4, 3), real(4, 3)], lambda F, x, t: F.l1_loss(x * x, t, reduction="sum")),
    "smooth_l1_loss": ([real(4, 3), real(4, 3)], lambda F, x, t: F.smooth_l1_loss(x, t, beta=0.7)),
    "huber_loss": ([real(4, 3), real(4, 3)], lambda F, x, t: F.huber_loss(x, t, delta=0.7)),
    "bce": ([chance(4, 3), chance(4, 3), chance(3)],
            lambda F, x, t, w: F.binary_cross_entropy(x, t, w.detach())),
    "bce logits": ([real(4, 3), chance(4, 3), chance(3), chance(3)],
                   lambda F, x, t, w, p: F.binary_cross_entropy_with_logits(
                       x, t, w.detach(), pos_weight=p.detach())),
    "bce logits plain": ([real(4, 3), chance(4, 3)],
                         lambda F, x, t: F.binary_cross_entropy_with_logits(
                             x, t, reduction="none")),
    "kl_div": ([real(4, 3), chance(4, 3)], lambda F, x, t: F.kl_div(x, t, reduction="batchmean")),
    "kl_div log": ([real(4, 3), real(4, 3)],
                   lambda F, x, t: F.kl_div(x, t, reduction="sum", log_target=True)),
    "relu": ([real(4, 3)], lambda F, x: F.relu(x)),
    "relu inplace": ([real(4, 3)], lambda F, x: F.relu(x * 1.5, inplace=True)),
    "leaky_relu": ([real(4, 3)], lambda F, x: F.leaky_relu(x, 0.2)),
    "elu": ([real(4, 3)], lambda F, x: F.elu(x, 0.5)),
    "elu inplace": ([real(4, 3)], lambda F, x: F.elu(x * 1.5, inplace=True)),
    "gelu": ([real(4, 3)], lambda F, x: F.gelu(x)),
    "gelu tanh": ([real(4, 3)], lambda F, x: F.gelu(x, approximate="tanh")),
    "silu": ([real(4, 3)], lambda F, x: F.silu(x)),
    "mish": ([real(4, 3)], lambda F, x: F.mish(x)),
    "softplus": ([real(4, 3)], lambda F, x: F.softplus(x, 2.0, 1.5)),
    "pad reflect": ([real(2, 2, 4, 3)], lambda F, x: F.pad(x, (2, -1, 0, 3), mode="reflect")),
    "pad replicate": ([real(2, 4, 3)], lambda F, x: F.pad(x, (-1, 4, 2, 1), mode="replicate")),
    "pad circular": ([real(2, 2, 4, 3)], lambda F, x: F.pad(x, (2, -1, 3, 1), mode="circular")),
    "selu": ([real(4, 3)], lambda F, x: F.selu(x)),
    "celu": ([real(4, 3)], lambda F, x: F.celu(x, 0.7)),
    "glu": ([real(4, 6)], lambda F, x: F.glu(x)),
    "hardtanh": ([real(4, 3)], lambda F, x: F.hardtanh(x, -0.5, 0.7)),
    "relu6": ([real(4, 3) * 5], lambda F, x: F.relu6(x)),
    "hardswish": ([real(4, 3) * 3], lambda F, x: F.hardswish(x)),
    "prelu": ([real(4, 3), chance(3)], lambda F, x, w: F.prelu(x, w)),
    "logsigmoid": ([real(4, 3)], lambda F, x: F.logsigmoid(x)),
    "softmax": ([real(4, 3)], lambda F, x: F.softmax(x, dim=-1)),
    "log_softmax": ([real(4, 3)], lambda F, x: F.log_softmax(x, 0)),
    "softmin": ([real(4, 3)], lambda F, x: F.softmin(x, 1)),
    "normalize": ([real(4, 3)], lambda F, x: F.normalize(x, dim=-1)),
}


def derivatives(package: Any, arrays: list[np.ndarray], compute: Callable[..., Any]) -> list[Any]:
    """Return the value, its gradients and the gradients of those, as NumPy arrays or None."""
    inputs = [package.from_numpy(np.array(a)) for a in arrays]
    inputs = [t.requires_grad_() if t.is_floating_point() else t for t in inputs]
    wanted = [t for t in inputs if t.requires_grad]
    value = compute(package.nn.functional, *inputs)
    found = [value]
    if wanted:
        weights = package.from_numpy(np.cos(np.arange(value.numel())).reshape(tuple(value.shape)))
        first = package.autograd.grad((value * weights).sum(), wanted, create_graph=True,
                                      allow_unused=True)
        found += first
        total = sum((g * g).sum() for g in first if g is not None)
        if total.requires_grad:
            found += package.autograd.grad(total, wanted, allow_unused=True)
    return [None if t is None else t.detach().numpy() for t in found]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_pytorch(name: str) -> None:
    arrays, compute = CASES[name]
    ours, theirs = (derivatives(package, arrays, compute) for package in (minigrad, torch))
    for place, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        if other is None or mine is None:
            rest = mine if other is None else other
            assert rest is None or not rest.any(), f"result {place}"
            continue
        assert mine.dtype == other.dtype
        np.testing.assert_allclose(mine, other, rtol=1e-7, atol=1e-8, err_msg=f"result {place}")
    for rest in ours[len(theirs):] + theirs[len(ours):]:
        assert rest is None or not rest.any()


@pytest.mark.parametrize("name", CASES)
def test_a_graph_of_the_backward_pass_changes_no_gradient(name: str) -> None:
    arrays, compute = CASES[name]
    inputs = [minigrad.from_numpy(np.array(a)) for a in arrays]
    wanted = [t.requires_grad_() for t in inputs if t.is_floating_point()]
    if not wanted:
        return
    results = []
    for create_graph in (False, True):
        loss = (compute(minigrad.nn.functional, *inputs) ** 2).sum()
        results.append(minigrad.autograd.grad(loss, wanted, create_graph=create_graph,
                                              allow_unused=True))
    for plain, recorded in zip(*results, strict=True):
        if plain is None:
            assert recorded is None
        else:
            np.testing.assert_allclose(plain.numpy(), recorded.detach().numpy(), rtol=1e-9,
                                       atol=1e-12)


def test_max_pool_indices_count_within_the_plane() -> None:
    x = distinct(2, 3, 6, 6)
    for package in (minigrad, torch):
        t = package.from_numpy(x)
        values, indices = package.nn.functional.max_pool2d(t, 3, 2, 1, return_indices=True)
        assert (t.reshape(2, 3, -1).gather(2, indices.reshape(2, 3, -1)).reshape(values.shape)
                == values).all()


ERRORS: dict[str, Callable[[Any, Any], Any]] = {
    "conv channels": lambda t, F: F.conv2d(t.ones(1, 2, 5, 5), t.ones(4, 3, 3, 3)),
    "conv dims": lambda t, F: F.conv2d(t.ones(3), t.ones(4, 3, 3, 3)),
    "conv kernel": lambda t, F: F.conv2d(t.ones(1, 3, 2, 2), t.ones(4, 3, 3, 3)),
    "conv bias": lambda t, F: F.conv2d(t.ones(1, 3, 4, 4), t.ones(4, 3, 3, 3), t.ones(3)),
    "conv groups": lambda t, F: F.conv2d(t.ones(1, 4, 4, 4), t.ones(3, 2, 3, 3), groups=2),
    "conv same stride": lambda t, F: F.conv2d(t.ones(1, 3, 4, 4), t.ones(4, 3, 3, 3), stride=2,
                                              padding="same"),
    "conv padding": lambda t, F: F.conv2d(t.ones(1, 3, 4, 4), t.ones(4, 3, 3, 3), padding=-1),
    "conv stride": lambda t, F: F.conv2d(t.ones(1, 3, 4, 4), t.ones(4, 3, 3, 3), stride=0),
    "pool too small": lambda t, F: F.max_pool2d(t.ones(1, 1, 2, 2), 3),
    "pool padding": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=2),
    "pool kernel": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 0),
    "avg divisor": lambda t, F: F.avg_pool2d(t.ones(1, 1, 4, 4), 2, divisor_override=0),
    "batch norm one value": lambda t, F: F.batch_norm(t.ones(1, 3), None, None, training=True),
    "batch norm size": lambda t, F: F.batch_norm(t.ones(2, 3), t.ones(2), t.ones(3)),
    "layer norm": lambda t, F: F.layer_norm(t.ones(2, 3), (4,)),
    "rms norm": lambda t, F: F.rms_norm(t.ones(2, 3), (4,)),
    "rms norm weight": lambda t, F: F.rms_norm(t.ones(2, 3), (3,), t.ones(2)),
    "rms norm nothing": lambda t, F: F.rms_norm(t.ones(2, 3), ()),
    "rms norm dtype": lambda t, F: F.rms_norm(t.ones(2, 3).long(), (3,)),
    "layer norm weight": lambda t, F: F.layer_norm(t.ones(2, 3), (3,), t.ones(2)),
    "target": lambda t, F: F.cross_entropy(t.ones(2, 3), t.tensor([1, 3])),
    "target batch": lambda t, F: F.cross_entropy(t.ones(2, 3), t.tensor([1])),
    "target dims": lambda t, F: F.nll_loss(t.ones(2, 3), t.tensor([[1], [1]])),
    "target weight": lambda t, F: F.nll_loss(t.ones(2, 3), t.tensor([1, 1]), t.ones(2)),
    "target dtype": lambda t, F: F.nll_loss(t.ones(2, 3), t.ones(2)),
    "reduction": lambda t, F: F.mse_loss(t.ones(2), t.ones(2), reduction="all"),
    "bce range": lambda t, F: F.binary_cross_entropy(t.tensor([1.5]), t.tensor([1.0])),
    "bce sizes": lambda t, F: F.binary_cross_entropy(t.ones(2), t.ones(3)),
    "bce logits sizes": lambda t, F: F.binary_cross_entropy_with_logits(t.ones(2), t.ones(3)),
    "embedding index": lambda t, F: F.embedding(t.tensor([3]), t.ones(3, 2)),
    "embedding padding": lambda t, F: F.embedding(t.tensor([0]), t.ones(3, 2), padding_idx=3),
    "one hot": lambda t, F: F.one_hot(t.tensor([3]), 3),
    "one hot negative": lambda t, F: F.one_hot(t.tensor([-1]), 3),
    "one hot dtype": lambda t, F: F.one_hot(t.tensor([1.0]), 3),
    "dropout": lambda t, F: F.dropout(t.ones(2), 1.5),
    "pad odd": lambda t, F: F.pad(t.ones(2), (1,)),
    "pad long": lambda t, F: F.pad(t.ones(2), (1, 1, 1, 1)),
    "pad reflect": lambda t, F: F.pad(t.ones(1, 1, 2), (2, 2), mode="reflect"),
    "glu": lambda t, F: F.glu(t.ones(3)),
    "linear": lambda t, F: F.linear(t.ones(2, 3), t.ones(4, 5), t.ones(4)),
    "pool steps 1d": lambda t, F: F.max_pool1d(t.ones(1, 1, 2), 3),
    "avg pool steps 1d": lambda t, F: F.avg_pool1d(t.ones(1, 1, 2), 3),
    "pool stride": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, 0),
    "pool kernel only": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 0, 1),
    "pool negative": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, padding=-1),
    "pool dilation": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, dilation=0),
    "pool dims": lambda t, F: F.max_pool2d(t.ones(2), 2),
    "pool dims 1d": lambda t, F: F.max_pool1d(t.ones(2), 2),
    "pool kernel tuple": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), (1, 2, 3)),
    "pool stride tuple": lambda t, F: F.max_pool2d(t.ones(1, 1, 4, 4), 2, (1, 2, 3)),
    "pool no channels": lambda t, F: F.max_pool2d(t.ones(1, 0, 4, 4), 2),
    "pool kernel 1d": lambda t, F: F.max_pool1d(t.ones(1, 1, 4), 0),
    "pool padding 1d": lambda t, F: F.max_pool1d(t.ones(1, 1, 4), 2, padding=2),
    "avg dims 1d": lambda t, F: F.avg_pool1d(t.ones(2), 2),
    "adaptive dims": lambda t, F: F.adaptive_avg_pool2d(t.ones(2), 2),
    "adaptive max dims": lambda t, F: F.adaptive_max_pool2d(t.ones(2), 2),
    "adaptive sizes": lambda t, F: F.adaptive_avg_pool2d(t.ones(1, 1, 4, 4), (1, 2, 3)),
    "conv weight dtype": lambda t, F: F.conv2d(t.ones(1, 1, 4, 4),
                                               t.ones(1, 1, 2, 2, dtype=t.float64)),
    "conv bias dtype": lambda t, F: F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2),
                                             t.ones(1, dtype=t.float64)),
    "conv stride tuple": lambda t, F: F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), None,
                                               (1, 2, 3)),
    "conv dilation": lambda t, F: F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), dilation=0),
    "conv no groups": lambda t, F: F.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), groups=0),
    "chances dtype": lambda t, F: F.cross_entropy(t.ones(2, 3), t.ones(2, 3).long()),
    "target sizes": lambda t, F: F.cross_entropy(t.ones(2, 3, 4), t.ones(2, 5).long()),
    "target for one": lambda t, F: F.nll_loss(t.ones(3), t.ones(2).long()),
    "target for none": lambda t, F: F.nll_loss(t.tensor(1.0), t.ones(2).long()),
    "target spatial": lambda t, F: F.nll_loss(t.ones(2, 3, 4, 5), t.ones(2, 4).long()),
    "bce dtype": lambda t, F: F.binary_cross_entropy(t.ones(2), t.ones(2).double()),
    "mse dtype": lambda t, F: F.mse_loss(t.ones(2).long(), t.ones(2).long()),
    "batch norm dims": lambda t, F: F.batch_norm(t.ones(3), None, None, training=True),
    "batch norm eval": lambda t, F: F.batch_norm(t.ones(3, 2), None, None),
    "layer norm empty": lambda t, F: F.layer_norm(t.ones(3), ()),
    "linear vector": lambda t, F: F.linear(t.ones(2), t.ones(3, 3)),
    "embedding dtype": lambda t, F: F.embedding(t.ones(2), t.ones(3, 2)),
    "embedding table": lambda t, F: F.embedding(t.tensor([1]), t.ones(3)),
    "pad circular": lambda t, F: F.pad(t.ones(1, 1, 2), (3, 0), mode="circular"),
    "pad reflect dims": lambda t, F: F.pad(t.ones(2), (1, 1), mode="reflect"),
    "pad narrow": lambda t, F: F.pad(t.ones(2), (-3, 0)),
    "pad reflect 2d": lambda t, F: F.pad(t.ones(1, 1, 3, 2), (1, 1, 3, 0), mode="reflect"),
    "pad reflect 3d": lambda t, F: F.pad(t.ones(1, 3, 2, 2), (1, 1, 0, 2, 0, 3), mode="reflect"),
    "pad replicate away": lambda t, F: F.pad(t.ones(1, 1, 3), (-2, -1), mode="replicate"),
    "pad replicate nothing": lambda t, F: F.pad(t.ones(1, 1, 0), (1, 1), mode="replicate"),
    "pad circular away": lambda t, F: F.pad(t.ones(1, 1, 3), (-2, -2), mode="circular"),
    "pad mode": lambda t, F: F.pad(t.ones(1, 1, 2), (1, 1), mode="other"),
    "pad value": lambda t, F: F.pad(t.ones(1, 1, 2), (1, 1), mode="reflect", value=3.0),
    "label smoothing": lambda t, F: F.cross_entropy(t.ones(2, 3), t.tensor([1, 1]),
                                                    label_smoothing=2.0),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_pytorch(name: str) -> None:
    with pytest.raises(Exception) as theirs:
        ERRORS[name](torch, torch.nn.functional)
    with pytest.raises(type(theirs.value)) as ours:
        ERRORS[name](minigrad, minigrad.nn.functional)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


def test_logits_stay_finite_where_probabilities_would_not() -> None:
    x = minigrad.tensor([-1e4, 1e4], requires_grad=True)
    loss = minigrad.nn.functional.binary_cross_entropy_with_logits(x, minigrad.tensor([0.0, 1.0]))
    loss.backward()
    assert loss.item() == 0.0
    assert x.grad.tolist() == [0.0, 0.0]


def test_node_names() -> None:
    F = minigrad.nn.functional
    image = minigrad.ones(1, 1, 4, 4, requires_grad=True)
    names = {
        "ConvolutionBackward0": F.conv2d(image, minigrad.ones(1, 1, 3, 3)),
        "MaxPool2DWithIndicesBackward": F.max_pool2d(image, 2),
        "AvgPool2DBackward": F.avg_pool2d(image, 2),
        "AdaptiveAvgPool2DBackward": F.adaptive_avg_pool2d(image, 2),
        "MeanBackward1": F.adaptive_avg_pool2d(image, 1),
        "NativeBatchNormBackward": F.batch_norm(image, None, None, training=True),
        "NativeGroupNormBackward": F.group_norm(image, 1),
        "Im2ColBackward": F.unfold(image, 2),
        "Col2ImBackward": F.fold(image[0], (2, 2), (1, 1)),
        "MaxUnpool2DBackward": F.max_unpool2d(
            image, minigrad.arange(16).reshape(1, 1, 4, 4), 2),
        "AddmmBackward": F.linear(image[0, 0], minigrad.ones(2, 4), minigrad.ones(2)),
        "NllLossBackward": F.cross_entropy(image[0, 0], minigrad.zeros(4, dtype=minigrad.int64)),
        "MseLossBackward": F.mse_loss(image, image.detach()),
    }
    assert {t.grad_fn.name() for t in names.values()} == names.keys()


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("ignore_index", [-100, 1])
@pytest.mark.parametrize(("dtype", "numbers"), [
    ("int64", [0, 1, 2, 0]), ("int64", [0, -100, 2, 1]), ("int64", [3, 0, 1, 2]),
    ("int64", [-1, 0, 1, 2]), ("int64", [-(2**63), 0, 1, 2]), ("int64", [1, 1, 1, 1]),
    ("uint8", [0, 1, 2, 0]), ("uint8", [255, 0, 1, 2]),
])
def test_classes_at_both_ends_of_what_is_allowed(dtype: str, numbers: list[int],
                                                 ignore_index: int, step: int) -> None:
    scores, found = real(4, 3), []
    for package in (torch, minigrad):
        x = package.tensor(scores, requires_grad=True)
        target = package.tensor(numbers, dtype=getattr(package, dtype))[::step]
        try:
            loss = package.nn.functional.cross_entropy(x[::step], target, ignore_index=ignore_index)
            loss.backward()
        except IndexError as error:  # of bytes PyTorch 2.13 prints the character
            found.append(str(error).replace("\xff", "255"))
        else:
            found.append(np.array([*x.grad.flatten().tolist(), loss.item()]))
    theirs, ours = found
    if isinstance(theirs, str):
        assert ours == theirs
    else:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("expression", [
    "F.multi_margin_loss(t(1.0), t(0))",
    "F.multi_margin_loss(t(1.0), t(0), reduction='none')",
    "F.multilabel_margin_loss(t(1.0), t(0), reduction='none')",
    "F.multi_margin_loss(t([1.0, 2.0]), t([0, 1]))",
    "F.multi_margin_loss(t([[1.0, 2.0]]), t([[0]]))",
])
def test_margin_losses_of_one_class_and_of_wrong_targets(expression: str) -> None:
    found = []
    for library in (torch, minigrad):
        try:
            names = {"F": library.nn.functional, "t": library.tensor}
            found.append(eval(expression, names).tolist())
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("corners", [True, False])
@pytest.mark.parametrize("sizes", [{"size": (7, 3)}, {"size": (5, 8)}, {"scale_factor": 1.7},
                                   {"scale_factor": (0.5, 2.0)},
                                   {"scale_factor": 0.6, "recompute_scale_factor": True}], ids=str)
def test_bicubic_interpolation(sizes: Any, corners: bool) -> None:
    found = []
    for library in (torch, minigrad):
        x = library.linspace(-1, 2, 40, dtype=library.float64).reshape(1, 2, 5, 4) ** 3
        x.requires_grad_()
        y = library.nn.functional.interpolate(x, mode="bicubic", align_corners=corners, **sizes)
        (slope,) = library.autograd.grad((y**3).sum(), x, create_graph=True)
        (second,) = library.autograd.grad((slope * slope).sum(), x)
        found.append([each.detach().numpy() for each in (y, slope, second)])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("mode", "ndim"), [("nearest", 4), ("bilinear", 3), ("area", 4)])
def test_antialias_is_of_two_modes(mode: str, ndim: int) -> None:
    texts = []
    for library in (torch, minigrad):
        with pytest.raises(ValueError) as caught:
            library.nn.functional.interpolate(library.ones([2] * ndim), 3, mode=mode,
                                              antialias=True)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("corners", [True, False])
def test_pixels_are_rounded_not_cut(corners: bool, mode: str) -> None:
    pixels = RNG.integers(0, 256, (1, 2, 5, 4), dtype=np.uint8)
    theirs, ours = (library.nn.functional.interpolate(
        library.from_numpy(pixels), size=(7, 3), mode=mode, align_corners=corners)
        for library in (torch, minigrad))
    assert str(ours.dtype) == str(theirs.dtype)
    # PyTorch's weights are whole numbers of 16 bits.
    assert np.abs(ours.numpy().astype(int) - theirs.numpy().astype(int)).max() <= 1
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        minigrad.nn.functional.interpolate(minigrad.ones(1, 1, 2, dtype=minigrad.int64), size=3,
                                           mode="linear")


@pytest.mark.parametrize(("call", "shape"), [
    (lambda f, x: f.pixel_shuffle(x, 1), (2, 3, 3)),
    (lambda f, x: f.pixel_shuffle(x, 2), (4, 1, 1)),
    (lambda f, x: f.pixel_unshuffle(x, 1), (1, 2, 2)),
    (lambda f, x: f.pixel_unshuffle(x, 2), (1, 2, 2)),
])
def test_shuffled_pixels_are_a_tensor_of_their_own(call: Any, shape: tuple[int, ...]) -> None:
    x = minigrad.zeros(shape)
    result = call(minigrad.nn.functional, x)
    result.add_(1)
    assert x.sum() == 0
    theirs = call(torch.nn.functional, torch.zeros(shape))
    assert tuple(theirs.shape) == result.shape


def test_attention_without_features_weighs_all_keys_alike() -> None:
    q, k, v = minigrad.zeros(1, 2, 0), minigrad.zeros(1, 4, 0), minigrad.eye(4)[None]
    weights = minigrad.nn.functional.scaled_dot_product_attention(q, k, v)
    assert weights.tolist() == [[[0.25] * 4] * 2]
