"""Stage 05: hooks on tensors and nodes, handles, retain_grad."""

import gc
import weakref
from collections import OrderedDict
from functools import partial
from threading import Lock

import numpy as np
import pytest

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
from minigrad.graph.hooks import RemovableHandle, register
from minigrad.tensor.hooks import hook_table


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def first(grad):
    return grad


def second(grad):
    return grad * 2


def table_of(*hooks):
    """Return a table of hooks, made without `register`."""
    return OrderedDict(enumerate(hooks))


def values(grads):
    """Return gradients as lists of numbers, None where there is none."""
    return [grad if grad is None else grad.tolist() for grad in grads]


# --- 05.1 Handles and tables ----------------------------------------------------------------------


@pytest.mark.hole("05.1")
def test_hooks_stand_in_the_order_of_registration():
    table = OrderedDict()
    handles = [register(table, hook) for hook in (second, first, print)]
    assert list(table.values()) == [second, first, print]
    assert len(handles) == 3


@pytest.mark.hole("05.1")
def test_register_returns_the_handle_under_whose_number_the_hook_stands():
    table = OrderedDict()
    handles = [register(table, hook) for hook in (second, first, print)]
    assert all(isinstance(handle, RemovableHandle) for handle in handles), f"got {handles}"
    assert [table.get(handle.id) for handle in handles] == [second, first, print]


@pytest.mark.hole("05.1")
def test_prepend_puts_a_hook_in_front():
    table = OrderedDict()
    register(table, first)
    register(table, second, True)
    register(table, print, prepend=False)
    assert list(table.values()) == [second, first, print]


@pytest.mark.hole("05.1")
def test_remove_takes_its_own_hook_alone():
    table = OrderedDict()
    handles = [register(table, hook) for hook in (first, second, print)]
    handles[1].remove()
    assert list(table.values()) == [first, print], f"expected the first and third, got {table}"


@pytest.mark.hole("05.1")
def test_remove_may_be_called_again():
    table = OrderedDict()
    one, other = register(table, first), register(table, second)
    one.remove()
    one.remove()
    assert list(table.values()) == [second]
    other.remove()
    assert not table


@pytest.mark.hole("05.1")
def test_one_function_twice_is_two_hooks():
    table = OrderedDict()
    handle = register(table, first)
    register(table, first)
    assert len(table) == 2, f"expected 2 hooks, got {len(table)}"
    handle.remove()
    assert len(table) == 1


@pytest.mark.hole("05.1")
def test_a_number_is_never_used_again():
    table, other = OrderedDict(), OrderedDict()
    old = register(table, first)
    old.remove()
    new = register(table, second)
    assert new.id != old.id, f"the number {old.id} was given to two hooks"
    old.remove()
    assert list(table.values()) == [second]
    assert register(other, first).id not in (old.id, new.id)


@pytest.mark.hole("05.1")
def test_a_handle_knows_all_its_tables():
    tables = OrderedDict(), OrderedDict()
    handle = RemovableHandle(*tables)
    for table in tables:
        table.update({handle.id: first, handle.id + 1: second})
    handle.remove()
    assert [list(table.values()) for table in tables] == [[second], [second]]


@pytest.mark.hole("05.1")
def test_marks_come_with_the_hook():
    table, one, two = OrderedDict(), OrderedDict(), OrderedDict()
    register(table, first)
    handle = register(table, second, False, one, two)
    assert dict(one) == {handle.id: True}
    assert dict(two) == {handle.id: True}


@pytest.mark.hole("05.1")
def test_marks_go_with_the_hook():
    table, one, two = OrderedDict(), OrderedDict(), OrderedDict()
    register(table, first, False, one, two)
    register(table, second, False, one, two).remove()
    assert (len(table), len(one), len(two)) == (1, 1, 1)


@pytest.mark.hole("05.1")
def test_a_with_block_removes_at_its_end():
    table = OrderedDict()
    with register(table, first) as handle:
        assert list(table.values()) == [first]
        assert isinstance(handle, RemovableHandle)
    assert not table, f"expected no hook after the block, got {len(table)}"


@pytest.mark.hole("05.1")
def test_a_with_block_lets_an_exception_pass():
    table = OrderedDict()
    with pytest.raises(ValueError, match="inside"), register(table, first):
        raise ValueError("inside")


@pytest.mark.hole("05.1")
def test_a_with_block_removes_after_an_exception():
    table = OrderedDict()
    try:
        with register(table, first):
            raise ValueError("inside")
    except ValueError:
        pass
    assert not table


# --- 05.2 Checking a hook's result ----------------------------------------------------------------


@pytest.mark.hole("05.2")
def test_a_tensor_of_the_same_shape_and_dtype_is_accepted():
    given = torch.ones(2, 3)
    assert check_hook_result(first, torch.zeros(2, 3), given) is None
    assert check_hook_result(first, given, given) is None
    assert check_hook_result(first, torch.zeros(3, 2).t(), given) is None
    scalar = torch.tensor(1.0, dtype=torch.float64)
    assert check_hook_result(first, scalar * 2, scalar) is None
    assert check_hook_result(first, torch.nn.Parameter(torch.zeros(2, 3)), given) is None


@pytest.mark.hole("05.2")
def test_a_missing_gradient_cannot_be_replaced():
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        check_hook_result(first, torch.ones(2), None)


@pytest.mark.hole("05.2")
@pytest.mark.parametrize(("result", "name"), [
    (1.0, "float"), ("a", "str"), ([1.0], "list"), (np.ones(2, np.float32), r"(numpy\.)?ndarray")],
    ids=["a number", "a string", "a list", "an array"])
def test_only_tensors_are_accepted(result, name):
    with pytest.raises(TypeError, match=f"expected Variable, but hook returned '{name}'"):
        check_hook_result(first, result, torch.ones(2))


@pytest.mark.hole("05.2")
@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
def test_another_dtype_is_refused(dtype):
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        check_hook_result(second, torch.ones(2, dtype=getattr(torch, dtype)), torch.ones(2))


@pytest.mark.hole("05.2")
@pytest.mark.parametrize("shape", [(3, 2), (6,), (3,), (1, 3), (), (2, 3, 1), (4, 5)], ids=str)
def test_the_shape_may_not_change(shape):
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        check_hook_result(first, torch.ones(shape), torch.ones(2, 3))


@pytest.mark.hole("05.2")
def test_the_error_of_a_dtype():
    with pytest.raises(RuntimeError, match=r"hook 'second' has changed the type of value "
                                           r"\(was torch.FloatTensor got torch.DoubleTensor\)"):
        check_hook_result(second, torch.ones(2).double(), torch.ones(2))
    with pytest.raises(RuntimeError, match=r"hook 'first' has changed the type of value "
                                           r"\(was torch.DoubleTensor got torch.HalfTensor\)"):
        check_hook_result(first, torch.ones(2).half(), torch.ones(2).double())


@pytest.mark.hole("05.2")
def test_the_error_of_a_shape():
    with pytest.raises(RuntimeError, match="hook 'first' has changed the size of value"):
        check_hook_result(first, torch.ones(3), torch.ones(2))


@pytest.mark.hole("05.2")
@pytest.mark.parametrize(("replaced", "given", "kind", "text"), [
    pytest.param(1.0, None, RuntimeError, "can't replace a None gradient",
                 id="a missing gradient comes before a value that isn't a tensor"),
    pytest.param(torch.ones(3, dtype=torch.float64), torch.ones(2), RuntimeError,
                 "changed the type", id="a different dtype comes before a different shape"),
])
def test_of_two_mistakes_the_first_of_the_list_is_told(replaced, given, kind, text):
    with pytest.raises(kind, match=text):
        check_hook_result(first, replaced, given)


@pytest.mark.hole("05.2")
def test_a_hook_without_a_name_goes_by_its_type():
    with pytest.raises(RuntimeError, match="hook 'partial' has changed the size of value"):
        check_hook_result(partial(first), torch.ones(3), torch.ones(2))


@pytest.mark.hole("05.2")
def test_each_hook_runs_in_order():
    seen = []
    run_tensor_hooks({0: table_of(*(partial(_note, seen, name) for name in "abc"))},
                     [torch.ones(1)])
    assert seen == ["a", "b", "c"], f"got {seen}"


def _note(seen, name, *given):
    seen.append(name)


@pytest.mark.hole("05.2")
def test_each_table_has_the_gradient_of_its_output():
    seen = []
    run_tensor_hooks({1: table_of(seen.append), 2: table_of(seen.append)},
                     [torch.tensor(10.0), torch.tensor(20.0), torch.tensor(30.0)])
    assert values(seen) == [20.0, 30.0], f"got {seen}"


@pytest.mark.hole("05.2")
def test_an_answer_takes_the_gradient_s_place_in_the_list():
    grads = [torch.tensor(10.0), torch.tensor(20.0)]
    run_tensor_hooks({1: table_of(second)}, grads)
    assert values(grads) == [10.0, 40.0], f"expected [10, 40], got {values(grads)}"


@pytest.mark.hole("05.2")
def test_no_answer_leaves_the_gradient():
    grads = [torch.tensor(10.0)]
    run_tensor_hooks({0: table_of(lambda grad: None)}, grads)
    assert values(grads) == [10.0], f"expected [10], got {grads}"


@pytest.mark.hole("05.2")
def test_the_next_hook_gets_the_answer():
    seen, grads = [], [torch.tensor(1.0)]
    run_tensor_hooks({0: table_of(lambda grad: grad * 10, seen.append, lambda grad: grad + 1)},
                     grads)
    assert values(seen) == [10.0], f"expected that the second hook gets 10, got {values(seen)}"
    assert values(grads) == [11.0], f"expected 1 * 10 + 1 = 11, got {values(grads)}"


@pytest.mark.hole("05.2")
def test_an_answer_may_be_zero():
    grads = [torch.tensor(1.0)]
    run_tensor_hooks({0: table_of(lambda grad: grad * 0)}, grads)
    assert values(grads) == [0.0], f"expected [0], got {values(grads)}"


@pytest.mark.hole("05.2")
def test_a_missing_gradient_is_shown():
    seen, grads = [], [None]
    run_tensor_hooks({0: table_of(seen.append)}, grads)
    assert seen == [None] and grads == [None]


@pytest.mark.hole("05.2")
@pytest.mark.parametrize("place", [0, 1], ids=["first", "second"])
def test_an_answer_is_checked_before_it_is_taken(place):
    grads, seen = [torch.ones(2)], []
    hooks = [seen.append] * 3
    hooks[place] = lambda grad: grad.sum()
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the size of value"):
        run_tensor_hooks({0: table_of(*hooks)}, grads)
    assert values(grads) == [[1.0, 1.0]], f"the gradient was replaced: {values(grads)}"
    assert len(seen) == place, "a later hook ran"


@pytest.mark.hole("05.2")
def test_hooks_may_come_and_go_while_they_run():
    table, seen = OrderedDict(), []

    def once(grad):
        del table[0]
        table[9] = seen.append
        return grad * 3

    table[0], table[1] = once, lambda grad: seen.append("other")
    grads = [torch.ones(1)]
    run_tensor_hooks({0: table}, grads)
    assert seen == ["other"], f"expected the second hook alone, got {seen}"
    assert values(grads) == [[3.0]], f"expected what the first hook returned, got {values(grads)}"


@pytest.mark.hole("05.2")
def test_a_hook_may_bring_the_first_one_of_another_output():
    seen, tables = [], {}

    def bring(grad):
        tables[1] = table_of(seen.append)

    tables[0] = table_of(bring)
    run_tensor_hooks(tables, [torch.ones(1), torch.ones(1)])
    assert seen == [], f"the new hook runs in a later pass, but got {seen}"


# --- 05.3 Where a tensor's hooks are stored -------------------------------------------------------


@pytest.mark.hole("05.3")
def test_a_table_of_a_result_lies_with_its_node():
    _, y = leaf([1.0, 2.0]).unbind()
    table = hook_table(y)
    kept = y.grad_fn._extras().tensor
    assert list(kept) == [1] and kept[1] is table, f"got {kept}"


@pytest.mark.hole("05.3")
@pytest.mark.parametrize("kind", ["a result", "a leaf"])
def test_a_tensor_has_one_table(kind):
    tensor = leaf(2.0) if kind == "a leaf" else leaf(2.0) * 3
    table = hook_table(tensor)
    table[7] = first
    assert hook_table(tensor) is table, "expected the same table again"
    assert dict(table) == {7: first}


@pytest.mark.hole("05.3")
def test_a_table_of_a_leaf_is_kept_at_the_leaf():
    x = leaf(2.0)
    assert hook_table(x) is x._ensure_extras().hooks


@pytest.mark.hole("05.3")
def test_a_table_of_a_leaf_is_known_to_the_graph_s_node():
    x = leaf(2.0)
    y = x * 3
    table, accumulate = hook_table(x), y.grad_fn.next_functions[0][0]
    assert accumulate._extras().tensor.get(0) is table, "AccumulateGrad does not know the table"


@pytest.mark.hole("05.3")
def test_a_table_is_handed_to_the_node_of_a_later_graph():
    x = leaf(2.0)
    table = hook_table(x)
    gc.collect()
    y = x * 5
    assert hook_table(x) is table
    assert y.grad_fn.next_functions[0][0]._extras().tensor.get(0) is table


@pytest.mark.hole("05.3")
def test_a_hook_sees_the_gradient_of_a_result():
    a, b, seen = leaf(2.0), leaf(0.5), []
    c = a * b
    c.register_hook(lambda grad: seen.append(grad.item()))
    c.exp().backward()
    np.testing.assert_allclose(seen, [np.e], rtol=1e-6)
    np.testing.assert_allclose([a.grad.item(), b.grad.item()], [np.e * 0.5, np.e * 2], rtol=1e-6)


@pytest.mark.hole("05.3")
def test_a_hook_sees_the_sum_of_all_that_arrives_once():
    x, seen = leaf(2.0), []
    y = x * 3
    y.register_hook(lambda grad: seen.append(grad.item()))
    (y * 5 + y * 7).backward()
    assert seen == [12.0], f"expected one call with 12.0, got {seen}"


@pytest.mark.hole("05.3")
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_hooks_return_goes_on_from_one_to_the_next(create_graph):
    x, seen = leaf([1.0, 2.0]), []
    y = x * x
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: grad + 1)
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert seen == [[1.0, 1.0], [11.0, 11.0]], f"the hooks saw {seen}"
    assert grad.tolist() == [22.0, 44.0], f"expected 11 * 2x, got {grad.tolist()}"


@pytest.mark.hole("05.3")
def test_a_hook_may_replace_a_gradient_by_zero():
    x = leaf([1.0, 2.0])
    y = x * 3
    y.register_hook(lambda grad: torch.zeros(2))
    (y.sum() + x.sum()).backward()
    assert x.grad.tolist() == [1.0, 1.0]
    s = leaf(1.0)
    s.register_hook(lambda grad: torch.tensor(0.0))
    (s * 3).backward()
    assert s.grad.item() == 0.0, f"expected 0.0, got {s.grad.item()}"


@pytest.mark.hole("05.3")
def test_hooks_of_a_leaf_change_what_accumulates():
    x = leaf(2.0)
    x.grad = torch.tensor(100.0)
    x.register_hook(lambda grad: grad + 1)
    x.register_hook(lambda grad: grad * 2)
    (x * 3).backward()
    assert x.grad.item() == 108.0, f"expected 100 + (3 + 1) * 2 = 108, got {x.grad.item()}"


@pytest.mark.hole("05.3")
def test_a_hook_may_be_registered_after_the_forward():
    x = leaf(2.0)
    y = x * 3
    x.register_hook(lambda grad: grad * 2)
    y.register_hook(lambda grad: grad * 5)
    y.backward()
    assert x.grad.item() == 30.0, f"expected 3 * 2 * 5 = 30, got {x.grad.item()}"


@pytest.mark.hole("05.3")
def test_hooks_of_a_leaf_outlive_the_graph():
    x, seen = leaf(2.0), []
    y = x * 3
    x.register_hook(lambda grad: seen.append(grad.item()))
    y.backward()
    del y
    gc.collect()
    (x * 5).backward()
    assert seen == [3.0, 5.0], f"expected a call in each of two passes, got {seen}"


@pytest.mark.hole("05.3")
def test_each_output_of_a_node_has_hooks_of_its_own():
    x, seen = leaf([1.0, 2.0, 3.0]), []
    a, b, c = x.unbind()
    b.register_hook(lambda grad: seen.append(grad.item()) or grad * 10)
    c.register_hook(lambda grad: seen.append(grad))
    (a * 2 + b * 3).backward()
    assert seen == [3.0, None], f"expected 3.0 for b and None for c, got {seen}"
    assert x.grad.tolist() == [2.0, 30.0, 0.0]


@pytest.mark.hole("05.3")
def test_a_hook_removed_is_not_called_again():
    x, seen = leaf(2.0), []
    handle = x.register_hook(lambda grad: seen.append("first"))
    x.register_hook(lambda grad: seen.append("second"))
    (x * 1).backward()
    handle.remove()
    (x * 1).backward()
    assert seen == ["first", "second", "second"]


@pytest.mark.hole("05.3")
def test_a_hook_may_remove_itself_while_the_others_run():
    x, seen, handles = leaf(2.0), [], []

    def once(grad):
        seen.append("once")
        handles[0].remove()

    y = x * 1
    handles.append(y.register_hook(once))
    y.register_hook(lambda grad: seen.append("always"))
    y.backward(retain_graph=True)
    y.backward()
    assert seen == ["once", "always", "always"], f"got {seen}"


@pytest.mark.hole("05.3")
@pytest.mark.parametrize("kind", ["a result", "a leaf"])
def test_what_hooks_return_is_checked(kind):
    y = leaf([1.0, 2.0]) if kind == "a leaf" else leaf([1.0, 2.0]) * 3
    y.register_hook(lambda grad: grad.double())
    with pytest.raises(RuntimeError, match="has changed the type of value"):
        y.sum().backward()


@pytest.mark.hole("05.3")
def test_register_hook_returns_the_handle():
    for tensor in (leaf(2.0), leaf(2.0) * 3):
        handle = tensor.register_hook(first)
        assert isinstance(handle, RemovableHandle), f"got {handle}"


@pytest.mark.hole("05.3")
def test_a_tensor_that_needs_no_gradient_has_no_hooks():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't "
                                           "require gradient"):
        torch.ones(2).register_hook(print)


@pytest.mark.hole("05.3")
@pytest.mark.parametrize("kind", ["a result", "a leaf"])
def test_a_table_stays_when_its_last_hook_is_gone(kind):
    tensor = leaf(2.0) if kind == "a leaf" else leaf(2.0) * 3
    table = hook_table(tensor)
    table[7] = first
    del table[7]
    assert hook_table(tensor) is table, "expected the same table again, though it is empty"


# --- 05.4 retain_grad -----------------------------------------------------------------------------


@pytest.mark.hole("05.4")
def test_a_tensor_says_that_it_retains():
    y = leaf(2.0) * 3
    assert not y.retains_grad
    assert y.retain_grad() is None
    assert y.retains_grad


@pytest.mark.hole("05.4")
def test_the_node_has_a_weak_reference():
    _, y = leaf([1.0, 2.0]).unbind()
    y.retain_grad()
    kept = y.grad_fn._extras().retained
    assert list(kept) == [1], f"expected a reference under 1, got {kept}"
    assert isinstance(kept[1], weakref.ref), f"expected a weak reference, got {kept[1]}"
    assert kept[1]() is y


@pytest.mark.hole("05.4")
def test_a_first_gradient_is_cloned():
    tensor, grad = torch.zeros(2), torch.tensor([5.0, 7.0])
    keep_retained({0: weakref.ref(tensor)}, [grad])
    assert tensor._grad is not None and tensor._grad.tolist() == [5.0, 7.0], f"{tensor._grad}"
    tensor._grad.zero_()
    assert grad.tolist() == [5.0, 7.0], "writing to .grad changed the gradient itself"
    other = torch.zeros(2)
    keep_retained({0: weakref.ref(other)}, [torch.zeros(2)])
    assert other._grad is not None and other._grad.tolist() == [0.0, 0.0], f"{other._grad}"


@pytest.mark.hole("05.4")
def test_a_later_gradient_is_added():
    tensor = torch.zeros(2)
    tensor._grad = torch.tensor([5.0, 7.0])
    keep_retained({0: weakref.ref(tensor)}, [torch.tensor([10.0, 20.0])])
    assert tensor._grad.tolist() == [15.0, 27.0], f"got {tensor._grad.tolist()}"


@pytest.mark.hole("05.4")
def test_a_later_gradient_makes_a_new_tensor():
    tensor, before, grad = torch.zeros(1), torch.tensor([5.0]), torch.tensor([1.0])
    tensor._grad = before
    keep_retained({0: weakref.ref(tensor)}, [grad])
    assert (before.tolist(), grad.tolist()) == ([5.0], [1.0]), "one of the two was written to"


@pytest.mark.hole("05.4")
def test_each_reference_has_the_gradient_of_its_output():
    one, other = torch.zeros(1), torch.zeros(1)
    keep_retained({2: weakref.ref(one), 1: weakref.ref(other)},
                  [torch.tensor([n]) for n in (10.0, 20.0, 30.0)])
    assert values([one._grad, other._grad]) == [[30.0], [20.0]]


@pytest.mark.hole("05.4")
@pytest.mark.parametrize("kind", ["is gone", "got no gradient"])
def test_one_that_is_passed_over(kind):
    there = torch.zeros(1)
    retained = {0: (lambda: None) if kind == "is gone" else weakref.ref(there),
                1: weakref.ref(there)}
    grads = [torch.tensor([1.0]) if kind == "is gone" else None, torch.tensor([5.0])]
    keep_retained(retained, grads)
    assert there._grad is not None and there._grad.tolist() == [5.0], f"got {there._grad}"


@pytest.mark.hole("05.4")
def test_a_result_keeps_its_gradient_when_asked():
    x = leaf([1.0, 2.0])
    y = x * x
    y.retain_grad()
    (y * 3).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [6.0, 12.0]


@pytest.mark.hole("05.4")
def test_a_retained_gradient_accumulates():
    x = leaf([1.0, 2.0])
    y = x * x
    y.retain_grad()
    z = (y * 3).sum()
    z.backward(retain_graph=True)
    kept = y.grad
    z.backward()
    assert y.grad.tolist() == [6.0, 6.0], f"expected 3 + 3 = 6, got {y.grad.tolist()}"
    assert kept.tolist() in ([3.0, 3.0], [6.0, 6.0])


@pytest.mark.hole("05.4")
def test_a_retained_gradient_has_memory_of_its_own():
    x, weights = leaf([1.0, 2.0]), torch.tensor([5.0, 7.0])
    y = x * 1
    y.retain_grad()
    y.backward(weights)
    y.grad.zero_()
    assert weights.tolist() == [5.0, 7.0], "writing to y.grad changed the gradient handed in"
    assert x.grad.tolist() == [5.0, 7.0]


@pytest.mark.hole("05.4")
def test_the_earlier_sum_stays_as_it_was():
    x = leaf([2.0])
    y = x * 3
    y.retain_grad()
    y.backward(retain_graph=True)
    before = y.grad
    y.backward()
    assert y.grad.tolist() == [2.0] and before.tolist() == [1.0], "the sum is a new tensor"


@pytest.mark.hole("05.4")
@pytest.mark.filterwarnings("ignore:Using backward")  # once in a process: `.grad` keeps its history
def test_a_retained_gradient_keeps_its_history():
    x = leaf(3.0)
    y = x * x
    y.retain_grad()
    (y * y).backward(create_graph=True)
    slope = y.grad
    x.grad = None
    assert slope.requires_grad, "the gradient lost its history"
    assert torch.autograd.grad(slope, x)[0].item() == 12.0


@pytest.mark.hole("05.4")
def test_those_that_are_gone_do_not_stop_the_others():
    there = torch.zeros(1)
    retained = {0: lambda: None, 1: weakref.ref(there), 2: weakref.ref(there)}
    keep_retained(retained, [torch.tensor([1.0]), None, torch.tensor([5.0])])
    assert there.grad is not None and there.grad.tolist() == [5.0], f"got {there.grad}"


@pytest.mark.hole("05.4")
def test_asking_twice_is_asking_once():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    (y * 5).backward()
    assert y.grad.item() == 5.0


@pytest.mark.hole("05.4")
def test_each_output_keeps_its_own():
    x = leaf([1.0, 2.0, 3.0])
    a, b, c = x.unbind()
    for each in (a, b, c):
        each.retain_grad()
    (a * 2 + b * 3).backward()
    assert b.grad is not None and b.grad.item() == 3.0, f"expected 3.0, got {b.grad}"
    assert a.grad is not None and a.grad.item() == 2.0, f"expected 2.0, got {a.grad}"
    assert c.grad is None, f"nothing came to c, but its grad is {c.grad}"


@pytest.mark.hole("05.4")
def test_the_graph_does_not_hold_a_tensor_that_retains():
    x = leaf(2.0)
    y = x * 3
    y.retain_grad()
    gone = weakref.ref(y)
    z = y + 1
    del y
    gc.collect()
    assert gone() is None, "the graph keeps the tensor alive"
    z.backward()
    assert x.grad.item() == 3.0


@pytest.mark.hole("05.4")
def test_a_leaf_keeps_its_gradient_as_it_always_does():
    x = leaf(2.0)
    assert x.retain_grad() is None
    assert not x.retains_grad
    (x * 3).backward()
    assert x.grad.item() == 3.0


@pytest.mark.hole("05.4")
def test_a_tensor_that_needs_no_gradient_keeps_none():
    refused = torch.ones(2)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has "
                                           "requires_grad=False"):
        refused.retain_grad()
    assert not refused.retains_grad, "retains_grad is True although retain_grad() raised"


@pytest.mark.hole("05.4")
def test_a_retained_gradient_is_added_under_the_tensor_s_lock(monkeypatch):
    tensor = Guarded()
    monkeypatch.setattr(run_hooks, "lock_of", lambda each: each.lock)
    for grad in (5.0, 7.0):
        keep_retained({0: lambda: tensor}, [torch.tensor(grad)])
    assert tensor.free == [], f"`_grad` was {tensor.free[0]} outside of the lock"
    assert tensor.kept.item() == 12.0
    assert not tensor.lock.locked(), "the lock was not given back"


class Guarded:
    """Stands in for a tensor; notes where its gradient is used without its lock."""

    def __init__(self):
        self.lock, self.kept, self.free = Lock(), None, []

    @property
    def _grad(self):
        self.note("read")
        return self.kept

    @_grad.setter
    def _grad(self, grad):
        self.note("written")
        self.kept = grad

    def note(self, act):
        if not self.lock.locked():
            self.free.append(act)


# --- 05.5 Hooks on nodes --------------------------------------------------------------------------


GRADS = (torch.tensor(1.0), torch.tensor(2.0))
RESULTS = (torch.tensor(5.0), torch.tensor(7.0), None)


@pytest.mark.hole("05.5")
def test_no_answer_leaves_what_was_given():
    assert checked_tuple(first, None, RESULTS) is RESULTS


@pytest.mark.hole("05.5")
def test_an_answer_goes_on():
    answer = (torch.tensor(3.0), None, None)
    got = checked_tuple(first, answer, RESULTS)
    assert type(got) is tuple and len(got) == 3, f"expected the three values, got {got}"
    assert got[0] is answer[0] and got[1:] == (None, None), f"expected {answer}, got {got}"


@pytest.mark.hole("05.5")
@pytest.mark.parametrize(("answer", "kind"), [
    ([torch.ones(1)], "list"), (torch.ones(1), "Tensor"), (1.0, "float"), (0, "int")],
    ids=["a list", "a bare tensor", "a number", "the number 0"])
def test_an_answer_is_a_tuple(answer, kind):
    with pytest.raises(TypeError, match=f"expected tuple, but hook returned '{kind}'"):
        checked_tuple(first, answer, (torch.ones(1),))


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_answer_has_as_many_values(count):
    answer = (torch.tensor(3.0),) * count
    with pytest.raises(RuntimeError, match=r"hook 'first' has returned an incorrect number of "
                                           rf"values \(got {count}, but expected 2\)"):
        checked_tuple(first, answer, GRADS)


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("place", [0, 1])
def test_each_value_is_checked_against_the_one_in_its_place(place):
    answer = list(GRADS)
    answer[place] = torch.ones(2)
    with pytest.raises(RuntimeError, match="hook 'first' has changed the size of value"):
        checked_tuple(first, tuple(answer), GRADS)


@pytest.mark.hole("05.5")
def test_no_value_may_stand_where_none_was_given():
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        checked_tuple(first, (None, None, torch.ones(1)), RESULTS)


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("which", ["run_pre_hooks", "run_post_hooks"])
def test_hooks_of_a_node_run_in_order(which):
    seen = []
    hooks = table_of(*(partial(_note, seen, name) for name in "abc"))
    assert (run_pre_hooks(hooks, GRADS) is GRADS if which == "run_pre_hooks"
            else run_post_hooks(hooks, RESULTS, GRADS) is RESULTS)
    assert seen == ["a", "b", "c"], f"got {seen}"


@pytest.mark.hole("05.5")
def test_a_pre_hook_is_called_with_the_tuple():
    seen = []
    run_pre_hooks(table_of(lambda *given: seen.append(given)), GRADS)
    assert len(seen) == 1 and len(seen[0]) == 1 and seen[0][0] is GRADS, f"got {seen}"


@pytest.mark.hole("05.5")
def test_a_post_hook_is_called_with_results_and_gradients():
    seen = []
    run_post_hooks(table_of(lambda *given: seen.append(given)), RESULTS, GRADS)
    assert len(seen) == 1 and len(seen[0]) == 2, f"got {seen}"
    assert seen[0][0] is RESULTS and seen[0][1] is GRADS, f"got {seen[0]}"


@pytest.mark.hole("05.5")
def test_a_pre_hook_gets_what_the_one_before_it_left():
    hooks = table_of(lambda grads: tuple(grad + 1 for grad in grads), lambda grads: None,
                     lambda grads: tuple(grad * 10 for grad in grads))
    assert values(run_pre_hooks(hooks, GRADS)) == [20.0, 30.0]


@pytest.mark.hole("05.5")
def test_a_post_hook_gets_what_the_one_before_it_left():
    hooks = table_of(lambda results, grads: (results[0] + grads[0], results[1], None),
                     lambda results, grads: None,
                     lambda results, grads: (results[0] * 10, results[1] * grads[1], None))
    assert values(run_post_hooks(hooks, RESULTS, GRADS)) == [60.0, 14.0, None]


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("which", ["run_pre_hooks", "run_post_hooks"])
def test_answers_of_hooks_of_a_node_are_checked(which):
    hooks = table_of(lambda *given: list(given[0]))
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'list'"):
        if which == "run_pre_hooks":
            run_pre_hooks(hooks, GRADS)
        else:
            run_post_hooks(hooks, RESULTS, GRADS)


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("which", ["run_pre_hooks", "run_post_hooks"])
def test_hooks_of_a_node_may_come_and_go_while_they_run(which):
    table, seen = OrderedDict(), []

    def once(*given):
        del table[0]
        table[9] = partial(_note, seen, "new")

    table[0], table[1] = once, partial(_note, seen, "other")
    if which == "run_pre_hooks":
        run_pre_hooks(table, GRADS)
    else:
        run_post_hooks(table, RESULTS, GRADS)
    assert seen == ["other"], f"expected the second hook alone, got {seen}"


@pytest.mark.hole("05.5")
def test_a_hook_of_a_node_sees_what_it_gave_and_what_it_got():
    a, b, seen = leaf(2.0), leaf(5.0), []
    y = a * b
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append([[g.item() for g in inputs],
                                             [g.item() for g in outputs]]))
    y.backward(torch.tensor(10.0))
    assert seen == [[[50.0, 20.0], [10.0]]], f"expected grads of inputs, then outputs: got {seen}"
    assert (a.grad.item(), b.grad.item()) == (50.0, 20.0)


@pytest.mark.hole("05.5")
def test_hooks_of_a_node_replace_what_it_gives_one_after_the_other():
    a, b = leaf(2.0), leaf(5.0)
    y = a * b
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1, inputs[1]))
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 10, inputs[1] * 100))
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (60.0, 200.0), (
        f"expected (5 + 1) * 10 = 60 and 2 * 100 = 200, got {a.grad.item()}, {b.grad.item()}")


@pytest.mark.hole("05.5")
def test_pre_hooks_replace_what_a_node_gets_one_after_the_other():
    x, seen = leaf(3.0), []
    y = x * x
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    y.grad_fn.register_prehook(lambda grads: seen.append(grads[0].item()))
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.backward()
    assert seen == [2.0]
    assert x.grad.item() == 120.0, f"expected (1 + 1) * 10 * 6 = 120, got {x.grad.item()}"


@pytest.mark.hole("05.5")
def test_pre_hooks_see_all_outputs_with_none_for_what_did_not_come():
    x, seen = leaf([1.0, 2.0, 3.0]), []
    a, _, c = x.unbind()
    a.grad_fn.register_prehook(lambda grads: seen.extend(grads))
    (a * 2 + c * 3).backward()
    assert [g if g is None else g.item() for g in seen] == [2.0, None, 3.0]


@pytest.mark.hole("05.5")
def test_a_hook_of_a_node_may_drop_a_gradient():
    a, b = leaf(2.0), leaf(5.0)
    y = a * b
    y.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1]))
    y.backward()
    assert a.grad is None, f"expected None, got {a.grad}"
    assert b.grad.item() == 2.0


@pytest.mark.hole("05.5")
@pytest.mark.parametrize("kind", ["register_hook", "register_prehook"])
def test_the_answer_has_to_be_a_tuple(kind):
    x = leaf(2.0)
    y = x * x
    getattr(y.grad_fn, kind)(lambda *given: list(given[0]))
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'list'"):
        y.backward()


@pytest.mark.hole("05.5")
def test_a_node_hook_may_remove_itself():
    x, seen, handles = leaf(2.0), [], []

    def once(inputs, outputs):
        seen.append("once")
        handles[0].remove()

    y = x * x
    handles.append(y.grad_fn.register_hook(once))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("always"))
    y.backward(retain_graph=True)
    y.backward()
    assert seen == ["once", "always", "always"], f"got {seen}"


@pytest.mark.hole("05.5")
def test_hooks_of_the_node_at_a_leaf():
    x, seen = leaf(2.0), []
    y = x * 3
    accumulate = y.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: (grads[0] * 10,))
    accumulate.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].item())))
    y.backward()
    assert x.grad.item() == 30.0
    assert seen == [((), 30.0)]


# --- 05.6 Hooks that run after accumulation -------------------------------------------------------


@pytest.mark.hole("05.6")
def test_each_hook_after_accumulation_runs_in_order():
    seen = []
    run_after_accumulation(table_of(*(partial(_note, seen, name) for name in "abc")), leaf(2.0))
    assert seen == ["a", "b", "c"], f"got {seen}"


@pytest.mark.hole("05.6")
def test_a_hook_after_accumulation_is_called_with_the_tensor_alone():
    tensor, seen = leaf(2.0), []
    run_after_accumulation(table_of(lambda *given: seen.append(given)), tensor)
    assert len(seen) == 1 and len(seen[0]) == 1 and seen[0][0] is tensor, f"got {seen}"


@pytest.mark.hole("05.6")
@pytest.mark.parametrize("answer", [3.0, 0, False, torch.ones(1)],
                         ids=["a number", "0", "False", "a tensor"])
def test_a_hook_after_accumulation_returns_nothing(answer):
    hooks = table_of(lambda tensor: answer)
    with pytest.raises((RuntimeError, TypeError),  # which one may depend on the answer
                       match="hooks should return None|expected Variable, but hook returned"):
        run_after_accumulation(hooks, leaf(2.0))


@pytest.mark.hole("05.6")
def test_the_first_answer_stops_the_hooks_behind_it():
    seen, tensor = [], leaf(2.0)
    hooks = table_of(seen.append, lambda tensor: 3.0, seen.append)
    with pytest.raises((RuntimeError, TypeError), match="should return None|expected Variable"):
        run_after_accumulation(hooks, tensor)
    assert len(seen) == 1 and tensor.grad is None


@pytest.mark.hole("05.6")
def test_hooks_after_accumulation_may_come_and_go_while_they_run():
    table, seen = OrderedDict(), []

    def once(tensor):
        del table[0]
        table[9] = partial(_note, seen, "new")

    table[0], table[1] = once, partial(_note, seen, "other")
    run_after_accumulation(table, leaf(2.0))
    assert seen == ["other"], f"expected the second hook alone, got {seen}"


@pytest.mark.hole("05.6")
def test_the_table_of_a_leaf_is_made_once():
    x = leaf(2.0)
    x.register_post_accumulate_grad_hook(first)
    table = x._ensure_extras().post_accumulate
    handle = x.register_post_accumulate_grad_hook(second)
    assert x._ensure_extras().post_accumulate is table, "expected the same table"
    assert list(table.values()) == [first, second], f"got {table}"
    assert isinstance(handle, RemovableHandle), f"expected the handle, got {handle}"


@pytest.mark.hole("05.6")
def test_a_hook_after_accumulation_gets_the_leaf_with_its_gradient():
    x, seen = leaf(2.0), []
    x.grad = torch.tensor(100.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    (x * 3).backward()
    assert seen == [(True, 103.0)], f"expected the leaf with gradient 103, got {seen}"


@pytest.mark.hole("05.6")
def test_several_run_in_order_each_pass_until_removed():
    x, seen = leaf(2.0), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append("first"))
    handle = x.register_post_accumulate_grad_hook(lambda t: seen.append("second"))
    (x * 3).backward()
    handle.remove()
    (x * 3).backward()
    assert seen == ["first", "second", "first"], f"got {seen}"


@pytest.mark.hole("05.6")
def test_an_optimizer_step_inside_backward():
    x = leaf([1.0, 2.0])

    def step(t):
        with torch.no_grad():
            t -= 0.5 * t.grad
        t.grad = None

    seen = []
    x.register_post_accumulate_grad_hook(step)
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad))
    (x * torch.tensor([2.0, 4.0])).sum().backward()
    assert x.tolist() == [0.0, 0.0]
    assert x.grad is None
    assert seen == [None], f"expected that the next hook runs too, without a gradient: got {seen}"


@pytest.mark.hole("05.6")
def test_it_may_remove_itself():
    x, seen, handles = leaf(2.0), [], []

    def once(t):
        seen.append("once")
        handles[0].remove()

    handles.append(x.register_post_accumulate_grad_hook(once))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("always"))
    (x * 3).backward()
    (x * 3).backward()
    assert seen == ["once", "always", "always"], f"got {seen}"


@pytest.mark.hole("05.6")
def test_only_leaves_accumulate():
    x = leaf(2.0)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on "
                                           "non-leaf tensors"):
        (x * 3).register_post_accumulate_grad_hook(print)


@pytest.mark.hole("05.6")
def test_a_tensor_that_needs_no_gradient_accumulates_none():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't "
                                           "require gradient"):
        torch.ones(2).register_post_accumulate_grad_hook(print)


@pytest.mark.hole("05.6")
def test_the_table_of_a_leaf_stays_when_its_last_hook_is_gone():
    x = leaf(2.0)
    x.register_post_accumulate_grad_hook(first).remove()
    table = x._ensure_extras().post_accumulate
    x.register_post_accumulate_grad_hook(second)
    assert x._ensure_extras().post_accumulate is table, "expected the same, though empty, table"
