def edge_of(tensor):
    return (tensor.node, tensor.output_nr) if isinstance(tensor, GradientEdge) else tensor._edge()

def root_edges(roots):
    edges = []
    for i, root in enumerate(roots):
        if not isinstance(root, (Tensor, GradientEdge)):
            raise TypeError(NOT_A_ROOT.format(i, type(root).__name__))
        edges.append(edge_of(root))
        if edges[-1][0] is None:
            raise RuntimeError(NO_HISTORY.format(i))
    return edges

# right: each kind of root on its own
def edge_of(tensor):
    if isinstance(tensor, GradientEdge):
        return tensor.node, tensor.output_nr
    return tensor._edge()

def root_edges(roots):
    edges = []
    for i, root in enumerate(roots):
        if not isinstance(root, (Tensor, GradientEdge)):
            raise TypeError(NOT_A_ROOT.format(i, type(root).__name__))
        edge = edge_of(root)
        if edge[0] is None:
            raise RuntimeError(NO_HISTORY.format(i))
        edges.append(edge)
    return edges

def checked(grad, root, i):
    if not isinstance(grad, Tensor):
        raise TypeError(NOT_A_GRADIENT.format(type(grad).__name__))
    shape, dtype = appearance(root)
    if tuple(grad.shape) != tuple(shape):
        raise mismatch(i, tuple(grad.shape), tuple(shape))
    return grad if grad._array.dtype == dtype else grad.to(FROM_NUMPY[dtype])

# wrong 03b_2_shape_unchecked: a gradient that broadcasts to its root is expanded
def checked(grad, root, i):
    if not isinstance(grad, Tensor):
        raise TypeError(NOT_A_GRADIENT.format(type(grad).__name__))
    shape, dtype = appearance(root)
    try:
        grad = grad.expand(tuple(shape))
    except RuntimeError:
        raise mismatch(i, tuple(grad.shape), tuple(shape)) from None
    return grad if grad._array.dtype == dtype else grad.to(FROM_NUMPY[dtype])

# wrong 03b_2_gradient_history_lost: the dtype is converted on the array
def checked(grad, root, i):
    if not isinstance(grad, Tensor):
        raise TypeError(NOT_A_GRADIENT.format(type(grad).__name__))
    shape, dtype = appearance(root)
    if tuple(grad.shape) != tuple(shape):
        raise mismatch(i, tuple(grad.shape), tuple(shape))
    return grad if grad._array.dtype == dtype else Tensor._plain(grad._array.astype(dtype))
