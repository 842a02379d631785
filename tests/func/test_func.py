"""minigrad.func: derivatives and batches that nest; the same lines run on PyTorch where it is."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import minigrad
from tests.support.engines import ENGINES, NAMES, on_each_engine
from tests.support.slow import slow_but_one_in

# PyTorch's own forward mode and `linearize` give these
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script:DeprecationWarning",
                                        "ignore:Attempted to insert a get_attr Node")

RNG = np.random.default_rng(3)
X, Y, W = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3)), RNG.normal(size=(3, 3))


def func(torch: ModuleType) -> Any:
    return __import__(torch.__name__ + ".func", fromlist=["func"])


def leaves(tree: Any) -> list[Any]:
    """Return the tensors of a nesting."""
    if isinstance(tree, (tuple, list)):
        return [a for part in tree for a in leaves(part)]
    if isinstance(tree, dict):
        return [a for key in tree for a in leaves(tree[key])]
    return [tree]


def values(tree: Any) -> list[Any]:
    """Return the arrays of a nesting."""
    return [tensor.detach().numpy() for tensor in leaves(tree)]


#: What is computed, given the engine, its `func` and three tensors: x, y (4, 3) and w (3, 3).
PROGRAMS: dict[str, Any] = {
    "grad": lambda t, f, x, y, w: f.grad(lambda x: (x @ w).tanh().sum())(x),
    "grad of several": lambda t, f, x, y, w: f.grad(
        lambda x, y, w: ((x * y) @ w).sin().sum(), argnums=(0, 2))(x, y, w),
    "grad of a dict": lambda t, f, x, y, w: f.grad(
        lambda p: (p["x"] @ p["w"]).exp().mean())({"x": x, "w": w}),
    "grad with aux": lambda t, f, x, y, w: f.grad(
        lambda x: ((x * y).sum(), x * 2), has_aux=True)(x),
    "grad and value": lambda t, f, x, y, w: f.grad_and_value(lambda x: (x * x * y).sum())(x),
    "grad of grad": lambda t, f, x, y, w: f.grad(
        lambda x: (f.grad(lambda x: (x**3).sum())(x) * y).sum())(x),
    "inner and outer kept apart": lambda t, f, x, y, w: f.grad(
        lambda x: (x * f.grad(lambda z: (z * x).sum())(y)).sum())(x),
    "vjp": lambda t, f, x, y, w: f.vjp(lambda x, w: x @ w, x, w)[1](y),
    "vjp of a tuple": lambda t, f, x, y, w: f.vjp(lambda x: (x * y, x.sum()), x)[1](
        (y, x.sum())),
    "jvp": lambda t, f, x, y, w: f.jvp(lambda x, w: (x @ w).tanh(), (x, w), (y, w)),
    "vmap of linear: vectors": lambda t, f, x, y, w: f.vmap(
        lambda x: t.nn.functional.linear(x, w, y[0]))(x),
    "vmap of linear: matrices": lambda t, f, x, y, w: f.vmap(
        lambda w: t.nn.functional.linear(y[0], w, y[1]))(t.stack([w, w.t()])),
    "vmap of linear: biases": lambda t, f, x, y, w: f.vmap(
        lambda b: t.nn.functional.linear(x[0], w, b))(y),
    "vmap of linear: all": lambda t, f, x, y, w: f.vmap(
        t.nn.functional.linear)(x[:3], t.stack([w, w.t(), w * w]), y[:3]),
    "vmap of vmap of linear": lambda t, f, x, y, w: f.vmap(lambda x: f.vmap(
        lambda b: t.nn.functional.linear(x, w, b))(y))(x),
    "vmap of linear: rows": lambda t, f, x, y, w: f.vmap(
        lambda x: t.nn.functional.linear(x, w, y[0]))(t.stack([x, y])),
    "gradients of linear for each": lambda t, f, x, y, w: f.vmap(f.grad(
        lambda w, b, x: t.nn.functional.linear(x, w, b).tanh().sum(), (0, 1, 2)),
        (None, None, 0))(w, y[0], x),
    "jacobians of linear for each": lambda t, f, x, y, w: f.vmap(f.jacrev(
        lambda x: t.nn.functional.linear(x.tanh(), w, y[0])))(x),
    "hessians of linear for each": lambda t, f, x, y, w: f.vmap(f.hessian(
        lambda x: t.nn.functional.linear(x, w, y[0]).tanh().sum()))(x),
    "jvp of linear for each": lambda t, f, x, y, w: f.vmap(lambda x, v: f.jvp(
        lambda x: t.nn.functional.linear(x, w, y[0]).tanh(), (x,), (v,)))(x, y),
    "vmap of addmm": lambda t, f, x, y, w: [f.vmap(
        lambda a, b, c: t.addmm(a, b, c, beta=0.5, alpha=2.0), dims)(*given)
        for dims, given in (((None, 0, None), (y[0], t.stack([x, y]), w)),
                            ((None, 0, None), (y, t.stack([x, x * 2]), w)),
                            ((0, None, None), (y, x, w)), ((0, None, None), (y[:, 0], x, w)),
                            ((0, 0, None), (y[:2], t.stack([x, y]), w)),
                            ((None, None, 0), (y[:1], x, t.stack([w, w.t()]))))],
    "vmap of addmv": lambda t, f, x, y, w: [f.vmap(
        lambda a, b, c: t.addmv(a, b, c, beta=0.5, alpha=2.0), dims)(*given)
        for dims, given in (((None, None, 0), (y[0], w, x)), ((0, None, 0), (y, w, x)),
                            ((0, None, None), (y, w, x[0])),
                            ((0, 0, None), (y[:2], t.stack([w, w.t()]), x[0])),
                            ((None, 0, 0), (y[0, 0], t.stack([w, w.t()]), x[:2])))],
    "grad of jvp": lambda t, f, x, y, w: f.grad(
        lambda x: f.jvp(lambda x: (x @ w).tanh(), (x,), (y,))[1].sum())(x),
    "jvp of grad": lambda t, f, x, y, w: f.jvp(
        f.grad(lambda x: (x @ w).tanh().sum()), (x,), (y,)),
    "jacrev": lambda t, f, x, y, w: f.jacrev(lambda w: (x @ w).tanh())(w),
    "jacrev of several": lambda t, f, x, y, w: f.jacrev(
        lambda x, w: (x @ w, (x * x).sum()), argnums=(0, 1))(x, w),
    "jacrev of a constant": lambda t, f, x, y, w: f.jacrev(lambda x: y * 2)(x),
    "jacrev in chunks": lambda t, f, x, y, w: f.jacrev(lambda w: (x @ w).tanh(), chunk_size=5)(w),
    "jacrev of a dict": lambda t, f, x, y, w: f.jacrev(
        lambda p: {"a": p["x"] * 2, "b": (p["x"] @ p["w"]).sum(0)})({"x": x, "w": w}),
    "jacfwd": lambda t, f, x, y, w: f.jacfwd(lambda w: (x @ w).tanh())(w),
    "jacfwd of several": lambda t, f, x, y, w: f.jacfwd(
        lambda x, w: (x @ w, (x * x).sum()), argnums=(0, 1))(x, w),
    "jacfwd with aux": lambda t, f, x, y, w: f.jacfwd(
        lambda w: ((x @ w).sin(), w + 1), has_aux=True)(w),
    "hessian": lambda t, f, x, y, w: f.hessian(lambda w: (x @ w).tanh().sum())(w),
    "hessian of several": lambda t, f, x, y, w: f.hessian(
        lambda x, w: ((x @ w) ** 3).sum(), argnums=(0, 1))(x[0], w),
    "jacrev of jacrev": lambda t, f, x, y, w: f.jacrev(f.jacrev(lambda x: (x @ w).sin()))(x[0]),
    "vmap": lambda t, f, x, y, w: f.vmap(lambda x, y: (x * y).sum())(x, y),
    "vmap with a shared input": lambda t, f, x, y, w: f.vmap(
        lambda x, w: (x @ w).tanh(), in_dims=(0, None))(x, w),
    "vmap along dimensions": lambda t, f, x, y, w: f.vmap(
        lambda x, w: w * x.sum(), in_dims=(1, 1), out_dims=1)(x, w),
    "vmap of negative dimensions": lambda t, f, x, y, w: f.vmap(
        lambda x: x.cumsum(0), in_dims=-1, out_dims=-1)(x),
    "vmap of nested inputs": lambda t, f, x, y, w: f.vmap(
        lambda p, w: p["x"] * p["y"][0] + w, in_dims=({"x": 0, "y": 0}, None))(
            {"x": x, "y": (y,)}, w[0]),
    "vmap with several outputs": lambda t, f, x, y, w: f.vmap(
        lambda x: (x, {"a": x.sum()}), out_dims=(1, 0))(x),
    "vmap with a constant output": lambda t, f, x, y, w: f.vmap(lambda x: w)(x),
    "vmap in chunks": lambda t, f, x, y, w: f.vmap(lambda x: x.softmax(0), chunk_size=3)(x),
    "vmap of vmap": lambda t, f, x, y, w: f.vmap(
        lambda x: f.vmap(lambda v: (v * x).sum())(w))(x),
    "vmap of vmap, crossed": lambda t, f, x, y, w: f.vmap(
        f.vmap(lambda a, b: a * b + b.sin(), (0, None)), (None, 0))(x, y),
    "vmap of indexing": lambda t, f, x, y, w: f.vmap(lambda x: x[[2, 0]] + x[1:].sum())(x),
    "vmap over indices": lambda t, f, x, y, w: f.vmap(lambda i: w[i])(
        t.tensor([[0, 1], [2, 2], [1, 0]])),
    "vmap of writes": lambda t, f, x, y, w: f.vmap(lambda x: x.clone().mul_(2).add_(x.sum()))(x),
    "vmap of a write to a part": lambda t, f, x, y, w: f.vmap(write_to_part)(x),
    "vmap of a write to something new": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda x: x.new_zeros((2, 3)).copy_(x * x).sum()))(x),
    "vmap of a write to parts of something new": lambda t, f, x, y, w: f.vmap(
        lambda x: write_first(x.new_full((2,), 3.0), x.sum()))(x),
    "vmap in vmap of something new": lambda t, f, x, y, w: f.vmap(f.vmap(
        lambda x: write_first(x.new_ones(2), x)))(x),
    "vmap of views": lambda t, f, x, y, w: f.vmap(
        lambda x: x.unsqueeze(0).expand(2, 3).t().reshape(-1))(x),
    "gradients of the examples": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda w, x, y: ((x @ w).tanh() - y).pow(2).sum()), in_dims=(None, 0, 0))(w, x, y),
    "gradients of the examples by two": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda w, x: ((x @ w) ** 2).sum(), argnums=(0, 1)), in_dims=(None, 0))(w, x),
    "class losses of the examples": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda w, x, y: t.nn.functional.cross_entropy(x @ w, y)), in_dims=(None, 0, 0))(
            w, x, t.tensor([0, 2, 1, 1])),
    "jacobians of the examples": lambda t, f, x, y, w: f.vmap(
        f.jacrev(lambda x: (x @ w).tanh()))(x),
    "forward jacobians of the examples": lambda t, f, x, y, w: f.vmap(
        f.jacfwd(lambda x: ((x @ w).tanh(), x.sum())))(x),
    "hessians of the examples": lambda t, f, x, y, w: f.vmap(
        f.hessian(lambda x: (x @ w).tanh().sum()))(x),
    "products of the examples": lambda t, f, x, y, w: f.vmap(
        lambda x, y: f.vjp(lambda x: (x @ w).sin(), x)[1](y)[0])(x, y),
    "many products in each example": lambda t, f, x, y, w: f.vmap(lambda x: (
        o := f.vjp(lambda w: (x @ w).sin(), w), f.vmap(lambda v: o[1](v)[0])(w))[1])(x),
    "many products in two levels": lambda t, f, x, y, w: f.vmap(lambda x: f.vmap(lambda y: (
        o := f.vjp(lambda w: (x @ w).sin() * y, w),
        f.vmap(lambda v: f.jvp(lambda w: y @ w.cos(), (w,), o[1](v)))(w))[1])(y))(x),
    "products in two levels of the same": lambda t, f, x, y, w: f.vmap(lambda x: (
        o := f.vjp(lambda x: (x * w).sin(), x),
        f.vmap(lambda v: f.vmap(lambda u: o[1](u * v)[0] * x)(w.expand(2, 3, 3)))(w))[1])(x),
    "a view of an input that the tangents share": lambda t, f, x, y, w: f.vmap(
        lambda v: f.jvp(lambda w: w.view(9).sin(), (w,), (v,)), 1)(t.stack([w, w * w], 1)),
    "tangents of a convolution": lambda t, f, x, y, w: f.vmap(lambda v: f.jvp(
        lambda x, w: t.nn.functional.conv1d(x.unsqueeze(1), w.unsqueeze(1), w[0], padding=1),
        (x, w), (y, v)))(t.stack([w, w * w])),
    "gradients of a convolution's tangent": lambda t, f, x, y, w: f.grad(lambda w: f.jvp(
        lambda x, b: t.nn.functional.conv1d(x.unsqueeze(1), w.unsqueeze(1), b),
        (x, w[0]), (y, w[1]))[1].sin().sum())(w),
    "tangents of the examples": lambda t, f, x, y, w: f.vmap(
        lambda x, y: f.jvp(lambda x: (x @ w).sin(), (x,), (y,)))(x, y),
    "gradient of vmap": lambda t, f, x, y, w: f.grad(
        lambda w: f.vmap(lambda x: (x @ w).sin().sum())(x).pow(2).sum())(w),
    "gradient of gradients of the examples": lambda t, f, x, y, w: f.grad(lambda w: f.vmap(
        f.grad(lambda x, w: (x @ w).sin().sum()), (0, None))(x, w).pow(2).sum())(w),
    "derivatives in two levels": lambda t, f, x, y, w: f.vmap(lambda x: f.vmap(
        lambda y: f.grad(lambda x: (x * y).sin().sum())(x))(y))(x),
    "jacobians in two levels": lambda t, f, x, y, w: f.vmap(lambda x: f.vmap(
        lambda y: f.jacrev(lambda x: (x * y).sin())(x))(y))(x),
    "detached in each example": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda x: (x.detach() * x).sum()))(x),
    "detached in place": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda x: ((x * x).detach_() * x).sum()))(x),
    "data of each example": lambda t, f, x, y, w: f.vmap(
        f.grad(lambda x: (x.data * x).sum()))(x),
    "detached inside vmap": lambda t, f, x, y, w: f.grad(
        lambda x: f.vmap(lambda x: (x.detach() * x).sum())(x).sum())(x),
    "detached in a hessian": lambda t, f, x, y, w: f.vmap(
        f.hessian(lambda x: (x.detach() * x * x).sum()))(x),
    "detached in a tangent": lambda t, f, x, y, w: f.vmap(
        lambda x, y: f.jvp(lambda x: x.detach() * x, (x,), (y,)))(x, y),
    "no_grad in a tangent": lambda t, f, x, y, w: f.jvp(
        lambda x: without_grad(t, x), (x,), (y,)),
    "no_grad in a jacobian": lambda t, f, x, y, w: f.vmap(
        f.jacfwd(lambda x: without_grad(t, x)))(x),
    "a write to what was saved, in a tangent": lambda t, f, x, y, w: f.jvp(
        lambda x: (c := x * 1.0, c.sin() * c.mul_(2).sum())[1], (x,), (y,)),
    "a write to the input of a tangent": lambda t, f, x, y, w: f.jvp(
        lambda x: x.mul_(2).sin_(), (x.clone(),), (y.clone(),)),
    "a tangent of value and gradient": lambda t, f, x, y, w: f.jvp(
        f.grad_and_value(lambda x: (x @ w).sin().sum()), (x,), (y,)),
    "a tangent of products": lambda t, f, x, y, w: f.jvp(
        lambda x: (o := f.vjp(lambda x: (x @ w).sin(), x), (o[0], o[1](y)))[1], (x,), (y,)),
    "a tangent of a tangent": lambda t, f, x, y, w: f.jvp(
        lambda x: f.jvp(lambda x: (x @ w).sin(), (x,), (y,)), (x,), (y,)),
    "a tangent of a vmap": lambda t, f, x, y, w: f.jvp(
        lambda w: f.vmap(lambda x: (x @ w).sin())(x), (w,), (w * w,)),
    "a forward jacobian of a forward jacobian": lambda t, f, x, y, w: f.jacfwd(
        f.jacfwd(lambda x: (x @ w).sin()))(x[0]),
    "a tangent shared by the examples": lambda t, f, x, y, w: f.vmap(
        lambda x: f.jvp(lambda x: (x @ w).sin_(), (x,), (y[0],)))(x),
    "an example shared by the tangents": lambda t, f, x, y, w: f.vmap(
        lambda y: f.jvp(lambda x: (x @ w).sin_(), (x[0],), (y,)))(y),
    "linearize": lambda t, f, x, y, w: (
        p := f.linearize(lambda x, w: {"a": x @ w, "b": (w.sin(),)}, x, w),
        (p[0], p[1](y, w), p[1](x, w * 2), f.vmap(lambda r: p[1](y, r))(t.stack([w, w]))))[1],
    "functional_call": lambda t, f, x, y, w: f.functional_call(
        t.nn.Linear(3, 3).double(), {"weight": w, "bias": w[0]}, (x,)),
    "ensembles": lambda t, f, x, y, w: ensemble(t, f, x, w),
    "convolutions of the examples": lambda t, f, x, y, w: f.vmap(f.grad(
        lambda k, x: t.nn.functional.conv1d(x.reshape(1, 1, 3), k).sin().sum()), (None, 0))(
            w[:2, :2].reshape(2, 1, 2), x),
}


def ensemble(torch: ModuleType, f: Any, x: Any, w: Any) -> Any:
    linear = torch.nn.Linear(3, 3).double()
    return f.vmap(lambda w: f.functional_call(linear, {"weight": w, "bias": w[0]}, (x,)))(
        torch.stack([w, w * 2]))


def without_grad(torch: ModuleType, x: Any) -> Any:
    with torch.no_grad():
        square = x * x
    return square * x


def write_first(new: Any, value: Any) -> Any:
    new[0] = value
    return new


def write_to_part(x: Any) -> Any:
    copy = x.clone()
    copy[1:] *= 3
    return copy


def run(torch: ModuleType, name: str) -> list[Any]:
    tensors = [torch.tensor(a) for a in (X, Y, W)]
    return values(PROGRAMS[name](torch, func(torch), *tensors))


#: What gives inputs back as they are.
INPUTS = {"vmap with several outputs", "vmap with a constant output"}
#: What inference mode forbids, and what PyTorch has zeros for.
EXCEPT = {"both": {"a write to the input of a tangent"},
          "torch": {"a write to the input of a tangent", "linearize"}}


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("name", slow_but_one_in(3, PROGRAMS))
@on_each_engine
def test_derivatives_are_taken_where_nothing_is_recorded(torch, name, mode):
    if mode == "inference_mode" and name in EXCEPT.get(torch.__name__, EXCEPT["both"]):
        pytest.skip("inference mode forbids it, or PyTorch has zeros")

    def tensors():
        return [torch.tensor(a, requires_grad=True) for a in (X, Y, W)]

    want = values(PROGRAMS[name](torch, func(torch), *tensors()))
    given = tensors()
    with getattr(torch, mode)():
        result = PROGRAMS[name](torch, func(torch), *given)
    for got, expected in zip(leaves(result), want, strict=True):
        assert not got.requires_grad or name in INPUTS
        np.testing.assert_allclose(got.detach().numpy(), expected)


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_with_pytorch(name: str) -> None:
    ours, theirs = run(minigrad, name), run(ENGINES[-1], name)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, 1e-10, 1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run(name: str) -> None:
    assert all(np.isfinite(a).all() for a in run(minigrad, name))


# -------------------------------------------------------------------- by hand


@on_each_engine
def test_examples_have_gradients_of_their_own(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    slopes = func(torch).vmap(func(torch).grad(lambda w, x: (w * x * x).sum()), (None, 0))(
        torch.ones(2), x)
    assert slopes.tolist() == [[1.0, 4.0], [9.0, 16.0]]


@on_each_engine
def test_a_result_has_a_graph_only_where_one_is_of_use(torch):
    f, x = func(torch), torch.tensor([1.0, 2.0])
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    assert not f.grad(lambda x: (x * x).sum())(x).requires_grad
    slope = f.grad(lambda x: (x * x * w).sum())(x)
    slope.sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]
    f.grad(lambda w: (w**3).sum())(w).sum().backward()
    assert w.grad.tolist() == [2.0 + 18.0, 4.0 + 24.0]
    assert not f.jacrev(lambda x: x * x)(x).requires_grad
    assert not f.jvp(f.grad(lambda x: (x**3).sum()), (x,), (x,))[1].requires_grad
    for taken in (lambda x: f.jvp(torch.sin, (x,), (x,)), lambda x: f.vjp(torch.sin, x)[:1],
                  f.grad_and_value(lambda x: x.sin())):
        assert not any(t.requires_grad for t in f.vmap(taken)(x))


@on_each_engine
def test_derivatives_are_taken_under_no_grad_too(torch):
    with torch.no_grad():
        assert func(torch).grad(lambda x: x**3)(torch.tensor(2.0)).item() == 12.0


@on_each_engine
def test_vmap_is_differentiable(torch):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    func(torch).vmap(lambda x: (x * w).sum())(torch.ones(3, 2)).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_value_and_grad_is_in_that_order():
    value, slope = minigrad.func.value_and_grad(lambda x: x * x)(minigrad.tensor(3.0))
    assert (value.item(), slope.item()) == (9.0, 6.0)


@on_each_engine
def test_functional_call_leaves_the_module_alone(torch):
    linear = torch.nn.Linear(2, 1)
    before = linear.weight
    with pytest.raises(RuntimeError):
        func(torch).functional_call(linear, {"weight": torch.ones(5, 7)}, (torch.ones(2),))
    assert linear.weight is before
    with pytest.raises(RuntimeError, match="Unexpected key"):
        func(torch).functional_call(linear, {"other": torch.ones(1)}, (torch.ones(2),),
                                    strict=True)


#: What is refused: the error, a part of its text and the program.
ERRORS: dict[str, Any] = {
    "dimension": (ValueError, "Got in_dim=5 for some input", lambda t, f, x: f.vmap(
        lambda x: x, in_dims=5)(x)),
    "structure": (ValueError, "not compatible with the structure of `inputs`",
                  lambda t, f, x: f.vmap(lambda x: x, in_dims=(0, 0))(x)),
    "kind of in_dims": (ValueError, "expected `in_dims` to be int or", lambda t, f, x: f.vmap(
        lambda x: x, in_dims="a")(x)),
    "no tensor": (ValueError, "We cannot vmap over non-Tensor arguments", lambda t, f, x: f.vmap(
        lambda x: x)(3)),
    "no input": (ValueError, "got no inputs", lambda t, f, x: f.vmap(lambda: x)()),
    "sizes": (ValueError, "got sizes \\[3, 2\\]", lambda t, f, x: f.vmap(lambda x, y: x)(
        x, t.ones(2))),
    "output": (ValueError, "must only return Tensors", lambda t, f, x: f.vmap(lambda x: 3)(x)),
    "out_dims": (IndexError, "Dimension out of range", lambda t, f, x: f.vmap(
        lambda x: x, out_dims=3)(x)),
    "structure of outputs": (ValueError, "not compatible with the structure of `outputs`",
                             lambda t, f, x: f.vmap(lambda x: x, out_dims=(0, 0))(x)),
    "a value": (RuntimeError, "calling .item\\(\\) on a Tensor", lambda t, f, x: f.vmap(
        lambda x: x.item())(t.ones(2))),
    "a decision": (RuntimeError, "vmap: It looks like", lambda t, f, x: f.vmap(
        lambda x: x if x > 0 else -x)(t.ones(2))),
    "random numbers": (RuntimeError, "randomness error mode", lambda t, f, x: f.vmap(
        lambda x: x + t.randn(2))(x)),
    "randomness": (RuntimeError, "Only allowed values for randomness", lambda t, f, x: f.vmap(
        lambda x: x, randomness="foo")(x)),
    "write to what is shared": (RuntimeError,
        "is not possible because|doesn't match", lambda t, f, x:
        f.vmap(lambda a, b: a.add_(b), (None, 0))(t.ones(2), x)),
    "vector": (RuntimeError, "Expected f\\(\\*args\\) to return a scalar", lambda t, f, x: f.grad(
        lambda x: x)(x)),
    "tuple": (RuntimeError, "to return a Tensor, got <class 'tuple'>", lambda t, f, x: f.grad(
        lambda x: (x, x))(x)),
    "argnum": (RuntimeError, "Got argnum=2, but only 1 positional inputs",
               lambda t, f, x: f.grad(lambda x: x.sum(), argnums=2)(x)),
    "argnums": (RuntimeError, "argnums must be int or Tuple\\[int, ...\\], got: <class 'float'>",
                lambda t, f, x: f.jacfwd(lambda x: x, argnums=0.5)(x)),
    "argnums twice": (RuntimeError, "must be unique, got \\(0, 0\\)",
                      lambda t, f, x: f.grad(lambda x: x.sum(), argnums=(0, -1))(x)),
    "no argnums": (RuntimeError, "argnums must be non-empty",
                   lambda t, f, x: f.grad(lambda x: x.sum(), argnums=())(x)),
    "integers": (RuntimeError, "must be floating-point or complex Tensors, got Tensor with dtype",
                 lambda t, f, x: f.vjp(lambda x: x.int(), x)),
    "jacobian of integers": (RuntimeError, "must be floating-point or complex Tensors, got Tensor",
                             lambda t, f, x: f.jacrev(lambda x: x.int())(x)),
    "order of cotangents": (RuntimeError, "Expected pytree structure of cotangents",
                            lambda t, f, x: f.vjp(lambda x: {"a": x, "b": x}, x)[1]([x, x])),
    "order of tangents": (RuntimeError, "to have the same python structure. For example",
                          lambda t, f, x: f.jvp(lambda d: d["a"] * d["b"], ({"a": x, "b": x},),
                                                ({"a": x, "c": x},))),
    "tangents": (RuntimeError, "to have the same python structure", lambda t, f, x: f.jvp(
        lambda x: x, (x,), [x])),
    "no primals": (RuntimeError, "Expected primals to contain at least one Tensor",
                   lambda t, f, x: f.jvp(lambda: x, (), ())),
    "primal": (RuntimeError, "Expected primals to only contain Tensors, got <class 'int'>",
               lambda t, f, x: f.jvp(lambda x: x, (3,), (x,))),
    "tangent": (RuntimeError, "Expected tangents to only contain Tensors, got <class 'int'>",
                lambda t, f, x: f.jvp(lambda x: x, (x,), (3,))),
    "no output": (RuntimeError, "non-empty output \\(got output = \\[\\]\\)",
                  lambda t, f, x: f.jvp(lambda x: (), (x,), (x,))),
    "independent": (RuntimeError, "independent of the inputs. This is not allowed with strict=True",
                    lambda t, f, x: f.jvp(lambda y: x, (x,), (x,), strict=True)),
    "size of a tangent": (RuntimeError, "different size than that of the original Tensor",
                          lambda t, f, x: f.jvp(lambda x: x, (x,), (x[0],))),
    "chunks of jacrev": (ValueError, "jacrev: `chunk_size` should be greater than 0",
                         lambda t, f, x: f.jacrev(lambda x: x, chunk_size=0)),
    "randomness of jacfwd": (RuntimeError, "Only allowed values for randomness are",
                             lambda t, f, x: f.jacfwd(lambda x: x, randomness="foo")(x)),
    "random numbers in jacfwd": (RuntimeError, "randomness error mode", lambda t, f, x: f.jacfwd(
        lambda x: x * t.rand(2))(x)),
    "tangents of linearize": (RuntimeError, "to have the same argspec as the primals",
                              lambda t, f, x: f.linearize(lambda x: x, x)[1](x, x)),
    "tangent's dtype of linearize": (RuntimeError, "tangent:0 with dtype torch.float64 in",
                                     lambda t, f, x: f.linearize(lambda x: x, x)[1](x.double())),
    "tangent's shape of linearize": (RuntimeError, "tangent:0 with shape torch.Size\\(\\[2\\]\\)",
                                     lambda t, f, x: f.linearize(lambda x: x, x)[1](x[0])),
    "input": (ValueError, "must be Tensor, got <class 'int'>", lambda t, f, x: f.grad(
        lambda x: x)(3)),
    "dtype": (RuntimeError, "floating point", lambda t, f, x: f.grad(lambda x: x.sum())(
        t.arange(3))),
}


@on_each_engine
@pytest.mark.parametrize("name", ERRORS)
def test_errors(torch, name):
    error, text, program = ERRORS[name]
    with pytest.raises(error, match=text):
        program(torch, func(torch), torch.ones(3, 2))


def test_random_numbers_may_be_the_examples_own():
    torch = minigrad
    dropped = torch.vmap(lambda x: torch.nn.functional.dropout(x, 0.5), randomness="different")(
        torch.ones(6, 100))
    assert len({tuple(row) for row in dropped.tolist()}) == 6
    shared = torch.vmap(lambda x: x * torch.rand(4), randomness="same")(torch.ones(3, 4))
    assert len({tuple(row) for row in shared.tolist()}) == 1


#: Numbers drawn beside what is batched, and noise.
DRAWN: dict[str, Any] = {
    "rand_like": lambda t, x: t.rand_like(x), "randn_like": lambda t, x: t.randn_like(x),
    "randint_like": lambda t, x: t.randint_like(x, 9),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.3),
    "dropout1d": lambda t, x: t.nn.functional.dropout1d(x),
    "dropout2d": lambda t, x: t.nn.functional.dropout2d(x[:, :, None]),
    "dropout3d": lambda t, x: t.nn.functional.dropout3d(x[:, :, None, None]),
    "alpha_dropout": lambda t, x: t.nn.functional.alpha_dropout(x, 0.5, True),
    "feature_alpha_dropout": lambda t, x: t.nn.functional.feature_alpha_dropout(x, 0.5, True),
    "native_dropout": lambda t, x: t.native_dropout(x, 0.3, True)[0],
    "mask of native_dropout": lambda t, x: t.native_dropout(x, 0.3, True)[1] + 0.0,
    "bernoulli_ by chances": lambda t, x: x.clone().bernoulli_(t.full((2,), 0.4)),
    **{name: lambda t, x, name=name: getattr(x.clone(), name)() for name in (
        "normal_", "uniform_", "bernoulli_", "exponential_", "random_")},
}


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("name", DRAWN)
def test_examples_get_the_numbers_that_they_get_in_pytorch(name: str, randomness: str) -> None:
    kept = []
    for torch in ENGINES:
        torch.manual_seed(7)
        kept.append(torch.vmap(lambda x, torch=torch: DRAWN[name](torch, x),
                               randomness=randomness)(torch.ones(3, 2, 8, 2)))
    np.testing.assert_allclose(kept[0].numpy(), kept[1].numpy(), 1e-5)
    assert (kept[0][0] == kept[0][1]).all() == (randomness == "same")


#: Numbers drawn for what is not batched, one tensor for all examples or one for each.
DRAWN_FOR_ALL: dict[str, Any] = {
    "rand": lambda t, x: t.rand(2), "randn": lambda t, x: t.randn(20),
    "randint": lambda t, x: t.randint(0, 100, (2,)), "randperm": lambda t, x: t.randperm(8),
    "normal of numbers": lambda t, x: t.normal(0.0, 1.0, (2,)),
    "normal of tensors": lambda t, x: t.normal(t.ones(2), t.ones(2)),
    "rand_like": lambda t, x: t.rand_like(t.ones(2)),
    "randn_like": lambda t, x: t.randn_like(t.ones(3, 7)),
    "multinomial": lambda t, x: t.multinomial(t.ones(2, 9), 3),
    "dropout": lambda t, x: t.nn.functional.dropout(t.ones(9)),
    "dropout1d": lambda t, x: t.nn.functional.dropout1d(t.ones(1, 9, 2)),
    "alpha_dropout": lambda t, x: t.nn.functional.alpha_dropout(t.ones(9), 0.5, True),
    "native_dropout": lambda t, x: t.native_dropout(t.ones(9), 0.5, True)[0],
    "bernoulli": lambda t, x: t.bernoulli(t.full((9,), 0.4)),
    "bernoulli of a number": lambda t, x: t.bernoulli(t.ones(2, 9), 0.4),
}


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("name", DRAWN_FOR_ALL)
def test_what_is_not_batched_is_drawn_once_or_for_each_example(name, randomness):
    kept = []
    for torch in ENGINES:
        torch.manual_seed(7)
        kept.append(torch.vmap(lambda x, torch=torch: DRAWN_FOR_ALL[name](torch, x) + 0.0 * x,
                               randomness=randomness)(torch.ones(3)))
    np.testing.assert_allclose(kept[0].numpy(), kept[1].numpy(), 1e-5)
    assert (kept[0][0] == kept[0][1]).all() == (randomness == "same")


#: Numbers drawn by what is batched: they cannot be the same for all examples.
DRAWN_BY_EACH: dict[str, Any] = {
    "multinomial": lambda t, x: t.multinomial(x, 2),
    "multinomial of a vector": lambda t, x: t.multinomial(x[0], 9, True),
    "bernoulli": lambda t, x: t.bernoulli(x),
    "normal of means": lambda t, x: t.normal(x, 0.5), "normal of both": lambda t, x: t.normal(x, x),
    "normal of deviations": lambda t, x: t.normal(0.5, x),
    "normal of deviations and means": lambda t, x: t.normal(t.ones(3), x),
}


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", DRAWN_BY_EACH)
def test_what_is_drawn_by_each_example_is_its_own(name):
    kept = []
    for torch in ENGINES:
        torch.manual_seed(7)
        x = (torch.arange(24.0).reshape(4, 2, 3) + 1) / 25

        def program(x, torch=torch):
            return DRAWN_BY_EACH[name](torch, x)

        kept.append(torch.vmap(program, randomness="different")(x))
        with pytest.raises(RuntimeError, match="Vmap does not currently support same randomness "
                                               "with a batched tensor input"):
            torch.vmap(program, randomness="same")(x)
        with pytest.raises(RuntimeError, match="randomness error mode"):
            torch.vmap(program)(x)
    np.testing.assert_allclose(kept[0].numpy(), kept[1].numpy(), 1e-5)


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("chunk_size", [1, 2, 5, 7])
def test_chunks_of_a_batch_have_the_numbers_of_the_whole(chunk_size, randomness):
    kept = []
    for torch in ENGINES:
        for size in (None, chunk_size):
            torch.manual_seed(7)
            rows = torch.vmap(lambda x, torch=torch: x + torch.rand(2), randomness=randomness,
                              chunk_size=size)(torch.zeros(5, 2))
            kept.append([rows.tolist(), torch.rand(1).tolist()])
    assert kept[0] == kept[1] == kept[2] == kept[3]


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("write", ["normal_", "bernoulli"])
def test_numbers_of_nested_batches(write):
    programs = {"normal_": lambda t, y: y.clone().normal_(),
                "bernoulli": lambda t, y: t.bernoulli(t.full((9,), 0.5)) + 0 * y.sum()}
    for outer, inner in (("same", "same"), ("same", "different"), ("different", "different"),
                         ("different", "same")):
        kept = []
        for torch in ENGINES:
            if (torch.__name__, write, outer, inner) == ("torch", "normal_", "different", "same"):
                continue  # PyTorch writes to one tensor first, which is not batched: an error
            torch.manual_seed(7)
            kept.append(torch.vmap(lambda x, torch=torch, inner=inner: torch.vmap(
                lambda y: programs[write](torch, y), randomness=inner)(x), randomness=outer)(
                    torch.ones(3, 2, 4)).numpy())
        np.testing.assert_allclose(kept[0], kept[-1], 1e-5)
        assert (kept[0][0] == kept[0][1]).all() == (outer == "same")
        assert (kept[0][:, 0] == kept[0][:, 1]).all() == (inner == "same")


@on_each_engine
@pytest.mark.parametrize("write", ["normal_", "uniform_", "bernoulli_", "exponential_", "random_"])
def test_one_tensor_cannot_hold_the_random_numbers_of_all_examples(torch, write):
    def program(x):
        return x + getattr(torch.ones(2), write)()

    with pytest.raises(RuntimeError, match="Cannot ask for different inplace randomness on an "
                                           "unbatched tensor"):
        torch.vmap(program, randomness="different")(torch.ones(3))
    rows = torch.vmap(program, randomness="same")(torch.ones(3))
    assert (rows[0] == rows[1]).all()


@pytest.mark.skipif("torch" not in NAMES, reason="PyTorch is not installed")
@pytest.mark.parametrize("outer", ["error", "same", "different"])
@pytest.mark.parametrize("inner", ["error", "same", "different"])
@pytest.mark.parametrize("name", ["rand", "rand_like", "randperm"])
def test_each_of_nested_vmaps_says_whose_the_numbers_are(name, inner, outer):
    programs = {"rand": lambda t, x: x + t.rand(2), "rand_like": lambda t, x: t.rand_like(x),
                "randperm": lambda t, x: x + t.randperm(5)}
    kept = []
    for torch in ENGINES:
        torch.manual_seed(7)

        def twice(x, t=torch):
            return t.vmap(lambda y: programs[name](t, y), randomness=inner)(x)

        run = torch.vmap(twice, randomness=outer)
        if "error" in (inner, outer):
            with pytest.raises(RuntimeError, match="randomness error mode"):
                run(torch.zeros(3, 2))
        else:
            kept.append(run(torch.zeros(3, 2)).numpy())
    if kept:
        np.testing.assert_allclose(*kept, 1e-5)


def test_the_gradient_of_what_is_dropped_for_each_example_is_the_sum():
    torch = minigrad
    x = torch.ones(50, requires_grad=True)
    kept = torch.vmap(lambda _: torch.nn.functional.dropout(x, 0.5), randomness="different")(
        torch.ones(4))
    kept.sum().backward()
    assert (x.grad == kept.detach().sum(0)).all() and len(set(x.grad.tolist())) > 2


@on_each_engine
def test_stacked_modules_are_called_together(torch):
    models = [torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).eval()
              for _ in range(3)]
    warnings.simplefilter("ignore")  # batch norm runs once for each module
    parameters, buffers = torch.func.stack_module_state(models)
    assert {name: tuple(t.shape) for name, t in {**parameters, **buffers}.items()} == {
        "0.weight": (3, 2, 3), "0.bias": (3, 2), "1.weight": (3, 2), "1.bias": (3, 2),
        "1.running_mean": (3, 2), "1.running_var": (3, 2), "1.num_batches_tracked": (3,)}
    assert all(t.is_leaf and t.requires_grad for t in parameters.values())
    x = torch.ones(4, 3)
    got = torch.vmap(lambda p, b: torch.func.functional_call(models[0], (p, b), (x,)))(
        parameters, buffers)
    torch.testing.assert_close(got, torch.stack([model(x) for model in models]))


@on_each_engine
@pytest.mark.parametrize(("make", "text"), [
    (lambda nn: [], "Expected at least one model, got 0."),
    (lambda nn: [nn.ReLU(), nn.ReLU().eval()],
     "Expected all models to have the same training/eval mode."),
    (lambda nn: [nn.ReLU(), nn.Tanh()], "Expected all models to be of the same class."),
    (lambda nn: [nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)],
     "Expected weight from each model to have the same .requires_grad"),
])
def test_modules_that_are_not_alike_are_not_stacked(torch, make, text):
    with pytest.raises(RuntimeError) as refused:
        torch.func.stack_module_state(make(torch.nn))
    assert str(refused.value).endswith(text)


@on_each_engine
def test_a_generator_that_is_given_a_state_comes_back(torch):
    generator = torch.Generator()
    assert generator.set_state(generator.get_state()) is generator


@on_each_engine
def test_one_output_may_have_its_place_in_a_tuple(torch):
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.vmap(lambda x: x * 2, out_dims=(1,))(x).tolist() == (x * 2).T.tolist()


@on_each_engine
@pytest.mark.parametrize(("wrong", "error", "text"), [
    (lambda t, x: t.vmap(t.mul, out_dims="lol")(x, x), ValueError, "`out_dims` must be an int"),
    (lambda t, x: t.vmap(t.mul, out_dims=1.0)(x, x), ValueError, "`out_dims` must be an int"),
    (lambda t, x: t.vmap(t.mul, out_dims=(None,))(x, x), ValueError,
     "`mul` can not return a BatchedTensor when out_dim is None"),
    (lambda t, x: t.func.grad(t.mul, argnums=("0",))(x, x), RuntimeError,
     "argnum must be int, got: <class 'str'>"),
    (lambda t, x: t.func.jacrev(t.mul, argnums=(1, 0.0))(x, x), RuntimeError,
     "argnum must be int, got: <class 'float'>"),
])
def test_places_that_are_no_numbers_are_refused(torch, wrong, error, text):
    with pytest.raises(error) as refused:
        wrong(torch, torch.ones(2, 3))
    assert text in str(refused.value)


@on_each_engine
def test_a_saved_result_that_a_batch_overwrites_is_refused(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = func(torch).vmap(lambda row: (row * 0.5).tanh_().mul_(2.0))(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
