# right: copies always
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    return copy_for(leaf, grad)

# wrong 02_5_looks_before_the_lock: looked at before the lock
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        if variable._grad is None:
            with lock_of(variable):
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
        else:
            with lock_of(variable):
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    return copy_for(leaf, grad)

# wrong 02_5_owned_layout: an owned gradient is kept without a look at its layout
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    if owned and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_replaces: a sum in a new Tensor
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                variable._grad = variable._plain(variable._grad._array + grad)

def new_grad(leaf, grad, owned):
    return copy_for(leaf, grad)
