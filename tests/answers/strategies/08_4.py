def unit_vectors(like):
    n = like.numel()
    return [F.reshape(row, like.shape) for row in F.eye(n, dtype=like.dtype)] if n else []

def rows_of(output, inputs, create_graph):
    return [gradients((output,), inputs, (unit,), create_graph, True)
            for unit in unit_vectors(output)]

def stacked(rows, like):
    if not rows:
        return F.zeros((0, *like.shape), dtype=like.dtype)
    return F.stack([F.zeros_like(like) if row is None else row for row in rows])

def blocks_of(output, rows, inputs):
    blocks = []
    for block, x in zip(rows, inputs):
        shape = (*output.shape, *x.shape)
        blocks.append(F.zeros(shape, dtype=x.dtype) if block is None else F.reshape(block, shape))
    return tuple(blocks)

# right: the rows of an identity matrix
# These are the functions above.

# right: zeros, and a one written into each; rows are written into a block of zeros
def unit_vectors(like):
    units = []
    for i in range(like.numel()):
        unit = F.zeros((like.numel(),), dtype=like.dtype)
        unit[i] = 1
        units.append(unit.reshape(like.shape))
    return units

def rows_of(output, inputs, create_graph):
    rows = []
    for unit in unit_vectors(output):
        rows.append(gradients([output], inputs, [unit], create_graph, retain_graph=True))
    return rows

def stacked(rows, like):
    whole = F.zeros((len(rows), *like.shape), dtype=like.dtype)
    for i, row in enumerate(rows):
        if row is not None:
            whole[i] = row
    return whole

def blocks_of(output, rows, inputs):
    shape = tuple(output.shape)
    return tuple(x.new_zeros(shape + tuple(x.shape)) if block is None
                 else block.reshape(shape + tuple(x.shape)) for block, x in zip(rows, inputs))

# right: positions by comparison, and rows joined along a new dimension
def unit_vectors(like):
    places = F.reshape(F.arange(like.numel()), like.shape)
    return [(places == i).to(like.dtype) for i in range(like.numel())]

def stacked(rows, like):
    parts = [F.zeros((0, *like.shape), dtype=like.dtype)]
    for row in rows:
        parts.append(F.unsqueeze(F.zeros_like(like) if row is None else row, 0))
    return F.cat(parts, 0)

def blocks_of(output, rows, inputs):
    filled = [stacked([None] * output.numel(), x) if block is None else block
              for block, x in zip(rows, inputs)]
    return tuple(F.reshape(block, (*output.shape, *x.shape)) for block, x in zip(filled, inputs))

# wrong -: the last pass may free the graph
def rows_of(output, inputs, create_graph):
    units = unit_vectors(output)
    return [gradients((output,), inputs, (unit,), create_graph, i < len(units) - 1 or None)
            for i, unit in enumerate(units)]

# wrong -: rows are stacked as lists of numbers
def stacked(rows, like):
    from ... import tensor
    zeros = F.zeros_like(like).tolist()
    return tensor([zeros if row is None else row.tolist() for row in rows],
                  dtype=like.dtype).reshape((len(rows), *like.shape))

# wrong -: gaps are the input multiplied by zero
def stacked(rows, like):
    if not rows:
        return F.zeros((0, *like.shape), dtype=like.dtype)
    return F.stack([like.detach() * 0 if row is None else row for row in rows])

# right: each element of the output is differentiated by itself
def rows_of(output, inputs, create_graph):
    return [gradients((element,), inputs, None, create_graph, True)
            for element in F.reshape(output, (-1,))]

# wrong -: the one is found by its value among the elements
def unit_vectors(like):
    flat = F.reshape(like.detach(), (-1,))
    return [F.reshape((flat == each).to(like.dtype), like.shape) for each in flat]
