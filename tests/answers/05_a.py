"""Stage 05, written from the tasks by somebody who likes to say everything."""


class RemovableHandle:
    def __init__(self, *hooks):
        self.hooks = hooks
        self.id = next(self._ids)

    def remove(self):
        for table in self.hooks:
            if self.id in table:
                del table[self.id]

    def __exit__(self, *exc):
        self.remove()
        return False


def register(table, hook, prepend=False, *marked):
    handle = RemovableHandle(table, *marked)
    if prepend:
        others = list(table.items())
        table.clear()
        table[handle.id] = hook
        for number, other in others:
            table[number] = other
    else:
        table[handle.id] = hook
    for each in marked:
        each[handle.id] = True
    return handle


def check_hook_result(hook, replaced, given):
    if given is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(replaced, Tensor):
        kind = type(replaced).__name__
        raise TypeError("expected Variable, but hook returned '" + kind + "'")
    new = replaced._array
    old = given._array
    name = hook_name(hook)
    if new.dtype != old.dtype:
        before = type_name(given.dtype)
        after = type_name(replaced.dtype)
        raise RuntimeError(f"hook '{name}' has changed the type of value "
                           f"(was torch.{before}Tensor got torch.{after}Tensor)")
    if new.shape != old.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")


class GradientHooks:
    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        table = hook_table(self)
        return register(table, hook)

    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        node = self.grad_fn
        if node is None:
            return
        more = self._ensure_extras()
        if more.retains_grad:
            return
        more.retains_grad = True
        node._extras().retained[self._index] = ref(self)

    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf "
                               "tensors")
        more = self._ensure_extras()
        if more.post_accumulate is None:
            more.post_accumulate = OrderedDict()
        return register(more.post_accumulate, hook)


def hook_table(tensor):
    node = tensor.grad_fn
    if node is not None:
        tables = node._extras().tensor
        if tensor._index not in tables:
            tables[tensor._index] = OrderedDict()
        return tables[tensor._index]
    more = tensor._ensure_extras()
    if more.hooks is None:
        more.hooks = OrderedDict()
    tensor._accumulator()._extras().tensor[0] = more.hooks
    return more.hooks


def run_tensor_hooks(tables, grads):
    for number in list(tables):
        hooks = list(tables[number].values())
        for hook in hooks:
            answer = hook(grads[number])
            if answer is None:
                continue
            check_hook_result(hook, answer, grads[number])
            grads[number] = answer


def keep_retained(retained, grads):
    for number in retained:
        tensor = retained[number]()
        grad = grads[number]
        if tensor is None or grad is None:
            continue
        with lock_of(tensor):
            if tensor._grad is None:
                tensor._grad = grad.clone()
            else:
                tensor._grad = tensor._grad + grad


def run_pre_hooks(hooks, grads):
    current = grads
    for hook in list(hooks.values()):
        answer = hook(current)
        current = checked_tuple(hook, answer, current)
    return current


def run_post_hooks(hooks, results, grads):
    current = results
    for hook in list(hooks.values()):
        answer = hook(current, grads)
        current = checked_tuple(hook, answer, current)
    return current


def checked_tuple(hook, replaced, given):
    if replaced is None:
        return given
    if not isinstance(replaced, tuple):
        kind = type(replaced).__name__
        raise TypeError(f"expected tuple, but hook returned '{kind}'")
    if len(replaced) != len(given):
        name = hook_name(hook)
        raise RuntimeError(f"hook '{name}' has returned an incorrect number of values "
                           f"(got {len(replaced)}, but expected {len(given)})")
    for position in range(len(replaced)):
        value = replaced[position]
        if value is not None:
            check_hook_result(hook, value, given[position])
    return replaced


def run_after_accumulation(hooks, tensor):
    for hook in list(hooks.values()):
        refuse_answer(hook(tensor))
