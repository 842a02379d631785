def columns_along(func, inputs, directions):
    batch = next_level()
    with jvp_level() as level:
        outputs = func(*[checked_dual(level, x, batched(rows, batch))
                         for x, rows in zip(inputs, directions)])
        return outputs, [rows_of(level.tangent(each), each, batch, len(directions[0]))
                         for each in as_sequence(outputs)]

def column_block(levels, columns, part, of_input):
    last = F.movedim(columns[part], 0, -1)
    return levels.example(F.reshape(last, (*columns.shape[1:], *of_input)))

def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)

# right: reverse over forward
def columns_along(func, inputs, directions):
    number = next_level()
    count = len(directions[0])
    with jvp_level() as level:
        duals = []
        for x, rows in zip(inputs, directions):
            duals.append(checked_dual(level, x, batched(rows, number)))
        outputs = func(*duals)
        found = []
        for output in as_sequence(outputs):
            found.append(rows_of(level.tangent(output), output, number, count))
    return outputs, found

def column_block(levels, columns, part, of_input):
    of_output = tuple(columns.shape[1:])
    moved = F.movedim(columns[part], 0, len(of_output))
    return levels.example(F.reshape(moved, of_output + tuple(of_input)))

def hessian(func, argnums=0):
    return jacrev(jacfwd(func, argnums), argnums)

# right: forward over reverse, called late
def columns_along(func, inputs, directions):
    batch = next_level()
    with jvp_level() as level:
        outputs = func(*map(lambda x, rows: checked_dual(level, x, batched(rows, batch)),
                            inputs, directions))
        columns = [rows_of(level.tangent(each), each, batch, directions[0].shape[0])
                   for each in as_sequence(outputs)]
        return outputs, columns

def column_block(levels, columns, part, of_input):
    picked = columns[part]
    last = F.movedim(picked, 0, -1)
    return levels.example(F.reshape(last, (*last.shape[:-1], *of_input)))

def hessian(func, argnums=0):
    def second(*args, **kwargs):
        return jacfwd(jacrev(func, argnums), argnums)(*args, **kwargs)
    return second

# wrong 08b_7_reverse_twice: reverse mode twice
def hessian(func, argnums=0):
    return jacrev(jacrev(func, argnums), argnums)

# wrong 08b_7_forward_twice: forward mode twice
def hessian(func, argnums=0):
    return jacfwd(jacfwd(func, argnums), argnums)

# right: the dimensions by hand, forward over reverse
def columns_along(func, inputs, directions):
    batch, count = next_level(), int(directions[0].shape[0])
    with jvp_level() as level:
        duals = [checked_dual(level, inputs[i], batched(directions[i], batch))
                 for i in range(len(inputs))]
        outputs = func(*duals)
        tangents = {}
        for i, each in enumerate(as_sequence(outputs)):
            tangents[i] = rows_of(level.tangent(each), each, batch, count)
    return outputs, list(tangents.values())

def column_block(levels, columns, part, of_input):
    picked = F.slice(columns, 0, part.start, part.stop)
    n = picked.dim()
    turned = F.permute(picked, [*range(1, n), 0])
    return levels.example(F.reshape(turned, (*turned.shape[:n - 1], *of_input)))

def hessian(func, argnums=0):
    inner = jacrev(func, argnums=argnums)
    return jacfwd(inner, argnums=argnums)

# wrong 08b_7_several_calls: a run for each direction
def columns_along(func, inputs, directions):
    found = None
    for i in range(directions[0].shape[0]):
        with jvp_level() as level:
            outputs = func(*[checked_dual(level, x, rows[i])
                             for x, rows in zip(inputs, directions)])
            one = [F.zeros_like(y) if level.tangent(y) is None else level.tangent(y)
                   for y in as_sequence(outputs)]
        found = [[] for _ in one] if found is None else found
        for rows, each in zip(found, one):
            rows.append(each)
    return outputs, [F.stack(rows) for rows in found]

def column_block(levels, columns, part, of_input):
    last = F.movedim(columns[part], 0, -1)
    return levels.example(F.reshape(last, (*last.shape[:-1], *of_input)))

# wrong 08b_7_always_zero: the tangents are read after the level
def columns_along(func, inputs, directions):
    batch = next_level()
    with jvp_level() as level:
        outputs = func(*[checked_dual(level, x, batched(rows, batch))
                         for x, rows in zip(inputs, directions)])
    return outputs, [rows_of(level.tangent(each), each, batch, len(directions[0]))
                     for each in as_sequence(outputs)]

def column_block(levels, columns, part, of_input):
    last = F.movedim(columns[part], 0, -1)
    return levels.example(F.reshape(last, (*last.shape[:-1], *of_input)))

# right: the matrix of columns is transposed as a matrix
def column_block(levels, columns, part, of_input):
    picked = columns[part]
    shape = tuple(picked.shape[1:])
    flat = F.reshape(picked, (picked.shape[0], -1))
    return levels.example(F.reshape(F.transpose(flat, 0, 1), (*shape, *of_input)))
