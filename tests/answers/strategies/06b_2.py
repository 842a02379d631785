# right: who has another place goes as an alias
def alias(tensor):
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result

def join_to_node(node, output, index, is_input):
    if is_input or output._node not in (None, node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong 06b_2_twice_is_another: an alias wherever the tensor has a node
def alias(tensor):
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result

def join_to_node(node, output, index, is_input):
    if is_input or output._node is not None:
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong 06b_2_grad_decides: an alias wherever the tensor requires grad
def alias(tensor):
    result = Tensor._plain(tensor._array)
    mark_view(result, tensor, creation=IN_CUSTOM_FUNCTION)
    return result

def join_to_node(node, output, index, is_input):
    if is_input or (output.requires_grad and output._node is not node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output

# wrong 06b_2_no_view: the alias is a detached tensor
def alias(tensor):
    return tensor.detach()

def join_to_node(node, output, index, is_input):
    if is_input or output._node not in (None, node):
        output = alias(output)
    output._node, output._index, output._requires_grad = node, index, True
    return output
