"""Stage 08, written from the tasks by somebody who writes loops and one block."""


def fresh_inputs(tensors, create_graph, requires_grad=True):
    made = []
    for t in tensors:
        if t.requires_grad and create_graph:
            made.append(t.view_as(t))
        else:
            alone = t.detach()
            alone.requires_grad = requires_grad
            made.append(alone)
    return tuple(made)


def result(tensors, as_tuple, create_graph):
    tensors = list(tensors)
    if not create_graph:
        tensors = [t.detach() for t in tensors]
    if as_tuple:
        return tuple(tensors)
    return tensors[0]


def nested_result(rows, outputs_as_tuple, inputs_as_tuple, create_graph):
    if not outputs_as_tuple:
        return result(rows[0], inputs_as_tuple, create_graph)
    return tuple([result(row, inputs_as_tuple, create_graph) for row in rows])


def gradients(outputs, inputs, grad_outputs, create_graph, retain_graph=None):
    kept, vectors = [], []
    for number, output in enumerate(outputs):
        if output is None or not output.requires_grad:
            continue
        kept.append(output)
        if grad_outputs is not None:
            vectors.append(grad_outputs[number])
    if len(kept) == 0:
        return tuple(None for _ in inputs)
    return grad(kept, inputs, vectors or None, retain_graph=retain_graph,
                create_graph=create_graph, allow_unused=True)


def zeros_for_missing(grads, like, step, strict, create_graph):
    require_found(grads, step, strict, create_graph)
    made = list(grads)
    for i, each in enumerate(made):
        if each is None:
            made[i] = F.zeros(like[i].shape, dtype=like[i].dtype)
    return tuple(made)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        many_in, inputs = _own_inputs(inputs, create_graph, "vjp")
        many_out, outputs = _outputs_of(func, inputs, strict, "vjp")
        v = _vector_of_outputs(v, outputs, many_out, create_graph, "vjp")
        row = gradients(outputs, inputs, v, create_graph)
        row = zeros_for_missing(row, inputs, "gradient", strict, create_graph)
        return result(outputs, many_out, create_graph), result(row, many_in, create_graph)


def unit_vectors(like):
    size = like.numel()
    table = F.eye(size, dtype=like.dtype)
    return [table[i].reshape(like.shape) for i in range(size)]


def rows_of(output, inputs, create_graph):
    rows = []
    for unit in unit_vectors(output):
        rows.append(gradients([output], inputs, [unit], create_graph, True))
    return rows


def stacked(rows, like):
    if len(rows) == 0:
        return F.zeros((0, *like.shape), dtype=like.dtype)
    return F.stack([F.zeros(like.shape, dtype=like.dtype) if row is None else row for row in rows])


def blocks_of(output, rows, inputs):
    blocks = []
    for x, row in zip(inputs, rows, strict=True):
        shape = tuple(output.shape) + tuple(x.shape)
        blocks.append(F.zeros(shape, dtype=x.dtype) if row is None else row.reshape(shape))
    return tuple(blocks)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):
    _check_strategy(outer_jacobian_strategy)
    many, inputs = tensor_tuple(inputs, "inputs", "hessian")

    def slopes(*xs):
        found = jacobian(lambda *ys: _single_output(func, ys, strict, "hessian").reshape(()),
                         xs, True)
        require_dependence(found, "jacobian", strict)
        return found

    table = jacobian(slopes, inputs, create_graph=create_graph, strict=strict,
                     vectorize=vectorize, strategy=outer_jacobian_strategy)
    if many:
        return table
    ((block,),) = table
    return block


def pullback(outputs, inputs, like):
    u = []
    for t in like:
        zeros = F.zeros(t.shape, dtype=t.dtype)
        u.append(zeros.requires_grad_())
    return gradients(outputs, inputs, tuple(u), True), tuple(u)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        many_in, inputs = _own_inputs(inputs, create_graph, "jvp")
        many_out, outputs = _outputs_of(func, inputs, strict, "jvp")
        v = _vector_of_inputs(v, inputs, many_in, create_graph, "jvp")
        first, u = pullback(outputs, inputs, outputs)
        require_dependence(first, "grad_inputs", strict)
        second = gradients(first, u, v, create_graph)
        second = zeros_for_missing(second, outputs, "tangent", strict, create_graph)
        return result(outputs, many_out, create_graph), result(second, many_out, create_graph)


def _slopes(output, inputs, strict):
    slopes = gradients([output], inputs, None, True)
    require_dependence(slopes, "jacobian", strict)
    return slopes


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        many, inputs, v, output = _prepared(func, inputs, v, create_graph, strict, "vhp")
        row = gradients(_slopes(output, inputs, strict), inputs, v, create_graph)
        row = zeros_for_missing(row, inputs, "row of hessian", strict, create_graph)
    return result([output], False, create_graph), result(row, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        many, inputs, v, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
        first, u = pullback(_slopes(output, inputs, strict), inputs, inputs)
        column = gradients(first, u, v, create_graph)
        column = zeros_for_missing(column, inputs, "column of hessian", strict, create_graph)
    return result([output], False, create_graph), result(column, many, create_graph)


def all_rows(outputs, inputs, create_graph):
    taking_part = [o is not None and o.requires_grad and o.numel() > 0 for o in outputs]
    live = [o for o, part in zip(outputs, taking_part, strict=True) if part]
    if not live:
        return [tuple(None for _ in inputs) for _ in outputs]
    found = grad(live, inputs, units_of(live), retain_graph=True, create_graph=create_graph,
                 allow_unused=True, is_grads_batched=True)
    answer, start = [], 0
    for output, part in zip(outputs, taking_part, strict=True):
        end = start + output.numel() if part else start
        answer.append(tuple(
            None if g is None or not part else g[start:end] for g in found))
        start = end
    return answer
