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
