"""Stage 09: jacobians by differences and by backward, and what is made of comparing them."""

import importlib
import math
import warnings

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad.autograd import Function, gradcheck, gradcheck_parts, gradgradcheck, jacobians
from minigrad.autograd.jacobians import GradcheckError, Tolerances

checks = importlib.import_module("minigrad.autograd.gradcheck")
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
@pytest.mark.parametrize("eps", [0.5, 0.125, 2.0**-10])
def test_central_differences_of_a_square_are_exact(eps):
    found = numerical(lambda x: x * x, double(1.0, 3.0), eps=eps)
    assert_close(found[0][0], [[2.0, 0.0], [0.0, 6.0]], what=f"jacobian of x*x, eps={eps}")


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
    assert x.tolist() == [1.0, 3.0], f"expected the input as before, got {x.tolist()}"
    assert x._version == 0, f"expected version 0, got {x._version}"


@pytest.mark.hole("09.1")
def test_results_that_share_the_inputs_memory():
    found = numerical(lambda x: x.view(2), double(1.0, 3.0))
    assert_close(found[0][0], [[1.0, 0.0], [0.0, 1.0]], what="jacobian of a view")


@pytest.mark.hole("09.1")
def test_each_input_that_requires_grad_by_each_result():
    found = numerical(lambda c, x, y: (c * x * y, x + c), constant(5.0), double(2.0), double(3.0))
    assert len(found) == 2, f"expected jacobians for 2 inputs, got {len(found)}"
    assert [len(of_input) for of_input in found] == [2, 2], "expected one for each result"
    values = [[float(np.asarray(j)[0, 0]) for j in of_input] for of_input in found]
    assert values == [[15.0, 1.0], [10.0, 0.0]], f"got {values}"


@pytest.mark.hole("09.1")
def test_a_result_of_integers_does_not_vary():
    found = numerical(lambda x: (x * 2, x.argmax()), double(1.0, 3.0))
    assert_close(found[0][0], [[2.0, 0.0], [0.0, 2.0]])
    assert_close(found[0][1], [[0], [0]], what="jacobian of argmax")


@pytest.mark.hole("09.1")
def test_a_result_that_changes_its_shape():
    with pytest.raises(AssertionError, match="the same shape when inputs are perturbed"):
        numerical(lambda x: x if x.item() >= 1 else torch.cat([x, x]), double(1.0))
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match=r"perturbed on index \(1, 0\) by"):
        numerical(lambda x: x if x[1, 0].item() >= 1 else torch.cat([x, x]), x)


@pytest.mark.hole("09.1")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_jacobian_has_the_dtype_of_the_result(dtype):
    ((found, constant_of),) = numerical(lambda x: (x.to(dtype) * 2, (x * 1e9).long()),
                                        double(1.0))
    assert found.dtype == np.dtype(str(dtype).rpartition(".")[2]), f"got {found.dtype}"
    assert_close(found, [[2.0]])
    assert constant_of.tolist() == [[0]]


# ------------------------------------------------------------------ 09.2


def columns_of(output, *inputs):
    found = jacobians.jacobian_columns(inputs, output)
    return [[None if g is None else g.tolist() for g in column] for column in found]


@pytest.mark.hole("09.2")
def test_one_column_for_each_element_of_the_output():
    x = double(1.0, 2.0)
    output = x @ constant([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    got = columns_of(output, x)
    expected = [[[1.0, 4.0]], [[2.0, 5.0]], [[3.0, 6.0]]]
    assert got == expected, f"expected {expected}, got {got}"


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
def test_inputs_that_are_not_used_or_do_not_require_grad():
    x, y = double(1.0), double(2.0)
    got = columns_of(x * 3, constant(5.0), y, x)
    assert got == [[None, [3.0]]], f"expected [[None, [3.0]]], got {got}"


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
def test_what_goes_in_and_what_comes_out_stays_as_it_was():
    Keeps.came, x = [], double(1.0, 2.0)
    got = columns_of(Keeps.apply(x), x)
    came = [g.tolist() for g in Keeps.came]
    assert came == [[1.0, 0.0], [0.0, 1.0]], f"what was handed over changed later: {came}"
    assert got == [[[2.0, 0.0]], [[0.0, 2.0]]], f"what came back changed later: {got}"


def assembled(tensors, *columns):
    columns = [[None if g is None else torch.tensor(g, dtype=torch.float64) for g in column]
               for column in columns]
    return [np.asarray(j) for j in jacobians.assembled(tensors, columns)]


@pytest.mark.hole("09.2")
def test_columns_are_put_side_by_side():
    x, y = double(0.0, 0.0), double(0.0)
    by_x, by_y = assembled((x, constant(1.0), y), [[1.0, 2.0], [7.0]], [[3.0, 4.0], [8.0]],
                           [[5.0, 6.0], [9.0]])
    assert_close(by_x, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]], what="jacobian by the first input")
    assert_close(by_y, [[7.0, 8.0, 9.0]], what="jacobian by the second input")


@pytest.mark.hole("09.2")
def test_missing_and_misshapen_gradients_are_zero():
    x = double(0.0, 0.0)
    (found,) = assembled((x,), [[1.0, 2.0]], [None], [[3.0]], [[[5.0, 6.0]]])
    assert_close(found, [[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]])


@pytest.mark.hole("09.2")
def test_a_jacobian_has_the_dtype_of_its_input():
    single = torch.zeros(2, requires_grad=True)
    found = assembled((single, double(0.0)), [[1.0, 2.0], [3.0]])
    assert [j.dtype for j in found] == [np.float32, np.float64], f"got {[j.dtype for j in found]}"


@pytest.mark.hole("09.2")
def test_a_matrix_becomes_a_column_row_by_row():
    x = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    (found,) = assembled((x,), [[[1.0, 2.0], [3.0, 4.0]]])
    assert_close(found, [[1.0], [2.0], [3.0], [4.0]])


# ------------------------------------------------------------------ 09.3


def refused(analytical, numbers, rtol=1e-3, atol=1e-5):
    limits = LIMITS._replace(rtol=rtol, atol=atol)
    try:
        jacobians.check_equal(np.array(analytical), np.array(numbers), 0, 0, limits, False)
    except GradcheckError:
        return True
    return False


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("analytical", "numbers", "differ"), [
    ([1.0, 2.0], [1.0, 2.0], False),
    ([1.0], [2.0], True),
    ([2.0], [1.0], True),
    ([1.0, 2.0], [2.0, 1.0], True),
    ([1.0, 5.0], [1.0, 2.0], True),
    ([100.05], [100.0], False),
    ([100.2], [100.0], True),
    ([5e-6], [0.0], False),
    ([5e-4], [0.0], True),
    ([-1.0], [1.0], True),
    ([math.nan], [1.0], True),
    ([math.nan], [math.nan], True),
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.1]], True),
])
def test_two_jacobians_are_compared(analytical, numbers, differ):
    got = refused(analytical, numbers)
    words = {True: "to be refused", False: "to pass"}
    assert got is differ, f"expected {analytical} against {numbers} {words[differ]}"


@pytest.mark.hole("09.3")
def test_tolerances_are_the_callers():
    assert not refused([1.1], [1.0], rtol=0.2, atol=0.0)
    assert not refused([0.1], [0.0], rtol=0.0, atol=0.2)
    assert refused([1.1], [1.0], rtol=0.0, atol=0.05)
    assert refused([110.0], [100.0], rtol=0.095, atol=0.0), "rtol belongs to the numerical one"
    assert not refused([100.0], [110.0], rtol=0.095, atol=0.0)


@pytest.mark.hole("09.3")
@pytest.mark.parametrize(("forward", "start"), [
    (False, "Jacobian mismatch for output 3 with respect to input 1,\nnumerical:"),
    (True, "Jacobian computed with forward mode mismatch for output 3 with respect to input 1,\n"
           "numerical:"),
])
def test_the_error_names_output_and_input_and_shows_both(forward, start):
    with pytest.raises(GradcheckError) as caught:
        jacobians.check_equal(np.array([[1.0]]), np.array([[2.0]]), 3, 1, LIMITS, forward,
                              lambda: "and more")
    text = str(caught.value)
    assert text.startswith(start), f"expected a text that starts with {start!r}, got {text!r}"
    assert "2." in text.partition("analytical:")[0], "expected the numerical jacobian first"
    assert "1." in text.partition("analytical:")[2], "expected the analytical jacobian second"
    assert text.endswith("and more"), "expected the advice at the end"


def slow(func, *inputs, forward=False):
    results = func(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    checks.check_slow(func, inputs, LIMITS, results, forward)


@pytest.mark.hole("09.3")
@pytest.mark.parametrize("forward", [False, True], ids=["backward", "forward"])
def test_right_functions_pass(forward):
    slow(lambda x, y: (x * y, x.sin()), double(1.0, 2.0), double(3.0, -1.0), forward=forward)
    slow(lambda x: (constant(1.0), x * 2), double(1.0, 2.0), forward=forward)
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
    (lambda c, x, y: (c * 1, x + Wrong.apply(y)), "output 0 with respect to input 1"),
    (lambda c, x, y: (x + y, c * 1, Wrong.apply(x) + y), "output 1 with respect to input 0"),
])
def test_outputs_and_inputs_are_counted_where_they_require_grad(func, told):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for") as caught:
        slow(func, constant(1.0), double(1.0), double(2.0))
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
    checks.check_slow(cube, (x,), LIMITS, (cube(x),), False)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):  # 3.25 against 3
        checks.check_slow(cube, (x,), LIMITS._replace(eps=0.5), (cube(x),), False)


@pytest.mark.hole("09.3")
def test_forward_mode_is_checked_by_itself():
    slow(lambda x: Wrong.apply(x), double(1.0), forward=True)  # its jvp is right
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        slow(lambda x: Wrong.apply(x), double(1.0))


@pytest.mark.hole("09.3")
def test_a_function_that_hides_its_dependence():
    with pytest.raises(GradcheckError, match="^Numerical gradient for function expected to be"):
        slow(lambda x: x.detach() * 2, double(1.0))


# ------------------------------------------------------------------ 09.4


def warnings_of(*inputs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checks.check_inputs(inputs)
    return [(each.category, str(each.message)) for each in caught]


@pytest.mark.hole("09.4")
def test_double_precision_passes_in_silence():
    got = warnings_of(double(1.0), constant(2.0), "word", 3)
    assert got == [], f"expected no warning, got {got}"


@pytest.mark.hole("09.4")
def test_single_precision_warns_with_its_position():
    single = torch.tensor([1.0], requires_grad=True)
    got = warnings_of(torch.ones(2), single)
    assert len(got) == 1 and got[0][0] is UserWarning, f"expected one UserWarning, got {got}"
    expected = "Input #1 requires gradient and is not a double precision floating point"
    assert got[0][1].startswith(expected), f"expected {expected!r} ..., got {got[0][1]!r}"


@pytest.mark.hole("09.4")
def test_constants_may_be_of_any_kind():
    assert warnings_of(torch.ones(1), torch.ones(1).expand(3), double(1.0)) == []


@pytest.mark.hole("09.4")
@pytest.mark.parametrize("inputs", [(), (constant(1.0),), (1, "word")])
def test_nothing_to_check(inputs):
    with pytest.raises(ValueError, match="^gradcheck expects at least one input tensor to require"):
        checks.check_inputs(inputs)


@pytest.mark.hole("09.4")
def test_overlapping_memory_is_refused():
    overlapping = constant(1.0).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 1th input has a dimension with stride 0"):
        checks.check_inputs((double(1.0), overlapping))
    single = torch.ones(1).expand(3).requires_grad_()
    with (pytest.warns(UserWarning, match="Input #0"),
          pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0")):
        checks.check_inputs((single,))
    wide = constant(1.0, 2.0).expand(3, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0"):
        checks.check_inputs((wide,))


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
    multiplies(x * 2, y, x)  # y is not used


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("make", [
    lambda x, y: Added.apply(x, 1.0) + y,
    lambda x, y: x + Added.apply(y, 1.0),
    lambda x, y: Added.apply(y, -1e-9),
], ids=["first input", "second input", "the only one used"])
def test_a_gradient_that_adds_is_refused(make):
    x, y = double(1.0), double(2.0)
    with pytest.raises(GradcheckError, match="^backward not multiplied by grad_output$"):
        multiplies(make(x, y), x, y)


@pytest.mark.hole("09.5")
def test_masked_allows_nearly_zero():
    x = double(1.0)
    multiplies(Added.apply(x, 1e-12), x, masked=True)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Added.apply(x, 1e-12), x)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Added.apply(x, 1.0), x, masked=True)


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
def test_every_element_has_to_be_zero():
    class Partly(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + constant(0.0, 1.0)

    x = double(1.0, 2.0)
    with pytest.raises(GradcheckError, match="not multiplied"):
        multiplies(Partly.apply(x), x)


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
        return g * 2 if g.abs().sum() else g + 1


def undefined(func, count):
    gradcheck_parts.check_undefined(func, (double(1.0, 2.0),), count)


@pytest.mark.hole("09.5")
def test_missing_gradients_that_count_as_zeros_pass():
    undefined(lambda x: x * 2, 1)
    undefined(lambda x: (x * 2, x * 3), 2)
    undefined(lambda x: Picky.apply(x, 3), 2)
    undefined(lambda x: (constant(1.0), x * x, x * 3), 2)  # the constant does not count


@pytest.mark.hole("09.5")
@pytest.mark.parametrize("refuses", [1, 2], ids=["one missing", "both missing"])
def test_a_backward_that_cannot_do_without_a_gradient(refuses):
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected backward function to handle undefined")):
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
@pytest.mark.parametrize("which", [0, 1])
def test_each_output_is_tried_alone(which):
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected backward function to handle undefined")):
        undefined(lambda x: One.apply(x, which), 2)


@pytest.mark.hole("09.5")
def test_a_backward_that_makes_something_of_nothing():
    with (pytest.warns(UserWarning, match="undefined gradient support checking"),
          pytest.raises(GradcheckError, match="^Expected all input grads to be undefined or zero")):
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
def test_gradcheck_finds_right_and_wrong_functions():
    x = double(-0.4646, -0.4403, 1.2525, -0.5953)
    for eps in (1e-3, 1e-4, 1e-6):
        assert gradcheck(Sigmoid.apply, (x,), eps=eps) is True, f"expected eps={eps} to pass"
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
    return checks.first_gradients(func, len(inputs), live, *given)


def cube(x):
    return x * x * x


@pytest.mark.hole("09.6")
def test_the_gradient_as_a_function_of_input_and_grad_output():
    x, g = double(2.0), double(3.0)
    found = first(cube, x, grads=[g])
    assert len(found) == 1, f"expected one gradient, got {len(found)}"
    assert found[0].tolist() == [36.0], f"expected 3 x*x g = [36.0], got {found[0].tolist()}"
    assert found[0].requires_grad, "expected the backward pass to be recorded"
    found[0].backward()
    assert (x.grad.tolist(), g.grad.tolist()) == ([36.0], [12.0]), f"got {x.grad}, {g.grad}"


@pytest.mark.hole("09.6")
def test_missing_gradients_and_constants_are_left_out():
    found = first(lambda c, x, y: c * x, constant(5.0), double(2.0), double(1.0),
                  grads=[double(3.0)])
    assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
    assert [t.tolist() for t in found] == [[15.0]], f"expected [[15.0]], got {found}"
    c = constant(5.0)
    first(lambda c, x: c * x, c, double(2.0), grads=[double(3.0)])
    assert not c.requires_grad, "an input that is not live requires grad afterwards"


@pytest.mark.hole("09.6")
def test_all_outputs_that_require_grad_take_part():
    found = first(lambda x: (x * 2, constant(1.0), x * 3), double(1.0),
                  grads=[double(1.0), double(10.0)])
    assert found[0].tolist() == [32.0], f"expected 2*1 + 3*10 = [32.0], got {found[0].tolist()}"


@pytest.mark.hole("09.6")
def test_a_gradient_that_is_constant_is_no_missing_one():
    found = first(lambda x: x * 2, double(1.0), grads=[constant(3.0)])
    assert [t.tolist() for t in found] == [[6.0]], f"expected [[6.0]], got {found}"


@pytest.mark.hole("09.6")
def test_grad_is_required_again_where_it_was():
    found = first(cube, constant(2.0), grads=[constant(3.0)], live=[True, True])
    assert [t.tolist() for t in found] == [[36.0]]


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
def test_gradgradcheck_finds_right_and_wrong_second_derivatives():
    x, y = double(1.0, -2.0), double(0.5, 3.0)
    assert gradgradcheck(cube, (x,)) is True
    assert gradgradcheck(lambda x, y: (x * y, x.exp()), (x, y)) is True
    assert gradgradcheck(cube, (x,), check_fwd_over_rev=True) is True
    assert gradcheck(OnceOnly.apply, (x,)) is True, "expected the first derivative to be right"
    assert gradgradcheck(OnceOnly.apply, (x,), raise_exception=False) is False
