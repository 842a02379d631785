"""`nn.utils.prune`: the same programs with minigrad and PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from tests.support.programs import assert_same, error, plain

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[run.__name__] = run
    return run


def told(layer: Any) -> list[Any]:
    """Return the members of a layer by kind, its state and its pre-hooks."""
    return [[n for n, _ in layer.named_parameters()], [n for n, _ in layer.named_buffers()],
            layer.state_dict(), [type(h).__name__ for h in layer._forward_pre_hooks.values()],
            layer.weight, type(layer.weight).__name__, layer.weight.requires_grad]


def trained(t: Any, layer: Any, x: Any) -> list[Any]:
    """Return outputs, gradients and members over two steps of training."""
    optimizer = t.optim.SGD(layer.parameters(), lr=0.1)
    found = []
    for _ in range(2):
        optimizer.zero_grad()
        out = layer(x)
        (out * out).mean().backward()
        found += [out, {k: p.grad for k, p in layer.named_parameters()}]
        optimizer.step()
    return [*found, *told(layer)]


def one_of_each(t: Any) -> list[Callable[[Any], Any]]:
    p = t.nn.utils.prune
    scores = t.linspace(2, 1, 12).reshape(4, 3)
    mask = t.arange(12).reshape(4, 3) % 2
    return [
        lambda m: p.identity(m, "weight"),
        lambda m: p.random_unstructured(m, "weight", 0.3),
        lambda m: p.random_unstructured(m, "weight", 2),
        lambda m: p.random_unstructured(m, "weight", 0),
        lambda m: p.l1_unstructured(m, "weight", 0.5),
        lambda m: p.l1_unstructured(m, "weight", 3, importance_scores=scores),
        lambda m: p.random_structured(m, "weight", 0.5, dim=0),
        lambda m: p.random_structured(m, "weight", 1, dim=-1),
        lambda m: p.ln_structured(m, "weight", 2, n=2, dim=0),
        lambda m: p.ln_structured(m, "weight", 0.3, n=float("-inf"), dim=1,
                                  importance_scores=scores),
        lambda m: p.ln_structured(m, "weight", 0, n=1, dim=-1),
        lambda m: p.custom_from_mask(m, "weight", mask),
    ]


@program
def each_alone(t: Any) -> Any:
    found = []
    for prune in one_of_each(t):
        layer = t.nn.Linear(3, 4)
        original = layer.weight
        assert prune(layer) is layer and layer.weight_orig is original
        found += [told(layer), t.nn.utils.prune.is_pruned(layer),
                  trained(t, layer, t.ones(2, 3))]
        assert t.nn.utils.prune.remove(layer, "weight") is layer and layer.weight is original
        found += [told(layer), t.nn.utils.prune.is_pruned(layer)]
    return found


@program
def one_after_another(t: Any) -> Any:
    found = []
    kinds = one_of_each(t)
    for first in kinds[1::2]:
        for second in kinds[::3]:
            layer = second(first(t.nn.Linear(3, 4)))
            found += [told(layer)]
            layer = kinds[4](layer)
            (hook,) = layer._forward_pre_hooks.values()
            found += [trained(t, layer, t.ones(2, 3)), len(hook),
                      [type(part).__name__ for part in hook], type(hook[0]).__name__]
    return found


@program
def convolutions(t: Any) -> Any:
    p, found = t.nn.utils.prune, []
    for dim in (0, 1, -1):
        layer = p.ln_structured(t.nn.Conv2d(4, 6, 3), "weight", 0.5, n=2, dim=dim)
        p.l1_unstructured(layer, "bias", 2)
        layer = p.random_structured(layer, "weight", 1, dim=0)
        found += [told(layer), layer.bias, layer(t.ones(1, 4, 4, 4))]
    return found


@program
def at_once(t: Any) -> Any:
    p, found = t.nn.utils.prune, []
    for method, options in ((p.L1Unstructured, {"amount": 0.4}),
                            (p.RandomUnstructured, {"amount": 5}),):
        net = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 2))
        pairs = [(net[0], "weight"), (net[2], "weight"), (net[2], "bias")]
        p.global_unstructured(pairs, pruning_method=method, **options)
        found += [net.state_dict(), p.is_pruned(net), net(t.ones(1, 3))]
        scores = {(net[0], "weight"): t.arange(12.0).reshape(4, 3)}
        p.global_unstructured(pairs, p.L1Unstructured, importance_scores=scores, amount=0.5)
        found += [net.state_dict(), net(t.ones(1, 3))]
    found += [error(lambda: p.global_unstructured(1, p.L1Unstructured, amount=1)),
              error(lambda: p.global_unstructured([], p.L1Unstructured, [1], amount=1)),
              error(lambda: p.global_unstructured(pairs, p.LnStructured, amount=1, n=2)),
              error(lambda: p.global_unstructured(pairs, p.L1Unstructured, amount=100))]
    return [text.partition(" of type")[0].partition("method <")[0] if isinstance(text, str)
            else text for part in found
            for text in (part if isinstance(part, list) else [part])]


@program
def tensors_alone(t: Any) -> Any:
    p, x, found = t.nn.utils.prune, t.arange(12.0).reshape(4, 3) - 5.25, []
    for method in (p.Identity(), p.RandomUnstructured(3), p.L1Unstructured(0.5),
                   p.RandomStructured(0.5), p.LnStructured(1, 2), p.LnStructured(1, 1, dim=0),
                   p.CustomFromMask(x > 0)):
        found += [method.prune(x), method.prune(x, default_mask=(x % 2 < 1).float()),
                  method.prune(x, importance_scores=-x), method.PRUNING_TYPE,
                  error(lambda method=method: method.prune(x, importance_scores=x[0]))]
    return found


@program
def a_method_of_ones_own(t: Any) -> Any:
    p = t.nn.utils.prune

    class EverySecond(p.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    class Odd(EverySecond):
        PRUNING_TYPE = "odd"

    class NoDim(EverySecond):
        PRUNING_TYPE = "structured"

    class Fails(EverySecond):
        def compute_mask(self, t, default_mask):
            raise KeyError("no mask")

    layer, found = t.nn.Linear(3, 4), []
    found += [error(lambda: Fails.apply(layer, "weight")), told(layer)]
    EverySecond.apply(layer, "weight")
    found += [told(layer)]
    EverySecond.apply(layer, "weight")
    found += [told(layer)]
    for kind in (Odd, NoDim, p.BasePruningMethod):
        layer = p.identity(t.nn.Linear(3, 4), "weight")
        found += [error(lambda kind=kind, layer=layer: kind.apply(layer, "weight"))[0],
                  layer.weight_mask]
    return found


@program
def containers(t: Any) -> Any:
    p = t.nn.utils.prune
    one, two = p.L1Unstructured(1), p.RandomUnstructured(1)
    one._tensor_name, two._tensor_name = "weight", "bias"
    container = p.PruningContainer(one)
    container.add_pruning_method(one)
    return [len(container), container[0] is one, list(container) == [one, one],
            error(lambda: container.add_pruning_method(1)),
            error(lambda: container.add_pruning_method(two))[0],
            len(p.PruningContainer())]


@program
def copies_and_states(t: Any) -> Any:
    p = t.nn.utils.prune
    layer = p.l1_unstructured(t.nn.Linear(3, 4), "weight", 0.5).requires_grad_(False)
    layer(t.ones(1, 3))
    layer.weight = layer.weight.detach()
    twin = copy.deepcopy(layer)
    twin.weight_orig.data.fill_(3.0)
    other = p.identity(t.nn.Linear(3, 4), "weight")
    return [twin(t.ones(1, 3)), layer(t.ones(1, 3)), told(twin),
            str(other.load_state_dict(layer.state_dict())), other(t.ones(1, 3)),
            error(lambda: t.nn.Linear(3, 4).load_state_dict(layer.state_dict()))]


@program
def errors(t: Any) -> Any:
    p, layer = t.nn.utils.prune, t.nn.Linear(3, 4)
    runs = [lambda: p.RandomUnstructured("1"), lambda: p.L1Unstructured(-1),
            lambda: p.LnStructured(1.5, 2), lambda: p.RandomStructured(-0.1),
            lambda: p.l1_unstructured(layer, "weight", 13),
            lambda: p.random_structured(layer, "weight", 5, dim=0),
            lambda: p.random_structured(layer, "bias", 1, dim=0),
            lambda: p.ln_structured(layer, "weight", 1, n=2, dim=2),
            lambda: p.ln_structured(layer, "weight", 5, n=2, dim=0),
            lambda: p.custom_from_mask(layer, "weight", t.ones(3)),
            lambda: p.l1_unstructured(layer, "weight", 1, importance_scores=t.ones(3)),
            lambda: p.l1_unstructured(layer, "nothing", 1),
            lambda: p.remove(layer, "weight"), lambda: p.remove(layer, "bias")]
    return [[error(run), told(layer)] for run in runs]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_pytorchs_results(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    pytest.importorskip("torch.nn.utils.prune", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(1)
        results.append(plain(PROGRAMS[name](package)))
    assert_same(*results)


def test_a_refused_amount_leaves_earlier_pruning_at_work() -> None:
    prune = minigrad.nn.utils.prune
    layer = prune.l1_unstructured(minigrad.nn.Linear(3, 1), "weight", 1)
    with pytest.raises(ValueError, match="non-negative integer"):
        prune.l1_unstructured(layer, "weight", -1)
    with pytest.raises(ValueError, match="should be smaller"):
        prune.l1_unstructured(layer, "weight", 9)
    assert prune.is_pruned(layer)
