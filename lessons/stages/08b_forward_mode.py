"""Symptoms of stage 08b: what a mistake in forward mode, a batching rule or vmap does."""

from __future__ import annotations

import math
import warnings
from typing import Any

import minigrad as torch
from minigrad.autograd import forward_ad
from minigrad.autograd.forward_ad import jacobian, pushforward
from minigrad.batching import batched, examples, level_of, next_level, rules
from minigrad.examples import dual_numbers
from minigrad.examples.dual_numbers import Dual
from minigrad.func import hessian, jacobians, vmap
from minigrad.func.levels import VmapLevels
from minigrad.func.transforms import Derivation
from minigrad.op.apply import apply
from minigrad.op.declaration import REGISTRY
from minigrad.ops.reduction.minmax import MaxDim


def error_of(run: Any, *args: Any, **options: Any) -> str:
    """What a call raises, as text; "" for none, and for a body that is not written yet."""
    try:
        run(*args, **options)
    except NotImplementedError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def listed(found: Any) -> Any:
    """Tensors, or a nesting of them, as lists of rounded numbers; None stays."""
    if isinstance(found, torch.Tensor):
        return listed(found.detach().tolist())
    if isinstance(found, (tuple, list)):
        return [listed(each) for each in found]
    return round(found, 4) if isinstance(found, float) else found


# ------------------------------------------------------------------------------------ 08b.1

P, Q = Dual(3.0, 1.0), Dual(4.0, 10.0)  # the product's tangent: 1 * 4 + 3 * 10 = 34


def product() -> Any:
    return dual_numbers.mul(P, Q).tangent


def along(f: Any = lambda x, y: x * y, direction: tuple[float, ...] = (1.0, 10.0)) -> Any:
    return dual_numbers.jacobian_vector_product(f, (3.0, 4.0), direction)


def symptom_08b_1_one_factor() -> bool:
    return product() in (4.0, 30.0)


def symptom_08b_1_tangents_multiplied() -> bool:
    return product() == 10.0


def symptom_08b_1_own_factor() -> bool:
    return product() == 43.0


def symptom_08b_1_a_sums_tangent() -> bool:
    return product() == 11.0


def symptom_08b_1_half_a_sum() -> bool:
    return dual_numbers.add(P, Q).tangent in (1.0, 10.0)


def symptom_08b_1_slope_alone() -> bool:
    slopes = [(dual_numbers.exp, 1.0), (dual_numbers.reciprocal, -1.0 / 9)]
    return any(math.isclose(f(Dual(x, t)).tangent, slope)
               for (f, slope), x in zip(slopes, (0.0, 3.0)) for t in (5.0,))


def symptom_08b_1_function_of_the_tangent() -> bool:
    return math.isclose(dual_numbers.exp(Dual(2.0, 3.0)).tangent, math.exp(3.0))


def symptom_08b_1_tangent_as_it_came() -> bool:
    return dual_numbers.exp(Dual(2.0, 3.0)).tangent == 3.0


def symptom_08b_1_reciprocal_grows() -> bool:
    return dual_numbers.reciprocal(Dual(4.0, 16.0)).tangent == 1.0


def symptom_08b_1_reciprocal_not_squared() -> bool:
    return dual_numbers.reciprocal(Dual(4.0, 16.0)).tangent in (-4.0, 4.0)


def symptom_08b_1_returns_a_dual() -> bool:
    return isinstance(along(), Dual)


def symptom_08b_1_tangent_first() -> bool:
    return along(lambda x, y: y) == (10.0, 4.0)


def symptom_08b_1_direction_not_used() -> bool:
    found = along(lambda x, y: y, (1.0, 10.0)), along(lambda x, y: y, (1.0, 20.0))
    return found[0] == found[1]


def symptom_08b_1_several_runs() -> bool:
    runs = []
    along(lambda x, y: runs.append(x) or x)
    return len(runs) > 1


# ------------------------------------------------------------------------------------ 08b.2

A, B = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.5, -1.0], [2.0, 1.0]])
S, T = torch.tensor([[1.0, 0.0], [2.0, -1.0]]), torch.tensor([[3.0, 1.0], [0.0, 2.0]])
X, Y = torch.tensor([1.0, 2.0]), torch.tensor([5.0, -3.0])
SX, TY = torch.tensor([10.0, 0.5]), torch.tensor([1.0, 3.0])


def pushed(rule: str, name: str, values: list[Any], tangents: dict[int, Any]) -> Any:
    op = REGISTRY[name]
    outputs = pushforward.as_sequence(apply(op, list(values)))
    return listed(getattr(pushforward, rule)(op, list(values), outputs, tangents))


def matrices() -> Any:
    return pushed("multilinear", "Mm", [A, B], {0: S, 1: T})


def products() -> Any:
    return pushed("elementwise", "Mul", [X, Y], {0: SX, 1: TY})


def symptom_08b_2_values_change() -> bool:
    values = [A, B]
    pushforward.multilinear(REGISTRY["Mm"], values, (A @ B,), {0: S, 1: T})
    return values[0] is not A or values[1] is not B


def nested(values: list[Any]) -> list[Any]:
    """Which objects a list holds, also in the lists inside it."""
    return [nested(each) if isinstance(each, list) else id(each) for each in values]


def symptom_08b_2_values_change_elsewhere() -> bool:
    changed = []
    for rule, name, values, moving in (
            ("linear", "Sum", [A, 0, True, None], {0: S}),
            ("linear", "Stack", [[A, B], 0], {0: [None, T]}),
            ("elementwise", "Mul", [A, B], {0: S, 1: T})):
        before = nested(values)
        outputs = pushforward.as_sequence(apply(REGISTRY[name], list(values)))
        getattr(pushforward, rule)(REGISTRY[name], values, outputs, moving)
        changed.append(before != nested(values))
    return any(changed)


def symptom_08b_2_all_at_once() -> bool:
    return matrices() == [listed(S @ T)]


def symptom_08b_2_one_after_the_other() -> bool:
    return matrices() == [listed(S @ B + S @ T)]


def symptom_08b_2_one_product() -> bool:
    return matrices() in ([listed(S @ B)], [listed(A @ T)])


def symptom_08b_2_first_tangent_for_all() -> bool:
    return products() in ([listed(SX * Y + SX * X)], [listed(TY * Y + TY * X)])


def symptom_08b_2_first_formula_for_all() -> bool:
    return products() == [listed(SX * Y + TY * Y)]


def symptom_08b_2_slope_alone() -> bool:
    return pushed("elementwise", "Mul", [X, Y], {0: SX}) == [listed(Y)]


def symptom_08b_2_tangent_twice() -> bool:
    return pushed("elementwise", "Mul", [X, Y], {0: SX}) == [listed(SX * SX * Y)]


def symptom_08b_2_parts_not_added() -> bool:
    return products() == [listed(SX * Y), listed(TY * X)]


def symptom_08b_2_last_input_alone() -> bool:
    return products() in ([listed(TY * X)], [listed(SX * Y)])


def stack() -> Any:
    return pushed("linear", "Stack", [[X, Y], 0], {0: [None, TY]})


def symptom_08b_2_values_for_missing() -> bool:
    return stack() == [listed([X, TY])]


def symptom_08b_2_missing_stay() -> bool:
    pushed("linear", "Stack", [[X, Y], 0], {0: [SX, TY]})
    return bool(error_of(stack))


def symptom_08b_2_outputs_in_one() -> bool:
    return pushed("linear", "Unbind", [A, 0], {0: S}) == [listed([S[0], S[1]])]


def symptom_08b_2_other_arguments_left_out() -> bool:
    def keep() -> Any:
        return pushed("linear", "Sum", [A, 0, True, None], {0: S})

    text = error_of(keep)
    return "argument" in text or (not text and keep() != [[[3.0, -1.0]]])


# ------------------------------------------------------------------------------------ 08b.3

ONE_TO_THREE = torch.tensor([1.0, 2.0, 3.0])
WAY = torch.tensor([1.0, 10.0, 100.0])


def tangent_of(f: Any, x: torch.Tensor, t: torch.Tensor, recorded: bool = True) -> Any:
    try:
        with torch.set_grad_enabled(recorded), forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(x, t))).tangent
    finally:
        torch.set_grad_enabled(True)


def sums(direction: torch.Tensor = WAY, **options: Any) -> Any:
    return listed(tangent_of(lambda x: torch.cumsum(x, 0), ONE_TO_THREE, direction, **options))


def twice(name: str, values: list[Any], tangents: dict[int, Any]) -> Any:
    return pushed("transposed_twice", name, values, tangents)


def symptom_08b_3_recording_stays_on() -> bool:
    try:
        with torch.no_grad(), forward_ad.dual_level():
            torch.cumsum(forward_ad.make_dual(ONE_TO_THREE, WAY), 0)
            return torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


def symptom_08b_3_not_recorded() -> bool:
    return sums() == [1.0, 11.0, 111.0] and sums(recorded=False) in (None, [0.0, 0.0, 0.0])


def of_a_leaf(recorded: bool) -> bool:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    found = tangent_of(lambda x: torch.cumprod(x, 0), x, WAY, recorded)
    return bool(found.requires_grad)


def symptom_08b_3_always_a_graph() -> bool:
    return of_a_leaf(False)


def symptom_08b_3_no_graph() -> bool:
    return not of_a_leaf(True)


def symptom_08b_3_transposed() -> bool:
    return sums() == [111.0, 110.0, 100.0]


def symptom_08b_3_always_zero() -> bool:
    return sums() == [0.0, 0.0, 0.0]


def symptom_08b_3_ones_as_directions() -> bool:
    return sums() == [1.0, 2.0, 3.0] and sums(torch.ones(3) * 5) == [1.0, 2.0, 3.0]


def symptom_08b_3_one_input() -> bool:
    both = twice("MseLoss", [X, Y, "sum"], {0: SX, 1: TY})
    alone = [twice("MseLoss", [X, Y, "sum"], {0: SX}), twice("MseLoss", [X, Y, "sum"], {1: TY})]
    return both in alone


def symptom_08b_3_outputs_left_out() -> bool:
    return len(twice("MaxDim", [A, 1, False], {0: S})) == 1


def nothing() -> Any:
    outputs, formulas = tuple(torch.max(A, 1)), MaxDim.formulas
    MaxDim.formulas = {"self": (lambda indices: None, ("indices",))}
    try:
        return pushforward.transposed_twice(MaxDim, [A, 1, False], outputs, {0: S})
    finally:
        MaxDim.formulas = formulas


def symptom_08b_3_one_none() -> bool:
    found = nothing()
    return found is None or len(found) == 1


def symptom_08b_3_no_pairs_fail() -> bool:
    if error_of(twice, "MaxDim", [S, 1, False], {0: S}):
        return False
    return sums() == [1.0, 11.0, 111.0] and bool(error_of(nothing))


def symptom_08b_3_unused_raise() -> bool:
    x = torch.tensor([[2.0, 1.0], [0.5, 3.0]])
    return "to not have been used" in error_of(twice, "Slogdet", [x], {0: S})


# ------------------------------------------------------------------------------------ 08b.4


def on_batches(f: Any, *inputs: Any, shared: tuple[int, ...] = ()) -> Any:
    """Run `f` on batches, without vmap; those at the places `shared` are the same for all."""
    level = next_level()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = f(*[x if i in shared else batched(x, level) for i, x in enumerate(inputs)])
        rows = examples(found, level)
    return rows


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(float(math.prod(shape))).reshape(shape)


def times(x: Any, y: Any) -> Any:
    return x * y


FIVE, MATRIX = numbers(5, 2), numbers(3, 2) + 1.0
ALIGNED = FIVE.reshape(5, 1, 2) * MATRIX


def symptom_08b_4_several_not_moved() -> bool:
    return rules.moved(0, 2) == 1 and tuple(rules.moved((0, 1), 2)) == (0, 1)


def symptom_08b_4_a_list() -> bool:
    return isinstance(rules.moved((0, 1), 2), list)


def symptom_08b_4_not_moved() -> bool:
    return rules.moved(0, 2) == 0


def symptom_08b_4_negative_reaches_the_batch() -> bool:
    return rules.moved(-1, 2) == 0 and rules.moved(0, 2) == 1


def symptom_08b_4_negative_numbers_stay() -> bool:
    return rules.moved(-1, 2) < 0


def symptom_08b_4_out_of_range() -> bool:
    return rules.moved(1, 2) == 2 and rules.moved(-1, 2) == 2 and not error_of(rules.moved, 5, 2)


def symptom_08b_4_a_loop() -> bool:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        level = next_level()
        rules.moved(0, 1)
        _ = batched(FIVE, level) * batched(FIVE, level)
        _ = torch.exp(batched(FIVE, level))
    return any("performance drop" in str(each.message) for each in told)


def symptom_08b_4_at_the_end() -> bool:
    square, two = numbers(2, 2), numbers(2, 2) + 1.0
    found = on_batches(times, square, two, shared=(1,))
    return listed(found) == listed(square.reshape(2, 2, 1) * two)


def symptom_08b_4_shared_gets_a_batch() -> bool:
    square, two = numbers(2, 2), numbers(2) + 1.0
    if error_of(on_batches, times, square, square):
        return False
    return bool(error_of(on_batches, times, numbers(5, 3, 2), two, shared=(1,)))


def symptom_08b_4_shared_rank_not_counted() -> bool:
    batches = on_batches(times, numbers(5), numbers(5, 3))
    if listed(batches) != listed(numbers(5, 1) * numbers(5, 3)):
        return False
    found = error_of(on_batches, times, FIVE, MATRIX, shared=(1,))
    square = numbers(2, 2)
    return bool(found) or listed(on_batches(times, square, square, shared=(1,))) == listed(
        square * square)


def symptom_08b_4_in_front_of_the_batch() -> bool:
    square, two = numbers(2, 2), numbers(2, 2) + 1.0
    return listed(on_batches(times, square, two, shared=(1,))) in (
        listed(square * two), listed(square.reshape(1, 2, 2) * two))


CUBE = numbers(2, 2, 2)


def total(dim: Any = None) -> Any:
    return listed(on_batches(lambda x: torch.sum(x, dim), CUBE))


def symptom_08b_4_none_reduces_the_batch() -> bool:
    if total(0) != listed(CUBE.sum(1)) or total((0, 1)) != listed(CUBE.sum((1, 2))):
        return False
    found = torch.sum(batched(CUBE, next_level()), None, keepdim=True)
    return found._array.inner.shape[:1] != (2,)


def symptom_08b_4_empty_reduces_the_batch() -> bool:
    whole = listed(CUBE.sum((1, 2)))
    return total() == whole and total((0, 1)) == whole and bool(
        error_of(total, ()) or total(()) != whole)


def symptom_08b_4_first_dimension_alone() -> bool:
    return total((0, 1)) == listed(CUBE.sum(1)) and total(0) == listed(CUBE.sum(1))


def symptom_08b_4_a_tuple_for_one() -> bool:
    level = next_level()
    x = torch.tensor([[1.0, 0.0, 3.0], [2.0, 5.0, 3.0]], requires_grad=True)
    found = examples(torch.prod(batched(x, level), 0), level)
    return "not tuple" in error_of(torch.autograd.grad, found.sum(), x)


def symptom_08b_4_numbers_fail() -> bool:
    return total(0) == listed(CUBE.sum(1)) and bool(
        error_of(on_batches, lambda x: torch.sum(x, 0), numbers(3)))


# ------------------------------------------------------------------------------------ 08b.5

ROWS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def symptom_08b_5_several_calls() -> bool:
    calls = []
    vmap(lambda x: calls.append(x) or x)(ROWS)
    return len(calls) > 1


def symptom_08b_5_flat_arguments() -> bool:
    seen = []
    error_of(vmap(lambda x: seen.append(type(x)) or ROWS.sum()), {"a": ROWS, "b": ROWS})
    if not seen:
        return "positional argument" in error_of(vmap(lambda x: ROWS.sum()), {"a": ROWS, "b": ROWS})
    return seen[0] is not dict


def symptom_08b_5_keywords_dropped() -> bool:
    seen = {}
    vmap(lambda x, **options: seen.update(options) or x)(ROWS, times=3)
    return not seen


def symptom_08b_5_shared_are_batches() -> bool:
    seen = []
    error_of(vmap(lambda x, y: seen.append(tuple(y.shape)) or x, (0, None)), ROWS,
             torch.ones(3, 2))
    return seen[:1] == [(2,)]


def symptom_08b_5_outside_the_level() -> bool:
    return not error_of(vmap(lambda x: x + torch.rand(2)), ROWS) and vmap(
        lambda x: x)(ROWS) is not None


def symptom_08b_5_one_level() -> bool:
    two, three = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0, 100.0])

    def table() -> Any:
        return vmap(lambda a: vmap(lambda b: a * b)(three))(two)

    if error_of(vmap(lambda x: x), ROWS) or error_of(
            lambda: vmap(lambda a: vmap(lambda b: b)(three))(two)):
        return False
    return bool(error_of(table)) or listed(table()) != listed(
        two.reshape(2, 1) * three)


def placed(place: int) -> Any:
    return vmap(lambda x: x, out_dims=place)(numbers(2, 3, 4))


def symptom_08b_5_first_dim_for_all() -> bool:
    first, second = vmap(lambda x: (x, x), out_dims=(1, 0))(ROWS)
    return listed(first) == listed(ROWS.t()) and listed(second) == listed(ROWS.t())


def symptom_08b_5_moved_the_other_way() -> bool:
    return tuple(placed(2).shape) == (4, 2, 3)


def symptom_08b_5_dim_ignored() -> bool:
    return tuple(placed(2).shape) == (2, 3, 4)


def symptom_08b_5_not_checked() -> bool:
    return not error_of(vmap(lambda x: x, out_dims=None), ROWS) and tuple(
        placed(2).shape) == (3, 4, 2)


def symptom_08b_5_none_is_zero() -> bool:
    def both() -> Any:
        return vmap(lambda x: (x, torch.ones(2)), out_dims=(0, None))(ROWS)[1]

    if error_of(vmap(lambda x: (x, x)), ROWS):
        return False
    return bool(error_of(both)) or tuple(both().shape) == (3, 2)


def constant() -> Any:
    return vmap(lambda x: torch.tensor([7.0, 8.0]))(torch.ones(3))


def symptom_08b_5_constants_not_expanded() -> bool:
    return listed(constant()) == [7.0, 8.0]


def symptom_08b_5_constants_expanded_elsewhere() -> bool:
    return tuple(constant().shape) == (2, 3)


# ------------------------------------------------------------------------------------ 08b.6


def two() -> tuple[int, int, VmapLevels]:
    outer, inner = next_level(), next_level()
    return outer, inner, VmapLevels(((outer, 3), (inner, 5)))


def one() -> tuple[int, VmapLevels]:
    level = next_level()
    return level, VmapLevels(((level, 5),))


def symptom_08b_6_shared_stay_shared() -> bool:
    return tuple(one()[1].of(X).shape) == (2,)


def symptom_08b_6_one_row() -> bool:
    return tuple(one()[1].of(X).shape) == (1, 2)


def symptom_08b_6_batches_repeated() -> bool:
    level, levels = one()
    return tuple(levels.of(batched(numbers(5, 2), level)).shape) == (5, 5, 2)


def symptom_08b_6_detached() -> bool:
    level, levels = one()
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    return not levels.of(w).requires_grad or not levels.of(
        batched(w * numbers(5, 2), level)).requires_grad


def symptom_08b_6_batch_at_the_end() -> bool:
    return tuple(one()[1].of(X).shape) == (2, 5)


def symptom_08b_6_innermost_alone() -> bool:
    outer, inner, levels = two()
    found = levels.of(batched(batched(numbers(3, 5, 2), outer), inner))
    return tuple(found.shape) == (5, 2) and tuple(levels.of(X).shape) == (5, 2)


def symptom_08b_6_outer_level_first() -> bool:
    outer, inner, levels = two()
    if tuple(one()[1].of(X).shape) != (5, 2):
        return False
    value = batched(batched(numbers(3, 5, 2), outer), inner)
    return tuple(levels.of(X).shape) == (5, 3, 2) or tuple(levels.of(value).shape) != (3, 5, 2)


def symptom_08b_6_not_wrapped() -> bool:
    return tuple(one()[1].example(numbers(5, 2)).shape) == (5, 2)


def symptom_08b_6_wrapped_once() -> bool:
    _, _, levels = two()
    return tuple(one()[1].example(numbers(5, 2)).shape) == (2,) and tuple(
        levels.example(numbers(3, 5, 2)).shape) == (5, 2)


def symptom_08b_6_wrapped_from_the_inside() -> bool:
    outer, _, levels = two()
    found = levels.example(numbers(3, 5, 2))
    return tuple(found.shape) == (2,) and examples(found, outer) is not None


# ------------------------------------------------------------------------------------ 08b.7


def columns(func: Any = lambda x: x * x, directions: Any = None) -> Any:
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 2.0]]) if directions is None else directions
    return jacobian.columns_along(func, [torch.tensor([2.0, 3.0])], [rows])


def symptom_08b_7_several_calls() -> bool:
    calls = []
    columns(lambda x: calls.append(x) or x * x)
    return len(calls) > 1


def symptom_08b_7_columns_alone() -> bool:
    found = columns()
    return isinstance(found, list) and isinstance(found[0], torch.Tensor)


def symptom_08b_7_not_a_batch() -> bool:
    return "different size" in error_of(columns)


def symptom_08b_7_still_batches() -> bool:
    return level_of(columns()[1][0]) > 0


def symptom_08b_7_first_output_alone() -> bool:
    return len(columns(lambda x: (x, x * x))[1]) == 1


def symptom_08b_7_first_direction_for_all() -> bool:
    return listed(columns()[1]) == [[[4.0, 0.0]] * 3]


def symptom_08b_7_always_zero() -> bool:
    return listed(columns()[1]) == [[[0.0, 0.0]] * 3]


def blocks(part: slice, shape: tuple[int, ...]) -> Any:
    """Of an output of 3 and inputs of 2 and 1 elements; row i of the columns is i in each place."""
    table = torch.tensor([[0.0, 1.0, 2.0], [10.0, 11.0, 12.0], [20.0, 21.0, 22.0]])
    return jacobians.column_block(VmapLevels(()), table, part, shape)


def symptom_08b_7_transposed() -> bool:
    return listed(blocks(slice(0, 2), (2,))) == [[0.0, 1.0], [2.0, 10.0], [11.0, 12.0]]


def symptom_08b_7_part_ignored() -> bool:
    return listed(blocks(slice(2, 3), ())) == [0.0, 1.0, 2.0]


def symptom_08b_7_input_first() -> bool:
    return tuple(blocks(slice(0, 2), (2,)).shape) == (2, 3)


def symptom_08b_7_not_wrapped() -> bool:
    _, levels = one()
    found = jacobians.column_block(levels, numbers(2, 5, 3), slice(0, 2), (2,))
    return tuple(found.shape) == (5, 3, 2)


def symptom_08b_7_first_derivatives() -> bool:
    return listed(hessian(lambda x: x**3)(torch.tensor(2.0))) == 12.0 and listed(
        hessian(lambda x: x**4)(torch.tensor(2.0))) == 32.0


def second(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """x^2 y^3: its second derivatives at (1, 2) are [[16, 24], [24, 12]]."""
    return x * x * y**3


def symptom_08b_7_argnums_ignored() -> bool:
    return listed(hessian(second, 1)(torch.tensor(1.0), torch.tensor(2.0))) == 16.0


def symptom_08b_7_argnums_for_one() -> bool:
    return listed(hessian(second, 1)(torch.tensor(1.0), torch.tensor(2.0))) == 24.0


def modes_of_hessian() -> set[str]:
    """Return which of forward and reverse mode a Hessian runs."""
    ran: set[str] = set()
    forward, reverse = jacobians.columns_along, Derivation.pull

    def counted_forward(*given: Any) -> Any:
        ran.add("forward")
        return forward(*given)

    def counted_reverse(self: Any, *given: Any, **named: Any) -> Any:
        ran.add("reverse")
        return reverse(self, *given, **named)

    jacobians.columns_along, Derivation.pull = counted_forward, counted_reverse
    try:
        found = listed(hessian(lambda x: x**3)(torch.tensor(2.0)))
    finally:
        jacobians.columns_along, Derivation.pull = forward, reverse
    return ran if found == 12.0 else set()


def symptom_08b_7_reverse_twice() -> bool:
    return modes_of_hessian() == {"reverse"}


def symptom_08b_7_forward_twice() -> bool:
    return modes_of_hessian() == {"forward"}
