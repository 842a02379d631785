class GradientHooks:
    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        return register(hook_table(self), hook)

def hook_table(tensor):
    node = node_with_hooks(tensor)
    if node is not None:
        return node._extras().tensor.setdefault(tensor._index, OrderedDict())
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    tensor._accumulator()._extras().tensor[0] = extras.hooks
    return extras.hooks

# right: the two kinds of tensors, one after the other
# These are the functions above.

# right: any tensor has a place in a node, and a leaf's table comes first
class GradientHooks:
    def register_hook(self, hook):
        if self.requires_grad:
            return register(hook_table(self), hook)
        raise RuntimeError(NEEDS_GRAD)

def hook_table(tensor):
    node, table = node_with_hooks(tensor), None
    if node is None:
        node, table = tensor._accumulator(), tensor._ensure_extras().hooks
    tables, number = node._extras().tensor, tensor._index
    if table is None:
        table = tables.get(number)
    if table is None:
        table = OrderedDict()
    tables[number] = table
    if tensor.is_leaf:
        tensor._ensure_extras().hooks = table
    return table

# right: a missing entry is an exception
class GradientHooks:
    def register_hook(self, hook):
        if self.requires_grad is False:
            raise RuntimeError(NEEDS_GRAD)
        table = hook_table(self)
        handle = register(table, hook)
        return handle

def hook_table(tensor):
    node = node_with_hooks(tensor)
    if node is None:
        kept = tensor._ensure_extras()
        kept.hooks = OrderedDict() if kept.hooks is None else kept.hooks
        node = tensor._accumulator()
        node._extras().tensor.update({0: kept.hooks})
        return node._extras().tensor[0]
    try:
        return node._extras().tensor[tensor._index]
    except KeyError:
        table = node._extras().tensor[tensor._index] = OrderedDict()
        return table

# wrong 05_3_late_hook_lost: the property that pickles use, which replaces an empty table
def hook_table(tensor):
    if tensor._backward_hooks is None:
        tensor._backward_hooks = OrderedDict()
    return tensor._backward_hooks

# wrong -: the leaf's node gets a copy of the leaf's table
class GradientHooks:
    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        handle = register(hook_table(self), hook)
        if self.is_leaf:
            self._accumulator()._extras().tensor[0] = OrderedDict(self._ensure_extras().hooks)
        return handle

def hook_table(tensor):
    node = node_with_hooks(tensor)
    if node is not None:
        return node._extras().tensor.setdefault(tensor._index, OrderedDict())
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    return extras.hooks

# wrong 05_3_lost_with_the_graph: any tensor has a place in a node
def hook_table(tensor):
    node = node_with_hooks(tensor)
    if node is None:
        node = tensor._accumulator()
    return node._extras().tensor.setdefault(tensor._index, OrderedDict())

# wrong 05_3_late_hook_lost: the table at the tensor, whichever it is
def hook_table(tensor):
    node = node_with_hooks(tensor)
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    if node is not None:
        node._extras().tensor[tensor._index] = extras.hooks
    return extras.hooks

# wrong 05_3_leaf_not_called: a table of tables by the tensor's id
def hook_table(tensor):
    node = node_with_hooks(tensor) or tensor._accumulator()
    return node._extras().tensor.setdefault(id(tensor), OrderedDict())

# wrong 05_3_results_refused: only leaves may have hooks
class GradientHooks:
    def register_hook(self, hook):
        if self.grad_fn is not None or not self.requires_grad:
            raise RuntimeError(NEEDS_GRAD)
        return register(hook_table(self), hook)

def hook_table(tensor):
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    tensor._accumulator()._extras().tensor[0] = extras.hooks
    return extras.hooks

# wrong -: what has no node is refused
class GradientHooks:
    def register_hook(self, hook):
        if self.grad_fn is None:
            raise RuntimeError(NEEDS_GRAD)
        return register(hook_table(self), hook)

# wrong -: all outputs of a node share a table
def hook_table(tensor):
    node = node_with_hooks(tensor)
    if node is not None:
        tables = node._extras().tensor
        for table in tables.values():
            return tables.setdefault(tensor._index, table)
        return tables.setdefault(tensor._index, OrderedDict())
    extras = tensor._ensure_extras()
    if extras.hooks is None:
        extras.hooks = OrderedDict()
    tensor._accumulator()._extras().tensor[0] = extras.hooks
    return extras.hooks
