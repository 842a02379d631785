# right: nested conditions
class AccumulateGrad:
    def apply_tensors(self, grads):
        (grad,) = grads
        variable = self.variable
        if grad is not None and variable._requires_grad:
            if not _state.grad_enabled.get():
                self.accumulate(grad._array, owned=False)
                return ()
            self.check_is_leaf()
            with lock_of(variable):
                if variable._grad is None:
                    variable._grad = differentiable_copy(variable, grad)
                else:
                    earlier = variable._grad
                    variable._grad = laid_out_as(earlier._array, earlier + grad)
        return ()

# right: the sum is looked for first
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if _state.grad_enabled.get() is False:
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            if current is not None:
                variable._grad = laid_out_as(current._array, grad + current)
            else:
                variable._grad = differentiable_copy(variable, grad)
        return ()

# wrong 02_6_layout: a clone for the first gradient
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            variable._grad = (grad.clone() if current is None
                              else laid_out_as(current._array, current + grad))
        return ()

# wrong -: a gradient without a history is accumulated in place
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if not grad.requires_grad or not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            variable._grad = (differentiable_copy(variable, grad) if current is None
                              else laid_out_as(current._array, current + grad))
        return ()

# right: zeros to which the gradient is added, for the first one too
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            if current is None:
                from numpy import zeros_like
                current = variable._plain(copy_for(variable._array, zeros_like(grad._array)))
            variable._grad = laid_out_as(current._array, current + grad)
        return ()

# wrong -: the copy has the earlier grad's strides by new memory of its own, without laid_out_as
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            current = variable._grad
            variable._grad = differentiable_copy(variable, grad if current is None else current + grad)
        return ()

# right: a copy or a sum, chosen in one expression
class AccumulateGrad:
    def apply_tensors(self, grads):
        grad, variable = grads[0], self.variable
        if grad is not None and variable._requires_grad:
            if not _state.grad_enabled.get():
                self.accumulate(grad._array, owned=False)
                return ()
            self.check_is_leaf()
            with lock_of(variable):
                before = variable._grad
                variable._grad = (differentiable_copy(variable, grad) if before is None
                                  else laid_out_as(before._array, before + grad))
        return ()

# wrong 02_6_public_setter: assigns to the public property
class AccumulateGrad:
    def apply_tensors(self, grads):
        (grad,) = grads
        variable = self.variable
        if grad is None or not variable._requires_grad:
            return ()
        if not _state.grad_enabled.get():
            self.accumulate(grad._array, owned=False)
            return ()
        self.check_is_leaf()
        with lock_of(variable):
            if variable.grad is None:
                variable.grad = differentiable_copy(variable, grad)
            else:
                variable.grad = laid_out_as(variable.grad._array, variable.grad + grad)
        return ()
