def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    vectors = grad_outputs if grad_outputs is not None else [None] * len(outputs)
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    kept, given = zip(*pairs)
    return tuple(grad(kept, inputs, given, retain_graph, create_graph, allow_unused=True))

def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple(F.zeros_like(x) if g is None else g for g, x in zip(grads, like))

# right: pairs of outputs and vectors
def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple(F.zeros(x.shape, dtype=x.dtype) if g is None else g for g, x in zip(grads, like))

# right: the positions that count, and a loop over positions
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    places = [i for i in range(len(outputs))
              if outputs[i] is not None and outputs[i].requires_grad]
    if len(places) == 0:
        return tuple(None for _ in inputs)
    return grad([outputs[i] for i in places], inputs,
                None if grad_outputs is None else [grad_outputs[i] for i in places],
                retain_graph=retain_graph, create_graph=create_graph, allow_unused=True)

def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    filled = list(grads)
    for i in range(len(filled)):
        if filled[i] is None:
            filled[i] = F.zeros_like(like[i])
    return tuple(filled)

# right: one output at a time is put on two lists
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    roots, vectors = [], []
    for i, output in enumerate(outputs):
        if output is None or not output.requires_grad:
            continue
        roots.append(output)
        vectors.append(None if grad_outputs is None else grad_outputs[i])
    found = [None] * len(inputs)
    if roots:
        found = list(grad(roots, inputs, vectors, create_graph=create_graph,
                          retain_graph=retain_graph, allow_unused=True))
    return tuple(found)

def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple([g if g is not None else x.new_zeros(x.shape) for g, x in zip(grads, like)])

# wrong -: the gradients of one number, the sum of all products with the vectors
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    total = None
    for i, output in enumerate(outputs):
        if output is not None and output.requires_grad:
            part = output.sum() if grad_outputs is None else (output * grad_outputs[i]).sum()
            total = part if total is None else total + part
    if total is None:
        return (None,) * len(inputs)
    return grad(total, inputs, None, retain_graph, create_graph, allow_unused=True)

# wrong 08_2_the_graph_is_kept: a pass for each output, and the gradients are added up
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    found = [None] * len(inputs)
    for i, output in enumerate(outputs):
        if output is None or not output.requires_grad:
            continue
        vector = None if grad_outputs is None else grad_outputs[i]
        new = grad(output, inputs, vector, True, create_graph, allow_unused=True)
        found = [b if a is None else a if b is None else a + b for a, b in zip(found, new)]
    return tuple(found)

# wrong -: zeros by multiplying the input by zero
def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple(x.detach() * 0 if g is None else g for g, x in zip(grads, like))

# wrong -: one tensor of zeros for all inputs of a shape
def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    zeros = {}
    return tuple(zeros.setdefault((tuple(x.shape), x.dtype), F.zeros_like(x)) if g is None else g
                 for g, x in zip(grads, like))

# wrong -: zeros require grad where a graph is wanted
def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple(F.zeros_like(x).requires_grad_(create_graph) if g is None else g
                 for g, x in zip(grads, like))

# wrong 08_2_unused_inputs_have_zeros: grad fills in the zeros
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    vectors = grad_outputs if grad_outputs is not None else [None] * len(outputs)
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o is not None and o.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    kept, given = zip(*pairs)
    return tuple(grad(kept, inputs, given, retain_graph, create_graph, materialize_grads=True))

# wrong 08_2_inputs_are_left_out: only outputs that an op computed
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    vectors = [None] * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o is not None and o.grad_fn is not None]
    if not pairs:
        return tuple(None for _ in inputs)
    return tuple(grad([o for o, _ in pairs], inputs, [v for _, v in pairs],
                      create_graph=create_graph, retain_graph=retain_graph, allow_unused=True))

# wrong 08_2_strict_accepts_constants: strict mode without create_graph
def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    vectors = [None] * len(outputs) if grad_outputs is None else grad_outputs
    pairs = [(o, v) for o, v in zip(outputs, vectors) if o is not None and o.requires_grad]
    if not pairs:
        return tuple(None for _ in inputs)
    return tuple(grad([o for o, _ in pairs], inputs, [v for _, v in pairs],
                      create_graph=create_graph, retain_graph=retain_graph, allow_unused=True))

def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, False)
    return tuple(F.zeros_like(x) if g is None else g for g, x in zip(grads, like))
