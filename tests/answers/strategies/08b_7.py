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
    return jacrev(jacrev(func, argnums), argnums)

# wrong 08b_7_forward_twice: forward mode twice
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
    return jacfwd(jacfwd(func, argnums), argnums)
