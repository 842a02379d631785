def pullback(outputs, inputs, like):
    u = tuple(F.zeros(t.shape, dtype=t.dtype).requires_grad_() for t in like)
    return gradients(outputs, inputs, u, True), u

def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
        vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        pulled, u = pullback(ys, xs, ys)
        require_dependence(pulled, "grad_inputs", strict)
        product = gradients(pulled, u, vector, create_graph)
        product = zeros_for_missing(product, ys, "tangent", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, out_tuple, create_graph)

# right: two passes in one block
# These are the functions above.

# right: the second pass and the zeros are made in the caller's mode
def pullback(outputs, inputs, like):
    u = []
    for each in like:
        zeros = F.zeros_like(each.detach())
        zeros.requires_grad = True
        u.append(zeros)
    return gradients(outputs, inputs, tuple(u), create_graph=True), tuple(u)

def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
        vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        pulled, u = pullback(ys, xs, ys)
        require_dependence(pulled, "grad_inputs", strict)
    found = gradients(pulled, u, vector, create_graph)
    tangents = zeros_for_missing(found, ys, "tangent", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(tangents, out_tuple, create_graph)

# right: the vector is checked after the call of the function
def pullback(outputs, inputs, like):
    u = tuple(t.new_zeros(t.shape) for t in like)
    for each in u:
        each.requires_grad_(True)
    return gradients(outputs, inputs, u, True), u

def jvp(func, inputs, v=None, create_graph=False, strict=False):
    mode = is_grad_enabled()
    set_grad_enabled(True)
    try:
        as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
        pulled, u = pullback(ys, xs, ys)
        require_dependence(pulled, "grad_inputs", strict)
        product = zeros_for_missing(gradients(pulled, u, vector, create_graph), ys, "tangent",
                                    strict, create_graph)
    finally:
        set_grad_enabled(mode)
    return result(ys, out_tuple, create_graph), result(product, out_tuple, create_graph)

# wrong -: the inputs and the vector are made before recording is switched on
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
    vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
    with enable_grad():
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        pulled, u = pullback(ys, xs, ys)
        require_dependence(pulled, "grad_inputs", strict)
        product = gradients(pulled, u, vector, create_graph)
        product = zeros_for_missing(product, ys, "tangent", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, out_tuple, create_graph)

# wrong -: one u for all outputs of a shape
def pullback(outputs, inputs, like):
    made = {}
    u = tuple(made.setdefault(tuple(t.shape), F.zeros(t.shape, dtype=t.dtype).requires_grad_())
              for t in like)
    return gradients(outputs, inputs, u, True), u

# wrong -: u is the output times zero
def pullback(outputs, inputs, like):
    u = tuple((t.detach() * 0).requires_grad_() for t in like)
    return gradients(outputs, inputs, u, True), u

# wrong -: the difference of two calls
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
        vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        if vector is None:
            vector = tuple(F.ones_like(x) for x in xs)
        moved = func(*[x + 1e-3 * each for x, each in zip(xs, vector)])
        moved = moved if out_tuple else (moved,)
        product = tuple((b - a) / 1e-3 for a, b in zip(ys, moved))
    return result(ys, out_tuple, create_graph), result(product, out_tuple, create_graph)

# wrong 08_6_strict_says_nothing: all rows of the jacobian, each multiplied by the vector
def jvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "jvp")
        vector = _vector_of_inputs(v, xs, as_tuple, create_graph, "jvp")
        out_tuple, ys = _outputs_of(func, xs, strict, "jvp")
        if vector is None:
            vector = tuple(F.ones_like(x) for x in xs)
        product = []
        for y in ys:
            numbers = [sum((each * row).sum() for each, row in zip(vector, rows)
                           if row is not None) + F.zeros((), dtype=y.dtype)
                       for rows in rows_of(y, xs, create_graph)]
            product.append(F.reshape(stacked(numbers, F.zeros((), dtype=y.dtype)), y.shape))
    return result(ys, out_tuple, create_graph), result(tuple(product), out_tuple, create_graph)
