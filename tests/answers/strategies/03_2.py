# right: always out of place
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        if self.grads[index] is None:
            self.grads[index], self.owned[index] = grad, owned
        else:
            self.grads[index], self.owned[index] = combine(self.grads[index], grad), True

# right: in place with np.add where it may be
class InputBuffer:
    def add(self, index, gradient):
        now = self.grads[index]
        if now is None:
            self.grads[index] = gradient.value
            self.owned[index] = gradient.owned
            return
        fits = self.owned[index] and writable(now) and isinstance(gradient.value, np.ndarray)
        if fits and now.shape == gradient.value.shape and now.dtype == gradient.value.dtype:
            np.add(now, gradient.value, out=now)
        else:
            self.grads[index] = combine(now, gradient.value)
        self.owned[index] = True

# right: copy the gradient, then add
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            total, mine = grad, owned
        elif hasattr(current, "_array") or hasattr(grad, "_array"):
            total, mine = current + grad, True
        else:
            total, mine = np.array(current, copy=True), True
            total[...] += grad
        self.grads[index] = total
        self.owned[index] = mine

# wrong 03_2_writes_borrowed: in place as soon as it is writable
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
        elif writable(current) and writable(grad):
            current += grad
            self.owned[index] = True
        else:
            self.grads[index], self.owned[index] = combine(current, grad), True

# wrong 03_2_writes_second: added into the newcomer if it is owned
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
        elif owned and writable(grad):
            grad += current
            self.grads[index], self.owned[index] = grad, True
        else:
            self.grads[index], self.owned[index] = combine(current, grad), True

# wrong 03_2_writes_view: flags.writeable instead of writable
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
        elif self.owned[index] and isinstance(current, np.ndarray) and current.flags.writeable:
            current += grad
        else:
            self.grads[index], self.owned[index] = combine(current, grad), True

# wrong 03_2_history_lost: tensors are added by their arrays
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
            return
        if isinstance(current, Tensor):
            self.grads[index] = Tensor._plain(current._array + grad._array)
        else:
            self.grads[index] = combine(current, grad)
        self.owned[index] = True

# wrong 03_2_sum_not_owned: the mark is set with the first gradient and never again
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        if self.grads[index] is None:
            self.grads[index] = grad
            self.owned[index] = owned
        else:
            self.grads[index] = combine(self.grads[index], grad)

# wrong 03_2_number: np.add, which gives a number for arrays without dimensions
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        current = self.grads[index]
        if current is None:
            self.grads[index], self.owned[index] = grad, owned
        else:
            total = current + grad if isinstance(current, Tensor) else np.add(current, grad)
            self.grads[index], self.owned[index] = total, True

# wrong 03_2_second_lost: a second gradient that is zero where the first is not
class InputBuffer:
    def add(self, index, gradient):
        grad, owned = gradient
        if self.grads[index] is None:
            self.grads[index], self.owned[index] = grad, owned
        elif owned:
            self.grads[index], self.owned[index] = combine(self.grads[index], grad), True
