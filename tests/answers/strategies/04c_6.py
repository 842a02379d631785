# right: einsum over the windows of all groups
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    dims = len(kernel)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    seen = seen.reshape(batch, groups, into, *kernel, *counts)
    slopes = g.reshape(batch, groups, outs // groups, *counts)
    k, s = list(range(4, 4 + dims)), list(range(4 + dims, 4 + 2 * dims))
    grad = xp.einsum(slopes, [0, 1, 2, *s], seen, [0, 1, 3, *k, *s], [1, 2, 3, *k])
    return grad.reshape(tuple(weight_sizes)).astype(xp.result_type(g, x))

# right: one kernel position at a time
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    padded = pad(xp, x, padding, padding)
    grad = xp.zeros((groups, outs // groups, into, *kernel), xp.result_type(g, x))
    slopes = g.reshape(batch, groups, outs // groups, prod(counts))
    for position in kernel_positions(kernel):
        key = tuple(slice(p * d, p * d + s * count, s)
                    for p, s, d, count in zip(position, stride, dilation, counts))
        met = padded[(..., *key)].reshape(batch, groups, into, prod(counts))
        grad[(..., *position)] = (slopes @ met.swapaxes(2, 3)).sum(0)
    return grad.reshape(tuple(weight_sizes))

# right: a convolution whose filters are g, with stride and dilation exchanged
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    grad = xp.zeros(tuple(weight_sizes), xp.result_type(g, x))
    per, padded = outs // groups, pad(xp, x, padding, padding)
    for position in kernel_positions(kernel):
        for o in range(outs):
            first = o // per * into
            for step in kernel_positions(g.shape[2:]):
                at = tuple(i * s + p * d for i, s, p, d in zip(step, stride, position, dilation))
                met = padded[(slice(None), slice(first, first + into), *at)]
                grad[(o, slice(None), *position)] += g[(slice(None), o, *step)] @ met
    return grad

# right: one sample at a time
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    counts, dims = g.shape[2:], len(kernel)
    total = xp.zeros((groups, outs // groups, into * prod(kernel)), xp.result_type(g, x))
    for slopes, sample in zip(g, x):
        seen = windows(xp, pad(xp, sample, padding, padding), kernel, stride, dilation, counts)
        columns = seen.reshape(groups, into * prod(kernel), prod(counts))
        total += slopes.reshape(groups, outs // groups, prod(counts)) @ columns.swapaxes(1, 2)
    return total.reshape(tuple(weight_sizes))

# wrong 04c_6_only_fewer_steps_fail: as many steps as fit
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch = x.shape[0]
    counts = conv_output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
    slopes = g.reshape(batch, groups, outs // groups, prod(counts))
    return (slopes @ columns.swapaxes(2, 3)).sum(0).reshape(tuple(weight_sizes))

# wrong -: sum of a list of samples, which is 0 if it is empty
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    counts, found = g.shape[2:], []
    for slopes, sample in zip(g, x):
        seen = windows(xp, pad(xp, sample, padding, padding), kernel, stride, dilation, counts)
        columns = seen.reshape(groups, into * prod(kernel), prod(counts))
        found.append(slopes.reshape(groups, outs // groups, -1) @ columns.swapaxes(1, 2))
    return sum(found).reshape(tuple(weight_sizes))

# wrong 04c_6_only_batches_fail: g is asked for its whole batch
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    seen = xp.moveaxis(seen, 0, len(kernel) + 1)
    columns = seen.reshape(groups, into * prod(kernel), batch * prod(counts))
    slopes = g.reshape(groups, outs // groups, batch * prod(counts))
    return (slopes @ columns.swapaxes(1, 2)).reshape(tuple(weight_sizes))

# wrong 04c_6_exchanged: the filters are g, and stride and dilation stay
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    padded = pad(xp, x, padding, padding)
    grad = xp.zeros((groups, outs // groups, into, *kernel), xp.result_type(g, x))
    slopes = g.reshape(batch, groups, outs // groups, prod(counts))
    for position in kernel_positions(kernel):
        key = tuple(slice(p * s, p * s + d * count, d)
                    for p, s, d, count in zip(position, stride, dilation, counts))
        met = padded[(..., *key)].reshape(batch, groups, into, prod(counts))
        grad[(..., *position)] = (slopes @ met.swapaxes(2, 3)).sum(0)
    return grad.reshape(tuple(weight_sizes))

# wrong 04c_6_dtype: always the dtype of g
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
    slopes = g.reshape(batch, groups, outs // groups, prod(counts))
    grad = xp.zeros(tuple(weight_sizes), g.dtype)
    grad += (slopes @ columns.swapaxes(2, 3)).sum(0).reshape(tuple(weight_sizes))
    return grad

# wrong 04c_6_groups_interleaved: the groups of g alternate
def conv_grad_weight(xp, g, x, weight_sizes, stride, padding, dilation, groups):
    outs, into, *kernel = weight_sizes
    batch, counts = x.shape[0], g.shape[2:]
    seen = windows(xp, pad(xp, x, padding, padding), kernel, stride, dilation, counts)
    columns = seen.reshape(batch, groups, into * prod(kernel), prod(counts))
    grad = xp.zeros(tuple(weight_sizes), xp.result_type(g, x))
    for group in range(groups):
        slopes = g[:, group::groups].reshape(batch, outs // groups, prod(counts))
        part = (slopes @ columns[:, group].swapaxes(1, 2)).sum(0)
        grad[group * (outs // groups) : (group + 1) * (outs // groups)] = part.reshape(
            -1, into, *kernel)
    return grad
