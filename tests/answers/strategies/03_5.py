class GraphTask:
    def run(self, root):
        self.buffers[root] = InputBuffer(root.num_inputs)
        for node in self.in_turn(root):
            self.evaluate(node, self.buffers.pop(node))

    def evaluate(self, node, buffer):
        if node.extras is not None or self.nodes_to_execute is not None:
            if not self.run_hooks_and_capture(node, buffer):
                return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

# right: one early end after the other
class GraphTask:
    def run(self, root):
        self.buffers[root] = InputBuffer(root.num_inputs)
        for node in self.in_turn(root):
            buffer = self.buffers.pop(node)
            self.evaluate(node, buffer)

    def evaluate(self, node, buffer):
        if node.extras is not None or self.nodes_to_execute is not None:
            if not self.run_hooks_and_capture(node, buffer):
                return
        if isinstance(node, AccumulateGrad):
            return self.accumulate(node, buffer)
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

# right: freed after the results were sent
class GraphTask:
    def evaluate(self, node, buffer):
        asked = node.extras is not None or self.nodes_to_execute is not None
        if asked and not self.run_hooks_and_capture(node, buffer):
            return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
        else:
            received = buffer.grads
            results = self.call(node, received)
            self.route_gradients(node, received, results)
            if not self.retain_graph:
                node.release()

# right: iterate without list() over later nodes
class GraphTask:
    def run(self, root):
        self.buffers = {root: InputBuffer(root.num_inputs)}
        turn = self.in_turn(root)
        while (node := next(turn, None)) is not None:
            self.evaluate(node, self.buffers.pop(node))

    def evaluate(self, node, buffer):
        runs = True
        if node.extras is not None or self.nodes_to_execute is not None:
            runs = self.run_hooks_and_capture(node, buffer)
        if runs and isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
        elif runs:
            results = self.call(node, buffer.grads)
            if not self.retain_graph:
                node.release()
            self.route_gradients(node, buffer.grads, results)

# wrong 03_5_leaf_before_hooks: a leaf is looked at before its hooks
class GraphTask:
    def evaluate(self, node, buffer):
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        if node.extras is not None or self.nodes_to_execute is not None:
            if not self.run_hooks_and_capture(node, buffer):
                return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)

# wrong 03_5_stops: the nodes that are ready are listed once
class GraphTask:
    def run(self, root):
        self.buffers[root] = InputBuffer(root.num_inputs)
        for node in list(self.in_turn(root)):
            self.evaluate(node, self.buffers.pop(node))

# wrong 03_5_any_order: a separate last-in first-out list
class GraphTask:
    def run(self, root):
        self.buffers[root] = InputBuffer(root.num_inputs)
        self.push(root)
        while self.ready:
            node = self.ready.pop()[2]
            self.evaluate(node, self.buffers.pop(node))

# wrong -: the gradients are taken before the hooks ran
class GraphTask:
    def evaluate(self, node, buffer):
        grads = list(buffer.grads)
        if node.extras is not None or self.nodes_to_execute is not None:
            if not self.run_hooks_and_capture(node, buffer):
                return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        results = self.call(node, grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, grads, results)

# wrong 03_5_root_left_out: a node without gradients is passed over
class GraphTask:
    def evaluate(self, node, buffer):
        if node.extras is not None or self.nodes_to_execute is not None:
            if not self.run_hooks_and_capture(node, buffer):
                return
        if isinstance(node, AccumulateGrad):
            self.accumulate(node, buffer)
            return
        if not any(grad is not None for grad in buffer.grads):
            return
        results = self.call(node, buffer.grads)
        if not self.retain_graph:
            node.release()
        self.route_gradients(node, buffer.grads, results)
