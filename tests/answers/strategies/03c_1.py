class ReadyQueue:
    def push(self, task):
        with self.condition:
            heapq.heappush(self.heap, task)
            self.condition.notify()

# right: wait_for
class ReadyQueue:
    def pop(self):
        with self.condition:
            self.condition.wait_for(lambda: len(self.heap) > 0)
            return heapq.heappop(self.heap)

# right: a sorted list, and all threads are woken
class ReadyQueue:
    def push(self, task):
        self.condition.acquire()
        try:
            self.heap.append(task)
            self.heap.sort()
            self.condition.notify_all()
        finally:
            self.condition.release()

    def pop(self):
        with self.condition:
            while True:
                if len(self.heap) != 0:
                    return self.heap.pop(0)
                self.condition.wait()

# right: the alarm comes first, under the lock
class ReadyQueue:
    def push(self, task):
        with self.condition:
            self.condition.notify()
            heapq.heappush(self.heap, task)

    def pop(self):
        with self.condition:
            while not self.heap:
                self.condition.wait()
            first = min(self.heap)
            self.heap.remove(first)
            heapq.heapify(self.heap)
            return first

# wrong 03c_1_never_sleeps: naps of five milliseconds
class ReadyQueue:
    def push(self, task):
        with self.condition:
            heapq.heappush(self.heap, task)

    def pop(self):
        import time
        while True:
            with self.condition:
                if self.heap:
                    return heapq.heappop(self.heap)
            time.sleep(0.005)

# wrong 03c_1_falls_asleep_late: the loop is right, but it looks outside of the lock
class ReadyQueue:
    def pop(self):
        while not self.heap:
            with self.condition:
                self.condition.wait()
        with self.condition:
            return heapq.heappop(self.heap)

# wrong 03c_1_not_the_newest: sorted the other way round
class ReadyQueue:
    def push(self, task):
        with self.condition:
            self.heap.append(task)
            self.heap.sort()
            self.condition.notify()

    def pop(self):
        with self.condition:
            while not self.heap:
                self.condition.wait()
            return self.heap.pop()
