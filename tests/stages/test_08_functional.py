"""Stage 08: jacobian, hessian and their products.

Expected numbers are worked out by hand next to the functions, or come from central differences.
"""

from __future__ import annotations

import numpy as np
import pytest
from _oracle import assert_close, numerical_jacobian

import minigrad as torch
from minigrad.autograd import functional, functional_checks, functional_passes

PRODUCTS_WITH_H = ["vhp", "hvp"]


@pytest.fixture(autouse=True)
def recording():
    """Recording is on before each test and after it, whatever the code under test does."""
    torch.set_grad_enabled(True)
    yield
    torch.set_grad_enabled(True)


def leaf(values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def func(x):
    """J = [[4, 1], [2, 5]] at (1, 2)."""
    return x * x.sum()


def wide(x):
    """Three outputs of two inputs: J = [[1, 0], [0, 1], [x1, x0]]."""
    return torch.stack([x[0], x[1], x[0] * x[1]])


def mixed(x):
    """x0^2 x1 + x1^3: slope (4, 13), H = [[4, 2], [2, 12]] at (1, 2)."""
    return x[0] ** 2 * x[1] + x[1] ** 3


def quadratic(x, y):
    """x0^2 y0 + 3 x1 y0^2: at x = (1, 2), y = 5 the value is 155, and the second derivatives are

    [[10, 0, 2], [0, 0, 30], [2, 30, 12]].
    """
    return x[0] ** 2 * y[0] + 3 * x[1] * y[0] ** 2


def network(xp, x):
    """The same network on arrays and on tensors."""
    first = np.sin(np.arange(12.0)).reshape(3, 4)
    second = np.cos(np.arange(20.0)).reshape(4, 5)
    if xp is torch:
        first, second = torch.tensor(first), torch.tensor(second)
    return xp.tanh(xp.tanh(x @ first) @ second)


POINT = np.array([[0.3, -0.7, 0.5], [1.1, 0.2, -0.4]])


def raised(run, *args, **options):
    """The text of the RuntimeError that a call raises."""
    with pytest.raises(RuntimeError) as caught:
        run(*args, **options)
    assert not isinstance(caught.value, NotImplementedError), str(caught.value)
    return str(caught.value)


# ------------------------------------------------------------------------------------ 08.1


@pytest.mark.hole("08.1")
def test_fresh_inputs_are_detached_leaves():
    x = leaf([1.0, 2.0])
    (found,) = functional_checks.fresh_inputs((x * 1,), False)
    assert found.is_leaf and found.requires_grad, "expected a leaf that requires grad"
    assert found.tolist() == [1.0, 2.0]
    (found,) = functional_checks.fresh_inputs((x,), False)
    assert found is not x and found.is_leaf, "expected a new tensor without history"


@pytest.mark.hole("08.1")
def test_fresh_inputs_leave_the_callers_tensors_alone():
    plain = torch.tensor([1.0, 2.0])
    found = functional_checks.fresh_inputs((plain, leaf(3.0)), False)
    assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
    first, second = found
    assert first is not plain
    assert not plain.requires_grad, "the caller's tensor requires grad now"
    assert first.requires_grad and second.requires_grad


@pytest.mark.hole("08.1")
def test_fresh_inputs_reach_the_caller_for_a_graph():
    x, plain = leaf([1.0, 2.0]), torch.tensor([3.0])
    first, second = functional_checks.fresh_inputs((x, plain), True)
    assert first is not x, "expected a view, got the caller's own tensor"
    assert first.grad_fn is not None, "expected a path to the caller's tensor"
    (slope,) = torch.autograd.grad((first * first).sum(), x)
    assert slope.tolist() == [2.0, 4.0]
    assert second.requires_grad and second.is_leaf and not plain.requires_grad


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_fresh_vectors_do_not_require_grad(create_graph):
    plain = torch.tensor([1.0])
    (found,) = functional_checks.fresh_inputs((plain,), create_graph, requires_grad=False)
    assert found is not plain and not found.requires_grad
    (found,) = functional_checks.fresh_inputs((leaf([1.0]),), create_graph, requires_grad=False)
    assert found.requires_grad == create_graph


@pytest.mark.hole("08.1")
def test_results_are_detached_unless_a_graph_is_wanted():
    y, z = leaf([1.0]) * 2, leaf([2.0]) * 2
    found = functional_checks.result((y, z), True, False)
    assert isinstance(found, tuple) and [t.tolist() for t in found] == [[2.0], [4.0]]
    assert not any(t.requires_grad for t in found), "expected results without history"
    found = functional_checks.result((y, z), True, True)
    assert all(t.grad_fn is not None for t in found), "expected results with history"
    assert y.grad_fn is not None, "the tensor that was given lost its history"


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_one_result_is_alone(create_graph):
    first, second = torch.tensor([1.0]), torch.tensor([2.0])
    assert functional_checks.result((first, second), False, create_graph).item() == 1.0
    y = leaf([1.0]) * 2
    found = functional_checks.result((y,), False, create_graph)
    assert isinstance(found, torch.Tensor), f"expected a tensor, got {type(found).__name__}"
    assert found.requires_grad == create_graph
    found = functional_checks.result((y,), True, create_graph)
    assert isinstance(found, tuple) and len(found) == 1


@pytest.mark.hole("08.1")
def test_nested_results_have_outputs_outside_and_inputs_inside():
    one, two = torch.tensor([1.0]), torch.tensor([2.0])
    both = functional_checks.nested_result([(one, two), (two, one)], True, True, False)
    assert [[t.item() for t in row] for row in both] == [[1.0, 2.0], [2.0, 1.0]]
    outside = functional_checks.nested_result([(one,), (two,)], True, False, False)
    assert isinstance(outside, tuple) and [t.item() for t in outside] == [1.0, 2.0]
    inside = functional_checks.nested_result([(one, two)], False, True, False)
    assert isinstance(inside, tuple) and [t.item() for t in inside] == [1.0, 2.0]
    alone = functional_checks.nested_result([(one,)], False, False, False)
    assert isinstance(alone, torch.Tensor) and alone.item() == 1.0


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_nested_results_keep_their_history_only_for_a_graph(create_graph):
    y = leaf([1.0]) * 2
    ((found,),) = functional_checks.nested_result([(y,)], True, True, create_graph)
    assert found.requires_grad == create_graph


# ------------------------------------------------------------------------------------ 08.2


@pytest.mark.hole("08.2")
def test_gradients_are_those_of_grad():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    vector = torch.tensor([1.0, 10.0])
    found = functional_passes.gradients((x * y,), (x, y), (vector,), False)
    assert [g.tolist() for g in found] == [[3.0, 40.0], [1.0, 20.0]]
    assert not any(g.requires_grad for g in found)
    assert x.grad is None and y.grad is None
    (found,) = functional_passes.gradients(((x * x).sum(),), (x,), None, False)
    assert found.tolist() == [2.0, 4.0]


@pytest.mark.hole("08.2")
def test_outputs_without_history_are_left_out_with_their_vectors():
    x = leaf([1.0, 2.0])
    ones, tens, five = torch.ones(2), torch.full((2,), 10.0), torch.tensor(5.0)
    outputs = (torch.ones(2), x * 2, None, x.sum())
    found = functional_passes.gradients(outputs, (x,), (ones, tens, ones, five), False)
    assert [g.tolist() for g in found] == [[25.0, 25.0]]


@pytest.mark.hole("08.2")
def test_nothing_to_differentiate_gives_none():
    x = leaf([1.0, 2.0])
    ones = torch.ones(2)
    assert tuple(functional_passes.gradients((ones, None), (x, x), (ones, ones), False)) == (
        None, None)
    assert tuple(functional_passes.gradients((ones,), (x, x, x), (ones,), False)) == (None,) * 3
    found = functional_passes.gradients((x * 2,), (x, leaf(3.0)), (ones,), False)
    assert found[0].tolist() == [2.0, 2.0] and found[1] is None


@pytest.mark.hole("08.2")
def test_gradients_can_be_differentiated():
    x = leaf([1.0, 2.0])
    (slope,) = functional_passes.gradients(((x**3).sum(),), (x,), None, True)
    assert slope.requires_grad, "expected a gradient with a graph"
    (again,) = torch.autograd.grad(slope.sum(), x)
    assert again.tolist() == [6.0, 12.0]


@pytest.mark.hole("08.2")
def test_the_graph_is_kept_only_when_that_is_asked_for():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    for _ in range(2):
        (found,) = functional_passes.gradients((y,), (x,), None, False, retain_graph=True)
        assert found.tolist() == [2.0, 4.0]
    functional_passes.gradients((y,), (x,), None, False)
    assert "second time" in raised(functional_passes.gradients, (y,), (x,), None, False)


@pytest.mark.hole("08.2")
def test_missing_derivatives_are_zeros():
    one, like = torch.tensor([7.0]), torch.ones((2, 3), dtype=torch.float64)
    found = functional_checks.zeros_for_missing(
        (None, one, None), (like, one, torch.tensor(1.0)), "gradient", False, False)
    assert isinstance(found, tuple) and len(found) == 3, "expected an entry for each input"
    assert found[0].shape == (2, 3) and found[0].dtype == torch.float64
    assert found[0].tolist() == [[0.0] * 3] * 2
    assert found[1].tolist() == [7.0] and found[2].tolist() == 0.0


@pytest.mark.hole("08.2")
def test_strict_mode_refuses_what_is_missing():
    one = torch.tensor([7.0])
    told = raised(functional_checks.zeros_for_missing, (one, None), (one, one), "gradient", True,
                  False)
    assert told == ("The output of the user-provided function is independent of input 1. "
                    "This is not allowed in strict mode.")
    found = functional_checks.zeros_for_missing((one,), (one,), "gradient", True, False)
    assert found[0].tolist() == [7.0]


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("step, what", [
    ("gradient", "jacobian"), ("row of hessian", "hessian"), ("column of hessian", "hessian")])
def test_strict_mode_refuses_constants_when_a_graph_is_wanted(step, what):
    one, recorded = torch.tensor([7.0]), leaf([7.0]) * 2
    told = raised(functional_checks.zeros_for_missing, (recorded, one), (one, one), step, True,
                  True)
    assert told == (f"The {what} of the user-provided function is independent of input 1. This "
                    "is not allowed in strict mode when create_graph=True.")
    found = functional_checks.zeros_for_missing((one,), (one,), step, False, True)
    assert found[0].tolist() == [7.0]
    found = functional_checks.zeros_for_missing((None,), (one,), step, False, True)
    assert found[0].tolist() == [0.0]


# ------------------------------------------------------------------------------------ 08.3


@pytest.mark.hole("08.3")
def test_vjp_by_hand():
    x = torch.tensor([1.0, 2.0])
    output, product = functional.vjp(func, x, torch.tensor([1.0, 10.0]))
    assert output.tolist() == [3.0, 6.0]
    assert product.tolist() == [24.0, 51.0], f"expected v^T J = [24, 51], got {product.tolist()}"
    assert not output.requires_grad and not product.requires_grad
    assert not x.requires_grad and x.grad is None


@pytest.mark.hole("08.3")
def test_vjp_agrees_with_differences():
    v = np.sin(np.arange(10.0)).reshape(2, 5)
    output, product = functional.vjp(lambda x: network(torch, x), torch.tensor(POINT),
                                     torch.tensor(v))
    (expected,) = numerical_jacobian(lambda x: network(np, x), [POINT])
    assert_close(output.numpy(), network(np, POINT))
    assert_close(product.numpy(), np.tensordot(v, expected, 2), atol=1e-7)


@pytest.mark.hole("08.3")
def test_vjp_answers_in_kind():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    v = torch.tensor([1.0, 10.0])
    output, product = functional.vjp(lambda x, y: x * y, (a, b), v)
    assert isinstance(output, torch.Tensor)
    assert isinstance(product, tuple), "expected a tuple, since the inputs were one"
    assert [t.tolist() for t in product] == [[3.0, 40.0], [1.0, 20.0]]
    output, product = functional.vjp(lambda x: (x * 2, x.sum()), a, (v, torch.tensor(3.0)))
    assert isinstance(output, tuple) and len(output) == 2
    assert isinstance(product, torch.Tensor), "expected a tensor, since the input was one"
    assert product.tolist() == [5.0, 23.0]


@pytest.mark.hole("08.3")
def test_vjp_takes_a_vector_like_the_outputs():
    x = torch.tensor([1.0, 2.0])
    _, product = functional.vjp(wide, x, torch.tensor([1.0, 10.0, 100.0]))
    assert product.tolist() == [201.0, 110.0]
    assert raised(functional.vjp, wide, x, torch.ones(2)) == (
        "v has invalid size: should be torch.Size([3]) but got torch.Size([2]).")


@pytest.mark.hole("08.3")
def test_vjp_multiplies_one_output_by_the_vector_too():
    _, product = functional.vjp(lambda x: (x * x).sum(), torch.tensor([1.0, 2.0]),
                                torch.tensor(3.0))
    assert product.tolist() == [6.0, 12.0]


@pytest.mark.hole("08.3")
def test_vjp_without_a_vector():
    x = torch.tensor([1.0, 2.0])
    output, product = functional.vjp(lambda x: (x * x).sum(), x)
    assert output.item() == 5.0 and product.tolist() == [2.0, 4.0]
    assert raised(functional.vjp, func, x) == (
        "The vector v can only be None if the user-provided function returns a single Tensor "
        "with a single element.")


@pytest.mark.hole("08.3")
def test_vjp_gives_zeros_for_what_is_not_used():
    a, b = torch.tensor([1.0, 2.0]), torch.ones((3, 1))
    _, product = functional.vjp(lambda x, y: x * 2, (a, b), torch.ones(2))
    assert product[0].tolist() == [2.0, 2.0]
    assert product[1].shape == (3, 1) and product[1].sum().item() == 0.0
    output, product = functional.vjp(lambda x: torch.ones(2), a, torch.ones(2))
    assert output.tolist() == [1.0, 1.0] and product.tolist() == [0.0, 0.0]


@pytest.mark.hole("08.3")
def test_vjp_refuses_constants_in_strict_mode():
    a, ones = torch.tensor([1.0, 2.0]), torch.ones(2)
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.vjp, lambda x: x.detach() * 2, a, ones, strict=True)
    assert "independent of input 1" in raised(
        functional.vjp, lambda x, y: x * 2, (a, a), ones, strict=True)


@pytest.mark.hole("08.3")
def test_vjp_records_under_no_grad_and_puts_the_mode_back():
    x = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        _, product = functional.vjp(func, x, torch.tensor([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"
    assert product.tolist() == [24.0, 51.0]

    def fails(x):
        raise ValueError("from the function")

    with torch.no_grad():
        with pytest.raises(ValueError, match="from the function"):
            functional.vjp(fails, x, x)
        assert not torch.is_grad_enabled(), "an error left recording on"
    functional.vjp(func, x, x)
    assert torch.is_grad_enabled()


@pytest.mark.hole("08.3")
def test_vjp_for_a_graph():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    output, product = functional.vjp(lambda x: x**3, x, v, create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), x, retain_graph=True)
    assert slope.tolist() == [6.0, 120.0]  # v 6 x
    (slope,) = torch.autograd.grad(product.sum(), v)
    assert slope.tolist() == [3.0, 12.0]
    (slope,) = torch.autograd.grad(output.sum(), x)
    assert slope.tolist() == [3.0, 12.0]
    assert x.grad is None


@pytest.mark.hole("08.3")
def test_vjp_calls_the_function_once_with_a_tensor_of_its_own():
    seen = []
    x = leaf([1.0, 2.0])

    def watched(given):
        seen.append(given)
        return func(given)

    functional.vjp(watched, x, torch.ones(2))
    assert len(seen) == 1, f"expected one call, got {len(seen)}"
    assert seen[0] is not x and x.grad is None


@pytest.mark.hole("08.3")
def test_vjp_refuses_what_is_no_tensor():
    with pytest.raises(TypeError, match="The inputs given to vjp must be either a Tensor"):
        functional.vjp(func, 3)
    with pytest.raises(TypeError, match="the value at index 1 has type"):
        functional.vjp(lambda x: (x, "a"), torch.ones(2), torch.ones(2))


# ------------------------------------------------------------------------------------ 08.4


@pytest.mark.hole("08.4")
@pytest.mark.parametrize("shape", [(3,), (2, 2), (), (2, 0)])
def test_unit_vectors(shape):
    like = torch.ones(shape, dtype=torch.float64)
    units = functional_passes.unit_vectors(like)
    assert len(units) == like.numel()
    for i, unit in enumerate(units):
        assert unit.shape == shape and unit.dtype == torch.float64
        assert unit.reshape(-1).tolist() == [float(i == j) for j in range(like.numel())]


@pytest.mark.hole("08.4")
def test_rows_of_use_one_graph():
    x, other = leaf([1.0, 2.0]), leaf(3.0)
    y = func(x)
    for _ in range(2):
        rows = functional_passes.rows_of(y, (x, other), False)
        assert [row[0].tolist() for row in rows] == [[4.0, 1.0], [2.0, 5.0]]
        assert [row[1] for row in rows] == [None, None]
        assert not rows[0][0].requires_grad
    rows = functional_passes.rows_of(y, (x,), True)
    assert rows[1][0].requires_grad, "expected rows with a graph"


@pytest.mark.hole("08.4")
def test_stacked_fills_gaps():
    like = torch.ones((2,), dtype=torch.float64)
    one = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = functional_passes.stacked([None, one], like)
    assert found.tolist() == [[0.0, 0.0], [1.0, 2.0]] and found.dtype == torch.float64
    nothing = functional_passes.stacked([], like)
    assert nothing.shape == (0, 2) and nothing.dtype == torch.float64
    assert functional_passes.stacked([None], like).tolist() == [[0.0, 0.0]]


@pytest.mark.hole("08.4")
def test_blocks_of_have_the_shape_of_output_and_input():
    output = torch.ones((2, 1))
    x, y = torch.ones((3,)), torch.ones((1, 2), dtype=torch.float64)
    rows = torch.arange(6.0).reshape(2, 3)
    found = functional.blocks_of(output, [rows, None], (x, y))
    assert isinstance(found, tuple) and found[0].shape == (2, 1, 3)
    assert found[0].reshape(2, 3).tolist() == rows.tolist()
    assert found[1].shape == (2, 1, 1, 2) and found[1].dtype == torch.float64
    assert found[1].sum().item() == 0.0


@pytest.mark.hole("08.4")
def test_jacobian_by_hand():
    found = functional.jacobian(func, torch.tensor([1.0, 2.0]))
    assert found.tolist() == [[4.0, 1.0], [2.0, 5.0]]
    found = functional.jacobian(wide, torch.tensor([1.0, 2.0]))
    assert found.tolist() == [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]
    assert not found.requires_grad
    assert functional.jacobian(lambda x: x**2, torch.tensor(3.0)).item() == 6.0


@pytest.mark.hole("08.4")
def test_jacobian_agrees_with_differences():
    found = functional.jacobian(lambda x: network(torch, x), torch.tensor(POINT))
    (expected,) = numerical_jacobian(lambda x: network(np, x), [POINT])
    assert_close(found.numpy(), expected, atol=1e-7)


@pytest.mark.hole("08.4")
def test_jacobian_nests_as_outputs_and_inputs_do():
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[4.0], [5.0]])

    def both(x, y):
        return x.sum() * y, x * y[1, 0]

    (a, b), (c, d) = functional.jacobian(both, (x, y))
    assert a.tolist() == [[[4.0] * 3], [[5.0] * 3]]
    assert b.shape == (2, 1, 2, 1) and b[:, 0, :, 0].tolist() == [[6.0, 0.0], [0.0, 6.0]]
    assert c.tolist() == [[5.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 5.0]]
    assert d.shape == (3, 2, 1) and d[..., 0].tolist() == [[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]


@pytest.mark.hole("08.4")
def test_jacobian_is_zero_where_nothing_depends():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    a, b = functional.jacobian(lambda x, y: x * 2, (x, y))
    assert a.tolist() == [[2.0, 0.0], [0.0, 2.0]] and b.tolist() == [0.0, 0.0]
    assert functional.jacobian(lambda x: torch.ones(3), x).tolist() == [[0.0, 0.0]] * 3
    assert functional.jacobian(lambda x: x[:0], x).shape == (0, 2)


@pytest.mark.hole("08.4")
def test_jacobian_for_a_graph():
    x = leaf([1.0, 2.0])
    found = functional.jacobian(lambda x: x**3, x, create_graph=True)
    assert found.tolist() == [[3.0, 0.0], [0.0, 12.0]]
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert slope.tolist() == [6.0, 12.0]


@pytest.mark.hole("08.4")
def test_jacobian_in_strict_mode():
    x = torch.tensor([1.0, 2.0])
    found = functional.jacobian(func, x, strict=True)
    assert found.tolist() == [[4.0, 1.0], [2.0, 5.0]]
    assert "Output 0 of the user-provided function is independent of input 1" in raised(
        functional.jacobian, lambda x, y: x * 2, (x, x), strict=True)


# ------------------------------------------------------------------------------------ 08.5


@pytest.mark.hole("08.5")
def test_hessian_by_hand():
    found = functional.hessian(mixed, torch.tensor([1.0, 2.0]))
    assert isinstance(found, torch.Tensor), "expected one tensor for one input"
    assert found.tolist() == [[4.0, 2.0], [2.0, 12.0]]
    assert not found.requires_grad
    found = functional.hessian(lambda x: (x**3).sum(), torch.tensor([[1.0, 2.0]]))
    assert found.shape == (1, 2, 1, 2)
    assert found[0, :, 0, :].tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.hole("08.5")
def test_hessian_of_two_inputs():
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    found = functional.hessian(quadratic, inputs)
    assert [[block.tolist() for block in row] for row in found] == [
        [[[10.0, 0.0], [0.0, 0.0]], [[2.0], [30.0]]],
        [[[2.0, 30.0]], [[12.0]]],
    ]
    assert isinstance(functional.hessian(mixed, (inputs[0],)), tuple)


@pytest.mark.hole("08.5")
def test_hessian_agrees_with_differences():
    def slopes(x):
        (found,) = numerical_jacobian(lambda x: (network(np, x) ** 2).sum(), [x], eps=1e-4)
        return found

    found = functional.hessian(lambda x: (network(torch, x) ** 2).sum(), torch.tensor(POINT))
    (expected,) = numerical_jacobian(slopes, [POINT], eps=1e-4)
    assert_close(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.hole("08.5")
def test_hessian_of_an_output_in_any_shape():
    found = functional.hessian(lambda x: mixed(x).reshape(1, 1), torch.tensor([1.0, 2.0]))
    assert found.shape == (2, 2), f"expected shape (2, 2), got {tuple(found.shape)}"


@pytest.mark.hole("08.5")
def test_hessian_wants_one_element():
    x = torch.tensor([1.0, 2.0])
    assert "should contain a single element" in raised(functional.hessian, lambda x: x**2, x)
    assert "should return a single Tensor" in raised(
        functional.hessian, lambda x: (x.sum(), x.sum()), x)
    with pytest.raises(TypeError, match="given to hessian"):
        functional.hessian(mixed, 3)


@pytest.mark.hole("08.5")
def test_hessian_of_what_is_linear_or_constant():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    assert functional.hessian(lambda x: x.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    (a, b), (c, d) = functional.hessian(lambda x, y: mixed(x), (x, y))
    assert a.tolist() == [[4.0, 2.0], [2.0, 12.0]]
    assert (b.tolist(), c.tolist(), d.item()) == ([0.0, 0.0], [0.0, 0.0], 0.0)


@pytest.mark.hole("08.5")
def test_hessian_in_strict_mode():
    x = torch.tensor([1.0, 2.0])
    assert functional.hessian(mixed, x, strict=True).tolist() == [[4.0, 2.0], [2.0, 12.0]]
    assert "While computing the hessian, found that the jacobian" in raised(
        functional.hessian, lambda x: x.sum(), x, strict=True)
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.hessian, lambda x: x.detach().sum(), x, strict=True)


@pytest.mark.hole("08.5")
def test_hessian_for_a_graph():
    x = leaf(2.0)
    found = functional.hessian(lambda x: x**4, x, create_graph=True)
    assert found.item() == 48.0
    (slope,) = torch.autograd.grad(found, x)
    assert slope.item() == 48.0  # 24 x
    assert x.grad is None


@pytest.mark.hole("08.5")
def test_hessian_with_forward_mode_outside():
    x = torch.tensor([1.0, 2.0])
    options = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    found = functional.hessian(mixed, x, **options)
    assert found.tolist() == [[4.0, 2.0], [2.0, 12.0]]
    with pytest.raises(NotImplementedError, match="`create_graph=True` and `strategy="):
        functional.hessian(mixed, x, create_graph=True, **options)


@pytest.mark.hole("08.5")
def test_hessian_passes_its_options_on():
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(AssertionError) as caught:
        functional.hessian(mixed, x, outer_jacobian_strategy="sideways")
    assert str(caught.value) == (
        'Expected strategy to be either "forward-mode" or "reverse-mode".')
    assert "not supported together" in raised(functional.hessian, mixed, x, strict=True,
                                              vectorize=True)


# ------------------------------------------------------------------------------------ 08.6


@pytest.mark.hole("08.6")
def test_pullback_is_a_function_of_its_vector():
    x = leaf([1.0, 2.0])
    y = wide(x)
    pulled, vectors = functional_passes.pullback((y,), (x,), (y,))
    assert isinstance(vectors, tuple) and vectors[0].requires_grad
    assert vectors[0].tolist() == [0.0] * 3 and vectors[0].dtype == y.dtype
    assert pulled[0].tolist() == [0.0, 0.0]
    (found,) = torch.autograd.grad(pulled[0], vectors[0], torch.tensor([1.0, 10.0]))
    assert found.tolist() == [1.0, 10.0, 12.0]


@pytest.mark.hole("08.6")
def test_jvp_by_hand():
    x = torch.tensor([1.0, 2.0])
    output, product = functional.jvp(func, x, torch.tensor([1.0, 10.0]))
    assert output.tolist() == [3.0, 6.0]
    assert product.tolist() == [14.0, 52.0], f"expected J v = [14, 52], got {product.tolist()}"
    assert not output.requires_grad and not product.requires_grad
    assert not x.requires_grad and x.grad is None


@pytest.mark.hole("08.6")
def test_jvp_agrees_with_differences():
    v = np.cos(np.arange(6.0)).reshape(2, 3)
    output, product = functional.jvp(lambda x: network(torch, x), torch.tensor(POINT),
                                     torch.tensor(v))
    (expected,) = numerical_jacobian(lambda x: network(np, x), [POINT])
    assert_close(output.numpy(), network(np, POINT))
    assert_close(product.numpy(), np.tensordot(expected, v, 2), atol=1e-7)


@pytest.mark.hole("08.6")
def test_jvp_takes_a_vector_like_the_inputs():
    x = torch.tensor([1.0, 2.0])
    _, product = functional.jvp(wide, x, torch.tensor([1.0, 10.0]))
    assert product.tolist() == [1.0, 10.0, 12.0]
    _, product = functional.jvp(lambda x: x.sum(), x, torch.tensor([1.0, 10.0]))
    assert product.tolist() == 11.0
    assert raised(functional.jvp, wide, x, torch.ones(3)) == (
        "v has invalid size: should be torch.Size([2]) but got torch.Size([3]).")


@pytest.mark.hole("08.6")
def test_jvp_answers_in_kind():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    v, w = torch.tensor([1.0, 10.0]), torch.tensor([100.0, 1000.0])
    output, product = functional.jvp(lambda x, y: x * y, (a, b), (v, w))
    assert isinstance(output, torch.Tensor)
    assert isinstance(product, torch.Tensor), "expected a tensor, since the output is one"
    assert product.tolist() == [103.0, 2040.0]
    output, product = functional.jvp(lambda x: (x * 2, x.sum()), a, v)
    assert isinstance(product, tuple), "expected a tuple, since the outputs are one"
    assert [t.tolist() for t in product] == [[2.0, 20.0], 11.0]


@pytest.mark.hole("08.6")
def test_jvp_without_a_vector():
    output, product = functional.jvp(lambda x: torch.stack([x, x**2]), torch.tensor(3.0))
    assert output.tolist() == [3.0, 9.0] and product.tolist() == [1.0, 6.0]
    assert "The vector v can only be None if the input" in raised(
        functional.jvp, func, torch.tensor([1.0, 2.0]))


@pytest.mark.hole("08.6")
def test_jvp_gives_zeros_for_outputs_that_do_not_depend():
    a, v = torch.tensor([1.0, 2.0]), torch.ones(2)
    _, product = functional.jvp(lambda x: (x * 2, torch.ones((3, 1))), a, v)
    assert product[0].tolist() == [2.0, 2.0]
    assert product[1].shape == (3, 1) and product[1].sum().item() == 0.0
    _, product = functional.jvp(lambda x: torch.ones(()), a, v)
    assert product.tolist() == 0.0
    _, product = functional.jvp(lambda x, y: x * 2, (a, a), (v, v))
    assert product.tolist() == [2.0, 2.0]


@pytest.mark.hole("08.6")
def test_jvp_in_strict_mode():
    a, ones = torch.tensor([1.0, 2.0]), torch.ones(2)
    assert functional.jvp(func, a, ones, strict=True)[1].tolist() == [5.0, 7.0]
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.jvp, lambda x: x.detach() * 2, a, ones, strict=True)
    assert "independent of input 1" in raised(
        functional.jvp, lambda x, y: x * 2, (a, a), (ones, ones), strict=True)


@pytest.mark.hole("08.6")
def test_jvp_says_in_strict_mode_which_output_does_not_depend():
    x, other = torch.tensor([1.0, 2.0]), leaf([3.0, 4.0])
    told = raised(functional.jvp, lambda x: (x * 2, other * 1), x, x, strict=True)
    assert told.startswith("The gradient with respect to the input is independent of entry 1")


@pytest.mark.hole("08.6")
def test_jvp_records_under_no_grad_and_puts_the_mode_back():
    with torch.no_grad():
        _, product = functional.jvp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"
    assert product.tolist() == [14.0, 52.0]


@pytest.mark.hole("08.6")
def test_jvp_for_a_graph():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    output, product = functional.jvp(lambda x: x**3, x, v, create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), x, retain_graph=True)
    assert slope.tolist() == [6.0, 120.0]
    (slope,) = torch.autograd.grad(product.sum(), v)
    assert slope.tolist() == [3.0, 12.0]
    (slope,) = torch.autograd.grad(output.sum(), x)
    assert slope.tolist() == [3.0, 12.0]


# ------------------------------------------------------------------------------------ 08.7


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_by_hand(name):
    x = torch.tensor([1.0, 2.0])
    output, product = getattr(functional, name)(mixed, x, torch.tensor([1.0, 10.0]))
    assert output.item() == 10.0
    assert isinstance(product, torch.Tensor), "expected a tensor, since the input was one"
    assert product.tolist() == [24.0, 122.0]
    assert not output.requires_grad and not product.requires_grad
    assert not x.requires_grad and x.grad is None


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_of_two_inputs(name):
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    v = (torch.tensor([1.0, 10.0]), torch.tensor([100.0]))
    output, product = getattr(functional, name)(quadratic, inputs, v)
    assert output.item() == 155.0
    assert isinstance(product, tuple), "expected a tuple, since the inputs were one"
    assert [t.tolist() for t in product] == [[210.0, 3000.0], [1502.0]]


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_agree_with_differences(name):
    v = np.cos(np.arange(6.0)).reshape(2, 3)

    def slopes(x):
        (found,) = numerical_jacobian(lambda x: (network(np, x) ** 2).sum(), [x], eps=1e-4)
        return found

    _, product = getattr(functional, name)(
        lambda x: (network(torch, x) ** 2).sum(), torch.tensor(POINT), torch.tensor(v))
    (expected,) = numerical_jacobian(slopes, [POINT], eps=1e-4)
    assert_close(product.numpy(), np.tensordot(expected, v, 2), rtol=1e-4, atol=1e-5)


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_without_a_vector(name):
    run = getattr(functional, name)
    output, product = run(lambda x: x**3, torch.tensor(2.0))
    assert output.item() == 8.0 and product.item() == 12.0
    assert "The vector v can only be None if the input" in raised(
        run, mixed, torch.tensor([1.0, 2.0]))


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_want_one_element(name):
    run, x = getattr(functional, name), torch.tensor([1.0, 2.0])
    assert f"given to {name} should contain a single element" in raised(run, func, x, x)
    assert f"given to {name} should return a single Tensor" in raised(
        run, lambda x: (x.sum(),), x, x)
    with pytest.raises(TypeError, match=f"The inputs given to {name}"):
        run(mixed, 3, x)


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_of_what_is_linear_or_not_used(name):
    run, x, v = getattr(functional, name), torch.tensor([1.0, 2.0]), torch.ones(2)
    assert run(lambda x: x.sum(), x, v)[1].tolist() == [0.0, 0.0]
    assert run(lambda x: torch.ones(()), x, v)[1].tolist() == [0.0, 0.0]
    _, product = run(lambda x, y: mixed(x), (x, torch.ones((3, 1))), (v, torch.ones((3, 1))))
    assert product[0].tolist() == [6.0, 14.0]
    assert product[1].shape == (3, 1) and product[1].sum().item() == 0.0


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_in_strict_mode(name):
    run, x, v = getattr(functional, name), torch.tensor([1.0, 2.0]), torch.ones(2)
    assert run(mixed, x, v, strict=True)[1].tolist() == [6.0, 14.0]
    assert "While computing the hessian, found that the jacobian" in raised(
        run, lambda x: x.sum(), x, v, strict=True)
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        run, lambda x: x.detach().sum(), x, v, strict=True)


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name, told", [
    ("vhp", "The jacobian of the user-provided function is independent of input 1."),
    ("hvp", "The hessian of the user-provided function is independent of entry 1")])
def test_hessian_products_say_in_strict_mode_what_is_missing(name, told):
    x, other = torch.tensor([1.0, 2.0]), leaf([3.0, 4.0])
    found = raised(getattr(functional, name), lambda x, y: (x * x).sum() + (y * other).sum(),
                   (x, x), (x, x), strict=True)
    assert found.startswith(told), f"expected {told!r}, got {found!r}"


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_record_under_no_grad(name):
    with torch.no_grad():
        _, product = getattr(functional, name)(mixed, torch.tensor([1.0, 2.0]),
                                               torch.tensor([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"
    assert product.tolist() == [24.0, 122.0]


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name", PRODUCTS_WITH_H)
def test_hessian_products_for_a_graph(name):
    x, v = leaf(2.0), leaf(3.0)
    output, product = getattr(functional, name)(lambda x: x**4, x, v, create_graph=True)
    assert product.item() == 144.0  # 12 x^2 v
    (slope,) = torch.autograd.grad(product, x, retain_graph=True)
    assert slope.item() == 144.0  # 24 x v
    (slope,) = torch.autograd.grad(product, v)
    assert slope.item() == 48.0
    (slope,) = torch.autograd.grad(output, x)
    assert slope.item() == 32.0


# ------------------------------------------------------------------------------------ 08.8


class Counted(torch.autograd.Function):
    """The square, whose backward is counted; it can take batches."""

    generate_vmap_rule = True
    passes = 0

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        Counted.passes += 1
        (x,) = ctx.saved_tensors
        return 2 * x * g


@pytest.mark.hole("08.8")
def test_units_of_the_space_of_all_tensors():
    first, second = functional_passes.units_of(
        [torch.ones((2, 1)), torch.tensor(1.0, dtype=torch.float64)])
    assert first.shape == (3, 2, 1) and second.shape == (3,)
    assert first.reshape(3, 2).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert second.tolist() == [0.0, 0.0, 1.0]
    assert first.dtype == torch.float32 and second.dtype == torch.float64


@pytest.mark.hole("08.8")
def test_units_of_tensors_of_several_elements():
    found = functional_passes.units_of([torch.ones(2), torch.ones(1, 3)])
    rows = torch.cat([units.reshape(5, -1) for units in found], 1).tolist()
    assert rows == [[float(i == j) for j in range(5)] for i in range(5)], f"got {rows}"


@pytest.mark.hole("08.8")
def test_units_of_leave_skipped_dimensions_out():
    first, second = functional_passes.units_of([torch.ones((5, 2)), torch.ones((5, 1))], 1)
    assert first.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    assert second.tolist() == [[0.0], [0.0], [1.0]]


@pytest.mark.hole("08.8")
def test_all_rows_of_two_outputs():
    x, y = leaf([1.0, 2.0]), leaf(3.0)
    rows = functional_passes.all_rows((func(x), (x * x).sum() * y), (x, y), False)
    assert rows[0][0].tolist() == [[4.0, 1.0], [2.0, 5.0]]
    assert rows[1][0].tolist() == [[6.0, 12.0]]
    assert rows[1][1].tolist() == [5.0]
    assert rows[0][1] is None or rows[0][1].tolist() == [0.0, 0.0]


@pytest.mark.hole("08.8")
def test_all_rows_where_there_is_nothing():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((torch.ones(2), x * 2, None), (x, leaf(3.0)), False)
    assert len(rows) == 3, f"expected an entry for each output, got {len(rows)}"
    assert tuple(rows[0]) == (None, None) and tuple(rows[2]) == (None, None)
    assert rows[1][0].tolist() == [[2.0, 0.0], [0.0, 2.0]] and rows[1][1] is None
    rows = functional_passes.all_rows((torch.ones(2),), (x,), False)
    assert [tuple(row) for row in rows] == [(None,)]
    assert [tuple(row) for row in functional_passes.all_rows((x[:0],), (x,), False)] == [(None,)]


@pytest.mark.hole("08.8")
def test_all_rows_can_be_asked_for_again():
    x = leaf([1.0, 2.0])
    y = func(x)
    for _ in range(2):
        ((rows,),) = functional_passes.all_rows((y,), (x,), False)
        assert rows.tolist() == [[4.0, 1.0], [2.0, 5.0]]


@pytest.mark.hole("08.8")
def test_all_rows_are_one_pass():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    Counted.passes = 0
    found = functional.jacobian(Counted.apply, x, vectorize=True)
    assert found.diagonal().tolist() == [2.0, 4.0, 6.0, 8.0]
    assert Counted.passes == 1, f"expected 1 pass, got {Counted.passes}"


@pytest.mark.hole("08.8")
def test_vectorized_jacobian_agrees_with_differences():
    def both(xp, x):
        out = network(xp, x)
        return out, (out**2).sum()

    first, second = functional.jacobian(lambda x: both(torch, x), torch.tensor(POINT),
                                        vectorize=True)
    for i, found in enumerate((first, second)):
        (expected,) = numerical_jacobian(lambda x, i=i: both(np, x)[i], [POINT])
        assert_close(found.numpy(), expected, atol=1e-7)


@pytest.mark.hole("08.8")
def test_vectorized_jacobian_for_a_graph():
    x = leaf([1.0, 2.0])
    found = functional.jacobian(lambda x: x**3, x, create_graph=True, vectorize=True)
    assert found.tolist() == [[3.0, 0.0], [0.0, 12.0]]
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert slope.tolist() == [6.0, 12.0]
