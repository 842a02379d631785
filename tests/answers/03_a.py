"""Stage 03, written from the tasks by somebody who likes to say everything."""


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
        if self.nodes_to_execute is not None:
            if target not in self.nodes_to_execute:
                return
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
        if _state.anomaly.enabled:
            step = _state.anomaly.watched(self.evaluate)
        else:
            step = self.evaluate
        while len(self.ready) > 0:
            _, _, node = heappop(self.ready)
            buffer = self.buffers.pop(node)
            step(node, buffer)
        while len(self.callbacks) > 0:
            callback = self.callbacks.pop(0)
            callback()

    def evaluate(self, node, buffer):
        does_run = True
        if self.nodes_to_execute is not None:
            does_run = self.runs(node)
        is_asked_for = node in self.captures
        if does_run and is_asked_for:
            self.capture(node, buffer.grads)
        if node.extras is not None:
            self.run_tensor_hooks(node, buffer)
        if not does_run:
            if is_asked_for:
                self.capture(node, buffer.grads)
            return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

    def capture(self, node, grads):
        wanted = self.captures[node]
        for number in wanted:
            for position in wanted[number]:
                self.captured[position] = grads[number]

    def runs(self, node):
        if node not in self.captures:
            return node in self.nodes_to_execute
        for child, _ in node.edges:
            if child in self.nodes_to_execute:
                return True
        return False


def execute(edges, grads, retain_graph, create_graph, inputs=None, accumulate=True, kind=None):
    task = kind(retain_graph, create_graph)
    root = GraphRoot(edges, grads)
    if inputs is not None:
        goals = set()
        for node, _ in inputs:
            if node is not None:
                goals.add(node)
        task.find_nodes_to_execute(root, goals)
        if not accumulate:
            for position in range(len(inputs)):
                node, number = inputs[position]
                if node is None:
                    continue
                if node not in task.captures:
                    task.captures[node] = {}
                if number not in task.captures[node]:
                    task.captures[node][number] = []
                task.captures[node][number].append(position)
    if len(_running.tasks) < MAX_DEPTH:
        _run_here(task, root)
    else:
        _run_in_fresh_thread(task, root)
    if inputs is None:
        return []
    return [task.captured.get(position) for position in range(len(inputs))]


def _run_here(task, root):
    mode = _state.grad_enabled.get()
    _state.grad_enabled.set(task.create_graph)
    _running.tasks.append(task)
    try:
        task.count_dependencies(root)
        task.run(root)
    finally:
        _running.tasks.pop()
        _state.grad_enabled.set(mode)


def queue_callback(callback):
    if len(_running.tasks) == 0:
        message = "Final callbacks can only be installed during backward pass."
        raise RuntimeError(message)
    task = _running.tasks[-1]
    task.callbacks.append(callback)
