"""Symptoms of stage 09: what a wrong answer does, shown by tiny programs."""

import math
import warnings

import numpy as np

import minigrad as torch
from minigrad.autograd import Function
from minigrad.autograd.gradcheck import checks as gradcheck_parts
from minigrad.autograd.gradcheck import compare
from minigrad.autograd.gradcheck import numerical as jacobians
from minigrad.autograd.gradcheck.numerical import GradcheckError, Tolerances

LIMITS = Tolerances(1e-6, 1e-5, 1e-3, 0.0, False)


def double(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


# ------------------------------------------------------------------ 09.1

STEP = 0.125  # with it, differences of squares are exact


def numerical(func, *inputs):
    results = func(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    return jacobians.numerical_jacobians(func, inputs, results, STEP)


def slopes_of_square():
    """Return the numerical jacobian of x*x at 1 and 3; it is [[2, 0], [0, 6]]."""
    return np.asarray(numerical(lambda x: x * x, double(1.0, 3.0))[0][0])


def diagonal(*values):
    return np.allclose(slopes_of_square(), np.diag(values))


def square_is_right():
    return diagonal(2.0, 6.0)


def symptom_09_1_one_sided_difference():
    return diagonal(2 + STEP, 6 + STEP) or diagonal(2 - STEP, 6 - STEP)


def symptom_09_1_one_step_over_two():
    return diagonal(1 + STEP / 2, 3 + STEP / 2) or diagonal(1 - STEP / 2, 3 - STEP / 2)


def symptom_09_1_wrong_sign():
    return diagonal(-2.0, -6.0)


def symptom_09_1_twice_too_large():
    return diagonal(4.0, 12.0)


def symptom_09_1_half_too_small():
    return diagonal(1.0, 3.0)


def symptom_09_1_eps_squared():
    return any(diagonal(2 * times, 6 * times)
               for times in (1 / STEP, 2 / STEP, 1 / (2 * STEP), 4 / STEP))


def symptom_09_1_times_eps():
    return diagonal(2 * STEP**2, 6 * STEP**2)


def symptom_09_1_all_in_one_row():
    found = slopes_of_square()
    return found.shape == (2, 2) and (found != 0).any(axis=1).sum() == 1 and (
        np.allclose(found.sum(), 6.0) or np.allclose(found.sum(), 8.0))


def symptom_09_1_integers_have_slopes():
    found = numerical(lambda x: ((x * 1e9).long(), x * 1), double(1.0))[0]
    return bool(found[0].any())


def symptom_09_1_never_moves():
    x = double(1.0, 3.0)
    seen = []
    numerical(lambda x: [seen.append(x.tolist()), x * x][1], x)
    return len(seen) > 1 and all(each == [1.0, 3.0] for each in seen)


def symptom_09_1_another_dtype():
    func = [lambda x: x.float() * 2, lambda x: x * 2]
    found = [np.asarray(numerical(each, double(1.0))[0][0]).dtype for each in func]
    return found != [np.float32, np.float64]


def growing():
    """Return what a result says that changes its shape at index (1, 0)."""
    x = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    try:
        numerical(lambda x: x if x[1, 0].item() >= 1 else torch.cat([x, x]), x)
    except NotImplementedError:
        raise
    except Exception as error:
        return error
    return None


def symptom_09_1_shapes_are_not_compared():
    error = growing()
    return square_is_right() and "when inputs are perturbed" not in str(error)


def symptom_09_1_index_is_a_number():
    error = growing()
    return (square_is_right() and "when inputs are perturbed" in str(error)
            and "on index (1, 0)" not in str(error))


def symptom_09_1_not_divided():
    return diagonal(4 * STEP, 12 * STEP)


def symptom_09_1_relative_step():
    return diagonal(2.0, 18.0)


def symptom_09_1_order_of_the_result():
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    found = np.asarray(numerical(lambda x: x * weight, double(1.0))[0][0])
    return found.tolist() == [[1.0, 3.0, 2.0, 4.0]]


def symptom_09_1_moves_all_elements():
    found = slopes_of_square()
    return np.allclose(found, [[2, 6], [2, 6]]) or np.allclose(found, [[2, 2], [6, 6]])


def symptom_09_1_input_not_put_back():
    x = double(1.0, 3.0)
    numerical(lambda x: x * x, x)
    return x.tolist() != [1.0, 3.0]


def symptom_09_1_counts_versions():
    x = double(1.0, 3.0)
    numerical(lambda x: x * x, x)
    return x._version != 0


def symptom_09_1_keeps_views():
    found = np.asarray(numerical(lambda x: x.view(2), double(1.0, 3.0))[0][0])
    return square_is_right() and not np.allclose(found, np.eye(2))


def symptom_09_1_transposed():
    weight = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64)
    found = np.asarray(numerical(lambda x: x @ weight, double(1.0, 3.0))[0][0])
    return found.shape == (3, 2) and np.allclose(found, [[1, 4], [2, 5], [3, 6]])


def symptom_09_1_inputs_without_grad():
    constant = torch.tensor([5.0], dtype=torch.float64)
    return len(numerical(lambda c, x: c * x, constant, double(1.0))) == 2


def symptom_09_1_first_input_only():
    return square_is_right() and len(numerical(lambda x, y: x * y, double(1.0), double(2.0))) == 1


def symptom_09_1_first_result_only():
    found = numerical(lambda x: (x * x, x * x * 2), double(1.0))[0]
    return square_is_right() and (len(found) == 1 or not np.any(found[1]))


# ------------------------------------------------------------------ 09.2


def columns_of(output, *inputs):
    found = jacobians.jacobian_columns(inputs, output)
    return [[None if g is None else g.tolist() for g in column] for column in found]


def symptom_09_2_inputs_without_grad():
    x = double(1.0)
    try:
        columns_of(x * 2, torch.tensor([5.0], dtype=torch.float64), x)
    except RuntimeError as error:
        return "not require grad" in str(error)
    tensors = torch.tensor([5.0], dtype=torch.float64), x
    try:
        return len(assembled(tensors, [[2.0]])) == 2
    except IndexError:
        return plain_columns_work()


class Keeps(Function):
    """Twice x; its backward keeps what came, and gives out the same tensor each time."""

    came = []

    @staticmethod
    def forward(ctx, x):
        ctx.given = torch.zeros(2, dtype=torch.float64)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Keeps.came.append(g)
        with torch.no_grad():
            ctx.given.copy_(g * 2)
        return ctx.given


def symptom_09_2_vector_not_copied():
    Keeps.came, x = [], double(1.0, 2.0)
    columns_of(Keeps.apply(x), x)
    came = [g.tolist() for g in Keeps.came]
    return came != np.eye(2).tolist() and of_twice() == np.diag([2, 2, 2]).tolist()


def symptom_09_2_gradient_not_copied():
    x = double(1.0, 2.0)
    return (columns_of(Keeps.apply(x), x) != [[[2, 0]], [[0, 2]]]
            and of_twice() == np.diag([2, 2, 2]).tolist())


def with_unused():
    x, unused = double(1.0), double(2.0)
    return columns_of(x * 3, unused, x)


def symptom_09_2_other_numbers():
    found = assembled((double(0.0, 0.0),), [[1.0, 2.0]], [[3.0, 4.0]])
    return found[0] != [[1, 3], [2, 4]] and len(found) == 1 and len(found[0]) == 2


def symptom_09_2_first_input_only():
    x, y = double(1.0), double(2.0)
    return columns_of(x * y, x, y) == [[[2.0]]]


def symptom_09_2_vector_is_not_one():
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    x = double(1.0, 2.0)
    found = [column[0] for column in columns_of(x @ weight, x)]
    right = np.array([[1.0, 3.0], [2.0, 4.0]])
    if len(found) != 2 or None in found:
        return False
    times = np.array(found) / right
    return bool(np.allclose(times, times[:, :1]) and not np.allclose(times, 1.0))


def symptom_09_2_missing_become_zeros():
    return with_unused() == [[[0.0], [3.0]]]


def symptom_09_2_missing_left_out():
    return with_unused() == [[[3.0]]]


def symptom_09_2_another_dtype():
    single = torch.zeros(2, requires_grad=True)
    column = [[torch.tensor([1.0, 2.0])]]
    return jacobians.assembled((single,), column)[0].dtype != np.float32


def symptom_09_2_frees_the_graph():
    x = double(1.0, 2.0)
    try:
        columns_of(x * x, x)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_09_2_unused_inputs_raise():
    x = double(1.0, 2.0)
    try:
        columns_of(x * 2, x, double(1.0))
    except RuntimeError as error:
        return "used in the graph" in str(error)
    return False


def of_twice():
    x = double(1.0, 1.0, 1.0)
    return [column[0] for column in columns_of(x * 2, x)]


def symptom_09_2_ones_pile_up():
    return of_twice() == [[2, 0, 0], [2, 2, 0], [2, 2, 2]]


def symptom_09_2_all_ones():
    return of_twice() == [[2, 2, 2]] * 3


def symptom_09_2_gradients_change_later():
    x = double(1.0, 1.0, 1.0)
    right = np.eye(3).tolist()
    return (of_twice() == np.diag([2, 2, 2]).tolist()
            and [column[0] for column in columns_of(x + 1, x)] != right)


def assembled(tensors, *columns):
    columns = [[None if g is None else torch.tensor(g, dtype=torch.float64) for g in column]
               for column in columns]
    return [np.asarray(j).tolist() for j in jacobians.assembled(tensors, columns)]


def plain_columns_work():
    return assembled((double(0.0, 0.0),), [[1.0, 2.0]], [[3.0, 4.0]]) == [[[1, 3], [2, 4]]]


def symptom_09_2_transposed():
    found = assembled((double(0.0, 0.0),), [[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]])
    return found == [[[1, 2], [3, 4], [5, 6]]]


def symptom_09_2_missing_gradients_raise():
    try:
        assembled((double(0.0, 0.0),), [[1.0, 2.0]], [None])
    except (AttributeError, TypeError):
        return plain_columns_work()
    return False


def symptom_09_2_wrong_size_counts():
    if not plain_columns_work():
        return False
    try:
        return assembled((double(0.0, 0.0),), [[3.0]], [[[3.0, 4.0]]]) != [[[0, 0], [0, 0]]]
    except ValueError:
        return True


def symptom_09_2_first_input_for_all():
    found = assembled((double(0.0), double(0.0)), [[1.0], [2.0]])
    return found == [[[1]], [[1]]]


def symptom_09_2_order_of_elements():
    x = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    return assembled((x,), [[[1.0, 2.0], [3.0, 4.0]]]) == [[[1], [3], [2], [4]]]


# ------------------------------------------------------------------ 09.3


def refused(analytical, numbers, rtol=1e-3, atol=1e-5):
    """Tell whether two jacobians are found to differ."""
    limits = LIMITS._replace(rtol=rtol, atol=atol)
    try:
        jacobians.check_equal(np.array(analytical), np.array(numbers), 0, 0, limits, False)
    except GradcheckError:
        return True
    return False


def symptom_09_3_refuses_equal_ones():
    return refused([1.0], [1.0]) and not refused([1.0], [2.0])


def symptom_09_3_always_content():
    return not refused([1.0], [2.0]) and not refused([2.0], [1.0]) and not refused([1.0], [-9.0])


def compares():
    return refused([1.0], [2.0]) and refused([2.0], [1.0]) and not refused([1.0], [1.0])


def symptom_09_3_one_side_only():
    return not refused([1.0], [1.0]) and refused([1.0], [2.0]) != refused([2.0], [1.0])


def symptom_09_3_compares_sums():
    return compares() and not refused([1.0, 2.0], [2.0, 1.0])


def symptom_09_3_any_element_will_do():
    return compares() and not refused([1.0, 5.0], [1.0, 2.0]) and refused([1.0, 2.0], [2.0, 1.0])


def symptom_09_3_nan_passes():
    return compares() and not (refused([math.nan], [2.0]) and refused([math.nan], [math.nan]))


def symptom_09_3_relative_to_the_other():
    return (compares() and not refused([110.0], [100.0], rtol=0.095, atol=0.0)
            and refused([100.0], [110.0], rtol=0.095, atol=0.0))


def symptom_09_3_gradients_of_another_result():
    def two(x):
        return torch.zeros(1, dtype=torch.float64), x * 2

    if not slow_works():
        return False
    try:
        slow_refuses(two, double(1.0))
    except RuntimeError as error:
        return "does not require grad" in str(error)
    return False


def symptom_09_3_shown_the_wrong_way_round():
    x = double(1.0)
    try:
        compare.check_slow(lambda x: Wrong.apply(x), (x,), LIMITS, (Wrong.apply(x),), False)
    except GradcheckError as error:
        return "-2" in str(error).partition("analytical:")[0]
    return False


def symptom_09_3_another_step():
    x = double(1.0)
    if not slow_works() or slow_refuses(cube, x):
        return False
    try:
        compare.check_slow(cube, (x,), LIMITS._replace(eps=0.5), (cube(x),), False)
    except GradcheckError:
        return False
    return True


def numbers_of(func):
    """Return the output and the input that the error for a wrong function names."""
    inputs = torch.ones(1, dtype=torch.float64), double(1.0), double(2.0)
    try:
        compare.check_slow(func, inputs, LIMITS, func(*inputs), False)
    except GradcheckError as error:
        words = str(error).split(",")[0].split()
        return int(words[4]), int(words[-1])
    return None


def symptom_09_3_numbers_exchanged():
    return (numbers_of(lambda c, x, y: (x + Wrong.apply(y),)) == (1, 0)
            and numbers_of(lambda c, x, y: (x * 1, y + Wrong.apply(x))) == (0, 1))


def symptom_09_3_counts_all_outputs():
    return numbers_of(lambda c, x, y: (c * 1, y + Wrong.apply(x))) == (1, 0)


def symptom_09_3_no_tolerance():
    return compares() and refused([1.0 + 1e-9], [1.0])


def symptom_09_3_the_larger_tolerance():
    return (compares() and refused([1.015], [1.0], rtol=0.01, atol=0.01)
            and not refused([1.005], [1.0], rtol=0.01, atol=0.0)
            and not refused([1.005], [1.0], rtol=0.0, atol=0.01))


def symptom_09_3_infinity_is_near_all():
    return compares() and not refused([1.0], [math.inf])


def symptom_09_3_tolerances_exchanged():
    return refused([100.05], [100.0]) and not refused([5e-4], [0.0])


def symptom_09_3_relative_only():
    return compares() and refused([1e-6], [0.0]) and not refused([100.05], [100.0])


def symptom_09_3_absolute_only():
    return compares() and refused([100.05], [100.0]) and refused([5e-4], [0.0])


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


def slow_refuses(func, *inputs, forward=False):
    results = func(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    try:
        compare.check_slow(func, inputs, LIMITS, results, forward)
    except GradcheckError:
        return True
    return False


def slow_works():
    x = double(1.0, 2.0)
    return (compares() and not slow_refuses(lambda x: x * 2, x)
            and slow_refuses(lambda x: Wrong.apply(x), x))


def symptom_09_3_first_output_only():
    return slow_works() and not slow_refuses(lambda x: (x * 2, Wrong.apply(x)), double(1.0))


def symptom_09_3_first_input_only():
    return slow_works() and not slow_refuses(lambda x, y: x * 2 + Wrong.apply(y),
                                             double(1.0), double(1.0))


def symptom_09_3_position_of_the_output():
    def two(x):
        return torch.zeros(1, dtype=torch.float64), x * 2

    return slow_works() and slow_refuses(two, double(1.0))


def symptom_09_3_detached_passes():
    return slow_works() and not slow_refuses(lambda x: x.detach() * 2, double(1.0))


def symptom_09_3_ignores_forward_mode():
    return slow_works() and slow_refuses(lambda x: Wrong.apply(x), double(1.0), forward=True)


class OneWay(Function):
    """Twice x, which can be differentiated in one mode alone; the other one raises."""

    @staticmethod
    def forward(ctx, x, forward):
        ctx.wanted = forward
        return x * 2

    @staticmethod
    def backward(ctx, g):
        if ctx.wanted:
            raise RuntimeError("the other mode ran")
        return g * 2, None

    @staticmethod
    def jvp(ctx, t, _):
        if not ctx.wanted:
            raise RuntimeError("the other mode ran")
        return t * 2


def symptom_09_3_runs_the_other_mode():
    x = double(1.0)
    for forward in (False, True):
        try:
            compare.check_slow(lambda x, f=forward: OneWay.apply(x, f), (x,), LIMITS,
                              (OneWay.apply(x, forward),), forward)
        except RuntimeError as error:
            if "the other mode ran" in str(error):
                return slow_works() and not slow_refuses(lambda x: x * 2, x, forward=True)
    return False


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


def symptom_09_3_forward_mode_unsaid():
    x = double(1.0)
    try:
        compare.check_slow(WrongForward.apply, (x,), LIMITS, (WrongForward.apply(x),), True)
    except GradcheckError as error:
        return "computed with forward mode" not in str(error)
    return False


def symptom_09_3_only_forward_mode():
    x = double(1.0)
    return not slow_refuses(lambda x: Wrong.apply(x), x) and not slow_refuses(lambda x: x * 2, x)


# ------------------------------------------------------------------ 09.4


def looked_at(*inputs):
    """Return what checking inputs raised, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            compare.check_inputs(inputs)
        except Exception as error:
            return error, [str(each.message) for each in caught]
    return None, [str(each.message) for each in caught]


def single():
    return torch.tensor([1.0], requires_grad=True)


def overlapping(requires_grad=True):
    x = torch.ones(1, dtype=torch.float64).expand(3)
    return x.requires_grad_() if requires_grad else x


def symptom_09_4_raises_for_float32():
    return looked_at(single())[0] is not None and looked_at(double(1.0))[0] is None


def symptom_09_4_warns_of_float64():
    return looked_at(single()) == (None, []) and len(looked_at(double(1.0))[1]) == 1


def symptom_09_4_no_warning():
    return looked_at(single()) == (None, []) and looked_at(double(1.0)) == (None, [])


def symptom_09_4_warns_of_float32_alone():
    half = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
    return len(looked_at(single())[1]) == 1 and looked_at(half) == (None, [])


def symptom_09_4_stops_at_the_first_constant():
    constant = torch.ones(1, dtype=torch.float64)
    return len(looked_at(single())[1]) == 1 and looked_at(constant, single()) == (None, [])


def symptom_09_4_looks_at_constants():
    error, told = looked_at(torch.ones(1), double(1.0))
    return bool(told) and error is None and looked_at(double(1.0)) == (None, [])


def symptom_09_4_counts_from_one():
    told = looked_at(single())[1]
    return len(told) == 1 and "#1 " in told[0]


def symptom_09_4_first_input_only():
    return (len(looked_at(single())[1]) == 1 and looked_at(double(1.0)) == (None, [])
            and looked_at(double(1.0), single()) == (None, []))


def symptom_09_4_warned_is_not_looked_at():
    x = torch.ones(1).expand(3).requires_grad_()
    found = looked_at(x)
    return found[0] is None and len(found[1]) == 1 and looked_at(overlapping())[0] is not None


def symptom_09_4_another_error():
    constant = torch.ones(1, dtype=torch.float64)
    error = looked_at(constant)[0]
    return error is not None and not isinstance(error, ValueError) and (
        "at least one input tensor" in str(error))


def symptom_09_4_counts_those_alone():
    constant = torch.ones(1, dtype=torch.float64)
    told, alone = looked_at(constant, single())[1], looked_at(single())[1]
    return len(told) == len(alone) == 1 and "#0 " in told[0] and "#0 " in alone[0]


def symptom_09_4_words_raise():
    return (isinstance(looked_at("word", double(1.0))[0], AttributeError)
            and looked_at(double(1.0)) == (None, []))


def symptom_09_4_refuses_other_strides():
    x = torch.ones(2, 3, dtype=torch.float64).t().requires_grad_()
    return looked_at(x)[0] is not None and looked_at(double(1.0)) == (None, [])


def symptom_09_4_nothing_to_check_passes():
    return looked_at(torch.ones(1, dtype=torch.float64)) == (None, [])


def symptom_09_4_all_have_to_require_grad():
    constant = torch.ones(1, dtype=torch.float64)
    return (isinstance(looked_at(constant, double(1.0))[0], ValueError)
            and looked_at(double(1.0))[0] is None)


def symptom_09_4_overlapping_passes():
    partly = torch.ones(2, dtype=torch.float64).expand(3, 2).requires_grad_()
    return (None, []) in (looked_at(overlapping()), looked_at(partly))


def symptom_09_4_refuses_size_one():
    x = torch.ones(1, dtype=torch.float64)
    thin = x.as_strided((1, 1), (0, 1)).requires_grad_()
    return looked_at(thin)[0] is not None and looked_at(double(1.0))[0] is None


# ------------------------------------------------------------------ 09.5


class Added(Function):
    """The same numbers, with a gradient that is off by a constant."""

    @staticmethod
    def forward(ctx, x, extra):
        ctx.extra = extra
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g + ctx.extra, None


def multiplies(output, *inputs, masked=False):
    """Return what the check raised, or None."""
    try:
        gradcheck_parts.check_multiplies_by_gradient(inputs, (output,), masked)
    except Exception as error:
        return error
    return None


def refuses_added():
    x = double(1.0)
    return isinstance(multiplies(Added.apply(x, 1.0), x), GradcheckError)


def second_input_is_seen():
    x, y = double(1.0), double(2.0)
    return multiplies(x * 2 + Added.apply(y, 1.0), x, y) is not None


def symptom_09_5_refuses_right_functions():
    x = double(1.0)
    return isinstance(multiplies(x * 2, x), GradcheckError)


def symptom_09_5_added_terms_pass():
    x = double(1.0)
    return multiplies(Added.apply(x, 1.0), x) is None and multiplies(x * 2, x) is None


class Partly(Function):
    """The same numbers, with a gradient that is off at the second element."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g + torch.tensor([0.0, 1.0], dtype=torch.float64)


def symptom_09_5_one_zero_is_enough():
    x = double(1.0, 2.0)
    return refuses_added() and multiplies(Partly.apply(x), x) is None


def symptom_09_5_graph_is_freed():
    x = double(1.0)
    y = x * x
    return multiplies(y, x) is None and "second time" in str(multiplies(y, x))


def given(odd):
    """Return what the check says of a gradient that is not like its input."""
    real = gradcheck_parts.grad
    gradcheck_parts.grad = lambda *args, **options: (odd,)
    try:
        x = double(1.0, 2.0)
        return multiplies(x * 2, x)
    finally:
        gradcheck_parts.grad = real


def symptom_09_5_dtype_unchecked():
    return given(torch.zeros(2)) is None and refuses_added()


def symptom_09_5_missing_gradient_crashes():
    x = double(1.0)
    found = multiplies(x * 2, double(1.0), x)
    return isinstance(found, AttributeError | TypeError) and multiplies(x * 2, x) is None


def symptom_09_5_unused_inputs_raise():
    x = double(1.0)
    found = multiplies(x * 2, double(1.0), x)
    return isinstance(found, RuntimeError) and "used in the graph" in str(found)


def symptom_09_5_missing_gradient_ends_it():
    x = double(1.0)
    return (second_input_is_seen()
            and multiplies(Added.apply(x, 1.0), double(1.0), x) is None)


def symptom_09_5_first_input_only():
    return refuses_added() and not second_input_is_seen()


def symptom_09_5_ignores_masked():
    x = double(1.0)
    return refuses_added() and multiplies(Added.apply(x, 1e-12), x, masked=True) is not None


def symptom_09_5_always_masked():
    x = double(1.0)
    return refuses_added() and multiplies(Added.apply(x, 1e-12), x) is None


class Picky(Function):
    """Two outputs, whose backward refuses some missing gradients."""

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


def undefined(func, *inputs, count=1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gradcheck_parts.check_undefined(func, inputs, count)
        except Exception as error:
            return error
    return None


def picky(refuses):
    return undefined(lambda x: Picky.apply(x, refuses), double(1.0), count=2)


def symptom_09_5_missing_gradient_refused():
    x = double(1.0)
    return (isinstance(multiplies(x * 2, double(1.0), x), GradcheckError)
            and multiplies(x * 2, x) is None)


def symptom_09_5_nothing_is_not_enough():
    error = undefined(lambda x: x * 2, double(1.0)) or undefined(
        lambda x: Picky.apply(x, 3), double(1.0), count=2)
    return "to be undefined or zero" in str(error)


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


def symptom_09_5_not_each_alone():
    found = [undefined(lambda x, i=i: One.apply(x, i), double(1.0), count=2) for i in (0, 1)]
    return [error is None for error in found] in ([True, False], [False, True])


def symptom_09_5_one_call_for_all_cases():
    error = undefined(lambda x: (x * x, x * x * 3), double(1.0), count=2)
    return "second time" in str(error) or "second time" in str(getattr(error, "__cause__", ""))


def symptom_09_5_errors_are_swallowed():
    return picky(1) is None and picky(2) is None and isinstance(
        undefined(lambda x: Something.apply(x), double(1.0)), GradcheckError)


def symptom_09_5_no_warning():
    for func in (lambda x: Something.apply(x), lambda x: Picky.apply(x, 2)[0]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                gradcheck_parts.check_undefined(func, (double(1.0),), 1)
            except GradcheckError:
                if not caught:
                    return True
    return False


def symptom_09_5_none_has_no_array():
    error = undefined(lambda x: Picky.apply(x, 3), double(1.0), count=2)
    return isinstance(error, AttributeError | TypeError)


def symptom_09_5_constants_are_counted():
    one = torch.ones(1, dtype=torch.float64)
    return (undefined(lambda x: (x * x, x * 3), double(1.0), count=2) is None
            and undefined(lambda x: (one, x * x, x * 3), double(1.0), count=2) is not None)


def symptom_09_5_errors_come_out_bare():
    found = [picky(1), picky(2)]
    return all(isinstance(error, RuntimeError) for error in found) and not any(
        isinstance(error, GradcheckError) for error in found)


def symptom_09_5_only_all_together():
    return picky(1) is None and isinstance(picky(2), GradcheckError)


def symptom_09_5_only_one_at_a_time():
    return picky(2) is None and isinstance(picky(1), GradcheckError)


def symptom_09_5_something_for_nothing_passes():
    return (undefined(lambda x: Something.apply(x), double(1.0)) is None
            and isinstance(picky(1), GradcheckError) and isinstance(picky(2), GradcheckError))


# ------------------------------------------------------------------ 09.6


def first(func, *inputs, grads, live=None):
    given = (*inputs, *grads)
    live = live or [t.requires_grad for t in given]
    return compare.first_gradients(func, len(inputs), live, *given)


def cube(x):
    return x * x * x


def symptom_09_6_hands_all_to_the_function():
    seen = []

    def counts(*given):
        seen.append(len(given))
        return cube(given[0])

    try:
        first(counts, double(2.0), grads=[double(3.0)])
    finally:
        return seen == [2]  # noqa: B012  # whatever else went wrong


def symptom_09_6_forgets_grad_outputs():
    (found,) = first(cube, double(2.0), grads=[double(3.0)])
    return found.tolist() == [12.0]


def symptom_09_6_no_graph_of_backward():
    (found,) = first(cube, double(2.0), grads=[double(3.0)])
    return found.tolist() == [36.0] and not found.requires_grad


def symptom_09_6_unused_inputs_raise():
    try:
        first(lambda x, y: cube(x), double(2.0), double(1.0), grads=[double(3.0)])
    except RuntimeError as error:
        return "used in the graph" in str(error)
    return False


def symptom_09_6_keeps_missing_gradients():
    found = first(lambda x, y: cube(x), double(2.0), double(1.0), grads=[double(3.0)])
    return None in found


def symptom_09_6_gradients_of_constants():
    constant = torch.tensor([2.0], dtype=torch.float64)
    try:
        return len(first(lambda c, x: c * x, constant, double(2.0), grads=[double(3.0)])) == 2
    except RuntimeError as error:
        return "not require grad" in str(error)


def symptom_09_6_inputs_for_grad_outputs():
    (found,) = first(cube, double(2.0), grads=[double(3.0)])
    return found.tolist() == [24.0]


def symptom_09_6_constant_ones_left_out():
    three = torch.tensor([3.0], dtype=torch.float64)
    found = first(lambda x: x * 2, double(1.0), grads=[three])
    return len(found) == 0 and len(first(cube, double(2.0), grads=[double(3.0)])) == 1


def symptom_09_6_copies_of_the_inputs():
    return len(first(cube, double(2.0), grads=[double(3.0)])) == 0


def symptom_09_6_switches_constants_on():
    constant = torch.tensor([5.0], dtype=torch.float64)
    first(lambda c, x: c * x, constant, double(2.0), grads=[double(3.0)])
    return constant.requires_grad


def symptom_09_6_no_tuple():
    return not isinstance(first(cube, double(2.0), grads=[double(3.0)]), tuple)


def symptom_09_6_constant_outputs():
    constant = torch.tensor([5.0], dtype=torch.float64)
    try:
        first(lambda x: (constant, cube(x)), double(2.0), grads=[double(3.0)])
    except RuntimeError as error:
        return "got 2 tensors and 1 gradients" in str(error) or "not require grad" in str(error)
    return False


def symptom_09_6_gradients_of_grad_outputs():
    return len(first(cube, double(2.0), grads=[double(3.0)])) == 2


def symptom_09_6_does_not_require_grad_again():
    if len(first(cube, double(2.0), grads=[double(3.0)])) != 1:
        return False
    plain = [torch.tensor([2.0], dtype=torch.float64), torch.tensor([3.0], dtype=torch.float64)]
    try:
        return not first(cube, plain[0], grads=plain[1:], live=[True, True])
    except (RuntimeError, ValueError):
        return True


def symptom_09_6_first_output_only():
    (found,) = first(lambda x: (x * 2, x * 3), double(1.0), grads=[double(1.0), double(1.0)])
    return found.tolist() == [2.0]
