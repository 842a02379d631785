# right: all pairs in one pass
def transposed_twice(op, values, outputs, tangents):
    graph, vectors = wants_graph(), zero_vectors(outputs)
    pairs = []
    with having(_state.grad_enabled, True):
        for i, tangent in tangents.items():
            product = gradient_of_input(op, i, values, outputs, vectors)
            pairs.extend(differentiable_pairs(product, tangent))
        if not pairs:
            return [None] * len(outputs)
        asked = [v for v in vectors if v is not None]
        found = iter(grad([p for p, _ in pairs], asked, [t for _, t in pairs],
                          create_graph=graph, allow_unused=True))
    return [None if v is None else next(found) for v in vectors]

# right: a pass for each pair, and the results are added up
def transposed_twice(op, values, outputs, tangents):
    graph, vectors = wants_graph(), zero_vectors(outputs)
    places = [i for i, v in enumerate(vectors) if v is not None]
    parts = {i: [] for i in range(len(outputs))}
    for at in tangents:
        with having(_state.grad_enabled, True):
            product = gradient_of_input(op, at, values, outputs, vectors)
            pairs = differentiable_pairs(product, tangents[at])
        for p, t in pairs:
            found = grad(p, [vectors[i] for i in places], t, retain_graph=True,
                         create_graph=graph, allow_unused=True)
            for i, part in zip(places, found):
                parts[i].append(part)
    return [total(parts[i]) for i in range(len(outputs))]

# right: the gradient of a dot product
def transposed_twice(op, values, outputs, tangents):
    graph = wants_graph()
    vectors = zero_vectors(outputs)
    with having(_state.grad_enabled, True):
        dot = total((p * t).sum() for i, tangent in tangents.items() for p, t in
                    differentiable_pairs(gradient_of_input(op, i, values, outputs, vectors),
                                         tangent))
        found = [None] * len(outputs)
        if dot is not None:
            places = [i for i, v in enumerate(vectors) if v is not None]
            slopes = grad(dot, [vectors[i] for i in places], create_graph=graph, allow_unused=True)
            for i, slope in zip(places, slopes):
                found[i] = slope
    return found

# right: ones as the vectors, whose values do not matter
def transposed_twice(op, values, outputs, tangents):
    graph = wants_graph()
    vectors = [None if v is None else F.ones_like(v).requires_grad_()
               for v in zero_vectors(outputs)]
    with having(_state.grad_enabled, True):
        pairs = [pair for i, tangent in tangents.items() for pair in differentiable_pairs(
            gradient_of_input(op, i, values, outputs, vectors), tangent)]
    if not pairs:
        return [None for _ in outputs]
    products, directions = zip(*pairs)
    places = [i for i, v in enumerate(vectors) if v is not None]
    slopes = dict(zip(places, grad(products, [vectors[i] for i in places], directions,
                                   create_graph=graph, allow_unused=True)))
    return [slopes.get(i) for i in range(len(outputs))]

# wrong -: recording is switched back at the end, without a thought of errors
def transposed_twice(op, values, outputs, tangents):
    graph, vectors = wants_graph(), zero_vectors(outputs)
    before, pairs = _state.grad_enabled.get(), []
    _state.grad_enabled.set(True)
    for i, tangent in tangents.items():
        product = gradient_of_input(op, i, values, outputs, vectors)
        pairs.extend(differentiable_pairs(product, tangent))
    _state.grad_enabled.set(before)
    if not pairs:
        return [None] * len(outputs)
    asked = [v for v in vectors if v is not None]
    found = iter(grad([p for p, _ in pairs], asked, [t for _, t in pairs],
                      create_graph=graph, allow_unused=True))
    return [None if v is None else next(found) for v in vectors]

# wrong -: grad makes zeros of what no formula uses
def transposed_twice(op, values, outputs, tangents):
    graph, vectors = wants_graph(), zero_vectors(outputs)
    pairs = []
    with having(_state.grad_enabled, True):
        for i, tangent in tangents.items():
            product = gradient_of_input(op, i, values, outputs, vectors)
            pairs.extend(differentiable_pairs(product, tangent))
    if not pairs:
        return [None if v is None else F.zeros_like(v) for v in vectors]
    asked = [v for v in vectors if v is not None]
    found = iter(grad([p for p, _ in pairs], asked, [t for _, t in pairs],
                      create_graph=graph, materialize_grads=True))
    return [None if v is None else next(found) for v in vectors]

# right: whether a graph is wanted is what recording says, without an outer level
def transposed_twice(op, values, outputs, tangents):
    graph, vectors = _state.grad_enabled.get(), zero_vectors(outputs)
    pairs = []
    with having(_state.grad_enabled, True):
        for i, tangent in tangents.items():
            product = gradient_of_input(op, i, values, outputs, vectors)
            pairs.extend(differentiable_pairs(product, tangent))
    if not pairs:
        return [None] * len(outputs)
    asked = [v for v in vectors if v is not None]
    found = iter(grad([p for p, _ in pairs], asked, [t for _, t in pairs],
                      create_graph=graph, allow_unused=True))
    return [None if v is None else next(found) for v in vectors]

# wrong 08b_3_transposed: the formulas with the tangents as gradients
def transposed_twice(op, values, outputs, tangents):
    found = [None] * len(outputs)
    found[0] = total(gradient_of_input(op, i, values, outputs, [t, *[None] * len(outputs)])
                     for i, t in tangents.items())
    return found

# wrong -: all outputs in one vector, so that an output without a gradient is asked for too
def transposed_twice(op, values, outputs, tangents):
    graph = wants_graph()
    vectors = [F.zeros_like(o).requires_grad_() for o in outputs]
    pairs = []
    with having(_state.grad_enabled, True):
        for i, tangent in tangents.items():
            product = gradient_of_input(op, i, values, outputs, vectors)
            pairs.extend(differentiable_pairs(product, tangent))
    if not pairs:
        return [None] * len(outputs)
    return list(grad([p for p, _ in pairs], vectors, [t for _, t in pairs],
                     create_graph=graph, allow_unused=True))
