def end_edges(inputs):
    ends = []
    for each in inputs:
        ends.append(edge_of(each))
        if isinstance(each, Tensor):
            each.retain_grad()
    return ends

# right: warns right before the pass
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    ends = None if inputs is None else end_edges(inputs_of(inputs, "backward"))
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    if create_graph:
        warn_of_cycle()
    if retain_graph is None:
        retain_graph = create_graph
    execute(edges, grads, retain_graph, create_graph, ends)

# wrong 03b_5_warns_first: warns before anything has been checked
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if create_graph:
        warn_of_cycle()
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

# wrong 03b_5_warns_first: warns after the gradients, but before the roots have been checked
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    if create_graph:
        warn_of_cycle()
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)
