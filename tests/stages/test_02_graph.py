"""Stage 02: nodes and edges, leaves, and the end of the graph where `.grad` is filled."""

import gc
import warnings
import weakref

import numpy as np
import pytest
from _oracle import assert_close

import minigrad as torch
from minigrad import _state
from minigrad.graph import accumulate_grad as accumulate
from minigrad.graph.accumulate_grad import AccumulateGrad
from minigrad.graph.node import NaryNode
from minigrad.tensor import history


class Lock:
    """A lock that never waits; `meanwhile` is what another thread did just before it was ours."""

    def __init__(self, meanwhile=lambda: None):
        self.meanwhile, self.held, self.taken = meanwhile, False, 0

    def acquire(self, *_):
        if self.held:
            raise RuntimeError("this thread would wait for itself: it holds the lock already")
        self.held, self.taken = True, self.taken + 1
        self.meanwhile()
        return True

    def release(self):
        self.held = False

    __enter__ = acquire

    def __exit__(self, *_):
        self.release()


@pytest.fixture(autouse=True)
def locks_that_never_wait(monkeypatch):
    monkeypatch.setattr(accumulate, "_leaf_locks", [Lock() for _ in range(64)])


def leaf(values):
    return torch.tensor(values, requires_grad=True)


def layout_leaf(array):
    """A leaf on exactly this array, strides and all."""
    return torch.Tensor._plain(array).requires_grad_()


def give(x, values, owned=False):
    """Hand a gradient to a leaf, as the engine does."""
    array = np.array(values, x._array.dtype)
    x._accumulator().accumulate(array, owned)
    return array


def names(node):
    return [None if after is None else after.name() for after, _ in node.next_functions]


# ---------------------------------------------------------------- 02.1 edges


@pytest.mark.hole("02.1")
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_node_keeps_its_edges_in_order(count):
    nodes = NaryNode(), NaryNode()  # one of four edges leads to a node that has another, too
    expected = [(nodes[position % 2], position + 5) for position in range(count)]
    node = NaryNode()
    node.set_edges(list(expected))
    assert node.next_functions == tuple(expected), f"got {node.next_functions}"
    assert [tuple(edge) for edge in node.edges] == expected


@pytest.mark.hole("02.1")
def test_an_edge_that_leads_nowhere_keeps_its_place():
    after, node = NaryNode(), NaryNode()
    expected = [(None, 0), (after, 7), (None, 0)]
    node.set_edges(expected)
    assert node.next_functions == tuple(expected), f"got {node.next_functions}"


@pytest.mark.hole("02.1")
def test_next_functions_is_a_tuple_of_pairs():
    node = NaryNode()
    node.set_edges([(NaryNode(), 0), (NaryNode(), 0)])
    assert type(node.next_functions) is tuple, f"got a {type(node.next_functions).__name__}"
    assert all(isinstance(pair, tuple) and len(pair) == 2 for pair in node.next_functions)


@pytest.mark.hole("02.1")
def test_edges_say_which_is_the_node_and_which_the_number():
    node, after = NaryNode(), NaryNode()
    node.set_edges([(after, 2)])
    assert node.edges[0].node is after and node.edges[0].index == 2


@pytest.mark.hole("02.1")
def test_setting_edges_again_replaces_them():
    old, new, node = NaryNode(), NaryNode(), NaryNode()
    node.set_edges([(old, 1), (old, 0)])
    node.set_edges([(new, 0)])
    assert node.next_functions == ((new, 0),), f"got {node.next_functions}"


@pytest.mark.hole("02.1")
def test_a_list_changed_later_does_not_change_the_node():
    after, node = NaryNode(), NaryNode()
    edges = [(after, 0), (after, 1)]
    node.set_edges(edges)
    edges.clear()
    assert node.next_functions == ((after, 0), (after, 1)), f"got {node.next_functions}"


@pytest.mark.hole("02.1")
@pytest.mark.parametrize("index, expected", [
    (0, ((2, 3), np.dtype("float32"))), (1, ((5,), np.dtype("float64"))),
    (2, ((), np.dtype("float16")))], ids=["0", "1", "2"])
def test_a_node_of_several_outputs_knows_each(index, expected):
    node = NaryNode()
    node.shape, node.dtype = (2, 3), np.dtype("float32")
    node.others = [((5,), np.dtype("float64")), ((), np.dtype("float16"))]
    got = node.metadata_of(index)
    assert got == expected, f"metadata_of({index}): expected {expected}, got {got}"


# ---------------------------------------------------------------- 02.2 one end for each leaf


@pytest.mark.hole("02.2")
def test_a_leaf_has_one_accumulator_while_somebody_holds_it():
    x = leaf([1.0, 2.0])
    first = x._accumulator()
    assert type(first).__name__ == "AccumulateGrad", f"got {type(first).__name__}"
    assert first.variable is x
    assert x._accumulator() is first, "expected the same AccumulateGrad, got another one"
    assert x._accumulator() is first


@pytest.mark.hole("02.2")
def test_two_leaves_have_two():
    x, y = leaf(1.0), leaf(1.0)
    to_x, to_y = x._accumulator(), y._accumulator()
    assert to_x is not to_y
    assert to_x.variable is x and to_y.variable is y


@pytest.mark.hole("02.2")
def test_a_leaf_holds_its_accumulator_only_weakly():
    x = leaf(1.0)
    gc.disable()
    try:
        gone = weakref.ref(x._accumulator())
        assert gone() is None, "nobody uses the AccumulateGrad any more, but the leaf holds it"
        x._accumulator()
        gone = weakref.ref(x)
        del x
        assert gone() is None, "the leaf and its AccumulateGrad hold each other"
    finally:
        gc.enable()


@pytest.mark.hole("02.2")
def test_a_new_one_is_made_when_the_old_one_is_gone():
    x = leaf(1.0)
    x._accumulator()
    again = x._accumulator()
    assert again is not None and again.variable is x
    assert x._accumulator() is again


@pytest.mark.hole("02.2")
def test_the_last_other_holder_may_let_go_meanwhile():
    x, calls = leaf(1.0), []
    held = [AccumulateGrad(x)]

    def reference():
        """Return the node once, like a weak reference whose node another thread lets go of."""
        calls.append(None)
        return held.pop() if held else None

    x._ensure_extras().accumulator = reference
    assert x._accumulator() is not None, f"the weak reference was called {len(calls)} times"


def asked_while_another_thread_makes_one(monkeypatch):
    """Return the lock, their AccumulateGrad and ours."""
    x, theirs = leaf(1.0), []

    def meanwhile():
        if not theirs:
            theirs.append(AccumulateGrad(x))
            x._ensure_extras().accumulator = weakref.ref(theirs[0])

    lock = Lock(meanwhile)
    monkeypatch.setattr(history, "_accumulator_lock", lock)
    return lock, theirs, x._accumulator()


@pytest.mark.hole("02.2")
def test_the_lock_is_taken_and_given_back(monkeypatch):
    lock, _, _ = asked_while_another_thread_makes_one(monkeypatch)
    assert lock.taken, "_accumulator_lock was not taken"
    assert not lock.held, "_accumulator_lock was not given back"


@pytest.mark.hole("02.2")
def test_another_thread_may_have_made_it_first(monkeypatch):
    _, theirs, mine = asked_while_another_thread_makes_one(monkeypatch)
    assert mine is theirs[0], "another thread made one while we waited for the lock"


# ---------------------------------------------------------------- 02.3 leaf or not


@pytest.mark.hole("02.3")
@pytest.mark.parametrize("make, expected", [
    pytest.param(lambda x: x, True, id="a leaf that requires grad"),
    pytest.param(lambda x: torch.ones(2), True, id="a tensor that needs no gradient"),
    pytest.param(lambda x: torch.ones(2) * 2, True, id="a result of tensors without gradient"),
    pytest.param(lambda x: (x * 2).detach(), True, id="a detached tensor"),
    pytest.param(lambda x: x * 2, False, id="the result of a recorded operation"),
    pytest.param(lambda x: x.unbind()[1], False, id="the second output of a recorded operation")])
def test_who_is_a_leaf(make, expected):
    got = make(leaf([1.0, 2.0])).is_leaf
    assert got is expected, f"expected is_leaf {expected}, got {got!r}"


@pytest.mark.hole("02.3")
def test_grad_fn_of_a_leaf_is_none():
    x = leaf([1.0, 2.0])
    assert x.grad_fn is None, f"expected None, got {x.grad_fn}"
    assert torch.ones(2).grad_fn is None


@pytest.mark.hole("02.3")
def test_grad_fn_of_a_result_is_the_node_that_made_it():
    y = leaf([1.0, 2.0]).exp()
    assert y.grad_fn is y._node, f"got {y.grad_fn}"
    assert y.grad_fn.name() == "ExpBackward"


@pytest.mark.hole("02.3")
def test_inputs_without_gradient_lead_nowhere():
    constant = torch.ones(2)
    assert constant._edge() == (None, 0), f"got {constant._edge()}"
    assert (constant * 2)._edge() == (None, 0)


@pytest.mark.hole("02.3")
def test_the_edge_of_an_input_without_gradient_keeps_its_place():
    x, constant = leaf([1.0, 2.0]), torch.ones(2)
    assert names((x * constant).grad_fn) == ["AccumulateGrad", None]
    assert names((constant * x).grad_fn) == [None, "AccumulateGrad"]


@pytest.mark.hole("02.3")
def test_an_edge_says_which_output_the_tensor_is():
    x = leaf([1.0, 2.0, 3.0])
    parts = x.unbind(0)
    for number, part in enumerate(parts):
        node, index = part._edge()
        assert node is part.grad_fn
        assert index == number, f"expected output number {number}, got {index}"
        assert (part * 1.0).grad_fn.next_functions[0] == (part.grad_fn, number)


@pytest.mark.hole("02.3")
def test_the_edge_of_a_leaf():
    x = leaf([1.0, 2.0])
    node, index = x._edge()
    assert node is x._accumulator() and index == 0


@pytest.mark.hole("02.3")
def test_a_leaf_used_twice_has_one_end():
    x = leaf([1.0, 2.0])
    y = x * x
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first is second, "expected one AccumulateGrad for both uses of x"


def view_of_a_leaf_that_was_written_to():
    base = torch.zeros(3)
    view = base[1:]
    base.mul_(leaf([1.0, 2.0, 3.0]))
    return view


@pytest.mark.hole("02.3")
@pytest.mark.parametrize("what", ["is_leaf", "grad_fn", "_edge()"])
def test_a_view_of_a_leaf_that_is_none_any_more(what):
    view = view_of_a_leaf_that_was_written_to()
    if what == "is_leaf":
        assert view.is_leaf is False, "its base was written to"
    elif what == "grad_fn":
        assert view.grad_fn is not None, "its base was written to"
    else:
        assert view._edge()[0] is not None, "its base was written to"


@pytest.mark.hole("02.3")
def test_a_view_of_a_base_that_was_written_to():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1.0
    view = base[1:]
    base.mul_(5.0)
    (grad,) = torch.autograd.grad(view.sum(), x)
    assert grad.tolist() == [0.0, 5.0, 5.0], f"expected [0, 5, 5], got {grad.tolist()}"
    base.mul_(2.0)
    assert view.grad_fn.name() == "AsStridedBackward", f"got {view.grad_fn.name()}"


@pytest.mark.hole("02.3")
def test_the_graph_of_the_documents():
    a, b, e = leaf(2.0), leaf(0.5), leaf(1.0)
    c = a * b
    d = c.exp()
    f = d + e
    assert [t.is_leaf for t in (a, b, c, d, e, f)] == [True, True, False, False, True, False]
    assert [t.grad_fn.name() for t in (f, d, c)] == ["AddBackward0", "ExpBackward", "MulBackward0"]
    assert names(f.grad_fn) == ["ExpBackward", "AccumulateGrad"], f"got {names(f.grad_fn)}"
    assert f.grad_fn.next_functions[0][0] is d.grad_fn
    assert f.grad_fn.next_functions[1][0].variable is e
    assert d.grad_fn.next_functions[0][0] is c.grad_fn
    assert [end.variable for end, _ in c.grad_fn.next_functions] == [a, b]


# ---------------------------------------------------------------- 02.4 nodes called by hand


@pytest.mark.hole("02.4")
def test_one_result_comes_bare():
    x = leaf([1.0, 2.0])
    one = (x * 2 + 1).exp().grad_fn(torch.ones(2))
    assert isinstance(one, torch.Tensor), f"expected a tensor, got a {type(one).__name__}"


@pytest.mark.hole("02.4")
def test_several_results_come_as_a_tuple():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    two = (x * y).grad_fn(torch.ones(2))
    assert type(two) is tuple and len(two) == 2, f"expected a tuple of two, got {two!r}"
    assert [r.tolist() for r in two] == [[3.0, 4.0], [1.0, 2.0]]


@pytest.mark.hole("02.4")
def test_no_result_is_an_empty_tuple():
    class Ends(NaryNode):
        def apply_tensors(self, grads):
            return []

    given = Ends()(torch.ones(1))
    assert given == (), f"expected (), got {given!r}"


@pytest.mark.hole("02.4")
def test_the_gradient_is_handed_over_as_it_came():
    x = leaf([1.0, 2.0])
    given = (x * 3).grad_fn(torch.tensor([1.0, 10.0]))
    given = given[0] if isinstance(given, tuple) else given  # the other factor is a number
    assert given.tolist() == [3.0, 30.0], f"expected [3, 30], got {given.tolist()}"


@pytest.mark.hole("02.4")
def test_results_for_inputs_without_gradient_are_none():
    x, constant = leaf([1.0, 2.0]), torch.ones(2)
    first, second = (constant * x).grad_fn(torch.ones(2))
    assert first is None and second.tolist() == [1.0, 1.0]


@pytest.mark.hole("02.4")
def test_what_a_node_gives_can_be_differentiated():
    x = leaf([3.0])
    node = (x**2).grad_fn
    slope = node(torch.ones(1))
    assert slope.requires_grad, "expected a result that remembers how it was made"
    (curvature,) = torch.autograd.grad(slope, x)
    assert curvature.tolist() == [2.0], f"expected [2], got {curvature.tolist()}"


@pytest.mark.hole("02.4")
@pytest.mark.parametrize("count", [0, 2, 3])
def test_the_number_of_gradients_is_checked(count):
    node = leaf([3.0]).exp().grad_fn
    with pytest.raises(TypeError) as raised:
        node(*[torch.ones(1)] * count)
    assert str(raised.value) == f"expected 1 arguments, got {count} instead"


@pytest.mark.hole("02.4")
def test_a_node_of_several_outputs_takes_one_gradient_for_each():
    node = leaf([1.0, 2.0, 3.0]).unbind(0)[0].grad_fn
    given = node(torch.tensor(1.0), torch.tensor(3.0), torch.tensor(5.0))
    assert given.tolist() == [1.0, 3.0, 5.0], f"got {given.tolist()}"
    with pytest.raises(TypeError) as raised:
        node(torch.tensor(1.0))
    assert str(raised.value) == "expected 3 arguments, got 1 instead"


@pytest.mark.hole("02.4")
def test_none_is_accepted_as_a_gradient():
    node = leaf([1.0, 2.0, 3.0]).unbind(0)[0].grad_fn
    given = node(torch.tensor(1.0), None, torch.tensor(5.0))
    assert given.tolist() == [1.0, 0.0, 5.0], f"got {given.tolist()}"


@pytest.mark.hole("02.4")
@pytest.mark.parametrize("wrong", [1.0, np.ones(1), [1.0]], ids=["a float", "an array", "a list"])
def test_a_gradient_has_to_be_a_tensor(wrong):
    node = leaf([3.0]).exp().grad_fn
    with pytest.raises(TypeError) as raised:
        node(wrong)
    assert str(raised.value) == "argument 0 is not a Variable"


@pytest.mark.hole("02.4")
def test_the_error_says_which_gradient_is_wrong():
    node = leaf([1.0, 2.0, 3.0]).unbind(0)[0].grad_fn
    with pytest.raises(TypeError) as raised:
        node(torch.tensor(1.0), None, 2.0)
    assert str(raised.value) == "argument 2 is not a Variable"


@pytest.mark.hole("02.4")
def test_a_backward_pass_by_hand():
    a, b = leaf([3.0]), leaf([2.0])
    c, d = a**2, b**2
    e = c * d
    f = d + e
    to_d, to_e = f.grad_fn(torch.tensor([1.0]))
    to_c, more_to_d = e.grad_fn(to_e)
    assert c.grad_fn(to_c).tolist() == [24.0]
    assert d.grad_fn(to_d + more_to_d).tolist() == [40.0]


# ---------------------------------------------------------------- 02.5 accumulate


@pytest.mark.hole("02.5")
def test_the_first_gradient_becomes_grad():
    x = leaf([1.0, 2.0])
    give(x, [3.0, 4.0])
    assert isinstance(x.grad, torch.Tensor), f"expected a tensor, got {x.grad!r}"
    assert x.grad.tolist() == [3.0, 4.0], f"got {x.grad.tolist()}"
    assert not x.grad.requires_grad and x.grad.is_leaf


@pytest.mark.hole("02.5")
def test_the_first_gradient_is_no_addition():
    x = leaf([1.0, 2.0])
    give(x, [-0.0, 4.0])
    assert x.grad._version == 0, f"a new .grad was written to {x.grad._version} times"
    assert np.signbit(x.grad.numpy()[0]), "0. was added to -0."


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("owned", [False, True], ids="owned={}".format)
def test_a_gradient_of_zeros_is_a_gradient(owned):
    x = leaf([1.0, 2.0])
    give(x, [0.0, 0.0], owned)
    assert x.grad is not None and x.grad.tolist() == [0.0, 0.0]


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("owned", [False, True], ids="owned={}".format)
def test_later_gradients_are_added(owned):
    x = leaf([1.0, 2.0])
    for values in ([1.0, 10.0], [2.0, 20.0], [4.0, 40.0]):
        give(x, values, owned)
    assert x.grad.tolist() == [7.0, 70.0], f"expected [7, 70], got {x.grad.tolist()}"


@pytest.mark.hole("02.5")
def test_a_leaf_without_dimensions():
    x = leaf(2.0)
    for value in 1.0, 10.0, 100.0:
        give(x, value)
    assert x.grad.shape == () and x.grad.item() == 111.0
    assert type(x.grad.numpy()) is np.ndarray


@pytest.mark.hole("02.5")
def test_a_borrowed_array_is_neither_kept_nor_written_to():
    x = leaf([1.0, 2.0])
    borrowed = give(x, [3.0, 4.0])
    assert not np.shares_memory(borrowed, x.grad._array), ".grad is the borrowed array itself"
    give(x, [10.0, 10.0])
    assert borrowed.tolist() == [3.0, 4.0], "the second gradient was added to a borrowed array"
    borrowed[:] = -1.0
    assert x.grad.tolist() == [13.0, 14.0], f"got {x.grad.tolist()}"


@pytest.mark.hole("02.5")
def test_a_later_borrowed_array_is_not_written_to_either():
    x = leaf([1.0, 2.0])
    give(x, [3.0, 4.0])
    borrowed = give(x, [10.0, 20.0])
    assert borrowed.tolist() == [10.0, 20.0], f"the borrowed array became {borrowed.tolist()}"
    assert not np.shares_memory(borrowed, x.grad._array), ".grad is the borrowed array itself"


@pytest.mark.hole("02.5")
def test_gradients_of_a_sum_are_three_arrays():
    a, b, g = leaf([1.0, 2.0]), leaf([3.0, 4.0]), torch.tensor([5.0, 6.0])
    (a + b).backward(g)
    a.grad.zero_()
    assert b.grad.tolist() == [5.0, 6.0], "a.grad and b.grad are one array"
    assert g.tolist() == [5.0, 6.0], "a.grad is the array that the caller gave"


@pytest.mark.hole("02.5")
def test_an_owned_view_of_an_array_that_somebody_holds_is_copied():
    x = leaf([1.0, 2.0, 3.0])
    whole = np.ones(6, np.float32)
    x._accumulator().accumulate(whole[:3], True)
    whole[:] = 9.0
    assert x.grad.tolist() == [1.0, 1.0, 1.0], f"got {x.grad.tolist()}"


@pytest.mark.hole("02.5")
def test_later_gradients_are_added_in_place():
    x = leaf([1.0, 2.0])
    give(x, [1.0, 2.0])
    kept = x.grad
    give(x, [10.0, 20.0])
    assert x.grad is kept, "expected the same tensor in .grad, got a new one"
    assert kept.tolist() == [11.0, 22.0]


@pytest.mark.hole("02.5")
def test_each_addition_in_place_is_counted_as_a_write():
    x = leaf([1.0, 2.0])
    give(x, [1.0, 2.0])
    before = x.grad._version
    give(x, [10.0, 20.0])
    give(x, [10.0, 20.0])
    assert x.grad._version == before + 2, f"expected {before + 2}, got {x.grad._version}"


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("owned", [False, True], ids="owned={}".format)
def test_grad_takes_the_layout_of_a_dense_leaf(owned):
    x = layout_leaf(np.ones((2, 3), np.float32).T)
    x._accumulator().accumulate(np.arange(6, dtype=np.float32).reshape(3, 2).copy(), owned)
    assert x.grad.stride() == (1, 3), f"expected the leaf's (1, 3), got {x.grad.stride()}"
    assert x.grad.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("owned", [False, True], ids="owned={}".format)
def test_grad_of_a_leaf_with_gaps_is_row_major(owned):
    x = layout_leaf(np.ones((3, 8), np.float32)[:, ::2])
    given = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    x._accumulator().accumulate(given, owned)
    assert x.grad.stride() == (4, 1), f"expected (4, 1), got {x.grad.stride()}"
    assert x.grad[1].tolist() == [4.0, 5.0, 6.0, 7.0]


@pytest.mark.hole("02.5")
def test_a_leaf_with_gaps_in_another_order():
    x = layout_leaf(np.ones((4, 6), np.float32).T[:, ::2])
    give(x, np.ones((6, 2)))
    assert x.grad.stride() == (2, 1), f"expected (2, 1), got {x.grad.stride()}"


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("values", [
    pytest.param(np.ones((2, 3)), id="that is dense"),
    pytest.param(np.ones((2, 6))[:, ::2], id="with gaps in memory")])
def test_grad_has_the_dtype_of_the_gradient(values):
    x = layout_leaf(values.astype(np.float32))
    x._accumulator().accumulate(np.full((2, 3), 0.1), False)
    assert x._grad._array.dtype == np.float64, f"expected float64, got {x._grad._array.dtype}"
    assert x._grad.tolist() == [[0.1] * 3] * 2


def gradient_meanwhile(theirs, hand_over):
    """Let another thread bring a gradient while ours waits for the lock; return leaf and lock."""
    x = leaf([1.0])
    lock = Lock(lambda: setattr(x, "_grad", theirs))
    accumulate._leaf_locks[:] = [lock] * 64
    hand_over(x)
    return x, lock


@pytest.mark.hole("02.5")
def test_the_leaf_s_lock_is_taken_and_given_back():
    _, lock = gradient_meanwhile(torch.tensor([5.0]), lambda x: give(x, [3.0]))
    assert lock.taken == 1 and not lock.held, "the leaf's lock is to be taken once and given back"


@pytest.mark.hole("02.5")
def test_another_thread_may_have_brought_a_gradient_first():
    theirs = torch.tensor([5.0])
    x, _ = gradient_meanwhile(theirs, lambda x: give(x, [3.0]))
    assert x.grad is theirs and x.grad.tolist() == [8.0], f"expected 5 + 3, got {x.grad.tolist()}"


@pytest.mark.hole("02.5")
def test_the_lock_is_that_of_the_leaf():
    x = leaf([1.0])
    locks = accumulate._leaf_locks
    give(x, [3.0])
    give(x, [3.0])
    taken = [place for place, lock in enumerate(locks) if lock.taken]
    assert taken == [(id(x) >> 4) & 63], f"taken: {taken}, expected {(id(x) >> 4) & 63}"
    assert not any(lock.held for lock in locks), "the lock was not given back"


@pytest.mark.hole("02.5")
def test_a_variable_that_no_longer_requires_grad_gets_nothing():
    x = leaf([1.0])
    node = x._accumulator()
    x.requires_grad_(False)
    node.accumulate(np.ones(1, np.float32), False)
    assert x.grad is None, f"expected None, got {x.grad}"
    x.requires_grad_(True)
    node.accumulate(np.ones(1, np.float32), False)
    assert x.grad.tolist() == [1.0]


@pytest.mark.hole("02.5")
def test_a_variable_that_is_no_leaf_any_more_is_refused():
    x = leaf([1.0])
    node, seen = x._accumulator(), []
    type(node).check_is_leaf, kept = lambda self: seen.append(x.grad), type(node).check_is_leaf
    try:
        node.accumulate(np.ones(1, np.float32), False)
        node.accumulate(np.ones(1, np.float32), False)
    finally:
        type(node).check_is_leaf = kept
    assert seen, "check_is_leaf was not called"
    assert seen[0] is None, ".grad was touched before check_is_leaf was called"
    assert len(seen) == 2, "check_is_leaf was not called for the second gradient"


@pytest.mark.hole("02.5")
@pytest.mark.parametrize("owned", [False, True], ids="owned={}".format)
def test_a_number_repeated_without_memory_becomes_real_memory(owned):
    x = leaf([1.0, 2.0, 3.0])
    x._accumulator().accumulate(np.broadcast_to(np.float32(2.0), (3,)), owned)
    assert x.grad.stride() == (1,), f"expected (1,), got {x.grad.stride()}"
    give(x, [1.0, 2.0, 3.0])
    assert x.grad.tolist() == [3.0, 4.0, 5.0]


@pytest.mark.hole("02.5")
def test_a_grad_with_a_history_is_added_to_in_place():
    x = leaf([1.0, 2.0])
    old = leaf([5.0, 5.0])
    x.grad = old
    give(x, [1.0, 2.0])
    assert x.grad is old and old.tolist() == [6.0, 7.0], f"got {x.grad.tolist()}"
    assert old.requires_grad


@pytest.mark.hole("02.5")
def test_backward_twice_adds_up():
    x = leaf([1.0, 2.0, 3.0])
    for _ in range(2):
        (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0, 12.0], f"got {x.grad.tolist()}"


@pytest.mark.hole("02.5")
def test_a_later_gradient_is_added_while_the_lock_is_held(monkeypatch):
    x, held, add = leaf([1.0]), [], accumulate.add_to

    def noting(current, grad):
        held.append(any(lock.held for lock in accumulate._leaf_locks))
        add(current, grad)

    monkeypatch.setattr(accumulate, "add_to", noting)
    give(x, [3.0])
    give(x, [4.0])
    assert held, "add_to did not run"
    assert all(held), "add_to ran without the leaf's lock"


# ---------------------------------------------------------------- 02.6 gradients with a history


def give_tensor(x, grad):
    return x._accumulator().apply_tensors((grad,))


@pytest.mark.hole("02.6")
def test_no_gradient_changes_nothing():
    x = leaf([2.0, 3.0])
    assert tuple(give_tensor(x, None)) == ()
    assert x.grad is None
    give_tensor(x, torch.ones(2))
    give_tensor(x, None)
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.hole("02.6")
def test_a_variable_that_is_no_leaf_any_more_is_refused_here_too():
    x = leaf([1.0])
    node, seen = x._accumulator(), []
    type(node).check_is_leaf, kept = lambda self: seen.append(x.grad), type(node).check_is_leaf
    try:
        node.apply_tensors((torch.ones(1),))
    finally:
        type(node).check_is_leaf = kept
    assert seen, "check_is_leaf was not called"
    assert seen[0] is None, ".grad was touched before check_is_leaf was called"


@pytest.mark.hole("02.6")
def test_a_gradient_keeps_its_history():
    x = leaf([2.0, 3.0])
    w = leaf([5.0, 7.0])
    give_tensor(x, w * w)
    assert x.grad.tolist() == [25.0, 49.0]
    assert x.grad.requires_grad, "the gradient forgot how it was made"
    x.grad.sum().backward()
    assert w.grad.tolist() == [10.0, 14.0], f"got {w.grad.tolist()}"


@pytest.mark.hole("02.6")
@pytest.mark.parametrize("values", [[2.0, 3.0], 2.0, [[2.0], [3.0]]],
                         ids=["(2,)", "()", "(2, 1)"])
def test_grad_with_a_history_has_the_dtype_of_the_gradient(values):
    x, w = leaf(values), torch.tensor(values, dtype=torch.float64, requires_grad=True)
    for count in 1, 2:
        give_tensor(x, w * 5)
        assert x._grad.dtype is torch.float64, f"expected float64, got {x._grad.dtype}"
        assert x._grad.tolist() == (w * 5 * count).tolist() and x._grad.requires_grad


@pytest.mark.hole("02.6")
def test_gradients_with_a_history_are_added_with_both_histories():
    x, w = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    give_tensor(x, w * 2)
    give_tensor(x, w * 3)
    assert x.grad.tolist() == [25.0, 35.0], f"got {x.grad.tolist()}"
    x.grad.sum().backward()
    assert w.grad.tolist() == [5.0, 5.0], f"expected 2 + 3, got {w.grad.tolist()}"


@pytest.mark.hole("02.6")
def test_the_earlier_grad_stays_as_it_was():
    x, w = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    give_tensor(x, w * 2)
    kept = x.grad
    give_tensor(x, w * 3)
    assert x.grad is not kept
    assert kept.tolist() == [10.0, 14.0], f"the earlier .grad became {kept.tolist()}"


@pytest.mark.hole("02.6")
def test_the_given_tensor_does_not_become_grad_itself():
    x, g = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    give_tensor(x, g)
    assert x.grad is not g
    assert not np.shares_memory(x.grad._array, g._array), ".grad shares memory with the gradient"
    assert x.grad.tolist() == [5.0, 7.0]


@pytest.mark.hole("02.6")
def test_the_sum_keeps_the_strides_of_the_earlier_grad():
    x, w = layout_leaf(np.zeros((2, 3))), leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x.grad = torch.Tensor._plain(np.ones((3, 2)).T)
    give_tensor(x, (w * 2).double())
    assert x.grad.tolist() == [[3.0, 5.0, 7.0], [9.0, 11.0, 13.0]]
    assert x.grad.stride() == (1, 2), f"expected strides (1, 2), got {x.grad.stride()}"


@pytest.mark.hole("02.6")
def test_a_plain_gradient_after_one_with_a_history():
    x, w = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    give_tensor(x, w * 2)
    give_tensor(x, torch.tensor([1.0, 1.0]))
    assert x.grad.tolist() == [11.0, 15.0], f"got {x.grad.tolist()}"
    x.grad.sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]


@pytest.mark.hole("02.6")
def test_the_leaf_s_lock_is_taken_and_given_back_here_too():
    w = leaf([5.0])
    _, lock = gradient_meanwhile(w * 2, lambda x: give_tensor(x, w * 3))
    assert lock.taken == 1 and not lock.held, "the leaf's lock is to be taken once and given back"


@pytest.mark.hole("02.6")
def test_another_thread_may_have_brought_its_gradient_first():
    w = leaf([5.0])
    x, _ = gradient_meanwhile(w * 2, lambda x: give_tensor(x, w * 3))
    assert x.grad.tolist() == [25.0], f"expected 10 + 15, got {x.grad.tolist()}"


@pytest.mark.hole("02.6")
def test_gradients_for_what_no_longer_requires_grad():
    x, w = leaf([1.0]), leaf([5.0])
    node = x._accumulator()
    x.requires_grad_(False)
    assert tuple(node.apply_tensors((w * 2,))) == ()
    assert x.grad is None, f"expected None, got {x.grad}"
    x.requires_grad_(True)
    node.apply_tensors((w * 2,))
    assert x.grad.tolist() == [10.0]


@pytest.mark.hole("02.6")
def test_gradients_without_a_history():
    x, g = leaf([2.0, 3.0]), torch.tensor([1.0, 10.0])
    give_tensor(x, g)
    assert not x.grad.requires_grad
    give_tensor(x, g)
    assert x.grad.tolist() == [2.0, 20.0], f"got {x.grad.tolist()}"


@pytest.mark.hole("02.6")
def test_a_given_tensor_is_not_written_to():
    x, g = leaf([2.0, 3.0]), torch.tensor([1.0, 10.0])
    for _ in range(3):
        give_tensor(x, g)
    assert g.tolist() == [1.0, 10.0], "the given tensor was written to"


@pytest.mark.hole("02.6")
def test_where_nothing_is_recorded_it_is_added_in_place():
    x, w = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    give_tensor(x, torch.ones(2))
    kept = x.grad
    _state.grad_enabled.set(False)
    try:
        give_tensor(x, w)
    finally:
        _state.grad_enabled.set(True)
    assert x.grad is kept, "grad mode is off, but a new Tensor was made"
    assert kept.tolist() == [6.0, 8.0], f"expected [6, 8], got {kept.tolist()}"


@pytest.mark.hole("02.6")
def test_where_recording_is_on_the_sum_is_a_new_tensor():
    x = leaf([2.0, 3.0])
    give_tensor(x, torch.ones(2))
    kept = x.grad
    give_tensor(x, torch.ones(2))
    assert x.grad is not kept and kept.tolist() == [1.0, 1.0], "the earlier .grad was written to"
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.hole("02.6")
def test_a_leaf_gives_no_results():
    x, w = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    assert tuple(give_tensor(x, torch.ones(2))) == ()
    assert tuple(give_tensor(x, w * 1)) == ()


@pytest.mark.hole("02.6")
def test_the_first_grad_takes_the_layout_of_a_dense_leaf():
    x = layout_leaf(np.ones((2, 3), np.float32).T)
    g = torch.ones(3, 2, requires_grad=True)
    give_tensor(x, g * 2)
    assert x.grad.stride() == (1, 3), f"expected the leaf's (1, 3), got {x.grad.stride()}"


@pytest.mark.hole("02.6")
def test_the_first_grad_of_a_leaf_with_gaps_is_row_major():
    x = layout_leaf(np.ones((3, 8), np.float32)[:, ::2])
    g = layout_leaf(np.asfortranarray(np.ones((3, 4), np.float32)))
    give_tensor(x, g * 2)
    assert x.grad.stride() == (4, 1), f"expected (4, 1), got {x.grad.stride()}"


@pytest.mark.hole("02.6")
def test_a_second_derivative():
    x = leaf([2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the cycle that create_graph makes
        (x**3).sum().backward(create_graph=True)
    slope = x.grad
    x.grad = None
    slope.sum().backward()
    assert_close(x.grad.numpy(), [12.0], what="second derivative of x**3 at 2")
