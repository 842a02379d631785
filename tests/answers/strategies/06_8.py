# right: asks in the order of the task
class ViewInfo:
    def current_node(self, view):
        if view._node is None and not self.base._requires_grad:
            return None
        if self.version_now(view) != self.version:
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node

# right: the version first
class ViewInfo:
    def current_node(self, view):
        written = self.version != self.version_now(view)
        takes_part = view._node is not None or self.base._requires_grad
        if written and takes_part:
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node

# wrong 06_8_late_base: a view without a node never gets one
class ViewInfo:
    def current_node(self, view):
        if view._node is None:
            return None
        if self.version_now(view) != self.version:
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node

# wrong 06_8_base_detached: a view takes the base's word for whether it is in the graph
class ViewInfo:
    def current_node(self, view):
        if not self.base._requires_grad:
            return None
        if self.version_now(view) != self.version:
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node

# wrong -: refused after the node was made
class ViewInfo:
    def current_node(self, view):
        if view._node is None and not self.base._requires_grad:
            return None
        if self.version_now(view) != self.version:
            self.regenerate(view)
            self.refuse(view, indirect=True)
        return view._node

# wrong 06_8_views_stale: the edge to the base is compared in place of the version
class ViewInfo:
    def current_node(self, view):
        if view._node is None and not self.base._requires_grad:
            return None
        if view._node is None or view._node.edges[0][0] is not self.base._node:
            self.refuse(view, indirect=True)
            self.regenerate(view)
        return view._node
