class TensorHistory:
    @property
    def is_leaf(self):
        return self.grad_fn is None

    @property
    def grad_fn(self):
        return self._view.current_node(self) if self._view is not None else self._node

    def _edge(self):
        node = self.grad_fn
        if node is not None:
            return node, self._index
        return (self._accumulator(), 0) if self._requires_grad else (None, 0)

# right: grad_fn first
class TensorHistory:
    @property
    def grad_fn(self):
        if self._view is not None:
            return self._view.current_node(self)
        return self._node

    def _edge(self):
        node = self.grad_fn
        if node is not None:
            return node, self._index
        return (self._accumulator() if self._requires_grad else None), 0

# right: constants first
class TensorHistory:
    @property
    def is_leaf(self):
        return not self._edge()[1] and (self._edge()[0] is None or isinstance(self._edge()[0], AccumulateGrad))

    @property
    def grad_fn(self):
        view = self._view
        return self._node if view is None else view.current_node(self)

    def _edge(self):
        made_by = self.grad_fn
        if made_by is None and not self._requires_grad:
            return None, 0
        if made_by is None:
            return self._accumulator(), 0
        return made_by, self._index

# wrong 02_3_stale_view: a view is asked only if it requires grad
class TensorHistory:
    @property
    def grad_fn(self):
        if self._view is not None and self._requires_grad:
            return self._view.current_node(self)
        return self._node

# wrong 02_3_stale_view: the node of a view is asked for once and kept
class TensorHistory:
    @property
    def grad_fn(self):
        if self._view is not None and self._node is None:
            return self._view.current_node(self)
        return self._node

# wrong -: an end is made for each edge
class TensorHistory:
    def _edge(self):
        if self.grad_fn is not None:
            return self.grad_fn, self._index
        return (AccumulateGrad(self), 0) if self._requires_grad else (None, 0)

# wrong 02_3_stale_view: requires_grad is looked at before the node
class TensorHistory:
    def _edge(self):
        if not self._requires_grad:
            return None, 0
        if self.is_leaf:
            return self._accumulator(), 0
        return self.grad_fn, self._index
