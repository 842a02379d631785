"""Symptoms of stage 05: each runs a tiny program and tells whether it shows one mistake."""

import gc
import weakref
from collections import OrderedDict
from functools import partial

import minigrad as torch
from minigrad.engine import hooks as run_hooks
from minigrad.engine.hooks import (
    check_hook_result,
    checked_tuple,
    keep_retained,
    run_after_accumulation,
    run_post_hooks,
    run_pre_hooks,
    run_tensor_hooks,
)
from minigrad.graph.hooks import register


def one(grad):
    return grad


def two(grad):
    return grad * 2


def leaf(value):
    return torch.tensor(value, requires_grad=True)


# --- 05.1 -----------------------------------------------------------------------------------------


def symptom_05_1_no_handle() -> bool:
    return register(OrderedDict(), one) is None


def symptom_05_1_not_removed() -> bool:
    table = OrderedDict()
    register(table, one).remove()
    return list(table.values()) == [one]


def symptom_05_1_second_remove_raises() -> bool:
    table = OrderedDict()
    handle = register(table, one)
    handle.remove()
    try:
        handle.remove()
    except (KeyError, ValueError):
        return not table
    return False


def symptom_05_1_removes_all() -> bool:
    table = OrderedDict()
    handle = register(table, one)
    register(table, two)
    handle.remove()
    return not table


def symptom_05_1_same_hook_once() -> bool:
    table = OrderedDict()
    register(table, one)
    register(table, one)
    return len(table) == 1


def symptom_05_1_number_used_again() -> bool:
    table = OrderedDict()
    old = register(table, one)
    old.remove()
    new = register(table, two)
    return len(table) == 1 and new.id == old.id


def symptom_05_1_prepend_ignored() -> bool:
    table = OrderedDict()
    register(table, one)
    register(table, two, True)
    return list(table.values()) == [one, two]


def symptom_05_1_always_in_front() -> bool:
    table = OrderedDict()
    register(table, one)
    register(table, two)
    return list(table.values()) == [two, one]


def symptom_05_1_mark_missing() -> bool:
    table, marks = OrderedDict(), OrderedDict()
    register(table, one, False, marks)
    return len(table) == 1 and not marks


def symptom_05_1_mark_stays() -> bool:
    table, marks = OrderedDict(), OrderedDict()
    register(table, one, False, marks).remove()
    return not table and len(marks) == 1


def symptom_05_1_exit_swallows() -> bool:
    try:
        with register(OrderedDict(), one):
            raise ValueError
    except ValueError:
        return False
    return True


def symptom_05_1_exit_after_success_only() -> bool:
    table, other = OrderedDict(), OrderedDict()
    try:
        with register(table, one):
            raise KeyError
    except KeyError:
        pass
    with register(other, one):
        pass
    return bool(table) and not other


def symptom_05_1_gives_the_number() -> bool:
    return isinstance(register(OrderedDict(), one), int)


def symptom_05_1_removes_another() -> bool:
    table = OrderedDict()
    handle = register(table, one)
    register(table, two)
    handle.remove()
    return list(table.values()) == [one]


def symptom_05_1_mark_is_not_true() -> bool:
    marks = OrderedDict()
    register(OrderedDict(), one, False, marks)
    return len(marks) == 1 and next(iter(marks.values())) in (False, None)


def symptom_05_1_mark_is_the_hook() -> bool:
    table, marks = OrderedDict(), OrderedDict()
    register(table, one, False, marks)
    return list(marks.values()) == [one]


def symptom_05_1_prepend_turned_around() -> bool:
    table, other = OrderedDict(), OrderedDict()
    for hook in (one, two):
        register(table, hook)
        register(other, hook, True)
    return list(table.values()) == [two, one] and list(other.values()) == [one, two]


def symptom_05_1_exit_keeps() -> bool:
    table = OrderedDict()
    with register(table, one):
        pass
    return list(table.values()) == [one]


# --- 05.2 -----------------------------------------------------------------------------------------


def refusal(replaced, given, hook=one):
    """Return what checking a result raises, or None."""
    try:
        check_hook_result(hook, replaced, given)
    except Exception as error:
        return None if isinstance(error, NotImplementedError) else error
    return None


def accepts_good() -> bool:
    return refusal(torch.ones(2), torch.ones(2)) is None


def symptom_05_2_good_refused() -> bool:
    return refusal(torch.zeros(2, 3), torch.ones(2, 3)) is not None


def symptom_05_2_subclass_refused() -> bool:
    given = torch.ones(2)
    return (refusal(torch.zeros(2), given) is None
            and isinstance(refusal(torch.nn.Parameter(torch.zeros(2)), given), TypeError))


def symptom_05_2_none_unchecked() -> bool:
    error = refusal(torch.ones(2), None)
    return error is None or isinstance(error, AttributeError)


def symptom_05_2_kind_unchecked() -> bool:
    error = refusal(1.0, torch.ones(2))
    return error is None or isinstance(error, AttributeError)


def symptom_05_2_dtype_unchecked() -> bool:
    return accepts_good() and refusal(torch.ones(2).double(), torch.ones(2)) is None


def symptom_05_2_dtypes_swapped() -> bool:
    told = str(refusal(torch.ones(2).double(), torch.ones(2)))
    return "was torch.DoubleTensor got torch.FloatTensor" in told


def symptom_05_2_wrong_class() -> bool:
    kind = refusal(1.0, torch.ones(2))
    others = [refusal(torch.ones(2), None), refusal(torch.ones(2).double(), torch.ones(2)),
              refusal(torch.ones(3), torch.ones(2))]
    told = [str(each) for each in [kind, *others]]
    words = ("expected Variable", "can't replace", "changed the type", "changed the size")
    return all(word in text for word, text in zip(words, told, strict=True)) and not (
        isinstance(kind, TypeError) and all(isinstance(each, RuntimeError) for each in others))


def symptom_05_2_size_unchecked() -> bool:
    return accepts_good() and refusal(torch.ones(3), torch.ones(2)) is None


def symptom_05_2_size_by_count() -> bool:
    given = torch.ones(2, 3)
    return (refusal(torch.ones(2), given) is not None and refusal(torch.ones(3, 2), given) is None
            and refusal(torch.ones(6), given) is None)


def symptom_05_2_size_broadcast() -> bool:
    given = torch.ones(2, 3)
    return refusal(torch.ones(3, 2), given) is not None and refusal(torch.ones(()), given) is None


def symptom_05_2_size_by_dims() -> bool:
    given = torch.ones(2, 3)
    return refusal(torch.ones(6), given) is not None and refusal(torch.ones(4, 5), given) is None


def _told(replaced, given):
    try:
        check_hook_result(two, replaced, given)
    except Exception as error:
        return str(error)
    return ""


def symptom_05_2_order() -> bool:
    single = ("has changed the size" in _told(torch.ones(3), torch.ones(2))
              and "has changed the type" in _told(torch.ones(2).double(), torch.ones(2)))
    both = _told(torch.ones(3).double(), torch.ones(2))
    nothing = _told(1.0, None)
    return single and ("has changed the size" in both or "expected Variable" in nothing)


def symptom_05_2_hook_not_named() -> bool:
    told = _told(torch.ones(3), torch.ones(2))
    return "has changed the size" in told and "hook 'two'" not in told


def symptom_05_2_needs_a_name() -> bool:
    good = torch.ones(2)
    return accepts_good() and isinstance(refusal(good, good, partial(one)), AttributeError)


def left(*hooks):
    """Return what is left of a gradient of 1 after these hooks; None where nothing is."""
    grads = [torch.tensor(1.0)]
    run_tensor_hooks({0: OrderedDict(enumerate(hooks))}, grads)
    return grads[0] and grads[0].item()


def symptom_05_2_missing_not_shown() -> bool:
    seen = []
    run_tensor_hooks({0: {0: seen.append}, 1: {0: seen.append}}, [None, torch.ones(1)])
    return len(seen) == 1 and seen[0] is not None


def symptom_05_2_works_on_a_copy() -> bool:
    grads = [torch.tensor([1.0])]
    found = run_tensor_hooks({0: {0: two}}, grads)
    return grads[0].tolist() == [1.0] and isinstance(found, (list, tuple))


def symptom_05_2_first_gradient_for_all() -> bool:
    seen, grads = [], [torch.tensor([1.0]), torch.tensor([5.0])]
    run_tensor_hooks({1: {0: lambda g: seen.append(g.tolist())}}, grads)
    return seen == [[1.0]]


def _order():
    seen = []
    left(lambda grad: seen.append("one"), lambda grad: seen.append("two"))
    return seen


def symptom_05_2_one_hook_only() -> bool:
    return _order() == ["one"]


def symptom_05_2_last_first() -> bool:
    return _order() == ["two", "one"]


def symptom_05_2_none_replaces() -> bool:
    try:
        return left(lambda grad: None) is None
    except Exception as error:
        return isinstance(error, TypeError) and "NoneType" in str(error)


def symptom_05_2_answer_added() -> bool:
    grads = [torch.tensor([5.0])]
    run_tensor_hooks({0: {0: two}}, grads)
    return grads[0].tolist() == [15.0]


def symptom_05_2_result_ignored() -> bool:
    return left(lambda grad: grad * 10) == 1.0


def symptom_05_2_each_from_the_first() -> bool:
    return left(lambda grad: grad * 10, lambda grad: grad + 1) == 2.0


def symptom_05_2_not_for_the_next_hook() -> bool:
    seen = []
    return left(lambda grad: grad * 10, lambda grad: seen.append(grad.item())) == 10.0 and (
        seen == [1.0])


def symptom_05_2_zero_is_none() -> bool:
    return left(lambda grad: grad * 0) == 1.0 and left(lambda grad: grad * 10) == 10.0


def symptom_05_2_unchecked() -> bool:
    try:
        run_tensor_hooks({0: {0: lambda grad: grad.sum()}}, [torch.ones(2)])
    except RuntimeError as error:
        return "changed the size" not in str(error)
    return left(lambda grad: grad * 10) == 10.0


def symptom_05_2_no_copy() -> bool:
    table = OrderedDict()
    table.update({0: lambda grad: table.pop(0) and None, 1: lambda grad: None})
    try:
        run_tensor_hooks({0: table}, [torch.ones(1)])
    except RuntimeError as error:
        return "mutated" in str(error) or "changed size" in str(error)
    return False


def symptom_05_2_no_copy_of_tables() -> bool:
    tables = {}
    tables[0] = OrderedDict({0: lambda grad: tables.setdefault(1, OrderedDict()) or None})
    try:
        run_tensor_hooks(tables, [torch.ones(1), torch.ones(1)])
    except RuntimeError as error:
        return "changed size" in str(error)
    return False


# --- 05.3 -----------------------------------------------------------------------------------------


def symptom_05_3_no_grad_accepted() -> bool:
    x = torch.ones(2)
    try:
        handle = x.register_hook(one)
    except RuntimeError:
        return False
    handle.remove()
    return True


def gradient_through(*hooks):
    """Return dy/dx of y = 3x with hooks on y, and what a last hook saw."""
    x, seen = leaf(2.0), []
    y = x * 3
    for hook in hooks:
        y.register_hook(hook)
    y.register_hook(lambda grad: seen.append(grad.item()))
    y.backward()
    return x.grad.item(), seen


def symptom_05_3_results_refused() -> bool:
    def error(tensor):
        return str(_answered(lambda: tensor.register_hook(one)))

    return "doesn't require gradient" in error(leaf(1.0) * 2) and "require" not in error(leaf(1.0))


def symptom_05_3_no_handle() -> bool:
    return leaf(1.0).register_hook(one) is None and (leaf(1.0) * 2).register_hook(one) is None


def symptom_05_3_not_called() -> bool:
    return gradient_through() == (3.0, [])


def symptom_05_3_new_table_on_result() -> bool:
    x = leaf(2.0)
    y, seen = x * 3, []
    y.register_hook(lambda grad: seen.append("one"))
    y.register_hook(lambda grad: seen.append("two"))
    y.backward()
    return seen == ["two"]


def symptom_05_3_new_table_on_leaf() -> bool:
    x, seen = leaf(2.0), []
    y = x * 3
    x.register_hook(lambda grad: seen.append("one"))
    x.register_hook(lambda grad: seen.append("two"))
    y.backward()
    return seen == ["two"] and not symptom_05_3_new_table_on_result()


def symptom_05_3_wrong_output() -> bool:
    x, seen = leaf([1.0, 2.0]), []
    a, b = x.unbind()
    b.register_hook(lambda grad: seen.append(grad.item()))
    (a * 5 + b * 7).backward()
    return seen == [5.0]


def symptom_05_3_late_hook_lost() -> bool:
    seen, x, z = [], leaf(2.0), leaf(2.0)
    x.register_hook(lambda grad: seen.append("early"))
    y = z * 3
    z.register_hook(lambda grad: seen.append("late"))
    (x * 3 + y).backward()
    return seen == ["early"]


def symptom_05_3_lost_with_the_graph() -> bool:
    x, seen = leaf(2.0), []
    y = x * 3
    x.register_hook(lambda grad: seen.append(grad.item()))
    y.backward()
    del y
    gc.collect()
    (x * 5).backward()
    return seen == [3.0]


def symptom_05_3_leaf_not_called() -> bool:
    x, seen = leaf(2.0), []
    x.register_hook(lambda grad: seen.append(grad.item()))
    (x * 3).backward()
    return not seen


def symptom_05_3_empty_table_replaced() -> bool:
    x = leaf(2.0)
    x.register_hook(one).remove()
    before = x._ensure_extras().hooks
    x.register_hook(one)
    return before is not None and x._ensure_extras().hooks is not before


# --- 05.4 -----------------------------------------------------------------------------------------


def symptom_05_4_no_grad_accepted() -> bool:
    try:
        torch.ones(2).retain_grad()
    except RuntimeError:
        return False
    except AttributeError:
        return True
    return True


def symptom_05_4_leaf_fails() -> bool:
    try:
        leaf(2.0).retain_grad()
    except AttributeError:
        return True
    return False


def symptom_05_4_flag_not_set() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    return not y.retains_grad


def symptom_05_4_nothing_kept() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    (y * 5).backward()
    return y.retains_grad and y.grad is None


def _kept(times):
    """What keep_retained makes of gradients of 5 and 7, one after the other."""
    tensor = torch.zeros(1)
    for value in (5.0, 7.0)[:times]:
        keep_retained({0: weakref.ref(tensor)}, [torch.tensor([value])])
    return tensor._grad.tolist()


def symptom_05_4_first_doubled() -> bool:
    return _kept(1) == [10.0]


def symptom_05_4_later_ones_lost() -> bool:
    return (_kept(1), _kept(2)) == ([5.0], [5.0])


def symptom_05_4_kept_twice() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    y.retain_grad()
    (y * 5).backward()
    return y.grad.item() == 10.0


def symptom_05_4_overwrites() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    z = y * 5
    z.backward(retain_graph=True)
    z.backward()
    return y.grad.item() == 5.0


def symptom_05_4_shares_memory() -> bool:
    weights = torch.tensor([5.0, 7.0])
    y = leaf([1.0, 2.0]) * 1
    y.retain_grad()
    y.backward(weights)
    y.grad.zero_()
    return weights.tolist() == [0.0, 0.0]


def symptom_05_4_adds_in_place() -> bool:
    y = leaf([2.0]) * 3
    y.retain_grad()
    y.backward(retain_graph=True)
    before = y.grad
    y.backward()
    return before.tolist() == [2.0] and y.grad.tolist() == [2.0]


def symptom_05_4_history_lost() -> bool:
    tensor, grad = torch.zeros(1), leaf([5.0]) * 2
    keep_retained({0: weakref.ref(tensor)}, [grad])
    return tensor.grad.tolist() == [10.0] and not tensor.grad.requires_grad


def symptom_05_4_stops_at_the_first() -> bool:
    there = torch.zeros(1)
    keep_retained({0: lambda: None, 1: weakref.ref(there)}, [torch.ones(1), torch.ones(1)])
    other = torch.zeros(1)
    keep_retained({0: weakref.ref(there), 1: weakref.ref(other)}, [None, torch.ones(1)])
    third = torch.zeros(1)
    keep_retained({0: weakref.ref(third)}, [torch.ones(1)])
    return third.grad is not None and (there.grad is None or other.grad is None)


def symptom_05_4_held() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    gone = weakref.ref(y)
    z = y + 1
    del y
    gc.collect()
    return gone() is not None and z is not None


def symptom_05_4_dead_tensor() -> bool:
    y = leaf(2.0) * 3
    y.retain_grad()
    gone = weakref.ref(y)
    z = y + 1
    del y
    gc.collect()
    if gone() is not None:
        return False
    try:
        z.backward()
    except AttributeError as error:
        return "NoneType" in str(error)
    return False


def symptom_05_4_missing_gradient() -> bool:
    a, b = leaf([1.0, 2.0]).unbind()
    b.retain_grad()
    c, d = leaf([1.0, 2.0]).unbind()
    c.retain_grad()
    try:
        (c * 2 + d).backward()
    except Exception:
        return False
    try:
        (a * 2).backward()
    except (AttributeError, TypeError) as error:
        return "NoneType" in str(error)
    return False


def symptom_05_4_wrong_output() -> bool:
    a, b = leaf([1.0, 2.0]).unbind()
    b.retain_grad()
    (a * 5 + b * 7).backward()
    return b.grad is not None and b.grad.item() == 5.0


def symptom_05_4_without_the_lock() -> bool:
    y, asked = leaf(2.0) * 3, []
    before = run_hooks.lock_of
    run_hooks.lock_of = lambda tensor: asked.append(tensor) or before(tensor)
    try:
        keep_retained({0: weakref.ref(y)}, [torch.tensor(5.0)])
    finally:
        run_hooks.lock_of = before
    return not asked and y._grad is not None


# --- 05.5 -----------------------------------------------------------------------------------------


def product():
    a, b = leaf(2.0), leaf(5.0)
    return a, b, a * b


def raised_by(kind, hook):
    """Return what backward raises with a hook on a node, or None."""
    _, _, y = product()
    getattr(y.grad_fn, kind)(hook)
    try:
        y.backward()
    except Exception as error:
        return error
    return None


def symptom_05_5_arguments_exchanged() -> bool:
    _, _, y = product()
    seen = []
    y.grad_fn.register_hook(lambda first, then: seen.append((len(first), len(then))))
    y.backward()
    return seen == [(1, 2)]


def symptom_05_5_no_answer_drops() -> bool:
    a, b, y = product()
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    try:
        y.backward()
    except TypeError as error:
        return "NoneType" in str(error)
    return a.grad is None and b.grad is None


def symptom_05_5_post_ignored() -> bool:
    a, b, y = product()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1] * 10))
    y.backward()
    return (a.grad.item(), b.grad.item()) == (5.0, 2.0)


def symptom_05_5_pre_ignored() -> bool:
    a, _, y = product()
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.backward()
    return a.grad.item() == 5.0


def symptom_05_5_pre_from_the_first() -> bool:
    a, _, y = product()
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))
    y.backward()
    return a.grad.item() == 15.0


def symptom_05_5_post_from_the_first() -> bool:
    a, _, y = product()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1]))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 3, inputs[1]))
    y.backward()
    return a.grad.item() == 15.0


def symptom_05_5_one_hook_only() -> bool:
    _, _, y = product()
    seen = []
    y.grad_fn.register_prehook(lambda grads: seen.append("pre one"))
    y.grad_fn.register_prehook(lambda grads: seen.append("pre two"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("one"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("two"))
    y.backward()
    return seen in (["pre one", "one", "two"], ["pre one", "pre two", "one"], ["pre one", "one"])


def _answered(action):
    """What an action returns, or the text of what it raises."""
    try:
        return action()
    except Exception as error:
        return str(error)


ONES = (torch.ones(1), torch.ones(1))


def symptom_05_5_measured_by_the_other() -> bool:
    results, grads = (torch.ones(1), torch.ones(1)), (torch.ones(1),)
    same = _answered(lambda: run_post_hooks(
        OrderedDict({0: lambda results, grads: results}), results, grads))
    none = _answered(lambda: run_post_hooks(
        OrderedDict({0: lambda results, grads: None}), results, grads))
    return "(got 2, but expected 1)" in str(same) or none is grads


def symptom_05_5_last_first() -> bool:
    seen = []
    table = OrderedDict({0: lambda *given: seen.append(0), 1: lambda *given: seen.append(1)})
    _answered(lambda: run_pre_hooks(table, ONES))
    _answered(lambda: run_post_hooks(table, ONES, ONES))
    return len(seen) == 4 and seen != [0, 1, 0, 1]


def symptom_05_5_no_answer_taken() -> bool:
    table = OrderedDict({0: lambda *given: None})
    return None in (_answered(lambda: run_pre_hooks(table, ONES)),
                    _answered(lambda: run_post_hooks(table, ONES, ONES)))


def symptom_05_5_numbers_exchanged() -> bool:
    return "(got 2, but expected 1)" in str(_answered(lambda: checked_tuple(one, ONES[:1], ONES)))


def symptom_05_5_none_keeps_the_gradient() -> bool:
    found = _answered(lambda: checked_tuple(one, (None, ONES[1]), ONES))
    return isinstance(found, tuple) and found[0] is ONES[0]


def symptom_05_5_gradients_one_by_one() -> bool:
    seen = []
    _answered(lambda: run_pre_hooks(OrderedDict({0: lambda *given: seen.append(given)}), ONES))
    return seen == [ONES] and len(seen[0]) == 2


def symptom_05_5_bare_accepted() -> bool:
    return isinstance(_answered(lambda: checked_tuple(one, ONES[0], ONES[:1])), tuple)


def symptom_05_5_not_a_tuple_accepted() -> bool:
    return raised_by("register_hook", lambda inputs, outputs: list(inputs)) is None


def symptom_05_5_length_unchecked() -> bool:
    error = raised_by("register_prehook", lambda grads: (*grads, *grads))
    post = raised_by("register_hook", lambda inputs, outputs: inputs[:1])
    return ((error is None or isinstance(error, (ValueError, IndexError)))
            and "incorrect number of values" not in str(post))


def symptom_05_5_none_refused() -> bool:
    error = raised_by("register_hook", lambda inputs, outputs: (None, inputs[1]))
    return isinstance(error, (TypeError, AttributeError)) and "NoneType" in str(error)


def symptom_05_5_members_unchecked() -> bool:
    good = raised_by("register_hook", lambda inputs, outputs: (inputs[0], inputs[1]))
    wrong = raised_by("register_hook", lambda inputs, outputs: (inputs[0].double(), inputs[1]))
    number = raised_by("register_hook", lambda inputs, outputs: (1.0, inputs[1]))
    return good is None and wrong is None and "expected Variable" not in str(number)


def symptom_05_5_no_copy() -> bool:
    table = OrderedDict()
    handle = register(table, lambda grads: handle.remove())
    register(table, lambda grads: None)
    told = str(_answered(lambda: run_pre_hooks(table, ONES)))
    if "mutated" in told or "changed size" in told:
        return True
    handles = []
    _, _, y = product()
    handles.append(y.grad_fn.register_hook(lambda inputs, outputs: handles[0].remove()))
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    try:
        y.backward()
    except RuntimeError as error:
        return "mutated" in str(error) or "changed size" in str(error)
    return False


# --- 05.6 -----------------------------------------------------------------------------------------


def symptom_05_6_no_grad_accepted() -> bool:
    try:
        torch.ones(2).register_post_accumulate_grad_hook(one)
    except RuntimeError:
        return False
    return True


def symptom_05_6_result_accepted() -> bool:
    try:
        (leaf(2.0) * 3).register_post_accumulate_grad_hook(one)
    except RuntimeError:
        return False
    return True


def after(*hooks):
    x = leaf(2.0)
    for hook in hooks:
        x.register_post_accumulate_grad_hook(hook)
    (x * 3).backward()
    return x


def symptom_05_6_not_called() -> bool:
    seen = []
    x = after(lambda t: seen.append("called"))
    return not seen and x.grad.item() == 3.0


def _afterwards(*hooks):
    tensor = leaf(2.0)
    table = OrderedDict(enumerate(hooks))
    return _answered(lambda: run_after_accumulation(table, tensor)), tensor, table


def symptom_05_6_answer_accepted() -> bool:
    told, tensor, _ = _afterwards(lambda tensor: 3.0)
    return told is None and tensor.grad is None


def symptom_05_6_answer_replaces() -> bool:
    return _afterwards(lambda tensor: torch.ones(()))[1]._grad is not None


def symptom_05_6_too_many_arguments() -> bool:
    seen = []
    _afterwards(lambda *given: seen.append(given))
    return len(seen) == 1 and len(seen[0]) != 1


def symptom_05_6_grad_is_gone() -> bool:
    tensor = leaf(2.0)
    tensor.grad = torch.ones(())
    _answered(lambda: run_after_accumulation({0: lambda tensor: None}, tensor))
    return tensor.grad is None


def symptom_05_6_last_first() -> bool:
    seen = []
    _afterwards(lambda tensor: seen.append(1), lambda tensor: seen.append(2))
    return seen == [2, 1]


def symptom_05_6_forgotten_after_once() -> bool:
    return not _afterwards(lambda tensor: None)[2]


def symptom_05_6_no_handle() -> bool:
    return leaf(1.0).register_post_accumulate_grad_hook(lambda tensor: None) is None


def symptom_05_6_called_before() -> bool:
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda given: seen.append(x.grad is None))
    (x * 3).backward()
    return seen == [True]


def symptom_05_6_gets_the_gradient() -> bool:
    seen = []
    after(seen.append)
    return len(seen) == 1 and not seen[0].requires_grad and seen[0].item() == 3.0


def symptom_05_6_new_table() -> bool:
    seen = []
    after(lambda t: seen.append("one"), lambda t: seen.append("two"))
    return seen == ["two"]


def symptom_05_6_one_hook_only() -> bool:
    seen = []
    after(lambda t: seen.append("one"), lambda t: seen.append("two"))
    return seen == ["one"]


def symptom_05_6_no_copy() -> bool:
    handles, x = [], leaf(2.0)
    handles.append(x.register_post_accumulate_grad_hook(lambda t: handles[0].remove()))
    x.register_post_accumulate_grad_hook(lambda t: None)
    try:
        (x * 3).backward()
    except RuntimeError as error:
        return "mutated" in str(error) or "changed size" in str(error)
    return False


def symptom_05_6_empty_table_replaced() -> bool:
    x = leaf(2.0)
    x.register_post_accumulate_grad_hook(one).remove()
    before = x._ensure_extras().post_accumulate
    x.register_post_accumulate_grad_hook(one)
    return before is not None and not before and x._ensure_extras().post_accumulate is not before
