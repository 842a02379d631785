"""Reductions into named places: values, ties, zeros, second derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.ops.indexing.scatter_reduce import SeveralZeros
from tests._oracle import assert_close, numerical_jacobian
from tests.support.engines import on_each_engine
from tests.support.parity import outcome

# PyTorch says so of `index_reduce`, the first time or, where tests want it, each time.
IN_BETA = "\nUserWarning: index_reduce() is in beta and the API may change at any time"
pytestmark = pytest.mark.filterwarnings(r"ignore:index_reduce\(\) is in beta")  # PyTorch's own

NAMES = ("scatter_reduce", "index_reduce")
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
WAYS = [(name, reduce, own) for name in NAMES for reduce in REDUCTIONS for own in (True, False)
        if (name, reduce) != ("index_reduce", "sum")]
every_way = pytest.mark.parametrize(("name", "reduce", "own"), WAYS)

PLACES = [0, 0, 2, 0]
#: What is reduced into, and what is reduced, with ties and with zeros.
POINTS = [([1, 2, 3, 4], [5, -1, 2, 3]), ([5, 2, 2, 1], [5, 5, 2, 4]), ([0, 2, 3, 1], [0, 4, 2, 3]),
          ([1, 2, 3, 1], [0, 0, 2, 5]), ([2, 2, 0, 1], [3, 0, 0, 5])]


def reducing(torch: Any, name: str, reduce: str, own: bool) -> Any:
    """Return the function of what is reduced into and what is reduced."""
    return lambda x, s: getattr(x, name)(0, torch.tensor(PLACES), s, reduce, include_self=own)


@on_each_engine
@every_way
def test_values_are_those_of_a_loop(torch, name, reduce, own):
    combine = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}
    for x, s in POINTS:
        expected = [float(value) for value in x]
        for place in set(PLACES):
            met = [value for at, value in zip(PLACES, s, strict=True) if at == place]
            expected[place] = float(combine[reduce](met + [x[place]] * own))
        for dtype in (torch.float64, torch.float32):
            found = reducing(torch, name, reduce, own)(torch.tensor(x, dtype=dtype),
                                                       torch.tensor(s, dtype=dtype))
            assert_close(found.numpy(), np.array(expected))
            assert found.dtype is dtype


@every_way
def test_gradients_at_ties_and_zeros_are_pytorchs(name, reduce, own):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for point in POINTS:
        found = []
        for engine in (minigrad, torch):
            leaves = [engine.tensor(v, dtype=engine.float64, requires_grad=True) for v in point]
            weights = engine.arange(1.0, 5, dtype=engine.float64)
            result = reducing(engine, name, reduce, own)(*leaves)
            firsts = engine.autograd.grad(result, leaves, weights, create_graph=True)
            found.append([t.detach().numpy() for t in firsts])
            plain = engine.autograd.grad(reducing(engine, name, reduce, own)(*leaves), leaves,
                                         weights)
            assert [t.tolist() for t in plain] == [t.tolist() for t in firsts]
        for ours, theirs in zip(*found, strict=True):
            assert_close(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reduce", ["amax", "amin"])
def test_a_tied_element_that_does_not_count_keeps_its_part_of_the_gradient(name, reduce):
    """As in PyTorch, where that part is lost; a tangent is the mean over what counts."""
    x = minigrad.tensor([7.0, 7, 7, 7], requires_grad=True)
    s = minigrad.tensor([7.0, 7, 7, 7], requires_grad=True)
    function = reducing(minigrad, name, reduce, False)
    function(x, s).sum().backward()
    assert x.grad.tolist() == [0, 1, 0, 1]
    assert s.grad.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2, 1 / 4])
    tangent = minigrad.func.jvp(function, (x.detach(), s.detach()), (
        minigrad.tensor([1.0, 2, 3, 4]), minigrad.tensor([10.0, 20, 30, 40])))[1]
    assert tangent.tolist() == pytest.approx([70 / 3, 2, 30, 4])


@every_way
def test_tangents_and_second_derivatives_are_slopes(name, reduce, own):
    function = reducing(minigrad, name, reduce, own)
    for point in POINTS[:1] + POINTS[2:3]:
        arrays = [np.array(v, np.float64) for v in point]
        if reduce != "prod":
            arrays[1] += 0.5  # where nothing is tied

        def on_arrays(*values: Any) -> Any:
            return function(*map(minigrad.tensor, values)).numpy()

        def gradients(*values: Any) -> Any:
            leaves = [minigrad.tensor(v, requires_grad=True) for v in values]
            result = (function(*leaves) ** 2).sum()
            return minigrad.autograd.grad(result, leaves, create_graph=True), leaves

        tensors = [minigrad.tensor(a) for a in arrays]
        directions = [np.arange(1.0, 5), np.arange(4.0, 0, -1)]
        _, tangent = minigrad.func.jvp(function, tuple(tensors),
                                       tuple(map(minigrad.tensor, directions)))
        jacobians = numerical_jacobian(on_arrays, arrays)
        wanted = sum(j @ d for j, d in zip(jacobians, directions, strict=True))
        assert_close(tangent.numpy(), wanted, atol=1e-6)
        for i in range(2):
            firsts, leaves = gradients(*arrays)
            seconds = minigrad.autograd.grad(firsts[i], leaves, minigrad.tensor(directions[0]),
                                             allow_unused=True, materialize_grads=True)
            slopes = numerical_jacobian(
                lambda *v, i=i: gradients(*v)[0][i].detach().numpy(), arrays)
            for found, slope in zip(seconds, slopes, strict=True):
                assert_close(found.numpy(), directions[0] @ slope, atol=1e-5, rtol=1e-5)


@on_each_engine
@pytest.mark.parametrize("name", NAMES)
def test_the_second_derivative_of_a_product_with_two_zeros_is_refused(torch, name):
    x, s = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    product = getattr(x, name)(0, torch.tensor([0, 0, 1]), s, "prod")
    slopes = torch.autograd.grad(product.sum(), (x, s), create_graph=True)
    assert [t.tolist() for t in slopes] == [[0, 0, 1], [0, 0, 1]]
    torch.autograd.grad(slopes[0].sum(), x, retain_graph=True)
    with pytest.raises(RuntimeError, match="Double backward is unsupported for s.* when >1 zeros"):
        torch.autograd.grad(slopes[1].sum(), s)


def test_tangents_pass_a_product_with_two_zeros():
    x, s, i = minigrad.ones(2), minigrad.tensor([0.0, 0.0]), minigrad.tensor([0, 0])
    _, tangent = minigrad.func.jvp(lambda s: x.scatter_reduce(0, i, s, "prod"), (s,),
                                   (minigrad.ones(2),))
    assert tangent.tolist() == [0, 0]
    assert SeveralZeros(s).tolist() == [0, 0]


@on_each_engine
@every_way
def test_examples_of_a_batch(torch, name, reduce, own):
    function = reducing(torch, name, reduce, own)
    x, s = (torch.tensor([point[i] for point in POINTS], dtype=torch.float64) for i in (0, 1))
    with pytest.warns(UserWarning) if (torch.__name__, name) == ("torch", NAMES[1]) else (
            pytest.MonkeyPatch.context()):  # PyTorch takes one after the other
        found = torch.func.vmap(function)(x, s)
        of_one = torch.func.vmap(function, (None, 0))(x[0], s)
    assert found.tolist() == [function(*pair).tolist() for pair in zip(x, s)]
    assert of_one.tolist() == [function(x[0], each).tolist() for each in s]


@every_way
def test_gradients_of_the_examples_of_a_batch(name, reduce, own):
    function = reducing(minigrad, name, reduce, own)
    x, s = (minigrad.tensor([point[i] for point in POINTS], dtype=minigrad.float64) for i in (0, 1))
    slope = minigrad.func.grad(lambda x, s: (function(x, s) ** 2).sum(), (0, 1))
    each = [slope(*pair) for pair in zip(x, s)]
    for found, rows in zip(minigrad.vmap(slope)(x, s), zip(*each, strict=True), strict=True):
        assert found.tolist() == [row.tolist() for row in rows]


@on_each_engine
@every_way
def test_in_place_and_into_one_element(torch, name, reduce, own):
    x, s = (torch.tensor(v, dtype=torch.float64) for v in POINTS[0])
    written = x.clone()
    wanted = reducing(torch, name, reduce, own)(x, s)
    assert reducing(torch, name + "_", reduce, own)(written, s) is written
    assert written.tolist() == wanted.tolist()
    turned = torch.stack([x, x], 1)[:, 1]
    assert reducing(torch, name + "_", reduce, own)(turned, s).tolist() == wanted.tolist()
    one = getattr(torch.tensor(2.0), name)(0, torch.tensor([0]), torch.tensor(3.0), reduce,
                                           include_self=own)
    assert one.tolist() == {"sum": 5, "prod": 6, "mean": 2.5, "amax": 3, "amin": 2}[reduce] or (
        not own and one.tolist() == 3)


EXPRESSIONS = """
x.int().scatter_reduce(0, i, s.int(), 'mean')
(-x.int()).index_reduce(0, i, s.int(), 'mean')
x.bool().scatter_reduce(0, i, s.bool(), 'sum')
m.bool().index_reduce(1, i, m.bool(), 'amax')
x.bool().scatter_reduce(0, i, s.bool(), 'amin')
x.bool().scatter_reduce(0, i, s.bool(), 'mean')
x.half().scatter_reduce(0, i, s.half(), 'mean')
torch.scatter_reduce(input=x, dim=0, index=i, src=s, reduce='sum')
x.scatter_reduce(0, i.int(), s, 'amin')
x.scatter_reduce(0, i[:2], s, 'mean')
x.scatter_reduce(0, i[:0], s, 'sum')
x[:0].scatter_reduce(0, i[:0], s[:0], 'sum')
x.index_reduce(0, i[:0], s[:0], 'mean')
m.index_reduce(1, i, m[:, :4], 'prod')
m.scatter_reduce(1, i.expand(2, 4), m, 'prod', include_self=False)
x.scatter_reduce(0, i, s, 'add')
x.scatter_reduce(0, i[:0], s[:0], 'nothing')
x.scatter_reduce(0, i, s.double(), 'sum')
x.scatter_reduce(0, i.short(), s, 'sum')
x.scatter_reduce(0, i + 2, s, 'sum')
x.scatter_reduce(0, -i - 1, s, 'sum')
x.scatter_reduce(1, i, s, 'sum')
x.scatter_reduce(0, i, s[:2], 'sum')
x.scatter_reduce(0, i[None], s, 'sum')
x.scatter_reduce_(0, i, x, 'amax')
x.index_reduce(0, i, s, 'sum')
x.index_reduce(0, i.short(), s, 'prod')
x.index_reduce(0, i[None], s, 'prod')
x.index_reduce(0, i, s.double(), 'prod')
x.index_reduce(2, i, s, 'prod')
x.index_reduce(0, i + 2, s, 'amax')
x.index_reduce(0, i - 1, s, 'amax')
x.index_reduce(0, i[:2], s, 'amax')
m.index_reduce(0, i, s, 'prod')
m.index_reduce(1, i, m[:1], 'prod')
x.index_reduce_(0, i, x, 'mean')
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_other_dtypes_and_what_is_refused(expression):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    ours, theirs = (outcome(engine, expression, x=engine.tensor([1.0, 2, 3, 4]),
                            s=engine.tensor([5.0, -1, 2, 3]), i=engine.tensor([0, 0, 2, 0]),
                            m=engine.arange(8.0).reshape(2, 4)) for engine in (minigrad, torch))
    assert ours.replace(IN_BETA, "") == theirs.replace(IN_BETA, "")
