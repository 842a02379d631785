class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES)
        extras = self._ensure_extras()
        if extras.post_accumulate is None:
            extras.post_accumulate = OrderedDict()
        return register(extras.post_accumulate, hook)

def run_after_accumulation(hooks, tensor):
    for hook in list(hooks.values()):
        refuse_answer(hook(tensor))

# right: a separate table
# These are the functions above.

# right: leaves are asked for first
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if self.grad_fn is not None:
            raise RuntimeError(ONLY_LEAVES)
        if self.requires_grad:
            extras = self._ensure_extras()
            table = extras.post_accumulate
            if table is None:
                table = extras.post_accumulate = OrderedDict()
            return register(table, hook)
        raise RuntimeError(NEEDS_GRAD)

def run_after_accumulation(hooks, tensor):
    for answer in map(lambda hook: hook(tensor), tuple(hooks.values())):
        refuse_answer(answer)

# right: a hook that was removed meanwhile is not called any more
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if self.grad_fn:
            raise RuntimeError(ONLY_LEAVES)
        kept = self._ensure_extras()
        kept.post_accumulate = (OrderedDict() if kept.post_accumulate is None
                                else kept.post_accumulate)
        handle = register(kept.post_accumulate, hook)
        return handle

def run_after_accumulation(hooks, tensor):
    for number in list(hooks.keys()):
        if number in hooks:
            answer = hooks[number](tensor)
            refuse_answer(answer)

# right: an answer other than None is refused
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES)
        extras = self._ensure_extras()
        try:
            return register(extras.post_accumulate, hook)
        except TypeError:
            extras.post_accumulate = OrderedDict()
            return register(extras.post_accumulate, hook)

def run_after_accumulation(hooks, tensor):
    waiting = list(hooks.values())
    while waiting:
        answer = waiting.pop(0)(tensor)
        if answer is not None:
            refuse_answer(answer)

# wrong 05_6_empty_table_replaced: an empty table counts as false
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES)
        extras = self._ensure_extras()
        extras.post_accumulate = extras.post_accumulate or OrderedDict()
        return register(extras.post_accumulate, hook)

# wrong -: an answer that counts as false is accepted
def run_after_accumulation(hooks, tensor):
    for hook in list(hooks.values()):
        answer = hook(tensor)
        if isinstance(answer, Tensor) or answer:
            refuse_answer(answer)

# wrong -: the answers are refused when all hooks have run
def run_after_accumulation(hooks, tensor):
    for answer in [hook(tensor) for hook in list(hooks.values())]:
        refuse_answer(answer)

# wrong -: a leaf whose gradient a hook has dropped is left alone
def run_after_accumulation(hooks, tensor):
    had_one = tensor.grad is not None
    for hook in list(hooks.values()):
        if had_one and tensor.grad is None:
            break
        refuse_answer(hook(tensor))

# wrong 05_6_forgotten_after_once: each hook leaves the table when it runs
def run_after_accumulation(hooks, tensor):
    waiting = list(hooks.values())
    hooks.clear()
    for hook in waiting:
        refuse_answer(hook(tensor))

# wrong 05_6_called_before: among the leaf's ordinary hooks
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES)
        return register(hook_table(self), lambda grad: hook(self))

# wrong 05_6_not_called: a hook of the leaf's node, which the graph's end removes
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        if not self.is_leaf:
            raise RuntimeError(ONLY_LEAVES)
        return register(self._accumulator()._extras().post, lambda inputs, outputs: hook(self))

# wrong 05_6_no_grad_accepted: the check is for leaves only, and constants are leaves
class GradientHooks:
    def register_post_accumulate_grad_hook(self, hook):
        if self.grad_fn is not None:
            raise RuntimeError(ONLY_LEAVES)
        extras = self._ensure_extras()
        if extras.post_accumulate is None:
            extras.post_accumulate = OrderedDict()
        if not self.requires_grad and self.grad is None and not extras.post_accumulate:
            self.requires_grad_()
        return register(extras.post_accumulate, hook)

# wrong -: a hook that registers another one is run again with it
def run_after_accumulation(hooks, tensor):
    done = set()
    while True:
        number = next((each for each in hooks if each not in done), None)
        if number is None:
            return
        done.add(number)
        refuse_answer(hooks[number](tensor))
