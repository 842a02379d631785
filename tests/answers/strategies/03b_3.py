def ones_for(root):
    if isinstance(root, Tensor) and not root.requires_grad:
        return None
    array = array_like(root)
    if array.size != 1:
        raise RuntimeError(NOT_SCALAR)
    return Tensor._plain(BACKENDS[type(array)].ones_like(array))

# right: two lists, chosen at the end
def root_gradients(roots, grads, create_graph):
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    if on_tensors(create_graph) or any(t is not None and t.requires_grad for t in found):
        return found
    return [t if t is None else t._array for t in found]

# wrong 03b_3_only_create_graph: asks create_graph itself
def root_gradients(roots, grads, create_graph):
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    if create_graph or any(t is not None and t.requires_grad for t in found):
        return found
    return [t if t is None else t._array for t in found]
