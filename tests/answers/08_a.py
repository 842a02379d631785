"""Stage 08, written from lesson and tasks alone."""


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        inputs_were_tuple, inputs = _own_inputs(inputs, create_graph, 'vjp')
        outputs_were_tuple, outputs = _outputs_of(func, inputs, strict, 'vjp')
        vector = _vector_of_outputs(v, outputs, outputs_were_tuple, create_graph, 'vjp')
        found = gradients(outputs, inputs, vector, create_graph)
        product = zeros_for_missing(found, inputs, 'gradient', strict, create_graph)
        return (result(outputs, outputs_were_tuple, create_graph), result(product, inputs_were_tuple, create_graph))


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        inputs_were_tuple, inputs = _own_inputs(inputs, create_graph, 'jvp')
        vector = _vector_of_inputs(v, inputs, inputs_were_tuple, create_graph, 'jvp')
        outputs_were_tuple, outputs = _outputs_of(func, inputs, strict, 'jvp')
        pulled, u = pullback(outputs, inputs, outputs)
        require_dependence(pulled, 'grad_inputs', strict)
        found = gradients(pulled, u, vector, create_graph)
        product = zeros_for_missing(found, outputs, 'tangent', strict, create_graph)
        return (result(outputs, outputs_were_tuple, create_graph), result(product, outputs_were_tuple, create_graph))


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        were_tuple, inputs, vector, output = _prepared(func, inputs, v, create_graph, strict, 'vhp')
        slopes = _slopes(output, inputs, strict)
        found = gradients(slopes, inputs, vector, create_graph)
        product = zeros_for_missing(found, inputs, 'row of hessian', strict, create_graph)
        return (result((output,), False, create_graph), result(product, were_tuple, create_graph))


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        were_tuple, inputs, vector, output = _prepared(func, inputs, v, create_graph, strict, 'hvp')
        slopes = _slopes(output, inputs, strict)
        pulled, u = pullback(slopes, inputs, inputs)
        found = gradients(pulled, u, vector, create_graph)
        product = zeros_for_missing(found, inputs, 'column of hessian', strict, create_graph)
        return (result((output,), False, create_graph), result(product, were_tuple, create_graph))


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy='reverse-mode'):
    _check_strategy(outer_jacobian_strategy)
    were_tuple, tensors = tensor_tuple(inputs, 'inputs', 'hessian')

    def slopes(*xs):

        def scalar(*ys):
            return _single_output(func, ys, strict, 'hessian').reshape(())
        found = jacobian(scalar, xs, create_graph=True)
        require_dependence(found, 'jacobian', strict)
        return found
    blocks = jacobian(slopes, tensors, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks if were_tuple else blocks[0][0]


def _slopes(output, inputs, strict):
    slopes = gradients((output,), inputs, None, create_graph=True)
    require_dependence(slopes, 'jacobian', strict)
    return slopes


def blocks_of(output, rows, inputs):
    blocks = []
    for m, x in zip(rows, inputs):
        shape = (*output.shape, *x.shape)
        if m is None:
            blocks.append(F.zeros(shape, dtype=x.dtype, device=x.device))
        else:
            blocks.append(m.reshape(shape))
    return tuple(blocks)


def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    keep = [i for i, out in enumerate(outputs) if out is not None and out.requires_grad]
    if not keep:
        return (None,) * len(inputs)
    vectors = None if grad_outputs is None else tuple((grad_outputs[i] for i in keep))
    return tuple(grad(tuple((outputs[i] for i in keep)), inputs, vectors, retain_graph=retain_graph, create_graph=create_graph, allow_unused=True))


def pullback(outputs, inputs, like):
    u = tuple((F.zeros_like(t).detach().requires_grad_() for t in like))
    return (gradients(outputs, inputs, u, create_graph=True), u)


def rows_of(output, inputs, create_graph):
    return [gradients((output,), inputs, (unit,), create_graph, retain_graph=True) for unit in unit_vectors(output)]


def all_rows(outputs, inputs, create_graph):
    nothing = (None,) * len(inputs)
    live = [t for t in outputs if t is not None and t.requires_grad]
    if sum((t.numel() for t in live)) == 0:
        return [nothing for _ in outputs]
    found = grad(live, inputs, units_of(live), retain_graph=True, create_graph=create_graph, allow_unused=True, is_grads_batched=True)
    rows, start = ([], 0)
    for t in outputs:
        if t is None or not t.requires_grad:
            rows.append(nothing)
            continue
        stop = start + t.numel()
        rows.append(tuple((None if g is None else g[start:stop] for g in found)))
        start = stop
    return rows


def unit_vectors(like):
    n = like.numel()
    return [row.reshape(like.shape) for row in F.eye(n, dtype=like.dtype, device=like.device)]


def stacked(rows, like):
    if not rows:
        return F.zeros((0, *like.shape), dtype=like.dtype, device=like.device)
    return F.stack([F.zeros_like(like) if row is None else row for row in rows])


def fresh_inputs(tensors, create_graph, requires_grad=True):
    fresh = []
    for t in tensors:
        if create_graph and t.requires_grad:
            fresh.append(t.view_as(t))
        else:
            fresh.append(t.detach().requires_grad_(requires_grad))
    return tuple(fresh)


def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    return tuple((F.zeros_like(x) if g is None else g for g, x in zip(grads, like)))


def result(tensors, as_tuple, create_graph):
    if not create_graph:
        tensors = tuple((t.detach() for t in tensors))
    return tuple(tensors) if as_tuple else tensors[0]


def nested_result(rows, outputs_as_tuple, inputs_as_tuple, create_graph):
    per_output = tuple((result(row, inputs_as_tuple, create_graph) for row in rows))
    return per_output if outputs_as_tuple else per_output[0]
