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

# right: warns after the pass
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    given = grad_tensors if grad_variables is None else renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    gradients_of_roots = root_gradients(roots, matched(given, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = end_edges(inputs_of(inputs, "backward")) if inputs is not None else None
    keep = {None: create_graph}.get(retain_graph, retain_graph)
    execute(edges, gradients_of_roots, keep, create_graph, ends)
    if create_graph:
        warn_of_cycle()

# right: only results are asked to retain their gradients
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    chosen = None if inputs is None else inputs_of(inputs, "backward")
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if chosen is None else end_edges(chosen)
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

def end_edges(inputs):
    for each in inputs:
        if isinstance(each, Tensor) and each.grad_fn is not None:
            each.retain_grad()
    return list(map(edge_of, inputs))

# wrong 03b_5_one_pass_per_root: one pass for each root
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    if create_graph:
        warn_of_cycle()
    keep = create_graph if retain_graph is None else retain_graph
    for i, (edge, each) in enumerate(zip(edges, grads)):
        execute([edge], [each], keep or i + 1 < len(edges), create_graph, ends)

# wrong 03b_5_grad_replaced: the inputs begin without a gradient
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    for each in inputs or ():
        if isinstance(each, Tensor):
            each.grad = None
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

# right: the node of a result, whichever output it is, because its hook fills .grad
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

def end_edges(inputs):
    ends = []
    for each in inputs:
        if isinstance(each, Tensor) and each.grad_fn is not None:
            each.retain_grad()
            ends.append((each.grad_fn, 0))
        else:
            ends.append(edge_of(each))
    return ends

# wrong -: inputs that count as false are none
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = end_edges(inputs_of(inputs, "backward")) if inputs else None
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

# wrong -: a single input that counts as false is none
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = end_edges(inputs_of(inputs, "backward")) if inputs or inputs == [] else None
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, create_graph if retain_graph is None else retain_graph, create_graph,
            ends)

# wrong 03b_5_create_overrules: either option keeps the graph
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False,
             grad_variables=None, inputs=None):
    if grad_variables is not None:
        grad_tensors = renamed(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    roots = as_tuple(tensors)
    grads = root_gradients(roots, matched(grad_tensors, len(roots)), create_graph)
    edges = root_edges(roots)
    ends = None if inputs is None else end_edges(inputs)
    if create_graph:
        warn_of_cycle()
    execute(edges, grads, retain_graph or create_graph, create_graph, ends)
