"""Symptoms of stage 03: what the mistakes of its exercises do."""

from heapq import heappop

import numpy as np

import minigrad as torch
from minigrad import _state
from minigrad.engine import engine
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import Gradient, InputBuffer
from minigrad.graph.node import GraphRoot, NaryNode


def _leaf(values):
    return torch.tensor(values, requires_grad=True)


def _array(*values):
    return np.array(values, np.float32)


def _values(gradient):
    return None if gradient is None else np.asarray(gradient).tolist()


# ---------------------------------------------------------------- 03.1


def _added(*given):
    """The buffer to which arrays came, each with whether it is owned."""
    buffer = InputBuffer(1)
    for array, owned in given:
        buffer.add(0, Gradient(array, owned))
    return buffer


def symptom_03_1_one_place() -> bool:
    buffer = InputBuffer(2)
    buffer.add(1, Gradient(_array(5)))
    return buffer.grads[1] is None and _values(buffer.grads[0]) == [5]


def symptom_03_1_never_kept() -> bool:
    return _added((_array(5), False)).grads[0] is None


def symptom_03_1_first_twice() -> bool:
    return _values(_added((_array(5), False)).grads[0]) == [10]


def _sums():
    return [_values(_added((_array(1), own), (_array(2), own)).grads[0]) for own in (False, True)]


def symptom_03_1_overwrites() -> bool:
    return [2] in _sums()


def symptom_03_1_subtracts() -> bool:
    return [-1] in _sums()


def symptom_03_1_first_copied() -> bool:
    first = _array(1)
    kept = _added((first, False)).grads[0]
    return kept is not first and _values(kept) == [1]


def symptom_03_1_second_lost() -> bool:
    return [1] in _sums()


def symptom_03_1_writes_borrowed() -> bool:
    first, second = _array(1), _array(2)
    _added((first, False), (second, False))
    return first.tolist() != [1] or second.tolist() != [2]


def symptom_03_1_says_owned() -> bool:
    return bool(_added((_array(1), False)).owned[0])


def symptom_03_1_writes_second() -> bool:
    second = _array(2)
    _added((_array(1), False), (second, True), (_array(4), True))
    return second.tolist() != [2]


def symptom_03_1_writes_view() -> bool:
    whole = np.ones(2, np.float32)
    _added((whole[:1], True), (_array(4), True))
    return whole.tolist() != [1, 1]


def symptom_03_1_number() -> bool:
    zero_d = np.array(1.0, np.float32)
    total = _added((zero_d, False), (zero_d, False)).grads[0]
    return isinstance(total, (np.generic, float))


def symptom_03_1_tensor_in_place() -> bool:
    first = _leaf([1.0]) * 3
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(first, True))
    buffer.add(0, Gradient(_leaf([2.0]) * 5, True))
    return first.tolist() == [13.0]


def symptom_03_1_tensors_made_arrays() -> bool:
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(_leaf([1.0]) * 3))
    try:
        buffer.add(0, Gradient(_leaf([2.0]) * 5))
    except RuntimeError as error:
        return "numpy()" in str(error)
    return isinstance(buffer.grads[0], np.ndarray)


def symptom_03_1_history_lost() -> bool:
    buffer = InputBuffer(1)
    buffer.add(0, Gradient(_leaf([1.0]) * 3))
    buffer.add(0, Gradient(_leaf([2.0]) * 5))
    return not getattr(buffer.grads[0], "requires_grad", False)


# ---------------------------------------------------------------- 03.2


def _wired(kind, *edges):
    node = kind()
    node.set_edges(list(edges))
    return node


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


def symptom_03_2_none() -> bool:
    last = _wired(NaryNode)
    try:
        found = _counted(_wired(NaryNode, (None, 0), (last, 0)))
    except AttributeError:
        return True
    return None in found


def symptom_03_2_root_counted() -> bool:
    task = GraphTask(False, False)
    root = GraphRoot([(_wired(NaryNode), 0)], [None])
    task.count_dependencies(root)
    return root in task.dependencies


def symptom_03_2_counts_own_edges() -> bool:
    top, shared, last = _diamond()
    found = _counted(top)
    return (found.get(top), found.get(shared), found.get(last)) in ((2, 1, 0), (2, 1, None))


def symptom_03_2_nothing_kept() -> bool:
    top, _, _ = _diamond()
    task = GraphTask(False, False)
    before = task.dependencies
    task.count_dependencies(GraphRoot([(top, 0)], [None]))
    return not task.dependencies and task.dependencies is before


def symptom_03_2_none_ends() -> bool:
    last, other = _wired(NaryNode), _wired(NaryNode)
    found = _counted(_wired(NaryNode, (other, 0), (None, 0), (last, 0)))
    return found.get(other) == 1 and last not in found


def symptom_03_2_stops() -> bool:
    top, _, last = _diamond()
    return not _counted(top).get(last) and _counted(top).get(top) is not None


def symptom_03_2_one_short() -> bool:
    top, _, last = _diamond()
    found = _counted(top)
    return found.get(top) == 0 and found.get(last) == 0


def symptom_03_2_root_edges_lost() -> bool:
    top, _, last = _diamond()
    found = _counted(top)
    return not found.get(top) and found.get(last) == 1


def symptom_03_2_counts_nodes() -> bool:
    square, last = _square()
    return _counted(square).get(last) == 1


def symptom_03_2_counts_paths() -> bool:
    top, shared, last = _diamond()
    found = _counted(top)
    return found.get(shared) == 2 and found.get(last) == 2


def symptom_03_2_recursion() -> bool:
    node = _wired(NaryNode)
    for _ in range(3000):
        node = _wired(NaryNode, (node, 0))
    try:
        _counted(node)
    except RecursionError:
        return True
    return False


# ---------------------------------------------------------------- 03.3


def _waiting(count, sequence=5):
    node, task = _wired(NaryNode), GraphTask(False, False)
    node.sequence = sequence
    task.dependencies[node] = count
    return node, task


def symptom_03_3_needed_is_none() -> bool:
    node, task = _waiting(1)
    try:
        task.add_to_buffer(node, 0, Gradient(_array(1)))
    except TypeError:
        task.nodes_to_execute = {node}
        task.dependencies[node] = 1
        task.add_to_buffer(node, 0, Gradient(_array(1)))
        return bool(task.ready)
    return False


def symptom_03_3_does_not_wait() -> bool:
    node, task = _waiting(2)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return bool(task.ready)


def symptom_03_3_none_not_counted() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, None)
    other, again = _waiting(1)
    again.add_to_buffer(other, 0, Gradient(_array(1)))
    return not task.ready and bool(again.ready)


def symptom_03_3_no_buffer_for_none() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, None)
    return bool(task.ready) and node not in task.buffers


def symptom_03_3_never_ready() -> bool:
    node, task = _waiting(1)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return not task.ready


def symptom_03_3_forgets() -> bool:
    node, task = _waiting(2)
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    task.add_to_buffer(node, 0, Gradient(_array(2)))
    return _values(task.buffers[node].grads[0]) in ([1], [2], None)


def symptom_03_3_number_lost() -> bool:
    node, task = _waiting(1)
    node.num_inputs = 2
    task.add_to_buffer(node, 1, Gradient(_array(1)))
    return task.buffers[node].grads[0] is not None


def symptom_03_3_owned_lost() -> bool:
    node, task = _waiting(2)
    node.num_inputs = 2
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    task.add_to_buffer(node, 1, Gradient(_array(1), True))
    buffer = task.buffers[node]
    return None not in buffer.grads and buffer.owned != [False, True]


def symptom_03_3_pushes_unneeded() -> bool:
    node, task = _waiting(1)
    task.nodes_to_execute = set()
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return bool(task.ready)


def symptom_03_3_keeps_buffer() -> bool:
    node, task = _waiting(1)
    task.nodes_to_execute = set()
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return node in task.buffers and not task.ready


def symptom_03_3_needed_left_out() -> bool:
    node, task = _waiting(1)
    task.nodes_to_execute = {node}
    task.add_to_buffer(node, 0, Gradient(_array(1)))
    return not task.ready


def symptom_03_3_compares_nodes() -> bool:
    task = GraphTask(False, False)
    try:
        for sequence in 5, 5, 5:
            task.push(_waiting(1, sequence)[0])
    except TypeError:
        return True
    return False


def symptom_03_3_by_address() -> bool:
    task = GraphTask(False, False)
    nodes = sorted([_waiting(1)[0] for _ in range(3)], key=id, reverse=True)
    for node in nodes:
        task.push(node)
    return [heappop(task.ready)[2] for _ in range(3)] == nodes[::-1]


def symptom_03_3_earliest_first() -> bool:
    task = GraphTask(False, False)
    for sequence in 2, 1, 3:
        task.push(_waiting(1, sequence)[0])
    return [heappop(task.ready)[2].sequence for _ in range(3)] == [1, 2, 3]


def symptom_03_3_unsorted() -> bool:
    task = GraphTask(False, False)
    for sequence in 2, 1, 3:
        task.push(_waiting(1, sequence)[0])
    order = [heappop(task.ready)[2].sequence for _ in range(3)]
    return order not in ([1, 2, 3], [3, 2, 1])


# ---------------------------------------------------------------- 03.4


def _run(*outputs, keep=False, create=False, callbacks=()):
    grads = [np.ones(y.shape, np.float32) for y in outputs]
    if create:
        grads = [torch.Tensor._plain(g) for g in grads]
    root = GraphRoot([y._edge() for y in outputs], grads)
    task = GraphTask(keep, create, on_tensors=create)
    task.callbacks += callbacks
    task.count_dependencies(root)
    task.run(root)


def symptom_03_4_frees_early() -> bool:
    x = _leaf([3.0])
    try:
        _run(x * x)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_03_4_no_leaves() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    x.register_hook(lambda g: seen.append(g))
    try:
        _run(y)
    except Exception:
        return bool(seen) and x.grad is None
    return bool(seen) and x.grad is None


def symptom_03_4_stops() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y * 2.0)
    return x.grad is None and not seen


def symptom_03_4_frees_wrong_way() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y)
    _run(y, keep=True)
    try:
        _run(y)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_03_4_never_frees() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y)
    _run(y)
    return x.grad.tolist() == [12.0]


def symptom_03_4_always_frees() -> bool:
    x = _leaf([3.0])
    y = x * x
    _run(y, keep=True)
    try:
        _run(y, keep=True)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def symptom_03_4_runs_unneeded() -> bool:
    ran = []

    class Idle(GraphTask):
        def run_hooks_and_capture(self, node, buffer):
            return False

        def call(self, node, grads):
            ran.append(node)
            return [None]

        def route_gradients(self, node, received, results):
            pass

    task, buffer = Idle(False, False, nodes_to_execute=set()), InputBuffer(1)
    buffer.grads[0] = _array(1)
    task.evaluate((_leaf([1.0]) * 2.0).grad_fn, buffer)
    return bool(ran)


def symptom_03_4_buffers_stay() -> bool:
    x = _leaf([3.0])
    root = GraphRoot([(x * 2.0)._edge()], [_array(1)])
    task = GraphTask(False, False)
    task.count_dependencies(root)
    task.run(root)
    return bool(task.buffers)


def symptom_03_4_leaf_called() -> bool:
    x, seen = _leaf([3.0]), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(1))
    _run(x * 2.0)
    return x.grad is not None and x.grad.tolist() == [2.0] and not seen


def symptom_03_4_leaf_twice() -> bool:
    x = _leaf([3.0])
    _run(x * 2.0)
    return x.grad.tolist() == [4.0]


def symptom_03_4_not_watched() -> bool:
    watched, kept = [], (_state.anomaly.watched, _state.anomaly.enabled)
    _state.anomaly.watched = lambda evaluate: lambda *given: (watched.append(1), evaluate(*given))
    _state.anomaly.enabled = True
    x = _leaf([3.0])
    try:
        _run(x * 2.0)
    finally:
        _state.anomaly.watched, _state.anomaly.enabled = kept
    return not watched and x.grad is not None


def symptom_03_4_no_hooks() -> bool:
    x, seen = _leaf([3.0]), []
    y = x * 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y * 2.0)
    return not seen and x.grad is not None


def symptom_03_4_runs_twice() -> bool:
    x, seen = _leaf([3.0]), []
    y = x + 1.0
    y.register_hook(lambda g: seen.append(g))
    _run(y + y, keep=True)
    return len(seen) > 1


def symptom_03_4_any_order() -> bool:
    order, x = [], _leaf([1.0])
    parts = [x * 2.0 for _ in range(3)]
    for number, part in enumerate(parts):
        part.register_hook(lambda g, number=number: order.append(number))
    _run(parts[2] + parts[0] + parts[1])
    return sorted(order) == [0, 1, 2] and order != [2, 1, 0]


def symptom_03_4_no_callbacks() -> bool:
    x, order = _leaf([3.0]), []
    _run(x * 2.0, callbacks=[lambda: order.append(1)])
    return not order and x.grad is not None


def symptom_03_4_callbacks_early() -> bool:
    x, order = _leaf([3.0]), []
    _run(x * 2.0, callbacks=[lambda: order.append(x.grad is None)])
    return order[:1] == [True]


def symptom_03_4_callbacks_backward() -> bool:
    x, order = _leaf([3.0]), []
    _run(x * 2.0, callbacks=[lambda: order.append(1), lambda: order.append(2)])
    return order == [2, 1]


def symptom_03_4_callbacks_late_ones_lost() -> bool:
    x, order = _leaf([3.0]), []
    root = GraphRoot([(x * 2.0)._edge()], [_array(1)])
    task = GraphTask(False, False)
    task.callbacks.append(lambda: task.callbacks.append(lambda: order.append(1)))
    task.count_dependencies(root)
    task.run(root)
    return not order


# ---------------------------------------------------------------- 03.5


def _pruned(output, inputs, capture=True):
    root = GraphRoot([output._edge()], [np.ones(output.shape, np.float32)])
    task, edges = GraphTask(False, False), [x._edge() for x in inputs]
    task.find_nodes_to_execute(root, {node for node, _ in edges})
    if capture:
        for position, (node, index) in enumerate(edges):
            task.captures.setdefault(node, {}).setdefault(index, []).append(position)
    task.count_dependencies(root)
    task.run(root)
    return [_values(task.captured.get(position)) for position in range(len(inputs))]


def symptom_03_5_recursion() -> bool:
    x = _leaf([1.0])
    y = x
    for _ in range(1500):
        y = y + 1.0
    try:
        _pruned(y, [x])
    except RecursionError:
        return True
    return False


def symptom_03_5_needs_goals_only() -> bool:
    x = _leaf([1.0])
    return _pruned(x.exp().exp(), [x]) == [None] and _needed_short(x)


def _needed_short(x):
    """Whether the one node before the input is taken for one that is not needed."""
    y = x.exp()
    task = GraphTask(False, False)
    task.find_nodes_to_execute(GraphRoot([y._edge()], [None]), {x._edge()[0]})
    return y.grad_fn not in task.nodes_to_execute


def symptom_03_5_needs_all_ways() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    y = a * b
    task = GraphTask(False, False)
    task.find_nodes_to_execute(GraphRoot([y._edge()], [None]), {a._edge()[0]})
    if _needed_short(a):
        return False
    goal, aside = _wired(NaryNode), _wired(NaryNode, (None, 0))  # it leads nowhere
    both, other = _wired(NaryNode, (aside, 0), (goal, 0)), GraphTask(False, False)
    other.find_nodes_to_execute(GraphRoot([(both, 0)], [None]), {goal})
    return y.grad_fn not in task.nodes_to_execute or both not in other.nodes_to_execute


def symptom_03_5_needs_all() -> bool:
    a, b, seen = _leaf([2.0]), _leaf([5.0]), []
    aside = b * 3.0
    aside.grad_fn.register_hook(lambda *_: seen.append(1))
    _pruned(a * 2.0 + aside, [a])
    return bool(seen) or b.grad is not None


class _Capturing(GraphTask):
    """A pass that notes what it captures; `ends` is whether the captured node does not run."""

    def __init__(self, node, order, ends):
        super().__init__(False, False)
        self.order, self.ends = order, ends
        self.captures[node] = {0: [0]}
        self.nodes_to_execute = {node} if ends else None

    def capture(self, node, grads):
        self.order.append(_values(grads[0]))

    def runs(self, node):
        return not (self.ends and node in self.captures)


def _captured(ends):
    """What is captured, where a hook gives ten times as much; "hook" where that was called."""
    order, x = [], _leaf([1.0])
    y = x * 2.0

    def hook(g):
        order.append("hook")
        return g * 10

    y.register_hook(hook)
    task = _Capturing(y.grad_fn, order, ends)
    root = GraphRoot([y._edge()], [np.ones(1, np.float32)])
    task.count_dependencies(root)
    task.run(root)
    return order, x.grad is not None


def symptom_03_5_not_captured() -> bool:
    return ["hook"] in (_captured(True)[0], _captured(False)[0])


def symptom_03_5_never_captured() -> bool:
    a = _leaf([2.0])
    return _pruned(a.exp(), [a]) == [None] and not _needed_short(a)


def symptom_03_5_output_zero() -> bool:
    first, second = (_leaf([1.0, 2.0]) * 1.0).unbind()
    return _pruned(first * 3.0 + second * 5.0, [second]) == [3.0]


def symptom_03_5_first_place_only() -> bool:
    a = _leaf([2.0])
    found = _pruned(a * 3.0, [a, a])
    return sorted(map(str, found)) == ["None", "[3.0]"]


def symptom_03_5_all_ways_walked() -> bool:
    goal = node = _wired(NaryNode)
    times = [0]

    class Looked(NaryNode):
        @property
        def edges(self):
            times[0] += 1
            return NaryNode.edges.__get__(self)

        @edges.setter
        def edges(self, edges):
            NaryNode.edges.__set__(self, edges)

    for _ in range(12):
        node = _wired(Looked, (node, 0), (node, 0))
    GraphTask(False, False).find_nodes_to_execute(GraphRoot([(node, 0)], [None]), {goal})
    return times[0] > 1000


def _needed():
    """Root, node and goal of a chain, and what is needed of them."""
    goal = _wired(NaryNode)
    node = _wired(NaryNode, (goal, 0))
    root, task = GraphRoot([(node, 0)], [None]), GraphTask(False, False)
    task.find_nodes_to_execute(root, {goal})
    return root, node, goal, set(task.nodes_to_execute)


def symptom_03_5_one_step_only() -> bool:
    goal = _wired(NaryNode)
    near = _wired(NaryNode, (goal, 0))
    far, task = _wired(NaryNode, (near, 0)), GraphTask(False, False)
    task.find_nodes_to_execute(GraphRoot([(far, 0)], [None]), {goal})
    return near in task.nodes_to_execute and far not in task.nodes_to_execute


def symptom_03_5_root_left_out() -> bool:
    _, node, goal, needed = _needed()
    return needed == {node, goal}


def symptom_03_5_goals_left_out() -> bool:
    root, node, _, needed = _needed()
    return needed == {root, node}


def symptom_03_5_position_lost() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    found = _pruned(a * b, [a, b])
    return found[0] in ([5.0], [2.0]) and found[1] is None and _pruned(a * 3.0, [a]) == [[3.0]]


def symptom_03_5_stops_at_input() -> bool:
    a = _leaf([2.0])
    c = a * 0.5
    return _pruned(c * 3.0, [c, a]) == [[3.0], None]


def symptom_03_5_runs_behind() -> bool:
    a, seen = _leaf([2.0]), []
    c = a.exp()
    c.grad_fn.register_hook(lambda *_: seen.append(1))
    _pruned(c * 3.0, [c])
    return bool(seen)


def symptom_03_5_accumulates() -> bool:
    a = _leaf([2.0])
    _pruned(a * 3.0, [a])
    return a.grad is not None


def symptom_03_5_leaf_does_not_run() -> bool:
    a, b = _leaf([2.0]), _leaf([5.0])
    _pruned(a * b, [a], capture=False)
    return a.grad is None


# ---------------------------------------------------------------- 03.6


def _restored(check):
    try:
        return check()
    finally:
        _state.grad_enabled.set(True)
        engine._running.tasks.clear()


class _Made(GraphTask):
    made: list = []

    def __init__(self, *wishes, **more):
        self.made.append(wishes[:2])
        super().__init__(*wishes, **more)


def symptom_03_6_wishes_swapped() -> bool:
    def check():
        _Made.made.clear()
        x = _leaf([2.0])
        try:
            engine.execute([(x * 2.0)._edge()], [_array(1)], True, False, kind=_Made)
        finally:
            return _Made.made == [(False, True)]  # noqa: B012  # whatever came of it
    return _restored(check)


def symptom_03_6_kind_ignored() -> bool:
    def check():
        _Made.made.clear()
        x = _leaf([2.0])
        engine.execute([(x * 2.0)._edge()], [_array(1)], True, False, kind=_Made)
        return not _Made.made and x.grad is not None
    return _restored(check)


def symptom_03_6_empty_is_none() -> bool:
    def check():
        x = _leaf([2.0])
        engine.execute([(x * 2.0)._edge()], [_array(1)], False, False, [])
        return x.grad is not None
    return _restored(check)


def symptom_03_6_wrong_places() -> bool:
    def check():
        a, b, unused = _leaf([2.0]), _leaf([3.0]), _leaf([4.0])
        places = [unused._edge(), b._edge(), a._edge()]
        found = engine.execute([(a * b)._edge()], [_array(1)], False, False, places, False)
        return sorted(_values(g)[0] for g in found if g is not None) == [2.0, 3.0] \
            and [g is None for g in found] != [True, False, False]
    return _restored(check)


def symptom_03_6_none_is_a_goal() -> bool:
    def check():
        a = _leaf([2.0])
        try:
            engine.execute([(a * 3.0)._edge()], [_array(1)], False, False,
                           [(None, 0), a._edge()], False)
        except (AttributeError, TypeError) as error:
            return "NoneType" in str(error)
        return False
    return _restored(check)


def symptom_03_6_no_fresh_thread() -> bool:
    def check():
        fresh, kept = [], engine._run_in_fresh_thread
        engine._run_in_fresh_thread = lambda task, root: fresh.append(1)
        engine._running.tasks[:] = [None] * engine.MAX_DEPTH
        x = _leaf([2.0])
        try:
            engine.execute([(x * 2.0)._edge()], [_array(1)], False, False)
        finally:
            engine._run_in_fresh_thread = kept
        return not fresh and x.grad is not None
    return _restored(check)


def symptom_03_6_callbacks_in_front() -> bool:
    def check():
        order, x = [], _leaf([2.0])
        y = x * 2.0

        def hook(g):
            engine.queue_callback(lambda: order.append(1))
            engine.queue_callback(lambda: order.append(2))

        y.register_hook(hook)
        y.backward()
        return order == [2, 1]
    return _restored(check)


def symptom_03_6_mode_after_error() -> bool:
    def check():
        x = _leaf([2.0])
        (x * 2.0).backward()
        fine = torch.is_grad_enabled()
        y = x * x
        y.register_hook(lambda g: 1 / 0)
        try:
            y.backward()
        except ZeroDivisionError:
            pass
        return fine and not torch.is_grad_enabled()
    return _restored(check)


def symptom_03_6_mode_off() -> bool:
    def check():
        (_leaf([2.0]) * 2.0).backward()
        return not torch.is_grad_enabled()
    return _restored(check)


def symptom_03_6_mode_on() -> bool:
    def check():
        y = _leaf([2.0]) * 2.0
        _state.grad_enabled.set(False)
        y.backward()
        return torch.is_grad_enabled()
    return _restored(check)


def _modes():
    """The mode seen by a hook in a pass without and with `create_graph`."""
    modes = []
    for create in False, True:
        x = _leaf([2.0])
        y = x * x
        y.register_hook(lambda g: modes.append(torch.is_grad_enabled()))
        torch.autograd.grad(y, x, create_graph=create)
    return modes


def symptom_03_6_mode_inside() -> bool:
    return _restored(lambda: _modes() == [False, False])


def symptom_03_6_mode_untouched() -> bool:
    return _restored(lambda: _modes() == [True, True])


def symptom_03_6_mode_inverted() -> bool:
    return _restored(lambda: _modes() == [True, False])


def symptom_03_6_one_place() -> bool:
    def check():
        a = _leaf([2.0])
        found = torch.autograd.grad(a * 3.0, (a, a), allow_unused=True)
        low, high = (_leaf([1.0, 2.0]) * 1.0).unbind()
        both = torch.autograd.grad(low + high, (low, high), allow_unused=True)
        kinds = [g is None for g in (*found, *both)]
        return any(kinds) and not all(kinds)
    return _restored(check)


def symptom_03_6_captures_always() -> bool:
    def check():
        a, b = _leaf([2.0]), _leaf([3.0])
        (a * b).backward(inputs=[a])
        (whole,) = torch.autograd.grad(_twice(b), b)
        return a.grad is None and b.grad is None and whole is not None
    return _restored(check)


def _twice(x):
    return x * 2.0


def symptom_03_6_not_restricted() -> bool:
    def check():
        a, b = _leaf([2.0]), _leaf([3.0])
        torch.autograd.grad(a * b, a, allow_unused=True)
        return b.grad is not None
    return _restored(check)


def symptom_03_6_never_captures() -> bool:
    def check():
        a = _leaf([2.0])
        return torch.autograd.grad(a * 2.0, a, allow_unused=True) == (None,)
    return _restored(check)


def _on_tensors(create):
    """Whether a pass that begins with a tensor works on tensors."""
    seen, x = [], _leaf([2.0])

    class Seen(GraphTask):
        def run(self, root):
            seen.append(self.on_tensors)

    engine.execute([(x * 2.0)._edge()], [torch.ones(1)], create, create, kind=Seen)
    return bool(seen[0])


def symptom_03_6_never_on_tensors() -> bool:
    return _restored(lambda: not _on_tensors(False) and not _on_tensors(True))


def symptom_03_6_tensors_for_a_graph_only() -> bool:
    return _restored(lambda: not _on_tensors(False) and _on_tensors(True))


def symptom_03_6_called_at_once() -> bool:
    def check():
        order, x = [], _leaf([2.0])
        y = x * 2.0
        y.register_hook(lambda g: engine.queue_callback(lambda: order.append("callback")))
        x.register_hook(lambda g: order.append("leaf"))
        y.backward()
        return order == ["callback", "leaf"]
    return _restored(check)


def symptom_03_6_outermost() -> bool:
    def check():
        order, x, z = [], _leaf([2.0]), _leaf([3.0])
        y, w = x * 2.0, z * 2.0
        w.register_hook(lambda g: engine.queue_callback(lambda: order.append("inner")))

        def hook(g):
            w.backward()
            order.append("inner pass is over")

        y.register_hook(hook)
        y.backward()
        return order == ["inner pass is over", "inner"]
    return _restored(check)


def symptom_03_6_stays_running() -> bool:
    def check():
        (_leaf([2.0]) * 2.0).backward()
        return bool(engine._running.tasks)
    return _restored(check)


def symptom_03_6_accepts_outside() -> bool:
    def check():
        try:
            engine.queue_callback(lambda: None)
        except RuntimeError:
            return False
        except Exception:
            return True
        return True
    return _restored(check)
