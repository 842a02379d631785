"""Lazy modules: their shapes come from the first input or from a state, as in PyTorch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn

ROWS = [
    ("LazyLinear(2)", (5, 3)), ("LazyLinear(2, bias=False)", (4, 5, 3)),
    ("LazyConv1d(4, 3, padding=1)", (2, 3, 6)), ("LazyConv2d(4, (3, 2), groups=2)", (2, 2, 5, 4)),
    ("LazyConv3d(2, 2, bias=False)", (1, 3, 3, 3, 3)), ("LazyConv1d(4, 3)", (3, 6)),
    ("LazyConvTranspose1d(4, 3, 2)", (2, 3, 5)), ("LazyConvTranspose2d(4, 2)", (2, 3, 4, 4)),
    ("LazyConvTranspose3d(4, 2, groups=2, bias=False)", (1, 2, 2, 3, 3)),
    ("LazyBatchNorm1d()", (4, 3)), ("LazyBatchNorm2d(affine=False)", (2, 3, 4, 4)),
    ("LazyBatchNorm3d(track_running_stats=False)", (2, 3, 2, 2, 2)),
    ("LazyInstanceNorm1d()", (2, 3, 5)), ("LazyInstanceNorm2d(affine=False)", (2, 3, 4, 4)),
    ("LazyInstanceNorm3d(momentum=0.3)", (2, 3, 2, 2, 2)),
]


def names_of(package: Any) -> dict[str, Any]:
    """Return the names of `package.nn`, loaded."""
    return {name: getattr(package.nn, name) for name in dir(package.nn)}


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="parity needs PyTorch")


def story(package: Any, source: str, shape: tuple[int, ...]) -> list[Any]:
    """Return what a lazy module prints, is and computes, before and after its first call."""
    package.manual_seed(0)
    module = eval(source, names_of(package))
    seen: list[Any] = [repr(module), type(module).__module__.partition(".")[2]]
    seen += [(name, repr(p), p.dtype == package.float32) for name, p in module.named_parameters()]
    parameters = list(module.parameters())
    x = np.random.default_rng(0).standard_normal(shape)
    result = module.double()(package.from_numpy(x))
    assert all(a is b for a, b in zip(parameters, module.parameters(), strict=True))
    seen += [repr(module), type(module).__name__, result.detach().numpy()]
    return seen + [t.numpy() for t in module.state_dict().values()]


@pytest.mark.parametrize(("source", "shape"), ROWS)
def test_the_first_call_makes_it_the_ordinary_module(torch: Any, source: str,
                                                     shape: tuple[int, ...]) -> None:
    ours, theirs = story(minigrad, source, shape), story(torch, source, shape)
    assert len(ours) == len(theirs)
    for left, right in zip(ours, theirs, strict=True):
        if isinstance(left, np.ndarray):
            np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)
        else:
            assert left == right


def test_every_lazy_module_is_tried() -> None:
    assert {source.partition("(")[0] for source, _ in ROWS} == set(nn.lazy.__all__)


def network() -> nn.Sequential:
    return nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(),
                         nn.LazyLinear(2))


def test_an_optimizer_may_be_made_first() -> None:
    model = network()
    optimizer = minigrad.optim.SGD(model.parameters(), lr=0.1)
    model(minigrad.ones(2, 3, 6, 6)).sum().backward()
    before = model[4].bias.detach().clone()
    optimizer.step()
    assert (model[4].bias - before).tolist() == pytest.approx([-0.2, -0.2])


def test_a_state_gives_shapes_and_a_state_without_shapes_may_be_loaded() -> None:
    x, first, second = minigrad.ones(2, 3, 6, 6), network(), network()
    second.load_state_dict(first.state_dict())
    first(x)
    second.load_state_dict(first.state_dict())
    assert second[0].weight.shape == (4, 3, 3, 3)
    assert second.eval()(x).tolist() == first.eval()(x).tolist()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        first.load_state_dict(network().state_dict())


def test_copies_and_pickles_are_lazy_too() -> None:
    for made in (copy.deepcopy(network().double()), pickle.loads(pickle.dumps(network()))):
        assert repr(made[0].weight) == "<UninitializedParameter>"
        assert made.double()(minigrad.ones(2, 3, 6, 6).double()).shape == (2, 2)


@pytest.mark.parametrize("use", [
    lambda w: w + 1, lambda w: minigrad.add(w, w), lambda w: w.exp(), lambda w: w.sum(),
    lambda w: w.view(-1), lambda w: minigrad.zeros_like(w), lambda w: w.matmul(w)])
def test_a_parameter_without_a_shape_cannot_be_used(use: Any) -> None:
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        use(nn.LazyLinear(2).weight)


@pytest.mark.parametrize("source", [
    "LazyConv2d(4, 3)(torch.ones(3, 3))", "LazyConv2d(4, 3, groups=2)(torch.ones(1, 3, 4, 4))",
    "LazyLinear(2).weight.shape", "LazyLinear(2).weight.share_memory_()"])
def test_errors_are_those_of_pytorch(torch: Any, source: str) -> None:
    def fail(package: Any) -> Any:
        with pytest.raises(Exception) as raised:
            eval(source, {**names_of(package), "torch": package})
        return type(raised.value), str(raised.value)

    assert fail(minigrad) == fail(torch)
