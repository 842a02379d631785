"""Stage 03: gradients that meet, dependencies, the ready queue, pruning, and a whole pass."""

from heapq import heappop

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp

import minigrad as torch
from minigrad import _state
from minigrad.engine import engine
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import Gradient, InputBuffer
from minigrad.graph.node import GraphRoot, NaryNode

F32 = np.float32


@pytest.fixture(autouse=True)
def as_before():
    """The mode and the list of passes under way are left as they were, also by broken engines."""
    yield
    _state.grad_enabled.set(True)
    engine._running.tasks.clear()


def leaf(values):
    return torch.tensor(values, requires_grad=True)


def array(*values):
    return np.array(values, F32)


def wired(kind, *edges):
    """A node without a formula, joined to others."""
    node = kind()
    node.set_edges(list(edges))
    return node


def end():
    return wired(NaryNode)


def counted(*roots):
    """What `count_dependencies` finds behind some nodes, the root itself aside."""
    task = GraphTask(False, False)
    root = GraphRoot([(node, 0) for node in roots], [None] * len(roots))
    task.count_dependencies(root)
    return {node: count for node, count in task.dependencies.items() if node is not root}


def started(outputs, keep=False, create=False, task=None):
    """A pass from scalar outputs, ready to run: the task and its root."""
    grads = [np.ones(y.shape, F32) for y in outputs]
    grads = [torch.Tensor._plain(g) for g in grads] if create else grads
    root = GraphRoot([y._edge() for y in outputs], grads)
    return GraphTask(keep, create, on_tensors=create), root


def run(*outputs, keep=False, create=False):
    task, root = started(outputs, keep, create)
    task.count_dependencies(root)
    task.run(root)
    return task


def pruned(outputs, inputs, capture=True, keep=False):
    """Run a pass for `inputs` alone; returns what was captured for each."""
    task, root = started(outputs, keep)
    edges = [x._edge() for x in inputs]
    task.find_nodes_to_execute(root, {node for node, _ in edges})
    if capture:
        for position, (node, index) in enumerate(edges):
            task.captures.setdefault(node, {}).setdefault(index, []).append(position)
    task.count_dependencies(root)
    task.run(root)
    return [task.captured.get(position) for position in range(len(inputs))]


def ready_nodes(task):
    ready, nodes = list(task.ready), []
    while ready:
        nodes.append(heappop(ready)[2])
    return nodes


# ---------------------------------------------------------------- 03.1 gradients that meet


@pytest.mark.hole("03.1")
def test_the_first_gradient_is_kept():
    buffer, grad = InputBuffer(1), array(1, 2)
    buffer.add(0, Gradient(grad))
    assert buffer.grads[0] is grad, f"expected the array that was given, got {buffer.grads[0]}"


@pytest.mark.hole("03.1")
@pytest.mark.parametrize("owned", [(False,) * 3, (True,) * 3, (True, False, True),
                                   (False, True, False)], ids=str)
def test_gradients_for_one_output_add_up(owned):
    buffer = InputBuffer(1)
    for own, values in zip(owned, [(1, 10), (2, 20), (4, 40)], strict=True):
        buffer.add(0, Gradient(array(*values), own))
    assert buffer.grads[0].tolist() == [7, 70], f"expected [7, 70], got {buffer.grads[0]}"


@pytest.mark.hole("03.1")
def test_each_output_has_its_own_place():
    buffer = InputBuffer(3)
    buffer.add(2, Gradient(array(1)))
    buffer.add(0, Gradient(array(10)))
    buffer.add(2, Gradient(array(2)))
    assert buffer.grads[0].tolist() == [10] and buffer.grads[2].tolist() == [3]
    assert buffer.grads[1] is None, f"nothing came for output 1, got {buffer.grads[1]}"


@pytest.mark.hole("03.1")
def test_borrowed_arrays_are_not_written_to():
    buffer, first, second, third = InputBuffer(1), array(1, 1), array(2, 2), array(4, 4)
    for given in first, second, third:
        buffer.add(0, Gradient(given))
    assert buffer.grads[0].tolist() == [7, 7]
    for given, value in ((first, 1), (second, 2), (third, 4)):
        assert given.tolist() == [value, value], f"a borrowed array became {given.tolist()}"


@pytest.mark.hole("03.1")
def test_what_comes_second_is_not_written_to_even_when_owned():
    buffer, second = InputBuffer(1), array(2, 2)
    buffer.add(0, Gradient(array(1, 1)))
    buffer.add(0, Gradient(second, True))
    buffer.add(0, Gradient(array(4, 4), True))
    assert second.tolist() == [2, 2] and buffer.grads[0].tolist() == [7, 7]


@pytest.mark.hole("03.1")
def test_a_view_is_not_written_to():
    whole = np.ones(4, F32)
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(whole[:2], True))
    buffer.add(0, Gradient(array(5, 5), True))
    assert whole.tolist() == [1] * 4, f"the array behind a view became {whole.tolist()}"
    assert buffer.grads[0].tolist() == [6, 6]


@pytest.mark.hole("03.1")
@pytest.mark.parametrize("owned", [False, True])
def test_the_first_gradient_is_owned_if_the_caller_says_so(owned):
    buffer = InputBuffer(2)
    buffer.add(1, Gradient(array(1), owned))
    assert buffer.owned == [False, owned], f"expected {[False, owned]}, got {buffer.owned}"


@pytest.mark.hole("03.1")
def test_sums_of_arrays_without_dimensions_are_arrays():
    buffer = InputBuffer(1)
    for value in 1, 2, 4:
        buffer.add(0, Gradient(np.array(value, F32)))
    assert type(buffer.grads[0]) is np.ndarray, f"got a {type(buffer.grads[0]).__name__}"
    assert buffer.grads[0] == 7


def sum_of_tensors():
    """Return the buffer to which two Tensors were added, and both."""
    a, b = leaf([1.0]), leaf([2.0])
    first, second = a * 3, b * 5
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(first, True))
    buffer.add(0, Gradient(second, True))
    return buffer, first, second


@pytest.mark.hole("03.1")
def test_a_tensor_is_not_written_to():
    _, first, second = sum_of_tensors()
    assert first.tolist() == [3.0], f"the first tensor was written to: {first.tolist()}"
    assert second.tolist() == [10.0], f"the second tensor was written to: {second.tolist()}"


@pytest.mark.hole("03.1")
def test_sums_of_tensors_have_the_history_of_both():
    buffer, first, second = sum_of_tensors()
    total = buffer.grads[0]
    assert isinstance(total, torch.Tensor), f"expected a Tensor, got a {type(total).__name__}"
    assert total.tolist() == [13.0] and total.requires_grad
    assert {node for node, _ in total.grad_fn.next_functions} == {first.grad_fn, second.grad_fn}


# ---------------------------------------------------------------- 03.2 dependencies


@pytest.mark.hole("03.2")
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_edges_that_lead_nowhere(first):
    last = end()
    edges = [(None, 0), (last, 0)]
    node = wired(NaryNode, *(edges if first else edges[::-1]))
    assert counted(node) == {node: 1, last: 1}


@pytest.mark.hole("03.2")
def test_a_chain():
    last = end()
    middle = wired(NaryNode, (last, 0))
    first = wired(NaryNode, (middle, 0))
    assert counted(first) == {first: 1, middle: 1, last: 1}


@pytest.mark.hole("03.2")
def test_edges_are_counted_and_not_nodes():
    last = end()
    square = wired(NaryNode, (last, 0), (last, 0))
    found = counted(square)
    assert found[last] == 2, f"two edges lead to the last node, but {found[last]} were counted"
    assert found == {square: 1, last: 2}


@pytest.mark.hole("03.2")
def test_the_root_has_no_entry():
    task, last = GraphTask(False, False), end()
    root = GraphRoot([(last, 0)], [None])
    task.count_dependencies(root)
    assert root not in task.dependencies, "nothing leads to the root: it gets no entry"
    assert task.dependencies[last] == 1


@pytest.mark.hole("03.2")
def test_a_fork_that_joins_again():
    last = end()
    shared = wired(NaryNode, (last, 0))
    left, right = wired(NaryNode, (shared, 0)), wired(NaryNode, (shared, 0))
    top = wired(NaryNode, (left, 0), (right, 0))
    found = counted(top)
    assert found == {top: 1, left: 1, right: 1, shared: 2, last: 1}, \
        f"the last node has one edge, counted were {found.get(last)}"


@pytest.mark.hole("03.2")
def test_the_edges_of_the_root_count_too():
    last = end()
    first = wired(NaryNode, (last, 0))
    assert counted(first, last, first) == {first: 2, last: 2}


@pytest.mark.hole("03.2")
def test_different_outputs_of_a_node_are_edges_to_one_node():
    last = end()
    node = wired(NaryNode, (last, 0), (last, 1), (last, 2))
    assert counted(node) == {node: 1, last: 3}


@pytest.mark.hole("03.2")
def test_a_ladder():
    rungs = [end()]
    for _ in range(10):
        rungs.append(wired(NaryNode, (rungs[-1], 0), (rungs[-1], 0)))
    found = counted(rungs[-1])
    wanted = {rung: 2 for rung in rungs} | {rungs[-1]: 1}
    assert found == wanted, f"expected two edges into each rung, got {list(found.values())}"


@pytest.mark.hole("03.2")
def test_a_long_chain():
    node = end()
    for _ in range(3000):
        node = wired(NaryNode, (node, 0))
    assert set(counted(node).values()) == {1}


# ---------------------------------------------------------------- 03.3 the ready queue


@pytest.mark.hole("03.3")
def test_nodes_with_equal_numbers():
    task, leaves = GraphTask(False, False), [leaf(1.0) for _ in range(3)]
    ends = sorted([x._accumulator() for x in leaves], key=id, reverse=True)
    for node in ends:
        task.push(node)
    assert ready_nodes(task) == ends, "of equal numbers, the first that was pushed comes first"


@pytest.mark.hole("03.3")
def test_the_latest_node_comes_first():
    task, nodes = GraphTask(False, False), [end() for _ in range(5)]
    for node, sequence in zip(nodes, [3, 1, 4, 0, 2], strict=True):
        node.sequence = sequence
        task.push(node)
    order = [node.sequence for node in ready_nodes(task)]
    assert order == [4, 3, 2, 1, 0], f"expected the latest first, got {order}"


@pytest.mark.hole("03.3")
def test_what_is_on_the_queue():
    task, node = GraphTask(False, False), end()
    node.sequence = 7
    task.push(node)
    ((number, _, pushed),) = task.ready
    assert (number, pushed) == (-7, node), f"got {task.ready}"


def waiting(count, outputs=1):
    """Return a task and a node that waits for some gradients."""
    node, task = end(), GraphTask(False, False)
    node.sequence, node.num_inputs = 5, outputs
    task.dependencies[node] = count
    return task, node


@pytest.mark.hole("03.3")
def test_a_node_waits_for_its_last_gradient():
    task, node = waiting(3)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, Gradient(array(2)))
    assert not task.ready, "the node was pushed before its last gradient came"


@pytest.mark.hole("03.3")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_node_is_ready_once_all_gradients_came(count):
    task, node = waiting(count)
    for _ in range(count):
        task.add_to_buffer(node, 0, Gradient(array(1)))
    assert ready_nodes(task) == [node], "all gradients came, but the node is not on the queue once"


@pytest.mark.hole("03.3")
def test_gradients_for_one_node_meet_in_its_buffer():
    task, node = waiting(2)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, Gradient(array(2)))
    got = task.buffers[node].grads[0].tolist()
    assert got == [3], f"expected [3], got {got}"


@pytest.mark.hole("03.3")
def test_each_delivery_is_counted_down():
    task, node = waiting(3)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    assert task.dependencies[node] == 2, f"expected 2 left, got {task.dependencies[node]}"


@pytest.mark.hole("03.3")
def test_a_gradient_that_is_none_is_counted():
    node, task = end(), GraphTask(False, False)
    node.sequence = 5
    task.dependencies[node] = 2
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, None)
    assert ready_nodes(task) == [node], "None stands for a gradient of zero, and counts"
    assert task.buffers[node].grads[0].tolist() == [1]


@pytest.mark.hole("03.3")
def test_a_node_to_which_only_none_came_is_ready_too():
    node, task = end(), GraphTask(False, False)
    node.sequence = 5
    task.dependencies[node] = 1
    task.add_to_buffer(node, 0, None)
    assert ready_nodes(task) == [node]
    assert list(task.buffers[node].grads) == [None]


@pytest.mark.hole("03.3")
def test_gradients_of_several_outputs():
    node, task = end(), GraphTask(False, False)
    node.sequence, node.num_inputs = 5, 3
    task.dependencies[node] = 2
    task.add_to_buffer(node, 2, Gradient(array(7)))
    task.add_to_buffer(node, 0, Gradient(array(8)))
    grads = task.buffers[node].grads
    assert [g if g is None else g.tolist() for g in grads] == [[8], None, [7]]


def with_one_needed():
    """Deliver to a node that is not needed and to one that is; return the task and both."""
    task, node = waiting(1)
    other = end()
    other.sequence = 5
    task.dependencies[other] = 1
    task.nodes_to_execute = {other}
    task.add_to_buffer(node, 0, Gradient(array(1)))
    return task, node, other


@pytest.mark.hole("03.3")
def test_a_node_that_is_not_needed_is_not_pushed():
    task, _, _ = with_one_needed()
    assert not task.ready, "a node that is not needed was pushed"


@pytest.mark.hole("03.3")
def test_an_empty_set_needs_no_node():
    task, node = waiting(1)
    task.nodes_to_execute = set()
    task.add_to_buffer(node, 0, Gradient(array(1)))
    assert not task.ready, "no node is needed, but one was pushed"


@pytest.mark.hole("03.3")
def test_the_buffer_of_a_node_that_is_not_needed_goes():
    task, node, _ = with_one_needed()
    assert node not in task.buffers, "its buffer is of no use and has to go"


@pytest.mark.hole("03.3")
def test_a_node_that_is_needed_is_pushed():
    task, _, other = with_one_needed()
    task.add_to_buffer(other, 0, Gradient(array(1)))
    assert ready_nodes(task) == [other]


@pytest.mark.hole("03.3")
def test_what_is_said_of_ownership_arrives():
    node, task = end(), GraphTask(False, False)
    node.sequence, node.num_inputs = 5, 2
    task.dependencies[node] = 2
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 1, Gradient(array(1), True))
    assert task.buffers[node].owned == [False, True]


# ---------------------------------------------------------------- 03.4 running


@pytest.mark.hole("03.4")
def test_a_gradient_comes_to_the_leaf_once():
    x = leaf([4.0, 5.0])
    run(x * 3.0)
    assert x.grad is not None, "the pass ended and .grad is still None"
    assert_close(x.grad.numpy(), [3.0, 3.0], what="x.grad")


@pytest.mark.hole("03.4")
def test_hooks_that_wait_for_grad_run():
    x, seen = leaf([4.0]), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    run(x * 3.0)
    assert seen == [[3.0]], f"expected [[3]], got {seen}"


@pytest.mark.hole("03.4")
def test_no_buffer_and_no_node_is_left():
    task = run(leaf([4.0]) * 3.0)
    assert not task.buffers, "a buffer stays behind after the pass"
    assert not task.ready, "a node is still on the queue after the pass"


@pytest.mark.hole("03.4")
def test_hooks_see_the_gradient():
    x, seen = leaf([1.0]), []
    y = x * 2.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    run(y * 5.0)
    assert seen == [[5.0], [10.0]], f"expected [[5], [10]], got {seen}"


@pytest.mark.hole("03.4")
def test_a_hook_changes_the_gradient():
    x = leaf([1.0])
    y = x * 2.0
    y.register_hook(lambda g: g * 10)
    run(y * 1.0)
    assert x.grad.tolist() == [20.0], f"expected [20], got {x.grad}"


@pytest.mark.hole("03.4")
def test_a_hook_changes_the_gradient_of_a_leaf():
    x = leaf([1.0])
    x.register_hook(lambda g: g * 10)
    run(x * 2.0)
    assert x.grad.tolist() == [20.0], f"expected [20], got {x.grad}"


@pytest.mark.hole("03.4")
def test_a_shared_node_runs_once_with_the_sum():
    x, seen = leaf([3.0]), []
    shared = x * 1.0
    shared.register_hook(lambda g: seen.append(g.tolist()))
    run(shared * 2.0 + shared * 5.0)
    assert seen == [[7.0]], f"expected one call with [7], got {seen}"
    assert x.grad.tolist() == [7.0]


@pytest.mark.hole("03.4")
def test_a_ladder_of_sums():
    x, calls = leaf([1.0]), []
    y = x * 1.0
    for _ in range(12):
        y.register_hook(lambda g: calls.append(1))
        y = y + y
    run(y)
    assert x.grad.tolist() == [4096.0]
    assert len(calls) == 12, f"12 nodes are watched, but {len(calls)} calls came"


@pytest.mark.hole("03.4")
def test_what_was_saved_is_freed():
    x = leaf([3.0])
    y = x * x
    run(y)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        run(y)


@pytest.mark.hole("03.4")
def test_what_was_saved_is_kept_when_asked_for():
    x = leaf([3.0])
    y = x * x
    run(y, keep=True)
    run(y)
    assert x.grad.tolist() == [12.0], f"expected [12], got {x.grad}"


@pytest.mark.hole("03.4")
def test_several_outputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    run((x * x).sum(), y * 5.0, x.sum())
    assert x.grad.tolist() == [3.0, 5.0], f"expected [3, 5], got {x.grad}"
    assert y.grad.tolist() == [5.0]


@pytest.mark.hole("03.4")
def test_an_operation_with_several_results():
    x = leaf([1.0, 2.0, 3.0])
    first, _, third = x.unbind()
    run(third * 10.0 + first)
    assert x.grad.tolist() == [1.0, 0.0, 10.0], f"got {x.grad}"


@pytest.mark.hole("03.4")
def test_a_hook_keeps_what_it_saw():
    x, kept = leaf([1.0]), []

    def hook(g):
        kept.append(g)
        return g * 10

    y = x * 2.0
    y.register_hook(hook)
    run(y + y)
    assert kept[0].tolist() == [2.0], f"expected to see [2], got {kept[0].tolist()}"
    assert x.grad.tolist() == [40.0], f"expected [40], got {x.grad}"


@pytest.mark.hole("03.4")
def test_a_gradient_seen_by_a_hook_stays_as_it_was():
    x, kept = leaf([1.0]), []
    x.register_hook(kept.append)
    run(x * 2.0)
    run(x * 3.0)
    assert [g.tolist() for g in kept] == [[2.0], [3.0]], "a gradient that a hook kept has changed"


@pytest.mark.hole("03.4")
def test_a_long_chain_of_operations():
    x = leaf([1.0])
    y = x
    for _ in range(1500):
        y = y + 1.0
    run(y)
    assert x.grad.tolist() == [1.0]


@pytest.mark.hole("03.4")
def test_the_latest_operations_run_first():
    order = []
    x = leaf([1.0])
    parts = []
    for name in "abc":
        part = x * 2.0
        part.register_hook(lambda g, name=name: order.append(name))
        parts.append(part)
    run(parts[2] + parts[0] + parts[1])
    assert order == ["c", "b", "a"], f"expected c, b, a, got {order}"


@pytest.mark.hole("03.4")
def test_callbacks_run_after_all_nodes():
    order = []
    x = leaf([1.0])
    task, root = started([x * 2.0])
    x.register_hook(lambda g: order.append("leaf"))
    task.callbacks += [lambda: order.append("callback")]
    task.count_dependencies(root)
    task.run(root)
    assert order == ["leaf", "callback"], f"expected leaf, then callback; got {order}"
    assert not task.callbacks, "a callback is taken from the list when it is called"


@pytest.mark.hole("03.4")
def test_callbacks_run_in_order_and_may_add_others():
    order = []
    task, root = started([leaf([1.0]) * 2.0])

    def first():
        order.append("first")
        task.callbacks.append(lambda: order.append("third"))

    task.callbacks += [first, lambda: order.append("second")]
    task.count_dependencies(root)
    task.run(root)
    assert order == ["first", "second", "third"], f"got {order}"


@pytest.mark.hole("03.4")
def test_a_pass_on_tensors_leaves_a_graph():
    x = leaf([2.0])
    run(x**3, keep=True, create=True)
    assert x.grad.tolist() == [12.0] and x.grad.requires_grad
    slope = x.grad
    x.grad = None
    run(slope)
    assert x.grad.tolist() == [12.0], f"expected 6 * 2 = 12, got {x.grad}"


@pytest.mark.hole("03.4")
def test_a_node_that_is_not_needed_does_not_run():
    class Idle(GraphTask):
        def runs(self, node):
            return False

    y, ran = leaf([1.0]) * 2.0, []
    y.grad_fn.register_hook(lambda *_: ran.append(1))
    for needed in {leaf(1.0)._accumulator()}, set():
        task = Idle(False, False)
        task.nodes_to_execute = needed
        buffer = InputBuffer(1)
        buffer.grads[0] = array(1)
        task.evaluate(y.grad_fn, buffer)
        assert not ran, f"with {len(needed)} nodes needed, one that is not ran"


@pytest.mark.hole("03.4")
def test_anomaly_mode_watches_each_node(monkeypatch):
    watched, x = [], leaf([1.0])

    def watching(evaluate):
        return lambda node, buffer: (watched.append(node), evaluate(node, buffer))

    y = x * 2.0
    monkeypatch.setattr(_state.anomaly, "watched", watching)
    monkeypatch.setattr(_state.anomaly, "enabled", True)
    run(y)
    assert y.grad_fn in watched, "anomaly mode is on, but self.evaluate is not watched"
    assert x.grad.tolist() == [2.0]


@pytest.mark.hole("03.4")
def test_the_graph_with_a_fork():
    a, b = leaf([4.0]), leaf([3.0])
    d = b**2
    f = d + a**2 * d
    run(f)
    assert a.grad.tolist() == [72.0], f"expected [72], got {a.grad}"
    assert b.grad.tolist() == [102.0], f"expected [102], got {b.grad}"


@pytest.mark.hole("03.4")
def test_dynamic_graphs():
    def product_of_positive(x):
        result = torch.ones(())
        for element in x:
            if element.item() > 0:
                result = element * result
        return result

    x = leaf([2.0, 3.0, -1.0, 5.0])
    run(product_of_positive(x))
    assert x.grad.tolist() == [15.0, 10.0, 0.0, 6.0], f"got {x.grad}"


@pytest.mark.hole("03.4")
def test_against_differences():
    values = np.linspace(0.5, 1.5, 6).reshape(2, 3)

    def function(x):
        y = x * x + 1.0
        return y * y / x + y.exp()

    x = torch.tensor(values, requires_grad=True)
    y = x * x + 1.0
    z = (y * y / x + y.exp()).sum()
    root = GraphRoot([z._edge()], [np.ones(())])
    task = GraphTask(False, False)
    task.count_dependencies(root)
    task.run(root)
    numerical = lambda v: (v * v + 1) ** 2 / v + np.exp(v * v + 1)  # noqa: E731  # a formula
    (wanted,) = central_difference_vjp(numerical, [values], np.ones((2, 3)))
    assert_close(x.grad.numpy(), wanted, rtol=1e-5)


# ---------------------------------------------------------------- 03.5 only what is asked for


def restricted(goals, *roots):
    """What `find_nodes_to_execute` finds to be needed, the root aside, and whether the root is."""
    task = GraphTask(False, False)
    root = GraphRoot([(node, 0) for node in roots], [None] * len(roots))
    task.find_nodes_to_execute(root, set(goals))
    return set(task.nodes_to_execute) - {root}, root in task.nodes_to_execute


@pytest.mark.hole("03.5")
def test_the_nodes_on_the_way_are_needed():
    goal, aside = end(), end()
    middle = wired(NaryNode, (aside, 0), (goal, 0))
    first = wired(NaryNode, (middle, 0), (aside, 0))
    needed, _ = restricted([goal], first)
    assert needed >= {goal, middle, first}, "a node on the way to the goal is left out"
    assert aside not in needed, "a node from which no goal can be reached counts as needed"


@pytest.mark.hole("03.5")
def test_the_root_is_needed():
    goal = end()
    assert restricted([goal], wired(NaryNode, (goal, 0)))[1], "the root leads to the goal"


@pytest.mark.hole("03.5")
def test_what_lies_behind_the_goal_is_not_needed():
    last = end()
    goal = wired(NaryNode, (last, 0))
    needed, _ = restricted([goal], wired(NaryNode, (goal, 0)))
    assert last not in needed, "a node behind the goal counts as needed"


@pytest.mark.hole("03.5")
def test_a_node_that_is_shared_is_needed_by_both_ways():
    goal, aside = end(), end()
    shared = wired(NaryNode, (goal, 0))
    left, right = wired(NaryNode, (aside, 0), (shared, 0)), wired(NaryNode, (shared, 0))
    found = [restricted([goal], *roots)[0] for roots in ((left, right), (right, left))]
    assert found == [{goal, shared, left, right}] * 2


@pytest.mark.hole("03.5")
def test_edges_that_lead_nowhere_are_passed_over():
    goal = end()
    first = wired(NaryNode, (None, 0), (goal, 0))
    assert restricted([goal], first)[0] == {goal, first}


@pytest.mark.hole("03.5")
def test_a_goal_that_is_not_reached_is_needed_all_the_same():
    near, far = end(), end()
    task = GraphTask(False, False)
    root = GraphRoot([(wired(NaryNode, (near, 0)), 0)], [None])
    task.find_nodes_to_execute(root, {far})
    found = task.nodes_to_execute
    assert found == {far}, f"expected the goal alone, got {len(found)} nodes"


def captured(places):
    """What `capture` stores of the gradients of a node with three outputs."""
    task, node = GraphTask(False, False), end()
    task.captures[node] = places
    task.capture(node, ["of 0", "of 1", None])
    return task.captured


@pytest.mark.hole("03.5")
def test_capture_stores_the_gradient_of_each_output_under_its_position():
    got = captured({1: [0], 0: [5]})
    assert got == {0: "of 1", 5: "of 0"}, f"got {got}"


@pytest.mark.hole("03.5")
def test_capture_stores_it_under_every_position():
    got = captured({1: [0, 3, 4]})
    assert got == {0: "of 1", 3: "of 1", 4: "of 1"}, f"got {got}"


@pytest.mark.hole("03.5")
def test_captures_of_several_nodes_add_up():
    task, one, other = GraphTask(False, False), end(), end()
    task.captures |= {one: {0: [0]}, other: {0: [1]}}
    task.capture(one, ["of one"])
    task.capture(other, ["of other"])
    assert task.captured == {0: "of one", 1: "of other"}, f"got {task.captured}"


@pytest.mark.hole("03.5")
@pytest.mark.parametrize("entry, own, after, expected", [
    pytest.param(None, True, False, True, id="not captured, needed itself"),
    pytest.param(None, False, True, False, id="not captured, not needed itself"),
    pytest.param({0: [0]}, True, False, False, id="captured, nothing after it needed"),
    pytest.param({0: [0]}, True, True, True, id="captured, a node after it needed"),
    pytest.param({}, True, False, True, id="with an empty entry, needed itself")])
def test_which_nodes_run(entry, own, after, expected):
    last = end()
    node, task = wired(NaryNode, (None, 0), (last, 0)), GraphTask(False, False)
    task.nodes_to_execute = ({node} if own else set()) | ({last} if after else set())
    if entry is not None:
        task.captures[node] = entry
    assert bool(task.runs(node)) is expected, f"expected runs to be {expected}"


@pytest.mark.hole("03.5")
def test_gradients_are_captured_and_not_accumulated():
    a, b = leaf([2.0]), leaf([5.0])
    (to_a,) = pruned([a * b], [a])
    assert to_a.tolist() == [5.0], f"expected [5], got {to_a}"
    assert a.grad is None, f".grad of the input was filled with {a.grad}"
    assert b.grad is None, f".grad of a leaf that was not asked for was filled with {b.grad}"


@pytest.mark.hole("03.5")
def test_each_input_gets_its_own():
    a, b, c = leaf([2.0]), leaf([5.0]), leaf([7.0])
    found = pruned([a * b * c], [c, a, b])
    assert [g.tolist() for g in found] == [[10.0], [35.0], [14.0]], f"got {found}"


@pytest.mark.hole("03.5")
def test_a_result_and_the_leaf_behind_it():
    a, b = leaf([2.0]), leaf([0.5])
    c = a * b
    d = c * 3.0
    to_c, to_a = pruned([d], [c, a], keep=True)
    assert to_c.tolist() == [3.0] and to_a.tolist() == [1.5], f"got {to_c}, {to_a}"
    to_a, to_c = pruned([(a * b) * 3.0 + c * 0.0], [a, c])
    assert to_a.tolist() == [1.5] and to_c.tolist() == [0.0]


@pytest.mark.hole("03.5")
def test_a_gradient_is_the_sum_over_all_paths():
    a = leaf([2.0])
    c = a * 1.0
    (to_c,) = pruned([c * 3.0 + c * c], [c])
    assert to_c.tolist() == [7.0], f"expected [7], got {to_c}"


@pytest.mark.hole("03.5")
def test_an_input_asked_for_twice():
    a = leaf([2.0])
    first, second = pruned([a * 3.0], [a, a])
    assert first is not None and first.tolist() == [3.0]
    assert second is not None and second.tolist() == [3.0], f"got {second} the second time"


@pytest.mark.hole("03.5")
def test_what_does_not_lead_to_an_input_does_not_run():
    a, b, seen = leaf([2.0]), leaf([5.0]), []
    aside = b * 3.0
    aside.register_hook(lambda g: seen.append(g))
    aside.grad_fn.register_hook(lambda *_: seen.append("ran"))
    (to_a,) = pruned([a * 2.0 + aside], [a])
    assert to_a.tolist() == [2.0]
    assert not seen, "a part of the graph that leads to no input ran"


@pytest.mark.hole("03.5")
def test_what_lies_behind_the_input_does_not_run():
    a, seen = leaf([2.0]), []
    c = a.exp()
    c.grad_fn.register_hook(lambda *_: seen.append("ran"))
    (to_c,) = pruned([c * 3.0], [c])
    assert to_c.tolist() == [3.0]
    assert not seen, "the node of the input itself ran, though nothing behind it is asked for"
    assert a.grad is None


@pytest.mark.hole("03.5")
def test_the_numbers_of_outputs_are_told_apart():
    x = leaf([1.0, 2.0, 3.0])
    first, second, third = x.unbind()
    to_third, to_first = pruned([first * 5.0 + third * 7.0 + second], [third, first])
    assert to_third.item() == 7.0 and to_first.item() == 5.0, f"got {to_third}, {to_first}"


@pytest.mark.hole("03.5")
def test_an_input_that_is_not_used():
    a, b = leaf([2.0]), leaf([5.0])
    to_a, to_b = pruned([a * 2.0], [a, b])
    assert to_a.tolist() == [2.0] and to_b is None, f"got {to_a}, {to_b}"


@pytest.mark.hole("03.5")
def test_accumulating_into_chosen_leaves_alone():
    a, b = leaf([2.0]), leaf([5.0])
    pruned([a * b], [a], capture=False)
    assert a.grad is not None and a.grad.tolist() == [5.0], f"expected [5], got {a.grad}"
    assert b.grad is None, f".grad of a leaf that was not asked for was filled with {b.grad}"


@pytest.mark.hole("03.5")
def test_a_hook_on_the_input_changes_what_is_captured():
    a = leaf([2.0])
    a.register_hook(lambda g: g * 10)
    (to_a,) = pruned([a * 3.0], [a])
    assert to_a.tolist() == [30.0], f"expected [30], got {to_a}"


@pytest.mark.hole("03.5")
def test_both_ways_of_a_fork_are_needed():
    a, b = leaf([2.0]), leaf([5.0])
    shared = a * b
    top = shared.exp() * 0.0 + shared * shared + b
    (to_a,) = pruned([top], [a])
    assert to_a.tolist() == [100.0], f"expected 2 * 10 * 5 = 100, got {to_a}"


@pytest.mark.hole("03.5")
def test_a_long_way_to_the_input():
    x = leaf([1.0])
    y = x * 2.0
    for _ in range(1500):
        y = y + 1.0
    (found,) = pruned([y], [x])
    assert found.tolist() == [2.0]


class Looked(NaryNode):
    """A node that counts how often its edges are asked for."""

    times = 0

    @property
    def edges(self):
        Looked.times += 1
        return NaryNode.edges.__get__(self)

    @edges.setter
    def edges(self, edges):
        NaryNode.edges.__set__(self, edges)


@pytest.mark.hole("03.5")
def test_many_ways_are_not_all_walked():
    goal = end()
    node, nodes = goal, []
    for _ in range(14):
        node = wired(Looked, (node, 0), (node, 0))
        nodes.append(node)
    Looked.times, task = 0, GraphTask(False, False)
    root = GraphRoot([(node, 0)], [None])
    task.find_nodes_to_execute(root, {goal})
    assert Looked.times < 200, f"15 nodes were looked at {Looked.times} times"


# ---------------------------------------------------------------- 03.6 a whole pass


@pytest.mark.hole("03.6")
def test_backward_into_chosen_leaves():
    a, b = leaf([2.0]), leaf([3.0])
    (a * b).backward(inputs=[a])
    assert a.grad is not None and a.grad.tolist() == [3.0], f"expected [3], got {a.grad}"


@pytest.mark.hole("03.6")
def test_backward_into_chosen_leaves_alone():
    a, b = leaf([2.0]), leaf([3.0])
    (a * b).backward(inputs=[a])
    assert b.grad is None, f".grad of a leaf that was not asked for became {b.grad}"


@pytest.mark.hole("03.6")
def test_an_unused_input_is_told():
    a, b = leaf([2.0]), leaf([3.0])
    found = torch.autograd.grad(a * 2.0, (a, b), allow_unused=True)
    assert found[0].tolist() == [2.0] and found[1] is None


@pytest.mark.hole("03.6")
@pytest.mark.parametrize(("create_graph", "before"), [
    pytest.param(create, before, id=f"{'on' if before else 'off'} before, create_graph={create}")
    for create in (False, True) for before in (True, False)])
def test_the_mode_during_a_pass(create_graph, before):
    x, modes = leaf([2.0]), []
    y = x * x
    y.register_hook(lambda g: modes.append(torch.is_grad_enabled()))
    _state.grad_enabled.set(before)
    torch.autograd.grad(y, x, create_graph=create_graph)
    assert modes == [create_graph], f"expected {create_graph} inside the pass, got {modes}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("before", [False, True], ids=["off", "on"])
def test_the_mode_after_a_pass_is_that_before(before):
    x = leaf([2.0])
    y = x * x
    _state.grad_enabled.set(before)
    y.backward()
    assert torch.is_grad_enabled() is before, f"was {before} before the pass, and now is not"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("before", [False, True], ids=["off", "on"])
def test_the_mode_after_a_pass_that_failed(before):
    x = leaf([2.0])
    y = x * x
    y.register_hook(lambda g: 1 / 0)
    _state.grad_enabled.set(before)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert torch.is_grad_enabled() is before, f"was {before} before the pass, and now is not"


@pytest.mark.hole("03.6")
def test_callbacks_run_at_the_end_of_the_pass():
    order = []
    x = leaf([2.0])
    y = x * x
    y.register_hook(lambda g: engine.queue_callback(lambda: order.append("callback")))
    y.register_hook(lambda g: engine.queue_callback(lambda: order.append("another")))
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    assert order == ["leaf", "callback", "another"], f"got {order}"


@pytest.mark.hole("03.6")
def test_callbacks_are_refused_outside_of_a_pass():
    with pytest.raises(RuntimeError) as raised:
        engine.queue_callback(print)
    assert str(raised.value) == "Final callbacks can only be installed during backward pass."


@pytest.mark.hole("03.6")
def test_no_inputs_are_no_input():
    x = leaf([2.0])
    found = engine.execute([(x * x)._edge()], [np.ones(1, F32)], False, False, [])
    assert found == [] and x.grad is None, f"an empty list of inputs filled .grad: {x.grad}"


def asked(*inputs):
    """What `execute` gives for some inputs of a * b, at a = 2 and b = 3."""
    a, b = leaf([2.0]), leaf([3.0])
    edges = {"a": a._edge(), "b": b._edge(), "unused": leaf([4.0])._edge(), "nowhere": (None, 0)}
    found = engine.execute([(a * b)._edge()], [np.ones(1, F32)], False, False,
                           [edges[name] for name in inputs], False)
    assert isinstance(found, list), f"expected a list, got a {type(found).__name__}"
    assert len(found) == len(inputs), f"{len(inputs)} inputs, but {len(found)} results"
    return [None if g is None else g.tolist() for g in found]


@pytest.mark.hole("03.6")
def test_results_come_in_the_order_of_the_inputs():
    assert asked("b", "a") == [[2.0], [3.0]]
    assert asked("a", "b") == [[3.0], [2.0]]


@pytest.mark.hole("03.6")
def test_one_input_at_several_positions():
    got = asked("a", "b", "a")
    assert got == [[3.0], [2.0], [3.0]], f"got {got}"


@pytest.mark.hole("03.6")
def test_an_input_that_is_not_used_has_none():
    got = asked("unused", "b")
    assert got == [None, [2.0]], f"got {got}"


@pytest.mark.hole("03.6")
def test_an_input_that_leads_nowhere_has_none():
    got = asked("nowhere", "a", "nowhere")
    assert got == [None, [3.0], None], f"got {got}"


@pytest.mark.hole("03.6")
def test_the_goals_are_nodes():
    seen = []

    class Told(GraphTask):
        def find_nodes_to_execute(self, root, inputs):
            seen.append(set(inputs))
            super().find_nodes_to_execute(root, inputs)

    a, b = leaf([2.0]), leaf([3.0])
    places = [(None, 0), a._edge(), a._edge()]
    engine.execute([(a * b)._edge()], [np.ones(1, F32)], False, False, places, False, Told)
    assert seen == [{a._accumulator()}], f"expected the node of a alone, got {seen}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize(("keep", "create"), [
    pytest.param(True, False, id="retain_graph"), pytest.param(False, True, id="create_graph")])
def test_the_wishes_reach_the_pass(keep, create):
    made = []

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            made.append(wishes[:2])
            super().__init__(*wishes, **more)

    x = leaf([2.0])
    one = torch.Tensor._plain(np.ones(1, F32)) if create else np.ones(1, F32)
    engine.execute([(x * x)._edge()], [one], keep, create, kind=Made)
    wanted = [(keep, create)]
    assert made == wanted, f"expected retain_graph, create_graph {wanted}, got {made}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize(("named", "accumulate"), [
    pytest.param(False, True, id="without inputs"),
    pytest.param(True, True, id="with inputs that accumulate"),
    pytest.param(True, False, id="with inputs whose gradients are returned")])
def test_a_pass_to_inputs_ends_there(named, accumulate):
    told = []

    class Told(GraphTask):
        def end_at(self, root, inputs, accumulate):
            told.append((list(root.edges), inputs, accumulate))
            super().end_at(root, inputs, accumulate)

    x = leaf([2.0])
    edges, inputs = [(x * x)._edge()], [x._edge()] if named else None
    engine.execute(edges, [np.ones(1, F32)], False, False, inputs, accumulate, Told)
    assert told == ([(edges, inputs, accumulate)] if named else []), f"got {told}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("accumulate", [True, False], ids=["accumulated", "returned"])
@pytest.mark.parametrize("roots", [1, 2], ids=["one root", "two roots"])
def test_the_corner_cases_of_inputs_are_handed_on(accumulate, roots):
    told = []

    class Told(GraphTask):
        def note_inputs(self, inputs):
            told.append(("inputs", inputs, self.nodes_to_execute is not None))

        def note_lone_root(self, root):
            told.append(("lone root", root, self.nodes_to_execute is not None))

    x, y = leaf([2.0]), leaf([3.0])
    root = GraphRoot([(x * y)._edge() for _ in range(roots)], [np.ones(1, F32)] * roots)
    Told(False, False).end_at(root, [x._edge(), (None, 0)], accumulate)
    expected = [("inputs", {x._accumulator()}, True)] * accumulate
    assert told == expected + [("lone root", root, True)] * (roots == 1), f"got {told}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("grads, expected", [
    pytest.param([np.ones(1, F32)], False, id="an array"),
    pytest.param([torch.ones(1)], True, id="a Tensor"), pytest.param([], False, id="nothing")])
def test_a_pass_that_begins_with_tensors_works_on_tensors(grads, expected):
    made, x = [], leaf([2.0])

    class Made(GraphTask):
        def __init__(self, *wishes, **more):
            super().__init__(*wishes, **more)
            made.append(self)

    engine.execute([(x * x)._edge()][: len(grads)], grads, False, False, kind=Made)
    got = made[0].on_tensors
    assert got is expected, f"expected on_tensors {expected}, got {got!r}"


@pytest.mark.hole("03.6")
def test_the_depth_of_passes():
    depths, x = [], leaf([2.0])
    y = x * x
    y.register_hook(lambda g: depths.append(len(engine._running.tasks)))
    for _ in range(2):
        engine.execute([y._edge()], [np.ones(1, F32)], True, False)
    assert depths == [1, 1], f"expected 1 task in each of two passes, got {depths}"
    assert engine._running.tasks == [], "tasks are left after the passes"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("below", [0, 1], ids=["MAX_DEPTH", "one less"])
def test_a_deep_pass_runs_in_a_fresh_thread(monkeypatch, below):
    fresh, here, x = [], [], leaf([2.0])
    monkeypatch.setattr(engine, "_run_in_fresh_thread", lambda task, root: fresh.append(1))
    monkeypatch.setattr(engine._running, "tasks", [None] * (engine.MAX_DEPTH - below))
    x.register_hook(lambda g: here.append(1))
    engine.execute([(x * x)._edge()], [np.ones(1, F32)], True, False)
    assert (len(fresh), len(here)) == ((0, 1) if below else (1, 0)), \
        f"passes in a fresh thread and here: {len(fresh)} and {len(here)}"


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("fails", [False, True], ids=["ended", "failed"])
def test_no_pass_is_under_way_after_one_that(fails):
    x = leaf([2.0])
    y = x * x
    if fails:
        y.register_hook(lambda g: 1 / 0)
    try:
        y.backward()
    except ZeroDivisionError:
        assert fails
    assert engine._running.tasks == [], "the pass is still among those under way"
    with pytest.raises(RuntimeError, match="Final callbacks"):
        engine.queue_callback(print)


@pytest.mark.hole("03.6")
def test_a_pass_inside_a_pass():
    order = []
    x, z = leaf([2.0]), leaf([3.0])
    y = x * x

    def inner_callback(g):
        engine.queue_callback(lambda: order.append("inner done"))

    def hook(g):
        engine.queue_callback(lambda: order.append("outer done"))
        w = (z.detach().requires_grad_())
        with torch.enable_grad():
            v = w * w
        v.register_hook(inner_callback)
        v.backward()
        order.append(f"inner gave {w.grad.item():.0f}")

    y.register_hook(hook)
    y.backward()
    assert order == ["inner done", "inner gave 6", "outer done"], f"got {order}"
    assert x.grad.tolist() == [4.0] and torch.is_grad_enabled()


@pytest.mark.hole("03.6")
def test_second_derivatives():
    x = leaf([2.0])
    (slope,) = torch.autograd.grad(x**4, x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, x)
    assert slope.tolist() == [32.0] and curvature.tolist() == [48.0]


@pytest.mark.hole("03.6")
def test_backward():
    a, b, e = leaf(2.0), leaf(0.5), leaf(1.0)
    f = (a * b).exp() + e
    f.backward()
    assert_close([a.grad.item(), b.grad.item(), e.grad.item()],
                 [0.5 * np.e, 2.0 * np.e, 1.0], rtol=1e-5)


@pytest.mark.hole("03.6")
def test_grad_of_an_intermediate_result():
    a, b = leaf(2.0), leaf(0.5)
    c = a * b
    to_c, to_a = torch.autograd.grad(c.exp(), (c, a))
    assert_close([to_c.item(), to_a.item()], [np.e, 0.5 * np.e], rtol=1e-5)
    assert a.grad is None and b.grad is None, "grad() touches no .grad"


@pytest.mark.hole("03.6")
def test_the_same_input_twice():
    a, b = leaf([2.0]), leaf([3.0])
    found = torch.autograd.grad(a * b, (a, b, a))
    assert [g.tolist() for g in found] == [[3.0], [2.0], [3.0]]


@pytest.mark.hole("03.6")
def test_two_results_of_one_operation():
    low, high = (leaf([1.0, 2.0]) * 1.0).unbind()
    found = torch.autograd.grad(low * 3.0 + high * 5.0, (low, high))
    assert [g.item() for g in found] == [3.0, 5.0]
