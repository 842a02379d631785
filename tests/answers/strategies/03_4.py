class GraphTask:
    def push(self, node):
        heappush(self.ready, (-node.sequence, next(self.turns), node))

    def add_to_buffer(self, target, index, gradient):
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        self.dependencies[target] -= 1
        if self.dependencies[target] == 0:
            self.push(target)

# right: the task's own order
class GraphTask:
    def add_to_buffer(self, target, index, gradient):
        buffer = self.buffers.get(target)
        if buffer is None:
            buffer = self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            buffer.add(index, gradient)
        self.dependencies[target] -= 1
        if not self.dependencies[target]:
            self.push(target)

# right: counted first, pushed last
class GraphTask:
    def push(self, node):
        turn = next(self.turns)
        heappush(self.ready, (-node.sequence, turn, node))

    def add_to_buffer(self, target, index, gradient):
        left = self.dependencies[target] = self.dependencies[target] - 1
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        if left == 0:
            self.push(target)

# wrong -: a list that is sorted by the number alone
class GraphTask:
    def push(self, node):
        self.ready.insert(0, (-node.sequence, next(self.turns), node))
        self.ready.sort(key=lambda entry: entry[0])

# wrong 03_4_none_not_counted: None returns early
class GraphTask:
    def add_to_buffer(self, target, index, gradient):
        if gradient is None:
            return
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        self.buffers[target].add(index, gradient)
        self.dependencies[target] -= 1
        if self.dependencies[target] == 0:
            self.push(target)

# wrong 03_4_does_not_wait: pushed with the first gradient, when the buffer is made
class GraphTask:
    def add_to_buffer(self, target, index, gradient):
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
            self.push(target)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        self.dependencies[target] -= 1

# wrong 03_4_does_not_wait: pushed when the buffer has something in every place
class GraphTask:
    def add_to_buffer(self, target, index, gradient):
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        self.dependencies[target] -= 1
        if all(grad is not None for grad in self.buffers[target].grads):
            self.push(target)

# wrong 03_4_never_ready: looked at before it is counted down
class GraphTask:
    def add_to_buffer(self, target, index, gradient):
        if target not in self.buffers:
            self.buffers[target] = InputBuffer(target.num_inputs)
        if gradient is not None:
            self.buffers[target].add(index, gradient)
        if self.dependencies[target] == 0:
            self.push(target)
        self.dependencies[target] -= 1

# wrong 03_4_by_address: the turns count down
class GraphTask:
    def push(self, node):
        heappush(self.ready, (-node.sequence, -next(self.turns), node))
