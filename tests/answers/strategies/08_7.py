def _slopes(output, inputs, strict):
    found = gradients((output,), inputs, None, True)
    require_dependence(found, "jacobian", strict)
    return found

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "vhp")
        slopes = _slopes(output, xs, strict)
        product = zeros_for_missing(gradients(slopes, xs, vector, create_graph), xs,
                                    "row of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# right: passes inside one block each
def _slopes(output, inputs, strict):
    found = gradients((output,), inputs, None, create_graph=True)
    require_dependence(found, "jacobian", strict)
    return found

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
        pulled, u = pullback(_slopes(output, xs, strict), xs, xs)
        product = zeros_for_missing(gradients(pulled, u, vector, create_graph), xs,
                                    "column of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# right: vhp by the slope of a dot product
def _slopes(output, inputs, strict):
    found = gradients([output], inputs, None, True)
    require_dependence(found, "jacobian", strict)
    return found

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "vhp")
        slopes = _slopes(output, xs, strict)
        if vector is None:
            vector = tuple(F.ones_like(x) for x in xs)
        parts = [(slope * each).sum() for slope, each in zip(slopes, vector) if slope is not None]
        dot = sum(parts[1:], parts[0]) if parts else None
        only_slopes = dot if dot is not None and any(
            s is not None and s.requires_grad for s in slopes) else None
        found = gradients((only_slopes,), xs, None, create_graph)
        product = zeros_for_missing(found, xs, "row of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
        slopes = _slopes(output, xs, strict)
        pulled, u = pullback(slopes, xs, xs)
        found = gradients(pulled, u, vector, create_graph)
        product = zeros_for_missing(found, xs, "column of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# right: recording is on for the slopes, and the last pass runs in the caller's mode
def _slopes(output, inputs, strict):
    with enable_grad():
        found = gradients((output,), inputs, None, True)
        require_dependence(found, "jacobian", strict)
    return found

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "vhp")
    slopes = _slopes(output, xs, strict)
    product = gradients(slopes, xs, vector, create_graph)
    product = zeros_for_missing(product, xs, "row of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
    slopes = _slopes(output, xs, strict)
    pulled, u = pullback(slopes, xs, xs)
    product = gradients(pulled, u, vector, create_graph)
    product = zeros_for_missing(product, xs, "column of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# wrong 08_7_another_step_is_told: hvp is vhp, since a hessian is symmetric
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    return vhp(func, inputs, v, create_graph, strict)

# wrong 08_7_hvp_is_vhp: hvp is vhp with hvp's names
def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
        slopes = _slopes(output, xs, strict)
        product = zeros_for_missing(gradients(slopes, xs, vector, create_graph), xs,
                                    "column of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# wrong -: the inputs and the vector are made before recording is switched on
def _slopes(output, inputs, strict):
    with enable_grad():
        found = gradients((output,), inputs, None, True)
        require_dependence(found, "jacobian", strict)
    return found

def recorded(func):
    @enable_grad()
    def called(*xs):
        return func(*xs)
    return called

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    as_tuple, xs, vector, output = _prepared(recorded(func), inputs, v, create_graph, strict, "vhp")
    product = gradients(_slopes(output, xs, strict), xs, vector, create_graph)
    product = zeros_for_missing(product, xs, "row of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    as_tuple, xs, vector, output = _prepared(recorded(func), inputs, v, create_graph, strict, "hvp")
    pulled, u = pullback(_slopes(output, xs, strict), xs, xs)
    product = gradients(pulled, u, vector, create_graph)
    product = zeros_for_missing(product, xs, "column of hessian", strict, create_graph)
    return result((output,), False, create_graph), result(product, as_tuple, create_graph)

# wrong 08_7_strict_lets_missing_pass: the whole hessian, multiplied by the vector
def columns(func, inputs, v, create_graph, strict, name, row):
    with enable_grad():
        as_tuple, xs, vector, output = _prepared(func, inputs, v, create_graph, strict, name)
        slopes = zeros_for_missing(_slopes(output, xs, strict), xs, "gradient", False, True)
        vector = vector or tuple(F.ones_like(x) for x in xs)
        blocks = [blocks_of(slope, [stacked([r[j] for r in rows_of(slope, xs, create_graph)], x)
                                    for j, x in enumerate(xs)], xs) for slope in slopes]
        product = []
        for j, x in enumerate(xs):
            parts = []
            for i, each in enumerate(vector):
                block = blocks[i][j] if row else blocks[j][i]
                flat = F.reshape(block, (each.numel(), x.numel()) if row else
                                 (x.numel(), each.numel()))
                one = F.reshape(each, (-1, 1) if row else (1, -1))
                parts.append((flat * one).sum(0 if row else 1).reshape(x.shape))
            product.append(sum(parts[1:], parts[0]))
    return result((output,), False, create_graph), result(tuple(product), as_tuple, create_graph)

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    return columns(func, inputs, v, create_graph, strict, "vhp", True)

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    return columns(func, inputs, v, create_graph, strict, "hvp", False)

# wrong 08_7_vhp_is_hvp: the pullback in both
def _slopes(output, inputs, strict):
    slopes = gradients((output,), inputs, None, create_graph=True)
    require_dependence(slopes, "jacobian", strict)
    return slopes

def vhp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        nested, fresh, vector, output = _prepared(func, inputs, v, create_graph, strict, "vhp")
        pulled, directions = pullback(_slopes(output, fresh, strict), fresh, fresh)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        grads = gradients(pulled, directions, vector, create_graph)
        product = zeros_for_missing(grads, fresh, "row of hessian", strict, create_graph)
    return (result((output,), False, create_graph), result(product, nested, create_graph))

def hvp(func, inputs, v=None, create_graph=False, strict=False):
    with enable_grad():
        nested, fresh, vector, output = _prepared(func, inputs, v, create_graph, strict, "hvp")
        pulled, directions = pullback(_slopes(output, fresh, strict), fresh, fresh)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        grads = gradients(pulled, directions, vector, create_graph)
        product = zeros_for_missing(grads, fresh, "column of hessian", strict, create_graph)
    return (result((output,), False, create_graph), result(product, nested, create_graph))
