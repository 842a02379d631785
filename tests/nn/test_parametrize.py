"""`nn.utils.parametrize` and `parametrizations`: the same programs with minigrad and PyTorch."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import minigrad
from minigrad import nn
from minigrad.autograd import gradcheck
from tests.support.programs import assert_same, error, plain

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[run.__name__] = run
    return run


def kinds(t: Any) -> dict[str, type]:
    """Return parametrizations of a package: what a user writes."""

    class Symmetric(t.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

        def right_inverse(self, a):
            return a.triu()

    class Double(t.nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, y):
            return y / 2

    class OneWay(t.nn.Module):
        def forward(self, x):
            return x.tanh()

    class Refuses(OneWay):
        def right_inverse(self, y):
            raise NotImplementedError

    class RankOne(t.nn.Module):
        def forward(self, x, y):
            return x.unsqueeze(-1) @ y.unsqueeze(-2)

        def right_inverse(self, z):
            return z[:, 0], z[0] / z[0, 0]

    class Gives(t.nn.Module):
        """Returns what it was made with, or what its functions make of the argument."""

        def __init__(self, forward=None, inverse=None):
            super().__init__()
            self.run, self.inverse = forward, inverse

        def forward(self, *xs):
            return self.run(*xs) if self.run else xs[0]

        def right_inverse(self, y):
            return self.inverse(y) if self.inverse else y

    return {k.__name__: k for k in (Symmetric, Double, OneWay, Refuses, RankOne, Gives)}


def square(t: Any) -> Any:
    return t.nn.Linear(3, 3)


def trained(t: Any, module: Any, x: Any, steps: int = 3) -> list[Any]:
    """Return outputs, gradients and state over some steps of training."""
    optimizer = t.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        out = module(x)
        (out * out).mean().backward()
        found += [out, {k: p.grad for k, p in module.named_parameters()}]
        optimizer.step()
    return [*found, module.state_dict(), [k for k, _ in module.named_buffers()]]


def inputs(t: Any, *shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    return t.linspace(-1, 1, count).reshape(shape)


@program
def one_original(t: Any) -> Any:
    P, found = t.nn.utils.parametrize, []
    for name in ("Symmetric", "Double", "OneWay", "Refuses"):
        layer = square(t)
        before = layer.weight
        assert P.register_parametrization(layer, "weight", kinds(t)[name]()) is layer
        assert layer.parametrizations.weight.original is before
        found += [repr(layer), P.is_parametrized(layer), P.is_parametrized(layer, "weight"),
                  P.is_parametrized(layer, "bias"), P.type_before_parametrizations(layer).__name__,
                  type(layer).__name__, layer.weight.requires_grad,
                  *trained(t, layer, inputs(t, 2, 3)),
                  error(lambda layer=layer: setattr(layer, "weight", t.ones(3, 3))), layer.weight]
    return found


@program
def several_parametrizations(t: Any) -> Any:
    P, K, layer = t.nn.utils.parametrize, kinds(t), square(t)
    layer.eval()
    for kind in (K["Symmetric"], K["Double"]):
        P.register_parametrization(layer, "weight", kind())
    P.register_parametrization(layer, "bias", K["Double"]())
    found = [repr(layer), [p.training for p in layer.modules()], *trained(t, layer, t.ones(2, 3))]
    layer.weight = t.ones(3, 3)
    found += [layer.weight, layer.parametrizations.weight.original, list(layer.state_dict())]
    original = layer.parametrizations.weight.original
    P.remove_parametrizations(layer, "weight")
    assert layer.weight is original
    found += [type(layer).__name__, repr(layer), list(layer.state_dict()), layer.weight]
    P.remove_parametrizations(layer, "bias", leave_parametrized=False)
    return [*found, type(layer).__name__, list(layer.state_dict()), layer.bias,
            hasattr(layer, "parametrizations")]


@program
def several_originals(t: Any) -> Any:
    P, K, layer = t.nn.utils.parametrize, kinds(t), square(t)
    P.register_parametrization(layer, "weight", K["RankOne"]())
    P.register_parametrization(layer, "weight", K["Double"]())
    found = [repr(layer), *trained(t, layer, inputs(t, 2, 3)),
             error(lambda: P.remove_parametrizations(layer, "weight", leave_parametrized=False))]
    layer.weight = t.ones(3, 3)
    found += [layer.weight, layer.state_dict()]
    P.remove_parametrizations(layer, "weight")
    return [*found, list(layer.state_dict()), layer.weight.is_leaf, type(layer.weight).__name__]


@program
def frozen_and_buffers(t: Any) -> Any:
    P, K, layer = t.nn.utils.parametrize, kinds(t), square(t)
    layer.register_buffer("scale", t.tensor([1.0, 2.0]))
    layer.register_buffer("pair", t.ones(2, 2))
    layer.weight.requires_grad_(False)
    P.register_parametrization(layer, "scale", K["Double"]())
    P.register_parametrization(layer, "pair", K["RankOne"]())
    P.register_parametrization(layer, "weight", K["RankOne"]())
    found = [list(layer.state_dict()), [k for k, _ in layer.named_buffers()], layer.scale,
             layer.pair, [p.requires_grad for p in layer.parameters()]]
    for name in ("scale", "pair", "weight"):
        P.remove_parametrizations(layer, name)
        found += [list(layer.state_dict()), [k for k, _ in layer.named_buffers()]]
    return [*found, repr(layer), layer.scale]


@program
def wrong_ones(t: Any) -> Any:
    P, make, found = t.nn.utils.parametrize, kinds(t)["Gives"], []
    wrong = [
        make(lambda x: x.double()), make(lambda x: x[0]), make(lambda x: 1),
        make(inverse=lambda y: y.double()), make(inverse=lambda y: 1),
        make(inverse=lambda y: [y, 1]), make(inverse=lambda y: {1: 2}),
        make(inverse=lambda y: y[0]), make(lambda x, y: x, inverse=lambda y: (y, y[0]))]
    for unsafe in (False, True):
        for first in (True, False):
            for one in wrong:
                layer = square(t)
                if not first:
                    P.register_parametrization(layer, "weight", kinds(t)["Double"]())
                found.append(error(lambda layer=layer, one=one, unsafe=unsafe:
                                   P.register_parametrization(layer, "weight", one,
                                                              unsafe=unsafe)))
                found += [P.is_parametrized(layer), list(layer.state_dict())]
    layer = square(t)
    found += [error(lambda: P.register_parametrization(layer, "nothing", make())),
              error(lambda: P.remove_parametrizations(layer, "weight")),
              error(lambda: P.ParametrizationList([], layer.weight))]
    return found


@program
def wrong_values(t: Any) -> Any:
    P, make, found = t.nn.utils.parametrize, kinds(t)["Gives"], []
    for forward, first, later in (
            (None, lambda y: y, [lambda y: 1, lambda y: y.double()]),
            (lambda x, y: x, lambda y: (y, y),
             [lambda y: 1, lambda y: (y,), lambda y: (y, 1), lambda y: (y, y.double())])):
        for other in later:
            one, layer = make(forward, first), square(t)
            P.register_parametrization(layer, "weight", one)
            one.inverse = other
            found.append(error(lambda layer=layer: setattr(layer, "weight", t.ones(3, 3))))
            found.append(error(lambda layer=layer: setattr(
                layer, "weight", t.nn.Parameter(t.ones(3, 3)))))
    return found


@program
def caching(t: Any) -> Any:
    P, calls, layer = t.nn.utils.parametrize, [], square(t)
    one = kinds(t)["Gives"](lambda x: calls.append(1) or 2 * x)
    P.register_parametrization(layer, "weight", one)
    calls.clear()
    with P.cached():
        with P.cached():
            same = layer.weight is layer.weight
        layer.weight.sum().backward()
        found = [same, len(calls), layer.weight]
    return [*found, layer.weight is layer.weight, len(calls),
            layer.parametrizations.weight.original.grad]


@program
def copies_and_states(t: Any) -> Any:
    P, K, layer = t.nn.utils.parametrize, kinds(t), square(t)
    P.register_parametrization(layer, "weight", K["RankOne"]())
    twin = copy.deepcopy(layer)
    twin.parametrizations.weight.original0.data.fill_(2.0)
    other = P.register_parametrization(square(t), "weight", K["RankOne"]())
    found = [layer.weight, twin.weight, repr(twin),
             str(other.load_state_dict(twin.state_dict())), other.weight]
    P.remove_parametrizations(other, "weight")
    return [*found, P.is_parametrized(layer), P.is_parametrized(twin), twin(t.ones(1, 3)),
            error(lambda: copy.copy(layer)), error(lambda: layer.__getstate__())]


@program
def moved_to_another_module(t: Any) -> Any:
    P, K, found = t.nn.utils.parametrize, kinds(t), []
    for name in ("Double", "RankOne"):
        layer = P.register_parametrization(square(t), "weight", K[name]())
        P.register_parametrization(layer, "bias", K["Double"]())
        other = P.transfer_parametrizations_and_params(layer, square(t))
        bare = P.transfer_parametrizations_and_params(layer, t.nn.Module(), "weight")
        plain_one = square(t)
        assert P.transfer_parametrizations_and_params(plain_one, other) is other
        found += [repr(other), other.weight, other.bias, bare.weight, list(bare.state_dict())]
    return found


@program
def weight_norm(t: Any) -> Any:
    found, norm = [], t.nn.utils.parametrizations.weight_norm
    for layer, options, shape in (
            (t.nn.Linear(3, 4), {}, (2, 3)), (t.nn.Linear(3, 4), {"dim": None}, (2, 3)),
            (t.nn.Conv2d(2, 3, 2), {"dim": 1}, (1, 2, 4, 3)),
            (t.nn.Linear(3, 4), {"name": "bias"}, (2, 3)),
            (t.nn.ConvTranspose1d(2, 3, 2), {"dim": -1}, (1, 2, 4))):
        assert norm(layer, **options) is layer
        found += [repr(layer), *trained(t, layer, inputs(t, *shape))]
        t.nn.utils.parametrize.remove_parametrizations(layer, options.get("name", "weight"))
        found += [list(layer.state_dict()), layer(inputs(t, *shape))]
    older = {"weight_g": t.full((4, 1), 2.0), "weight_v": t.ones(4, 3), "bias": t.zeros(4)}
    layer = norm(t.nn.Linear(3, 4))
    found += [str(layer.load_state_dict(older)), layer.weight,
              error(lambda: norm(t.nn.Linear(1, 1, bias=False), "bias"))]
    layer.weight = t.ones(4, 3)
    return [*found, layer.state_dict()]


@program
def spectral_norm(t: Any) -> Any:
    found, norm = [], t.nn.utils.parametrizations.spectral_norm
    for layer, options, shape in (
            (t.nn.Linear(3, 4), {}, (2, 3)), (t.nn.Linear(3, 4), {"dim": 1, "eps": 1e-6}, (2, 3)),
            (t.nn.Conv2d(2, 3, 2), {"n_power_iterations": 3, "dim": -1}, (1, 2, 4, 3)),
            (t.nn.Linear(3, 4), {"name": "bias"}, (2, 3)),
            (t.nn.ConvTranspose1d(2, 3, 2), {}, (1, 2, 4))):
        assert norm(layer, **options) is layer
        x = inputs(t, *shape)
        found += [repr(layer), *trained(t, layer, x), layer.eval()(x), layer.state_dict()]
    layer = norm(t.nn.Linear(3, 3))
    (layer(t.ones(3)).sum() + layer(t.ones(3)).sum()).backward()  # two forwards, one backward
    layer.weight = 2 * t.eye(3)
    return [*found, layer.parametrizations.weight.original.grad, layer.weight,
            error(lambda: norm(layer, "nothing")), error(lambda: norm(square(t), dim=2)),
            error(lambda: norm(square(t), n_power_iterations=0)),
            error(lambda: norm(t.nn.Linear(1, 1, bias=False), "bias"))]


@program
def orthogonal(t: Any) -> Any:
    found, make = [], t.nn.utils.parametrizations.orthogonal
    for sizes in ((3, 3), (4, 2), (2, 4)):
        for name in ("matrix_exp", "cayley", "householder", None):
            for trivial in (True, False):
                layer = make(t.nn.Linear(*sizes), orthogonal_map=name, use_trivialization=trivial)
                found += [repr(layer), *trained(t, layer, inputs(t, 2, sizes[0]))]
                wanted = t.zeros(sizes[1], sizes[0])
                wanted.diagonal().fill_(1.0)
                wanted[0, 0] = -1.0
                found.append(error(lambda layer=layer, w=wanted: setattr(layer, "weight", w)))
                found += [layer.weight[0] if layer.weight.shape[0] < layer.weight.shape[1] else 0]
    batch = t.nn.Module()
    batch.register_parameter("w", t.nn.Parameter(inputs(t, 2, 3, 2) ** 2))
    found.append(make(batch, "w").w)
    layer = make(t.nn.Linear(3, 3))
    layer.weight = t.eye(3)[[1, 0, 2]]
    return [*found, layer.weight, error(lambda: make(square(t), orthogonal_map="qr")),
            error(lambda: make(square(t), "bias")), error(lambda: make(square(t), "nothing")),
            error(lambda: setattr(layer, "weight", t.ones(2, 3)))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_pytorchs_results(name: str) -> None:
    torch = pytest.importorskip("torch", reason="parity needs PyTorch")
    results = []
    for package in (minigrad, torch):
        package.manual_seed(1)
        results.append(plain(PROGRAMS[name](package)))
    assert_same(*results)


def test_an_orthogonal_weight_stays_orthogonal_in_training() -> None:
    for name in ("matrix_exp", "cayley", "householder"):
        layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 4).double(),
                                                     orthogonal_map=name)
        trained(minigrad, layer, inputs(minigrad, 5, 3).double(), steps=5)
        weight = layer.weight
        assert minigrad.allclose(weight.T @ weight, minigrad.eye(3, dtype=weight.dtype))


def test_gradients_through_parametrizations_are_the_derivatives() -> None:
    known = nn.utils.parametrizations  # the householder map leaves signs on the diagonal alone
    for make in (known.weight_norm, known.spectral_norm,
                 lambda layer: known.orthogonal(layer, orthogonal_map="matrix_exp"),
                 lambda layer: known.orthogonal(layer, orthogonal_map="cayley")):
        layer = make(nn.Linear(3, 2).double()).eval()
        parameters = dict(layer.named_parameters())
        names = [key for key in parameters if "parametrizations" in key]
        assert names

        def out(*values: Any, layer=layer, names=names) -> Any:
            given = dict(zip(names, values, strict=True))
            return minigrad.func.functional_call(layer, given, minigrad.ones(1, 3).double())

        assert gradcheck(out, [parameters[key] for key in names])


def test_a_copy_within_cached_reads_its_own_weight() -> None:
    P = nn.utils.parametrize
    layer = P.register_parametrization(nn.Linear(1, 1), "weight", kinds(minigrad)["Double"]())
    twin = copy.deepcopy(layer)
    twin.parametrizations.weight.original.data.fill_(9.0)
    with P.cached():
        assert layer.weight.item() != 18.0
        assert twin.weight.item() == 18.0


@pytest.mark.slow
def test_they_are_read_when_a_program_asks_for_them() -> None:
    code = ("import sys, minigrad\n"
            "later = [f'minigrad.nn.utils.{n}' for n in ('parametrizations', 'parametrize',"
            " 'prune')]\n"
            "assert not set(later) & set(sys.modules)\n"
            "assert minigrad.nn.utils.prune.is_pruned and later[2] in sys.modules\n"
            "from minigrad.nn.utils import parametrizations\n"
            "assert set(later) <= set(sys.modules)\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        nn.utils.nothing
