def alias(tensor):
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result

def join_to_node(node, output, index, is_input):
    if is_input or output._node not in (None, node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# right: who has another place goes as an alias
# These are the functions above.

# wrong 06b_2_twice_is_another: an alias wherever the tensor has a node
def join_to_node(node, output, index, is_input):
    if is_input or output._node is not None:
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong 06b_2_grad_decides: an alias wherever the tensor requires grad
def join_to_node(node, output, index, is_input):
    if is_input or (output.requires_grad and output._node is not node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong 06b_2_no_view: the alias is a detached tensor
def alias(tensor):
    return tensor.detach()

# right: a new tensor for the new place, unless the old one is free
def alias(tensor):
    other = Tensor._plain(tensor._array)
    mark_view(other, tensor, creation=IN_CUSTOM_FUNCTION)
    return other

def join_to_node(node, output, index, is_input):
    is_free = not is_input and (output._node is None or output._node is node)
    result = output if is_free else alias(output)
    result._requires_grad = True
    result._index = index
    result._node = node
    return result

# right: an early return for each case
def alias(tensor):
    view = Tensor._plain(tensor._array)
    mark_view(view, tensor, creation=IN_CUSTOM_FUNCTION)
    assert view._node is None
    return view

def join_to_node(node, output, index, is_input):
    def take(tensor):
        tensor._node, tensor._index, tensor._requires_grad = node, index, True
        return tensor

    if is_input:
        return take(alias(output))
    if output._node is None:
        return take(output)
    return take(output if output._node is node else alias(output))

# wrong 06b_2_outside_taken: an alias of inputs alone
def join_to_node(node, output, index, is_input):
    result = alias(output) if is_input else output
    result._node, result._index, result._requires_grad = node, index, True
    return result

# wrong -: a view made by forward gets an alias too
def join_to_node(node, output, index, is_input):
    if is_input or output._view is not None or output._node not in (None, node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong -: an output that belongs to the node already keeps its number
def join_to_node(node, output, index, is_input):
    if output._node is node:
        return output
    if is_input or output._node is not None:
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output
