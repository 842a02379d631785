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

# right: copies always
# These are the functions above.

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

# wrong 02_5_owned_layout: an owned gradient is kept without a look at its layout
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

# right: keeps an owned array whose layout fits
def new_grad(leaf, grad, owned):
    fits = owned and grad.strides == leaf.strides
    if fits and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# right: the lock by hand, and early returns
class AccumulateGrad:
    def accumulate(self, grad, owned):
        x = self.variable
        if x._requires_grad:
            self.check_is_leaf()
            lock = lock_of(x)
            lock.acquire()
            try:
                if x._grad is not None:
                    return add_to(x._grad, grad)
                x._grad = x._plain(new_grad(x._array, grad, owned))
            finally:
                lock.release()

def new_grad(leaf, grad, owned):
    if not owned or grad.strides != leaf.strides:
        return copy_for(leaf, grad)
    if grad.base is not None and not holds_alone(grad):
        return copy_for(leaf, grad)
    return grad

# right: a first gradient is copied before the lock
class AccumulateGrad:
    def accumulate(self, grad, owned):
        x = self.variable
        if not x._requires_grad:
            return
        self.check_is_leaf()
        fresh = None if x._grad is not None else x._plain(new_grad(x._array, grad, owned))
        with lock_of(x):
            if x._grad is not None:
                add_to(x._grad, grad)
            else:
                x._grad = fresh if fresh is not None else x._plain(copy_for(x._array, grad))

# right: only an array that owns its memory is kept
def new_grad(leaf, grad, owned):
    keep = owned and grad.flags.owndata and grad.strides == leaf.strides
    return grad if keep else copy_for(leaf, grad)

# right: all checks under the lock
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        with lock_of(variable):
            if variable._requires_grad:
                self.check_is_leaf()
                if variable._grad is None:
                    variable._grad = variable._plain(new_grad(variable._array, grad, owned))
                else:
                    add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    fits = owned and grad.strides == leaf.strides
    if fits and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong -: zeros, to which the first gradient is added
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad * 0, False))
            add_to(variable._grad, grad)

# wrong -: a gradient of zeros is skipped
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad or not grad.any():
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable._grad is None:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    fits = owned and grad.strides == leaf.strides
    if fits and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_keeps_borrowed: an array without a base is taken for an owned one
def new_grad(leaf, grad, owned):
    if grad.strides == leaf.strides and (grad.base is None or owned and holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_owned_layout: a contiguous array is kept
def new_grad(leaf, grad, owned):
    if owned and grad.flags.c_contiguous and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_owned_layout: any contiguous memory will do, in either order
def new_grad(leaf, grad, owned):
    if owned and grad.flags.forc and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_dtype_of_the_leaf: the dtype has to be the leaf's too, and the copy gets it
def new_grad(leaf, grad, owned):
    if owned and grad.strides == leaf.strides and grad.base is None and grad.dtype == leaf.dtype:
        return grad
    return copy_for(leaf, grad.astype(leaf.dtype))

# wrong -: the truth of .grad is asked for
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if not variable._grad:
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    fits = owned and grad.strides == leaf.strides
    if fits and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_gradient_layout: a full copy is made by multiplying with one
def new_grad(leaf, grad, owned):
    return grad * 1

# wrong -: the leaf is checked only for a first gradient
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        with lock_of(variable):
            if variable._grad is None:
                self.check_is_leaf()
                variable._grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable._grad, grad)

def new_grad(leaf, grad, owned):
    fits = owned and grad.strides == leaf.strides
    if fits and (grad.base is None or holds_alone(grad)):
        return grad
    return copy_for(leaf, grad)

# wrong 02_5_public_setter: assigns to the public property
class AccumulateGrad:
    def accumulate(self, grad, owned):
        variable = self.variable
        if not variable._requires_grad:
            return
        self.check_is_leaf()
        with lock_of(variable):
            if variable.grad is None:
                variable.grad = variable._plain(new_grad(variable._array, grad, owned))
            else:
                add_to(variable.grad, grad)
