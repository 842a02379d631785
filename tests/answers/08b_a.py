"""Stage 08b, written from lesson and tasks alone."""


def add(a, b):
    return Dual(value=a.value + b.value, tangent=a.tangent + b.tangent)


def mul(a, b):
    return Dual(a.value * b.value, b.value * a.tangent + a.value * b.tangent)


def exp(a):
    e = math.exp(a.value)
    return Dual(e, a.tangent * e)


def reciprocal(a):
    return Dual(1.0 / a.value, -a.tangent / (a.value * a.value))


def jacobian_vector_product(f, point, direction):
    duals = []
    for i in range(len(point)):
        duals.append(Dual(point[i], direction[i]))
    out = f(*duals)
    return (out.value, out.tangent)


def multilinear(op, values, outputs, tangents):
    found = None
    for position, t in tangents.items():
        changed = list(values)
        changed[position] = t
        part = apply(op, changed)
        found = part if found is None else found + part
    return [found]


def elementwise(op, values, outputs, tangents):
    parts = []
    for position, t in tangents.items():
        parts.append(gradient_of_input(op, position, values, outputs, [t]))
    return [total(parts)]


def linear(op, values, outputs, tangents):
    inputs = [tangent_or_zeros(tangents.get(i), v) if i in op.differentiable_positions else v
              for i, v in enumerate(values)]
    return list(as_sequence(apply(op, inputs)))


def transposed_twice(op, values, outputs, tangents):
    graph = wants_graph()
    products, directions = [], []
    with having(_state.grad_enabled, True):
        vectors = zero_vectors(outputs)
        for i in tangents:
            product = gradient_of_input(op, i, values, outputs, vectors)
            for p, t in differentiable_pairs(product, tangents[i]):
                products.append(p)
                directions.append(t)
    found = [None] * len(outputs)
    if products:
        where = [i for i, v in enumerate(vectors) if v is not None]
        got = grad(products, [vectors[i] for i in where], directions, create_graph=graph,
                   allow_unused=True)
        for i, g in zip(where, got):
            found[i] = g
    return found


def moved(dim, n):
    if isinstance(dim, (tuple, list)):
        return tuple(moved(d, n) for d in dim)
    return 1 + wrap_dim(dim, n)


def elementwise(call):
    most = 0
    for name in call.tensors:
        most = max(most, call.ndim(name))
    new = {}
    for name in call.batched:
        ones = [1] * (most - call.ndim(name))
        new[name] = F.reshape(call[name], (call.size, *ones, *call.shape(name)))
    return call.run(**new)


def reduction(call):
    call = numbers_as_vectors(call)
    n, dim = call.ndim("self"), call["dim"]
    if isinstance(dim, int):
        return call.run(dim=moved(dim, n))
    if not dim:
        dim = range(n)
    return call.run(dim=moved(tuple(dim), n))


def run(func, name, args, leaves, dims, kwargs, size, out_dims, randomness):
    level = next_level()
    new = list(leaves)
    for i, d in enumerate(dims):
        if d is not None:
            new[i] = batched(leaves[i], level)
    with active_level(level, size, randomness):
        outputs = func(*rebuilt(args, new), **kwargs)
    places = dims_of_outputs(name, out_dims, outputs)
    left = list(places)

    def one(leaf):
        return unwrapped(name, leaf, level, size, left.pop(0))

    return mapped(one, outputs), places


def unwrapped(name, leaf, level, size, dim):
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    rows = examples(leaf, level)
    if rows is None:
        rows = F.stack([leaf] * size)
    return F.movedim(rows, 0, dim)


class VmapLevels:
    def of(self, tensor):
        for i in range(len(self.levels) - 1, -1, -1):
            level, size = self.levels[i]
            inside = examples(tensor, level)
            if inside is None:
                inside = F.expand(tensor, (size, *tensor.shape))
            tensor = inside
        return tensor

    def example(self, value):
        found = value
        for pair in self.levels:
            found = batched(found, pair[0])
        return found


def columns_along(func, inputs, directions):
    with jvp_level() as level:
        number = next_level()
        duals = []
        for x, rows in zip(inputs, directions):
            duals.append(checked_dual(level, x, batched(rows, number)))
        outputs = func(*duals)
        count = directions[0].shape[0]
        return outputs, [rows_of(level.tangent(each), each, number, count)
                         for each in as_sequence(outputs)]


def column_block(levels, columns, part, of_input):
    mine = columns[part]
    mine = F.movedim(mine, 0, mine.dim() - 1)
    shape = tuple(columns.shape)[1:] + tuple(of_input)
    return levels.example(F.reshape(mine, shape))


def hessian(func, argnums=0):
    slopes = jacrev(func, argnums=argnums)
    return jacfwd(slopes, argnums=argnums)
