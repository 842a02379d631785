# right: a nested pass has a thread of its own, which works through the same queue
class Engine:
    def execute(self, result):
        self.start_threads()
        queue = self.local_queue()
        task = GraphTask(result, queue)
        self.push(task, result, 1.0)

        def work():
            self.local.queue = queue
            self.thread_main(task)

        if any(queue is each for each in self.ready_queues):
            thread = Thread(target=work, daemon=True)
            thread.start()
            thread.join()
        else:
            work()
        if task.error:
            raise task.error

# right: counts and pushes the first task itself
class Engine:
    def execute(self, result):
        task = GraphTask(result, self.local_queue())
        self.start_threads()
        task.count_outstanding(+1)
        device = device_of(result)
        (task.owner_queue if device < 0 else self.ready_queues[device]).push(
            NodeTask(task, result, 1.0))
        self.thread_main(task)
        error = task.error
        if isinstance(error, BaseException):
            raise error

# wrong 03c_6_nested_sleeps: a device's thread waits for the wake-up alone
class Engine:
    def execute(self, result):
        self.start_threads()
        mine = self.local_queue()
        if any(mine is each for each in self.ready_queues):
            task = GraphTask(result, ReadyQueue())
            self.push(task, result, 1.0)
            task.owner_queue.pop()
        else:
            task = GraphTask(result, mine)
            self.push(task, result, 1.0)
            self.thread_main(task)
        if task.error is not None:
            raise task.error

# wrong 03c_6_silent: tells that the pass failed by what it returns
class Engine:
    def execute(self, result):
        self.start_threads()
        task = GraphTask(result, self.local_queue())
        self.push(task, result, 1.0)
        self.thread_main(task)
        return task.error
