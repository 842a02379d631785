"""Stage 09: jacobians by differences and by backward, and what is made of comparing them."""

import math
import warnings

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad.autograd import Function, gradcheck, gradgradcheck
from minigrad.autograd.gradcheck import checks as gradcheck_parts
from minigrad.autograd.gradcheck import compare
from minigrad.autograd.gradcheck import numerical as jacobians
from minigrad.autograd.gradcheck.numerical import GradcheckError, Tolerances

LIMITS = Tolerances(1e-6, 1e-5, 1e-3, 0.0, False)


def double(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def constant(*values):
    return torch.tensor(list(values), dtype=torch.float64)


class Wrong(Function):
    """Twice x, with a gradient of -2, but a right derivative in forward mode."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * -2

    @staticmethod
    def jvp(ctx, t):
        return t * 2


class Added(Function):
    """The same numbers, with a gradient that is off by a constant."""

    @staticmethod
    def forward(ctx, x, extra):
        ctx.extra = extra
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g + ctx.extra, None


# ------------------------------------------------------------------ 09.1


def numerical(func, *inputs, eps=0.125):
    results = func(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    return jacobians.numerical_jacobians(func, inputs, results, eps)


@pytest.mark.hole("09.1")
def test_there_is_a_list_of_jacobians_for_each_input_that_requires_grad():
    found = numerical(lambda c, x, y: (c * x * y, x + c), constant(5.0), double(2.0), double(3.0))
    assert len(found) == 2, f"expected jacobians for 2 inputs, got {len(found)}"
    assert [len(of_input) for of_input in found] == [2, 2], "expected one for each result"


@pytest.mark.hole("09.1")
def test_a_jacobian_has_a_row_for_each_element_of_the_input():
    weight = constant([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    found = numerical(lambda x: x @ weight, double(1.0, 3.0))
    assert found[0][0].shape == (2, 3), f"expected shape (2, 3), got {found[0][0].shape}"


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("eps", [0.5, 0.125, 2.0**-10])
def test_central_differences_of_a_square_are_exact(eps):
    found = numerical(lambda x: x * x, double(1.0, 3.0), eps=eps)
    assert_close(found[0][0], [[2.0, 0.0], [0.0, 6.0]], what=f"jacobian of x*x, eps={eps}")


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("eps", [0.5, 0.25])
def test_both_sides_are_eps_away(eps):
    found = numerical(lambda x: x * x * x, double(1.0, 3.0), eps=eps)
    assert_close(found[0][0], [[3.0 + eps**2, 0.0], [0.0, 27.0 + eps**2]],
                 what=f"jacobian of x*x*x, eps={eps}")


@pytest.mark.hole("09.1")
def test_rows_are_the_inputs_elements():
    weight = constant([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    found = numerical(lambda x: x @ weight, double(1.0, 3.0))
    assert_close(found[0][0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], what="jacobian of x @ weight")


@pytest.mark.hole("09.1")
def test_elements_of_a_matrix_count_row_by_row():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    weight = constant([10.0, 20.0], [30.0, 40.0])
    found = numerical(lambda x: (x * weight).sum(), x)
    assert_close(found[0][0], [[10.0], [20.0], [30.0], [40.0]], what="jacobian of a weighted sum")


@pytest.mark.hole("09.1")
def test_elements_of_a_result_count_row_by_row_too():
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    found = numerical(lambda x: x * weight, double(1.0))
    assert_close(found[0][0], [[1.0, 2.0, 3.0, 4.0]], what="jacobian of x * weight")


@pytest.mark.hole("09.1")
def test_a_number_is_an_input_of_one_element():
    x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    assert_close(numerical(lambda x: x * x, x)[0][0], [[6.0]], what="jacobian at a 0-d tensor")


@pytest.mark.hole("09.1")
def test_the_input_is_left_as_it_was():
    x = double(1.0, 3.0)
    numerical(lambda x: x * x, x)
    assert_close(x.detach().numpy(), [1.0, 3.0], what="the input afterwards")


@pytest.mark.hole("09.1")
def test_the_input_is_put_back_bit_for_bit():
    values = [0.1, 1 / 3, -2.7, 1e-9]
    x = double(*values)
    numerical(lambda x: x * x, x, eps=1e-6)
    assert x.tolist() == values, f"expected {values}, got {x.tolist()}"


@pytest.mark.hole("09.1")
def test_an_element_is_put_back_before_the_next_is_moved():
    seen = []

    def watched(x):
        seen.append(x.tolist())
        return x * 2

    numerical(watched, double(1.0, 3.0), eps=0.5)
    assert sorted(seen[1:]) == [[0.5, 3.0], [1.0, 2.5], [1.0, 3.5], [1.5, 3.0]], f"got {seen[1:]}"


@pytest.mark.hole("09.1")
def test_only_one_input_is_moved_at_a_time():
    seen = []

    def watched(x, y):
        seen.append((x.item(), y.item()))
        return x * y

    numerical(watched, double(1.0), double(3.0), eps=0.5)
    assert sorted(seen[1:]) == [(0.5, 3.0), (1.0, 2.5), (1.0, 3.5), (1.5, 3.0)], f"got {seen[1:]}"


@pytest.mark.hole("09.1")
def test_the_version_counter_does_not_see_it():
    x = double(1.0, 3.0)
    numerical(lambda x: x * x, x)
    assert x._version == 0, f"expected version 0, got {x._version}"


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("func", [lambda x: x.view(2), lambda x: x], ids=["a view", "the input"])
def test_results_that_share_the_inputs_memory(func):
    found = numerical(func, double(1.0, 3.0))
    assert_close(found[0][0], [[1.0, 0.0], [0.0, 1.0]], what="jacobian of a view")


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("kind", [tuple, list])
def test_several_results_each_have_a_jacobian(kind):
    def func(x):
        return kind((x * 2, x.sum()))

    x = double(1.0, 3.0)
    ((first, second),) = jacobians.numerical_jacobians(func, (x,), tuple(func(x)), 0.125)
    assert_close(first, [[2.0, 0.0], [0.0, 2.0]], what="jacobian of the first result")
    assert_close(second, [[1.0], [1.0]], what="jacobian of the second result")


@pytest.mark.hole("09.1")
def test_each_input_that_requires_grad_by_each_result():
    found = numerical(lambda c, x, y: (c * x * y, x + c), constant(5.0), double(2.0), double(3.0))
    values = [[float(np.asarray(j)[0, 0]) for j in of_input] for of_input in found]
    assert values == [[15.0, 1.0], [10.0, 0.0]], f"got {values}"


@pytest.mark.hole("09.1")
def test_a_result_of_integers_does_not_vary():
    found = numerical(lambda x: (x * 2, (x * 1e9).long()), double(1.0, 3.0))
    assert_close(found[0][0], [[2.0, 0.0], [0.0, 2.0]])
    assert_close(found[0][1], [[0, 0], [0, 0]], what="jacobian of the integers")


@pytest.mark.hole("09.1")
def test_a_result_of_truth_values_does_not_vary():
    found = numerical(lambda x: (x > 1.0, x * 2), double(1.0, 3.0))
    assert found[0][0].dtype == np.bool_ and not found[0][0].any()
    assert_close(found[0][1], [[2.0, 0.0], [0.0, 2.0]])


@pytest.mark.hole("09.1")
def test_a_result_that_changes_its_shape():
    with pytest.raises(AssertionError, match="the same shape when inputs are perturbed"):
        numerical(lambda x: x if x.item() >= 1 else torch.cat([x, x]), double(1.0))


@pytest.mark.hole("09.1")
def test_integers_that_change_their_shape():
    with pytest.raises(AssertionError, match="the same shape when inputs are perturbed"):
        numerical(lambda x: (x.long() if x.item() >= 1 else torch.cat([x, x]).long()),
                  double(1.0))


@pytest.mark.hole("09.1")
def test_the_error_names_the_index_and_the_step():
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match=r"perturbed on index \(1, 0\) by 0.125"):
        numerical(lambda x: x if x[1, 0].item() >= 1 else torch.cat([x, x]), x)


@pytest.mark.hole("09.1")
def test_what_came_below_is_named_first():
    with pytest.raises(AssertionError, match=r"got: shapes torch.Size\(\[2\]\) and torch.Size\("
                                             r"\[1\]\)"):
        numerical(lambda x: x if x.item() >= 1 else torch.cat([x, x]), double(1.0))


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_the_jacobian_has_the_dtype_of_the_result(dtype):
    ((found,),) = numerical(lambda x: x.to(dtype) * 2, double(1.0))
    assert found.dtype == np.dtype(str(dtype).rpartition(".")[2]), f"got {found.dtype}"
    assert_close(found, [[2.0]])


# ------------------------------------------------------------------ 09.2


def columns_of(output, *inputs):
    found = jacobians.jacobian_columns(inputs, output)
    return [[None if g is None else g.tolist() for g in column] for column in found]


@pytest.mark.hole("09.2")
def test_one_column_for_each_element_of_the_output():
    x = double(1.0, 2.0)
    got = columns_of(x @ constant([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), x)
    assert len(got) == 3, f"expected 3 columns, got {len(got)}"
    assert all(len(column) == 1 for column in got), f"expected one gradient in each, got {got}"


@pytest.mark.hole("09.2")
def test_a_column_is_the_gradient_of_its_element():
    x = double(1.0, 2.0)
    got = columns_of(x @ constant([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), x)
    assert_close([column[0] for column in got], [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]],
                 what="the gradients, element by element")


@pytest.mark.hole("09.2")
def test_elements_of_the_output_count_row_by_row():
    x = double(1.0, 2.0)
    got = columns_of(torch.stack([x * 10, x * 100]), x)
    assert_close([column[0] for column in got],
                 [[10.0, 0.0], [0.0, 10.0], [100.0, 0.0], [0.0, 100.0]], what="the gradients")


@pytest.mark.hole("09.2")
def test_an_output_of_no_dimension_is_one_element():
    x = double(1.0, 2.0)
    assert columns_of((x * x).sum(), x) == [[[2.0, 4.0]]]


@pytest.mark.hole("09.2")
def test_the_graph_is_still_there_afterwards():
    x = double(1.0, 2.0)
    output = x * x
    assert columns_of(output, x) == columns_of(output, x) == [[[2.0, 0.0]], [[0.0, 4.0]]]


@pytest.mark.hole("09.2")
@pytest.mark.parametrize("func", [lambda x: x + 0, lambda x: x.view(3), lambda x: x.clone()],
                         ids=["sum", "view", "clone"])
def test_functions_that_hand_their_gradient_through(func):
    x = double(1.0, 2.0, 3.0)
    got = [column[0] for column in columns_of(func(x), x)]
    assert got == np.eye(3).tolist(), f"expected the unit vectors, got {got}"


@pytest.mark.hole("09.2")
def test_an_input_that_is_not_used_has_none_in_its_place():
    x, y = double(1.0), double(2.0)
    got = columns_of(x * 3, y, x)
    assert got == [[None, [3.0]]], f"expected [[None, [3.0]]], got {got}"


@pytest.mark.hole("09.2")
def test_inputs_that_do_not_require_grad_have_no_place():
    x = double(1.0)
    got = columns_of(x * 3, constant(5.0), x, "word")
    assert got == [[[3.0]]], f"expected [[[3.0]]], got {got}"


class Keeps(Function):
    """Twice x; its backward keeps what came, and gives out the same tensor each time."""

    came = []

    @staticmethod
    def forward(ctx, x):
        ctx.given = torch.zeros(*x.shape, dtype=torch.float64)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Keeps.came.append(g)
        with torch.no_grad():
            ctx.given.copy_(g * 2)
        return ctx.given


@pytest.mark.hole("09.2")
def test_what_goes_in_stays_as_it_was():
    Keeps.came, x = [], double(1.0, 2.0)
    columns_of(Keeps.apply(x), x)
    came = [g.tolist() for g in Keeps.came]
    assert came == [[1.0, 0.0], [0.0, 1.0]], f"what was handed over changed later: {came}"


@pytest.mark.hole("09.2")
def test_what_comes_out_stays_as_it_was():
    x = double(1.0, 2.0)
    got = columns_of(Keeps.apply(x), x)
    assert got == [[[2.0, 0.0]], [[0.0, 2.0]]], f"what came back changed later: {got}"


def assembled(tensors, *columns):
    columns = [[None if g is None else torch.tensor(g, dtype=torch.float64) for g in column]
               for column in columns]
    return [np.asarray(j) for j in jacobians.assembled(tensors, columns)]


@pytest.mark.hole("09.2")
def test_there_is_a_jacobian_for_each_input_that_requires_grad():
    x, y = double(0.0, 0.0), double(0.0)
    found = assembled((x, constant(1.0), y, "word"), [[1.0, 2.0], [7.0]], [[3.0, 4.0], [8.0]],
                      [[5.0, 6.0], [9.0]])
    assert [j.shape for j in found] == [(2, 3), (1, 3)], f"got {[j.shape for j in found]}"


@pytest.mark.hole("09.2")
def test_columns_are_put_side_by_side():
    (found,) = assembled((double(0.0, 0.0),), [[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]])
    assert_close(found, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], what="the jacobian")


@pytest.mark.hole("09.2")
def test_each_jacobian_has_the_gradients_of_its_own_input():
    x, y = double(0.0, 0.0), double(0.0)
    by_x, by_y = assembled((x, constant(1.0), y), [[1.0, 2.0], [7.0]], [[3.0, 4.0], [8.0]],
                           [[5.0, 6.0], [9.0]])
    assert_close(by_x, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], what="jacobian by the first input")
    assert_close(by_y, [[7.0, 8.0, 9.0]], what="jacobian by the second input")


@pytest.mark.hole("09.2")
def test_a_matrix_becomes_a_column_row_by_row():
    x = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    (found,) = assembled((x,), [[[1.0, 2.0], [3.0, 4.0]]])
    assert_close(found, [[1.0], [2.0], [3.0], [4.0]])


@pytest.mark.hole("09.2")
def test_the_column_of_a_missing_gradient_is_zero():
    (found,) = assembled((double(0.0, 0.0),), [[1.0, 2.0]], [None], [[3.0, 4.0]])
    assert_close(found, [[1.0, 0.0, 3.0], [2.0, 0.0, 4.0]])


@pytest.mark.hole("09.2")
@pytest.mark.parametrize("odd", [[3.0], [[5.0, 6.0]], [[5.0], [6.0]]],
                         ids=["(1,)", "(1, 2)", "(2, 1)"])
def test_the_column_of_a_misshapen_gradient_is_zero(odd):
    (found,) = assembled((double(0.0, 0.0),), [[1.0, 2.0]], [odd])
    assert_close(found, [[1.0, 0.0], [2.0, 0.0]])


@pytest.mark.hole("09.2")
def test_a_jacobian_has_the_dtype_of_its_input():
    single = torch.zeros(2, requires_grad=True)
    found = assembled((single, double(0.0)), [[1.0, 2.0], [3.0]])
    assert [j.dtype for j in found] == [np.float32, np.float64], f"got {[j.dtype for j in found]}"


# ------------------------------------------------------------------ 09.3


def refused(analytical, numbers, rtol=1e-3, atol=1e-5):
    limits = LIMITS._replace(rtol=rtol, atol=atol)
    try:
        jacobians.check_equal(np.array(analytical), np.array(numbers), 0, 0, limits, False)
    except GradcheckError:
        return True
    return False


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("analytical", "numbers"), [
    ([1.0, 2.0], [1.0, 2.0]), ([100.05], [100.0]), ([5e-6], [0.0]), ([-100.05], [-100.0]),
    ([], [])], ids=str)
def test_equal_jacobians_pass(analytical, numbers):
    assert not refused(analytical, numbers), f"expected {analytical} against {numbers} to pass"
    assert jacobians.check_equal(np.array(analytical), np.array(numbers), 0, 0, LIMITS,
                                 False) is None


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("analytical", "numbers"), [
    ([1.0], [2.0]), ([2.0], [1.0]), ([1.0, 2.0], [2.0, 1.0]), ([1.0, 5.0], [1.0, 2.0]),
    ([5.0, 1.0], [2.0, 1.0]), ([100.2], [100.0]), ([-100.2], [-100.0]), ([5e-4], [0.0]),
    ([-1.0], [1.0]), ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.1]]),
    ([1e6, 0.0], [1e6, 1.0]), ([1.0, -1e6], [0.0, -1e6])], ids=str)
def test_different_jacobians_are_refused(analytical, numbers):
    assert refused(analytical, numbers), f"expected {analytical} against {numbers} to be refused"


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("analytical", "numbers"), [
    ([math.nan], [1.0]), ([1.0], [math.nan]), ([math.nan], [math.nan]),
    ([1.0, math.nan], [1.0, math.nan]), ([1.0], [math.inf])], ids=str)
def test_nan_is_refused(analytical, numbers):
    assert refused(analytical, numbers), f"expected {analytical} against {numbers} to be refused"


@pytest.mark.hole("09.3")
def test_the_relative_tolerance_is_the_callers():
    assert not refused([1.1], [1.0], rtol=0.2, atol=0.0)
    assert refused([1.1], [1.0], rtol=0.05, atol=0.0)


@pytest.mark.hole("09.3")
def test_the_absolute_tolerance_is_the_callers():
    assert not refused([0.1], [0.0], rtol=0.0, atol=0.2)
    assert refused([1.1], [1.0], rtol=0.0, atol=0.05)


@pytest.mark.hole("09.3")
def test_both_tolerances_count_together():
    assert not refused([10.3], [10.0], rtol=0.02, atol=0.15)
    assert refused([10.4], [10.0], rtol=0.02, atol=0.15)


@pytest.mark.hole("09.3")
def test_the_relative_tolerance_belongs_to_the_numerical_one():
    assert refused([110.0], [100.0], rtol=0.095, atol=0.0), "rtol belongs to the numerical one"
    assert not refused([100.0], [110.0], rtol=0.095, atol=0.0)


def slow(func, *inputs, forward=False):
    results = func(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    compare.check_slow(func, inputs, LIMITS, results, forward)


MODES = pytest.mark.parametrize("forward", [False, True], ids=["backward", "forward mode"])


@pytest.mark.hole("09.3")
@MODES
def test_right_functions_pass(forward):
    slow(lambda x, y: (x * y, x.sin()), double(1.0, 2.0), double(3.0, -1.0), forward=forward)


@pytest.mark.hole("09.3")
@MODES
def test_a_result_that_does_not_require_grad_is_passed_over(forward):
    slow(lambda x: (constant(1.0), x * 2), double(1.0, 2.0), forward=forward)
    slow(lambda c, x: (c * 1, x * 2, c, x * x), constant(1.0), double(3.0), forward=forward)


@pytest.mark.hole("09.3")
@MODES
def test_a_function_whose_results_do_not_vary_passes(forward):
    slow(lambda x: constant(1.0), double(1.0), forward=forward)


@pytest.mark.hole("09.3")
@pytest.mark.parametrize("func", [
    lambda x, y: Wrong.apply(x) + y,
    lambda x, y: x + Wrong.apply(y),
    lambda x, y: (x + y, Wrong.apply(x)),
    lambda x, y: (constant(0.0), x * y, Wrong.apply(y)),
], ids=["first input", "second input", "second output", "third output"])
def test_a_wrong_gradient_is_found_wherever_it_is(func):
    slow(lambda x, y: (x + y, x * y), double(1.0), double(2.0))
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        slow(func, double(1.0), double(2.0))


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("func", "told"), [
    (lambda c, x, y: (x + Wrong.apply(y), c * 1), "output 0 with respect to input 1"),
    (lambda c, x, y: (Wrong.apply(x) + y, c * 1), "output 0 with respect to input 0"),
], ids=["the second of them", "the first of them"])
def test_inputs_are_counted_where_they_require_grad(func, told):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for") as caught:
        slow(func, constant(1.0), double(1.0), double(2.0))
    assert told in str(caught.value), f"expected {told!r} in {str(caught.value)!r}"


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("func", "told"), [
    (lambda c, x: (c * 1, Wrong.apply(x)), "output 0 with respect to input 0"),
    (lambda c, x: (x * 1, c * 1, Wrong.apply(x)), "output 1 with respect to input 0"),
], ids=["the first of them", "the second of them"])
def test_outputs_are_counted_where_they_require_grad(func, told):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for") as caught:
        slow(func, constant(1.0), double(1.0))
    assert told in str(caught.value), f"expected {told!r} in {str(caught.value)!r}"


@pytest.mark.hole("09.3")
def test_each_jacobian_is_shown_under_its_own_name():
    with pytest.raises(GradcheckError) as caught:
        slow(lambda x: Wrong.apply(x), double(1.0))
    numerical_one, _, analytical = str(caught.value).partition("analytical:")
    assert "-2" in analytical and "-2" not in numerical_one, f"got {str(caught.value)!r}"


@pytest.mark.hole("09.3")
def test_the_step_is_the_callers():
    x = double(1.0)
    compare.check_slow(cube, (x,), LIMITS, (cube(x),), False)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):  # 3.25 against 3
        compare.check_slow(cube, (x,), LIMITS._replace(eps=0.5), (cube(x),), False)


@pytest.mark.hole("09.3")
def test_forward_mode_is_checked_by_itself():
    slow(lambda x: Wrong.apply(x), double(1.0), forward=True)  # its jvp is right
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        slow(lambda x: Wrong.apply(x), double(1.0))


class OneWay(Function):
    """Twice x, which can be differentiated in one mode alone; the other one raises."""

    @staticmethod
    def forward(ctx, x, forward):
        ctx.wanted = forward
        return x * 2

    @staticmethod
    def backward(ctx, g):
        if ctx.wanted:
            raise RuntimeError("backward mode was not asked for")
        return g * 2, None

    @staticmethod
    def jvp(ctx, t, _):
        if not ctx.wanted:
            raise RuntimeError("forward mode was not asked for")
        return t * 2


@pytest.mark.hole("09.3")
@MODES
def test_the_other_mode_is_not_run(forward):
    slow(lambda x: OneWay.apply(x, forward), double(1.0), forward=forward)


class WrongForward(Function):
    """Twice x, with a right gradient, but a wrong derivative in forward mode."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 3


@pytest.mark.hole("09.3")
def test_the_error_says_that_it_is_forward_mode():
    with pytest.raises(GradcheckError, match="^Jacobian computed with forward mode mismatch for"):
        slow(lambda x: WrongForward.apply(x), double(1.0), forward=True)


@pytest.mark.hole("09.3")
@MODES
def test_a_function_that_hides_its_dependence(forward):
    with pytest.raises(GradcheckError, match="^Numerical gradient for function expected to be"):
        slow(lambda x: x.detach() * 2, double(1.0), forward=forward)


# ------------------------------------------------------------------ 09.4


def warnings_of(*inputs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare.check_inputs(inputs)
    return [(each.category, str(each.message)) for each in caught]


@pytest.mark.hole("09.4")
def test_double_precision_passes_in_silence():
    got = warnings_of(double(1.0), constant(2.0))
    assert got == [], f"expected no warning, got {got}"


@pytest.mark.hole("09.4")
def test_what_is_no_tensor_is_not_looked_at():
    got = warnings_of("word", double(1.0), 3, None)
    assert got == [], f"expected no warning, got {got}"


@pytest.mark.hole("09.4")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["float32", "float16"])
def test_single_precision_warns(dtype):
    got = warnings_of(torch.tensor([1.0], dtype=dtype, requires_grad=True))
    assert len(got) == 1 and got[0][0] is UserWarning, f"expected one UserWarning, got {got}"
    expected = "Input #0 requires gradient and is not a double precision floating point"
    assert got[0][1].startswith(expected), f"expected {expected!r} ..., got {got[0][1]!r}"


@pytest.mark.hole("09.4")
def test_the_index_counts_all_inputs():
    single = torch.tensor([1.0], requires_grad=True)
    got = [text.partition(" requires")[0] for _, text in warnings_of(torch.ones(2), single, 3,
                                                                     single)]
    assert got == ["Input #1", "Input #3"], f"got {got}"


@pytest.mark.hole("09.4")
def test_every_input_that_requires_grad_is_looked_at():
    got = warnings_of(double(1.0), torch.tensor([1.0], requires_grad=True))
    assert len(got) == 1, f"expected one warning, got {got}"
    overlapping = constant(1.0).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 1th input has a dimension with stride 0"):
        compare.check_inputs((double(1.0), overlapping))


@pytest.mark.hole("09.4")
def test_constants_may_be_of_any_dtype():
    assert warnings_of(torch.ones(1), double(1.0), torch.ones(1).long()) == []


@pytest.mark.hole("09.4")
def test_constants_may_overlap():
    assert warnings_of(torch.ones(1).expand(3), double(1.0)) == []


@pytest.mark.hole("09.4")
@pytest.mark.parametrize("inputs", [(), (constant(1.0),), (1, "word")], ids=[
    "no input", "a constant", "no tensor"])
def test_nothing_to_check(inputs):
    with pytest.raises(ValueError, match="^gradcheck expects at least one input tensor to require"):
        compare.check_inputs(inputs)


@pytest.mark.hole("09.4")
@pytest.mark.parametrize("shape", [(3,), (3, 1), (2, 1, 4)], ids=str)
def test_overlapping_memory_is_refused(shape):
    overlapping = constant(1.0).expand(*shape).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0"):
        compare.check_inputs((overlapping,))


@pytest.mark.hole("09.4")
def test_one_dimension_that_overlaps_is_enough():
    wide = constant(1.0, 2.0).expand(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0"):
        compare.check_inputs((wide,))
    wide = constant([1.0], [2.0]).expand(2, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0"):
        compare.check_inputs((wide,))


@pytest.mark.hole("09.4")
def test_an_input_may_be_warned_of_and_refused():
    single = torch.ones(1).expand(3).requires_grad_()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0"):
            compare.check_inputs((single,))
    assert [str(each.message)[:8] for each in seen] == ["Input #0"]


@pytest.mark.hole("09.4")
def test_other_strides_are_allowed():
    x = constant([1.0, 2.0], [3.0, 4.0])
    assert warnings_of(x.t().requires_grad_()) == []
    assert warnings_of(x[:, 0].requires_grad_()) == []


@pytest.mark.hole("09.4")
def test_a_dimension_of_one_element_does_not_overlap():
    thin = constant(1.0, 2.0).as_strided((1, 2), (0, 1)).requires_grad_()
    assert warnings_of(thin) == []


# ------------------------------------------------------------------ 09.5


def multiplies(output, *inputs, masked=False):
    gradcheck_parts.check_multiplies_by_gradient(inputs, (output,), masked)


@pytest.mark.hole("09.5")
def test_a_gradient_of_zeros_gives_zeros():
    x, y = double(1.0, 2.0), double(3.0, 4.0)
    multiplies(x * y, x, y)


@pytest.mark.hole("09.5")
def test_a_gradient_that_is_missing_passes():
    x, y = double(1.0, 2.0), double(3.0, 4.0)
    multiplies(x * 2, y, x)  # y is not used


@pytest.mark.hole("09.5")
def test_an_input_that_requires_no_grad_is_no_goal():
    x = double(1.0, 2.0)
    multiplies(x * 2, constant(1.0), x, "word")


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("make", [
    lambda x, y: Added.apply(x, 1.0) + y,
    lambda x, y: x + Added.apply(y, 1.0),
    lambda x, y: Added.apply(y, 1.0),
], ids=["first input", "second input", "the only one used"])
def test_a_gradient_that_adds_is_refused(make):
    x, y = double(1.0), double(2.0)
    with pytest.raises(GradcheckError, match="^backward not multiplied by grad_output$"):
        multiplies(make(x, y), x, y)


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("extra", [-1.0, 1e-9, -1e-9], ids=str)
def test_a_gradient_has_to_be_exactly_zero(extra):
    x = double(1.0)
    with pytest.raises(GradcheckError, match="^backward not multiplied by grad_output$"):
        multiplies(Added.apply(x, extra), x)


@pytest.mark.hole("09.5")
def test_all_outputs_are_run_at_once():
    x = double(1.0)
    for outputs in ((Added.apply(x, 1.0), x * 2), (x * 2, Added.apply(x, 1.0))):
        with pytest.raises(GradcheckError, match="not multiplied"):
            gradcheck_parts.check_multiplies_by_gradient((x,), outputs, False)
    sums = Added.apply(x, 1.0), Added.apply(x, -1.0)
    gradcheck_parts.check_multiplies_by_gradient((x,), sums, False)  # 1 - 1 is zero


@pytest.mark.hole("09.5")
def test_masked_allows_nearly_zero():
    x = double(1.0)
    multiplies(Added.apply(x, 1e-12), x, masked=True)


@pytest.mark.hole("09.5")
def test_masked_does_not_allow_more():
    x = double(1.0)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Added.apply(x, 1.0), x, masked=True)


@pytest.mark.hole("09.5")
def test_nearly_zero_is_refused_where_it_is_not_masked():
    x = double(1.0)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Added.apply(x, 1e-12), x)


@pytest.mark.hole("09.5")
def test_the_graph_of_the_outputs_is_kept():
    x = double(1.0)
    y = x * x
    multiplies(y, x)
    multiplies(y, x)


@pytest.mark.hole("09.5")
@pytest.mark.parametrize(("odd", "told"), [
    (torch.zeros(2), "^grad is incorrect type$"),
    (torch.zeros(1, 2, dtype=torch.float64), "^grad is incorrect size$"),
], ids=["dtype", "shape"])
def test_a_gradient_has_to_be_like_its_input(odd, told, monkeypatch):
    monkeypatch.setattr(gradcheck_parts, "grad", lambda *args, **options: (odd,))
    x = double(1.0, 2.0)
    with pytest.raises(GradcheckError, match=told):
        multiplies(x * 2, x)


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("extra", [(0.0, 1.0), (1.0, 0.0), (1.0, -1.0)],
                         ids=["second", "first", "opposite ones"])
def test_every_element_has_to_be_zero(extra):
    class Partly(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + constant(*extra)

    x = double(1.0, 2.0)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Partly.apply(x), x)


@pytest.mark.hole("09.5")
def test_gradients_of_nothing_that_cancel_out_are_found():
    class Opposite(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x + y

        @staticmethod
        def backward(ctx, g):
            return (constant(1.0, -1.0), constant(2.0, -2.0)) if g is None else (g, g)

    with pytest.warns(UserWarning), pytest.raises(GradcheckError, match="to be undefined or zero"):
        gradcheck_parts.check_undefined(Opposite.apply, (double(1.0, 2.0), double(3.0, 4.0)), 1)


class Picky(Function):
    """Two outputs, whose backward refuses when so many gradients are missing."""

    @staticmethod
    def forward(ctx, x, refuses):
        ctx.set_materialize_grads(False)
        ctx.refuses = refuses
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        if (first is None) + (second is None) == ctx.refuses:
            raise RuntimeError("a gradient is missing")
        total = 0 if first is None else first * 2
        return (None if first is second is None
                else total if second is None else total + second * 3), None


class Something(Function):
    """Gives a gradient where none came."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 if g.abs().sum() else g + constant(0.0, -1.0)


def undefined(func, count):
    gradcheck_parts.check_undefined(func, (double(1.0, 2.0),), count)


@pytest.mark.hole("09.5")
@pytest.mark.parametrize(("func", "count"), [
    (lambda x: x * 2, 1), (lambda x: (x * 2, x * 3), 2), (lambda x: Picky.apply(x, 3), 2)],
    ids=["one output", "two outputs", "a backward that looks for None"])
def test_missing_gradients_that_count_as_zeros_pass(func, count):
    undefined(func, count)


@pytest.mark.hole("09.5")
def test_an_input_that_is_not_used_passes():
    gradcheck_parts.check_undefined(
        lambda x, y: x * 2, (double(1.0, 2.0), double(3.0)), 1)


@pytest.mark.hole("09.5")
def test_an_output_that_requires_no_grad_does_not_count():
    undefined(lambda x: (constant(1.0), x * x, x * 3), 2)


@pytest.mark.hole("09.5")
def test_the_function_is_called_anew_for_each_case():
    calls = []
    undefined(lambda x: (calls.append(1), x * x, x * 3)[1:], 2)
    assert len(calls) == 3, f"expected 3 calls for 3 cases, got {len(calls)}"


NOT_HANDLED = ("^Expected backward function to handle undefined output grads. Please look at "
               "\"Notes about undefined output gradients\"")


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("refuses", [1, 2], ids=["one missing", "both missing"])
def test_a_backward_that_cannot_do_without_a_gradient(refuses):
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match=NOT_HANDLED)):
        undefined(lambda x: Picky.apply(x, refuses), 2)


class One(Function):
    """Two outputs, whose backward cannot do without the gradient of one of them."""

    @staticmethod
    def forward(ctx, x, which):
        ctx.set_materialize_grads(False)
        ctx.which = which
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, *grads):
        if grads[ctx.which] is None and any(g is not None for g in grads):
            raise RuntimeError("this gradient is missing")
        given = [g * by for g, by in zip(grads, (2, 3), strict=True) if g is not None]
        return sum(given) if given else None, None


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("which", [0, 1], ids=["the first", "the second"])
def test_each_output_is_tried_alone(which):
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected backward function to handle undefined")):
        undefined(lambda x: One.apply(x, which), 2)


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("which", [0, 1], ids=["the first", "the second"])
def test_missing_ones_are_counted_where_outputs_require_grad(which):
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected backward function to handle undefined")):
        undefined(lambda x: (constant(1.0), *One.apply(x, which)), 2)


@pytest.mark.hole("09.5")
def test_a_backward_that_makes_something_of_nothing():
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected all input grads to be undefined or zero "
                        "when all output grads are undefined or zero. Please look at")):
        undefined(lambda x: Something.apply(x), 1)


class Sigmoid(Function):
    """The documents' example."""

    @staticmethod
    def forward(ctx, x):
        result = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, g):
        (result,) = ctx.saved_tensors
        return result * (1 - result) * g


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("eps", [1e-3, 1e-4, 1e-6], ids=str)
def test_gradcheck_finds_right_functions(eps):
    x = double(-0.4646, -0.4403, 1.2525, -0.5953)
    assert gradcheck(Sigmoid.apply, (x,), eps=eps) is True, f"expected eps={eps} to pass"


@pytest.mark.hole("09.5")
def test_gradcheck_finds_wrong_functions():
    x = double(-0.4646, -0.4403, 1.2525, -0.5953)
    assert gradcheck(Sigmoid.apply, (x,)) is True, "expected a right function to pass"
    assert gradcheck(lambda x: Wrong.apply(x), x, raise_exception=False) is False
    assert gradcheck(lambda x: Added.apply(x, 1.0), x, raise_exception=False) is False
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to"):
        gradcheck(lambda x: Wrong.apply(x), x)


@pytest.mark.hole("09.5")
def test_gradcheck_in_single_precision_needs_a_wide_step():
    x = torch.tensor([2.1755, 2.0419, 2.1200, 2.0885], requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision"):
        assert gradcheck(Sigmoid.apply, (x,), eps=1e-3) is True
        assert gradcheck(Sigmoid.apply, (x,), eps=1e-4, raise_exception=False) is False


# ------------------------------------------------------------------ 09.6


def first(func, *inputs, grads, live=None):
    given = (*inputs, *grads)
    live = live or [t.requires_grad for t in given]
    return compare.first_gradients(func, len(inputs), live, *given)


def cube(x):
    return x * x * x


@pytest.mark.hole("09.6")
def test_the_result_is_a_tuple_with_a_gradient_for_each_input():
    found = first(lambda x, y: x * y, double(2.0), double(5.0), grads=[double(3.0)])
    assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
    assert len(found) == 2, f"expected two gradients, got {len(found)}"


@pytest.mark.hole("09.6")
def test_the_function_is_called_with_the_inputs_only():
    seen = []
    first(lambda *given: (seen.append(len(given)), cube(given[0]))[1], double(2.0),
          grads=[double(3.0)])
    assert seen == [1], f"expected one call with 1 argument, got {seen}"


@pytest.mark.hole("09.6")
def test_the_gradient_as_a_function_of_input_and_grad_output():
    found = first(cube, double(2.0, 1.0), grads=[double(3.0, 10.0)])
    assert_close(found[0].detach().numpy(), [36.0, 30.0], what="3 x*x g")


@pytest.mark.hole("09.6")
def test_the_gradient_can_be_differentiated():
    x, g = double(2.0), double(3.0)
    (found,) = first(cube, x, grads=[g])
    assert found.requires_grad, "expected the backward pass to be recorded"
    found.backward()
    assert (x.grad.tolist(), g.grad.tolist()) == ([36.0], [12.0]), f"got {x.grad}, {g.grad}"


@pytest.mark.hole("09.6")
def test_missing_gradients_are_left_out():
    found = first(lambda x, y: x * 5, double(2.0), double(1.0), grads=[double(3.0)])
    assert [t if t is None else t.tolist() for t in found] == [[15.0]], f"got {found}"


@pytest.mark.hole("09.6")
def test_inputs_that_are_not_live_have_no_gradient():
    found = first(lambda c, x: c * x, constant(5.0), double(2.0), grads=[double(3.0)])
    assert [t.tolist() for t in found] == [[15.0]], f"expected [[15.0]], got {found}"


@pytest.mark.hole("09.6")
def test_what_is_not_live_stays_as_it_is():
    c = constant(5.0)
    first(lambda c, x: c * x, c, double(2.0), grads=[double(3.0)])
    assert not c.requires_grad, "an input that is not live requires grad afterwards"


@pytest.mark.hole("09.6")
def test_all_outputs_that_require_grad_take_part():
    found = first(lambda x: (x * 2, x * 3), double(1.0), grads=[double(1.0), double(10.0)])
    assert_close(found[0].detach().numpy(), [32.0], what="2*1 + 3*10")


@pytest.mark.hole("09.6")
def test_outputs_that_do_not_require_grad_are_passed_over():
    found = first(lambda x: (x * 2, constant(1.0), x * 3), double(1.0),
                  grads=[double(1.0), double(10.0)])
    assert_close(found[0].detach().numpy(), [32.0], what="2*1 + 3*10")


@pytest.mark.hole("09.6")
def test_a_gradient_that_is_constant_is_no_missing_one():
    found = first(lambda x: x * 2, double(1.0), grads=[constant(3.0)])
    assert [t.tolist() for t in found] == [[6.0]], f"expected [[6.0]], got {found}"


@pytest.mark.hole("09.6")
def test_grad_is_required_again_where_it_was():
    x, g = constant(2.0), constant(3.0)
    found = first(cube, x, grads=[g], live=[True, True])
    assert [t.tolist() for t in found] == [[36.0]]
    assert x.requires_grad and g.requires_grad, "expected both to require grad again"


class OnceOnly(Function):
    """x*x*x, whose gradient is right but has no history of its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return cube(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * (x * x).detach() * g


@pytest.mark.hole("09.6")
def test_gradgradcheck_finds_right_second_derivatives():
    x, y = double(1.0, -2.0), double(0.5, 3.0)
    assert gradgradcheck(cube, (x,)) is True
    assert gradgradcheck(lambda x, y: (x * y, x.exp()), (x, y)) is True


@pytest.mark.hole("09.6")
def test_gradgradcheck_with_forward_mode_over_backward():
    assert gradgradcheck(cube, (double(1.0, -2.0),), check_fwd_over_rev=True) is True


@pytest.mark.hole("09.6")
def test_gradgradcheck_finds_wrong_second_derivatives():
    x = double(1.0, -2.0)
    assert gradcheck(OnceOnly.apply, (x,)) is True, "expected the first derivative to be right"
    assert gradgradcheck(OnceOnly.apply, (x,), raise_exception=False) is False
