# right: a block of enable_grad around everything
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        found = gradients(ys, xs, vector, create_graph)
        found = zeros_for_missing(found, xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(found, as_tuple, create_graph)

# right: recording is on up to the pass alone
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
    product = zeros_for_missing(gradients(ys, xs, vector, create_graph), xs, "gradient", strict,
                                create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# right: a decorated inner function
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    @enable_grad()
    def recorded():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        product = zeros_for_missing(gradients(ys, xs, vector, create_graph), xs, "gradient",
                                    strict, create_graph)
        return (result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph))
    return recorded()

# right: the mode is set and restored by hand
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    before = is_grad_enabled()
    set_grad_enabled(True)
    try:
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        product = gradients(ys, xs, vector, create_graph)
    finally:
        set_grad_enabled(before)
    product = zeros_for_missing(product, xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# right: backward into the fresh inputs, which belong to this call
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    from ..backward import backward
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        places = [i for i, y in enumerate(ys) if y.requires_grad]
        if places:
            backward([ys[i] for i in places], vector and [vector[i] for i in places],
                     create_graph=create_graph, inputs=xs)
        product = zeros_for_missing([x.grad for x in xs], xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# wrong -: the inputs are made before recording is switched on
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
    with enable_grad():
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        product = gradients(ys, xs, vector, create_graph)
    product = zeros_for_missing(product, xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# wrong -: the vector is made after recording was switched off
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
    vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
    product = gradients(ys, xs, vector, create_graph)
    product = zeros_for_missing(product, xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# wrong 08_3_calls_twice: the rows of the jacobian, multiplied by the vector
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        blocks = jacobian(func, inputs if as_tuple else (inputs,), create_graph, strict)
        if not out_tuple:
            blocks = (blocks,)
        if vector is None:
            vector = tuple(F.ones_like(y) for y in ys)
        product = []
        for j, x in enumerate(xs):
            parts = [(u.reshape(-1, 1) * row[j].reshape(u.numel(), -1)).sum(0).reshape(x.shape)
                     for u, row in zip(vector, blocks)]
            product.append(sum(parts[1:], parts[0]))
    return result(ys, out_tuple, create_graph), result(tuple(product), as_tuple, create_graph)

# wrong 08_3_a_missing_vector_is_guessed: a vector that was left out is ones
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
        out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
        if v is None:
            v = tuple(F.ones_like(y) for y in ys)
        vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
        product = gradients(ys, xs, vector, create_graph)
        product = zeros_for_missing(product, xs, "gradient", strict, create_graph)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)

# wrong -: recording is switched back at the end, without a thought of errors
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    before = is_grad_enabled()
    set_grad_enabled(True)
    as_tuple, xs = _own_inputs(inputs, create_graph, "vjp")
    out_tuple, ys = _outputs_of(func, xs, strict, "vjp")
    vector = _vector_of_outputs(v, ys, out_tuple, create_graph, "vjp")
    product = gradients(ys, xs, vector, create_graph)
    product = zeros_for_missing(product, xs, "gradient", strict, create_graph)
    set_grad_enabled(before)
    return result(ys, out_tuple, create_graph), result(product, as_tuple, create_graph)
