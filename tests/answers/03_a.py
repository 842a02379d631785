"""Stage 03, written from the tasks by somebody who likes to say everything."""


class NaiveEngine:
    def send(self, node, index, grad):
        if isinstance(node, AccumulateGrad):
            leaf = node.variable
            if leaf in self.gradients:
                self.gradients[leaf] = np.add(self.gradients[leaf], grad)
            else:
                self.gradients[leaf] = np.array(grad)
            return
        results = self.call(node, index, grad)
        for position in range(len(node.edges)):
            target, number = node.edges[position]
            if target is None:
                continue
            if results[position] is None:
                continue
            self.send(target, number, results[position])


class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        total = self.grads[index]
        if total is None:
            self.grads[index] = grad
            self.owned[index] = owned
            return
        if isinstance(total, Tensor) or isinstance(grad, Tensor):
            self.grads[index] = total + grad
            self.owned[index] = False
            return
        result = np.add(total, grad)
        if type(result) not in BACKENDS:
            result = np.asarray(result)
        self.grads[index] = result
        self.owned[index] = True


class GraphTask:
    def count_dependencies(self, root):
        todo = [root]
        visited = {root}
        while len(todo) > 0:
            current = todo.pop()
            for child, _ in current.edges:
                if child is None:
                    continue
                if child in self.dependencies:
                    self.dependencies[child] += 1
                else:
                    self.dependencies[child] = 1
                if child not in visited:
                    visited.add(child)
                    todo.append(child)

    def find_nodes_to_execute(self, root, inputs):
        parents = {}
        visited = set()
        todo = [root]
        while todo:
            current = todo.pop()
            if current in visited:
                continue
            visited.add(current)
            for child, _ in current.edges:
                if child is not None:
                    parents.setdefault(child, []).append(current)
                    todo.append(child)
        self.nodes_to_execute = set()
        todo = [goal for goal in inputs if goal in visited]
        while todo:
            current = todo.pop()
            if current not in self.nodes_to_execute:
                self.nodes_to_execute.add(current)
                todo.extend(parents.get(current, []))
        self.nodes_to_execute.update(inputs)

    def push(self, node):
        entry = (-node.sequence, next(self.turns), node)
        heappush(self.ready, entry)

    def add_to_buffer(self, target, index, gradient):
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        self.dependencies[target] = self.dependencies[target] - 1
        if self.dependencies[target] > 0:
            return
        self.push(target)

    def run(self, root):
        self.buffers[root] = InputBuffer(root.num_inputs)
        self.push(root)
        while len(self.ready) > 0:
            _, _, node = heappop(self.ready)
            buffer = self.buffers.pop(node)
            self.evaluate(node, buffer)

    def evaluate(self, node, buffer):
        if node.extras is not None or self.nodes_to_execute is not None:
            does_run = self.run_hooks_and_capture(node, buffer)
            if not does_run:
                return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

    def note_captures(self, inputs):
        for position in range(len(inputs)):
            node, number = inputs[position]
            if node is None:
                continue
            if node not in self.captures:
                self.captures[node] = {}
            if number not in self.captures[node]:
                self.captures[node][number] = []
            self.captures[node][number].append(position)

    def capture(self, node, grads):
        wanted = self.captures[node]
        for number in wanted:
            for position in wanted[number]:
                self.captured[position] = grads[number]

    def runs(self, node):
        if node not in self.captures or len(self.captures[node]) == 0:
            return node in self.nodes_to_execute
        for child, _ in node.edges:
            if child in self.nodes_to_execute:
                return True
        return False


def _run_here(task, root):
    mode = _state.grad_enabled.get()
    _state.grad_enabled.set(task.create_graph)
    _running.tasks.append(task)
    try:
        _run_nodes(task, root)
        while len(task.callbacks) > 0:
            callback = task.callbacks.pop(0)
            callback()
    finally:
        _running.tasks.pop()
        _state.grad_enabled.set(mode)


def queue_callback(callback):
    if len(_running.tasks) == 0:
        raise RuntimeError(NO_PASS)
    task = _running.tasks[-1]
    task.callbacks.append(callback)
