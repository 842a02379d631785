"""Symptoms of stage 08: what a mistake in `functional` does, seen from outside."""

from __future__ import annotations

from typing import Any

import minigrad as torch
from minigrad.autograd import functional
from minigrad.autograd.functional import checks as functional_checks
from minigrad.autograd.functional import derivatives
from minigrad.autograd.functional import passes as functional_passes

A = torch.tensor([1.0, 2.0])
V = torch.tensor([1.0, 10.0])


def leaf(values: Any) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def func(x: torch.Tensor) -> torch.Tensor:
    return x * x.sum()  # J = [[4, 1], [2, 5]] at (1, 2)


def error_of(run: Any, *args: Any, **options: Any) -> str:
    """What a call raises, as text; "" for none, and for a body that is not written yet."""
    try:
        run(*args, **options)
    except NotImplementedError:
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def has_none(run: Any, *args: Any) -> bool:
    """Whether a call gives None for a derivative, or trips over it on the way out."""
    error = error_of(run, *args)
    if error:
        return error.startswith("AttributeError: 'NoneType' object has no attribute")
    return any(one is None for one in run(*args)[1])


def connected(found: torch.Tensor, x: torch.Tensor) -> bool:
    """Whether a path leads from a result to x."""
    if not found.requires_grad:
        return False
    (path,) = torch.autograd.grad(found.sum(), x, retain_graph=True, allow_unused=True)
    return path is not None


def without_grad(run: Any, *args: Any) -> tuple[Any, bool, str]:
    """What a call gives under no_grad, whether recording is on after it, and what it raises."""
    try:
        with torch.no_grad():
            try:
                return run(*args), torch.is_grad_enabled(), ""
            except NotImplementedError:
                raise
            except Exception as error:
                return None, torch.is_grad_enabled(), str(error)
    finally:
        torch.set_grad_enabled(True)


# ------------------------------------------------------------------------------------ 08.1


def fresh(*args: Any) -> torch.Tensor:
    return functional_checks.fresh_inputs(*args)[0]


def symptom_08_1_switches_the_callers_tensor_on() -> bool:
    plain = torch.tensor([1.0])
    fresh((plain,), False)
    return plain.requires_grad


def symptom_08_1_hands_on_the_tensor_itself() -> bool:
    x = leaf([1.0])
    return fresh((x,), True) is x or fresh((x,), False) is x


def symptom_08_1_joins_without_being_asked() -> bool:
    x = leaf([1.0])
    found = fresh((x,), False)
    return found is not x and connected(found, x)


def symptom_08_1_detaches_even_for_a_graph() -> bool:
    x = leaf([1.0])
    return not connected(fresh((x,), True), x)


def symptom_08_1_never_requires_grad() -> bool:
    return not fresh((torch.tensor([1.0]),), False).requires_grad


def symptom_08_1_always_requires_grad() -> bool:
    plain = torch.tensor([1.0])
    found = fresh((plain,), False, False)
    return found is not plain and found.requires_grad


def symptom_08_1_results_keep_their_history() -> bool:
    y = leaf([1.0]) * 2
    if functional_checks.result((y,), True, False)[0].requires_grad:
        return True
    return functional_checks.nested_result([(y,)], True, True, False)[0][0].requires_grad


def symptom_08_1_results_always_lose_their_history() -> bool:
    y = leaf([1.0]) * 2
    if not functional_checks.result((y,), True, True)[0].requires_grad:
        return True
    return not functional_checks.nested_result([(y,)], True, True, True)[0][0].requires_grad


def symptom_08_1_inside_and_outside_mixed_up() -> bool:
    rows = [(A, V), (A, V)]
    outside = functional_checks.nested_result(rows, True, False, False)
    inside = functional_checks.nested_result(rows, False, True, False)
    if not isinstance(outside, tuple) or not isinstance(inside, tuple):
        return False
    if isinstance(outside[0], tuple) or isinstance(inside[0], tuple):
        return False
    return outside[1].tolist() == V.tolist() and inside[1].tolist() == A.tolist()


def symptom_08_1_other_rows() -> bool:
    found = functional_checks.nested_result([(A,), (V,)], True, True, False)
    return [t.tolist() for row in found for t in row] != [A.tolist(), V.tolist()]


def _shapes(as_tuple: bool) -> list[bool]:
    """Tell whether `result` and `nested_result` give tuples where that is asked for, or not."""
    return [isinstance(functional_checks.result((A,), as_tuple, False), tuple),
            isinstance(functional_checks.nested_result([(A,)], as_tuple, False, False), tuple)]


def symptom_08_1_tuples_the_wrong_way_round() -> bool:
    return any(without and not asked
               for without, asked in zip(_shapes(False), _shapes(True), strict=True))


def symptom_08_1_always_a_tuple() -> bool:
    return any(_shapes(False)) and all(_shapes(True))


def symptom_08_1_never_a_tuple() -> bool:
    return not any(_shapes(False)) and (
        not all(_shapes(True)) or isinstance(functional_checks.nested_result(
            [(A,)], True, True, False), torch.Tensor))


def symptom_08_1_a_list() -> bool:
    return (isinstance(functional_checks.result((A,), True, False), list)
            or isinstance(functional_checks.nested_result([(A,)], True, True, False), list)
            or isinstance(functional_checks.fresh_inputs((A,), False), list))


def symptom_08_1_plain_inputs_are_not_switched_on() -> bool:
    return (not fresh((torch.tensor([1.0]),), True).requires_grad
            and fresh((torch.tensor([1.0]),), False).requires_grad)


def symptom_08_1_what_was_given_loses_its_history() -> bool:
    y = leaf([1.0]) * 2
    functional_checks.result((y,), True, False)
    return y.grad_fn is None


# ------------------------------------------------------------------------------------ 08.2


def gradients(*args: Any, **options: Any) -> Any:
    return functional_passes.gradients(*args, **options)


def filled(*args: Any) -> Any:
    return functional_checks.zeros_for_missing(*args)


def symptom_08_2_constants_are_not_left_out() -> bool:
    x = leaf([1.0])
    return "does not require grad and does not have a grad_fn" in error_of(
        gradients, (A, x * 2), (x,), (A, torch.tensor([1.0])), False)


def symptom_08_2_inputs_are_left_out() -> bool:
    x = leaf([1.0])
    return (gradients((x,), (x,), (torch.tensor([1.0]),), False)[0] is None
            and gradients((x * 2,), (x,), (torch.tensor([1.0]),), False)[0].item() == 2.0)


def symptom_08_2_strict_accepts_constants() -> bool:
    return (not error_of(filled, (A,), (A,), "gradient", True, True)
            and "independent" in error_of(filled, (None,), (A,), "gradient", True, True))


def symptom_08_2_one_constant_drops_all() -> bool:
    x = leaf([1.0])
    found = gradients((A, x * 2), (x,), (A, torch.tensor([1.0])), False)
    return list(found) == [None] and gradients((x * 2,), (x,), None, False)[0].item() == 2.0


def symptom_08_2_flags_exchanged() -> bool:
    x = leaf([1.0])
    only_retained = gradients((x * x,), (x,), None, False, True)[0].requires_grad
    return only_retained and not gradients((x * x,), (x,), None, True)[0].requires_grad


def symptom_08_2_asks_for_truth() -> bool:
    zero = torch.tensor([0.0])
    return bool("Boolean value" in error_of(filled, (A,), (A,), "gradient", False, False)
                or error_of(filled, (zero,), (zero,), "gradient", True, False))


def symptom_08_2_not_zeros() -> bool:
    (found,) = filled((None,), (A,), "gradient", False, False)
    return found.shape == A.shape and found.tolist() != [0.0, 0.0]


def symptom_08_2_vectors_of_other_outputs() -> bool:
    x = leaf([1.0])
    one, five = torch.tensor([1.0]), torch.tensor([5.0])
    (found,) = gradients((one, x * 2), (x,), (one, five), False)
    return found.item() == 2.0


def symptom_08_2_unused_inputs_raise() -> bool:
    x = leaf([1.0])
    return "not have been used" in error_of(
        gradients, (x * 2,), (x, leaf(3.0)), (torch.tensor([1.0]),), False)


def symptom_08_2_no_graph_of_the_pass() -> bool:
    x = leaf([1.0])
    (found,) = gradients((x * x,), (x,), None, True)
    return not found.requires_grad


def symptom_08_2_the_graph_is_freed() -> bool:
    x = leaf([1.0])
    y = x * x
    gradients((y,), (x,), None, False, True)
    return "second time" in error_of(gradients, (y,), (x,), None, False)


def symptom_08_2_the_graph_is_kept() -> bool:
    x = leaf([1.0])
    y = x * x
    gradients((y,), (x,), None, False)
    return gradients((y,), (x,), None, False)[0].item() == 2.0


def symptom_08_2_other_numbers() -> bool:
    x = leaf([1.0, 2.0])
    return gradients((x * x,), (x,), (V,), False)[0].tolist() != [2.0, 40.0]


def symptom_08_2_nothing_has_another_length() -> bool:
    return len(gradients((A,), (leaf(1.0), leaf(2.0)), None, False)) != 2


def symptom_08_2_unused_inputs_have_zeros() -> bool:
    x = leaf([1.0])
    return gradients((x * 2,), (x, leaf(3.0)), (x,), False)[1] is not None


def symptom_08_2_missing_ones_are_left_out() -> bool:
    return len(filled((A, None), (A, A), "gradient", False, False)) == 1


def symptom_08_2_missing_ones_stay_missing() -> bool:
    return any(one is None for one in filled((A, None), (A, A), "gradient", False, False))


def symptom_08_2_zeros_of_another_shape() -> bool:
    like = (A, torch.ones((3, 1)))
    found = filled((None, None), like, "gradient", False, False)
    return [t.shape for t in found] != [t.shape for t in like] and len(found) == 2


def symptom_08_2_zeros_of_another_dtype() -> bool:
    found = filled((None,), (A.double(),), "gradient", False, False)[0]
    return found.shape == A.shape and found.dtype != torch.float64


def symptom_08_2_strict_always() -> bool:
    return "independent" in error_of(filled, (None,), (A,), "gradient", False, False)


def symptom_08_2_strict_says_nothing() -> bool:
    return len(filled((None,), (A,), "gradient", True, False)) in (0, 1)


# ------------------------------------------------------------------------------------ 08.3


def symptom_08_3_recording_stays_on() -> bool:
    found, on, _ = without_grad(functional.vjp, func, A, V)
    return found is not None and on


def symptom_08_3_nothing_recorded_under_no_grad() -> bool:
    found, _, _ = without_grad(functional.vjp, func, A, V)
    right = functional.vjp(func, A, V)[1].tolist() == [24.0, 51.0]
    return right and (found is None or found[1].tolist() == [0.0, 0.0])


def symptom_08_3_uses_the_callers_tensor() -> bool:
    seen = []
    x = leaf([1.0, 2.0])
    functional.vjp(lambda x: [seen.append(x), func(x)][1], x, V)
    return seen[0] is x


def symptom_08_3_writes_grad() -> bool:
    x = leaf([1.0, 2.0])
    functional.vjp(func, x, V)
    return x.grad is not None


def symptom_08_3_calls_twice() -> bool:
    seen = []
    functional.vjp(lambda x: [seen.append(x), func(x)][1], A, V)
    return len(seen) > 1


def symptom_08_3_the_product_comes_first() -> bool:
    found = functional.vjp(func, A, V)
    return [t.tolist() for t in found] == [[24.0, 51.0], [3.0, 6.0]]


def wide(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[0], x[1], x[0] * x[1]])


def symptom_08_3_the_vector_is_compared_with_the_inputs() -> bool:
    return "v has invalid size: should be torch.Size([2])" in error_of(
        functional.vjp, wide, A, torch.ones(3))


def symptom_08_3_rows_and_columns_mixed_up() -> bool:
    return functional.vjp(func, A, V)[1].tolist() == [14.0, 52.0]


def symptom_08_3_the_vector_is_not_used() -> bool:
    one = functional.vjp(lambda x: x.sum(), A, torch.tensor(3.0))[1].tolist() == [1.0, 1.0]
    try:
        return one or functional.vjp(func, A, V)[1].tolist() == [6.0, 6.0]
    except RuntimeError:
        return one


def symptom_08_3_the_product_is_nested_like_the_outputs() -> bool:
    from_one = functional.vjp(lambda x: (x * 2, x), A, (V, V))[1]
    from_two = functional.vjp(lambda x, y: x * y, (A, A), V)[1]
    return isinstance(from_one, tuple) and not isinstance(from_two, tuple)


def symptom_08_3_the_output_is_nested_like_the_inputs() -> bool:
    of_one = functional.vjp(lambda x: (x * 2, x), A, (V, V))[0]
    of_two = functional.vjp(lambda x, y: x * y, (A, A), V)[0]
    return isinstance(of_two, tuple) and not isinstance(of_one, tuple)


def symptom_08_3_a_missing_vector_is_guessed() -> bool:
    return len(functional.vjp(func, A)) == 2


def symptom_08_3_a_missing_vector_is_not_refused() -> bool:
    return "implicitly created" in error_of(functional.vjp, func, A)


def symptom_08_3_the_vector_is_unchecked() -> bool:
    return "v has invalid size" not in error_of(functional.vjp, func, A, torch.ones(3))


def symptom_08_3_some_inputs_are_missing() -> bool:
    return "positional argument" in error_of(functional.vjp, lambda x, y: x * y, (A, A), V)


def symptom_08_3_always_zero() -> bool:
    one = torch.tensor([3.0, 4.0])
    return all(functional.vjp(each, A, one)[1].tolist() == [0.0, 0.0]
               for each in (func, lambda x: x * 2))


def symptom_08_3_another_output() -> bool:
    found = functional.vjp(func, A, V)
    return found[0].tolist() != [3.0, 6.0] and found[1].tolist() == [24.0, 51.0]


def symptom_08_3_one_result_alone() -> bool:
    return isinstance(functional.vjp(func, A, V), torch.Tensor)


def symptom_08_3_strict_is_not_looked_at() -> bool:
    error = error_of(functional.vjp, lambda x: torch.ones(()) + x.detach().sum(), A, strict=True)
    return "does not require gradients. The outputs" not in error and (
        functional.vjp(func, A, V)[1].tolist() == [24.0, 51.0])


def symptom_08_3_strict_lets_unused_inputs_pass() -> bool:
    found = functional.vjp(lambda x, y: x * 2, (A, A), V, strict=True)[1]
    return len(found) == 2


def symptom_08_3_missing_ones_stay_missing() -> bool:
    return has_none(functional.vjp, lambda x, y: x * 2, (A, A), V)


def symptom_08_3_results_keep_their_history() -> bool:
    return any(t.requires_grad for t in functional.vjp(func, A, V))


def symptom_08_3_the_product_has_no_graph() -> bool:
    x = leaf([1.0, 2.0])
    return not connected(functional.vjp(func, x, V, create_graph=True)[1], x)


def symptom_08_3_the_vector_is_cut_off() -> bool:
    x, v = leaf([1.0, 2.0]), leaf([1.0, 10.0])
    product = functional.vjp(lambda x: x**3, x, v, create_graph=True)[1]
    return connected(product, x) and not connected(product, v)


def symptom_08_3_the_output_has_no_graph() -> bool:
    x = leaf([1.0, 2.0])
    found = functional.vjp(func, x, V, create_graph=True)
    return not connected(found[0], x) and connected(found[1], x)


# ------------------------------------------------------------------------------------ 08.4


def jacobian(*args: Any, **options: Any) -> Any:
    return functional.jacobian(*args, **options)


def symptom_08_4_every_row_is_the_sum() -> bool:
    return jacobian(func, A).tolist() == [[6.0, 6.0], [6.0, 6.0]]


def symptom_08_4_the_first_pass_frees_the_graph() -> bool:
    return "second time" in error_of(jacobian, func, A)


def symptom_08_4_rows_without_a_graph() -> bool:
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    (row, _) = functional_passes.rows_of(func(x), (x,), True)
    return not connected(row[0], x) and not jacobian(func, y, create_graph=True).requires_grad


def symptom_08_4_rows_always_with_a_graph() -> bool:
    x = leaf([1.0, 2.0])
    return functional_passes.rows_of(func(x), (x,), False)[0][0].requires_grad


def symptom_08_4_rows_are_not_put_back_into_shape() -> bool:
    found = jacobian(lambda x: x * 2, torch.ones(2, 3)).shape
    return found in ((6, 2, 3), (6, 6))


def symptom_08_4_the_inputs_shape_comes_first() -> bool:
    found = jacobian(lambda x: torch.stack([x.sum(), x[0], x[1] * 2]), A)
    return found.shape == (2, 3)


def symptom_08_4_transposed() -> bool:
    return jacobian(func, A).tolist() == [[4.0, 2.0], [1.0, 5.0]]


def symptom_08_4_unit_vectors_of_another_dtype() -> bool:
    return functional_passes.unit_vectors(A.double())[0].dtype != torch.float64


def symptom_08_4_unit_vectors_of_another_shape() -> bool:
    return functional_passes.unit_vectors(torch.ones(2, 3))[0].shape != (2, 3)


def symptom_08_4_unit_vectors_share_memory() -> bool:
    first, second = functional_passes.unit_vectors(A)
    return first.data_ptr() == second.data_ptr() and first.tolist() == [0.0, 1.0]


def symptom_08_4_unit_vectors_without_a_one() -> bool:
    units = [unit.reshape(-1).tolist() for like in (A, torch.ones(2, 3))
             for unit in functional_passes.unit_vectors(like)]
    return any(not any(unit) for unit in units)


def symptom_08_4_rows_are_joined() -> bool:
    return functional_passes.stacked([V, V], A).shape == (4,)


def symptom_08_4_rows_are_left_out() -> bool:
    x = leaf([1.0, 2.0])
    return len(functional_passes.rows_of(func(x), (x,), False)) != 2 and (
        len(functional_passes.unit_vectors(A)) == 2)


def symptom_08_4_constants_have_no_rows() -> bool:
    x = leaf([1.0, 2.0])
    if [row[0].tolist() for row in functional_passes.rows_of(func(x), (x,), False)] != [
            [4.0, 1.0], [2.0, 5.0]]:
        return False
    if error_of(functional_passes.rows_of, torch.ones(2), (x,), False):
        return True
    rows = functional_passes.rows_of(torch.ones(2), (x,), False)
    return len(rows) != 2 or any(row[0] is not None for row in rows)


def symptom_08_4_missing_blocks_of_another_dtype() -> bool:
    (found,) = derivatives.blocks_of(A, [None], (A.double(),))
    return found.dtype != torch.float64


def symptom_08_4_gaps_are_dropped() -> bool:
    return len(functional_passes.stacked([None, V], A)) == 1


def symptom_08_4_no_rows_of_another_dtype() -> bool:
    return functional_passes.stacked([], A.double()).dtype != torch.float64


def symptom_08_4_no_rows_fail() -> bool:
    return bool(error_of(functional_passes.stacked, [], A))


def symptom_08_4_rows_are_missing() -> bool:
    for like in (A, torch.ones(2, 3)):
        units = [unit.reshape(-1).tolist() for unit in functional_passes.unit_vectors(like)]
        size = like.numel()
        identity = [[float(i == j) for j in range(size)] for i in range(size)]
        if units != identity and all(unit in identity for unit in units):
            return True
    return False


def symptom_08_4_missing_blocks_fail() -> bool:
    blocks, inputs = derivatives.blocks_of, (torch.ones(3),)
    if error_of(blocks, A, [None], inputs):
        return True
    (found,) = blocks(A, [None], inputs)
    return found is None or (found.shape != (2, 3) and blocks(A, [torch.ones(2, 3)], inputs)[
        0].shape == (2, 3))


# ------------------------------------------------------------------------------------ 08.5


#: The hessian of `mixed` at A.
H = [[4.0, 2.0], [2.0, 12.0]]


def mixed(x: torch.Tensor) -> torch.Tensor:
    return x[0] ** 2 * x[1] + x[1] ** 3  # H = [[2 x1, 2 x0], [2 x0, 6 x1]] = [[4, 2], [2, 12]]


def hessian(*args: Any, **options: Any) -> Any:
    return functional.hessian(*args, **options)


def block_of(found: Any) -> torch.Tensor:
    while isinstance(found, tuple):
        found = found[0]
    return found


def symptom_08_5_always_zero() -> bool:
    return bool((block_of(hessian(mixed, A)) == 0).all())


def symptom_08_5_first_derivatives() -> bool:
    return block_of(hessian(mixed, A)).reshape(-1).tolist() == [4.0, 13.0]


def symptom_08_5_rows_are_added_up() -> bool:
    return block_of(hessian(mixed, A)).reshape(-1).tolist() == [6.0, 14.0]


def symptom_08_5_only_the_diagonal() -> bool:
    found = block_of(hessian(mixed, A)).reshape(-1).tolist()
    return found in ([4.0, 0.0, 0.0, 12.0], [4.0, 12.0])


def symptom_08_5_always_nested() -> bool:
    return isinstance(hessian(mixed, A), tuple)


def symptom_08_5_never_nested() -> bool:
    return not isinstance(hessian(lambda x, y: (x * y).sum(), (A, A)), tuple)


def symptom_08_5_the_outputs_shape_stays() -> bool:
    found = block_of(hessian(lambda x: mixed(x).reshape(1, 1), A))
    return found.shape != (2, 2) and found.numel() == 4


def symptom_08_5_several_elements_are_accepted() -> bool:
    return block_of(hessian(lambda x: x**2, A)) is not None


def symptom_08_5_the_result_has_no_graph() -> bool:
    x = leaf([1.0, 2.0])
    return not connected(block_of(hessian(mixed, x, create_graph=True)), x)


def symptom_08_5_the_result_always_has_a_graph() -> bool:
    return block_of(hessian(mixed, A)).requires_grad


def symptom_08_5_strict_says_nothing() -> bool:
    if block_of(hessian(mixed, A)).tolist() != [[4.0, 2.0], [2.0, 12.0]]:
        return False
    return "While computing the hessian, found that the jacobian" not in error_of(
        hessian, lambda x: x.sum(), A, strict=True)


def by_forward_mode(**options: Any) -> str:
    """What a hessian with forward mode outside raises."""
    try:
        hessian(mixed, A, outer_jacobian_strategy="forward-mode", **options)
    except Exception as error:
        return str(error)
    return ""


def symptom_08_5_vectorize_is_not_passed_on() -> bool:
    return "implemented for `vectorize=True`" in by_forward_mode(vectorize=True)


def symptom_08_5_options_for_the_inner_jacobian() -> bool:
    return "are not supported together" in by_forward_mode(vectorize=True)


def symptom_08_5_strict_is_not_passed_on() -> bool:
    strict = error_of(hessian, mixed, A, strict=True, vectorize=True)
    return strict == "" and block_of(hessian(mixed, A, vectorize=True)).tolist() == H


def symptom_08_5_the_strategy_is_not_passed_on() -> bool:
    return (by_forward_mode(vectorize=True, create_graph=True) == ""
            and block_of(hessian(mixed, A)).tolist() == H)


def symptom_08_5_an_unknown_strategy_is_accepted() -> bool:
    return error_of(hessian, mixed, A, outer_jacobian_strategy="sideways") != (
        'AssertionError: Expected strategy to be either "forward-mode" or "reverse-mode".')


# ------------------------------------------------------------------------------------ 08.6


def jvp(*args: Any, **options: Any) -> Any:
    return functional.jvp(*args, **options)


def symptom_08_6_u_does_not_require_grad() -> bool:
    x = leaf([1.0, 2.0])
    y = func(x)
    return not any(u.requires_grad for u in functional_passes.pullback((y,), (x,), (y,))[1])


def symptom_08_6_u_looks_like_the_inputs() -> bool:
    x = leaf([1.0, 2.0])
    y = x.sum()
    error = error_of(functional_passes.pullback, (y,), (x,), (y,))
    like_the_inputs = "grad_output[0] has a shape of torch.Size([2])"
    return like_the_inputs in error or like_the_inputs in error_of(jvp, lambda x: x.sum(), A, V)


def symptom_08_6_pullback_the_other_way_round() -> bool:
    x = leaf([1.0, 2.0])
    y = func(x)
    first, second = functional_passes.pullback((y,), (x,), (y,))
    return (first[0].is_leaf and first[0].requires_grad and second[0].grad_fn is not None)


def symptom_08_6_first_pass_without_u() -> bool:
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    if error_of(functional_passes.pullback, (func(x),), (x,), (func(x),)):
        return "implicitly created" in error_of(functional_passes.pullback, (func(x),), (x,), (y,))
    found, (u,) = functional_passes.pullback((y,), (x,), (y,))
    if not found[0].requires_grad or not u.requires_grad:
        return False
    return torch.autograd.grad(found[0].sum(), u, allow_unused=True)[0] is None


def symptom_08_6_no_fresh_inputs() -> bool:
    seen: list[Any] = []

    def kept(x: torch.Tensor) -> torch.Tensor:
        seen.append(x)
        return func(x)

    error_of(jvp, kept, A, V)
    return any(each is A for each in seen)


def symptom_08_6_another_output() -> bool:
    found = jvp(func, A, V)
    return found[0].tolist() != [3.0, 6.0] and found[1].tolist() == [14.0, 52.0]


def symptom_08_6_another_step_is_told() -> bool:
    other = leaf([3.0, 4.0])
    told = error_of(jvp, lambda x: (x * 2, other * 1), A, V, strict=True)
    return "is independent of" in told and "when using the double backward trick" not in told


def symptom_08_6_rows_and_columns_mixed_up() -> bool:
    return jvp(func, A, V)[1].tolist() == [24.0, 51.0]


def symptom_08_6_always_zero() -> bool:
    one = torch.tensor([2.0])
    products = jvp(func, A, V)[1], jvp(lambda x: x * 3, one, one)[1]
    return [t.tolist() for t in products] == [[0.0, 0.0], [0.0]]


def symptom_08_6_differentiates_by_the_inputs() -> bool:
    x = leaf([1.0, 2.0])
    y = func(x)
    pulled, (u,) = functional_passes.pullback((y,), (x,), (y,))
    (back,) = torch.autograd.grad(pulled[0], u, V, allow_unused=True)
    return (back is not None and back.tolist() == [14.0, 52.0]
            and jvp(func, A, V)[1].tolist() == [0.0, 0.0])


def symptom_08_6_the_vector_is_not_used() -> bool:
    if "implicitly created" in error_of(jvp, func, A, V):
        return True
    return jvp(func, A, V)[1].tolist() == [5.0, 7.0]  # the sums of the rows


def symptom_08_6_u_is_not_zeros() -> bool:
    x = leaf([1.0, 2.0])
    y = func(x)
    return bool((functional_passes.pullback((y,), (x,), (y,))[1][0] != 0).any())


def symptom_08_6_the_product_comes_first() -> bool:
    return [t.tolist() for t in jvp(func, A, V)] == [[14.0, 52.0], [3.0, 6.0]]


def symptom_08_6_the_product_is_nested_like_the_inputs() -> bool:
    of_two = jvp(lambda x, y: x * y, (A, A), (V, V))[1]
    to_two = jvp(lambda x: (x * 2, x), A, V)[1]
    return isinstance(of_two, tuple) and not isinstance(to_two, tuple)


def symptom_08_6_recording_stays_on() -> bool:
    found, on, _ = without_grad(jvp, func, A, V)
    return found is not None and on


def symptom_08_6_nothing_recorded_under_no_grad() -> bool:
    found, _, _ = without_grad(jvp, func, A, V)
    right = jvp(func, A, V)[1].tolist() == [14.0, 52.0]
    return right and (found is None or found[1].tolist() == [0.0, 0.0])


def symptom_08_6_missing_ones_stay_missing() -> bool:
    return has_none(jvp, lambda x: (x * 2, torch.ones(2)), A, V)


def symptom_08_6_strict_says_nothing() -> bool:
    if jvp(func, A, V)[1].tolist() != [14.0, 52.0]:
        return False
    constant = error_of(jvp, lambda x: x.detach() * 2, A, V, strict=True)
    unused = error_of(jvp, lambda x, y: x * 2, (A, A), (V, V), strict=True)
    return ("does not require gradients. The outputs" not in constant
            or "is independent of input 1." not in unused)


def symptom_08_6_zeros_like_the_inputs() -> bool:
    def half(x: torch.Tensor) -> Any:
        return x * 2, torch.ones((3, 1))

    error = error_of(jvp, half, A, V)
    return error.startswith("ValueError: zip()") or (
        not error and jvp(half, A, V)[1][1].shape == A.shape)


def symptom_08_6_the_product_has_no_graph() -> bool:
    x = leaf([1.0, 2.0])
    return not connected(jvp(func, x, V, create_graph=True)[1], x)


def symptom_08_6_results_keep_their_history() -> bool:
    return any(t.requires_grad for t in jvp(func, A, V))


# ------------------------------------------------------------------------------------ 08.7

RIGHT = [24.0, 122.0]  # of `mixed` at (1, 2) with (1, 10)


def vhp(*args: Any, **options: Any) -> Any:
    return functional.vhp(*args, **options)


def hvp(*args: Any, **options: Any) -> Any:
    return functional.hvp(*args, **options)


def product(run: Any, *args: Any) -> Any:
    """The product as a list, or None where it fails."""
    try:
        return block_of(run(*args)[1]).tolist()
    except NotImplementedError:
        raise
    except Exception:
        return None


def symptom_08_7_nothing_recorded_under_no_grad() -> bool:
    for run in (vhp, hvp):
        found, _, _ = without_grad(run, mixed, A, V)
        if product(run, mixed, A, V) == RIGHT and (
                found is None or block_of(found[1]).tolist() == [0.0, 0.0]):
            return True
    return False


def symptom_08_7_recording_stays_on() -> bool:
    return any(found is not None and on
               for found, on, _ in (without_grad(run, mixed, A, V) for run in (vhp, hvp)))


def symptom_08_7_always_zero() -> bool:
    return product(vhp, mixed, A, V) == [0.0, 0.0] == product(hvp, mixed, A, V)


def symptom_08_7_hvp_is_zero() -> bool:
    return product(vhp, mixed, A, V) == RIGHT and product(hvp, mixed, A, V) == [0.0, 0.0]


def symptom_08_7_hvp_fails() -> bool:
    return (product(vhp, mixed, A, V) == RIGHT
            and "Mismatch in shape" in error_of(hvp, mixed, A, V))


def symptom_08_7_the_vector_in_the_first_pass() -> bool:
    return all("Mismatch in shape" in error_of(run, mixed, A, V) for run in (vhp, hvp))


class Skewed(torch.autograd.Function):
    """A sum whose second derivatives are not symmetric: [[1, 2], [3, 4]]."""

    @staticmethod
    def forward(x: Any) -> Any:
        return x.sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * (torch.tensor([[1.0, 2.0], [3.0, 4.0]]) @ x)


def _skewed(x: torch.Tensor) -> torch.Tensor:
    return Skewed.apply(x)


def symptom_08_7_hvp_is_vhp() -> bool:
    return product(hvp, mixed, A, V) == RIGHT and product(hvp, _skewed, A, V) == [31.0, 42.0]


def symptom_08_7_vhp_is_hvp() -> bool:
    return product(vhp, mixed, A, V) == RIGHT and product(vhp, _skewed, A, V) == [21.0, 43.0]


def symptom_08_7_another_hvp() -> bool:
    found = product(hvp, mixed, A, V)
    return product(vhp, mixed, A, V) == RIGHT and isinstance(found, list) and found != RIGHT


def symptom_08_7_another_vhp() -> bool:
    found = product(vhp, mixed, A, V)
    return product(hvp, mixed, A, V) == RIGHT and isinstance(found, list) and found != RIGHT


def symptom_08_7_strict_lets_missing_pass() -> bool:
    other = leaf([3.0, 4.0])

    def linear(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * x).sum() + (y * other).sum()

    return any(product(run, mixed, A, V) == RIGHT
               and not error_of(run, linear, (A, A), (V, V), strict=True) for run in (vhp, hvp))


def symptom_08_7_another_step_is_told() -> bool:
    other = leaf([3.0, 4.0])

    def linear(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * x).sum() + (y * other).sum()

    told = [error_of(run, linear, (A, A), (V, V), strict=True) for run in (vhp, hvp)]
    return all("is independent of" in each for each in told) and not (
        "The jacobian of" in told[0] and "The hessian of" in told[1])


def symptom_08_7_first_derivatives() -> bool:
    slopes = ([4.0, 13.0], [4.0, 130.0])
    return product(vhp, mixed, A, V) in slopes or product(hvp, mixed, A, V) in slopes


def symptom_08_7_vhp_does_not_use_the_vector() -> bool:
    return ("implicitly created" in error_of(vhp, mixed, A, V)
            or product(vhp, mixed, A, V) == [6.0, 14.0])


def symptom_08_7_hvp_does_not_use_the_vector() -> bool:
    return ("implicitly created" in error_of(hvp, mixed, A, V)
            or product(hvp, mixed, A, V) == [6.0, 14.0])


def symptom_08_7_hvp_only_sees_the_diagonal() -> bool:
    return product(hvp, mixed, A, V) in ([4.0, 120.0], [6.0, 140.0])


def symptom_08_7_several_elements_are_accepted() -> bool:
    if "implicitly created" in error_of(vhp, lambda x: x**2, A, V):
        return True
    return product(vhp, lambda x: x**2, A, V) is not None


def symptom_08_7_strict_says_nothing() -> bool:
    def sloped(x: torch.Tensor) -> torch.Tensor:
        return x.sum()

    for run in (vhp, hvp):
        told = "While computing the hessian, found that the jacobian"
        if (product(run, mixed, A, V) == RIGHT
                and told not in error_of(run, sloped, A, V, strict=True)):
            return True
    return False


def symptom_08_7_missing_ones_stay_missing() -> bool:
    return any(has_none(run, lambda x, y: mixed(x), (A, A), (V, V)) for run in (vhp, hvp))


def symptom_08_7_the_product_is_always_a_tuple() -> bool:
    return any(isinstance(run(mixed, A, V)[1], tuple) for run in (vhp, hvp))


def symptom_08_7_the_product_is_never_a_tuple() -> bool:
    return any(isinstance(run(mixed, (A,), (V,))[1], torch.Tensor) for run in (vhp, hvp))


def symptom_08_7_the_product_comes_first() -> bool:
    return any(run(mixed, A, V)[0].tolist() == RIGHT for run in (vhp, hvp))


def symptom_08_7_the_product_has_no_graph() -> bool:
    for run in (vhp, hvp):
        x = leaf([1.0, 2.0])
        if not connected(block_of(run(mixed, x, V, create_graph=True)[1]), x):
            return True
    return False


def symptom_08_7_the_output_has_no_graph() -> bool:
    for run in (vhp, hvp):
        x = leaf([1.0, 2.0])
        found = run(mixed, x, V, create_graph=True)
        if connected(block_of(found[1]), x) and not connected(found[0], x):
            return True
    return False


def symptom_08_7_results_keep_their_history() -> bool:
    return any(block_of(t).requires_grad for run in (vhp, hvp) for t in run(mixed, A, V))


# ------------------------------------------------------------------------------------ 08.8


class Counted(torch.autograd.Function):
    """The square, whose backward is counted; it can take batches."""

    generate_vmap_rule = True
    passes = 0

    @staticmethod
    def forward(x: Any) -> Any:
        return x * x

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        Counted.passes += 1
        (x,) = ctx.saved_tensors
        return 2 * x * g


def passes(run: Any) -> int:
    """How often the square's backward runs in a call."""
    Counted.passes = 0
    run()
    return Counted.passes


def all_rows(outputs: Any, inputs: Any, create_graph: bool = False) -> Any:
    return functional_passes.all_rows(outputs, inputs, create_graph)


def symptom_08_8_constants_are_not_left_out() -> bool:
    x = leaf([1.0, 2.0])
    return bool(error_of(all_rows, (A, x * 2), (x,))) and not error_of(all_rows, (x * 2,), (x,))


def symptom_08_8_the_place_of_a_constant_is_lost() -> bool:
    x = leaf([1.0, 2.0])
    return len(all_rows((A, x * 2), (x,))) == 1


def symptom_08_8_nothing_to_do_fails() -> bool:
    x = leaf([1.0, 2.0])
    return bool(error_of(all_rows, (A, None), (x,))) and not error_of(all_rows, (x * 2,), (x,))


def two_outputs() -> list[Any]:
    x = leaf([1.0, 2.0])
    return [None if row[0] is None else row[0].tolist()
            for row in all_rows((func(x), (x * x).sum()), (x,))]


def right_units() -> bool:
    first, second = functional_passes.units_of([A, torch.tensor(1.0)])
    return (first.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
            and second.tolist() == [0.0, 0.0, 1.0])


def symptom_08_8_rows_are_added_up() -> bool:
    x = leaf([1.0, 2.0])
    return all_rows((func(x),), (x,))[0][0].shape == (2,)


def symptom_08_8_batches_of_their_own_rows() -> bool:
    x = leaf([1.0, 2.0])
    return ("same size in the mapped dimension" in error_of(all_rows, (x * 2, x.sum()), (x,))
            and right_units() and not error_of(all_rows, (x * 2,), (x,)))


def symptom_08_8_one_none_for_all() -> bool:
    x = leaf([1.0, 2.0])
    return None in (all_rows((A, x * 2), (x,))[0], all_rows((A,), (x,))[0])


def symptom_08_8_missing_ones_are_cut() -> bool:
    x = leaf([1.0, 2.0])
    return "'NoneType' object is not subscriptable" in error_of(
        all_rows, (x * 2, x.sum()), (x, leaf(3.0)))


def symptom_08_8_every_output_gets_the_first_rows() -> bool:
    return right_units() and two_outputs()[1] == [[4.0, 1.0]]


def symptom_08_8_rows_are_not_cut() -> bool:
    return right_units() and [len(rows) for rows in two_outputs()] == [3, 3]


def symptom_08_8_a_pass_for_each_row() -> bool:
    x = leaf([1.0, 2.0, 3.0, 4.0])
    return passes(lambda: all_rows((Counted.apply(x),), (x,))) >= 4


def symptom_08_8_no_graph_of_the_pass() -> bool:
    x = leaf([1.0, 2.0])
    return not connected(all_rows((func(x),), (x,), True)[0][0], x)


def symptom_08_8_the_graph_is_freed() -> bool:
    x = leaf([1.0, 2.0])
    y = func(x)
    all_rows((y,), (x,))
    return "second time" in error_of(all_rows, (y,), (x,))


def symptom_08_8_unused_inputs_raise() -> bool:
    x = leaf([1.0, 2.0])
    return "not have been used" in error_of(all_rows, (x * 2,), (x, leaf(3.0)))
