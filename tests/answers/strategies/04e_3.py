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
