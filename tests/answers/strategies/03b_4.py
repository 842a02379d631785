# right: edges, the pass, and then the checks for each input
def gradients(roots, inputs, grad_outputs, retain_graph, create_graph, allow_unused, task_class=None):
    ends = [edge_of(each) for each in inputs]
    if any(node is None for node, _ in ends):
        raise RuntimeError(NOT_REQUIRED)
    starts = root_gradients(roots, grad_outputs, create_graph)
    found = captured(root_edges(roots), starts, retain_graph, create_graph, ends, task_class)
    results = []
    for index, grad in enumerate(found):
        if grad is None and not allow_unused:
            raise RuntimeError(UNUSED.format(index))
        results.append(grad if grad is None or isinstance(grad, Tensor) else Tensor._plain(grad))
    return results

# wrong 03b_4_constant_accepted: an input that does not require grad counts as unused
def gradients(roots, inputs, grad_outputs, retain_graph, create_graph, allow_unused, task_class=None):
    ends = [edge_of(each) for each in inputs]
    if not allow_unused and any(node is None for node, _ in ends):
        raise RuntimeError(NOT_REQUIRED)
    starts = root_gradients(roots, grad_outputs, create_graph)
    found = captured(root_edges(roots), starts, retain_graph, create_graph, ends, task_class)
    if not allow_unused and None in [None if g is None else 1 for g in found]:
        raise RuntimeError(UNUSED.format([g is None for g in found].index(True)))
    return [g if g is None or isinstance(g, Tensor) else Tensor._plain(g) for g in found]
