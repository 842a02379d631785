# right: collects what is ready, then pushes
class Engine:
    def push(self, graph_task, number, grad):
        graph_task.count_outstanding(1)
        task = NodeTask(graph_task, number, grad)
        if device_of(number) >= 0:
            self.ready_queues[device_of(number)].push(task)
        else:
            graph_task.owner_queue.push(task)

    def evaluate(self, graph_task, number, grad):
        if number.inputs:
            ready = []
            for i, part in enumerate(input_gradients(number, grad)):
                total = graph_task.add_gradient(number.inputs[i], part)
                if total is not None:
                    ready.append((number.inputs[i], total))
            for each, total in ready:
                self.push(graph_task, each, total)
        else:
            accumulate(number, grad)

# right: counts under the lock itself
class Engine:
    def push(self, graph_task, number, grad):
        with graph_task.lock:
            graph_task.outstanding_tasks += 1
        queues = [*self.ready_queues, graph_task.owner_queue]
        queues[device_of(number)].push(NodeTask(graph_task, number, grad))

    def evaluate(self, graph_task, number, grad):
        if not number.inputs:
            accumulate(number, grad)
            return
        for each, part in zip(number.inputs, input_gradients(number, grad)):
            total = graph_task.add_gradient(each, part)
            if total is not None:
                self.push(graph_task, each, total)

# wrong 03c_3_counts_too_late: counts what it has pushed
class Engine:
    def push(self, graph_task, number, grad):
        device = device_of(number)
        queue = graph_task.owner_queue if device == CPU else self.ready_queues[device]
        queue.push(NodeTask(graph_task, number, grad))
        with graph_task.lock:
            graph_task.outstanding_tasks += 1

    def evaluate(self, graph_task, number, grad):
        if not number.inputs:
            accumulate(number, grad)
        for each, part in zip(number.inputs, input_gradients(number, grad)):
            total = graph_task.add_gradient(each, part)
            if total is not None:
                self.push(graph_task, each, total)
