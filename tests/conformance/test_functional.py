"""`autograd.functional`: values, structure, and the errors that `strict` asks for."""

from __future__ import annotations

import pytest

# PyTorch's first use of forward mode compiles its decompositions.
# PyTorch's own forward mode gives it
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")


@pytest.fixture
def fn(torch):
    return torch.autograd.functional


def square(x):
    return x * x


def test_jacobian_of_a_vector(leaf, fn):
    assert fn.jacobian(square, leaf(1.0, 2.0)).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_jacobian_has_the_shapes_of_output_and_input(torch, fn):
    jacobian = fn.jacobian(lambda x: x.sum(0), torch.ones(2, 3))
    assert tuple(jacobian.shape) == (3, 2, 3)


def test_jacobian_of_two_inputs_is_a_tuple(leaf, fn):
    by_x, by_y = fn.jacobian(lambda x, y: x * y, (leaf(2.0), leaf(3.0)))
    assert (by_x.tolist(), by_y.tolist()) == (3.0, 2.0)


def test_jacobian_of_two_outputs_is_a_tuple(leaf, fn):
    first, second = fn.jacobian(lambda x: (x * 2, x * 3), leaf(1.0))
    assert (first.tolist(), second.tolist()) == (2.0, 3.0)


def test_jacobian_of_several_of_both_nests_outputs_outside(leaf, fn):
    jacobian = fn.jacobian(lambda x, y: (x, y), (leaf(1.0), leaf(2.0)))
    assert [[j.tolist() for j in row] for row in jacobian] == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("options", [{"vectorize": True}, {
    "vectorize": True, "strategy": "forward-mode"}])
def test_jacobian_in_one_pass(leaf, fn, options):
    jacobian = fn.jacobian(lambda x: x.exp() * x.sum(), leaf(0.0, 1.0), **options)
    expected = fn.jacobian(lambda x: x.exp() * x.sum(), leaf(0.0, 1.0))
    assert (jacobian - expected).abs().max().item() < 1e-12


def test_the_forward_strategy_needs_vectorize(leaf, fn):
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        fn.jacobian(square, leaf(1.0), strategy="forward-mode")


def test_results_have_no_history_unless_asked(leaf, fn):
    assert not fn.jacobian(square, leaf(1.0)).requires_grad
    assert fn.jacobian(square, leaf(1.0), create_graph=True).requires_grad


def test_results_with_history_can_be_differentiated(torch, leaf, fn):
    x = leaf(2.0)
    jacobian = fn.jacobian(lambda x: x**3, x, create_graph=True)
    assert torch.autograd.grad(jacobian, x)[0].tolist() == 12.0


def test_an_input_may_require_no_grad(torch, fn):
    assert fn.jacobian(square, torch.tensor(3.0)).tolist() == 6.0


def test_outer_gradients_are_left_alone(leaf, fn):
    x = leaf(1.0)
    fn.jacobian(square, x)
    fn.hessian(square, x)
    assert x.grad is None


def test_hessian(leaf, fn):
    assert fn.hessian(lambda x: (x**3).sum(), leaf(1.0, 2.0)).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_hessian_of_two_inputs(leaf, fn):
    hessian = fn.hessian(lambda x, y: x * x * y, (leaf(1.0), leaf(2.0)))
    assert [[h.tolist() for h in row] for row in hessian] == [[4.0, 2.0], [2.0, 0.0]]


@pytest.mark.parametrize("outer", ["reverse-mode", "forward-mode"])
def test_hessian_in_one_pass(leaf, fn, outer):
    hessian = fn.hessian(lambda x: (x**3).sum(), leaf(1.0, 2.0), vectorize=True,
                         outer_jacobian_strategy=outer)
    assert hessian.tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.parametrize(("result", "error", "match"), [
    (lambda x: (x.sum(), x.sum()), RuntimeError, "should return a single Tensor"),
    (lambda x: x.sum().item(), RuntimeError, "should return a single Tensor|must be either"),
    (lambda x: x, RuntimeError, "should contain a single element"),
])
def test_hessian_needs_one_number(leaf, fn, result, error, match):
    with pytest.raises((error, TypeError), match=match):
        fn.hessian(result, leaf(1.0, 2.0))


def test_vjp_returns_outputs_and_product(torch, leaf, fn):
    v = torch.tensor([1.0, 10.0], dtype=torch.float64)
    outputs, product = fn.vjp(square, leaf(1.0, 2.0), v)
    assert (outputs.tolist(), product.tolist()) == ([1.0, 4.0], [2.0, 40.0])


def test_jvp_returns_outputs_and_product(torch, leaf, fn):
    outputs, product = fn.jvp(lambda x: x.sum() * x, leaf(1.0, 2.0),
                              torch.tensor([1.0, 0.0], dtype=torch.float64))
    assert (outputs.tolist(), product.tolist()) == ([3.0, 6.0], [4.0, 2.0])


def test_vhp_and_hvp_agree_where_the_hessian_is_symmetric(torch, leaf, fn):
    v = torch.tensor([1.0, 2.0], dtype=torch.float64)
    for product in (fn.vhp, fn.hvp):
        value, found = product(lambda x: x.prod() * x.sum(), leaf(2.0, 3.0), v)
        assert value.tolist() == 30.0
        assert found.tolist() == pytest.approx([26.0, 18.0])


@pytest.mark.parametrize("name", ["vjp", "jvp"])
def test_v_may_be_left_out_for_one_number(leaf, fn, name):
    assert getattr(fn, name)(square, leaf(3.0))[1].tolist() == 6.0


def test_vjp_needs_v_for_several_outputs(leaf, fn):
    with pytest.raises(RuntimeError, match="vector v can only be None if the user-provided functi"):
        fn.vjp(square, leaf(1.0, 2.0))


@pytest.mark.parametrize("name", ["jvp", "hvp", "vhp"])
def test_v_is_needed_for_several_inputs(leaf, fn, name):
    with pytest.raises(RuntimeError, match="vector v can only be None if the input to the user-pr"):
        getattr(fn, name)(lambda x: x.sum(), leaf(1.0, 2.0))


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_v_has_to_have_the_right_size(torch, leaf, fn, name):
    function = square if name == "vjp" else (lambda x: x.sum())
    with pytest.raises(RuntimeError, match="v has invalid size: should be torch.Size"):
        getattr(fn, name)(function, leaf(1.0, 2.0), torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_v_has_to_be_as_many(torch, leaf, fn, name):
    function = square if name == "vjp" else (lambda x: x.sum())
    v = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        getattr(fn, name)(function, leaf(1.0, 2.0), (v, v))


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_inputs_have_to_be_tensors(fn, name):
    with pytest.raises(TypeError, match=f"The inputs given to {name} must be either a Tensor or a"):
        getattr(fn, name)(square, (1.0,))


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian"])
def test_outputs_have_to_be_tensors(leaf, fn, name):
    with pytest.raises(TypeError, match=f"user-provided function given to {name} must be"):
        getattr(fn, name)(lambda x: 1.0, leaf(1.0))


def detached(x):
    return (x * 2).detach()


def unrelated(x):
    return (x.detach() * 0 + 1).requires_grad_() * 2


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian"])
def test_strict_refuses_an_output_without_history(torch, leaf, fn, name):
    v = () if name == "jacobian" else (torch.ones((), dtype=torch.float64),)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not requi"):
        getattr(fn, name)(detached, leaf(1.0), *v, strict=True)


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian"])
def test_strict_refuses_an_output_that_does_not_depend_on_the_input(torch, leaf, fn, name):
    v = () if name == "jacobian" else (torch.ones((), dtype=torch.float64),)
    with pytest.raises(RuntimeError, match="independent of input 0|independent of the input|input"):
        getattr(fn, name)(unrelated, leaf(1.0), *v, strict=True)


@pytest.mark.parametrize("name", ["vhp", "hvp", "hessian"])
def test_strict_refuses_a_gradient_that_does_not_depend_on_the_input(torch, leaf, fn, name):
    v = () if name == "hessian" else (torch.ones(2, dtype=torch.float64),)
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function with respect t"):
        getattr(fn, name)(lambda x: (x * 3).sum(), leaf(1.0, 2.0), *v, strict=True)


@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian"])
def test_otherwise_the_product_is_zero(torch, leaf, fn, name):
    v = () if name == "jacobian" else (torch.ones((), dtype=torch.float64),)
    found = getattr(fn, name)(unrelated, leaf(1.0), *v)
    assert (found if name == "jacobian" else found[1]).tolist() == 0.0


def test_strict_and_vectorize_exclude_each_other(leaf, fn):
    with pytest.raises(RuntimeError, match="not supported together"):
        fn.jacobian(square, leaf(1.0), strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match="not supported together"):
        fn.hessian(square, leaf(1.0), strict=True, vectorize=True)


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_products_with_history(torch, leaf, fn, name):
    x = leaf(2.0)
    _, product = getattr(fn, name)(lambda x: x**3, x, torch.ones((), dtype=torch.float64),
                                   create_graph=True)
    slope = torch.autograd.grad(product, x)[0].tolist()
    assert slope == (12.0 if name in ("vjp", "jvp") else 6.0)


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp"])
def test_products_under_no_grad(torch, leaf, fn, name):
    with torch.no_grad():
        _, product = getattr(fn, name)(lambda x: x**3, leaf(2.0), torch.ones(
            (), dtype=torch.float64))
    assert product.tolist() == 12.0
