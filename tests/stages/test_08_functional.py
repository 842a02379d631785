"""Stage 08: jacobian, hessian and their products.

Expected numbers are worked out by hand next to the functions, or come from central differences.
"""

from __future__ import annotations

import numpy as np
import pytest
from _oracle import assert_close, numerical_jacobian

import minigrad as torch
from minigrad.autograd import functional
from minigrad.autograd.functional import checks as functional_checks
from minigrad.autograd.functional import derivatives
from minigrad.autograd.functional import passes as functional_passes

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


def same(found, expected):
    """Compare a tensor's numbers; how they are off is told."""
    assert isinstance(found, torch.Tensor), f"expected a tensor, got {type(found).__name__}"
    assert_close(found.detach().numpy(), expected)


@pytest.mark.hole("08.1")
def test_fresh_inputs_are_a_tuple_of_as_many():
    found = functional_checks.fresh_inputs((torch.tensor([1.0, 2.0]), leaf(3.0)), False)
    assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
    assert len(found) == 2, f"expected 2 tensors, got {len(found)}"


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("kind", ["plain", "leaf"])
def test_fresh_inputs_are_never_the_tensor_itself(kind, create_graph):
    x = leaf([1.0, 2.0]) if kind == "leaf" else torch.tensor([1.0, 2.0])
    (found,) = functional_checks.fresh_inputs((x,), create_graph)
    assert found is not x, "got the caller's own tensor"
    same(found, [1.0, 2.0])


@pytest.mark.hole("08.1")
def test_fresh_inputs_are_detached_leaves():
    x = leaf([1.0, 2.0])
    for given in (x, x * 1):
        (found,) = functional_checks.fresh_inputs((given,), False)
        assert found.is_leaf and found.grad_fn is None, "expected a tensor without history"


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_detached_fresh_inputs_require_grad(create_graph):
    (found,) = functional_checks.fresh_inputs((torch.tensor([1.0, 2.0]),), create_graph)
    assert found.requires_grad and found.is_leaf
    (found,) = functional_checks.fresh_inputs((leaf([1.0, 2.0]),), create_graph)
    assert found.requires_grad


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_fresh_inputs_leave_the_callers_tensors_alone(create_graph):
    plain, x = torch.tensor([1.0, 2.0]), leaf(3.0)
    functional_checks.fresh_inputs((plain, x), create_graph)
    assert not plain.requires_grad, "the caller's tensor requires grad now"
    functional_checks.fresh_inputs((plain, x), create_graph, requires_grad=False)
    assert x.requires_grad, "the caller's tensor does not require grad any more"


@pytest.mark.hole("08.1")
def test_fresh_inputs_reach_the_caller_for_a_graph():
    x = leaf([1.0, 2.0])
    (first,) = functional_checks.fresh_inputs((x,), True)
    assert first.grad_fn is not None, "expected a path to the caller's tensor"
    (slope,) = torch.autograd.grad((first * first).sum(), x)
    same(slope, [2.0, 4.0])


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_fresh_vectors_of_plain_tensors_do_not_require_grad(create_graph):
    plain = torch.tensor([1.0])
    (found,) = functional_checks.fresh_inputs((plain,), create_graph, requires_grad=False)
    assert found is not plain and not found.requires_grad


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_fresh_vectors_require_grad_only_for_a_graph(create_graph):
    (found,) = functional_checks.fresh_inputs((leaf([1.0]),), create_graph, requires_grad=False)
    assert found.requires_grad == create_graph


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("as_tuple", [True, False])
def test_results_without_a_graph_are_detached(as_tuple):
    y, z = leaf([1.0]) * 2, leaf([2.0]) * 3
    found = functional_checks.result((y, z), as_tuple, False)
    for each in found if as_tuple else (found,):
        assert each.grad_fn is None and not each.requires_grad


@pytest.mark.hole("08.1")
def test_results_leave_what_they_are_given_alone():
    y = leaf([1.0]) * 2
    functional_checks.result((y,), True, False)
    assert y.grad_fn is not None, "the tensor that was given lost its history"


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("as_tuple", [True, False])
def test_results_keep_their_history_for_a_graph(as_tuple):
    y, z = leaf([1.0]) * 2, leaf([2.0]) * 3
    found = functional_checks.result((y, z), as_tuple, True)
    for each in found if as_tuple else (found,):
        assert each.grad_fn is not None, "expected results with history"


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_several_results_are_a_tuple(create_graph):
    for given in ((leaf([1.0]) * 1, leaf([2.0]) * 1), (leaf([1.0]) * 1,)):
        found = functional_checks.result(given, True, create_graph)
        assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
        assert [t.tolist() for t in found] == [[1.0], [2.0]][: len(given)]


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("create_graph", [False, True])
def test_one_result_is_alone(create_graph):
    for given in ((leaf([1.0]) * 1,), (leaf([1.0]) * 1, leaf([2.0]) * 1)):
        found = functional_checks.result(given, False, create_graph)
        assert isinstance(found, torch.Tensor), f"expected a tensor, got {type(found).__name__}"
        assert found.item() == 1.0


@pytest.mark.hole("08.1")
@pytest.mark.parametrize("outside, inside", [(True, True), (True, False), (False, True),
                                             (False, False)], ids=[
    "outputs_as_tuple and inputs_as_tuple", "outputs_as_tuple alone", "inputs_as_tuple alone",
    "neither"])
def test_nested_results_have_outputs_outside_and_inputs_inside(outside, inside):
    one, two, three, four = (torch.tensor([float(i)]) for i in range(1, 5))
    found = functional_checks.nested_result([(one, two), (three, four)], outside, inside, False)
    assert isinstance(found, tuple) == (outside or inside)
    rows = found if outside else (found,)
    assert len(rows) == (2 if outside else 1), f"got {len(rows)} outside"
    for row, expected in zip(rows, ([1.0, 2.0], [3.0, 4.0]), strict=False):
        assert isinstance(row, tuple) == inside, "the inside is for inputs"
        assert [t.item() for t in (row if inside else (row,))] == expected[: 2 if inside else 1]


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
    found = functional_passes.gradients((x * y,), (x, y), (torch.tensor([1.0, 10.0]),), False)
    assert isinstance(found, tuple) and len(found) == 2, f"got {found!r}"
    same(found[0], [3.0, 40.0])
    same(found[1], [1.0, 20.0])
    assert x.grad is None and y.grad is None


@pytest.mark.hole("08.2")
def test_gradients_without_vectors():
    x = leaf([1.0, 2.0])
    (found,) = functional_passes.gradients(((x * x).sum(),), (x,), None, False)
    same(found, [2.0, 4.0])


@pytest.mark.hole("08.2")
def test_several_outputs_are_added_up():
    x = leaf([1.0, 2.0])
    (found,) = functional_passes.gradients((x * 2, x.sum()), (x,), (
        torch.tensor([10.0, 100.0]), torch.tensor(5.0)), False)
    same(found, [25.0, 205.0])


@pytest.mark.hole("08.2")
def test_outputs_without_history_are_left_out():
    x = leaf([1.0, 2.0])
    (found,) = functional_passes.gradients(
        (torch.ones(()), (x * x).sum(), None), (x,), None, False)
    same(found, [2.0, 4.0])


@pytest.mark.hole("08.2")
def test_outputs_without_history_are_left_out_with_their_vectors():
    x = leaf([1.0, 2.0])
    ones, tens, five = torch.ones(2), torch.full((2,), 10.0), torch.tensor(5.0)
    outputs = (torch.ones(2), x * 2, None, x.sum())
    (found,) = functional_passes.gradients(outputs, (x,), (ones, tens, ones, five), False)
    same(found, [25.0, 25.0])


@pytest.mark.hole("08.2")
def test_an_output_may_be_an_input_itself():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    tens = torch.full((2,), 10.0)
    for outputs, expected in (((x,), [10.0, 10.0]), ((x, 3 * x, torch.ones(2)), [40.0, 40.0])):
        found = functional_passes.gradients(outputs, (x, y), (tens,) * len(outputs), False)
        same(found[0], expected)
        assert found[1] is None, f"expected None, got {found[1]!r}"


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("outputs", [(None,), (torch.ones(2),), (torch.ones(2), None)],
                         ids=["None", "constant", "constant and None"])
def test_nothing_to_differentiate_gives_none(outputs):
    x = leaf([1.0, 2.0])
    vectors = (torch.ones(2),) * len(outputs)
    for inputs in ((x,), (x, x), (x, x, x)):
        found = functional_passes.gradients(outputs, inputs, vectors, False)
        assert tuple(found) == (None,) * len(inputs), f"got {found!r}"
    assert tuple(functional_passes.gradients(outputs, (x,), None, False)) == (None,)


@pytest.mark.hole("08.2")
def test_an_input_that_nothing_depends_on_gives_none():
    x = leaf([1.0, 2.0])
    found = functional_passes.gradients((x * 2,), (x, leaf(3.0)), (torch.ones(2),), False)
    same(found[0], [2.0, 2.0])
    assert found[1] is None, f"expected None, got {found[1]!r}"


@pytest.mark.hole("08.2")
def test_gradients_of_a_recorded_graph_under_no_grad():
    x = leaf([1.0, 2.0])
    y, total = x * x, x.sum()
    with torch.no_grad():
        (found,) = functional_passes.gradients(
            (y, total), (x,), (torch.tensor([1.0, 10.0]), torch.tensor(5.0)), False)
    assert found is not None, "expected the gradient of a graph that was recorded before"
    same(found, [7.0, 45.0])


@pytest.mark.hole("08.2")
def test_gradients_have_no_graph_unless_asked():
    x = leaf([1.0, 2.0])
    for retain in (None, True):
        (found,) = functional_passes.gradients(((x**3).sum(),), (x,), None, False, retain)
        assert not found.requires_grad, f"a graph with retain_graph={retain}"


@pytest.mark.hole("08.2")
def test_gradients_can_be_differentiated():
    x = leaf([1.0, 2.0])
    (slope,) = functional_passes.gradients(((x**3).sum(),), (x,), None, True)
    assert slope.requires_grad, "expected a gradient with a graph"
    (again,) = torch.autograd.grad(slope.sum(), x)
    same(again, [6.0, 12.0])


@pytest.mark.hole("08.2")
def test_the_graph_is_kept_when_that_is_asked_for():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    for _ in range(2):
        (found,) = functional_passes.gradients((y,), (x,), None, False, retain_graph=True)
        same(found, [2.0, 4.0])


@pytest.mark.hole("08.2")
def test_the_graph_is_freed_when_nothing_is_asked_for():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    functional_passes.gradients((y,), (x,), None, False)
    assert "second time" in raised(functional_passes.gradients, (y,), (x,), None, False)


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("retain_graph", [None, True, False])
def test_a_graph_of_the_pass_may_be_freed_or_kept(retain_graph):
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    functional_passes.gradients((y,), (x,), None, True, retain_graph)
    if retain_graph is False:
        assert "second time" in raised(functional_passes.gradients, (y,), (x,), None, False)
    else:
        same(functional_passes.gradients((y,), (x,), None, False)[0], [2.0, 4.0])


ONE, LIKE = torch.tensor([7.0]), torch.ones((2, 3), dtype=torch.float64)


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_was_found_stays(create_graph):
    found = functional_checks.zeros_for_missing(
        (None, ONE, None), (LIKE, ONE, ONE), "gradient", False, create_graph)
    assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
    assert len(found) == 3, "expected an entry for each input"
    same(found[1], [7.0])


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("values", [[0.0], [1.0, 2.0]], ids=["a zero", "two elements"])
def test_only_none_is_missing(values):
    one = torch.tensor(values)
    found = functional_checks.zeros_for_missing((one,), (one,), "gradient", True, False)
    same(found[0], values)


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("create_graph", [False, True])
def test_missing_derivatives_are_zeros(create_graph):
    found = functional_checks.zeros_for_missing(
        (None, ONE, None), (LIKE, ONE, torch.tensor(1.0)), "gradient", False, create_graph)
    assert found[0] is not None and found[2] is not None
    assert found[0].tolist() == [[0.0] * 3] * 2 and found[2].tolist() == 0.0


@pytest.mark.hole("08.2")
def test_the_zeros_have_the_dtype_of_their_input():
    found = functional_checks.zeros_for_missing((ONE, None), (ONE, LIKE), "gradient", False, False)
    assert found[1].dtype == torch.float64, f"got {found[1].dtype}"


@pytest.mark.hole("08.2")
def test_the_zeros_of_an_input_that_is_infinite():
    like = torch.tensor([float("inf"), -1.0, float("nan")])
    (found,) = functional_checks.zeros_for_missing((None,), (like,), "gradient", False, False)
    assert found.tolist() == [0.0, 0.0, 0.0], f"got {found.tolist()}"


@pytest.mark.hole("08.2")
def test_the_zeros_belong_to_one_input_alone():
    found = functional_checks.zeros_for_missing((None, None), (ONE, ONE), "gradient", False, True)
    assert not found[0].requires_grad, "expected zeros without a graph"
    found[0].add_(1)
    assert found[1].tolist() == [0.0], "a write to the first zeros changed the second ones"
    assert ONE.tolist() == [7.0], "a write to the zeros changed the input"


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("step", ["gradient", "tangent", "row of hessian", "column of hessian"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_strict_mode_refuses_what_is_missing(step, create_graph):
    recorded = leaf([7.0]) * 2
    raised(functional_checks.zeros_for_missing, (recorded, None), (ONE, ONE), step, True,
           create_graph)


@pytest.mark.hole("08.2")
@pytest.mark.parametrize("step", ["gradient", "tangent", "row of hessian", "column of hessian"])
def test_strict_mode_refuses_constants_of_a_graph(step):
    recorded = leaf([7.0]) * 2
    told = raised(functional_checks.zeros_for_missing, (recorded, ONE), (ONE, ONE), step, True,
                  True)
    assert "independent" in told, f"got {told!r}"
    found = functional_checks.zeros_for_missing((recorded, ONE), (ONE, ONE), step, True, False)
    same(found[1], [7.0])


STEPS = pytest.mark.parametrize("step", ["gradient", "row of hessian", "column of hessian"])


@pytest.mark.hole("08.2")
@STEPS
def test_constants_are_fine_without_strict_mode(step):
    found = functional_checks.zeros_for_missing((ONE, None), (ONE, ONE), step, False, True)
    same(found[0], [7.0])
    assert found[1].tolist() == [0.0]


# ------------------------------------------------------------------------------------ 08.3


@pytest.mark.hole("08.3")
def test_vjp_returns_the_output_first():
    found = functional.vjp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    assert isinstance(found, tuple) and len(found) == 2, "expected a pair"
    same(found[0], [3.0, 6.0])


@pytest.mark.hole("08.3")
def test_vjp_by_hand():
    x = torch.tensor([1.0, 2.0])
    _, product = functional.vjp(func, x, torch.tensor([1.0, 10.0]))
    same(product, [24.0, 51.0])


@pytest.mark.hole("08.3")
def test_vjp_leaves_the_callers_tensor_alone():
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        needed = x.requires_grad
        functional.vjp(func, x, torch.tensor([1.0, 10.0]))
        assert x.requires_grad == needed and x.grad is None


@pytest.mark.hole("08.3")
def test_vjp_detaches_its_results():
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        output, product = functional.vjp(func, x, torch.tensor([1.0, 10.0]))
        assert not output.requires_grad, "the output has history"
        assert not product.requires_grad, "the product has history"


@pytest.mark.hole("08.3")
def test_vjp_calls_the_function_once():
    seen = []
    functional.vjp(lambda x: (seen.append(x), func(x))[1], leaf([1.0, 2.0]), torch.ones(2))
    assert len(seen) == 1, f"expected one call, got {len(seen)}"


@pytest.mark.hole("08.3")
@pytest.mark.parametrize("create_graph", [False, True])
def test_vjp_calls_the_function_with_a_tensor_of_its_own(create_graph):
    seen, x = [], leaf([1.0, 2.0])
    functional.vjp(lambda x: (seen.append(x), func(x))[1], x, torch.ones(2), create_graph)
    assert seen[0] is not x, "func gets the caller's own tensor"


@pytest.mark.hole("08.3")
def test_strict_vjp_wants_a_product_that_depends_on_the_input():
    with pytest.raises(RuntimeError, match="independent of"):
        functional.vjp(lambda x: 2 * x, torch.tensor([1.0, 2.0]), torch.ones(2),
                       create_graph=True, strict=True)


@pytest.mark.hole("08.3")
def test_vjp_takes_a_vector_like_the_outputs():
    _, product = functional.vjp(wide, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0, 100.0]))
    same(product, [201.0, 110.0])


@pytest.mark.hole("08.3")
def test_vjp_refuses_another_vector():
    assert raised(functional.vjp, wide, torch.tensor([1.0, 2.0]), torch.ones(2)) == (
        "v has invalid size: should be torch.Size([3]) but got torch.Size([2]).")


@pytest.mark.hole("08.3")
def test_vjp_agrees_with_differences():
    v = np.sin(np.arange(10.0)).reshape(2, 5)
    output, product = functional.vjp(lambda x: network(torch, x), torch.tensor(POINT),
                                     torch.tensor(v))
    (expected,) = numerical_jacobian(lambda x: network(np, x), [POINT])
    assert_close(output.numpy(), network(np, POINT))
    assert_close(product.numpy(), np.tensordot(v, expected, 2), atol=1e-7)


@pytest.mark.hole("08.3")
def test_the_product_of_vjp_is_nested_like_the_inputs():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    _, product = functional.vjp(lambda x, y: x * y, (a, b), torch.tensor([1.0, 10.0]))
    assert isinstance(product, tuple), "expected a tuple, since the inputs were one"
    assert [t.tolist() for t in product] == [[3.0, 40.0], [1.0, 20.0]]
    _, product = functional.vjp(lambda x: (x * 2, x.sum()), a, (b, torch.tensor(3.0)))
    assert isinstance(product, torch.Tensor), "expected a tensor, since the input was one"
    same(product, [9.0, 11.0])
    _, product = functional.vjp(lambda x: x * 2, (a,), b)
    assert isinstance(product, tuple), "expected a tuple, since the inputs were one"


@pytest.mark.hole("08.3")
def test_the_output_of_vjp_is_nested_as_func_gave_it():
    a, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    output, _ = functional.vjp(lambda x, y: x * y, (a, a), v)
    assert isinstance(output, torch.Tensor), "expected a tensor, since func gave one"
    output, _ = functional.vjp(lambda x: (x * 2, x.sum()), a, (v, torch.tensor(3.0)))
    assert isinstance(output, tuple) and len(output) == 2, "expected a tuple of two"


@pytest.mark.hole("08.3")
def test_vjp_multiplies_one_output_by_the_vector_too():
    _, product = functional.vjp(lambda x: (x * x).sum(), torch.tensor([1.0, 2.0]),
                                torch.tensor(3.0))
    same(product, [6.0, 12.0])


@pytest.mark.hole("08.3")
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)], ids=str)
def test_vjp_without_a_vector(shape):
    output, product = functional.vjp(lambda x: (x * x).sum().reshape(shape),
                                     torch.tensor([1.0, 2.0]))
    assert output.item() == 5.0
    same(product, [2.0, 4.0])


@pytest.mark.hole("08.3")
@pytest.mark.parametrize("f", [
    pytest.param(func, id="a tensor of two elements"),
    pytest.param(lambda x: (x.sum(), x.sum()), id="a tuple of two")])
def test_vjp_without_a_vector_wants_one_element(f):
    assert raised(functional.vjp, f, torch.tensor([1.0, 2.0])) == (
        "The vector v can only be None if the user-provided function returns a single Tensor "
        "with a single element.")


@pytest.mark.hole("08.3")
def test_vjp_gives_zeros_for_what_is_not_used():
    a, b = torch.tensor([1.0, 2.0]), torch.ones((3, 1))
    _, product = functional.vjp(lambda x, y: x * 2, (a, b), torch.ones(2))
    assert product[1] is not None and product[1].shape == (3, 1)
    assert product[1].sum().item() == 0.0
    same(product[0], [2.0, 2.0])


@pytest.mark.hole("08.3")
def test_vjp_of_a_constant_is_zeros():
    output, product = functional.vjp(lambda x: torch.ones(2), torch.tensor([1.0, 2.0]),
                                     torch.ones(2))
    assert output.tolist() == [1.0, 1.0] and product.tolist() == [0.0, 0.0]


@pytest.mark.hole("08.3")
def test_vjp_refuses_constant_outputs_in_strict_mode():
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.vjp, lambda x: x.detach() * 2, torch.tensor([1.0, 2.0]), torch.ones(2),
        strict=True)


@pytest.mark.hole("08.3")
def test_vjp_refuses_unused_inputs_in_strict_mode():
    a = torch.tensor([1.0, 2.0])
    assert "The output of the user-provided function is independent of input 1" in raised(
        functional.vjp, lambda x, y: x * 2, (a, a), torch.ones(2), strict=True)


@pytest.mark.hole("08.3")
def test_vjp_records_under_no_grad():
    with torch.no_grad():
        _, product = functional.vjp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    same(product, [24.0, 51.0])


@pytest.mark.hole("08.3")
def test_vjp_puts_the_mode_back():
    x = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        functional.vjp(func, x, x)
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"
    functional.vjp(func, x, x)
    assert torch.is_grad_enabled()


@pytest.mark.hole("08.3")
def test_vjp_puts_the_mode_back_after_an_error():
    def fails(x):
        raise ValueError("from the function")

    with torch.no_grad():
        with pytest.raises(ValueError, match="from the function"):
            functional.vjp(fails, torch.ones(2), torch.ones(2))
        assert not torch.is_grad_enabled(), "an error left recording on"


@pytest.mark.hole("08.3")
def test_the_product_of_vjp_for_a_graph():
    x = leaf([1.0, 2.0])
    _, product = functional.vjp(lambda x: x**3, x, torch.tensor([1.0, 10.0]), create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), x)
    same(slope, [6.0, 120.0])  # v 6 x
    assert x.grad is None


@pytest.mark.hole("08.3")
def test_the_product_of_vjp_can_be_differentiated_by_the_vector():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    _, product = functional.vjp(lambda x: x**3, x, v, create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), v)
    same(slope, [3.0, 12.0])


@pytest.mark.hole("08.3")
def test_the_product_of_vjp_for_a_graph_under_no_grad():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    with torch.no_grad():
        _, product = functional.vjp(lambda x: x**3, x, v, create_graph=True)
    assert product.requires_grad, "expected a product with a graph"
    found = torch.autograd.grad(product.sum(), (x, v), allow_unused=True)
    for name, slope, wanted in zip(("x", "v"), found, ([6.0, 120.0], [3.0, 12.0]), strict=True):
        assert slope is not None, f"the product isn't connected to {name}"
        same(slope, wanted)


@pytest.mark.hole("08.3")
def test_the_output_of_vjp_for_a_graph():
    x = leaf([1.0, 2.0])
    output, _ = functional.vjp(lambda x: x**3, x, torch.tensor([1.0, 10.0]), create_graph=True)
    (slope,) = torch.autograd.grad(output.sum(), x)
    same(slope, [3.0, 12.0])


@pytest.mark.hole("08.3")
def test_vjp_refuses_inputs_that_are_no_tensors():
    with pytest.raises(TypeError, match="The inputs given to vjp must be either a Tensor"):
        functional.vjp(func, 3)


@pytest.mark.hole("08.3")
def test_vjp_refuses_outputs_that_are_no_tensors():
    with pytest.raises(TypeError, match="outputs of .* the value at index 1 has type"):
        functional.vjp(lambda x: (x, "a"), torch.ones(2), torch.ones(2))


# ------------------------------------------------------------------------------------ 08.4


SHAPES = pytest.mark.parametrize("shape", [(3,), (2, 2), (), (2, 0)], ids=str)


@pytest.mark.hole("08.4")
@SHAPES
def test_there_is_a_unit_vector_for_each_element(shape):
    like = torch.ones(shape, dtype=torch.float64)
    assert len(functional_passes.unit_vectors(like)) == like.numel()


@pytest.mark.hole("08.4")
@SHAPES
def test_unit_vectors_have_the_shape_and_dtype(shape):
    for unit in functional_passes.unit_vectors(torch.ones(shape, dtype=torch.float64)):
        assert unit.shape == shape and unit.dtype == torch.float64


@pytest.mark.hole("08.4")
@SHAPES
def test_unit_vectors(shape):
    units = functional_passes.unit_vectors(torch.ones(shape, dtype=torch.float64))
    for i, unit in enumerate(units):
        assert unit.reshape(-1).tolist() == [float(i == j) for j in range(len(units))]


@pytest.mark.hole("08.4")
def test_rows_of_an_output():
    x = leaf([1.0, 2.0])
    rows = functional_passes.rows_of(func(x), (x,), False)
    assert len(rows) == 2, f"expected a row for each element, got {len(rows)}"
    same(torch.stack([row[0] for row in rows]), [[4.0, 1.0], [2.0, 5.0]])


@pytest.mark.hole("08.4")
def test_rows_have_an_entry_for_each_input():
    x, other = leaf([1.0, 2.0]), leaf(3.0)
    rows = functional_passes.rows_of(func(x), (x, other), False)
    assert [len(row) for row in rows] == [2, 2] and [row[1] for row in rows] == [None, None]


@pytest.mark.hole("08.4")
def test_rows_of_a_constant():
    x, other = leaf([1.0, 2.0]), leaf(3.0)
    for inputs in ((x,), (x, other)):
        rows = functional_passes.rows_of(torch.ones(2), inputs, False)
        assert [tuple(row) for row in rows] == [(None,) * len(inputs)] * 2, (
            f"expected a row for each element, None for each input, got {rows}")


@pytest.mark.hole("08.4")
def test_rows_can_be_asked_for_again():
    x = leaf([1.0, 2.0])
    y = func(x)
    for _ in range(2):
        assert [row[0].tolist() for row in functional_passes.rows_of(y, (x,), False)] == [
            [4.0, 1.0], [2.0, 5.0]]


@pytest.mark.hole("08.4")
@pytest.mark.parametrize("create_graph", [False, True])
def test_rows_have_a_graph_only_if_asked(create_graph):
    x = leaf([1.0, 2.0])
    rows = functional_passes.rows_of(func(x), (x,), create_graph)
    assert rows[1][0].requires_grad == create_graph


@pytest.mark.hole("08.4")
def test_stacked_rows_come_first():
    found = functional_passes.stacked(
        [torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[5.0, 6.0]])],
        torch.ones((1, 2)))
    assert found.shape == (3, 1, 2), f"got shape {tuple(found.shape)}"
    same(found[:, 0], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.hole("08.4")
def test_stacked_fills_gaps():
    like, one = torch.ones((2,), dtype=torch.float64), leaf([1.0, 2.0], torch.float64).detach()
    for rows, expected in (([None, one], [[0.0, 0.0], [1.0, 2.0]]),
                           ([one, None], [[1.0, 2.0], [0.0, 0.0]]), ([None], [[0.0, 0.0]])):
        found = functional_passes.stacked(rows, like)
        assert found.tolist() == expected, f"expected {expected}, got {found.tolist()}"
        assert found.dtype == torch.float64


@pytest.mark.hole("08.4")
def test_stacked_fills_gaps_of_an_infinite_input():
    found = functional_passes.stacked([None, ONE], torch.tensor([float("inf")]))
    assert found.tolist() == [[0.0], [7.0]], f"got {found.tolist()}"


@pytest.mark.hole("08.4")
def test_stacked_of_no_rows():
    nothing = functional_passes.stacked([], torch.ones((2,), dtype=torch.float64))
    assert nothing.shape == (0, 2) and nothing.dtype == torch.float64


@pytest.mark.hole("08.4")
def test_blocks_of_have_the_shape_of_output_and_input():
    output, x, y = torch.ones((2, 1)), torch.ones((3,)), torch.ones((1, 2))
    rows = torch.arange(6.0).reshape(2, 3)
    found = derivatives.blocks_of(output, [rows, torch.ones((2, 1, 2))], (x, y))
    assert isinstance(found, tuple) and len(found) == 2
    shapes = [tuple(block.shape) for block in found]
    assert shapes == [(2, 1, 3), (2, 1, 1, 2)], f"got {shapes}"
    assert found[0].reshape(2, 3).tolist() == rows.tolist()


@pytest.mark.hole("08.4")
def test_blocks_that_are_missing_are_zeros():
    output, y = torch.ones((2, 1)), torch.ones((1, 2), dtype=torch.float64)
    (found,) = derivatives.blocks_of(output, [None], (y,))
    assert found.shape == (2, 1, 1, 2), f"got shape {tuple(found.shape)}"
    assert found.dtype == torch.float64, f"got {found.dtype}"
    assert found.sum().item() == 0.0


@pytest.mark.hole("08.4")
@pytest.mark.parametrize("f, point, expected", [
    pytest.param(func, [1.0, 2.0], [[4.0, 1.0], [2.0, 5.0]], id="two outputs of two inputs"),
    pytest.param(wide, [1.0, 2.0], [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]],
                 id="three outputs of two inputs"),
    pytest.param(lambda x: x**2, 3.0, 6.0, id="numbers")])
def test_jacobian_by_hand(f, point, expected):
    found = functional.jacobian(f, torch.tensor(point))
    same(found, expected)
    assert not found.requires_grad


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


@pytest.mark.hole("08.4")
def test_jacobian_of_an_output_without_elements():
    assert functional.jacobian(lambda x: x[:0], torch.tensor([1.0, 2.0])).shape == (0, 2)


@pytest.mark.hole("08.4")
def test_jacobian_for_a_graph():
    x = leaf([1.0, 2.0])
    found = functional.jacobian(lambda x: x**3, x, create_graph=True)
    same(found, [[3.0, 0.0], [0.0, 12.0]])
    (slope,) = torch.autograd.grad(found.sum(), x)
    same(slope, [6.0, 12.0])


@pytest.mark.hole("08.4")
def test_jacobian_in_strict_mode():
    x = torch.tensor([1.0, 2.0])
    same(functional.jacobian(func, x, strict=True), [[4.0, 1.0], [2.0, 5.0]])
    assert "Output 0 of the user-provided function is independent of input 1" in raised(
        functional.jacobian, lambda x, y: x * 2, (x, x), strict=True)


# ------------------------------------------------------------------------------------ 08.5


@pytest.mark.hole("08.5")
def test_hessian_of_one_tensor_is_one_tensor():
    found = functional.hessian(mixed, torch.tensor([1.0, 2.0]))
    assert isinstance(found, torch.Tensor), f"expected a tensor, got {type(found).__name__}"


@pytest.mark.hole("08.5")
def test_hessian_by_hand():
    same(functional.hessian(mixed, torch.tensor([1.0, 2.0])), [[4.0, 2.0], [2.0, 12.0]])


@pytest.mark.hole("08.5")
def test_hessian_has_the_shape_of_the_input_twice():
    found = functional.hessian(lambda x: (x**3).sum(), torch.tensor([[1.0, 2.0]]))
    assert found.shape == (1, 2, 1, 2)
    assert found[0, :, 0, :].tolist() == [[6.0, 0.0], [0.0, 12.0]]


@pytest.mark.hole("08.5")
def test_hessian_is_detached():
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        assert not functional.hessian(mixed, x).requires_grad
        assert x.grad is None


@pytest.mark.hole("08.5")
def test_hessian_of_a_tuple_is_a_tuple_of_tuples():
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    for found, n in ((functional.hessian(quadratic, inputs), 2),
                     (functional.hessian(mixed, inputs[:1]), 1)):
        assert isinstance(found, tuple) and len(found) == n, f"got {found!r}"
        assert all(isinstance(row, tuple) and len(row) == n for row in found), f"got {found!r}"


@pytest.mark.hole("08.5")
def test_hessian_of_two_inputs():
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    found = functional.hessian(quadratic, inputs)
    assert [[block.tolist() for block in row] for row in found] == [
        [[[10.0, 0.0], [0.0, 0.0]], [[2.0], [30.0]]],
        [[[2.0, 30.0]], [[12.0]]],
    ]


@pytest.mark.hole("08.5")
def test_hessian_agrees_with_differences():
    def slopes(x):
        (found,) = numerical_jacobian(lambda x: (network(np, x) ** 2).sum(), [x], eps=1e-4)
        return found

    found = functional.hessian(lambda x: (network(torch, x) ** 2).sum(), torch.tensor(POINT))
    (expected,) = numerical_jacobian(slopes, [POINT], eps=1e-4)
    assert_close(found.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.hole("08.5")
@pytest.mark.parametrize("shape", [(1,), (1, 1)], ids=str)
def test_hessian_of_an_output_in_any_shape(shape):
    found = functional.hessian(lambda x: mixed(x).reshape(shape), torch.tensor([1.0, 2.0]))
    assert found.shape == (2, 2), f"expected shape (2, 2), got {tuple(found.shape)}"
    same(found, [[4.0, 2.0], [2.0, 12.0]])


@pytest.mark.hole("08.5")
def test_hessian_wants_one_element():
    assert "given to hessian should contain a single element" in raised(
        functional.hessian, lambda x: x**2, torch.tensor([1.0, 2.0]))


@pytest.mark.hole("08.5")
def test_hessian_wants_one_tensor_as_output():
    assert "given to hessian should return a single Tensor" in raised(
        functional.hessian, lambda x: (x.sum(), x.sum()), torch.tensor([1.0, 2.0]))


@pytest.mark.hole("08.5")
def test_hessian_refuses_inputs_that_are_no_tensors():
    with pytest.raises(TypeError, match="given to hessian"):
        functional.hessian(mixed, 3)


@pytest.mark.hole("08.5")
def test_hessian_of_what_is_linear_is_zero():
    found = functional.hessian(lambda x: x.sum(), torch.tensor([1.0, 2.0]))
    assert found.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.hole("08.5")
def test_hessian_by_an_unused_input_is_zero():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    (a, b), (c, d) = functional.hessian(lambda x, y: mixed(x), (x, y))
    assert a.tolist() == [[4.0, 2.0], [2.0, 12.0]]
    assert (b.tolist(), c.tolist(), d.item()) == ([0.0, 0.0], [0.0, 0.0], 0.0)


@pytest.mark.hole("08.5")
def test_hessian_in_strict_mode():
    x = torch.tensor([1.0, 2.0])
    same(functional.hessian(mixed, x, strict=True), [[4.0, 2.0], [2.0, 12.0]])


@pytest.mark.hole("08.5")
def test_hessian_refuses_constant_slopes_in_strict_mode():
    assert "While computing the hessian, found that the jacobian" in raised(
        functional.hessian, lambda x: x.sum(), torch.tensor([1.0, 2.0]), strict=True)


@pytest.mark.hole("08.5")
def test_hessian_refuses_constant_outputs_in_strict_mode():
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.hessian, lambda x: x.detach().sum(), torch.tensor([1.0, 2.0]), strict=True)


@pytest.mark.hole("08.5")
def test_hessian_refuses_slopes_that_do_not_depend_on_an_input_in_strict_mode():
    x = torch.tensor([1.0, 2.0])
    assert "Output 0 of the user-provided function is independent of input 1" in raised(
        functional.hessian, lambda x, y: mixed(x) + mixed(y), (x, x), strict=True)


@pytest.mark.hole("08.5")
def test_hessian_for_a_graph():
    x = leaf([1.0, 2.0])
    found = functional.hessian(lambda x: (x**4).sum(), x, create_graph=True)
    same(found, [[12.0, 0.0], [0.0, 48.0]])
    (slope,) = torch.autograd.grad(found.sum(), x)
    same(slope, [24.0, 48.0])  # 24 x
    assert x.grad is None


@pytest.mark.hole("08.5")
def test_hessian_with_forward_mode_outside():
    x = torch.tensor([1.0, 2.0])
    options = {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}
    same(functional.hessian(mixed, x, **options), [[4.0, 2.0], [2.0, 12.0]])
    with pytest.raises(NotImplementedError, match="`create_graph=True` and `strategy="):
        functional.hessian(mixed, x, create_graph=True, **options)


@pytest.mark.hole("08.5")
def test_hessian_refuses_an_unknown_strategy():
    with pytest.raises(AssertionError) as caught:
        functional.hessian(mixed, torch.tensor([1.0, 2.0]), outer_jacobian_strategy="sideways")
    told = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
    assert str(caught.value) == told, f"expected {told!r}, got {str(caught.value)!r}"


@pytest.mark.hole("08.5")
def test_hessian_passes_strict_and_vectorize_on():
    assert "not supported together" in raised(
        functional.hessian, mixed, torch.tensor([1.0, 2.0]), strict=True, vectorize=True)


@pytest.mark.hole("08.5")
def test_hessian_passes_its_options_to_the_outer_jacobian(monkeypatch):
    calls = []

    def calls_of(**options):
        calls.clear()
        functional.hessian(mixed, torch.tensor([1.0, 2.0]), **options)
        return list(calls)

    def watched(f, inputs, create_graph=False, strict=False, vectorize=False,
                strategy="reverse-mode"):
        calls.append((create_graph, strict, vectorize, strategy))
        return original(f, inputs, create_graph, strict)  # the batched pass is another exercise

    original = functional.jacobian
    monkeypatch.setattr(derivatives, "jacobian", watched)
    outer, *inner = calls_of(vectorize=True)
    assert outer == (False, False, True, "reverse-mode"), f"got {outer}"
    assert set(inner) <= {(True, False, False, "reverse-mode")}, f"got {inner}"
    assert (True, True, False, "reverse-mode") in calls_of(create_graph=True, strict=True)


# ------------------------------------------------------------------------------------ 08.6


@pytest.mark.hole("08.6")
def test_pullback_returns_gradients_and_vector():
    x = leaf([1.0, 2.0])
    y = wide(x)
    found = functional_passes.pullback((y,), (x,), (y,))
    assert isinstance(found, tuple) and [type(each) for each in found] == [tuple, tuple]
    pulled, vectors = found
    assert [tuple(t.shape) for t in pulled] == [(2,)], "the gradients by the inputs come first"
    assert [tuple(t.shape) for t in vectors] == [(3,)], "the vector u comes second"


@pytest.mark.hole("08.6")
def test_the_vector_of_pullback_is_zeros_that_require_grad():
    x = leaf([1.0, 2.0], torch.float64)
    like = (torch.ones((3,), dtype=torch.float64), torch.ones((2, 1)))
    _, vectors = functional_passes.pullback((wide(x), (x.float() * 2).reshape(2, 1)), (x,), like)
    for u, t in zip(vectors, like, strict=True):
        assert u.requires_grad, "u has to require grad"
        assert u.shape == t.shape and u.dtype == t.dtype
        assert u.detach().numpy().tolist() == np.zeros(tuple(t.shape)).tolist()


@pytest.mark.hole("08.6")
def test_the_vector_of_pullback_is_zeros_for_an_infinite_output():
    x = leaf([1.0, 2.0])
    _, (vector,) = functional_passes.pullback(
        (x * 2,), (x,), (torch.tensor([float("inf"), -1.0]),))
    assert vector.tolist() == [0.0, 0.0], f"got {vector.tolist()}"


@pytest.mark.hole("08.6")
def test_pullback_is_a_function_of_its_vector():
    x = leaf([1.0, 2.0])
    y = wide(x)
    pulled, vectors = functional_passes.pullback((y,), (x,), (y,))
    same(pulled[0], [0.0, 0.0])
    (found,) = torch.autograd.grad(pulled[0], vectors[0], torch.tensor([1.0, 10.0]))
    same(found, [1.0, 10.0, 12.0])


@pytest.mark.hole("08.6")
def test_jvp_returns_the_output_first():
    found = functional.jvp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    assert isinstance(found, tuple) and len(found) == 2, "expected a pair"
    same(found[0], [3.0, 6.0])


@pytest.mark.hole("08.6")
def test_jvp_by_hand():
    _, product = functional.jvp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    same(product, [14.0, 52.0])


@pytest.mark.hole("08.6")
def test_jvp_leaves_the_callers_tensor_alone():
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        needed, seen = x.requires_grad, []
        functional.jvp(lambda x, seen=seen: (seen.append(x), func(x))[1], x, torch.ones(2))
        assert x.requires_grad == needed and x.grad is None
        assert len(seen) == 1 and seen[0] is not x


@pytest.mark.hole("08.6")
def test_jvp_detaches_its_results():
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        output, product = functional.jvp(func, x, torch.tensor([1.0, 10.0]))
        assert not output.requires_grad, "the output has history"
        assert not product.requires_grad, "the product has history"


@pytest.mark.hole("08.6")
def test_jvp_takes_a_vector_like_the_inputs():
    x = torch.tensor([1.0, 2.0])
    _, product = functional.jvp(wide, x, torch.tensor([1.0, 10.0]))
    same(product, [1.0, 10.0, 12.0])
    _, product = functional.jvp(lambda x: x.sum(), x, torch.tensor([1.0, 10.0]))
    assert product.tolist() == 11.0


@pytest.mark.hole("08.6")
def test_jvp_refuses_another_vector():
    assert raised(functional.jvp, wide, torch.tensor([1.0, 2.0]), torch.ones(3)) == (
        "v has invalid size: should be torch.Size([2]) but got torch.Size([3]).")


@pytest.mark.hole("08.6")
def test_jvp_agrees_with_differences():
    v = np.cos(np.arange(6.0)).reshape(2, 3)
    output, product = functional.jvp(lambda x: network(torch, x), torch.tensor(POINT),
                                     torch.tensor(v))
    (expected,) = numerical_jacobian(lambda x: network(np, x), [POINT])
    assert_close(output.numpy(), network(np, POINT))
    assert_close(product.numpy(), np.tensordot(expected, v, 2), atol=1e-7)


@pytest.mark.hole("08.6")
def test_jvp_of_two_inputs_is_the_sum():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    v, w = torch.tensor([1.0, 10.0]), torch.tensor([100.0, 1000.0])
    output, product = functional.jvp(lambda x, y: x * y, (a, b), (v, w))
    assert isinstance(output, torch.Tensor)
    assert isinstance(product, torch.Tensor), "expected a tensor, since the output is one"
    same(product, [103.0, 2040.0])


@pytest.mark.hole("08.6")
def test_the_product_of_jvp_is_nested_like_the_outputs():
    a, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    output, product = functional.jvp(lambda x: (x * 2, x.sum()), a, v)
    assert isinstance(output, tuple), "expected a tuple, since func gave one"
    assert isinstance(product, tuple), "expected a tuple, since the outputs are one"
    assert [t.tolist() for t in product] == [[2.0, 20.0], 11.0]
    output, product = functional.jvp(lambda x: (x * 2,), a, v)
    assert isinstance(output, tuple) and isinstance(product, tuple)


@pytest.mark.hole("08.6")
def test_jvp_without_a_vector():
    output, product = functional.jvp(lambda x: torch.stack([x, x**2]), torch.tensor(3.0))
    same(output, [3.0, 9.0])
    same(product, [1.0, 6.0])


@pytest.mark.hole("08.6")
def test_jvp_without_a_vector_wants_one_element():
    assert "The vector v can only be None if the input" in raised(
        functional.jvp, func, torch.tensor([1.0, 2.0]))


@pytest.mark.hole("08.6")
def test_jvp_gives_zeros_for_outputs_that_do_not_depend():
    a, v = torch.tensor([1.0, 2.0]), torch.ones(2)
    _, product = functional.jvp(lambda x: (x * 2, torch.ones((3, 1))), a, v)
    same(product[0], [2.0, 2.0])
    assert product[1] is not None and product[1].shape == (3, 1)
    assert product[1].sum().item() == 0.0
    _, product = functional.jvp(lambda x: torch.ones(()), a, v)
    assert product.tolist() == 0.0


@pytest.mark.hole("08.6")
def test_jvp_with_an_unused_input():
    a, v = torch.tensor([1.0, 2.0]), torch.ones(2)
    _, product = functional.jvp(lambda x, y: x * 2, (a, a), (v, v))
    same(product, [2.0, 2.0])


@pytest.mark.hole("08.6")
def test_jvp_in_strict_mode():
    a, ones = torch.tensor([1.0, 2.0]), torch.ones(2)
    same(functional.jvp(func, a, ones, strict=True)[1], [5.0, 7.0])


@pytest.mark.hole("08.6")
def test_jvp_refuses_constant_outputs_in_strict_mode():
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        functional.jvp, lambda x: x.detach() * 2, torch.tensor([1.0, 2.0]), torch.ones(2),
        strict=True)


@pytest.mark.hole("08.6")
def test_jvp_refuses_unused_inputs_in_strict_mode():
    a, ones = torch.tensor([1.0, 2.0]), torch.ones(2)
    assert "independent of input 1" in raised(
        functional.jvp, lambda x, y: x * 2, (a, a), (ones, ones), strict=True)


@pytest.mark.hole("08.6")
def test_jvp_says_in_strict_mode_which_output_does_not_depend():
    x, other = torch.tensor([1.0, 2.0]), leaf([3.0, 4.0])
    told = raised(functional.jvp, lambda x: (x * 2, other * 1), x, x, strict=True)
    assert told.startswith("The gradient with respect to the input is independent of entry 1")


@pytest.mark.hole("08.6")
def test_jvp_records_under_no_grad():
    with torch.no_grad():
        _, product = functional.jvp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    same(product, [14.0, 52.0])


@pytest.mark.hole("08.6")
def test_jvp_puts_the_mode_back():
    with torch.no_grad():
        functional.jvp(func, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"


@pytest.mark.hole("08.6")
def test_the_product_of_jvp_for_a_graph():
    x = leaf([1.0, 2.0])
    _, product = functional.jvp(lambda x: x**3, x, torch.tensor([1.0, 10.0]), create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), x)
    same(slope, [6.0, 120.0])


@pytest.mark.hole("08.6")
def test_the_product_of_jvp_can_be_differentiated_by_the_vector():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    _, product = functional.jvp(lambda x: x**3, x, v, create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), v)
    same(slope, [3.0, 12.0])


@pytest.mark.hole("08.6")
def test_the_product_of_jvp_for_a_graph_under_no_grad():
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    with torch.no_grad():
        _, product = functional.jvp(lambda x: x**3, x, v, create_graph=True)
    assert product.requires_grad, "expected a product with a graph"
    found = torch.autograd.grad(product.sum(), (x, v), allow_unused=True)
    for name, slope, wanted in zip(("x", "v"), found, ([6.0, 120.0], [3.0, 12.0]), strict=True):
        assert slope is not None, f"the product isn't connected to {name}"
        same(slope, wanted)


@pytest.mark.hole("08.6")
def test_the_output_of_jvp_for_a_graph():
    x = leaf([1.0, 2.0])
    output, _ = functional.jvp(lambda x: x**3, x, torch.tensor([1.0, 10.0]), create_graph=True)
    (slope,) = torch.autograd.grad(output.sum(), x)
    same(slope, [3.0, 12.0])


# ------------------------------------------------------------------------------------ 08.7

BY_NAME = pytest.mark.parametrize("name", PRODUCTS_WITH_H)


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_return_the_output_first(name):
    found = getattr(functional, name)(mixed, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    assert isinstance(found, tuple) and len(found) == 2, "expected a pair"
    assert isinstance(found[0], torch.Tensor), "the output comes back as one tensor"
    assert found[0].numel() == 1, "the output comes first"
    assert found[0].item() == 10.0


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_by_hand(name):
    x = torch.tensor([1.0, 2.0])
    _, product = getattr(functional, name)(mixed, x, torch.tensor([1.0, 10.0]))
    assert isinstance(product, torch.Tensor), "expected a tensor, since the input was one"
    same(product, [24.0, 122.0])


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_leave_the_callers_tensor_alone(name):
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        needed, seen = x.requires_grad, []
        getattr(functional, name)(lambda x, seen=seen: (seen.append(x), mixed(x))[1], x,
                                  torch.ones(2))
        assert x.requires_grad == needed and x.grad is None
        assert len(seen) == 1 and seen[0] is not x


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_are_detached(name):
    for x in (torch.tensor([1.0, 2.0]), leaf([1.0, 2.0])):
        output, product = getattr(functional, name)(mixed, x, torch.tensor([1.0, 10.0]))
        assert not output.requires_grad, "the output has history"
        assert not product.requires_grad, "the product has history"


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_of_two_inputs(name):
    inputs = (torch.tensor([1.0, 2.0]), torch.tensor([5.0]))
    v = (torch.tensor([1.0, 10.0]), torch.tensor([100.0]))
    output, product = getattr(functional, name)(quadratic, inputs, v)
    assert output.item() == 155.0
    assert isinstance(product, tuple), "expected a tuple, since the inputs were one"
    assert [t.tolist() for t in product] == [[210.0, 3000.0], [1502.0]]


@pytest.mark.hole("08.7")
@BY_NAME
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
@BY_NAME
def test_hessian_products_without_a_vector(name):
    output, product = getattr(functional, name)(lambda x: x**3, torch.tensor(2.0))
    assert output.item() == 8.0 and product.item() == 12.0


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_refuse_a_missing_or_another_vector(name):
    run, x = getattr(functional, name), torch.tensor([1.0, 2.0])
    assert "The vector v can only be None if the input" in raised(run, mixed, x)
    assert "v has invalid size" in raised(run, mixed, x, torch.ones(3))


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_want_one_element(name):
    x = torch.tensor([1.0, 2.0])
    assert f"given to {name} should contain a single element" in raised(
        getattr(functional, name), func, x, x)


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_want_one_tensor_as_output(name):
    x = torch.tensor([1.0, 2.0])
    assert f"given to {name} should return a single Tensor" in raised(
        getattr(functional, name), lambda x: (x.sum(),), x, x)


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_refuse_inputs_that_are_no_tensors(name):
    with pytest.raises(TypeError, match=f"The inputs given to {name}"):
        getattr(functional, name)(mixed, 3, torch.ones(2))


@pytest.mark.hole("08.7")
@BY_NAME
@pytest.mark.parametrize("f", [
    pytest.param(lambda x: x.sum(), id="a sum"),
    pytest.param(lambda x: torch.ones(()), id="a constant")])
def test_hessian_products_of_what_is_linear_are_zero(f, name):
    _, product = getattr(functional, name)(f, torch.tensor([1.0, 2.0]), torch.ones(2))
    assert product is not None and product.tolist() == [0.0, 0.0]


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_of_an_unused_input_are_zero(name):
    v = torch.ones(2)
    _, product = getattr(functional, name)(
        lambda x, y: mixed(x), (torch.tensor([1.0, 2.0]), torch.ones((3, 1))),
        (v, torch.ones((3, 1))))
    same(product[0], [6.0, 14.0])
    assert product[1] is not None and product[1].shape == (3, 1)
    assert product[1].sum().item() == 0.0


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_in_strict_mode(name):
    run, x, v = getattr(functional, name), torch.tensor([1.0, 2.0]), torch.ones(2)
    same(run(mixed, x, v, strict=True)[1], [6.0, 14.0])


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_refuse_constant_outputs_in_strict_mode(name):
    x = torch.tensor([1.0, 2.0])
    assert "Output 0 of the user-provided function does not require gradients" in raised(
        getattr(functional, name), lambda x: x.detach().sum(), x, x, strict=True)


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_refuse_constant_slopes_in_strict_mode(name):
    x = torch.tensor([1.0, 2.0])
    assert "While computing the hessian, found that the jacobian" in raised(
        getattr(functional, name), lambda x: x.sum(), x, x, strict=True)


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name, told", [
    ("vhp", "The jacobian of the user-provided function is independent of input 1."),
    ("hvp", "The hessian of the user-provided function is independent of entry 1")], ids=[
        "vhp", "hvp"])
def test_hessian_products_say_in_strict_mode_what_is_missing(name, told):
    x, other = torch.tensor([1.0, 2.0]), leaf([3.0, 4.0])
    found = raised(getattr(functional, name), lambda x, y: (x * x).sum() + (y * other).sum(),
                   (x, x), (x, x), strict=True)
    assert found.startswith(told), f"expected {told!r}, got {found!r}"


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_record_under_no_grad(name):
    with torch.no_grad():
        _, product = getattr(functional, name)(mixed, torch.tensor([1.0, 2.0]),
                                               torch.tensor([1.0, 10.0]))
    same(product, [24.0, 122.0])


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_put_the_mode_back(name):
    with torch.no_grad():
        getattr(functional, name)(mixed, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        assert not torch.is_grad_enabled(), "recording was off before, and is on afterwards"


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_for_a_graph(name):
    x = leaf([2.0, 1.0])
    _, product = getattr(functional, name)(
        lambda x: (x**4).sum(), x, torch.tensor([3.0, 1.0]), create_graph=True)
    same(product, [144.0, 12.0])  # 12 x^2 v
    (slope,) = torch.autograd.grad(product.sum(), x)
    same(slope, [144.0, 24.0])  # 24 x v


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_can_be_differentiated_by_the_vector(name):
    x, v = leaf([2.0, 1.0]), leaf([3.0, 1.0])
    _, product = getattr(functional, name)(lambda x: (x**4).sum(), x, v, create_graph=True)
    (slope,) = torch.autograd.grad(product.sum(), v)
    same(slope, [48.0, 12.0])


@pytest.mark.hole("08.7")
@BY_NAME
def test_hessian_products_for_a_graph_under_no_grad(name):
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    with torch.no_grad():
        _, product = getattr(functional, name)(lambda x: (x**3).sum(), x, v, create_graph=True)
    assert product.requires_grad, "expected a product with a graph"
    found = torch.autograd.grad(product.sum(), (x, v), allow_unused=True)
    for given, slope, wanted in zip(("x", "v"), found, ([6.0, 60.0], [6.0, 12.0]), strict=True):
        assert slope is not None, f"the product isn't connected to {given}"
        same(slope, wanted)


class Lopsided(torch.autograd.Function):
    """Declares the slope (x1, 0), so that H = [[0, 1], [0, 0]] is not symmetric."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x[0] * x[1]

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * torch.stack([x[1], x[1] * 0])


@pytest.mark.hole("08.7")
@pytest.mark.parametrize("name, wanted", [("vhp", [0.0, 1.0]), ("hvp", [10.0, 0.0])],
                         ids=PRODUCTS_WITH_H)
def test_which_product_with_a_hessian_that_is_not_symmetric(name, wanted):
    _, product = getattr(functional, name)(
        Lopsided.apply, torch.tensor([3.0, 2.0]), torch.tensor([1.0, 10.0]))
    same(product, wanted)


@pytest.mark.hole("08.7")
@BY_NAME
def test_the_output_of_hessian_products_for_a_graph(name):
    x = leaf([2.0, 1.0])
    output, _ = getattr(functional, name)(
        lambda x: (x**4).sum(), x, torch.tensor([3.0, 1.0]), create_graph=True)
    (slope,) = torch.autograd.grad(output.sum(), x)
    same(slope, [32.0, 4.0])


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
def test_all_rows_of_one_output():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((func(x),), (x,), False)
    assert len(rows) == 1 and len(rows[0]) == 1
    same(rows[0][0], [[4.0, 1.0], [2.0, 5.0]])


@pytest.mark.hole("08.8")
def test_all_rows_of_two_outputs():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((func(x), (x * x).sum()), (x,), False)
    assert len(rows) == 2, f"expected an entry for each output, got {len(rows)}"
    same(rows[0][0], [[4.0, 1.0], [2.0, 5.0]])
    same(rows[1][0], [[2.0, 4.0]])


@pytest.mark.hole("08.8")
def test_all_rows_by_two_inputs():
    x, y = leaf([1.0, 2.0]), leaf(3.0)
    rows = functional_passes.all_rows((func(x), (x * x).sum() * y), (x, y), False)
    same(rows[1][0], [[6.0, 12.0]])
    same(rows[1][1], [5.0])
    assert rows[0][1] is None or rows[0][1].tolist() == [0.0, 0.0]


@pytest.mark.hole("08.8")
def test_all_rows_leave_constants_out():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((torch.ones(2), x * 2, None), (x, leaf(3.0)), False)
    assert len(rows) == 3, f"expected an entry for each output, got {len(rows)}"
    assert isinstance(rows[0], tuple) and rows[0] == (None, None)
    assert isinstance(rows[2], tuple) and rows[2] == (None, None)
    same(rows[1][0], [[2.0, 0.0], [0.0, 2.0]])


@pytest.mark.hole("08.8")
def test_all_rows_by_an_input_that_nothing_depends_on():
    x = leaf([1.0, 2.0])
    for outputs in ((x * 2,), (x * 2, x.sum())):
        rows = functional_passes.all_rows(outputs, (x, leaf(3.0)), False)
        assert [row[1] for row in rows] == [None] * len(outputs)


@pytest.mark.hole("08.8")
def test_all_rows_where_all_is_constant():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((torch.ones(2), None), (x, x), False)
    assert [tuple(row) for row in rows] == [(None, None)] * 2


@pytest.mark.hole("08.8")
def test_all_rows_where_there_is_no_element():
    x = leaf([1.0, 2.0])
    rows = functional_passes.all_rows((x[:0], torch.ones(2)), (x,), False)
    assert [tuple(row) for row in rows] == [(None,)] * 2


@pytest.mark.hole("08.8")
def test_all_rows_can_be_asked_for_again():
    x = leaf([1.0, 2.0])
    y = func(x)
    for _ in range(2):
        ((rows,),) = functional_passes.all_rows((y,), (x,), False)
        same(rows, [[4.0, 1.0], [2.0, 5.0]])


@pytest.mark.hole("08.8")
@pytest.mark.parametrize("create_graph", [False, True])
def test_all_rows_have_a_graph_only_if_asked(create_graph):
    x = leaf([1.0, 2.0])
    ((rows,),) = functional_passes.all_rows((func(x),), (x,), create_graph)
    assert rows.requires_grad == create_graph


@pytest.mark.hole("08.8")
def test_all_rows_are_one_pass():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    Counted.passes = 0
    found = functional.jacobian(Counted.apply, x, vectorize=True)
    same(found.diagonal(), [2.0, 4.0, 6.0, 8.0])
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
    same(found, [[3.0, 0.0], [0.0, 12.0]])
    (slope,) = torch.autograd.grad(found.sum(), x)
    same(slope, [6.0, 12.0])
