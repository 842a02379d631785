# right: decides under the lock, returns after it
class GraphTask:
    def add_gradient(self, number, grad):
        self.lock.acquire()
        try:
            total = self.grads.pop(number, 0.0) + grad
            left = self.dependencies[number] - 1
            self.dependencies[number] = left
            if left > 0:
                self.grads[number] = total
        finally:
            self.lock.release()
        return total if left == 0 else None

# right: counts first
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.dependencies[number] -= 1
            if number in self.grads:
                grad = self.grads.pop(number) + grad
            if self.dependencies[number] == 0:
                return grad
            self.grads[number] = grad
            return None

# wrong 03c_2_lost_part: a lock for each half
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            before = self.grads.get(number, 0.0)
        total = before + grad
        with self.lock:
            self.grads[number] = total
            self.dependencies[number] -= 1
            if self.dependencies[number] == 0:
                return self.grads.pop(number)
        return None

# wrong 03c_2_zero_is_none: the sum is there or it is not
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            self.dependencies[number] -= 1
            total = self.dependencies[number] == 0 and self.grads.pop(number)
            return total or None

# wrong 03c_2_looks_too_late: looks at the count after the lock, and takes the sum there
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            self.dependencies[number] -= 1
        if self.dependencies[number] == 0:
            return self.grads.pop(number)
        return None

# wrong 03c_2_looks_too_late: counts under the lock, and asks whether a sum is there
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.grads[number] = grad + self.grads.get(number, 0.0)
            self.dependencies[number] = self.dependencies[number] - 1
        if self.dependencies[number] > 0:
            return None
        total = self.grads[number]
        del self.grads[number]
        return total

# right: one lock for all passes
class GraphTask:
    def add_gradient(self, number, grad):
        with _grad_lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            self.dependencies[number] -= 1
            return None if self.dependencies[number] else self.grads.pop(number)

# wrong 03c_2_lost_part: the lock is asked for, but not waited for
class GraphTask:
    def add_gradient(self, number, grad):
        mine = self.lock.acquire(blocking=False)
        self.grads[number] = self.grads.get(number, 0.0) + grad
        self.dependencies[number] -= 1
        total = None if self.dependencies[number] else self.grads.pop(number)
        if mine:
            self.lock.release()
        return total

# wrong 03c_2_lost_part: the lock is looked at
class GraphTask:
    def add_gradient(self, number, grad):
        while self.lock.locked():
            pass
        self.grads[number] = self.grads.get(number, 0.0) + grad
        self.dependencies[number] -= 1
        return None if self.dependencies[number] else self.grads.pop(number)

# wrong 03c_2_lock_is_kept: the lock comes back with the sum only
class GraphTask:
    def add_gradient(self, number, grad):
        self.lock.acquire()
        self.grads[number] = self.grads.get(number, 0.0) + grad
        self.dependencies[number] -= 1
        if self.dependencies[number]:
            return None
        self.lock.release()
        return self.grads.pop(number)

# wrong 03c_2_lock_is_kept: the lock comes back with None only
class GraphTask:
    def add_gradient(self, number, grad):
        self.lock.acquire()
        self.grads[number] = self.grads.get(number, 0.0) + grad
        self.dependencies[number] -= 1
        if self.dependencies[number] == 0:
            return self.grads.pop(number)
        self.lock.release()
        return None

# wrong 03c_2_waits_inside: it waits for the other parts, with the lock
import time


class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            self.dependencies[number] -= 1
            while self.dependencies[number]:
                time.sleep(0.001)
            return self.grads.pop(number)

# wrong 03c_2_waits_inside: a method with the lock calls another with the lock
class GraphTask:
    def add_gradient(self, number, grad):
        with self.lock:
            self.grads[number] = self.grads.get(number, 0.0) + grad
            return self._counted(number)

    def _counted(self, number):
        with self.lock:
            self.dependencies[number] -= 1
            return None if self.dependencies[number] else self.grads.pop(number)
