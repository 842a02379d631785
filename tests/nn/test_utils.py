"""Clipping, vectors of parameters, weight and spectral norm: run with minigrad and PyTorch."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn
from tests.support.programs import assert_same, error, plain

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[run.__name__] = run
    return run


def with_gradients(t: Any) -> list[Any]:
    made = [t.arange(4.0).reshape(2, 2), t.ones(3), t.ones(())]
    parameters = [t.nn.Parameter(m) for m in made]
    for parameter, grad in zip(parameters[:2], (t.arange(4.0).reshape(2, 2) - 1, t.ones(3) * 2),
                               strict=True):
        parameter.grad = grad
    return parameters


@program
def clipping_by_norm(t: Any) -> Any:
    found = []
    for norm_type in (2.0, 1, 3, float("inf"), 0):
        for limit in (0.5, 100):
            parameters = with_gradients(t)
            total = t.nn.utils.clip_grad_norm_(parameters, limit, norm_type)
            found += [total, [p.grad for p in parameters[:2]]]
    one = with_gradients(t)[0]
    found += [t.nn.utils.clip_grad_norm_(one, 1.0), one.grad,
              t.nn.utils.clip_grad_norm_([], 1.0), t.nn.utils.get_total_norm([t.ones(3)])]
    one.grad.fill_(float("nan"))
    found.append(error(lambda: t.nn.utils.clip_grad_norm_(one, 1.0, error_if_nonfinite=True)))
    parameters = with_gradients(t)
    t.nn.utils.clip_grads_with_norm_(iter(parameters), 1.0, t.tensor(3.0))
    return [*found, [p.grad for p in parameters[:2]]]


@program
def clipping_by_value(t: Any) -> Any:
    parameters = with_gradients(t)
    t.nn.utils.clip_grad_value_(iter(parameters), 1.5)
    return [p.grad for p in parameters[:2]]


@program
def vectors(t: Any) -> Any:
    parameters = with_gradients(t)
    vector = t.nn.utils.parameters_to_vector(parameters)
    t.nn.utils.vector_to_parameters(vector.detach() * 2, parameters)
    return [vector, parameters, error(lambda: t.nn.utils.vector_to_parameters([1], parameters)),
            vector.requires_grad]


def weight_norms(t: Any) -> list[tuple[Any, dict[str, Any], tuple[int, ...]]]:
    return [(t.nn.Linear(3, 4), {}, (2, 3)), (t.nn.Linear(3, 4), {"dim": None}, (2, 3)),
            (t.nn.Conv2d(2, 3, 2), {"dim": 1}, (1, 2, 4, 3)),
            (t.nn.Linear(3, 4), {"name": "bias"}, (2, 3)),
            (t.nn.ConvTranspose1d(2, 3, 2), {"dim": -1}, (1, 2, 4))]


@program
def weight_norm(t: Any) -> Any:
    found = []
    for layer, options, shape in weight_norms(t):
        name = options.get("name", "weight")
        start = getattr(layer, name).detach().clone()
        assert t.nn.utils.weight_norm(layer, **options) is layer
        x = t.linspace(-1, 1, int(np.prod(shape))).reshape(shape).requires_grad_()
        out = layer(x)
        (out * out).sum().backward()
        found += [out, x.grad, {k: p.grad for k, p in layer.named_parameters()},
                  layer.state_dict(), getattr(layer, name) - start,
                  error(lambda layer=layer, options=options: t.nn.utils.weight_norm(
                      layer, **options))]
        t.nn.utils.remove_weight_norm(layer, name)
        found += [list(layer.state_dict()), layer(x), type(getattr(layer, name)).__name__,
                  error(lambda layer=layer, name=name: t.nn.utils.remove_weight_norm(layer, name))]
    return found


@program
def spectral_norm(t: Any) -> Any:
    found = []
    for layer, options, shape in ((t.nn.Linear(3, 4), {}, (2, 3)),
                                  (t.nn.Conv2d(2, 3, 2), {"n_power_iterations": 3}, (1, 2, 4, 3)),
                                  (t.nn.ConvTranspose1d(2, 3, 2), {"eps": 1e-6}, (1, 2, 4))):
        assert t.nn.utils.spectral_norm(layer, **options) is layer
        x = t.linspace(-1, 1, int(np.prod(shape))).reshape(shape).requires_grad_()
        for _ in range(2):
            out = layer(x)
            layer.zero_grad()
            (out * out).sum().backward()
            found += [out, x.grad, {k: p.grad for k, p in layer.named_parameters()}]
        found += [layer.eval()(x), layer.state_dict(),
                  error(lambda layer=layer: t.nn.utils.spectral_norm(layer))]
        t.nn.utils.remove_spectral_norm(layer)
        found += [list(layer.state_dict()), layer(x),
                  error(lambda layer=layer: t.nn.utils.remove_spectral_norm(layer))]
    found.append(error(lambda: t.nn.utils.spectral_norm(t.nn.Linear(1, 1), n_power_iterations=0)))
    found.append(error(lambda: t.nn.utils.spectral_norm(t.nn.Linear(1, 1, bias=False), "bias")))
    return found


# PyTorch's name for it is kept
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_pytorchs_results(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(1)
        results.append(plain(PROGRAMS[name](package)))
    assert_same(*results)


# PyTorch's name for it is kept
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
def test_a_copy_of_a_weight_normed_layer_stands_on_its_own() -> None:
    layer = nn.utils.weight_norm(nn.Linear(2, 2))
    layer = layer.eval().requires_grad_(False)
    layer(minigrad.ones(2))
    layer.weight = layer.weight.detach()
    twin = copy.deepcopy(layer)
    twin.weight_g.fill_(0)
    twin(minigrad.ones(2))
    assert not twin.weight.any()
    assert layer.weight.any()


def test_warnings() -> None:
    with pytest.warns(FutureWarning, match="weight_norm` is deprecated in favor of"):
        nn.utils.weight_norm(nn.Linear(1, 1))
    with pytest.warns(UserWarning, match="empty generator"):
        nn.utils.clip_grad_norm_(iter([]), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nn.utils.clip_grad_norm_([], 1.0)
