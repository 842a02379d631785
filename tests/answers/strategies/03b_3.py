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

# right: the form is decided first, and each gradient is made in it
def root_gradients(roots, grads, create_graph):
    found = []
    for i, root in enumerate(roots):
        found.append(ones_for(root) if grads[i] is None else checked(grads[i], root, i))
    live = [t for t in found if isinstance(t, Tensor) and t.requires_grad]
    keep = bool(live) or on_tensors(create_graph)
    return list(map(lambda t: t if keep or t is None else t._array, found))

# right: the product of the sizes, and ones of that shape
def root_gradients(roots, grads, create_graph):
    result, recorded = [], on_tensors(create_graph)
    for i, (root, grad) in enumerate(zip(roots, grads)):
        result.append(checked(grad, root, i) if grad is not None else ones_for(root))
        recorded |= result[-1] is not None and result[-1].requires_grad
    if not recorded:
        for i, each in enumerate(result):
            if each is not None:
                result[i] = each._array
    return result

def ones_for(root):
    if not isinstance(root, GradientEdge) and not root.requires_grad:
        return None
    array = array_like(root)
    if any(n != 1 for n in array.shape):
        raise RuntimeError(NOT_SCALAR)
    return Tensor._plain(BACKENDS[type(array)].ones_like(array))

# wrong 03b_3_root_changed: ones are written to the array that array_like returns
def root_gradients(roots, grads, create_graph):
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    if on_tensors(create_graph) or any(t is not None and t.requires_grad for t in found):
        return found
    return [t if t is None else t._array for t in found]

def ones_for(root):
    if isinstance(root, Tensor) and not root.requires_grad:
        return None
    array = array_like(root)
    if array.size != 1:
        raise RuntimeError(NOT_SCALAR)
    array[...] = 1
    return Tensor._plain(array)

# wrong -: one more than the difference of the root and itself
def root_gradients(roots, grads, create_graph):
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    if on_tensors(create_graph) or any(t is not None and t.requires_grad for t in found):
        return found
    return [t if t is None else t._array for t in found]

def ones_for(root):
    if isinstance(root, Tensor) and not root.requires_grad:
        return None
    array = array_like(root)
    if array.size != 1:
        raise RuntimeError(NOT_SCALAR)
    return Tensor._plain(array - array + array.dtype.type(1))

# wrong -: each gradient has the form that it needs itself
def root_gradients(roots, grads, create_graph):
    found = []
    for i, (root, grad) in enumerate(zip(roots, grads, strict=True)):
        made = ones_for(root) if grad is None else checked(grad, root, i)
        if made is not None and not on_tensors(create_graph) and not made.requires_grad:
            made = made._array
        found.append(made)
    return found

# wrong -: the first gradient that requires grad decides about those after it
def root_gradients(roots, grads, create_graph):
    found, recorded = [], on_tensors(create_graph)
    for i, (root, grad) in enumerate(zip(roots, grads, strict=True)):
        made = ones_for(root) if grad is None else checked(grad, root, i)
        recorded = recorded or (made is not None and made.requires_grad)
        found.append(made if recorded or made is None else made._array)
    return found

# wrong 03b_3_history_lost: tensors are made of the arrays
def root_gradients(roots, grads, create_graph):
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    arrays = [t if t is None else t._array for t in found]
    if on_tensors(create_graph) or any(t is not None and t.requires_grad for t in found):
        return [t if t is None else Tensor._plain(t) for t in arrays]
    return arrays

# wrong -: the passed gradients are asked before they are checked
def root_gradients(roots, grads, create_graph):
    keep = on_tensors(create_graph) or any(g is not None and g.requires_grad for g in grads)
    found = [ones_for(root) if grad is None else checked(grad, root, i)
             for i, (root, grad) in enumerate(zip(roots, grads, strict=True))]
    return [t if keep or t is None else t._array for t in found]
