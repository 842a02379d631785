def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index)
        return
    set_gradient_edge(view.base, CopySlices(view.base, view.base._edge(), tensor, node, position))
    view.regenerate(tensor)

class ViewInfo:
    def regenerate(self, view):
        set_gradient_edge(view, node_from_base(self.base, view))
        self.version = self.version_now(view)

# right: one branch for each kind
def rebase_history(tensor, node, index=0, position=0):
    if tensor._view is not None:
        base = tensor._view.base
        earlier = base._edge()
        slices = CopySlices(base, earlier, tensor, node, position)
        set_gradient_edge(base, slices)
        tensor._view.regenerate(tensor)
    else:
        set_gradient_edge(tensor, node, index)

# right: the version first, since making a node writes nothing
def rebase_history(tensor, node, index=0, position=0):
    info = tensor._view
    target, made, number = tensor, node, index
    if info is not None:
        target = info.base
        made, number = CopySlices(target, target._edge(), tensor, node, position), 0
    set_gradient_edge(target, made, number)
    if info is not None:
        info.regenerate(tensor)

class ViewInfo:
    def regenerate(self, view):
        self.version = self.version_now(view)
        node = node_from_base(self.base, view)
        set_gradient_edge(view, node, 0)

# right: what regenerate does, written out
def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index=index)
        return
    set_gradient_edge(view.base, CopySlices(view.base, view.base._edge(), tensor, node, position), 0)
    set_gradient_edge(tensor, node_from_base(view.base, tensor))
    view.version = view.version_now(tensor)

class ViewInfo:
    def regenerate(self, view):
        node = node_from_base(self.base, view)
        set_gradient_edge(view, node)
        self.version = self.version_now(view)

# wrong 06_7_retained_lost: regenerate sets the attributes of the view itself
class ViewInfo:
    def regenerate(self, view):
        view._node, view._index, view._requires_grad = node_from_base(self.base, view), 0, True
        self.version = self.version_now(view)

# wrong 06_7_retained_lost: a tensor that is no view gets its attributes set
def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        tensor._node = node
        tensor._index = index
        tensor._requires_grad = True
        return
    set_gradient_edge(view.base, CopySlices(view.base, view.base._edge(), tensor, node, position))
    view.regenerate(tensor)

# wrong -: the base gets its attributes set
def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index)
        return
    base = view.base
    base._node = CopySlices(base, base._edge(), tensor, node, position)
    base._index, base._requires_grad = 0, True
    view.regenerate(tensor)

# wrong 06_7_retained_lost: the new node is found by detaching and setting again
class ViewInfo:
    def regenerate(self, view):
        view._node = None
        set_gradient_edge(view, node_from_base(self.base, view))
        self.version = self.version_now(view)

# wrong 06_7_view_before_base: the view is regenerated first
def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index)
        return
    view.regenerate(tensor)
    set_gradient_edge(view.base, CopySlices(view.base, view.base._edge(), tensor, node, position))

# wrong 06_7_base_without_slices: the base is output index of the write's node
def rebase_history(tensor, node, index=0, position=0):
    view = tensor._view
    if view is None:
        set_gradient_edge(tensor, node, index)
        return
    set_gradient_edge(view.base, node, index)
    view.regenerate(tensor)

# wrong 06_7_version_not_noted: one more than before
class ViewInfo:
    def regenerate(self, view):
        version = self.version
        set_gradient_edge(view, node_from_base(self.base, view))
        self.version = version
