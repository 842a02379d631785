# right: counts down in a finally, and wakes every owner, itself too
class Engine:
    def thread_main(self, graph_task):
        while not (graph_task and graph_task.done):
            task = self.local_queue().pop()
            owner = task.graph_task
            if owner is None:
                break
            if task.number is not None:
                try:
                    if not owner.error:
                        self.evaluate(owner, task.number, task.grad)
                except BaseException as error:
                    owner.fail(error)
                finally:
                    if not owner.count_outstanding(-1):
                        owner.owner_queue.push(NodeTask(owner))

# right: the loop ends in the middle
class Engine:
    def thread_main(self, graph_task):
        while True:
            if graph_task is not None and graph_task.outstanding_tasks == 0:
                return
            task = self.local_queue().pop()
            if task.graph_task is None:
                return
            if task.number is None:
                continue
            with task.graph_task.lock:
                failed = task.graph_task.error is not None
            if not failed:
                try:
                    self.evaluate(task.graph_task, task.number, task.grad)
                except:
                    import sys
                    task.graph_task.fail(sys.exc_info()[1])
            if task.graph_task.count_outstanding(-1) == 0:
                if task.graph_task is not graph_task:
                    task.graph_task.owner_queue.push(NodeTask(task.graph_task))

# wrong 03c_5_owner_sleeps: returns, and lets the owner find out
class Engine:
    def thread_main(self, graph_task):
        while graph_task is None or graph_task.outstanding_tasks > 0:
            task = self.local_queue().pop()
            if task.graph_task is None:
                return
            if task.number is None:
                continue
            try:
                if task.graph_task.error is None:
                    self.evaluate(task.graph_task, task.number, task.grad)
            except BaseException as error:
                task.graph_task.fail(error)
            task.graph_task.count_outstanding(-1)

# wrong 03c_5_other_passes_dropped: what belongs to another pass is skipped
class Engine:
    def thread_main(self, graph_task):
        queue = self.local_queue()
        while graph_task is None or not graph_task.done:
            task = queue.pop()
            if task.graph_task is None:
                return
            if task.number is None or graph_task not in (None, task.graph_task):
                continue
            try:
                if task.graph_task.error is None:
                    self.evaluate(task.graph_task, task.number, task.grad)
            except BaseException as error:
                task.graph_task.fail(error)
            if task.graph_task.count_outstanding(-1) == 0:
                task.graph_task.owner_queue.push(NodeTask(task.graph_task))
