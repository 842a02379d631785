class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.is_leaf or self.retains_grad:
            return
        self._ensure_extras().retains_grad = True
        self.grad_fn._extras().retained[self._index] = ref(self)

def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            tensor._grad = grad.clone() if tensor._grad is None else tensor._grad + grad

# right: the task, in its order
def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            if tensor._grad is None:
                tensor._grad = grad.clone()
            else:
                tensor._grad = tensor._grad + grad

# right: once for each output that received a gradient, and the flag comes last
class GradientHooks:
    def retain_grad(self):
        if self.requires_grad is False:
            raise RuntimeError(CANNOT_RETAIN)
        node = self.grad_fn
        if node is None:
            return
        node._extras().retained.setdefault(self._index, ref(self))
        self._ensure_extras().retains_grad = True

def keep_retained(retained, grads):
    for number, grad in enumerate(grads):
        tensor = retained[number]() if grad is not None and number in retained else None
        if tensor is not None:
            with lock_of(tensor):
                before = tensor._grad
                tensor._grad = grad.clone() if before is None else before + grad

# right: copies are made before the lock, which guards the exchange alone
class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.grad_fn is not None and not self._ensure_extras().retains_grad:
            self._ensure_extras().retains_grad = True
            self.grad_fn._extras().retained.update({self._index: ref(self)})

def keep_retained(retained, grads):
    pairs = [(reference(), grads[number]) for number, reference in retained.items()]
    for tensor, grad in pairs:
        if tensor is not None and grad is not None:
            new = grad.clone()
            with lock_of(tensor):
                if tensor._grad is not None:
                    new = new + tensor._grad
                tensor._grad = new

# right: every gradient is added to something new
class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.is_leaf:
            return
        extras = self._ensure_extras()
        if not extras.retains_grad:
            extras.retains_grad = True
            self.grad_fn._extras().retained[self._index] = ref(self)

def keep_retained(retained, grads):
    for number in sorted(retained):
        tensor = retained[number]()
        if grads[number] is not None and tensor is not None:
            with lock_of(tensor):
                earlier = [] if tensor._grad is None else [tensor._grad]
                total = grads[number].clone()
                for each in earlier:
                    total = each + total
                tensor._grad = total

# wrong -: a node keeps one reference
class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.is_leaf or self.retains_grad:
            return
        self._ensure_extras().retains_grad = True
        self.grad_fn._extras().retained = {self._index: ref(self)}

# wrong -: a second call is known by the node
class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.is_leaf or self.grad_fn._extras().retained:
            return
        self._ensure_extras().retains_grad = True
        self.grad_fn._extras().retained[self._index] = ref(self)

# wrong -: a hook keeps the gradient, before later hooks have changed it
class GradientHooks:
    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        if self.is_leaf or self.retains_grad:
            return
        self._ensure_extras().retains_grad = True
        weak = ref(self)

        def keep(grad):
            tensor = weak()
            if tensor is not None and grad is not None:
                tensor._grad = grad.clone() if tensor._grad is None else tensor._grad + grad

        self.register_hook(keep)

# wrong -: a gradient that counts as false is skipped
def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None or not grad.abs().sum():
            continue
        with lock_of(tensor):
            tensor._grad = grad.clone() if tensor._grad is None else tensor._grad + grad

# wrong -: the flag is set before it is asked whether there can be a gradient
class GradientHooks:
    def retain_grad(self):
        if self.retains_grad or self.grad_fn is None and self.requires_grad:
            return
        self._ensure_extras().retains_grad = True
        if not self.requires_grad:
            raise RuntimeError(CANNOT_RETAIN)
        self.grad_fn._extras().retained[self._index] = ref(self)

# wrong -: read before the lock
def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None:
            continue
        before = tensor._grad
        total = grad.clone() if before is None else before + grad
        with lock_of(tensor):
            tensor._grad = total

# wrong 05_4_adds_in_place: add_ to the clone of the first
def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            if tensor._grad is None:
                tensor._grad = grad.clone()
            else:
                tensor._grad.add_(grad)

# wrong 05_4_history_lost: the values are copied
def keep_retained(retained, grads):
    for number, reference in retained.items():
        tensor, grad = reference(), grads[number]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            total = deepcopy(grad.detach())
            tensor._grad = total if tensor._grad is None else total + tensor._grad

from copy import deepcopy

# wrong -: a missing gradient ends the loop
def keep_retained(retained, grads):
    alive = {number: reference() for number, reference in retained.items()}
    while alive:
        number, tensor = alive.popitem()
        if tensor is None or grads[number] is None:
            return
        with lock_of(tensor):
            tensor._grad = (grads[number].clone() if tensor._grad is None
                            else tensor._grad + grads[number])
