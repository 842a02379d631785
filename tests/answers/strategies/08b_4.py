def moved(dim, n):
    return wrap_dim(dim, n) + 1 if isinstance(dim, int) else tuple(wrap_dim(d, n) + 1 for d in dim)

def elementwise(call):
    rank = max(call.ndim(name) for name in call.tensors)
    return call.run(**{name: F.reshape(call[name], (
        call.size, *(1,) * (rank - call.ndim(name)), *call.shape(name)))
        for name in call.tensors if name in call.batched and call.ndim(name) < rank})

def reduction(call):
    call = numbers_as_vectors(call)
    n, dim = call.ndim("self"), call["dim"]
    return call.run(dim=tuple(range(1, n + 1)) if dim is None or dim == () else moved(dim, n))

# right: a reshape with ones between the batch and the example
def moved(dim, n):
    if isinstance(dim, int):
        return wrap_dim(dim, n) + 1
    return tuple(wrap_dim(d, n) + 1 for d in dim)

def elementwise(call):
    rank = max(call.ndim(name) for name in call.tensors)
    changes = {}
    for name in call.tensors:
        if name in call.batched and call.ndim(name) < rank:
            ones = (1,) * (rank - call.ndim(name))
            changes[name] = F.reshape(call[name], (call.size, *ones, *call.shape(name)))
    return call.run(**changes)

def reduction(call):
    call = numbers_as_vectors(call)
    n, dim = call.ndim("self"), call["dim"]
    if dim is None or dim == ():
        return call.run(dim=tuple(range(1, n + 1)))
    return call.run(dim=moved(dim, n))

# right: dimension after dimension is inserted, and dimensions are counted by hand
def moved(dim, n):
    def one(d):
        if not -n <= d < n:
            return wrap_dim(d, n)
        return d + 1 if d >= 0 else d + n + 1
    return one(dim) if isinstance(dim, int) else tuple(map(one, dim))

def elementwise(call):
    ranks = {name: call.ndim(name) for name in call.tensors}
    changes = {}
    for name in call.batched & set(ranks):
        value = call[name]
        for _ in range(max(ranks.values()) - ranks[name]):
            value = F.unsqueeze(value, 1)
        if value is not call[name]:
            changes[name] = value
    return call.run(**changes)

def reduction(call):
    call = numbers_as_vectors(call)
    dim = call["dim"]
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        dim = tuple(range(call.ndim("self")))
    return call.run(dim=moved(dim, call.ndim("self")))

# wrong -: all dimensions are wrapped at once
def moved(dim, n):
    wrapped = wrap_dims((dim,) if isinstance(dim, int) else tuple(dim), n)
    shifted = tuple(d + 1 for d in wrapped)
    return shifted[0] if isinstance(dim, int) else shifted

def elementwise(call):
    def shape(name, rank):
        return [call.size] + [1] * (rank - call.ndim(name)) + list(call.shape(name))
    rank = max(map(call.ndim, call.tensors))
    return call.run(**{name: F.reshape(call[name], shape(name, rank)) for name in call.tensors
                       if name in call.batched and call.ndim(name) != rank})

def reduction(call):
    call = numbers_as_vectors(call)
    n = call.ndim("self")
    dim = call["dim"]
    every = dim is None or dim == () or dim == []
    return call.run(dim=moved(range(n) if every else dim, n))

# right: the batch goes last, where shapes are aligned
def elementwise(call):
    changes = {name: F.movedim(call[name], 0, -1) if name in call.batched
               else F.unsqueeze(call[name], -1) for name in call.tensors}
    result = call.run(**changes)
    if isinstance(result, (tuple, list)):
        return [F.movedim(each, -1, 0) for each in result]
    return F.movedim(result, -1, 0)

# right: every batch is reshaped, also where its rank is the greatest
def elementwise(call):
    rank = max(call.ndim(name) for name in call.tensors)
    return call.run(**{name: F.reshape(call[name], (
        call.size, *(1,) * (rank - call.ndim(name)), *call.shape(name)))
        for name in call.tensors if name in call.batched})

# right: all operands are expanded to whole batches
def elementwise(call):
    rank = max(call.ndim(name) for name in call.tensors)
    return call.run(**{name: F.reshape(call.full(name), (
        call.size, *(1,) * (rank - call.ndim(name)), *call.shape(name)))
        for name in call.tensors})

# wrong -: without dim each example is flattened
def reduction(call):
    call = numbers_as_vectors(call)
    dim = call["dim"]
    if dim is None or dim == ():
        return call.run(self=F.reshape(call["self"], (call.size, numel(call.shape("self")))), dim=1)
    return call.run(dim=moved(dim, call.ndim("self")))

# wrong -: one dimension after the other is reduced
def reduction(call):
    call = numbers_as_vectors(call)
    n, dim = call.ndim("self"), call["dim"]
    if isinstance(dim, int):
        return call.run(dim=moved(dim, n))
    value = call["self"]
    for each in sorted(moved(dim or tuple(range(n)), n), reverse=True):
        value = call.run(self=value, dim=each)
    return value

# wrong 08b_4_in_front_of_the_batch: the batch goes along as one more example, and the rank of self alone counts
def elementwise(call):
    rank = call.ndim(call.tensors[0])
    return call.run(**{name: F.reshape(call[name], (
        call.size, *(1,) * (rank - call.ndim(name)), *call.shape(name)))
        for name in call.tensors if name in call.batched and call.ndim(name) < rank})
