"""Stage 03, written from the tasks by somebody who likes few lines."""

from collections import Counter, defaultdict, deque
from contextlib import contextmanager


class NaiveEngine:
    def send(self, node, index, grad):
        waiting = deque([(node, index, grad)])
        while waiting:
            node, index, grad = waiting.popleft()
            if node is None or grad is None:
                continue
            leaf = getattr(node, "variable", None)
            if leaf is not None:
                self.gradients[leaf] = self.gradients.get(leaf, 0) + grad
            else:
                waiting.extend((*edge, g) for edge, g in
                               zip(node.edges, self.call(node, index, grad), strict=True))


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
        try:
            buffer = self.buffers[target]
        except KeyError:
            buffer = self.buffers.setdefault(target, InputBuffer(target.num_inputs))
        None if gradient is None else buffer.add(index, gradient)
        left = self.dependencies[target] = self.dependencies[target] - 1
        if not left:
            self.push(target)

    def run(self, root):
        self.push(root)
        self.buffers |= {root: InputBuffer(root.num_inputs)}
        while self.ready:
            self.evaluate(node := heappop(self.ready)[2], self.buffers.pop(node))

    def evaluate(self, node, buffer):
        special = node.extras is not None or self.nodes_to_execute is not None
        if special and not self.run_hooks_and_capture(node, buffer):
            return None
        if type(node) is AccumulateGrad:
            return self.accumulate(node, buffer)
        out = self.call(node, buffer.grads)
        self.retain_graph or node.release()
        self.route_gradients(node, buffer.grads, out)

    def note_captures(self, inputs):
        for i, (node, number) in enumerate(inputs):
            if node is not None:
                self.captures[node] = self.captures.get(node, {})
                self.captures[node][number] = [*self.captures[node].get(number, ()), i]

    def capture(self, node, grads):
        self.captured |= {i: grads[n] for n, where in self.captures[node].items() for i in where}

    def runs(self, node):
        behind = {n for n, _ in node.edges} if self.captures.get(node) else {node}
        return not behind.isdisjoint(self.nodes_to_execute)


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
        _run_nodes(task, root)
        for callback in iter(lambda: task.callbacks.pop(0) if task.callbacks else None, None):
            callback()


def queue_callback(callback):
    try:
        _running.tasks[-1].callbacks.append(callback)
    except IndexError:
        raise RuntimeError(NO_PASS) from None
