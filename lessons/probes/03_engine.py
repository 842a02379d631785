"""Probes of stage 03: random graphs of nodes made by hand, walked by one function at a time.

Where a function calls others of the stage, a task of the probe's own writes down that it was
called, so that a mistake costs its own hole alone.
"""

import contextlib
from heapq import heappop, heappush

import numpy as np
from probing import Wrong, array, tensor, tried

from minigrad import _state
from minigrad.engine import engine, graph_task
from minigrad.engine.graph_task import GraphTask
from minigrad.engine.input_buffer import Gradient, InputBuffer
from minigrad.examples.naive_engine import NaiveEngine
from minigrad.graph.accumulate_grad import AccumulateGrad
from minigrad.graph.node import GraphRoot, NaryNode


def node_of(kind=NaryNode, sequence=0, edges=()):
    """Return a node without a formula."""
    node = kind()
    node.sequence, node.extras, node.shape, node.dtype = sequence, None, (), None
    node.set_edges(edges)
    return node


def graph(random, size):
    """Return the nodes of a random graph, latest last, each with edges to earlier ones."""
    nodes = [node_of(sequence=0)]
    for i in range(1, size):
        count = random.choice([1, 2, random.randint(0, 5)])
        edges = [(None, 0) if random.random() < 0.2 else
                 (nodes[-1 - int(min(random.expovariate(0.5), i - 1))], random.randrange(3))
                 for _ in range(count)]
        nodes.append(node_of(NaryNode, i, edges))
    return nodes


def root_of(random, nodes, count=3):
    """Return a root that leads to some of the nodes, the last one among them."""
    after = [nodes[-1], *[random.choice([*nodes, None]) for _ in range(random.randint(0, count))]]
    return GraphRoot([(node, 0) for node in after], [None] * len(after))


class Weights(NaiveEngine):
    """An engine whose nodes have weights, and some results that are None."""

    def __init__(self, weights):
        super().__init__()
        self.weights, self.asked = weights, []

    def call(self, node, index, grad):
        self.asked.append([node.sequence, index])
        return [None if weight is None else grad if weight == 1 else grad * weight + index
                for weight in self.weights[node]]


def probe_03_1(random):
    seen = []
    for _ in range(5):
        leaves = [tensor(random, [2], grad=True) for _ in range(3)]
        nodes = [leaf._edge()[0] for leaf in leaves]
        weights = {}
        for i in range(7):
            edges = [(random.choice([*nodes[-4:], None]), random.randrange(3))
                     for _ in range(random.randint(0, 3))]
            node = node_of(NaryNode, i, edges)
            node.num_inputs = 3
            weights[node] = [random.choice([None, 0, 1, 1, random.randint(2, 5)])
                             for _ in edges]
            nodes.append(node)
        machine, given = Weights(weights), array(random, [2])
        before = given.copy()
        for index in random.sample(range(3), 2):
            seen.append(tried(lambda machine=machine, index=index, given=given:
                              machine.send(nodes[-1], index, given)))
        seen.append([np.array_equal(before, given), sorted(machine.asked), machine.calls])
        for leaf in leaves:
            found = machine.gradients.get(leaf)
            seen.append(None if found is None else np.round(found, 4).tolist())
    return seen


def probe_03_2(random):
    seen = []
    for shape in ([], [2], [2, 3], [], [random.randint(1, 4)]):
        buffer = InputBuffer(3)
        given = []
        for _ in range(random.randint(6, 12)):
            index, owned = random.randrange(3), random.random() < 0.6
            base = None
            if random.random() < 0.3:
                base = array(random, [2, *shape])
                grad = base[1] if shape else base[1:].reshape(())
            else:
                grad = array(random, shape)
            first = buffer.grads[index] is None
            borrowed = not owned or base is not None
            given.append((grad, grad.copy(), borrowed, base))
            buffer.add(index, Gradient(grad, owned))
            now = buffer.grads[index]
            seen.append(np.array_equal(grad, given[-1][1]))  # what came is never written to
            seen.append([index, type(now).__name__, np.array(now), now is grad if first else None,
                         bool(buffer.owned[index]),
                         [None if each is None else np.array(each) for each in buffer.grads],
                         [np.array_equal(a, b) for a, b, borrowed, _ in given if borrowed]])
    for _ in range(2):  # tensors keep their histories and are never written to
        buffer, x = InputBuffer(1), tensor(random, [3], grad=True)
        parts = [random.choice([x * random.uniform(1, 2), tensor(random, [3])]) for _ in range(4)]
        before = [part._array.copy() for part in parts]
        for part in parts:
            buffer.add(0, Gradient(part, random.random() < 0.5 and part is not parts[0]))
            seen.append([buffer.grads[0].requires_grad, buffer.grads[0]._array.copy()])
        seen.append([np.array_equal(a, b._array) for a, b in zip(before, parts, strict=True)])
        seen.append([part._version for part in parts])
    return seen


def probe_03_3(random):
    seen = []
    for _ in range(4):
        nodes = graph(random, random.randint(4, 25))
        root, task = root_of(random, nodes), GraphTask(False, False)
        task.count_dependencies(root)
        seen.append([task.dependencies.get(node) for node in nodes])
        seen.append([root in task.dependencies, len(task.dependencies)])
    chain = [node_of()]
    for _ in range(3000 + random.randrange(50)):
        chain.append(node_of(NaryNode, 0, [(chain[-1], 0)]))
    ladder = [node_of()]
    for _ in range(40):
        ladder.append(node_of(NaryNode, 0, [(ladder[-1], 0), (ladder[-1], 0)]))
    for nodes in (chain, ladder):
        task = GraphTask(False, False)
        seen.append(tried(lambda task=task, nodes=nodes: task.count_dependencies(
            root_of(random, nodes, 0))))
        seen.append([len(task.dependencies), sum(task.dependencies.values())])
    return seen


class Buffer:
    """Writes down what is added to it."""

    def __init__(self, name, seen):
        self.name, self.seen, self.before = name, seen, 0

    def add(self, index, gradient):
        self.seen.append(["add", self.name, index, *gradient, self.before])
        self.before += 1


def probe_03_4(random):
    seen = []
    made, graph_task.InputBuffer = graph_task.InputBuffer, lambda size: Buffer(size, seen)
    try:
        fill_buffers(random, seen)
    finally:
        graph_task.InputBuffer = made
    return seen


def fill_buffers(random, seen):
    for _ in range(5):
        task = GraphTask(False, False)
        nodes = [node_of(sequence=random.randrange(4)) for _ in range(8)]
        for node in random.sample(nodes, 8):
            task.push(node)
        seen.append([heappop(task.ready)[2].sequence for _ in range(8)])
        nodes = sorted([node_of(sequence=7) for _ in range(3)], key=id, reverse=True)
        for node in nodes:
            task.push(node)
        seen.append([nodes.index(heappop(task.ready)[2]) for _ in nodes])
        nodes = [node_of(sequence=i * 3 + random.randrange(3)) for i in range(5)]
        task.dependencies = {node: random.randint(1, 4) for node in nodes}
        left = [node for node in nodes for _ in range(task.dependencies[node])]
        random.shuffle(left)
        for node in left[: len(left) - random.randint(0, 2)]:
            gradient = None
            if random.random() < 0.7:
                gradient = Gradient(random.random(), random.random() < 0.5)
            task.add_to_buffer(node, random.randrange(3), gradient)
            seen.append([task.dependencies.get(node, 0),
                         sorted(each[2].sequence for each in task.ready),
                         [task.buffers.get(each) is not None for each in nodes]])
        seen.append([heappop(task.ready)[2].sequence for _ in range(len(task.ready))])


def probe_03_5(random):
    seen, released = [], []  # a node may be freed before or after its results are sent

    class Task(GraphTask):
        plan = ()

        def push(self, node):
            heappush(self.ready, (-node.sequence, next(self.turns), node))

        def runs(self, node):
            return node.sequence % 3 != 0

        def capture(self, node, grads):
            seen.append(["capture", node.sequence, list(grads)])

        def run_tensor_hooks(self, node, buffer):
            seen.append(["hooks", node.sequence, node.extras.number, list(buffer.grads)])
            buffer.grads[0] = (buffer.grads[0] or 0.0) + 100.0

        def accumulate(self, node, buffer):
            seen.append(["accumulate", node.sequence, list(buffer.grads)])

        def call(self, node, grads):
            seen.append(["call", node.sequence, list(grads), sorted(released)])
            return [random.random()]

        def route_gradients(self, node, grads, results):
            seen.append(["hand out", node.sequence, list(grads), results])
            for target, _ in node.edges:
                if target not in self.buffers:
                    self.buffers[target] = InputBuffer(1)
                    self.buffers[target].grads[0] = results[0]
                    self.push(target)

    class Noted(NaryNode):
        def release(self):
            released.append(str(self.sequence))

    class NotedRoot(GraphRoot):
        __slots__ = ()

        def release(self):
            released.append("root")

    for keep in (True, False):
        for restricted in (True, False):
            task = Task(keep, False)
            task.nodes_to_execute = set() if restricted else None
            leaves = [AccumulateGrad(tensor(random, [1], grad=True)) for _ in range(2)]
            for i, leaf in enumerate(leaves):
                leaf.sequence = 1001 + i
            nodes = list(leaves)
            for i in range(1, random.randint(5, 9)):
                nodes.append(node_of(Noted, 10 * i + random.randrange(9),
                                     [(random.choice(nodes[-3:]), 0)]))
            for node in nodes:
                if restricted and random.random() < 0.4:  # captures come with inputs alone
                    task.captures[node] = {0: [0]}
                if random.random() < 0.4:
                    node.extras = HookTables(random.randrange(100))
            root = NotedRoot([(node, 0) for node in nodes], [None] * len(nodes))
            if restricted:
                root.sequence = 3 * (1 << 40) + 1

            seen.append(tried(lambda task=task, root=root: task.run(root)))
            seen.append([len(task.ready), len(task.buffers), sorted(released)])
            for node in random.sample(nodes, 3):
                buffer = InputBuffer(1)
                buffer.grads[0] = random.random()
                seen.append(tried(lambda task=task, node=node, buffer=buffer:
                                  task.evaluate(node, buffer)))
                seen.append(sorted(released))
                task.buffers.clear()
                task.ready.clear()
    return seen


class HookTables:
    """Stands for the hooks of a node."""

    place = None

    def __init__(self, number):
        self.number = number


class Looked(NaryNode):
    """A node that counts how often its edges are read."""

    times = 0

    @property
    def edges(self):
        Looked.times += 1
        return NaryNode.edges.__get__(self)

    @edges.setter
    def edges(self, edges):
        NaryNode.edges.__set__(self, edges)


def probe_03_6(random):
    seen = []
    for _ in range(6):
        nodes = graph(random, random.randint(5, 25))
        root, task = root_of(random, nodes), GraphTask(False, False)
        behind, stack = set(), [root]
        while stack:
            for node, _ in stack.pop().edges:
                if node is not None and node not in behind:
                    behind.add(node)
                    stack.append(node)
        goals = set(random.sample([n for n in nodes if n in behind],
                                  random.randint(1, min(3, len(behind)))))
        if random.random() < 0.3:
            goals.add(node_of())
        kept = set(goals)
        task.find_nodes_to_execute(root, goals)
        seen.append([[node in task.nodes_to_execute for node in nodes],
                     root in task.nodes_to_execute, len(task.nodes_to_execute), goals == kept])
    row = [node_of()]  # nodes between two inputs
    for _ in range(random.randint(4, 9)):
        row.append(node_of(NaryNode, 0, [(row[-1], 0)]))
    task = GraphTask(False, False)
    task.find_nodes_to_execute(root_of(random, row, 0), {row[0], random.choice(row[3:])})
    seen.append([node in task.nodes_to_execute for node in row])
    chain, ladder = [node_of()], [node_of()]
    for _ in range(3000 + random.randrange(50)):
        chain.append(node_of(NaryNode, 0, [(chain[-1], 0)]))
    for _ in range(40):
        ladder.append(node_of(NaryNode, 0, [(ladder[-1], 0), (ladder[-1], 0)]))
    for nodes in (chain, ladder):
        task, goal = GraphTask(False, False), nodes[random.randrange(30)]
        root = root_of(random, nodes, 0)
        seen.append(tried(lambda task=task, root=root, goal=goal:
                          task.find_nodes_to_execute(root, {goal})))
        seen.append(len(task.nodes_to_execute or ()))
    row = [node_of()]
    for _ in range(150 + random.randrange(20)):
        row.append(node_of(Looked, 0, [(row[-1], 0)]))
    root, Looked.times = root_of(random, row, 0), 0
    GraphTask(False, False).find_nodes_to_execute(root, {row[0]})
    seen.append(Looked.times < 10 * len(row))
    return seen


def probe_03_7(random):
    seen = []
    for _ in range(5):
        nodes, task = graph(random, random.randint(5, 12)), GraphTask(False, False)
        names = {node: i for i, node in enumerate(nodes)}
        inputs = [(random.choice([*nodes[:4], None]), random.randrange(3))
                  for _ in range(random.randint(0, 8))]
        task.note_captures(inputs)
        seen.append([[names.get(node), sorted((index, list(places))
                                              for index, places in entry.items())]
                     for node, entry in sorted(task.captures.items(),
                                               key=lambda each: names.get(each[0], -1))])
        task = GraphTask(False, False)
        task.nodes_to_execute = {node for node in nodes if random.random() < 0.4}
        for node in random.sample(nodes, 4):
            places = list(range(20))
            random.shuffle(places)
            task.captures[node] = {index: [places.pop() for _ in range(random.randint(1, 3))]
                                   for index in random.sample(range(4), random.randint(0, 3))}
        seen.append([bool(task.runs(node)) for node in nodes])
        for node in task.captures:
            task.captured.clear()
            task.capture(node, [random.random() for _ in range(4)])
            seen.append(sorted(task.captured.items()))
        task.captured.clear()
        for node in random.sample(list(task.captures), len(task.captures)):
            task.capture(node, [random.random() for _ in range(4)])
        seen.append(sorted(task.captured.items()))  # several nodes are captured in a pass
    return seen


def interrupt():
    """Do what Ctrl-C does."""
    raise KeyboardInterrupt


class Interrupted(GraphTask):
    """A pass without nodes, which is interrupted in the middle if it is told so."""

    inside = False

    def count_dependencies(self, root):
        pass

    def run(self, root):
        if self.inside:
            interrupt()


def probe_03_8(random):
    seen, level = [], [0]

    class Task(GraphTask):
        def count_dependencies(self, root):
            seen.append(["count", len(root.edges)])

        def run(self, root):
            seen.append(["run", _state.grad_enabled.get(), len(engine._running.tasks) - tasks,
                         engine._running.tasks[-1] is self])
            for number in range(random.randint(0, 3)):
                engine.queue_callback(callback(number, random.random() < 0.4))
            if level[0] and random.random() < 0.6:
                level[0] -= 1
                seen.append(tried(once))
                seen.append(_state.grad_enabled.get())
                engine.queue_callback(callback("outer", False))
            if random.random() < 0.3:
                raise Wrong("on purpose")

    def callback(name, more):
        def called():
            seen.append(["callback", name, _state.grad_enabled.get()])
            if more:
                engine.queue_callback(callback("late", False))
            if random.random() < 0.1:
                raise Wrong("in a callback")

        return called

    def once():
        task = Task(False, random.random() < 0.5, on_tensors=True)
        engine._run_here(task, GraphRoot([], []))
        return len(task.callbacks)

    mode, tasks = _state.grad_enabled.get(), len(engine._running.tasks)
    try:
        for _ in range(12):
            level[0] = 2
            before = random.random() < 0.5
            _state.grad_enabled.set(before)
            seen.append(tried(once))
            seen.append([_state.grad_enabled.get(), len(engine._running.tasks) - tasks])
            _state.grad_enabled.set(before)
            del engine._running.tasks[tasks:]
        for inside in random.sample([True, False], 2):
            task = Interrupted(False, random.random() < 0.5, on_tensors=True)
            task.inside = inside
            task.callbacks.append(interrupt)
            before = random.random() < 0.5
            _state.grad_enabled.set(before)
            with contextlib.suppress(KeyboardInterrupt):
                engine._run_here(task, GraphRoot([], []))
            seen.append([_state.grad_enabled.get(), len(engine._running.tasks) - tasks])
            del engine._running.tasks[tasks:]
        if not tasks:
            seen.append(tried(lambda: engine.queue_callback(lambda: seen.append("at once"))))
    finally:
        _state.grad_enabled.set(mode)
        del engine._running.tasks[tasks:]
    return seen
