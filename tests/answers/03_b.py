"""Stage 03, written from the tasks by somebody who likes few lines."""

from collections import Counter, defaultdict, deque
from contextlib import contextmanager


class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        before = self.grads[index]
        if before is None:
            self.grads[index], self.owned[index] = grad, owned
        elif self.owned[index] and type(before) is not Tensor and writable(before):
            before += grad
        else:
            both = before + grad
            tensor = isinstance(both, Tensor)
            self.owned[index] = not tensor
            self.grads[index] = both if tensor or type(both) in BACKENDS else np.asarray(both)


def _nodes_below(root):
    """Each node once."""
    known = {root: None}
    queue = deque([root])
    while queue:
        yield (node := queue.popleft())
        fresh = dict.fromkeys(n for n, _ in node.edges if n is not None and n not in known)
        known |= fresh
        queue.extend(fresh)


class GraphTask:
    def count_dependencies(self, root):
        self.dependencies.update(Counter(
            n for node in _nodes_below(root) for n, _ in node.edges if n is not None))

    def find_nodes_to_execute(self, root, inputs):
        # First all that is below, then inward from the goals until nothing is added.
        above = defaultdict(set)
        for node in _nodes_below(root):
            for n, _ in node.edges:
                above[n].add(node)
        self.nodes_to_execute, front = set(inputs), set(inputs)
        while front:
            front = set().union(*(above[n] for n in front if n in above)) - self.nodes_to_execute
            self.nodes_to_execute |= front

    def push(self, node):
        heappush(self.ready, (-node.sequence, next(self.turns), node))

    def add_to_buffer(self, target, index, gradient):
        if self.nodes_to_execute is not None and target not in self.nodes_to_execute:
            return
        try:
            buffer = self.buffers[target]
        except KeyError:
            buffer = self.buffers.setdefault(target, InputBuffer(target.num_inputs))
        None if gradient is None else buffer.add(index, gradient)
        left = self.dependencies[target] = self.dependencies[target] - 1
        if not left:
            self.push(target)

    def run(self, root):
        evaluate = self.evaluate
        if _state.anomaly.enabled:
            evaluate = _state.anomaly.watched(evaluate)
        self.push(root)
        self.buffers |= {root: InputBuffer(root.num_inputs)}
        while self.ready:
            evaluate(node := heappop(self.ready)[2], self.buffers.pop(node))
        while self.callbacks:
            self.callbacks.pop(0)()

    def evaluate(self, node, buffer):
        goes, asked = self.nodes_to_execute is None or self.runs(node), node in self.captures
        if goes and asked:
            self.capture(node, buffer.grads)
        if node.extras is not None:
            self.run_tensor_hooks(node, buffer)
        match goes, asked:
            case False, True:
                self.capture(node, buffer.grads)
                return
            case False, False:
                return
        if type(node) is AccumulateGrad:
            return self.accumulate(node, buffer)
        out = self.call(node, buffer.grads)
        self.retain_graph or node.release()
        self.route_gradients(node, buffer.grads, out)

    def capture(self, node, grads):
        self.captured |= {i: grads[n] for n, where in self.captures[node].items() for i in where}

    def runs(self, node):
        behind = {n for n, _ in node.edges} if node in self.captures else {node}
        return not behind.isdisjoint(self.nodes_to_execute)


def execute(edges, grads, retain_graph, create_graph, inputs=None, accumulate=True, kind=None):
    asked = list(inputs or ())
    task, root = kind(retain_graph, create_graph), GraphRoot(edges, grads)
    if inputs is not None:
        task.find_nodes_to_execute(root, {n for n, _ in asked} - {None})
    for i, (node, number) in enumerate(() if accumulate else asked):
        if node is not None:
            task.captures.setdefault(node, {}).setdefault(number, []).append(i)
    (_run_in_fresh_thread if len(_running.tasks) >= MAX_DEPTH else _run_here)(task, root)
    return [*map(task.captured.get, range(len(asked)))]


@contextmanager
def _under_way(task):
    token = _state.grad_enabled.set(task.create_graph)
    _running.tasks.append(task)
    try:
        yield
    finally:
        del _running.tasks[-1]
        _state.grad_enabled.reset(token)


def _run_here(task, root):
    with _under_way(task):
        task.count_dependencies(root)
        task.run(root)


def queue_callback(callback):
    try:
        _running.tasks[-1].callbacks.append(callback)
    except IndexError:
        raise RuntimeError(
            "Final callbacks can only be installed during backward pass.") from None
