# right: every result is marked
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is None or tensor._array.dtype.kind != "f":
        return tensor
    tensor._node = node
    tensor._requires_grad = True
    node.shape = tensor._array.shape
    node.dtype = tensor._array.dtype
    if "result" in node.saves:
        node.save_output("result", tensor)
    return tensor

# wrong 04e_3_cycle: the node first, then the tensor
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor._array.dtype.kind == "f":
        node.shape = tensor._array.shape
        node.dtype = tensor._array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
        tensor._node = node
        tensor._requires_grad = True
    return tensor

# wrong 04e_3_integers: a node is all that counts
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None:
        tensor._node = node
        tensor._requires_grad = True
        node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
    return tensor

# wrong 04e_3_no_base: views are like all other results
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_inference(tensor)
    if node is not None and array.dtype.kind == "f":
        tensor._node = node
        tensor._requires_grad = True
        node.shape, node.dtype = array.shape, array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
    return tensor

# right: a result without gradient returns early, with a completed node
def wrap(op, node, values, array):
    if type(array) is list:
        return wrap_several(op, node, values, array)
    result = Tensor._plain(array)
    mark_result(op, values, result)
    if node is None:
        return result
    kept = result._array
    node.shape, node.dtype = tuple(kept.shape), kept.dtype
    if kept.dtype.kind != "f":
        return result
    result._node, result._index, result._requires_grad = node, 0, True
    if "result" in node.saves:
        node.save_output("result", result)
    return result

# right: a loop over what a node may save
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and np.issubdtype(tensor._array.dtype, np.floating):
        node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
        tensor._requires_grad = True
        tensor._node = node
        for name in node.saves:
            if name == "result":
                node.save_output(name, tensor)
    return tensor

# right: two functions
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor.is_floating_point():
        complete(node, tensor)
    return tensor

def complete(node, tensor):
    tensor._requires_grad, tensor._node = True, node
    node.shape = tensor._array.shape
    node.dtype = tensor._array.dtype
    if "result" in node.saves:
        node.save_output("result", tensor)

# wrong -: every output is saved
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor._array.dtype.kind == "f":
        tensor._node, tensor._requires_grad = node, True
        node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
        for name in node.value_slots:
            if name in ("self", "result"):
                node.save_output(name, tensor)
    return tensor

# wrong 04e_3_output_not_saved: saved where the op has outputs by name
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor._array.dtype.kind == "f":
        tensor._node, tensor._requires_grad = node, True
        node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
        for name in op.outputs:
            if name in node.saves:
                node.save_output(name, tensor)
    return tensor

# right: the marks come last
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    if node is not None and array.dtype.kind == "f":
        tensor._node, tensor._requires_grad = node, True
        node.shape, node.dtype = array.shape, array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
    mark_result(op, values, tensor)
    return tensor

# wrong -: the shape of the first input
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor._array.dtype.kind == "f":
        tensor._node, tensor._requires_grad = node, True
        node.shape, node.dtype = values[0].shape, tensor._array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
    return tensor

# wrong -: only float32 has a gradient
def wrap(op, node, values, array):
    if isinstance(array, list):
        return wrap_several(op, node, values, array)
    tensor = Tensor._plain(array)
    mark_result(op, values, tensor)
    if node is not None and tensor._array.dtype in (np.float32, np.float64):
        tensor._node, tensor._requires_grad = node, True
        node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
        if "result" in node.saves:
            node.save_output("result", tensor)
    return tensor
