def rows_by_matrix(batch, matrix):
    rows = numel(batch.shape[:-1])
    product = F.matmul(F.reshape(batch, (rows, batch.shape[-1])), matrix)
    return F.reshape(product, (*batch.shape[:-1], *matrix.shape[1:]))

def batched_matmul(a, b):
    row, column = a.ndim == 1, b.ndim == 1
    a = F.unsqueeze(a, 0) if row else a
    b = F.unsqueeze(b, 1) if column else b
    batch = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    flat = [F.reshape(F.expand(t, (*batch, *t.shape[-2:])), (numel(batch), *t.shape[-2:])) for t in (a, b)]
    product = F.bmm(*flat)
    product = F.reshape(product, (*batch, a.shape[-2], b.shape[-1]))
    if row:
        product = F.squeeze(product, -2)
    return F.squeeze(product, -1) if column else product

# right: flatten, multiply, unflatten
# These are the functions above.

# right: the shape of the result first, with its dimensions chosen at the end
def rows_by_matrix(batch, matrix):
    *lead, inner = batch.shape
    count = 1
    for size in lead:
        count *= size
    return F.reshape(F.matmul(F.reshape(batch, (count, inner)), matrix), (*lead, *list(matrix.shape)[1:]))

def batched_matmul(a, b):
    left, right = tuple(a.shape[:-2]), tuple(b.shape[:-2])
    rows = tuple(a.shape[-2:-1])
    columns = tuple(b.shape[-1:]) if b.ndim > 1 else ()
    k, n, m = a.shape[-1], numel(rows), numel(columns)
    batch = broadcast(left, right)
    count = numel(batch)
    a = F.reshape(F.expand(F.reshape(a, (*left, n, k)), (*batch, n, k)), (count, n, k))
    b = F.reshape(F.expand(F.reshape(b, (*right, k, m)), (*batch, k, m)), (count, k, m))
    return F.reshape(F.bmm(a, b), (*batch, *rows, *columns))

# right: vectors are handled by calling itself
def batched_matmul(a, b):
    if a.ndim == 1:
        return F.squeeze(batched_matmul(F.unsqueeze(a, 0), b), -2)
    if b.ndim == 1:
        return F.squeeze(batched_matmul(a, F.unsqueeze(b, -1)), -1)
    lead = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    def flat(t):
        return F.reshape(F.expand(t, (*lead, *t.shape[-2:])), (numel(lead), *t.shape[-2:]))
    product = F.bmm(flat(a), flat(b))
    return F.reshape(product, (*lead, *product.shape[1:]))

# right: a batch of one is left to bmm's caller as it is, and only factors that differ are expanded
def rows_by_matrix(batch, matrix):
    shape = tuple(batch.shape[:-1])
    flat = F.reshape(batch, (numel(shape), batch.shape[-1]))
    if matrix.ndim == 1:
        return F.reshape(F.mv(flat, matrix), shape)
    return F.reshape(F.mm(flat, matrix), (*shape, matrix.shape[1]))

def batched_matmul(a, b):
    keep = [True, True]
    if a.ndim == 1:
        a, keep[0] = F.reshape(a, (1, a.shape[0])), False
    if b.ndim == 1:
        b, keep[1] = F.reshape(b, (b.shape[0], 1)), False
    lead = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    factors = []
    for t in (a, b):
        if tuple(t.shape[:-2]) != lead:
            t = F.expand(t, (*lead, *t.shape[-2:]))
        factors.append(F.reshape(t, (numel(lead), *t.shape[-2:])))
    sizes = [size for size, kept in zip((a.shape[-2], b.shape[-1]), keep) if kept]
    return F.reshape(F.bmm(*factors), (*lead, *sizes))

# wrong -: the rows of a batch go through batched_matmul
def rows_by_matrix(batch, matrix):
    return batched_matmul(batch, matrix)

# wrong -: a product for each place in the batch, stacked
def batched_matmul(a, b):
    if a.ndim == 1:
        return F.squeeze(batched_matmul(F.unsqueeze(a, 0), b), -2)
    if b.ndim == 1:
        return F.squeeze(batched_matmul(a, F.unsqueeze(b, -1)), -1)
    lead = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    a, b = (F.reshape(F.expand(t, (*lead, *t.shape[-2:])), (numel(lead), *t.shape[-2:])) for t in (a, b))
    product = F.stack([F.mm(F.select(a, 0, i), F.select(b, 0, i)) for i in range(numel(lead))])
    return F.reshape(product, (*lead, *product.shape[1:]))

# wrong -: elementwise products, summed over the inner dimension
def batched_matmul(a, b):
    row, column = a.ndim == 1, b.ndim == 1
    a = F.unsqueeze(a, 0) if row else a
    b = F.unsqueeze(b, 1) if column else b
    product = F.sum(F.unsqueeze(a, -1) * F.unsqueeze(b, -3), -2)
    if row:
        product = F.squeeze(product, -2)
    return F.squeeze(product, -1) if column else product

# wrong -: whole shapes are broadcast
def batched_matmul(a, b):
    row, column = a.ndim == 1, b.ndim == 1
    a = F.unsqueeze(a, 0) if row else a
    b = F.unsqueeze(b, 1) if column else b
    batch = broadcast(tuple(a.shape), tuple(b.shape))[:-2]
    a, b = (F.reshape(F.expand(t, (*batch, *t.shape[-2:])), (numel(batch), *t.shape[-2:])) for t in (a, b))
    product = F.reshape(F.bmm(a, b), (*batch, a.shape[-2], b.shape[-1]))
    if row:
        product = F.squeeze(product, -2)
    return F.squeeze(product, -1) if column else product

# wrong -: the batch dimensions are flattened first, and then expanded
def batched_matmul(a, b):
    row, column = a.ndim == 1, b.ndim == 1
    a = F.unsqueeze(a, 0) if row else a
    b = F.unsqueeze(b, 1) if column else b
    batch = broadcast(tuple(a.shape[:-2]), tuple(b.shape[:-2]))
    count = numel(batch)
    flat = []
    for t in (a, b):
        t = F.reshape(t, (numel(t.shape[:-2]), *t.shape[-2:]))
        times = count // t.shape[0] if t.shape[0] else 1
        flat.append(F.reshape(F.expand(F.unsqueeze(t, 0), (times, *t.shape)), (count, *t.shape[-2:])))
    product = F.reshape(F.bmm(*flat), (*batch, a.shape[-2], b.shape[-1]))
    if row:
        product = F.squeeze(product, -2)
    return F.squeeze(product, -1) if column else product

# wrong 04b_4_three_dimensions_only: only two dimensions more than bmm's are added
def batched_matmul(a, b):
    row, column = a.ndim == 1, b.ndim == 1
    a = F.unsqueeze(a, 0) if row else a
    b = F.unsqueeze(b, 1) if column else b
    count = max(a.shape[0] if a.ndim > 2 else 1, b.shape[0] if b.ndim > 2 else 1)
    product = F.bmm(*(F.expand(t, (count, *t.shape[-2:])) for t in (a, b)))
    if row:
        product = F.squeeze(product, -2)
    return F.squeeze(product, -1) if column else product
