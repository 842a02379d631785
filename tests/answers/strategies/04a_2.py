# right: all dimensions at once, and reshape at the end
def sum_to(grad, shape):
    extra = grad.ndim - len(shape)
    dims = [dim for dim in range(grad.ndim)
            if dim < extra or shape[dim - extra] == 1 != grad.shape[dim]]
    return sum_dims(grad, dims).reshape(shape)

# right: two steps, in front and then the ones
def sum_to(grad, shape):
    if tuple(grad.shape) == tuple(shape):
        return grad
    if not shape:
        return sum_all(grad)
    extra = grad.ndim - len(shape)
    grad = sum_dims(grad, range(extra)).reshape(tuple(grad.shape[extra:]))
    return sum_dims(grad, [i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1])

# right: one dimension at a time, from the back
def sum_to(grad, shape):
    padded = (1,) * (grad.ndim - len(shape)) + tuple(shape)
    for dim in reversed(range(grad.ndim)):
        if grad.shape[dim] != padded[dim]:
            grad = sum_dims(grad, [dim])
    return grad if tuple(grad.shape) == tuple(shape) else grad.reshape(tuple(shape))

# right: a shape of ones takes everything
def sum_to(grad, shape):
    shape = tuple(shape)
    if tuple(grad.shape) == shape:
        return grad
    if all(n == 1 for n in shape):
        return sum_all(grad).reshape(shape)
    lead = len(grad.shape) - len(shape)
    dims = [*range(lead), *(lead + i for i, n in enumerate(shape) if n == 1)]
    return sum_dims(grad, dims).reshape(shape)

# right: dimensions that differ are found with zip from the back
def sum_to(grad, shape):
    have = list(grad.shape)[::-1]
    want = list(shape)[::-1] + [1] * (len(have) - len(shape))
    dims = [len(have) - 1 - back for back, (m, n) in enumerate(zip(have, want)) if m != n]
    return sum_dims(grad, dims).reshape(tuple(shape))

# wrong -: only what is larger than one is summed, so nothing stays nothing
def sum_to(grad, shape):
    padded = (1,) * (grad.ndim - len(shape)) + tuple(shape)
    dims = [dim for dim, (m, n) in enumerate(zip(grad.shape, padded)) if m > n]
    return sum_dims(grad, dims).reshape(tuple(shape))

# wrong -: the elements are grouped by a reshape to (copies, *shape)
def sum_to(grad, shape):
    shape = tuple(shape)
    if tuple(grad.shape) == shape:
        return grad
    if not shape:
        return sum_all(grad)
    return sum_dims(grad.reshape((-1, *shape)), [0]).reshape(shape)

# wrong 04a_2_back_summed: a loop that takes the first dimension whose size differs
def sum_to(grad, shape):
    shape = tuple(shape)
    while grad.ndim > len(shape):
        dim = next((i for i in range(len(shape)) if grad.shape[i] != shape[i]), len(shape))
        rest = tuple(n for i, n in enumerate(grad.shape) if i != dim)
        grad = sum_dims(grad, [dim]).reshape(rest)
    return sum_dims(grad, [i for i, n in enumerate(shape) if n == 1 != grad.shape[i]])

# wrong 04a_2_tensor_becomes_array: added through a view with strides of zero
def sum_to(grad, shape):
    import numpy as np
    array = getattr(grad, "_array", grad)
    target = np.zeros(shape, array.dtype)
    view = np.broadcast_to(target, array.shape)
    spread = np.lib.stride_tricks.as_strided(target, array.shape, view.strides)
    np.add.at(spread, tuple(np.indices(array.shape)), array)
    return target

# wrong -: summed in place into the first copy
def sum_to(grad, shape):
    shape = tuple(shape)
    padded = (1,) * (grad.ndim - len(shape)) + shape
    for dim, (m, n) in enumerate(zip(grad.shape, padded)):
        if m != n:
            first = grad[(slice(None),) * dim + (slice(0, 1),)]
            for other in range(1, m):
                first += grad[(slice(None),) * dim + (slice(other, other + 1),)]
            grad = first
    return grad.reshape(shape)

# wrong 04a_2_number: a 0-d array becomes a number
def sum_to(grad, shape):
    extra = grad.ndim - len(shape)
    if not shape and grad.ndim:
        return grad.sum()
    dims = [d for d in range(grad.ndim) if d < extra or shape[d - extra] == 1 != grad.shape[d]]
    return sum_dims(grad, dims).reshape(tuple(shape))
