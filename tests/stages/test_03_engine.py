"""Stage 03: the obvious engine, gradients that meet, dependencies, the queue, a whole pass."""

from heapq import heappop

import numpy as np
import pytest
from _oracle import assert_close, central_difference_vjp

import minigrad as torch
from minigrad import _state
from minigrad.engine import engine
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import Gradient, InputBuffer
from minigrad.examples.naive_engine import NaiveEngine
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


class Named(NaryNode):
    """A node without a formula, which prints as its name."""

    def __init__(self, name):
        super().__init__()
        self.called, self.sequence = name, 5

    def __repr__(self):
        return self.called


class Root(GraphRoot):
    """The root of a pass, which prints as "root"."""

    __slots__ = ()

    def __repr__(self):
        return "root"


def wired(name, *after):
    """A node called `name` with edges to others: nodes, None, or pairs of a node and a number."""
    node = Named(name)
    node.set_edges([each if isinstance(each, tuple) else (each, 0) for each in after])
    return node


def row(length):
    """Nodes with an edge from each to the one before it.

    Only the list may hold the last one: then the list frees each node before those it leads to.
    Else freeing nests as deep as the row is long, which is too deep for Python in a page.
    """
    nodes = [wired("first")]
    while len(nodes) < length:
        nodes.append(wired("node", nodes[-1]))
    return nodes


def root_of(*nodes):
    """A root with an edge to each node."""
    return Root([(node, 0) for node in nodes], [None] * len(nodes))


def counted(*nodes):
    """What `count_dependencies` finds behind a root of some nodes, the root itself aside."""
    task, root = GraphTask(False, False), root_of(*nodes)
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
        task.note_captures(edges)
    task.count_dependencies(root)
    task.run(root)
    return [task.captured.get(position) for position in range(len(inputs))]


def ready_nodes(task):
    ready, nodes = list(task.ready), []
    while ready:
        nodes.append(heappop(ready)[2])
    return nodes


# ---------------------------------------------------------------- 03.1 the obvious engine


def naive(result):
    """What the learner's engine finds for each leaf, by the leaf's id, and the engine."""
    machine = NaiveEngine()
    found = machine.backward(result)
    assert all(isinstance(each, torch.Tensor) for each in found), \
        f"the keys of gradients are leaves, got {[type(each).__name__ for each in found]}"
    return {id(x): np.asarray(grad) for x, grad in found.items()}, machine


@pytest.mark.hole("03.1")
def test_a_square():
    x = leaf(3.0)
    found, machine = naive(x * x)
    assert found[id(x)] == 6.0, f"expected 6, got {found[id(x)]}"
    assert machine.calls == 1, f"one node, but {machine.calls} calls"


@pytest.mark.hole("03.1")
def test_two_leaves():
    x, y = leaf(2.0), leaf(5.0)
    found, machine = naive(x * y + x)
    got = (found.get(id(x)), found.get(id(y)))
    assert got == (6.0, 2.0), f"expected 6 and 2, got {got[0]} and {got[1]}"
    assert machine.calls == 2, f"two nodes, but {machine.calls} calls"


@pytest.mark.hole("03.1")
def test_all_paths_to_a_leaf_add_up():
    x, y = leaf(2.0), leaf(3.0)
    shared = y * y
    found, machine = naive(shared + x * x * shared)
    got = [found[id(each)].item() for each in (x, y)]
    assert got == [36.0, 30.0], f"expected 36 and 30, got {got}"
    assert machine.calls == 5, f"5 calls, one for each path to a node, but got {machine.calls}"


@pytest.mark.hole("03.1")
def test_a_leaf_is_its_own_result():
    x = leaf(3.0)
    found, machine = naive(x)
    assert found == {id(x): 1.0} and machine.calls == 0


@pytest.mark.hole("03.1")
def test_nothing_is_written_to():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    found, _ = naive((x + y) + x)
    assert found[id(y)].tolist() == [1.0, 1.0], \
        f"the sum sends one array to x and y; adding for x made y's {found[id(y)].tolist()}"
    assert found[id(x)].tolist() == [2.0, 2.0], f"expected [2, 2], got {found[id(x)]}"


@pytest.mark.hole("03.1")
def test_edges_that_lead_to_none():
    class Doubling(NaiveEngine):
        def call(self, node, index, grad):
            return [grad * 2.0 for _ in node.edges]

    x, machine = leaf([3.0]), Doubling()
    a = wired("a", None, x._edge(), None)
    machine.send(a, 0, array(1))
    assert list(machine.gradients) == [x]
    assert machine.gradients[x].tolist() == [2.0], f"expected [2], got {machine.gradients[x]}"


@pytest.mark.hole("03.1")
def test_a_node_without_edges_is_called():
    class Noting(NaiveEngine):
        def call(self, node, index, grad):
            called.append(node)
            return [grad for _ in node.edges]

    called, machine = [], Noting()
    end = wired("end")
    a = wired("a", (end, 0))
    machine.send(a, 0, array(1))
    assert called == [a, end], f"expected calls of 2 nodes, got {len(called)}"
    assert machine.gradients == {}, "this graph has no leaf"


@pytest.mark.hole("03.1")
def test_results_that_are_none():
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x / 2.0

        @staticmethod
        def backward(ctx, g):
            return g / 2.0, None

    x, y = leaf(3.0), leaf(5.0)
    found, _ = naive(Half.apply(x, y * 1.0))
    assert found == {id(x): 0.5}, f"expected 0.5 for x alone, got {list(found.values())}"


@pytest.mark.hole("03.1")
def test_a_gradient_of_zeros_is_sent():
    x = leaf([3.0, 4.0])
    found, _ = naive(x * 0.0)
    assert id(x) in found, "the gradient of x * 0 is zero, and x got none"
    assert found[id(x)].tolist() == [0.0, 0.0], f"expected [0, 0], got {found[id(x)]}"


@pytest.mark.hole("03.1")
def test_outputs_are_told_apart():
    x = leaf([1.0, 2.0, 4.0])
    a, b, c = x.unbind()
    found, _ = naive(a * c + b)
    assert found[id(x)].tolist() == [4.0, 1.0, 1.0], f"expected [4, 1, 1], got {found[id(x)]}"


@pytest.mark.hole("03.1")
def test_it_walks_every_path():
    y = x = leaf(1.0)
    for _ in range(8):
        y = y + y
    found, machine = naive(y)
    assert found == {id(x): 256.0}, f"expected 256, got {list(found.values())}"
    assert machine.calls == 255, f"255 paths to nodes, but {machine.calls} calls"


@pytest.mark.hole("03.1")
def test_a_network_has_the_gradients_of_differences():
    rng = np.random.default_rng(3)
    values = [rng.normal(size=shape) for shape in ((2, 3), (3, 2), (2,))]

    def network(x, w, b):
        hidden = np.tanh(x @ w + b)
        return (hidden * hidden + hidden).sum()

    x, w, b = (torch.tensor(each, requires_grad=True) for each in values)
    hidden = (x @ w + b).tanh()
    found, _ = naive((hidden * hidden + hidden).sum())
    wanted = central_difference_vjp(network, values, np.ones(()))
    for each, expected, name in zip((x, w, b), wanted, "xwb", strict=True):
        assert_close(found[id(each)], expected, rtol=1e-5, what=f"the gradient of {name}")


# ---------------------------------------------------------------- 03.2 gradients that meet


@pytest.mark.hole("03.2")
def test_the_first_gradient_is_kept():
    buffer, grad = InputBuffer(1), array(1, 2)
    buffer.add(0, Gradient(grad))
    assert buffer.grads[0] is grad, f"expected the array that was given, got {buffer.grads[0]}"


@pytest.mark.hole("03.2")
@pytest.mark.parametrize("owned", [(False,) * 3, (True,) * 3, (True, False, True),
                                   (False, True, False)], ids=str)
def test_gradients_for_one_output_add_up(owned):
    buffer = InputBuffer(1)
    for own, values in zip(owned, [(1, 10), (2, 20), (4, 40)], strict=True):
        buffer.add(0, Gradient(array(*values), own))
    assert buffer.grads[0].tolist() == [7, 70], f"expected [7, 70], got {buffer.grads[0]}"


@pytest.mark.hole("03.2")
def test_each_output_has_its_own_place():
    buffer = InputBuffer(3)
    buffer.add(2, Gradient(array(1)))
    buffer.add(0, Gradient(array(10)))
    buffer.add(2, Gradient(array(2)))
    assert buffer.grads[0].tolist() == [10] and buffer.grads[2].tolist() == [3]
    assert buffer.grads[1] is None, f"nothing came for output 1, got {buffer.grads[1]}"


@pytest.mark.hole("03.2")
def test_borrowed_arrays_are_not_written_to():
    buffer, first, second, third = InputBuffer(1), array(1, 1), array(2, 2), array(4, 4)
    for given in first, second, third:
        buffer.add(0, Gradient(given))
    assert buffer.grads[0].tolist() == [7, 7]
    for given, value in ((first, 1), (second, 2), (third, 4)):
        assert given.tolist() == [value, value], f"a borrowed array became {given.tolist()}"


@pytest.mark.hole("03.2")
def test_what_comes_second_is_not_written_to_even_when_owned():
    buffer, second = InputBuffer(1), array(2, 2)
    buffer.add(0, Gradient(array(1, 1)))
    buffer.add(0, Gradient(second, True))
    buffer.add(0, Gradient(array(4, 4), True))
    assert second.tolist() == [2, 2] and buffer.grads[0].tolist() == [7, 7]


@pytest.mark.hole("03.2")
def test_a_view_is_not_written_to():
    whole = np.ones(4, F32)
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(whole[:2], True))
    buffer.add(0, Gradient(array(5, 5), True))
    assert whole.tolist() == [1] * 4, f"the array behind a view became {whole.tolist()}"
    assert buffer.grads[0].tolist() == [6, 6]


@pytest.mark.hole("03.2")
@pytest.mark.parametrize("owned", [False, True])
def test_the_first_gradient_is_owned_if_the_caller_says_so(owned):
    buffer = InputBuffer(2)
    buffer.add(1, Gradient(array(1), owned))
    assert buffer.owned == [False, owned], f"expected {[False, owned]}, got {buffer.owned}"


@pytest.mark.hole("03.2")
@pytest.mark.parametrize("owned", [(False, False), (True, False), (False, True), (True, True)],
                         ids=str)
def test_a_sum_is_owned(owned):
    buffer = InputBuffer(1)
    for own, value in zip(owned, (1, 2), strict=True):
        buffer.add(0, Gradient(array(value), own))
    assert buffer.owned[0] is True, f"expected True, got {buffer.owned[0]}"


@pytest.mark.hole("03.2")
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


@pytest.mark.hole("03.2")
def test_a_tensor_is_not_written_to():
    _, first, second = sum_of_tensors()
    assert first.tolist() == [3.0], f"the first tensor was written to: {first.tolist()}"
    assert second.tolist() == [10.0], f"the second tensor was written to: {second.tolist()}"


@pytest.mark.hole("03.2")
def test_sums_of_tensors_have_the_history_of_both():
    buffer, first, second = sum_of_tensors()
    total = buffer.grads[0]
    assert isinstance(total, torch.Tensor), f"expected a Tensor, got a {type(total).__name__}"
    assert total.tolist() == [13.0] and total.requires_grad
    assert {node for node, _ in total.grad_fn.next_functions} == {first.grad_fn, second.grad_fn}


# ---------------------------------------------------------------- 03.3 dependencies


@pytest.mark.hole("03.3")
@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
def test_edges_that_lead_nowhere(first):
    b = wired("b")
    a = wired("a", *((None, b) if first else (b, None)))
    assert counted(a) == {a: 1, b: 1}


@pytest.mark.hole("03.3")
def test_a_chain():
    c = wired("c")
    b = wired("b", c)
    a = wired("a", b)
    assert counted(a) == {a: 1, b: 1, c: 1}


@pytest.mark.hole("03.3")
def test_edges_are_counted_and_not_nodes():
    b = wired("b")
    a = wired("a", b, b)
    assert counted(a) == {a: 1, b: 2}


@pytest.mark.hole("03.3")
def test_the_root_has_no_entry():
    a, task = wired("a"), GraphTask(False, False)
    root = root_of(a)
    task.count_dependencies(root)
    assert task.dependencies == {a: 1}


@pytest.mark.hole("03.3")
def test_a_fork_that_joins_again():
    e = wired("e")
    d = wired("d", e)
    b, c = wired("b", d), wired("c", d)
    a = wired("a", b, c)
    assert counted(a) == {a: 1, b: 1, c: 1, d: 2, e: 1}


@pytest.mark.hole("03.3")
def test_the_edges_of_the_root_count_too():
    b = wired("b")
    a = wired("a", b)
    assert counted(a, b, a) == {a: 2, b: 2}


@pytest.mark.hole("03.3")
def test_different_outputs_of_a_node_are_edges_to_one_node():
    b = wired("b")
    a = wired("a", (b, 0), (b, 1), (b, 2))
    assert counted(a) == {a: 1, b: 3}


@pytest.mark.hole("03.3")
def test_a_ladder():
    rungs = [wired("rung0")]
    for i in range(10):
        rungs.append(wired(f"rung{i + 1}", rungs[-1], rungs[-1]))
    found = counted(rungs[-1])
    wanted = dict.fromkeys(rungs, 2) | {rungs[-1]: 1}
    assert found == wanted, f"expected two edges into each rung, got {list(found.values())}"


@pytest.mark.hole("03.3")
def test_a_long_chain():
    nodes = row(3000)
    assert set(counted(nodes[-1]).values()) == {1}


# ---------------------------------------------------------------- 03.4 the ready queue


@pytest.mark.hole("03.4")
def test_nodes_with_equal_numbers():
    task, leaves = GraphTask(False, False), [leaf(1.0) for _ in range(3)]
    ends = sorted([x._accumulator() for x in leaves], key=id, reverse=True)
    for node in ends:
        task.push(node)
    assert ready_nodes(task) == ends, "of equal numbers, the first that was pushed comes first"


@pytest.mark.hole("03.4")
def test_the_latest_node_comes_first():
    task, nodes = GraphTask(False, False), [wired(name) for name in "abcde"]
    for node, sequence in zip(nodes, [3, 1, 4, 0, 2], strict=True):
        node.sequence = sequence
        task.push(node)
    order = [node.sequence for node in ready_nodes(task)]
    assert order == [4, 3, 2, 1, 0], f"expected the latest first, got {order}"


@pytest.mark.hole("03.4")
def test_what_is_on_the_queue():
    task, a = GraphTask(False, False), wired("a")
    a.sequence = 7
    task.push(a)
    ((number, turn, pushed),) = task.ready
    assert (number, pushed) == (-7, a) and isinstance(turn, int), f"got {task.ready}"


def waiting(count, outputs=1):
    """Return a task and a node that waits for some gradients."""
    a, task = wired("a"), GraphTask(False, False)
    a.num_inputs = outputs
    task.dependencies[a] = count
    return task, a


@pytest.mark.hole("03.4")
def test_a_node_waits_for_its_last_gradient():
    task, node = waiting(3)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, Gradient(array(2)))
    assert not task.ready, "the node was pushed before its last gradient came"


@pytest.mark.hole("03.4")
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_node_is_ready_once_all_gradients_came(count):
    task, node = waiting(count)
    for _ in range(count):
        task.add_to_buffer(node, 0, Gradient(array(1)))
    assert ready_nodes(task) == [node], "all gradients came, but the node is not on the queue once"


@pytest.mark.hole("03.4")
def test_gradients_for_one_node_meet_in_its_buffer():
    task, node = waiting(2)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, Gradient(array(2)))
    got = task.buffers[node].grads[0].tolist()
    assert got == [3], f"expected [3], got {got}"


@pytest.mark.hole("03.4")
def test_each_delivery_is_counted_down():
    task, node = waiting(3)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    assert task.dependencies[node] == 2, f"expected 2 left, got {task.dependencies[node]}"


@pytest.mark.hole("03.4")
def test_a_gradient_that_is_none_is_counted():
    task, node = waiting(2)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 0, None)
    assert ready_nodes(task) == [node], "None stands for a gradient of zero, and counts"
    assert task.buffers[node].grads[0].tolist() == [1]


@pytest.mark.hole("03.4")
def test_a_node_to_which_only_none_came_is_ready_too():
    task, node = waiting(1)
    task.add_to_buffer(node, 0, None)
    assert ready_nodes(task) == [node]
    assert list(task.buffers[node].grads) == [None]


@pytest.mark.hole("03.4")
def test_gradients_of_several_outputs():
    task, node = waiting(2, outputs=3)
    task.add_to_buffer(node, 2, Gradient(array(7)))
    task.add_to_buffer(node, 0, Gradient(array(8)))
    grads = task.buffers[node].grads
    assert [g if g is None else g.tolist() for g in grads] == [[8], None, [7]]


@pytest.mark.hole("03.4")
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_buffer_has_a_place_for_each_output(outputs):
    node, task = wired("node", wired("after"), wired("after too")), GraphTask(False, False)
    node.num_inputs, task.dependencies[node] = outputs, 2
    task.add_to_buffer(node, 0, Gradient(array(1)))
    places = len(task.buffers[node].grads)
    assert places == outputs, f"a node with {outputs} outputs has a buffer of {places}"


@pytest.mark.hole("03.4")
def test_what_is_said_of_ownership_arrives():
    task, node = waiting(2, outputs=2)
    task.add_to_buffer(node, 0, Gradient(array(1)))
    task.add_to_buffer(node, 1, Gradient(array(1), True))
    assert task.buffers[node].owned == [False, True]


# ---------------------------------------------------------------- 03.5 running


@pytest.mark.hole("03.5")
def test_a_gradient_comes_to_the_leaf_once():
    x = leaf([4.0, 5.0])
    run(x * 3.0)
    assert x.grad is not None, "the pass ended and .grad is still None"
    assert_close(x.grad.numpy(), [3.0, 3.0], what="x.grad")


@pytest.mark.hole("03.5")
def test_hooks_that_wait_for_grad_run():
    x, seen = leaf([4.0]), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.tolist()))
    run(x * 3.0)
    assert seen == [[3.0]], f"expected [[3]], got {seen}"


@pytest.mark.hole("03.5")
def test_no_buffer_and_no_node_is_left():
    task = run(leaf([4.0]) * 3.0)
    assert not task.buffers, "a buffer stays behind after the pass"
    assert not task.ready, "a node is still on the queue after the pass"


@pytest.mark.hole("03.5")
def test_hooks_see_the_gradient():
    x, seen = leaf([1.0]), []
    y = x * 2.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: seen.append(g.tolist()))
    run(y * 5.0)
    assert seen == [[5.0], [10.0]], f"expected [[5], [10]], got {seen}"


@pytest.mark.hole("03.5")
def test_a_hook_changes_the_gradient():
    x = leaf([1.0])
    y = x * 2.0
    y.register_hook(lambda g: g * 10)
    run(y * 1.0)
    assert x.grad.tolist() == [20.0], f"expected [20], got {x.grad}"


@pytest.mark.hole("03.5")
def test_a_hook_changes_the_gradient_of_a_leaf():
    x = leaf([1.0])
    x.register_hook(lambda g: g * 10)
    run(x * 2.0)
    assert x.grad.tolist() == [20.0], f"expected [20], got {x.grad}"


@pytest.mark.hole("03.5")
def test_a_shared_node_runs_once_with_the_sum():
    x, seen = leaf([3.0]), []
    shared = x * 1.0
    shared.register_hook(lambda g: seen.append(g.tolist()))
    run(shared * 2.0 + shared * 5.0)
    assert seen == [[7.0]], f"expected one call with [7], got {seen}"
    assert x.grad.tolist() == [7.0]


@pytest.mark.hole("03.5")
def test_a_ladder_of_sums():
    x, calls = leaf([1.0]), []
    y = x * 1.0
    for _ in range(12):
        y.register_hook(lambda g: calls.append(1))
        y = y + y
    run(y)
    assert x.grad.tolist() == [4096.0]
    assert len(calls) == 12, f"12 nodes are watched, but {len(calls)} calls came"


@pytest.mark.hole("03.5")
def test_what_was_saved_is_freed():
    x = leaf([3.0])
    y = x * x
    run(y)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        run(y)


@pytest.mark.hole("03.5")
def test_what_was_saved_is_kept_when_asked_for():
    x = leaf([3.0])
    y = x * x
    run(y, keep=True)
    run(y)
    assert x.grad.tolist() == [12.0], f"expected [12], got {x.grad}"


@pytest.mark.hole("03.5")
def test_several_outputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    run((x * x).sum(), y * 5.0, x.sum())
    assert x.grad.tolist() == [3.0, 5.0], f"expected [3, 5], got {x.grad}"
    assert y.grad.tolist() == [5.0]


@pytest.mark.hole("03.5")
def test_an_operation_with_several_results():
    x = leaf([1.0, 2.0, 3.0])
    first, _, third = x.unbind()
    run(third * 10.0 + first)
    assert x.grad.tolist() == [1.0, 0.0, 10.0], f"got {x.grad}"


@pytest.mark.hole("03.5")
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


@pytest.mark.hole("03.5")
def test_a_gradient_seen_by_a_hook_stays_as_it_was():
    x, kept = leaf([1.0]), []
    x.register_hook(kept.append)
    run(x * 2.0)
    run(x * 3.0)
    assert [g.tolist() for g in kept] == [[2.0], [3.0]], "a gradient that a hook kept has changed"


@pytest.mark.hole("03.5")
def test_a_long_chain_of_operations():
    values = [leaf([1.0])]  # a list, as `row` returns one
    for _ in range(1500):
        values.append(values[-1] + 1.0)
    run(values[-1])
    assert values[0].grad.tolist() == [1.0]


@pytest.mark.hole("03.5")
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


@pytest.mark.hole("03.5")
def test_a_pass_on_tensors_leaves_a_graph():
    x = leaf([2.0])
    run(x**3, keep=True, create=True)
    assert x.grad.tolist() == [12.0] and x.grad.requires_grad
    slope = x.grad
    x.grad = None
    run(slope)
    assert x.grad.tolist() == [12.0], f"expected 6 * 2 = 12, got {x.grad}"


@pytest.mark.hole("03.5")
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


@pytest.mark.hole("03.5")
@pytest.mark.parametrize("on_a_leaf", [False, True], ids=["any node", "a leaf's node"])
def test_a_node_without_hooks_is_asked_for_too(on_a_leaf):
    asked, ran = [], []

    class Idle(GraphTask):
        def run_hooks_and_capture(self, node, buffer):
            asked.append(node)
            return False

        def call(self, node, grads):
            ran.append(node)
            return [None for _ in node.edges]

        apply = call

        def accumulate(self, node, buffer):
            ran.append(node)

    x = leaf([1.0])
    y = x * 2.0
    node = x._accumulator() if on_a_leaf else y.grad_fn
    for needed in {node}, set():
        asked.clear()
        task, buffer = Idle(False, False, nodes_to_execute=needed), InputBuffer(1)
        buffer.grads[0] = array(1)
        task.evaluate(node, buffer)
        assert len(asked) == 1, f"run_hooks_and_capture was asked {len(asked)} times"
        assert not ran, "run_hooks_and_capture said False, and the node ran"


@pytest.mark.hole("03.5")
def test_hooks_of_a_node_run():
    x, seen = leaf([1.0]), []
    y = x * 2.0
    y.grad_fn.register_hook(lambda results, received: seen.append(received[0].tolist()))
    run(y * 5.0)
    assert seen == [[5.0]], f"expected one call with [5], got {seen}"
    assert x.grad.tolist() == [10.0], f"expected [10], got {x.grad}"


@pytest.mark.hole("03.5")
def test_the_graph_with_a_fork():
    a, b = leaf([4.0]), leaf([3.0])
    d = b**2
    f = d + a**2 * d
    run(f)
    assert a.grad.tolist() == [72.0], f"expected [72], got {a.grad}"
    assert b.grad.tolist() == [102.0], f"expected [102], got {b.grad}"


@pytest.mark.hole("03.5")
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


@pytest.mark.hole("03.5")
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


# ---------------------------------------------------------------- 03.6 only what is asked for


def restricted(inputs, *nodes):
    """What `find_nodes_to_execute` leaves in the task, the root aside, and whether the root is."""
    task, root = GraphTask(False, False), root_of(*nodes)
    task.find_nodes_to_execute(root, set(inputs))
    found = task.nodes_to_execute
    assert isinstance(found, set), f"self.nodes_to_execute is a set, got {found!r}"
    return found - {root}, root in found


@pytest.mark.hole("03.6")
def test_the_nodes_on_the_way_are_needed():
    c, d = wired("c"), wired("d")
    b = wired("b", d, c)
    a = wired("a", b, d)
    needed, _ = restricted([c], a)
    assert needed == {a, b, c}, f"expected a, b and c, got {needed}"


@pytest.mark.hole("03.6")
def test_the_root_is_needed():
    b = wired("b")
    assert restricted([b], wired("a", b))[1], "the root leads to the input, but is not in the set"


@pytest.mark.hole("03.6")
def test_what_lies_behind_the_input_is_not_needed():
    c = wired("c")
    b = wired("b", c)
    a = wired("a", b)
    needed, _ = restricted([b], a)
    assert needed == {a, b}, f"expected a and b, got {needed}"


@pytest.mark.hole("03.6")
def test_an_input_behind_another_input():
    c = wired("c")
    b = wired("b", c)
    a = wired("a", b)
    needed, _ = restricted([b, c], a)
    assert needed == {a, b, c}, f"expected a, b and c, got {needed}"


@pytest.mark.hole("03.6")
def test_nodes_between_two_inputs():
    d = wired("d")
    c = wired("c", d)
    b = wired("b", c)
    a = wired("a", b)
    needed, _ = restricted([a, d], a)
    assert needed == {a, b, c, d}, f"expected a, b, c and d, got {needed}"


@pytest.mark.hole("03.6")
def test_a_node_that_is_shared_is_needed_by_both_ways():
    d, aside = wired("d"), wired("aside")
    c = wired("c", d)
    a, b = wired("a", aside, c), wired("b", c)
    found = [restricted([d], *roots)[0] for roots in ((a, b), (b, a))]
    assert found == [{a, b, c, d}] * 2, f"expected a, b, c and d, got {found}"


def ladder_with_short_edges(nearest_first):
    """A row of nodes to an input, and a root with an edge to each of them."""
    nodes = [wired("goal")]
    for name in "abcdef":
        nodes.append(wired(name, nodes[-1]))
    after = nodes[1:] if nearest_first else nodes[:0:-1]
    return nodes, after


@pytest.mark.hole("03.6")
@pytest.mark.parametrize("nearest_first", [True, False], ids=["nearest", "farthest"])
def test_short_edges_beside_a_long_path_with_the_first_to_the(nearest_first):
    nodes, after = ladder_with_short_edges(nearest_first)
    needed, _ = restricted([nodes[0]], wired("top", *after))
    missing = [node for node in nodes if node not in needed]
    assert not missing, f"these nodes lead to goal, and are not in the set: {missing}"


@pytest.mark.hole("03.6")
def test_a_result_used_directly_and_through_other_operations():
    i = leaf(2.0)
    x = i * 2.0
    exp = x.exp()
    sin = exp.sin()
    y = x + sin
    task, root = started([y])
    task.find_nodes_to_execute(root, {i._edge()[0]})
    missing = [node.name() for node in (y.grad_fn, sin.grad_fn, exp.grad_fn, x.grad_fn)
               if node not in task.nodes_to_execute]
    assert not missing, f"these nodes lead to i, and are not in the set: {missing}"


@pytest.mark.hole("03.6")
def test_edges_that_lead_nowhere_are_passed_over():
    b = wired("b")
    a = wired("a", None, b, None)
    assert restricted([b], a)[0] == {a, b}


@pytest.mark.hole("03.6")
def test_an_input_that_is_not_reached_is_needed_all_the_same():
    far, b = wired("far"), wired("b")
    found = restricted([far], wired("a", b))
    assert found == ({far}, False), f"expected the input alone, got {found[0]}"


@pytest.mark.hole("03.6")
def test_nothing_in_the_graph_is_changed():
    b = wired("b")
    a, inputs, task = wired("a", b), {b}, GraphTask(False, False)
    task.find_nodes_to_execute(root_of(a), inputs)
    assert inputs == {b}, f"the set of inputs became {inputs}"
    assert list(a.edges) == [(b, 0)]


@pytest.mark.hole("03.6")
def test_a_long_way_to_the_input():
    nodes = row(3000)
    found = len(restricted([nodes[0]], nodes[-1])[0])
    assert found == 3000, f"3000 nodes lie on the way, {found} were found"


class Looked(Named):
    """A node that counts how often its edges are asked for."""

    times = 0

    @property
    def edges(self):
        Looked.times += 1
        return NaryNode.edges.__get__(self)

    @edges.setter
    def edges(self, edges):
        NaryNode.edges.__set__(self, edges)


@pytest.mark.hole("03.6")
def test_many_ways_are_not_all_walked():
    goal = node = wired("goal")
    for i in range(14):
        before, node = node, Looked(f"rung{i}")
        node.set_edges([(before, 0), (before, 0)])
    Looked.times, task = 0, GraphTask(False, False)
    task.find_nodes_to_execute(root_of(node), {goal})
    assert Looked.times < 200, f"15 nodes were looked at {Looked.times} times"


@pytest.mark.hole("03.6")
def test_a_deep_graph_is_not_swept_again_and_again():
    goal = node = wired("goal")
    for i in range(150):
        before, node = node, Looked(f"node{i}")
        node.set_edges([(before, 0)])
    Looked.times, task = 0, GraphTask(False, False)
    task.find_nodes_to_execute(root_of(node), {goal})
    assert Looked.times < 1500, f"150 nodes in a row were looked at {Looked.times} times"


# ---------------------------------------------------------------- 03.7 gradients asked for


def noted(*inputs):
    """What `note_captures` notes for some inputs."""
    task = GraphTask(False, False)
    task.note_captures(inputs)
    return task.captures


@pytest.mark.hole("03.7")
def test_positions_are_noted():
    a, b = wired("a"), wired("b")
    got = noted((a, 0), (b, 1), (a, 0))
    assert got == {a: {0: [0, 2]}, b: {1: [1]}}, f"got {got}"


@pytest.mark.hole("03.7")
def test_outputs_of_one_node_are_noted_apart():
    a = wired("a")
    got = noted((a, 2), (a, 0), (a, 2))
    assert got == {a: {2: [0, 2], 0: [1]}}, f"got {got}"


@pytest.mark.hole("03.7")
def test_an_input_without_a_node_is_left_out():
    a = wired("a")
    got = noted((a, 0), (None, 0))
    assert got == {a: {0: [0]}}, f"got {got}"


@pytest.mark.hole("03.7")
def test_an_input_without_a_node_keeps_its_position():
    a = wired("a")
    got = noted((None, 0), (a, 0))
    assert got.get(a) == {0: [1]}, f"a stands at position 1, got {got}"


def captured(places):
    """What `capture` stores of the gradients of a node with three outputs."""
    task, a = GraphTask(False, False), wired("a")
    task.captures[a] = places
    task.capture(a, ["of 0", "of 1", None])
    return task.captured


@pytest.mark.hole("03.7")
def test_capture_stores_the_gradient_of_each_output_under_its_position():
    got = captured({1: [0], 0: [5]})
    assert got == {0: "of 1", 5: "of 0"}, f"got {got}"


@pytest.mark.hole("03.7")
def test_capture_stores_it_under_every_position():
    got = captured({1: [0, 3, 4]})
    assert got == {0: "of 1", 3: "of 1", 4: "of 1"}, f"got {got}"


@pytest.mark.hole("03.7")
def test_captures_of_several_nodes_add_up():
    task, a, b = GraphTask(False, False), wired("a"), wired("b")
    task.captures |= {a: {0: [0]}, b: {0: [1]}}
    task.capture(a, ["of a"])
    task.capture(b, ["of b"])
    assert task.captured == {0: "of a", 1: "of b"}, f"got {task.captured}"


@pytest.mark.hole("03.7")
@pytest.mark.parametrize("entry, own, after, expected", [
    pytest.param(None, True, False, True, id="not captured, needed itself"),
    pytest.param(None, False, True, False, id="not captured, not needed itself"),
    pytest.param({0: [0]}, True, False, False, id="captured, nothing after it needed"),
    pytest.param({0: [0]}, True, True, True, id="captured, a node after it needed"),
    pytest.param({}, True, False, True, id="with an empty entry, needed itself")])
def test_which_nodes_run(entry, own, after, expected):
    last = wired("last")
    node, task = wired("node", None, last), GraphTask(False, False)
    task.nodes_to_execute = ({node} if own else set()) | ({last} if after else set())
    if entry is not None:
        task.captures[node] = entry
    assert bool(task.runs(node)) is expected, f"expected runs to be {expected}"


@pytest.mark.hole("03.7")
def test_gradients_are_captured_and_not_accumulated():
    a, b = leaf([2.0]), leaf([5.0])
    (to_a,) = pruned([a * b], [a])
    assert to_a.tolist() == [5.0], f"expected [5], got {to_a}"
    assert a.grad is None, f".grad of the input was filled with {a.grad}"
    assert b.grad is None, f".grad of a leaf that was not asked for was filled with {b.grad}"


@pytest.mark.hole("03.7")
def test_each_input_gets_its_own():
    a, b, c = leaf([2.0]), leaf([5.0]), leaf([7.0])
    found = pruned([a * b * c], [c, a, b])
    assert [g.tolist() for g in found] == [[10.0], [35.0], [14.0]], f"got {found}"


@pytest.mark.hole("03.7")
def test_a_result_and_the_leaf_behind_it():
    a, b = leaf([2.0]), leaf([0.5])
    c = a * b
    d = c * 3.0
    to_c, to_a = pruned([d], [c, a], keep=True)
    assert to_c.tolist() == [3.0] and to_a.tolist() == [1.5], f"got {to_c}, {to_a}"
    to_a, to_c = pruned([(a * b) * 3.0 + c * 0.0], [a, c])
    assert to_a.tolist() == [1.5] and to_c.tolist() == [0.0]


@pytest.mark.hole("03.7")
def test_a_gradient_is_the_sum_over_all_paths():
    a = leaf([2.0])
    c = a * 1.0
    (to_c,) = pruned([c * 3.0 + c * c], [c])
    assert to_c.tolist() == [7.0], f"expected [7], got {to_c}"


@pytest.mark.hole("03.7")
def test_an_input_asked_for_twice():
    a = leaf([2.0])
    first, second = pruned([a * 3.0], [a, a])
    assert first is not None and first.tolist() == [3.0]
    assert second is not None and second.tolist() == [3.0], f"got {second} the second time"


@pytest.mark.hole("03.7")
def test_what_does_not_lead_to_an_input_does_not_run():
    a, b, seen = leaf([2.0]), leaf([5.0]), []
    aside = b * 3.0
    aside.register_hook(lambda g: seen.append(g))
    aside.grad_fn.register_hook(lambda *_: seen.append("ran"))
    (to_a,) = pruned([a * 2.0 + aside], [a])
    assert to_a.tolist() == [2.0]
    assert not seen, "a part of the graph that leads to no input ran"


@pytest.mark.hole("03.7")
def test_what_lies_behind_the_input_does_not_run():
    a, seen = leaf([2.0]), []
    c = a.exp()
    c.grad_fn.register_hook(lambda *_: seen.append("ran"))
    (to_c,) = pruned([c * 3.0], [c])
    assert to_c.tolist() == [3.0]
    assert not seen, "the node of the input itself ran, though nothing behind it is asked for"
    assert a.grad is None


@pytest.mark.hole("03.7")
def test_the_numbers_of_outputs_are_told_apart():
    x = leaf([1.0, 2.0, 3.0])
    first, second, third = x.unbind()
    to_third, to_first = pruned([first * 5.0 + third * 7.0 + second], [third, first])
    assert to_third.item() == 7.0 and to_first.item() == 5.0, f"got {to_third}, {to_first}"


@pytest.mark.hole("03.7")
def test_an_input_that_is_not_used():
    a, b = leaf([2.0]), leaf([5.0])
    to_a, to_b = pruned([a * 2.0], [a, b])
    assert to_a.tolist() == [2.0] and to_b is None, f"got {to_a}, {to_b}"


@pytest.mark.hole("03.7")
def test_accumulating_into_chosen_leaves_alone():
    a, b = leaf([2.0]), leaf([5.0])
    pruned([a * b], [a], capture=False)
    assert a.grad is not None and a.grad.tolist() == [5.0], f"expected [5], got {a.grad}"
    assert b.grad is None, f".grad of a leaf that was not asked for was filled with {b.grad}"


@pytest.mark.hole("03.7")
def test_a_hook_on_the_input_changes_what_is_captured():
    a = leaf([2.0])
    a.register_hook(lambda g: g * 10)
    (to_a,) = pruned([a * 3.0], [a])
    assert to_a.tolist() == [30.0], f"expected [30], got {to_a}"


@pytest.mark.hole("03.7")
def test_both_ways_of_a_fork_are_needed():
    a, b = leaf([2.0]), leaf([5.0])
    shared = a * b
    top = shared.exp() * 0.0 + shared * shared + b
    (to_a,) = pruned([top], [a])
    assert to_a.tolist() == [100.0], f"expected 2 * 10 * 5 = 100, got {to_a}"


# ---------------------------------------------------------------- 03.8 a whole pass


class Steps(GraphTask):
    """A pass without nodes that notes what is done with it; `inside` runs in the middle."""

    def __init__(self, create_graph=False, inside=lambda: None):
        super().__init__(False, create_graph, on_tensors=True)  # which no shorter way takes
        self.inside, self.steps = inside, []

    def count_dependencies(self, root):
        self.steps.append("counted")

    def run(self, root):
        self.steps.append("ran")
        self.inside()


@pytest.mark.hole("03.8")
def test_callbacks_wait_for_the_nodes():
    task = Steps()
    task.callbacks.append(lambda: task.steps.append("callback"))
    engine._run_here(task, root_of())
    assert task.steps == ["counted", "ran", "callback"], f"got {task.steps}"
    assert not task.callbacks, "a callback is taken from the list when it is called"


@pytest.mark.hole("03.8")
def test_callbacks_run_in_order_and_may_add_others():
    task, order = Steps(), []

    def first():
        order.append("first")
        engine.queue_callback(lambda: order.append("third"))

    task.callbacks += [first, lambda: order.append("second")]
    engine._run_here(task, root_of())
    assert order == ["first", "second", "third"], f"got {order}"


@pytest.mark.hole("03.8")
def test_a_pass_is_under_way_while_its_callbacks_run():
    task, seen = Steps(), []
    task.callbacks.append(lambda: seen.append(list(engine._running.tasks) == [task]))
    engine._run_here(task, root_of())
    assert seen == [True], "while its callbacks run, the pass is not in _running.tasks"


@pytest.mark.hole("03.8")
def test_callbacks_of_a_pass_that_failed_are_not_called():
    task, called = Steps(inside=lambda: 1 / 0), []
    task.callbacks.append(lambda: called.append(1))
    with pytest.raises(ZeroDivisionError):
        engine._run_here(task, root_of())
    assert not called, "the pass failed, and its callback was called"


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("where", ["a node", "a callback"])
def test_a_pass_that_is_interrupted(where):
    def interrupt():
        raise KeyboardInterrupt  # as Ctrl-C does

    task = Steps(inside=interrupt if where == "a node" else lambda: None)
    task.callbacks.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        engine._run_here(task, root_of())
    now, left = torch.is_grad_enabled(), len(engine._running.tasks)
    assert now, "recording was on before the pass, and is off now"
    assert left == 0, f"no pass is running, but _running.tasks still has {left}"


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_mode_while_callbacks_run(create_graph):
    task, modes = Steps(create_graph=create_graph), []
    task.callbacks.append(lambda: modes.append(torch.is_grad_enabled()))
    _state.grad_enabled.set(not create_graph)
    engine._run_here(task, root_of())
    assert modes == [create_graph], f"expected {create_graph} in a callback, got {modes}"


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("before", [False, True], ids=["off", "on"])
def test_a_callback_that_fails(before):
    task = Steps(create_graph=not before)
    task.callbacks.append(lambda: 1 / 0)
    _state.grad_enabled.set(before)
    with pytest.raises(ZeroDivisionError):
        engine._run_here(task, root_of())
    now, left = torch.is_grad_enabled(), len(engine._running.tasks)
    assert now is before, f"the mode was {before} before the pass and is {now} now"
    assert left == 0, f"no pass is running, but _running.tasks still has {left}"


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("fails", [False, True], ids=["ended", "failed"])
def test_outer_passes_stay_under_way_after_an_inner_one_that(fails):
    outer = GraphTask(False, False)
    engine._running.tasks.append(outer)
    inner = Steps(inside=lambda: 1 / 0 if fails else None)
    try:
        engine._run_here(inner, root_of())
    except ZeroDivisionError:
        assert fails
    left = len(engine._running.tasks)
    assert left == 1, f"one outer pass is under way, but {left} are left"


@pytest.mark.hole("03.8")
def test_the_innermost_pass_is_the_last():
    seen = []
    task = Steps(inside=lambda: seen.extend(engine._running.tasks))
    outer = GraphTask(False, False)
    engine._running.tasks.append(outer)
    engine._run_here(task, root_of())
    assert len(seen) == 2, f"expected two passes under way, got {len(seen)}"
    assert seen[1] is task, "the innermost pass is not the last in _running.tasks"


@pytest.mark.hole("03.8")
def test_backward_into_chosen_leaves():
    a, b = leaf([2.0]), leaf([3.0])
    (a * b).backward(inputs=[a])
    assert a.grad is not None and a.grad.tolist() == [3.0], f"expected [3], got {a.grad}"


@pytest.mark.hole("03.8")
def test_backward_into_chosen_leaves_alone():
    a, b = leaf([2.0]), leaf([3.0])
    (a * b).backward(inputs=[a])
    assert b.grad is None, f".grad of a leaf that was not asked for became {b.grad}"


@pytest.mark.hole("03.8")
def test_an_unused_input_is_told():
    a, b = leaf([2.0]), leaf([3.0])
    found = torch.autograd.grad(a * 2.0, (a, b), allow_unused=True)
    assert found[0].tolist() == [2.0] and found[1] is None


@pytest.mark.hole("03.8")
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


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("before", [False, True], ids=["off", "on"])
def test_the_mode_after_a_pass_is_that_before(before):
    x = leaf([2.0])
    y = x * x
    _state.grad_enabled.set(before)
    y.backward()
    assert torch.is_grad_enabled() is before, f"was {before} before the pass, and now is not"


@pytest.mark.hole("03.8")
@pytest.mark.parametrize("before", [False, True], ids=["off", "on"])
def test_the_mode_after_a_pass_that_failed(before):
    x = leaf([2.0])
    y = x * x
    y.register_hook(lambda g: 1 / 0)
    _state.grad_enabled.set(before)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert torch.is_grad_enabled() is before, f"was {before} before the pass, and now is not"


@pytest.mark.hole("03.8")
def test_callbacks_run_at_the_end_of_the_pass():
    order = []
    x = leaf([2.0])
    y = x * x
    y.register_hook(lambda g: engine.queue_callback(lambda: order.append("callback")))
    y.register_hook(lambda g: engine.queue_callback(lambda: order.append("another")))
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    assert order == ["leaf", "callback", "another"], f"got {order}"


@pytest.mark.hole("03.8")
def test_callbacks_are_refused_outside_of_a_pass():
    with pytest.raises(RuntimeError) as raised:
        engine.queue_callback(print)
    assert str(raised.value) == engine.NO_PASS


@pytest.mark.hole("03.8")
def test_the_depth_of_passes():
    depths, x = [], leaf([2.0])
    y = x * x
    y.register_hook(lambda g: depths.append(len(engine._running.tasks)))
    for _ in range(2):
        engine.execute([y._edge()], [np.ones(1, F32)], True, False)
    assert depths == [1, 1], f"expected 1 task in each of two passes, got {depths}"
    assert engine._running.tasks == [], "tasks are left after the passes"


@pytest.mark.hole("03.8")
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


@pytest.mark.hole("03.8")
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


@pytest.mark.hole("03.8")
def test_second_derivatives():
    x = leaf([2.0])
    (slope,) = torch.autograd.grad(x**4, x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, x)
    assert slope.tolist() == [32.0] and curvature.tolist() == [48.0]


@pytest.mark.hole("03.8")
def test_backward():
    a, b, e = leaf(2.0), leaf(0.5), leaf(1.0)
    f = (a * b).exp() + e
    f.backward()
    assert_close([a.grad.item(), b.grad.item(), e.grad.item()],
                 [0.5 * np.e, 2.0 * np.e, 1.0], rtol=1e-5)


@pytest.mark.hole("03.8")
def test_grad_of_an_intermediate_result():
    a, b = leaf(2.0), leaf(0.5)
    c = a * b
    to_c, to_a = torch.autograd.grad(c.exp(), (c, a))
    assert_close([to_c.item(), to_a.item()], [np.e, 0.5 * np.e], rtol=1e-5)
    assert a.grad is None and b.grad is None, "grad() touches no .grad"


@pytest.mark.hole("03.8")
def test_the_same_input_twice():
    a, b = leaf([2.0]), leaf([3.0])
    found = torch.autograd.grad(a * b, (a, b, a))
    assert [g.tolist() for g in found] == [[3.0], [2.0], [3.0]]


@pytest.mark.hole("03.8")
def test_two_results_of_one_operation():
    low, high = (leaf([1.0, 2.0]) * 1.0).unbind()
    found = torch.autograd.grad(low * 3.0 + high * 5.0, (low, high))
    assert [g.item() for g in found] == [3.0, 5.0]
