"""`autograd.functional`: values derived by hand, PyTorch's errors, and agreement with PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.support.engines import ENGINES, leaf, on_each_engine

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit.script` is deprecated:DeprecationWarning")  # PyTorch's own forward mode

PRODUCTS = ("vjp", "jvp", "vhp", "hvp")
ALL = (*PRODUCTS, "jacobian", "hessian")
WAYS = [{}, {"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}]


def functional(torch: Any, name: str) -> Any:
    return getattr(torch.autograd.functional, name)


def quadratic(x: Any, y: Any) -> Any:
    """x0^2 y0 + 3 x1 y0^2, whose derivatives the tests below spell out."""
    return x[0] ** 2 * y[0] + 3 * x[1] * y[0] ** 2


@on_each_engine
def test_products_with_a_jacobian(torch):
    x = torch.tensor([1.0, 2.0])

    def func(x):
        return x * x.sum()  # J = sum * I + x 1^T = [[4, 1], [2, 5]]

    v = torch.tensor([1.0, 10.0])
    output, product = functional(torch, "vjp")(func, x, v)
    assert output.tolist() == [3.0, 6.0]
    assert product.tolist() == [24.0, 51.0]
    output, product = functional(torch, "jvp")(func, x, v)
    assert output.tolist() == [3.0, 6.0]
    assert product.tolist() == [14.0, 52.0]
    assert not output.requires_grad and not product.requires_grad


@on_each_engine
@pytest.mark.parametrize("name", ["vhp", "hvp"])
def test_products_with_a_hessian(torch, name):
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    v = (torch.tensor([1.0, 10.0]), torch.tensor([100.0]))
    output, product = functional(torch, name)(quadratic, inputs, v)
    assert output.item() == 1 * 5 + 3 * 2 * 25
    # H = [[2y, 0, 2x0], [0, 0, 6y], [2x0, 6y, 6x1]] = [[10, 0, 2], [0, 0, 30], [2, 30, 12]]
    assert product[0].tolist() == [210.0, 3000.0]
    assert product[1].tolist() == [2 + 300 + 1200]


@on_each_engine
@pytest.mark.parametrize("vectorize", [False, True])
def test_hessian_of_two_inputs(torch, vectorize):
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    found = functional(torch, "hessian")(quadratic, inputs, vectorize=vectorize)
    assert [[block.tolist() for block in row] for row in found] == [
        [[[10.0, 0.0], [0.0, 0.0]], [[2.0], [30.0]]],
        [[[2.0, 30.0]], [[12.0]]],
    ]


@on_each_engine
@pytest.mark.parametrize("options", WAYS)
def test_jacobian_nests_as_outputs_and_inputs_do(torch, options):
    jacobian = functional(torch, "jacobian")
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[4.0], [5.0]])

    def both(x, y):
        return x.sum() * y, x * y[1, 0]

    (a, b), (c, d) = jacobian(both, (x, y), **options)
    assert a.tolist() == [[[4.0] * 3], [[5.0] * 3]]
    assert b.shape == (2, 1, 2, 1) and b[:, 0, :, 0].tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert c.tolist() == [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
    assert d.shape == (3, 2, 1) and d[..., 0].tolist() == [[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]
    one_in = jacobian(lambda x: both(x, y), x, **options)
    assert one_in[0].tolist() == a.tolist()
    one_out = jacobian(lambda x, y: both(x, y)[1], (x, y), **options)
    assert one_out[1].tolist() == d.tolist()
    assert jacobian(lambda x: x * x, x, **options).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    in_a_tuple = jacobian(lambda x: (x * x,), (x,), **options)
    assert in_a_tuple[0][0].shape == (3, 3)
    assert not in_a_tuple[0][0].requires_grad


@on_each_engine
@pytest.mark.parametrize("options", [
    {}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}])
def test_hessian_by_every_way(torch, options):
    x = torch.tensor([[1.0, 2.0]])
    found = functional(torch, "hessian")(lambda x: (x**3).sum(), x, **options)
    assert found.shape == (1, 2, 1, 2)
    assert found[0, :, 0, :].tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert not x.requires_grad


@on_each_engine
@pytest.mark.parametrize("options", WAYS)
def test_independent_inputs_give_zeros(torch, options):
    x, y = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    a, b = functional(torch, "jacobian")(lambda x, y: x * 2, (x, y), **options)
    assert a.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert b.tolist() == [0.0, 0.0]
    constant = functional(torch, "jacobian")(lambda x: torch.ones(2), x, **options)
    assert constant.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@on_each_engine
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_constant_function_has_zero_products(torch, name):
    x = torch.tensor([1.0, 2.0])
    output, product = functional(torch, name)(lambda x: torch.ones(()), x,
                                              torch.ones(()) if name == "vjp" else torch.ones(2))
    assert output.item() == 1
    assert product.shape == (() if name == "jvp" else (2,))
    assert product.sum().item() == 0


@on_each_engine
def test_a_linear_function_has_no_curvature(torch):
    x = torch.tensor([1.0, 2.0])
    for name in ("vhp", "hvp"):
        assert functional(torch, name)(lambda x: x.sum(), x, torch.ones(2))[1].tolist() == [0, 0]
    found = functional(torch, "hessian")(lambda x: x.sum(), x)
    assert found.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@on_each_engine
@pytest.mark.parametrize("name", PRODUCTS)
def test_the_vector_may_be_left_out_for_one_element(torch, name):
    output, product = functional(torch, name)(lambda x: x**3, torch.tensor(2.0))
    assert output.item() == 8
    assert product.item() == 12


@on_each_engine
@pytest.mark.parametrize("name", ALL)
def test_create_graph_makes_results_differentiable(torch, name):
    x = leaf(torch, 2.0)
    found = functional(torch, name)(lambda x: x**4, x, create_graph=True)
    last = found[1] if name in PRODUCTS else found
    assert last.requires_grad
    (slope,) = torch.autograd.grad(last, x)
    assert slope.item() == 48.0  # 12 x^2, and 24 x
    assert x.grad is None


@on_each_engine
@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_create_graph_reaches_the_vector(torch, name):
    v = leaf(torch, 3.0)
    _, product = functional(torch, name)(lambda x: x**3, leaf(torch, 2.0), v, create_graph=True)
    (slope,) = torch.autograd.grad(product, v)
    assert slope.item() == 12.0


@on_each_engine
@pytest.mark.parametrize("name", ALL)
def test_works_without_grad_mode(torch, name):
    x = leaf(torch, 2.0)
    with torch.no_grad():
        found = functional(torch, name)(lambda x: x**4, x)
        graph = functional(torch, name)(lambda x: x**4, x, create_graph=True)
        assert not torch.is_grad_enabled()
    last, recorded = (found[1], graph[1]) if name in PRODUCTS else (found, graph)
    assert last.item() == (32.0 if name in ("vjp", "jvp", "jacobian") else 48.0)
    assert not last.requires_grad
    assert recorded.requires_grad


@on_each_engine
@pytest.mark.parametrize("name", ALL)
def test_inputs_and_their_grad_are_left_alone(torch, name):
    x = leaf(torch, 2.0)
    seen = []

    def func(given):
        seen.append(given)
        return given**2

    functional(torch, name)(func, x)
    assert seen[0] is not x
    assert x.grad is None and x.is_leaf
    plain = torch.tensor(2.0)
    functional(torch, name)(func, plain)
    assert not plain.requires_grad


@on_each_engine
def test_outputs_keep_their_history_only_with_create_graph(torch):
    x = leaf(torch, [1.0, 2.0])
    output, _ = functional(torch, "vjp")(lambda x: x.sum(), x)
    assert not output.requires_grad
    output, _ = functional(torch, "vjp")(lambda x: x.sum(), x, create_graph=True)
    assert output.grad_fn is not None


# Every expression below is evaluated with minigrad and with PyTorch; what it gives, be it a
# value or an error with its text, has to be the same.
NAMES: dict[str, Any] = {
    "linear": lambda x: x * 3,
    "twice": lambda x, y: (x * 2, x + y),
    "detached": lambda x: x.detach() * 2,
    "half": lambda x: (x * 2, x.detach()),
    "first": lambda x, y: x * x,
    "product": lambda x, y: (x * y).sum(),
    "first_sum": lambda x, y: (x * x).sum(),
    "cube": lambda x: (x**3).sum(),
    "total": lambda x: x.sum(),
    "number": lambda x: 3,
    "strings": lambda x: (x, "a"),
    "square": lambda x: x * x,
    "detached_sum": lambda x: x.detach().sum(),
}
EXPRESSIONS = [
    *(f"AF.{f}(square, 3)" for f in ALL),
    *(f"AF.{f}(square, (x, 3))" for f in ALL),
    *(f"AF.{f}(number, x)" for f in ("vjp", "jacobian", "hessian")),
    *(f"AF.{f}(number, x, x)" for f in ("jvp", "vhp", "hvp")),
    *(f"AF.{f}(strings, x, x)" for f in PRODUCTS),
    *(f"AF.{f}(square, x)" for f in PRODUCTS),
    *(f"AF.{f}(cube, x, 'v')" for f in PRODUCTS),
    *(f"AF.{f}(cube, x, (x, x))" for f in PRODUCTS),
    *(f"AF.{f}(cube, (x,), (x, x))" for f in PRODUCTS),
    *(f"AF.{f}(cube, x, x[:1])" for f in PRODUCTS),
    *(f"AF.{f}(product, (x, x), (x, x[:1]))" for f in PRODUCTS),
    *(f"AF.{f}(square, x, x)" for f in ("vhp", "hvp")),
    *(f"AF.{f}(twice, (x, x), (x, x))" for f in PRODUCTS),
    *(f"AF.{f}(twice, (x, x))" for f in ("vhp", "hvp", "hessian", "jacobian")),
    "AF.hessian(square, x)",
    *(f"AF.{f}(detached, x, x, strict=True)" for f in PRODUCTS),
    *(f"AF.{f}(half, x, (x, x), strict=True)" for f in ("vjp", "jvp")),
    *(f"AF.{f}(first, (x, x), x, strict=True)" for f in ("vjp", "jvp")),
    *(f"AF.{f}(first_sum, (x, x), (x, x), strict=True)" for f in ("vhp", "hvp")),
    *(f"AF.{f}(total, x, x, strict=True)" for f in ("vhp", "hvp")),
    *(f"AF.{f}(detached_sum, x, x, strict=True)" for f in ("vhp", "hvp")),
    *(f"AF.{f}(product, (x, x), (x, x), strict=True)" for f in ("vhp", "hvp")),
    "AF.vjp(linear, x, x, strict=True, create_graph=True)",
    "AF.vjp(linear, r, x, strict=True, create_graph=True)",
    "AF.jvp(linear, r, x, strict=True, create_graph=True)",
    "AF.jvp(linear, x, x, strict=True)",
    "AF.jvp(first, (x, x), (x, x), strict=True)",
    "AF.jvp(square, r, x, strict=True, create_graph=True)",
    "AF.vhp(lambda x: (x*x).sum(), r, x, strict=True, create_graph=True)",
    "AF.hvp(lambda x: (x*x).sum(), r, x, strict=True, create_graph=True)",
    "AF.hvp(lambda x: (x*x).sum(), x, x, strict=True)",
    "AF.vhp(cube, r, x, strict=True, create_graph=True)",
    "AF.jacobian(half, x, strict=True)",
    "AF.jacobian(detached, x, strict=True)",
    "AF.jacobian(first, (x, x), strict=True)",
    "AF.jacobian(linear, r, strict=True, create_graph=True)",
    "AF.jacobian(twice, (x, r), strict=True)",
    "AF.jacobian(square, r, strict=True, create_graph=True)",
    "AF.jacobian(square, x, strict=True, vectorize=True)",
    "AF.jacobian(square, x, strict=True, vectorize=True, strategy='forward-mode')",
    "AF.jacobian(square, x, create_graph=True, vectorize=True, strategy='forward-mode')",
    "AF.jacobian(square, x, strategy='forward-mode')",
    "AF.jacobian(square, x, strategy='sideways')",
    "AF.jacobian(first, (x, x), vectorize=True)",
    "AF.jacobian(first, (x, x), vectorize=True, create_graph=True)",
    "AF.jacobian(twice, (x, m), vectorize=True)",
    "AF.jacobian(twice, (m, x), vectorize=True, strategy='forward-mode')",
    "AF.hessian(total, x, strict=True)",
    "AF.hessian(detached_sum, x, strict=True)",
    "AF.hessian(first_sum, (x, x), strict=True)",
    "AF.hessian(first_sum, (x, x))",
    "AF.hessian(lambda x: (x*x).sum(), r, strict=True, create_graph=True)",
    "AF.hessian(cube, r, strict=True, create_graph=True)",
    "AF.hessian(cube, x, strict=True, vectorize=True)",
    "AF.hessian(cube, x, outer_jacobian_strategy='sideways')",
    "AF.hessian(cube, x, outer_jacobian_strategy='forward-mode')",
    "AF.hessian(cube, m, vectorize=True, outer_jacobian_strategy='forward-mode')",
    "AF.hessian(product, (x, x), vectorize=True)",
    "AF.hessian(lambda x: x.sum().reshape(1, 1)**2, x)",
    "AF.jacobian(square, i)",
    "AF.vjp(cube, x.double(), torch.tensor(2.))",
]


def shown(result: Any, graphs: bool) -> Any:
    """Return values, shapes, dtypes and, with `graphs`, whether a graph is joined.

    PyTorch's forward mode nests in lists and may leave a graph attached that nobody asked for.
    """
    if isinstance(result, (tuple, list)):
        return tuple(shown(item, graphs) for item in result)
    return (result.tolist(), tuple(result.shape), str(result.dtype),
            graphs and result.requires_grad)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_agrees_with_pytorch(expression):
    if len(ENGINES) == 1:
        pytest.skip("PyTorch is not installed")
    found = []
    for torch in ENGINES:
        names = NAMES | {
            "torch": torch,
            "AF": torch.autograd.functional,
            "x": torch.tensor([1.0, -2.0]),
            "r": leaf(torch, [1.0, -2.0]),
            "m": torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]]),
            "i": torch.tensor([1, 2]),
        }
        with warnings.catch_warnings():
            # PyTorch's warnings are its own.
            warnings.simplefilter("ignore" if torch.__name__ == "torch" else "error")
            try:
                found.append(shown(eval(expression, names), "forward-mode" not in expression))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["jacobian", "hessian"])
@pytest.mark.parametrize("vectorize", [False, True])
def test_agrees_with_pytorch_on_a_network(name, vectorize):
    if len(ENGINES) == 1:
        pytest.skip("PyTorch is not installed")
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal(shape) for shape in ((4, 5), (5, 3))]
    x = rng.standard_normal((2, 4))
    found = []
    for torch in ENGINES:
        first, second = (torch.tensor(w) for w in weights)

        def network(x, torch=torch, first=first, second=second):
            out = torch.tanh(torch.tanh(x @ first) @ second)
            return out if name == "jacobian" else (out * out).sum()

        result = functional(torch, name)(network, torch.tensor(x), vectorize=vectorize)
        found.append(result.numpy())
    assert found[0].shape == found[1].shape
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)
