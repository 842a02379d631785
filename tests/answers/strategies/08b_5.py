def run(func, name, args, leaves, dims, kwargs, size, out_dims, randomness):
    level = next_level()
    given = [leaf if dim is None else batched(leaf, level) for leaf, dim in zip(leaves, dims)]
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, given), **kwargs)
    found = dims_of_outputs(name, out_dims, result)
    places = iter(found)
    return mapped(lambda leaf: unwrapped(name, leaf, level, size, next(places)), result), found

def unwrapped(name, leaf, level, size, dim):
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    value = examples(leaf, level)
    if value is None:
        value = F.expand(leaf, (size, *leaf.shape))
    return F.movedim(value, 0, dim)

# right: an iterator over the dimensions
# These are the functions above.

# right: the leaves of the result as a list; constants are stacked
def run(func, name, args, leaves, dims, kwargs, size, out_dims, randomness):
    level = next_level()
    for i, dim in enumerate(dims):
        if dim is not None:
            leaves = [*leaves[:i], batched(leaves[i], level), *leaves[i + 1:]]
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, leaves), **kwargs)
        found = dims_of_outputs(name, out_dims, result)
        outs = [unwrapped(name, leaf, level, size, dim)
                for leaf, dim in zip(leaves_of(result), found)]
    return rebuilt(result, outs), found

def unwrapped(name, leaf, level, size, dim):
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    value = examples(leaf, level)
    if value is None:
        value = F.expand(F.unsqueeze(leaf, 0), (size, *leaf.shape))
    n = value.dim()
    at = dim % n
    return F.permute(value, [*range(1, at + 1), 0, *range(at + 1, n)]) if at else value

# wrong -: the position is inserted into a list
def unwrapped(name, leaf, level, size, dim):
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    value = examples(leaf, level)
    if value is None:
        value = F.expand(leaf, (size, *leaf.shape))
    order = list(range(1, value.dim()))
    order.insert(dim, 0)
    return F.permute(value, order)

# wrong -: two dimensions change places
def unwrapped(name, leaf, level, size, dim):
    check_output(name, leaf, level, dim)
    if dim is None:
        return leaf
    value = examples(leaf, level)
    if value is None:
        value = F.expand(leaf, (size, *leaf.shape))
    return F.transpose(value, 0, dim)

# wrong -: the level is the depth of the nesting
def run(func, name, args, leaves, dims, kwargs, size, out_dims, randomness):
    level = len(vmaps.get()) + 1
    given = [leaf if dim is None else batched(leaf, level) for leaf, dim in zip(leaves, dims)]
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, given), **kwargs)
    found = dims_of_outputs(name, out_dims, result)
    places = iter(found)
    return mapped(lambda leaf: unwrapped(name, leaf, level, size, next(places)), result), found

# wrong -: shared leaves are expanded to batches
def run(func, name, args, leaves, dims, kwargs, size, out_dims, randomness):
    level = next_level()
    given = []
    for leaf, dim in zip(leaves, dims):
        if dim is None and isinstance(leaf, Tensor):
            leaf = F.expand(leaf, (size, *leaf.shape))
        given.append(batched(leaf, level) if isinstance(leaf, Tensor) else leaf)
    with active_level(level, size, randomness):
        result = func(*rebuilt(args, given), **kwargs)
    found = dims_of_outputs(name, out_dims, result)
    places = iter(found)
    return mapped(lambda leaf: unwrapped(name, leaf, level, size, next(places)), result), found
