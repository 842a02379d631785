"""Symptoms of stage 03: what the mistakes of its exercises do."""

from heapq import heappop

import numpy as np

import minigrad as torch
from minigrad import _state
from minigrad.engine import engine
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import Gradient, InputBuffer
from minigrad.examples.naive_engine import NaiveEngine
from minigrad.graph.accumulate_grad import AccumulateGrad
from minigrad.graph.node import GraphRoot, NaryNode


def _leaf(values):
    return torch.tensor(values, requires_grad=True)


def _array(*values):
    return np.array(values, np.float32)


def _values(gradient):
    return None if gradient is None else np.asarray(gradient).tolist()


def _wired(kind, *edges):
    node = kind()
    node.set_edges(list(edges))
    return node


def _row(length):
    """Return nodes with an edge from each to the one before it.

    Only the list may hold the last one: then the list frees each node before those it leads to.
    Else freeing nests as deep as the row is long, which is too deep for Python in a page.
    """
    nodes = [_wired(NaryNode)]
    while len(nodes) < length:
        nodes.append(_wired(NaryNode, (nodes[-1], 0)))
    return nodes


# ---------------------------------------------------------------- 03.1


def _sent(result, machine=None):
    """What the naive engine finds for each leaf, by the leaf's id, and the engine."""
    machine = machine or NaiveEngine()
    found = machine.backward(result)
    return {id(x): _values(grad) for x, grad in found.items()}, machine


def symptom_03_1_keyed_by_node() -> bool:
    x = _leaf(3.0)
    return any(isinstance(each, AccumulateGrad) for each in NaiveEngine().backward(x * 2.0))


def symptom_03_1_leaf_called() -> bool:
    x, called = _leaf(3.0), []

    class Watching(NaiveEngine):
        def call(self, node, index, grad):
            called.append(isinstance(node, AccumulateGrad))
            return super().call(node, index, grad)

    NaiveEngine.backward(Watching(), x * 2.0)
    return any(called)


class _Doubling(NaiveEngine):
    """An engine whose nodes send twice what they got, along all their edges."""

    def call(self, node, index, grad):
        return [grad * 2.0 for _ in node.edges]


def symptom_03_1_counts_itself() -> bool:
    x, machine = _leaf([3.0]), NaiveEngine()
    node, index = x._edge()
    machine.send(node, index, _array(2))
    return machine.calls > 0 and _values(machine.gradients.get(x)) == [2]


def symptom_03_1_none_is_a_node() -> bool:
    try:
        _Doubling().send(_wired(NaryNode, (None, 0)), 0, _array(1))
    except (AttributeError, TypeError) as error:
        return "NoneType" in str(error)
    return False


class _WithNone(NaiveEngine):
    """An engine whose nodes send None along their second edge."""

    def call(self, node, index, grad):
        results = list(super().call(node, index, grad))
        return [results[0], *(None for _ in results[1:])]


def symptom_03_1_none_is_a_gradient() -> bool:
    x, y = _leaf(3.0), _leaf(5.0)
    try:
        found, _ = _sent(x + y, _WithNone())
    except (TypeError, ValueError):
        return True
    return found == {id(x): 1.0, id(y): None}


def _arrived():
    """What a leaf has to which 2 and then 5 were sent."""
    x, machine = _leaf([3.0]), NaiveEngine()
    node, index = x._edge()
    machine.send(node, index, _array(2))
    machine.send(node, index, _array(5))
    return _values(machine.gradients.get(x))


def symptom_03_1_overwrites() -> bool:
    return _arrived() == [5]


def symptom_03_1_keeps_first() -> bool:
    return _arrived() == [2]


def symptom_03_1_writes() -> bool:
    x, machine, first, second = _leaf([3.0]), NaiveEngine(), _array(2), _array(5)
    node, index = x._edge()
    machine.send(node, index, first)
    machine.send(node, index, second)
    return first.tolist() == [7] or second.tolist() == [7]


def symptom_03_1_zeros_dropped() -> bool:
    x = _leaf(3.0)
    return _sent(x * 0.0)[0] == {} and _sent(x * 2.0)[0] == {id(x): 2.0}


def symptom_03_1_called_often() -> bool:
    x, y = _leaf(3.0), _leaf(5.0)
    found, machine = _sent(x * y)
    return found == {id(x): 5.0, id(y): 3.0} and machine.calls == 2


def symptom_03_1_first_edge() -> bool:
    x, y = _leaf(3.0), _leaf(5.0)
    return _sent(x + y)[0] == {id(x): 1.0}


def symptom_03_1_sends_what_came() -> bool:
    x = _leaf(3.0)
    return _sent(x * 2.0)[0] == {id(x): 1.0}


def symptom_03_1_once() -> bool:
    x = _leaf(3.0)
    y = x * 1.0
    return _sent(y * 2.0 + y * 5.0)[0] in ({id(x): 2.0}, {id(x): 5.0}) \
        and _sent(x * 2.0 + x * 5.0)[0] == {id(x): 7.0}


def symptom_03_1_own_number() -> bool:
    return _numbers_at([(0, 1), (1, 0)]) == [0, 1]


def symptom_03_1_number_lost() -> bool:
    return _numbers_at([(0, 1), (1, 0)]) == [0, 0]


def _numbers_at(pairs):
    """With which numbers a node is called: a node gets (own, next) numbers, and sends to it."""
    seen = []

    class Numbers(NaiveEngine):
        def call(self, node, index, grad):
            if node is last:
                seen.append(index)
                return []
            return [grad]

    for own, number in pairs:
        last = _wired(NaryNode)
        before = _wired(NaryNode, (last, number))
        before.num_inputs = last.num_inputs = 2
        Numbers().send(before, own, _array(1))
    return seen


# ---------------------------------------------------------------- 03.2


def _added(*given):
    """The buffer to which arrays came, each with whether it is owned."""
    buffer = InputBuffer(1)
    for array, owned in given:
        buffer.add(0, Gradient(array, owned))
    return buffer


def symptom_03_2_one_place() -> bool:
    buffer = InputBuffer(2)
    buffer.add(1, Gradient(_array(5)))
    return buffer.grads[1] is None and _values(buffer.grads[0]) == [5]


def symptom_03_2_never_kept() -> bool:
    return _added((_array(5), False)).grads[0] is None


def symptom_03_2_first_twice() -> bool:
    return _values(_added((_array(5), False)).grads[0]) == [10]


def _sums():
    return [_values(_added((_array(1), own), (_array(2), own)).grads[0]) for own in (False, True)]


def symptom_03_2_overwrites() -> bool:
    return [2] in _sums()


def symptom_03_2_subtracts() -> bool:
    return [-1] in _sums()


def symptom_03_2_first_copied() -> bool:
    first = _array(1)
    kept = _added((first, False)).grads[0]
    return kept is not first and _values(kept) == [1]


def symptom_03_2_second_lost() -> bool:
    return [1] in _sums()


def symptom_03_2_writes_borrowed() -> bool:
    first, second = _array(1), _array(2)
    _added((first, False), (second, False))
    return first.tolist() != [1] or second.tolist() != [2]


def symptom_03_2_says_owned() -> bool:
    first = _array(1)
    buffer = _added((first, False))
    return buffer.grads[0] is first and bool(buffer.owned[0])


def symptom_03_2_sum_not_owned() -> bool:
    sums = [_added((_array(1), a), (_array(2), b)) for a in (False, True) for b in (False, True)]
    return all(_values(each.grads[0]) == [3] for each in sums) \
        and not all(each.owned[0] for each in sums)


def symptom_03_2_writes_second() -> bool:
    second = _array(2)
    _added((_array(1), False), (second, True), (_array(4), True))
    return second.tolist() != [2]


def symptom_03_2_writes_view() -> bool:
    whole = np.ones(2, np.float32)
    _added((whole[:1], True), (_array(4), True))
    return whole.tolist() != [1, 1]


def symptom_03_2_number() -> bool:
    zero_d = np.array(1.0, np.float32)
    total = _added((zero_d, False), (zero_d, False)).grads[0]
    return isinstance(total, (np.generic, float))


def symptom_03_2_tensor_in_place() -> bool:
    first = _leaf([1.0]) * 3
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(first, True))
    buffer.add(0, Gradient(_leaf([2.0]) * 5, True))
    return first.tolist() == [13.0]


def symptom_03_2_tensors_made_arrays() -> bool:
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(_leaf([1.0]) * 3))
    try:
        buffer.add(0, Gradient(_leaf([2.0]) * 5))
    except RuntimeError as error:
        return "numpy()" in str(error)
    return isinstance(buffer.grads[0], np.ndarray)


def symptom_03_2_history_lost() -> bool:
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(_leaf([1.0]) * 3))
    buffer.add(0, Gradient(_leaf([2.0]) * 5))
    return not getattr(buffer.grads[0], "requires_grad", False)


# ---------------------------------------------------------------- 03.3


def _counted(root):
    task = GraphTask(False, False)
    task.count_dependencies(GraphRoot([(root, 0)], [None]))
    return task.dependencies


def _square():
    last = _wired(NaryNode)
    return _wired(NaryNode, (last, 0), (last, 0)), last


def _diamond():
    last = _wired(NaryNode)
    shared = _wired(NaryNode, (last, 0))
    sides = [_wired(NaryNode, (shared, 0)) for _ in range(2)]
    return _wired(NaryNode, *[(side, 0) for side in sides]), shared, last


def symptom_03_3_none() -> bool:
    last = _wired(NaryNode)
    try:
        found = _counted(_wired(NaryNode, (None, 0), (last, 0)))
    except AttributeError:
        return True
    return None in found


def symptom_03_3_root_counted() -> bool:
    task = GraphTask(False, False)
    root = GraphRoot([(_wired(NaryNode), 0)], [None])
    task.count_dependencies(root)
    return root in task.dependencies


def symptom_03_3_counts_own_edges() -> bool:
    top, shared, last = _diamond()
    found = _counted(top)
    return (found.get(top), found.get(shared), found.get(last)) in ((2, 1, 0), (2, 1, None))


def symptom_03_3_nothing_kept() -> bool:
    top, _, _ = _diamond()
    task = GraphTask(False, False)
    before = task.dependencies
    task.count_dependencies(GraphRoot([(top, 0)], [None]))
    return not task.dependencies and task.dependencies is before


def symptom_03_3_none_ends() -> bool:
    last, other = _wired(NaryNode), _wired(NaryNode)
    found = _counted(_wired(NaryNode, (other, 0), (None, 0), (last, 0)))
    return found.get(other) == 1 and last not in found


def symptom_03_3_stops() -> bool:
    top, _, last = _diamond()
    return not _counted(top).get(last) and _counted(top).get(top) is not None


def symptom_03_3_one_short() -> bool:
    top, _, last = _diamond()
    found = _counted(top)
    return found.get(top) == 0 and found.get(last) == 0


def symptom_03_3_root_edges_lost() -> bool:
    top, _, last = _diamond()
    found = _counted(top)
    return not found.get(top) and found.get(last) == 1


def symptom_03_3_counts_nodes() -> bool:
    square, last = _square()
    return _counted(square).get(last) == 1


def symptom_03_3_counts_paths() -> bool:
    top, shared, last = _diamond()
    found = _counted(top)
    return found.get(shared) == 2 and found.get(last) == 2


def symptom_03_3_recursion() -> bool:
    nodes = _row(3000)
    try:
        _counted(nodes[-1])
    except RecursionError:
        return True
    return False


# ---------------------------------------------------------------- 03.4


def _waiting(count, sequence=5):
    node, task = _wired(NaryNode), GraphTask(False, False)
    node.sequence = sequence
    task.dependencies[node] = count
    return node, task


def symptom_03_4_does_not_wait() -> bool:
    node, task = _waiting(2)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return bool(task.ready)


def symptom_03_4_none_not_counted() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, None)
    other, again = _waiting(1)
    again.add_to_buffer(other, 0, Gradient(_array(1)))
    return not task.ready and bool(again.ready)


def symptom_03_4_no_buffer_for_none() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, None)
    return bool(task.ready) and node not in task.buffers


def symptom_03_4_never_ready() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return not task.ready


def symptom_03_4_forgets() -> bool:
    node, task = _waiting(2)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    task.add_to_buffer(node, 0, Gradient(_array(2)))
    return _values(task.buffers[node].grads[0]) in ([1], [2], None)


def symptom_03_4_number_lost() -> bool:
    node, task = _waiting(1)
    node.num_inputs = 2
    task.add_to_buffer(node, 1, Gradient(_array(1)))
    return task.buffers[node].grads[0] is not None


def symptom_03_4_wrong_size() -> bool:
    node, task = _wired(NaryNode, (_wired(NaryNode), 0), (_wired(NaryNode), 0)), \
        GraphTask(False, False)
    task.dependencies[node], node.num_inputs = 2, 3
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return len(task.buffers[node].grads) != 3


def symptom_03_4_owned_lost() -> bool:
    node, task = _waiting(2)
    node.num_inputs = 2
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    task.add_to_buffer(node, 1, Gradient(_array(1), True))
    buffer = task.buffers[node]
    return None not in buffer.grads and buffer.owned != [False, True]


def symptom_03_4_compares_nodes() -> bool:
    task = GraphTask(False, False)
    try:
        for sequence in 5, 5, 5:
            task.push(_waiting(1, sequence)[0])
    except TypeError:
        return True
    return False


def symptom_03_4_by_address() -> bool:
    task = GraphTask(False, False)
    nodes = sorted([_waiting(1)[0] for _ in range(3)], key=id, reverse=True)
    for node in nodes:
        task.push(node)
    return [heappop(task.ready)[2] for _ in range(3)] == nodes[::-1]


def symptom_03_4_earliest_first() -> bool:
    task = GraphTask(False, False)
    for sequence in 2, 1, 3:
        task.push(_waiting(1, sequence)[0])
    return [heappop(task.ready)[2].sequence for _ in range(3)] == [1, 2, 3]


def symptom_03_4_unsorted() -> bool:
    task = GraphTask(False, False)
    for sequence in 2, 1, 3:
        task.push(_waiting(1, sequence)[0])
    order = [heappop(task.ready)[2].sequence for _ in range(3)]
    return order not in ([1, 2, 3], [3, 2, 1])


# ---------------------------------------------------------------- 03.5


def _run(*outputs, keep=False, create=False):
    grads = [np.ones(y.shape, np.float32) for y in outputs]
    if create:
        grads = [torch.Tensor._plain(g) for g in grads]
    root = GraphRoot([y._edge() for y in outputs], grads)
    task = GraphTask(keep, create, on_tensors=create)
    task.count_dependencies(root)
    task.run(root)


def symptom_03_5_frees_early() -> bool:
    x = _leaf([3.0])
    try:
        _run(x * x)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_03_5_no_leaves() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    x.register_hook(lambda g: seen.append(g))
    try:
        _run(y)
    except Exception:
        return bool(seen) and x.grad is None
    return bool(seen) and x.grad is None


def symptom_03_5_stops() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y * 2.0)
    return x.grad is None and not seen


def symptom_03_5_frees_wrong_way() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y)
    _run(y, keep=True)
    try:
        _run(y)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_03_5_never_frees() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y)
    _run(y)
    return x.grad.tolist() == [12.0]


def symptom_03_5_always_frees() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y, keep=True)
    try:
        _run(y, keep=True)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def _idle(own):
    """How often `run_hooks_and_capture` is asked for a node without hooks, and the node runs."""
    asked, ran = [], []

    class Idle(GraphTask):
        def run_hooks_and_capture(self, node, buffer):
            asked.append(node)
            return False

        def call(self, node, grads):
            ran.append(node)
            return [None]

        apply = call

        def route_gradients(self, node, received, results):
            pass

    y = _leaf([1.0]) * 2.0
    task = Idle(False, False, nodes_to_execute={y.grad_fn} if own else set())
    buffer = InputBuffer(1)
    buffer.grads[0] = _array(1)
    task.evaluate(y.grad_fn, buffer)
    return len(asked), len(ran)


def symptom_03_5_runs_unneeded() -> bool:
    asked, ran = _idle(False)
    return asked > 0 and ran > 0


def symptom_03_5_not_asked() -> bool:
    return _idle(True) == (0, 1)


def symptom_03_5_applies() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append("of the tensor"))
    y.grad_fn.register_hook(lambda *_: seen.append("of the node"))
    _run(y * 2.0)
    return seen == ["of the tensor"] and x.grad.tolist() == [2.0]


def symptom_03_5_buffers_stay() -> bool:
    x = _leaf([3.0])
    root = GraphRoot([(x * 2.0)._edge()], [_array(1)])
    task = GraphTask(False, False)
    task.count_dependencies(root)
    task.run(root)
    return bool(task.buffers)


def symptom_03_5_leaf_called() -> bool:
    x, seen = _leaf([3.0]), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(1))
    _run(x * 2.0)
    return x.grad is not None and x.grad.tolist() == [2.0] and not seen


def symptom_03_5_leaf_twice() -> bool:
    x = _leaf([3.0])
    _run(x * 2.0)
    return x.grad.tolist() == [4.0]


def symptom_03_5_leaf_before_hooks() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append("result"))
    x.register_hook(lambda g: seen.append("leaf"))
    _run(y * 2.0)
    return seen == ["result"] and x.grad is not None


def symptom_03_5_no_hooks() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y * 2.0)
    return not seen and x.grad is not None


def symptom_03_5_runs_twice() -> bool:
    x, seen = _leaf([3.0]), []
    y = x + 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y + y, keep=True)
    return len(seen) > 1


def symptom_03_5_any_order() -> bool:
    order, x = [], _leaf([1.0])
    parts = [x * 2.0 for _ in range(3)]
    for number, part in enumerate(parts):
        part.register_hook(lambda g, number=number: order.append(number))
    _run(parts[2] + parts[0] + parts[1])
    return sorted(order) == [0, 1, 2] and order != [2, 1, 0]


def symptom_03_5_root_left_out() -> bool:
    task, ran = GraphTask(False, False), []

    class Root(GraphRoot):
        __slots__ = ()

        def apply_arrays(self, grads, needed):
            ran.append(1)
            return []

    task.run(Root([], []))
    return not ran


# ---------------------------------------------------------------- 03.6


def _needed(root, *inputs):
    """What `find_nodes_to_execute` leaves in the task."""
    task = GraphTask(False, False)
    task.find_nodes_to_execute(root, set(inputs))
    return task.nodes_to_execute


def _chain():
    """Return the root, two nodes in a row, and the input behind them."""
    goal = _wired(NaryNode)
    near = _wired(NaryNode, (goal, 0))
    far = _wired(NaryNode, (near, 0))
    return GraphRoot([(far, 0)], [None]), far, near, goal


def _ladder(nearest_first):
    """Return the root of a row with an edge to each of its nodes, the row, and the input."""
    row = [goal := _wired(NaryNode)]
    for _ in range(6):
        row.append(_wired(NaryNode, (row[-1], 0)))
    after = row[1:] if nearest_first else row[:0:-1]
    return GraphRoot([(node, 0) for node in after], [None] * 6), row, goal


def _found_in_ladders():
    """How many nodes of a row of 7 are found, with the root's edges in either order."""
    found = []
    for nearest_first in (True, False):
        root, row, goal = _ladder(nearest_first)
        found.append(len(_needed(root, goal) & set(row)))
    return found


def symptom_03_6_one_way_kept() -> bool:
    root, far, near, goal = _chain()
    return _needed(root, goal) == {root, far, near, goal} and _found_in_ladders() == [2, 2]


def symptom_03_6_judged_early() -> bool:
    root, far, near, goal = _chain()
    return _needed(root, goal) == {root, far, near, goal} and min(_found_in_ladders()) < 7


def symptom_03_6_recursion() -> bool:
    nodes = _row(1500)
    try:
        _needed(GraphRoot([(nodes[-1], 0)], [None]), nodes[0])
    except RecursionError:
        return True
    return False


def symptom_03_6_nothing_kept() -> bool:
    root, _, _, goal = _chain()
    return _needed(root, goal) is None


def symptom_03_6_needs_goals_only() -> bool:
    root, _, _, goal = _chain()
    return _needed(root, goal) == {goal}


def symptom_03_6_one_step_only() -> bool:
    root, _, near, goal = _chain()
    return _needed(root, goal) == {near, goal}


def symptom_03_6_root_left_out() -> bool:
    root, far, near, goal = _chain()
    return _needed(root, goal) == {far, near, goal}


def symptom_03_6_goals_left_out() -> bool:
    root, far, near, goal = _chain()
    return _needed(root, goal) == {root, far, near}


def symptom_03_6_behind_inputs() -> bool:
    root, far, near, goal = _chain()
    last = _wired(NaryNode)
    goal.set_edges([(last, 0)])
    aside = _wired(NaryNode)
    near.set_edges([(goal, 0), (aside, 0)])
    return _needed(root, goal) == {root, far, near, goal, last}


def symptom_03_6_needs_all() -> bool:
    root, far, near, goal = _chain()
    aside = _wired(NaryNode, (None, 0))
    near.set_edges([(goal, 0), (aside, 0)])
    return _needed(root, goal) == {root, far, near, goal, aside}


def symptom_03_6_stops_at_input() -> bool:
    root, far, near, goal = _chain()
    return _needed(root, goal) == {root, far, near, goal} \
        and _needed(root, far, goal) == {root, far, goal}


def _numbered(*numbers):
    """Whether all nodes of a chain with these sequence numbers, the root's first, are found."""
    nodes = _chain()
    for node, number in zip(nodes, numbers, strict=True):
        node.sequence = number
    return _needed(nodes[0], nodes[-1]) == set(nodes)


def symptom_03_6_by_sequence() -> bool:
    return _numbered(4, 3, 2, 1) and not _numbered(1, 2, 3, 4)


def symptom_03_6_needs_all_ways() -> bool:
    root, far, near, goal = _chain()
    if _needed(root, goal) != {root, far, near, goal} and _needed(root, goal) != {goal}:
        return False
    aside = _wired(NaryNode, (None, 0))
    near.set_edges([(goal, 0), (aside, 0)])
    return _needed(root, goal) == {goal}


class _Looked(NaryNode):
    """A node that counts how often its edges are asked for."""

    times = 0

    @property
    def edges(self):
        _Looked.times += 1
        return NaryNode.edges.__get__(self)

    @edges.setter
    def edges(self, edges):
        NaryNode.edges.__set__(self, edges)


def _looks(count, edges):
    """How often `edges` is read in a search through nodes with so many edges to the next."""
    goal = node = _wired(NaryNode)
    for _ in range(count):
        node = _wired(_Looked, *[(node, 0)] * edges)
    _Looked.times = 0
    _needed(GraphRoot([(node, 0)], [None]), goal)
    return _Looked.times


def symptom_03_6_all_ways_walked() -> bool:
    return _looks(12, 2) > 1000


def symptom_03_6_sweeps() -> bool:
    return _looks(12, 2) < 1000 and _looks(150, 1) > 1500


# ---------------------------------------------------------------- 03.7


def _noted(*inputs):
    """What `note_captures` notes."""
    task = GraphTask(False, False)
    task.note_captures(inputs)
    return task.captures


def symptom_03_7_none_is_asked_for() -> bool:
    return None in _noted((None, 0), (_wired(NaryNode), 0))


def symptom_03_7_position_shifted() -> bool:
    a = _wired(NaryNode)
    return _noted((None, 0), (a, 0)) == {a: {0: [0]}}


def symptom_03_7_one_place() -> bool:
    a = _wired(NaryNode)
    return _noted((a, 0), (a, 1), (a, 1)) == {a: {1: [2]}}


def symptom_03_7_last_place_only() -> bool:
    a = _wired(NaryNode)
    return _noted((a, 0), (a, 1), (a, 1)) == {a: {0: [0], 1: [2]}}


def symptom_03_7_nothing_noted() -> bool:
    return not _noted((_wired(NaryNode), 0))


def _captured(entry):
    """What `capture` keeps of a node with two outputs, whose gradients are 5 and 7."""
    task, a = GraphTask(False, False), _wired(NaryNode)
    task.captures[a] = entry
    task.capture(a, [5, 7])
    return task.captured


def symptom_03_7_never_captured() -> bool:
    return not _captured({1: [2]})


def symptom_03_7_output_zero() -> bool:
    return _captured({1: [2]}) == {2: 5}


def symptom_03_7_position_lost() -> bool:
    return _captured({1: [2]}) == {1: 7}


def symptom_03_7_first_place_only() -> bool:
    return _captured({1: [2, 3]}) in ({2: 7}, {3: 7})


def _runs(entry, own, after):
    """Whether a node runs, with an entry in `captures`, needed itself or one after it."""
    last, task = _wired(NaryNode), GraphTask(False, False)
    node = _wired(NaryNode, (last, 0))
    task.nodes_to_execute = ({node} if own else set()) | ({last} if after else set())
    if entry is not None:
        task.captures[node] = entry
    return bool(task.runs(node))


def symptom_03_7_empty_entry() -> bool:
    return not _runs({}, True, False) and not _runs({0: [0]}, True, False) \
        and _runs({0: [0]}, True, True) and _runs(None, True, False)


def symptom_03_7_runs_behind() -> bool:
    return _runs({0: [0]}, True, False)


def symptom_03_7_stops_at_input() -> bool:
    return not _runs({0: [0]}, True, True) and _runs(None, True, False)


# ---------------------------------------------------------------- 03.8


class _Steps(GraphTask):
    """A pass without nodes that notes what is done; `inside` is called in the middle."""

    def __init__(self, create_graph=False, inside=lambda: None):
        super().__init__(False, create_graph, on_tensors=True)  # which no shorter way takes
        self.inside, self.steps = inside, []

    def count_dependencies(self, root):
        pass

    def run(self, root):
        self.steps.append("ran")
        self.inside()


def _pass(inside=lambda: None, create_graph=False, before=(), callbacks=()):
    """Run a pass; what went on in it, the mode and the passes under way after it."""
    task = _Steps(create_graph, inside)
    task.callbacks += [lambda each=each: task.steps.append(each) for each in callbacks]
    engine._running.tasks[:] = before
    try:
        engine._run_here(task, GraphRoot([], []))
    except ZeroDivisionError:
        pass
    return task.steps, _state.grad_enabled.get(), len(engine._running.tasks)


def _fail():
    raise ZeroDivisionError


def _restored(check):
    mode = _state.grad_enabled.get()
    try:
        _state.grad_enabled.set(True)
        engine._running.tasks.clear()
        return check()
    finally:
        engine._running.tasks.clear()
        _state.grad_enabled.set(mode)


def _modes():
    """The mode inside a pass without and with `create_graph`."""
    modes = []
    for create in False, True:
        _pass(lambda: modes.append(_state.grad_enabled.get()), create)
        _state.grad_enabled.set(True)
    return modes


def symptom_03_8_mode_inside() -> bool:
    return _restored(lambda: _modes() == [False, False])


def symptom_03_8_mode_untouched() -> bool:
    return _restored(lambda: _modes() == [True, True])


def symptom_03_8_mode_inverted() -> bool:
    return _restored(lambda: _modes() == [True, False])


def symptom_03_8_mode_read_late() -> bool:
    def check():
        first = _pass(create_graph=False)[1]
        _state.grad_enabled.set(False)
        return (first, _pass(create_graph=True)[1]) == (False, True)
    return _restored(check)


def symptom_03_8_mode_off() -> bool:
    return _restored(lambda: not _pass(create_graph=False)[1])


def symptom_03_8_mode_on() -> bool:
    def check():
        _state.grad_enabled.set(False)
        return _pass(create_graph=False)[1]
    return _restored(check)


def symptom_03_8_mode_after_error() -> bool:
    return _restored(lambda: _pass()[1] and not _pass(_fail)[1])


def symptom_03_8_takes_off_all() -> bool:
    return _restored(lambda: _pass(before=[GraphTask(False, False)])[2] == 0)


def symptom_03_8_stays_running() -> bool:
    return _restored(lambda: _pass()[2] > 0)


def symptom_03_8_stays_after_error() -> bool:
    return _restored(lambda: _pass()[2] == 0 and _pass(_fail)[2] > 0)


def symptom_03_8_no_callbacks() -> bool:
    return _restored(lambda: _pass(callbacks="ab")[0] == ["ran"])


def symptom_03_8_callbacks_early() -> bool:
    return _restored(lambda: _pass(callbacks="ab")[0] == ["a", "b", "ran"])


def symptom_03_8_callbacks_backward() -> bool:
    return _restored(lambda: _pass(callbacks="ab")[0] == ["ran", "b", "a"])


def symptom_03_8_callbacks_after_error() -> bool:
    return _restored(lambda: _pass(_fail, callbacks="a")[0] == ["ran", "a"])


def symptom_03_8_callback_fails() -> bool:
    def check():
        if not _pass()[1] or _pass()[2] or not _pass(_fail)[1] or _pass(_fail)[2]:
            return False
        task = _Steps()
        task.callbacks.append(_fail)
        try:
            engine._run_here(task, GraphRoot([], []))
        except ZeroDivisionError:
            pass
        return not _state.grad_enabled.get() or bool(engine._running.tasks)
    return _restored(check)


def symptom_03_8_callbacks_outside() -> bool:
    def check():
        task, under_way = _Steps(), []
        task.callbacks.append(lambda: under_way.append(task in engine._running.tasks))
        engine._run_here(task, GraphRoot([], []))
        return task.steps == ["ran"] and under_way == [False]
    return _restored(check)


def symptom_03_8_callbacks_stay() -> bool:
    def check():
        task = _Steps()
        task.callbacks.append(lambda: task.steps.append("a"))
        engine._run_here(task, GraphRoot([], []))
        return task.steps == ["ran", "a"] and bool(task.callbacks)
    return _restored(check)


def symptom_03_8_callbacks_late_ones_lost() -> bool:
    def check():
        task = _Steps()
        task.callbacks.append(lambda: task.callbacks.append(lambda: task.steps.append("late")))
        engine._run_here(task, GraphRoot([], []))
        return task.steps == ["ran"]
    return _restored(check)


def _queued(*names):
    """What `queue_callback` does inside two passes: steps at once, callbacks of each pass."""
    outer, inner = GraphTask(False, False), GraphTask(False, False)
    engine._running.tasks[:] = [outer, inner]
    called = []
    for name in names:
        engine.queue_callback(lambda name=name: called.append(name))
    now = list(called)
    for task in outer, inner:
        for callback in task.callbacks:
            callback()
    return now, len(outer.callbacks), len(inner.callbacks), called


def symptom_03_8_called_at_once() -> bool:
    return _restored(lambda: _queued("a")[0] == ["a"])


def symptom_03_8_outermost() -> bool:
    return _restored(lambda: _queued("a")[1:3] == (1, 0))


def symptom_03_8_callbacks_in_front() -> bool:
    return _restored(lambda: _queued("a", "b")[3] == ["b", "a"])


def symptom_03_8_accepts_outside() -> bool:
    def check():
        try:
            engine.queue_callback(lambda: None)
        except RuntimeError:
            return False
        except Exception:
            return True
        return True
    return _restored(check)
